package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/reports"
)

// TestResume interrupts a run again and again, each time with another number of
// workers, and compares what comes of it with a run in one piece.
func TestResume(t *testing.T) {
	t.Parallel()
	input := []string{"--sessions", "300", "--arms", "eager,july-listing"}
	resume := append([]string{"run", "--resume"}, input...)
	dir, done := t.TempDir(), int64(0)
	for _, workers := range []string{"1", "3"} {
		c := startChildIn(t, dir, nil, append(resume, "--workers", workers)...)
		if !c.sessionsShown(t, done+1) && done > 0 {
			break // it was over first
		}
		c.signal(t, os.Interrupt)
		if status := c.end(t); status.ExitStatus() == cli.ExitOK && done > 0 {
			break
		} else if status.ExitStatus() != cli.ExitInterrupted {
			t.Fatalf("it ended with %v:\n%s", c.ProcessState, c.screen.shown())
		}
		run := onlyRun(t, dir)
		counts := run.Manifest.Counts
		if run.Manifest.Status != reports.StatusInterrupted || counts.Skipped != done || counts.Done <= done {
			t.Fatalf("status %s, counts %+v after %d", run.Manifest.Status, counts, done)
		}
		done = counts.Done
	}
	c := startChildIn(t, dir, nil, resume...)
	if status := c.end(t); status.ExitStatus() != cli.ExitOK {
		t.Fatalf("it ended with %v:\n%s", c.ProcessState, c.screen.shown())
	}
	sameTables(t, onlyRun(t, dir), runIn(t, input...))
}

// onlyRun opens the run that is in the folder runs, alone.
func onlyRun(t *testing.T, dir string) *reports.Run {
	t.Helper()
	names := filesIn(t, filepath.Join(dir, "runs"))
	if len(names) != 1 {
		t.Fatalf("run folders %q", names)
	}
	run, err := reports.Open(filepath.Join(dir, "runs", names[0]))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// sameTables compares what two runs observed and summed up, byte by byte.
func sameTables(t *testing.T, got, want *reports.Run) {
	t.Helper()
	for _, name := range []string{reports.SessionArmsFile, reports.CallsFile, reports.SearchesFile, reports.SurfacesFile, reports.SummaryFile} {
		a, err := os.ReadFile(filepath.Join(got.Dir, name))
		b, err2 := os.ReadFile(filepath.Join(want.Dir, name))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s of %s and %s differ", name, got.Dir, want.Dir)
		}
	}
}

// TestKilledAndResumed ends runs that cannot say goodbye, in twenty-one moments: when they
// have just begun, among their sessions, and while they keep what is finished. What is
// left is never taken for a result, each goes on from what is there, and what was kept
// once is not lost.
func TestKilledAndResumed(t *testing.T) {
	t.Parallel()
	for chain := range 4 {
		t.Run(fmt.Sprint(chain), func(t *testing.T) {
			t.Parallel()
			k := &killing{runs: filepath.Join(t.TempDir(), "runs")}
			for moment := range 7 {
				k.play(t, (chain+moment)%4, int64(10*moment+1))
			}
		})
	}
}

// killing is a folder in which runs are killed.
type killing struct {
	runs string
	kept int64 // sessions, in the run that came furthest
}

// The ways in which a run ends.
const (
	killedAtOnce  = iota // when it has a folder
	killedPlaying        // among its sessions
	killedEnding         // while it keeps what is finished
	notKilled            // but interrupted: the next have something to go on from
)

// play goes on until there are so many more sessions, and ends the run.
func (k *killing) play(t *testing.T, way int, more int64) {
	t.Helper()
	folders := len(filesIn(t, k.runs))
	c := startChildIn(t, filepath.Dir(k.runs), nil, "run", "--resume", "--sessions", endless, "--arms", "eager")
	if way == killedAtOnce {
		waitFor(t, "a run folder", func() bool { return len(filesIn(t, k.runs)) > folders })
	} else {
		c.sessionsShown(t, k.kept+more)
	}
	if way == killedEnding || way == notKilled {
		c.signal(t, os.Interrupt)
	}
	if way != notKilled {
		c.signal(t, os.Kill)
	}
	c.end(t)
	kept := k.check(t)
	if kept < k.kept || way == notKilled && kept < k.kept+more {
		t.Fatalf("%d sessions are kept, before there were %d:\n%s", kept, k.kept, c.screen.shown())
	}
	k.kept = kept
}

// check opens all that is left, and returns how many sessions the furthest run has.
func (k *killing) check(t *testing.T) (kept int64) {
	t.Helper()
	for _, name := range filesIn(t, k.runs) {
		dir := filepath.Join(k.runs, name)
		run, err := reports.Open(dir)
		if err == nil {
			if run.Manifest.Status != reports.StatusInterrupted {
				t.Errorf("%s has status %s", dir, run.Manifest.Status)
			}
			kept = max(kept, run.Manifest.Counts.Done)
			continue
		}
		if m, err := reports.ReadManifest(dir); err == nil && m.Status != reports.StatusRunning || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s has status %s: %v", dir, m.Status, err)
		}
	}
	return kept
}

// TestTwoResume: two processes go on from the same folder. Each writes a run of its own.
func TestTwoResume(t *testing.T) {
	t.Parallel()
	input := []string{"--sessions", "100-119", "--arms", "eager"}
	whole, dir := runIn(t, input...), t.TempDir()
	if err := leaveInterrupted(filepath.Join(dir, "runs"), whole, runIn(t, "--sessions", "100-109", "--arms", "eager")); err != nil {
		t.Fatal(err)
	}
	resume := append([]string{"run", "--resume"}, input...)
	ended := 0
	for _, c := range []*child{startChildIn(t, dir, nil, resume...), startChildIn(t, dir, nil, resume...)} {
		// Whoever is late may find the folder going, because its run is complete elsewhere.
		switch status := c.end(t); status.ExitStatus() {
		case cli.ExitOK:
			ended++
		case cli.ExitInput:
			if said := string(c.screen.shown()); !strings.Contains(said, "no such file") {
				t.Error(said)
			}
		default:
			t.Errorf("it ended with %v:\n%s", c.ProcessState, c.screen.shown())
		}
	}
	names := filesIn(t, filepath.Join(dir, "runs"))
	if ended == 0 || len(names) == 0 || len(names) > 2 {
		t.Errorf("%d went on, and left %q", ended, names)
	}
	for _, name := range names {
		run, err := reports.Open(filepath.Join(dir, "runs", name))
		if err != nil {
			t.Fatal(err)
		}
		if run.Manifest.Status != reports.StatusSuccess {
			t.Errorf("%s has status %s", name, run.Manifest.Status)
		}
		sameTables(t, run, whole)
	}
}
