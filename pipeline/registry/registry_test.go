package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func TestSameNameOfAnotherToolset(t *testing.T) {
	for _, row := range []struct {
		name      string
		change    func(*registry.Registration)
		permitted []string
		want      error
		logged    string
	}{
		{name: "is refused", change: func(*registry.Registration) {}, want: registry.ErrNameTaken, logged: "ERROR"},
		{name: "replaces with override", change: func(r *registry.Registration) { r.Override = true }, logged: "INFO"},
		{name: "same toolset replaces, last wins", change: func(r *registry.Registration) { r.Toolset = "files" }, logged: "INFO"},
		{
			name:   "same toolset replaces for a plugin too",
			change: func(r *registry.Registration) { r.Toolset, r.Owner = "files", "intruder" },
			logged: "INFO",
		},
		{
			name:   "plugin with override is refused without leave",
			change: func(r *registry.Registration) { r.Override, r.Owner = true, "intruder" },
			want:   registry.ErrNotPermitted, logged: "ERROR",
		},
		{
			name:   "leave for another plugin does not count",
			change: func(r *registry.Registration) { r.Override, r.Owner = true, "intruder" }, permitted: []string{"other"},
			want: registry.ErrNotPermitted, logged: "ERROR",
		},
		{
			name:   "plugin with override and leave replaces",
			change: func(r *registry.Registration) { r.Override, r.Owner = true, "helper" }, permitted: []string{"helper"},
			logged: "INFO",
		},
		{
			name:   "leave holds for a plugin's submodules",
			change: func(r *registry.Registration) { r.Override, r.Owner = true, "helper.deep.inside" }, permitted: []string{"helper"},
			logged: "INFO",
		},
		{
			name:   "leave alone does not replace, override must be said",
			change: func(r *registry.Registration) { r.Owner = "helper" }, permitted: []string{"helper"},
			want: registry.ErrNameTaken, logged: "ERROR",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(row.permitted...)
			mustRegister(t, b.Registry, tool(t, "files", "read_file"))
			generation := b.Generation()
			second := tool(t, "elsewhere", "read_file")
			second.Handler = func(context.Context, json.RawMessage) (any, error) { return "second", nil }
			row.change(&second)

			err := b.Register(second)
			if !errors.Is(err, row.want) || (err != nil) != (row.want != nil) {
				t.Fatalf("Register = %v, want %v", err, row.want)
			}
			answer, bumped := "second", generation+1
			if row.want != nil {
				answer, bumped = "read_file", generation
			}
			if got := b.Dispatch(t.Context(), "read_file", nil).Text; got != answer {
				t.Errorf("the tool answers %q, want %q", got, answer)
			}
			if got := b.Generation(); got != bumped {
				t.Errorf("generation %d, want %d", got, bumped)
			}
			if !b.logged(row.logged, "read_file") {
				t.Errorf("no %s line names the tool", row.logged)
			}
		})
	}
}

func TestRefusalsTellWhatToDo(t *testing.T) {
	b := newBench()
	mustRegister(t, b.Registry, tool(t, "files", "read_file"))
	plugin := tool(t, "elsewhere", "read_file")
	plugin.Override, plugin.Owner = true, "intruder.sub"
	for _, row := range []struct {
		err   error
		words []string
	}{
		{b.Register(tool(t, "elsewhere", "read_file")), []string{"read_file", "files", "elsewhere", "hint: ", "Override"}},
		{b.Register(plugin), []string{"intruder.sub", "read_file", "hint: ", "allow_tool_override"}},
		{b.Deregister("read_file", "intruder.sub"), []string{"intruder.sub", "read_file", "hint: ", "allow_tool_override"}},
		{b.Register(registry.Registration{Toolset: "files"}), []string{"definition", "hint: "}},
	} {
		for _, w := range row.words {
			if row.err == nil || !strings.Contains(row.err.Error(), w) {
				t.Errorf("error %v does not mention %q", row.err, w)
			}
		}
	}
}

