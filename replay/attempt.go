package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/sessions"
)

// model is an agent model: a rule that says what a language model would call
// next. A model plays one intent.
type model interface {
	// next returns the calls of the next request; none ends the tool calls of the
	// turn. Golds that it gives up it loses.
	next(a *attempt) []move
	// learn takes in what one of its calls led to.
	learn(a *attempt, m *move)
}

// move is one call of a request.
type move struct {
	modelCall
	// gold is the one that the call carries out; nil for a search, a description
	// and a call of another tool.
	gold *goldCall
}

// newModel returns the agent model of a name that Arm.check knows.
func newModel(name string) model {
	switch name {
	case AgentHasty:
		return &hasty{}
	case AgentUnaware:
		return &knowing{}
	case AgentBlind:
		return &knowing{blind: true}
	default:
		return &knowing{searches: true}
	}
}

// attempt is an agent at one intent. A gold starts when those that it depends on
// were called. Golds that do not wait for one another may advance together.
type attempt struct {
	play     *play
	turn     *sessions.Turn
	queries  []string
	golds    []*goldCall
	searched int // searches made for this intent
	requests int // requests made for this intent
	wrong    int // calls of tools that are no gold, not charged to one
}

// goldCall is one gold on its way.
type goldCall struct {
	id        string
	name      string // model-visible
	arguments json.RawMessage
	stated    json.RawMessage // without the required ones that the utterance does not state
	dependsOn []int
	level     int  // length of the longest chain of golds that it depends on
	visible   bool // on the surface, with its schema
	deferred  bool
	named     bool // the agent has read its name
	down      bool // it cannot be used, whether the agent can know it or not
	repairing bool // a blind call came back with the schema
	cold      bool
	searches  int
	wrong     int
	path      metrics.Path // empty while under way
	extra     int
	failed    bool
	dispatch  metrics.Dispatch
}

// prepare looks the golds up and finds their levels.
func (a *attempt) prepare() error {
	for i, g := range a.turn.Gold {
		call, err := a.goldCall(g.Tool)
		if err != nil {
			return err
		}
		call.arguments, call.dependsOn = g.JSONArguments(), g.DependsOn
		call.stated = statedArguments(a.play.definition(call.name), g)
		for _, on := range g.DependsOn {
			if on < 0 || on >= i {
				return fmt.Errorf("gold %d depends on %d\nhint: a gold depends on earlier golds only", i, on)
			}
			call.level = max(call.level, a.golds[on].level+1)
		}
		a.golds = append(a.golds, call)
	}
	return nil
}

func (a *attempt) goldCall(id string) (*goldCall, error) {
	p := a.play
	tool, ok := p.player.options.Corpus.Tool(id)
	if !ok {
		return nil, fmt.Errorf("unknown gold tool %q\nhint: replay sessions with the corpus that they were drawn from", id)
	}
	name := tool.Definition.Name
	usable := p.definition(name) != nil
	g := &goldCall{id: tool.ID, name: name, down: p.down(tool, usable)}
	g.deferred = p.shown.Activated && p.view.bridge.Deferrable(name)
	if !usable { // the catalog may have forgotten it
		g.deferred = p.shown.Activated && !p.player.options.Corpus.Toolsets.IsCore(name)
	}
	g.visible = usable && !g.deferred
	g.named = usable && g.deferred && p.view.bridge.Names(p.shown.Surface, name)
	return g, nil
}

