package limit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/clock"
)

func TestGateQueue(t *testing.T) {
	type caller struct {
		comes, patience, stays time.Duration
		want                   string
	}
	for _, row := range []struct {
		name         string
		width, queue int
		callers      []caller
	}{
		{"nobody waits for room", 2, 0, []caller{
			{0, 0, 10 * ms, "ok at 0s after 0s"},
			{1 * ms, 0, 10 * ms, "ok at 1ms after 0s"}}},
		{"first come, first served", 1, 5, []caller{
			{0, 0, 10 * ms, "ok at 0s after 0s"},
			{1 * ms, time.Second, 10 * ms, "ok at 10ms after 9ms"},
			{2 * ms, time.Second, 10 * ms, "ok at 20ms after 18ms"},
			{3 * ms, clock.Forever, 10 * ms, "ok at 30ms after 27ms"},
			{35 * ms, time.Second, 10 * ms, "ok at 40ms after 5ms"}}},
		{"no room in the queue", 1, 1, []caller{
			{0, 0, 10 * ms, "ok at 0s after 0s"},
			{1 * ms, time.Second, 10 * ms, "ok at 10ms after 9ms"},
			{2 * ms, time.Second, 10 * ms, "full with 1 at 2ms after 0s"},
			{11 * ms, time.Second, 10 * ms, "ok at 20ms after 9ms"}}},
		{"patience is over", 1, 5, []caller{
			{0, 0, 10 * ms, "ok at 0s after 0s"},
			{1 * ms, 5 * ms, 10 * ms, "would wait 0s at 6ms after 5ms"},
			{2 * ms, 9 * ms, 10 * ms, "ok at 10ms after 8ms"}}},
		{"a gate lets at least one in", 0, 0, []caller{
			{0, 0, 10 * ms, "ok at 0s after 0s"},
			{1 * ms, 0, 10 * ms, "full with 0 at 1ms after 0s"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, timeline clock.Timeline) {
				g := NewGate(timeline, row.width, row.queue)
				start := timeline.Now()
				got := make([]string, len(row.callers))
				var mu sync.Mutex
				for i, c := range row.callers {
					timeline.Go(func() {
						sleep(timeline, c.comes)
						place, waited, err := g.Enter(ctx, c.patience)
						mu.Lock()
						got[i] = fmt.Sprintf("%s at %v after %v", outcome(err), timeline.Now().Sub(start), waited)
						mu.Unlock()
						if err == nil {
							sleep(timeline, c.stays)
						}
						place.Leave()
					})
				}
				sleep(timeline, time.Minute)
				mu.Lock()
				defer mu.Unlock()
				for i, c := range row.callers {
					if got[i] != c.want {
						t.Errorf("caller %d: %s, want %s", i+1, got[i], c.want)
					}
				}
				if !g.idle() {
					t.Error("somebody is still inside")
				}
			})
		})
	}
}

// A caller that gives up leaves the others their turn.
func TestGateCancel(t *testing.T) {
	onBoth(t, func(t *testing.T, timeline clock.Timeline) {
		g := NewGate(timeline, 1, 5)
		first, _, err := g.Enter(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		ending, cancel := context.WithCancel(ctx)
		timeline.Go(func() {
			_, _, err := g.Enter(ending, 5*ms)
			if err != context.Canceled {
				t.Errorf("cancelled: %v", err)
			}
		})
		sleep(timeline, ms)
		cancel()
		if _, _, err := g.Enter(ending, time.Second); err != context.Canceled {
			t.Errorf("with a context that is done: %v", err)
		}
		timeline.Go(func() {
			sleep(timeline, 10*ms)
			first.Leave()
		})
		second, waited, err := g.Enter(ctx, time.Second)
		if err != nil || waited != 10*ms {
			t.Errorf("the next: %v after %v, want no error after 10ms", err, waited)
		}
		second.Leave()
		Place{}.Leave()
		if !g.idle() {
			t.Error("somebody is still inside")
		}
	})
}

// No more than the width are inside, those who get in do so in the order in which they
// came, and nobody is forgotten, whoever gives up.
func TestGateHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := &clock.Virtual{}
		width, queue := rapid.IntRange(1, 4).Draw(t, "width"), rapid.IntRange(0, 6).Draw(t, "queue")
		g := NewGate(v, width, queue)
		inside, most := 0, 0
		var entered []int
		fault := ""
		for i := range rapid.IntRange(1, 30).Draw(t, "callers") {
			v.Advance(time.Duration(rapid.IntRange(0, 5).Draw(t, "pause")) * ms)
			patience := time.Duration(rapid.IntRange(-1, 30).Draw(t, "patience")) * ms
			stays := time.Duration(rapid.IntRange(0, 20).Draw(t, "stays")) * ms
			ends := rapid.IntRange(0, 3).Draw(t, "ends") == 0
			v.Go(func() {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				if ends {
					v.Go(func() {
						v.Wait(context.Background(), nil, 3*ms)
						cancel()
					})
				}
				place, waited, err := g.Enter(ctx, patience)
				if patience >= 0 && waited > patience {
					fault = fmt.Sprintf("waited %v of %v", waited, patience)
				}
				if err != nil {
					return
				}
				entered = append(entered, i)
				inside++
				most = max(most, inside)
				v.Wait(context.Background(), nil, stays)
				inside--
				place.Leave()
			})
		}
		v.Settle()
		switch {
		case fault != "":
			t.Fatal(fault)
		case most > width:
			t.Fatalf("%d were inside a gate of width %d", most, width)
		case !slices.IsSorted(entered):
			t.Fatalf("they got in in the order %v", entered)
		case !g.idle():
			t.Fatal("a place is lost")
		}
	})
}

func TestGateAmongGoroutines(t *testing.T) {
	g := NewGates(clock.Wall{}, 3, 1000)
	var inside, most [2]atomic.Int32
	var all sync.WaitGroup
	for i := range 300 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, time.Duration(i%7)*ms)
			defer cancel()
			n := i % 2
			place, _, err := g.Enter(ctx, fmt.Sprint(n), time.Duration(i%5)*ms)
			if err != nil {
				return
			}
			defer place.Leave()
			now := inside[n].Add(1)
			defer inside[n].Add(-1)
			for m := most[n].Load(); now > m && !most[n].CompareAndSwap(m, now); m = most[n].Load() {
			}
			time.Sleep(100 * time.Microsecond)
		})
	}
	all.Wait()
	for n := range most {
		if m := most[n].Load(); m > 3 {
			t.Errorf("%d were inside a gate of width 3", m)
		}
		if !g.all[fmt.Sprint(n)].idle() {
			t.Error("a place is lost")
		}
	}
}

func TestGatesForgetIdleOnes(t *testing.T) {
	v := &clock.Virtual{}
	g := NewGates(v, 1, 0)
	if _, _, err := g.Enter(ctx, "busy", 0); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * gatesMax {
		place, _, err := g.Enter(ctx, fmt.Sprint(i), 0)
		if err != nil {
			t.Fatal(err)
		}
		place.Leave()
	}
	if len(g.all) > gatesMax {
		t.Errorf("%d gates are kept", len(g.all))
	}
	if _, _, err := g.Enter(ctx, "busy", 0); outcome(err) != "full with 0" {
		t.Errorf("a gate in use: %s, want full", outcome(err))
	}
}
