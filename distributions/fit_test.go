package distributions

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// draws repeats each combination as often as its count says.
func draws(counts map[string]int) []Draw {
	var all []Draw
	for combination, n := range counts {
		for range n {
			all = append(all, Draw{Toolsets: strings.Fields(combination)})
		}
	}
	return all
}

// TestObservedByHand: a at 50, b at 20; nothing with .4, which goes to a. So a has .9, b .2, both come with .1.
// In 100 draws: a 95 seen, 90 expected: 25/90 + 25/10 = 2.7778. b 25 seen, 20 expected: 25/20 + 25/80 = 1.5625.
// Sizes: one 80 seen, 90 expected; two 20 seen, 10 expected: 100/90 + 100/10 = 11.1111.
// The p-values are those of the chi-square distribution with one degree of freedom: erfc(sqrt(x/2)).
func TestObservedByHand(t *testing.T) {
	d := Distribution{Name: "d", Entries: []Entry{{"a", 50}, {"b", 20}}}
	sample := draws(map[string]int{"a": 75, "b": 5, "a b": 20})
	for i := range 38 {
		sample[slices.IndexFunc(sample[i:], func(d Draw) bool { return len(d.Toolsets) == 1 && !d.Fallback })+i].Fallback = true
	}
	fit := d.Observed(slices.Values(sample), nil)
	if fit.Draws != 100 || math.Abs(fit.ExpectedFallbacks-40) > 1e-9 || len(fit.Unexpected) != 0 || fit.Distribution != "d" {
		t.Errorf("fit is %+v", fit)
	}
	for i, want := range []struct {
		observed            int
		expected, statistic float64
	}{{95, 90, 25.0/90 + 25.0/10}, {25, 20, 25.0/20 + 25.0/80}} {
		got := fit.Toolsets[i]
		p := math.Erfc(math.Sqrt(want.statistic / 2))
		if got.Observed != want.observed || !near(got.Expected, want.expected) || math.Abs(got.Statistic-want.statistic) > 1e-9 ||
			got.DF != 1 || math.Abs(got.P-p) > 1e-9 || got.Note != "" {
			t.Errorf("toolset %d is %+v, want %+v with p %v", i, got, want, p)
		}
	}
	wantCells := []SizeCell{{1, 1, 80, 90}, {2, 2, 20, 10}}
	statistic := 100.0/90 + 100.0/10
	if diff := cmp.Diff(wantCells, fit.Size.Cells, approximately); diff != "" {
		t.Errorf("cells differ (-want +got):\n%s", diff)
	}
	if s := fit.Size; math.Abs(s.Statistic-statistic) > 1e-9 || s.DF != 1 || math.Abs(s.P-math.Erfc(math.Sqrt(statistic/2))) > 1e-9 {
		t.Errorf("size fit is %+v, want statistic %v", s, statistic)
	}
	// The least p is .00086, of three tests: they hold at .001 (third: .00033), and fail at .01 (.0033).
	if !fit.Holds(0.001) || fit.Holds(0.01) {
		t.Errorf("holds at .001: %v, at .01: %v", fit.Holds(0.001), fit.Holds(0.01))
	}
}

var approximately = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9 })

