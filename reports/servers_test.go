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
	servers := []Server{{"notes", 2, 1_200, ""}, {"é", 10, 30, ""}, {"gone", 0, 0, "it ended (exit status 1), before it answered initialize, and this goes on for longer than a line"}}
	var got strings.Builder
	if err := PrintServers(&got, servers, s); err != nil {
		t.Fatal(err)
	}
	const want = `YOUR SERVERS: what their tools add to every request while all schemas are sent
  notes       2 tools      1,200 tokens
  é          10 tools         30 tokens
  gone   not counted: it ended (exit status 1), before it answered initialize, and this goes on for
         longer than a line
  all        12 tools      1,230 tokens

SETTINGS: what each (see Arms below) would save and cost, with the agent's own tools besides your servers'
          tools in              whole            more requests  needed,
         a request   saved    session   saved   at a first use   missed
  eager     12,000       -          -       -                -        -
  bare       6,000   50.0%      2,100   30.0%             1.26     1.2%
Columns: tokens of the tools in a session's first request; effective tokens (the cached ones weigh
  less) of all its requests; model requests that the first use of a hidden tool costs besides its
  call; needed tools that are never found

`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got.Reset()
	if err := PrintServers(&got, servers[:1], s); err != nil || strings.Contains(got.String(), "  all ") {
		t.Errorf("one server has a total, or error %v:\n%s", err, got.String())
	}
}
