package reports

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

// TestExporter: the arrays for github-action-benchmark part the figures by direction; none has what has no direction, what
// is of a slice, or what no table shows.
func TestExporter(t *testing.T) {
	s := Summary{Seed: 7, Corpus: Corpus{Name: "made-up"}, Figures: []metrics.Figure{
		{Measure: "surface_tokens", Arm: "a", Value: 1.5, N: 3, Population: "sessions", Unit: "tokens", Better: metrics.Lower},
		{Measure: "recall@5", Arm: "a", Value: .25, N: 2, Population: "judged intents", Unit: "share", Better: metrics.Higher},
		{Measure: "recall@5", Arm: "a", Class: "obvious", Value: 1, N: 1, Unit: "share", Better: metrics.Higher},
		{Measure: "recall@5", Arm: "a", PoolBin: "64-127", Value: 1, N: 1, Unit: "share", Better: metrics.Higher},
		{Measure: "precision@5", Arm: "a", Value: .1, N: 2, Unit: "share", Better: metrics.Higher},
		{Measure: "eager_tokens", Arm: "a", Value: 9, N: 3, Unit: "tokens"},
	}}
	for format, want := range map[string]string{
		"github-smaller": `[{"name":"a/surface_tokens","unit":"tokens","value":1.5,"extra":"n 3 sessions; corpus made-up, seed 7"}]`,
		"github-bigger":  `[{"name":"a/recall@5","unit":"share","value":0.25,"extra":"n 2 judged intents; corpus made-up, seed 7"}]`,
		"bencher":        `{"a":{"recall@5":{"value":0.25},"surface_tokens":{"value":1.5}}}`,
	} {
		write, err := Exporter(format)
		if err != nil {
			t.Fatal(err)
		}
		var printed, got bytes.Buffer
		if err := write(&printed, s); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&got, printed.Bytes()); err != nil || got.String() != want {
			t.Errorf("%s: %s (error %v), want %s", format, got.String(), err, want)
		}
	}
	write, _ := Exporter("github-smaller")
	var empty bytes.Buffer
	if err := write(&empty, Summary{}); err != nil || strings.TrimSpace(empty.String()) != "[]" {
		t.Errorf("of nothing: %q, error %v", empty.String(), err)
	}
	if _, err := Exporter("csv"); err == nil || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("error %v", err)
	}
}