func TestObservedSpecialCases(t *testing.T) {
	always := Distribution{Entries: []Entry{{"a", 100}}}
	rare := Distribution{Entries: []Entry{{"a", 100}, {"b", 1}}}
	for _, c := range []struct {
		name     string
		d        Distribution
		exists   func(string) bool
		sample   map[string]int
		toolset  int
		p        float64
		note     string
		sizeP    float64
		sizeNote string
		holds    bool
	}{
		{"no draws", always, nil, nil, 0, 1, "no draws", 1, "no draws", true},
		{"certain", always, nil, map[string]int{"a": 9}, 0, 1, "certain", 1, "not tested: one cell", true},
		{"a certain one is missing", always, nil, map[string]int{"a": 9, "": 2}, 0, 0, "cannot happen: missing from 2 of 11 draws",
			0, "cannot happen: the size of 2 of 11 draws", false},
		{"a missing toolset is drawn", rare, not("b"), map[string]int{"a": 5, "a b": 3}, 1, 0, "cannot happen: drawn in 3 of 8 draws",
			0, "cannot happen: the size of 3 of 8 draws", false},
		{"a missing toolset stays away", rare, not("b"), map[string]int{"a": 5}, 1, 1, "certain", 1, "not tested: one cell", true},
		{"too few draws", rare, nil, map[string]int{"a": 400, "a b": 5}, 1, 1, "not tested: needs 500 draws", 1, "not tested: one cell", true},
		{"a strange toolset", always, nil, map[string]int{"a": 5, "z": 1}, 0, 0, "cannot happen: missing from 1 of 6 draws", 1, "not tested: one cell", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			fit := c.d.Observed(slices.Values(draws(c.sample)), c.exists)
			if got := fit.Toolsets[c.toolset]; got.P != c.p || got.Note != c.note || got.DF != 0 || got.Statistic != 0 {
				t.Errorf("toolset fit is %+v, want p %v and note %q", got, c.p, c.note)
			}
			if got := fit.Size; got.P != c.sizeP || got.Note != c.sizeNote {
				t.Errorf("size fit is %+v, want p %v and note %q", got, c.sizeP, c.sizeNote)
			}
			if fit.Holds(0.05) != c.holds {
				t.Errorf("holds is %v", fit.Holds(0.05))
			}
			if _, err := json.Marshal(fit); err != nil {
				t.Errorf("not fit for JSON: %v", err)
			}
		})
	}
	fit := always.Observed(slices.Values(draws(map[string]int{"a y": 1, "a x": 1})), nil)
	if !slices.Equal(fit.Unexpected, []string{"x", "y"}) || fit.Holds(0.5) {
		t.Errorf("unexpected toolsets are %v, holds %v", fit.Unexpected, fit.Holds(0.5))
	}
}

// TestSizesArePooled: 100 draws expect 0.5, 1.5, 6, 80, 8, 3, 1. Sizes 0 to 2 make a cell of 8; 5 and 6 join size 4.
func TestSizesArePooled(t *testing.T) {
	observed := map[int]int{0: 1, 1: 1, 2: 7, 3: 78, 4: 9, 5: 3, 6: 1}
	fit := sizeFit(observed, []float64{.005, .015, .06, .80, .08, .03, .01}, 100)
	want := []SizeCell{{0, 2, 9, 8}, {3, 3, 78, 80}, {4, 6, 13, 12}}
	if diff := cmp.Diff(want, fit.Cells, approximately); diff != "" {
		t.Errorf("cells differ (-want +got):\n%s", diff)
	}
	if statistic := 1.0/8 + 4.0/80 + 1.0/12; fit.DF != 2 || math.Abs(fit.Statistic-statistic) > 1e-9 ||
		math.Abs(fit.P-math.Exp(-statistic/2)) > 1e-9 {
		t.Errorf("fit is %+v, want statistic %v with 2 degrees of freedom", fit, statistic)
	}
}

// TestPresetsFitTheirSamples draws each preset and checks it; the last test shows that the check can fail.
func TestPresetsFitTheirSamples(t *testing.T) {
	for _, d := range Presets() {
		if fit := d.Observed(justDraws(d, 4000, nil), nil); !fit.Holds(0.001) {
			t.Errorf("%s does not fit: %+v", d.Name, fit)
		}
	}
	research := preset(t, "research")
	if fit := research.Observed(justDraws(research, 4000, not("vision")), not("vision")); !fit.Holds(0.001) {
		t.Errorf("without vision it does not fit: %+v", fit)
	}
	biased := research.clone()
	biased.Entries[1].Percent = 74
	if fit := research.Observed(justDraws(biased, 4000, nil), nil); fit.Holds(0.001) {
		t.Errorf("a sample of browser 74 passes for browser 70: %+v", fit)
	}
}

