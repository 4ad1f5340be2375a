package metrics_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"pgregory.net/rapid"
)

// weighed is a session under an arm: its effective tokens after each turn.
func weighed(id, arm string, deferred int, byTurn ...float64) metrics.SessionArm {
	s := metrics.SessionArm{SessionID: id, Arm: arm, DeferredSchemaTokens: deferred, EffectiveByTurn: byTurn, PromptByTurn: make([]int64, len(byTurn))}
	if n := len(byTurn); n > 0 {
		s.EffectiveTokens = byTurn[n-1]
	}
	return s
}

func breakEvenOf(t testing.TB, all []metrics.BreakEven, measure string) metrics.BreakEven {
	t.Helper()
	i := slices.IndexFunc(all, func(b metrics.BreakEven) bool { return b.Measure == measure })
	if i < 0 {
		t.Fatalf("no %s among %+v", measure, all)
	}
	return all[i]
}

// TestBreakEvenTurns gives each session as eager's effective tokens and the arm's, cumulative by turn.
func TestBreakEvenTurns(t *testing.T) {
	type session struct{ eager, arm []float64 }
	for _, c := range []struct {
		name     string
		sessions []session
		want     string
		curve    string // turn, sessions, saved
	}{
		{"cheaper at once", []session{{[]float64{10, 20}, []float64{9, 12}}}, "1", "[{1 1 1} {2 1 8}]"},
		{"from the second turn", []session{{[]float64{10, 20, 30}, []float64{12, 19, 25}}}, "2", "[{1 1 -2} {2 1 1} {3 1 5}]"},
		{"equal is not below", []session{{[]float64{10, 20}, []float64{9, 20}}}, "none", "[{1 1 1} {2 1 0}]"},
		{"a lead that is lost again does not count", []session{{[]float64{10, 20, 30, 40}, []float64{9, 25, 29, 38}}}, "3", "[{1 1 1} {2 1 -5} {3 1 1} {4 1 2}]"},
		{"never", []session{{[]float64{10}, []float64{11}}}, "none", "[{1 1 -1}]"},
		{"less than a token", []session{{[]float64{10.5}, []float64{10.25}}}, "1", "[{1 1 0.25}]"},
		{
			// The short session's tokens say nothing of turn 2: counted there, they would hide that the long one saves.
			"sessions are compared at the turns that they reach",
			[]session{{[]float64{10}, []float64{60}}, {[]float64{10, 40}, []float64{12, 30}}}, "2", "[{1 2 -26} {2 1 10}]",
		},
		{
			"the mean decides, not the number of sessions",
			[]session{{[]float64{100}, []float64{40}}, {[]float64{10}, []float64{25}}, {[]float64{10}, []float64{25}}}, "1", "[{1 3 10}]",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := metrics.NewAccumulator()
			for i, s := range c.sessions {
				id := fmt.Sprint(i)
				// The order of arms within a session is no matter.
				if err := a.Add(metrics.Observations{Arms: []metrics.SessionArm{weighed(id, "bare", 0, s.arm...), weighed(id, "eager", 0, s.eager...)}}); err != nil {
					t.Fatal(err)
				}
			}
			got := a.BreakEvens()
			if len(got) != 1 || got[0].Arm != "bare" || got[0].Measure != metrics.MeasureBreakEvenTurns || got[0].Sessions != len(c.sessions) ||
				got[0].String() != c.want || fmt.Sprint(got[0].Curve) != c.curve {
				t.Errorf("got %+v, want %s with %s", got, c.want, c.curve)
			}
		})
	}
}

// TestBreakEvenTokens gives each session as its deferred schema tokens and what it saved over its two turns.
func TestBreakEvenTokens(t *testing.T) {
	type session struct {
		deferred int
		saved    float64
	}
	for _, c := range []struct {
		name     string
		sessions []session
		want     string
		curve    string // lower edge of the bin, sessions, saved
	}{
		{"nothing deferred", []session{{0, 5}}, "", ""},
		{"one bin that saves", []session{{5, 1}, {7, 3}}, "4", "[{4 2 2}]"},
		{"one bin that does not", []session{{1, 0}}, "none", "[{1 1 0}]"},
		{"edges of bins", []session{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {1023, 1}, {1024, 1}}, "1", "[{1 1 1} {2 2 1} {4 1 1} {512 1 1} {1024 1 1}]"},
		{"an empty bin does not matter", []session{{600, -1}, {5000, 2}}, "4096", "[{512 1 -1} {4096 1 2}]"},
		{"the largest bin decides", []session{{600, 9}, {5000, -1}}, "none", "[{512 1 9} {4096 1 -1}]"},
		{"a small catalog that saves by chance", []session{{10, 1}, {100, -1}, {1000, 1}, {2000, 1}}, "512", "[{8 1 1} {64 1 -1} {512 1 1} {1024 1 1}]"},
		{"sessions that defer nothing stand aside", []session{{0, -90}, {300, 1}}, "256", "[{256 1 1}]"},
		{"the mean of a bin decides", []session{{300, -2}, {500, 3}}, "256", "[{256 2 0.5}]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := metrics.NewAccumulator()
			for i, s := range c.sessions {
				id := fmt.Sprint(i)
				if err := a.Add(metrics.Observations{Arms: []metrics.SessionArm{
					weighed(id, "eager", 0, 100, 200), weighed(id, "bare", s.deferred, 100, 200-s.saved)}}); err != nil {
					t.Fatal(err)
				}
			}
			if c.curve == "" {
				if got := a.BreakEvens(); len(got) != 1 {
					t.Errorf("got %+v, want that by turns only", got)
				}
				return
			}
			got := breakEvenOf(t, a.BreakEvens(), metrics.MeasureBreakEvenTokens)
			if got.String() != c.want || fmt.Sprint(got.Curve) != c.curve {
				t.Errorf("got %+v, want %s with %s", got, c.want, c.curve)
			}
		})
	}
}

