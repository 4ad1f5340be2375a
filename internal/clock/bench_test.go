package clock

import (
	"context"
	"testing"
	"time"
)

// BenchmarkTask is a task that the owner starts and awaits, with two waits of its own
// and another task under way, so that none of them is the only one to go on.
func BenchmarkTask(b *testing.B) {
	b.ReportAllocs()
	ctx := context.Background()
	v := &Virtual{}
	over := false
	v.Go(func() {
		for !over {
			v.Wait(ctx, nil, time.Millisecond)
		}
	})
	for b.Loop() {
		var ended Event
		v.Go(func() {
			v.Wait(ctx, nil, time.Millisecond)
			v.Wait(ctx, nil, time.Millisecond)
			ended.Happen()
		})
		v.Wait(ctx, &ended, time.Second)
	}
	over = true
	v.Settle()
}

// BenchmarkAlone is a wait while nobody else has anything to do.
func BenchmarkAlone(b *testing.B) {
	b.ReportAllocs()
	v := &Virtual{}
	for b.Loop() {
		v.Advance(time.Millisecond)
	}
}
