package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/toolgauge/toolgauge/internal/cli"
)

// TestHarvestEnds: Ctrl-C and kill -9 in the middle of a harvest leave no folder, and
// no server, not even one that ignores everything else.
func TestHarvestEnds(t *testing.T) {
	t.Parallel()
	server, err := exec.LookPath("mcp-server")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		signal os.Signal
		args   []string
	}{
		{os.Interrupt, []string{"corpus", "harvest", "--mcp", "mcp.json", "-o", "mine"}},
		{os.Kill, []string{"corpus", "harvest", "--mcp", "mcp.json", "-o", "mine"}},
		{os.Interrupt, []string{"run", "--mcp", "mcp.json"}},
	} {
		dir := t.TempDir()
		text := `{"mcpServers": {"a": {"command": "` + server + `", "args": ["hang", "pid"]}}}`
		if err := os.WriteFile(filepath.Join(dir, "mcp.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		bench := &child{Cmd: exec.Command("bench", c.args...), dir: dir}
		bench.Dir = dir
		bench.start(t)
		pid := 0
		waitFor(t, "the server", func() bool {
			data, _ := os.ReadFile(filepath.Join(dir, "pid"))
			pid, _ = strconv.Atoi(string(data))
			return pid > 0
		})
		bench.signal(t, c.signal)
		if status := bench.end(t); c.signal == os.Interrupt && status.ExitStatus() != cli.ExitInterrupted {
			t.Errorf("%s: it ended with %v", c.args, bench.ProcessState)
		}
		waitFor(t, "the end of the server", func() bool { return !running(pid) })
		for _, name := range filesIn(t, dir) {
			if name != "mcp.json" && name != "pid" {
				t.Errorf("%s, %v: it left %s", c.args, c.signal, name)
			}
		}
	}
}

// running reports whether a process is there and no zombie.
func running(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !strings.Contains(string(data), ") Z ")
}
