package duckdb_test

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/sessions"
)

// The statements compute anew, from the tables and the definitions of docs/measures.md, what summary.json says. They
// share no code with package metrics.
var (
	//go:embed testdata/figures.sql
	figuresSQL string
	//go:embed testdata/break_evens.sql
	breakEvensSQL string
	//go:embed testdata/judged.sql
	judgedSQL string
	//go:embed testdata/consistent.sql
	consistentSQL string
)

// played is a run folder on disk, opened with DuckDB.
type played struct {
	db  *sql.DB
	dir string
}

// play replays the first sessions of the default draw under some arms. What it observes
// is changed before it is written; nil leaves it.
func play(t *testing.T, count int64, arms []replay.Arm, weights metrics.Weights, change func(*metrics.Observations)) played {
	t.Helper()
	embedded, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c := embedded.WithDerived()
	drawer, err := sessions.NewDrawer(c, sessions.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := reports.Create(t.TempDir(), reports.Manifest{Seed: 1, Config: map[string]any{"arms": arms}, Corpus: reports.Corpus{Name: c.Name, Version: c.Version, SHA256: c.SHA256}})
	if err != nil {
		t.Fatal(err)
	}
	figures := metrics.NewAccumulator()
	err = replay.Run(context.Background(), replay.Options{Corpus: c, Arms: arms, Weights: weights}, drawer.Sessions(sessions.Range{Count: count}), 2,
		func(o metrics.Observations) error {
			if change != nil {
				change(&o)
			}
			if err := figures.Add(o); err != nil {
				return err
			}
			return w.Add(o)
		})
	if err != nil {
		t.Fatal(err)
	}
	result, err := w.Finish(reports.StatusSuccess, reports.Summary{Figures: figures.Figures(), BreakEvens: figures.BreakEvens()})
	if err != nil {
		t.Fatal(err)
	}
	return played{open(t, result), result.Dir}
}

// runs are what the figures are checked on.
func runs(t *testing.T) map[string]played {
	t.Helper()
	arms, notes, err := replay.LoadArms(filepath.Join("testdata", "arms.yaml"))
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	return map[string]played{
		"default arms": play(t, 150, replay.DefaultArms(), metrics.DefaultWeights(), nil),
		"other arms":   play(t, 50, arms, metrics.Weights{Fresh: 1.25, Cached: 0.5, Output: 5}, nil),
		"made-up time": play(t, 60, replay.DefaultArms(), metrics.DefaultWeights(), takeTime),
	}
}

// takeTime makes up how long calls took and what became of them: under one arm without a
// gateway, under two as if they had one, and under the others not at all.
func takeTime(o *metrics.Observations) {
	gated := func(arm string) bool { return strings.HasPrefix(arm, "september") }
	timed := func(arm string) bool { return gated(arm) || arm == "eager" }
	for i := range o.Calls {
		c := &o.Calls[i]
		if c.Outcome == metrics.OutcomeNone || !timed(c.Arm) {
			continue
		}
		c.ExecutingMS = float64((int(c.RowIndex)*31+i*17)%97) / 4
		if gated(c.Arm) {
			c.QueuedMS, c.Attempts, c.Outcome, c.Rule = 0.5, 2, metrics.OutcomeDenied, "scope"
		}
		c.LatencyMS = c.QueuedMS + c.ExecutingMS
	}
	for i := range o.Arms {
		s := &o.Arms[i]
		n := int(s.RowIndex) + i
		if timed(s.Arm) && n%5 > 0 {
			s.SerialMS, s.TakenMS = float64(n*3), float64(n)
		}
		if gated(s.Arm) {
			s.Assumptions.Gateway = "gateway.yaml@1a2b3c4d"
			s.Attempts, s.Retries, s.Timeouts, s.BreakerOpenings, s.Throttled, s.CacheHits = s.Dispatched+n, n, n%2, n%3, n%4, n%5
			s.TruncatedTokens, s.DuplicatedSideEffects, s.LeakedSecrets = int64(n*100), n%7, n%11
			s.Denied = metrics.Denied{Visibility: n, Surface: n % 2, System: n % 3, Admin: n % 4, Session: n % 5, Scope: n % 6, Confirm: n % 7}
		}
	}
}

// figureKey names a figure.
type figureKey struct{ measure, arm, class, bin string }

func (k figureKey) String() string {
	return strings.TrimRight(fmt.Sprintf("%s of %s %s%s", k.measure, k.arm, k.class, k.bin), " ")
}

// figure is a value and the size of its population.
type figure struct {
	value float64
	n     int
}

// figuresOf are the figures that DuckDB computes from the tables.
func figuresOf(t *testing.T, db *sql.DB) map[figureKey]figure {
	t.Helper()
	rows, err := db.Query(figuresSQL)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := make(map[figureKey]figure)
	for rows.Next() {
		var k figureKey
		var f figure
		var class, bin sql.NullString
		if err := rows.Scan(&k.measure, &k.arm, &class, &bin, &f.value, &f.n); err != nil {
			t.Fatal(err)
		}
		k.class, k.bin = class.String, bin.String
		if _, twice := all[k]; twice {
			t.Errorf("%s: the statement gives it twice", k)
		}
		all[k] = f
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// summaryOf reads summary.json as any program would.
func summaryOf(t *testing.T, dir string) (s struct {
	Figures []struct {
		Measure, Arm, Class string
		PoolBin             string `json:"pool_bin"`
		Value               float64
		N                   int
	}
	BreakEvens []struct {
		Measure, Arm string
		At           int64
		Sessions     int
		Curve        []struct {
			At, Sessions int64
			SavedTokens  float64 `json:"saved_tokens"`
		}
	} `json:"break_evens"`
}) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// near allows for another order of summation.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func checkFigures(t *testing.T, p played) {
	want := figuresOf(t, p.db)
	paths := make(map[figureKey]float64) // sums of the shares
	for _, f := range summaryOf(t, p.dir).Figures {
		k := figureKey{f.Measure, f.Arm, f.Class, f.PoolBin}
		if strings.HasPrefix(f.Measure, "path_") {
			paths[figureKey{"path_*", f.Arm, f.Class, f.PoolBin}] += f.Value
		}
		w, there := want[k]
		switch {
		case !there:
			t.Errorf("%s is %v over %d, but not computed from the tables", k, f.Value, f.N)
		case !near(f.Value, w.value) || f.N != w.n:
			t.Errorf("%s is %v over %d, from the tables %v over %d", k, f.Value, f.N, w.value, w.n)
		}
		delete(want, k)
	}
	for k, sum := range paths {
		if !near(sum, 1) {
			t.Errorf("%s add up to %v", k, sum)
		}
	}
	for k, w := range want {
		t.Errorf("%s is missing, from the tables %v over %d", k, w.value, w.n)
	}
}

func checkBreakEvens(t *testing.T, p played) {
	got := make(map[string]string)
	for _, b := range summaryOf(t, p.dir).BreakEvens {
		for _, s := range b.Curve {
			got[fmt.Sprintf("%s of %s at %d", b.Measure, b.Arm, s.At)] = fmt.Sprintf("%d sessions save %.6f, break-even %d of %d sessions", s.Sessions, s.SavedTokens, b.At, b.Sessions)
		}
	}
	rows, err := p.db.Query(breakEvensSQL)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var measure, arm string
		var place, n, at, sessions int64
		var saved float64
		if err := rows.Scan(&measure, &arm, &place, &n, &saved, &at, &sessions); err != nil {
			t.Fatal(err)
		}
		k, want := fmt.Sprintf("%s of %s at %d", measure, arm, place), fmt.Sprintf("%d sessions save %.6f, break-even %d of %d sessions", n, saved, at, sessions)
		if got[k] != want {
			t.Errorf("%s: %q, from the tables %q", k, got[k], want)
		}
		delete(got, k)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for k, line := range got {
		t.Errorf("%s: %q, but not computed from the tables", k, line)
	}
}

// checkNone runs a statement that finds what breaks a rule.
func checkNone(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if rows := query(t, db, "SELECT * FROM (\n"+statement+"\n) LIMIT 3"); rows != "" {
		t.Errorf("broken by %s", rows)
	}
}

func TestFigures(t *testing.T) {
	for name, p := range runs(t) {
		t.Run(name, func(t *testing.T) {
			t.Run("figures", func(t *testing.T) { checkFigures(t, p) })
			t.Run("break-evens", func(t *testing.T) { checkBreakEvens(t, p) })
			t.Run("searches have the measures of their hits", func(t *testing.T) { checkNone(t, p.db, judgedSQL) })
			for _, rule := range strings.Split(consistentSQL, "-- rule: ")[1:] {
				name, statement, _ := strings.Cut(rule, "\n")
				t.Run(name, func(t *testing.T) { checkNone(t, p.db, strings.TrimSuffix(strings.TrimSpace(statement), ";")) })
			}
		})
	}
}
