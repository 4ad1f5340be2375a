package assembly_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// TestNames: step one and two, from toolsets to tools.
func TestNames(t *testing.T) {
	s := newStage(t).builtins(t)
	a := s.assembler(t, nil)
	core := embedded(t).Toolsets.Core()
	slices.Sort(core)
	allOf := func(names ...string) string { return strings.Join(names, " ") }
	without := func(from []string, gone ...string) string {
		return allOf(slices.DeleteFunc(slices.Clone(from), func(n string) bool { return slices.Contains(gone, n) })...)
	}
	kanban := allOf(s.resolver.Resolve("kanban")...)
	for _, row := range []struct {
		name    string
		request assembly.Request
		want    string
	}{
		{"everything", assembly.Request{}, allOf(s.resolver.Resolve("all")...)},
		{"nothing", assembly.Request{Enabled: []string{}}, ""},
		{"only unknown names", assembly.Request{Enabled: []string{"nobody"}}, ""},
		{"one toolset", assembly.Request{Enabled: []string{"web"}}, "web_extract web_search"},
		{"an unknown name beside it", assembly.Request{Enabled: []string{"web", "nobody"}}, "web_extract web_search"},

		{"disabling takes away last", assembly.Request{Enabled: []string{"web", "todo"}, Disabled: []string{"web"}}, "todo"},
		{"even what another toolset brought", assembly.Request{Enabled: []string{"debugging"}, Disabled: []string{"web", "terminal"}}, "patch read_file search_files write_file"},
		{"disabling an unknown name", assembly.Request{Enabled: []string{"web"}, Disabled: []string{"nobody", "hermes-nobody"}}, "web_extract web_search"},
		{"disabling everything", assembly.Request{Enabled: []string{"web"}, Disabled: []string{"all"}}, ""},
		{"a bundle leaves another bundle alone", assembly.Request{Enabled: []string{"hermes-telegram"}, Disabled: []string{"hermes-yuanbao"}}, allOf(core...)},
		{"a bundle takes its own tools", assembly.Request{Enabled: []string{"hermes-discord"}, Disabled: []string{"hermes-discord"}}, allOf(core...)},
		{"a posture takes nothing of the core", assembly.Request{Enabled: []string{"hermes-cli"}, Disabled: []string{"coding"}}, allOf(core...)},
		{"plain toolsets take core tools", assembly.Request{Enabled: []string{"hermes-cli"}, Disabled: []string{"file", "todo"}}, without(core, "read_file", "write_file", "patch", "search_files", "todo")},

		{"a kanban worker", assembly.Request{Enabled: []string{}, KanbanWorker: true}, kanban},
		{"which is somebody's child", assembly.Request{Enabled: []string{}, KanbanWorker: true, DelegatedChild: true}, ""},
		{"somebody's child", assembly.Request{Enabled: []string{"web"}, DelegatedChild: true}, "web_extract web_search"},
		{"a kanban worker without kanban", assembly.Request{Enabled: []string{"web"}, Disabled: []string{"kanban"}, KanbanWorker: true}, "web_extract web_search"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := strings.Join(a.Names(row.request), " "); got != row.want {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
		})
	}
	if kanban == "" || len(strings.Fields(kanban)) != 12 {
		t.Errorf("kanban tools %q, want 12", kanban)
	}
}

// TestKanbanLeavesTheRequest: the caller's list of toolsets stays what it was.
func TestKanbanLeavesTheRequest(t *testing.T) {
	s := newStage(t).builtins(t)
	enabled := make([]string, 1, 4)
	enabled[0] = "web"
	s.assembler(t, nil).Names(assembly.Request{Enabled: enabled, KanbanWorker: true})
	if got := enabled[:2][1]; got != "" {
		t.Errorf("%q was written behind the caller's list", got)
	}
}

// TestAssemble: a session's tools, all usable ones in name order, through the
// bridge.
func TestAssemble(t *testing.T) {
	s := newStage(t).builtins(t)
	s.define(t, "mcp-github", "create_issue", "Open an issue.", `"title":{"type":"string"}`, "title")
	s.define(t, "notes", "add_note", "Write a note.", ``)
	a := s.assembler(t, nil)

	got := a.Assemble(request("file", "mcp-github", "notes", "mcp-absent"))
	if want := "add_note create_issue patch read_file search_files write_file"; namesOf(got.Usable) != want {
		t.Errorf("usable %q, want %q", namesOf(got.Usable), want)
	}
	if want := "patch read_file search_files write_file tool_search tool_describe tool_call"; namesOf(got.Definitions) != want {
		t.Errorf("surface %q, want %q", namesOf(got.Definitions), want)
	}
	if strings.Join(a.Resolved(), " ") != namesOf(got.Usable) {
		t.Errorf("resolved %q", a.Resolved())
	}
	// A plugin's tool is seen when its toolset is enabled, and only then.
	if without := a.Assemble(request("file", "mcp-github")); strings.Contains(bytesOf(without), "add_note") {
		t.Error("add_note shows without its toolset")
	}
	off := request("file", "notes")
	off.Config.Enabled = bridge.Off
	if direct := a.Assemble(off); namesOf(direct.Definitions) != "add_note patch read_file search_files write_file" || direct.Activated {
		t.Errorf("bridge off: %q", namesOf(direct.Definitions))
	}
	skip := request("file", "notes")
	skip.SkipBridge = true
	if raw := a.Assemble(skip); namesOf(raw.Definitions) != namesOf(raw.Usable) || raw.Activated {
		t.Errorf("bridge skipped: %q", namesOf(raw.Definitions))
	}
	if none := a.Assemble(request([]string{}...)); none.Activated {
		t.Error("a bridge over nothing")
	}
}

