package metrics_test

import (
	"math"
	"slices"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"pgregory.net/rapid"
)

func TestQuantile(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	ten := []float64{3, 6, 7, 8, 8, 10, 13, 15, 16, 20}
	for _, c := range []struct {
		values  []float64
		p, want float64
	}{
		{[]float64{1, 2, 3, 4}, 0.25, 1.75},
		{[]float64{1, 2, 3, 4}, 0.5, 2.5},
		{[]float64{1, 2, 3, 4}, 0, 1},
		{[]float64{1, 2, 3, 4}, 1, 4},
		{[]float64{15, 20, 35, 40, 50}, 0.4, 29},
		{ten, 0.25, 7.25},
		{ten, 0.5, 9},
		{ten, 0.75, 14.5},
		{ten, 0.95, 18.2},
		{[]float64{7}, 0.99, 7},
		{[]float64{2, inf, inf}, 0.75, inf},
		{[]float64{2, 5, inf}, 0.5, 5},
		{nil, 0.5, nan},
		{ten, -0.1, nan},
		{ten, 1.1, nan},
		{ten, nan, nan},
	} {
		got := metrics.Quantile(c.values, c.p)
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) && !(math.Abs(got-c.want) < 1e-12) {
			t.Errorf("quantile %v of %v = %v, want %v", c.p, c.values, got, c.want)
		}
	}
}

func TestQuantileProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 40).Draw(t, "values")
		slices.Sort(values)
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		low, high := metrics.Quantile(values, min(p, q)), metrics.Quantile(values, max(p, q))
		if low > high+1e-9 || low < values[0]-1e-9 || high > values[len(values)-1]+1e-9 {
			t.Fatalf("quantiles %v and %v of %v are %v and %v", min(p, q), max(p, q), values, low, high)
		}
	})
}

func TestMean(t *testing.T) {
	if got := metrics.Mean([]float64{1, 2, 6}); got != 3 {
		t.Errorf("mean is %v", got)
	}
	if got := metrics.Mean(nil); !math.IsNaN(got) {
		t.Errorf("mean of nothing is %v", got)
	}
}
