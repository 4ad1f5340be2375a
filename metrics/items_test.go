package metrics_test

import (
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"pgregory.net/rapid"
)

// TestItemsMakeFigures holds the items of any sessions to the figures that an accumulator makes of them: the same
// populations and, added up in the same order, the same bits. No two items of a measure stand in the same place.
func TestItemsMakeFigures(t *testing.T) {
	type column struct{ measure, arm, class string }
	rapid.Check(t, func(t *rapid.T) {
		a, items := metrics.NewAccumulator(), metrics.NewItems()
		sums, sizes := map[column]float64{}, map[column]int{}
		for range rapid.IntRange(1, 2).Draw(t, "sessions") {
			session := drawSession(t)
			if err := a.Add(session); err != nil {
				t.Fatal(err)
			}
			seen := make(map[metrics.Item]bool)
			items.Of(session, func(i metrics.Item) {
				place := i
				place.Value = 0
				if seen[place] {
					t.Fatalf("%+v is there twice", place)
				}
				seen[place] = true
				for _, class := range []string{"", i.Class} {
					sums[column{i.Measure, i.Arm, class}] += i.Value
					sizes[column{i.Measure, i.Arm, class}]++
					if i.Class == "" {
						break
					}
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
				t.Fatalf("%v: figure %v over %d, items give %v over %d", c, f.Value, f.N, want, sizes[c])
			}
		}
		if figures != len(sizes) {
			t.Fatalf("%d figures, items of %d", figures, len(sizes))
		}
	})
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
