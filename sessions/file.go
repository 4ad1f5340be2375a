package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
)

// Format is how sessions are laid out in a file.
type Format string

// The formats. They hold the same fields.
const (
	Parquet   Format = "parquet"
	JSONLines Format = "jsonl"
)

// fileKind is what a file of sessions says of itself.
const fileKind = "sessions"

// FormatOf tells in which format a new file is written, by the end of its name:
// .parquet or .jsonl.
func FormatOf(path string) (Format, error) {
	switch extension := filepath.Ext(path); strings.ToLower(extension) {
	case ".parquet":
		return Parquet, nil
	case ".jsonl":
		return JSONLines, nil
	default:
		return "", fmt.Errorf("%s: no format of sessions goes by the extension %q\nhint: end the name in .parquet or .jsonl", path, extension)
	}
}

// encoder lays sessions out in one format. It is given checked sessions.
type encoder interface {
	encode(s *Session) error
	finish() error
}

// Writer writes a file of sessions. It belongs to one goroutine. What it writes
// is visible under the file's name once Commit has returned without an error.
type Writer struct {
	file *atomicfile.File
	into encoder
	seen map[string]int64
	rows int64
	err  error
}

// Create starts a file of sessions, in the format that its name asks for; see
// [FormatOf]. A file of that name is replaced by Commit.
func Create(path string) (*Writer, error) {
	format, err := FormatOf(path)
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: f, seen: make(map[string]int64)}
	if format == Parquet {
		w.into = newParquetEncoder(f)
	} else {
		w.into = newLinesEncoder(f)
	}
	return w, nil
}

// Write appends a session. It refuses one that a reader would refuse: a field
// that breaks a rule of the format, or an id that an earlier session has. After
// a failed Write the writer can only be aborted.
func (w *Writer) Write(s *Session) error {
	if w.err == nil {
		w.err = w.write(s)
	}
	return w.err
}

func (w *Writer) write(s *Session) error {
	err := s.check()
	if err == nil {
		err = unrepeated(w.seen, s.SessionID, w.rows+1)
	}
	if err != nil {
		return fmt.Errorf("%s: session %d of the file: %w", w.file.Path(), w.rows+1, err)
	}
	if err := w.into.encode(s); err != nil {
		return named(w.file.Path(), err)
	}
	w.rows++
	return nil
}

// Rows returns the number of sessions written.
func (w *Writer) Rows() int64 { return w.rows }

// Commit completes the file and gives it its name. A file without sessions is an
// error, as it is for readers.
func (w *Writer) Commit() error {
	defer w.file.Abort()
	if w.err != nil {
		return w.err
	}
	if w.rows == 0 {
		return fmt.Errorf("%s: no sessions to write\nhint: ask for at least one", w.file.Path())
	}
	if err := w.into.finish(); err != nil {
		return named(w.file.Path(), err)
	}
	return w.file.Commit()
}

// Abort gives the file up; nothing is left of it. It does nothing after Commit.
func (w *Writer) Abort() { w.file.Abort() }

// WriteFile writes all sessions of a sequence, such as [Drawer.Sessions], into a
// new file. An error of the sequence ends it, and there is no file then.
func WriteFile(path string, all iter.Seq2[*Session, error]) (rows int64, err error) {
	w, err := Create(path)
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	for s, err := range all {
		if err != nil {
			return 0, err
		}
		if err := w.Write(s); err != nil {
			return 0, err
		}
	}
	return w.Rows(), w.Commit()
}

// named makes an encoder's error name the file. A fault of the disk does so
// already, whatever a library has wrapped it in.
func named(path string, err error) error {
	if disk := new(atomicfile.Error); errors.As(err, &disk) {
		return disk
	}
	return fmt.Errorf("%s: cannot be written: %w\nhint: check the values of the session", path, err)
}

