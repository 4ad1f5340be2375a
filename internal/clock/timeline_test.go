package clock

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log is what tasks did, each entry with the milliseconds since the beginning.
type log struct {
	timeline Timeline
	start    time.Time
	mu       sync.Mutex
	lines    []string
}

func newLog(t Timeline) *log { return &log{timeline: t, start: t.Now()} }

func (l *log) say(format string, arguments ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.timeline.Now().Sub(l.start)
	l.lines = append(l.lines, fmt.Sprintf("%d %s", at.Milliseconds(), fmt.Sprintf(format, arguments...)))
}

func (w Woken) String() string { return [...]string{"happened", "passed", "cancelled"}[w] }

// onBoth runs a test on virtual time, and on the machine's clock in a bubble whose
// time jumps too.
func onBoth(t *testing.T, test func(t *testing.T, timeline Timeline)) {
	t.Run("virtual", func(t *testing.T) {
		v := &Virtual{}
		test(t, v)
		v.Settle()
	})
	t.Run("wall", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			test(t, Wall{})
			time.Sleep(time.Hour) // what settling is on the other
		})
	})
}

func TestWaitEndsByWhatComesFirst(t *testing.T) {
	const never = -1
	for _, row := range []struct {
		name              string
		happens, ends     time.Duration // milliseconds from the beginning; 0: before the wait
		patience          time.Duration
		want              Woken
		wantTook          time.Duration
		wantTookOnVirtual time.Duration // where it differs
	}{
		{name: "the event", happens: 3, ends: never, patience: 5, want: Happened, wantTook: 3},
		{name: "the event, without patience's end", happens: 3, ends: never, patience: never, want: Happened, wantTook: 3},
		{name: "the event, before", happens: 0, ends: never, patience: 5, want: Happened},
		{name: "the event, before, with a context that is done", happens: 0, ends: 0, patience: 5, want: Happened},
		{name: "the time", happens: 7, ends: never, patience: 5, want: Passed, wantTook: 5},
		{name: "no time", happens: never, ends: never, patience: 0, want: Passed},
		{name: "the context, before", happens: never, ends: 0, patience: 5, want: Cancelled},
		{name: "the context, before, and no time", happens: never, ends: 0, patience: 0, want: Cancelled},
		{name: "the context", happens: never, ends: 2, patience: 5, want: Cancelled, wantTook: 2, wantTookOnVirtual: 5},
		{name: "the event after the context", happens: 3, ends: 2, patience: 5, want: Cancelled, wantTook: 2, wantTookOnVirtual: 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, timeline Timeline) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				var e Event
				at := func(ms time.Duration, act func()) {
					switch {
					case ms == 0:
						act()
					case ms > 0:
						timeline.Go(func() {
							timeline.Wait(context.Background(), nil, ms*time.Millisecond)
							act()
						})
					}
				}
				at(row.happens, e.Happen)
				at(row.ends, cancel)
				want, took := row.want, row.wantTook
				if _, virtual := timeline.(*Virtual); virtual && row.wantTookOnVirtual > 0 {
					took = row.wantTookOnVirtual
					if row.happens > 0 {
						want = Happened // contexts count when the wait ends
					}
				}
				before := timeline.Now()
				d := row.patience
				if d > 0 {
					d *= time.Millisecond
				}
				got := timeline.Wait(ctx, &e, d)
				if gotTook := timeline.Now().Sub(before); got != want || gotTook != took*time.Millisecond {
					t.Errorf("%v after %v, want %v after %v", got, gotTook, want, took*time.Millisecond)
				}
			})
		})
	}
}

func TestSleep(t *testing.T) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	onBoth(t, func(t *testing.T, timeline Timeline) {
		for _, row := range []struct {
			ctx  context.Context
			d    time.Duration
			want error
			took time.Duration
		}{
			{context.Background(), time.Second, nil, time.Second},
			{context.Background(), 0, nil, 0},
			{context.Background(), -time.Second, nil, 0},
			{done, time.Second, context.Canceled, 0},
			{done, 0, context.Canceled, 0},
		} {
			before := timeline.Now()
			err := Sleep(row.ctx, timeline, row.d)
			if took := timeline.Now().Sub(before); err != row.want || took != row.took {
				t.Errorf("sleep of %v: %v after %v, want %v after %v", row.d, err, took, row.want, row.took)
			}
		}
	})
}

func TestEventHappensOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, timeline Timeline) {
		var e, all Event
		woken := 0
		var mu sync.Mutex
		for range 3 {
			timeline.Go(func() {
				timeline.Wait(context.Background(), &e, Forever)
				mu.Lock()
				defer mu.Unlock()
				if woken++; woken == 3 {
					all.Happen()
				}
			})
		}
		if e.Happened() {
			t.Error("it happened by itself")
		}
		timeline.Go(func() { e.Happen(); e.Happen() })
		timeline.Wait(context.Background(), &all, Forever)
		if !e.Happened() || woken != 3 {
			t.Errorf("%d of 3 were woken", woken)
		}
	})
}

