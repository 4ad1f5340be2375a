package compare

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// What a text shows of long lists; the JSON has all of it.
const (
	flipsShown   = 10 // of each verdict
	entriesShown = 20
	linesShown   = 20
)

// WriteText writes a comparison for people.
func (c *Comparison) WriteText(w io.Writer) error {
	var text bytes.Buffer
	c.writeHead(&text)
	if c.Identical() {
		fmt.Fprintf(&text, "\nNo difference: %s measures, every call, search and surface are the same.\n", numerals.Number(float64(len(c.Measures)), 0))
	} else {
		c.writeMeasures(&text)
		c.writeBreakEvens(&text)
		c.writeFlips(&text)
		c.writeSurfaces(&text)
	}
	_, err := w.Write(text.Bytes())
	return err
}

// writeHead says what was compared.
func (c *Comparison) writeHead(text *bytes.Buffer) {
	for _, s := range []struct {
		title string
		side  Side
	}{{"Before:", c.Before}, {"After:", c.After}} {
		version := s.side.ToolVersion
		if s.side.Commit != "" {
			version += " at " + short(s.side.Commit)
		}
		fmt.Fprintf(text, "%-7s %s, corpus %s, %s, seed %d, version %s\n", s.title, s.side.Run,
			strings.TrimSpace(s.side.Corpus.Name+" "+s.side.Corpus.Version), sessions(s.side.Sessions), s.side.Seed, version)
	}
	for _, m := range c.Mismatches {
		fmt.Fprintf(text, "Not the same input: %s\n", m)
	}
	fmt.Fprintf(text, "Compared: %s, paired by %s", sessions(c.Sessions), c.PairedBy)
	if c.OnlyBefore+c.OnlyAfter > 0 {
		fmt.Fprintf(text, "; left out: %d that only the run before has, %d that only the run after has", c.OnlyBefore, c.OnlyAfter)
	}
	fmt.Fprintf(text, "; arms %s\n", strings.Join(c.Arms, ", "))
	for _, only := range []struct {
		when string
		arms []string
	}{{"before", c.ArmsOnlyBefore}, {"after", c.ArmsOnlyAfter}} {
		if len(only.arms) > 0 {
			fmt.Fprintf(text, "Arms only %s: %s\n", only.when, strings.Join(only.arms, ", "))
		}
	}
	for _, a := range c.Assumptions {
		fmt.Fprintf(text, "Assumption: %s has %s %q before and %q after\n", a.Arm, a.What, a.Before, a.After)
	}
}

// sessions is a number of sessions in words.
func sessions(n int64) string {
	if n == 1 {
		return "1 session"
	}
	return numerals.Number(float64(n), 0) + " sessions"
}

// writeMeasures writes a table for each arm, of the measures that differ.
func (c *Comparison) writeMeasures(text *bytes.Buffer) {
	written := false
	for _, arm := range c.Arms {
		var changed []Difference
		all, hidden, unpaired := 0, 0, 0
		for _, d := range c.Measures {
			if d.Arm != arm {
				continue
			}
			all++
			switch {
			case d.Verdict == Same && d.OnlyBefore+d.OnlyAfter == 0:
			case d.N == 0: // as those of a gateway that one run alone has
				unpaired++
			case reports.Shown(d.Measure):
				changed = append(changed, d)
			default:
				hidden++
			}
		}
		if len(changed)+hidden+unpaired == 0 {
			continue
		}
		written = true
		fmt.Fprintf(text, "\n%s: %d of %d measures differ", strings.ToUpper(arm), len(changed)+hidden, all)
		if hidden > 0 {
			fmt.Fprintf(text, "; %d of them, more of retrieval, are in --json", hidden)
		}
		if unpaired > 0 {
			fmt.Fprintf(text, "; %d more are of one run alone", unpaired)
		}
		text.WriteByte('\n')
		t := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "  \tbefore\tafter\tdifference\t95 %% interval\tp\tn\t\n")
		for _, d := range changed {
			fmt.Fprintf(t, "  %s %s\t%s\t%s\t%s\t[%s, %s]\t%s\t%s\t%s\n", d.Measure, arrow(d.Better), Value(d.Unit, d.Before), Value(d.Unit, d.After),
				Signed(d.Unit, d.Difference), Signed(d.Unit, d.Interval.Low), Signed(d.Unit, d.Interval.High), PValue(d.PHolm), population(d), d.Verdict)
		}
		_ = t.Flush() // into memory
	}
	if written {
		text.WriteString("\n↓ lower is better, ↑ higher is better. Means over the n items (sessions, golds, queries) that both runs have;\n" +
			"+x-y: x more items only after, y only before. Interval: of the mean difference, BCa bootstrap.\n" +
			"p: paired randomisation test, two-sided, by Holm's method over all measures that differ.\n")
	}
}

func population(d Difference) string {
	n := numerals.Number(float64(d.N), 0)
	if d.OnlyBefore+d.OnlyAfter > 0 {
		n += fmt.Sprintf(" +%d-%d", d.OnlyAfter, d.OnlyBefore)
	}
	return n
}

func (c *Comparison) writeBreakEvens(text *bytes.Buffer) {
	if len(c.BreakEvens) == 0 {
		return
	}
	text.WriteString("\nBREAK-EVENS that moved\n")
	for _, b := range c.BreakEvens {
		fmt.Fprintf(text, "  %s, %s: %s before, %s after\n", b.Arm, b.Measure, BreakEven(b.Before), BreakEven(b.After))
	}
}

