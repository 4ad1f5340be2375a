package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/sessions"
)

// workshop is the corpus of examples/walk, which has costs of every kind and few
// tools, with a drawer over it.
func workshop(t testing.TB, o sessions.Options) (*corpus.Corpus, *sessions.Drawer) {
	t.Helper()
	c, err := corpus.Load(filepath.Join("..", "examples", "walk", "corpus"))
	if err != nil {
		t.Fatal(err)
	}
	return drawerOf(t, c.WithDerived(), o)
}

func drawerOf(t testing.TB, c *corpus.Corpus, o sessions.Options) (*corpus.Corpus, *sessions.Drawer) {
	t.Helper()
	d, err := sessions.NewDrawer(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, d
}

func embedded(t testing.TB, o sessions.Options) (*corpus.Corpus, *sessions.Drawer) {
	t.Helper()
	c, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return drawerOf(t, c, o)
}

func sweepOf(t testing.TB, o Options, all iter.Seq2[*sessions.Session, error]) *Report {
	t.Helper()
	r, err := Run(context.Background(), o, all)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// alone are the figures of an arm in a run of its own beside eager, over the
// sessions of one context length.
func alone(t testing.TB, c *corpus.Corpus, arm replay.Arm, all iter.Seq2[*sessions.Session, error], length int, resize bool) Figures {
	t.Helper()
	eager := modelOf(arm).under(replay.DefaultArms()[0])
	arm.Name = "alone"
	chosen := func(yield func(*sessions.Session, error) bool) {
		for s, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			if resize {
				resized := *s
				resized.ContextLength = length
				s = &resized
			}
			if s.ContextLength == length && !yield(s, nil) {
				return
			}
		}
	}
	figures := metrics.NewAccumulator()
	err := replay.Run(context.Background(), replay.Options{Corpus: c, Arms: []replay.Arm{eager, arm}, Repeats: 1}, chosen, 1, figures.Add)
	if err != nil {
		t.Fatal(err)
	}
	var of []metrics.Figure
	for _, f := range figures.Figures() {
		if f.Arm == arm.Name && f.Class == "" && f.PoolBin == "" {
			of = append(of, f)
		}
	}
	return figuresOf(of)
}

// checkAlone compares a point with the run of its arm. Eager's net_saved is what a
// run of eager alone has none of.
func checkAlone(t testing.TB, r *Report, c *corpus.Corpus, all iter.Seq2[*sessions.Session, error], context *Context, model, point int, resize bool) {
	t.Helper()
	o := context.Outcomes[model]
	p := o.Points[point]
	want := alone(t, c, o.Model.under(r.armOf(p)), all, context.Length, resize)
	if p.Setting == metrics.EagerArm {
		want.NetSaved = nil
	}
	if diff := cmp.Diff(want, p.Figures); diff != "" {
		t.Errorf("%s, agent %s, context %d (-alone +swept):\n%s", p.Setting, o.Model, context.Length, diff)
	}
}

// The figures of each point are those of a run of its arm.
func TestPointsAreRunsOfTheirArms(t *testing.T) {
	c, d := embedded(t, sessions.Options{Seed: 5, ContextLengths: []int{32_000, 200_000}, EventShare: 0.5})
	all := d.Sessions(sessions.Range{Count: 8})
	g := parse(t, "threshold_pct=1,5,10", "retriever=bm25,hybrid", "agent=aware,hasty")
	r := sweepOf(t, Options{Corpus: c, Grid: g, Workers: 2}, all)
	if len(r.Contexts) != 2 || r.Source.Sessions != 8 {
		t.Fatalf("%d contexts, %d sessions, want 2 and 8", len(r.Contexts), r.Source.Sessions)
	}
	for _, context := range r.Contexts {
		for _, point := range []struct{ model, setting int }{{0, 0}, {0, 3}, {0, 4}, {1, 2}} {
			checkAlone(t, r, c, all, context, point.model, point.setting, false)
		}
	}
}

// So it is in any grid, whichever points share plays.
func TestAnyGridIsRunsOfItsArms(t *testing.T) {
	c, d := workshop(t, sessions.Options{Seed: 9, TurnsMin: 1, TurnsMax: 5, EventShare: 0.6, ContextLengths: []int{4_000, 16_000}})
	rapid.Check(t, func(rt *rapid.T) {
		words := []string{"agent=" + some(rt, "agent", "aware", "hasty", "unaware", "blind")}
		for _, k := range []struct {
			name   string
			values []string
		}{
			{"threshold_pct", []string{"0", "1", "2", "4", "8", "20"}},
			{"listing", []string{"auto", "off"}},
			{"search_default_limit", []string{"1", "2", "5"}},
			{"retriever", []string{"bm25", "substring", "hybrid"}},
			{"variant", []string{"july", "september"}},
		} {
			if rapid.Bool().Draw(rt, k.name) {
				words = append(words, k.name+"="+some(rt, k.name, k.values...))
			}
		}
		resize := rapid.Bool().Draw(rt, "resize")
		if resize {
			words = append(words, "context_length=8000")
		}
		g := parse(t, words...)
		first := rapid.Int64Range(0, 200).Draw(rt, "first")
		all := d.Sessions(sessions.Range{First: first, Count: 2})
		r := sweepOf(t, Options{Corpus: c, Grid: g, Workers: 1}, all)
		context := r.Contexts[rapid.IntRange(0, len(r.Contexts)-1).Draw(rt, "context")]
		model := rapid.IntRange(0, len(g.models)-1).Draw(rt, "model")
		point := rapid.IntRange(0, len(g.settings)-1).Draw(rt, "point")
		checkAlone(t, r, c, all, context, model, point, resize)
		if t.Failed() { // by checkAlone
			rt.Fatalf("in the grid %v", words)
		}
	})
}

// some is a list of one or more of some values, as a word of a grid has it.
func some(rt *rapid.T, name string, values ...string) string {
	order := rapid.Permutation(values).Draw(rt, name+" order")
	return strings.Join(order[:rapid.IntRange(1, len(order)).Draw(rt, name+" values")], ",")
}

// The report has the same bytes whatever the number of workers, and in both files.
func TestReportDoesNotDependOnWorkers(t *testing.T) {
	c, d := workshop(t, sessions.Options{Seed: 2, EventShare: 0.5})
	var reports, tables, prints [][]byte
	for _, workers := range []int{1, 3} {
		g := parse(t, "threshold_pct=1,5", "listing=auto,off", "agent=aware,hasty")
		r := sweepOf(t, Options{Corpus: c, Grid: g, Workers: workers}, d.Sessions(sessions.Range{Count: 40}))
		folder := filepath.Join(t.TempDir(), "new", "folder")
		if err := r.Write(folder); err != nil {
			t.Fatal(err)
		}
		for name, into := range map[string]*[][]byte{ReportFile: &reports, TableFile: &tables} {
			data, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			*into = append(*into, data)
		}
		var text bytes.Buffer
		if err := r.Print(&text); err != nil {
			t.Fatal(err)
		}
		prints = append(prints, text.Bytes())
		for line := range strings.Lines(text.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > lineWidth {
				t.Errorf("a line has %d columns: %s", n, line)
			}
		}
	}
	for i, pair := range [][][]byte{reports, tables, prints} {
		if !bytes.Equal(pair[0], pair[1]) {
			t.Errorf("output %d differs between 1 and 3 workers", i)
		}
	}
}

// The table has a row for each point and context, with the report's figures.
func TestTableIsTheReport(t *testing.T) {
	c, d := workshop(t, sessions.Options{Seed: 2, ContextLengths: []int{4_000, 64_000}})
	g := parse(t, "threshold_pct=1,5", "agent=aware,unaware")
	r := sweepOf(t, Options{Corpus: c, Grid: g, Workers: 1, Weights: metrics.Weights{Fresh: 2}}, d.Sessions(sessions.Range{Count: 10}))
	r.Source.CorpusSHA256 = c.SHA256
	folder := filepath.Join(t.TempDir(), "out")
	if err := r.Write(folder); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[row](filepath.Join(folder, TableFile))
	if err != nil {
		t.Fatal(err)
	}
	n, recommended := 0, 0
	for _, context := range r.Contexts {
		for _, o := range context.Outcomes {
			for _, p := range o.Points {
				got := rows[n]
				if got.Setting != p.Setting || got.ContextLengthTokens != int64(context.Length) || got.Agent != o.Model.Agent || got.WeightFresh != 2 ||
					got.EffectiveTokens != p.EffectiveTokens || value(got.LostRate) != value(p.LostRate) || (got.ExtraRequests == nil) != (p.ExtraRequests == nil) ||
					got.Front != p.Front || got.Recommended && got.Setting != o.Recommendation.Setting {
					t.Errorf("row %d is %+v, want %+v", n, got, p)
				}
				if got.Setting == "threshold_pct=1" && got.ThresholdPct != 1 || got.Setting == metrics.EagerArm && got.Bridge {
					t.Errorf("row %d resolves to %+v", n, got)
				}
				if got.Recommended {
					recommended++
				}
				n++
			}
		}
	}
	if len(rows) != n || recommended != 4 {
		t.Errorf("%d rows, %d recommended, want %d and 4", len(rows), recommended, n)
	}
	var read Report
	data, err := os.ReadFile(filepath.Join(folder, ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &read); err != nil || read.SchemaVersion != SchemaVersion || read.Source.CorpusSHA256 != c.SHA256 {
		t.Errorf("%s: %v, %+v", ReportFile, err, read.Source)
	}
	if err := r.Write(folder); err == nil || !strings.Contains(err.Error(), "file exists\nhint: ") {
		t.Errorf("a folder that is there is refused with %v", err)
	}
}

// What cannot be written leaves nothing behind.
func TestWriteLeavesNoHalf(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	r := &Report{grid: &Grid{}, Weights: metrics.Weights{Fresh: math.Inf(1)}} // JSON has no infinity
	if err := r.Write(folder); err == nil {
		t.Fatal("written")
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	c, d := workshop(t, sessions.Options{})
	lengths := make([]int, contextsMax+1)
	for i := range lengths {
		lengths[i] = 1000 + i
	}
	_, various := workshop(t, sessions.Options{ContextLengths: lengths})
	fault := errors.New("a faulty line")
	for _, row := range []struct {
		name string
		grid []string
		all  iter.Seq2[*sessions.Session, error]
		want string
	}{
		{"no sessions", nil, d.Sessions(sessions.Range{}), "no sessions\nhint: "},
		{"a fault of the file", nil, func(yield func(*sessions.Session, error) bool) { yield(nil, fault) }, fault.Error()},
		{"the same, resized", []string{"context_length=8000"}, func(yield func(*sessions.Session, error) bool) { yield(nil, fault) }, fault.Error()},
		{"too many contexts", nil, various.Sessions(sessions.Range{Count: 200}), "more than 16 context lengths\nhint: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Run(t.Context(), Options{Corpus: c, Grid: parse(t, row.grid...), Workers: 2}, row.all)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v, want %s", err, row.want)
			}
		})
	}
}

// BenchmarkSweep sweeps drawn sessions of the embedded corpus under the 58 points of
// the default grid with two workers, drawing and report included. An operation is
// one session.
func BenchmarkSweep(b *testing.B) {
	cli.SettleGC() // as the command does
	c, d := embedded(b, sessions.Options{Seed: 1})
	g := parse(b, DefaultWords()...)
	b.ReportAllocs()
	b.ResetTimer()
	sweepOf(b, Options{Corpus: c, Grid: g, Workers: 2}, d.Sessions(sessions.Range{Count: int64(b.N)}))
	b.ReportMetric(float64(b.N*g.Points())/b.Elapsed().Seconds(), "session-points/s")
}
