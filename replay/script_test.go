package replay

import (
	"fmt"
	"strings"
	"testing"

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
}

// scriptRequest is the calls of one request. The text request that ends a turn
// is not written down.
type scriptRequest []scriptCall

type scriptCall struct{ name, arguments, result string }

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
	return scriptCall{"tool_search", compactJSON(struct {
		Query string `json:"query"`
	}{query}), compactJSON(struct {
		Query   string  `json:"query"`
		Total   int     `json:"total_available"`
		Matches []match `json:"matches"`
	}{query, available, matches})}
}

func describe(name string) scriptCall {
	t := tinyTools[name]
	return scriptCall{"tool_describe", `{"name":"` + name + `"}`,
		`{"name":"` + name + `","description":"` + t.description + `","parameters":` + t.parameters + `}`}
}

// direct calls a tool that is on the surface.
func direct(name, arguments string) scriptCall {
	return scriptCall{name, arguments, `{"status":"ok","tool":"` + tinyTools[name].id + `","arguments":` + arguments + `}`}
}

// through calls a deferred tool through the bridge.
func through(name, arguments string) scriptCall {
	c := direct(name, arguments)
	return scriptCall{"tool_call", `{"name":"` + name + `","arguments":` + arguments + `}`, c.result}
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

// conversation is what a script comes to: the messages array of each request,
// the tool_calls array of each that makes calls, and the number of requests
// after each turn.
type conversation struct {
	prompts, outputs []string
	byTurn           []int
}

func (s script) play(system string) conversation {
	var c conversation
	messages := []message{{Role: "system", Content: &system}}
	ids := 0
	for _, turn := range s {
		messages = append(messages, message{Role: "user", Content: &turn.says})
		for _, request := range turn.requests {
			c.prompts = append(c.prompts, compactJSON(messages))
			said := message{Role: "assistant"}
			var results []message
			for _, call := range request {
				ids++
				id := fmt.Sprintf("call_%d", ids)
				said.ToolCalls = append(said.ToolCalls, chatCall{id, "function", chatFunction{call.name, call.arguments}})
				results = append(results, message{Role: "tool", ToolCallID: id, Content: &call.result})
			}
			c.outputs = append(c.outputs, compactJSON(said.ToolCalls))
			messages = append(append(messages, said), results...)
		}
		c.prompts = append(c.prompts, compactJSON(messages))
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

// check compares an arm's row with what the script and its tools array come to.
func (s script) check(t testing.TB, row metrics.SessionArm, tools string) {
	t.Helper()
	counter := counterOf(t, row.Assumptions.Tokenizer)
	c := s.play(DefaultSystemPrompt)
	var prompt, output int64
	var byTurn []int64
	for i, messages := range c.prompts {
		prompt += int64(counter.Count(tools) + counter.Count(messages))
		if i+1 == c.byTurn[len(byTurn)] {
			byTurn = append(byTurn, prompt)
		}
	}
	for _, calls := range c.outputs {
		output += int64(counter.Count(calls))
	}
	if row.Requests != len(c.prompts) {
		t.Errorf("%s: %d requests, want %d", row.Arm, row.Requests, len(c.prompts))
	}
	if row.SurfaceTokens != counter.Count(tools) {
		t.Errorf("%s: surface of %d tokens, want %d", row.Arm, row.SurfaceTokens, counter.Count(tools))
	}
	if row.PromptTokens != prompt {
		t.Errorf("%s: %d prompt tokens, want %d", row.Arm, row.PromptTokens, prompt)
	}
	if row.OutputTokens != output {
		t.Errorf("%s: %d output tokens, want %d", row.Arm, row.OutputTokens, output)
	}
	if fmt.Sprint(row.PromptByTurn) != fmt.Sprint(byTurn) {
		t.Errorf("%s: prompt tokens by turn %v, want %v", row.Arm, row.PromptByTurn, byTurn)
	}
}

// callLine is a call row as the tests write it.
func callLine(c metrics.Call) string {
	line := fmt.Sprintf("turn %d gold %d %s %s extra %d searches %d", c.Turn, c.Gold, c.Tool, c.Path, c.ExtraRequests, c.Searches)
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
