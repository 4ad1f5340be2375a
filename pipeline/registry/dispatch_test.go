package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// answering registers one tool whose handler returns what it is given.
func answering(t testing.TB, value any, err error) *registry.Registry {
	t.Helper()
	r := registry.New(registry.Options{})
	reg := tool(t, "set", "probe")
	reg.Handler = func(context.Context, json.RawMessage) (any, error) { return value, err }
	mustRegister(t, r, reg)
	return r
}

func TestDispatchPassesContextAndArguments(t *testing.T) {
	type key struct{}
	r := registry.New(registry.Options{})
	reg := tool(t, "set", "echo")
	reg.Handler = func(ctx context.Context, args json.RawMessage) (any, error) {
		return fmt.Sprintf("%v %s", ctx.Value(key{}), args), nil
	}
	mustRegister(t, r, reg)
	got := r.Dispatch(context.WithValue(t.Context(), key{}, "session"), "echo", json.RawMessage(`{"x":1}`))
	if got.Text != `session {"x":1}` || got.Failed || got.Content != nil {
		t.Errorf("result %+v", got)
	}
}

func TestDispatchUnknown(t *testing.T) {
	r := registry.New(registry.Options{})
	noHandler := tool(t, "set", "listed")
	noHandler.Handler = nil
	mustRegister(t, r, noHandler)
	for _, name := range []string{"nobody", "listed", ""} {
		got := r.Dispatch(t.Context(), name, json.RawMessage(`{}`))
		if want := `{"error":"Unknown tool: ` + name + `"}`; got.Text != want || !got.Failed {
			t.Errorf("Dispatch(%q) = %+v, want %s", name, got, want)
		}
	}
}

// TestDispatchAll: one after another, each with its own time, and none after one that
// it needs and that failed.
func TestDispatchAll(t *testing.T) {
	now := &clock.Virtual{}
	r := registry.New(registry.Options{Clock: now})
	var made []string
	for _, name := range []string{"a", "b", "bad"} {
		reg := tool(t, "set", name)
		reg.Handler = func(_ context.Context, args json.RawMessage) (any, error) {
			made = append(made, name+string(args))
			now.Advance(time.Duration(len(made)) * time.Second)
			if name == "bad" {
				return nil, errors.New("no")
			}
			return name, nil
		}
		mustRegister(t, r, reg)
	}
	results := r.DispatchAll(t.Context(), []registry.Call{
		{Name: "b", Arguments: json.RawMessage("{}")}, {Name: "bad", DependsOn: []int{0}}, {Name: "a", DependsOn: []int{0, 1}},
		{Name: "b", DependsOn: []int{2}}, {Name: "a", DependsOn: []int{-1, 4, 9, 0}},
	})
	if got := strings.Join(made, " "); got != "b{} bad a" {
		t.Errorf("made %q", got)
	}
	want := []struct {
		text   string
		failed bool
		took   time.Duration
	}{
		{"b", false, time.Second},
		{`{"error":"[TOOL_ERROR] Tool execution failed: errorString: no"}`, true, 2 * time.Second},
		{`{"error":"a was not called: a call that it depends on failed"}`, true, 0},
		{`{"error":"b was not called: a call that it depends on failed"}`, true, 0},
		{"a", false, 3 * time.Second},
	}
	for i, w := range want {
		if g := results[i]; g.Text != w.text || g.Failed != w.failed || g.Took != w.took {
			t.Errorf("call %d: %+v, want %+v", i, g, w)
		}
	}
}

func TestMultimodalResult(t *testing.T) {
	const parts = `[{"type":"text","text":"seen"},{"type":"image_url","image_url":{"url":"data:,"}}]`
	got := answering(t, registry.Multimodal{Content: json.RawMessage(parts)}, nil).Dispatch(t.Context(), "probe", nil)
	if string(got.Content) != parts || got.Text != "" || got.Failed {
		t.Errorf("result %+v, want the parts as they are", got)
	}
}

// TestResultContract: whatever is no text and no list of content parts comes
// back as an error that names what it was.
func TestResultContract(t *testing.T) {
	type answer struct{ OK bool }
	type octets []byte
	for _, row := range []struct {
		value any
		want  string
	}{
		{map[string]any{"ok": true}, "dict"},
		{answer{true}, "dict"},
		{[]byte("bytes"), "bytes"},
		{json.RawMessage(`{"ok":true}`), "bytes"},
		{octets("bytes"), "bytes"},
		{nil, "NoneType"},
		{42, "int"},
		{int64(42), "int"},
		{uint8(42), "int"},
		{4.2, "float"},
		{float32(4.2), "float"},
		{true, "bool"},
		{[]any{1, 2}, "list"},
		{[]string{"a"}, "list"},
		{&answer{true}, "registry_test.answer"},
		{registry.Multimodal{}, "dict"},
		{registry.Multimodal{Content: json.RawMessage(`{"type":"text"}`)}, "dict"},
		{registry.Multimodal{Content: json.RawMessage(`[{"type":`)}, "dict"},
	} {
		got := answering(t, row.value, nil).Dispatch(t.Context(), "probe", nil)
		fields, err := rawjson.Object([]byte(got.Text))
		if err != nil || !got.Failed || got.Content != nil {
			t.Errorf("%T: result %+v, %v", row.value, got, err)
			continue
		}
		var keys []string
		for _, f := range fields {
			keys = append(keys, f.Key)
		}
		if strings.Join(keys, " ") != "error error_type tool result_type" {
			t.Errorf("%T: keys %q", row.value, keys)
		}
		for key, want := range map[string]string{"error_type": "tool_result_contract", "tool": "probe", "result_type": row.want} {
			if v, _ := rawjson.Get(fields, key); string(v) != `"`+want+`"` {
				t.Errorf("%T: %s is %s, want %q", row.value, key, v, want)
			}
		}
	}
}

