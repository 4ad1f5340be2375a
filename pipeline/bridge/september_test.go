package bridge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

func TestSeptemberDefaults(t *testing.T) {
	july, september := bridge.July.DefaultConfig(), bridge.September.DefaultConfig()
	if september.MaxSearchLimit != 25 || september.ListingMaxTokens != 4000 {
		t.Errorf("limit %d, listing of %d", september.MaxSearchLimit, september.ListingMaxTokens)
	}
	if july != bridge.DefaultConfig() || july != bridge.Variant("").DefaultConfig() {
		t.Error("no variant is not July")
	}
	september.MaxSearchLimit, september.ListingMaxTokens = july.MaxSearchLimit, july.ListingMaxTokens
	if july != september {
		t.Errorf("the variants differ in more: %+v, %+v", july, september)
	}
	for _, settings := range []any{
		map[string]any{"listing_max_tokens": "x", "max_search_limit": "x"}, map[string]any{"threshold_pct": nil}, true, nil, "yes",
		map[string]any{"max_search_limit": json.Number("1e999")},
	} {
		if got, _ := bridge.September.ParseConfig(settings); got.MaxSearchLimit != 25 || got.ListingMaxTokens != 4000 {
			t.Errorf("%v: %+v", settings, got)
		}
	}
}

func TestDeferSetting(t *testing.T) {
	defaults := []string{"todo", "cronjob", "todo"}
	for _, row := range []struct {
		name     string
		settings any
		want     []string
		note     string
	}{
		{"absent", map[string]any{"listing": "off"}, []string{"cronjob", "todo"}, ""},
		{"no settings", nil, []string{"cronjob", "todo"}, ""},
		{"null", map[string]any{"defer": nil}, []string{"cronjob", "todo"}, ""},
		{"a list replaces", map[string]any{"defer": []any{"terminal"}}, []string{"terminal"}, ""},
		{"none", map[string]any{"defer": []any{}}, nil, ""},
		{"sorted, each once", map[string]any{"defer": []any{"b", " a ", "", "b"}}, []string{"a", "b"}, ""},
		{"one text is no list", map[string]any{"defer": "todo_list"}, []string{"cronjob", "todo"}, "defer: todo_list is not usable; the default list used"},
		{"a mapping is no list", map[string]any{"defer": map[string]any{"a": true}}, []string{"cronjob", "todo"}, "the default list used"},
		{"a number is no name", map[string]any{"defer": []any{7, "a"}}, []string{"a"}, "defer: 7 is no tool name; left out"},
	} {
		c, notes := bridge.September.ParseConfig(row.settings)
		if got := c.DeferNames(defaults); !slices.Equal(got, row.want) {
			t.Errorf("%s: defers %q, want %q", row.name, got, row.want)
		}
		if (len(notes) > 0) != (row.note != "") || !strings.Contains(strings.Join(notes, "\n"), row.note) {
			t.Errorf("%s: notes %q, want %q", row.name, notes, row.note)
		}
	}
	if c, notes := bridge.July.ParseConfig(map[string]any{"defer": "todo_list"}); c.Defer != "" || len(notes) != 1 {
		t.Errorf("July reads defer: %q, %q", c.Defer, notes)
	}
}

// TestDeferListIsText: the setting survives being written and read, and equal
// lists are equal settings.
func TestDeferListIsText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[a-z"\\é]{0,6}`), 0, 4).Draw(rt, "names")
		c := bridge.September.DefaultConfig()
		c.Defer = bridge.NewDeferList(names)
		written, err := json.Marshal(c)
		if err != nil {
			rt.Fatal(err)
		}
		var back bridge.Config
		if err := json.Unmarshal(written, &back); err != nil || back != c || !slices.Equal(back.Defer.Names(), names) {
			rt.Fatalf("%q: %s came back as %+v: %v", names, written, back, err)
		}
	})
	absent, err := json.Marshal(bridge.DefaultConfig())
	if err != nil || strings.Contains(string(absent), "defer") {
		t.Errorf("%s, %v", absent, err)
	}
	for text, want := range map[string]bridge.DeferList{`{"defer":null}`: "", `{"defer":[]}`: "[]", `{"defer": [ "a" ]}`: `["a"]`} {
		var c bridge.Config
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.Defer != want {
			t.Errorf("%s: %q, %v", text, c.Defer, err)
		}
	}
	var c bridge.Config
	if err := json.Unmarshal([]byte(`{"defer":"a"}`), &c); err == nil || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("one text is taken for a list: %v", err)
	}
}

