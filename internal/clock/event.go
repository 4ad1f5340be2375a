package clock

import "sync"

// Event is something that happens once. The zero value has not happened and is
// ready to use; it is safe for concurrent use.
type Event struct {
	mu       sync.Mutex
	happened bool
	done     chan struct{} // made for the first goroutine that waits
	waiting  []*task       // tasks of a virtual timeline, in the order in which they came
}

// Happen lets the event happen; the second time changes nothing.
func (e *Event) Happen() {
	e.mu.Lock()
	if e.happened {
		e.mu.Unlock()
		return
	}
	e.happened = true
	if e.done != nil {
		close(e.done)
	}
	waiting := e.waiting
	e.waiting = nil
	e.mu.Unlock()
	for _, t := range waiting {
		t.wake()
	}
}

// Happened reports whether the event has happened.
func (e *Event) Happened() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.happened
}

// channel is closed when the event happens.
func (e *Event) channel() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done == nil {
		e.done = make(chan struct{})
		if e.happened {
			close(e.done)
		}
	}
	return e.done
}

// await notes a task to be woken.
func (e *Event) await(t *task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.happened {
		e.waiting = append(e.waiting, t)
	}
}

// forget drops a task that waits no longer.
func (e *Event) forget(t *task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, w := range e.waiting {
		if w == t {
			e.waiting = append(e.waiting[:i], e.waiting[i+1:]...)
			return
		}
	}
}
