package reports

import (
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

// TestHeadlineWithNothingToDefer says so, instead of praising a saving of zero.
func TestHeadlineWithNothingToDefer(t *testing.T) {
	s := Summary{Sessions: 100, Assumptions: []Arm{{Name: metrics.EagerArm}, {Name: "july-listing", Assumptions: Assumptions{Bridge: true}}}}
	for _, arm := range []string{metrics.EagerArm, "july-listing"} {
		for measure, value := range map[string]float64{"surface_tokens": 2866, "eager_tokens": 2866, "bridge_tokens": 0, "listing_tokens": 0, "saved_tokens": 0} {
			s.Figures = append(s.Figures, metrics.Figure{Measure: measure, Arm: arm, Value: value, N: 100})
		}
	}
	got := headline(s, indexFigures(s))
	if !strings.Contains(got, "no tool that can be deferred") || !strings.Contains(got, "2,866") {
		t.Errorf("headline %q", got)
	}
}
