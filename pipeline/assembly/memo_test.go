package assembly_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// guarded registers a tool of toolset "set" behind a probe.
func (s *stage) guarded(t testing.TB, name, probe string) {
	t.Helper()
	d, err := registry.Define(name, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.register(t, registry.Registration{Toolset: "set", Definition: d, Check: s.probe(probe).check})
}

// TestMemoLivesAsLongAsItsVerdicts steps through a probe's life. In the default
// mode the session sees what the probe cache says; in the reference mode the
// first answer stands.
func TestMemoLivesAsLongAsItsVerdicts(t *testing.T) {
	type step struct {
		advance time.Duration
		up      bool
		ttl     string // usable in the default mode
		frozen  string // in the reference mode
		asks    int    // how often the probe is asked in the default mode
	}
	for _, row := range []struct {
		name  string
		steps []step
	}{
		{"a tool that goes down", []step{
			{0, true, "always guarded", "always guarded", 1},
			{30*time.Second - 1, false, "always guarded", "always guarded", 0},
			{1, false, "always guarded", "always guarded", 1},                // a flake
			{29 * time.Second, false, "always guarded", "always guarded", 1}, // is not kept
			{1 * time.Second, false, "always", "always guarded", 1},
			{time.Hour, false, "always", "always guarded", 1},
		}},
		{"a tool that comes up", []step{
			{0, false, "always", "always", 1},
			{30*time.Second - 1, true, "always", "always", 0},
			{1, true, "always guarded", "always", 1},
			{time.Hour, true, "always guarded", "always", 1},
		}},
	} {
		for _, mode := range []assembly.MemoMode{assembly.MemoTTL, assembly.MemoReference} {
			t.Run(row.name+" "+string(mode), func(t *testing.T) {
				s := newStage(t)
				s.define(t, "set", "always", "", ``)
				s.guarded(t, "guarded", "docker")
				a := s.assembler(t, memoMode(mode))
				for i, step := range row.steps {
					s.clock.Advance(step.advance)
					p := s.probe("docker")
					p.up = step.up
					before := p.asked
					want, asks := step.ttl, step.asks
					if mode == assembly.MemoReference {
						want, asks = step.frozen, 0
						if i == 0 {
							asks = 1
						}
					}
					if got := namesOf(a.Assemble(request("set")).Usable); got != want {
						t.Fatalf("step %d: usable %q, want %q", i, got, want)
					}
					if p.asked-before != asks {
						t.Fatalf("step %d: probe asked %d times, want %d", i, p.asked-before, asks)
					}
				}
				// Any change of the registry is a way out of both.
				s.registry.RegisterAlias("other", "set")
				last := row.steps[len(row.steps)-1].ttl
				if got := namesOf(a.Assemble(request("set")).Usable); got != last {
					t.Errorf("after a change: usable %q, want %q", got, last)
				}
			})
		}
	}
}

// TestMemoTakesTheEarliestVerdict: an assembly that rests on several probes
// runs out with the first, and one made from a verdict that is already old
// does not live a full span again.
func TestMemoTakesTheEarliestVerdict(t *testing.T) {
	s := newStage(t)
	s.guarded(t, "early", "first")
	s.guarded(t, "late", "second")
	a := s.assembler(t, nil)
	if down := s.registry.Unavailable([]string{"early"}); len(down) > 0 {
		t.Fatal(down)
	}
	s.clock.Advance(20 * time.Second)
	a.Assemble(request("set")) // rests on first (20 s old) and second (new)
	s.probe("first").up, s.probe("second").up = false, false
	s.clock.Advance(10 * time.Second)
	asked := s.probe("first").asked
	a.Assemble(request("set"))
	if s.probe("first").asked != asked+1 {
		t.Error("the memo outlived the older verdict")
	}
}

func TestMemoForgetsInvalidatedProbes(t *testing.T) {
	for mode, want := range map[assembly.MemoMode]string{assembly.MemoTTL: "", assembly.MemoReference: "guarded"} {
		s := newStage(t)
		s.guarded(t, "guarded", "docker")
		a := s.assembler(t, memoMode(mode))
		a.Assemble(request("set"))
		s.probe("docker").up = false
		s.registry.InvalidateProbes()
		if got := namesOf(a.Assemble(request("set")).Usable); got != want {
			t.Errorf("mode %q: usable %q, want %q", mode, got, want)
		}
	}
}

// TestMemoKey: what makes a difference, and what does not.
func TestMemoKey(t *testing.T) {
	base := request("web", "file")
	for _, row := range []struct {
		name   string
		change func(*assembly.Request)
		same   bool
	}{
		{"nothing", func(*assembly.Request) {}, true},
		{"order of toolsets", func(r *assembly.Request) { r.Enabled = []string{"file", "web"} }, true},
		{"a toolset named twice", func(r *assembly.Request) { r.Enabled = []string{"web", "file", "web"} }, true},
		{"no toolset disabled", func(r *assembly.Request) { r.Disabled = []string{} }, true},
		{"another toolset", func(r *assembly.Request) { r.Enabled = []string{"web"} }, false},
		{"two names run together", func(r *assembly.Request) { r.Enabled = []string{"fileweb"} }, false},
		{"two names run together with a colon", func(r *assembly.Request) { r.Enabled = []string{"file:web"} }, false},
		{"a toolset disabled", func(r *assembly.Request) { r.Disabled = []string{"web"} }, false},
		{"the context", func(r *assembly.Request) { r.ContextLength = 8192 }, false},
		{"a setting", func(r *assembly.Request) { r.Config.ThresholdPct = 1 }, false},
		{"no bridge", func(r *assembly.Request) { r.SkipBridge = true }, false},
		{"a kanban worker", func(r *assembly.Request) { r.KanbanWorker = true }, false},
		{"somebody's child", func(r *assembly.Request) { r.DelegatedChild = true }, false},
	} {
		for _, mode := range []assembly.MemoMode{assembly.MemoTTL, assembly.MemoReference, assembly.MemoOff} {
			s := newStage(t).builtins(t)
			a := s.assembler(t, memoMode(mode))
			changed := base
			row.change(&changed)
			first := a.Assemble(base)
			if same := a.Assemble(changed) == first; same != (row.same && mode != assembly.MemoOff) {
				t.Errorf("%s, mode %q: same assembly %t, want %t", row.name, mode, same, row.same)
			}
		}
	}
}

func TestMemoTellsNothingFromAll(t *testing.T) {
	s := newStage(t).builtins(t)
	a := s.assembler(t, nil)
	all, none := assembly.Request{Config: bridge.DefaultConfig()}, request()
	none.Enabled = []string{}
	for range 2 {
		if n, m := len(a.Assemble(all).Usable), len(a.Assemble(none).Usable); n != 81 || m != 0 {
			t.Fatalf("all %d, none %d", n, m)
		}
	}
}

// TestMemoCapacity: eight assemblies are kept; which one goes for the ninth is
// the difference between the modes.
func TestMemoCapacity(t *testing.T) {
	for _, row := range []struct {
		mode      assembly.MemoMode
		firstGoes bool // though it was used just before the ninth came
	}{{assembly.MemoTTL, false}, {assembly.MemoReference, true}} {
		s := newStage(t)
		a := s.assembler(t, memoMode(row.mode))
		nth := func(i int) assembly.Request {
			r := request(fmt.Sprintf("set-%d", i))
			r.SkipBridge = true
			return r
		}
		kept := make([]*assembly.Assembled, 9)
		for i := range 8 {
			kept[i] = a.Assemble(nth(i))
		}
		for i := 7; i >= 0; i-- {
			if a.Assemble(nth(i)) != kept[i] {
				t.Fatalf("mode %q: assembly %d of eight is gone", row.mode, i)
			}
		}
		kept[8] = a.Assemble(nth(8)) // the most recently used but this is 0
		if a.Assemble(nth(8)) != kept[8] {
			t.Errorf("mode %q: the ninth was not kept", row.mode)
		}
		gone := 7
		if row.firstGoes {
			gone = 0
		}
		for i := range 9 {
			// The one that went is asked for last, so as not to push out others.
			if i != gone && a.Assemble(nth(i)) != kept[i] {
				t.Errorf("mode %q: assembly %d is gone, want %d", row.mode, i, gone)
			}
		}
		if a.Assemble(nth(gone)) == kept[gone] {
			t.Errorf("mode %q: nine assemblies were kept", row.mode)
		}
	}
}

// TestResolvedFollowsTheMemo: the names are those of the last request, whether
// it was answered from the memo or not.
func TestResolvedFollowsTheMemo(t *testing.T) {
	s := newStage(t).builtins(t)
	a := s.assembler(t, nil)
	if got := a.Resolved(); got != nil {
		t.Errorf("resolved before anything was assembled: %q", got)
	}
	for range 2 {
		for toolset, want := range map[string]int{"web": 2, "todo": 1} {
			a.Assemble(request(toolset))
			if got := a.Resolved(); len(got) != want {
				t.Errorf("%s: resolved %q", toolset, got)
			}
		}
	}
}

// TestMemoNeverShows: over random probes, times and changes, a session with
// the default memo sees at every moment what it would see without.
func TestMemoNeverShows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type side struct {
			*stage
			assembler *assembly.Assembler
		}
		var sides [2]side
		for i, mode := range []assembly.MemoMode{assembly.MemoTTL, assembly.MemoOff} {
			s := newStage(t)
			s.guarded(t, "a", "one")
			s.guarded(t, "b", "one")
			s.guarded(t, "c", "two")
			s.define(t, "set", "d", "", ``)
			sides[i] = side{s, s.assembler(t, memoMode(mode))}
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			action := rapid.IntRange(0, 9).Draw(rt, "action")
			seconds := rapid.IntRange(0, 35).Draw(rt, "seconds")
			name := rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "probe")
			contextLength := rapid.SampledFrom([]int{0, 8192, 200_000}).Draw(rt, "context")
			var seen [2]string
			for i, s := range sides {
				switch {
				case action < 4:
					s.clock.Advance(time.Duration(seconds) * time.Second)
				case action < 7:
					s.probe(name).up = !s.probe(name).up
				case action == 7:
					s.registry.InvalidateProbes()
				case action == 8:
					s.registry.RegisterAlias("other", "set")
				}
				r := request("set")
				r.ContextLength = contextLength
				seen[i] = bytesOf(s.assembler.Assemble(r))
			}
			if seen[0] != seen[1] {
				rt.Fatalf("with the memo  %s\nwithout        %s", seen[0], seen[1])
			}
		}
	})
}

