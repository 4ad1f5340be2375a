package compare

import (
	"context"
	"errors"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports/reportstest"
	"pgregory.net/rapid"
)

// TestComparisonMirrors: the other way about, every difference has the other sign and no p another value, and what was
// worse is better.
func TestComparisonMirrors(t *testing.T) {
	paths := rapid.SampledFrom([]metrics.Path{metrics.PathSearched, metrics.PathLost, metrics.PathUnavailable})
	wanted := []Column{{Measure: "surface_tokens", Arm: "listing"}, {Measure: "lost_rate", Arm: "listing", Class: "obvious"}, {Measure: "mrr", Arm: "listing"}}
	opposite := map[Verdict]Verdict{Better: Worse, Worse: Better, Same: Same, Changed: Changed}
	rapid.Check(t, func(t *rapid.T) {
		there, back := newColumns(wanted, nil), newColumns(wanted, nil)
		flipsThere, flipsBack := newFlips([]string{"listing"}), newFlips([]string{"listing"})
		draw := func(i int) metrics.Observations {
			return reportstest.Session(i, paths.Draw(t, "path"), rapid.IntRange(0, 10).Draw(t, "rank"), rapid.IntRange(1, 900).Draw(t, "tokens"))
		}
		for i := range rapid.IntRange(1, 5).Draw(t, "sessions") {
			a, b := draw(i), draw(i)
			there.add(pair{before: a, after: b})
			back.add(pair{before: b, after: a})
			flipsThere.add(pair{before: a, after: b})
			flipsBack.add(pair{before: b, after: a})
		}
		ds, err := there.differences(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		ms, err := back.differences(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(ds) != len(ms) || len(flipsThere.order) != len(flipsBack.order) {
			t.Fatalf("%d and %d measures, %d and %d flips", len(ds), len(ms), len(flipsThere.order), len(flipsBack.order))
		}
		for i, d := range ds {
			m := ms[i]
			if d.Difference != -m.Difference || d.P != m.P || d.PHolm != m.PHolm || d.PHolm < d.P || m.Verdict != opposite[d.Verdict] ||
				d.OnlyBefore != m.OnlyAfter || d.Interval.Low > d.Interval.High {
				t.Fatalf("%+v\nand back %+v", d, m)
			}
		}
	})
}

// TestInterruptedTests: bootstraps of many columns take seconds, and can be stopped.
func TestInterruptedTests(t *testing.T) {
	c := newColumns([]Column{{Measure: "surface_tokens", Arm: "listing"}}, nil)
	c.add(pair{before: reportstest.Session(0, metrics.PathSearched, 1, 500), after: reportstest.Session(0, metrics.PathSearched, 1, 600)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if list, err := c.differences(ctx); !errors.Is(err, context.Canceled) || list != nil {
		t.Errorf("%v, error %v", list, err)
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"bench", "run", "--seed", "1"}, "bench run --seed 1"},
		{[]string{"a b", "it's", "", "$HOME;rm", "few=40,ten=60"}, `'a b' 'it'\''s' '' '$HOME;rm' few=40,ten=60`},
	} {
		if got := commandLine(c.words); got != c.want {
			t.Errorf("%q: %s, want %s", c.words, got, c.want)
		}
	}
}

func TestCommandsOfARun(t *testing.T) {
	at := Location{SessionID: "s", RowIndex: 507, Position: 7, Turn: 2}
	for _, c := range []struct {
		name, file   string
		flags        map[string]any
		run, surface string
	}{
		{"drawn", "", map[string]any{"sessions": "500-599", "events": "0", "distribution": "few", "corpus": "my tools", "weights": metrics.Weights{Fresh: 1}},
			"bench run --sessions 507-507 --seed 1 --distribution few --events 0 --corpus 'my tools' --arms bare --weights fresh=1,cached=0,write=0,output=0",
			"bench surface --sessions 507-507 --seed 1 --distribution few --events 0 --corpus 'my tools' --turn 2 --arms bare --raw"},
		{"of a file", "f11e", map[string]any{"sessions": "s.jsonl", "events": "0.25", "arms_file": "arms.yaml", "weights": metrics.DefaultWeights()},
			"bench run --sessions s.jsonl --shard 8/1 --arms arms.yaml",
			"bench surface --sessions s.jsonl --row 7 --turn 2 --arms arms.yaml,bare --raw"},
		{"a part of a file", "f11e", map[string]any{"sessions": "s.jsonl", "shard": "1/2"}, "", ""},
		{"merged", "", map[string]any{"merge": []string{"a", "b"}}, "", ""},
	} {
		m := reportstest.Manifest(1)
		m.SessionsSHA256, m.Args.Resolved = c.file, c.flags
		r := reportstest.Write(t, m, reportstest.Session(0, metrics.PathSearched, 1, 500))
		if got := RunCommand(r, "bare", at); got != c.run {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.run)
		}
		if got := SurfaceCommand(r, "bare", at); got != c.surface {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.surface)
		}
	}
}
