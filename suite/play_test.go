package suite_test

import (
	"context"
	"slices"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/sessions"
)

// played are the sums over some sessions of one scenario, without the suite's gateway and
// with it.
func played(t testing.TB, scenario string, n int64) (open, gated metrics.Traffic, calls []metrics.Call) {
	t.Helper()
	c, config, _ := load(t)
	d, err := sessions.NewDrawer(c, sessions.Options{Mix: []sessions.Share{{Distribution: scenario, Weight: 1}}, EventShare: sessions.NoEvents, NoAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	bare, behind := replay.NewArm("open", bridge.September), replay.NewArm("gated", bridge.September)
	bare.Bridge, behind.Bridge = false, false
	behind.Behind(&replay.Gateway{Name: "suite", SHA256: "suite", Config: config})
	p, err := replay.NewPlayer(replay.Options{Corpus: c, Arms: []replay.Arm{bare, behind}, World: config, Repeats: 1})
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range d.Sessions(sessions.Range{Count: n}) {
		if err != nil {
			t.Fatal(err)
		}
		o, err := p.Play(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		open, gated = plus(open, o.Arms[0].Traffic), plus(gated, o.Arms[1].Traffic)
		calls = append(calls, o.Calls...)
	}
	return open, gated, calls
}

// plus adds what the tests look at.
func plus(a, b metrics.Traffic) metrics.Traffic {
	a.Dispatched += b.Dispatched
	a.Attempts += b.Attempts
	a.Retries += b.Retries
	a.Throttled += b.Throttled
	a.CacheHits += b.CacheHits
	a.BreakerOpenings += b.BreakerOpenings
	a.Denied.Visibility += b.Denied.Visibility
	a.Denied.Surface += b.Denied.Surface
	a.Denied.Admin += b.Denied.Admin
	a.Denied.Scope += b.Denied.Scope
	a.Denied.Confirm += b.Denied.Confirm
	a.Timeouts += b.Timeouts
	a.TruncatedTokens += b.TruncatedTokens
	a.SerialMS += b.SerialMS
	a.TakenMS += b.TakenMS
	a.DuplicatedSideEffects += b.DuplicatedSideEffects
	a.LeakedSecrets += b.LeakedSecrets
	return a
}

// TestScenariosShowTheirTrouble plays each scenario, and looks for what it is there for.
func TestScenariosShowTheirTrouble(t *testing.T) {
	type trouble func(open, gated metrics.Traffic, c []metrics.Call) bool
	wellDone := func(_, _ metrics.Traffic, c []metrics.Call) bool {
		return len(c) > 0 && !slices.ContainsFunc(c, failed)
	}
	for scenario, shows := range map[string]trouble{
		"slow_tail": func(_, _ metrics.Traffic, c []metrics.Call) bool {
			return slices.ContainsFunc(c, func(c metrics.Call) bool { return c.LatencyMS > 6000 })
		},
		"error_burst": func(_, g metrics.Traffic, c []metrics.Call) bool {
			return g.Retries > 0 && slices.ContainsFunc(c, failed)
		},
		"outage":   func(_, g metrics.Traffic, _ []metrics.Call) bool { return g.BreakerOpenings > 0 && g.Timeouts > 0 },
		"flapping": func(_, g metrics.Traffic, _ []metrics.Call) bool { return g.Retries > 0 },
		"lost_reply": func(_, g metrics.Traffic, c []metrics.Call) bool {
			return g.Retries > 0 && slices.ContainsFunc(c, failed)
		},
		"oversized": func(o, g metrics.Traffic, _ []metrics.Call) bool {
			return o.TruncatedTokens == 0 && g.TruncatedTokens > 0
		},
		"misencoded": wellDone,
		"poisoned":   func(o, _ metrics.Traffic, _ []metrics.Call) bool { return o.LeakedSecrets > 0 },
		"runaway": func(o, g metrics.Traffic, _ []metrics.Call) bool {
			return g.Throttled > 0 && g.Attempts < o.Dispatched/2
		},
		"reload": wellDone,
		"parallel": func(o, g metrics.Traffic, _ []metrics.Call) bool {
			return o.TakenMS >= o.SerialMS && g.TakenMS < g.SerialMS/2
		},
		"denied": func(_, g metrics.Traffic, _ []metrics.Call) bool {
			return g.Denied.Surface > 0 && g.Denied.Admin > 0 && g.Denied.Scope > 0 && g.Denied.Confirm > 0
		},
		"computer_use": func(_, g metrics.Traffic, _ []metrics.Call) bool {
			return g.Attempts > g.Dispatched && g.Denied.Surface > 0
		},
	} {
		open, gated, calls := played(t, scenario, 5)
		if !shows(open, gated, calls) {
			t.Errorf("%s shows nothing:\n open %+v\n gated %+v", scenario, open, gated)
		}
		if gated.DuplicatedSideEffects > 0 || gated.LeakedSecrets > 0 {
			t.Errorf("%s: %d effects doubled, %d secrets leaked", scenario, gated.DuplicatedSideEffects, gated.LeakedSecrets)
		}
	}
}

func failed(c metrics.Call) bool { return c.Failed }
