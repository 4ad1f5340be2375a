package bridge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// searched is a September search result as a model reads it.
type searched struct {
	Error     string
	Queries   []string
	Total     int `json:"total_available"`
	Results   []searchedGroup
	Hint      string
	Sources   []source `json:"available_sources"`
	Tools     map[string]searchedTool
	toolOrder []string
}

type searchedGroup struct {
	Query   string
	Matches []string
	Sources []source `json:"available_sources"`
	Hint    string
}

type source struct {
	Name  string
	Count int `json:"tool_count"`
}

type searchedTool struct {
	Source, Description string
	SourceName          string `json:"source_name"`
	Required            []string
}

func searchFor(t testing.TB, s *bridge.Scope, arguments string) searched {
	t.Helper()
	result, matches := s.ToolSearch(fields(t, arguments))
	var r searched
	if err := json.Unmarshal([]byte(result.Text), &r); err != nil {
		t.Fatalf("%s: %v", result.Text, err)
	}
	if result.Failed != (r.Error != "") {
		t.Errorf("failed %t: %s", result.Failed, result.Text)
	}
	for _, m := range matches {
		r.toolOrder = append(r.toolOrder, m.Tool.Name)
	}
	return r
}

// issues is a small catalog in which three tools are easily mixed up.
func (d *desk) issues(t testing.TB) []*registry.Definition {
	return []*registry.Definition{
		d.define(t, "mcp-linear", "linear_create", "Create an issue.", "title*", "team*"),
		d.define(t, "mcp-linear", "linear_list", "List the issues that match.", "query"),
		d.define(t, "mcp-slack", "slack_post", "Post a message.", "channel*", "text*"),
	}
}

func TestSeveralQueries(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	scope := d.session(d.issues(t)...)
	got := searchFor(t, scope, `{"queries":[" slack message ","issue"]}`)
	if !slices.Equal(got.Queries, []string{"slack message", "issue"}) || got.Total != 3 || len(got.Results) != 2 {
		t.Fatalf("%+v", got)
	}
	if first, second := got.Results[0], got.Results[1]; first.Query != "slack message" || !slices.Equal(first.Matches, []string{"slack_post"}) ||
		second.Query != "issue" || !slices.Equal(second.Matches, []string{"linear_create", "linear_list"}) {
		t.Errorf("groups %+v", got.Results)
	}
	if want := []string{"slack_post", "linear_create", "linear_list"}; !slices.Equal(got.toolOrder, want) || len(got.Tools) != 3 {
		t.Errorf("tools %q, matches %q; want %q", got.Tools, got.toolOrder, want)
	}
	post := got.Tools["slack_post"]
	if post.Source != "mcp" || post.SourceName != "mcp-slack" || post.Description != "Post a message." || !slices.Equal(post.Required, []string{"channel", "text"}) {
		t.Errorf("slack_post: %+v", post)
	}
	if list := got.Tools["linear_list"]; list.Required == nil || len(list.Required) != 0 {
		t.Errorf("linear_list requires %v, want an empty list", list.Required)
	}
	// A tool that two queries find is told of once.
	twice := searchFor(t, scope, `{"queries":["issue","issues"]}`)
	if len(twice.toolOrder) != 2 || len(twice.Tools) != 2 || !slices.Equal(twice.Results[0].Matches, twice.Results[1].Matches) {
		t.Errorf("%+v", twice)
	}
	if got := searchFor(t, scope, `{"queries":["issue","message"],"limit":1}`); len(got.Results[0].Matches) != 1 || len(got.Results[1].Matches) != 1 {
		t.Errorf("a limit of 1 is each query's: %+v", got.Results)
	}
	if got := searchFor(t, scope, `{"queries":"issue"}`); len(got.Results) != 1 || len(got.Results[0].Matches) != 2 {
		t.Errorf("one text is one query: %+v", got)
	}
	if got := searchFor(t, scope, `{"queries":["issue"," ",null]}`); len(got.Results) != 1 {
		t.Errorf("blank queries are none: %+v", got)
	}
	if got := searchFor(t, scope, `{"queries":["issue","issue"]}`); len(got.Results) != 2 || len(got.Tools) != 2 {
		t.Errorf("a repeated query has its own group: %+v", got)
	}
}

