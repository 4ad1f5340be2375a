package metrics_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

// TestBreakEvens gives each session as eager's prompt tokens and the arm's, cumulative by turn.
func TestBreakEvens(t *testing.T) {
	type session struct{ eager, arm []int64 }
	for _, c := range []struct {
		name     string
		sessions []session
		want     string
		curve    string // turn:sessions:saved
	}{
		{"cheaper at once", []session{{[]int64{10, 20}, []int64{9, 12}}}, "1", "[{1 1 1} {2 1 8}]"},
		{"from the second turn", []session{{[]int64{10, 20, 30}, []int64{12, 19, 25}}}, "2", "[{1 1 -2} {2 1 1} {3 1 5}]"},
		{"equal is not below", []session{{[]int64{10, 20}, []int64{9, 20}}}, "none", "[{1 1 1} {2 1 0}]"},
		{"a lead that is lost again does not count", []session{{[]int64{10, 20, 30, 40}, []int64{9, 25, 29, 38}}}, "3", "[{1 1 1} {2 1 -5} {3 1 1} {4 1 2}]"},
		{"never", []session{{[]int64{10}, []int64{11}}}, "none", "[{1 1 -1}]"},
		{
			// The short session's tokens say nothing of turn 2: counted there, they would hide that the long one saves.
			"sessions are compared at the turns that they reach",
			[]session{{[]int64{10}, []int64{60}}, {[]int64{10, 40}, []int64{12, 30}}}, "2", "[{1 2 -26} {2 1 10}]",
		},
		{
			"the mean decides, not the number of sessions",
			[]session{{[]int64{100}, []int64{40}}, {[]int64{10}, []int64{25}}, {[]int64{10}, []int64{25}}}, "1", "[{1 3 10}]",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := metrics.NewAccumulator()
			for i, s := range c.sessions {
				id := fmt.Sprint(i)
				// The order of arms within a session is no matter.
				if err := a.Add(metrics.Observations{Arms: []metrics.SessionArm{
					{SessionID: id, Arm: "bare", PromptByTurn: s.arm}, {SessionID: id, Arm: "eager", PromptByTurn: s.eager},
				}}); err != nil {
					t.Fatal(err)
				}
			}
			got := a.BreakEvens()
			if len(got) != 1 || got[0].Arm != "bare" || got[0].String() != c.want || fmt.Sprint(got[0].Curve) != c.curve {
				t.Errorf("got %+v, want %s with %s", got, c.want, c.curve)
			}
		})
	}
}

func TestBreakEvensNeedEager(t *testing.T) {
	a := metrics.NewAccumulator()
	bare := metrics.SessionArm{SessionID: "1", Arm: "bare", PromptByTurn: []int64{5}}
	if err := a.Add(metrics.Observations{Arms: []metrics.SessionArm{bare}}); err != nil {
		t.Fatal(err)
	}
	if got := a.BreakEvens(); got != nil {
		t.Errorf("without eager: %+v", got)
	}
	// A session that was played under both arms counts; the one before it still does not.
	bare.SessionID = "2"
	if err := a.Add(metrics.Observations{Arms: []metrics.SessionArm{bare, {SessionID: "2", Arm: "eager", PromptByTurn: []int64{9}}}}); err != nil {
		t.Fatal(err)
	}
	if got := a.BreakEvens(); len(got) != 1 || got[0].Curve[0] != (metrics.TurnSaved{Turn: 1, Sessions: 1, SavedTokens: 4}) {
		t.Errorf("with eager: %+v", got)
	}
}

func TestBreakEvenWarnings(t *testing.T) {
	a := metrics.NewAccumulator()
	add := func(turns int64) {
		var eager, bare []int64
		for turn := range turns {
			eager, bare = append(eager, 10*(turn+1)), append(bare, 9*(turn+1))
		}
		if err := a.Add(metrics.Observations{Arms: []metrics.SessionArm{{Arm: "eager", PromptByTurn: eager}, {Arm: "bare", PromptByTurn: bare}}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 {
		add(2)
	}
	if got := a.BreakEvens()[0].Warnings; got != nil {
		t.Errorf("30 sessions of 2 turns: %q", got)
	}
	add(3)
	if got := a.BreakEvens()[0].Warnings; !slices.Equal(got, []metrics.Warning{metrics.WarnSmallPopulation}) {
		t.Errorf("one of 3 turns: %q", got)
	}
}
