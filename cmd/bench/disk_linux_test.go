package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/reports"
)

// TestFullDisk runs on disks that are too small for the run: for its tables, and
// for what comes when they are finished.
func TestFullDisk(t *testing.T) {
	for _, size := range []string{"16k", "48k"} {
		disk := t.TempDir()
		if err := syscall.Mount("toolgauge-test", disk, "tmpfs", 0, "size="+size); err != nil {
			t.Skip("no small disk without the right to mount one:", err)
		}
		defer func() {
			if err := syscall.Unmount(disk, 0); err != nil {
				t.Error(err)
			}
		}()
		c := exec.Command("bench", "run", "--sessions", "30", "--out", filepath.Join(disk, "runs"))
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		_ = c.Run()
		if status := c.ProcessState.ExitCode(); status != cli.ExitInput {
			t.Errorf("%s: exit status %d, want %d", size, status, cli.ExitInput)
		}
		said := stderr.String()
		if !strings.Contains(said, "no space left on device\nhint: free some space") || !strings.Contains(said, disk) {
			t.Errorf("%s: it says %q", size, said)
		}
		if stdout.Len() > 0 {
			t.Errorf("%s: it prints %q", size, stdout.String())
		}
		if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
			t.Errorf("%s: %d files are left (%v)", size, len(left), err)
		}
	}
}

// TestFullStandardOutput: a summary that cannot be printed costs nobody the run.
func TestFullStandardOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no full device:", err)
	}
	defer full.Close()
	for _, form := range []string{"--json=false", "--json"} {
		dir := t.TempDir()
		c := exec.Command("bench", "run", "--sessions", "1", "--arms", "eager", "-o", dir, form)
		var stderr bytes.Buffer
		c.Stdout, c.Stderr = full, &stderr
		_ = c.Run()
		if status := c.ProcessState.ExitCode(); status != cli.ExitInput {
			t.Errorf("%s: exit status %d, want %d", form, status, cli.ExitInput)
		}
		if said := stderr.String(); !strings.HasSuffix(said, "bench: cannot write to standard output: no space left on device\nhint: free some space, or send it elsewhere\n") {
			t.Errorf("%s: it says %q", form, said)
		}
		found, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: run folders %q (%v)", form, found, err)
		}
		if _, err := reports.Open(found[0]); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
}
