package assembly_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// recorder answers calls and notes how they came: batches by " | ", within one the
// tools with what they depend on.
type recorder struct {
	came []string
	fail map[string]bool
}

func (r *recorder) DispatchAll(_ context.Context, calls []registry.Call) []registry.Result {
	var batch []string
	results := make([]registry.Result, len(calls))
	for i, c := range calls {
		text := c.Name
		if c.DependsOn != nil {
			text += fmt.Sprint(c.DependsOn)
		}
		batch = append(batch, text)
		results[i] = registry.Result{Text: c.Name + " " + string(c.Arguments), Took: time.Duration(i+1) * time.Millisecond}
		if r.fail[c.Name] {
			results[i] = registry.ErrorResult(c.Name + " failed")
		}
	}
	r.came = append(r.came, strings.Join(batch, " "))
	return results
}

func TestCallsOfOneOutput(t *testing.T) {
	through := func(name string) string { return `{"name":"` + name + `","arguments":{"document_id":"7"}}` }
	c := func(name, arguments string, dependsOn ...int) assembly.ToolCall {
		return assembly.ToolCall{Name: name, Arguments: json.RawMessage(arguments), DependsOn: dependsOn}
	}
	for _, row := range []struct {
		name  string
		calls []assembly.ToolCall
		came  string
		tools string // of the outcomes; - for none
	}{
		{"together, under their own names", []assembly.ToolCall{
			c("read_file", `{}`), c("tool_call", through("get_document")), c("tool_call", through("list_documents")),
		}, "read_file get_document list_documents", "read_file get_document list_documents"},
		{"nothing but inline", []assembly.ToolCall{c("tool_search", `{"query":"x"}`), c("tool_describe", `{"name":"x"}`)}, "", "- -"},
		{"dependencies are places among those dispatched", []assembly.ToolCall{
			c("tool_search", `{"query":"document"}`), c("read_file", `{}`, 0), c("tool_describe", `{"name":"get_document"}`),
			c("write_file", `{}`, 1, 0), c("patch", `{}`, 3, 1),
		}, "read_file[] write_file[0] patch[1 0]", "- read_file - write_file patch"},
		{"an empty list is not nothing", []assembly.ToolCall{
			{Name: "read_file", Arguments: json.RawMessage(`{}`), DependsOn: []int{}}, c("patch", `{}`),
		}, "read_file[] patch", "read_file patch"},
		{"what depends on a refused call is not made", []assembly.ToolCall{
			c("tool_call", through("nobody")), c("read_file", `{}`, 0), c("write_file", `{}`, 1), c("patch", `{}`),
		}, "patch", "- - - patch"},
		{"places that are none", []assembly.ToolCall{c("read_file", `{}`, -1, 7)}, "read_file[]", "read_file"},
		{"the agent's own go between", []assembly.ToolCall{
			c("read_file", `{}`), c("terminal", `{}`), c("todo", `{}`, 1), c("memory", `{}`), c("patch", `{}`, 2),
		}, "read_file terminal | todo[] memory | patch[]", "read_file terminal todo memory patch"},
		{"and not after one that failed", []assembly.ToolCall{
			c("process", `{}`), c("todo", `{}`, 0), c("patch", `{}`, 1),
		}, "process", "process - -"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, session := officeSession(t)
			r := &recorder{fail: map[string]bool{"process": true}}
			session.Dispatcher, session.Loop = r, r
			var tools []string
			for _, o := range session.Calls(t.Context(), row.calls) {
				if o.Tool == "" {
					o.Tool = "-"
				}
				tools = append(tools, o.Tool)
			}
			if got := strings.Join(r.came, " | "); got != row.came {
				t.Errorf("dispatched %q, want %q", got, row.came)
			}
			if got := strings.Join(tools, " "); got != row.tools {
				t.Errorf("outcomes %q, want %q", got, row.tools)
			}
		})
	}
}

