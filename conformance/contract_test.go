package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// These tests hold what the contract says and no vector can: values that JSON has no form for, sessions that see less
// than the catalog, and catalogs too large for a file.

// tool writes one tool of a catalog that a test makes up.
func tool(name, toolset string) toolVector {
	return toolVector{Name: name, Description: "Does what it is called.", Toolset: rawjson.String(toolset), Parameters: []byte(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`)}
}

func staged(t *testing.T, tools ...toolVector) *stage {
	t.Helper()
	r, err := newRunner(Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, faults := r.stage(&bridgeCase{Tools: tools, Config: []byte("{}")})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return s
}

// twoSources is the contract's example: one server of 300 tools beside one of two.
func twoSources() []toolVector {
	var tools []toolVector
	for i := range 300 {
		tools = append(tools, tool(fmt.Sprintf("bigsrv_tool_%04d_with_a_long_name", i), "mcp-bigsrv"))
	}
	return append(tools, tool("smallsrv_create_item", "mcp-smallsrv"), tool("smallsrv_list_items", "mcp-smallsrv"))
}

func TestListingOfTwoSources(t *testing.T) {
	s := staged(t, twoSources()...)
	reversed := slices.Clone(s.deferrable)
	slices.Reverse(reversed)
	for _, c := range []struct {
		budget int
		form   bridge.Form
		runes  int // 4 to the token; the header alone has 90
	}{
		{20_000, bridge.FormFull, 0},
		{2668, bridge.FormNames, 2668 * 4},
		{2667, bridge.FormMixed, 54 * 4},
		{300, bridge.FormMixed, 54 * 4},
		{54, bridge.FormMixed, 54 * 4},
		{53, bridge.FormNone, 0},
		{0, bridge.FormNone, 0},
		{-1, bridge.FormNone, 0},
	} {
		got := s.bridge.List(s.deferrable, c.budget)
		n := len([]rune(got.Text))
		if got.Form != c.form || c.runes > 0 && (n > c.runes || n <= c.runes-4) {
			t.Errorf("budget %d: form %s of %d code points, want %s of %d to %d", c.budget, got.Form, n, c.form, c.runes-3, c.runes)
		}
		if again := s.bridge.List(reversed, c.budget); again.Text != got.Text {
			t.Errorf("budget %d: the order of tools changes the listing", c.budget)
		}
	}
	mixed := s.bridge.List(s.deferrable, 300).Text
	for part, want := range map[string]bool{"smallsrv_create_item": true, "bigsrv_tool_0000": false, "bigsrv (300 tools": true} {
		if strings.Contains(mixed, part) != want {
			t.Errorf("mixed listing contains %q: %t\n%s", part, !want, mixed)
		}
	}
}

func TestListingOfOneLargeSource(t *testing.T) {
	var tools []toolVector
	for i := range 400 {
		tools = append(tools, tool(fmt.Sprintf("tier2_very_long_tool_name_number_%04d_extra", i), "mcp-tiertest"))
	}
	s := staged(t, tools...)
	c, _ := bridge.ParseConfig(map[string]any{"listing_max_tokens": 200})
	surface, err := s.bridge.Assemble(s.definitions, c, 200_000)
	if err != nil {
		t.Fatal(err)
	}
	if surface.Tier != 2 || surface.Listing.Form != bridge.FormGroups || surface.BudgetTokens != 200 {
		t.Errorf("tier %d, form %s, budget %d", surface.Tier, surface.Listing.Form, surface.BudgetTokens)
	}
	description := surface.Definitions[0].Description
	if strings.Contains(description, "tier2_very") || !strings.Contains(description, "tiertest (400 tools") {
		t.Errorf("description %s", description)
	}
}

// Sizes tie: the label decides which source loses its names first.
func TestEqualSourcesCollapseByLabel(t *testing.T) {
	s := staged(t, tool("b_one_tool_with_quite_a_long_name_of_its_own_so_that_it_pays", "mcp-b"), tool("a_one_tool_with_quite_a_long_name_of_its_own_so_that_it_pays", "mcp-a"))
	// Names: 90 + 2 × (1 + 12 + 1 + 60) = 238 code points. A collapsed source has 56 in place of 73: 221, then 204.
	for budget, want := range map[int]bridge.Form{60: bridge.FormNames, 59: bridge.FormMixed, 56: bridge.FormMixed, 55: bridge.FormGroups, 51: bridge.FormGroups, 50: bridge.FormNone} {
		got := s.bridge.List(s.deferrable, budget)
		if got.Form != want {
			t.Errorf("budget %d: %s, want %s\n%s", budget, got.Form, want, got.Text)
		}
		if got.Form == bridge.FormMixed && (strings.Contains(got.Text, "a_one") || !strings.Contains(got.Text, "b_one")) {
			t.Errorf("budget %d: the wrong source collapsed:\n%s", budget, got.Text)
		}
	}
}

func TestSettingsThatJSONCannotSay(t *testing.T) {
	defaults := bridge.DefaultConfig()
	for _, c := range []struct {
		name     string
		settings map[string]any
		want     func(*bridge.Config)
	}{
		{"percent NaN", map[string]any{"threshold_pct": math.NaN()}, func(c *bridge.Config) { c.ThresholdPct = 100 }},
		{"percent infinite", map[string]any{"threshold_pct": math.Inf(1)}, func(c *bridge.Config) { c.ThresholdPct = 100 }},
		{"percent minus infinite", map[string]any{"threshold_pct": math.Inf(-1)}, func(c *bridge.Config) { c.ThresholdPct = 0 }},
		{"percent NaN as text", map[string]any{"threshold_pct": " +NaN "}, func(c *bridge.Config) { c.ThresholdPct = 100 }},
		{"switch at minus zero, which is a whole number", map[string]any{"enabled": json.Number("-0")}, func(c *bridge.Config) { c.Enabled = bridge.Off }},
		{"switch at a fraction", map[string]any{"enabled": json.Number("-0.0"), "listing": json.Number("1e0")}, func(*bridge.Config) {}},
		{"percent two signs", map[string]any{"threshold_pct": "--nan"}, func(*bridge.Config) {}},
		{"limit NaN", map[string]any{"max_search_limit": math.NaN(), "listing": "off"}, func(c *bridge.Config) { c.Listing = bridge.Off }},
		{"limit infinite resets all", map[string]any{"max_search_limit": math.Inf(1), "listing": "off", "enabled": "off"}, func(*bridge.Config) {}},
		{"limit minus infinite resets all", map[string]any{"search_default_limit": math.Inf(-1), "threshold_pct": 50}, func(*bridge.Config) {}},
		{"tokens infinite resets all", map[string]any{"listing_max_tokens": math.Inf(1), "threshold_pct": 50}, func(*bridge.Config) {}},
		{"limit infinite as text", map[string]any{"max_search_limit": "inf", "threshold_pct": 50}, func(c *bridge.Config) { c.ThresholdPct = 50 }},
		{"largest doubles", map[string]any{"max_search_limit": math.MaxFloat64, "listing_max_tokens": -math.MaxFloat64}, func(c *bridge.Config) { c.MaxSearchLimit, c.ListingMaxTokens = 50, 200 }},
		{"YAML integers", map[string]any{"max_search_limit": int64(7), "search_default_limit": uint64(9), "threshold_pct": 3}, func(c *bridge.Config) { c.MaxSearchLimit, c.SearchDefaultLimit, c.ThresholdPct = 7, 7, 3 }},
	} {
		want := defaults
		c.want(&want)
		if got, _ := bridge.ParseConfig(c.settings); got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}

// A number in text may be written in any script's decimal digits, which come in runs from zero to nine.
func TestDigitsOfEveryScript(t *testing.T) {
	i := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.Is(unicode.Nd, r) {
			continue
		}
		c, _ := bridge.ParseConfig(map[string]any{"threshold_pct": string(r) + ".5"})
		if want := float64(i%10) + 0.5; c.ThresholdPct != want {
			t.Fatalf("%U: %g, want %g", r, c.ThresholdPct, want)
		}
		i++
	}
	if c, _ := bridge.ParseConfig(map[string]any{"threshold_pct": "²"}); c.ThresholdPct != 5 {
		t.Errorf("a superscript is no digit, got %g", c.ThresholdPct)
	}
}

func TestBudgetOfExtremeContexts(t *testing.T) {
	for _, c := range []struct {
		percent float64
		context int
		want    int
	}{
		{100, math.MaxInt, 20_000},
		{5, math.MinInt, 10_000},
		{0, math.MaxInt, 0},
		{1e-300, math.MaxInt, 0},
		{7, 99_999, 6999},
		{2.5, 8192, 204},
		{29, 100, 28}, // 100 × 0.29 in doubles is just below 29
	} {
		config := bridge.DefaultConfig()
		config.ThresholdPct = c.percent
		if got := config.Budget(c.context); got != c.want {
			t.Errorf("%g %% of %d: %d, want %d", c.percent, c.context, got, c.want)
		}
	}
}

// A session that was given fewer definitions than are registered cannot reach the others, whatever it asks.
func TestScopeIsTheSession(t *testing.T) {
	s := staged(t, tool("inside", "mcp-here"), tool("outside", "mcp-there"))
	scope := s.bridge.Scope(s.definitions[:1], bridge.DefaultConfig())
	args := func(json string) []rawjson.Field {
		fields, err := rawjson.Object([]byte(json))
		if err != nil {
			t.Fatal(err)
		}
		return fields
	}
	for arguments, want := range map[string]bridge.ErrorClass{
		`{"name":"outside","arguments":{"id":"1"}}`:    bridge.ClassNotInScope,
		`{"name":"outside","arguments":{}}`:            bridge.ClassNotInScope,
		`{"name":"outside","arguments":"{bad"}`:        bridge.ClassArgumentsNotJSON,
		`{"name":"inside","arguments":{}}`:             bridge.ClassMissingRequired,
		`{"name":"nowhere","arguments":{}}`:            bridge.ClassNotDeferrable,
		`{"name":"terminal","arguments":{}}`:           bridge.ClassNotDeferrable,
		`{"arguments":{"id":"1"}}`:                     bridge.ClassNameMissing,
		`{"name":"  ","arguments":"{bad"}`:             bridge.ClassNameMissing,
		`{"name":null}`:                                bridge.ClassNameMissing,
		`{"name":"tool_describe","arguments":"bad"}`:   bridge.ClassBridgeRecursion,
		`{"name":"inside","arguments":{"id":null}}`:    "",
		`{"name":" inside ","arguments":"{\"id\":1}"}`: "",
	} {
		var class bridge.ErrorClass
		if _, err := scope.ToolCall(args(arguments)); err != nil {
			class = err.Class
		}
		if class != want {
			t.Errorf("%s: class %q, want %q", arguments, class, want)
		}
	}
	if result, _ := scope.ToolDescribe(args(`{"name":"outside"}`)); !result.Failed {
		t.Errorf("describe: %s", result.Text)
	}
	result, matches := scope.ToolSearch(args(`{"query":"outside inside","limit":50}`))
	if len(matches) != 1 || matches[0].Tool.Name != "inside" || !strings.Contains(result.Text, `"total_available":1`) {
		t.Errorf("search: %s", result.Text)
	}
	outside := (&stage{registry: s.registry, bridge: s.bridge, scope: scope}).call(args(`{"name":"outside","arguments":{}}`))
	if *outside.inScope || !*outside.blocked || *outside.resolved != "outside" {
		t.Errorf("in scope %t, blocked %t, resolved %s", *outside.inScope, *outside.blocked, *outside.resolved)
	}
}

// Hits of a large catalog tie in catalog order, and limits bound them.
func TestSearchOfManyAlike(t *testing.T) {
	var tools []toolVector
	for i := range 1200 {
		tools = append(tools, tool(fmt.Sprintf("copy_%04d", 1200-i), "mcp-copies"))
	}
	s := staged(t, tools...)
	for limit, want := range map[string]int{"": 5, `,"limit":50`: 20, `,"limit":0`: 1, `,"limit":"3"`: 3, `,"limit":[9]`: 5, `,"limit":1e999`: 5, `,"limit":true`: 1, `,"limit":"4.5"`: 5} {
		fields, err := rawjson.Object([]byte(`{"query":"copy"` + limit + `}`))
		if err != nil {
			t.Fatal(err)
		}
		_, matches := s.scope.ToolSearch(fields)
		if len(matches) != want {
			t.Errorf("limit %s: %d matches, want %d", limit, len(matches), want)
		}
		for i, m := range matches {
			if want := fmt.Sprintf("copy_%04d", 1200-i); m.Tool.Name != want {
				t.Errorf("limit %s: match %d is %s, want %s", limit, i, m.Tool.Name, want)
			}
		}
	}
}

// Tokens are counted in code points of the compact definition: an emoji is one, an escape that JSON does not need none.
func TestEstimateCountsCodePoints(t *testing.T) {
	plain, err := registry.Define("n", "xxxx", []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range []string{"😀😀😀😀", "工具工具", "<&>/", "\u2028\u007f\u00a0é"} {
		d, err := registry.Define("n", same, []byte("{ \n }"))
		if err != nil {
			t.Fatal(err)
		}
		if d.Runes != plain.Runes || bridge.Estimate([]*registry.Definition{d}) != bridge.Estimate([]*registry.Definition{plain}) {
			t.Errorf("%q: %d code points, want %d: %s", same, d.Runes, plain.Runes, d.JSON)
		}
	}
	// {"type":"function","function":{"name":"n","description":"xxxx","parameters":{}}} has 80 code points.
	if plain.Runes != 80 || bridge.Estimate([]*registry.Definition{plain}) != 20 || bridge.Estimate(nil) != 0 {
		t.Errorf("%d code points, %d tokens", plain.Runes, bridge.Estimate([]*registry.Definition{plain}))
	}
}

// Blank text departs from the recorded refusal only if the call ends as one with {} does.
func TestDepartureIsHeldToTheContract(t *testing.T) {
	s := staged(t, tool("inside", "mcp-here"))
	class := "arguments_not_json"
	want := callWant{Arguments: []byte("null"), ErrorClass: &class}
	for arguments, departs := range map[string]bool{
		`""`: true, `" \n\t"`: true, `"\u00a0\u001f"`: true,
		`"{"`: false, `"\u200b"`: false, `null`: false, `[]`: false, `{}`: false,
	} {
		want.Request = callRequest{Name: []byte(`"inside"`), Arguments: []byte(arguments)}
		if got := s.departs(want, s.call([]rawjson.Field{{Key: "name", Value: []byte(`"inside"`)}, {Key: "arguments", Value: []byte("{}")}})); got != departs {
			t.Errorf("arguments %s: departs %t, want %t", arguments, got, departs)
		}
	}
	want.Request.Arguments = []byte(`""`)
	other := "not_deferrable"
	if s.departs(want, outcome{arguments: []byte("null"), errorClass: &other}) {
		t.Error("another end than that of {} departs")
	}
}

func TestSameContent(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[true,null]}`, `{"b":[true,null],"a":1}`, true},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`[1]`, `[1,2]`, false},
		{`[1,2]`, `[2,1]`, false},
		{`1`, `1.0`, true},
		{`100`, `1e2`, true},
		{`12345678901234567890123`, `12345678901234567890124`, false},
		{`1.5`, `1.25`, false},
		{`1e999`, `2e999`, false},
		{`"\ud83d\ude00"`, `"😀"`, true},
		{`"1"`, `1`, false},
		{`null`, `false`, false},
		{`{}`, `[]`, false},
		{`null`, ``, false},
	} {
		for _, swap := range []bool{false, true} {
			a, b := c.a, c.b
			if swap {
				a, b = b, a
			}
			if got := sameContent([]byte(a), []byte(b)); got != c.want {
				t.Errorf("%s and %s: %t, want %t", a, b, got, c.want)
			}
		}
	}
}
