package metrics_test

import (
	"math"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

// trafficSession is a session under one arm with calls of the given latencies.
func trafficSession(id, gateway string, t metrics.Traffic, latencies ...float64) metrics.Observations {
	o := metrics.Observations{Arms: []metrics.SessionArm{{
		SessionID: id, Arm: "gated", Assumptions: metrics.Assumptions{Gateway: gateway}, PromptByTurn: []int64{1}, Traffic: t,
	}}}
	for i, ms := range latencies {
		o.Calls = append(o.Calls, metrics.Call{
			SessionID: id, Arm: "gated", Gold: i, Class: "obvious", Tool: "a", Path: metrics.PathDirect,
			Dispatch: metrics.Dispatch{Outcome: metrics.OutcomeOK, Attempts: 1, LatencyMS: ms, ExecutingMS: ms},
		})
	}
	o.Calls = append(o.Calls, metrics.Call{SessionID: id, Arm: "gated", Gold: len(latencies), Class: "obvious", Tool: "b", Path: metrics.PathLost})
	return o
}

// wholeFigures are the figures of one arm over everything, by measure.
func wholeFigures(t *testing.T, sessions ...metrics.Observations) map[string]metrics.Figure {
	t.Helper()
	a := metrics.NewAccumulator()
	for _, o := range sessions {
		if err := a.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	figures := make(map[string]metrics.Figure)
	for _, f := range a.Figures() {
		if f.Class == "" && f.PoolBin == "" {
			figures[f.Measure] = f
		}
	}
	return figures
}

func TestFiguresOfTraffic(t *testing.T) {
	figures := wholeFigures(t,
		trafficSession("one", "g@1", metrics.Traffic{
			Dispatched: 4, Attempts: 7, Retries: 3, Throttled: 2, CacheHits: 1, BreakerOpenings: 1, Timeouts: 2, TruncatedTokens: 500,
			Denied: metrics.Denied{Scope: 3, Confirm: 1}, SerialMS: 300, TakenMS: 100, DuplicatedSideEffects: 1,
		}, 0, 40, 10, 0),
		trafficSession("two", "g@1", metrics.Traffic{Dispatched: 2, Attempts: 2, SerialMS: 50, TakenMS: 100, LeakedSecrets: 2}, 20, 30),
		trafficSession("three", "g@1", metrics.Traffic{}),
	)
	for measure, want := range map[string]struct {
		value float64
		n     int
	}{
		"dispatched_calls": {2, 3}, "call_attempts": {3, 3}, "call_retries": {1, 3}, "call_timeouts": {2. / 3, 3},
		"breaker_openings": {1. / 3, 3}, "throttled_calls": {2. / 3, 3}, "call_cache_hits": {1. / 3, 3}, "truncated_tokens": {500. / 3, 3},
		"denied_scope": {1, 3}, "denied_confirm": {1. / 3, 3}, "denied_admin": {0, 3}, "calls_taken_ms": {200. / 3, 3},
		"parallel_speedup":                   {(3 + 0.5) / 2, 2},
		metrics.MeasureDuplicatedSideEffects: {1, 3}, metrics.MeasureLeakedSecrets: {2, 3},
		// Sorted: 0 0 10 20 30 40. Half of six are three; 95 and 99 in a hundred are all.
		"call_latency_p50_ms": {10, 6}, "call_latency_p95_ms": {40, 6}, "call_latency_p99_ms": {40, 6},
	} {
		if f, there := figures[measure]; !there || math.Abs(f.Value-want.value) > 1e-12 || f.N != want.n {
			t.Errorf("%s is %v over %d, want %v over %d", measure, f.Value, f.N, want.value, want.n)
		}
	}
}

// TestPercentilesAreNearestRanks: of 1 to 200 ms the ranks are the values.
func TestPercentilesAreNearestRanks(t *testing.T) {
	var latencies []float64
	for i := range 200 {
		latencies = append(latencies, float64((i*77)%200+1))
	}
	figures := wholeFigures(t, trafficSession("s", "off", metrics.Traffic{TakenMS: 1}, latencies...))
	for measure, want := range map[string]float64{"call_latency_p50_ms": 100, "call_latency_p95_ms": 190, "call_latency_p99_ms": 198} {
		if f := figures[measure]; f.Value != want || f.N != 200 || f.Unit != "ms" {
			t.Errorf("%s is %+v, want %v", measure, f, want)
		}
	}
}

// TestNoTrafficNoFigures: calls that take no time and go through no gateway have
// nothing to tell.
func TestNoTrafficNoFigures(t *testing.T) {
	for _, gateway := range []string{"off", ""} {
		figures := wholeFigures(t, trafficSession("s", gateway, metrics.Traffic{Dispatched: 2, Attempts: 2}, 0, 0))
		for _, measure := range []string{"call_latency_p50_ms", "dispatched_calls", "parallel_speedup", "denied_scope", metrics.MeasureLeakedSecrets} {
			if f, there := figures[measure]; there {
				t.Errorf("gateway %q: %+v", gateway, f)
			}
		}
	}
	items := 0
	metrics.NewItems().Of(trafficSession("s", "off", metrics.Traffic{Dispatched: 2}, 0), func(i metrics.Item) {
		if i.Measure == "dispatched_calls" || i.Measure == metrics.MeasureDuplicatedSideEffects {
			items++
		}
	})
	if items != 0 {
		t.Errorf("%d items of calls that nobody watched", items)
	}
}

// TestGatesCanAskForNone: what must be 0 is a total with items, so that one case in a
// long run fails a gate.
func TestGatesCanAskForNone(t *testing.T) {
	for _, measure := range []string{metrics.MeasureDuplicatedSideEffects, metrics.MeasureLeakedSecrets} {
		m, ok := metrics.FindMeasure(measure)
		if !ok || !metrics.IsTotal(measure) || !metrics.HasItems(measure) || m.Better != metrics.Lower {
			t.Errorf("%s: %+v", measure, m)
		}
	}
}

func TestFaultyTrafficIsRefused(t *testing.T) {
	call := func(change func(*metrics.Dispatch)) metrics.Observations {
		o := trafficSession("s", "g@1", metrics.Traffic{}, 5)
		change(&o.Calls[0].Dispatch)
		return o
	}
	for want, o := range map[string]metrics.Observations{
		`outcome "fine" is unknown`:  call(func(d *metrics.Dispatch) { d.Outcome = "fine" }),
		"was not dispatched":         call(func(d *metrics.Dispatch) { d.Outcome = metrics.OutcomeNone }),
		"a time or count is -1":      call(func(d *metrics.Dispatch) { d.QueuedMS = -1 }),
		"a time or count is NaN":     call(func(d *metrics.Dispatch) { d.LatencyMS = math.NaN() }),
		"a count of its calls is be": trafficSession("s", "g@1", metrics.Traffic{Denied: metrics.Denied{Admin: -1}}),
		"its calls took +Inf ms":     trafficSession("s", "g@1", metrics.Traffic{TakenMS: math.Inf(1)}),
	} {
		if err := metrics.NewAccumulator().Add(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
