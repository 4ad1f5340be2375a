package sessions

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// eventsOf are the events of a session that are no turns.
func eventsOf(s *Session) []Event {
	return kept(s.Events, func(e Event) bool { return e.Kind != KindTurn })
}

// told writes an event in short.
func told(e Event) string {
	switch {
	case e.Config != nil:
		return fmt.Sprintf("%d %s +%v -%v", e.AtMS, e.Kind, e.Config.Enable, e.Config.Disable)
	case e.Tools != nil:
		return fmt.Sprintf("%d %s %s +%v -%v %v", e.AtMS, e.Kind, e.Server, e.Tools.Added, e.Tools.Removed, e.Tools.Edited)
	case e.Turn != nil:
		return fmt.Sprintf("%d %s %s", e.AtMS, e.Kind, e.Turn.IntentID)
	default:
		return fmt.Sprintf("%d %s %s%s", e.AtMS, e.Kind, e.Server, e.Probe)
	}
}

// TestEventsArePinned is TestDrawIsPinned for events.
func TestEventsArePinned(t *testing.T) {
	s := draw(t, newDrawer(t, workshop(t), Options{Seed: 42, Mix: only("wide"), EventShare: 1}), 7)
	var got []string
	for _, e := range s.Events {
		got = append(got, told(e))
	}
	want := []string{
		"0 turn count",
		"65210 tools_changed mcp-power +[] -[power/drill] []",
		"76544 server_down mcp-power",
		"89233 turn look",
		"150814 turn drill",
		"225272 server_down mcp-store",
		"251771 turn measure",
		"2074514 server_up mcp-power", // away for three turns
		"2372245 server_up mcp-paint",
		"2662667 turn sand",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestEventShareIsTheMean draws many sessions and counts. Each turn rolls once, so
// the number is binomial; four standard deviations are allowed.
func TestEventShareIsTheMean(t *testing.T) {
	for _, c := range []struct {
		share float64
		rows  int64
	}{{0, 20_000}, {0.1, 4000}, {0.6, 4000}, {1, 500}} {
		d := newDrawer(t, embedded(t), Options{Seed: 6, EventShare: c.share})
		share := d.Options().EventShare
		turns, events := 0, 0
		for s, err := range d.Sessions(Range{Count: c.rows}) {
			if err != nil {
				t.Fatal(err)
			}
			turns += len(turnsOf(s))
			events += len(eventsOf(s))
		}
		want := share * float64(turns)
		if deviation := math.Sqrt(want * (1 - share)); math.Abs(float64(events)-want) > 4*deviation {
			t.Errorf("share %v: %d events in %d turns, want %.0f, standard deviation %.0f", share, events, turns, want, deviation)
		}
	}
	if got := (Options{}).WithDefaults().EventShare; got != 0.25 {
		t.Errorf("default share %v", got)
	}
}

func TestWithoutEvents(t *testing.T) {
	for name, o := range map[string]Options{
		"asked for": {Mix: only("wide"), EventShare: NoEvents},
		"one turn":  {Mix: only("wide"), EventShare: 1, TurnsMin: 1, TurnsMax: 1},
	} {
		for s, err := range newDrawer(t, workshop(t), o).Sessions(Range{Count: 100}) {
			if err != nil || len(eventsOf(s)) > 0 {
				t.Fatalf("%s: session %d: %v, %v", name, s.RowIndex, s.Events, err)
			}
		}
	}
}

// TestChangesFollowTheirWeights compares the changes that need no end: whatever
// else is possible, their odds among each other are those of the weights.
func TestChangesFollowTheirWeights(t *testing.T) {
	d := newDrawer(t, embedded(t), Options{Seed: 2, Mix: only("few"), EventShare: 0.3})
	connects, changed, on, leaves, fails := 0, 0, 0, 0, 0
	for s, err := range d.Sessions(Range{Count: 3000}) {
		if err != nil {
			t.Fatal(err)
		}
		had := slices.Concat(s.Servers, s.Toolsets)
		for _, e := range eventsOf(s) {
			switch e.Kind {
			case KindServerUp:
				if !slices.Contains(had, e.Server) {
					had = append(had, e.Server)
					connects++
				}
			case KindToolsChanged:
				changed++
			case KindConfig:
				if len(e.Config.Enable) > 0 && !slices.Contains(had, e.Config.Enable[0]) {
					had = append(had, e.Config.Enable[0])
					on++
				}
			case KindServerDown:
				leaves++
			case KindProbeFail:
				fails++
			}
		}
	}
	fits(t, "connections, tool changes, toolsets switched on", []int{connects, changed, on}, 10, 25, 8)
	fits(t, "servers that leave, probes that fail", []int{leaves, fails}, 25, 25)
}

// watch is what a test knows of a session as it goes on.
type watch struct {
	on, up, failing, had map[string]bool
	removed              map[string]bool
	// since holds, for what is away, the turns asked since.
	since map[string]int
}

func (w *watch) see(e Event) {
	switch e.Kind {
	case KindTurn:
		for name := range w.since {
			w.since[name]++
		}
	case KindServerUp:
		w.up[e.Server], w.had[e.Server] = true, true
		delete(w.since, e.Server)
		for tool := range w.removed {
			if strings.HasPrefix("mcp-"+tool, e.Server+"/") {
				delete(w.removed, tool)
			}
		}
	case KindServerDown:
		delete(w.up, e.Server)
		w.since[e.Server] = 0
	case KindProbeFail:
		w.failing[e.Probe] = true
		w.since[e.Probe] = 0
	case KindProbeOK:
		delete(w.failing, e.Probe)
		delete(w.since, e.Probe)
	case KindToolsChanged:
		for _, tool := range e.Tools.Added {
			delete(w.removed, tool)
		}
		for _, tool := range e.Tools.Removed {
			w.removed[tool] = true
		}
	case KindConfig:
		for _, name := range e.Config.Enable {
			w.on[name], w.had[name] = true, true
			delete(w.since, name)
		}
		for _, name := range e.Config.Disable {
			delete(w.on, name)
			w.since[name] = 0
		}
	}
}

func set(lists ...[]string) map[string]bool {
	all := map[string]bool{}
	for _, name := range slices.Concat(lists...) {
		all[name] = true
	}
	return all
}

// TestDrawnEventsKeepTheirPromises follows sessions of any options event by event.
func TestDrawnEventsKeepTheirPromises(t *testing.T) {
	small, large := workshop(t), embedded(t)
	rapid.Check(t, func(t *rapid.T) {
		c, presets := small, []string{"lean", "wide", "apart", "bare", "greedy"}
		if rapid.IntRange(0, 9).Draw(t, "corpus") == 0 {
			c, presets = large, []string{"few", "forty", "safe", "minimal"}
		}
		o := Options{
			Seed: rapid.Uint64().Draw(t, "seed"), Mix: only(rapid.SampledFrom(presets).Draw(t, "distribution")),
			EventShare: rapid.Float64Range(0.01, 1).Draw(t, "share"), TurnsMin: 1, TurnsMax: rapid.IntRange(1, 30).Draw(t, "turns"),
		}
		d, err := NewDrawer(c, o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Draw(rapid.Int64Range(0, math.MaxInt64).Draw(t, "index"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.check(); err != nil {
			t.Fatalf("a drawn session breaks the format: %v", err)
		}
		w := &watch{on: set(s.Toolsets), up: set(s.Servers), had: set(s.Toolsets, s.Servers), failing: set(), removed: set(), since: map[string]int{}}
		for i, e := range s.Events {
			if (i == 0 || i == len(s.Events)-1) && e.Kind != KindTurn {
				t.Fatalf("%s is not between turns", told(e))
			}
			if i > 0 && e.Kind == KindTurn && e.AtMS == s.Events[i-1].AtMS {
				t.Fatalf("%s comes at the same time as what is ahead of it", told(e))
			}
			wantDrawn(t, d, w, s, e)
			w.see(e)
			wantUsable(t, w, s, e)
		}
	})
}

// wantDrawn checks an event that is about to happen.
func wantDrawn(t *rapid.T, d *Drawer, w *watch, s *Session, e Event) {
	switch e.Kind {
	case KindServerUp:
		if len(s.Servers) == 0 || !slices.Contains(d.sources, e.Server) {
			t.Fatalf("%s in a session with the servers %q", told(e), s.Servers)
		}
	case KindServerDown, KindProbeFail:
		if w.failing[e.Server] || e.Kind == KindProbeFail && !w.up[e.Probe] {
			t.Fatalf("%s, which is out already", told(e))
		}
	case KindToolsChanged:
		for _, tool := range slices.Concat(e.Tools.Added, e.Tools.Removed) {
			if known, ok := d.corpus.Tool(tool); !ok || known.Toolset != e.Server {
				t.Fatalf("%s names a tool of another server", told(e))
			}
		}
		for _, edit := range e.Tools.Edited {
			known, ok := d.corpus.Tool(edit.Tool)
			if !ok || known.Toolset != e.Server || edit.Description == known.Definition.Description || !strings.HasSuffix(edit.Description, known.Definition.Description) {
				t.Fatalf("%s is no edit", told(e))
			}
		}
	case KindConfig:
		for _, name := range e.Config.Enable {
			if set, fixed := d.corpus.Toolsets.Static(name); !fixed || len(s.Toolsets) == 0 || !w.had[name] && (set.Posture || strings.HasPrefix(name, "hermes-")) {
				t.Fatalf("%s in a session with the toolsets %q", told(e), s.Toolsets)
			}
		}
	}
}

// wantUsable checks what is left after an event.
func wantUsable(t *rapid.T, w *watch, s *Session, e Event) {
	for name, turns := range w.since {
		if turns > outageTurnsMax {
			t.Fatalf("%s has been away for %d turns", name, turns)
		}
	}
	usable := len(w.on)
	for name := range w.up {
		if !w.failing[name] {
			usable++
		}
	}
	if usable == 0 && len(s.Toolsets)+len(s.Servers) > 0 {
		t.Fatalf("%s leaves nothing usable", told(e))
	}
}

// TestMostGoldsStayAvailable bounds what the default draw takes away from golds,
// by server, probe, tool or toolset.
func TestMostGoldsStayAvailable(t *testing.T) {
	c := embedded(t)
	d := newDrawer(t, c, Options{Seed: 1})
	resolver := toolset.NewResolver(c.Toolsets, newRegistered(c))
	golds, away := 0, 0
	for s, err := range d.Sessions(Range{Count: 4000}) {
		if err != nil {
			t.Fatal(err)
		}
		w := &watch{on: set(s.Toolsets), up: set(s.Servers), had: set(), failing: set(), removed: set(), since: map[string]int{}}
		for _, e := range s.Events {
			w.see(e)
			if e.Kind != KindTurn {
				continue
			}
			on := resolver.Resolve(slices.Collect(maps.Keys(w.on))...)
			for _, g := range e.Turn.Gold {
				golds++
				tool, _ := c.Tool(g.Tool)
				if tool.Builtin && !slices.Contains(on, tool.Definition.Name) ||
					!tool.Builtin && (!w.up[tool.Toolset] || w.failing[tool.Toolset] || w.removed[tool.ID]) {
					away++
				}
			}
		}
	}
	if share := float64(away) / float64(golds); share < 0.01 || share > 0.05 {
		t.Errorf("%.1f %% of %d golds are away when asked for", 100*share, golds)
	}
}

func TestOfferedToolsets(t *testing.T) {
	// By hand: every toolset of testdata can be switched off whole.
	if got, want := offeredToolsets(workshop(t)), []string{"eyes", "hands", "bench", "workshop", "attic"}; !slices.Equal(got, want) {
		t.Errorf("offers %q, want %q", got, want)
	}
	got := offeredToolsets(embedded(t))
	for _, name := range []string{"coding", "hermes-cli", "hermes-webhook", "hermes-gateway", "context_engine"} {
		if slices.Contains(got, name) {
			t.Errorf("offers %s", name)
		}
	}
	for _, name := range []string{"web", "todo", "spotify", "debugging"} {
		if !slices.Contains(got, name) {
			t.Errorf("does not offer %s", name)
		}
	}
}

func TestRevisionsTellEditsApart(t *testing.T) {
	for edits, want := range map[int]string{1: "Revision 2: Drill a hole.", 2: "Revision 3: Drill a hole."} {
		if got := revised("Drill a hole.", edits); got != want {
			t.Errorf("edit %d: %q", edits, got)
		}
	}
}

// TestServersThatConnectAreEquallyLikely checks that a server is drawn evenly from
// those that the session never had.
func TestServersThatConnectAreEquallyLikely(t *testing.T) {
	d := newDrawer(t, embedded(t), Options{Seed: 12, Mix: only("few"), EventShare: 1})
	counts := map[string]int{}
	for s, err := range d.Sessions(Range{Count: 3000}) {
		if err != nil {
			t.Fatal(err)
		}
		first := slices.IndexFunc(s.Events, func(e Event) bool {
			return e.Kind == KindServerUp && !slices.Contains(s.Servers, e.Server)
		})
		if first >= 0 {
			counts[s.Events[first].Server]++
		}
	}
	var got []int
	for _, source := range d.sources {
		got = append(got, counts[source])
	}
	fits(t, "servers", got)
	if len(counts) != len(d.sources) {
		t.Errorf("only %d of %d servers ever connect", len(counts), len(d.sources))
	}
}
