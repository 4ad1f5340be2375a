package limit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// Each step is a word: fail/POINTER, ok, ask, or a number of seconds that pass.
func TestMemory(t *testing.T) {
	rule := card.FailureMemory{Failures: 3, Window: 10 * time.Second, Probe: 5 * time.Second}
	for _, row := range []struct {
		name  string
		rule  card.FailureMemory
		steps string
		want  string // of fail and ask, in their order
	}{
		{"on one parameter", rule, "fail/a fail/a ask fail/a ask", "no no fine degraded avoid"},
		{"on several none is the third", rule, "fail/a fail/a fail/b fail/b fail/c ask", "no no no no no fine"},
		{"within the window", rule, "fail/a 5 fail/a 5 fail/a", "no no degraded"},
		{"not outside it", rule, "fail/a 5 fail/a 6 fail/a ask 4 fail/a", "no no no fine degraded"},
		{"a success restores", rule, "fail/a fail/a fail/a ask ok ask", "no no degraded avoid fine"},
		{"and forgets", rule, "fail/a fail/a ok fail/a fail/a fail/a", "no no no no degraded"},
		{"a probe for one caller", rule, "fail/a fail/a fail/a 4 ask 1 ask ask 5 ask ask", "no no degraded avoid fine avoid fine avoid"},
		{"already degraded", rule, "fail/a fail/a fail/a fail/a fail/a fail/a ask", "no no degraded no no no avoid"},
		{"failures put the probe off", rule, "fail/a fail/a fail/a fail/b fail/b 4 fail/b 4 ask 1 ask", "no no degraded no no no avoid fine"},
		{"one suffices", card.FailureMemory{Failures: 1, Window: time.Second, Probe: time.Second}, "fail/a ask ok fail/b", "degraded avoid degraded"},
		{"never", card.FailureMemory{Window: time.Hour}, "fail/a fail/a fail/a fail/a ask", "no no no no fine"},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := &clock.Virtual{}
			m := NewMemory(v, row.rule)
			var got []string
			for _, step := range strings.Fields(row.steps) {
				pointer, fails := strings.CutPrefix(step, "fail")
				switch {
				case fails:
					got = append(got, map[bool]string{true: "degraded", false: "no"}[m.Fail("t", pointer, "type")])
				case step == "ok":
					m.Succeed("t")
				case step == "ask":
					got = append(got, map[bool]string{true: "avoid", false: "fine"}[m.Degraded("t")])
				default:
					v.Advance(time.Duration(step[0]-'0') * time.Second)
				}
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("%s: %v, want %s", row.steps, got, row.want)
			}
			if m.Degraded("other") || m.Fail("t", "/x", "required") && row.rule.Failures > 1 {
				t.Error("another tool or keyword counts as well")
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	v := &clock.Virtual{}
	rule := card.FailureMemory{Failures: 2, Window: time.Second, Probe: time.Hour}
	m := NewMemory(v, rule)
	m.Fail("bad", "/a", "type")
	m.Fail("bad", "/a", "type")
	for i := range 3 * paramsMax {
		if i == paramsMax {
			v.Advance(time.Minute) // the old go, then the new ones are too many
		}
		m.Fail(fmt.Sprintf("t%d", i%100), fmt.Sprintf("/%d", i), "type")
		if m.params > paramsMax {
			t.Fatalf("%d parameters are remembered", m.params)
		}
	}
	counted := 0
	for _, a := range m.tools {
		counted += len(a.failures)
	}
	if counted != m.params || len(m.tools) > 101 {
		t.Errorf("%d parameters of %d tools, said to be %d", counted, len(m.tools), m.params)
	}
	if !m.Degraded("bad") {
		t.Error("a degraded tool was forgotten")
	}
	for i := range 100 {
		m.Succeed(fmt.Sprintf("t%d", i))
	}
	if m.params != 0 || len(m.tools) != 1 {
		t.Errorf("%d parameters of %d tools are left", m.params, len(m.tools))
	}
}
