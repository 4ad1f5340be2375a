package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/replay"
)

// surfaceWidth is the widest line of text, in characters.
const surfaceWidth = 100

// writeTools says of each tool where it stands.
func writeTools(w io.Writer, tools []replay.ToolState) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, tool := range tools {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", tool.Tool, tool.Source, placeText(tool.Place), whyText(tool))
	}
	_ = t.Flush() // into memory
	_, err := w.Write(text.Bytes())
	return err
}

func whyText(t replay.ToolState) string {
	if t.Stale {
		return t.Why + "; its probe fails by now"
	}
	return t.Why
}

func placeText(p replay.Place) string {
	switch p {
	case replay.Named:
		return "hidden, named"
	case replay.Counted:
		return "hidden, counted"
	case replay.Unmentioned:
		return "hidden, not mentioned"
	default:
		return string(p)
	}
}

// surfaceText lays a surface out for a terminal.
type surfaceText struct {
	bytes.Buffer
	seen *replay.Inspection
}

func writeSurface(w io.Writer, seen *replay.Inspection) error {
	text := &surfaceText{seen: seen}
	text.head()
	text.tokens()
	text.sources()
	text.inSight()
	text.alwaysOn()
	text.unavailable()
	text.hidden()
	text.warnings()
	_, err := w.Write(text.Bytes())
	return err
}

func (x *surfaceText) head() {
	s := x.seen
	what := "Toolsets by name"
	if s.SessionID != "" {
		what = fmt.Sprintf("Session %s (row %d", s.SessionID, s.RowIndex)
		if s.Distribution != "" {
			what += fmt.Sprintf(" of %s, seed %d", s.Distribution, s.Seed)
		}
		what += fmt.Sprintf("), turn %d at %.1f s", s.Turn, float64(s.AtMS)/1000)
	}
	fmt.Fprintf(x, "%s, arm %s, corpus %s.\n", what, s.Arm.Name, s.Corpus)
	x.list("Toolsets: ", s.Toolsets)
	x.list("Servers: ", s.Servers)
	if len(s.Disabled) > 0 {
		x.list("Disabled: ", s.Disabled)
	}
}

// list prints names behind a heading, wrapped.
func (x *surfaceText) list(heading string, names []string) {
	if len(names) == 0 {
		names = []string{"none"}
	}
	x.wrap(heading, strings.Join(names, ", "))
}

// bound is a space that no line ends at.
const bound = "\u00a0"

// wrap prints a text behind a heading, with further lines indented below it.
func (x *surfaceText) wrap(heading, text string) {
	indent := strings.Repeat(" ", len(heading)-len(strings.TrimLeft(heading, " "))+2)
	line := heading
	empty := true
	for word := range strings.SplitSeq(text, " ") {
		word = strings.ReplaceAll(word, bound, " ")
		switch {
		case empty:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > surfaceWidth:
			fmt.Fprintln(x, line)
			line = indent + word
		default:
			line += " " + word
		}
		empty = false
	}
	fmt.Fprintln(x, line)
}

// tokens prints the parts of the surface and the listing's budget.
func (x *surfaceText) tokens() {
	s := x.seen
	fmt.Fprintf(x, "\nTOKENS of the tools array (%d bytes, SHA-256 %.16s…)\n", s.Bytes, s.SHA256)
	t := tabwriter.NewWriter(x, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, value func(replay.TokenParts) string) {
		fmt.Fprintf(t, "%-14s\t", name)
		for _, parts := range s.Tokens {
			fmt.Fprintf(t, "%s\t", value(parts))
		}
		fmt.Fprintln(t)
	}
	number := func(of func(replay.TokenParts) int) func(replay.TokenParts) string {
		return func(p replay.TokenParts) string { return fmt.Sprint(of(p)) }
	}
	row("", func(p replay.TokenParts) string { return p.Tokenizer })
	row("visible tools", number(func(p replay.TokenParts) int { return p.Visible }))
	row("bridge", number(func(p replay.TokenParts) int { return p.Bridge }))
	row("listing", number(func(p replay.TokenParts) int { return p.Listing }))
	row("surface", number(func(p replay.TokenParts) int { return p.Surface }))
	row("eager", number(func(p replay.TokenParts) int { return p.Eager }))
	row("saved", func(p replay.TokenParts) string {
		return fmt.Sprintf("%d (%.1f %%)", p.Eager-p.Surface, 100*float64(p.Eager-p.Surface)/float64(max(p.Eager, 1)))
	})
	_ = t.Flush() // into memory
	x.wrap("  ", x.budget())
}

