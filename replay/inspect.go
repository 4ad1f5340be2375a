package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/sessions"
)

// InspectOptions says which surface to take apart.
type InspectOptions struct {
	Corpus  *corpus.Corpus    // required
	Session *sessions.Session // required; see NamedSession for one without a timeline
	Arm     Arm
	// Turn is the turn, from 0, whose first request carries the surface.
	Turn int
	// Disabled names fixed toolsets and sources of tools that are taken away after
	// everything else was added.
	Disabled []string
	// Down names probes that fail throughout, UnsetEnv environment variables that
	// are not set: a tool that needs one of them is not there.
	Down, UnsetEnv []string
	// Unread names files beside the corpus that were not read; see corpus.Unread.
	Unread []string
}

// Check refuses names and numbers that the corpus and the session do not have.
// Its errors speak of the flags of bench surface. Sources named by their label
// are from then on named in full: github becomes mcp-github.
func (o *InspectOptions) Check() error {
	if o.Corpus == nil || o.Session == nil {
		return errors.New("nothing to inspect\nhint: give a corpus and a session")
	}
	if err := o.Arm.check(); err != nil {
		return err
	}
	probes, variables := make(map[string]bool), make(map[string]bool)
	for _, t := range o.Corpus.Tools {
		if probe := probeOf(t); probe != "" {
			probes[probe] = true
		}
		for _, name := range t.RequiresEnv {
			variables[name] = true
		}
	}
	toolsets := make(map[string]bool)
	for _, name := range slices.Concat(o.Corpus.Toolsets.Names(), o.Corpus.SourceNames()) {
		toolsets[name] = true
	}
	var err error
	if o.Disabled, err = known("--disable", "toolset", o.Disabled, toolsets); err != nil {
		return err
	}
	if o.Down, err = known("--down", "probe", o.Down, probes); err != nil {
		return err
	}
	if o.UnsetEnv, err = known("--without-env", "environment variable", o.UnsetEnv, variables); err != nil {
		return err
	}
	turns := 0
	for _, e := range o.Session.Events {
		if e.Turn != nil {
			turns++
		}
	}
	if last := max(turns-1, 0); o.Turn < 0 || o.Turn > last {
		return fmt.Errorf("--turn %d: the session has no such turn\nhint: give 0 to %d", o.Turn, last)
	}
	return nil
}

// known returns names in full, and refuses those that are not known.
func known(flag, what string, names []string, all map[string]bool) ([]string, error) {
	var full []string
	for _, name := range names {
		switch {
		case all[name]:
		case all[mcpPrefix+name]:
			name = mcpPrefix + name
		default:
			return nil, fmt.Errorf("%s: unknown %s %q\nhint: %s", flag, what, name, nearest.Hint(name, slices.Sorted(maps.Keys(all))))
		}
		full = withNames(full, name)
	}
	return full, nil
}

// mcpPrefix starts the toolset name of every MCP server's tools.
const mcpPrefix = "mcp-"

// NamedSession is a session without a timeline: the fixed toolsets and sources
// of these names are enabled, and "all" stands for every one. A context length of
// 0 is one that nobody knows.
func NamedSession(c *corpus.Corpus, names []string, contextLength int) (*sessions.Session, error) {
	s := &sessions.Session{CorpusSHA256: c.SHA256, ContextLength: contextLength, Toolsets: []string{}, Servers: []string{}}
	if slices.Equal(names, []string{"all"}) {
		s.Toolsets, s.Servers = c.Toolsets.Names(), c.SourceNames()
		return s, nil
	}
	all := make(map[string]bool)
	for _, name := range slices.Concat(c.Toolsets.Names(), c.SourceNames()) {
		all[name] = true
	}
	names, err := known("--toolsets", "toolset", names, all)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, fixed := c.Toolsets.Static(name); fixed {
			s.Toolsets = append(s.Toolsets, name)
		} else {
			s.Servers = append(s.Servers, name)
		}
	}
	return s, nil
}

