package toolgauge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/sessions"
)

// walkTurn is what an agent does in one turn. The text that ends a turn is not
// written down.
type walkTurn struct {
	requests []walkRequest
	path     metrics.Path
	cold     bool
}

// walkRequest is the one call of a request.
type walkRequest struct{ does, tool, arguments string }

// The calls of the session. Golds are called with what the user said.
const (
	listJobs = "mcp__workshop__list_jobs"
	receipt  = "mcp__till__rcpt"

	promisedJobs = `{"promised":"2027-05-14"}`
	readyJobs    = `{"status":"ready"}`
	fullReceipt  = `{"sale_no":881,"kind":"full"}`
)

func calls(tool, arguments string) walkRequest {
	return walkRequest{"calls `" + tool + "`", tool, arguments}
}

func callsThrough(tool, arguments string) walkRequest {
	return walkRequest{"`tool_call` of `" + tool + "`", bridge.CallTool, `{"name":"` + tool + `","arguments":` + arguments + `}`}
}

func describes(tool string) walkRequest {
	return walkRequest{"`tool_describe` of `" + tool + "`", bridge.DescribeTool, `{"name":"` + tool + `"}`}
}

func asksFor(query string) walkRequest {
	return walkRequest{"`tool_search`: " + query, bridge.SearchTool, `{"query":"` + query + `"}`}
}

// walkScripts say by hand what the agent does in each turn under each arm.
func walkScripts() map[string][]walkTurn {
	prices := walkTurn{requests: []walkRequest{calls("read_file", `{"path":"prices.csv"}`)}, path: metrics.PathDirect}
	// As said; then the keywords, the first six words that are no stop words; then
	// the three longest of these.
	tyres := walkTurn{requests: []walkRequest{
		asksFor("Please pump up the tyres of the red one"), asksFor("Please pump up tyres red one"), asksFor("Please pump tyres"),
	}, path: metrics.PathDeclined}
	again := walkTurn{requests: []walkRequest{callsThrough(listJobs, readyJobs)}, path: metrics.PathWarm}
	return map[string][]walkTurn{
		"eager": {
			prices,
			{requests: []walkRequest{calls(listJobs, promisedJobs)}, path: metrics.PathDirect},
			{requests: []walkRequest{calls(listJobs, readyJobs)}, path: metrics.PathDirect},
			{requests: []walkRequest{calls(receipt, fullReceipt)}, path: metrics.PathDirect},
			{path: metrics.PathDeclined},
		},
		"july-bare": {
			prices,
			{requests: []walkRequest{asksFor("List the jobs promised for 14 May"), describes(listJobs), callsThrough(listJobs, promisedJobs)}, path: metrics.PathSearched, cold: true},
			again,
			{requests: []walkRequest{
				asksFor("Mrs Lund would like that in writing, it was number 881"), asksFor("Mrs Lund would like writing number"), asksFor("would writing number"),
			}, path: metrics.PathLost, cold: true},
			tyres,
		},
		"july-listing": {
			prices,
			{requests: []walkRequest{describes(listJobs), callsThrough(listJobs, promisedJobs)}, path: metrics.PathDescribed, cold: true},
			again,
			{requests: []walkRequest{describes(receipt), callsThrough(receipt, fullReceipt)}, path: metrics.PathDescribed, cold: true},
			tyres,
		},
	}
}

// walkConfig is the setting that an arm's name stands for.
func walkConfig(arm string) bridge.Config {
	c := bridge.July.DefaultConfig()
	switch arm {
	case "eager":
		c.Enabled = bridge.Off
	case "july-bare":
		c.Listing = bridge.Off
	}
	return c
}

// walkStage is the pipeline that the session runs in: what it shows and answers
// is taken from it, what that costs is not.
type walkStage struct {
	registry *registry.Registry
	session  *assembly.Session
	tools    []*corpus.Tool
}