// unrepeated keeps ids apart: results are matched by session id, so two sessions
// of one id would be mixed up. Places count from 1.
func unrepeated(seen map[string]int64, id string, place int64) error {
	if first, again := seen[id]; again {
		return fault("session_id", "give every session an id of its own", "%s is also the id of session %d", shown(id), first)
	}
	seen[id] = place
	return nil
}

// Read yields the sessions of a file in order, one in memory at a time (a batch
// of them for Parquet); every session read was checked. The format is told by
// content. The sequence ends with the first error, which names the file, the
// line or row, the field and a hint. A file without sessions is an error too.
func Read(path string) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		stopped := false
		err := read(path, func(s *Session) bool {
			stopped = !yield(s, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// ReadFile returns all sessions of a file, or the error of [Read].
func ReadFile(path string) ([]*Session, error) {
	var all []*Session
	for s, err := range Read(path) {
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// read calls take for each session until it returns false.
func read(path string, take func(*Session) bool) error {
	// Looked at before it is opened: opening a pipe that nobody writes to never
	// ends.
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return unreadable(path, err)
	case info.IsDir():
		return fmt.Errorf("%s: is a folder\nhint: name a file of sessions in it", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: not a regular file\nhint: write what it gives to a file first", path)
	case info.Size() == 0:
		return emptyFile(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return unreadable(path, err)
	}
	defer f.Close()
	magic := make([]byte, len(parquetMagic))
	n, err := io.ReadFull(f, magic)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return unreadable(path, err)
	}
	c := &collector{path: path, seen: make(map[string]int64), take: take}
	if string(magic[:n]) == parquetMagic {
		err = readParquet(path, f, info.Size(), c)
	} else {
		err = readLines(path, io.MultiReader(bytes.NewReader(magic[:n]), f), c)
	}
	if err == nil && c.rows == 0 {
		return fmt.Errorf("%s: holds no sessions\nhint: draw some with datagen sessions", path)
	}
	return err
}

func emptyFile(path string) error {
	return fmt.Errorf("%s: the file is empty\nhint: write it again; it holds no sessions", path)
}

// unreadable words an error of the operating system.
func unreadable(path string, err error) error {
	var atPath *fs.PathError
	if errors.As(err, &atPath) {
		err = atPath.Err
	}
	return fmt.Errorf("%s: %w\nhint: check the path and its permissions", path, err)
}

// errStopped ends a read whose consumer wants no more.
var errStopped = errors.New("stopped")

// collector hands read sessions on, checked.
type collector struct {
	path string
	seen map[string]int64
	rows int64
	take func(*Session) bool
}

// add checks and hands on one session; place says where it stands ("line 3").
func (c *collector) add(s *Session, place string) error {
	err := s.check()
	if err == nil {
		err = unrepeated(c.seen, s.SessionID, c.rows+1)
	}
	if err != nil {
		return fmt.Errorf("%s:%s: %w", c.path, place, err)
	}
	c.rows++
	if !c.take(s) {
		return errStopped
	}
	return nil
}

// settle gives every empty list its one form, so that a session is the same from
// either format.
func (s *Session) settle() {
	s.Toolsets, s.Servers = settled(s.Toolsets), settled(s.Servers)
	s.Events = settled(s.Events)
	for i := range s.Events {
		e := &s.Events[i]
		if e.Tools != nil {
			e.Tools.Added, e.Tools.Removed, e.Tools.Edited = settled(e.Tools.Added), settled(e.Tools.Removed), settled(e.Tools.Edited)
		}
		if e.Config != nil {
			e.Config.Enable, e.Config.Disable = settled(e.Config.Enable), settled(e.Config.Disable)
		}
		if e.Turn == nil {
			continue
		}
		e.Turn.Gold, e.Turn.Queries = settled(e.Turn.Gold), settled(e.Turn.Queries)
		for j := range e.Turn.Gold {
			g := &e.Turn.Gold[j]
			g.Arguments, g.DependsOn = settled(g.Arguments), settled(g.DependsOn)
		}
	}
}

func settled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return slices.Clip(list)
}