// The order of tasks at one time: by who started them, then by when they came.
func TestVirtualOrder(t *testing.T) {
	v := &Virtual{}
	l := newLog(v)
	wait := func(ms time.Duration) { v.Wait(context.Background(), nil, ms*time.Millisecond) }
	v.Go(func() {
		l.say("a starts")
		v.Go(func() {
			l.say("a's child starts")
			wait(5)
			l.say("a's child")
		})
		wait(5)
		l.say("a")
	})
	v.Go(func() {
		l.say("b starts")
		wait(2)
		l.say("b between")
		wait(3)
		l.say("b")
	})
	l.say("the owner goes on")
	wait(5)
	l.say("the owner")
	v.Settle()
	want := []string{
		"0 the owner goes on", "0 a starts", "0 a's child starts", "0 b starts",
		"2 b between",
		"5 the owner", "5 a", "5 a's child", "5 b",
	}
	if !slices.Equal(l.lines, want) {
		t.Errorf("order\n%s\nwant\n%s", strings.Join(l.lines, "\n"), strings.Join(want, "\n"))
	}
	if got := v.Now().Sub(l.start); got != 5*time.Millisecond {
		t.Errorf("settled at %v, want at the end of the last task", got)
	}
}

// One whose event happens at the very time at which its patience ends was woken by
// whichever came first in the order of tasks.
func TestVirtualEventAtTheEndOfPatience(t *testing.T) {
	for _, row := range []struct {
		starterFirst bool
		want         Woken
	}{{true, Happened}, {false, Passed}} {
		v := &Virtual{}
		var e Event
		var got Woken
		starter := func() {
			v.Wait(context.Background(), nil, time.Second)
			e.Happen()
		}
		waiter := func() { got = v.Wait(context.Background(), &e, time.Second) }
		if row.starterFirst {
			v.Go(starter)
			v.Go(waiter)
		} else {
			v.Go(waiter)
			v.Go(starter)
		}
		v.Settle()
		if got != row.want || len(e.waiting) > 0 {
			t.Errorf("starter first %t: %v with %d still noted, want %v", row.starterFirst, got, len(e.waiting), row.want)
		}
	}
}

func TestVirtualTasksRunWhileTheOwnerAdvances(t *testing.T) {
	v := &Virtual{}
	ticks := 0
	v.Go(func() {
		for range 5 {
			v.Wait(context.Background(), nil, time.Second)
			ticks++
		}
	})
	v.Advance(2500 * time.Millisecond)
	if ticks != 2 || v.Now().Sub(time.Time{}) != 2500*time.Millisecond {
		t.Errorf("%d ticks at %v, want 2 at 2.5s", ticks, v.Now().Sub(time.Time{}))
	}
	v.Settle()
	if ticks != 5 || v.Now().Sub(time.Time{}) != 5*time.Second {
		t.Errorf("%d ticks at %v, want 5 at 5s", ticks, v.Now().Sub(time.Time{}))
	}
}

func TestVirtualSettlesTasksThatStartTasks(t *testing.T) {
	v := &Virtual{}
	ended := 0
	var grow func(depth int) func()
	grow = func(depth int) func() {
		return func() {
			for range 2 {
				if depth > 0 {
					v.Go(grow(depth - 1))
				}
				v.Wait(context.Background(), nil, time.Second)
			}
			ended++
		}
	}
	v.Go(grow(4))
	v.Settle()
	if want := 1 + 2 + 4 + 8 + 16; ended != want {
		t.Errorf("%d tasks ended, want %d", ended, want)
	}
	v.Settle()
}

// The end of time holds: nothing is added beyond it, and tasks that wait for it end.
func TestVirtualEndOfTime(t *testing.T) {
	v := &Virtual{}
	v.Advance(time.Hour)
	ended := false
	v.Go(func() {
		v.Wait(context.Background(), nil, math.MaxInt64)
		v.Wait(context.Background(), nil, time.Hour)
		ended = true
	})
	v.Settle()
	v.Advance(time.Hour)
	if got := v.Now().Sub(time.Time{}); !ended || got != math.MaxInt64 {
		t.Errorf("ended %t at %v", ended, got)
	}
}

func TestVirtualSaysThatNobodyCanGoOn(t *testing.T) {
	panics := func(f func()) (got any) {
		defer func() { got = recover() }()
		f()
		return nil
	}
	if got := panics(func() { (&Virtual{}).Wait(context.Background(), &Event{}, Forever) }); got != stuck {
		t.Errorf("a wait for nothing: %v", got)
	}
	if got := panics(func() { (&Virtual{}).Wait(context.Background(), nil, Forever) }); got != stuck {
		t.Errorf("a wait without end: %v", got)
	}
	v := &Virtual{}
	var e Event
	v.Go(func() { v.Wait(context.Background(), &e, Forever) })
	if got := panics(v.Settle); got != stuck {
		t.Errorf("settling with a task that waits for an event: %v", got)
	}
	e.Happen()
	v.Settle() // it ended after all, and leaves no goroutine
}

