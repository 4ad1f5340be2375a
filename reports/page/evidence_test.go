package page

import (
	"slices"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

// asked is a search of a turn whose gold is at a rank, 0 if it is not found.
func asked(turn, step, rank int) metrics.Search {
	s := metrics.Search{SessionID: "s", Arm: "bare", IntentID: "i", Turn: turn, Step: step, Limit: 5, Gold: []string{"gold"}}
	for i := range 10 {
		hit := metrics.Hit{Tool: "other", Rank: i + 1}
		if i+1 == rank {
			hit.Tool = "gold"
		}
		s.Hits = append(s.Hits, hit)
	}
	return s
}

// TestExample: of all times the first of those that found least is kept, with the later queries of that time.
func TestExample(t *testing.T) {
	calls := []metrics.Call{
		{Arm: "bare", IntentID: "i", Turn: 1, Path: metrics.PathLost}, {Arm: "bare", IntentID: "i", Turn: 1, Gold: 1, Path: metrics.PathSearched},
		{Arm: "listing", IntentID: "i", Turn: 1, Path: metrics.PathDescribed}, {Arm: "bare", IntentID: "other", Turn: 1, Path: metrics.PathDirect},
	}
	var x example
	for _, s := range []metrics.Search{asked(0, 0, 1), asked(0, 1, 2), asked(1, 0, 7), asked(1, 1, 3), asked(2, 0, 0), asked(2, 1, 0)} {
		x.take(s, calls)
	}
	if x.turn != 1 || x.recall != 0 || len(x.searches) != 2 || x.searches[1].Step != 1 || !slices.Equal(x.paths, []string{"lost, searched"}) {
		t.Errorf("example %+v", x)
	}
}

func TestSharedExamples(t *testing.T) {
	of := func(arm string, issued bool, searches ...metrics.Search) example {
		for i := range searches {
			searches[i].Arm, searches[i].Issued = arm, issued
		}
		return example{arms: []string{arm}, paths: []string{"by " + arm}, session: "s", searches: searches}
	}
	merged := shared([]example{{}, of("listing", false, asked(0, 0, 3)), of("bare", true, asked(0, 0, 3)), of("other", true, asked(0, 0, 4))})
	if len(merged) != 2 || !slices.Equal(merged[0].arms, []string{"listing", "bare"}) || !slices.Equal(merged[0].paths, []string{"by listing", "by bare"}) {
		t.Fatalf("merged %+v", merged)
	}
	if !merged[0].searches[0].Issued {
		t.Error("a search that one arm made is not shown as made")
	}
}
