// Package replay plays sessions through the pipeline and records what happened.
//
// The steps for one session under one arm: fill a fresh registry with the
// built-in tools and those of the session's servers; assemble the surface and
// count its tokens; play the turns, where an agent model (a deterministic rule
// in the place of the language model) searches, describes and calls through the
// real bridge; ask every intent's queries of the retriever, whether the agent
// needed to or not; then disturb the session (shuffled registration, a tool
// gone, a description edited, a server gone) and see what of the surface stays.
//
// Only the agent model, the endpoints and the clock are simulated; registry,
// toolsets, assembly, bridge and retrieval are the ones under test. What comes
// out depends on the corpus, the arm and the session, and on nothing else.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
	"github.com/toolgauge/toolgauge/sessions"
)

// DefaultSystemPrompt opens every session's messages. Its tokens are the same
// under every arm.
const DefaultSystemPrompt = "You are a helpful assistant. Use the tools when they help; say so when none does."

// defaultRepeats is how many shuffled assemblies stability is judged on.
const defaultRepeats = 5

// Dispatcher carries out a call of a real tool: the registry does, and so does
// a gateway in front of it.
type Dispatcher interface {
	Dispatch(ctx context.Context, name string, arguments json.RawMessage) registry.Result
}

// Options sets up a Player.
type Options struct {
	Corpus *corpus.Corpus // required
	Arms   []Arm          // required
	// SystemPrompt opens the messages; empty means DefaultSystemPrompt.
	SystemPrompt string
	// Repeats is the number of shuffled assemblies, 1 or more; 0 means 5.
	Repeats int
}

// Player plays sessions. It keeps per-tool work from session to session and is
// not safe for concurrent use: every worker has its own.
type Player struct {
	options       Options
	rig           *rig
	arms          []*armState
	builtins      []*corpus.Tool
	bySource      map[string][]*corpus.Tool
	ids           map[string]string // model-visible name → tool id
	registrations map[*corpus.Tool]registry.Registration
	rewrites      map[string]assembly.Rewrite
	edited        map[*corpus.Tool]*registry.Definition
}

// rig is what the arms of a worker share.
type rig struct {
	shared *assembly.Shared
	counts map[string]*surfaceCounter // by tokenizer
	memos  map[string]*bridge.Memo    // by retriever
	ranks  map[string]search.Retriever
}

// armState is an arm with its tools.
type armState struct {
	Arm
	counter *surfaceCounter
}

// check refuses options that nothing can be played with.
func (o Options) check() error {
	switch {
	case o.Corpus == nil:
		return errors.New("no corpus given\nhint: load one, or take the embedded one")
	case len(o.Arms) == 0:
		return errors.New("no arms given\nhint: give at least one, for example those of DefaultArms")
	case o.Repeats < 0:
		return fmt.Errorf("repeats %d is negative\nhint: give at least 1, or 0 for %d", o.Repeats, defaultRepeats)
	}
	for i, a := range o.Arms {
		if slices.ContainsFunc(o.Arms[:i], func(other Arm) bool { return other.Name == a.Name }) {
			return fmt.Errorf("arm %q is there twice\nhint: give every arm a name of its own", a.Name)
		}
	}
	return nil
}

// NewPlayer checks the options and prepares a player.
func NewPlayer(o Options) (*Player, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.SystemPrompt == "" {
		o.SystemPrompt = DefaultSystemPrompt
	}
	if o.Repeats == 0 {
		o.Repeats = defaultRepeats
	}
	p := &Player{
		options:  o,
		rig:      &rig{shared: assembly.NewShared(), counts: map[string]*surfaceCounter{}, memos: map[string]*bridge.Memo{}, ranks: map[string]search.Retriever{}},
		bySource: make(map[string][]*corpus.Tool),
		ids:      make(map[string]string, len(o.Corpus.Tools)),
		rewrites: o.Corpus.Rewrites(),
		edited:   make(map[*corpus.Tool]*registry.Definition),
	}
	for _, a := range o.Arms {
		state, err := p.rig.arm(a)
		if err != nil {
			return nil, err
		}
		p.arms = append(p.arms, state)
	}
	for _, t := range o.Corpus.Tools {
		if t.Builtin {
			p.builtins = append(p.builtins, t)
		} else {
			p.bySource[t.Toolset] = append(p.bySource[t.Toolset], t)
		}
		p.ids[t.Definition.Name] = t.ID
	}
	p.registrations = registrations(o.Corpus.Tools)
	return p, nil
}