// A task that leaves its goroutine, as t.FailNow does, ends like the others.
func TestVirtualTaskMayLeave(t *testing.T) {
	v := &Virtual{}
	v.Go(func() {
		v.Wait(context.Background(), nil, time.Second)
		runtime.Goexit()
	})
	v.Settle()
	if v.tasks != 0 {
		t.Errorf("%d tasks are left", v.tasks)
	}
}

// step is one thing that a task of a random program does.
type step struct {
	kind  string // wait, happen, await, start
	ms    time.Duration
	which int // event, or task
}

// program is what tasks do; task i starts only tasks of higher numbers.
type program struct {
	tasks  [][]step
	events int
}

var programs = rapid.Custom(func(t *rapid.T) program {
	p := program{events: 4}
	n := rapid.IntRange(1, 6).Draw(t, "tasks")
	for i := range n {
		p.tasks = append(p.tasks, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			s := step{kind: rapid.SampledFrom([]string{"wait", "happen", "await", "start"}).Draw(t, "kind")}
			s.ms = time.Duration(rapid.IntRange(0, 4).Draw(t, "ms"))
			switch {
			case s.kind == "start" && i+1 < n:
				s.which = rapid.IntRange(i+1, n-1).Draw(t, "task")
			case s.kind == "start":
				s.kind = "wait"
			default:
				s.which = rapid.IntRange(0, p.events-1).Draw(t, "event")
			}
			return s
		}), 0, 5).Draw(t, "steps"))
	}
	return p
})

// play runs task 0 as the owner's, and returns the log.
func (p program) play(t *rapid.T) []string {
	v := &Virtual{}
	l := newLog(v)
	events := make([]Event, p.events)
	last := v.Now()
	inside, fault := 0, ""
	var task func(i int, name string)
	task = func(i int, name string) {
		for n, s := range p.tasks[i] {
			if inside++; inside != 1 {
				fault = fmt.Sprintf("%d tasks run at once", inside)
			}
			if v.Now().Before(last) {
				fault = fmt.Sprintf("time ran from %v back to %v", last, v.Now())
			}
			last = v.Now()
			l.say("%s does %v", name, s)
			before := v.Now()
			inside--
			var woken Woken
			switch s.kind {
			case "wait":
				woken = v.Wait(context.Background(), nil, s.ms*time.Millisecond)
			case "await":
				woken = v.Wait(context.Background(), &events[s.which], s.ms*time.Millisecond)
			case "happen":
				events[s.which].Happen()
			case "start":
				child := fmt.Sprintf("%s.%d", name, n)
				v.Go(func() { task(s.which, child) })
			}
			took := v.Now().Sub(before)
			if s.kind == "wait" && took != s.ms*time.Millisecond || took > s.ms*time.Millisecond || woken == Cancelled {
				fault = fmt.Sprintf("%v took %v and ended by %v", s, took, woken)
			}
		}
	}
	task(0, "owner")
	v.Settle()
	if fault != "" {
		t.Fatal(fault) // here: the tasks run on other goroutines
	}
	return l.lines
}

func TestVirtualIsTheSameEveryTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := programs.Draw(t, "program")
		first, second := p.play(t), p.play(t)
		if !slices.Equal(first, second) {
			t.Fatalf("first\n%s\nthen\n%s", strings.Join(first, "\n"), strings.Join(second, "\n"))
		}
	})
}

// Tasks that only wait go on by time, then by who was started first, then by who came
// first: which a sort can tell beforehand.
func TestVirtualOrderIsThatOfASort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		waits := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 5), 1, 5), 1, 6).Draw(t, "waits")
		type entry struct{ at, task, n int }
		var want, got []entry
		v := &Virtual{}
		for i, list := range waits {
			at := 0
			for n, ms := range list {
				at += ms
				want = append(want, entry{at, i, n})
			}
			v.Go(func() {
				for n, ms := range list {
					v.Wait(context.Background(), nil, time.Duration(ms)*time.Millisecond)
					got = append(got, entry{int(v.Now().Sub(time.Time{}).Milliseconds()), i, n})
				}
			})
		}
		v.Settle()
		// A task that waits for no time goes on at once, unless one that came before it
		// has a turn: at one time its steps stay together.
		slices.SortStableFunc(want, func(a, b entry) int {
			if a.at != b.at {
				return a.at - b.at
			}
			return a.task - b.task
		})
		if !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
	})
}
