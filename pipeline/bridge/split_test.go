package bridge_test

import (
	"slices"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// What is kept of a set of tools is found again for the same tools classified
// alike, and for nothing else: a tool that moved to another source, stands
// elsewhere or has another description is seen in surface and hits alike.
func TestKeptSplitsAreThoseOfTheSameContent(t *testing.T) {
	eachVariant(t, func(t *testing.T, v bridge.Variant) {
		d := newDeskOf(t, v)
		first := d.define(t, "mcp-a", "alpha", "Sends a letter.")
		second := d.define(t, "mcp-a", "beta", "Sends a parcel.")
		tools := []*registry.Definition{first, second}
		listing := func(tools []*registry.Definition, contextLength int) string {
			s, err := d.Assemble(tools, v.DefaultConfig(), contextLength)
			if err != nil {
				t.Fatal(err)
			}
			return s.Listing.Text
		}
		before := listing(tools, 200_000)
		if d.Split(tools) != d.Split(slices.Clone(tools)) {
			t.Error("equal tools, classified alike, are split twice")
		}
		if listing(tools, 200_000) != before || listing(tools, 100) == before {
			t.Error("the listing does not follow the context length")
		}
		d.catalog["beta"] = "mcp-b"
		if after := listing(tools, 200_000); after == before {
			t.Errorf("a tool moved to another source, and the listing is still %q", after)
		}
		if hits := d.session(second, first).Search("parcel", 1); len(hits) != 1 || hits[0].Tool != second {
			t.Errorf("in another order: hits %v", hits)
		}
		edited := second.WithDescription("Sends a telegram.")
		if hits := d.session(first, edited).Search("telegram", 1); len(hits) != 1 || hits[0].Tool != edited {
			t.Errorf("with another description: hits %v", hits)
		}
		d.catalog["beta"] = "mcp-a"
		if listing(tools, 200_000) != before {
			t.Error("back where it was, and the listing is another")
		}
		delete(d.catalog, "beta") // nobody's tool never defers
		if s := d.Split(tools); len(s.Deferrable) != 1 || len(s.Visible) != 1 {
			t.Errorf("deferrable %d, visible %d, want 1 and 1", len(s.Deferrable), len(s.Visible))
		}
	})
}
