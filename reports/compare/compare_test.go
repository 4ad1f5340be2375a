package compare_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/reports/compare"
	"github.com/toolgauge/toolgauge/reports/reportstest"
)

// four sessions: the second loses its tool after, the third finds one, and the surface of all grows by 10.
func four() (before, after []metrics.Observations) {
	before = []metrics.Observations{
		reportstest.Session(0, metrics.PathSearched, 1, 500), reportstest.Session(1, metrics.PathSearched, 3, 500),
		reportstest.Session(2, metrics.PathLost, 0, 500), reportstest.Session(3, metrics.PathSearched, 2, 600),
	}
	after = []metrics.Observations{
		reportstest.Session(0, metrics.PathSearched, 1, 510), reportstest.Session(1, metrics.PathLost, 6, 510),
		reportstest.Session(2, metrics.PathSearched, 5, 510), reportstest.Session(3, metrics.PathSearched, 2, 610),
	}
	return before, after
}

func mustCompare(t testing.TB, before, after *reports.Run, o compare.Options) *compare.Comparison {
	t.Helper()
	c, err := compare.Compare(t.Context(), before, after, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func difference(t testing.TB, c *compare.Comparison, measure, arm string) compare.Difference {
	t.Helper()
	for _, d := range c.Measures {
		if d.Column == (compare.Column{Measure: measure, Arm: arm}) {
			return d
		}
	}
	t.Fatalf("no difference of %s under %s", measure, arm)
	return compare.Difference{}
}

func TestDifferencesByHand(t *testing.T) {
	a, b := four()
	c := mustCompare(t, reportstest.Write(t, reportstest.Manifest(4), a...), reportstest.Write(t, reportstest.Manifest(4), b...), compare.Options{})
	for _, want := range []struct {
		measure, arm                            string
		n, onlyBefore, onlyAfter, changed       int
		before, after, difference, low, high, p float64
		verdict                                 compare.Verdict
	}{
		// 500, 500, 500, 600 and 10 more each; of 16 choices of signs two are as far.
		{"surface_tokens", "listing", 4, 0, 0, 4, 525, 535, 10, 10, 10, 2. / 16, compare.Worse},
		{"surface_tokens", "eager", 4, 0, 0, 0, 1000, 1000, 0, 0, 0, 1, compare.Same},
		// One lost, one found: the mean stays, and every choice of signs is as far from 0. Of 256 resamples of 1, -1, 0, 0 one
		// has the mean -1 and eight have -3/4, with which the share passes 0.025.
		{"lost_rate", "listing", 4, 0, 0, 2, .25, .25, 0, -.75, .75, 1, compare.Changed},
		// Reached before and after are the sessions 0 and 3; 1 is lost after, 2 was lost before.
		{"extra_requests", "listing", 2, 1, 1, 0, 2, 2, 0, 0, 0, 1, compare.Same},
		// The gold is among five hits in sessions 0, 1 and 3 before, and in 0, 2 and 3 after.
		{"recall@5", "listing", 4, 0, 0, 2, .75, .75, 0, -.75, .75, 1, compare.Changed},
		// A total.
		{"cold_calls", "listing", 4, 0, 0, 0, 4, 4, 0, 0, 0, 1, compare.Same},
		// Reciprocal ranks 1, 1/3, 0, 1/2 and 1, 1/6, 1/5, 1/2.
		{"mrr", "listing", 4, 0, 0, 2, 11. / 24, 7. / 15, 1. / 120, -1. / 8, 3. / 20, 1, compare.Better},
	} {
		d := difference(t, c, want.measure, want.arm)
		near := func(x, y float64) bool { return x-y < 1e-12 && y-x < 1e-12 }
		if d.N != want.n || d.OnlyBefore != want.onlyBefore || d.OnlyAfter != want.onlyAfter || d.ItemsChanged != want.changed ||
			!near(d.Before, want.before) || !near(d.After, want.after) || !near(d.Difference, want.difference) || !near(d.P, want.p) || d.Verdict != want.verdict {
			t.Errorf("%s, %s: %+v\nwant %+v", want.measure, want.arm, d, want)
		}
		if !near(d.Interval.Low, want.low) || !near(d.Interval.High, want.high) {
			t.Errorf("%s, %s: interval %v, want [%v, %v]", want.measure, want.arm, d.Interval, want.low, want.high)
		}
	}
}

func TestFlipsByHand(t *testing.T) {
	a, b := four()
	c := mustCompare(t, reportstest.Write(t, reportstest.Manifest(4), a...), reportstest.Write(t, reportstest.Manifest(4), b...), compare.Options{})
	var lines []string
	for _, f := range c.Flips {
		lines = append(lines, f.String(), f.Command)
	}
	want := `worse under listing: i1 (obvious), call of a: reached (searched) → lost, row 1, turn 0
bench run --sessions 1-1 --seed 1 --events 0.25 --arms listing
worse under listing: i1 (obvious), hit@limit: rank 3 → not within 5, row 1, turn 0
bench run --sessions 1-1 --seed 1 --events 0.25 --arms listing
better under listing: i2 (obvious), call of a: lost → reached (searched), row 2, turn 0
bench run --sessions 2-2 --seed 1 --events 0.25 --arms listing
better under listing: i2 (obvious), hit@limit: not within 5 → rank 5, row 2, turn 0
bench run --sessions 2-2 --seed 1 --events 0.25 --arms listing`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("flips:\n%s\nwant:\n%s", got, want)
	}
	if got := compare.FlipCount(c.Flips); got != "2 intents, worse 2 times, better 2 times" {
		t.Errorf("counted as %q", got)
	}
	if s := c.Surfaces; len(s) != 1 || s[0].Arm != "listing" || s[0].Sessions != 4 || s[0].Of != 4 || s[0].NoText == "" ||
		s[0].Before.SurfaceTokens != 500 || s[0].After.SurfaceTokens != 510 {
		t.Errorf("surfaces: %+v", s)
	}
}

func TestIdenticalRuns(t *testing.T) {
	a, _ := four()
	c := mustCompare(t, reportstest.Write(t, reportstest.Manifest(4), a...), reportstest.Write(t, reportstest.Manifest(4), a...), compare.Options{})
	var text bytes.Buffer
	if err := c.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if !c.Identical() || !strings.Contains(text.String(), "\nNo difference: ") {
		t.Errorf("identical: %v\n%s", c.Identical(), text.String())
	}
}

func TestMismatches(t *testing.T) {
	a, b := four()
	before := reportstest.Write(t, reportstest.Manifest(4), a...)
	for _, c := range []struct {
		name     string
		change   func(*reports.Manifest)
		after    []metrics.Observations
		said, by string
		sessions int64 // with AllowMismatch; 0: refused all the same
	}{
		{"corpus", func(m *reports.Manifest) { m.Corpus.SHA256 = "decaf" }, b, "corpus small 1 (sha256 c0ffee) and small 1 (sha256 decaf)", "session_id", 4},
		{"file", func(m *reports.Manifest) { m.SessionsSHA256 = "f11e" }, b, "sessions drawn and of a file (sha256 f11e)", "session_id", 4},
		{"seed", func(m *reports.Manifest) { m.Seed = 2 }, b, "seed 1 and 2", "session_id", 4},
		{"draw", func(m *reports.Manifest) { m.Config = map[string]any{"draw": map[string]any{"first": 7}} }, b, "another draw of sessions: ", "session_id", 4},
		{"shard", func(m *reports.Manifest) { m.Shard = &reports.Shard{Index: 1, Count: 2, Rows: 4} }, b, "a part of a run and another", "session_id", 4},
		{"fewer sessions", func(*reports.Manifest) {}, b[1:3], "4 sessions and 2 sessions", "session_id", 2},
		{"ids of another corpus", func(m *reports.Manifest) { m.Corpus.SHA256 = "decaf" }, renamed(b), "corpus small 1", "row_index", 4},
		{"ids of another seed", func(m *reports.Manifest) { m.Seed = 2 }, renamed(b), "seed 1 and 2", "", 0},
		{"another order", func(m *reports.Manifest) { m.Seed = 2 }, []metrics.Observations{b[1], b[0]}, "seed 1 and 2", "", 0},
	} {
		m := reportstest.Manifest(4)
		c.change(&m)
		after := reportstest.Write(t, m, c.after...)
		_, err := compare.Compare(t.Context(), before, after, compare.Options{})
		if !errors.As(err, new(*reports.IncomparableError)) || !strings.Contains(err.Error(), c.said) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.said)
		}
		got, err := compare.Compare(t.Context(), before, after, compare.Options{AllowMismatch: true})
		switch {
		case c.sessions == 0:
			if !errors.As(err, new(*reports.IncomparableError)) {
				t.Errorf("%s, allowed: error %v", c.name, err)
			}
		case err != nil:
			t.Errorf("%s, allowed: %v", c.name, err)
		case got.Sessions != c.sessions || got.PairedBy != c.by || got.OnlyBefore != 4-c.sessions || len(got.Mismatches) == 0:
			t.Errorf("%s, allowed: %d sessions by %s, %d only before, mismatches %q", c.name, got.Sessions, got.PairedBy, got.OnlyBefore, got.Mismatches)
		}
	}
}

