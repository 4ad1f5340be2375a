package metrics_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/metrics"
)

// callsOf is a session of one distribution under the arms "off" and "on": under both its
// calls end as given, after 1, 2, 3, … ms, and under "on" none leaks.
func callsOf(id, distribution string, outcomes ...metrics.Outcome) metrics.Observations {
	var o metrics.Observations
	for _, arm := range []string{"off", "on"} {
		s := metrics.SessionArm{SessionID: id, Arm: arm, Distribution: distribution, PromptByTurn: []int64{1}, PromptTokens: 1, ByteIdentical: true}
		s.Assumptions.Gateway, s.TakenMS = "off", 5
		if arm == "off" {
			s.LeakedSecrets, s.DuplicatedSideEffects = 3, 1
		} else {
			s.Assumptions.Gateway = "gateway.yaml@00000000"
		}
		o.Arms = append(o.Arms, s)
		for i, outcome := range outcomes {
			c := metrics.Call{SessionID: id, Arm: arm, Class: "obvious", Tool: "t", Gold: i, Path: metrics.PathDirect}
			if outcome != metrics.OutcomeNone {
				c.Dispatch = metrics.Dispatch{Outcome: outcome, LatencyMS: float64(i + 1), ExecutingMS: float64(i + 1)}
			}
			o.Calls = append(o.Calls, c)
		}
	}
	return o
}

func TestDistributions(t *testing.T) {
	const ok, failed, denied, none = metrics.OutcomeOK, metrics.OutcomeError, metrics.OutcomeDenied, metrics.OutcomeNone
	a, some := metrics.NewAccumulator(), metrics.NewAccumulator(metrics.MeasureLeakedSecrets)
	for _, o := range []metrics.Observations{
		callsOf("1", "outage", ok, failed, none), callsOf("2", "denied", denied, ok), callsOf("3", "outage", ok, ok, failed, failed), callsOf("4", "quiet"),
	} {
		if err := a.Add(o); err != nil {
			t.Fatal(err)
		}
		if err := some.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	// Of the latencies 1, 2, 1, 2, 3, 4 the sixth of six is the 95th percentile.
	want := []metrics.DistributionCalls{
		{Distribution: "denied", Arm: "off", Sessions: 1, Calls: 2, Denied: 1, LatencyP95MS: 2, DuplicatedSideEffects: 1, LeakedSecrets: 3},
		{Distribution: "outage", Arm: "off", Sessions: 2, Calls: 6, Failed: 3, LatencyP95MS: 4, DuplicatedSideEffects: 2, LeakedSecrets: 6},
		{Distribution: "quiet", Arm: "off", Sessions: 1, DuplicatedSideEffects: 1, LeakedSecrets: 3},
		{Distribution: "denied", Arm: "on", Sessions: 1, Calls: 2, Denied: 1, LatencyP95MS: 2},
		{Distribution: "outage", Arm: "on", Sessions: 2, Calls: 6, Failed: 3, LatencyP95MS: 4},
		{Distribution: "quiet", Arm: "on", Sessions: 1},
	}
	if diff := cmp.Diff(want, a.Distributions()); diff != "" {
		t.Errorf("distributions (-want +got):\n%s", diff)
	}
	if got := some.Distributions(); got != nil {
		t.Errorf("an accumulator of one measure gives %+v", got)
	}
}

// TestUnwatchedArmsHaveNoDistributions: where no time passes in calls there is nothing to
// tell of them.
func TestUnwatchedArmsHaveNoDistributions(t *testing.T) {
	a := metrics.NewAccumulator()
	o := callsOf("1", "outage", metrics.OutcomeOK)
	for i := range o.Arms {
		o.Arms[i].TakenMS = 0
	}
	if err := a.Add(o); err != nil {
		t.Fatal(err)
	}
	if got := a.Distributions(); len(got) != 1 || slices.ContainsFunc(got, func(d metrics.DistributionCalls) bool { return d.Arm != "on" }) {
		t.Errorf("distributions %+v, want those of the arm with a gateway alone", got)
	}
}
