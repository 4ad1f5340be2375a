package assembly_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func call(t testing.TB, s *assembly.Session, name, arguments string) assembly.Outcome {
	t.Helper()
	o := s.Call(t.Context(), assembly.ToolCall{ID: "call-1", Name: name, Arguments: json.RawMessage(arguments)})
	if o.Result.Content == nil && o.Result.Failed != strings.HasPrefix(o.Result.Text, `{"error":`) {
		t.Errorf("%s %s: result %+v", name, arguments, o.Result)
	}
	return o
}

// officeSession has a server, a plugin and the core, one tool of each outside.
func officeSession(t testing.TB) (*stage, *assembly.Session) {
	t.Helper()
	s := newStage(t).builtins(t)
	s.define(t, "mcp-docs", "get_document", "Read a document.", `"document_id":{"type":"string"},"format":{"type":"string"}`, "document_id")
	s.define(t, "mcp-docs", "list_documents", "List documents.", `"limit":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}`)
	s.define(t, "notes", "add_note", "Write a note.", `"text":{"type":"string"}`)
	s.define(t, "mcp-other", "get_other_document", "Read a document of somebody else.", `"document_id":{"type":"string"}`)
	return s, s.session(t, request("hermes-cli", "mcp-docs", "notes"))
}

func TestAgentLoopTools(t *testing.T) {
	s, session := officeSession(t)
	for _, name := range []string{"todo", "memory", "session_search", "delegate_task"} {
		o := call(t, session, name, `{}`)
		if !o.Result.Failed || !strings.Contains(o.Result.Text, name) || o.Tool != "" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if len(s.calls) > 0 {
		t.Errorf("dispatched: %q", s.calls)
	}
}

// TestLoopAnswersItsTools: where the agent answers, its tools go to it and to
// nobody else, directly or, once deferred, through the bridge.
func TestLoopAnswersItsTools(t *testing.T) {
	s := newStage(t).builtins(t)
	loop := registry.New(registry.Options{Clock: s.clock})
	d, err := registry.Define("todo", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := loop.Register(registry.Registration{Toolset: "todo", Definition: d, Handler: func(_ context.Context, args json.RawMessage) (any, error) {
		return "noted " + string(args), nil
	}}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		variant         bridge.Variant
		name, arguments string
	}{
		{bridge.July, "todo", `{"merge":"true"}`},
		{bridge.September, bridge.CallTool, `{"calls":[{"name":"todo","arguments":{"merge":"true"}}]}`},
	} {
		session := s.sessionOf(t, row.variant, request("hermes-cli"))
		session.Loop = loop
		if o := call(t, session, row.name, row.arguments); o.Result.Text != `noted {"merge":true}` || o.Tool != "todo" {
			t.Errorf("%s %s: %+v", row.variant, row.name, o)
		}
		if o := call(t, session, "read_file", `{"path":"x"}`); o.Tool != "read_file" || o.Result.Text != "read_file ran" {
			t.Errorf("%s: another tool went to the agent: %+v", row.variant, o)
		}
	}
}

// TestDeferredMeansDeferred: in either variant a deferred tool is not run by its own
// name, be it a server's or the agent's.
func TestDeferredMeansDeferred(t *testing.T) {
	for variant, names := range map[bridge.Variant][]string{bridge.July: {"add_note"}, bridge.September: {"add_note", "todo", "process"}} {
		s, july := officeSession(t)
		session := s.sessionOf(t, variant, july.Request)
		session.Loop = s.registry
		for _, name := range names {
			if o := call(t, session, name, `{}`); o.Refusal == nil || o.Refusal.Class != bridge.ClassDeferred || o.Tool != "" {
				t.Errorf("%s %s: %+v", variant, name, o)
			}
			session.Request.Config.Enabled = bridge.Off
			if o := call(t, session, name, `{}`); o.Tool != name {
				t.Errorf("%s %s without the bridge: %+v", variant, name, o)
			}
			session.Request.Config.Enabled = bridge.Auto
		}
		if o := call(t, session, "terminal", `{}`); o.Tool != "terminal" {
			t.Errorf("%s: %+v", variant, o)
		}
	}
}

func TestUnknownTool(t *testing.T) {
	_, session := officeSession(t)
	if o := call(t, session, "no_such_tool", `{}`); o.Result.Text != `{"error":"Unknown tool: no_such_tool"}` {
		t.Errorf("result %s", o.Result.Text)
	}
}

// TestArgumentsThatAreNoObject: the model reads what is wrong, for a real tool
// and for the bridge's own.
func TestArgumentsThatAreNoObject(t *testing.T) {
	s, session := officeSession(t)
	for _, name := range []string{"web_search", bridge.SearchTool, bridge.CallTool} {
		for _, arguments := range []string{"", "null", "[]", `"{}"`, `{"query":`, "{} {}"} {
			if o := call(t, session, name, arguments); !o.Result.Failed || !strings.Contains(o.Result.Text, "JSON") {
				t.Errorf("%s %q: %s", name, arguments, o.Result.Text)
			}
		}
	}
	if len(s.calls) > 0 {
		t.Errorf("dispatched: %q", s.calls)
	}
}

// TestCallsThroughTheBridge: a call reaches the real tool under its own name,
// with the arguments that the model meant.
func TestCallsThroughTheBridge(t *testing.T) {
	for _, row := range []struct {
		name, arguments string
		tool, reached   string // the outcome's tool; what the handler saw
		refused         bridge.ErrorClass
		says            string // in the result
	}{
		{"tool_call", `{"name":"get_document","arguments":{"document_id":"abc"}}`, "get_document", `get_document {"document_id":"abc"}`, "", "get_document ran"},
		{"tool_call", `{"name":"get_document","arguments":"{\"document_id\": \"abc\"}"}`, "get_document", `get_document {"document_id":"abc"}`, "", "get_document ran"},
		{"tool_call", `{"name":"list_documents","arguments":""}`, "list_documents", `list_documents {}`, "", "list_documents ran"},
		{"tool_call", `{"name":"list_documents","arguments":{"limit":"42","tags":"new"}}`, "list_documents", `list_documents {"limit":42,"tags":["new"]}`, "", "list_documents ran"},
		{"tool_call", `{"name":"add_note","arguments":{"text":"42"}}`, "add_note", `add_note {"text":"42"}`, "", "add_note ran"},
		{"tool_call", `{"name":"list_documents","arguments":{"limit":"1e3"}}`, "list_documents", `list_documents {"limit":1000}`, "", "list_documents ran"},
		{"web_search", `{"query":"x","limit":"inf"}`, "web_search", `web_search {"query":"x","limit":"inf"}`, "", "web_search ran"},

		{"tool_call", `{"name":"get_document"}`, "", "", bridge.ClassMissingRequired, `\"required\"`},
		{"tool_call", `{"name":"get_other_document","arguments":{}}`, "", "", bridge.ClassNotInScope, "not available in this session"},
		{"tool_call", `{"name":"terminal","arguments":{"command":"ls"}}`, "", "", bridge.ClassNotDeferrable, "terminal"},
		{"tool_call", `{"name":"todo","arguments":{}}`, "", "", bridge.ClassNotDeferrable, "todo"},
		{"list_documents", `{}`, "", "", bridge.ClassDeferred, "run it with tool_call"},
		{"get_other_document", `{}`, "", "", bridge.ClassNotInScope, "not available in this session"},
		{"tool_call", `{}`, "", "", bridge.ClassNameMissing, "name is required"},
		{"tool_search", `{}`, "", "", "", "query is required"},
		{"tool_describe", `{}`, "", "", "", "name is required"},
		{"tool_describe", `{"name":"terminal"}`, "", "", "", "terminal"},
		{"tool_describe", `{"name":"get_other_document"}`, "", "", "", "not currently available"},
	} {
		t.Run(row.name+row.arguments, func(t *testing.T) {
			s, session := officeSession(t)
			o := call(t, session, row.name, row.arguments)
			says := strings.ReplaceAll(row.says, `\"`, `"`)
			if o.Tool != row.tool || strings.Join(s.calls, "; ") != row.reached || !strings.Contains(o.Result.Text, says) {
				t.Errorf("tool %q, reached %q, result %s", o.Tool, s.calls, o.Result.Text)
			}
			if (o.Refusal != nil) != (row.refused != "") || (o.Refusal != nil && o.Refusal.Class != row.refused) {
				t.Errorf("refusal %+v, want %q", o.Refusal, row.refused)
			}
			if o.Result.Failed == (row.tool != "") {
				t.Errorf("failed %t", o.Result.Failed)
			}
		})
	}
}

// TestBlindCallGetsTheSchema: a handler that relies on its required arguments
// is not run without them; the repaired call is.
func TestBlindCallGetsTheSchema(t *testing.T) {
	s := newStage(t)
	d, err := registry.Define("get_document", "Read a document.", json.RawMessage(`{"type":"object","properties":{"document_id":{"type":"string"}},"required":["document_id"]}`))
	if err != nil {
		t.Fatal(err)
	}
	s.register(t, registry.Registration{Toolset: "mcp-docs", Definition: d, Handler: func(_ context.Context, args json.RawMessage) (any, error) {
		var a struct {
			ID *string `json:"document_id"`
		}
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return "doc " + *a.ID, nil // a blind call would panic here
	}})
	session := s.session(t, request("mcp-docs"))
	blind := call(t, session, bridge.CallTool, `{"name":"get_document","arguments":{}}`)
	fields, err := rawjson.Object([]byte(blind.Result.Text))
	if err != nil {
		t.Fatal(err)
	}
	if parameters, _ := rawjson.Get(fields, "parameters"); string(parameters) != string(d.Parameters) || !strings.Contains(blind.Result.Text, "not invoked") {
		t.Errorf("result %s", blind.Result.Text)
	}
	if o := call(t, session, bridge.CallTool, `{"name":"get_document","arguments":{"document_id":"abc"}}`); o.Result.Text != "doc abc" {
		t.Errorf("result %s", o.Result.Text)
	}
}

// TestSearchStaysInline: searching and describing reach no handler and no hook,
// and leave the session's resolved names alone.
func TestSearchStaysInline(t *testing.T) {
	s, session := officeSession(t)
	session.Hooks = assembly.Hooks{
		Pre:  func(assembly.HookEvent) string { t.Error("pre fired"); return "" },
		Post: func(assembly.HookEvent) { t.Error("post fired") },
	}
	narrow := request("mcp-docs")
	session.Request = narrow
	o := call(t, session, bridge.SearchTool, `{"query":"read document","limit":5}`)
	if len(o.Matches) == 0 || o.Matches[0].Tool.Name != "get_document" || strings.Contains(o.Result.Text, "get_other_document") {
		t.Errorf("result %s", o.Result.Text)
	}
	call(t, session, bridge.DescribeTool, `{"name":"get_document"}`)
	if got := strings.Join(session.Assembler.Resolved(), " "); got != "get_document list_documents" {
		t.Errorf("resolved %q, want the session's own tools", got)
	}
	if len(s.calls) > 0 {
		t.Errorf("dispatched: %q", s.calls)
	}
	if o := call(t, session, bridge.SearchTool, `{"query":"nothing matches this"}`); !strings.Contains(o.Result.Text, `"matches":[]`) {
		t.Errorf("result %s", o.Result.Text)
	}
}

// TestScopeIsNeverStale: what the session may reach is read anew at each call.
func TestScopeIsNeverStale(t *testing.T) {
	for _, v := range bridge.Variants() {
		t.Run(string(v), func(t *testing.T) { scopeIsNeverStale(t, v) })
	}
}

func scopeIsNeverStale(t *testing.T, variant bridge.Variant) {
	s, july := officeSession(t)
	session := s.sessionOf(t, variant, july.Request)
	reach := func(name string) bool {
		return len(call(t, session, bridge.DescribeTool, string(variant.DescribeArguments([]string{name})[0])).Described) == 1
	}
	if reach("late_tool") || !reach("add_note") {
		t.Fatal("late_tool is not there yet, add_note is")
	}
	s.define(t, "mcp-docs", "late_tool", "Comes late.", ``)
	if !reach("late_tool") {
		t.Error("a server's new tool is not seen")
	}
	if err := s.registry.Deregister("add_note", ""); err != nil {
		t.Fatal(err)
	}
	if reach("add_note") {
		t.Error("a removed tool is still seen")
	}
	session.Request.Disabled = []string{"mcp-docs"}
	if reach("late_tool") {
		t.Error("a disabled toolset is still seen")
	}
	session.Request.Disabled = nil
	if !reach("late_tool") {
		t.Error("an enabled toolset is not seen")
	}
	session.Request.Config.SearchDefaultLimit = 1
	if o := call(t, session, bridge.SearchTool, string(variant.SearchArguments("document"))); len(o.Matches) != 1 {
		t.Errorf("%d hits with a default limit of 1: the settings of an earlier call", len(o.Matches))
	}
}

// TestProbesGateTheScope: a tool that is down is not found, described or called
// through the bridge.
func TestProbesGateTheScope(t *testing.T) {
	for _, v := range bridge.Variants() {
		t.Run(string(v), func(t *testing.T) { probesGateTheScope(t, v) })
	}
}

func probesGateTheScope(t *testing.T, variant bridge.Variant) {
	s := newStage(t)
	s.guarded(t, "guarded", "docker")
	s.define(t, "set", "other", "", ``)
	s.probe("docker").up = false
	session := s.sessionOf(t, variant, request("set"))
	if o := call(t, session, bridge.SearchTool, string(variant.SearchArguments("guarded"))); len(o.Matches) != 0 || !strings.Contains(o.Result.Text, `"total_available":1`) {
		t.Errorf("result %s", o.Result.Text)
	}
	if o := call(t, session, bridge.DescribeTool, string(variant.DescribeArguments([]string{"guarded"})[0])); len(o.Described) != 0 {
		t.Errorf("result %s", o.Result.Text)
	}
	arguments := string(variant.CallArguments("guarded", json.RawMessage(`{}`)))
	if o := call(t, session, bridge.CallTool, arguments); o.Refusal == nil || o.Refusal.Class != bridge.ClassNotInScope {
		t.Errorf("outcome %+v", o)
	}
	s.probe("docker").up = true
	s.clock.Advance(30 * time.Second)
	if o := call(t, session, bridge.CallTool, arguments); o.Tool != "guarded" {
		t.Errorf("outcome %+v", o)
	}
}

// hookLog notes which hooks fire, and what they are told.
type hookLog struct {
	fired  []string
	events map[string]assembly.HookEvent
}

func (l *hookLog) note(hook string, e assembly.HookEvent) {
	l.fired = append(l.fired, hook)
	l.events[hook] = e
}

func (l *hookLog) hooks() assembly.Hooks {
	return assembly.Hooks{
		Pre:       func(e assembly.HookEvent) string { l.note("pre", e); return "" },
		Transform: func(e assembly.HookEvent) registry.Result { l.note("transform", e); return e.Result },
		Post:      func(e assembly.HookEvent) { l.note("post", e) },
	}
}

// workSession has one tool that takes a second and a half.
func workSession(t *testing.T, handler registry.Handler) (*assembly.Session, *hookLog) {
	t.Helper()
	s := newStage(t)
	d, err := registry.Define("work", "", json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s.register(t, registry.Registration{Toolset: "set", Definition: d, Handler: func(ctx context.Context, args json.RawMessage) (any, error) {
		s.clock.Advance(1500*time.Millisecond + 999*time.Microsecond)
		return handler(ctx, args)
	}})
	session, log := s.session(t, eager("set")), &hookLog{events: make(map[string]assembly.HookEvent)}
	session.Hooks = log.hooks()
	return session, log
}

func done(context.Context, json.RawMessage) (any, error) { return "done", nil }

func TestHooks(t *testing.T) {
	for _, c := range []assembly.ToolCall{
		{ID: "call-7", Name: "work", Arguments: json.RawMessage(`{"n":"3"}`)},
		{ID: "call-7", Name: bridge.CallTool, Arguments: json.RawMessage(`{"name":"work","arguments":{"n":"3"}}`)},
	} {
		session, log := workSession(t, done)
		if c.Name == bridge.CallTool {
			session.Request = request("set")
		}
		o := session.Call(t.Context(), c)
		if got := strings.Join(log.fired, " "); got != "pre transform post" || o.Result.Text != "done" || o.Tool != "work" {
			t.Errorf("%s: fired %q, outcome %+v", c.Name, got, o)
		}
		for hook, e := range log.events {
			if e.CallID != "call-7" || e.SessionID != "session-1" || e.Tool != "work" || string(e.Arguments) != `{"n":3}` {
				t.Errorf("%s: %s is told %+v", c.Name, hook, e)
			}
			status, duration, text := assembly.StatusOK, int64(1500), "done"
			if hook == "pre" {
				status, duration, text = "", 0, ""
			}
			if e.Status != status || e.DurationMS != duration || e.Result.Text != text {
				t.Errorf("%s: %s is told status %q, %d ms, result %q", c.Name, hook, e.Status, e.DurationMS, e.Result.Text)
			}
		}
	}
}

func TestHooksOfAFailingCall(t *testing.T) {
	session, log := workSession(t, func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("boom") })
	o := call(t, session, "work", `{}`)
	if got := strings.Join(log.fired, " "); got != "pre transform post" || log.events["post"].Status != assembly.StatusError || !o.Result.Failed {
		t.Errorf("fired %q, status %q, result %s", got, log.events["post"].Status, o.Result.Text)
	}
}

func TestPreBlocks(t *testing.T) {
	session, log := workSession(t, func(context.Context, json.RawMessage) (any, error) {
		t.Error("a blocked call was carried out")
		return "done", nil
	})
	session.Hooks.Pre = func(e assembly.HookEvent) string { log.note("pre", e); return "not on a Sunday" }
	o := call(t, session, "work", `{}`)
	if o.Result.Text != `{"error":"not on a Sunday"}` || !o.Result.Failed || o.Tool != "" {
		t.Errorf("outcome %+v", o)
	}
	post := log.events["post"]
	if got := strings.Join(log.fired, " "); got != "pre post" || post.Status != assembly.StatusBlocked || post.Result.Text != o.Result.Text || post.DurationMS != 0 {
		t.Errorf("fired %q, post is told %+v", got, post)
	}
}

// TestEmptyReasonDoesNotBlock: a block without a reason is malformed.
func TestEmptyReasonDoesNotBlock(t *testing.T) {
	session, log := workSession(t, done)
	if o := call(t, session, "work", `{}`); o.Result.Text != "done" || len(log.fired) != 3 {
		t.Errorf("outcome %+v, fired %q", o, log.fired)
	}
}

func TestSkipPre(t *testing.T) {
	session, log := workSession(t, done)
	session.Hooks.Pre = func(assembly.HookEvent) string { t.Error("pre fired"); return "no" }
	o := session.Call(t.Context(), assembly.ToolCall{Name: "work", Arguments: json.RawMessage(`{}`), SkipPre: true})
	if got := strings.Join(log.fired, " "); got != "transform post" || o.Result.Text != "done" {
		t.Errorf("fired %q, outcome %+v", got, o)
	}
}

func TestTransform(t *testing.T) {
	session, log := workSession(t, done)
	session.Hooks.Transform = func(e assembly.HookEvent) registry.Result {
		return registry.Result{Text: e.Result.Text + " and dusted"}
	}
	if o := call(t, session, "work", `{}`); o.Result.Text != "done and dusted" || log.events["post"].Result.Text != "done and dusted" {
		t.Errorf("outcome %+v, post is told %+v", o, log.events["post"].Result)
	}
}

func TestNoHooks(t *testing.T) {
	session, log := workSession(t, done)
	session.Hooks = assembly.Hooks{}
	if o := call(t, session, "work", `{}`); o.Result.Text != "done" || len(log.fired) != 0 {
		t.Errorf("outcome %+v, fired %q", o, log.fired)
	}
}

// TestResultContractThroughASession: a handler's wrong result is named.
func TestResultContractThroughASession(t *testing.T) {
	for value, want := range map[any]string{nil: "NoneType", 42: "int"} {
		session, _ := workSession(t, func(context.Context, json.RawMessage) (any, error) { return value, nil })
		if o := call(t, session, "work", `{}`); !strings.Contains(o.Result.Text, `"result_type":"`+want+`"`) {
			t.Errorf("%v: result %s", value, o.Result.Text)
		}
	}
	session, _ := workSession(t, func(context.Context, json.RawMessage) (any, error) {
		return registry.Multimodal{Content: json.RawMessage(`[{"type":"text"}]`)}, nil
	})
	if o := call(t, session, "work", `{}`); string(o.Result.Content) != `[{"type":"text"}]` {
		t.Errorf("multimodal: %+v", o.Result)
	}
}

// TestShownSchemaIsTheOneRepairedBy: where a tool's schema is overridden or
// rewritten, arguments are repaired by what the model saw.
func TestShownSchemaIsTheOneRepairedBy(t *testing.T) {
	s := newStage(t)
	static := json.RawMessage(`{"type":"object","properties":{"n":{"type":"string"}}}`)
	shown := rawjson.Field{Key: "parameters", Value: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"größe":{"type":"integer"}}}`)}
	for _, name := range []string{"overridden", "rewritten", "plain"} {
		d, err := registry.Define(name, "", static)
		if err != nil {
			t.Fatal(err)
		}
		reg := registry.Registration{Toolset: "set", Definition: d}
		if name == "overridden" {
			reg.Overrides = func() ([]rawjson.Field, error) { return []rawjson.Field{shown}, nil }
		}
		s.register(t, reg)
	}
	session := s.session(t, eager("set"))
	session.Assembler = s.assembler(t, func(o *assembly.Options) {
		o.Rewrites = map[string]assembly.Rewrite{"rewritten": func(d *registry.Definition, _ func(string) bool) (*registry.Definition, error) {
			return d.With(shown)
		}}
	})
	for _, name := range []string{"overridden", "rewritten", "plain"} {
		call(t, session, name, `{"n":"1","gr__e":"2"}`)
	}
	want := `overridden {"n":1,"größe":2}; rewritten {"n":1,"größe":2}; plain {"n":"1","gr__e":"2"}`
	if got := strings.Join(s.calls, "; "); got != want {
		t.Errorf("reached %q\nwant    %q", got, want)
	}
}
