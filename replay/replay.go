// Package replay plays sessions through the pipeline and records what happened.
//
// The steps for one session: fill a fresh registry with the built-in tools and
// those of the session's servers; for each arm, assemble the surface and count
// its tokens; play the timeline, the arms side by side. An event changes the
// registry, or what a probe answers when it is next asked. A turn is played by an
// agent model (a deterministic rule in the place of the language model) that
// searches, describes and calls through the real bridge; every intent's queries
// are asked of the retriever, whether the agent needed to or not. At last the
// session is set up again and disturbed (shuffled registration, a tool gone, a
// description edited, a server gone) to see what of the surface stays.
//
// Every request is charged with the tools array as it is then, the messages as
// the pipeline produced them, and what a prompt cache holds of the two.
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
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
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

// Dispatcher carries out the calls of one model output: the registry does, and so
// does a gateway in front of it.
type Dispatcher interface {
	DispatchAll(ctx context.Context, calls []registry.Call) []registry.Result
}

// Options sets up a Player.
type Options struct {
	Corpus *corpus.Corpus // required
	Arms   []Arm          // required
	// SystemPrompt opens the messages; empty means DefaultSystemPrompt.
	SystemPrompt string
	// Repeats is the number of shuffled assemblies, 1 or more; 0 means 5.
	Repeats int
	// Weights are those of effective tokens; the zero value means
	// metrics.DefaultWeights.
	Weights metrics.Weights
	// World says which tools of the corpus are simulated, by rules that give them an
	// endpoint sim://NAME, for arms with a gateway and without; nil means that every
	// tool answers at once.
	World *card.Config
}

// Player plays sessions. It keeps per-tool work from session to session and is
// not safe for concurrent use: every worker has its own.
type Player struct {
	options       Options
	wiring        wiring
	rig           *rig
	arms          []*armState
	builtins      []*corpus.Tool
	bySource      map[string][]*corpus.Tool
	ids           map[string]string // model-visible name → tool id
	registrations map[*corpus.Tool]registry.Registration
	simulated     map[*corpus.Tool]*card.Simulation
	probes        map[string]bool // that some tool is asked for by
	rewrites      map[string]assembly.Rewrite
	edited        map[editKey]*registry.Definition
	fillers       map[*registry.Definition]json.RawMessage
}

// rig is what the arms of a worker share.
type rig struct {
	shared *assembly.Shared
	counts map[string]*surfaceCounter // by tokenizer
	memos  map[rankKey]*bridge.Memo
	ranks  map[string]search.Retriever
	lines  lineIndexes // of listings

	digests digester // of tools arrays
}

// rankKey is what the work that a bridge remembers depends on.
type rankKey struct {
	variant   bridge.Variant
	retriever string
}

// armState is an arm with its tools.
type armState struct {
	Arm
	counter    *surfaceCounter
	deferNames []string // core tools that the arm defers
}

func (a *armState) rankKey() rankKey { return rankKey{a.Variant, a.Retriever} }

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
	if err := o.Weights.Check(); err != nil {
		return err
	}
	for i, a := range o.Arms {
		if (a.Gateway == GatewayOff) != (a.GatewayConfig == nil) {
			return fmt.Errorf("arm %q: unknown gateway %q\nhint: name a gateway.yaml, or write %s", a.Name, a.Gateway, GatewayOff)
		}
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
	if o.Weights == (metrics.Weights{}) {
		o.Weights = metrics.DefaultWeights()
	}
	p := &Player{
		options:  o,
		rig:      &rig{shared: assembly.NewShared(), counts: map[string]*surfaceCounter{}, memos: map[rankKey]*bridge.Memo{}, ranks: map[string]search.Retriever{}},
		bySource: make(map[string][]*corpus.Tool),
		ids:      make(map[string]string, len(o.Corpus.Tools)),
		probes:   make(map[string]bool),
		rewrites: o.Corpus.Rewrites(),
		edited:   make(map[editKey]*registry.Definition),
		fillers:  make(map[*registry.Definition]json.RawMessage),
	}
	p.wiring = p.wired()
	var err error
	if p.rig.lines.retriever, err = search.New("bm25"); err != nil {
		return nil, err
	}
	for _, a := range o.Arms {
		state, err := p.rig.arm(a, o.Corpus)
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
		if probe := probeOf(t); probe != "" {
			p.probes[probe] = true
		}
	}
	p.registrations = registrations(o.Corpus.Tools)
	p.simulated, err = simulations(o.World, o.Corpus.Tools)
	return p, err
}

// registrations prepares how each tool registers while nothing is wrong with it.
func registrations(tools []*corpus.Tool) map[*corpus.Tool]registry.Registration {
	all := make(map[*corpus.Tool]registry.Registration, len(tools))
	for _, t := range tools {
		all[t] = registry.Registration{
			Toolset: t.Toolset, Definition: t.Definition, Handler: echo(t.ID),
			RequiresEnv: t.RequiresEnv, MaxResultSize: t.MaxResultSize, ReadOnly: t.ReadOnly,
		}
	}
	return all
}

func (r *rig) arm(a Arm, c *corpus.Corpus) (*armState, error) {
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
		r.ranks[a.Retriever] = retriever
	}
	state := &armState{Arm: a, counter: r.counts[a.Tokenizer], deferNames: deferNames(a, c.Toolsets)}
	if key := state.rankKey(); r.memos[key] == nil {
		r.memos[key] = bridge.NewMemo()
	}
	return state, nil
}

// deferNames are the core tools that an arm defers: none in july.
func deferNames(a Arm, t *toolset.Table) []string {
	if a.Variant == bridge.July {
		return nil
	}
	return a.ToolSearch.DeferNames(t.Defer())
}

// echo is the simulated end of a call: it answers at once with what it was asked, so that a result's size follows the call and not a model of the tool.
func echo(id string) registry.Handler {
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
	defer st.settle()
	plays := make([]*play, len(p.arms))
	judged := make(map[judgedBy][]metrics.Search)
	for i, arm := range p.arms {
		plays[i] = newPlay(p, st, arm, st.views[i], judged)
	}
	whole := st.assemble()
	err = p.timeline(st, func(n int, t *sessions.Turn) error {
		for _, play := range plays {
			if err := play.turn(ctx, n, t); err != nil {
				return fmt.Errorf("under arm %s: %w", play.arm.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return metrics.Observations{}, fmt.Errorf("session %s: %w", s.SessionID, err)
	}
	st.settle() // what is under way may still take effect
	for _, play := range plays {
		play.end()
		out.Arms = append(out.Arms, play.row)
		out.Calls = append(out.Calls, play.calls...)
		out.Searches = append(out.Searches, play.searches...)
		out.Surfaces = append(out.Surfaces, play.surfaces...)
	}
	if err := p.disturb(st, whole, out.Arms); err != nil {
		return out, fmt.Errorf("session %s: stability: %w", s.SessionID, err)
	}
	return out, nil
}

// timeline lets the session's events happen and plays its turns, which it numbers
// from 0.
func (p *Player) timeline(st *stage, play func(n int, t *sessions.Turn) error) error {
	turn := 0
	for i := range st.session.Events {
		e := &st.session.Events[i]
		st.advance(e.AtMS)
		if e.Turn == nil {
			if err := p.apply(st, e); err != nil {
				return fmt.Errorf("events[%d]: %w", i, err)
			}
			continue
		}
		if err := play(turn, e.Turn); err != nil {
			return fmt.Errorf("turn %d %w", turn, err)
		}
		turn++
	}
	if turn == 0 {
		return errors.New("no turn\nhint: a session asks for something at least once")
	}
	return nil
}