func TestAssembleNothing(t *testing.T) {
	s := newStage(t).builtins(t)
	a := s.assembler(t, nil)
	r := request()
	r.Enabled = []string{}
	if got := a.Assemble(r); len(got.Definitions) != 0 || len(got.Usable) != 0 || bytesOf(got) != "[]" {
		t.Errorf("nothing enabled: %q", namesOf(got.Definitions))
	}
	r.Enabled = nil
	if got := a.Assemble(r); len(got.Usable) != 81 {
		t.Errorf("everything enabled: %d tools, want 81", len(got.Usable))
	}
}

// TestRewrites: rules see the usable tools, may change or drop their own, and
// may fail without harm.
func TestRewrites(t *testing.T) {
	s := newStage(t)
	for _, name := range []string{"changes", "drops", "fails", "keeps", "zz_last"} {
		s.define(t, "set", name, "As registered.", ``)
	}
	p := s.probe("down")
	p.up = false
	d, err := registry.Define("hidden", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.register(t, registry.Registration{Toolset: "set", Definition: d, Check: p.check})

	var saw []string
	a := s.assembler(t, func(o *assembly.Options) {
		o.Rewrites = map[string]assembly.Rewrite{
			"changes": func(d *registry.Definition, available func(string) bool) (*registry.Definition, error) {
				for _, name := range []string{"changes", "drops", "zz_last", "hidden", "nobody"} {
					if available(name) {
						saw = append(saw, name)
					}
				}
				return d.With(rawjson.Field{Key: "description", Value: rawjson.String("Rewritten.")})
			},
			"drops": func(*registry.Definition, func(string) bool) (*registry.Definition, error) { return nil, nil },
			"fails": func(*registry.Definition, func(string) bool) (*registry.Definition, error) {
				return nil, errors.New("no idea")
			},
			"nobody": func(*registry.Definition, func(string) bool) (*registry.Definition, error) {
				t.Error("a rule ran for a tool that is not there")
				return nil, nil
			},
		}
	})
	got := a.Assemble(request("set"))
	if want := "changes fails keeps zz_last"; namesOf(got.Usable) != want {
		t.Errorf("usable %q, want %q", namesOf(got.Usable), want)
	}
	for i, want := range []string{"Rewritten.", "As registered.", "As registered.", "As registered."} {
		if got.Usable[i].Description != want {
			t.Errorf("%s says %q, want %q", got.Usable[i].Name, got.Usable[i].Description, want)
		}
	}
	if strings.Join(saw, " ") != "changes drops zz_last" {
		t.Errorf("the rule saw %q", saw)
	}
	if !strings.Contains(s.log.String(), "tool=fails") {
		t.Errorf("the failure is not in the log: %s", s.log)
	}
	if strings.Contains(strings.Join(a.Resolved(), " "), "drops") {
		t.Errorf("a dropped tool is resolved: %q", a.Resolved())
	}
}

// TestRewriteSeesRenamedTools: an override may change a name, and with it the
// order; rules must still find every tool.
func TestRewriteSeesRenamedTools(t *testing.T) {
	s := newStage(t)
	for _, row := range [][2]string{{"alpha", "zulu"}, {"beta", ""}, {"gamma", ""}} {
		d, err := registry.Define(row[0], "", nil)
		if err != nil {
			t.Fatal(err)
		}
		reg := registry.Registration{Toolset: "set", Definition: d}
		if row[1] != "" {
			reg.Overrides = func() ([]rawjson.Field, error) {
				return []rawjson.Field{{Key: "name", Value: rawjson.String(row[1])}}, nil
			}
		}
		s.register(t, reg)
	}
	var missing []string
	a := s.assembler(t, func(o *assembly.Options) {
		o.Rewrites = map[string]assembly.Rewrite{"gamma": func(d *registry.Definition, available func(string) bool) (*registry.Definition, error) {
			for _, name := range []string{"zulu", "beta", "gamma"} {
				if !available(name) {
					missing = append(missing, name)
				}
			}
			return d, nil
		}}
	})
	a.Assemble(request("set"))
	if len(missing) > 0 {
		t.Errorf("not available to the rule: %q", missing)
	}
}

// TestEmbeddedRewrites: built-in descriptions speak of other tools while those
// are there.
func TestEmbeddedRewrites(t *testing.T) {
	s := newStage(t).builtins(t)
	a := s.assembler(t, func(o *assembly.Options) { o.Rewrites = embedded(t).Rewrites() })
	describe := func(name string, enabled ...string) string {
		t.Helper()
		r := request(enabled...)
		r.SkipBridge = true
		for _, d := range a.Assemble(r).Usable {
			if d.Name == name {
				return d.Description
			}
		}
		t.Fatalf("%s is not there with %q", name, enabled)
		return ""
	}
	for _, row := range []struct {
		tool    string
		enabled []string
		says    string
		want    bool
	}{
		{"browser_navigate", []string{"browser"}, "web_search", true}, // browser brings web_search along
		{"execute_code", []string{"code_execution", "web"}, "web_search(", true},
		{"execute_code", []string{"code_execution", "web"}, "read_file(", false},
		{"execute_code", []string{"code_execution", "file"}, "read_file(", true},
		{"execute_code", []string{"code_execution", "file"}, "terminal(", false},
		{"execute_code", []string{"code_execution"}, "patch(", false},
	} {
		if got := strings.Contains(describe(row.tool, row.enabled...), row.says); got != row.want {
			t.Errorf("%s with %q mentions %s: %t, want %t", row.tool, row.enabled, row.says, got, row.want)
		}
	}
	r := request("browser")
	r.SkipBridge, r.Disabled = true, []string{"web"}
	for _, d := range a.Assemble(r).Usable {
		if d.Name == "browser_navigate" && strings.Contains(d.Description, "web_search") {
			t.Error("browser_navigate points at web tools that are not there")
		}
	}
}

// TestBridgeFailure: a session gets its tools unbridged rather than none.
func TestBridgeFailure(t *testing.T) {
	s := newStage(t)
	s.define(t, "mcp-github", "create_issue", "Open an issue.", ``)
	a := s.assembler(t, func(o *assembly.Options) {
		o.Bridge = bridge.New(bridge.Options{Core: func(string) bool { panic("no core list") }, Catalog: s.registry})
	})
	got := a.Assemble(request("mcp-github"))
	if namesOf(got.Definitions) != "create_issue" || got.Activated || got.Listing.Form != bridge.FormNone {
		t.Errorf("surface %q, active %t", namesOf(got.Definitions), got.Activated)
	}
	if !strings.Contains(s.log.String(), "no core list") {
		t.Errorf("no warning in the log: %s", s.log)
	}
}

// TestSurfacesAreTheirOwn: appending to a surface reaches nobody else's.
func TestSurfacesAreTheirOwn(t *testing.T) {
	s := newStage(t).builtins(t)
	s.define(t, "mcp-github", "create_issue", "Open an issue.", ``)
	s.guarded(t, "guarded", "docker")
	s.probe("docker").up = false // leaves room where the tool would have been
	a := s.assembler(t, nil)
	r := request("file", "mcp-github", "set")
	first := a.Assemble(r)
	one := append(first.Definitions, first.Usable[0])
	for what, list := range map[string][]*registry.Definition{"surface": first.Definitions, "usable tools": first.Usable, "deferred tools": first.Deferred} {
		one, two := append(list, first.Usable[0]), append(list, first.Usable[1])
		if one[len(one)-1] == two[len(two)-1] {
			t.Errorf("two appends to the %s share memory", what)
		}
	}
	if again := a.Assemble(r); len(again.Definitions) != len(one)-1 || bytesOf(again) != bytesOf(first) {
		t.Errorf("the kept surface became %q", namesOf(again.Definitions))
	}
}

// TestOverridesReachTheSurface: dynamic text is read at assembly.
func TestOverridesReachTheSurface(t *testing.T) {
	s := newStage(t)
	d, err := registry.Define("delegate", "Static.", json.RawMessage(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	limit := "3"
	s.register(t, registry.Registration{Toolset: "set", Definition: d, Overrides: func() ([]rawjson.Field, error) {
		return []rawjson.Field{{Key: "description", Value: rawjson.String("At most " + limit + ".")}}, nil
	}})
	a := s.assembler(t, memoMode(assembly.MemoOff))
	first := a.Assemble(request("set")).Usable[0]
	if again := a.Assemble(request("set")).Usable[0]; again != first {
		t.Error("equal content, but another definition: per-tool work would be repeated")
	}
	limit = "5"
	if got := a.Assemble(request("set")).Usable[0].Description; got != "At most 5." {
		t.Errorf("description %q", got)
	}
}
