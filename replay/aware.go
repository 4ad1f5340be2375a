package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/sessions"
)

// attempt is the agent model `aware` at one intent. It knows the right tools
// when it sees their names: a tool on the surface it calls; one that the listing
// or a search named it describes and then calls; for any other it searches with
// the writer's next query, as often as the arm allows. A gold starts when those
// that it depends on were called. Golds that do not wait for one another advance
// together, one step a request, and all share the searches.
type attempt struct {
	play     *play
	turn     *sessions.Turn
	queries  []string
	golds    []*goldCall
	searched int // searches made for this intent
	requests int // requests made for this intent
}

// goldCall is one gold on its way.
type goldCall struct {
	id        string
	name      string // model-visible
	arguments json.RawMessage
	dependsOn []int
	level     int // length of the longest chain of golds that it depends on
	deferred  bool
	cold      bool
	named     bool
	searches  int
	path      metrics.Path // empty while under way
	extra     int
	failed    bool
}

// prepare looks the golds up and finds their levels.
func (a *attempt) prepare() error {
	p := a.play
	for i, g := range a.turn.Gold {
		tool, ok := p.player.options.Corpus.Tool(g.Tool)
		if !ok {
			return fmt.Errorf("unknown gold tool %q\nhint: replay sessions with the corpus that they were drawn from", g.Tool)
		}
		name := tool.Definition.Name
		call := &goldCall{
			id: tool.ID, name: name, arguments: g.JSONArguments(), dependsOn: g.DependsOn,
			deferred: p.surfaceShown.Activated && p.bridge.Deferrable(name),
			named:    p.bridge.Names(p.surfaceShown.Surface, name),
		}
		for _, on := range g.DependsOn {
			if on < 0 || on >= i {
				return fmt.Errorf("gold %d depends on %d\nhint: a gold depends on earlier golds only", i, on)
			}
			call.level = max(call.level, a.golds[on].level+1)
			if a.golds[on].path == metrics.PathUnavailable {
				call.path = metrics.PathUnavailable // it can never get what it needs
			}
		}
		if !slices.ContainsFunc(p.surfaceShown.Usable, hasName(name)) {
			call.path = metrics.PathUnavailable
		}
		a.golds = append(a.golds, call)
	}
	return nil
}

// run carries the golds to their calls, or loses them.
func (a *attempt) run(ctx context.Context) {
	for {
		calls, owners := a.step(a.ready())
		if len(calls) == 0 {
			break
		}
		a.requests++
		a.play.perform(ctx, calls)
		for i := range calls {
			a.learn(&calls[i], owners[i])
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

func (g *goldCall) lose(a *attempt) {
	g.path, g.extra = metrics.PathLost, max(0, a.requests-g.level)
	g.cold = g.deferred && !a.play.called[g.name]
}

// step chooses the calls of the next request: for each ready gold its next move,
// and one search for all that are not in sight. owners[i] is the gold that
// calls[i] serves; nil for a search.
func (a *attempt) step(ready []*goldCall) (calls []modelCall, owners []*goldCall) {
	p := a.play
	var unseen []*goldCall
	describing := make(map[string]bool)
	for _, g := range ready {
		switch {
		case !g.deferred:
			calls, owners = append(calls, modelCall{name: g.name, arguments: g.arguments}), append(owners, g)
		case p.described[g.name]:
			calls, owners = append(calls, modelCall{name: bridge.CallTool, arguments: arguments(
				rawjson.Field{Key: "name", Value: rawjson.String(g.name)},
				rawjson.Field{Key: "arguments", Value: g.arguments})}), append(owners, g)
		case g.named && !describing[g.name]:
			describing[g.name] = true
			calls, owners = append(calls, modelCall{name: bridge.DescribeTool, arguments: arguments(
				rawjson.Field{Key: "name", Value: rawjson.String(g.name)})}), append(owners, g)
		case !g.named:
			unseen = append(unseen, g)
		}
	}
	if len(unseen) == 0 {
		return calls, owners
	}
	if a.searched == len(a.queries) {
		for _, g := range unseen {
			g.lose(a)
		}
		return calls, owners
	}
	for _, g := range a.golds { // one that waits is looked for, too
		if g.path == "" && !g.named && !p.described[g.name] {
			g.searches++
		}
	}
	return append(calls, a.nextSearch()), append(owners, nil)
}

func (a *attempt) nextSearch() modelCall {
	query := a.queries[a.searched]
	a.searched++
	return modelCall{name: bridge.SearchTool, arguments: arguments(rawjson.Field{Key: "query", Value: rawjson.String(query)})}
}

// learn takes in what a call led to.
func (a *attempt) learn(c *modelCall, g *goldCall) {
	p := a.play
	switch c.name {
	case bridge.SearchTool:
		for _, m := range c.outcome.Matches {
			for _, g := range a.golds {
				g.named = g.named || g.name == m.Tool.Name
			}
		}
	case bridge.DescribeTool:
		p.described[g.name] = true
	default:
		g.reach(a, c)
	}
}

// reach records a call that was dispatched.
func (g *goldCall) reach(a *attempt, c *modelCall) {
	p := a.play
	g.cold = g.deferred && !p.called[g.name]
	g.extra = a.requests - 1 - g.level
	g.failed = c.outcome.Tool == "" || c.outcome.Result.Failed
	switch {
	case !g.deferred:
		g.path = metrics.PathDirect
	case !g.cold:
		g.path = metrics.PathWarm
	case g.searches == 0:
		g.path = metrics.PathDescribed
	case g.searches == 1:
		g.path = metrics.PathSearched
	default:
		g.path = metrics.PathRetried
	}
	p.called[g.name] = true
}

// decline plays an intent that no tool serves: where there is something to
// search, the agent uses up its searches first.
func (a *attempt) decline(ctx context.Context) {
	if !a.play.surfaceShown.Activated {
		return
	}
	for a.searched < len(a.queries) {
		a.requests++
		a.play.perform(ctx, []modelCall{a.nextSearch()})
	}
}

// rows are the attempt's calls as observations.
func (a *attempt) rows() []metrics.Call {
	if len(a.golds) == 0 {
		return []metrics.Call{{Path: metrics.PathDeclined, ExtraRequests: a.requests, Searches: a.searched}}
	}
	rows := make([]metrics.Call, len(a.golds))
	for i, g := range a.golds {
		rows[i] = metrics.Call{
			Gold: i, Tool: g.id, Deferred: g.deferred, Cold: g.cold,
			Path: g.path, ExtraRequests: g.extra, Searches: g.searches, Failed: g.failed,
		}
	}
	return rows
}

func hasName(name string) func(*registry.Definition) bool {
	return func(d *registry.Definition) bool { return d.Name == name }
}
