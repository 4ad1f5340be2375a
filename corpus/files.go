package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// fileMax bounds a file of tools or intents, in bytes. The largest public
// collection of tools takes a fortieth of it.
const fileMax = 256 << 20

// byteOrderMark begins files that some editors save; it is passed over.
var byteOrderMark = []byte("\xef\xbb\xbf")

// readText reads a file as readFile does and refuses what is no UTF-8.
func readText(files fs.FS, name, shown string, limit int64) ([]byte, error) {
	data, err := readFile(files, name, shown, limit)
	if err != nil {
		return nil, err
	}
	return data, checkUTF8(shown, data)
}

// readFile reads a file of up to limit bytes; shown names it in errors. A file
// that is not regular is refused before it is opened, since reading a pipe that
// nobody writes to never ends.
func readFile(files fs.FS, name, shown string, limit int64) ([]byte, error) {
	info, err := fs.Stat(files, name)
	switch {
	case err != nil:
		return nil, unreadable(shown, err)
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a folder, want a file\nhint: put the files themselves there; links to folders are not followed", shown)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file\nhint: write what it gives to a file first", shown)
	case info.Size() > limit:
		return nil, tooLarge(shown, limit)
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, unreadable(shown, err)
	}
	defer f.Close()
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := text.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, unreadable(shown, err)
	}
	if int64(text.Len()) > limit {
		return nil, tooLarge(shown, limit) // it grew since, or its size is not told
	}
	return bytes.TrimPrefix(text.Bytes(), byteOrderMark), nil
}

func unreadable(shown string, err error) error {
	return fmt.Errorf("%s: %w\nhint: check the path and its permissions", shown, cause(err))
}

// cause drops the operation and the path that the system's errors repeat.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func tooLarge(shown string, limit int64) error {
	return fmt.Errorf("%s: larger than %d bytes\nhint: split it over several files", shown, limit)
}

// checkUTF8 refuses text that is not UTF-8: JSON decoders would quietly replace
// what they cannot read, and token counts with it.
func checkUTF8(file string, data []byte) error {
	if utf8.Valid(data) {
		return nil
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			line, column := rawjson.Position(data, int64(i))
			return fmt.Errorf("%s:%d:%d: invalid UTF-8 (byte 0x%02x)\nhint: convert the file to UTF-8", file, line, column, data[i])
		}
		i += n
	}
}
