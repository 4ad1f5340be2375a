package replay

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/rawjson"
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
	player  *Player
	stage   *stage
	arm     *armState
	session *assembly.Session
	bridge  *bridge.Bridge
	// search keeps the judged searches by turn, for the arms that ask alike: the
	// same tools give the same.
	search map[judgedBy]map[int][]metrics.Search

	surfaceTokens int
	surfaceShown  *assembly.Assembled
	history       *history
	described     map[string]bool // schemas in the history, by visible name
	called        map[string]bool

	row      metrics.SessionArm
	calls    []metrics.Call
	searches []metrics.Search
	surface  metrics.Surface
}

// judgedBy is what a judged search depends on, beside the session.
type judgedBy struct {
	retriever, writer string
	depth             int
}

// modelCall is one tool call of a model request.
type modelCall struct {
	id        string
	name      string
	arguments json.RawMessage
	outcome   assembly.Outcome
}

func (p *play) run(ctx context.Context) error {
	p.described, p.called = make(map[string]bool), make(map[string]bool)
	p.history = newHistory(p.arm.counter.memo, p.player.options.SystemPrompt)
	p.surfaceShown = p.session.Assembler.Assemble(p.session.Request)
	if err := p.observeSurface(); err != nil {
		return err
	}
	turn := 0
	for _, event := range p.stage.session.Events {
		if event.Turn == nil {
			return fmt.Errorf("event of kind %q cannot be played\nhint: this program plays turns", event.Kind)
		}
		if err := p.turn(ctx, turn, event.Turn); err != nil {
			return fmt.Errorf("turn %d: %w", turn, err)
		}
		p.row.PromptByTurn = append(p.row.PromptByTurn, p.row.PromptTokens)
		turn++
	}
	p.row.Turns = turn
	return nil
}

// observeSurface counts the tools array and its parts.
func (p *play) observeSurface() error {
	s, shown := p.stage.session, p.surfaceShown
	visible := shown.Definitions[:len(shown.Definitions)-p.bridgeTools()]
	visibleTokens := p.arm.counter.tokens(visible)
	surfaceTokens := p.arm.counter.tokens(shown.Definitions)
	bareTokens := surfaceTokens
	if shown.Activated && shown.Listing.Text != "" {
		tools, err := p.bridge.Tools(len(shown.Deferred), bridge.Listing{})
		if err != nil {
			return err
		}
		bareTokens = p.arm.counter.tokens(append(visible[:len(visible):len(visible)], tools...))
	}
	digest, bytes := surfaceSHA256(shown.Definitions)
	p.surfaceTokens = surfaceTokens
	p.row = metrics.SessionArm{
		SessionID: s.SessionID, RowIndex: s.RowIndex, Arm: p.arm.Name, Assumptions: p.arm.Assumptions(),
		Distribution: s.Distribution, ContextLength: s.ContextLength, Servers: len(s.Servers),
		Activated: shown.Activated, Tier: shown.Tier, Form: string(shown.Listing.Form), BudgetTokens: shown.BudgetTokens,
		VisibleTools: len(visible), DeferredTools: len(shown.Deferred),
		EagerTokens: p.arm.counter.tokens(shown.Usable), SurfaceTokens: surfaceTokens,
		VisibleTokens: visibleTokens, BridgeTokens: bareTokens - visibleTokens, ListingTokens: surfaceTokens - bareTokens,
		SurfaceSHA256: digest,
	}
	p.surface = metrics.Surface{
		SHA256: digest, Activated: shown.Activated, Tier: shown.Tier, Form: p.row.Form, BudgetTokens: shown.BudgetTokens,
		VisibleTools: p.row.VisibleTools, DeferredTools: p.row.DeferredTools, Bytes: bytes, Tokenizer: p.arm.Tokenizer,
		SurfaceTokens: surfaceTokens, VisibleTokens: visibleTokens,
		BridgeTokens: p.row.BridgeTokens, ListingTokens: p.row.ListingTokens,
	}
	return nil
}

func (p *play) bridgeTools() int {
	if p.surfaceShown.Activated {
		return 3
	}
	return 0
}

// request charges one model request: the tools array and the messages so far.
func (p *play) request() {
	p.row.Requests++
	p.row.PromptTokens += int64(p.surfaceTokens + p.arm.counter.counter.Tokens(p.history.measure()))
}

// perform charges a request whose answer is tool calls, carries them out, and
// puts both into the history.
func (p *play) perform(ctx context.Context, calls []modelCall) {
	p.request()
	output := p.history.toolCalls(calls)
	p.row.OutputTokens += int64(p.arm.counter.counter.Count(output))
	for i := range calls {
		c := &calls[i]
		c.outcome = p.session.Call(ctx, assembly.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments})
		p.history.result(c.id, c.outcome.Result.Text)
	}
}

// turn plays one intent.
func (p *play) turn(ctx context.Context, n int, t *sessions.Turn) error {
	p.history.user(t.Utterance)
	asked := queries(t.Utterance, t.Language)
	a := &attempt{play: p, turn: t, queries: asked[:min(len(asked), p.arm.MaxSearches)]}
	if err := a.prepare(); err != nil {
		return err
	}
	if len(a.golds) == 0 {
		a.decline(ctx)
	}
	a.run(ctx)
	p.request() // the text that ends the turn
	for _, c := range a.rows() {
		c.SessionID, c.RowIndex, c.Arm = p.row.SessionID, p.row.RowIndex, p.arm.Name
		c.Turn, c.IntentID, c.Class = n, t.IntentID, string(t.Class)
		p.calls = append(p.calls, c)
	}
	p.judge(n, t, asked, a.searched)
	return nil
}

// judge asks each of the writer's queries of the session's deferred tools, for
// an intent with a deferred gold and for one that no tool serves.
func (p *play) judge(n int, t *sessions.Turn, asked []string, issued int) {
	scope := p.surfaceShown.Deferred
	if len(scope) == 0 {
		return
	}
	limit := p.session.Request.Config.SearchDefaultLimit
	key := judgedBy{retriever: p.arm.Retriever, writer: p.arm.Writer, depth: max(searchDepth, limit)}
	if p.search[key] == nil {
		p.search[key] = make(map[int][]metrics.Search)
	}
	rows, done := p.search[key][n]
	if !done {
		rows = p.observeSearches(n, t, asked, key.depth)
		p.search[key][n] = rows
	}
	for _, row := range rows {
		row.Arm, row.Issued, row.Limit = p.arm.Name, row.Step < issued, limit
		p.searches = append(p.searches, row)
	}
}

func (p *play) observeSearches(n int, t *sessions.Turn, asked []string, depth int) []metrics.Search {
	var gold []string
	scope := p.session.Scope()
	for _, g := range t.Gold {
		if tool, ok := p.player.options.Corpus.Tool(g.Tool); ok && scope.Has(tool.Definition.Name) {
			gold = append(gold, tool.ID)
		}
	}
	if len(gold) == 0 && t.Class != corpus.Absent {
		return nil
	}
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

// argument writes a bridge tool's arguments.
func arguments(fields ...rawjson.Field) json.RawMessage { return rawjson.AppendObject(nil, fields) }
