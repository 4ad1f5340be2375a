//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/cli"
)

// patience bounds every wait for a child: far more than a busy machine needs.
const patience = 2 * time.Minute

// TestInterruptWhileDrawing: half a file of sessions is of no use, so nothing is
// left of it.
func TestInterruptWhileDrawing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var stderr bytes.Buffer
	c := start(t, dir, &stderr, nil, "sessions", "-n", "1000000000")
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if files, err := os.ReadDir(dir); err == nil && len(files) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it never starts its file")
		}
	}
	interrupt(t, c)
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%d files are left (%v)", len(files), err)
	}
	if !bytes.HasSuffix(stderr.Bytes(), []byte("datagen: interrupted; no file was written\n")) {
		t.Errorf("it says %q", stderr.String())
	}
}

// TestInterruptWhileSampling: a sample writes no file, but can take for ever.
func TestInterruptWhileSampling(t *testing.T) {
	t.Parallel()
	read, stdout := io.Pipe()
	c := start(t, t.TempDir(), io.Discard, stdout, "sample", "safe", "-n", "1000000000000", "--draws")
	if _, err := io.ReadFull(read, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, read)
	interrupt(t, c)
}

func start(t *testing.T, dir string, stderr, stdout io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command("datagen", args...)
	c.Dir, c.Stdout, c.Stderr = dir, stdout, stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c
}

// interrupt sends an interrupt and demands the end that it should bring.
func interrupt(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	defer stuck.Stop()
	_ = c.Wait()
	if status := c.ProcessState.ExitCode(); status != cli.ExitInterrupted {
		t.Errorf("it ended with %v, want exit status %d", c.ProcessState, cli.ExitInterrupted)
	}
}
