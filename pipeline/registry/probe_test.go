package registry_test

import (
	"errors"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// TestProbeCache steps through the life of one probe's verdicts. Each step
// moves the clock, gives the probe its next answer, and says what the registry
// makes of it and whether it had to ask.
func TestProbeCache(t *testing.T) {
	type step struct {
		advance time.Duration
		probe   bool // what the probe would say
		usable  bool // what the registry says
		asks    bool
	}
	const justUnder = -time.Nanosecond
	for _, row := range []struct {
		name  string
		steps []step
	}{
		{"a pass is used again until it is 30 s old", []step{
			{0, true, true, true},
			{30*time.Second + justUnder, false, true, false},
			{-justUnder, true, true, true},
		}},
		{"a failure is used again until it is 30 s old", []step{
			{0, false, false, true},
			{30*time.Second + justUnder, true, false, false},
			{-justUnder, true, true, true},
		}},
		{"a failure within 60 s of a pass counts as a flake and is not kept", []step{
			{0, true, true, true},
			{31 * time.Second, false, true, true},
			{0, false, true, true}, // asked anew at once
			{29*time.Second + justUnder, false, true, true},
		}},
		{"at 60 s the grace is over and the failure is kept", []step{
			{0, true, true, true},
			{60 * time.Second, false, false, true},
			{0, true, false, false},
			{30 * time.Second, true, true, true},
		}},
		{"a flake, then past the grace", []step{
			{0, true, true, true},
			{31 * time.Second, false, true, true},
			{61 * time.Second, false, false, true},
		}},
		{"never passed: no grace", []step{
			{0, false, false, true},
			{61 * time.Second, false, false, true},
		}},
		{"a pass within the grace starts it anew", []step{
			{0, true, true, true},
			{40 * time.Second, true, true, true},
			{59 * time.Second, false, true, true},
			{1 * time.Second, false, false, true},
		}},
		{"a served flake does not prolong the grace", []step{
			{0, true, true, true},
			{45 * time.Second, false, true, true},
			{15 * time.Second, false, false, true},
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench()
			s := &script{}
			reg := tool(t, "terminal", "terminal")
			reg.Check = &registry.Check{Name: "docker", Probe: s.probe}
			mustRegister(t, b.Registry, reg)
			for i, step := range row.steps {
				b.clock.Advance(step.advance)
				s.answers = []bool{step.probe}
				before := s.asked
				if got := usable(b.Registry) != ""; got != step.usable {
					t.Fatalf("step %d: usable %t, want %t", i, got, step.usable)
				}
				if asks := s.asked > before; asks != step.asks {
					t.Fatalf("step %d: probe asked %t, want %t", i, asks, step.asks)
				}
			}
		})
	}
}

// TestVerdictsAgeFromTheQuestion: a probe that takes its time uses up its own
// verdict, since what it saw may be as old as the question.
func TestVerdictsAgeFromTheQuestion(t *testing.T) {
	for _, row := range []struct {
		name    string
		answers []bool
		steps   []time.Duration // waited before each reading
		want    []bool          // usable at each reading
		asked   []int           // how often in all
	}{
		{"a pass", []bool{true, true}, []time.Duration{0, 19 * time.Second, time.Second}, []bool{true, true, true}, []int{1, 1, 2}},
		{"a failure", []bool{false, true}, []time.Duration{0, 19 * time.Second, time.Second}, []bool{false, false, true}, []int{1, 1, 2}},
		// Asked at 0 and 49 s, answered 10 s later; then at 60 s, where the grace of the first question is over.
		{"the grace", []bool{true, false, false}, []time.Duration{0, 39 * time.Second, time.Second}, []bool{true, true, false}, []int{1, 2, 3}},
	} {
		b := newBench()
		s := &script{answers: row.answers}
		reg := tool(t, "terminal", "terminal")
		reg.Check = &registry.Check{Name: "docker", Probe: func() (bool, error) {
			b.clock.Advance(10 * time.Second)
			return s.probe()
		}}
		mustRegister(t, b.Registry, reg)
		for i, wait := range row.steps {
			b.clock.Advance(wait)
			if got := usable(b.Registry) != ""; got != row.want[i] || s.asked != row.asked[i] {
				t.Errorf("%s, reading %d: usable %t after %d questions, want %t after %d", row.name, i, got, s.asked, row.want[i], row.asked[i])
			}
		}
	}
}

// TestGraceIsPerProbe: one probe's past success does not excuse another's
// failure.
func TestGraceIsPerProbe(t *testing.T) {
	b := newBench()
	good, bad := &script{answers: []bool{true, false}}, &script{answers: []bool{false}}
	first, second := tool(t, "terminal", "terminal"), tool(t, "web", "web_search")
	first.Check = &registry.Check{Name: "docker", Probe: good.probe}
	second.Check = &registry.Check{Name: "network", Probe: bad.probe}
	mustRegister(t, b.Registry, first, second)
	for _, want := range []string{"terminal", "terminal"} {
		if got := usable(b.Registry); got != want {
			t.Fatalf("usable %q, want %q", got, want)
		}
		b.clock.Advance(31 * time.Second)
	}
	b.clock.Advance(30 * time.Second)
	if got := usable(b.Registry); got != "" {
		t.Errorf("usable %q after the grace, want none", got)
	}
}

// TestOneFlakeTakesNothing: the tools behind a shared probe all survive it.
func TestOneFlakeTakesNothing(t *testing.T) {
	b := newBench()
	s := &script{answers: []bool{true, false, true}}
	check := &registry.Check{Name: "docker", Probe: s.probe}
	for _, name := range []string{"terminal", "process", "read_file", "write_file"} {
		reg := tool(t, "machine", name)
		reg.Check = check
		mustRegister(t, b.Registry, reg)
	}
	const all = "process read_file terminal write_file"
	for i := range 3 {
		if got := usable(b.Registry); got != all {
			t.Fatalf("pass %d: usable %q, want %q", i, got, all)
		}
		if s.asked != i+1 {
			t.Fatalf("pass %d: the shared probe was asked %d times in all, want once a pass", i, s.asked)
		}
		b.clock.Advance(31 * time.Second)
	}
	if !b.logged("WARN", "docker", "grace") {
		t.Error("the flake is not in the log")
	}
}

func TestProbesThatBreak(t *testing.T) {
	for name, probe := range map[string]func() (bool, error){
		"error":                        func() (bool, error) { return false, errors.New("no route") },
		"error beside a true":          func() (bool, error) { return true, errors.New("no route") },
		"panic":                        func() (bool, error) { panic("boom") },
		"no probe function in a check": nil,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			reg := tool(t, "web", "web_search")
			reg.Check = &registry.Check{Name: "network", Probe: probe}
			mustRegister(t, b.Registry, reg)
			if got := usable(b.Registry); got != "" {
				t.Errorf("Definitions offers %q", got)
			}
			if b.ToolsetAvailable("web") {
				t.Error("ToolsetAvailable says yes")
			}
			if down := b.Unavailable([]string{"web_search"}); down["web_search"] != "network" {
				t.Errorf("Unavailable = %v", down)
			}
			if !b.logged("WARN", "network") {
				t.Error("the failure is not in the log")
			}
		})
	}
}

