package replay

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/sessions"
)

// drawAlikeArm draws an arm whose settings often lead to the same as another's.
func drawAlikeArm(rt *rapid.T, name string) Arm {
	pick := func(field string, words ...string) string { return rapid.SampledFrom(words).Draw(rt, name+" "+field) }
	arm := NewArm(name, rapid.SampledFrom(bridge.Variants()).Draw(rt, name+" variant"))
	arm.Bridge = rapid.IntRange(0, 5).Draw(rt, name+" bridge") > 0
	arm.Tokenizer = "chars4"
	arm.Retriever = pick("retriever", "bm25", "hybrid", "substring")
	arm.Agent = pick("agent", AgentAware, AgentAware, AgentHasty, AgentUnaware, AgentBlind)
	arm.Memo = pick("memo", MemoTTL, MemoTTL, MemoTTL, MemoReference, MemoOff)
	arm.Cache = pick("cache", CachePrefix, CachePrefix, CacheNone)
	arm.ToolSearch.Listing = bridge.Switch(pick("listing", "auto", "on", "off"))
	arm.ToolSearch.ThresholdPct = rapid.SampledFrom([]float64{0, 0.5, 2, 5, 20}).Draw(rt, name+" threshold")
	arm.ToolSearch.SearchDefaultLimit = rapid.SampledFrom([]int{1, 5, 6}).Draw(rt, name+" limit")
	return arm
}

// observed are what Play observes under one arm, as an Alike has it.
func observed(t *rapid.T, o metrics.Observations, arm string) (metrics.SessionArm, []metrics.Call) {
	i := slices.IndexFunc(o.Arms, func(row metrics.SessionArm) bool { return row.Arm == arm })
	if i < 0 {
		t.Fatalf("no row of arm %s", arm)
	}
	row := o.Arms[i]
	row.Arm, row.Assumptions, row.BudgetTokens = "", metrics.Assumptions{}, 0
	row.ByteIdentical, row.Retained = false, metrics.Retained{}
	calls := armCalls(o, arm)
	for j := range calls {
		calls[j].Arm = ""
	}
	return row, calls
}

// Arms that share a play come out as each does by itself, whatever comes and goes
// in the session.
func TestAlikeIsWhatEachArmGives(t *testing.T) {
	c, d := embeddedDrawer(t, sessions.Options{Seed: 23, ContextLengths: []int{16_000, 200_000}, TurnsMin: 2, TurnsMax: 5, EventShare: 0.6})
	shared := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSession(t, d, rapid.Int64Range(0, 500).Draw(rt, "session"))
		var arms []Arm
		for i := range rapid.IntRange(1, 8).Draw(rt, "arms") {
			arms = append(arms, drawAlikeArm(rt, fmt.Sprintf("a%d", i)))
		}
		twin := arms[0] // three of five share a play: those with memo ttl
		twin.Name = "twin"
		arms = append(arms, twin)
		p, err := NewPlayer(Options{Corpus: c, Arms: arms, Repeats: 1})
		if err != nil {
			rt.Fatal(err)
		}
		alike, err := p.PlayAlike(context.Background(), s)
		if err != nil {
			rt.Fatal(err)
		}
		o, err := p.Play(context.Background(), s)
		if err != nil {
			rt.Fatal(err)
		}
		var placed []int
		for _, a := range alike {
			shared += len(a.Arms) - 1
			placed = append(placed, a.Arms...)
			for _, i := range a.Arms {
				row, calls := observed(rt, o, arms[i].Name)
				if diff := cmp.Diff(row, a.Row) + cmp.Diff(calls, a.Calls); diff != "" {
					rt.Fatalf("arm %d of %v, %+v (-alone +shared):\n%s", i, a.Arms, arms, diff)
				}
			}
		}
		slices.Sort(placed)
		for i := range arms {
			if i >= len(placed) || placed[i] != i {
				rt.Fatalf("%d arms are in the groups %v", len(arms), placed)
			}
		}
	})
	if shared == 0 {
		t.Error("no two arms ever shared a play, so that the test shows nothing")
	}
}

// Who plays what once: thresholds on the same side of what the listing needs, and
// retrievers as long as nobody searches.
func TestAlikeSharesPlays(t *testing.T) {
	c := loadCorpus(t, tinyFiles)
	arm := func(name string, threshold float64, retriever, agent string) Arm {
		a := NewArm(name, bridge.July)
		a.ToolSearch.ThresholdPct, a.Retriever, a.Agent = threshold, retriever, agent
		return a
	}
	arms := []Arm{
		arm("none", 0, "bm25", AgentAware), arm("full", 5, "bm25", AgentAware), arm("wide", 20, "bm25", AgentAware),
		arm("other", 5, "hybrid", AgentAware), arm("unaware", 5, "hybrid", AgentUnaware), arm("nowhere", 0, "hybrid", AgentAware),
	}
	for _, row := range []struct {
		name  string
		turns []sessions.Turn
		want  [][]int
	}{
		{"nobody needs a search", []sessions.Turn{asks("i1", "letter", gold(sendLetter, "address", "a", "body", "b"))},
			[][]int{{0}, {1, 2, 3}, {4}, {5}}},
		{"what is asked is on the surface", []sessions.Turn{asks("i1", "open the note", gold(readNote, "title", "t"))},
			[][]int{{0, 5}, {1, 2, 3}, {4}}},
		{"in the end everybody searches", []sessions.Turn{asks("i1", "open the note", gold(readNote, "title", "t")), asks("i2", "fly me to the moon")},
			[][]int{{0}, {1, 2}, {3}, {4}, {5}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			all, err := newPlayer(t, Options{Corpus: c, Arms: arms}).PlayAlike(t.Context(), tinySession(c, row.turns...))
			if err != nil {
				t.Fatal(err)
			}
			var got [][]int
			for _, a := range all {
				got = append(got, a.Arms)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("arms that share a play (-want +got):\n%s", diff)
			}
		})
	}
}
