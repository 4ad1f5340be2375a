// Package clock makes time a value: everything in the pipeline that waits or
// expires asks a Clock, so that a replay can jump over an hour in microseconds
// and give the same bytes on every machine.
//
// What only reads the time takes a Clock. What also waits takes a Timeline: on
// Wall its tasks are goroutines and its waits are timers; on Virtual they are
// the tasks of a scheduler that runs one at a time, in an order that depends on
// nothing but what the tasks do.
package clock

import (
	"context"
	"runtime"
	"time"
)

// Clock tells the time. Implementations are safe for concurrent use unless
// they say otherwise.
type Clock interface {
	Now() time.Time
}

// Timeline is a clock whose time can be waited for.
type Timeline interface {
	Clock
	// Go starts a task, which may itself wait and start tasks.
	Go(task func())
	// Wait blocks the task that calls it until e happens, d has passed or ctx is
	// done, and says which. When it begins, an event that has happened goes before a
	// ctx that is done, and that before any d; of what comes at once later, any may
	// be said, but on Virtual the same every time. A nil e never happens, and a d
	// below 0 never passes.
	Wait(ctx context.Context, e *Event, d time.Duration) Woken
}

// Woken says what ended a wait.
type Woken int

// The ends of a wait.
const (
	Happened  Woken = iota // the event happened
	Passed                 // the time passed
	Cancelled              // the context is done
)

// Forever is the duration that never passes.
const Forever time.Duration = -1

// Sleep waits for d, or until ctx is done, whose error it then returns. A d of 0
// or less does not wait.
func Sleep(ctx context.Context, t Timeline, d time.Duration) error {
	if d > 0 && t.Wait(ctx, nil, d) == Passed {
		return nil
	}
	return ctx.Err()
}

// Wall is the machine's own clock.
type Wall struct{}

// Now returns the current time with its monotonic reading.
func (Wall) Now() time.Time { return time.Now() }

// Go starts a goroutine.
func (Wall) Go(task func()) { go task() }

// yields is how often a wait lets others run before it blocks: what a task that was
// just started does at once need not cost a timer and two changes of threads.
const yields = 2

// Wait blocks the calling goroutine.
func (Wall) Wait(ctx context.Context, e *Event, d time.Duration) Woken {
	var happened <-chan struct{}
	if e != nil {
		if e.Happened() {
			return Happened
		}
		for range yields {
			runtime.Gosched()
			if e.Happened() {
				return Happened
			}
		}
		happened = e.channel()
	}
	if ctx.Err() != nil {
		return Cancelled
	}
	var passed <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		passed = timer.C
	}
	select {
	case <-happened:
		return Happened
	case <-passed:
		return Passed
	case <-ctx.Done():
		return Cancelled
	}
}
