package sweep

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/replay"
)

func TestParseObjective(t *testing.T) {
	for _, row := range []struct {
		text string
		want Objective
		says string
	}{
		{"", Objective{}, "least effective_tokens where lost_rate is at most 0.01 above the best listing's"},
		{"effective_tokens=1", Objective{Given: true, EffectiveTokens: 1}, "least 1 × effective_tokens"},
		{"lost_rate=2e4,extra_requests=0.5", Objective{Given: true, ExtraRequests: 0.5, LostRate: 20000}, "least 0.5 × extra_requests + 20000 × lost_rate"},
	} {
		got, err := ParseObjective(row.text)
		if err != nil || got != row.want || got.String() != row.says {
			t.Errorf("%q is %+v, %v, %q", row.text, got, err, got)
		}
	}
	for text, want := range map[string]string{
		"lost=1":                  "unknown measure \"lost\"\nhint: did you mean \"lost_rate\"?",
		"lost_rate=1,":            "unknown measure \"\"\nhint: did you mean \"lost_rate\"?",
		"lost_rate=1,lost_rate=2": "lost_rate is given twice\nhint: keep one of the two",
		"lost_rate":               "lost_rate: \"\" is no weight\nhint: write a number from 0 to 1e9, as in lost_rate=1",
		"lost_rate=-1":            "lost_rate: \"-1\" is no weight\nhint: write a number from 0 to 1e9, as in lost_rate=1",
		"lost_rate=NaN":           "lost_rate: \"NaN\" is no weight\nhint: write a number from 0 to 1e9, as in lost_rate=1",
		"lost_rate=0":             "every weight is 0\nhint: leave one above 0, or every setting is as good as any",
	} {
		if _, err := ParseObjective(text); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// By hand: two sessions, one point. Lost are 1 of 4 and 0 of 1: the rate is 0.2, a
// session has 2.5 golds on average, so the first has 0.2 + (1 - 0.8)/2.5 = 0.28 and
// the second 0.2 + (0 - 0.2)/2.5 = 0.12. Extra requests are 3 of 2 and none of 0:
// 1.5, and 1.5 + (3 - 3)/1 for both.
func TestSharesByHand(t *testing.T) {
	tally := &tally{sessions: 2, cells: []cell{
		{effective: 100, reached: 2, extra: 3, within: 4, lost: 1},
		{effective: 50, reached: 0, extra: 0, within: 1, lost: 0},
	}}
	for _, row := range []struct {
		o    Objective
		want []float64
	}{
		{Objective{}, []float64{100, 50}},
		{Objective{Given: true, LostRate: 1}, []float64{0.28, 0.12}},
		{Objective{Given: true, ExtraRequests: 2}, []float64{3, 3}},
		{Objective{Given: true, EffectiveTokens: 1, ExtraRequests: 2, LostRate: 100}, []float64{131, 65}},
	} {
		got := row.o.shares(tally, 1, 0)
		for i := range got {
			if math.Abs(got[i]-row.want[i]) > 1e-9 {
				t.Errorf("%+v: %v, want %v", row.o, got, row.want)
			}
		}
	}
}

// The mean of what the sessions have in an objective is its value.
func TestSharesAverageToTheObjective(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		points := rapid.IntRange(1, 3).Draw(rt, "points")
		point := rapid.IntRange(0, points-1).Draw(rt, "point")
		small := func(name string) int32 { return rapid.Int32Range(0, 5).Draw(rt, name) }
		x := &tally{sessions: rapid.IntRange(1, 6).Draw(rt, "sessions")}
		effective := 0.0
		var extra, lost rate
		for i := range x.sessions * points {
			c := cell{effective: float64(small("effective")), reached: small("reached"), within: small("within")}
			if c.reached > 0 {
				c.extra = small("extra")
			}
			c.lost = min(c.within, small("lost"))
			if i%points == point {
				effective += c.effective
				extra.add(c.extra, c.reached)
				lost.add(c.lost, c.within)
			}
			x.cells = append(x.cells, c)
		}
		o := Objective{true, float64(small("w1")), float64(small("w2")), float64(small("w3"))}
		want := o.of([3]float64{effective / float64(x.sessions), extra.value(), lost.value()})
		sum := 0.0
		for _, s := range o.shares(x, points, point) {
			sum += s
		}
		if got := sum / float64(x.sessions); math.Abs(got-want) > 1e-9*(1+want) {
			rt.Fatalf("mean share %v, want %v", got, want)
		}
	})
}