func TestBreakEvensNeedEager(t *testing.T) {
	a := metrics.NewAccumulator()
	add := func(arms ...metrics.SessionArm) {
		t.Helper()
		if err := a.Add(metrics.Observations{Arms: arms}); err != nil {
			t.Fatal(err)
		}
	}
	add(weighed("1", "bare", 9, 5))
	if got := a.BreakEvens(); got != nil {
		t.Errorf("without eager: %+v", got)
	}
	// A session whose tokens were not weighed says nothing either.
	unweighed := func(arm string) metrics.SessionArm {
		return metrics.SessionArm{SessionID: "2", Arm: arm, PromptTokens: 9, PromptByTurn: []int64{9}, DeferredSchemaTokens: 9}
	}
	add(unweighed("bare"), unweighed("eager"))
	if got := a.BreakEvens(); got != nil {
		t.Errorf("without effective tokens: %+v", got)
	}
	if f, there := byKey(a.Figures())[key{"effective_tokens", "eager"}]; there {
		t.Errorf("nothing was weighed, and it comes to %v", f.Value)
	}
	// One that was played under both arms counts; those before it still do not.
	add(weighed("3", "bare", 9, 5), weighed("3", "eager", 0, 9))
	for i, at := range []int64{1, 8} {
		if got := a.BreakEvens(); len(got) != 2 || got[i].Sessions != 1 || !slices.Equal(got[i].Curve, []metrics.SavedAt{{At: at, Sessions: 1, SavedTokens: 4}}) {
			t.Errorf("with eager: %+v", got)
		}
	}
}

func TestBreakEvenWarnings(t *testing.T) {
	a := metrics.NewAccumulator()
	add := func(deferred int, turns int) {
		var eager, bare []float64
		for turn := range turns {
			eager, bare = append(eager, float64(10*(turn+1))), append(bare, float64(9*(turn+1)))
		}
		if err := a.Add(metrics.Observations{Arms: []metrics.SessionArm{weighed("", "eager", 0, eager...), weighed("", "bare", deferred, bare...)}}); err != nil {
			t.Fatal(err)
		}
	}
	thin := []metrics.Warning{metrics.WarnThinEnd}
	for range 30 {
		add(100, 2)
	}
	check := func(name string, turns, tokens []metrics.Warning) {
		t.Helper()
		for measure, want := range map[string][]metrics.Warning{metrics.MeasureBreakEvenTurns: turns, metrics.MeasureBreakEvenTokens: tokens} {
			if got := breakEvenOf(t, a.BreakEvens(), measure).Warnings; !slices.Equal(got, want) {
				t.Errorf("%s: %s: %q, want %q", name, measure, got, want)
			}
		}
	}
	check("30 sessions of 2 turns", nil, nil)
	add(100, 3)
	check("one more of 3 turns", thin, nil)
	add(200, 2)
	check("one more with a larger catalog", thin, thin)
}

// TestBreakEvenIsWhereSavingStays checks the definition against curves of any form.
func TestBreakEvenIsWhereSavingStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := metrics.NewAccumulator()
		tokens := rapid.Float64Range(0, 1000)
		for i := range rapid.IntRange(1, 5).Draw(t, "sessions") {
			var eager, arm []float64
			for range rapid.IntRange(1, 4).Draw(t, "turns") {
				eager, arm = append(eager, tokens.Draw(t, "eager")), append(arm, tokens.Draw(t, "arm"))
			}
			slices.Sort(eager)
			slices.Sort(arm)
			id := fmt.Sprint(i)
			if err := a.Add(metrics.Observations{Arms: []metrics.SessionArm{weighed(id, "eager", 0, eager...),
				weighed(id, "arm", rapid.IntRange(0, 5000).Draw(t, "deferred"), arm...)}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, b := range a.BreakEvens() {
			sessions := 0
			for i, s := range b.Curve {
				if sessions += s.Sessions; s.Sessions < 1 || i > 0 && s.At <= b.Curve[i-1].At {
					t.Fatalf("%+v", b)
				}
				if at := b.At; at != 0 && s.At >= at && s.SavedTokens <= 0 {
					t.Fatalf("from %d on it saves, but not at %d: %+v", at, s.At, b)
				}
				first := i == len(b.Curve)-1 || b.Curve[i+1].At == b.At
				if (b.At == 0 || s.At < b.At) && first && s.SavedTokens > 0 {
					t.Fatalf("it saves from %d on already: %+v", s.At, b)
				}
				if bits := math.Log2(float64(s.At)); b.Measure == metrics.MeasureBreakEvenTokens && bits != math.Trunc(bits) {
					t.Fatalf("%d is not the edge of a bin", s.At)
				}
			}
			if want := b.Curve[0].Sessions; b.Measure == metrics.MeasureBreakEvenTurns && b.Sessions != want || b.Measure == metrics.MeasureBreakEvenTokens && b.Sessions != sessions {
				t.Fatalf("%d sessions: %+v", b.Sessions, b)
			}
		}
	})
}
