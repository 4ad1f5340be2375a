package toolset_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// builtin is the embedded corpus's table, on its own.
func builtin(t testing.TB) *toolset.Table {
	t.Helper()
	c, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c.Toolsets
}

// static resolves over the fixed toolsets alone.
func static(t testing.TB) *toolset.Resolver { return toolset.NewResolver(builtin(t), nil) }

// holding is a registry with tools given as "toolset/name".
func holding(t testing.TB, tools ...string) *registry.Registry {
	t.Helper()
	r := registry.New(registry.Options{})
	for _, entry := range tools {
		set, name, _ := strings.Cut(entry, "/")
		d, err := registry.Define(name, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Register(registry.Registration{Toolset: set, Definition: d}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func table(t testing.TB, sets ...toolset.Toolset) *toolset.Table {
	t.Helper()
	tb, err := toolset.NewTable(toolset.Lists{}, sets)
	if err != nil {
		t.Fatal(err)
	}
	return tb
}

func TestNewTableRefuses(t *testing.T) {
	for _, row := range []struct {
		sets []toolset.Toolset
		word string
	}{
		{[]toolset.Toolset{{Name: ""}}, "no name"},
		{[]toolset.Toolset{{Name: "a"}, {Name: "a"}}, `"a"`},
		{[]toolset.Toolset{{Name: "all"}}, `"all"`},
		{[]toolset.Toolset{{Name: "*"}}, `"*"`},
		{[]toolset.Toolset{{Name: "a", Includes: []string{"b"}}}, `"b"`},
	} {
		_, err := toolset.NewTable(toolset.Lists{}, row.sets)
		if err == nil || !strings.Contains(err.Error(), row.word) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%+v: error %v, want one about %s with a hint", row.sets, err, row.word)
		}
	}
}

// TestEmbeddedTable holds the fixed toolsets to what the contract says of them.
func TestEmbeddedTable(t *testing.T) {
	tb := builtin(t)
	if n := len(tb.Names()); n != 57 {
		t.Errorf("%d toolsets, want 57", n)
	}
	if n := len(tb.Core()); n != 54 {
		t.Errorf("%d core tools, want 54", n)
	}
	if got := strings.Join(tb.WebhookSafe(), " "); got != "web_search web_extract vision_analyze clarify" {
		t.Errorf("webhook-safe tools %q", got)
	}
	if tb.IsCore("discord") || !tb.IsCore("terminal") {
		t.Error("terminal is core, discord is not")
	}
	resolver := toolset.NewResolver(tb, nil)
	for _, name := range tb.Names() {
		s, ok := tb.Static(name)
		if !ok || s.Name != name || s.Description == "" {
			t.Errorf("%s: name, description and tools must be there: %+v", name, s)
		}
		for _, include := range s.Includes {
			if _, ok := tb.Static(include); !ok {
				t.Errorf("%s includes %q, which does not exist", name, include)
			}
		}
		resolved := resolver.Resolve(name)
		if !slices.IsSorted(resolved) || len(slices.Compact(slices.Clone(resolved))) != len(resolved) {
			t.Errorf("%s resolves to %q: not sorted, or with repeats", name, resolved)
		}
	}
	for _, name := range []string{"hermes-cli", "hermes-telegram", "hermes-discord", "hermes-slack", "hermes-whatsapp", "hermes-signal", "hermes-email"} {
		shared := slices.DeleteFunc(resolver.Resolve(name), func(tool string) bool { return !tb.IsCore(tool) })
		if len(shared) <= 20 {
			t.Errorf("%s shares %d core tools, want more than 20", name, len(shared))
		}
	}
	for _, name := range []string{"hermes-whatsapp", "hermes-api-server"} {
		if !slices.Contains(resolver.Resolve(name), "web_search") {
			t.Errorf("%s lacks web_search", name)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, row := range []struct {
		name  string
		names []string
		want  string
	}{
		{"direct", []string{"web"}, "web_extract web_search"},
		{"through includes", []string{"debugging"}, "patch process read_file search_files terminal web_extract web_search write_file"},
		{"includes only", []string{"safe"}, "image_generate vision_analyze web_extract web_search"},
		{"the trusted-less entry point gets four", []string{"hermes-webhook"}, "clarify vision_analyze web_extract web_search"},
		{"several, repeats read once", []string{"web", "search", "web"}, "web_extract web_search"},
		{"unknown", []string{"nobody"}, ""},
		{"unknown beside known", []string{"nobody", "todo"}, "todo"},
		{"none", nil, ""},
		{"empty", []string{"context_engine"}, ""},
	} {
		if got := strings.Join(static(t).Resolve(row.names...), " "); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	for _, every := range []string{"all", "*"} {
		if got := static(t).Resolve(every); len(got) != 81 {
			t.Errorf("%s resolves to %d tools, want 81", every, len(got))
		}
	}
}

// TestIncludes: cycles end, and the bottom of a diamond is read once.
func TestIncludes(t *testing.T) {
	r := toolset.NewResolver(table(t,
		toolset.Toolset{Name: "a", Tools: []string{"t1"}, Includes: []string{"b"}},
		toolset.Toolset{Name: "b", Tools: []string{"t2"}, Includes: []string{"a"}},
		toolset.Toolset{Name: "self", Tools: []string{"t3"}, Includes: []string{"self"}},
		toolset.Toolset{Name: "top", Includes: []string{"left", "right"}},
		toolset.Toolset{Name: "left", Tools: []string{"l"}, Includes: []string{"bottom"}},
		toolset.Toolset{Name: "right", Tools: []string{"r"}, Includes: []string{"bottom"}},
		toolset.Toolset{Name: "bottom", Tools: []string{"x"}},
	), nil)
	for name, want := range map[string]string{"a": "t1 t2", "b": "t1 t2", "self": "t3", "top": "l r x", "all": "l r t1 t2 t3 x"} {
		if got := strings.Join(r.Resolve(name), " "); got != want {
			t.Errorf("%s resolves to %q, want %q", name, got, want)
		}
	}
}

// TestDeepIncludes: a long chain is no trouble.
func TestDeepIncludes(t *testing.T) {
	sets := make([]toolset.Toolset, 2000)
	for i := range sets {
		sets[i] = toolset.Toolset{Name: strings.Repeat("x", i+1), Tools: []string{"t"}}
		if i > 0 {
			sets[i-1].Includes = []string{sets[i].Name}
		}
	}
	if got := toolset.NewResolver(table(t, sets...), nil).Resolve("x"); len(got) != 1 {
		t.Errorf("resolved to %q", got)
	}
}

// TestRegistryMergesIn: a tool registered under a fixed toolset's name belongs
// to that toolset, while the fixed part stays what it was declared to be.
func TestRegistryMergesIn(t *testing.T) {
	r := toolset.NewResolver(builtin(t), holding(t,
		"web/web_search_plus", "web/web_search",
		"terminal/terminal", "terminal/process", "terminal/read_terminal", "terminal/close_terminal", "terminal/open_preview", "terminal/focus_pane"))
	if got := strings.Join(r.Resolve("web"), " "); got != "web_extract web_search web_search_plus" {
		t.Errorf("web resolves to %q", got)
	}
	if s, ok := r.Get("web"); !ok || strings.Join(s.Tools, " ") != "web_extract web_search web_search_plus" {
		t.Errorf("Get(web) holds %q", s.Tools)
	}
	if s, ok := r.Get("todo"); !ok || strings.Join(s.Tools, " ") != "todo" {
		t.Errorf("Get(todo), to which nothing registered, holds %q", s.Tools)
	}
	if got := r.Resolve("terminal"); len(got) != 6 || !slices.Contains(got, "read_terminal") {
		t.Errorf("terminal resolves to %q, want six with read_terminal", got)
	}
	if s, _ := r.Table().Static("terminal"); strings.Join(s.Tools, " ") != "terminal process" {
		t.Errorf("static terminal is %q", s.Tools)
	}
	if s, _ := r.Table().Static("delegation"); strings.Join(s.Tools, " ") != "delegate_task" {
		t.Errorf("static delegation is %q", s.Tools)
	}
	if _, ok := r.Table().Static("nobody"); ok {
		t.Error("an unknown toolset is static")
	}
	if got := r.Resolve("debugging"); !slices.Contains(got, "web_search_plus") {
		t.Errorf("debugging includes web but resolves to %q", got)
	}
	// The fixed toolsets alone resolve to no more than with the registry.
	for _, name := range r.Table().Names() {
		full := r.Resolve(name)
		for _, tool := range static(t).Resolve(name) {
			if !slices.Contains(full, tool) {
				t.Errorf("%s loses %s to the registry", name, tool)
			}
		}
	}
}

func TestRegistryOnlyToolsets(t *testing.T) {
	reg := holding(t, "plugin_b/b1", "plugin_a/a1", "plugin_a/a0", "mcp-github/create_issue")
	reg.RegisterAlias("github", "mcp-github")
	reg.RegisterAlias("gone", "mcp-gone")
	r := toolset.NewResolver(builtin(t), reg)
	for _, row := range []struct {
		name, tools, description string
		valid                    bool
	}{
		{"plugin_a", "a0 a1", "Plugin toolset: plugin_a", true},
		{"mcp-github", "create_issue", "Tools of MCP server github", true},
		{"github", "create_issue", "Tools of MCP server github", true},
		{"gone", "", "Tools of MCP server gone", true},
		{"all", "", "", true},
		{"*", "", "", true},
		{"web", "web_search web_extract", "", true},
		{"nobody", "", "", false},
		{"", "", "", false},
	} {
		if got := r.Valid(row.name); got != row.valid {
			t.Errorf("Valid(%q) = %t, want %t", row.name, got, row.valid)
		}
		s, _ := r.Get(row.name)
		if got := strings.Join(s.Tools, " "); got != row.tools {
			t.Errorf("%s holds %q, want %q", row.name, got, row.tools)
		}
		if row.description != "" && s.Description != row.description {
			t.Errorf("%s is described as %q, want %q", row.name, s.Description, row.description)
		}
	}
	names := r.Names()
	if !slices.IsSorted(names) || !slices.Contains(names, "plugin_a") || !slices.Contains(names, "plugin_b") || !slices.Contains(names, "web") {
		t.Errorf("names %q", names)
	}
	if slices.Index(names, "plugin_a") > slices.Index(names, "plugin_b") {
		t.Errorf("names %q, want plugin_a before plugin_b", names)
	}
	if got := r.Resolve("all"); !slices.Contains(got, "b1") || !slices.Contains(got, "create_issue") || !slices.Contains(got, "terminal") {
		t.Errorf("all resolves to %q", got)
	}
}

// TestRegistryIsLive: a toolset that comes and goes is there while it is there.
func TestRegistryIsLive(t *testing.T) {
	reg := holding(t)
	r := toolset.NewResolver(table(t), reg)
	if r.Valid("mcp-late") {
		t.Error("valid before anything is registered")
	}
	d, err := registry.Define("late_tool", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := reg.Register(registry.Registration{Toolset: "mcp-late", Definition: d}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Resolve("mcp-late"), " "); got != "late_tool" || !r.Valid("mcp-late") {
		t.Errorf("resolves to %q, valid %t", got, r.Valid("mcp-late"))
	}
	if err := reg.Deregister("late_tool", ""); err != nil {
		t.Fatal(err)
	}
	if r.Valid("mcp-late") || len(r.Resolve("mcp-late")) != 0 {
		t.Error("valid after the last tool went")
	}
}

// TestAliasNeverHidesAToolset: a plugin's toolset wins over an alias that an
// MCP server brought for the same name.
func TestAliasNeverHidesAToolset(t *testing.T) {
	reg := holding(t, "github/plugin_tool", "mcp-github/server_tool")
	reg.RegisterAlias("github", "mcp-github")
	r := toolset.NewResolver(table(t), reg)
	if got := strings.Join(r.Resolve("github"), " "); got != "plugin_tool" {
		t.Errorf("github resolves to %q, want the plugin's tool", got)
	}
	// Nor does it hide a fixed one, even one that is empty.
	fixed := toolset.NewResolver(table(t, toolset.Toolset{Name: "empty"}), reg)
	reg.RegisterAlias("empty", "mcp-github")
	if got := fixed.Resolve("empty"); len(got) != 0 {
		t.Errorf("empty resolves to %q, want nothing", got)
	}
}

func TestCustomToolset(t *testing.T) {
	r := toolset.NewResolver(table(t,
		toolset.Toolset{Name: "mine", Tools: []string{"web_search"}, Includes: []string{"shell"}},
		toolset.Toolset{Name: "shell", Tools: []string{"terminal"}}), nil)
	if got := strings.Join(r.Resolve("mine"), " "); got != "terminal web_search" {
		t.Errorf("mine resolves to %q", got)
	}
}

func TestInfo(t *testing.T) {
	r := static(t)
	web, ok := r.Info("web")
	if !ok || web.Composite || len(web.Resolved) != 2 {
		t.Errorf("web: %+v", web)
	}
	debugging, ok := r.Info("debugging")
	if !ok || !debugging.Composite || len(debugging.Resolved) <= len(debugging.Tools) {
		t.Errorf("debugging: %+v", debugging)
	}
	if _, ok := r.Info("nobody"); ok {
		t.Error("an unknown toolset has an info")
	}
}

func TestNonCoreAndDisables(t *testing.T) {
	r := static(t)
	for _, row := range []struct{ name, nonCore, disables string }{
		{"hermes-discord", "discord discord_admin", "discord discord_admin"},
		{"hermes-yuanbao", "yb_query_group_info yb_query_group_members yb_search_sticker yb_send_dm yb_send_sticker", "yb_query_group_info yb_query_group_members yb_search_sticker yb_send_dm yb_send_sticker"},
		{"hermes-telegram", "", ""},
		{"hermes-webhook", "", ""},
		{"coding", "", ""}, // a posture: all of it is core
		{"web", "", "web_extract web_search"},
		{"terminal", "", "process terminal"},
		{"discord", "discord", "discord"},
		{"debugging", "", "patch process read_file search_files terminal web_extract web_search write_file"},
		{"hermes-nobody", "", ""},
		{"nobody", "", ""},
	} {
		if got := strings.Join(r.NonCore(row.name), " "); got != row.nonCore {
			t.Errorf("NonCore(%s) = %q, want %q", row.name, got, row.nonCore)
		}
		if got := strings.Join(r.Disables(row.name), " "); got != row.disables {
			t.Errorf("Disables(%s) = %q, want %q", row.name, got, row.disables)
		}
	}
	if n, m := len(r.NonCore("hermes-feishu")), len(r.NonCore("hermes-gateway")); n != 5 || m != 12 {
		t.Errorf("feishu adds %d tools, gateway %d; want 5, 12", n, m)
	}
}

// TestNonCoreLooksOneLevelDown: a bundle's own tools are its direct ones and
// those of the toolsets that it includes, not of those that they include.
func TestNonCoreLooksOneLevelDown(t *testing.T) {
	tb, err := toolset.NewTable(toolset.Lists{Core: []string{"core"}}, []toolset.Toolset{
		{Name: "hermes-top", Tools: []string{"core", "own"}, Includes: []string{"middle"}},
		{Name: "middle", Tools: []string{"core", "near"}, Includes: []string{"bottom"}},
		{Name: "bottom", Tools: []string{"far"}},
		{Name: "posture", Tools: []string{"core", "extra"}, Posture: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := toolset.NewResolver(tb, holding(t, "middle/registered"))
	for name, want := range map[string]string{"hermes-top": "near own registered", "posture": "extra"} {
		if nonCore, gone := strings.Join(r.NonCore(name), " "), strings.Join(r.Disables(name), " "); nonCore != want || gone != want {
			t.Errorf("%s adds %q and disables %q, want %q", name, nonCore, gone, want)
		}
	}
	if got := strings.Join(r.Disables("middle"), " "); got != "core far near registered" {
		t.Errorf("middle disables %q, want all that it resolves to", got)
	}
}

// TestAnswersAreTheCallersOwn: the table stays what it was.
func TestAnswersAreTheCallersOwn(t *testing.T) {
	tb := table(t, toolset.Toolset{Name: "a", Tools: []string{"t"}, Includes: []string{"b"}}, toolset.Toolset{Name: "b"})
	s, _ := tb.Static("a")
	s.Tools[0], s.Includes[0] = "changed", "changed"
	if again, _ := tb.Static("a"); again.Tools[0] != "t" || again.Includes[0] != "b" {
		t.Errorf("a caller changed the table: %+v", again)
	}
}