// budget says which form the listing has, and where its budget comes from.
func (x *surfaceText) budget() string {
	s, b := x.seen, x.seen.Budget
	switch {
	case !s.Activated && (!s.Arm.Bridge || s.Arm.ToolSearch.Enabled == "off"):
		return "The bridge is off: every schema is on the surface."
	case !s.Activated:
		return "The bridge is not active, since nothing could be deferred (tier 0)."
	}
	from := fmt.Sprintf("%g %% of a context of %d", b.ThresholdPct, b.ContextLength)
	switch {
	case b.ContextLength == 0:
		from = fmt.Sprintf("%d for a context that nobody knows", b.ShareTokens)
	case b.ShareTokens > b.CapTokens:
		from += fmt.Sprintf(" would be %d", b.ShareTokens)
	}
	if b.ShareTokens > b.CapTokens {
		from += fmt.Sprintf("; listing_max_tokens caps it at %d", b.CapTokens)
	} else {
		from += fmt.Sprintf(", within listing_max_tokens %d", b.CapTokens)
	}
	listing := string(s.Form)
	if s.Form == "none" && s.Arm.ToolSearch.Listing == "off" {
		listing = "off"
	}
	return fmt.Sprintf("Listing: form %s, tier %d; %d of %d estimated tokens (%s).", listing, s.Tier, b.ListingTokens, b.Tokens, from)
}