// TestSizeTestSeesDependence couples two rolls. Each toolset alone has the right frequency, so only the sizes tell.
func TestSizeTestSeesDependence(t *testing.T) {
	d := Distribution{Name: "d", Entries: []Entry{{"a", 50}, {"b", 50}, {"c", 100}}}
	var coupled []Draw
	for i := range uint64(1000) {
		u := NewStream(4, "coupled", i).Float64()
		coupled = append(coupled, d.Sample(func() float64 { return u }, nil, nil))
	}
	fit := d.Observed(slices.Values(coupled), nil)
	if fit.Toolsets[0].P < 0.01 || fit.Size.P > 1e-9 || fit.Holds(0.001) {
		t.Errorf("fit is %+v", fit)
	}
}

func justDraws(d Distribution, n int, exists func(string) bool) func(yield func(Draw) bool) {
	return func(yield func(Draw) bool) {
		for row := range d.Rows(20, 0, n, exists, nil) {
			if !yield(row.Draw) {
				return
			}
		}
	}
}

func TestJSON(t *testing.T) {
	d := Distribution{Name: "d", Description: "Text.", Entries: []Entry{{"web", 97.5}}, Servers: 2}
	row := Row{Distribution: "d", Seed: 1, RowIndex: 2, Draw: d.Sample(NewRecording(nil).Float64, nil, nil)}
	empty := Distribution{Name: "e", Servers: 1}
	for _, c := range []struct {
		value any
		want  string
	}{
		{d.Summarise(nil), `{"name":"d","description":"Text.","toolsets":[{"toolset":"web","percent":97.5}],"servers":2,"preset":false,"p_fallback":0.025000000000000022,"p_empty":0,"expected_size":1,"missing":[]}`},
		{empty.Summarise(nil), `{"name":"e","description":"","toolsets":[],"servers":1,"preset":false,"p_fallback":0,"p_empty":1,"expected_size":0,"missing":[]}`},
		{row, `{"distribution":"d","seed":1,"row_index":2,"toolsets":["web"],"servers":[],"fallback":true,"warnings":["distribution \"d\": asks for 2 MCP servers, the corpus has 0"]}`},
		{d.Observed(slices.Values([]Draw{}), nil), `{"distribution":"d","draws":0,"fallbacks":0,"expected_fallbacks":0,"toolsets":[{"toolset":"web","percent":97.5,"exists":true,"probability":1,"observed":0,"expected":0,"statistic":0,"df":0,"p":1,"note":"no draws"}],"size":{"cells":[],"statistic":0,"df":0,"p":1,"note":"no draws"},"unexpected":[]}`},
	} {
		got, err := json.Marshal(c.value)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.want {
			t.Errorf("JSON is\n%s\nwant\n%s", got, c.want)
		}
	}
}

func TestWriteSummariesWithoutToolsets(t *testing.T) {
	var text strings.Builder
	if err := WriteSummaries(&text, []Summary{Distribution{Name: "alone", Servers: 5}.Summarise(nil)}); err != nil {
		t.Fatal(err)
	}
	want := "name   servers  mean size  p(fallback)  toolsets (percent)\nalone  5        0.0000     0            -\n"
	if !strings.HasPrefix(text.String(), want) {
		t.Errorf("table is\n%s\nwant\n%s", text.String(), want)
	}
}

// full is a writer that refuses after some bytes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

// TestWritersReportFailure gives every writer too little room: none may say that a cut table is whole.
func TestWritersReportFailure(t *testing.T) {
	d := preset(t, "research")
	fit := d.Observed(justDraws(d, 10, nil), nil)
	fit.Unexpected = []string{"z"}
	for name, write := range map[string]func(f *full) error{
		"summaries": func(f *full) error { return WriteSummaries(f, NewSet().Summaries(not("web"))) },
		"fit":       func(f *full) error { return WriteFit(f, fit) },
	} {
		whole := &full{left: math.MaxInt}
		if err := write(whole); err != nil {
			t.Fatal(err)
		}
		size := math.MaxInt - whole.left
		for _, left := range []int{0, 1, size / 2, size - 1} {
			if write(&full{left: left}) == nil {
				t.Errorf("%s: no error after %d of %d bytes", name, left, size)
			}
		}
	}
}
