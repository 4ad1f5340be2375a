package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds every wait for a child: far more than a busy machine needs.
const patience = 2 * time.Minute

// child is bench as a process of its own, with a terminal for its standard
// error, on which it shows how far it is.
type child struct {
	*exec.Cmd
	dir    string // in which it works
	screen *screen
}

// startChild starts bench in an empty folder.
func startChild(t *testing.T, stdout *os.File, args ...string) *child {
	t.Helper()
	return startChildIn(t, t.TempDir(), stdout, args...)
}

// startChildIn starts bench in a folder.
func startChildIn(t *testing.T, dir string, stdout *os.File, args ...string) *child {
	t.Helper()
	screen, terminal := openTerminal(t)
	c := &child{Cmd: exec.Command("bench", args...), dir: dir, screen: screen}
	c.Dir, c.Stderr = c.dir, terminal
	if stdout != nil {
		c.Stdout = stdout
	}
	c.start(t)
	terminal.Close()
	return c
}

func (c *child) start(t *testing.T) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
}

// sessionsShown waits until the bar has counted so many sessions. It reports false if
// the child has ended.
func (c *child) sessionsShown(t *testing.T, least int64) (shown bool) {
	t.Helper()
	counted := regexp.MustCompile(`\(([0-9]+)/[0-9]+`)
	waitFor(t, "sessions on the bar", func() bool {
		ended := c.screen.ended()
		for _, m := range counted.FindAllSubmatch(c.screen.shown(), -1) {
			if n, _ := strconv.ParseInt(string(m[1]), 10, 64); n >= least {
				shown = true
			}
		}
		return shown || ended
	})
	return shown
}

func (c *child) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// end waits for the child's end.
func (c *child) end(t *testing.T) syscall.WaitStatus {
	t.Helper()
	stuck := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	defer stuck.Stop()
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.Sys().(syscall.WaitStatus)
}

// runFolder returns the only run folder, empty if there is none yet.
func (c *child) runFolder(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(c.dir, "runs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 1 {
		t.Fatalf("%d run folders", len(found))
	}
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// filesIn lists a folder, hidden files included.
func filesIn(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func waitFor(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// screen is what a terminal has been sent.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	done bool // no program has the terminal any more
}

func (s *screen) shown() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.text.Bytes())
}

func (s *screen) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// openTerminal makes a terminal: the end for a program, and its screen.
func openTerminal(t *testing.T) (*screen, *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminal to be had:", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminal to be had:", err)
	}
	s := &screen{}
	go func() {
		part := make([]byte, 4096)
		for {
			n, err := master.Read(part)
			s.mu.Lock()
			s.text.Write(part[:n])
			s.done = err != nil
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s, terminal
}
