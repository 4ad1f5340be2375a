package sessions

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// TestReachAgreesWithTheResolver compares the index with the plain definition:
// resolve the names over a real registry, and look for each gold.
func TestReachAgreesWithTheResolver(t *testing.T) {
	c := workshop(t)
	r := registry.New(registry.Options{})
	for _, tool := range c.Tools {
		if err := r.Register(registry.Registration{Toolset: tool.Toolset, Definition: tool.Definition}); err != nil {
			t.Fatal(err)
		}
	}
	resolver := toolset.NewResolver(c.Toolsets, r)
	all := append(c.Toolsets.Names(), c.SourceNames()...)
	rapid.Check(t, func(t *rapid.T) {
		grants := rapid.Permutation(all).Draw(t, "grants")[:rapid.IntRange(0, len(all)).Draw(t, "count")]
		var enabled []string
		if len(grants) > 0 {
			enabled = rapid.SliceOfDistinct(rapid.SampledFrom(grants), rapid.ID[string]).Draw(t, "enabled")
		}
		index := newReach(c, grants)
		pool := index.within(enabled)
		var got []string
		for n := range pool.size {
			got = append(got, c.Intents[pool.at(n)].ID)
		}
		slices.Sort(got)
		if want := served(c, resolver.Resolve(enabled...)); !slices.Equal(got, want) {
			t.Fatalf("with %q of %q: intents %q, want %q", enabled, grants, got, want)
		}
		reachable := len(served(c, resolver.Resolve(grants...)))
		if want := len(c.Intents) - 2 - reachable; index.unserved != want { // two are absent
			t.Fatalf("unserved by %q: %d, want %d", grants, index.unserved, want)
		}
	})
}

// served lists, sorted, the intents whose golds are all among the visible names.
func served(c *corpus.Corpus, visible []string) []string {
	var ids []string
	for _, in := range c.Intents {
		ok := in.Class != corpus.Absent
		for _, g := range in.Gold {
			tool, _ := c.Tool(g.Tool)
			ok = ok && slices.Contains(visible, tool.Definition.Name)
		}
		if ok {
			ids = append(ids, in.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

func TestEmbeddedSessionsStayInReach(t *testing.T) {
	c := embedded(t)
	d := newDrawer(t, c, Options{Seed: 4})
	resolver := toolset.NewResolver(c.Toolsets, newRegistered(c))
	for s, err := range d.Sessions(Range{Count: 300}) {
		if err != nil {
			t.Fatal(err)
		}
		visible := resolver.Resolve(slices.Concat(s.Toolsets, s.Servers)...)
		for _, e := range turnsOf(s) {
			for _, g := range e.Turn.Gold {
				if tool, ok := c.Tool(g.Tool); !ok || !slices.Contains(visible, tool.Definition.Name) {
					t.Fatalf("session %d asks for %s, which %q and %q do not give", s.RowIndex, g.Tool, s.Toolsets, s.Servers)
				}
			}
		}
	}
}

func TestDeckDealsEveryPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 50).Draw(t, "size")
		stream := distributions.NewStream(rapid.Uint64().Draw(t, "seed"), "deck", 0)
		deck := deck{size: size}
		for round := range 3 {
			var dealt []int
			for range size {
				dealt = append(dealt, deck.deal(stream))
			}
			slices.Sort(dealt)
			for i, v := range dealt {
				if i != v {
					t.Fatalf("round %d of a deck of %d dealt %v", round, size, dealt)
				}
			}
		}
	})
}

// TestDeckIsAShuffle compares the deck with a shuffle that keeps every position.
func TestDeckIsAShuffle(t *testing.T) {
	counts := make([]int, 6)
	orders := map[[3]int]int{{0, 1, 2}: 0, {0, 2, 1}: 1, {1, 0, 2}: 2, {1, 2, 0}: 3, {2, 0, 1}: 4, {2, 1, 0}: 5}
	for i := range uint64(6000) {
		stream := distributions.NewStream(1, "deck", i)
		deck := deck{size: 3}
		counts[orders[[3]int{deck.deal(stream), deck.deal(stream), deck.deal(stream)}]]++
	}
	fits(t, "orders of three", counts)
}

// TestTurnsAreReadyForFiles: what a drawn turn holds is in the form in which a
// file gives it back.
func TestTurnsAreReadyForFiles(t *testing.T) {
	turn, err := turnOf(&corpus.Intent{ID: "x", Utterance: "x", Language: "en", Class: corpus.Obvious,
		Gold: []corpus.Gold{{Tool: "t", Arguments: []corpus.Argument{{Name: "a", Value: json.RawMessage(` { "k" : "\u00e9\/" } `)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(turn.Gold[0].Arguments[0].Value); got != `{"k":"é/"}` {
		t.Errorf("value %s is not compact", got)
	}
	if turn.Queries == nil || turn.Gold[0].DependsOn == nil {
		t.Error("a list is nil")
	}
	_, err = turnOf(&corpus.Intent{ID: "bad", Utterance: "x", Language: "en", Class: corpus.Obvious,
		Gold: []corpus.Gold{{Tool: "t", Arguments: []corpus.Argument{{Name: "a", Value: json.RawMessage(`{`)}}}}})
	wantError(t, err, `intent "bad"`, `argument "a"`)
}
