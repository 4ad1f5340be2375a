package metrics_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

func TestMeasures(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range metrics.Measures() {
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		if m.Name == "" || m.Unit == "" || m.Population == "" || !(m.Range.Min < m.Range.Max) {
			t.Errorf("incomplete: %+v", m)
		}
		if d := m.Definition; len(d) < 20 || len(d) > 140 || strings.ContainsAny(d, "\n%") || strings.HasSuffix(d, ".") {
			t.Errorf("%s: the definition is no line to print: %q", m.Name, d)
		}
		if found, there := metrics.FindMeasure(m.Name); !there || found != m {
			t.Errorf("%s is not found", m.Name)
		}
	}
	for _, name := range []string{
		metrics.MeasureExtraRequests, metrics.MeasureLostRate, metrics.MeasureByteIdentical, metrics.MeasureBreakEvenTurns, metrics.MeasureBreakEvenTokens,
		metrics.MeasureEffectiveTokens, metrics.MeasureNetSaved, "cached_tokens", "cached_share", "described_tokens", "invalidations",
		"cache_lost_tokens", "wrong_calls", "path_blind", "path_repaired",
		"saved_pct", "path_warm", "recall@10", "ndcg@limit",
	} {
		if !seen[name] {
			t.Errorf("no measure %s", name)
		}
	}
	if _, there := metrics.FindMeasure("recall@7"); there {
		t.Error("recall@7 is found")
	}
}

func TestRange(t *testing.T) {
	inf := math.Inf(1)
	for want, r := range map[string]metrics.Range{
		"0..1": {0, 1}, "0..": {0, inf}, "..100": {-inf, 100}, "any": {-inf, inf},
	} {
		text, err := json.Marshal(r)
		if r.String() != want || err != nil || string(text) != `"`+want+`"` {
			t.Errorf("got %s and %s (%v), want %s", r, text, err, want)
		}
	}
	if r := (metrics.Range{0, 1}); !r.Contains(0) || !r.Contains(1) || r.Contains(-.1) || r.Contains(1.1) || r.Contains(math.NaN()) {
		t.Error("0..1 has the wrong members")
	}
}

// TestOverContext counts the sessions whose tools array cannot be sent; one of
// unknown context is not among them.
func TestOverContext(t *testing.T) {
	a := metrics.NewAccumulator()
	for i, s := range []metrics.SessionArm{
		{SurfaceTokens: 101, ContextLength: 100},
		{SurfaceTokens: 100, ContextLength: 100},
		{SurfaceTokens: 1000},
	} {
		s.SessionID, s.Arm, s.EagerTokens = string(rune('a'+i)), metrics.EagerArm, s.SurfaceTokens
		if err := a.Add(metrics.Observations{Arms: []metrics.SessionArm{s}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range a.Figures() {
		if f.Measure == "over_context" && (f.Value != 0.5 || f.N != 2) {
			t.Errorf("over_context %v of %d, want 0.5 of 2", f.Value, f.N)
		}
	}
}
