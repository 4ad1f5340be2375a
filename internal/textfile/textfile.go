// Package textfile reads the text files that people give, and words what is wrong with them.
//
// Reading refuses, in this order, what is no regular file, what is too large, and what is not UTF-8; a byte order mark is
// passed over. Each error names the file once, and the line and column where there are any, and ends in a hint.
//
// It promises that reading ends, and that what it returns is the whole file as UTF-8.
package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

const (
	// Max bounds a file of tools, intents or judgements, in bytes. The largest public collection of tools takes a fortieth
	// of it.
	Max = 256 << 20
	// shownMax bounds, in code points, what an error repeats of a file.
	shownMax = 80
)

var (
	byteOrderMark = []byte("\xef\xbb\xbf") // begins files that some editors save
	gzipMark      = []byte("\x1f\x8b")
)

// File is a text file, and the name that errors call it by.
type File struct {
	Name string
	Data []byte // valid UTF-8
}

// Open reads a file of up to Max bytes.
func Open(path string) (*File, error) {
	data, err := Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), path, Max)
	return &File{path, data}, err
}

// Read reads a text file of up to limit bytes; shown names it in errors.
func Read(files fs.FS, name, shown string, limit int64) ([]byte, error) {
	data, err := Bytes(files, name, shown, limit)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, gzipMark) {
		return nil, fmt.Errorf("%s: compressed by gzip\nhint: unpack it first", shown)
	}
	return data, CheckUTF8(shown, data)
}

// Bytes reads a file as Read does, whether it is text or not. A file that is not regular is refused before it is opened,
// since reading a pipe that nobody writes to never ends.
func Bytes(files fs.FS, name, shown string, limit int64) ([]byte, error) {
	info, err := fs.Stat(files, name)
	switch {
	case err != nil:
		return nil, Unreadable(shown, err)
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a folder, want a file\nhint: put the files themselves there; links to folders are not followed", shown)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file\nhint: write what it gives to a file first", shown)
	case info.Size() > limit:
		return nil, TooLarge(shown, limit)
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, Unreadable(shown, err)
	}
	defer f.Close()
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := text.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, Unreadable(shown, err)
	}
	if int64(text.Len()) > limit {
		return nil, TooLarge(shown, limit) // it grew since, or its size is not told
	}
	return bytes.TrimPrefix(text.Bytes(), byteOrderMark), nil
}

// Unreadable words what the operating system said of a file.
func Unreadable(shown string, err error) error {
	return fmt.Errorf("%s: %w\nhint: check the path and its permissions", shown, Cause(err))
}

// Cause drops the operation and the path that the system's errors repeat.
func Cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// TooLarge refuses a file of more than limit bytes.
func TooLarge(shown string, limit int64) error {
	return fmt.Errorf("%s: larger than %d bytes\nhint: split it over several files", shown, limit)
}

// CheckUTF8 refuses text that is not UTF-8: JSON decoders would quietly replace what they cannot read, and token counts
// with it.
func CheckUTF8(file string, data []byte) error {
	if utf8.Valid(data) {
		return nil
	}
	f := File{file, data}
	for i := 0; ; {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return f.ErrorAt(i, "convert the file to UTF-8", "invalid UTF-8 (byte 0x%02x)", data[i])
		}
		i += n
	}
}

// ErrorAt words a fault at a byte offset: FILE:LINE:COLUMN, columns in code points.
func (f *File) ErrorAt(offset int, hint, format string, args ...any) error {
	line, column := rawjson.Position(f.Data, int64(offset))
	return fmt.Errorf("%s:%d:%d: %w\nhint: %s", f.Name, line, column, fmt.Errorf(format, args...), hint)
}

// Lines calls take with each line that is not blank, and the offsets of its beginning and end, the line break included.
func (f *File) Lines(take func(start, end int) error) error {
	start := 0
	for line := range bytes.Lines(f.Data) {
		end := start + len(line)
		if len(bytes.Trim(line, " \t\r\n")) > 0 {
			if err := take(start, end); err != nil {
				return err
			}
		}
		start = end
	}
	return nil
}

// Shown quotes a text of a file for an error.
func Shown(s string) string {
	if runes := []rune(s); len(runes) > shownMax {
		s = string(runes[:shownMax]) + "…"
	}
	return strconv.Quote(s)
}
