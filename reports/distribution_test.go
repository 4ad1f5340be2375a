package reports

import (
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

// scenarioSummary has two arms, and calls of the distributions named.
func scenarioSummary(names ...string) Summary {
	s := Summary{Assumptions: []Arm{{Name: "gateway-off"}, {Name: "gateway-on"}}}
	for i, name := range names {
		s.Distributions = append(s.Distributions,
			metrics.DistributionCalls{Distribution: name, Arm: "gateway-off", Calls: 1200 + i, Failed: 7, LatencyP95MS: 3_600_000, LeakedSecrets: 4 * i},
			metrics.DistributionCalls{Distribution: name, Arm: "gateway-on", Calls: 1200 + i, Failed: 5, Denied: i, LatencyP95MS: 812.5})
	}
	return s
}

func TestCallsByDistribution(t *testing.T) {
	text := printed(t, scenarioSummary("poisoned", "outage"), PrintOptions{})
	_, table, found := strings.Cut(text, "CALLS BY DISTRIBUTION: ")
	if !found {
		t.Fatalf("no table in\n%s", text)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	want := `totals over the sessions that were drawn from each
                      gateway-
                           off  gateway-on
  outage calls           1,201       1,201  calls
  outage failed              7           5  calls ↓
  outage denied              0           1  calls
  outage p95       3,600,000.0       812.5  ms ↓
  outage leaked              4           0  secrets ↓
  poisoned calls         1,200       1,200  calls
  poisoned failed            7           5  calls ↓
  poisoned p95     3,600,000.0       812.5  ms ↓`
	if table != want {
		t.Errorf("table\n%s\nwant\n%s", table, want)
	}
	if strings.Contains(text, "doubled:") || !strings.Contains(text, "leaked: ") {
		t.Errorf("definitions are not those of the rows shown:\n%s", text)
	}
}

// TestOneDistributionIsTheWhole: the totals of a single one stand in the tables above.
func TestOneDistributionIsTheWhole(t *testing.T) {
	for _, s := range []Summary{scenarioSummary("outage"), scenarioSummary()} {
		if text := printed(t, s, PrintOptions{}); strings.Contains(text, "CALLS BY DISTRIBUTION") {
			t.Errorf("a table of one distribution:\n%s", text)
		}
	}
}