// TestDeferredCore: core tools of the list defer, the toolsets of a desktop and
// a project do not unless the list names their tools.
func TestDeferredCore(t *testing.T) {
	session := func(d *desk) []*registry.Definition {
		return []*registry.Definition{
			d.define(t, "terminal", "terminal", "Run."), d.define(t, "memory", "memory", "Remember."), d.define(t, "clarify", "clarify", "Ask."),
			d.define(t, "todo", "todo", "Plan."), d.define(t, "desktop_ui", "show_tip", "Show."), d.define(t, "project", "project_list", "List."),
			d.define(t, "setup", "setup_mcp", "Set up."), d.define(t, "", "unregistered", "Nobody's."), d.define(t, "mcp-a", "ping", "Ping."),
		}
	}
	for _, row := range []struct {
		name     string
		variant  bridge.Variant
		deferred []string
		want     string
	}{
		{"July defers no core tool", bridge.July, []string{"todo", "unregistered"}, "show_tip project_list setup_mcp ping"},
		{"none", bridge.September, nil, "ping"},
		{"core", bridge.September, []string{"todo", "session_search"}, "todo ping"},
		{"the list replaces", bridge.September, []string{"terminal"}, "terminal ping"},
		{"desktop tools by name", bridge.September, []string{"show_tip", "setup_mcp"}, "show_tip setup_mcp ping"},
		{"an unregistered tool", bridge.September, []string{"unregistered", "tool_search"}, "ping"},
	} {
		d := newDeskOf(t, row.variant, row.deferred...)
		tools := session(d)
		visible, deferrable := d.Classify(tools)
		if got := namesOf(deferrable); got != row.want || len(visible)+len(deferrable) != len(tools) {
			t.Errorf("%s: defers %q, want %q", row.name, got, row.want)
		}
		for _, tool := range tools {
			if got := d.Deferrable(tool.Name); got != slices.Contains(deferrable, tool) {
				t.Errorf("%s: Deferrable(%s) is %t", row.name, tool.Name, got)
			}
		}
	}
	// Core tools alone: with an empty list there is nothing to defer.
	for _, deferred := range [][]string{nil, {"todo"}} {
		d := newDeskOf(t, bridge.September, deferred...)
		s := assemble(t, d.Bridge, session(d)[:4], d.variant.DefaultConfig(), 200_000)
		if s.Activated != (deferred != nil) {
			t.Errorf("defer %q: active %t", deferred, s.Activated)
		}
		if s.Activated && (!strings.Contains(s.Listing.Text, "- todo: Plan.") || namesOf(s.Definitions) != "terminal memory clarify tool_search tool_describe tool_call") {
			t.Errorf("surface %q\n%s", namesOf(s.Definitions), s.Listing.Text)
		}
	}
	// A deferred core tool is searched, described and called like any other.
	d := newDeskOf(t, bridge.September, "todo")
	scope := d.session(session(d)...)
	if _, refusal := scope.ToolCall(arguments("name", "todo")); refusal != nil || !scope.Has("todo") || scope.Has("memory") {
		t.Errorf("todo: %v", refusal)
	}
}