// TestUsableOfAnother: an assembler that takes the usable definitions from another
// one gives what it would give alone, at every time.
func TestUsableOfAnother(t *testing.T) {
	s := newStage(t).builtins(t)
	s.guarded(t, "guarded", "docker")
	s.define(t, "mcp-github", "create_issue", "Open an issue.", ``)
	september := func(o *assembly.Options) { o.Bridge = newBridgeOf(t, bridge.September, s.resolver, s.registry) }
	first := s.assembler(t, nil)
	alone := s.assembler(t, september)
	with := s.assembler(t, func(o *assembly.Options) { september(o); o.Usable = first })
	for i, change := range []func(){
		func() {}, func() { s.probe("docker").up = false }, func() { s.clock.Advance(2 * time.Minute) },
		func() { s.define(t, "mcp-github", "close_issue", "Close an issue.", ``) },
	} {
		change()
		first.Assemble(request("file", "mcp-github", "set"))
		want, got := alone.Assemble(request("file", "mcp-github", "set")), with.Assemble(request("file", "mcp-github", "set"))
		if bytesOf(got) != bytesOf(want) || namesOf(got.Usable) != namesOf(want.Usable) || namesOf(got.Deferred) != namesOf(want.Deferred) {
			t.Errorf("after change %d: surface %q, alone %q", i, namesOf(got.Definitions), namesOf(want.Definitions))
		}
	}
}
