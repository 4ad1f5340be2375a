package audit

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTally(t *testing.T) {
	y := NewTally()
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for i := range 100 { // 1 to 100 ms, the longest first
		y.Add(&Record{Tool: "b", Attempts: 1, ResultTokens: 2, Executing: ms(99 - i), Queued: ms(1)}, 3)
	}
	y.Add(&Record{Tool: "b", CacheHit: true, ResultTokens: 2}, 3)
	y.Add(&Record{Tool: "a", Code: "timeout", Attempts: 3, Executing: ms(24)}, 1)
	y.Add(&Record{Tool: "a", Code: "denied"}, 1)
	y.Add(&Record{Tool: "a", Code: "timeout", Attempts: 1, Executing: ms(8)}, 1)
	for _, name := range []string{"made", "up"} {
		y.Add(&Record{Tool: name, Code: unknownTool}, 1)
	}
	want := []Metrics{
		{Tool: "", Calls: 2, Failures: []Failures{{"unknown_tool", 2}}, TokensIn: 2},
		{
			Tool: "a", Calls: 3, Failures: []Failures{{"denied", 1}, {"timeout", 2}}, TokensIn: 3, Attempts: 4,
			Latency: Latency{Count: 2, Sum: ms(32), P50: ms(8), P95: ms(24), P99: ms(24)},
		},
		{
			Tool: "b", Calls: 101, TokensIn: 303, TokensOut: 202, Attempts: 100, CacheHits: 1,
			Latency: Latency{Count: 100, Sum: ms(5050), P50: ms(50), P95: ms(95), P99: ms(99)},
		},
	}
	if diff := cmp.Diff(want, y.Tools()); diff != "" {
		t.Error(diff)
	}
}

// TestTallyQuantiles: each is within one part in 128 of the exact one, and the order
// of the records does not matter.
func TestTallyQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Int64Range(0, 1<<50), 1, 50).Draw(t, "latencies")
		forward, backward := NewTally(), NewTally()
		for i := range all {
			forward.Add(&Record{Attempts: 1, Executing: time.Duration(all[i])}, 0)
			backward.Add(&Record{Attempts: 1, Executing: time.Duration(all[len(all)-1-i])}, 0)
		}
		got := forward.Tools()
		if diff := cmp.Diff(got, backward.Tools()); diff != "" {
			t.Fatal("the order matters:", diff)
		}
		slices.Sort(all)
		for percent, d := range map[int]time.Duration{50: got[0].Latency.P50, 95: got[0].Latency.P95, 99: got[0].Latency.P99} {
			exact := all[(len(all)*percent+99)/100-1]
			if apart := max(int64(d)-exact, exact-int64(d)); apart > exact/128 {
				t.Fatalf("p%d is %d, exactly %d", percent, d, exact)
			}
		}
	})
}

func TestTallyTogether(t *testing.T) {
	y := NewTally()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 1000 {
				y.Add(&Record{Tool: "t", Attempts: 1, Executing: time.Duration(i)}, 1)
				if i%100 == 0 {
					y.Tools()
				}
			}
		})
	}
	wg.Wait()
	if m := y.Tools()[0]; m.Calls != 4000 || m.TokensIn != 4000 || m.Latency.Count != 4000 {
		t.Errorf("%+v", m)
	}
}

func BenchmarkTally(b *testing.B) {
	y, r := NewTally(), sample()
	b.ReportAllocs()
	for b.Loop() {
		r.Executing += time.Microsecond
		y.Add(r, 10)
	}
}
