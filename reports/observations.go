package reports

import (
	"fmt"
	"iter"

	"github.com/toolgauge/toolgauge/metrics"
)

// Observations iterates over what each session gave, under all its arms, in the order in which the sessions were added:
// fed to a [metrics.Accumulator] they give the run's figures again. Their Surfaces are empty, since the table has each
// surface once and not by session; see [Run.Surfaces]. An error names the file and is the last thing that comes.
func (r *Run) Observations() iter.Seq2[metrics.Observations, error] {
	return func(yield func(metrics.Observations, error) bool) {
		arms, calls, searches := startCursor(r.SessionArms()), startCursor(r.Calls()), startCursor(r.Searches())
		defer arms.stop()
		defer calls.stop()
		defer searches.stop()
		for arms.there {
			id, row := arms.row.SessionID, arms.row.RowIndex
			o := metrics.Observations{
				Arms:     arms.take(func(s metrics.SessionArm) bool { return s.SessionID == id && s.RowIndex == row }),
				Calls:    calls.take(func(c metrics.Call) bool { return c.SessionID == id && c.RowIndex == row }),
				Searches: searches.take(func(s metrics.Search) bool { return s.SessionID == id && s.RowIndex == row }),
			}
			if firstError(arms.err, calls.err, searches.err) != nil {
				break
			}
			if !yield(o, nil) {
				return
			}
		}
		err := firstError(arms.err, calls.err, searches.err)
		switch {
		case err != nil:
		case calls.there:
			err = strayRow(r, CallsFile, calls.row.SessionID)
		case searches.there:
			err = strayRow(r, SearchesFile, searches.row.SessionID)
		}
		if err != nil {
			yield(metrics.Observations{}, err)
		}
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func strayRow(r *Run, name, session string) error {
	return fmt.Errorf("%s/%s: a row of session %q is not where %s has the session\nhint: the tables are not of one run; repeat the run",
		r.Dir, name, session, SessionArmsFile)
}

// cursor is a place in a table.
type cursor[T any] struct {
	next  func() (T, error, bool)
	stop  func()
	row   T
	there bool // row is one of the table's
	err   error
}

// startCursor stands at the first row.
func startCursor[T any](rows iter.Seq2[T, error]) *cursor[T] {
	c := &cursor[T]{}
	c.next, c.stop = iter.Pull2(rows)
	c.advance()
	return c
}

func (c *cursor[T]) advance() {
	row, err, more := c.next()
	c.row, c.err, c.there = row, err, more && err == nil
}

// take returns the rows from here on as long as they belong.
func (c *cursor[T]) take(belongs func(T) bool) (rows []T) {
	for c.there && belongs(c.row) {
		rows = append(rows, c.row)
		c.advance()
	}
	return rows
}
