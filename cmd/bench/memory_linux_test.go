package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// memorySessions names the variable that turns TestMemory on: how many sessions
// it plays. The figure in question is that of 100,000, which take minutes:
//
//	TOOLGAUGE_MEMORY_SESSIONS=100000 go test ./cmd/bench -run TestMemory -timeout 2h -v
const memorySessions = "TOOLGAUGE_MEMORY_SESSIONS"

// memoryMax bounds the memory of a run, in bytes, whatever its length.
const memoryMax = 1 << 30

// TestMemory holds the peak of a long run's resident memory under its bound.
func TestMemory(t *testing.T) {
	sessions := os.Getenv(memorySessions)
	if sessions == "" {
		t.Skipf("takes minutes: set %s to a number of sessions", memorySessions)
	}
	c := exec.Command("bench", "run", "--sessions", sessions, "-o", t.TempDir())
	c.Stderr = os.Stderr
	begun := time.Now()
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10 // kilobytes on Linux
	t.Logf("%s sessions in %v, peak memory %d MiB", sessions, time.Since(begun).Round(time.Second), peak>>20)
	if peak > memoryMax {
		t.Errorf("peak memory %d bytes, %d at most", peak, memoryMax)
	}
}
