package metrics

import (
	"fmt"
	"math"
	"slices"
)

// Measures of calls that code asks for by name. Both must be 0.
const (
	MeasureDuplicatedSideEffects = "duplicated_side_effects"
	MeasureLeakedSecrets         = "leaked_secrets"
)

// noGateway is the gateway of an arm that has none.
const noGateway = "off"

// watched reports whether a session's calls are worth figures of their own: they go
// through a gateway, or time passed in them.
func (s *SessionArm) watched() bool {
	g := s.Assumptions.Gateway
	return g != "" && g != noGateway || s.TakenMS > 0
}

// trafficRules are about how calls are carried out.
func trafficRules() []rule {
	watched := func(value func(s SessionArm) float64) func(played) (float64, bool) {
		return func(p played) (float64, bool) { return value(p.SessionArm), p.watched() }
	}
	mean := func(name, unit string, better Direction, definition string, value func(s SessionArm) float64) rule {
		return rule{Measure: Measure{name, unit, better, counted(), perWatched, definition + ", mean"}, ofSession: watched(value)}
	}
	total := func(name, unit, definition string, value func(s SessionArm) float64) rule {
		return rule{Measure: Measure{name, unit, Lower, counted(), perWatched, definition + " (a total, not a mean)"}, ofSession: watched(value), total: true}
	}
	all := latencyRules()
	all = append(all,
		mean("dispatched_calls", "calls", Neither, "calls of real tools that the model makes in a session", func(s SessionArm) float64 { return float64(s.Dispatched) }),
		mean("call_attempts", "attempts", Lower, "tries of a session's calls at their tools, retries and the steps of composite actions included",
			func(s SessionArm) float64 { return float64(s.Attempts) }),
		mean("call_retries", "attempts", Lower, "part of call_attempts: those behind a call's first", func(s SessionArm) float64 { return float64(s.Retries) }),
		mean("call_timeouts", "attempts", Lower, "part of call_attempts: those that ran out of time", func(s SessionArm) float64 { return float64(s.Timeouts) }),
		mean("breaker_openings", "openings", Lower, "how often failures of a session's calls make the gateway leave an endpoint alone",
			func(s SessionArm) float64 { return float64(s.BreakerOpenings) }),
		mean("throttled_calls", "calls", Lower, "calls of a session that a tool's rate limit holds up or turns away", func(s SessionArm) float64 { return float64(s.Throttled) }),
		mean("call_cache_hits", "calls", Higher, "calls of a session that an earlier or simultaneous call's answer serves", func(s SessionArm) float64 { return float64(s.CacheHits) }),
		mean("truncated_tokens", "tokens", Neither, "tokens that a session's results are shortened by", func(s SessionArm) float64 { return float64(s.TruncatedTokens) }),
	)
	for _, r := range DenialRules() {
		all = append(all, mean("denied_"+r, "calls", Neither, "calls of a session that the gateway denies by the rule "+r,
			func(s SessionArm) float64 { return float64(*s.Denied.Of(r)) }))
	}
	return append(all,
		mean("calls_taken_ms", "ms", Lower, "virtual time that a session's requests wait for all of their calls", func(s SessionArm) float64 { return s.TakenMS }),
		rule{
			Measure: Measure{"parallel_speedup", "times", Higher, counted(), perTimed,
				"sum of the times that a session's calls spend at their tools and in shaping, over calls_taken_ms, mean"},
			ofSession: func(p played) (float64, bool) {
				if p.TakenMS <= 0 {
					return 0, false
				}
				return p.SerialMS / p.TakenMS, true
			},
		},
		total(MeasureDuplicatedSideEffects, "effects", "side effects beyond the first of one call; must be 0", func(s SessionArm) float64 { return float64(s.DuplicatedSideEffects) }),
		total(MeasureLeakedSecrets, "secrets", "secrets of endpoints that results bring into the messages; must be 0", func(s SessionArm) float64 { return float64(s.LeakedSecrets) }),
	)
}

// latencyRules have no values of their own: theirs come from a sample, not from a mean.
func latencyRules() []rule {
	var all []rule
	for _, percent := range []int{50, 95, 99} {
		all = append(all, rule{
			Measure: Measure{fmt.Sprintf("call_latency_p%d_ms", percent), "ms", Lower, counted(), perDispatched,
				fmt.Sprintf("virtual time from a gold's dispatch to its result that %d in a hundred do not exceed, by nearest rank", percent)},
			percent: percent,
		})
	}
	return all
}

// sample keeps the latencies of an arm. Most arms have none but 0, which are counted.
type sample struct {
	zeros   int
	others  []float64
	watched bool // some session's calls were
	derived bool // an intent of ClassDerived is among them
}

func (s *sample) add(c *Call) {
	s.derived = s.derived || c.Class == ClassDerived
	if c.LatencyMS == 0 {
		s.zeros++
	} else {
		s.others = append(s.others, c.LatencyMS)
	}
}

// tally is the percentile as if it were the sum of a measure; empty if calls were not
// watched.
func (s *sample) tally(percent int) tally {
	n := s.zeros + len(s.others)
	if !s.watched || n == 0 {
		return tally{}
	}
	slices.Sort(s.others)
	t := tally{n: n, derived: s.derived}
	if rank := (percent*n + 99) / 100; rank > s.zeros {
		t.sum = s.others[rank-1-s.zeros]
	}
	return t
}

// check returns what contradicts itself in how a call was carried out.
func (d *Dispatch) check() error {
	switch d.Outcome {
	case OutcomeNone:
		if *d != (Dispatch{}) {
			return fmt.Errorf("it was not dispatched, and has attempts, times or codes")
		}
	case OutcomeOK, OutcomeError, OutcomeDenied:
	default:
		return fmt.Errorf("outcome %q is unknown", d.Outcome)
	}
	for _, ms := range [...]float64{d.LatencyMS, d.WaitingMS, d.QueuedMS, d.ExecutingMS, d.ShapingMS, float64(d.Attempts), float64(d.TimedOut), float64(d.TruncatedTokens)} {
		if !counted().Contains(ms) || math.IsInf(ms, 1) {
			return fmt.Errorf("a time or count is %v", ms)
		}
	}
	return nil
}

// check returns what cannot be in the calls of a session.
func (t *Traffic) check() error {
	counts := []int{t.Dispatched, t.Attempts, t.Retries, t.Throttled, t.CacheHits, t.BreakerOpenings, t.Timeouts, t.DuplicatedSideEffects, t.LeakedSecrets}
	for _, r := range DenialRules() {
		counts = append(counts, *t.Denied.Of(r))
	}
	if least := slices.Min(counts); least < 0 || t.TruncatedTokens < 0 {
		return fmt.Errorf("a count of its calls is below 0")
	}
	for _, ms := range [...]float64{t.SerialMS, t.TakenMS} {
		if !counted().Contains(ms) || math.IsInf(ms, 1) {
			return fmt.Errorf("its calls took %v ms", ms)
		}
	}
	return nil
}
