package bridge_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// What the bridge itself costs in the system that it reproduces. Ours stays
// near it, so that a saving never comes from terse wording.
const (
	referenceSchemaTokens = 378 // of the three schemas without a listing
	referenceFramingRunes = 195 // of what surrounds the listing's groups
)

func within(got, reference int, share float64) bool {
	return math.Abs(float64(got-reference)) <= share*float64(reference)
}

func tools(t testing.TB, b *bridge.Bridge, deferred int, l bridge.Listing) []*registry.Definition {
	t.Helper()
	definitions, err := b.Tools(deferred, l)
	if err != nil {
		t.Fatal(err)
	}
	return definitions
}

func TestSchemaSize(t *testing.T) {
	d := newDesk(t)
	for _, deferred := range []int{1, 30, 400, 17_000} {
		if got := bridge.Estimate(tools(t, d.Bridge, deferred, bridge.Listing{})); !within(got, referenceSchemaTokens, 0.10) {
			t.Errorf("%d deferred tools: schemas of %d tokens, want within a tenth of %d", deferred, got, referenceSchemaTokens)
		}
	}
}

func TestFramingSize(t *testing.T) {
	d := newDesk(t)
	deferred := slices.Concat(d.four(t), d.many(t, 300, "mcp-big", "big_tool_with_a_name_%04d"))
	for _, budget := range []int{20_000, 2500, 200} {
		listing := d.List(deferred, budget)
		_, groups, _ := strings.Cut(listing.Text, "\n")
		bare := tools(t, d.Bridge, len(deferred), bridge.Listing{})[0].Description
		full := tools(t, d.Bridge, len(deferred), listing)[0].Description
		got := utf8.RuneCountInString(full) - utf8.RuneCountInString(bare) - utf8.RuneCountInString(groups)
		if !within(got, referenceFramingRunes, 0.25) {
			t.Errorf("form %s: a framing of %d code points, want within a quarter of %d", listing.Form, got, referenceFramingRunes)
		}
	}
}

// TestWording: what a model must be told, or it denies what it has.
func TestWording(t *testing.T) {
	d := newDesk(t)
	listing := d.List(d.four(t), 20_000)
	bare, listed := tools(t, d.Bridge, 4, bridge.Listing{}), tools(t, d.Bridge, 4, listing)
	if got := namesOf(listed); got != "tool_search tool_describe tool_call" {
		t.Fatalf("tools %q", got)
	}
	text := listed[0].Description
	if !strings.HasPrefix(text, bare[0].Description) || !strings.Contains(text, listing.Text) {
		t.Errorf("the description is not the bare one with the listing:\n%s", text)
	}
	for _, part := range []string{
		"never claim that it is unavailable", // listed, so it exists
		"skip `tool_search`",                 // the exact name is in sight
		"search first",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
		if strings.Contains(bare[0].Description, part) {
			t.Errorf("%q makes no sense without a listing:\n%s", part, bare[0].Description)
		}
	}
	if !strings.Contains(bare[0].Description, "before you fall back on another tool or decline") {
		t.Errorf("nothing tells a model without a listing to search:\n%s", bare[0].Description)
	}
	for i := 1; i < 3; i++ {
		if bare[i].JSON != listed[i].JSON {
			t.Errorf("the listing changes %s", bare[i].Name)
		}
	}
}

// TestToolsFollowTheirInput: what a bridge keeps of earlier surfaces never
// stands in for another number or listing.
func TestToolsFollowTheirInput(t *testing.T) {
	d := newDesk(t)
	for range 2 {
		for deferred := 1; deferred <= 12; deferred++ {
			for _, listing := range []bridge.Listing{{}, d.List(d.four(t), 20_000)} {
				got := tools(t, d.Bridge, deferred, listing)[0].Description
				if !strings.Contains(got, fmt.Sprintf("one of the %d further tools", deferred)) || !strings.Contains(got, listing.Text) {
					t.Fatalf("%d deferred tools, listing %q:\n%s", deferred, listing.Form, got)
				}
				if (listing.Text == "") == strings.Contains(got, head) {
					t.Fatalf("listing %q:\n%s", listing.Form, got)
				}
			}
		}
	}
}

func TestBridgeParameters(t *testing.T) {
	d := newDesk(t)
	got := tools(t, d.Bridge, 1, bridge.Listing{})
	for i, want := range []struct{ properties, required string }{
		{"query limit", "query"}, {"name", "name"}, {"name arguments", "name arguments"},
	} {
		if p, r := strings.Join(got[i].Properties, " "), strings.Join(got[i].Required, " "); p != want.properties || r != want.required {
			t.Errorf("%s takes %q, requires %q; want %q, %q", got[i].Name, p, r, want.properties, want.required)
		}
	}
}
