package clock

import (
	"container/heap"
	"context"
	"math"
	"time"
)

// Virtual is a clock that moves only when everybody waits: then it jumps to the
// earliest time that somebody waits for. The zero value stands at the zero time
// and is ready to use.
//
// Its tasks run one at a time. A task runs until it waits or ends; then the one
// with the earliest time goes on. Of several at one time that which was started
// first goes first, with the tasks that it started itself; what a program does on
// a Virtual is therefore the same every time. The goroutine that owns the clock
// is a task like the others. A task must not wait for another by other means than
// Wait: the other could never run.
//
// It is not safe for concurrent use by others than its tasks.
type Virtual struct {
	elapsed time.Duration
	owner   *task // the goroutine that is no task of Go
	running *task
	parked  taskQueue // those that wait for a time
	tasks   int       // started by Go and not ended
	ranks   uint64    // handed out to tasks that the owner started
	serial  uint64    // handed out to each entry of the queue
}

// task is one thread of work on a virtual timeline.
type task struct {
	clock  *Virtual
	resume chan struct{}
	start  func() // of a task that has not run yet
	at     time.Duration
	rank   uint64 // 0 is the owner's
	serial uint64
	index  int // in the queue; -1 outside
	woken  Woken
}

// Now returns the zero time plus all that has passed.
func (v *Virtual) Now() time.Time { return time.Time{}.Add(v.elapsed) }

// Advance lets d pass, and everything happen that happens meanwhile. A negative d
// is ignored: session time never runs backwards.
func (v *Virtual) Advance(d time.Duration) {
	if d > 0 {
		v.Wait(context.Background(), nil, d)
	}
}

// Settle lets all tasks end, whatever time that takes. The owner calls it before
// it drops the clock. It panics if tasks are left that wait for events, which
// nobody will let happen.
func (v *Virtual) Settle() {
	owner := v.current()
	owner.rank = math.MaxUint64 // after everybody else at any time
	for len(v.parked) > 0 {
		v.Wait(context.Background(), nil, v.parked[0].at-v.elapsed)
	}
	owner.rank = 0
	if v.tasks > 0 {
		panic(stuck)
	}
}

// stuck is the panic of a program that cannot go on.
const stuck = "clock: every task waits for an event, and nobody is left to let it happen"

// Go starts a task. It runs when the one that calls Go waits or ends.
func (v *Virtual) Go(start func()) {
	t := &task{clock: v, start: start, at: v.elapsed, index: -1}
	if parent := v.current(); parent.rank != 0 {
		t.rank = parent.rank
	} else {
		v.ranks++
		t.rank = v.ranks
	}
	v.tasks++
	v.park(t)
}

// current is the task that is running.
func (v *Virtual) current() *task {
	if v.running == nil {
		v.owner = &task{clock: v, resume: make(chan struct{}), index: -1}
		v.running = v.owner
	}
	return v.running
}

// Wait blocks the calling task. A context counts when the wait begins and when it
// ends otherwise: nobody but a task can end it in between. It panics if all tasks
// wait for events, none of which can then happen.
func (v *Virtual) Wait(ctx context.Context, e *Event, d time.Duration) Woken {
	t := v.current()
	if e != nil && e.Happened() {
		return Happened
	}
	if ctx.Err() != nil {
		return Cancelled
	}
	until := v.after(d)
	if e == nil && d >= 0 && (len(v.parked) == 0 || v.parked[0].at > until) {
		v.elapsed = until // nobody else has anything to do
		return Passed
	}
	t.woken = Passed
	if e != nil {
		e.await(t)
	}
	if d >= 0 {
		t.at = until
		v.park(t)
	}
	v.pass(t)
	if e != nil && t.woken != Happened {
		e.forget(t)
	}
	if t.woken == Passed && ctx.Err() != nil {
		return Cancelled
	}
	return t.woken
}

// after is the time d from now, or the end of time, which no wait goes beyond.
func (v *Virtual) after(d time.Duration) time.Duration {
	if d > math.MaxInt64-v.elapsed {
		return math.MaxInt64
	}
	return v.elapsed + d
}

// wake puts a task whose event happened in line.
func (t *task) wake() {
	v := t.clock
	if t.index >= 0 {
		heap.Remove(&v.parked, t.index)
	}
	t.woken, t.at = Happened, v.elapsed
	v.park(t)
}

func (v *Virtual) park(t *task) {
	v.serial++
	t.serial = v.serial
	heap.Push(&v.parked, t)
}

// pass gives the turn to the task that is next, and blocks until it is the
// caller's again. Nil means a task that has ended.
func (v *Virtual) pass(from *task) {
	if len(v.parked) == 0 {
		panic(stuck)
	}
	next := heap.Pop(&v.parked).(*task)
	v.elapsed = max(v.elapsed, next.at)
	if next == from {
		return
	}
	v.running = next
	if start := next.start; start != nil {
		next.start, next.resume = nil, make(chan struct{})
		go func() {
			defer v.end() // also of a task that leaves its goroutine, as failing tests do
			start()
		}()
	} else {
		next.resume <- struct{}{}
	}
	if from != nil {
		<-from.resume
	}
}

// end gives the turn of a task away for good.
func (v *Virtual) end() {
	v.tasks--
	v.pass(nil)
}

// taskQueue is a heap of tasks, the next one first.
type taskQueue []*task

func (q taskQueue) Len() int { return len(q) }

func (q taskQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.rank != b.rank:
		return a.rank < b.rank
	default:
		return a.serial < b.serial
	}
}

func (q taskQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push appends a task.
func (q *taskQueue) Push(x any) {
	t := x.(*task)
	t.index = len(*q)
	*q = append(*q, t)
}

// Pop takes the last task.
func (q *taskQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	t.index = -1
	return t
}
