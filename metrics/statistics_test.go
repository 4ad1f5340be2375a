package metrics_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"pgregory.net/rapid"
)

// column makes items of one column.
func column(values ...float64) (items [][]float64) {
	for _, v := range values {
		items = append(items, []float64{v})
	}
	return items
}

// made are n values of a rule.
func made(n int, rule func(i int) float64) [][]float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = rule(i)
	}
	return column(values...)
}

// TestMeanIntervals compares with values that another program computed: of few items from all resamples that there are
// (6^6 and 7^7), of many from 200,000 resamples of another generator. It took the acceleration from the jackknife and
// interpolated between ranks, so the bounds may differ by what few items leave between neighbouring means.
func TestMeanIntervals(t *testing.T) {
	for _, c := range []struct {
		name      string
		items     [][]float64
		low, high float64
		within    float64
	}{
		{"six values, all 46,656 resamples", column(.1, .4, .35, .8, .2, .95), 0.25, 0.75, 0.02},
		{"shares, all 823,543 resamples", column(0, 0, 1, 1, 1, 0, 1), 1. / 7, 6. / 7, 1e-12},
		{"skewed, all 46,656 resamples", column(1, 2, 3, 10, 30, 100), 6, 72, 1.5},
		{"60 values", made(60, func(i int) float64 { return float64(i*37%101) / 100 }), 0.42183, 0.56917, 0.004},
		{"8 of 80", made(80, func(i int) float64 {
			if i%10 == 0 {
				return 1
			}
			return 0
		}), 0.05, 0.1875, 1e-12},
		{"all equal", column(.3, .3, .3), .3, .3, 0},
		{"one item", column(.7), .7, .7, 0},
	} {
		got := metrics.MeanIntervals(c.items)[0]
		if math.Abs(got.Low-c.low) > c.within || math.Abs(got.High-c.high) > c.within {
			t.Errorf("%s: %v, want [%v, %v] within %v", c.name, got, c.low, c.high, c.within)
		}
	}
	if got := metrics.MeanIntervals(nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// TestColumnsAreIndependent holds a column to what it is alone.
func TestColumnsAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, columns := rapid.IntRange(1, 8).Draw(t, "items"), rapid.IntRange(1, 3).Draw(t, "columns")
		items := make([][]float64, n)
		for i := range items {
			items[i] = rapid.SliceOfN(rapid.Float64Range(-1, 1), columns, columns).Draw(t, "item")
		}
		intervals, ps := metrics.MeanIntervals(items), metrics.RandomisationTests(items)
		for c := range columns {
			var alone []float64
			for _, item := range items {
				alone = append(alone, item[c])
			}
			if want := metrics.MeanIntervals(column(alone...))[0]; intervals[c] != want {
				t.Fatalf("column %d of %v: %v, alone %v", c, items, intervals[c], want)
			}
			low, high := slices.Min(alone), slices.Max(alone)
			if in := intervals[c]; in.Low > in.High || in.Low < low-1e-9 || in.High > high+1e-9 {
				t.Fatalf("column %d of %v: interval %v", c, items, in)
			}
			if want := metrics.RandomisationTests(column(alone...))[0]; ps[c] != want || ps[c] <= 0 || ps[c] > 1 {
				t.Fatalf("column %d of %v: p %v, alone %v", c, items, ps[c], want)
			}
		}
	})
}

