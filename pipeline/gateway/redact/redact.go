// Package redact takes secrets out of what is written down or returned: members and
// parameters whose names say that they hold one, texts that have the form of one, and
// the very values that somebody named.
//
// It looks first and rebuilds only where something was found, since nearly all texts
// are harmless. What it leaves is of the shape that it was: JSON stays JSON.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unsafe"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// Mark stands in the place of a secret.
const Mark = "[redacted]"

// valueMin is the length in bytes from which an exact value is taken out: a shorter one
// protects nothing and would spoil plain text.
const valueMin = 4

// Redactor takes secrets out. It is fixed when it is made, and safe for concurrent use.
type Redactor struct {
	off    bool
	keys   map[string]bool // names of members, as joined makes them
	values []string        // the longest first
}

// New returns a redactor with the names and values of a configuration beside those that
// everybody knows. Values are also found in base64, and escaped as in a URL.
func New(c card.Redact) *Redactor {
	r := &Redactor{off: c.Off, keys: make(map[string]bool)}
	for _, key := range c.Keys {
		r.keys[joined(words(key))] = true
	}
	for _, v := range c.Values {
		if len(v) < valueMin {
			continue
		}
		for _, form := range []string{
			v, url.QueryEscape(v), url.PathEscape(v), strings.Trim(string(rawjson.String(v)), `"`),
			base64.StdEncoding.EncodeToString([]byte(v)), base64.RawStdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)),
		} {
			if !slices.Contains(r.values, form) {
				r.values = append(r.values, form)
			}
		}
	}
	slices.SortStableFunc(r.values, func(a, b string) int { return len(b) - len(a) })
	return r
}

// Text takes the secrets out of a text, and counts them. A text that is JSON is read as
// JSON.
func (r *Redactor) Text(text string) (string, int) {
	if r.off || !r.suspicious(text) {
		return text, 0
	}
	return r.text(text, nestedMax)
}

// nestedMax is how deep JSON within texts of JSON is read.
const nestedMax = 5

func (r *Redactor) text(text string, nested int) (string, int) {
	if trimmed := strings.TrimLeft(text, " \t\r\n"); nested > 0 && trimmed != "" && strings.IndexByte("{[\"", trimmed[0]) >= 0 && json.Valid([]byte(text)) {
		out, n := r.object(json.RawMessage(text), nested-1)
		return string(out), n
	}
	return r.plain(text)
}

// JSON takes the secrets out of a JSON value, and counts them. What is no JSON is read
// as a text.
func (r *Redactor) JSON(value json.RawMessage) (json.RawMessage, int) {
	if r.off || !r.suspicious(unsafe.String(unsafe.SliceData(value), len(value))) { // which only reads
		return value, 0
	}
	if !json.Valid(value) {
		text, n := r.plain(string(value))
		return json.RawMessage(text), n
	}
	return r.object(value, nestedMax)
}

// level is an object or array that is being read.
type level struct {
	object bool
	// secret: a member before this one named what the member "value" holds.
	secret bool
}

// walk is one pass over a JSON text.
type walk struct {
	*Redactor
	in     []byte
	out    bytes.Buffer
	levels []level
	nested int
	found  int

	expectKey bool
	kind      nameKind // of the member whose value comes next
	names     bool     // its value may name the member "value"
}

// object reads valid JSON once, however deep it nests.
func (r *Redactor) object(value json.RawMessage, nested int) (json.RawMessage, int) {
	w := walk{Redactor: r, in: value, nested: nested}
	w.out.Grow(len(value))
	for i := 0; i < len(value); {
		i = w.step(i)
	}
	return w.out.Bytes(), w.found
}

// step reads what begins at i, and returns where the next thing begins.
func (w *walk) step(i int) int {
	c := w.in[i]
	switch c {
	case ' ', '\t', '\r', '\n', ':':
	case ',':
		w.expectKey = len(w.levels) > 0 && w.levels[len(w.levels)-1].object
		w.kind, w.names = nameHarmless, false
	case '}', ']':
		w.levels = w.levels[:len(w.levels)-1]
		w.expectKey = false
	case '{', '[':
		if w.kind == nameSecret {
			return w.strike(i, containerEnd(w.in, i))
		}
		w.levels = append(w.levels, level{object: c == '{'})
		w.expectKey, w.kind, w.names = c == '{', nameHarmless, false
	case '"':
		end := stringEnd(w.in, i)
		if w.expectKey {
			w.key(w.in[i:end])
			return end
		}
		return w.string(i, end)
	default: // a number or a word
		end := i
		for end < len(w.in) && !bytes.ContainsRune([]byte(" \t\r\n,]}"), rune(w.in[end])) {
			end++
		}
		if w.kind == nameSecret && c != 't' && c != 'f' && c != 'n' {
			return w.strike(i, end)
		}
		w.out.Write(w.in[i:end])
		w.kind = nameHarmless
		return end
	}
	w.out.WriteByte(c)
	return i + 1
}

// strike puts the mark in the place of a value.
func (w *walk) strike(_, end int) int {
	w.out.WriteString(`"` + Mark + `"`)
	w.found++
	w.kind, w.names = nameHarmless, false
	return end
}

// key reads the name of a member.
func (w *walk) key(literal []byte) {
	name, _ := rawjson.Text(literal)
	top := &w.levels[len(w.levels)-1]
	w.kind = w.nameKind(name)
	switch strings.ToLower(name) {
	case "name", "header", "field", "param", "parameter", "variable":
		w.names = true
	case "key":
		w.names = true
	case "value", "val", "values":
		if top.secret {
			w.kind = nameSecret
		}
	}
	w.expectKey = false
	if clean, n := w.plain(name); n > 0 {
		w.found += n
		w.out.Write(rawjson.String(clean))
		return
	}
	w.out.Write(literal)
}

// string reads a text that is a value.
func (w *walk) string(i, end int) int {
	literal := w.in[i:end]
	text, ok := rawjson.Text(literal)
	if !ok {
		w.out.Write(literal)
		return end
	}
	if text != "" && text != Mark && (w.kind == nameSecret || w.kind == nameMaybe && looksSecret(text)) {
		return w.strike(i, end)
	}
	if w.names && w.nameKind(text) == nameSecret && len(w.levels) > 0 {
		w.levels[len(w.levels)-1].secret = true
	}
	w.kind, w.names = nameHarmless, false
	if w.suspicious(text) {
		if clean, n := w.text(text, w.nested); n > 0 {
			w.found += n
			w.out.Write(rawjson.String(clean))
			return end
		}
	}
	w.out.Write(literal)
	return end
}

// stringEnd is the index behind the string literal that starts at i of valid JSON.
func stringEnd(in []byte, i int) int {
	for i++; in[i] != '"'; i++ {
		if in[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// containerEnd is the index behind the object or array that starts at i.
func containerEnd(in []byte, i int) int {
	depth := 0
	for {
		switch in[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			i = stringEnd(in, i) - 1
		}
		i++
	}
}
