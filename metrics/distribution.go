package metrics

import (
	"maps"
	"slices"
)

// DistributionCalls is how the calls of golds were carried out in the sessions of one
// distribution, under one arm.
type DistributionCalls struct {
	Distribution string `json:"distribution"`
	Arm          string `json:"arm"`
	Sessions     int    `json:"sessions"`
	Calls        int    `json:"calls"`  // golds that were dispatched
	Failed       int    `json:"failed"` // of Calls, those whose outcome is an error
	Denied       int    `json:"denied"` // of Calls, those that a rule forbids
	// LatencyP95MS is the latency that 95 in a hundred of the calls do not exceed, by
	// nearest rank; 0 without calls.
	LatencyP95MS          float64 `json:"latency_p95_ms"`
	DuplicatedSideEffects int     `json:"duplicated_side_effects"`
	LeakedSecrets         int     `json:"leaked_secrets"`
}

// distributionTotals are the running sums of one distribution under one arm.
type distributionTotals struct {
	sums      DistributionCalls
	latencies sample
}

// distribution returns the totals of a session's distribution, which it starts if they
// are not there.
func (t *armTotals) distribution(name string) *distributionTotals {
	d := t.distributions[name]
	if d == nil {
		d = &distributionTotals{}
		t.distributions[name] = d
	}
	return d
}

func (d *distributionTotals) addSession(s *SessionArm) {
	d.sums.Sessions++
	d.sums.DuplicatedSideEffects += s.DuplicatedSideEffects
	d.sums.LeakedSecrets += s.LeakedSecrets
}

func (d *distributionTotals) addCall(c *Call) {
	switch c.Outcome {
	case OutcomeNone:
		return
	case OutcomeError:
		d.sums.Failed++
	case OutcomeDenied:
		d.sums.Denied++
	}
	d.sums.Calls++
	d.latencies.add(c)
}

// addDistributions adds what one session gave to the totals of its distribution.
func (a *Accumulator) addDistributions(o Observations) {
	within := make(map[string]*distributionTotals, len(o.Arms))
	for i := range o.Arms {
		s := &o.Arms[i]
		within[s.Arm] = a.arms[s.Arm].distribution(s.Distribution)
		within[s.Arm].addSession(s)
	}
	for i := range o.Calls {
		within[o.Calls[i].Arm].addCall(&o.Calls[i])
	}
}

// Distributions gives, for each arm whose calls go through a gateway or take time, how
// they were carried out in the sessions of each distribution: arms in the order in which
// they first came, distributions by name. An accumulator of some measures alone has none.
func (a *Accumulator) Distributions() []DistributionCalls {
	var all []DistributionCalls
	for _, arm := range a.order {
		totals := a.arms[arm]
		if !totals.latencies.watched {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(totals.distributions)) {
			d := totals.distributions[name]
			d.latencies.watched = true
			sums := d.sums
			sums.Distribution, sums.Arm, sums.LatencyP95MS = name, arm, d.latencies.tally(95).sum
			all = append(all, sums)
		}
	}
	return all
}