// TestRandomisationTests compares with values from all choices of signs, counted by another program. The pairs of the
// self-fertilised and crossed plants are Darwin's, in eighths of an inch, with Fisher's own 1,726 of 32,768.
func TestRandomisationTests(t *testing.T) {
	for _, c := range []struct {
		name   string
		items  [][]float64
		p      float64
		within float64
	}{
		{"all one way", column(1, 2, 3), 2. / 8, 0},
		{"one against", column(1, -2, 3, 4), 6. / 16, 0},
		{"equal pairs change nothing", column(0, 0, 1, 1, 1), 2. / 8, 0},
		{"seven pairs", column(.1, .2, -.3, .4, .5, -.1, .7), 24. / 128, 0},
		{"ties in spite of rounding", column(.3, .7, -.4, .4), 8. / 16, 0},
		{"Darwin's plants", column(49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48), 1726. / 32768, 0},
		{"30 pairs, drawn", made(30, func(i int) float64 { return float64(i*29%23 - 8) }), 0.0722358, 0.008},
		{"no difference", column(0, 0, 0), 1, 0},
		{"100 pairs that cancel", made(100, func(i int) float64 { return float64(i%2*2 - 1) }), 1, 0},
		{"100 pairs, all one way", made(100, func(int) float64 { return .5 }), 1. / 10_001, 0},
	} {
		if got := metrics.RandomisationTests(c.items)[0]; math.Abs(got-c.p) > c.within {
			t.Errorf("%s: p %v, want %v within %v", c.name, got, c.p, c.within)
		}
	}
	if got := metrics.RandomisationTests(nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// TestAgainstSciPy compares with testdata/statistics.json, which statistics.py beside it made. SciPy draws others, and 20
// times as many, and interpolates between ranks: bounds may differ by a tenth of the interval, p-values by four standard
// errors. Where all signs are tried, p-values are equal.
func TestAgainstSciPy(t *testing.T) {
	text, err := os.ReadFile("testdata/statistics.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Vectors []struct {
			Name         string
			Values       []float64
			Low, High, P float64
			Exact        bool
		}
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Vectors) != 20 {
		t.Errorf("%d vectors", len(table.Vectors))
	}
	for _, v := range table.Vectors {
		items := column(v.Values...)
		got, p := metrics.MeanIntervals(items)[0], metrics.RandomisationTests(items)[0]
		within := 0.1 * (v.High - v.Low)
		if math.Abs(got.Low-v.Low) > within || math.Abs(got.High-v.High) > within {
			t.Errorf("%s: interval %v, SciPy [%v, %v]", v.Name, got, v.Low, v.High)
		}
		within = 1e-12
		if !v.Exact {
			within = 4*math.Sqrt(v.P*(1-v.P)/10_000) + 1e-4
		}
		if math.Abs(p-v.P) > within {
			t.Errorf("%s: p %v, SciPy %v", v.Name, p, v.P)
		}
	}
}

// TestNotFinite gives values of which there is no mean: no panic, and no interval or p-value that looks like one.
func TestNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, items := range [][][]float64{column(bad), column(bad, bad), column(1, bad, 2), made(30, func(i int) float64 {
			if i == 7 {
				return bad
			}
			return float64(i)
		})} {
			if got := metrics.MeanIntervals(items)[0]; !math.IsNaN(got.Low) || !math.IsNaN(got.High) {
				t.Errorf("%v: interval %v", items, got)
			}
			if p := metrics.RandomisationTests(items)[0]; !math.IsNaN(p) {
				t.Errorf("%v: p %v", items, p)
			}
		}
	}
}

func TestHolm(t *testing.T) {
	for _, c := range []struct{ ps, want []float64 }{
		{nil, []float64{}},
		{[]float64{.04}, []float64{.04}},
		// .01·4, .02·3, then .04·2 = .08 and .05·1, which may not be less than .08.
		{[]float64{.04, .01, .05, .02}, []float64{.08, .04, .08, .06}},
		{[]float64{.5, .6}, []float64{1, 1}},
	} {
		got := metrics.Holm(c.ps)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
			t.Errorf("Holm(%v) = %v, want %v", c.ps, got, c.want)
		}
	}
}

func BenchmarkMeanIntervals(b *testing.B) {
	items := make([][]float64, 1000)
	for i := range items {
		items[i] = make([]float64, 22)
		for c := range items[i] {
			items[i][c] = float64((i*(c+7))%101) / 100
		}
	}
	for b.Loop() {
		metrics.MeanIntervals(items)
	}
}

// TestHolmAgainstClosedTesting compares with testdata/holm.json, which holm.py beside it made by trying every
// intersection of the hypotheses.
func TestHolmAgainstClosedTesting(t *testing.T) {
	text, err := os.ReadFile("testdata/holm.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Vectors []struct{ P, Adjusted []float64 }
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Vectors) != 10 {
		t.Errorf("%d vectors", len(table.Vectors))
	}
	for _, v := range table.Vectors {
		for i, got := range metrics.Holm(v.P) {
			if math.Abs(got-v.Adjusted[i]) > 1e-12 {
				t.Errorf("%v: p %d adjusted to %v, want %v", v.P, i, got, v.Adjusted[i])
			}
		}
	}
}
