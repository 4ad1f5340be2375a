package redact

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// json makes one pass over a JSON value that stands within depth texts of JSON. It
// fails on what is not JSON. The walk keeps a frame for each open container and does
// not recurse, so that nesting costs memory and nothing else.
func (r *Redactor) json(raw []byte, depth int) (out []byte, n int, ok bool) {
	w := walk{r: r, text: string(raw), depth: depth}
	w.frames = append(w.few[:0], frame{})
	if !w.run() {
		return nil, 0, false
	}
	if len(w.edits) == 0 {
		return raw, 0, true
	}
	if !json.Valid(raw) {
		return nil, 0, false
	}
	return apply(w.text, w.edits), len(w.edits), true
}

// markerJSON is the marker as a JSON text.
const markerJSON = `"` + Marker + `"`

// span is a part of the text; the zero span is none.
type span struct{ start, end int }

// frame is an open object or array, or what is around the whole.
type frame struct {
	start  int
	object bool
	schema bool   // under the name properties: its members may be schemas
	naming naming // of the member whose value comes, or of the element behind an option
	role   role   // of that member
	// label, key and value are those of an object such as {"name": …, "value": …}.
	label, key, value span
}

// role is what a member is in a pair.
type role uint8

const (
	noRole role = iota
	labelRole
	schemaRole
	keyRole
	valueRole
)

func roleOf(name string) role {
	switch name {
	case "name", "field", "header", "variable", "parameter", "Name":
		return labelRole
	case "properties":
		return schemaRole
	case "key", "Key":
		return keyRole
	case "value", "values", "Value":
		return valueRole
	}
	return noRole
}

// walk is a pass over a JSON value.
type walk struct {
	r      *Redactor
	text   string
	depth  int
	frames []frame
	few    [6]frame // the room for the usual depth
	edits  []edit
}

func (w *walk) run() bool {
	text := w.text
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			i++
		case '"':
			end := stringEnd(text, i)
			if end < 0 {
				return false
			}
			if w.isName(end) {
				w.member(i, end)
			} else {
				w.literal(i, end)
			}
			i = end
		case '{', '[':
			i = w.open(i)
			if i < 0 {
				return false
			}
		case '}', ']':
			if len(w.frames) == 1 {
				return false
			}
			i++
			w.close(i)
		default:
			end := i
			for end < len(text) && isScalar[text[end]] {
				end++
			}
			if end == i {
				return false
			}
			w.scalar(i, end)
			i = end
		}
	}
	return len(w.frames) == 1
}

// isScalar are the bytes of numbers, true, false and null.
var isScalar = func() (in [256]bool) {
	for _, c := range []byte("0123456789+-.eEtrufalsn") {
		in[c] = true
	}
	return in
}()

// stringEnd returns the index just behind the string literal that starts at i, or -1.
func stringEnd(text string, i int) int {
	for i++; ; {
		n := strings.IndexByte(text[i:], '"')
		if n < 0 {
			return -1
		}
		quote := i + n
		slashes := quote
		for slashes > i && text[slashes-1] == '\\' {
			slashes--
		}
		if i = quote + 1; (quote-slashes)%2 == 0 {
			return i
		}
	}
}

// isName reports whether the string that ends at i is the name of a member.
func (w *walk) isName(i int) bool {
	for i < len(w.text) && (w.text[i] == ' ' || w.text[i] == '\t' || w.text[i] == '\n' || w.text[i] == '\r') {
		i++
	}
	return i < len(w.text) && w.text[i] == ':'
}

// decode returns the text of a literal.
func (w *walk) decode(start, end int) string {
	if inner := w.text[start+1 : end-1]; strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	text, ok := rawjson.Text([]byte(w.text[start:end]))
	if !ok {
		return w.text[start+1 : end-1]
	}
	return text
}

func (w *walk) top() *frame { return &w.frames[len(w.frames)-1] }

// member reads a name. Names hold secrets too, as the keys of a map.
func (w *walk) member(start, end int) {
	name := w.decode(start, end)
	f := w.top()
	f.naming, f.role = w.r.name(name), roleOf(name)
	if len(name) >= valueMin {
		if clean, n := w.r.scan(name); n > 0 {
			w.edits = append(w.edits, edit{start, end, string(rawjson.String(clean))})
		}
	}
}

