package page

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

func TestApart(t *testing.T) {
	for _, c := range []struct{ places, want []vg.Length }{
		{nil, []vg.Length{}},
		{[]vg.Length{7}, []vg.Length{7}},
		{[]vg.Length{0, 20}, []vg.Length{0, 20}},
		{[]vg.Length{10, 10}, []vg.Length{15, 5}},
		{[]vg.Length{5, 10}, []vg.Length{2.5, 12.5}},
		{[]vg.Length{0, 30, 4}, []vg.Length{-3, 30, 7}},
		{[]vg.Length{0, 0, 0}, []vg.Length{10, 0, -10}},
		// The pair at 0 grows into the reach of the place at 14, and the three share the room.
		{[]vg.Length{14, 0, 0}, []vg.Length{14.666, 4.666, -5.333}},
	} {
		got := apart(c.places, 10)
		if !slices.EqualFunc(got, c.want, func(a, b vg.Length) bool { return math.Abs(float64(a-b)) < .001 }) {
			t.Errorf("apart(%v) = %v, want %v", c.places, got, c.want)
		}
	}
}

func TestApartKeepsOrderAndDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var places []vg.Length
		for _, x := range rapid.SliceOfN(rapid.Float64Range(0, 200), 0, 30).Draw(t, "places") {
			places = append(places, vg.Length(x))
		}
		moved := apart(places, 12)
		sum := 0.0
		for i := range places {
			sum += float64(moved[i] - places[i])
			for j := range places {
				if places[i] < places[j] && moved[i] >= moved[j] {
					t.Fatalf("%v lies no longer below %v", places[i], places[j])
				}
				if i != j && math.Abs(float64(moved[i]-moved[j])) < 12-1e-6 {
					t.Fatalf("%v and %v are too close: %v and %v", places[i], places[j], moved[i], moved[j])
				}
			}
		}
		if math.Abs(sum) > 1e-6*float64(1+len(places)) {
			t.Fatalf("all have moved by %v", sum)
		}
	})
}

func TestShort(t *testing.T) {
	for x, want := range map[float64]string{0: "0", .5: "0.5", 999: "999", 1000: "1k", 12_500: "12.5k", 2e6: "2M", -20_000: "-20k"} {
		if got := short(x); got != want {
			t.Errorf("short(%v) = %q, want %q", x, got, want)
		}
	}
}

// TestChartsStayWithinTheirBounds holds for long names, single points, and values of nothing but 0.
func TestChartsStayWithinTheirBounds(t *testing.T) {
	name := strings.Repeat("long-name-", 3)
	one := []series{{name: name, paint: "a1", at: plotter.XYs{{X: 0, Y: 5}}, ring: 0}}
	charts := make(map[string]drawing)
	var err error
	for what, high := range map[string]float64{"bars": 9, "bars of nothing": 0} {
		values := []float64{high, high / 2}
		if charts[what], err = bars([]string{name, "b"}, []segment{{"a1", values}, {"a2", []float64{0, 0}}}, []string{"1,234,567", ""}, high, "tokens"); err != nil {
			t.Fatal(err)
		}
	}
	if charts["lines"], err = lines(one, []string{"1"}, 5, "x", "y"); err != nil {
		t.Fatal(err)
	}
	if charts["lines of nothing"], err = lines([]series{{name: "a", at: plotter.XYs{{}, {X: 1}}, ring: -1}}, []string{"1", "2"}, 0, "x", "y"); err != nil {
		t.Fatal(err)
	}
	charts["dots"] = dots([]string{name}, one, "x")
	charts["scatter"] = scatter([]spot{{x: 5, y: 5, text: name, paint: "a1"}, {x: 0, y: 0, text: "b", paint: "a2", hollow: true}}, 5, 5, "x", "y")
	for what, d := range charts {
		if len(d.Marks) == 0 {
			t.Errorf("%s: nothing is drawn", what)
		}
		for _, m := range d.Marks {
			for _, text := range []string{m.Path, m.X, m.Y, m.Width} {
				if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
					t.Errorf("%s: %+v", what, m)
				}
			}
			if m.Text == "" {
				continue
			}
			if left, right := number(t, m.X), number(t, m.X)+number(t, m.Width); left < 0 || right > d.Width || number(t, m.Y) < 0 || number(t, m.Y) > d.Height {
				t.Errorf("%s: the text %q from %v to %v is cut", what, m.Text, left, right)
			}
		}
	}
}
