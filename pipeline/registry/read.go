package registry

import (
	"slices"
	"time"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// Reading is the answer to one read of the definitions.
type Reading struct {
	// Definitions are the usable tools among the names asked for, sorted by
	// name.
	Definitions []*Definition
	// Overridden are the positions in Definitions of those that this reading
	// made, from a dynamic override: equal content, but a new pointer each time.
	Overridden []int
	// ValidUntil is when a probe's verdict that this reading rests on runs out;
	// the zero time if it rests on none.
	ValidUntil time.Time
}

// Definitions reads the usable tools among names: unknown names are skipped,
// repeated ones count once, each distinct probe is asked at most once, and
// dynamic overrides are applied. Order follows the registered names, sorted.
func (r *Registry) Definitions(names []string) Reading {
	sorted := names
	if !slices.IsSorted(names) {
		sorted = slices.Clone(names)
		slices.Sort(sorted)
	}

	entries := r.snapshot(sorted)
	pass := probePass{registry: r}
	reading := Reading{Definitions: make([]*Definition, 0, len(entries))}
	for _, e := range entries {
		if e.Check != nil && !pass.ask(e.Check) {
			continue
		}
		d := r.current(e)
		if d != e.Definition {
			reading.Overridden = append(reading.Overridden, len(reading.Definitions))
		}
		reading.Definitions = append(reading.Definitions, d)
	}
	reading.ValidUntil = pass.until
	return reading
}

// snapshot returns the registrations of those sorted names that are known, each
// once and all of one moment, so that probes can run outside the lock.
func (r *Registry) snapshot(names []string) []*Registration {
	entries := make([]*Registration, 0, len(names))
	r.mu.RLock()
	defer r.mu.RUnlock()
	for i, name := range names {
		if e := r.entries[name]; e != nil && (i == 0 || name != names[i-1]) {
			entries = append(entries, e)
		}
	}
	return entries
}

// current applies a registration's dynamic overrides.
func (r *Registry) current(e *Registration) *Definition {
	if e.Overrides == nil {
		return e.Definition
	}
	fields, err := callOverrides(e.Overrides)
	if err == nil && len(fields) > 0 {
		var d *Definition
		if d, err = e.Definition.With(fields...); err == nil {
			return d
		}
	}
	if err != nil {
		r.log.Warn("dynamic override failed, static definition stands", "tool", e.Definition.Name, "err", err)
	}
	return e.Definition
}

func callOverrides(f func() ([]rawjson.Field, error)) (fields []rawjson.Field, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError{p}
		}
	}()
	return f()
}

// probePass asks each distinct probe once. A session has few distinct probes,
// so a short list beats a map.
type probePass struct {
	registry *Registry
	asked    []*Check
	answers  []probeAnswer
	until    time.Time
}

func (p *probePass) ask(c *Check) bool {
	if i := slices.Index(p.asked, c); i >= 0 {
		return p.answers[i].ok
	}
	a := p.registry.probe(c)
	p.asked, p.answers = append(p.asked, c), append(p.answers, a)
	if p.until.IsZero() || a.until.Before(p.until) {
		p.until = a.until
	}
	return a.ok
}

// ToolsetAvailable reports whether a toolset has a usable tool: one without a
// probe, or one whose probe passes. An unknown toolset is not available.
func (r *Registry) ToolsetAvailable(toolset string) bool {
	for _, e := range r.snapshot(r.ToolsIn(toolset)) {
		if e.Toolset == toolset && (e.Check == nil || r.probe(e.Check).ok) {
			return true
		}
	}
	return false
}

// Unavailable returns, for each registered tool among names whose probe fails,
// the probe's name.
func (r *Registry) Unavailable(names []string) map[string]string {
	down := make(map[string]string)
	pass := probePass{registry: r}
	for _, e := range r.snapshot(names) {
		if e.Check != nil && !pass.ask(e.Check) {
			down[e.Definition.Name] = e.Check.Name
		}
	}
	return down
}