// definition returns a tool's definition among the session's usable ones, or nil.
func (p *play) definition(name string) *registry.Definition {
	i := slices.IndexFunc(p.shown.Usable, func(d *registry.Definition) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return p.shown.Usable[i]
}

// run carries the golds to their calls, or loses them.
func (a *attempt) run(ctx context.Context, m model) {
	for {
		moves := m.next(a)
		if len(moves) == 0 {
			break
		}
		a.requests++
		calls := make([]modelCall, len(moves))
		for i := range moves {
			calls[i] = moves[i].modelCall
		}
		a.play.perform(ctx, calls)
		for i := range moves {
			moves[i].modelCall = calls[i]
			m.learn(a, &moves[i])
		}
	}
	for _, g := range a.golds {
		if g.path == "" { // what it waits for was not reached
			g.lose(a)
		}
	}
}

// ready returns the golds under way that wait for no other.
func (a *attempt) ready() []*goldCall {
	var ready []*goldCall
	for _, g := range a.golds {
		waits := func(on int) bool { return !a.golds[on].path.Reached() }
		if g.path == "" && !slices.ContainsFunc(g.dependsOn, waits) {
			ready = append(ready, g)
		}
	}
	return ready
}

// lose gives a gold up. One that could not have been called, or that waits for
// such a one, stands apart from those that the agent could have reached.
func (g *goldCall) lose(a *attempt) {
	g.path = metrics.PathLost
	for _, on := range g.dependsOn {
		g.down = g.down || a.golds[on].path == metrics.PathUnavailable
	}
	if g.down {
		g.path = metrics.PathUnavailable
	}
	g.extra = max(0, a.requests-g.level)
	g.cold = g.deferred && !g.down && !a.play.called[g.name]
}

// directly is the call of a gold on the surface.
func (g *goldCall) directly() move {
	return move{modelCall{name: g.name, arguments: g.arguments, dependsOn: []int{}}, g}
}

// through is the call of a deferred gold, by way of the bridge.
func (a *attempt) through(g *goldCall, arguments json.RawMessage) move {
	return move{modelCall{name: bridge.CallTool, arguments: a.play.arm.Variant.CallArguments(g.name, arguments), dependsOn: []int{}}, g}
}

// describe loads schemas.
func (a *attempt) describe(names ...string) []move {
	var moves []move
	for _, arguments := range a.play.arm.Variant.DescribeArguments(names) {
		moves = append(moves, move{modelCall: modelCall{name: bridge.DescribeTool, arguments: arguments}})
	}
	return moves
}

// search is the writer's next query. It serves every gold under way that is not in
// sight, one that waits for another included.
func (a *attempt) search(inSight func(*goldCall) bool) move {
	query := a.queries[a.searched]
	a.searched++
	for _, g := range a.golds {
		if g.path == "" && !inSight(g) {
			g.searches++
		}
	}
	return move{modelCall: modelCall{name: bridge.SearchTool, arguments: a.play.arm.Variant.SearchArguments(query)}}
}

// found notes the golds among the hits of a search.
func (a *attempt) found(m *move) {
	for _, match := range m.outcome.Matches {
		for _, g := range a.golds {
			g.named = g.named || g.name == match.Tool.Name
		}
	}
}

// settle records what the call of a gold led to: it was carried out, or sent back.
func (g *goldCall) settle(a *attempt, m *move) {
	switch {
	case m.outcome.Tool == "" && !g.repairing && a.play.described[g.name] && slices.Contains(m.outcome.Described, g.name):
		g.repairing = true
	case m.outcome.Tool == "":
		g.lose(a)
	default:
		g.dispatch = m.dispatch
		g.reach(a, m.outcome.Result.Failed)
	}
}

// reach records a call that was dispatched.
func (g *goldCall) reach(a *attempt, failed bool) {
	p := a.play
	g.cold = g.deferred && !g.down && !p.called[g.name]
	g.extra = a.requests - 1 - g.level
	g.failed = failed
	switch {
	case g.down:
		g.path = metrics.PathUnavailable
		return
	case !g.deferred:
		g.path = metrics.PathDirect
	case !g.cold:
		g.path = metrics.PathWarm
	case g.repairing:
		g.path = metrics.PathRepaired
	case !p.described[g.name]:
		g.path = metrics.PathBlind
	case g.searches == 0:
		g.path = metrics.PathDescribed
	case g.searches == 1:
		g.path = metrics.PathSearched
	default:
		g.path = metrics.PathRetried
	}
	p.called[g.name] = true
}

// rows are the attempt's calls as observations.
func (a *attempt) rows() []metrics.Call {
	if len(a.golds) == 0 {
		return []metrics.Call{{Path: metrics.PathDeclined, ExtraRequests: a.requests, Searches: a.searched, WrongCalls: a.wrong}}
	}
	rows := make([]metrics.Call, len(a.golds))
	for i, g := range a.golds {
		rows[i] = metrics.Call{
			Gold: i, Tool: g.id, Deferred: g.deferred, Cold: g.cold,
			Path: g.path, ExtraRequests: g.extra, Searches: g.searches, WrongCalls: g.wrong, Failed: g.failed,
			Dispatch: g.dispatch,
		}
	}
	return rows
}

// statedArguments are a gold's arguments less the required ones that the utterance
// does not state: what a call is made with by who has not read the schema. A tool
// that is not there has none that are required.
func statedArguments(d *registry.Definition, g corpus.Gold) json.RawMessage {
	var fields []rawjson.Field
	for _, x := range g.Arguments {
		if x.Stated || d == nil || !slices.Contains(d.Required, x.Name) {
			fields = append(fields, rawjson.Field{Key: x.Name, Value: x.Value})
		}
	}
	return rawjson.AppendObject(nil, fields)
}
