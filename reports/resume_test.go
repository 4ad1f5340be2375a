package reports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/metrics"
)

// resume goes on from what Find finds in root, plays up to session stop, and finishes there.
func (sc scene) resume(t testing.TB, root string, m Manifest, stop int) *Result {
	t.Helper()
	earlier, passed, err := Find(root, m)
	if err != nil || passed != "" {
		t.Fatal(passed, err)
	}
	w, err := create(root, m, unsynced)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	figures, counts := metrics.NewAccumulator(), Counts{Attempted: int64(sc.sessions)}
	if earlier != nil {
		if err := w.AddRun(context.Background(), earlier, figures, func() { counts.Skipped++ }); err != nil {
			t.Fatal(err)
		}
	}
	for i := int(counts.Skipped); i < stop; i++ {
		o := sc.play(i)
		if err := errors.Join(w.Add(o), figures.Add(o)); err != nil {
			t.Fatal(err)
		}
	}
	status := StatusInterrupted
	if stop == sc.sessions {
		status = StatusSuccess
	}
	result, err := w.Finish(status, Summary{Figures: figures.Figures(), BreakEvens: figures.BreakEvens(), Counts: counts})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestResumedRunIsTheRun stops a run after some sessions, once or several times, goes on, and compares every file with
// those of a run in one piece. Its rows are more than a batch.
func TestResumedRunIsTheRun(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine reads and writes: there is nothing to race, and compression is slow under -race")
	}
	sc := scene{threeArms, 121, 30, mixedClasses}
	whole := sc.write(t, t.TempDir(), shardManifest())
	for _, stops := range [][]int{{1}, {60}, {120}, {121}, {1, 2, 77, 120}} {
		t.Run(fmt.Sprint(stops), func(t *testing.T) {
			root := t.TempDir()
			for _, stop := range stops {
				sc.resume(t, root, shardManifest(), stop)
			}
			if last := stops[len(stops)-1]; last == sc.sessions { // interrupted behind the last session
				editManifest(t, filepath.Join(root, listing(t, root)[0]), func(fields map[string]any) { fields["status"] = "interrupted" })
			}
			resumed := sc.resume(t, root, shardManifest(), sc.sessions)
			sameButSpeed(t, resumed.Dir, whole.Dir)
			got, want := resumed.Manifest, whole.Manifest
			if skipped := int64(stops[len(stops)-1]); got.Counts.Skipped != skipped {
				t.Errorf("%d skipped, want %d", got.Counts.Skipped, skipped)
			}
			for _, m := range []*Manifest{&got, &want} {
				m.RunID, m.StartedAt, m.FinishedAt, m.DurationMS, m.Counts.Skipped = "", time.Time{}, time.Time{}, 0, 0
				m.Files = slices.DeleteFunc(slices.Clone(m.Files), func(f File) bool { return f.Name == BenchFile })
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// sameButSpeed compares the files of two runs, but for their manifests and what the second one's bench.txt says of speed.
func sameButSpeed(t *testing.T, dir, whole string) {
	t.Helper()
	for _, name := range []string{SessionArmsFile, CallsFile, SearchesFile, SurfacesFile, SummaryFile, BenchFile} {
		want, got := readFile(t, whole, name), readFile(t, dir, name)
		if name == BenchFile {
			var timed bool
			if want, _, timed = bytes.Cut(want, []byte("\nUnit session-arms/s")); !timed {
				t.Errorf("nothing was timed in the whole run")
			}
		}
		if !bytes.Equal(want, got) {
			t.Errorf("%s differs", name)
		}
	}
}

// TestFind: which of several folders is the one to go on from, and why none is.
func TestFind(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine reads and writes: there is nothing to race, and compression is slow under -race")
	}
	sc := scene{threeArms, 5, 20, mixedClasses}
	later := func(m Manifest) Manifest {
		m.StartedAt = m.StartedAt.Add(time.Hour)
		return m
	}
	other := func(edit func(*Manifest)) Manifest {
		m := sampleManifest()
		edit(&m)
		return m
	}
	shard := &Shard{Index: 1, Count: 2, First: 0, Rows: 3}
	for _, c := range []struct {
		name   string
		make   func(t *testing.T, root string)
		want   int64 // sessions done; 0: no run
		status Status
		passed string // a part of it
	}{
		{"no folder", func(*testing.T, string) {}, 0, "", ""},
		{"the furthest", func(t *testing.T, root string) {
			sc.resume(t, root, sampleManifest(), 3)
			sc.resume(t, t.TempDir(), sampleManifest(), 1)
			interrupted(t, sc, root, later(sampleManifest()), 2)
		}, 3, StatusInterrupted, ""},
		{"the complete one", func(t *testing.T, root string) {
			sc.resume(t, root, sampleManifest(), 5)
			interrupted(t, sc, root, later(sampleManifest()), 5)
		}, 5, StatusSuccess, ""},
		{"an error", func(t *testing.T, root string) {
			interrupted(t, sc, root, sampleManifest(), 2)
			editManifest(t, filepath.Join(root, listing(t, root)[0]), func(fields map[string]any) { fields["status"] = "error" })
		}, 2, StatusError, ""},
		{"killed", func(t *testing.T, root string) {
			if _, err := create(root, sampleManifest(), unsynced); err != nil {
				t.Fatal(err)
			}
		}, 0, "", "is still running, or was killed"},
		{"killed at once", func(t *testing.T, root string) {
			w, err := create(root, sampleManifest(), unsynced)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(w.Dir(), ManifestFile)); err != nil {
				t.Fatal(err)
			}
		}, 0, "", ""},
		{"another version", func(t *testing.T, root string) {
			interrupted(t, sc, root, other(func(m *Manifest) { m.Build.ToolVersion = "v0.0.9" }), 2)
		}, 0, "", "is not continued: written by version v0.0.9 and v0.1.0"},
		{"another corpus", func(t *testing.T, root string) {
			interrupted(t, sc, root, other(func(m *Manifest) { m.Corpus.SHA256 = "decaf" }), 2)
		}, 0, "", "corpus embedded 1.0 (sha256 decaf) and embedded 1.0 (sha256 c0ffee)"},
		{"another configuration", func(t *testing.T, root string) {
			interrupted(t, sc, root, other(func(m *Manifest) { m.Config = "other" }), 2)
		}, 0, "", ""},
		{"a shard", func(t *testing.T, root string) {
			interrupted(t, sc, root, other(func(m *Manifest) { m.Shard = shard }), 2)
		}, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "runs")
			c.make(t, root)
			run, passed, err := Find(root, sampleManifest())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(passed, c.passed) || (c.passed == "") != (passed == "") {
				t.Errorf("passed %q, want %q", passed, c.passed)
			}
			switch {
			case run == nil && c.want > 0:
				t.Error("none found")
			case run != nil && (run.Manifest.Counts.Done != c.want || run.Manifest.Status != c.status):
				t.Errorf("found %s with %d sessions", run.Manifest.Status, run.Manifest.Counts.Done)
			}
		})
	}
	root := t.TempDir()
	m := other(func(m *Manifest) { m.Shard = shard })
	interrupted(t, sc, root, m, 2)
	if run, _, err := Find(root, m); err != nil || run == nil {
		t.Errorf("a shard of its own is not found: %v", err)
	}
}

// interrupted writes the first sessions of a run, whatever there is to go on from.
func interrupted(t *testing.T, sc scene, root string, m Manifest, sessions int) *Result {
	t.Helper()
	made := t.TempDir()
	result := scene{sc.arms, sc.sessions + 1, sc.tools, sc.class}.resume(t, made, m, sessions)
	if err := os.MkdirAll(root, 0o777); err != nil {
		t.Fatal(err)
	}
	result.Dir = filepath.Join(root, result.RunID)
	if err := os.Rename(filepath.Join(made, result.RunID), result.Dir); err != nil {
		t.Fatal(err)
	}
	return result
}

// TestFindDamaged: what is damaged is neither passed over nor gone on from.
func TestFindDamaged(t *testing.T) {
	sc := scene{threeArms, 5, 20, mixedClasses}
	root := t.TempDir()
	dir := interrupted(t, sc, root, sampleManifest(), 2).Dir
	for _, name := range listing(t, dir) {
		whole := readFile(t, dir, name)
		for _, damaged := range [][]byte{nil, whole[:len(whole)-1], whole[:len(whole)/2], append([]byte{whole[0] ^ 1}, whole[1:]...)} {
			if name == ManifestFile && len(damaged) == len(whole)-1 {
				continue // without its last line's end it is whole
			}
			if err := os.WriteFile(filepath.Join(dir, name), damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			run, _, err := Find(root, sampleManifest())
			wantError(t, err, filepath.Join(dir, name), "\nhint: ")
			if run != nil {
				t.Errorf("%s: found %+v", name, run)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	editManifest(t, dir, func(fields map[string]any) { fields["status"] = "ruccess" })
	_, _, err := Find(root, sampleManifest())
	wantError(t, err, ManifestFile, `status "ruccess" is none`)
	editManifest(t, dir, func(fields map[string]any) {
		fields["status"] = "interrupted"
		fields["counts"].(map[string]any)["done"] = 3
	})
	run, _, err := Find(root, sampleManifest())
	if err != nil {
		t.Fatal(err)
	}
	w, err := create(t.TempDir(), sampleManifest(), unsynced)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	wantError(t, w.AddRun(context.Background(), run, metrics.NewAccumulator(), func() {}), ManifestFile, "3 sessions done, session_arms.parquet has 2")
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if err := w.AddRun(stopped, run, metrics.NewAccumulator(), func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_, _, err = Find(filepath.Join(dir, ManifestFile), sampleManifest())
	wantError(t, err, "cannot read the folder")
	m := sampleManifest()
	m.Config = func() {}
	_, _, err = Find(root, m)
	wantError(t, err, "configuration")
}

// moments is an output that looks at the run folder between any two steps that change it: what a program leaves that is
// killed there.
type moments struct {
	output
	look func()
}

func (m *moments) Write(p []byte) (int, error) {
	defer m.look()
	return m.output.Write(p)
}

func (m *moments) Commit() error {
	m.look()
	defer m.look()
	return m.output.Commit()
}

// TestKilledAtAnyMoment: until the very last step a folder does not read as a run, whichever status it ends with; nor does
// one that is being discarded, from the first step on.
func TestKilledAtAnyMoment(t *testing.T) {
	for _, status := range []Status{StatusSuccess, StatusInterrupted} {
		var w *Writer
		seen, opened := 0, 0
		w, err := create(t.TempDir(), sampleManifest(), func(path string) (output, error) {
			out, err := unsynced(path)
			return &moments{out, func() {
				if w == nil {
					return // it has no folder yet that it would tell
				}
				seen++
				if _, err := Open(w.Dir()); err == nil {
					opened++
				} else if opened > 0 {
					t.Errorf("moment %d: %v", seen, err)
				}
			}}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(scene{threeArms, 1, 20, mixedClasses}.play(0)); err != nil {
			t.Fatal(err)
		}
		result, err := w.Finish(status, Summary{})
		if err != nil {
			t.Fatal(err)
		}
		if seen < 20 || opened != 1 {
			t.Errorf("%s: reads as a run in %d of %d moments, want the last one", status, opened, seen)
		}
		checkDiscard(t, result.Dir)
	}
}

// checkDiscard discards a run from which one file after the other cannot be removed.
func checkDiscard(t *testing.T, dir string) {
	t.Helper()
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if removed, err := run.Discard(); removed || err != nil {
		t.Errorf("discarded with a file of somebody else's: %v", err)
	}
	if _, err := Open(dir); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, "mine.txt")); err != nil {
		t.Fatal(err)
	}
	// A folder in the place of a table stops it behind the manifest.
	table := filepath.Join(dir, SessionArmsFile)
	if err := errors.Join(os.Remove(table), os.MkdirAll(filepath.Join(table, "x"), 0o777)); err != nil {
		t.Fatal(err)
	}
	removed, err := run.Discard()
	wantError(t, err, "cannot remove "+dir, "not empty")
	if _, err := ReadManifest(dir); removed || err == nil {
		t.Error("what is left of a discarded run has a manifest")
	}
	if err := os.RemoveAll(table); err != nil {
		t.Fatal(err)
	}
	if removed, err := run.Discard(); !removed || err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder stands: %v", err)
	}
	_, err = run.Discard()
	wantError(t, err, "cannot read the folder "+dir)
}