// registrations prepares how each tool registers. Tools with a probe of one name
// share it; nothing is down in a replay without events.
func registrations(tools []*corpus.Tool) map[*corpus.Tool]registry.Registration {
	all := make(map[*corpus.Tool]registry.Registration, len(tools))
	checks := make(map[string]*registry.Check)
	for _, t := range tools {
		if t.Check != "" && checks[t.Check] == nil {
			checks[t.Check] = &registry.Check{Name: t.Check, Probe: func() (bool, error) { return true, nil }}
		}
		all[t] = registry.Registration{
			Toolset: t.Toolset, Definition: t.Definition, Handler: endpoint(t.ID), Check: checks[t.Check],
			RequiresEnv: t.RequiresEnv, MaxResultSize: t.MaxResultSize,
		}
	}
	return all
}

func (r *rig) arm(a Arm) (*armState, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if r.counts[a.Tokenizer] == nil {
		c, err := tokens.New(a.Tokenizer)
		if err != nil {
			return nil, err
		}
		r.counts[a.Tokenizer] = newSurfaceCounter(c, tokens.NewMemo(c))
	}
	if r.ranks[a.Retriever] == nil {
		retriever, err := search.New(a.Retriever)
		if err != nil {
			return nil, err
		}
		r.ranks[a.Retriever], r.memos[a.Retriever] = retriever, bridge.NewMemo()
	}
	return &armState{Arm: a, counter: r.counts[a.Tokenizer]}, nil
}

// endpoint is the simulated end of a call: it answers at once with what it was
// asked, so that a result's size follows the call and not a model of the tool.
func endpoint(id string) registry.Handler {
	head := append([]byte(`{"status":"ok","tool":`), rawjson.String(id)...)
	head = append(head, `,"arguments":`...)
	return func(_ context.Context, args json.RawMessage) (any, error) {
		return string(head) + string(args) + "}", nil
	}
}

// Play plays one session under every arm. An error means that the session does
// not fit the corpus.
func (p *Player) Play(ctx context.Context, s *sessions.Session) (metrics.Observations, error) {
	var out metrics.Observations
	st, err := p.stage(s)
	if err != nil {
		return out, err
	}
	judged := make(map[judgedBy]map[int][]metrics.Search)
	for i, arm := range p.arms {
		play := &play{player: p, stage: st, arm: arm, session: st.assemblers[i].session, bridge: st.assemblers[i].bridge, search: judged}
		if err := play.run(ctx); err != nil {
			return out, fmt.Errorf("session %s under arm %s: %w", s.SessionID, arm.Name, err)
		}
		out.Arms = append(out.Arms, play.row)
		out.Calls = append(out.Calls, play.calls...)
		out.Searches = append(out.Searches, play.searches...)
		out.Surfaces = append(out.Surfaces, play.surface)
	}
	if err := p.disturb(st, out.Arms); err != nil {
		return out, fmt.Errorf("session %s: stability: %w", s.SessionID, err)
	}
	return out, nil
}

// stage is a session set up in the pipeline, before anybody speaks.
type stage struct {
	session    *sessions.Session
	clock      *clock.Virtual
	registry   *registry.Registry
	tools      []*corpus.Tool // in the order of registration
	stream     *distributions.Stream
	assemblers []*armAssembler
}

// armAssembler is one arm's view of a registry.
type armAssembler struct {
	session *assembly.Session
	bridge  *bridge.Bridge
}

