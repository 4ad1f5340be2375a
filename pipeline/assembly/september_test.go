package assembly_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
)

// septemberDesk has a server's tools with schemas that September checks.
func septemberDesk(t testing.TB) (*stage, *assembly.Session) {
	t.Helper()
	s := newStage(t).builtins(t)
	s.define(t, "mcp-board", "add_card", "Add a card to the board.", `"title":{"type":"string"},"priority":{"enum":["low","high"]},"weight":{"type":"integer"},"bad name":{"type":"integer"}`, "title")
	return s, s.sessionOf(t, bridge.September, request("hermes-cli", "project", "mcp-board"))
}

// TestCuratedToolsDefer: which core tools a September session does not see.
func TestCuratedToolsDefer(t *testing.T) {
	deferred := embedded(t).Toolsets.Defer()
	if want := strings.Fields("close_terminal computer_use cronjob focus_pane image_generate process read_terminal session_search todo"); !slices.Equal(slices.Sorted(slices.Values(deferred)), want) {
		t.Errorf("the embedded table defers %q, want %q", deferred, want)
	}
	s, session := septemberDesk(t)
	got := session.Assembler.Assemble(session.Request)
	surface := strings.Fields(namesOf(got.Definitions))
	for _, name := range deferred {
		if slices.Contains(surface, name) || !session.Scope().Has(name) {
			t.Errorf("%s does not defer", name)
		}
	}
	for _, name := range []string{"terminal", "memory", "clarify", "project_list", bridge.SearchTool, bridge.DescribeTool, bridge.CallTool} {
		if !slices.Contains(surface, name) {
			t.Errorf("%s is not on the surface: %q", name, surface)
		}
	}
	if !got.Activated || session.Scope().Len() != len(deferred)+1 {
		t.Errorf("%d tools in scope", session.Scope().Len())
	}

	// An empty list restores the whole core; with the core alone nothing defers.
	config, notes := bridge.September.ParseConfig(map[string]any{"defer": []any{}})
	if len(notes) > 0 {
		t.Errorf("notes %q", notes)
	}
	none := config.DeferNames(deferred)
	core := s.assembler(t, func(o *assembly.Options) {
		o.Bridge = bridge.New(bridge.Options{Variant: bridge.September, Defer: none, Core: s.resolver.Table().IsCore, Catalog: s.registry})
	}).Assemble(assembly.Request{Enabled: []string{"hermes-cli"}, Config: config})
	if core.Activated || len(core.Definitions) != 54 {
		t.Errorf("defer []: active %t, %d tools", core.Activated, len(core.Definitions))
	}
}

// TestAnswersArePosted: September's hooks hear of a search and a description
// once, when it is answered; July's do not.
func TestAnswersArePosted(t *testing.T) {
	for _, row := range []struct {
		name, arguments string
		status          assembly.Status
	}{
		{bridge.SearchTool, `{"queries":["card"]}`, assembly.StatusOK},
		{bridge.SearchTool, `{"queries":["zzzz"]}`, assembly.StatusOK},
		{bridge.SearchTool, `{}`, assembly.StatusError},
		{bridge.DescribeTool, `{"names":["add_card"]}`, assembly.StatusOK},
	} {
		_, session := septemberDesk(t)
		log := &hookLog{events: make(map[string]assembly.HookEvent)}
		session.Hooks = log.hooks()
		o := call(t, session, row.name, row.arguments)
		post := log.events["post"]
		if got := strings.Join(log.fired, " "); got != "post" || post.Status != row.status || post.Tool != row.name || post.CallID != "call-1" ||
			post.SessionID != "session-1" || string(post.Arguments) != row.arguments || post.Result.Text != o.Result.Text || post.DurationMS != 0 {
			t.Errorf("%s %s: fired %q, post is told %+v", row.name, row.arguments, got, post)
		}
	}
}

