package metrics_test

import (
	"fmt"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"pgregory.net/rapid"
)

// TestItemsMakeFigures holds the items of any sessions to the figures that an accumulator makes of them.
func TestItemsMakeFigures(t *testing.T) {
	if fault := itemsFault(twoSessions()); fault != "" { // of which some have a second query
		t.Error(fault)
	}
	rapid.Check(t, func(t *rapid.T) {
		var sessions []metrics.Observations
		for range rapid.IntRange(1, 2).Draw(t, "sessions") {
			sessions = append(sessions, drawSession(t))
		}
		if fault := itemsFault(sessions); fault != "" {
			t.Fatal(fault)
		}
	})
}

// itemsFault says where items and figures do not agree: they must have the same populations and, added up in the same
// order, the same bits, and no two items of a measure may stand in the same place.
func itemsFault(sessions []metrics.Observations) string {
	type column struct{ measure, arm, class string }
	a, items := metrics.NewAccumulator(), metrics.NewItems()
	sums, sizes, twice := map[column]float64{}, map[column]int{}, ""
	for _, session := range sessions {
		if err := a.Add(session); err != nil {
			return err.Error()
		}
		seen := make(map[metrics.Item]bool)
		items.Of(session, func(i metrics.Item) {
			place := i
			place.Value = 0
			if seen[place] {
				twice = fmt.Sprintf("%+v is there twice", place)
			}
			seen[place] = true
			columns := []column{{i.Measure, i.Arm, ""}}
			if i.Class != "" {
				columns = append(columns, column{i.Measure, i.Arm, i.Class})
			}
			for _, c := range columns {
				sums[c] += i.Value
				sizes[c]++
			}
		})
	}
	figures := 0
	for _, f := range a.Figures() {
		if f.PoolBin != "" {
			continue
		}
		figures++
		c := column{f.Measure, f.Arm, f.Class}
		want := sums[c]
		if !metrics.IsTotal(f.Measure) {
			want /= float64(sizes[c])
		}
		if f.N != sizes[c] || f.Value != want {
			return fmt.Sprintf("%v: figure %v over %d, items give %v over %d", c, f.Value, f.N, want, sizes[c])
		}
	}
	if figures != len(sizes) {
		return fmt.Sprintf("%d figures, items of %d", figures, len(sizes))
	}
	return twice
}

func TestWhichMeasuresHaveItems(t *testing.T) {
	for _, c := range []struct {
		measure      string
		items, total bool
	}{
		{"surface_tokens", true, false},
		{"cold_calls", true, true},
		{"recall@limit", true, false},
		{metrics.MeasureBreakEvenTurns, false, false},
		{"no such measure", false, false},
	} {
		if metrics.HasItems(c.measure) != c.items || metrics.IsTotal(c.measure) != c.total {
			t.Errorf("%s: items %v, total %v", c.measure, metrics.HasItems(c.measure), metrics.IsTotal(c.measure))
		}
	}
}
