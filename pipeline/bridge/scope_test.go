package bridge_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func TestRetrieval(t *testing.T) {
	d := newDesk(t)
	scope := d.Scope(d.four(t), bridge.DefaultConfig())
	for _, row := range []struct {
		query string
		limit int
		first string // "" for no hit at all
		most  int
	}{
		{"create a github issue", 3, "github_create_issue", 3},
		{"asdf qwerty foobar", 5, "", 0},
		{"calendar", 5, "calendar_create_event", 1},
		{"github", 1, "github_search_repos", 1}, // both have the word twice, this one in fewer words
		{"github", 0, "", 0},
		{"slack_send_message", 5, "slack_send_message", 4},
		{"send message", 5, "slack_send_message", 1},
		{"GITHUB Repos!", 5, "github_search_repos", 2},
		{"thub_cre", 5, "github_create_issue", 1}, // no token of it is known, but a name holds it
		{"?!", 5, "", 0},
		{"", 5, "", 0},
	} {
		got := scope.Search(row.query, row.limit)
		if len(got) > row.most || (len(got) > 0) != (row.first != "") || (len(got) > 0 && got[0].Tool.Name != row.first) {
			t.Errorf("%q, limit %d: %q; want %q first of %d at most", row.query, row.limit, matchNames(got), row.first, row.most)
		}
	}
}

// TestRelevance: queries in a model's words, over tools that are easily mixed up.
func TestRelevance(t *testing.T) {
	d := newDesk(t)
	scope := d.Scope([]*registry.Definition{
		d.define(t, "mcp-github", "rerun-workflow", "Start a finished workflow again.", "run_id"),
		d.define(t, "mcp-github", "create_issue", "Create a new issue in a GitHub repository.", "title", "body"),
		d.define(t, "mcp-github", "list_issues", "List the issues of a repository.", "repo"),
		d.define(t, "mcp-slack", "slack-post", "Send a message to a Slack channel.", "channel", "text"),
		d.define(t, "mcp-gist", "save_gist", "Save text as a gist.", "content"),
		d.define(t, "mcp-github", "codeql_scan", "Start a code scan.", "repo"),
	}, bridge.DefaultConfig())
	for _, row := range []struct{ query, first string }{
		{"list issues", "list_issues"},
		{"send message", "slack-post"},
		{"create issue github repository title", "create_issue"},
		{"rerun-workflow", "rerun-workflow"},
		{"create_issue", "create_issue"},
		{"run_id", "rerun-workflow"}, // a parameter's name is part of what is searched
	} {
		if got := scope.Search(row.query, 5); len(got) == 0 || got[0].Tool.Name != row.first {
			t.Errorf("%q finds %q, want %s first", row.query, matchNames(got), row.first)
		}
	}
}