// TestChecksComeBehindRepairs: arguments are repaired, then checked, then given
// the names that the tool knows.
func TestChecksComeBehindRepairs(t *testing.T) {
	for _, row := range []struct {
		arguments, reached string
		refused            bridge.ErrorClass
		says               string
	}{
		{`{"title":"x","weight":"42"}`, `add_card {"title":"x","weight":42}`, "", "add_card ran"},
		{`{"title":"x","bad_name":"7"}`, `add_card {"title":"x","bad name":7}`, "", "add_card ran"},
		{`{"title":"x","bad_name":"seven"}`, "", bridge.ClassInvalidArguments, "arguments.bad_name breaks the constraint type"},
		{`{"title":"x","priority":"urgent"}`, "", bridge.ClassInvalidArguments, "arguments.priority breaks the constraint enum"},
		{`{"weight":1}`, "", bridge.ClassMissingRequired, "arguments breaks the constraint required: title"},
		{`"{\"title\": \"x\"}"`, `add_card {"title":"x"}`, "", "add_card ran"},
		{`"{\"title\": ["`, "", bridge.ClassArgumentsNotJSON, "JSON"},
		{`"  \n"`, "", bridge.ClassMissingRequired, "not invoked"},
	} {
		s, session := septemberDesk(t)
		o := call(t, session, bridge.CallTool, `{"calls":[{"name":"add_card","arguments":`+row.arguments+`}]}`)
		if strings.Join(s.calls, "; ") != row.reached || !strings.Contains(o.Result.Text, row.says) || (o.Tool != "") != (row.reached != "") {
			t.Errorf("%s: reached %q, result %s", row.arguments, s.calls, o.Result.Text)
		}
		if (o.Refusal != nil) != (row.refused != "") || o.Refusal != nil && o.Refusal.Class != row.refused {
			t.Errorf("%s: refusal %+v, want %q", row.arguments, o.Refusal, row.refused)
		}
	}
}

// TestOutcomeTellsWhatIsInSight: a caller learns which schemas the model has
// read, from descriptions and from refusals, in both variants.
func TestOutcomeTellsWhatIsInSight(t *testing.T) {
	for _, row := range []struct {
		variant         bridge.Variant
		name, arguments string
		described       string
		found           string
	}{
		{bridge.July, bridge.SearchTool, `{"query":"card board"}`, "", "add_card"},
		{bridge.July, bridge.DescribeTool, `{"name":"add_card"}`, "add_card", ""},
		{bridge.July, bridge.DescribeTool, `{"name":"terminal"}`, "", ""},
		{bridge.July, bridge.CallTool, `{"name":"add_card"}`, "add_card", ""},
		{bridge.July, bridge.CallTool, `{"name":"add_card","arguments":{"title":"x"}}`, "", ""},
		{bridge.July, bridge.CallTool, `{"name":"nowhere"}`, "", ""},
		{bridge.September, bridge.SearchTool, `{"queries":["card","zzzz","add card"]}`, "", "add_card"},
		{bridge.September, bridge.DescribeTool, `{"names":["process","nowhere","add_card","terminal"]}`, "process add_card", ""},
		{bridge.September, bridge.CallTool, `{"name":"add_card","arguments":{"title":1,"priority":2}}`, "add_card", ""},
		{bridge.September, bridge.CallTool, `{"name":"add_card","arguments":{"title":"x"}}`, "", ""},
	} {
		s, _ := septemberDesk(t)
		session := s.sessionOf(t, row.variant, request("hermes-cli", "mcp-board"))
		o := call(t, session, row.name, row.arguments)
		var found []string
		for _, m := range o.Matches {
			found = append(found, m.Tool.Name)
		}
		if got := strings.Join(o.Described, " "); got != row.described || strings.Join(found, " ") != row.found {
			t.Errorf("%s %s %s: described %q, found %q; want %q, %q", row.variant, row.name, row.arguments, got, found, row.described, row.found)
		}
	}
}

// TestDiagnosisFollowsTheSurface: a name that another session has is not there,
// and one in sight is to be called directly.
func TestDiagnosisFollowsTheSurface(t *testing.T) {
	s, _ := septemberDesk(t)
	narrow := s.sessionOf(t, bridge.September, request("file", "mcp-board"))
	for name, want := range map[string]string{
		"read_file": "'read_file' is not loaded on demand: you can see it", "Read-File": "'read_file' is not loaded on demand: you can see it",
		"terminal": "do not retry", "nowhere": "do not retry",
	} {
		o := call(t, narrow, bridge.CallTool, `{"calls":[{"name":"`+name+`","arguments":{}}]}`)
		if o.Refusal == nil || o.Refusal.Class != bridge.ClassNotDeferrable || !strings.Contains(o.Result.Text, want) {
			t.Errorf("%s: %s", name, o.Result.Text)
		}
	}
	if o := call(t, narrow, bridge.CallTool, `{"calls":[{"name":"process","arguments":{}}]}`); o.Refusal.Class != bridge.ClassNotInScope {
		t.Errorf("process: %s", o.Result.Text)
	}
}
