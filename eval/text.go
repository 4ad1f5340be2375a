package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

const (
	// fileMax bounds a file, in bytes.
	fileMax = 256 << 20
	// shownMax bounds what an error repeats of a file, in code points.
	shownMax  = 80
	jsonSpace = " \t\r\n"
)

// text is a file that is read, and knows where everything stands.
type text struct {
	file string
	data []byte // valid UTF-8
}

// open reads a text file.
func open(path string) (*text, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file\nhint: write what it gives to a file first", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, fileMax+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return newText(path, data)
}

// newText checks what a file holds.
func newText(file string, data []byte) (*text, error) {
	if len(data) > fileMax {
		return nil, fmt.Errorf("%s: larger than %d bytes\nhint: give a part of it", file, fileMax)
	}
	t := &text{file, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	if utf8.Valid(t.data) {
		return t, nil
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(t.data[i:])
		if r == utf8.RuneError && n == 1 {
			return nil, t.errorAt(i, "convert the file to UTF-8", "invalid UTF-8 (byte 0x%02x)", t.data[i])
		}
		i += n
	}
}

func unreadable(path string, err error) error {
	return fmt.Errorf("%s: %w\nhint: check the path and its permissions", path, cause(err))
}

// cause is what the operating system said, without the path: errors here name it once.
func cause(err error) error {
	var atPath *fs.PathError
	if errors.As(err, &atPath) {
		return atPath.Err
	}
	return err
}

// errorAt words a fault at a byte offset: FILE:LINE:COLUMN, columns in code points.
func (t *text) errorAt(offset int, hint, format string, values ...any) error {
	line, column := rawjson.Position(t.data, int64(offset))
	return fmt.Errorf("%s:%d:%d: %w\nhint: %s", t.file, line, column, fmt.Errorf(format, values...), hint)
}

// lines calls take with each line that is not blank, and where it begins.
func (t *text) lines(take func(at int, line []byte) error) error {
	at := 0
	for line := range bytes.Lines(t.data) {
		if len(bytes.Trim(line, jsonSpace)) > 0 {
			if err := take(at, line); err != nil {
				return err
			}
		}
		at += len(line)
	}
	return nil
}

// values reads the file as one JSON value, or as JSON Lines if its first line is a value of its own and others follow.
func (t *text) values() (values []value, lines bool, err error) {
	body := bytes.TrimLeft(t.data, jsonSpace)
	line, rest, _ := bytes.Cut(body, []byte{'\n'})
	if !json.Valid(line) || len(bytes.Trim(rest, jsonSpace)) == 0 {
		v, err := t.value(0, t.data)
		return []value{v}, false, err
	}
	err = t.lines(func(at int, line []byte) error {
		v, err := t.value(at, line)
		values = append(values, v)
		return err
	})
	return values, true, err
}

// value reads the part of the file that begins at an offset as one JSON value.
func (t *text) value(at int, part []byte) (value, error) {
	if json.Valid(part) {
		at += len(part) - len(bytes.TrimLeft(part, jsonSpace))
		return value{t, at, bytes.Trim(part, jsonSpace)}, nil
	}
	var none json.RawMessage
	err := json.Unmarshal(part, &none)
	offset := int(rawjson.ErrorOffset(err, part))
	hint := "check the JSON there"
	if offset >= len(bytes.TrimRight(part, jsonSpace)) {
		hint = "the text stops short: the file may be truncated"
	}
	return value{}, t.errorAt(at+offset, hint, "invalid JSON: %w", err)
}

// value is one JSON value, valid and without white space around it.
type value struct {
	text *text
	at   int // offset
	raw  json.RawMessage
}

func (v value) kind() string { return rawjson.Kind(v.raw) }

func (v value) errorAt(hint, format string, values ...any) error {
	return v.text.errorAt(v.at, hint, format, values...)
}

// next takes one value off a decoder of v.
func (v value) next(d *json.Decoder) value {
	var raw json.RawMessage
	_ = d.Decode(&raw) // v is valid
	end := int(d.InputOffset())
	return value{v.text, v.at + end - len(raw), v.raw[end-len(raw) : end]}
}

// elements splits an array; anything else has none.
func (v value) elements() (list []value) {
	d := json.NewDecoder(bytes.NewReader(v.raw))
	if first, _ := d.Token(); first != json.Delim('[') {
		return nil
	}
	for d.More() {
		list = append(list, v.next(d))
	}
	return list
}

// object is a JSON object while it is read. Its first fault is kept in err, so that a reader may take all fields and ask
// once. Fields that are not read are nobody's business here.
type object struct {
	value
	what   string // what errors call it
	keys   []string
	fields map[string]value
	err    error
}

// object splits an object, and refuses a key that comes twice.
func (v value) object(what string) *object {
	o := &object{value: v, what: what, fields: make(map[string]value)}
	if v.kind() != "object" {
		o.fail(v, "see docs/format.md for the formats of labelled sets", "%s is %s, want object", what, v.kind())
		return o
	}
	d := json.NewDecoder(bytes.NewReader(v.raw))
	_, _ = d.Token() // the brace
	for d.More() {
		token, _ := d.Token()
		key, _ := token.(string)
		if _, again := o.fields[key]; again {
			o.err = v.text.errorAt(v.at+int(d.InputOffset()), "keep one of the two", "%s is given twice in %s", shown(key), what)
			return o
		}
		o.keys, o.fields[key] = append(o.keys, key), v.next(d)
	}
	return o
}

// has reports whether all of some fields are there.
func (o *object) has(names ...string) bool {
	for _, name := range names {
		if _, ok := o.fields[name]; !ok {
			return false
		}
	}
	return true
}

// fail records a fault unless there was one before.
func (o *object) fail(at value, hint, format string, values ...any) {
	if o.err == nil {
		o.err = at.errorAt(hint, format, values...)
	}
}

// take returns a field, which must be there and of a kind.
func (o *object) take(name, kind string) (value, bool) {
	v, ok := o.fields[name]
	switch {
	case !ok:
		o.fail(o.value, "add "+name, "%s lacks %s", o.what, name)
	case v.kind() != kind:
		o.fail(v, fmt.Sprintf("%s is %s there", name, kind), "%s of %s is %s, want %s", name, o.what, v.kind(), kind)
	}
	return v, o.err == nil
}

// text returns a text that is not blank.
func (o *object) text(name string) string {
	v, ok := o.take(name, "string")
	if !ok {
		return ""
	}
	s := v.string()
	if strings.TrimSpace(s) == "" {
		o.fail(v, "write what it is", "%s of %s is blank", name, o.what)
	}
	return s
}

// optionalText returns a text, empty where the field is absent or null.
func (o *object) optionalText(name string) string {
	if v, ok := o.fields[name]; !ok || v.kind() == "null" {
		return ""
	}
	v, _ := o.take(name, "string")
	return v.string()
}

// list returns the elements of an array.
func (o *object) list(name string) []value {
	v, _ := o.take(name, "array")
	return v.elements()
}

// names returns the keys of an object, none where the field is absent or null.
func (o *object) names(name string) []string {
	v, ok := o.fields[name]
	if !ok || v.kind() == "null" {
		return nil
	}
	inner := v.object(name + " of " + o.what)
	if o.err == nil {
		o.err = inner.err
	}
	return inner.keys
}

// grade returns a judgement.
func (o *object) grade(name string) int {
	v, ok := o.take(name, "number")
	if !ok {
		return 0
	}
	grade, err := parseGrade(string(v.raw))
	if err != nil {
		o.fail(v, gradeHint, "%s of %s: %w", name, o.what, err)
	}
	return grade
}

const (
	gradeHint = "a grade is a whole number: 1 or more for a relevant tool, 0 for one that is not"
	gradeMax  = 1_000_000
)

func parseGrade(s string) (int, error) {
	grade, err := strconv.Atoi(s)
	if err != nil || grade > gradeMax || grade < -gradeMax {
		return 0, fmt.Errorf("%s is no grade", shown(s))
	}
	return grade, nil
}

// string decodes a JSON string; anything else is the empty one.
func (v value) string() string {
	s, _ := rawjson.Text(v.raw)
	return s
}

// shown quotes a text of a file for an error.
func shown(s string) string {
	if runes := []rune(s); len(runes) > shownMax {
		s = string(runes[:shownMax]) + "…"
	}
	return strconv.Quote(s)
}
