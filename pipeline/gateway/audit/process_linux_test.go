package audit

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The part of a process that a test starts, and its log.
const (
	partVariable = "TOOLGAUGE_TEST_PART"
	logVariable  = "TOOLGAUGE_TEST_LOG"
)

func TestMain(m *testing.M) {
	switch os.Getenv(partVariable) {
	case "endless":
		writeForEver(os.Getenv(logVariable))
	case "small files":
		fillFile(os.Getenv(logVariable))
	default:
		os.Exit(m.Run())
	}
}

func part(name, path string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), partVariable+"="+name, logVariable+"="+path)
	c.Stderr = os.Stderr
	return c
}

// writeForEver prints the call of each record when it was written.
func writeForEver(path string) {
	l, err := Open(path, Options{})
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		r := sample()
		r.CallID = fmt.Sprintf("%d/%d", os.Getpid(), i)
		if err := l.Write(r); err != nil {
			panic(err)
		}
		fmt.Println(r.CallID)
	}
}

// TestKill kills two processes that write to one log. Every record that one of them
// saw written is in the file.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var printed []string
	for range 4 {
		var children [2]*exec.Cmd
		var outputs [2]*bufio.Scanner
		for i := range children {
			children[i] = part("endless", path)
			out, err := children[i].StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := children[i].Start(); err != nil {
				t.Fatal(err)
			}
			outputs[i] = bufio.NewScanner(out)
		}
		for i, out := range outputs {
			for n := 0; out.Scan(); n++ {
				printed = append(printed, out.Text())
				if n == 200 {
					if err := children[i].Process.Kill(); err != nil {
						t.Fatal(err)
					}
				}
			}
			_ = children[i].Wait()
		}
	}
	openLog(t, path, Options{})
	kept := make(map[string]bool)
	for _, r := range records(t, path) {
		kept[r.CallID] = true
	}
	for _, id := range printed {
		if !kept[id] {
			t.Fatalf("record %s is lost", id)
		}
	}
	if len(printed) < 8*200 {
		t.Errorf("only %d records were printed", len(printed))
	}
}

// fillFile writes until the system lets the file grow no more, then gives it room.
func fillFile(path string) {
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	check(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	room := limit
	room.Cur = 10_000
	check(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &room))
	l, err := Open(path, Options{})
	check(err)
	written := 0
	for err == nil {
		if err = l.Write(sample()); err == nil {
			written++
		}
	}
	if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "\nhint: ") {
		panic(err)
	}
	if l.Write(sample()) == nil {
		panic("written without room")
	}
	check(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	check(l.Write(sample()))
	fmt.Print(written + 1)
}

// TestFullFile has the system cut a line in its middle.
func TestFullFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	out, err := part("small files", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(records(t, path)); fmt.Sprint(n) != string(out) || n < 5 {
		t.Errorf("%d records, want %s", n, out)
	}
	if text := content(t, path); !strings.HasSuffix(text, "}\n") {
		t.Errorf("the file ends with %q", text[max(len(text)-20, 0):])
	}
}

func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("toolgauge-test", disk, "tmpfs", 0, "size=16k"); err != nil {
		t.Skip("no small disk without the right to mount one:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	path, ballast := filepath.Join(disk, "audit.jsonl"), filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 8<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	written := 0
	for err == nil {
		if err = l.Write(sample()); err == nil {
			written++
		}
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "\nhint: free some space") {
		t.Error(err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(sample()); err != nil {
		t.Error("with room again:", err)
	}
	if n := len(records(t, path)); n != written+1 {
		t.Errorf("%d records, want %d", n, written+1)
	}
}

func TestLockThatIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, other := openLog(t, path, Options{}), openLog(t, path, Options{})
	if err := lock(other.file.Fd()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- l.Write(sample()) }()
	select {
	case err := <-done:
		t.Fatal("written while another log writes:", err)
	default:
	}
	unlock(other.file.Fd())
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(pipe, Options{}); err == nil || !strings.Contains(err.Error(), "it is a device or a pipe\nhint: ") {
		t.Errorf("error %v", err)
	}
}
