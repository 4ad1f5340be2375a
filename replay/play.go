package replay

import (
	"context"
	"encoding/json"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/sessions"
)

// searchDepth is how many hits an observed search records at least: the largest
// k that retrieval is judged at.
const searchDepth = 10

// play is one session under one arm.
type play struct {
	player *Player
	stage  *stage
	arm    *armState
	view   *view
	// judged keeps the judged searches for the arms that ask alike: the same
	// tools give the same. Nil where no searches are judged.
	judged map[judgedBy][]metrics.Search

	shown   *assembly.Assembled // in the request before, or the coming one
	array   int                 // measure of its tools array
	history *history
	cache   promptCache
	bill    bill

	batch  []assembly.ToolCall // room for the calls of a request
	leaked map[string]bool     // secrets in the history; nil while there is none

	described map[string]bool // schemas in the history, by visible name
	called    map[string]bool
	searched  int // searches that the agent made

	row      metrics.SessionArm
	calls    []metrics.Call
	searches []metrics.Search
	surfaces []metrics.Surface
}

// judgedBy is what a judged search depends on, beside the session.
type judgedBy struct {
	assembler            *assembly.Assembler
	writer               string
	turn, queries, depth int
}

// modelCall is one tool call of a model request.
type modelCall struct {
	id        string
	name      string
	arguments json.RawMessage
	// dependsOn is empty for a call of which is known that it waits for no other of
	// the request, and nil where nothing is.
	dependsOn []int
	outcome   assembly.Outcome
	dispatch  metrics.Dispatch
}

func newPlay(p *Player, st *stage, arm *armState, v *view, judged map[judgedBy][]metrics.Search) *play {
	return &play{
		player: p, stage: st, arm: arm, view: v, judged: judged,
		history:   newHistory(arm.counter.memo, p.options.SystemPrompt),
		described: make(map[string]bool), called: make(map[string]bool),
	}
}

// begin observes the surface of the first request.
func (p *play) begin() error {
	s := p.stage.session
	shown := p.view.session.Assembler.Assemble(p.view.session.Request)
	surface, err := p.show(shown)
	if err != nil {
		return err
	}
	p.row = metrics.SessionArm{
		SessionID: s.SessionID, RowIndex: s.RowIndex, Arm: p.arm.Name, Assumptions: p.arm.assumptions(p.player.options.Weights),
		Distribution: s.Distribution, ContextLength: s.ContextLength, Servers: len(s.Servers),
		Activated: surface.Activated, Tier: surface.Tier, Form: surface.Form, BudgetTokens: surface.BudgetTokens,
		VisibleTools: surface.VisibleTools, DeferredTools: surface.DeferredTools,
		EagerTokens: p.arm.counter.tokens(shown.Usable), SurfaceTokens: surface.SurfaceTokens,
		VisibleTokens: surface.VisibleTokens, BridgeTokens: surface.BridgeTokens, ListingTokens: surface.ListingTokens,
		SurfaceSHA256: surface.SHA256,
	}
	p.row.DeferredSchemaTokens = p.row.EagerTokens - p.row.VisibleTokens
	return nil
}

// show makes a surface that of the coming requests and observes it.
func (p *play) show(shown *assembly.Assembled) (metrics.Surface, error) {
	counter := p.arm.counter
	visible := shown.Definitions
	if shown.Activated {
		visible = visible[:len(visible)-bridgeTools]
	}
	p.shown, p.array = shown, counter.measure(shown.Definitions)
	surfaceTokens, visibleTokens := counter.counter.Tokens(p.array), counter.tokens(visible)
	bareTokens := surfaceTokens
	if shown.Activated && shown.Listing.Text != "" {
		tools, err := p.view.bridge.Tools(len(shown.Deferred), bridge.Listing{})
		if err != nil {
			return metrics.Surface{}, err
		}
		bareTokens = counter.tokens(append(visible[:len(visible):len(visible)], tools...))
	}
	digest, bytes := p.player.rig.digests.sum(shown.Definitions)
	surface := metrics.Surface{
		SHA256: digest, Activated: shown.Activated, Tier: shown.Tier, Form: string(shown.Listing.Form), BudgetTokens: shown.BudgetTokens,
		VisibleTools: len(visible), DeferredTools: len(shown.Deferred), Bytes: bytes, Tokenizer: p.arm.Tokenizer,
		SurfaceTokens: surfaceTokens, VisibleTokens: visibleTokens,
		BridgeTokens: bareTokens - visibleTokens, ListingTokens: surfaceTokens - bareTokens,
	}
	p.surfaces = append(p.surfaces, surface)
	return surface, nil
}

// bridgeTools is how many tools a bridge adds to a surface.
const bridgeTools = 3

// refresh brings the surface up to date. Each request of a model carries the tools
// array as it is then.
func (p *play) refresh() error {
	if p.shown == nil {
		return p.begin()
	}
	shown := p.view.session.Assembler.Assemble(p.view.session.Request)
	if sameSurface(shown.Definitions, p.shown.Definitions) {
		p.shown = shown
		return nil
	}
	_, err := p.show(shown)
	return err
}

