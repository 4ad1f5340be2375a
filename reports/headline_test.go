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

// TestHeadlineComparesLikeWithLike: an arm whose tokens are counted otherwise than eager's stands aside, as long as another
// one can speak.
func TestHeadlineComparesLikeWithLike(t *testing.T) {
	s := Summary{Sessions: 100, Assumptions: []Arm{{Name: metrics.EagerArm}}}
	add := func(arm string, saved float64, warnings ...metrics.Warning) {
		s.Assumptions = append(s.Assumptions, Arm{Name: arm, Assumptions: Assumptions{Bridge: true}})
		for measure, value := range map[string]float64{"surface_tokens": 300, "eager_tokens": 1000, "listing_tokens": 50, "effective_tokens": 400} {
			s.Figures = append(s.Figures, metrics.Figure{Measure: measure, Arm: arm, Value: value, N: 100})
		}
		s.Figures = append(s.Figures, metrics.Figure{Measure: metrics.MeasureNetSaved, Arm: arm, Value: saved, N: 100, Warnings: warnings})
	}
	add("chars4", 900, metrics.WarnCountedOtherwise)
	if got := headline(s, indexFigures(s)); !strings.HasPrefix(got, "With chars4 ") {
		t.Errorf("alone: %q", got)
	}
	add("listing", 600)
	if got := headline(s, indexFigures(s)); !strings.HasPrefix(got, "With listing ") {
		t.Errorf("beside another: %q", got)
	}
}
