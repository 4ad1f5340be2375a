package corpus

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

// document is a text that is read as JSON and knows where each value stands.
type document struct {
	file string
	data []byte // valid UTF-8
	// marks, of a text made from YAML, tell where in the file its keys and values
	// stood, by ascending offset. They are nil if data is the file itself.
	marks []mark
	// breaks are the offsets of the line ends, found when a place is asked for, and
	// last is where the latest one was: from there the next is counted on.
	breaks []int
	last   struct{ offset, column int }
}

// mark says that what begins at an offset of a document stood at a line and a
// column of the file.
type mark struct{ offset, line, column int }

// at words the place of an offset: FILE:LINE:COLUMN, columns in code points. It
// reads all text ahead of the offset, so it is for errors alone.
func (d *document) at(offset int) string {
	if d.marks != nil {
		m := d.marked(offset)
		return fmt.Sprintf("%s:%d:%d", d.file, m.line, m.column)
	}
	line, column := rawjson.Position(d.data, int64(offset))
	return fmt.Sprintf("%s:%d:%d", d.file, line, column)
}

// marked is the mark of the value that an offset lies in.
func (d *document) marked(offset int) mark {
	i, found := slices.BinarySearchFunc(d.marks, offset, func(m mark, o int) int { return cmp.Compare(m.offset, o) })
	if !found {
		i = max(i-1, 0) // within the value that began there
	}
	return d.marks[i]
}

// place is the line and the column, in code points, of an offset, both from 1.
// Unlike at it reads the text once, if the offsets asked for ascend.
func (d *document) place(offset int) (line, column int) {
	if d.marks != nil {
		m := d.marked(offset)
		return m.line, m.column
	}
	if d.breaks == nil {
		d.last.column = 1
		d.breaks = make([]int, 0, bytes.Count(d.data, []byte{'\n'}))
		for i, b := range d.data {
			if b == '\n' {
				d.breaks = append(d.breaks, i)
			}
		}
	}
	earlier, _ := slices.BinarySearch(d.breaks, offset)
	start := 0
	if earlier > 0 {
		start = d.breaks[earlier-1] + 1
	}
	if d.last.offset < start || d.last.offset > offset {
		d.last.offset, d.last.column = start, 1
	}
	d.last.column += utf8.RuneCount(d.data[d.last.offset:offset])
	d.last.offset = offset
	return earlier + 1, d.last.column
}

// errorAt words a fault at an offset, with a hint.
func (d *document) errorAt(offset int, hint, format string, args ...any) error {
	return fmt.Errorf("%s: %w\nhint: %s", d.at(offset), fmt.Errorf(format, args...), hint)
}

// jsonSpace is the white space of JSON.
const jsonSpace = " \t\r\n"

// value reads data[start:end] as one JSON value.
func (d *document) value(start, end int) (node, error) {
	text := d.data[start:end]
	if json.Valid(text) {
		start += len(text) - len(bytes.TrimLeft(text, jsonSpace))
		return node{d, start, start + len(bytes.Trim(text, jsonSpace))}, nil
	}
	var v json.RawMessage
	err := json.Unmarshal(text, &v)
	offset := int(rawjson.ErrorOffset(err, text))
	hint := "check the JSON there"
	switch {
	case offset >= len(bytes.TrimRight(text, jsonSpace)):
		hint = "the text stops short: the file may be truncated"
	case strings.HasSuffix(err.Error(), "after top-level value"):
		hint = "a file holds one JSON value, or JSON Lines: one whole value a line"
	}
	return node{}, d.errorAt(start+offset, hint, "invalid JSON: %w", err)
}

// node is one JSON value of a document: data[start:end], valid, without white
// space around it. Splitting a node reads its text once.
type node struct {
	doc        *document
	start, end int
}

// member is one member of an object.
type member struct {
	key   string
	keyAt int // offset
	value node
}

// raw returns the value's bytes, which are the document's.
func (n node) raw() json.RawMessage { return n.doc.data[n.start:n.end:n.end] }

func (n node) kind() string { return rawjson.Kind(n.raw()) }

func (n node) place() string { return n.doc.at(n.start) }

func (n node) errorAt(hint, format string, args ...any) error {
	return n.doc.errorAt(n.start, hint, format, args...)
}

// text returns the value of a string.
func (n node) text() string { return unquoted(n.raw()) }

// elements splits an array.
func (n node) elements() []node {
	data := n.doc.data
	var list []node
	for i := pastSpace(data, n.start+1); data[i] != ']'; {
		end := valueEnd(data, i)
		list = append(list, node{n.doc, i, end})
		if i = pastSpace(data, end); data[i] == ',' {
			i = pastSpace(data, i+1)
		}
	}
	return list
}

// members splits an object, in the order given and repeats included.
func (n node) members() []member {
	data := n.doc.data
	var list []member
	for i := pastSpace(data, n.start+1); data[i] != '}'; {
		keyEnd := literalEnd(data, i)
		colon := pastSpace(data, keyEnd)
		start := pastSpace(data, colon+1)
		end := valueEnd(data, start)
		list = append(list, member{unquoted(data[i:keyEnd]), i, node{n.doc, start, end}})
		if i = pastSpace(data, end); data[i] == ',' {
			i = pastSpace(data, i+1)
		}
	}
	return list
}

// once refuses an object that has a key twice, itself or anywhere within:
// readers would take one of the two and drop the other. It reads the text once,
// however deep it nests.
func (n node) once() error {
	type level struct {
		keys    map[string]int // of an object: key → offset
		wantKey bool
	}
	data := n.doc.data
	var stack []level
	for i := n.start; i < n.end; i++ {
		switch data[i] {
		case '{':
			stack = append(stack, level{map[string]int{}, true})
		case '[':
			stack = append(stack, level{})
		case '}', ']':
			stack = stack[:len(stack)-1]
		case ',':
			top := &stack[len(stack)-1]
			top.wantKey = top.keys != nil
		case '"':
			end := literalEnd(data, i)
			if len(stack) > 0 && stack[len(stack)-1].wantKey {
				top := &stack[len(stack)-1]
				key := unquoted(data[i:end])
				if first, again := top.keys[key]; again {
					return n.doc.repeated(key, i, first)
				}
				top.keys[key], top.wantKey = i, false
			}
			i = end - 1
		}
	}
	return nil
}

func (d *document) repeated(key string, again, first int) error {
	return d.errorAt(again, "keep one of the two", "%s is given twice; first at %s", textfile.Shown(key), d.at(first))
}

// unquoted decodes a valid string literal.
func unquoted(literal []byte) string {
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal[1 : len(literal)-1])
	}
	var s string
	_ = json.Unmarshal(literal, &s) // the literal is valid
	return s
}

func pastSpace(data []byte, i int) int {
	for i < len(data) && strings.IndexByte(jsonSpace, data[i]) >= 0 {
		i++
	}
	return i
}

// literalEnd returns the offset just behind the string literal that begins at i
// of valid JSON.
func literalEnd(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd returns the offset just behind the value that begins at i of valid
// JSON.
func valueEnd(data []byte, i int) int {
	for depth := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = literalEnd(data, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
			continue
		default:
			for i+1 < len(data) && strings.IndexByte(",]}"+jsonSpace, data[i+1]) < 0 {
				i++ // the rest of a number or a word
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}