// TestHooksOfABatch: all are asked before the first call, and told of each call's own
// time behind the last, in the order of the calls.
func TestHooksOfABatch(t *testing.T) {
	_, session := officeSession(t)
	r := &recorder{}
	session.Dispatcher = r
	var told []string
	session.Hooks = assembly.Hooks{
		Pre: func(e assembly.HookEvent) string {
			told = append(told, fmt.Sprintf("pre %s %d", e.CallID, len(r.came)))
			if e.Tool == "write_file" {
				return "no"
			}
			return ""
		},
		Post: func(e assembly.HookEvent) {
			told = append(told, fmt.Sprintf("post %s %s %d", e.CallID, e.Status, e.DurationMS))
		},
	}
	var calls []assembly.ToolCall
	for i, name := range []string{"read_file", "write_file", "patch"} {
		calls = append(calls, assembly.ToolCall{ID: fmt.Sprint(i), Name: name, Arguments: json.RawMessage(`{}`)})
	}
	outcomes := session.Calls(t.Context(), calls)
	want := "pre 0 0, pre 1 0, post 1 blocked 0, pre 2 0, post 0 ok 1, post 2 ok 2"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("told %s\nwant %s", got, want)
	}
	if outcomes[1].Tool != "" || outcomes[1].Result.Text != `{"error":"no"}` || outcomes[2].Result.Text != "patch {}" {
		t.Errorf("outcomes %+v", outcomes)
	}
}

// TestHandlersMayCallTheSession: the batch under way is not disturbed by one within.
func TestHandlersMayCallTheSession(t *testing.T) {
	s := newStage(t)
	var session *assembly.Session
	for _, name := range []string{"outer", "inner"} {
		d, err := registry.Define(name, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		s.register(t, registry.Registration{Toolset: "set", Definition: d, Handler: func(ctx context.Context, _ json.RawMessage) (any, error) {
			if name == "inner" {
				return "in", nil
			}
			o := session.Call(ctx, assembly.ToolCall{Name: "inner", Arguments: json.RawMessage(`{}`)})
			return "out of " + o.Result.Text, nil
		}})
	}
	session = s.session(t, eager("set"))
	c := assembly.ToolCall{Name: "outer", Arguments: json.RawMessage(`{}`)}
	for range 2 {
		for i, o := range session.Calls(t.Context(), []assembly.ToolCall{c, c}) {
			if o.Result.Text != "out of in" || o.Tool != "outer" {
				t.Errorf("call %d: %+v", i, o)
			}
		}
	}
}

// TestABatchIsItsCallsOneByOne: where calls say nothing of one another, what each leads
// to does not depend on how they are put together.
func TestABatchIsItsCallsOneByOne(t *testing.T) {
	pool := []assembly.ToolCall{
		{Name: "read_file", Arguments: json.RawMessage(`{"path":"x"}`)}, {Name: "todo", Arguments: json.RawMessage(`{}`)},
		{Name: "list_documents", Arguments: json.RawMessage(`{}`)}, {Name: "nobody", Arguments: json.RawMessage(`{}`)},
		{Name: bridge.CallTool, Arguments: json.RawMessage(`{"name":"list_documents","arguments":{"limit":"3"}}`)},
		{Name: bridge.CallTool, Arguments: json.RawMessage(`{"name":"get_document"}`)},
		{Name: bridge.SearchTool, Arguments: json.RawMessage(`{"query":"document"}`)}, {Name: "patch", Arguments: json.RawMessage(`[]`)},
	}
	_, session := officeSession(t)
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 6).Draw(t, "calls")
		together := session.Calls(context.Background(), calls)
		if len(together) != len(calls) {
			t.Fatalf("%d outcomes of %d calls", len(together), len(calls))
		}
		for i, c := range calls {
			alone := session.Call(context.Background(), c)
			if together[i].Result.Text != alone.Result.Text || together[i].Tool != alone.Tool || len(together[i].Matches) != len(alone.Matches) {
				t.Errorf("call %d: together %+v, alone %+v", i, together[i], alone)
			}
		}
	})
}