func TestAssumptionsThatDiffer(t *testing.T) {
	a, _ := four()
	m := reportstest.Manifest(4)
	m.Config.(map[string]any)["system_prompt"] = "Be brief."
	before := reportstest.Write(t, m, a...)
	for i := range a {
		a[i].Arms[1].Assumptions.Settings = "listing=off"
	}
	m = reportstest.Manifest(4)
	m.Config.(map[string]any)["system_prompt"] = map[string]any{"sha256": "abc", "bytes": 3}
	c := mustCompare(t, before, reportstest.Write(t, m, a...), compare.Options{})
	want := []compare.Assumption{
		{Arm: "listing", What: "settings", Before: "", After: "listing=off"},
		{Arm: "eager", What: "system prompt", Before: "Be brief.", After: "sha256 abc"},
		{Arm: "listing", What: "system prompt", Before: "Be brief.", After: "sha256 abc"},
	}
	if !slices.Equal(c.Assumptions, want) {
		t.Errorf("%+v, want %+v", c.Assumptions, want)
	}
}

// renamed are sessions with other ids.
func renamed(sessions []metrics.Observations) (list []metrics.Observations) {
	for _, o := range sessions {
		id := "other" + o.Arms[0].SessionID
		o.Arms, o.Calls, o.Searches = append([]metrics.SessionArm{}, o.Arms...), append([]metrics.Call{}, o.Calls...), append([]metrics.Search{}, o.Searches...)
		for i := range o.Arms {
			o.Arms[i].SessionID = id
		}
		for i := range o.Calls {
			o.Calls[i].SessionID = id
		}
		for i := range o.Searches {
			o.Searches[i].SessionID = id
		}
		list = append(list, o)
	}
	return list
}

func TestOpenRefusesParts(t *testing.T) {
	w, err := reports.Create(t.TempDir(), reportstest.Manifest(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compare.Open(w.Dir()); err == nil || !strings.Contains(err.Error(), "not finished") {
		t.Errorf("running: %v", err)
	}
	if err := w.Add(reportstest.Session(0, metrics.PathSearched, 1, 500)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(reports.StatusInterrupted, reports.Summary{Counts: reports.Counts{Attempted: 2}}); err != nil {
		t.Fatal(err)
	}
	if _, err := compare.Open(w.Dir()); err == nil || !strings.Contains(err.Error(), "the run has status interrupted, with 1 of 2 sessions\nhint: ") {
		t.Errorf("interrupted: %v", err)
	}
	path := filepath.Join(w.Dir(), reports.CallsFile)
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := compare.Open(w.Dir()); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("truncated: %v", err)
	}
}
