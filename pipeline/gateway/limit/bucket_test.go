package limit

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

const ms = time.Millisecond

func TestBucketsTake(t *testing.T) {
	usual := card.RateLimit{BucketCapacity: 10, RefillRate: 2}
	type take struct {
		pause    time.Duration // before it
		session  string
		limit    card.RateLimit
		patience time.Duration
		waited   time.Duration
		want     string
	}
	burst := func(n int, limit card.RateLimit) []take {
		list := make([]take, n)
		for i := range list {
			list[i] = take{session: "s", limit: limit, want: "ok"}
		}
		return list
	}
	for _, row := range []struct {
		name  string
		takes []take
	}{
		{"after the burst one each half second", append(burst(10, usual),
			take{0, "s", usual, time.Second, 500 * ms, "ok"},
			take{0, "s", usual, time.Second, 500 * ms, "ok"},
			take{200 * ms, "s", usual, time.Second, 300 * ms, "ok"})},
		{"a refusal takes nothing", append(burst(10, usual),
			take{0, "s", usual, 499 * ms, 0, "would wait 500ms"},
			take{0, "s", usual, 0, 0, "would wait 500ms"},
			take{100 * ms, "s", usual, 0, 0, "would wait 400ms"},
			take{0, "s", usual, 400 * ms, 400 * ms, "ok"})},
		{"patience without end", append(burst(10, usual),
			take{0, "s", usual, clock.Forever, 500 * ms, "ok"})},
		{"full again, and no fuller", append(append(burst(10, usual),
			take{time.Hour, "s", usual, 0, 0, "ok"}), append(burst(9, usual),
			take{0, "s", usual, 0, 0, "would wait 500ms"})...)},
		{"other sessions have buckets of their own", append(burst(10, usual),
			take{0, "other", usual, 0, 0, "ok"},
			take{0, "s", usual, 0, 0, "would wait 500ms"})},
		{"a faster limit counts from then on", append(burst(10, usual),
			take{250 * ms, "s", card.RateLimit{BucketCapacity: 10, RefillRate: 10}, time.Second, 50 * ms, "ok"})},
		{"a smaller bucket holds less", []take{
			{0, "s", usual, 0, 0, "ok"},
			{0, "s", card.RateLimit{BucketCapacity: 1, RefillRate: 2}, 0, 0, "ok"},
			{0, "s", card.RateLimit{BucketCapacity: 1, RefillRate: 2}, 0, 0, "would wait 500ms"}}},
		{"a larger bucket fills by and by", append(burst(1, card.RateLimit{BucketCapacity: 1, RefillRate: 2}),
			take{0, "s", usual, 0, 0, "would wait 500ms"},
			take{time.Second, "s", usual, 0, 0, "ok"},
			take{0, "s", usual, 0, 0, "ok"},
			take{0, "s", usual, 0, 0, "would wait 500ms"})},
		{"no capacity is no limit", burst(100, card.RateLimit{})},
		{"what never refills is never waited for", append(burst(1, card.RateLimit{BucketCapacity: 1}),
			take{0, "s", card.RateLimit{BucketCapacity: 1}, clock.Forever, 0, "would wait 0s"})},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, timeline clock.Timeline) {
				b := NewBuckets(timeline)
				for i, k := range row.takes {
					if k.pause > 0 {
						sleep(timeline, k.pause)
					}
					before := timeline.Now()
					waited, err := b.Take(ctx, k.session, "t", k.limit, k.patience)
					took := timeline.Now().Sub(before)
					if outcome(err) != k.want || waited != k.waited || took != k.waited {
						t.Fatalf("take %d: %s, said to have waited %v, took %v; want %s and %v", i+1, outcome(err), waited, took, k.want, k.waited)
					}
				}
			})
		})
	}
}

func TestBucketsCancelGivesTheTokenBack(t *testing.T) {
	limit := card.RateLimit{BucketCapacity: 1, RefillRate: 1}
	onBoth(t, func(t *testing.T, timeline clock.Timeline) {
		b := NewBuckets(timeline)
		if _, err := b.Take(ctx, "s", "t", limit, 0); err != nil {
			t.Fatal(err)
		}
		ending, cancel := context.WithCancel(ctx)
		timeline.Go(func() {
			sleep(timeline, 400*ms)
			cancel()
		})
		if _, err := b.Take(ending, "s", "t", limit, time.Minute); err != context.Canceled {
			t.Fatalf("cancelled: %v", err)
		}
		want := 600 * ms
		if _, virtual := timeline.(*clock.Virtual); virtual {
			want = 0 // the wait went on to its end
		}
		if waited, err := b.Take(ctx, "s", "t", limit, time.Minute); err != nil || waited != want {
			t.Errorf("the next waited %v, %v; want %v", waited, err, want)
		}
		if _, err := b.Take(ending, "s", "t", limit, time.Minute); err != context.Canceled {
			t.Errorf("with a context that is done: %v", err)
		}
	})
}

