package distributions

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

func TestGoldenDistributions(t *testing.T) {
	lines := golden(t, "distributions.jsonl")
	for i, line := range lines {
		var v struct {
			Name         string
			Toolsets     json.RawMessage
			PFallback    float64 `json:"p_fallback"`
			ExpectedSize float64 `json:"expected_size"`
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		d := Presets()[i]
		if d.Name != v.Name {
			t.Fatalf("preset %d is %q, want %q", i, d.Name, v.Name)
		}
		if diff := cmp.Diff(orderedEntries(t, v.Toolsets), d.Entries); diff != "" {
			t.Errorf("%s: entries differ (-want +got):\n%s", d.Name, diff)
		}
		if got := d.PFallback(nil); !near(got, v.PFallback) {
			t.Errorf("%s: fallback has probability %v, want %v", d.Name, got, v.PFallback)
		}
		if got := d.ExpectedSize(nil); !near(got, v.ExpectedSize) {
			t.Errorf("%s: expected size is %v, want %v", d.Name, got, v.ExpectedSize)
		}
	}
	if len(lines) != 17 {
		t.Errorf("read %d distributions, want 17", len(lines))
	}
}

// orderedEntries reads a JSON object of percentages in the order of its text.
func orderedEntries(t *testing.T, object []byte) []Entry {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(object))
	var entries []Entry
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		e := Entry{Toolset: key.(string)}
		if err := decoder.Decode(&e.Percent); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

// TestPresetFigures holds the figures without the vector file. image_gen by hand: nothing comes up with
// .1*.1*.45*.55 = .002475, and .9+.9+.55+.45+.002475 = 2.802475.
func TestPresetFigures(t *testing.T) {
	for _, c := range []struct {
		name                string
		pFallback, meanSize float64
	}{
		{"default", 0, 6}, {"image_gen", .002475, 2.802475}, {"research", .0135, 2.2135}, {"science", 3.213e-5, 4.12003213},
		{"development", .0252, 2.0252}, {"safe", .0096, 2.7096}, {"balanced", .015625, 3.015625}, {"minimal", 0, 1},
		{"terminal_only", 0, 2}, {"terminal_web", 0, 3}, {"creative", .007, 2.107}, {"reasoning", .032, 1.732},
		{"browser_use", 0, 2.5}, {"browser_only", 0, 1}, {"browser_tasks", .02244, 1.26244},
		{"terminal_tasks", 3.0375e-6, 4.2600030375}, {"mixed_tasks", 2.40448e-4, 3.410240448},
		{"few", 0, 6}, {"ten", 0, 6}, {"forty", 0, 6},
	} {
		d := preset(t, c.name)
		if got := d.PFallback(nil); !near(got, c.pFallback) {
			t.Errorf("%s: fallback has probability %v, want %v", c.name, got, c.pFallback)
		}
		if got := d.ExpectedSize(nil); !near(got, c.meanSize) {
			t.Errorf("%s: mean size is %v, want %v", c.name, got, c.meanSize)
		}
	}
}

func TestAnalysisByHand(t *testing.T) {
	ab := Distribution{Entries: []Entry{{"a", 50}, {"b", 25}}}
	for _, c := range []struct {
		name              string
		d                 Distribution
		exists            func(string) bool
		pFallback, pEmpty float64
		marginals, sizes  []float64
	}{
		// Nothing: .5*.75 = .375, which goes to a. Both: .125.
		{"two entries", ab, nil, .375, 0, []float64{.875, .25}, []float64{0, .875, .125}},
		{"the rarer is missing", ab, not("b"), .5, 0, []float64{1, 0}, []float64{0, 1}},
		{"the likelier is missing", ab, not("a"), 0, .75, []float64{0, .25}, []float64{.75, .25}},
		{"both are missing", ab, not("a", "b"), 0, 1, []float64{0, 0}, []float64{1}},
		{"no entries", Distribution{Servers: 1}, nil, 0, 1, []float64{}, []float64{1}},
		{"one that never comes up", Distribution{Entries: []Entry{{"a", 0}}}, nil, 1, 0, []float64{1}, []float64{0, 1}},
		{"outside 0 to 100", Distribution{Entries: []Entry{{"a", 150}, {"b", -3}, {"c", math.NaN()}}}, nil, 0, 0,
			[]float64{1, 0, 0}, []float64{0, 1, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.d.PFallback(c.exists); got != c.pFallback {
				t.Errorf("PFallback is %v, want %v", got, c.pFallback)
			}
			if got := c.d.PEmpty(c.exists); got != c.pEmpty {
				t.Errorf("PEmpty is %v, want %v", got, c.pEmpty)
			}
			marginals := []float64{}
			for _, m := range c.d.Marginals(c.exists) {
				marginals = append(marginals, m.Probability)
			}
			if diff := cmp.Diff(c.marginals, marginals); diff != "" {
				t.Errorf("marginals differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.sizes, c.d.SizeDistribution(c.exists)); diff != "" {
				t.Errorf("sizes differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnalysisEnumerates draws every combination of rolls through Sample itself, weighs it by its probability, and
// compares the sums with the exact figures.
func TestAnalysisEnumerates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, exists := genDistribution(t), genMissing(t)
		var valid []Entry
		for _, e := range d.Entries {
			if exists(e.Toolset) {
				valid = append(valid, e)
			}
		}
		var fallback, empty, mean float64
		inclusion, sizes := map[string]float64{}, make([]float64, len(valid)+1)
		for set := range 1 << len(valid) {
			weight, uniforms := 1.0, []float64{}
			for i, e := range valid {
				p := e.Percent / 100
				if set>>i&1 == 1 {
					weight, uniforms = weight*p, append(uniforms, 0)
				} else {
					weight, uniforms = weight*(1-p), append(uniforms, math.Nextafter(1, 0))
				}
			}
			if weight < 1e-300 {
				continue // A 0 that comes up or a 100 that does not: Sample would not follow the set.
			}
			draw := d.Sample(NewRecording(uniforms).Float64, exists, nil)
			if draw.Fallback {
				fallback += weight
			}
			if len(draw.Toolsets) == 0 {
				empty += weight
			}
			mean += weight * float64(len(draw.Toolsets))
			sizes[len(draw.Toolsets)] += weight
			for _, toolset := range draw.Toolsets {
				inclusion[toolset] += weight
			}
		}
		if got := d.PFallback(exists); !near(got, fallback) {
			t.Fatalf("PFallback is %v, enumeration gives %v", got, fallback)
		}
		if got := d.PEmpty(exists); !near(got, empty) {
			t.Fatalf("PEmpty is %v, enumeration gives %v", got, empty)
		}
		if got := d.ExpectedSize(exists); !near(got, mean) {
			t.Fatalf("ExpectedSize is %v, enumeration gives %v", got, mean)
		}
		got := d.SizeDistribution(exists)
		if len(got) != len(sizes) {
			t.Fatalf("%d sizes, want %d", len(got), len(sizes))
		}
		for k := range sizes {
			if !near(got[k], sizes[k]) {
				t.Fatalf("size %d has probability %v, enumeration gives %v", k, got[k], sizes[k])
			}
		}
		for _, m := range d.Marginals(exists) {
			if !near(m.Probability, inclusion[m.Toolset]) || m.Exists != exists(m.Toolset) {
				t.Fatalf("%s: marginal %+v, enumeration gives %v", m.Toolset, m, inclusion[m.Toolset])
			}
		}
	})
}