// sources prints where the usable tools come from.
func (x *surfaceText) sources() {
	fmt.Fprintln(x, "\nSOURCES with a tool that can be used (tokens: their schemas, visible or not)")
	longest := 0
	for _, s := range x.seen.Sources {
		longest = max(longest, utf8.RuneCountInString(s.Source))
	}
	t := tabwriter.NewWriter(x, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%-*s\ttools\tvisible\tnamed\tcounted\tnot mentioned\tunavailable\ttokens\t\n", longest, "source")
	for _, s := range x.seen.Sources {
		if s.Unavailable < s.Tools {
			fmt.Fprintf(t, "%-*s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", longest, s.Source, s.Tools, s.Visible, s.Named, s.Counted, s.Unmentioned, s.Unavailable, s.SchemaTokens)
		}
	}
	_ = t.Flush() // into memory
}

// inSight answers the first question.
func (x *surfaceText) inSight() {
	s := x.seen
	fmt.Fprintln(x, "\n1. HOW MANY TOOLS ARE SEEN, AND HOW MANY OF THEM ARE USED?")
	seen := numerals.Of(s.VisibleTools, "tool") + " of the session"
	if s.BridgeTools > 0 {
		seen += fmt.Sprintf(" and the bridge's own %d", s.BridgeTools)
	}
	seen += fmt.Sprintf("; %d more are hidden.", s.HiddenTools)
	x.wrap("  ", seen)
	u := s.Used
	if u == nil {
		x.wrap("  ", "Which are used only a session can tell: see --sessions.")
		return
	}
	x.wrap("  ", fmt.Sprintf("The session's %s use %s: %d visible, %d named in the listing, %d only counted, %d not mentioned, %d unavailable.",
		numerals.Of(u.Turns, "turn"), numerals.Of(u.Tools, "tool"), u.Visible, u.Named, u.Counted, u.Unmentioned, u.Unavailable))
	var used []string
	for _, t := range s.Tools {
		if t.Used {
			used = append(used, fmt.Sprintf("%s"+bound+"(%s)", t.Tool, placeText(t.Place)))
		}
	}
	if len(used) > 0 {
		x.list("  Used: ", used)
	}
	fmt.Fprintf(x, "  Seen and never asked for: %d.\n", s.VisibleTools-u.Visible)
}

// alwaysOn answers the second question.
func (x *surfaceText) alwaysOn() {
	fmt.Fprintln(x, "\n2. WHICH ARE ALWAYS ON, AND WHICH RULE SAYS SO?")
	if x.seen.VisibleTools > 0 || x.seen.BridgeTools == 0 {
		x.groups(replay.Visible)
	}
	if x.seen.BridgeTools > 0 {
		fmt.Fprintln(x, "  3 tools (the bridge's own): tool_search, tool_describe, tool_call")
	}
}

// unavailable answers the third question.
func (x *surfaceText) unavailable() {
	fmt.Fprintln(x, "\n3. WHICH EXIST BUT ARE UNAVAILABLE, AND WHY? (the model is told of none of them)")
	x.groups(replay.Unavailable)
}

// hidden answers the fourth question.
func (x *surfaceText) hidden() {
	fmt.Fprintln(x, "\n4. WHICH ARE HIDDEN, AND CAN THE MODEL KNOW OF THEM?")
	none := true
	for _, p := range []struct {
		place replay.Place
		knows string
	}{
		{replay.Named, "named in the listing: the model can describe and call them"},
		{replay.Counted, "only counted in the listing: the model has to search"},
		{replay.Unmentioned, "not mentioned: the model knows how many are hidden, and has to guess what"},
	} {
		var sources []string
		tools := 0
		for _, s := range x.seen.Sources {
			n := map[replay.Place]int{replay.Named: s.Named, replay.Counted: s.Counted, replay.Unmentioned: s.Unmentioned}[p.place]
			if n > 0 {
				sources = append(sources, fmt.Sprintf("%s"+bound+"(%d)", s.Source, n))
				tools += n
			}
		}
		if tools > 0 {
			none = false
			x.wrap("  ", fmt.Sprintf("%s (%s): %s", numerals.Of(tools, "tool"), p.knows, strings.Join(sources, ", ")))
		}
	}
	if none {
		fmt.Fprintln(x, "  none")
	}
}

// reasonGroup is the tools that one reason put in their place.
type reasonGroup struct {
	why   string
	tools int
	shown []string // the tools, or their sources
	// sources counts the tools of sources that are not there as a whole.
	sources []sourceCount
}

type sourceCount struct {
	source string
	tools  int
}

func (g *reasonGroup) add(t replay.ToolState) {
	g.tools++
	if t.Rule != replay.RuleNotConnected && t.Rule != replay.RuleLeft {
		g.shown = append(g.shown, t.Tool)
		return
	}
	if n := len(g.sources); n == 0 || g.sources[n-1].source != t.Source {
		g.sources = append(g.sources, sourceCount{source: t.Source})
	}
	g.sources[len(g.sources)-1].tools++
}

// groups prints tools by the reason for their place, in the order of the corpus.
func (x *surfaceText) groups(place replay.Place) {
	var groups []*reasonGroup
	for _, t := range x.seen.Tools {
		if t.Place != place {
			continue
		}
		n := slices.IndexFunc(groups, func(g *reasonGroup) bool { return g.why == t.Why })
		if n < 0 {
			n = len(groups)
			groups = append(groups, &reasonGroup{why: t.Why})
		}
		groups[n].add(t)
	}
	if len(groups) == 0 {
		fmt.Fprintln(x, "  none")
	}
	for _, g := range groups {
		for _, s := range g.sources {
			g.shown = append(g.shown, fmt.Sprintf("%s"+bound+"(%d)", s.source, s.tools))
		}
		x.wrap("  ", fmt.Sprintf("%s (%s): %s", numerals.Of(g.tools, "tool"), g.why, strings.Join(g.shown, ", ")))
	}
}

// warnings prints what the configuration runs into.
func (x *surfaceText) warnings() {
	if len(x.seen.Warnings) == 0 {
		return
	}
	fmt.Fprintln(x, "\nWARNINGS")
	for _, w := range x.seen.Warnings {
		x.wrap("  "+strings.ReplaceAll(string(w.Pitfall), "_", " ")+": ", w.What+".")
		x.wrap("    do: ", w.Do+".")
	}
}