func TestWholeSentence(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"One sentence. Two.":                   "One sentence.",
		"Is it so? Yes.":                       "Is it so?",
		"Stop! Now.":                           "Stop!",
		"Ends!":                                "Ends!",
		"Version 1.2 of it. More.":             "Version 1.2 of it.",
		"Takes tools, e.g. hammers. More.":     "Takes tools, e.g. hammers.",
		"The one i.e. the other. More.":        "The one i.e. the other.",
		"Nails, screws etc. in a box. More.":   "Nails, screws etc. in a box.",
		"E.g. this.":                           "E.g.",
		"All of it, etc.":                      "All of it, etc.",
		"Wait... what? Yes.":                   "Wait...",
		"a.b.c":                                "a.b.c",
		"  Folds \n white\t space .  More. ":   "Folds white space .",
		strings.Repeat("word ", 40):            strings.TrimSpace(strings.Repeat("word ", 12)) + "…",
		strings.Repeat("word ", 20) + ". More": strings.TrimSpace(strings.Repeat("word ", 12)) + "…",
		"Читает файл. Ещё.":                    "Читает файл.",
	} {
		if got := bridge.September.ShortDescription(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if july := bridge.July.ShortDescription("Is it so? Yes."); july != "Is it so" {
		t.Errorf("July: %q", july)
	}
}

// TestManyVerboseTools: September's cap holds the listing of a large catalog,
// however long the context is.
func TestManyVerboseTools(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	tools := make([]*registry.Definition, 500)
	for i := range tools {
		tools[i] = d.define(t, fmt.Sprintf("mcp-server-%d", i%7), fmt.Sprintf("tool_number_%03d_with_a_rather_long_name", i), strings.Repeat("verbose ", 60)+".")
	}
	s := assemble(t, d.Bridge, tools, d.variant.DefaultConfig(), 1_000_000)
	own := bridge.Estimate(s.Definitions[:1])
	if own >= 4500 || s.BudgetTokens != 4000 || !slices.Contains([]bridge.Form{bridge.FormNames, bridge.FormGroups, bridge.FormMixed}, s.Listing.Form) {
		t.Errorf("tool_search of %d tokens, budget %d, form %s", own, s.BudgetTokens, s.Listing.Form)
	}
}

// TestSeptemberSchemaSize: September's own schemas cost more than July's, and
// how much is stated in docs/design.md.
func TestSeptemberSchemaSize(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	own := tools(t, d.Bridge, 30, bridge.Listing{})
	if got := bridge.Estimate(own); !within(got, 457, 0.01) {
		t.Errorf("schemas of %d tokens, want 457 as docs/design.md says", got)
	}
	for i, want := range []string{`"queries"`, `"names"`, `"calls"`} {
		if !strings.Contains(string(own[i].Parameters), want) {
			t.Errorf("%s takes no %s: %s", own[i].Name, want, own[i].Parameters)
		}
		if _, err := registry.Define(own[i].Name, own[i].Description, own[i].Parameters); err != nil {
			t.Error(err)
		}
	}
}

// TestVariantsShareAMemo: bridges of both variants over one memo show what each
// shows alone, and a tool that moves to another source is found under its label.
func TestVariantsShareAMemo(t *testing.T) {
	retriever, err := search.New("bm25-gated")
	if err != nil {
		t.Fatal(err)
	}
	memo := bridge.NewMemo()
	d := newDesk(t)
	tool := d.define(t, "mcp-a", "ask", "Is it so? Yes.", "word*")
	for range 2 {
		for _, v := range bridge.Variants() {
			over := func(m *bridge.Memo) *bridge.Bridge {
				return bridge.New(bridge.Options{Variant: v, Core: isCore, Catalog: d.catalog, Retriever: retriever, Memo: m})
			}
			tools := []*registry.Definition{tool}
			shared := assemble(t, over(memo), tools, v.DefaultConfig(), 0)
			alone := assemble(t, over(nil), tools, v.DefaultConfig(), 0)
			for i, own := range shared.Definitions {
				if own.JSON != alone.Definitions[i].JSON {
					t.Errorf("%s shows\n%s\nand alone\n%s", v, own.JSON, alone.Definitions[i].JSON)
				}
			}
			refused := over(memo).CheckArguments(tool, json.RawMessage(`{"word":[]}`))
			if (refused != nil) != (v == bridge.September) {
				t.Errorf("%s: %v", v, refused)
			}
		}
	}
	b := bridge.New(bridge.Options{Variant: bridge.September, Core: isCore, Catalog: d.catalog, Retriever: retriever, Memo: memo})
	found := func(query string) int {
		return len(b.Scope([]*registry.Definition{tool}, bridge.September.DefaultConfig()).Search(query, 5))
	}
	if found("a") != 1 || found("jira") != 0 {
		t.Errorf("under its first label: %d and %d", found("a"), found("jira"))
	}
	d.catalog["ask"] = "mcp-jira"
	if found("jira") != 1 || found("a") != 0 {
		t.Errorf("under its second label: %d and %d", found("jira"), found("a"))
	}
}

// TestRegistrationOrderNeverShows: what a session sees and finds depends on the
// order of its definitions in ties of a search alone.
func TestRegistrationOrderNeverShows(t *testing.T) { eachVariant(t, registrationOrderNeverShows) }

func registrationOrderNeverShows(t *testing.T, variant bridge.Variant) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDeskOf(t, variant, "todo")
		tools := append(drawTools(t, rt, d, 12), d.define(t, "todo", "todo", "Plan."))
		shuffled := rapid.Permutation(tools).Draw(rt, "order")
		c := variant.DefaultConfig()
		c.ListingMaxTokens = rapid.IntRange(200, 400).Draw(rt, "cap")
		one, other := assemble(t, d.Bridge, tools, c, 0), assemble(t, d.Bridge, shuffled, c, 0)
		if description(one) != description(other) || one.DeferrableTokens != other.DeferrableTokens {
			rt.Fatalf("%s\n\n%s", description(one), description(other))
		}
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 3).Draw(rt, "query"), " ")
		found := func(s *bridge.Surface) []string {
			var names []string
			for _, m := range s.Scope(d.Bridge, c).Search(query, 50) {
				names = append(names, fmt.Sprintf("%.9g %s", m.Score, m.Tool.Name))
			}
			slices.Sort(names)
			return names
		}
		if a, b := found(one), found(other); !slices.Equal(a, b) {
			rt.Fatalf("%q finds %q, and %q in another order", query, a, b)
		}
	})
}