func newWalkStage(t *testing.T, c *corpus.Corpus, s *sessions.Session, arm string) *walkStage {
	t.Helper()
	r := registry.New(registry.Options{Clock: &clock.Virtual{}})
	stage := &walkStage{registry: r}
	for _, tool := range c.Tools {
		if !tool.Builtin && !slices.Contains(s.Servers, tool.Toolset) {
			continue
		}
		answer := func(_ context.Context, arguments json.RawMessage) (any, error) {
			return `{"status":"ok","tool":"` + tool.ID + `","arguments":` + string(arguments) + `}`, nil
		}
		if err := r.Register(registry.Registration{Toolset: tool.Toolset, Definition: tool.Definition, Handler: answer}); err != nil {
			t.Fatal(err)
		}
		stage.tools = append(stage.tools, tool)
	}
	retriever, err := search.New("bm25")
	if err != nil {
		t.Fatal(err)
	}
	b := bridge.New(bridge.Options{Variant: bridge.July, Core: c.Toolsets.IsCore, Catalog: r, Retriever: retriever})
	stage.session = &assembly.Session{
		Dispatcher: r, Loop: r,
		Assembler: assembly.New(assembly.Options{
			Registry: r, Resolver: toolset.NewResolver(c.Toolsets, r), Bridge: b, Rewrites: c.Rewrites(),
		}),
		Request: assembly.Request{
			Enabled: slices.Concat(s.Toolsets, s.Servers), Config: walkConfig(arm), ContextLength: s.ContextLength,
		},
	}
	return stage
}