type runtimeError struct{ text string }

func (e runtimeError) Error() string { return e.text }

// named calls itself something, as an error that crosses a border would.
type named struct{ kind string }

func (n named) Error() string     { return "came from afar" }
func (n named) ErrorType() string { return n.kind }

// hollow panics when it is read.
type hollow struct{ text string }

func (h *hollow) Error() string { return h.text }

func TestHandlerErrors(t *testing.T) {
	var nothing *hollow
	for _, row := range []struct {
		name string
		err  error
		want string
	}{
		{"the error's Go type", runtimeError{"boom"}, "[TOOL_ERROR] Tool execution failed: runtimeError: boom"},
		{"a pointer's too", &runtimeError{"boom"}, "[TOOL_ERROR] Tool execution failed: runtimeError: boom"},
		{"a plain error", errors.New("boom"), "[TOOL_ERROR] Tool execution failed: errorString: boom"},
		{"what the error calls itself", named{"TimeoutError"}, "[TOOL_ERROR] Tool execution failed: TimeoutError: came from afar"},
		{"also when it is wrapped", fmt.Errorf("after 3 tries: %w", named{"TimeoutError"}), "[TOOL_ERROR] Tool execution failed: TimeoutError: after 3 tries: came from afar"},
		{"a type without a name", &struct{ runtimeError }{runtimeError{"boom"}}, "[TOOL_ERROR] Tool execution failed: error: boom"},
		{"role tags", errors.New("a</system>b<User role=x>c<tool_call>d</ASSISTANT >e"), "[TOOL_ERROR] Tool execution failed: errorString: abcde"},
		{"words that begin like a role stay", errors.New("<systemd> <users>"), "[TOOL_ERROR] Tool execution failed: errorString: <systemd> <users>"},
		{"fences and CDATA marks", errors.New("```python\nx\n```<![CDATA[y]]>"), "[TOOL_ERROR] Tool execution failed: errorString: \nx\ny"},
		{"non-ASCII stays", errors.New("größe 工具"), "[TOOL_ERROR] Tool execution failed: errorString: größe 工具"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := answering(t, "ignored", row.err).Dispatch(t.Context(), "probe", nil)
			var body struct{ Error string }
			if err := json.Unmarshal([]byte(got.Text), &body); err != nil || body.Error != row.want || !got.Failed {
				t.Errorf("error %q, %v\nwant  %q", body.Error, err, row.want)
			}
		})
	}
	t.Run("an error that panics when it is read", func(t *testing.T) {
		got := answering(t, nil, nothing).Dispatch(t.Context(), "probe", nil)
		if !got.Failed || !strings.Contains(got.Text, "Tool execution failed: panic: ") {
			t.Errorf("result %+v", got)
		}
	})
}

func TestHandlerPanics(t *testing.T) {
	for name, value := range map[string]any{"boom": "boom", "an error": errors.New("an error")} {
		r := registry.New(registry.Options{})
		reg := tool(t, "set", "probe")
		reg.Handler = func(context.Context, json.RawMessage) (any, error) { panic(value) }
		mustRegister(t, r, reg)
		got := r.Dispatch(t.Context(), "probe", nil)
		if want := `{"error":"[TOOL_ERROR] Tool execution failed: panic: ` + name + `"}`; got.Text != want {
			t.Errorf("result %s, want %s", got.Text, want)
		}
	}
}

// TestErrorLength: the body is cut to 2,000 code points, the mark in front of
// it comes on top.
func TestErrorLength(t *testing.T) {
	const head = "Tool execution failed: runtimeError: "
	for _, row := range []struct {
		message   int // code points
		want      int
		shortened bool
	}{
		{2000 - len(head), 2013, false},
		{2001 - len(head), 2013, true},
		{100_000, 2013, true},
		{10, 13 + len(head) + 10, false},
	} {
		got := answering(t, nil, runtimeError{strings.Repeat("工", row.message)}).Dispatch(t.Context(), "probe", nil)
		var body struct{ Error string }
		if err := json.Unmarshal([]byte(got.Text), &body); err != nil {
			t.Fatal(err)
		}
		if n := utf8.RuneCountInString(body.Error); n != row.want {
			t.Errorf("a message of %d: %d code points, want %d", row.message, n, row.want)
		}
		if shortened := strings.HasSuffix(body.Error, "工..."); shortened != row.shortened {
			t.Errorf("a message of %d: shortened %t, want %t", row.message, shortened, row.shortened)
		}
	}
}

func TestErrorResult(t *testing.T) {
	got := registry.ErrorResult("größer <b> \"x\"",
		rawjson.Field{Key: "z", Value: json.RawMessage("1")}, rawjson.Field{Key: "a", Value: rawjson.String("工")})
	if want := `{"error":"größer <b> \"x\"","z":1,"a":"工"}`; got.Text != want || !got.Failed {
		t.Errorf("ErrorResult = %+v, want %s", got, want)
	}
}
