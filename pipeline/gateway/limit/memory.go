package limit

import (
	"sync"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// Memory remembers which tools fail again and again on one parameter, named by its
// JSON pointer and the keyword of the schema that it breaks. Such a tool is degraded
// until it succeeds; now and then one call is let through to see.
type Memory struct {
	time clock.Timeline
	rule card.FailureMemory

	mu     sync.Mutex
	tools  map[string]*ailing
	params int // with failures, over all tools
}

// ailing is a tool that failed.
type ailing struct {
	failures map[param][]time.Time // within the window, the oldest first
	degraded bool
	probe    time.Time // of a degraded tool: when the next probe is let through
}

// param is what a tool failed on.
type param struct{ pointer, keyword string }

// paramsMax is how many parameters are remembered before old failures are forgotten.
const paramsMax = 1 << 14

// NewMemory returns a memory of nothing.
func NewMemory(t clock.Timeline, rule card.FailureMemory) *Memory {
	return &Memory{time: t, rule: rule, tools: make(map[string]*ailing)}
}

// Fail remembers a failure, and reports whether it makes the tool degraded.
func (m *Memory) Fail(tool, pointer, keyword string) (degraded bool) {
	if m.rule.Failures <= 0 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.time.Now()
	if m.params >= paramsMax {
		m.forget(now)
	}
	a := m.tools[tool]
	if a == nil {
		a = &ailing{failures: make(map[param][]time.Time)}
		m.tools[tool] = a
	}
	p := param{pointer, keyword}
	times, known := a.failures[p]
	for len(times) > 0 && now.Sub(times[0]) > m.rule.Window {
		times = times[1:]
	}
	if !known {
		m.params++
	}
	if times = append(times, now); len(times) < m.rule.Failures {
		a.failures[p] = times
		return false
	}
	delete(a.failures, p)
	m.params--
	already := a.degraded
	a.degraded, a.probe = true, now.Add(m.rule.Probe)
	return !already
}

// forget drops the failures that the window has left behind, and where that leaves
// more than half of them, all. Degraded tools stay so.
func (m *Memory) forget(now time.Time) {
	m.drop(func(times []time.Time) bool { return now.Sub(times[len(times)-1]) > m.rule.Window })
	if m.params > paramsMax/2 {
		m.drop(func([]time.Time) bool { return true })
	}
}

// drop drops the parameters whose failures are of no use.
func (m *Memory) drop(useless func(times []time.Time) bool) {
	for tool, a := range m.tools {
		for p, times := range a.failures {
			if useless(times) {
				delete(a.failures, p)
				m.params--
			}
		}
		if len(a.failures) == 0 && !a.degraded {
			delete(m.tools, tool)
		}
	}
}

// Succeed restores a tool, and forgets its failures.
func (m *Memory) Succeed(tool string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.tools[tool]; a != nil {
		m.params -= len(a.failures)
		delete(m.tools, tool)
	}
}

// Degraded reports whether a tool should be avoided. When a probe is due, the one who
// asks is told that it should not, and the next probe is set.
func (m *Memory) Degraded(tool string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.tools[tool]
	if a == nil || !a.degraded {
		return false
	}
	now := m.time.Now()
	if now.Before(a.probe) {
		return true
	}
	a.probe = now.Add(m.rule.Probe)
	return false
}