// Inspection is a surface taken apart: what a model sees in the requests of one
// turn, what that costs, and where every tool of the corpus stands.
type Inspection struct {
	SessionID    string `json:"session_id"` // empty if toolsets were named
	RowIndex     int64  `json:"row_index"`
	Seed         uint64 `json:"seed"`
	Distribution string `json:"distribution"`
	Corpus       string `json:"corpus"`
	Arm          Arm    `json:"arm"`
	Turn         int    `json:"turn"`
	AtMS         int64  `json:"at_ms"`
	// Toolsets and Servers are enabled at that time.
	Toolsets []string `json:"toolsets"`
	Servers  []string `json:"servers"`
	Disabled []string `json:"disabled"`

	Activated    bool   `json:"activated"`
	Tier         int    `json:"tier"`
	Form         string `json:"form"`
	VisibleTools int    `json:"visible_tools"`
	BridgeTools  int    `json:"bridge_tools"`
	HiddenTools  int    `json:"hidden_tools"`
	Bytes        int    `json:"bytes"` // of the tools array
	SHA256       string `json:"sha256"`
	Budget       Budget `json:"budget"`
	// Tokens are in the arm's tokenizer first, then in the contract's estimate.
	Tokens   []TokenParts  `json:"tokens"`
	Sources  []SourceParts `json:"sources"` // the largest first
	Used     *Used         `json:"used"`    // nil if nothing is asked for
	Tools    []ToolState   `json:"tools"`   // in the corpus's order
	Warnings []Warning     `json:"warnings"`

	// Array is the tools array of the request, byte for byte.
	Array string `json:"-"`
}

// Budget is the listing's budget and how it came about, in estimated tokens.
type Budget struct {
	ContextLength int     `json:"context_length"` // 0: not known
	ThresholdPct  float64 `json:"threshold_pct"`
	ShareTokens   int     `json:"share_tokens"` // before the cap
	CapTokens     int     `json:"cap_tokens"`
	Tokens        int     `json:"tokens"`
	ListingTokens int     `json:"listing_tokens"` // what the listing takes of it
}

// TokenParts are the tokens of a tools array and of its parts; Eager are those of
// the same tools without a bridge.
type TokenParts struct {
	Tokenizer string `json:"tokenizer"`
	Visible   int    `json:"visible_tokens"`
	Bridge    int    `json:"bridge_tokens"`
	Listing   int    `json:"listing_tokens"`
	Surface   int    `json:"surface_tokens"`
	Eager     int    `json:"eager_tokens"`
}

// Counts are tools by where they stand.
type Counts struct {
	Visible     int `json:"visible"`
	Named       int `json:"named"`
	Counted     int `json:"counted"`
	Unmentioned int `json:"unmentioned"`
	Unavailable int `json:"unavailable"`
}

func (c *Counts) add(p Place) {
	switch p {
	case Visible:
		c.Visible++
	case Named:
		c.Named++
	case Counted:
		c.Counted++
	case Unmentioned:
		c.Unmentioned++
	case Unavailable:
		c.Unavailable++
	}
}

// SourceParts is where the tools of one toolset or server stand.
type SourceParts struct {
	Source string `json:"source"`
	Tools  int    `json:"tools"`
	Counts
	// SchemaTokens are those of its usable tools as an array of their own.
	SchemaTokens int `json:"schema_tokens"`
}

// Used is what a session asks for, from its first turn to its last, and where the
// tools for it stand now.
type Used struct {
	Turns int `json:"turns"`
	Tools int `json:"tools"` // each once
	Counts
}

// inspector takes one surface apart.
type inspector struct {
	options InspectOptions
	player  *Player
	stage   *stage
	play    *play
	usable  map[string]*registry.Definition
	out     *Inspection
}

