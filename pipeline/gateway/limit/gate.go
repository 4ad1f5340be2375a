package limit

import (
	"context"
	"sync"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
)

// Gate lets a number of callers in at once; the others queue.
type Gate struct {
	time         clock.Timeline
	width, queue int

	mu      sync.Mutex
	inside  int
	waiting []*clock.Event
}

// NewGate returns a gate that lets width callers in at once, 1 or more, and queue
// others wait.
func NewGate(t clock.Timeline, width, queue int) *Gate {
	return &Gate{time: t, width: max(width, 1), queue: queue}
}

// Place is a place inside a gate. The zero value is none.
type Place struct{ gate *Gate }

// Leave gives the place back. A place is given back once.
func (p Place) Leave() {
	if p.gate != nil {
		p.gate.leave()
	}
}

// Enter waits for a place, which the caller gives back, but not longer than patience,
// which has no end below 0. It returns *Full at once if too many wait, *WouldWait when
// patience is over, or the context's error.
func (g *Gate) Enter(ctx context.Context, patience time.Duration) (place Place, waited time.Duration, err error) {
	turn, err := g.join(ctx)
	if err != nil {
		return Place{}, 0, err
	}
	return g.await(ctx, turn, patience)
}

// join takes a place, or one in the queue, whose turn is then to be waited for.
func (g *Gate) join(ctx context.Context) (turn *clock.Event, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.inside < g.width: // then nobody waits
		g.inside++
		return nil, nil
	case len(g.waiting) >= g.queue:
		return nil, &Full{Waiting: len(g.waiting)}
	}
	turn = &clock.Event{}
	g.waiting = append(g.waiting, turn)
	return turn, nil
}

// await waits for a turn; nil is that of one who is inside.
func (g *Gate) await(ctx context.Context, turn *clock.Event, patience time.Duration) (place Place, waited time.Duration, err error) {
	if turn == nil {
		return Place{g}, 0, nil
	}
	before := g.time.Now()
	woken := g.time.Wait(ctx, turn, patience)
	waited = g.time.Now().Sub(before)
	if woken == clock.Happened {
		return Place{g}, waited, nil
	}
	if g.withdraw(turn) { // the turn came just as the wait ended
		g.leave()
	}
	if woken == clock.Cancelled {
		return Place{}, waited, ctx.Err()
	}
	return Place{}, waited, &WouldWait{}
}

// withdraw takes a caller out of the queue; it reports whether its turn had come.
func (g *Gate) withdraw(turn *clock.Event) (came bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range g.waiting {
		if w == turn {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return false
		}
	}
	return true
}

func (g *Gate) leave() {
	g.mu.Lock()
	if len(g.waiting) == 0 {
		g.inside--
		g.mu.Unlock()
		return
	}
	next := g.waiting[0] // takes over the place
	g.waiting = g.waiting[1:]
	g.mu.Unlock()
	next.Happen()
}

// idle reports whether nobody is inside or waits.
func (g *Gate) idle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside == 0 && len(g.waiting) == 0
}

// Gates are gates by name, each as wide as the others: bulkheads between endpoints.
type Gates struct {
	time         clock.Timeline
	width, queue int

	mu  sync.Mutex
	all map[string]*Gate
}

// gatesMax is how many gates are kept before idle ones are dropped.
const gatesMax = 1 << 12

// NewGates returns gates of a width and a queue; see NewGate.
func NewGates(t clock.Timeline, width, queue int) *Gates {
	return &Gates{time: t, width: width, queue: queue, all: make(map[string]*Gate)}
}

// Enter waits for a place behind the gate of a name; see Gate.Enter.
func (g *Gates) Enter(ctx context.Context, name string, patience time.Duration) (place Place, waited time.Duration, err error) {
	g.mu.Lock()
	gate := g.all[name]
	if gate == nil {
		if len(g.all) >= gatesMax {
			for other, idle := range g.all {
				if idle.idle() {
					delete(g.all, other)
				}
			}
		}
		gate = NewGate(g.time, g.width, g.queue)
		g.all[name] = gate
	}
	turn, err := gate.join(ctx) // under the lock: from here on the gate is not idle
	g.mu.Unlock()
	if err != nil {
		return Place{}, 0, err
	}
	return gate.await(ctx, turn, patience)
}