// done ends the value of a member, or an element.
func (w *walk) done(s span) {
	f := w.top()
	switch f.role {
	case labelRole:
		f.label = s
	case keyRole:
		f.key = s
	case valueRole:
		f.value = s
	}
	f.naming, f.role = harmless, noRole
}

// literal reads a text that is a value.
func (w *walk) literal(start, end int) {
	text := w.decode(start, end)
	f := w.top()
	naming := f.naming
	if naming == bareKey {
		naming = harmless // the end of the object tells
	}
	if !w.strikeUnder(naming, span{start, end}) {
		if clean, n := w.r.text(text, w.depth); n > 0 {
			w.edits = append(w.edits, edit{start, end, string(rawjson.String(clean))})
		}
	}
	w.done(span{start, end})
	if !f.object && len(text) > 2 && text[0] == '-' && strings.IndexByte(text, '=') < 0 {
		f.naming = w.r.name(text)
	}
}

// scalar reads a number, true, false or null.
func (w *walk) scalar(start, end int) {
	naming := w.top().naming
	if naming == bareKey {
		naming = harmless
	}
	if !w.strikeUnder(naming, span{start, end}) && w.r.values.in(w.text[start:end]) {
		w.replace(span{start, end})
	}
	w.done(span{start, end})
}

// open reads the beginning of a container, or all of one that is secret.
func (w *walk) open(i int) int {
	if f := w.top(); f.naming >= wary && !(f.schema && isSchema(w.text[i:])) {
		end := containerEnd(w.text, i)
		if end < 0 {
			return -1
		}
		w.strikeUnder(secret, span{i, end})
		w.done(span{i, end})
		return end
	}
	w.frames = append(w.frames, frame{start: i, object: w.text[i] == '{', schema: w.top().role == schemaRole})
	return i + 1
}

// isSchema reports whether a container begins as a JSON Schema does, which describes
// a secret and holds none.
func isSchema(text string) bool {
	text = strings.TrimLeft(text[1:], " \t\r\n")
	for _, keyword := range [...]string{`"type"`, `"description"`, `"title"`, `"$ref"`, `"anyOf"`, `"oneOf"`} {
		if strings.HasPrefix(text, keyword) {
			return true
		}
	}
	return false
}

// containerEnd returns the index behind the container that starts at i, or -1.
func containerEnd(text string, i int) int {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := stringEnd(text, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// close ends a container at i, which is behind it. A pair is judged when all of it
// was seen, since its value may stand before its name.
func (w *walk) close(i int) {
	f := *w.top()
	w.frames = w.frames[:len(w.frames)-1]
	none := span{}
	switch {
	case f.value != none:
		for _, name := range [...]span{f.label, f.key} {
			if name != none && w.text[name.start] == '"' {
				w.strikeUnder(w.r.name(w.decode(name.start, name.end)), f.value)
			}
		}
	case f.key != none:
		w.strikeUnder(bareKey, f.key)
	}
	w.done(span{f.start, i})
}

// strikeUnder replaces a value that stands under a name, unless it is none, and
// reports whether it is dealt with.
func (w *walk) strikeUnder(n naming, s span) bool {
	text := w.text[s.start:s.end]
	switch {
	case n == harmless:
		return false
	case text == `""`, text == markerJSON, text == "null", text == "true", text == "false", text == "[]", text == "{}":
		return true
	}
	switch first := text[0]; {
	case n >= secret:
	case first == '{', first == '[':
		return false
	case first != '"': // a number: of a few digits it counts something
		if n == bareKey || len(text) < 6 {
			return false
		}
	default:
		value := w.decode(s.start, s.end)
		if n == bareKey && (utf8.RuneCountInString(value) < bareKeyMin || isIssueKey(value)) || n == wary && isPath(value) {
			return false
		}
	}
	w.replace(s)
	return true
}

// replace puts the marker in place of a value, and of the edits within it.
func (w *walk) replace(s span) {
	from := sort.Search(len(w.edits), func(i int) bool { return w.edits[i].start >= s.start })
	to := sort.Search(len(w.edits), func(i int) bool { return w.edits[i].start >= s.end })
	w.edits = slices.Replace(w.edits, from, to, edit{s.start, s.end, markerJSON})
}