// Inspect plays a session up to a turn and takes the surface of that turn apart.
// It is the very surface that Player.Play charges for.
func Inspect(ctx context.Context, o InspectOptions) (*Inspection, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	bare := o.Arm
	bare.Gateway, bare.GatewaySHA256, bare.GatewayConfig = GatewayOff, "", nil // of which no surface tells
	p, err := NewPlayer(Options{Corpus: o.Corpus, Arms: []Arm{bare}})
	if err != nil {
		return nil, err
	}
	p.hold(o.Down, o.UnsetEnv)
	st, err := p.stage(o.Session)
	if err != nil {
		return nil, err
	}
	view := st.views[0]
	view.session.Request.Disabled = o.Disabled
	i := &inspector{options: o, player: p, stage: st, play: newPlay(p, st, p.arms[0], view, make(map[judgedBy][]metrics.Search))}
	return i.inspect(ctx)
}

// hold keeps probes failing and environment variables unset, for good.
func (p *Player) hold(down, unset []string) {
	checks := make(map[string]*registry.Check)
	fail := func(t *corpus.Tool, what string) {
		if checks[what] == nil {
			checks[what] = &registry.Check{Name: what, Probe: func() (bool, error) { return false, nil }}
		}
		r := p.registrations[t]
		r.Check = checks[what]
		p.registrations[t] = r
	}
	for t := range p.registrations {
		if slices.Contains(down, probeOf(t)) {
			fail(t, probeOf(t))
		}
		if name := firstAmong(t.RequiresEnv, unset); name != "" {
			fail(t, name)
		}
	}
}

// firstAmong is the first of some names that is among others; empty if none is.
func firstAmong(names, others []string) string {
	for _, name := range names {
		if slices.Contains(others, name) {
			return name
		}
	}
	return ""
}

// inspect takes the surface apart.
func (i *inspector) inspect(ctx context.Context) (*Inspection, error) {
	at, err := i.reach(ctx)
	if err != nil {
		return nil, err
	}
	s, shown, enabled := i.stage.session, i.play.shown, i.stage.enabled
	surface := i.play.surfaces[len(i.play.surfaces)-1]
	i.out = &Inspection{
		SessionID: s.SessionID, RowIndex: s.RowIndex, Seed: s.Seed, Distribution: s.Distribution, Corpus: i.options.Corpus.Name,
		Arm: i.options.Arm, Turn: i.options.Turn, AtMS: at,
		Toolsets: []string{}, Servers: []string{}, Disabled: append([]string{}, i.options.Disabled...),
		Activated: surface.Activated, Tier: surface.Tier, Form: surface.Form,
		VisibleTools: surface.VisibleTools, HiddenTools: surface.DeferredTools,
		BridgeTools: len(shown.Definitions) - surface.VisibleTools,
		Bytes:       surface.Bytes, SHA256: surface.SHA256, Array: array(shown.Definitions),
	}
	for _, name := range enabled {
		if i.player.bySource[name] != nil {
			i.out.Servers = append(i.out.Servers, name)
		} else {
			i.out.Toolsets = append(i.out.Toolsets, name)
		}
	}
	if err := i.count(surface); err != nil {
		return nil, err
	}
	i.usable = make(map[string]*registry.Definition, len(shown.Usable))
	for _, d := range shown.Usable {
		i.usable[d.Name] = d
	}
	i.locate()
	i.sources()
	i.use()
	i.out.Warnings = i.warnings()
	return i.out, nil
}

// reach plays the session until the turn begins, and returns when that is.
func (i *inspector) reach(ctx context.Context) (atMS int64, err error) {
	i.stage.assemble() // as Play does, so that probes are asked at the same times
	turn := 0
	for n := range i.stage.session.Events {
		e := &i.stage.session.Events[n]
		i.stage.advance(e.AtMS)
		switch {
		case e.Turn == nil:
			err = i.player.apply(i.stage, e)
		case turn == i.options.Turn:
			return e.AtMS, i.play.refresh()
		default:
			err = i.play.turn(ctx, turn, e.Turn)
			turn++
		}
		if err != nil {
			return 0, fmt.Errorf("session %s: events[%d]: %w", i.stage.session.SessionID, n, err)
		}
	}
	return 0, i.play.refresh() // a session without a timeline
}

