package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func TestDeferrable(t *testing.T) {
	d := newDesk(t)
	d.define(t, "mcp-github", "create_issue", "")
	d.define(t, "notes", "add_note", "")
	d.define(t, "mcp-evil", bridge.SearchTool, "") // even a registered one
	for _, name := range coreTools {
		if d.Deferrable(name) {
			t.Errorf("%s is core and never defers", name)
		}
	}
	for name, want := range map[string]bool{
		"create_issue": true, "add_note": true, "nobody": false, "": false,
		bridge.SearchTool: false, bridge.DescribeTool: false, bridge.CallTool: false,
	} {
		if got := d.Deferrable(name); got != want {
			t.Errorf("Deferrable(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestClassify(t *testing.T) {
	d := newDesk(t)
	tools := []*registry.Definition{
		d.define(t, "mcp-b", "zeta", ""),
		d.define(t, "terminal", "terminal", ""),
		d.define(t, "", "unregistered", ""),
		d.define(t, "", bridge.CallTool, ""),
		d.define(t, "notes", "alpha", ""),
		d.define(t, "mcp-b", "zeta", ""),
	}
	visible, deferrable := d.Classify(tools)
	if v, f := namesOf(visible), namesOf(deferrable); v != "terminal unregistered" || f != "zeta alpha zeta" {
		t.Errorf("visible %q, deferrable %q; want both in the order given, without the bridge's names", v, f)
	}
	visible, deferrable = d.Classify([]*registry.Definition{d.define(t, "", "unregistered", "")})
	if namesOf(visible) != "unregistered" || len(deferrable) != 0 {
		t.Errorf("an unregistered tool: visible %q, deferrable %q", namesOf(visible), namesOf(deferrable))
	}
}

// TestMemoKeepsTheBridgesOwnTools: what callers remember by definition would
// grow with every bridge if each made tools of its own.
func TestMemoKeepsTheBridgesOwnTools(t *testing.T) {
	memo := bridge.NewMemo()
	tools := func() []*registry.Definition {
		list, err := bridge.New(bridge.Options{Memo: memo}).Tools(3, bridge.Listing{})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	first, second := tools(), tools()
	for i, d := range second {
		if d != first[i] {
			t.Errorf("%s is made anew", d.Name)
		}
	}
}

// TestGate: any deferrable tool activates the bridge, whatever its size and the
// context's; off and nothing to defer do not.
func TestGate(t *testing.T) {
	huge := strings.Repeat("x", 4_000_000)
	ten := func(s bridge.Switch) bridge.Config {
		return with(func(c *bridge.Config) { c.Enabled, c.ThresholdPct = s, 10 })
	}
	for _, row := range []struct {
		name          string
		config        bridge.Config
		toolset, text string
		contextLength int
		active        bool
	}{
		{"off with a million tokens", ten(bridge.Off), "mcp-a", huge, 200_000, false},
		{"on with nothing to defer", ten(bridge.On), "", "", 200_000, false},
		{"on with a small tool", ten(bridge.On), "mcp-a", "Small.", 200_000, true},
		{"auto with a small tool", ten(bridge.Auto), "mcp-a", "Small.", 200_000, true},
		{"auto with 50,000 tokens", ten(bridge.Auto), "mcp-a", huge[:200_000], 200_000, true},
		{"auto with an unknown context", ten(bridge.Auto), "mcp-a", "Small.", 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			tools := []*registry.Definition{d.define(t, "terminal", "terminal", "Run a command.")}
			if row.toolset != "" {
				tools = append(tools, d.define(t, row.toolset, "extra", row.text))
			}
			if s := assemble(t, d.Bridge, tools, row.config, row.contextLength); s.Activated != row.active {
				t.Errorf("active %t, want %t", s.Activated, row.active)
			}
		})
	}
}

func TestEstimate(t *testing.T) {
	d := newDesk(t)
	tiny := []*registry.Definition{d.define(t, "mcp-a", "a", "b")}
	var verbose []*registry.Definition
	for i := range 10 {
		verbose = append(verbose, d.define(t, "mcp-a", fmt.Sprintf("tool_%d", i), strings.Repeat("Very much to say. ", 20), "one", "two", "three"))
	}
	if bridge.Estimate(verbose) <= 10*bridge.Estimate(tiny) {
		t.Errorf("ten verbose tools %d, one tiny tool %d", bridge.Estimate(verbose), bridge.Estimate(tiny))
	}
	if got := bridge.Estimate(nil); got != 0 {
		t.Errorf("no tools: %d tokens", got)
	}
	// Code points are summed first and rounded up once.
	if got, want := bridge.Estimate(append(tiny, tiny...)), (2*tiny[0].Runes+3)/4; got != want {
		t.Errorf("two tools of %d code points: %d tokens, want %d", tiny[0].Runes, got, want)
	}
}

func TestAssembleCoreOnly(t *testing.T) {
	d := newDesk(t)
	tools := []*registry.Definition{d.define(t, "terminal", "terminal", "Run a command."), d.define(t, "file", "read_file", "Read a file.")}
	s := assemble(t, d.Bridge, tools, with(func(c *bridge.Config) { c.Enabled = bridge.On }), 200_000)
	if s.Activated || s.Tier != 0 || s.Listing.Form != bridge.FormNone || namesOf(s.Definitions) != "terminal read_file" {
		t.Errorf("active %t, tier %d, form %s, names %q", s.Activated, s.Tier, s.Listing.Form, namesOf(s.Definitions))
	}
}

func TestAssembleDefers(t *testing.T) {
	d := newDesk(t)
	tools := []*registry.Definition{
		d.define(t, "mcp-github", "mcp_one", "First."),
		d.define(t, "terminal", "terminal", "Run a command."),
		d.define(t, "mcp-github", "mcp_two", "Second."),
		d.define(t, "notes", "plugin_three", "Third."),
		d.define(t, "clarify", "clarify", "Ask back."),
	}
	s := assemble(t, d.Bridge, tools, with(func(c *bridge.Config) { c.ThresholdPct = 10 }), 200_000)
	if !s.Activated || s.Tier != 1 || s.Listing.Form != bridge.FormFull || s.DeferrableCount != 3 || s.BudgetTokens != 20_000 {
		t.Errorf("active %t, tier %d, form %s, %d deferred, budget %d", s.Activated, s.Tier, s.Listing.Form, s.DeferrableCount, s.BudgetTokens)
	}
	if got, want := namesOf(s.Definitions), "terminal clarify tool_search tool_describe tool_call"; got != want {
		t.Errorf("surface %q, want %q", got, want)
	}
	if got := namesOf(s.Deferred); got != "mcp_one mcp_two plugin_three" {
		t.Errorf("deferred %q, want them in the order given", got)
	}
	if got := description(s); !strings.Contains(got, "mcp_one") || !strings.Contains(got, "one of the 3 further tools") {
		t.Errorf("tool_search says %q", got)
	}
	want := bridge.Estimate([]*registry.Definition{tools[0], tools[2], tools[3]})
	if s.DeferrableTokens != want {
		t.Errorf("%d deferrable tokens, want %d", s.DeferrableTokens, want)
	}
	for _, d := range tools {
		if !strings.Contains(namesOf(s.Definitions)+" "+description(s), d.Name) {
			t.Errorf("%s is nowhere to be seen", d.Name)
		}
	}
}

// TestBridgeNamesAreStripped: nobody can bring a tool_search of their own, not
// even past a bridge that is off.
func TestBridgeNamesAreStripped(t *testing.T) {
	d := newDesk(t)
	tools := []*registry.Definition{d.define(t, "terminal", "terminal", ""), d.define(t, "mcp-evil", bridge.SearchTool, "Mine.")}
	for _, s := range []bridge.Switch{bridge.Off, bridge.On} {
		got := assemble(t, d.Bridge, tools, with(func(c *bridge.Config) { c.Enabled = s }), 200_000)
		if got.Activated || namesOf(got.Definitions) != "terminal" {
			t.Errorf("%s: active %t, surface %q", s, got.Activated, namesOf(got.Definitions))
		}
	}
}

// TestOffStillTells: what would be deferred is counted, and the threshold is
// the plain share of the context.
func TestOffStillTells(t *testing.T) {
	d := newDesk(t)
	tools := []*registry.Definition{d.define(t, "mcp-a", "b_tool", "B."), d.define(t, "terminal", "terminal", ""), d.define(t, "mcp-a", "a_tool", "A.")}
	off := with(func(c *bridge.Config) { c.Enabled = bridge.Off })
	s := assemble(t, d.Bridge, tools, off, 1_000_000)
	if s.Activated || s.Tier != 0 || s.DeferrableCount != 2 || s.DeferrableTokens == 0 || s.BudgetTokens != 50_000 || len(s.Deferred) != 0 {
		t.Errorf("surface %+v", s)
	}
	if got := namesOf(s.Definitions); got != "b_tool terminal a_tool" {
		t.Errorf("surface %q, want all tools in the order given", got)
	}
	if s := assemble(t, d.Bridge, tools[1:2], off, 1_000_000); s.BudgetTokens != 50_000 || s.DeferrableCount != 0 {
		t.Errorf("nothing to defer: budget %d, %d deferrable", s.BudgetTokens, s.DeferrableCount)
	}
	if s := assemble(t, d.Bridge, tools, off, -7); s.BudgetTokens != 0 {
		t.Errorf("a share of an unknown context: %d, want 0", s.BudgetTokens)
	}
}

func TestListingOff(t *testing.T) {
	d := newDesk(t)
	s := assemble(t, d.Bridge, d.four(t), with(func(c *bridge.Config) { c.Listing = bridge.Off }), 200_000)
	if !s.Activated || s.Tier != 2 || s.Listing.Form != bridge.FormNone || s.Listing.Text != "" || s.BudgetTokens != 10_000 {
		t.Errorf("active %t, tier %d, form %s, budget %d", s.Activated, s.Tier, s.Listing.Form, s.BudgetTokens)
	}
	for _, tool := range s.Deferred {
		if strings.Contains(description(s), tool.Name) {
			t.Errorf("tool_search names %s", tool.Name)
		}
	}
}

// TestAssemblyDoesNotTouchItsInput: the caller's list stays in order and whole.
func TestAssemblyDoesNotTouchItsInput(t *testing.T) {
	d := newDesk(t)
	tools := append(d.four(t), d.define(t, "terminal", "terminal", ""))
	before := namesOf(tools)
	for range 2 {
		assemble(t, d.Bridge, tools, bridge.DefaultConfig(), 8192)
	}
	if namesOf(tools) != before {
		t.Errorf("the input became %q", namesOf(tools))
	}
}

// TestNames: what a model can read off a surface.
func TestNames(t *testing.T) {
	d := newDesk(t)
	tools := append(d.four(t), d.define(t, "terminal", "terminal", ""))
	s := assemble(t, d.Bridge, tools, bridge.DefaultConfig(), 200_000)
	bare := assemble(t, d.Bridge, tools, with(func(c *bridge.Config) { c.Listing = bridge.Off }), 200_000)
	for _, row := range []struct {
		surface *bridge.Surface
		name    string
		want    bool
	}{{s, "slack_send_message", true}, {s, "terminal", true}, {bare, "slack_send_message", false}, {bare, "terminal", true}} {
		if got := d.Names(row.surface, row.name); got != row.want {
			t.Errorf("form %s, %s: named %t, want %t", row.surface.Listing.Form, row.name, got, row.want)
		}
	}
}
