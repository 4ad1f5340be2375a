package replay

import (
	"context"
	"iter"
	"sync"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/sessions"
)

// inFlight is how many sessions wait for each worker: enough to keep it busy
// while the oldest result is written.
const inFlight = 16

// job is one session on its way through a worker.
type job[T any] struct {
	session *sessions.Session
	done    chan struct{}
	out     T
	err     error
}

// Run plays sessions with the given number of workers, each with a player of its
// own, and hands the observations to emit in the order of the sessions, one at a
// time. It stops at the first error, of the sequence, of a session or of emit,
// and when ctx is cancelled: then everything emitted so far is whole, and the
// error is the context's.
func Run(ctx context.Context, o Options, all iter.Seq2[*sessions.Session, error], workers int, emit func(metrics.Observations) error) error {
	return run(ctx, o, all, workers, (*Player).Play, emit)
}

// run is Run for any way to play a session.
func run[T any](ctx context.Context, o Options, all iter.Seq2[*sessions.Session, error], workers int,
	play func(*Player, context.Context, *sessions.Session) (T, error), emit func(T) error,
) error {
	players := make([]*Player, max(workers, 1))
	for i := range players {
		var err error
		if players[i], err = NewPlayer(o); err != nil {
			return err
		}
	}
	work, stop := context.WithCancel(ctx)
	queue := make(chan *job[T], len(players))
	order := make(chan *job[T], inFlight*len(players))

	var wg sync.WaitGroup
	for _, p := range players {
		wg.Go(func() {
			for j := range queue {
				if j.err = work.Err(); j.err == nil {
					j.out, j.err = play(p, work, j.session)
				}
				close(j.done)
			}
		})
	}
	wg.Go(func() {
		defer close(queue)
		defer close(order)
		feed(work, all, queue, order)
	})
	err := collect(ctx, order, emit)
	stop()
	for range order { // let the feeder go
	}
	wg.Wait()
	return err
}

// feed puts each session into both queues; an error of the sequence travels as
// a finished job.
func feed[T any](ctx context.Context, all iter.Seq2[*sessions.Session, error], queue, order chan<- *job[T]) {
	for s, err := range all {
		j := &job[T]{session: s, done: make(chan struct{}), err: err}
		if err != nil {
			close(j.done)
		}
		select {
		case order <- j:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
		select {
		case queue <- j:
		case <-ctx.Done():
			j.err = ctx.Err()
			close(j.done)
			return
		}
	}
}

func collect[T any](ctx context.Context, order <-chan *job[T], emit func(T) error) error {
	for j := range order {
		<-j.done
		if j.err != nil {
			return j.err
		}
		if err := emit(j.out); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