// leave takes a server's tools away.
func (w *walkStage) leave(t *testing.T, server string) {
	t.Helper()
	for _, tool := range w.tools {
		if tool.Toolset != server {
			continue
		}
		if err := w.registry.Deregister(tool.Definition.Name, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// array is the tools array as it is now, and what it were without the bridge's own
// tools.
func (w *walkStage) array() (whole, visible string) {
	var all, own []string
	for _, d := range w.session.Assembler.Assemble(w.session.Request).Definitions {
		all = append(all, d.JSON)
		if !bridge.IsBridgeTool(d.Name) {
			own = append(own, d.JSON)
		}
	}
	return "[" + strings.Join(all, ",") + "]", "[" + strings.Join(own, ",") + "]"
}

// yardstick counts whole texts with tiktoken-go, and cuts them by the published
// pattern of o200k_base on a backtracking matcher.
type yardstick struct {
	encoder *tiktoken.Tiktoken
	pattern *regexp2.Regexp
}

func newYardstick(t *testing.T) yardstick {
	t.Helper()
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	encoder, err := tiktoken.GetEncoding("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	return yardstick{encoder, regexp2.MustCompile(`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`+
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`+
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`, regexp2.None)}
}

func (y yardstick) count(text string) int { return len(y.encoder.EncodeOrdinary(text)) }

// common is the tokens of what two texts begin with alike, byte by byte, cut back
// to a piece of the second one's that ends there.
func (y yardstick) common(t *testing.T, before, text string) int {
	t.Helper()
	same := 0
	for same < min(len(before), len(text)) && before[same] == text[same] {
		same++
	}
	end := 0
	match, err := y.pattern.FindStringMatch(text)
	for match != nil && err == nil && end+len(match.String()) <= same {
		end += len(match.String())
		match, err = y.pattern.FindNextMatch(match)
	}
	if err != nil {
		t.Fatal(err)
	}
	return y.count(text[:end])
}

// blocks is what a cache holds of a common beginning.
func blocks(tokens int) int {
	if tokens < 1024 {
		return 0
	}
	return tokens / 128 * 128
}

// walked is a session under an arm, worked out: its requests, the sums over them
// in tokens, and what the sums after each turn were.
type walked struct {
	arm                           string
	Rows                          []walkRow
	Surface, Visible              int // of the first tools array; without the bridge's own tools
	Prompt, Cached, Lost, Output  int
	Effective                     int // in tenths of a token, as all that is weighed
	Changes                       int
	Schemas                       []walkSchema
	promptByTurn, effectiveByTurn []int64
	turns                         []walkTurn
	surface                       string
}

// walkRow is one request, in tokens.
type walkRow struct {
	N, Turn                 int // from 1
	Does                    string
	Tools, Messages, Prompt int
	// Common is what the prompt begins with as the one before did, Unchanged what
	// that were with the tools array of before.
	Common, Unchanged    int
	Cached, Lost, Output int
	Cost, Effective      int // alone, and summed so far
}

// walkSchema is one that a request brought into the messages.
type walkSchema struct{ Request, Tokens int }

// walkMessage is a chat message; the fields stand in the order of the JSON.
type walkMessage struct {
	Role       string     `json:"role"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Content    *string    `json:"content"`
	ToolCalls  []walkCall `json:"tool_calls,omitempty"`
}

type walkCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function walkFunction `json:"function"`
}

type walkFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// compactText is JSON as a request carries it.
func compactText(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// walk plays a script through the pipeline and writes down what each request
// comes to.
type walk struct {
	walked
	t        *testing.T
	y        yardstick
	stage    *walkStage
	messages []walkMessage
	// The two parts of the request before.
	toolsBefore, messagesBefore string
}

func walkThrough(t *testing.T, y yardstick, c *corpus.Corpus, s *sessions.Session, arm string) walked {
	t.Helper()
	system := replay.DefaultSystemPrompt
	w := &walk{t: t, y: y, stage: newWalkStage(t, c, s, arm), messages: []walkMessage{{Role: "system", Content: &system}}}
	w.arm, w.turns = arm, walkScripts()[arm]
	turn := 0
	for _, e := range s.Events {
		if e.Kind == sessions.KindServerDown {
			w.stage.leave(t, e.Server)
			continue
		}
		if e.Kind != sessions.KindTurn || turn == len(w.turns) {
			t.Fatalf("%s has an event of kind %s that the walk does not know", walkSessions, e.Kind)
		}
		w.turn(turn+1, e.Turn.Utterance, w.turns[turn].requests)
		turn++
	}
	return w.walked
}

func (w *walk) turn(n int, says string, requests []walkRequest) {
	w.messages = append(w.messages, walkMessage{Role: "user", Content: &says})
	for _, r := range requests {
		id := fmt.Sprintf("call_%d", 1+w.callsMade())
		call := []walkCall{{id, "function", walkFunction{r.tool, r.arguments}}}
		w.request(n, r.does, w.y.count(compactText(w.t, call)))
		w.messages = append(w.messages, walkMessage{Role: "assistant", ToolCalls: call})
		before := w.y.count(compactText(w.t, w.messages))
		o := w.stage.session.Call(w.t.Context(), assembly.ToolCall{ID: id, Name: r.tool, Arguments: json.RawMessage(r.arguments)})
		w.messages = append(w.messages, walkMessage{Role: "tool", ToolCallID: id, Content: &o.Result.Text})
		if r.tool == bridge.DescribeTool {
			w.Schemas = append(w.Schemas, walkSchema{len(w.Rows), w.y.count(compactText(w.t, w.messages)) - before})
		}
	}
	w.request(n, "answers", 0)
	w.promptByTurn = append(w.promptByTurn, int64(w.Prompt))
	w.effectiveByTurn = append(w.effectiveByTurn, int64(w.Effective))
}

func (w *walk) callsMade() int {
	made := 0
	for _, m := range w.messages {
		made += len(m.ToolCalls)
	}
	return made
}

// request writes down the next request, whose answer has a number of tokens.
func (w *walk) request(turn int, does string, output int) {
	tools, visible := w.stage.array()
	messages := compactText(w.t, w.messages)
	r := walkRow{N: len(w.Rows) + 1, Turn: turn, Does: does, Tools: w.y.count(tools), Messages: w.y.count(messages), Output: output}
	r.Prompt = r.Tools + r.Messages
	if r.N == 1 {
		w.surface, w.Surface, w.Visible = tools, r.Tools, w.y.count(visible)
	} else {
		r.Unchanged = w.y.count(w.toolsBefore) + w.y.common(w.t, w.messagesBefore, messages)
		r.Common = r.Unchanged
		if tools != w.toolsBefore {
			r.Common = w.y.common(w.t, w.toolsBefore, tools)
			r.Lost = max(0, blocks(r.Unchanged)-blocks(r.Common))
			w.Changes++
		}
		r.Cached = blocks(r.Common)
	}
	w.toolsBefore, w.messagesBefore = tools, messages
	// The weights are 1, 0.1 and 4.
	r.Cost = 10*(r.Prompt-r.Cached) + r.Cached + 40*r.Output
	w.Prompt, w.Cached, w.Lost = w.Prompt+r.Prompt, w.Cached+r.Cached, w.Lost+r.Lost
	w.Output, w.Effective = w.Output+r.Output, w.Effective+r.Cost
	r.Effective = w.Effective
	w.Rows = append(w.Rows, r)
}

// Requests is their number.
func (w walked) Requests() int { return len(w.Rows) }

// Row is the request of a number, from 1.
func (w walked) Row(n int) walkRow { return w.Rows[n-1] }
