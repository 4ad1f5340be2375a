package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
)

// A script says by hand what the agent does in a session: turn by turn, request
// by request, which calls it makes and what they answer. From it the tests build
// the whole JSON of every request, without any code of the replay.
type script []scriptTurn

type scriptTurn struct {
	says     string
	requests []scriptRequest
	// tools is the tools array from this turn on; empty where it stays.
	tools string
}

// scriptRequest is the calls of one request. The text request that ends a turn
// is not written down.
type scriptRequest []scriptCall

type scriptCall struct {
	name, arguments, result string
	schema                  bool // the result brings a schema
}

// searches is a tool_search that finds the given tools, out of a number.
func searches(query string, available int, found ...string) scriptCall {
	type match struct {
		Name        string `json:"name"`
		Source      string `json:"source"`
		SourceName  string `json:"source_name"`
		Description string `json:"description"`
	}
	matches := []match{}
	for _, name := range found {
		matches = append(matches, match{name, "mcp", tinyTools[name].server, tinyTools[name].description})
	}
	return scriptCall{name: "tool_search", arguments: compactJSON(struct {
		Query string `json:"query"`
	}{query}), result: compactJSON(struct {
		Query   string  `json:"query"`
		Total   int     `json:"total_available"`
		Matches []match `json:"matches"`
	}{query, available, matches})}
}

func describe(name string) scriptCall {
	t := tinyTools[name]
	return scriptCall{"tool_describe", `{"name":"` + name + `"}`,
		`{"name":"` + name + `","description":"` + t.description + `","parameters":` + t.parameters + `}`, true}
}

// direct calls a tool that is on the surface.
func direct(name, arguments string) scriptCall {
	return scriptCall{name: name, arguments: arguments, result: `{"status":"ok","tool":"` + tinyTools[name].id + `","arguments":` + arguments + `}`}
}

// through calls a deferred tool through the bridge.
func through(name, arguments string) scriptCall {
	c := direct(name, arguments)
	return scriptCall{name: "tool_call", arguments: `{"name":"` + name + `","arguments":` + arguments + `}`, result: c.result}
}

// sentBack is a blind call of a deferred tool that lacks required arguments.
func sentBack(name, arguments, missing string) scriptCall {
	c := through(name, arguments)
	c.result = `{"error":"'` + name + `' was not invoked: missing required arguments ` + missing + `","parameters":` + tinyTools[name].parameters +
		`,"hint":"Repeat the call with every required argument; ` + "`parameters`" + ` is the schema."}`
	c.schema = true
	return c
}

// refused is a call through the bridge that comes back with an error.
func refused(name, arguments, message string) scriptCall {
	c := through(name, arguments)
	c.result = `{"error":"` + message + `"}`
	return c
}

