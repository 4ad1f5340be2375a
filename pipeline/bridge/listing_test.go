package bridge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// many makes n tools of one toolset, named by a format.
func (d *desk) many(t testing.TB, n int, toolset, format string) []*registry.Definition {
	t.Helper()
	tools := make([]*registry.Definition, n)
	for i := range tools {
		tools[i] = d.define(t, toolset, fmt.Sprintf(format, i), "Does one of many things.")
	}
	return tools
}

const head = "Deferred tools by source. Load a schema with `tool_describe`, run a tool with `tool_call`:"

func TestShortDescription(t *testing.T) {
	long := strings.Repeat("word ", 40)
	for _, row := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"only space", " \n\t ", ""},
		{"the first sentence, with its full stop", "Send a message. And more.", "Send a message."},
		{"no full stop", "Send a message", "Send a message"},
		{"an exclamation mark goes", "Send! Now.", "Send"},
		{"a question mark goes", "Lost? Ask.", "Lost"},
		{"any full stop ends it", "Such as e.g. this", "Such as e."},
		{"even within a number", "Version 1.2 only", "Version 1."},
		{"a mark at the very start", ". x", "."},
		{"white space is folded", "a \n\n b\t\x1cc\u3000d", "a b c d"},
		{"60 code points stay", strings.Repeat("x", 60), strings.Repeat("x", 60)},
		{"61 are cut, in a word", strings.Repeat("x", 61), strings.Repeat("x", 60) + "…"},
		{"cut back to a word", long, strings.TrimSpace(long[:60]) + "…"},
		{"trailing marks go", strings.Repeat("x", 40) + ",;: , " + strings.Repeat("y", 40), strings.Repeat("x", 40) + "…"},
		{"code points, not bytes", strings.Repeat("工", 61), strings.Repeat("工", 60) + "…"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := bridge.July.ShortDescription(row.in)
			if got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
			if n := utf8.RuneCountInString(got); n > 61 {
				t.Errorf("%d code points, want 61 at most", n)
			}
		})
	}
}

func TestListingText(t *testing.T) {
	d := newDesk(t)
	tools := []*registry.Definition{
		d.define(t, "mcp-zeta", "z_tool", "Last of all."),
		d.define(t, "alpha", "b_tool", "Second! Really."),
		d.define(t, "mcp-alpha", "a_tool", ""), // a server and a plugin of one name stand together
		d.define(t, "", "stray", "Nobody's tool."),
	}
	for _, row := range []struct {
		budget int
		form   bridge.Form
		lines  []string
	}{
		{20_000, bridge.FormFull, []string{
			head,
			"alpha tools (2):", "- a_tool", "- b_tool: Second",
			"other tools (1):", "- stray: Nobody's tool.",
			"zeta tools (1):", "- z_tool: Last of all.",
		}},
		{45, bridge.FormNames, []string{
			head,
			"alpha tools (2):", "a_tool, b_tool",
			"other tools (1):", "stray",
			"zeta tools (1):", "z_tool",
		}},
		{20, bridge.FormNone, nil},
	} {
		got := d.List(tools, row.budget)
		if want := strings.Join(row.lines, "\n"); got.Form != row.form || got.Text != want {
			t.Errorf("budget %d: form %s, text\n%s\nwant %s\n%s", row.budget, got.Form, got.Text, row.form, want)
		}
	}
	if got := d.List(nil, 20_000); got.Form != bridge.FormNone || got.Text != "" {
		t.Errorf("nothing deferred: %+v", got)
	}
}

// TestListingFitsExactly: the budget is met to the token and not passed.
func TestListingFitsExactly(t *testing.T) {
	d := newDesk(t)
	tools := d.many(t, 40, "mcp-x", "tool_%02d")
	full := d.List(tools, 60_000)
	tokens := (utf8.RuneCountInString(full.Text) + 3) / 4
	if got := d.List(tools, tokens); got.Form != bridge.FormFull {
		t.Errorf("at %d tokens: form %s, want full", tokens, got.Form)
	}
	if got := d.List(tools, tokens-1); got.Form != bridge.FormNames {
		t.Errorf("at %d tokens: form %s, want names", tokens-1, got.Form)
	}
}