// TestSearchResultText: what a model reads, to the byte; its length is part of
// every figure.
func TestSearchResultText(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	scope := d.session(d.issues(t)...)
	group := `{"query":"zzzz","matches":[],"available_sources":[{"name":"linear","tool_count":2},{"name":"slack","tool_count":1}],"hint":`
	for arguments, want := range map[string]string{
		`{"queries":["slack message"]}`: `{"queries":["slack message"],"total_available":3,"results":[{"query":"slack message","matches":["slack_post"]}],` +
			`"tools":{"slack_post":{"source":"mcp","source_name":"mcp-slack","description":"Post a message.","required":["channel","text"]}}}`,
		`{"queries":["zzzz"]}`: `{"queries":["zzzz"],"total_available":3,"results":[` + group + `HINT}],"tools":{}}`,
	} {
		result, _ := scope.ToolSearch(fields(t, arguments))
		if hint := searchFor(t, scope, arguments).Results[0].Hint; hint != "" {
			want = strings.Replace(want, "HINT", string(rawjson.String(hint)), 1)
		}
		if result.Text != want {
			t.Errorf("%s:\n%s\nwant\n%s", arguments, result.Text, want)
		}
	}
}

// TestSeveralQueriesLimit: the limit is brought into range for each query, not
// for all of them together.
func TestSeveralQueriesLimit(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	scope := d.session(d.many(t, 60, "mcp-many", "same_tool_%02d")...)
	for limit, want := range map[string]int{
		``: 5, `,"limit":2`: 2, `,"limit":0`: 1, `,"limit":-3`: 1, `,"limit":25`: 25, `,"limit":26`: 25, `,"limit":"7"`: 7, `,"limit":"x"`: 5, `,"limit":null`: 5,
	} {
		got := searchFor(t, scope, `{"queries":["tool","same tool"]`+limit+`}`)
		if one, other := len(got.Results[0].Matches), len(got.Results[1].Matches); one != want || other != want || got.Total != 60 {
			t.Errorf("%q: %d and %d of %d hits, want %d", limit, one, other, got.Total, want)
		}
	}
}

