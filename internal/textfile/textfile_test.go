package textfile

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRead(t *testing.T) {
	files := fstest.MapFS{
		"plain": {Data: []byte("one\r\n\n \ttwo")}, "marked": {Data: []byte("\xef\xbb\xbfone")}, "latin": {Data: []byte("a\nb\xe9")},
		"packed": {Data: []byte("\x1f\x8b\x08")}, "folder/x": {Data: nil}, "long": {Data: []byte(strings.Repeat("x", 21))},
	}
	for _, c := range []struct{ name, want string }{
		{"plain", "one\r\n\n \ttwo"},
		{"marked", "one"},
		{"latin", "F:2:2: invalid UTF-8 (byte 0xe9)\nhint: convert the file to UTF-8"},
		{"packed", "F: compressed by gzip\nhint: unpack it first"},
		{"folder", "F: is a folder, want a file\nhint: put the files themselves there; links to folders are not followed"},
		{"long", "F: larger than 20 bytes\nhint: split it over several files"},
		{"gone", "F: file does not exist\nhint: check the path and its permissions"},
	} {
		data, err := Read(files, c.name, "F", 20)
		got := string(data)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLines passes over blank lines, and tells where the others are.
func TestLines(t *testing.T) {
	f := &File{"F", []byte("one\r\n\n \ttwo\nlast")}
	var got []string
	_ = f.Lines(func(start, end int) error {
		got = append(got, fmt.Sprintf("%d %q", start, f.Data[start:end]))
		return nil
	})
	if want := `[0 "one\r\n" 6 " \ttwo\n" 12 "last"]`; fmt.Sprint(got) != want {
		t.Errorf("%s, want %s", fmt.Sprint(got), want)
	}
	stop := fmt.Errorf("stop")
	if err := f.Lines(func(int, int) error { return stop }); err != stop {
		t.Errorf("error %v", err)
	}
}

func TestShown(t *testing.T) {
	if got, want := Shown(strings.Repeat("é", 81)), `"`+strings.Repeat("é", 80)+`…"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
