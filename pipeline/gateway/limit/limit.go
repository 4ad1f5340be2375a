// Package limit holds calls back: token buckets, places at once, breakers, a memory of
// failures, and a cache that saves calls altogether.
//
// All of it asks one timeline, and waits by it alone: on the machine's clock callers
// are goroutines, on virtual time they are tasks. At buckets and gates first come is
// first served on both.
package limit

import (
	"fmt"
	"time"
)

// WouldWait is the error of a caller that would have to wait longer than it can.
// Nothing was taken.
type WouldWait struct {
	RetryAfter time.Duration // about when there is room; 0 if nobody knows
}

func (e *WouldWait) Error() string { return fmt.Sprintf("no room for another %s", e.RetryAfter) }

// Full is the error of a caller that finds too many waiting.
type Full struct {
	Waiting int
}

func (e *Full) Error() string { return fmt.Sprintf("%d callers are waiting already", e.Waiting) }