func TestListingIsStable(t *testing.T) {
	d := newDesk(t)
	tools := slices.Concat(d.many(t, 3, "mcp-zeta", "zeta_%d"), d.many(t, 3, "mcp-alpha", "alpha_%d"))
	reversed := slices.Clone(tools)
	slices.Reverse(reversed)
	forward, backward := d.List(tools, 20_000), d.List(reversed, 20_000)
	if forward.Text != backward.Text {
		t.Errorf("the order of tools shows:\n%s\n%s", forward.Text, backward.Text)
	}
	if strings.Index(forward.Text, "alpha tools") > strings.Index(forward.Text, "zeta tools") {
		t.Errorf("alpha does not stand before zeta:\n%s", forward.Text)
	}
}

func TestFiftyTools(t *testing.T) {
	d := newDesk(t)
	tools := d.many(t, 50, "mcp-many", "tool_%03d")
	if got := d.List(tools, 20_000); !strings.Contains(got.Text, "- tool_000:") {
		t.Errorf("in full, but no line for tool_000:\n%s", got.Text)
	}
	if got := d.List(tools, 300); got.Form != bridge.FormNames || strings.Contains(got.Text, "- tool_000") || !strings.Contains(got.Text, "tool_000, tool_001") {
		t.Errorf("form %s:\n%s", got.Form, got.Text)
	}
	if got := d.List(tools, 200); got.Form != bridge.FormNames || !strings.Contains(got.Text, "tool_049") {
		t.Errorf("form %s:\n%s", got.Form, got.Text)
	}
}

// TestLargeSourceCollapses: thousands of flat tools beside a handful do not
// take the handful's names away.
func TestLargeSourceCollapses(t *testing.T) {
	d := newDesk(t)
	tools := slices.Concat(
		d.many(t, 300, "mcp-bigsrv", "bigsrv_tool_%04d_with_a_long_name"),
		[]*registry.Definition{d.define(t, "mcp-smallsrv", "smallsrv_create_item", "Create."), d.define(t, "mcp-smallsrv", "smallsrv_list_items", "List.")})
	got := d.List(tools, 300)
	want := head + "\nbigsrv (300 tools, names omitted: find them with `tool_search`)\nsmallsrv tools (2):\nsmallsrv_create_item, smallsrv_list_items"
	if got.Form != bridge.FormMixed || got.Text != want {
		t.Errorf("form %s:\n%s", got.Form, got.Text)
	}
	reversed := slices.Clone(tools)
	slices.Reverse(reversed)
	if back := d.List(reversed, 300); back.Text != got.Text {
		t.Errorf("the order of tools shows:\n%s", back.Text)
	}
	for label, named := range map[string]bool{"bigsrv": false, "smallsrv": true} {
		if got.Names(label) != named {
			t.Errorf("Names(%s) = %t, want %t", label, got.Names(label), named)
		}
	}
	// The three sizes at which the form changes.
	for _, row := range []struct {
		budget int
		form   bridge.Form
	}{{2668, bridge.FormNames}, {2667, bridge.FormMixed}, {54, bridge.FormMixed}, {53, bridge.FormNone}} {
		if got := d.List(tools, row.budget); got.Form != row.form {
			t.Errorf("budget %d: form %s, want %s", row.budget, got.Form, row.form)
		}
	}
}

