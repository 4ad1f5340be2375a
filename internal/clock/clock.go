// Package clock makes time a value: everything in the pipeline that waits or
// expires asks a Clock, so that a replay can jump over an hour in microseconds
// and give the same bytes on every machine.
package clock

import "time"

// Clock tells the time. Implementations are safe for concurrent use unless
// they say otherwise.
type Clock interface {
	Now() time.Time
}

// Wall is the machine's own clock.
type Wall struct{}

// Now returns the current time with its monotonic reading.
func (Wall) Now() time.Time { return time.Now() }

// Virtual is a clock that moves only when told to. The zero value stands at
// the zero time and is ready to use. It is not safe for concurrent use: a
// session owns its clock.
type Virtual struct {
	elapsed time.Duration
}

// Now returns the zero time plus all that Advance added.
func (v *Virtual) Now() time.Time { return time.Time{}.Add(v.elapsed) }

// Advance moves the clock forward. A negative d is ignored: session time never
// runs backwards.
func (v *Virtual) Advance(d time.Duration) {
	if d > 0 {
		v.elapsed += d
	}
}