// request charges one model request: the tools array and the messages so far.
func (p *play) request() {
	c := p.cache.request(p.arm.counter, p.shown.Definitions, p.array, p.history)
	if p.arm.Cache == CacheNone {
		c = c.uncached()
	}
	p.bill.add(c)
	p.row.Requests++
	p.row.PromptTokens += int64(c.prompt)
	p.row.CachedTokens += int64(c.cached)
	p.row.CacheLostTokens += int64(c.lost)
	if c.changed {
		p.row.Invalidations++
	}
}

// perform charges a request whose answer is tool calls, carries them out, and
// puts both into the history.
func (p *play) perform(ctx context.Context, calls []modelCall) {
	p.request()
	output := int64(p.arm.counter.counter.Count(p.history.toolCalls(calls)))
	p.row.OutputTokens += output
	p.bill.output += output
	p.carryOut(ctx, calls)
	for i := range calls {
		c := &calls[i]
		before := p.history.measure()
		p.history.result(c.id, c.outcome.Result.Text)
		for _, name := range c.outcome.Described {
			p.described[name] = true
		}
		if len(c.outcome.Described) > 0 {
			p.row.DescribedTokens += int64(p.arm.counter.counter.Tokens(p.history.measure() - before))
		}
	}
}

// turn plays one intent. The surface stays what it is at its beginning; where time
// passes in calls, the answer to one may rest on a later verdict of a probe.
func (p *play) turn(ctx context.Context, n int, t *sessions.Turn) error {
	if err := p.refresh(); err != nil {
		return err
	}
	p.history.user(t.Utterance)
	asked := queries(p.arm.Writer, t)
	a := &attempt{play: p, turn: t, queries: asked[:min(len(asked), p.arm.MaxSearches)]}
	if err := a.prepare(); err != nil {
		return err
	}
	a.run(ctx, newModel(p.arm.Agent))
	p.request() // the text that ends the turn
	for _, c := range a.rows() {
		c.SessionID, c.RowIndex, c.Arm = p.row.SessionID, p.row.RowIndex, p.arm.Name
		c.Turn, c.IntentID, c.Class = n, t.IntentID, string(t.Class)
		p.calls = append(p.calls, c)
		p.row.WrongCalls += c.WrongCalls
	}
	p.searched += a.searched
	if p.judged != nil {
		p.judge(n, t, asked, a.searched)
	}
	p.row.Turns++
	p.row.PromptByTurn = append(p.row.PromptByTurn, p.row.PromptTokens)
	p.row.EffectiveTokens = p.bill.effective(p.player.options.Weights)
	p.row.EffectiveByTurn = append(p.row.EffectiveByTurn, p.row.EffectiveTokens)
	return nil
}

// judge asks each of the writer's queries of the session's deferred tools, for
// an intent with a deferred gold and for one that no tool serves. Of any other
// intent there is nothing to judge, and only what the agent asked is recorded.
func (p *play) judge(n int, t *sessions.Turn, asked []string, issued int) {
	if len(p.shown.Deferred) == 0 {
		return
	}
	gold := p.deferredGold(t)
	if len(gold) == 0 && t.Class != corpus.Absent {
		asked = asked[:issued]
	}
	limit := p.view.session.Request.Config.SearchDefaultLimit
	key := judgedBy{p.view.session.Assembler, p.arm.Writer, n, len(asked), max(searchDepth, limit)}
	rows, done := p.judged[key]
	if !done {
		rows = p.observeSearches(n, t, asked, gold, key.depth)
		p.judged[key] = rows
	}
	for _, row := range rows {
		row.Arm, row.Issued, row.Limit = p.arm.Name, row.Step < issued, limit
		p.searches = append(p.searches, row)
	}
}

// deferredGold are the ids of an intent's golds that the session can search for.
func (p *play) deferredGold(t *sessions.Turn) []string {
	var gold []string
	scope := p.view.session.Scope()
	for _, g := range t.Gold {
		if tool, ok := p.player.options.Corpus.Tool(g.Tool); ok && scope.Has(tool.Definition.Name) {
			gold = append(gold, tool.ID)
		}
	}
	return gold
}

func (p *play) observeSearches(n int, t *sessions.Turn, asked, gold []string, depth int) []metrics.Search {
	scope := p.view.session.Scope()
	rows := make([]metrics.Search, len(asked))
	for step, query := range asked {
		rows[step] = metrics.Search{
			SessionID: p.row.SessionID, RowIndex: p.row.RowIndex, Turn: n, IntentID: t.IntentID, Class: string(t.Class),
			Step: step, Query: query, Retriever: p.arm.Retriever, PoolSize: scope.Len(), Gold: gold,
		}
		for rank, m := range scope.Search(query, depth) {
			rows[step].Hits = append(rows[step].Hits, metrics.Hit{Tool: p.player.ids[m.Tool.Name], Rank: rank + 1, Score: m.Score})
		}
	}
	return rows
}