// The messages of a chat request. The order of the fields is that of the JSON.
type message struct {
	Role       string     `json:"role"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Content    *string    `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// conversation is what a script comes to: the tools and the messages array of
// each request, the tool_calls array of each that makes calls, the number of
// requests after each turn, and the messages before and after each schema.
type conversation struct {
	tools, prompts, outputs []string
	byTurn                  []int
	schemas                 [][2]string
}

func (s script) play(system, tools string) conversation {
	var c conversation
	messages := []message{{Role: "system", Content: &system}}
	ids := 0
	ask := func() {
		c.tools, c.prompts = append(c.tools, tools), append(c.prompts, compactJSON(messages))
	}
	for _, turn := range s {
		if turn.tools != "" {
			tools = turn.tools
		}
		messages = append(messages, message{Role: "user", Content: &turn.says})
		for _, request := range turn.requests {
			ask()
			said := message{Role: "assistant"}
			var results []message
			for _, call := range request {
				ids++
				id := fmt.Sprintf("call_%d", ids)
				said.ToolCalls = append(said.ToolCalls, chatCall{id, "function", chatFunction{call.name, call.arguments}})
				results = append(results, message{Role: "tool", ToolCallID: id, Content: &call.result})
			}
			c.outputs = append(c.outputs, compactJSON(said.ToolCalls))
			messages = append(messages, said)
			for i, result := range results {
				before := compactJSON(messages)
				messages = append(messages, result)
				if request[i].schema {
					c.schemas = append(c.schemas, [2]string{before, compactJSON(messages)})
				}
			}
		}
		ask()
		c.byTurn = append(c.byTurn, len(c.prompts))
	}
	return c
}

// toolsArray is the tools array of the tiny corpus: the given tools, then the
// bridge's three, if any are deferred.
func toolsArray(t testing.TB, deferred int, listing string, visible ...string) string {
	t.Helper()
	entries := make([]string, len(visible))
	for i, name := range visible {
		entries[i] = tinyTools[name].entry(name)
	}
	if deferred > 0 {
		own, err := bridge.New(bridge.Options{}).Tools(deferred, bridge.Listing{Text: listing})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range own {
			entries = append(entries, d.JSON)
		}
	}
	return "[" + strings.Join(entries, ",") + "]"
}

// check compares an arm's row with what the script comes to, with the tools array
// that it begins with and the default system prompt.
func (s script) check(t testing.TB, row metrics.SessionArm, tools string) {
	t.Helper()
	s.checkWith(t, row, DefaultSystemPrompt, tools)
}

func (s script) checkWith(t testing.TB, row metrics.SessionArm, system, tools string) {
	t.Helper()
	counter := counterOf(t, row.Assumptions.Tokenizer)
	c := s.play(system, tools)
	var want metrics.SessionArm
	for i, messages := range c.prompts {
		if i == 0 {
			want.SurfaceTokens = counter.Count(c.tools[0])
		}
		want.Requests++
		want.PromptTokens += int64(counter.Count(c.tools[i]) + counter.Count(messages))
		if i > 0 {
			cached, lost := c.cached(counter, i)
			want.CachedTokens += int64(cached)
			want.CacheLostTokens += int64(lost)
			if c.tools[i] != c.tools[i-1] {
				want.Invalidations++
			}
		}
		if i+1 == c.byTurn[len(want.PromptByTurn)] {
			want.PromptByTurn = append(want.PromptByTurn, want.PromptTokens)
		}
	}
	for _, calls := range c.outputs {
		want.OutputTokens += int64(counter.Count(calls))
	}
	for _, texts := range c.schemas {
		want.DescribedTokens += int64(counter.Tokens(counter.Measure(texts[1]) - counter.Measure(texts[0])))
	}
	for _, f := range []struct {
		what      string
		got, want any
	}{
		{"requests", row.Requests, want.Requests},
		{"tokens on the surface", row.SurfaceTokens, want.SurfaceTokens},
		{"prompt tokens", row.PromptTokens, want.PromptTokens},
		{"cached tokens", row.CachedTokens, want.CachedTokens},
		{"output tokens", row.OutputTokens, want.OutputTokens},
		{"prompt tokens by turn", row.PromptByTurn, want.PromptByTurn},
		{"described tokens", row.DescribedTokens, want.DescribedTokens},
		{"invalidations", row.Invalidations, want.Invalidations},
		{"tokens lost to the cache", row.CacheLostTokens, want.CacheLostTokens},
		// The weights are 1, 0.1, 0 and 4.
		{"effective tokens", 10 * row.EffectiveTokens, float64(10*(want.PromptTokens-want.CachedTokens) + want.CachedTokens + 40*want.OutputTokens)},
	} {
		if fmt.Sprintf("%.6v", f.got) != fmt.Sprintf("%.6v", f.want) {
			t.Errorf("%s: %v %s, want %v", row.Arm, f.got, f.what, f.want)
		}
	}
}

// cached is what request i has from the cache, and what it lost to a change of the
// tools array, from the whole texts of the requests.
func (c conversation) cached(counter *tokens.Counter, i int) (cached, lost int) {
	blocks := func(measure int) int {
		if n := counter.Tokens(measure); n >= 1024 {
			return n / 128 * 128
		}
		return 0
	}
	prefix := func(a, b string) int {
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		measure, _ := counter.Prefix(b, n)
		return measure
	}
	messages := prefix(c.prompts[i-1], c.prompts[i])
	if c.tools[i-1] == c.tools[i] {
		return blocks(counter.Measure(c.tools[i]) + messages), 0
	}
	cached = blocks(prefix(c.tools[i-1], c.tools[i]))
	return cached, max(0, blocks(counter.Measure(c.tools[i-1])+messages)-cached)
}

// callLine is a call row as the tests write it.
func callLine(c metrics.Call) string {
	line := fmt.Sprintf("turn %d gold %d %s %s extra %d searches %d", c.Turn, c.Gold, c.Tool, c.Path, c.ExtraRequests, c.Searches)
	if c.WrongCalls > 0 {
		line += fmt.Sprintf(" wrong %d", c.WrongCalls)
	}
	for _, mark := range []struct {
		set  bool
		name string
	}{{c.Deferred, " deferred"}, {c.Cold, " cold"}, {c.Failed, " failed"}} {
		if mark.set {
			line += mark.name
		}
	}
	return line
}

func checkCalls(t testing.TB, arm string, calls []metrics.Call, want ...string) {
	t.Helper()
	for i := range max(len(calls), len(want)) {
		got, expected := "none", "none"
		if i < len(calls) {
			got = callLine(calls[i])
		}
		if i < len(want) {
			expected = want[i]
		}
		if got != expected {
			t.Errorf("%s: call row %d:\n got %s\nwant %s", arm, i, got, expected)
		}
	}
}
