package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
	"github.com/toolgauge/toolgauge/sessions"
)

// stage is a session set up in the pipeline.
type stage struct {
	session *sessions.Session
	tools   []*corpus.Tool // that the session starts with, in the order of registration
	stream  *distributions.Stream
	// enabled names the toolsets that are switched on, servers included. It is
	// replaced, never changed: requests hold on to it.
	enabled []string
	// probes are those that the session's events name. No other one ever fails,
	// so no other one is asked.
	probes map[string]bool
	lanes  []*lane
	views  []*view // one for each arm
}

// lane is a registry with its clock. Arms share one as long as they ask its
// probes at the same times: those of one memo do, if no time passes in their calls.
// Any other arm has its own.
type lane struct {
	clock    *clock.Virtual
	registry *registry.Registry
	checks   map[string]*registry.Check
	failing  map[string]bool
	// usable is the first assembler, from which others take what does not depend
	// on the bridge.
	usable *assembly.Assembler

	dispatcher Dispatcher
	gateway    *gateway.Gateway // nil where there is none
	records    []*audit.Record  // that the gateway made of the batch under way
	effects    effects          // nil where nothing is simulated
}

// view is one arm's view of a lane.
type view struct {
	lane    *lane
	bridge  *bridge.Bridge
	session *assembly.Session
}

// stage sets a session up: registries filled in shuffled order, and each arm's
// pipeline over one of them.
func (p *Player) stage(s *sessions.Session) (*stage, error) {
	if s.CorpusSHA256 != p.options.Corpus.SHA256 {
		return nil, fmt.Errorf("session %s: drawn from corpus %.12s, not from this one (%.12s)\n"+
			"hint: replay sessions with the corpus, and the distributions, that they were drawn from",
			s.SessionID, s.CorpusSHA256, p.options.Corpus.SHA256)
	}
	st := &stage{
		session: s, tools: slices.Clone(p.builtins),
		stream: distributions.NewStream(s.Seed, "stability", uint64(s.RowIndex)),
	}
	st.restart()
	for _, source := range s.Servers {
		owned, ok := p.bySource[source]
		if !ok {
			return nil, fmt.Errorf("session %s: %w", s.SessionID, p.unknownServer(source))
		}
		st.tools = append(st.tools, owned...)
	}
	for _, name := range s.Toolsets {
		if err := p.checkToolset(name); err != nil {
			return nil, fmt.Errorf("session %s: %w", s.SessionID, err)
		}
	}
	for i := range s.Events {
		if err := p.checkEvent(&s.Events[i]); err != nil {
			return nil, fmt.Errorf("session %s: events[%d]: %w", s.SessionID, i, err)
		}
		if probe := s.Events[i].Probe; probe != "" {
			if st.probes == nil {
				st.probes = make(map[string]bool)
			}
			st.probes[probe] = true
		}
	}
	return st, p.fill(st, false)
}

// fill gives a stage fresh registries, filled in the stream's next order: one for
// each memo that an arm has, or a single one for all arms.
func (p *Player) fill(st *stage, single bool) error {
	st.stream.Shuffle(len(st.tools), func(i, j int) { st.tools[i], st.tools[j] = st.tools[j], st.tools[i] })
	alike := make(map[string]*lane)
	st.lanes, st.views = st.lanes[:0], st.views[:0]
	shared := make(map[viewKey]*view)
	for _, arm := range p.arms {
		key := arm.Memo
		switch {
		case single:
			key = ""
		case p.options.timed(arm.Arm):
			key = arm.Memo + " " + arm.Name
		}
		l := alike[key]
		if l == nil {
			var err error
			if l, err = p.lane(st); err == nil && !single {
				l.dispatcher, err = p.dispatcher(st, l, arm)
			}
			if err != nil {
				return fmt.Errorf("session %s: %w", st.session.SessionID, err)
			}
			alike[key] = l
			st.lanes = append(st.lanes, l)
		}
		st.views = append(st.views, p.view(st, l, arm, shared))
	}
	return nil
}