// TestDeregister walks through who may remove whose tools.
func TestDeregister(t *testing.T) {
	for _, row := range []struct {
		name           string
		toolset        string
		owner, caller  registry.Owner
		permitted      []string
		want           error
		alreadyRemoved bool
	}{
		{name: "plugin removes a built-in tool without leave", toolset: "files", caller: "intruder", want: registry.ErrNotPermitted},
		{name: "plugin removes another plugin's tool without leave", toolset: "notes", owner: "notes", caller: "intruder", want: registry.ErrNotPermitted},
		{name: "submodule without leave", toolset: "files", caller: "intruder.sub", want: registry.ErrNotPermitted},
		{name: "a longer name is another plugin", toolset: "notes", owner: "notes", caller: "notes2", want: registry.ErrNotPermitted},
		{name: "plugin with leave", toolset: "files", caller: "helper", permitted: []string{"helper"}},
		{name: "submodule of a plugin with leave", toolset: "files", caller: "helper.sub", permitted: []string{"helper"}},
		{name: "its own tool", toolset: "notes", owner: "notes", caller: "notes"},
		{name: "root removes its submodule's tool", toolset: "notes", owner: "notes.sub", caller: "notes"},
		{name: "submodule removes its root's tool", toolset: "notes", owner: "notes", caller: "notes.sub"},
		{name: "tools of MCP servers are exempt", toolset: "mcp-github", caller: "intruder"},
		{name: "the program itself is never gated", toolset: "notes", owner: "notes", caller: ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(row.permitted...)
			reg := tool(t, row.toolset, "target")
			reg.Owner = row.owner
			mustRegister(t, b.Registry, reg)
			generation := b.Generation()

			err := b.Deregister("target", row.caller)
			if !errors.Is(err, row.want) || (err != nil) != (row.want != nil) {
				t.Fatalf("Deregister = %v, want %v", err, row.want)
			}
			_, survives := b.Entry("target")
			if survives != (row.want != nil) {
				t.Errorf("tool there: %t, error: %v", survives, err)
			}
			if bumped := b.Generation() != generation; bumped == survives {
				t.Errorf("generation moved: %t, tool there: %t", bumped, survives)
			}
			if row.want != nil && !b.logged("ERROR", "target") {
				t.Error("the refusal is not in the log")
			}
		})
	}
}

func TestDeregisterUnknownChangesNothing(t *testing.T) {
	b := newBench()
	mustRegister(t, b.Registry, tool(t, "files", "read_file"))
	generation := b.Generation()
	if err := b.Deregister("nobody", "intruder"); err != nil {
		t.Errorf("Deregister = %v, want no error", err)
	}
	if b.Generation() != generation {
		t.Error("removing nothing moved the generation")
	}
}

// TestRemoveThenRegisterIsNoWayRound: a plugin that may not override may not
// get the same by removing first, and not from a callback later either.
func TestRemoveThenRegisterIsNoWayRound(t *testing.T) {
	b := newBench()
	mustRegister(t, b.Registry, tool(t, "terminal", "terminal"))
	takeOver := func() (removed, registered error) {
		mine := tool(t, "intruder", "terminal")
		mine.Owner = "intruder"
		return b.Deregister("terminal", "intruder"), b.Register(mine)
	}
	for _, when := range []string{"while loading", "from a later callback"} {
		removed, registered := takeOver()
		if !errors.Is(removed, registry.ErrNotPermitted) || !errors.Is(registered, registry.ErrNameTaken) {
			t.Errorf("%s: removal %v, registration %v", when, removed, registered)
		}
	}
	if toolset, _ := b.Toolset("terminal"); toolset != "terminal" {
		t.Errorf("terminal now belongs to %q", toolset)
	}
}

func TestAliases(t *testing.T) {
	b := newBench()
	mustRegister(t, b.Registry, tool(t, "mcp-github", "create_issue"), tool(t, "mcp-github", "list_issues"))
	steps := b.Generation()
	for _, row := range []struct {
		toolset string
		warned  bool
	}{{"mcp-github", false}, {"mcp-github", false}, {"mcp-gitlab", true}, {"mcp-github", true}} {
		b.RegisterAlias("hub", row.toolset)
		if got, ok := b.Alias("hub"); !ok || got != row.toolset {
			t.Errorf("alias stands for %q, %t; want %q", got, ok, row.toolset)
		}
		if steps++; b.Generation() != steps {
			t.Errorf("generation %d, want %d: every alias counts, an unchanged one too", b.Generation(), steps)
		}
		if b.logged("WARN", "hub") != row.warned {
			t.Errorf("%s: warned is not %t", row.toolset, row.warned)
		}
	}

	b.RegisterAlias("other", "mcp-gitlab")
	if err := b.Deregister("create_issue", ""); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Alias("hub"); !ok {
		t.Error("the alias went while the toolset still holds a tool")
	}
	if err := b.Deregister("list_issues", ""); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Alias("hub"); ok {
		t.Error("the alias outlived its toolset's last tool")
	}
	if _, ok := b.Alias("other"); !ok {
		t.Error("the alias of another toolset went too")
	}
}