// The front by its definition: nothing on it is beaten, and everything beside it is.
func TestFrontIsWhatNothingBeats(t *testing.T) {
	for _, row := range []struct {
		by, figures [3]float64
		want        bool
	}{
		{[3]float64{1, 1, 1}, [3]float64{1, 1, 1}, false},
		{[3]float64{1, 1, 0}, [3]float64{1, 1, 1}, true},
		{[3]float64{0, 2, 0}, [3]float64{1, 1, 1}, false},
		{[3]float64{0, 0, 0}, [3]float64{1, 1, 1}, true},
		{[3]float64{1, 1, 1}, [3]float64{0, 0, 0}, false},
	} {
		if got := beaten(row.by, row.figures); got != row.want {
			t.Errorf("%v beats %v: %v", row.by, row.figures, got)
		}
	}
}

func TestRefineParts(t *testing.T) {
	x := &tally{classes: make([]int, 5)}
	for _, step := range []struct {
		contents, of, want []int
	}{
		{[]int{0, 1, 0}, []int{0, 1, 2, 0, 1}, []int{0, 1, 0, 0, 1}}, // plays 0 and 2 came to the same
		{[]int{0}, []int{0, 0, 0, 0, 0}, []int{0, 1, 0, 0, 1}},       // what was told apart stays so
		{[]int{0, 1}, []int{0, 0, 1, 0, 1}, []int{0, 1, 2, 0, 3}},
	} {
		x.refine(step.contents, step.of)
		if diff := cmp.Diff(step.want, x.classes); diff != "" {
			t.Errorf("classes (-want +got):\n%s", diff)
		}
	}
}

