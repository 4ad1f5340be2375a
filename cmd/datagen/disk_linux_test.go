package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolgauge/toolgauge/internal/cli"
)

// TestFullDisk writes sessions to a disk that is too small for them, over a file
// that stays.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("toolgauge-test", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("no small disk without the right to mount one:", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	for _, name := range []string{"s.parquet", "s.jsonl"} {
		path := filepath.Join(disk, name)
		if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("datagen", "sessions", "-n", "2000", "-o", path)
		var stderr strings.Builder
		c.Stderr = &stderr
		_ = c.Run()
		if status := c.ProcessState.ExitCode(); status != cli.ExitInput {
			t.Errorf("%s: exit status %d, want %d", name, status, cli.ExitInput)
		}
		if said := stderr.String(); !strings.Contains(said, "datagen: cannot write "+path+": no space left on device\nhint: free some space") {
			t.Errorf("%s: it says %q", name, said)
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != "before" {
			t.Errorf("%s: what was there is now %q (%v)", name, kept, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
			t.Errorf("%s: %d files are left (%v)", name, len(left), err)
		}
	}
}
