package reports

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/metrics"
)

// TestPrintServers: percentages and missing figures, worked out by hand: 900 saved
// of 900 + 2,100 is 30 %.
func TestPrintServers(t *testing.T) {
	s := Summary{
		Assumptions: []Arm{{Name: "eager"}, {Name: "bare"}},
		Figures: []metrics.Figure{
			{Measure: "surface_tokens", Arm: "eager", Value: 12_000},
			{Measure: "surface_tokens", Arm: "bare", Value: 6_000},
			{Measure: "saved_pct", Arm: "bare", Value: 50},
			{Measure: metrics.MeasureEffectiveTokens, Arm: "bare", Value: 2_100},
			{Measure: metrics.MeasureNetSaved, Arm: "bare", Value: 900},
			{Measure: metrics.MeasureExtraRequests, Arm: "bare", Value: 1.256},
			{Measure: metrics.MeasureLostRate, Arm: "bare", Value: 0.0125},
		},
	}
	servers := []Server{{"notes", 2, 1_200}, {"é", 10, 30}}
	var got strings.Builder
	if err := PrintServers(&got, servers, s); err != nil {
		t.Fatal(err)
	}
	const want = `YOUR SERVERS: what their tools take in each request while every schema is sent
  notes       2 tools      1,200 tokens
  é          10 tools         30 tokens
  all        12 tools      1,230 tokens

SETTINGS: schema tokens of a first request, effective tokens of a whole session, round trips
           schemas   saved    session   saved  extra requests     never
                                                  a cold call   reached
  eager     12,000       -          -       -               -         -
  bare       6,000   50.0%      2,100   30.0%            1.26      1.2%

`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got.Reset()
	if err := PrintServers(&got, servers[:1], s); err != nil || strings.Contains(got.String(), "  all ") {
		t.Errorf("one server has a total, or error %v:\n%s", err, got.String())
	}
}
