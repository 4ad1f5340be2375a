package limit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// Buckets are token buckets, one for each session and tool.
type Buckets struct {
	time clock.Timeline

	mu  sync.Mutex
	all map[bucketKey]*bucket
}

type bucketKey struct{ session, tool string }

type bucket struct {
	limit   card.RateLimit
	limiter *rate.Limiter
}

// bucketsMax is how many buckets are kept before those that are full again, and so no
// different from new ones, are dropped.
const bucketsMax = 1 << 14

// NewBuckets returns buckets that are all full.
func NewBuckets(t clock.Timeline) *Buckets {
	return &Buckets{time: t, all: make(map[bucketKey]*bucket)}
}

// Take takes a token of a session's bucket for a tool, and waits until there is one,
// but not longer than patience: then it returns a *WouldWait at once. A caller whose
// context ends gives its token back.
func (b *Buckets) Take(ctx context.Context, session, tool string, limit card.RateLimit, patience time.Duration) (waited time.Duration, err error) {
	if limit.BucketCapacity <= 0 {
		return 0, ctx.Err()
	}
	return take(ctx, b.time, b.of(session, tool, limit), patience)
}

func (b *Buckets) of(session, tool string, limit card.RateLimit) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := bucketKey{session, tool}
	kept := b.all[key]
	now := b.time.Now()
	switch {
	case kept == nil:
		if len(b.all) >= bucketsMax {
			b.forget(now)
		}
		kept = &bucket{limit, rate.NewLimiter(rate.Limit(limit.RefillRate), limit.BucketCapacity)}
		// A limiter that never gave a token is full at whatever time it is asked first.
		b.all[key] = kept
	case kept.limit != limit:
		kept.limit = limit
		kept.limiter.SetLimitAt(now, rate.Limit(limit.RefillRate))
		kept.limiter.SetBurstAt(now, limit.BucketCapacity)
	}
	return kept.limiter
}

// forget drops the buckets that are full.
func (b *Buckets) forget(now time.Time) {
	for key, kept := range b.all {
		if kept.limiter.TokensAt(now) >= float64(kept.limit.BucketCapacity) {
			delete(b.all, key)
		}
	}
}

// take waits for one token of a limiter.
func take(ctx context.Context, t clock.Timeline, limiter *rate.Limiter, patience time.Duration) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	now := t.Now()
	reservation := limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if !reservation.OK() || wait > patience {
		reservation.CancelAt(now)
		if !reservation.OK() || wait == rate.InfDuration {
			wait = 0
		}
		return 0, &WouldWait{RetryAfter: wait}
	}
	if err := clock.Sleep(ctx, t, wait); err != nil {
		now := t.Now()
		reservation.CancelAt(now)
		return 0, err
	}
	return wait, nil
}

// Rate is a limit of calls a second over all sessions.
type Rate struct {
	time    clock.Timeline
	limiter *rate.Limiter // nil: no limit
}

// NewRate returns a limit, whose burst is what comes in one second; perSecond 0 is none.
func NewRate(t clock.Timeline, perSecond float64) *Rate {
	if perSecond <= 0 {
		return &Rate{time: t}
	}
	return &Rate{t, rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))}
}

// Take waits for the next call's time, but not longer than patience: then it returns a
// *WouldWait at once.
func (r *Rate) Take(ctx context.Context, patience time.Duration) (waited time.Duration, err error) {
	if r.limiter == nil {
		return 0, ctx.Err()
	}
	return take(ctx, r.time, r.limiter, patience)
}