// TestSchemaBodiesAreNotSearched: only the names of top-level parameters count.
func TestSchemaBodiesAreNotSearched(t *testing.T) {
	d := newDesk(t)
	tool, err := registry.Define("deep", "Plain.", json.RawMessage(
		`{"type":"object","description":"outerword","properties":{"shallow":{"type":"object","description":"innerword","properties":{"nested":{"enum":["enumword"]}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	d.catalog["deep"] = "mcp-deep"
	scope := d.Scope([]*registry.Definition{tool}, bridge.DefaultConfig())
	for query, want := range map[string]int{"shallow": 1, "plain": 1, "outerword": 0, "innerword": 0, "nested": 0, "enumword": 0} {
		if got := scope.Search(query, 5); len(got) != want {
			t.Errorf("%q finds %q", query, matchNames(got))
		}
	}
}

func TestToolSearch(t *testing.T) {
	d := newDesk(t)
	long := strings.Repeat("工", 399) + "XYZ"
	scope := d.Scope([]*registry.Definition{
		d.define(t, "mcp-github", "github_create_issue", "Open an issue <b>now</b>."),
		d.define(t, "notes", "add_note", long),
	}, bridge.DefaultConfig())

	result, matches := scope.ToolSearch(fields(t, `{"query":"  issue \u001c"}`))
	want := `{"query":"issue","total_available":2,"matches":[{"name":"github_create_issue","source":"mcp","source_name":"mcp-github","description":"Open an issue <b>now</b>."}]}`
	if result.Text != want || result.Failed || matchNames(matches) != "github_create_issue" {
		t.Errorf("result %s\nwant   %s", result.Text, want)
	}

	result, _ = scope.ToolSearch(arguments("query", "note"))
	var body struct {
		Matches []struct{ Source, Description string }
	}
	if err := json.Unmarshal([]byte(result.Text), &body); err != nil {
		t.Fatal(err)
	}
	if len(body.Matches) != 1 || body.Matches[0].Source != "plugin" || utf8.RuneCountInString(body.Matches[0].Description) != 400 {
		t.Errorf("a plugin's tool with a long description: %s", result.Text)
	}

	// The prefix of servers' toolsets ends in a hyphen.
	other := d.Scope([]*registry.Definition{d.define(t, "mcp_notes", "strike_note", "Strike a note.")}, bridge.DefaultConfig())
	if result, _ := other.ToolSearch(arguments("query", "note")); !strings.Contains(result.Text, `"source":"plugin","source_name":"mcp_notes"`) {
		t.Errorf("a plugin whose name begins like a server's: %s", result.Text)
	}

	result, matches = scope.ToolSearch(arguments("query", "nothing matches this"))
	if want := `{"query":"nothing matches this","total_available":2,"matches":[]}`; result.Text != want || len(matches) != 0 {
		t.Errorf("no hits: %s, want %s", result.Text, want)
	}
}

func TestToolSearchLimits(t *testing.T) {
	d := newDesk(t)
	scope := d.Scope(d.many(t, 60, "mcp-many", "same_tool_%02d"), with(func(c *bridge.Config) { c.SearchDefaultLimit, c.MaxSearchLimit = 4, 7 }))
	for limit, want := range map[string]int{
		``: 4, `,"limit":2`: 2, `,"limit":0`: 1, `,"limit":-3`: 1, `,"limit":99`: 7, `,"limit":3.9`: 3, `,"limit":"6"`: 6, `,"limit":" 6 "`: 6,
		`,"limit":"6.0"`: 4, `,"limit":"many"`: 4, `,"limit":null`: 4, `,"limit":[2]`: 4, `,"limit":{}`: 4, `,"limit":true`: 1, `,"limit":1e999`: 4, `,"limit":1e300`: 7,
	} {
		if _, got := scope.ToolSearch(fields(t, `{"query":"tool"`+limit+`}`)); len(got) != want {
			t.Errorf("%q: %d hits, want %d", limit, len(got), want)
		}
	}
}

func TestToolSearchRefuses(t *testing.T) {
	d := newDesk(t)
	scope := d.Scope(d.four(t), bridge.DefaultConfig())
	for _, args := range []string{`{}`, `{"query":""}`, `{"query":" \n "}`, `{"query":null}`} {
		result, matches := scope.ToolSearch(fields(t, args))
		if got := errorOf(t, result); got != "query is required" || matches != nil {
			t.Errorf("%s: error %q, %d matches", args, got, len(matches))
		}
	}
}

func TestToolDescribe(t *testing.T) {
	d := newDesk(t)
	in := d.define(t, "mcp-github", "create_issue", "Open an issue.", "title*", "body")
	d.define(t, "mcp-gitlab", "elsewhere", "Not of this session.")
	bare, err := registry.Define("bare", "No parameters.", nil)
	if err != nil {
		t.Fatal(err)
	}
	d.catalog["bare"] = "mcp-github"
	scope := d.Scope([]*registry.Definition{in, bare, d.define(t, "terminal", "terminal", "Run.")}, bridge.DefaultConfig())

	for _, row := range []struct{ args, want string }{
		{`{"name":" create_issue "}`, `{"name":"create_issue","description":"Open an issue.","parameters":{"type":"object","properties":{"title":{"type":"string"},"body":{"type":"string"}},"required":["title"]}}`},
		{`{"name":"bare"}`, `{"name":"bare","description":"No parameters.","parameters":{}}`},
	} {
		if got, described := scope.ToolDescribe(fields(t, row.args)); got.Text != row.want || got.Failed || len(described) != 1 {
			t.Errorf("%s: %s\nwant %s", row.args, got.Text, row.want)
		}
	}
	for _, row := range []struct{ args, word string }{
		{`{}`, "name is required"},
		{`{"name":""}`, "name is required"},
		{`{"name":"terminal"}`, "not a tool that is loaded on demand"},
		{`{"name":"tool_call"}`, "not a tool that is loaded on demand"},
		{`{"name":"unknown_xxx"}`, "not a tool that is loaded on demand"},
		{`{"name":"elsewhere"}`, "not currently available"},
	} {
		result, described := scope.ToolDescribe(fields(t, row.args))
		if got := errorOf(t, result); len(described) > 0 || !strings.Contains(got, row.word) {
			t.Errorf("%s: error %q, want one that says %q", row.args, got, row.word)
		}
	}
}

// TestToolCall goes through every reason for which a call is sent back, in the
// order in which they are looked for.
func TestToolCall(t *testing.T) {
	d := newDesk(t)
	scope := d.Scope([]*registry.Definition{
		d.define(t, "mcp-docs", "get_document", "Read a document.", "document_id*", "format"),
		d.define(t, "mcp-docs", "ping", ""),
		d.define(t, "terminal", "terminal", "Run.", "command*"),
	}, bridge.DefaultConfig())
	d.define(t, "plugin", "outsider", "Not of this session.", "x*")
	for _, row := range []struct {
		name, args string
		class      bridge.ErrorClass // "" for a call that goes through
		words      string            // in the refusal; or the arguments that go through
	}{
		{"no name", `{"arguments":"{broken"}`, bridge.ClassNameMissing, "name is required"},
		{"blank name", `{"name":" "}`, bridge.ClassNameMissing, "name is required"},
		{"the bridge itself", `{"name":"tool_call","arguments":"{broken"}`, bridge.ClassBridgeRecursion, "bridge tool"},
		{"arguments that are no JSON", `{"name":"terminal","arguments":"{this is not json"}`, bridge.ClassArgumentsNotJSON, "JSON"},
		{"arguments that stop short", `{"name":"ping","arguments":"{\"todos\": ["}`, bridge.ClassArgumentsNotJSON, "JSON"},
		{"the text null", `{"name":"ping","arguments":"null"}`, bridge.ClassNotObject, "null"},
		{"a list", `{"name":"terminal","arguments":[1]}`, bridge.ClassNotObject, "array"},
		{"a number", `{"name":"terminal","arguments":7}`, bridge.ClassNotObject, "number"},
		{"text of a text", `{"name":"terminal","arguments":"\"{}\""}`, bridge.ClassNotObject, "string"},
		{"a core tool", `{"name":"terminal","arguments":{"command":"ls"}}`, bridge.ClassNotDeferrable, "terminal"},
		{"nobody's tool", `{"name":"unknown_xxx","arguments":{"foo":"bar"}}`, bridge.ClassNotDeferrable, "unknown_xxx"},
		{"another session's tool", `{"name":"outsider","arguments":{}}`, bridge.ClassNotInScope, "not available in this session"},
		{"a required argument missing", `{"name":"get_document","arguments":{"format":"pdf"}}`, bridge.ClassMissingRequired, "document_id"},
		{"blind", `{"name":"get_document"}`, bridge.ClassMissingRequired, "document_id"},

		{"an object", `{"name":" get_document ","arguments":{"document_id":"abc"}}`, "", `{"document_id":"abc"}`},
		{"its text", `{"name":"get_document","arguments":"{\"document_id\": \"abc\"}"}`, "", `{"document_id":"abc"}`},
		{"null for a required argument counts as given", `{"name":"get_document","arguments":{"document_id":null}}`, "", `{"document_id":null}`},
		{"types are not checked", `{"name":"get_document","arguments":{"document_id":[1],"more":2}}`, "", `{"document_id":[1],"more":2}`},
		{"no arguments", `{"name":"ping"}`, "", `{}`},
		{"null", `{"name":"ping","arguments":null}`, "", `{}`},
		{"empty text", `{"name":"ping","arguments":""}`, "", `{}`},
		{"blank text", `{"name":"ping","arguments":"  \n"}`, "", `{}`},
		{"text of an object with an argument", `{"name":"ping","arguments":"{\"a\": 1}"}`, "", `{"a":1}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			call, refusal := scope.ToolCall(fields(t, row.args))
			if row.class == "" {
				if refusal != nil || string(call.Arguments) != row.words || strings.TrimSpace(call.Name) != call.Name || call.Name == "" {
					t.Errorf("call %s %s, refusal %v; want %s", call.Name, call.Arguments, refusal, row.words)
				}
				return
			}
			if refusal == nil || refusal.Class != row.class || !strings.Contains(refusal.Error(), row.words) {
				t.Fatalf("refusal %+v, want %s that says %q", refusal, row.class, row.words)
			}
			if got := errorOf(t, refusal.Result()); got != refusal.Message {
				t.Errorf("the model reads %q, the refusal says %q", got, refusal.Message)
			}
		})
	}
}