// BreakEven is the place of a break-even in words.
func BreakEven(at int64) string {
	if at == 0 {
		return "none"
	}
	return numerals.Number(float64(at), 0)
}

// writeFlips writes which intents turned, the worse ones first.
func (c *Comparison) writeFlips(text *bytes.Buffer) {
	if len(c.Flips) == 0 {
		text.WriteString("\nFLIPPED INTENTS: none\n")
		return
	}
	fmt.Fprintf(text, "\nFLIPPED INTENTS: %s\n", FlipCount(c.Flips))
	for _, verdict := range []Verdict{Worse, Changed, Better} {
		shown, left := 0, 0
		for _, f := range c.Flips {
			if f.Verdict != verdict {
				continue
			}
			if shown == flipsShown {
				left++
				continue
			}
			shown++
			fmt.Fprintf(text, "  %s\n", f)
			if f.Command != "" {
				fmt.Fprintf(text, "    %s\n", f.Command)
			}
		}
		if left > 0 {
			fmt.Fprintf(text, "  … and %d more that are %s; --json has them all\n", left, verdict)
		}
	}
}

// Line is text that stays within its line of a terminal: what would break the line, turn its direction or steer the
// terminal is a blank. Names come from corpora, and may hold anything.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return ' '
		}
		return r
	}, text)
}

// FlipCount counts flips in words.
func FlipCount(flips []Flip) string {
	intents := make(map[string]bool)
	times := make(map[Verdict]int)
	for _, f := range flips {
		intents[f.IntentID] = true
		times[f.Verdict] += f.Times
	}
	parts := []string{fmt.Sprintf("%d intents", len(intents))}
	if len(intents) == 1 {
		parts[0] = "1 intent"
	}
	for _, v := range []Verdict{Worse, Changed, Better} {
		if times[v] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d times", v, times[v]))
		}
	}
	return strings.Join(parts, ", ")
}

// String words a flip in a line.
func (f Flip) String() string {
	what := f.What
	if f.Tool != "" {
		what += " of " + f.Tool
	}
	line := fmt.Sprintf("%s under %s: %s (%s), %s: %s → %s", f.Verdict, f.Arm, f.IntentID, f.Class, what, f.Before, f.After)
	if f.Times > 1 {
		line += fmt.Sprintf(" (the first of %d times)", f.Times)
	}
	return Line(line + fmt.Sprintf(", row %d, turn %d", f.At.RowIndex, f.At.Turn))
}

// writeSurfaces writes how the first requests' tools arrays changed.
func (c *Comparison) writeSurfaces(text *bytes.Buffer) {
	for _, s := range c.Surfaces {
		fmt.Fprintf(text, "\nSURFACE under %s: other bytes in %d of %d sessions; the first is row %d\n", s.Arm, s.Sessions, s.Of, s.At.RowIndex)
		t := tabwriter.NewWriter(text, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(t, "  \tsurface\tvisible\tbridge\tlisting\tform\t\n")
		for _, side := range []struct {
			title string
			p     SurfacePart
		}{{"before", s.Before}, {"after", s.After}} {
			fmt.Fprintf(t, "  %s\t%d\t%d\t%d\t%d\t%s\t  tokens\n", side.title, side.p.SurfaceTokens, side.p.VisibleTokens, side.p.BridgeTokens, side.p.ListingTokens, side.p.Form)
		}
		_ = t.Flush() // into memory
		if s.NoText != "" {
			fmt.Fprintf(text, "  No text: %s.\n", s.NoText)
			if s.Command != "" {
				fmt.Fprintf(text, "  To see it, run this with the program of either run, and compare:\n    %s\n", s.Command)
			}
		}
		writeEntries(text, s.Entries)
	}
}

func writeEntries(text *bytes.Buffer, entries []EntryChange) {
	for i, e := range entries {
		if i == entriesShown {
			fmt.Fprintf(text, "  … and %d more tools; --json has them all\n", len(entries)-i)
			return
		}
		note := ""
		if e.Schema {
			note = ", not only its description"
		}
		fmt.Fprintf(text, "  %s: %s%s, %d → %d tokens\n", Line(e.Tool), e.Change, note, e.TokensBefore, e.TokensAfter)
		for j, line := range e.Lines {
			if j == linesShown {
				fmt.Fprintf(text, "    … and %d more lines; --json has them all\n", len(e.Lines)-j)
				break
			}
			fmt.Fprintf(text, "    %s\n", Line(line))
		}
	}
}

func arrow(d metrics.Direction) string {
	switch d {
	case metrics.Lower:
		return "↓"
	case metrics.Higher:
		return "↑"
	default:
		return ""
	}
}

// Value is a value of a unit in words, to four places behind the point for what lies between 0 and 1; what would look like
// 0 and is not, to two digits.
func Value(unit string, x float64) string {
	decimals := 4
	switch {
	case unit == "tokens":
		decimals = 1
	case slices.Contains([]string{"%", "requests", "searches", "calls"}, unit):
		decimals = 3
	case unit == "turns":
		decimals = 0
	}
	if x != 0 && math.Abs(x) < 0.5*math.Pow10(-decimals) {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	return numerals.Number(x, decimals)
}

// Signed is Value with a sign.
func Signed(unit string, x float64) string {
	text := Value(unit, x)
	if x > 0 {
		return "+" + text
	}
	return text
}

// PValue is a p-value in words.
func PValue(p float64) string {
	if p < 0.001 {
		return "<.001"
	}
	return fmt.Sprintf("%.3f", p)
}