// made is a context of one model in which each setting has, in every session, the
// tokens, extra requests and lost golds (of ten) given. Point i is setting i.
func made(t *testing.T, g *Grid, sessions int, figures [][3]float64, listed func(setting string) bool, over map[string]bool) *tally {
	t.Helper()
	x := &tally{sessions: 0, classes: make([]int, len(g.points))}
	x.figures = []*metrics.Accumulator{metrics.NewAccumulator(measures()...)}
	c := &collector{grid: g, tally: map[int]*tally{1000: x}}
	for i := range sessions {
		var all []replay.Alike
		for point, f := range figures {
			a := replay.Alike{Arms: []int{point}}
			a.Row = metrics.SessionArm{SessionID: fmt.Sprint("s", i), ContextLength: 1000, EffectiveTokens: f[0] + float64(i%3), PromptTokens: int64(point),
				PromptByTurn: []int64{int64(point)}, EffectiveByTurn: []float64{f[0] + float64(i%3)}}
			name := g.name(point)
			if listed(name) {
				a.Row.ListingTokens = 1
			}
			if over[name] {
				a.Row.SurfaceTokens = 1001
			}
			for n := range 10 {
				call := metrics.Call{SessionID: a.Row.SessionID, Path: metrics.PathDescribed, Cold: true, ExtraRequests: int(f[1])}
				if n < int(f[2]) {
					call.Path = metrics.PathLost
				}
				a.Calls = append(a.Calls, call)
			}
			all = append(all, a)
		}
		if err := c.add(all); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func TestRecommendation(t *testing.T) {
	g := parse(t, "threshold_pct=1,5,20", "listing=auto,off")
	// eager, threshold_pct=1, threshold_pct=1 listing=off, default, listing=off, threshold_pct=20, threshold_pct=20 listing=off
	listed := func(name string) bool { return name != metrics.EagerArm && !strings.Contains(name, "listing=off") }
	for _, row := range []struct {
		name      string
		objective Objective
		over      map[string]bool
		figures   [][3]float64
		want      string
		next      string
		front     []string
	}{
		{"the least tokens of those that lose hardly more", Objective{}, nil,
			[][3]float64{{900, 0, 0}, {300, 1, 1}, {100, 2, 5}, {400, 1, 0}, {100, 2, 5}, {500, 1, 0}, {100, 2, 5}},
			"default", "threshold_pct=20", []string{"eager", "threshold_pct=1", "threshold_pct=1 listing=off", "default", "listing=off", "threshold_pct=20 listing=off"}},
		{"eager, where nothing is cheaper", Objective{}, nil,
			[][3]float64{{90, 0, 0}, {300, 1, 1}, {100, 2, 5}, {400, 1, 0}, {100, 2, 5}, {500, 1, 0}, {100, 2, 5}},
			"eager", "default", []string{"eager"}},
		{"not eager, if it does not fit", Objective{}, map[string]bool{"eager": true},
			[][3]float64{{90, 0, 0}, {300, 1, 0}, {100, 2, 5}, {400, 1, 0}, {100, 2, 5}, {500, 1, 0}, {100, 2, 5}},
			"threshold_pct=1", "default", []string{"threshold_pct=1", "threshold_pct=1 listing=off", "listing=off", "threshold_pct=20 listing=off"}},
		{"of equals the default", Objective{}, nil,
			[][3]float64{{300, 0, 0}, {300, 1, 0}, {500, 2, 5}, {300, 1, 0}, {500, 2, 5}, {300, 1, 0}, {500, 2, 5}},
			"default", "eager", []string{"eager"}},
		{"of equals what changes least", Objective{}, nil,
			[][3]float64{{900, 0, 0}, {500, 1, 0}, {300, 2, 0}, {500, 1, 0}, {300, 2, 0}, {500, 1, 0}, {300, 2, 0}},
			"listing=off", "threshold_pct=1 listing=off", []string{"eager", "threshold_pct=1", "threshold_pct=1 listing=off", "default", "listing=off", "threshold_pct=20", "threshold_pct=20 listing=off"}},
		{"a sum needs no bound", Objective{Given: true, EffectiveTokens: 1, LostRate: 10}, nil,
			[][3]float64{{900, 0, 0}, {300, 1, 1}, {100, 2, 5}, {400, 1, 0}, {101, 2, 5}, {500, 1, 0}, {101, 2, 5}},
			"threshold_pct=1 listing=off", "listing=off", []string{"eager", "threshold_pct=1", "threshold_pct=1 listing=off", "default"}},
		{"a sum weighs what is lost", Objective{Given: true, EffectiveTokens: 1, LostRate: 1000}, nil,
			[][3]float64{{900, 0, 0}, {300, 1, 1}, {100, 2, 5}, {390, 1, 0}, {100, 2, 5}, {500, 1, 0}, {100, 2, 5}},
			"default", "threshold_pct=1", []string{"eager", "threshold_pct=1", "threshold_pct=1 listing=off", "default", "listing=off", "threshold_pct=20 listing=off"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			out := newOutcome(row.objective, g, made(t, g, 12, row.figures, listed, row.over), 0)
			r := out.Recommendation
			if r.Setting != row.want || r.Next == nil || r.Next.Setting != row.next || r.Next.Against != row.want {
				t.Errorf("recommended %s before %+v, want %s before %s", r.Setting, r.Next, row.want, row.next)
			}
			var front []string
			for _, p := range out.Points {
				if p.Front {
					front = append(front, p.Setting)
				}
			}
			if diff := cmp.Diff(row.front, front); diff != "" {
				t.Errorf("front (-want +got):\n%s", diff)
			}
			if (r.Default == nil) != (row.want == "default") {
				t.Errorf("against the default: %+v", r.Default)
			}
		})
	}
}

// The margin is that of the sessions, paired: here each session has 100 more.
func TestMarginIsPaired(t *testing.T) {
	g := parse(t, "threshold_pct=1,5")
	x := made(t, g, 30, [][3]float64{{900, 0, 0}, {300, 1, 0}, {400, 1, 0}}, func(string) bool { return true }, nil)
	r := newOutcome(Objective{}, g, x, 0).Recommendation
	want := &Comparison{Setting: "default", Against: "threshold_pct=1", Difference: 100, Interval: metrics.Interval{Low: 100, High: 100}, P: r.Default.P, N: 30}
	if diff := cmp.Diff(want, r.Default); diff != "" || r.Default.P > 0.001 || !r.Default.Apart() {
		t.Errorf("margin (-want +got):\n%s", diff)
	}
}
