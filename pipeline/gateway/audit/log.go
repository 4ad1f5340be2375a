package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
)

// Bounds of a log, in bytes.
const (
	lineMax = 16 << 20  // of a line
	keepMax = 256 << 10 // of the memory that is kept for the next line
)

// logMode are the permissions of a log that is made: arguments are nobody else's
// business.
const logMode = 0o600

// File is what a Log needs of the file that it appends to.
type File interface {
	io.Writer // at the end
	io.ReaderAt
	io.Seeker
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Fd() uintptr
}

// Options are the choices of a Log.
type Options struct {
	// Fsync waits for the disk with each record; without it a power cut, but not the
	// end of the process, may lose the last records.
	Fsync bool
	// Open opens the file for appending and reading, and makes it if there is none;
	// nil means as a file of the operating system.
	Open func(path string) (File, error)
}

// Log appends records to a file. It is safe for concurrent use.
type Log struct {
	path  string
	fsync bool

	mu   sync.Mutex
	file File // nil: closed
	line []byte
	end  int64 // of the file after the last record; unknown: -1
}

// unknown is where a log ends before somebody looked.
const unknown = -1

// Open opens a log, and makes it with mode 0600 if there is none; the folder must
// exist. A last line without its end is a record whose writer was killed: if it lacks
// nothing but the newline it gets one, else it is cut off, since its call was not
// answered.
//
// It refuses what is no regular file, and a file that ends with half a line of
// something else.
func Open(path string, o Options) (*Log, error) {
	if path == "" {
		return nil, errors.New("the audit log has no name\nhint: name a file in audit.path")
	}
	// Opening a pipe could wait for its reader for ever.
	if info, err := os.Stat(path); err == nil {
		if err := regular(path, info); err != nil {
			return nil, err
		}
	}
	open := o.Open
	if open == nil {
		open = openFile
	}
	file, err := open(path)
	if err != nil {
		return nil, failure(path, "open", err)
	}
	l := &Log{path: path, fsync: o.Fsync, file: file, end: unknown}
	if err := l.check(); err != nil {
		_ = file.Close()
		return nil, err
	}
	return l, nil
}

func openFile(path string) (File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, logMode)
}

func regular(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("cannot open %s: it is a folder\nhint: name a file, for example one inside it", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("cannot open %s: it is a device or a pipe\nhint: name a regular file: records in a log can be read again", path)
	}
	return nil
}

// check looks at the file that was opened, and at how it ends.
func (l *Log) check() error {
	info, err := l.file.Stat()
	if err != nil {
		return failure(l.path, "open", err)
	}
	if err := regular(l.path, info); err != nil {
		return err
	}
	return l.exclusively(l.settle)
}

// errHeld is why a lock cannot be had.
var errHeld = errors.New("another program holds it and does not let go")

// exclusively runs act while no other log writes the file.
func (l *Log) exclusively(act func() error) error {
	if err := lock(l.file.Fd()); errors.Is(err, errHeld) {
		return fmt.Errorf("cannot write %s: %w\nhint: end that program, or name another file in audit.path", l.path, err)
	} else if err != nil {
		return failure(l.path, "lock", err)
	}
	defer unlock(l.file.Fd())
	return act()
}

// Write appends a record. When it returns nil the line is in the hands of the
// operating system, and with Options.Fsync on the disk. An error (a full disk, a
// failing one) leaves the file as it was, and the next Write tries again.
func (l *Log) Write(r *Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return fmt.Errorf("cannot write %s: the log is closed\nhint: open it again", l.path)
	}
	line := appendRecord(l.line[:0], r)
	l.line = line
	if cap(line) > keepMax {
		l.line = nil
	}
	if len(line) > lineMax {
		return fmt.Errorf("cannot write %s: a record of %d bytes is longer than %d\nhint: pass large arguments by reference, such as a path", l.path, len(line), lineMax)
	}
	return l.exclusively(func() error { return l.append(line) })
}

// append adds a line behind the last whole one, or leaves the file as it was.
func (l *Log) append(line []byte) error {
	if err := l.settle(); err != nil {
		return err
	}
	start := l.end
	_, err := l.file.Write(line)
	if err == nil && l.fsync {
		err = l.file.Sync()
	}
	if err != nil {
		l.end = unknown
		l.takeBack(start, line)
		return failure(l.path, "write", err)
	}
	l.end = start + int64(len(line))
	return nil
}

// takeBack cuts off what a failed write left of a line that began at start. Where
// that fails too the next write finds the half line and cuts it off.
func (l *Log) takeBack(start int64, line []byte) {
	size, err := l.file.Seek(0, io.SeekEnd)
	if err != nil || size <= start || size > start+int64(len(line)) {
		return
	}
	left := make([]byte, size-start)
	if _, err := l.file.ReadAt(left, start); err == nil && bytes.HasPrefix(line, left) {
		_ = l.file.Truncate(start)
	}
}

// settle finds the end of the file. If that is not where the last write left it,
// somebody else wrote, and may have been killed in the middle of a line.
func (l *Log) settle() error {
	size, err := l.file.Seek(0, io.SeekEnd)
	if err != nil {
		return failure(l.path, "write", err)
	}
	if size == l.end {
		return nil
	}
	tail, err := l.tail(size)
	if err != nil {
		return err
	}
	switch {
	case len(tail) == 0:
	case !begun(tail):
		return fmt.Errorf("cannot write %s: its last line has no end and is no audit record\nhint: name another file in audit.path, or end that line", l.path)
	case json.Valid(tail):
		if _, err := l.file.Write([]byte{'\n'}); err != nil {
			return failure(l.path, "write", err)
		}
		size++
	default:
		size -= int64(len(tail))
		if err := l.file.Truncate(size); err != nil {
			return failure(l.path, "write", err)
		}
	}
	l.end = size
	return nil
}

// begun reports whether a line is the beginning of a record.
func begun(line []byte) bool {
	n := min(len(line), len(lineStart))
	return string(line[:n]) == lineStart[:n]
}

// tailStep is how far back the search for the last newline goes at a time.
const tailStep = 64 << 10

// tail returns what stands behind the last newline of a file.
func (l *Log) tail(size int64) ([]byte, error) {
	var tail []byte
	for at := size; at > 0; {
		n := min(at, tailStep)
		if at == size {
			n = 1 // nearly always the newline
		}
		at -= n
		part := make([]byte, n, int(n)+len(tail))
		if _, err := l.file.ReadAt(part, at); err != nil {
			return nil, failure(l.path, "read", err)
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return append(part[i+1:], tail...), nil
		}
		tail = append(part, tail...)
		if len(tail) > lineMax {
			return nil, fmt.Errorf("cannot write %s: its last line is longer than %d bytes\nhint: name another file in audit.path", l.path, lineMax)
		}
	}
	return tail, nil
}

// Close closes the file. The second time changes nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	if err != nil {
		return failure(l.path, "close", err)
	}
	return nil
}

// failure words an error of the operating system.
func failure(path, action string, err error) error {
	cause := err
	var at *fs.PathError
	if errors.As(err, &at) {
		cause = at.Err
	}
	return &atomicfile.Error{Path: path, Action: action, Cause: cause}
}