// TestWordForms: a query in another form of a word finds the same, what no tool
// can answer finds nothing, and an exact name comes first.
func TestWordForms(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	scope := d.session(d.issues(t)...)
	for query, want := range map[string]string{
		"issue": "linear_create linear_list", "issues": "linear_create linear_list",
		"linear issue slack": "slack_post", "post gmail message": "", "linear_list": "linear_list",
	} {
		if got := matchNames(scope.Search(query, 5)); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	one, other := matchNames(scope.Search("create message", 5)), matchNames(scope.Search("creating messages", 5))
	if one == "" || one != other {
		t.Errorf("%q in one form, %q in the other", one, other)
	}
	names := d.session(
		d.define(t, "mcp-many", "list_issues", "List."), d.define(t, "mcp-many", "list", "List."),
		d.define(t, "mcp-many", "list_issues_of_a_project_board", "List."), d.define(t, "mcp-many", "list_issues_of_a_project", "List."),
	)
	for _, name := range []string{"list", "list_issues_of_a_project", "list_issues_of_a_project_board"} {
		if got := names.Search(name, 5); len(got) == 0 || got[0].Tool.Name != name {
			t.Errorf("%s: %q", name, matchNames(got))
		}
	}
}

// TestSessionsSearchAlike: sessions that share a retriever and nothing else get
// the same result, however many ask at once.
func TestSessionsSearchAlike(t *testing.T) {
	retriever, err := search.New("bm25-gated")
	if err != nil {
		t.Fatal(err)
	}
	d := newDeskOf(t, bridge.September)
	tools := d.issues(t)
	results := make([]string, 8)
	var done sync.WaitGroup
	for i := range results {
		done.Go(func() {
			b := bridge.New(bridge.Options{Variant: bridge.September, Core: isCore, Catalog: d.catalog, Retriever: retriever})
			for range 64 {
				result, _ := b.Scope(tools, bridge.September.DefaultConfig()).ToolSearch(fields(t, `{"queries":["creating issues","posts"]}`))
				results[i] += result.Text + "\n"
			}
		})
	}
	done.Wait()
	for _, r := range results {
		if r != results[0] || !strings.Contains(r, "slack_post") {
			t.Fatalf("%s\n%s", r[:300], results[0][:300])
		}
	}
}

// TestGatedRelevance: queries over tools that are easily mixed up.
func TestGatedRelevance(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	scope := d.session(
		d.define(t, "mcp-github", "rerun-workflow", "Start a finished workflow again.", "run_id"),
		d.define(t, "mcp-github", "create_issue", "Create a new issue in a GitHub repository.", "title", "body"),
		d.define(t, "mcp-github", "list_issues", "List the issues of a repository.", "repo"),
		d.define(t, "mcp-slack", "slack-post", "Send a message to a Slack channel.", "channel", "text"),
		d.define(t, "mcp-gist", "save_gist", "Save text as a gist.", "content"),
		d.define(t, "mcp-github", "codeql_scan", "Start a code scan.", "repo"),
	)
	for _, row := range []struct{ query, first, absent string }{
		{"run shell command execute code", "", ""},
		{"list issues", "list_issues", "slack-post"},
		{"send message", "slack-post", "save_gist"},
		{"create issue github repository title", "create_issue", "rerun-workflow"},
		{"rerun-workflow", "rerun-workflow", ""},
	} {
		got := searchFor(t, scope, string(bridge.September.SearchArguments(row.query))).Results[0].Matches
		if (row.first == "") != (len(got) == 0) || len(got) > 0 && got[0] != row.first || slices.Contains(got, row.absent) {
			t.Errorf("%q finds %q; want %q first and no %q", row.query, got, row.first, row.absent)
		}
	}
}

// TestEmptyGroup: where nothing is found, the result says where else to look,
// and only there.
func TestEmptyGroup(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	alone := d.session(d.define(t, "mcp-recovery-catalog", "restore", "Bring back a backup."))
	got := searchFor(t, alone, `{"queries":["unrelated vocabulary"]}`)
	if group := got.Results[0]; len(group.Matches) != 0 || got.Total != 1 || !slices.Equal(group.Sources, []source{{"recovery-catalog", 1}}) || group.Hint == "" {
		t.Errorf("%+v", got)
	}
	got = searchFor(t, d.session(d.issues(t)...), `{"queries":["issue","unrelated vocabulary"]}`)
	if full, empty := got.Results[0], got.Results[1]; full.Hint != "" || full.Sources != nil || empty.Hint == "" ||
		!slices.Equal(empty.Sources, []source{{"linear", 2}, {"slack", 1}}) {
		t.Errorf("groups %+v", got.Results)
	}
	if got.Hint != "" || got.Sources != nil {
		t.Errorf("a hint stands beside the groups: %+v", got)
	}
}

// TestFoundTools: what a result tells of a tool is cut, and whatever the schema
// is like, it tells something.
func TestFoundTools(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	var required, properties []string
	for i := range 200 {
		name := fmt.Sprintf("%03d", i) + strings.Repeat("長", 4997)
		required, properties = append(required, `"`+name+`"`), append(properties, `"`+name+`":{}`)
	}
	huge := d.schema(t, "mcp-huge", "huge_tool", `{"type":"object","properties":{`+strings.Join(properties, ",")+`},"required":[`+strings.Join(required, ",")+`]}`)
	long := d.define(t, "notes", "wordy_tool", strings.Repeat("工", 501))
	fits := d.define(t, "notes", "short_tool", strings.Repeat("工", 500))
	broken := d.schema(t, "mcp-broken", "broken_tool", `{"type":7,"required":"everything"}`)
	got := searchFor(t, d.session(huge, long, fits, broken), `{"queries":["tool"]}`)
	names := got.Tools["huge_tool"].Required
	if len(names) != 32 {
		t.Fatalf("%d required names, want 32", len(names))
	}
	for _, name := range names {
		if utf8.RuneCountInString(name) != 64 {
			t.Errorf("a name of %d code points", utf8.RuneCountInString(name))
		}
	}
	for name, want := range map[string]string{"wordy_tool": strings.Repeat("工", 500) + "…", "short_tool": fits.Description} {
		if got := got.Tools[name].Description; got != want {
			t.Errorf("%s: %d code points", name, utf8.RuneCountInString(got))
		}
	}
	if required := got.Tools["broken_tool"].Required; required == nil || len(required) != 0 {
		t.Errorf("a malformed schema requires %v", required)
	}
	if got := got.Tools["short_tool"]; got.Source != "plugin" || got.SourceName != "notes" {
		t.Errorf("%+v", got)
	}
}

func TestSeveralAreBounded(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	scope := d.session(d.issues(t)...)
	numbered := func(n int) string {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprintf(`"%d"`, i)
		}
		return strings.Join(texts, ",")
	}
	for arguments, want := range map[string]string{
		`{}`: "queries is required", `{"queries":[]}`: "queries is required", `{"queries":[" ",""]}`: "queries is required",
		`{"queries":null}`: "queries is required", `{"queries":"\n"}`: "queries is required", `{"query":"issue"}`: "queries is required",
		`{"queries":[` + numbered(8) + `]}`: "too many", `{"queries":[` + numbered(7) + `]}`: "",
		`{"queries":["",` + numbered(7) + `,null]}`: "", `{"queries":["0",` + numbered(7) + `]}`: "too many", // blank ones are none, repeated ones are some
	} {
		if got := searchFor(t, scope, arguments).Error; (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("search %s: error %q, want %q", arguments, got, want)
		}
	}
	for arguments, want := range map[string]string{
		`{}`: "names is required", `{"names":[]}`: "names is required", `{"names":""}`: "names is required", `{"name":"slack_post"}`: "names is required",
		`{"names":[` + numbered(11) + `]}`: "too many", `{"names":[` + numbered(10) + `]}`: "",
		`{"names":["0"," 9",` + numbered(10) + `]}`: "", // repeated ones are none
	} {
		result, described := scope.ToolDescribe(fields(t, arguments))
		if got := errorOf(t, result); (got == "") != (want == "") || !strings.Contains(got, want) || described != nil {
			t.Errorf("describe %s: error %q, want %q", arguments, got, want)
		}
	}
}

