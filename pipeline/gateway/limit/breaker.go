package limit

import (
	"fmt"
	"sync"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// Breakers leave endpoints alone that fail again and again. A breaker is closed and
// lets calls through; a number of failures in a row opens it, and it lets none
// through; after a time it is half open and lets one through as a probe, whose success
// closes it and whose failure opens it again.
type Breakers struct {
	time clock.Timeline
	rule card.Breaker

	mu  sync.Mutex
	all map[string]*breaker
}

type breaker struct {
	failures int // in a row
	open     bool
	probing  bool
	until    time.Time
	epoch    int // counts the openings and closings
}

// Open is the error of a call that a breaker does not let through.
type Open struct {
	RetryAfter time.Duration // until the next probe; 0 while one is under way
}

func (e *Open) Error() string { return fmt.Sprintf("left alone for another %s", e.RetryAfter) }

// NewBreakers returns breakers that are all closed.
func NewBreakers(t clock.Timeline, rule card.Breaker) *Breakers {
	return &Breakers{time: t, rule: rule, all: make(map[string]*breaker)}
}

// Permit is leave to make one call; its holder says how the call ended, by Done or by
// Withdraw: until then no other probe is let through.
type Permit struct {
	breakers *Breakers
	key      string
	epoch    int
	probe    bool
	done     bool
}

// Allow asks whether an endpoint may be called.
func (b *Breakers) Allow(key string) (*Permit, *Open) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.all[key]
	if k == nil || !k.open {
		epoch := 0
		if k != nil {
			epoch = k.epoch
		}
		return &Permit{breakers: b, key: key, epoch: epoch}, nil
	}
	now := b.time.Now()
	switch {
	case now.Before(k.until):
		return nil, &Open{RetryAfter: k.until.Sub(now)}
	case k.probing:
		return nil, &Open{}
	}
	k.probing = true
	return &Permit{breakers: b, key: key, epoch: k.epoch, probe: true}, nil
}

// IsOpen reports whether an endpoint would not be called now.
func (b *Breakers) IsOpen(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.all[key]
	return k != nil && k.open && (k.probing || b.time.Now().Before(k.until))
}

// Withdraw says that the call ended without telling anything of the endpoint: it was
// given up. Where it was the probe, the next call is. After Done it changes nothing.
func (p *Permit) Withdraw() {
	b := p.breakers
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.done {
		return
	}
	p.done = true
	if k := b.all[p.key]; p.probe && k != nil && k.epoch == p.epoch {
		k.probing = false
	}
}

// Done says how the call ended, and reports whether that opened the breaker. What
// began before the breaker last changed does not count any more; nor does a second
// Done.
func (p *Permit) Done(failed bool) (opened bool) {
	b := p.breakers
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.done || b.rule.Failures <= 0 {
		return false
	}
	p.done = true
	k := b.all[p.key]
	switch {
	case k == nil && !failed:
		return false // as most calls are: nothing to keep
	case k == nil:
		k = &breaker{}
		b.all[p.key] = k
	case p.epoch != k.epoch:
		return false
	}
	switch {
	case !failed:
		k.failures = 0
		if p.probe {
			k.open, k.probing = false, false
			k.epoch++
		}
		return false
	case p.probe:
	default:
		if k.failures++; k.failures < b.rule.Failures {
			return false
		}
	}
	k.open, k.probing, k.failures, k.until = true, false, 0, b.time.Now().Add(b.rule.Open)
	k.epoch++
	return true
}