// TestOneLargeSource: with no room for names the source is still there, with
// its size and the way to its tools.
func TestOneLargeSource(t *testing.T) {
	d := newDesk(t)
	tools := d.many(t, 400, "mcp-tiertest", "tier2_very_long_tool_name_number_%04d_extra")
	s := assemble(t, d.Bridge, tools, with(func(c *bridge.Config) { c.ListingMaxTokens = 200 }), 200_000)
	text := description(s)
	if !s.Activated || s.Tier != 2 || s.Listing.Form != bridge.FormGroups {
		t.Errorf("active %t, tier %d, form %s", s.Activated, s.Tier, s.Listing.Form)
	}
	if strings.Contains(text, "tier2_very_long") {
		t.Error("a tool's name is in the description")
	}
	for _, part := range []string{"tiertest", "(400 tools", "search first"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in the description:\n%s", part, text)
		}
	}
}

// TestCollapseOrder: the largest names block goes first, equal ones by label,
// and collapsing stops as soon as the text fits.
func TestCollapseOrder(t *testing.T) {
	d := newDesk(t)
	tools := slices.Concat(
		d.many(t, 9, "mcp-b", "b_rather_long_tool_name_%02d"), d.many(t, 9, "mcp-a", "a_rather_long_tool_name_%02d"),
		d.many(t, 30, "mcp-c", "c_rather_long_tool_name_%02d"), d.many(t, 1, "mcp-d", "d%d"))
	var steps []string
	for budget := 450; budget > 20; budget-- {
		l, collapsed := d.List(tools, budget), ""
		for _, label := range []string{"a", "b", "c", "d"} {
			if strings.Contains(l.Text, "\n"+label+" (") {
				collapsed += label
			}
		}
		if step := string(l.Form) + " " + collapsed; len(steps) == 0 || steps[len(steps)-1] != step {
			steps = append(steps, step)
		}
	}
	// Collapsing d as well would lengthen the text: there is no groups form here.
	if got, want := strings.Join(steps, ", "), "names , mixed c, mixed ac, mixed abc, none "; got != want {
		t.Errorf("from a large to a small budget: %q, want %q", got, want)
	}
}

func TestThirtyToolsAreListed(t *testing.T) {
	d := newDesk(t)
	s := assemble(t, d.Bridge, d.many(t, 30, "mcp-listingtest", "mcp_x_%d"), bridge.DefaultConfig(), 200_000)
	if !strings.Contains(description(s), "listingtest tools (30):") {
		t.Errorf("no heading in\n%s", description(s))
	}
}

// TestListingForms: which forms name what, and the tier they stand for.
func TestListingForms(t *testing.T) {
	d := newDesk(t)
	small, big := d.many(t, 2, "mcp-small", "small_%d"), d.many(t, 400, "mcp-big", "big_tool_with_a_name_%04d")
	all := slices.Concat(small, big)
	for _, row := range []struct {
		config     bridge.Config
		tools      []*registry.Definition
		form       bridge.Form
		tier       int
		small, big bool
	}{
		{bridge.DefaultConfig(), all, bridge.FormFull, 1, true, true},
		{with(func(c *bridge.Config) { c.ListingMaxTokens = 4000 }), all, bridge.FormNames, 1, true, true},
		{with(func(c *bridge.Config) { c.ListingMaxTokens = 200 }), all, bridge.FormMixed, 1, true, false},
		{with(func(c *bridge.Config) { c.ListingMaxTokens = 200 }), big, bridge.FormGroups, 2, false, false},
		{with(func(c *bridge.Config) { c.ThresholdPct = 0 }), all, bridge.FormNone, 2, false, false},
		{with(func(c *bridge.Config) { c.Listing = bridge.Off }), all, bridge.FormNone, 2, false, false},
	} {
		s := assemble(t, d.Bridge, row.tools, row.config, 1_000_000)
		if s.Listing.Form != row.form || s.Tier != row.tier {
			t.Errorf("form %s, tier %d; want %s, %d", s.Listing.Form, s.Tier, row.form, row.tier)
		}
		if got := s.Listing.Names("small"); got != row.small {
			t.Errorf("form %s: names of small %t, want %t", row.form, got, row.small)
		}
		if got := s.Listing.Names("big"); got != row.big {
			t.Errorf("form %s: names of big %t, want %t", row.form, got, row.big)
		}
	}
}