// lane makes and fills a registry.
func (p *Player) lane(st *stage) (*lane, error) {
	l := &lane{clock: &clock.Virtual{}, failing: make(map[string]bool), checks: make(map[string]*registry.Check)}
	l.registry = registry.New(registry.Options{Clock: l.clock, SizeHint: len(st.tools)})
	for name := range st.probes {
		l.checks[name] = &registry.Check{Name: name, Probe: func() (bool, error) { return !l.failing[name], nil }}
	}
	for _, t := range st.tools {
		if err := l.register(p, t, t.Definition); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// register registers a tool in a lane.
func (l *lane) register(p *Player, t *corpus.Tool, d *registry.Definition) error {
	r, err := l.registration(p, t, d)
	if err != nil {
		return err
	}
	return l.registry.Register(r)
}

// registration is how a tool registers in a lane: with its probe, and with an
// endpoint that is out of reach while the probe fails.
func (l *lane) registration(p *Player, t *corpus.Tool, d *registry.Definition) (r registry.Registration, err error) {
	r = p.registrations[t]
	r.Definition = d
	if r.Handler, err = p.handlerOf(t, l); err != nil {
		return r, err
	}
	probe := probeOf(t)
	if check := l.checks[probe]; check != nil && r.Check == nil {
		r.Check = check
		answer := r.Handler
		r.Handler = func(ctx context.Context, args json.RawMessage) (any, error) {
			if l.failing[probe] {
				return nil, unreachableError{probe}
			}
			return answer(ctx, args)
		}
	}
	return r, nil
}

// unreachableError is what a call comes back with while its server is out of
// reach.
type unreachableError struct{ probe string }

func (e unreachableError) Error() string { return e.probe + " does not answer" }

// ErrorType names the error as models know it.
func (unreachableError) ErrorType() string { return "ConnectionError" }

// probeOf names the probe that a tool is asked for by: the one on its card, else
// that of its source; empty for a built-in tool without one.
func probeOf(t *corpus.Tool) string {
	if t.Check != "" || t.Builtin {
		return t.Check
	}
	return t.Toolset
}

// viewKey is what arms must have in common to share an assembler. What does not
// depend on the bridge's settings is then assembled once for all of them.
type viewKey struct {
	lane *lane
	rankKey
	memo, deferNames string
	gateway          string // that keeps tools from the session; empty if none does
}

func (p *Player) view(st *stage, l *lane, arm *armState, shared map[viewKey]*view) *view {
	key := viewKey{lane: l, rankKey: arm.rankKey(), memo: arm.Memo, deferNames: strings.Join(arm.deferNames, " ")}
	if arm.filters() {
		key.gateway = arm.Gateway
	}
	like := shared[key]
	if like == nil {
		like = p.assembler(l, arm, key)
		shared[key] = like
	}
	return &view{lane: l, bridge: like.bridge, session: &assembly.Session{
		ID: st.session.SessionID, Assembler: like.session.Assembler, Dispatcher: l.dispatcher, Loop: l.dispatcher,
		Request: assembly.Request{Enabled: st.enabled, Config: arm.config(), ContextLength: st.session.ContextLength},
	}}
}

func (p *Player) assembler(l *lane, arm *armState, key viewKey) *view {
	b := bridge.New(bridge.Options{
		Variant: arm.Variant, Defer: arm.deferNames,
		Core: p.options.Corpus.Toolsets.IsCore, Catalog: l.registry,
		Retriever: p.rig.ranks[arm.Retriever], Memo: p.rig.memos[key.rankKey],
	})
	options := assembly.Options{
		Registry: l.registry, Resolver: toolset.NewResolver(p.options.Corpus.Toolsets, l.registry),
		Bridge: b, Rewrites: p.rewrites, Shared: p.rig.shared, Memo: arm.memoMode(), Usable: l.usable,
	}
	if arm.filters() {
		options.Usable, options.Hides = nil, arm.hides(l)
	}
	a := assembly.New(options)
	if arm.Memo == MemoTTL && l.usable == nil && options.Hides == nil {
		l.usable = a
	}
	return &view{bridge: b, session: &assembly.Session{Assembler: a}}
}

// advance moves the clocks to a time of the session. A lane whose calls took longer
// than the session had time for them stays where it is.
func (st *stage) advance(atMS int64) {
	for _, l := range st.lanes {
		l.clock.Advance(time.Duration(atMS)*time.Millisecond - l.clock.Now().Sub(time.Time{}))
	}
}

// settle lets everything end that is under way in the lanes.
func (st *stage) settle() {
	for _, l := range st.lanes {
		l.clock.Settle()
	}
}

// restart takes a stage back to the beginning of its session.
func (st *stage) restart() {
	// Never nil, which would enable everything.
	st.enabled = append(append([]string{}, st.session.Toolsets...), st.session.Servers...)
	st.probes = nil // nothing fails in what follows
}

// enable replaces the list of enabled toolsets.
func (st *stage) enable(names []string) {
	st.enabled = names
	for _, v := range st.views {
		v.session.Request.Enabled = names
	}
}