func TestToolsetAvailable(t *testing.T) {
	up := &registry.Check{Name: "up", Probe: func() (bool, error) { return true, nil }}
	down := &registry.Check{Name: "down", Probe: func() (bool, error) { return false, nil }}
	for _, row := range []struct {
		name   string
		checks []*registry.Check
		want   bool
	}{
		{"no probe at all", []*registry.Check{nil}, true},
		{"one of two passes", []*registry.Check{down, up}, true},
		{"one of two has none", []*registry.Check{down, nil}, true},
		{"all fail", []*registry.Check{down, down}, false},
		{"no tools", nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench()
			for i, check := range row.checks {
				reg := tool(t, "set", string(rune('a'+i)))
				reg.Check = check
				mustRegister(t, b.Registry, reg)
			}
			if got := b.ToolsetAvailable("set"); got != row.want {
				t.Errorf("ToolsetAvailable = %t, want %t", got, row.want)
			}
		})
	}
}

func TestInvalidateProbes(t *testing.T) {
	b := newBench()
	s := &script{answers: []bool{true, false}}
	reg := tool(t, "web", "web_search")
	reg.Check = &registry.Check{Name: "network", Probe: s.probe}
	mustRegister(t, b.Registry, reg)
	generation, epoch := b.Generation(), b.ProbeEpoch()
	if got := usable(b.Registry); got != "web_search" {
		t.Fatalf("usable %q", got)
	}
	b.InvalidateProbes()
	if got := usable(b.Registry); got != "" || s.asked != 2 {
		t.Errorf("usable %q after %d probes: the verdict, or the success that excuses a failure, was kept", got, s.asked)
	}
	if b.Generation() != generation || b.ProbeEpoch() != epoch+1 {
		t.Errorf("generation %d, epoch %d; want %d, %d", b.Generation(), b.ProbeEpoch(), generation, epoch+1)
	}
}

// TestValidUntil: a reading says how long the verdicts that it rests on hold.
func TestValidUntil(t *testing.T) {
	b := newBench()
	slow, late := &script{answers: []bool{true, false}}, &script{answers: []bool{false}}
	first, second := tool(t, "a", "first"), tool(t, "b", "second")
	first.Check = &registry.Check{Name: "slow", Probe: slow.probe}
	second.Check = &registry.Check{Name: "late", Probe: late.probe}
	mustRegister(t, b.Registry, first, second, tool(t, "c", "third"))
	start := b.clock.Now()

	if until := b.Definitions([]string{"third", "nobody"}).ValidUntil; !until.IsZero() {
		t.Errorf("no probe asked, but valid until %v", until)
	}
	for _, row := range []struct {
		advance time.Duration
		names   []string
		want    time.Duration // from the start
	}{
		{0, []string{"first"}, 30 * time.Second},
		{10 * time.Second, []string{"second"}, 40 * time.Second}, // a failing verdict counts as well
		{5 * time.Second, []string{"first", "second", "third"}, 30 * time.Second},
		{16 * time.Second, []string{"first"}, 31 * time.Second}, // a served flake holds for no time
	} {
		b.clock.Advance(row.advance)
		if got := b.Definitions(row.names).ValidUntil.Sub(start); got != row.want {
			t.Errorf("%v: valid until %v, want %v", row.names, got, row.want)
		}
	}
}
