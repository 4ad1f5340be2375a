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

	mu       sync.Mutex
	failures map[failureKey][]time.Time // within the window, oldest first
	degraded map[string]time.Time       // by tool: when the next probe is let through
}

type failureKey struct{ tool, pointer, keyword string }

// failuresMax is how many parameters are remembered before old ones are forgotten.
const failuresMax = 1 << 14

// NewMemory returns a memory of nothing.
func NewMemory(t clock.Timeline, rule card.FailureMemory) *Memory {
	return &Memory{time: t, rule: rule, failures: make(map[failureKey][]time.Time), degraded: make(map[string]time.Time)}
}

// Fail remembers a failure, and reports whether it makes the tool degraded.
func (m *Memory) Fail(tool, pointer, keyword string) (degraded bool) {
	if m.rule.Failures <= 0 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.time.Now()
	key := failureKey{tool, pointer, keyword}
	if len(m.failures) >= failuresMax {
		for k, times := range m.failures {
			if now.Sub(times[len(times)-1]) > m.rule.Window {
				delete(m.failures, k)
			}
		}
		if len(m.failures) >= failuresMax {
			clear(m.failures)
		}
	}
	times := m.failures[key]
	for len(times) > 0 && now.Sub(times[0]) > m.rule.Window {
		times = times[1:]
	}
	if times = append(times, now); len(times) < m.rule.Failures {
		m.failures[key] = times
		return false
	}
	delete(m.failures, key)
	_, already := m.degraded[tool]
	m.degraded[tool] = now.Add(m.rule.Probe)
	return !already
}

// Succeed restores a tool.
func (m *Memory) Succeed(tool string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.failures) == 0 && len(m.degraded) == 0 {
		return
	}
	delete(m.degraded, tool)
	for k := range m.failures {
		if k.tool == tool {
			delete(m.failures, k)
		}
	}
}

// Degraded reports whether a tool should be avoided. When a probe is due, the one who
// asks is told that it should not, and the next probe is set.
func (m *Memory) Degraded(tool string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	probe, ok := m.degraded[tool]
	if !ok {
		return false
	}
	now := m.time.Now()
	if now.Before(probe) {
		return true
	}
	m.degraded[tool] = now.Add(m.rule.Probe)
	return false
}
