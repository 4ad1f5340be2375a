package compare

import (
	"fmt"
	"iter"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// What sessions are paired by.
const (
	bySessionID = "session_id"
	byRowIndex  = "row_index"
)

// pairing says which sessions of two runs belong together.
type pairing struct {
	by            string
	pairs         [][2]int64 // positions before and after, both ascending
	before, after int64      // sessions in all
}

// shape is what a session is known by, with what two of the same row must share.
type shape struct {
	id           string
	row          int64
	distribution string
	context      int
	turns        int
}

// pairSessions finds the sessions that two runs have in common. Ids say all that a session depends on, the corpus
// included; where an edit of the corpus changed them all, those of the same row and seed are paired that look the same.
func pairSessions(before, after *reports.Run) (*pairing, error) {
	a, err := shapes(before)
	if err != nil {
		return nil, err
	}
	b, err := shapes(after)
	if err != nil {
		return nil, err
	}
	p := &pairing{by: bySessionID, before: int64(len(a)), after: int64(len(b))}
	if p.pairs = match(a, b, func(s shape) any { return s.id }); len(p.pairs) == 0 && before.Manifest.Seed == after.Manifest.Seed {
		p.by = byRowIndex
		p.pairs = match(a, b, func(s shape) any { return shape{"", s.row, s.distribution, s.context, s.turns} })
	}
	if len(p.pairs) == 0 {
		return nil, &reports.IncomparableError{Err: fmt.Errorf("%s and %s have no session in common\nhint: run both with the same sessions", before.Dir, after.Dir)}
	}
	for i := 1; i < len(p.pairs); i++ {
		if p.pairs[i][0] < p.pairs[i-1][0] {
			return nil, &reports.IncomparableError{Err: fmt.Errorf("%s and %s have their sessions in another order, the first is %q\nhint: run both with the same file of sessions",
				before.Dir, after.Dir, b[p.pairs[i][1]].id)}
		}
	}
	return p, nil
}

// match pairs the positions of equal keys. What is there twice has no partner.
func match(a, b []shape, key func(shape) any) (pairs [][2]int64) {
	const twice = -1
	positions := func(all []shape) map[any]int64 {
		at := make(map[any]int64, len(all))
		for i, s := range all {
			if _, again := at[key(s)]; again {
				at[key(s)] = twice
			} else {
				at[key(s)] = int64(i)
			}
		}
		return at
	}
	inA, inB := positions(a), positions(b)
	for i, s := range b {
		if from, ok := inA[key(s)]; ok && from != twice && inB[key(s)] != twice {
			pairs = append(pairs, [2]int64{from, int64(i)})
		}
	}
	return pairs
}

// shapes lists the sessions of a run.
func shapes(r *reports.Run) (all []shape, err error) {
	for s, err := range r.SessionArms() {
		if err != nil {
			return nil, err
		}
		if n := len(all); n == 0 || all[n-1].id != s.SessionID || all[n-1].row != s.RowIndex {
			all = append(all, shape{s.SessionID, s.RowIndex, s.Distribution, s.ContextLength, s.Turns})
		}
	}
	return all, nil
}

// pair is one session of both runs.
type pair struct {
	before, after metrics.Observations
	at            Location // of the session after; turn 0
}

// walk reads both runs side by side. An error is the last thing that comes.
func (p *pairing) walk(before, after *reports.Run) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		nextBefore, stopBefore := iter.Pull2(before.Observations())
		defer stopBefore()
		nextAfter, stopAfter := iter.Pull2(after.Observations())
		defer stopAfter()
		atBefore, atAfter := int64(-1), int64(-1)
		for _, want := range p.pairs {
			a, err := skipTo(before, nextBefore, &atBefore, want[0])
			if err != nil {
				yield(pair{}, err)
				return
			}
			b, err := skipTo(after, nextAfter, &atAfter, want[1])
			if err != nil {
				yield(pair{}, err)
				return
			}
			first := b.Arms[0]
			if !yield(pair{a, b, Location{SessionID: first.SessionID, RowIndex: first.RowIndex, Position: want[1]}}, nil) {
				return
			}
		}
	}
}

// skipTo reads a run up to the session at a position.
func skipTo(r *reports.Run, next func() (metrics.Observations, error, bool), at *int64, want int64) (o metrics.Observations, err error) {
	for *at < want {
		var more bool
		if o, err, more = next(); err != nil {
			return o, err
		}
		if !more {
			return o, fmt.Errorf("%s: ends before session %d\nhint: the tables changed while they were read; try again", r.Dir, want)
		}
		*at++
	}
	return o, nil
}
