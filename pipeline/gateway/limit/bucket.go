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

	mu    sync.Mutex
	all   map[bucketKey]*bucket
	sweep int // how many there may be before the full ones are dropped
}

type bucketKey struct{ session, tool string }

type bucket struct {
	limit   card.RateLimit
	limiter *rate.Limiter
}

// bucketsKept is how many buckets are kept before those that are full again, and so no
// different from new ones, are dropped.
const bucketsKept = 1 << 14

// NewBuckets returns buckets that are all full.
func NewBuckets(t clock.Timeline) *Buckets {
	return &Buckets{time: t, all: make(map[bucketKey]*bucket), sweep: bucketsKept}
}

// Take takes a token of a session's bucket for a tool, and waits until there is one,
// but not longer than patience: then it returns a *WouldWait at once. A patience below
// 0 has no end. A caller whose context ends gives its token back, as far as those who
// came after it have not built on it: what they were told to wait stays.
func (b *Buckets) Take(ctx context.Context, session, tool string, limit card.RateLimit, patience time.Duration) (waited time.Duration, err error) {
	if limit.BucketCapacity <= 0 {
		return 0, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	b.mu.Lock() // until there is a reservation: a bucket in use is not dropped
	now := b.time.Now()
	got, err := reserve(b.of(session, tool, limit, now), now, patience)
	b.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return got.await(ctx, b.time)
}

// of is a session's bucket for a tool.
func (b *Buckets) of(session, tool string, limit card.RateLimit, now time.Time) *rate.Limiter {
	key := bucketKey{session, tool}
	kept := b.all[key]
	switch {
	case kept == nil:
		if len(b.all) >= b.sweep {
			b.forget(now)
		}
		kept = &bucket{limit, rate.NewLimiter(rate.Limit(limit.RefillRate), limit.BucketCapacity)}
		b.all[key] = kept
	case kept.limit != limit:
		kept.limit = limit
		kept.limiter.SetLimitAt(now, rate.Limit(limit.RefillRate))
		kept.limiter.SetBurstAt(now, limit.BucketCapacity)
	}
	return kept.limiter
}

// forget drops the buckets that are full. It is not called again before there are
// twice as many as it left.
func (b *Buckets) forget(now time.Time) {
	for key, kept := range b.all {
		if kept.limiter.TokensAt(now) >= float64(kept.limit.BucketCapacity) {
			delete(b.all, key)
		}
	}
	b.sweep = max(bucketsKept, 2*len(b.all))
}

// token is one that a limiter gave for a time to come.
type token struct {
	*rate.Reservation
	from time.Time // when it was asked for
	wait time.Duration
}

// reserve takes a token, if the wait for it is within patience. No other may reserve
// meanwhile: what is taken and given back at once would hold it up.
func reserve(limiter *rate.Limiter, now time.Time, patience time.Duration) (token, error) {
	r := limiter.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == rate.InfDuration {
		r.CancelAt(now)
		return token{}, &WouldWait{}
	}
	if patience >= 0 && wait > patience {
		r.CancelAt(now)
		return token{}, &WouldWait{RetryAfter: wait}
	}
	return token{r, now, wait}, nil
}

// await waits for a token's time.
func (k token) await(ctx context.Context, t clock.Timeline) (waited time.Duration, err error) {
	if err := clock.Sleep(ctx, t, k.wait); err != nil {
		now := t.Now()
		k.CancelAt(now)
		return now.Sub(k.from), err
	}
	return k.wait, nil
}

// Rate is a limit of calls a second over all sessions.
type Rate struct {
	time    clock.Timeline
	mu      sync.Mutex    // held from a reservation to its refusal
	limiter *rate.Limiter // nil: no limit
}

// NewRate returns a limit, whose burst is what comes in one second; perSecond 0 is none.
func NewRate(t clock.Timeline, perSecond float64) *Rate {
	if perSecond <= 0 {
		return &Rate{time: t}
	}
	return &Rate{time: t, limiter: rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))}
}

// Take waits for the next call's time, but not longer than patience: then it returns a
// *WouldWait at once; see Buckets.Take.
func (r *Rate) Take(ctx context.Context, patience time.Duration) (waited time.Duration, err error) {
	if err := ctx.Err(); err != nil || r.limiter == nil {
		return 0, err
	}
	r.mu.Lock()
	got, err := reserve(r.limiter, r.time.Now(), patience)
	r.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return got.await(ctx, r.time)
}
