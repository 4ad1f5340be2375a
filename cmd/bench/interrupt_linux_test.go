package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/reports"
)

// endless are more sessions than a test has time for.
const endless = "1000000"

// TestInterrupt: Ctrl-C in the middle of a run keeps what is finished, whole.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	c := startChild(t, nil, "run", "--sessions", endless)
	c.sessionsShown(t, 1)
	c.signal(t, os.Interrupt)
	if status := c.end(t); status.ExitStatus() != cli.ExitInterrupted {
		t.Errorf("exit status %d, want %d", status.ExitStatus(), cli.ExitInterrupted)
	}
	if said := string(c.screen.shown()); !strings.Contains(said, "of "+endless+" sessions are kept in runs/") {
		t.Errorf("it says %q", said)
	}
	run, err := reports.Open(c.runFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	counts := run.Manifest.Counts
	if run.Manifest.Status != reports.StatusInterrupted || counts.Done < 1 || counts.Attempted != 1000000 {
		t.Errorf("status %s, counts %+v", run.Manifest.Status, counts)
	}
	if names := filesIn(t, run.Dir); len(names) != len(run.Manifest.Files)+1 {
		t.Errorf("the folder holds %q", names)
	}
	rows, arms := int64(0), int64(len(armNames()))
	for row, err := range run.SessionArms() {
		if err != nil {
			t.Fatal(err)
		}
		if row.RowIndex != rows/arms {
			t.Fatalf("row %d is of session %d", rows, row.RowIndex)
		}
		rows++
	}
	if rows != arms*counts.Done || run.Summary.Sessions != counts.Done {
		t.Errorf("%d rows and figures of %d sessions, %d done", rows, run.Summary.Sessions, counts.Done)
	}
	readable(t, run)
}

// readable reads every table to its end.
func readable(t *testing.T, run *reports.Run) {
	t.Helper()
	for row, err := range run.Calls() {
		if err != nil {
			t.Fatal(err, row)
		}
	}
	for row, err := range run.Searches() {
		if err != nil {
			t.Fatal(err, row)
		}
	}
	for row, err := range run.Surfaces() {
		if err != nil {
			t.Fatal(err, row)
		}
	}
}

// TestSecondInterrupt: whoever has no patience left need not wait. The child's
// standard output is a pipe that nobody reads, so that it cannot end by itself.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	_, stdout := smallPipe(t)
	c := startChild(t, stdout, "run", "--sessions", endless, "--json")
	stdout.Close()
	c.sessionsShown(t, 1)
	c.signal(t, os.Interrupt)
	waitFor(t, "the run to be kept", func() bool {
		m, err := reports.ReadManifest(c.runFolder(t))
		return err == nil && m.Status == reports.StatusInterrupted
	})
	c.signal(t, os.Interrupt)
	if status := c.end(t); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v, want SIGINT's default", c.ProcessState)
	}
}

// TestInterruptBeforeTheFirstSession leaves nothing: there is nothing to keep.
// The child's standard error is full, so that it has its run folder and waits to
// print its notes when the interrupt comes.
func TestInterruptBeforeTheFirstSession(t *testing.T) {
	t.Parallel()
	unread, stderr := smallPipe(t)
	if _, err := stderr.Write(make([]byte, pipeSize)); err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.Command("bench", "run", "--sessions", endless, "--distribution", "forty"), dir: t.TempDir()}
	c.Dir, c.Stderr = c.dir, stderr
	c.start(t)
	stderr.Close()
	waitFor(t, "the run folder", func() bool { return c.runFolder(t) != "" })
	c.signal(t, os.Interrupt)
	said, err := io.ReadAll(unread)
	if err != nil {
		t.Fatal(err)
	}
	if status := c.end(t); status.ExitStatus() != cli.ExitInterrupted {
		t.Errorf("it ended with %v", c.ProcessState)
	}
	if names := filesIn(t, c.dir); len(names) > 0 {
		t.Errorf("it left %q", names)
	}
	if !strings.HasSuffix(string(said), "\nbench: interrupted; no file was written\n") {
		t.Errorf("it says %q", said)
	}
}

// pipeSize is the least that a pipe holds, in bytes.
const pipeSize = 4096

// smallPipe makes a pipe that is soon full.
func smallPipe(t *testing.T) (from, to *os.File) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { from.Close() })
	if _, err := unix.FcntlInt(to.Fd(), unix.F_SETPIPE_SZ, pipeSize); err != nil {
		t.Fatal(err)
	}
	return from, to
}

// TestKilled: a run that could not say goodbye is not taken for a result.
func TestKilled(t *testing.T) {
	t.Parallel()
	c := startChild(t, nil, "run", "--sessions", endless)
	c.sessionsShown(t, 1)
	c.signal(t, os.Kill)
	if status := c.end(t); !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("it ended with %v", c.ProcessState)
	}
	folder := c.runFolder(t)
	m, err := reports.ReadManifest(folder)
	if err != nil || m.Status != reports.StatusRunning || len(m.Files) > 0 {
		t.Errorf("status %q, files %v, error %v", m.Status, m.Files, err)
	}
	for _, name := range filesIn(t, folder) {
		if name != reports.ManifestFile && !strings.HasPrefix(name, atomicfile.Prefix) {
			t.Errorf("%s stands under its final name", name)
		}
	}
	if _, err := reports.Open(folder); err == nil || !strings.Contains(err.Error(), "not finished") {
		t.Errorf("opened: %v", err)
	}
}
