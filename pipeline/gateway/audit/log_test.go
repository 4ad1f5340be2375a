package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// sample is a record whose line is about 1 KB.
func sample() *Record {
	return &Record{
		Time:    time.Date(2026, 11, 30, 9, 8, 7, 6, time.UTC),
		TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", SessionID: "session-17", Principal: "ann@example.org",
		Tool: "hermes://mcp/files/read", Name: "mcp__files__read", CallID: "call_1", ModelCall: "session-17/3",
		Arguments: json.RawMessage(`{"path":"/srv/data/report.txt","range":{"from":0,"to":4096},"note":"` + strings.Repeat("as it stands ", 20) + `"}`),
		Outcome:   "ok", Phase: "done", Attempts: 2, Throttled: true, TimedOut: 1,
		ResultSHA256: strings.Repeat("0123456789abcdef", 4), ResultBytes: 4096, ResultTokens: 1024,
		Waiting: 1500 * time.Microsecond, Queued: 250 * time.Millisecond, Executing: 1234567 * time.Nanosecond, Shaping: 1,
	}
}

func openLog(t *testing.T, path string, o Options) *Log {
	t.Helper()
	l, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// records reads a log in which every line must be whole.
func records(t *testing.T, path string) []*Record {
	t.Helper()
	var all []*Record
	for r, err := range Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLogIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	openLog(t, path, Options{})
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
}

func TestTwoLogsShareAFile(t *testing.T) {
	const writers, each = 8, 1250 // 10,000 records
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	logs := [2]*Log{openLog(t, path, Options{}), openLog(t, path, Options{})}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				r := sample()
				r.CallID = fmt.Sprintf("%d/%d", w, i)
				if err := logs[w%2].Write(r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	seen := make(map[string]bool)
	next := [writers]int{}
	for _, r := range records(t, path) {
		var w, i int
		if _, err := fmt.Sscanf(r.CallID, "%d/%d", &w, &i); err != nil {
			t.Fatal(err)
		}
		if i != next[w] {
			t.Fatalf("writer %d: record %d follows %d", w, i, next[w]-1)
		}
		next[w]++
		seen[r.CallID] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d records, want %d", len(seen), writers*each)
	}
}

func TestOpenMendsTheEnd(t *testing.T) {
	whole := string(appendRecord(nil, sample()))
	for name, c := range map[string]struct{ before, after string }{
		"empty":            {"", ""},
		"whole":            {whole, whole},
		"only the newline": {whole + whole[:len(whole)-1], whole + whole},
		"half":             {whole + whole[:300], whole},
		"its first byte":   {whole + "{", whole},
		"half alone":       {whole[:20], ""},
		"a brace short":    {whole + whole[:len(whole)-2], whole},
		"other lines":      {"# notes\n" + whole[:30], "# notes\n"},
	} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		l := openLog(t, path, Options{})
		if got := content(t, path); got != c.after {
			t.Errorf("%s: %q, want %q", name, got, c.after)
		}
		if err := l.Write(sample()); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != c.after+whole {
			t.Errorf("%s, written: %q, want %q", name, got, c.after+whole)
		}
	}
}

// TestAnotherWriterWasKilled: a half line that appears while a log is open does not
// swallow the next record.
func TestAnotherWriterWasKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := openLog(t, path, Options{})
	if err := l.Write(sample()); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	line := appendRecord(nil, sample())
	long := append([]byte(lineStart+`1,"x":"`), strings.Repeat("long ", 40_000)...) // more than one step back
	for _, half := range [][]byte{line[:100], long} {
		if _, err := file.Write(half); err != nil {
			t.Fatal(err)
		}
		if err := l.Write(sample()); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(records(t, path)); n != 3 {
		t.Errorf("%d records, want 3", n)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(notes, []byte("buy milk\nand bread"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                            "has no name",
		dir:                           "it is a folder\nhint: ",
		"/dev/null":                   "it is a device or a pipe\nhint: ",
		filepath.Join(dir, "no", "f"): "no such file or directory\nhint: create the folder",
		notes:                         "its last line has no end and is no audit record\nhint: ",
	} {
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", path, err, want)
		}
	}
	if got := content(t, notes); got != "buy milk\nand bread" {
		t.Errorf("the notes became %q", got)
	}
}

// faulty is a file of which calls fail.
type faulty struct {
	*os.File
	writes   int // bytes that are still written
	sync     error
	truncate error
	after    func() // what somebody else does right after a failed write
}

func (f *faulty) Write(p []byte) (int, error) {
	if len(p) <= f.writes {
		return f.File.Write(p)
	}
	n, err := f.File.Write(p[:f.writes])
	if err == nil {
		err = syscall.ENOSPC
	}
	f.writes = 0
	if f.after != nil {
		f.after()
	}
	return n, &fs.PathError{Op: "write", Path: "hidden", Err: err}
}

func (f *faulty) Sync() error { return f.sync }

func (f *faulty) Truncate(size int64) error {
	if f.truncate != nil {
		return f.truncate
	}
	return f.File.Truncate(size)
}

// openFaulty opens a log with one record in it.
func openFaulty(t *testing.T, fsync bool) (*Log, *faulty, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f := &faulty{writes: 1 << 30}
	l := openLog(t, path, Options{Fsync: fsync, Open: func(path string) (File, error) {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		f.File = file
		return f, err
	}})
	if err := l.Write(sample()); err != nil {
		t.Fatal(err)
	}
	return l, f, path
}

// TestFailedWriteLeavesNothing cuts a line at every length.
func TestFailedWriteLeavesNothing(t *testing.T) {
	l, f, path := openFaulty(t, false)
	whole := content(t, path)
	for n := range whole {
		f.writes = n
		err := l.Write(sample())
		if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "cannot write "+path+": no space left on device\nhint: free some space") {
			t.Fatalf("%d bytes written: error %v", n, err)
		}
		if got := content(t, path); got != whole {
			t.Fatalf("%d bytes written: the file is %q", n, got)
		}
	}
	f.writes = 1 << 30
	if err := l.Write(sample()); err != nil {
		t.Fatal("with room again:", err)
	}
	if got := content(t, path); got != whole+whole {
		t.Errorf("the file is %q", got)
	}
}

// TestHalfLineThatStays: where the half cannot be cut off at once it is before the
// next record.
func TestHalfLineThatStays(t *testing.T) {
	l, f, path := openFaulty(t, false)
	whole := content(t, path)
	f.writes, f.truncate = 100, syscall.EIO
	for range 2 {
		if err := l.Write(sample()); err == nil {
			t.Fatal("written to a broken disk")
		}
		if got := content(t, path); got != whole+whole[:100] {
			t.Fatalf("the file is %q", got)
		}
	}
	f.writes, f.truncate = 1<<30, nil
	if err := l.Write(sample()); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != whole+whole {
		t.Errorf("the file is %q", got)
	}
}

// TestForeignBytesAreNotCut: what another program appended behind a half line stays.
func TestForeignBytesAreNotCut(t *testing.T) {
	l, f, path := openFaulty(t, false)
	whole := content(t, path)
	f.writes, f.after = 100, func() {
		if _, err := f.File.Write([]byte("foreign\n")); err != nil {
			t.Error(err)
		}
	}
	if err := l.Write(sample()); err == nil {
		t.Fatal("written to a full disk")
	}
	f.writes = 1 << 30
	if err := l.Write(sample()); err != nil {
		t.Fatal(err)
	}
	if got, want := content(t, path), whole+whole[:100]+"foreign\n"+whole; got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
	read, damaged := 0, 0
	for _, err := range Read(path) {
		if err == nil {
			read++
		} else if damaged++; !strings.HasPrefix(err.Error(), path+":2: the line is not whole") {
			t.Error(err)
		}
	}
	if read != 2 || damaged != 1 {
		t.Errorf("%d records and %d damaged lines, want 2 and 1", read, damaged)
	}
}

func TestFsync(t *testing.T) {
	l, f, path := openFaulty(t, true)
	whole := content(t, path)
	f.sync = syscall.EIO
	if err := l.Write(sample()); !errors.Is(err, syscall.EIO) {
		t.Errorf("a record that is not on the disk gives %v", err)
	}
	if got := content(t, path); got != whole {
		t.Errorf("it is in the file: %q", got)
	}
	l, f, _ = openFaulty(t, false)
	f.sync = syscall.EIO
	if err := l.Write(sample()); err != nil {
		t.Error("synced without being asked to:", err)
	}
}

func TestCopyTruncate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := openLog(t, path, Options{})
	for range 2 {
		if err := l.Write(sample()); err != nil {
			t.Fatal(err)
		}
		if n := len(records(t, path)); n != 1 {
			t.Errorf("%d records, want 1", n)
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestClosedLog(t *testing.T) {
	l := openLog(t, filepath.Join(t.TempDir(), "audit.jsonl"), Options{})
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := l.Write(sample()); err == nil || !strings.Contains(err.Error(), "the log is closed\nhint: ") {
		t.Errorf("error %v", err)
	}
}

func TestRecordTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := openLog(t, path, Options{})
	r := sample()
	r.Arguments = json.RawMessage(`"` + strings.Repeat("x", lineMax) + `"`)
	if err := l.Write(r); err == nil || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("error %v", err)
	}
	if got := content(t, path); got != "" {
		t.Errorf("%d bytes are written", len(got))
	}
	if cap(l.line) > keepMax {
		t.Errorf("%d bytes are kept", cap(l.line))
	}
}

func BenchmarkWrite(b *testing.B) {
	l, err := Open(filepath.Join(b.TempDir(), "audit.jsonl"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	r := sample()
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Write(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	r := sample()
	line := appendRecord(nil, r)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		line = appendRecord(line[:0], r)
	}
}