// stage fills a registry in shuffled order and lays each arm's pipeline over it.
func (p *Player) stage(s *sessions.Session) (*stage, error) {
	if s.CorpusSHA256 != p.options.Corpus.SHA256 {
		return nil, fmt.Errorf("session %s: drawn from corpus %.12s, not from this one (%.12s)\nhint: replay sessions with the corpus, and the distributions, that they were drawn from", s.SessionID, s.CorpusSHA256, p.options.Corpus.SHA256)
	}
	tools := slices.Clone(p.builtins)
	for _, source := range s.Servers {
		owned, ok := p.bySource[source]
		if !ok {
			return nil, fmt.Errorf("session %s: unknown server %q\nhint: replay sessions with the corpus that they were drawn from", s.SessionID, source)
		}
		tools = append(tools, owned...)
	}
	for _, name := range s.Toolsets {
		if _, fixed := p.options.Corpus.Toolsets.Static(name); !fixed {
			return nil, fmt.Errorf("session %s: unknown toolset %q\nhint: toolsets are fixed ones; sources of tools stand under servers", s.SessionID, name)
		}
	}
	st := &stage{
		session: s, tools: tools,
		stream: distributions.NewStream(s.Seed, "stability", uint64(s.RowIndex)),
	}
	return st, p.fill(st)
}

// fill gives a stage a fresh registry, filled in the stream's next order.
func (p *Player) fill(st *stage) error {
	st.clock = &clock.Virtual{}
	st.registry = registry.New(registry.Options{Clock: st.clock, SizeHint: len(st.tools)})
	st.stream.Shuffle(len(st.tools), func(i, j int) { st.tools[i], st.tools[j] = st.tools[j], st.tools[i] })
	for _, t := range st.tools {
		if err := st.registry.Register(p.registrations[t]); err != nil {
			return fmt.Errorf("session %s: %w", st.session.SessionID, err)
		}
	}
	p.layArms(st)
	return nil
}

// layArms gives each arm its view of the stage's registry. Arms with the same
// retriever share an assembler: what does not depend on the bridge's settings
// is then assembled once for all of them.
func (p *Player) layArms(st *stage) {
	resolver := toolset.NewResolver(p.options.Corpus.Toolsets, st.registry)
	// Never nil, which would enable everything.
	enabled := append(append([]string{}, st.session.Toolsets...), st.session.Servers...)
	shared := make(map[string]*armAssembler)
	st.assemblers = st.assemblers[:0]
	for _, arm := range p.arms {
		like := shared[arm.Retriever]
		if like == nil {
			like = p.assembler(st, arm, resolver)
			shared[arm.Retriever] = like
		}
		st.assemblers = append(st.assemblers, &armAssembler{bridge: like.bridge, session: &assembly.Session{
			ID: st.session.SessionID, Assembler: like.session.Assembler, Dispatcher: st.registry,
			Request: assembly.Request{Enabled: enabled, Config: arm.config(), ContextLength: st.session.ContextLength},
		}})
	}
}

func (p *Player) assembler(st *stage, arm *armState, resolver *toolset.Resolver) *armAssembler {
	b := bridge.New(bridge.Options{
		Core: p.options.Corpus.Toolsets.IsCore, Catalog: st.registry,
		Retriever: p.rig.ranks[arm.Retriever], Memo: p.rig.memos[arm.Retriever],
	})
	return &armAssembler{bridge: b, session: &assembly.Session{Assembler: assembly.New(assembly.Options{
		Registry: st.registry, Resolver: resolver, Bridge: b, Rewrites: p.rewrites, Shared: p.rig.shared,
	})}}
}

// assemble is the surface of each arm as the stage stands now.
func (st *stage) assemble() [][]*registry.Definition {
	surfaces := make([][]*registry.Definition, len(st.assemblers))
	for i, a := range st.assemblers {
		surfaces[i] = a.session.Assembler.Assemble(a.session.Request).Definitions
	}
	return surfaces
}