func TestBucketsFirstComeFirstServed(t *testing.T) {
	limit := card.RateLimit{BucketCapacity: 1, RefillRate: 1}
	onBoth(t, func(t *testing.T, timeline clock.Timeline) {
		b := NewBuckets(timeline)
		start := timeline.Now()
		var mu sync.Mutex
		var got []string
		for i := range 4 {
			timeline.Go(func() {
				sleep(timeline, time.Duration(i+1)*ms)
				_, err := b.Take(ctx, "s", "t", limit, 2*time.Second)
				mu.Lock()
				defer mu.Unlock()
				got = append(got, fmt.Sprintf("%d %s at %v", i, outcome(err), timeline.Now().Sub(start)))
			})
		}
		sleep(timeline, time.Minute)
		mu.Lock()
		defer mu.Unlock()
		// The first comes at 1 ms; each of the others a second after the one before.
		want := "[0 ok at 1ms 3 would wait 2.997s at 4ms 1 ok at 1.001s 2 ok at 2.001s]"
		if fmt.Sprint(got) != want {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

// Whatever is asked and refused or cancelled, no stretch of time sees more calls than
// the capacity and what was refilled in it.
func TestBucketsNeverGiveTooMuch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := &clock.Virtual{}
		b := NewBuckets(v)
		limit := card.RateLimit{
			BucketCapacity: rapid.IntRange(1, 5).Draw(t, "capacity"),
			RefillRate:     rapid.Float64Range(0.1, 20).Draw(t, "rate"),
		}
		var given []time.Time
		fault := ""
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			pause := time.Duration(rapid.IntRange(0, 300).Draw(t, "pause")) * ms
			patience := time.Duration(rapid.IntRange(0, 2000).Draw(t, "patience")) * ms
			ends := rapid.IntRange(0, 3).Draw(t, "ends") == 0
			v.Advance(pause)
			v.Go(func() {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				if ends {
					v.Go(func() {
						v.Wait(context.Background(), nil, patience/2)
						cancel()
					})
				}
				asked := v.Now()
				waited, err := b.Take(ctx, "s", "t", limit, patience)
				if waited > patience || v.Now().Sub(asked) != waited {
					fault = fmt.Sprintf("waited %v of %v, and says %v", v.Now().Sub(asked), patience, waited)
				}
				if err == nil {
					given = append(given, v.Now())
				}
			})
		}
		v.Settle()
		if fault != "" {
			t.Fatal(fault)
		}
		for i := range given {
			for j := i; j < len(given); j++ {
				refilled := limit.RefillRate * given[j].Sub(given[i]).Seconds()
				if n := j - i + 1; float64(n) > float64(limit.BucketCapacity)+refilled+1e-3 {
					t.Fatalf("%d calls between %v and %v, capacity %d at %v/s", n, given[i], given[j], limit.BucketCapacity, limit.RefillRate)
				}
			}
		}
	})
}

func TestBucketsForgetIdleSessions(t *testing.T) {
	v := &clock.Virtual{}
	b := NewBuckets(v)
	limit := card.RateLimit{BucketCapacity: 1, RefillRate: 1}
	if _, err := b.Take(ctx, "busy", "t", card.RateLimit{BucketCapacity: 2, RefillRate: 1e-6}, 0); err != nil {
		t.Fatal(err)
	}
	for i := range 4 * bucketsKept {
		if _, err := b.Take(ctx, fmt.Sprint(i), "t", limit, 0); err != nil {
			t.Fatal(err)
		}
		v.Advance(ms)
	}
	if len(b.all) > bucketsKept {
		t.Errorf("%d buckets are kept", len(b.all))
	}
	if b.all[bucketKey{"busy", "t"}] == nil {
		t.Error("a bucket that is not full was dropped")
	}
}

func TestRate(t *testing.T) {
	onBoth(t, func(t *testing.T, timeline clock.Timeline) {
		for _, row := range []struct {
			perSecond float64
			want      string
		}{
			{0, "[0s 0s 0s 0s 0s]"},
			{-1, "[0s 0s 0s 0s 0s]"},
			{3.5, "[0s 0s 0s 285.714285ms would wait]"}, // 3 at once, then one each 1/3.5 s
			{0.5, "[0s would wait would wait would wait would wait]"},
		} {
			r := NewRate(timeline, row.perSecond)
			var got []string
			for i := range 5 {
				patience := 300 * ms
				if i == 4 {
					patience = 200 * ms
				}
				waited, err := r.Take(ctx, patience)
				if err != nil {
					got = append(got, "would wait")
				} else {
					got = append(got, waited.String())
				}
			}
			if fmt.Sprint(got) != row.want {
				t.Errorf("%g a second: %v, want %v", row.perSecond, got, row.want)
			}
		}
	})
}

func TestBucketsAmongGoroutines(t *testing.T) {
	b := NewBuckets(clock.Wall{})
	limit := card.RateLimit{BucketCapacity: 50, RefillRate: 1e-6}
	var mu sync.Mutex
	given := make(map[string]int)
	var all sync.WaitGroup
	for i := range 400 {
		all.Go(func() {
			session := fmt.Sprint(i % 4)
			if _, err := b.Take(ctx, session, "t", limit, 0); err == nil {
				mu.Lock()
				defer mu.Unlock()
				given[session]++
			}
		})
	}
	all.Wait()
	for session, n := range given {
		if n != 50 {
			t.Errorf("session %s got %d of 50", session, n)
		}
	}
}
