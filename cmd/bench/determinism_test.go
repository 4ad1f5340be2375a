package main

import (
	"bytes"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// runIn plays a run in a process of its own and opens it, which verifies its
// files.
func runIn(t *testing.T, args ...string) *reports.Run {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("bench", append([]string{"run", "-o", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("bench run %q: %v\n%s", args, err, out)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q (%v), want one run folder", found, err)
	}
	run, err := reports.Open(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestWorkersChangeNoByte plays the same sessions in two processes, with one
// worker and with several.
func TestWorkersChangeNoByte(t *testing.T) {
	t.Parallel()
	workersChangeNoByte(t, "--sessions", "40")
}

// TestWorkersChangeNoCall does so where time passes in calls.
func TestWorkersChangeNoCall(t *testing.T) {
	t.Parallel()
	workersChangeNoByte(t, "--suite", "gateway", "--sessions", "30")
}

func workersChangeNoByte(t *testing.T, args ...string) {
	t.Helper()
	one := runIn(t, append([]string{"--workers", "1"}, args...)...)
	for _, workers := range []string{"2", "7"} {
		other := runIn(t, append([]string{"--workers", workers}, args...)...)
		for _, name := range []string{
			reports.SessionArmsFile, reports.CallsFile, reports.SearchesFile, reports.SurfacesFile, reports.SummaryFile,
		} {
			want, err := os.ReadFile(filepath.Join(one.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(other.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs between 1 worker and %s", name, workers)
			}
		}
	}
}

// TestRowsPlayedAlone plays rows of a draw by themselves and looks for the very
// same observations in a run of the whole.
func TestRowsPlayedAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 510 sessions")
	}
	t.Parallel()
	const first, last = 500, 509
	alone := runIn(t, "--sessions", "500-509")
	whole := runIn(t, "--sessions", "510")
	sameRows(t, alone.SessionArms(), whole.SessionArms(), func(r metrics.SessionArm) bool { return r.RowIndex >= first && r.RowIndex <= last })
	sameRows(t, alone.Calls(), whole.Calls(), func(r metrics.Call) bool { return r.RowIndex >= first && r.RowIndex <= last })
	sameRows(t, alone.Searches(), whole.Searches(), func(r metrics.Search) bool { return r.RowIndex >= first && r.RowIndex <= last })

	known := make(map[string]metrics.Surface)
	for s, err := range whole.Surfaces() {
		if err != nil {
			t.Fatal(err)
		}
		known[s.SHA256] = s
	}
	for s, err := range alone.Surfaces() {
		if err != nil {
			t.Fatal(err)
		}
		want := known[s.SHA256]
		s.BudgetTokens, want.BudgetTokens = 0, 0 // of the first session that showed the surface
		if !reflect.DeepEqual(s, want) {
			t.Errorf("surface %+v, in the whole %+v", s, want)
		}
	}
}

// sameRows compares a table with those rows of another that belong to it.
func sameRows[Row any](t *testing.T, alone, whole iter.Seq2[Row, error], belongs func(Row) bool) {
	t.Helper()
	var got, want []Row
	for r, err := range alone {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	for r, err := range whole {
		if err != nil {
			t.Fatal(err)
		}
		if belongs(r) {
			want = append(want, r)
		}
	}
	if len(got) == 0 || len(got) != len(want) {
		t.Fatalf("%d rows of %T, in the whole %d", len(got), got, len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("row %d is\n%+v\nin the whole\n%+v", i, got[i], want[i])
		}
	}
}