// array is a tools array as a request carries it.
func array(definitions []*registry.Definition) string {
	entries := make([]string, len(definitions))
	for n, d := range definitions {
		entries[n] = d.JSON
	}
	return "[" + strings.Join(entries, ",") + "]"
}

// count counts the parts of the surface in the arm's tokenizer and in the
// contract's, and says where the budget comes from.
func (i *inspector) count(surface metrics.Surface) error {
	shown := i.play.shown
	i.out.Tokens = []TokenParts{parts(surface, i.play.arm.counter.tokens(shown.Usable))}
	estimating := i.options.Arm
	estimating.Tokenizer = estimator
	arm, err := i.player.rig.arm(estimating, i.options.Corpus)
	if err != nil {
		return err
	}
	if i.options.Arm.Tokenizer != estimator {
		play := newPlay(i.player, i.stage, arm, i.play.view, nil)
		estimated, err := play.show(shown)
		if err != nil {
			return err
		}
		i.out.Tokens = append(i.out.Tokens, parts(estimated, arm.counter.tokens(shown.Usable)))
	}
	c := i.options.Arm.config()
	uncapped := c
	uncapped.ListingMaxTokens = math.MaxInt
	context := max(i.stage.session.ContextLength, 0)
	i.out.Budget = Budget{
		ContextLength: context, ThresholdPct: c.ThresholdPct, ShareTokens: uncapped.Budget(context), CapTokens: c.ListingMaxTokens,
		Tokens: surface.BudgetTokens, ListingTokens: arm.counter.counter.Count(shown.Listing.Text),
	}
	return nil
}

// estimator is the tokenizer that the contract's budgets are in.
const estimator = "chars4"

func parts(s metrics.Surface, eager int) TokenParts {
	return TokenParts{
		Tokenizer: s.Tokenizer, Visible: s.VisibleTokens, Bridge: s.BridgeTokens, Listing: s.ListingTokens,
		Surface: s.SurfaceTokens, Eager: eager,
	}
}

// sources sums the tools up by where they register.
func (i *inspector) sources() {
	index := make(map[string]int)
	usable := make(map[string][]*registry.Definition)
	for _, t := range i.out.Tools {
		n, ok := index[t.Source]
		if !ok {
			n = len(i.out.Sources)
			index[t.Source] = n
			i.out.Sources = append(i.out.Sources, SourceParts{Source: t.Source})
		}
		i.out.Sources[n].Tools++
		i.out.Sources[n].add(t.Place)
		if d := i.usable[t.Tool]; d != nil {
			usable[t.Source] = append(usable[t.Source], d)
		}
	}
	for n := range i.out.Sources {
		s := &i.out.Sources[n]
		if len(usable[s.Source]) > 0 {
			s.SchemaTokens = i.play.arm.counter.tokens(usable[s.Source])
		}
	}
	slices.SortFunc(i.out.Sources, func(a, b SourceParts) int {
		return cmp.Or(cmp.Compare(b.SchemaTokens, a.SchemaTokens), cmp.Compare(a.Source, b.Source))
	})
}

// use looks for what the session asks for.
func (i *inspector) use() {
	used := &Used{}
	asked := make(map[string]bool)
	for _, e := range i.stage.session.Events {
		if e.Turn == nil {
			continue
		}
		used.Turns++
		for _, g := range e.Turn.Gold {
			asked[g.Tool] = true
		}
	}
	if used.Turns == 0 {
		return
	}
	for n := range i.out.Tools {
		if t := &i.out.Tools[n]; asked[t.ID] {
			t.Used = true
			used.Tools++
			used.add(t.Place)
		}
	}
	i.out.Used = used
}
