package reports

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/metrics"
)

func TestBenchText(t *testing.T) {
	s := scene{threeArms[1:], 5, 40, mixedClasses}.summary(t)
	golden(t, "bench.txt", string(benchText(s, sampleManifest(), 10, 2*time.Second)))
}

// TestBenchTextIsBenchmarkFormat checks what benchstat relies on: a name, a count and pairs of value and unit.
func TestBenchTextIsBenchmarkFormat(t *testing.T) {
	s := scene{threeArms, 5, 40, mixedClasses}.summary(t)
	units := map[string]bool{}
	names := map[string]bool{}
	for line := range strings.Lines(string(benchText(s, sampleManifest(), 15, time.Second))) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == "Unit":
			if units[fields[1]] {
				t.Errorf("unit %s twice", fields[1])
			}
			units[fields[1]] = true
		case strings.HasPrefix(line, "Benchmark"):
			if len(fields) < 4 || len(fields)%2 != 0 {
				t.Errorf("line %q", line)
			}
			for i := 3; i < len(fields); i += 2 {
				if !units[fields[i]] {
					t.Errorf("unit %s is not declared before %q", fields[i], line)
				}
				if pair := fields[0] + " " + fields[i]; names[pair] {
					t.Errorf("%s twice", pair)
				} else {
					names[pair] = true
				}
			}
		case !strings.Contains(fields[0], ":"):
			t.Errorf("line %q", line)
		}
	}
	figures := slices.Clone(s.Figures)
	for _, b := range s.BreakEvens {
		figures = append(figures, breakEvenFigure(b))
	}
	if len(figures) != len(s.Figures)+4 {
		t.Errorf("%d break-evens, want two of each arm but eager", len(figures)-len(s.Figures))
	}
	for _, f := range figures {
		if pair := "Benchmark" + benchName(f) + " " + f.Measure; !names[pair] {
			t.Errorf("no %s", pair)
		}
	}
}

func TestBenchName(t *testing.T) {
	for _, c := range []struct {
		figure metrics.Figure
		want   string
	}{
		{metrics.Figure{Measure: "surface_tokens", Arm: "eager"}, "Surface/arm=eager"},
		{metrics.Figure{Measure: "mrr", Arm: "july listing/x=y", Class: "zero overlap"}, "Retrieval/class=zero_overlap/arm=july_listing_x_y"},
		{metrics.Figure{Measure: "recall@5", Arm: "a", PoolBin: "64-127"}, "Retrieval/pool=64-127/arm=a"},
		{metrics.Figure{Measure: "lost_rate", Arm: "threshold-10"}, "Calls/arm=threshold-10-1"},
		{metrics.Figure{Measure: "byte_identical", Arm: "x-"}, "Stability/arm=x-"},
		{metrics.Figure{Measure: "requests", Arm: "x-5b"}, "Session/arm=x-5b"},
	} {
		if got := benchName(c.figure); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestBenchTextWithoutFigures: an interrupted run may have none.
func TestBenchTextWithoutFigures(t *testing.T) {
	text := string(benchText(Summary{Corpus: Corpus{Name: "two\nlines"}}, Manifest{}, 0, 0))
	if strings.Contains(text, "Benchmark") || strings.Contains(text, "Unit") || strings.Contains(text, "\nlines") {
		t.Errorf("got %q", text)
	}
}
