package registry

import (
	"fmt"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
)

// Times of the probe cache.
const (
	// ProbeTTL is how long a probe's verdict is used again.
	ProbeTTL = 30 * time.Second
	// ProbeGrace is how long after its last success a probe that fails still
	// counts as passing: one timed-out probe must not take tools away.
	ProbeGrace = 60 * time.Second
)

// Check is an availability probe. Its identity is its pointer: tools with the
// same *Check are asked for once.
type Check struct {
	// Name tells people what is probed.
	Name string
	// Probe reports whether the tool can be used; an error or a panic counts
	// as a failure. It must be safe for concurrent use.
	Probe func() (bool, error)
}

// run calls the probe and turns errors and panics into failures.
func (c *Check) run() (ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			ok, err = false, fmt.Errorf("probe panicked: %v", p)
		}
	}()
	return c.Probe()
}

// verdict is one cached answer.
type verdict struct {
	ok bool
	at time.Time
}

// probeCache holds the verdicts and the last successes, guarded by the
// registry's lock.
type probeCache struct {
	verdicts map[*Check]verdict
	lastTrue map[*Check]time.Time
	// epoch counts how often all of this was forgotten.
	epoch uint64
}

// probeAnswer is what a pass over the definitions learns about one probe.
type probeAnswer struct {
	ok bool
	// until is when the answer may change: a served flake holds for no time.
	until time.Time
}

// probe answers a check from the cache or by running it, outside the lock.
func (r *Registry) probe(c *Check) probeAnswer {
	now := r.clock.Now()
	r.mu.RLock()
	v, cached := r.probes.verdicts[c]
	r.mu.RUnlock()
	if cached && now.Sub(v.at) < ProbeTTL {
		return probeAnswer{v.ok, v.at.Add(ProbeTTL)}
	}
	ok, err := c.run()

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.probes.verdicts == nil {
		r.probes.verdicts = make(map[*Check]verdict)
		r.probes.lastTrue = make(map[*Check]time.Time)
	}
	if ok && err == nil {
		r.probes.lastTrue[c] = now
		r.probes.verdicts[c] = verdict{true, now}
		return probeAnswer{true, now.Add(ProbeTTL)}
	}
	if last, good := r.probes.lastTrue[c]; good && now.Sub(last) < ProbeGrace {
		r.log.Warn("probe failed within grace, last success stands", "probe", c.Name, "err", err)
		return probeAnswer{true, now}
	}
	r.log.Warn("probe failed", "probe", c.Name, "err", err)
	r.probes.verdicts[c] = verdict{false, now}
	return probeAnswer{false, now.Add(ProbeTTL)}
}

// InvalidateProbes forgets all verdicts and successes, for commands that change
// what probes look at.
func (r *Registry) InvalidateProbes() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probes = probeCache{epoch: r.probes.epoch + 1}
}

// ProbeEpoch counts the calls of InvalidateProbes. Whoever keeps what rests on
// probe verdicts keeps it for one epoch at most.
func (r *Registry) ProbeEpoch() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.probes.epoch
}

// Clock returns the clock that the registry's probes are timed with.
func (r *Registry) Clock() clock.Clock { return r.clock }