func TestQueriesAreSorted(t *testing.T) {
	b := newBench()
	for _, reg := range [][2]string{{"web", "web_search"}, {"files", "write_file"}, {"web", "web_extract"}, {"files", "read_file"}, {"a", "z"}} {
		mustRegister(t, b.Registry, tool(t, reg[0], reg[1]))
	}
	for _, row := range []struct {
		what string
		got  []string
		want string
	}{
		{"Names", b.Names(), "read_file web_extract web_search write_file z"},
		{"Toolsets", b.Toolsets(), "a files web"},
		{"ToolsIn files", b.ToolsIn("files"), "read_file write_file"},
		{"ToolsIn web", b.ToolsIn("web"), "web_extract web_search"},
		{"ToolsIn nowhere", b.ToolsIn("nowhere"), ""},
	} {
		if got := strings.Join(row.got, " "); got != row.want {
			t.Errorf("%s = %q, want %q", row.what, got, row.want)
		}
	}
	// What a query returns is the caller's own.
	clear(b.ToolsIn("files"))
	if got := b.ToolsIn("files"); got[0] != "read_file" {
		t.Errorf("a caller changed the registry: %q", got)
	}
}

// TestMembersFollow: a toolset's list stays right through replacement within,
// replacement across, and removal.
func TestMembersFollow(t *testing.T) {
	b := newBench()
	mustRegister(t, b.Registry, tool(t, "one", "b"), tool(t, "one", "a"), tool(t, "one", "b"))
	across := tool(t, "two", "a")
	across.Override = true
	mustRegister(t, b.Registry, across)
	if one, two := b.ToolsIn("one"), b.ToolsIn("two"); !slices.Equal(one, []string{"b"}) || !slices.Equal(two, []string{"a"}) {
		t.Errorf("one holds %q, two holds %q", one, two)
	}
	if err := b.Deregister("b", ""); err != nil {
		t.Fatal(err)
	}
	if got := b.Toolsets(); !slices.Equal(got, []string{"two"}) {
		t.Errorf("toolsets %q, want only two", got)
	}
}

func TestEntry(t *testing.T) {
	b := newBench()
	mustRegister(t, b.Registry, tool(t, "files", "read_file"))
	if _, ok := b.Entry("nobody"); ok {
		t.Error("an unknown tool has an entry")
	}
	if e, ok := b.Entry("read_file"); !ok || e.Toolset != "files" || e.Definition.Name != "read_file" {
		t.Errorf("entry %+v, %t", e, ok)
	}
	if _, ok := b.Toolset("nobody"); ok {
		t.Error("an unknown tool has a toolset")
	}
}

func TestRequiredEnv(t *testing.T) {
	b := newBench()
	for _, row := range []struct {
		toolset, name string
		env           []string
	}{
		{"web", "web_search", []string{"SEARCH_KEY"}},
		{"web", "web_extract", []string{"SEARCH_KEY", "EXTRACT_KEY"}},
		{"files", "read_file", nil},
	} {
		reg := tool(t, row.toolset, row.name)
		reg.RequiresEnv = row.env
		mustRegister(t, b.Registry, reg)
	}
	required := b.RequiredEnv()
	if len(required) != 1 || strings.Join(required["web"], " ") != "EXTRACT_KEY SEARCH_KEY" {
		t.Errorf("RequiredEnv = %v", required)
	}
}

func TestMaxResultSize(t *testing.T) {
	b := newBench()
	capped := tool(t, "files", "read_file")
	capped.MaxResultSize = 1234
	mustRegister(t, b.Registry, capped, tool(t, "files", "write_file"))
	for _, row := range []struct {
		name           string
		fallback, want int
	}{
		{"read_file", 0, 1234},
		{"read_file", 99, 1234},
		{"write_file", 99, 99},
		{"write_file", 0, 100_000},
		{"write_file", -1, 100_000},
		{"nobody", 0, 100_000},
	} {
		if got := b.MaxResultSize(row.name, row.fallback); got != row.want {
			t.Errorf("MaxResultSize(%s, %d) = %d, want %d", row.name, row.fallback, got, row.want)
		}
	}
}

// TestPolicyIsCopied: the operator's leave cannot be widened after the fact.
func TestPolicyIsCopied(t *testing.T) {
	policy := map[string]bool{}
	r := registry.New(registry.Options{AllowToolOverride: policy})
	mustRegister(t, r, tool(t, "files", "read_file"))
	policy["intruder"] = true
	if err := r.Deregister("read_file", "intruder"); !errors.Is(err, registry.ErrNotPermitted) {
		t.Errorf("Deregister = %v, want a refusal", err)
	}
}