func TestSeveralDescriptions(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	outside := d.define(t, "mcp-elsewhere", "outside", "Out of reach.")
	hidden := d.define(t, "project", "project_list", "List projects.")
	scope := d.session(append(d.issues(t), d.define(t, "terminal", "terminal", "Run.", "command"), hidden)...)
	described := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"description":%q,"parameters":%s}`, name, scope.Tools()[0].Description, scope.Tools()[0].Parameters)
	}
	for _, row := range []struct{ arguments, want, described string }{
		{`{"names":["linear_create"]}`, `{"tools":[` + described("linear_create") + `]}`, "linear_create"},
		{`{"names":"linear_create"}`, `{"tools":[` + described("linear_create") + `]}`, "linear_create"},
		{`{"names":["linear_create","linear_create"," linear_create "]}`, `{"tools":[` + described("linear_create") + `]}`, "linear_create"},
		{`{"names":["nowhere","` + outside.Name + `","read_file"]}`, `{"tools":[],"not_found":["nowhere","outside","read_file"],"hint":`, ""},
		{`{"names":["terminal","linear_create"]}`, `{"tools":[` + described("linear_create") + `],"errors":{"terminal":`, "linear_create"},
		{`{"names":["Terminal","tool_search","project_list"]}`, `{"tools":[],"errors":{"Terminal":`, ""},
	} {
		result, names := scope.ToolDescribe(fields(t, row.arguments))
		if !strings.HasPrefix(result.Text, row.want) || result.Failed || strings.Join(names, " ") != row.described {
			t.Errorf("%s: described %q\n%s\nwant %s", row.arguments, names, result.Text, row.want)
		}
	}
	result, names := scope.ToolDescribe(fields(t, `{"names":["linear_create","outside","slack_post","unknown"]}`))
	var body struct {
		Tools    []struct{ Name string }
		NotFound []string `json:"not_found"`
		Hint     string
		Errors   map[string]string
	}
	if err := json.Unmarshal([]byte(result.Text), &body); err != nil {
		t.Fatal(err)
	}
	if len(body.Tools) != 2 || body.Tools[1].Name != "slack_post" || !slices.Equal(body.NotFound, []string{"outside", "unknown"}) ||
		body.Hint == "" || body.Errors != nil || strings.Join(names, " ") != "linear_create slack_post" {
		t.Errorf("%s", result.Text)
	}
	// Nobody registers the tool any more: its definition is still there, its place is not.
	delete(d.catalog, "slack_post")
	if result, _ := scope.ToolDescribe(fields(t, `{"names":["slack_post"]}`)); !strings.Contains(result.Text, `"not_found":["slack_post"]`) {
		t.Errorf("%s", result.Text)
	}
}

func TestOneOfCalls(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	scope := d.session(d.define(t, "mcp-a", "ping", "Ping.", "host"))
	for arguments, want := range map[string]bridge.ErrorClass{
		`{"calls":[{"name":"ping","arguments":{"host":"x"}}]}`:                                  "",
		`{"calls":{"name":"ping","arguments":{"host":"x"}}}`:                                    "",
		`{"name":"ping","arguments":{"host":"x"}}`:                                              "",
		`{"calls":null,"name":"ping","arguments":{"host":"x"}}`:                                 "",
		`{"name":"terminal","arguments":{},"calls":[{"name":"ping","arguments":{"host":"x"}}]}`: "",
		`{"calls":[{"name":"ping","arguments":"{\"host\":\"x\"}"}]}`:                            "",
		`{"calls":[{"name":"ping"},{"name":"ping"}]}`:                                           bridge.ClassTooMany,
		`{"calls":[]}`:                       bridge.ClassNameMissing,
		`{"calls":["ping"]}`:                 bridge.ClassNameMissing,
		`{"calls":[{}]}`:                     bridge.ClassNameMissing,
		`{"calls":[{"name":"tool_search"}]}`: bridge.ClassBridgeRecursion,
		`{"calls":[{"name":"ping","arguments":"{\"todos\": ["}]}`: bridge.ClassArgumentsNotJSON,
		`{"calls":[{"name":"ping","arguments":[1]}]}`:             bridge.ClassNotObject,
	} {
		call, refusal := scope.ToolCall(fields(t, arguments))
		var class bridge.ErrorClass
		if refusal != nil {
			class = refusal.Class
		}
		if class != want || want == "" && (call.Name != "ping" || string(call.Arguments) != `{"host":"x"}`) {
			t.Errorf("%s: class %q, call %s %s; want %q", arguments, class, call.Name, call.Arguments, want)
		}
	}
}

// TestDiagnosis: what to do about a name that the bridge does not run depends on
// what the model sees, not on what is registered.
func TestDiagnosis(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	d.catalog["read_file"], d.catalog["write_file"] = "file", "file"
	scope := d.session(d.define(t, "mcp-a", "ping", "Ping."), d.define(t, "file", "read_file", "Read."))
	const direct, gone = "call it directly", "not available in this session: do not retry"
	for name, want := range map[string]string{
		"read_file": direct, "Read_File": direct, "read-file": direct,
		"write_file": gone, // registered, and a core tool, but not of this session
		"nowhere":    gone,
		"Ping":       "the exact name is 'ping'",
	} {
		arguments := fields(t, string(bridge.September.CallArguments(name, json.RawMessage("{}"))))
		_, refusal := scope.ToolCall(arguments)
		if refusal == nil || refusal.Class != bridge.ClassNotDeferrable || !strings.Contains(refusal.Message, want) {
			t.Errorf("%s: %v, want %q", name, refusal, want)
		}
		if want == direct && !strings.Contains(refusal.Message, "'read_file'") {
			t.Errorf("%s: %v does not give the exact name", name, refusal)
		}
		// Without a surface nobody can tell.
		if _, refusal := d.Unwrap(arguments); refusal == nil || refusal.Class != bridge.ClassNotDeferrable || !strings.Contains(refusal.Message, direct) {
			t.Errorf("%s without a session: %v", name, refusal)
		}
	}
	july := newDesk(t)
	_, refusal := july.session(july.define(t, "file", "read_file", "Read.")).ToolCall(arguments("name", "nowhere"))
	if strings.Contains(refusal.Message, "do not retry") {
		t.Errorf("July diagnoses: %v", refusal)
	}
}

// TestRequestArguments: what a variant writes, it reads.
func TestRequestArguments(t *testing.T) {
	many := make([]string, 23)
	for i := range many {
		many[i] = fmt.Sprintf("tool_%02d", i)
	}
	for variant, want := range map[bridge.Variant][]string{
		bridge.July:      {`{"query":"a \"b\""}`, `{"name":"tool_00"}`, `{"name":"x","arguments":{"a":1}}`},
		bridge.September: {`{"queries":["a \"b\""]}`, `{"names":["tool_00","tool_01","tool_02","tool_03","tool_04","tool_05","tool_06","tool_07","tool_08","tool_09"]}`, `{"calls":[{"name":"x","arguments":{"a":1}}]}`},
		"":               {`{"query":"a \"b\""}`, `{"name":"tool_00"}`, `{"name":"x","arguments":{"a":1}}`},
	} {
		described := variant.DescribeArguments(many)
		got := []string{string(variant.SearchArguments(`a "b"`)), string(described[0]), string(variant.CallArguments("x", json.RawMessage(`{"a":1}`)))}
		if !slices.Equal(got, want) {
			t.Errorf("%s writes %q, want %q", variant, got, want)
		}
		if calls := map[bridge.Variant]int{bridge.September: 3, bridge.July: 23, "": 23}[variant]; len(described) != calls {
			t.Errorf("%s: %d descriptions, want %d", variant, len(described), calls)
		}
		if got := variant.DescribeArguments(nil); len(got) != 0 {
			t.Errorf("%s: no names make %q", variant, got)
		}
	}
}

// FuzzSeveral: whatever a model writes, it gets a JSON object back, and nothing
// outside the session's scope.
func FuzzSeveral(f *testing.F) {
	for _, seed := range []string{
		`{"queries":["issue"],"names":["inside"],"calls":[{"name":"inside","arguments":{"a":"1"}}]}`,
		`{"queries":"outside","names":"outside","calls":[{"name":"outside"}]}`, `{"calls":[[]],"names":[[1]],"queries":{"a":1},"limit":"x"}`,
		`{"name":"inside","arguments":"{}","names":["Terminal",null]}`, `{"calls":[{"name":"inside","arguments":{"a":1e999999999}}]}`,
	} {
		f.Add(seed)
	}
	d := newDeskOf(f, bridge.September)
	d.define(f, "mcp-a", "outside", "An issue.")
	scope := d.session(d.define(f, "mcp-a", "inside", "An issue.", "a*"), d.define(f, "terminal", "terminal", "Run."))
	f.Fuzz(func(t *testing.T, text string) {
		args, err := rawjson.Object([]byte(text))
		if err != nil {
			return
		}
		search, matches := scope.ToolSearch(args)
		description, described := scope.ToolDescribe(args)
		results := []registry.Result{search, description}
		call, refusal := scope.ToolCall(args)
		if refusal != nil {
			results = append(results, refusal.Result())
		} else if call.Name != "inside" {
			t.Fatalf("%s is called", call.Name)
		}
		for _, m := range matches {
			described = append(described, m.Tool.Name)
		}
		for _, name := range described {
			if name != "inside" {
				t.Fatalf("%s is in sight", name)
			}
		}
		for _, r := range results {
			errorOf(t, r)
		}
	})
}
