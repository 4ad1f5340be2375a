package clock

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestVirtualStandsUntilMoved(t *testing.T) {
	var v Virtual
	if !v.Now().IsZero() {
		t.Errorf("a fresh clock stands at %v, want the zero time", v.Now())
	}
	v.Advance(90 * time.Second)
	v.Advance(500 * time.Millisecond)
	if got, want := v.Now().Sub(time.Time{}), 90_500*time.Millisecond; got != want {
		t.Errorf("elapsed %v, want %v", got, want)
	}
	if now := v.Now(); v.Now() != now {
		t.Error("reading the clock moved it")
	}
}

func TestVirtualNeverRunsBackwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v Virtual
		var forward time.Duration
		for _, ms := range rapid.SliceOf(rapid.Int64Range(-10_000, 10_000)).Draw(t, "steps_ms") {
			step := time.Duration(ms) * time.Millisecond
			before := v.Now()
			v.Advance(step)
			if v.Now().Before(before) {
				t.Fatalf("Advance(%v) went from %v to %v", step, before, v.Now())
			}
			forward += max(step, 0)
		}
		if got := v.Now().Sub(time.Time{}); got != forward {
			t.Fatalf("elapsed %v, want %v", got, forward)
		}
	})
}

func TestWallTellsTheTime(t *testing.T) {
	before := time.Now()
	now := Wall{}.Now()
	if now.Before(before) || now.After(time.Now()) {
		t.Errorf("Wall says %v, which is not now", now)
	}
}

func TestBothAreClocks(t *testing.T) {
	for _, c := range []Clock{Wall{}, &Virtual{}} {
		if first := c.Now(); c.Now().Before(first) {
			t.Errorf("%T runs backwards", c)
		}
	}
}