// TestBlindCall: a call without the schema in sight is not run; the model gets
// the schema to repair it with.
func TestBlindCall(t *testing.T) {
	d := newDesk(t)
	tool := d.define(t, "mcp-docs", "get_document", "Read a document.", "second*", "first*", "format")
	refusal := bridge.MissingRequired(tool, json.RawMessage(`{"first":1}`))
	if refusal == nil || !strings.Contains(refusal.Message, "not invoked: missing required arguments second") {
		t.Fatalf("refusal %v", refusal)
	}
	got := fields(t, refusal.Result().Text)
	if len(got) != 3 || got[0].Key != "error" || got[1].Key != "parameters" || got[2].Key != "hint" {
		t.Errorf("result %s", refusal.Result().Text)
	}
	if string(got[1].Value) != string(tool.Parameters) {
		t.Errorf("parameters %s, want the schema %s", got[1].Value, tool.Parameters)
	}
	if refusal := bridge.MissingRequired(tool, json.RawMessage(`{}`)); refusal == nil || !strings.HasSuffix(refusal.Message, "second, first") {
		t.Errorf("two missing: %v, want them in the schema's order", refusal)
	}

	noList, err := registry.Define("no_list", "", json.RawMessage(`{"type":"object","properties":{"a":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	badList, err := registry.Define("bad_list", "", json.RawMessage(`{"type":"object","required":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		tool *registry.Definition
		args string
	}{
		{"all given", tool, `{"first":1,"second":2}`},
		{"more than asked", tool, `{"first":1,"second":2,"format":"pdf","more":0}`},
		{"null is given", tool, `{"first":null,"second":null}`},
		{"an unknown tool", nil, `{}`},
		{"a schema without a list", noList, `{}`},
		{"a schema with a list that is none", badList, `{}`},
		{"arguments that cannot be read", tool, `[]`},
	} {
		if refusal := bridge.MissingRequired(row.tool, json.RawMessage(row.args)); refusal != nil {
			t.Errorf("%s: %v, want the call to pass", row.name, refusal)
		}
	}
}

// TestScopeHoldsOneToolset: only what the session was given can be found.
func TestScopeHoldsOneToolset(t *testing.T) {
	d := newDesk(t)
	inside := d.many(t, 12, "mcp-scoped-gh", "mcp_scoped_gh_%d")
	d.define(t, "plugin", "mcp_scoped_outsider", "Does one of many things.")
	scope := d.Scope(append(inside, d.define(t, "terminal", "terminal", "Run.")), bridge.DefaultConfig())
	if scope.Len() != 12 || scope.Has("terminal") || scope.Has("mcp_scoped_outsider") || !scope.Has("mcp_scoped_gh_3") {
		t.Errorf("%d tools in scope", scope.Len())
	}
	result, matches := scope.ToolSearch(fields(t, `{"query":"mcp_scoped_gh","limit":5}`))
	if !strings.Contains(result.Text, `"total_available":12,`) || len(matches) != 5 || strings.Contains(result.Text, "outsider") {
		t.Errorf("result %s", result.Text)
	}
	if _, refusal := scope.ToolCall(fields(t, `{"name":"mcp_scoped_gh_3","arguments":{"repo":"a/b"}}`)); refusal != nil {
		t.Errorf("a tool in scope: %v", refusal)
	}
}

// TestSurfaceScope: a surface and its definitions make the same scope.
func TestSurfaceScope(t *testing.T) {
	d := newDesk(t)
	tools := append(d.four(t), d.define(t, "terminal", "terminal", ""))
	c := bridge.DefaultConfig()
	fromSurface, fromTools := assemble(t, d.Bridge, tools, c, 0).Scope(d.Bridge, c), d.Scope(tools, c)
	if namesOf(fromSurface.Tools()) != namesOf(fromTools.Tools()) || fromSurface.Len() != 4 {
		t.Errorf("%q and %q", namesOf(fromSurface.Tools()), namesOf(fromTools.Tools()))
	}
}

// TestIndexFollowsTheCatalog: a kept index never answers for other tools.
func TestIndexFollowsTheCatalog(t *testing.T) {
	d := newDesk(t)
	four := d.four(t)
	c := bridge.DefaultConfig()
	for range 2 {
		for n := range len(four) + 1 {
			for _, m := range d.Scope(four[:n], c).Search("github slack calendar create", 10) {
				if !strings.Contains(namesOf(four[:n]), m.Tool.Name) {
					t.Fatalf("a scope of %q finds %s", namesOf(four[:n]), m.Tool.Name)
				}
			}
			if got := len(d.Scope(four[:n], c).Search("github slack calendar create", 10)); got != n {
				t.Fatalf("a scope of %q finds %d", namesOf(four[:n]), got)
			}
		}
	}
}

// FuzzBridgeCalls: whatever a model writes into the three tools' arguments, it
// gets one JSON object back, and nothing out of scope.
func FuzzBridgeCalls(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"query":"issue","limit":"1e3"}`, `{"name":"inside","arguments":"{\"a\":[1,{}]}"}`, `{"name":"outside","arguments":null}`,
		`{"name":["inside"],"arguments":"\u0000"}`, `{"name":{"a":1},"query":[[]]}`, `{"name":"inside","name":"outside"}`, `{"query":7,"limit":-0}`,
	} {
		f.Add(seed)
	}
	d := newDesk(f)
	scope := d.Scope([]*registry.Definition{d.define(f, "mcp-a", "inside", "An issue.", "a*")}, bridge.DefaultConfig())
	d.define(f, "mcp-b", "outside", "An issue.")
	f.Fuzz(func(t *testing.T, raw string) {
		args, err := rawjson.Object([]byte(raw))
		if err != nil {
			return
		}
		search, matches := scope.ToolSearch(args)
		for _, m := range matches {
			if m.Tool.Name != "inside" {
				t.Fatalf("found %s", m.Tool.Name)
			}
		}
		call, refusal := scope.ToolCall(args)
		if refusal == nil && (call.Name != "inside" || rawjson.Kind(call.Arguments) != "object" || !json.Valid(call.Arguments)) {
			t.Fatalf("call %+v", call)
		}
		description, _ := scope.ToolDescribe(args)
		results := []registry.Result{search, description}
		if refusal != nil {
			results = append(results, refusal.Result())
		}
		for _, r := range results {
			errorOf(t, r)
		}
	})
}
