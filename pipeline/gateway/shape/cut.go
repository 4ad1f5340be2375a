package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// marker says of a result that something was left out, how much there is, and how to
// have it.
type marker struct {
	handle string
	tokens int
	bytes  int64
	capped bool // not even the handle has all of it
	note   string
}

// text is the marker of a text, of which shown characters are left.
func (m marker) text(shown int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n[cut: the whole has %d tokens, %d bytes", m.tokens, m.bytes)
	if m.capped {
		b.WriteString(", more than is read")
	}
	if m.note != "" {
		b.WriteString("; " + m.note)
	}
	if m.handle != "" {
		fmt.Fprintf(&b, "; read on with result_read, handle %s, offset %d", m.handle, shown)
	}
	b.WriteString("]")
	return b.String()
}

// short are markers for where the full one does not fit, the longest first.
func (m marker) short() []string {
	return []string{fmt.Sprintf("[cut; handle %s]", m.handle), "[cut]", ""}
}

// json is the marker as the value of the member or element that a JSON result ends with.
func (m marker) json() json.RawMessage {
	fields := []rawjson.Field{{Key: "tokens", Value: number(m.tokens)}, {Key: "bytes", Value: json.RawMessage(fmt.Sprint(m.bytes))}}
	if m.capped {
		fields = append(fields, rawjson.Field{Key: "more_than_is_read", Value: json.RawMessage("true")})
	}
	if m.note != "" {
		fields = append(fields, rawjson.Field{Key: "note", Value: rawjson.String(m.note)})
	}
	if m.handle != "" {
		fields = append(fields, rawjson.Field{Key: "read_on", Value: rawjson.String("result_read")}, rawjson.Field{Key: "handle", Value: rawjson.String(m.handle)})
	}
	return rawjson.AppendObject(nil, fields)
}

// cutName is the name of the member that says that something was left out.
const cutName = "_cut"

// metadata is what a lazy tool returns in place of its result.
func (m marker) metadata(text string) string {
	kind := "text"
	if json.Valid([]byte(text)) {
		kind = "json"
	}
	fields := []rawjson.Field{
		{Key: "path", Value: rawjson.String("result://" + m.handle)}, {Key: "handle", Value: rawjson.String(m.handle)},
		{Key: "type", Value: rawjson.String(kind)}, {Key: "bytes", Value: json.RawMessage(fmt.Sprint(m.bytes))},
		{Key: "characters", Value: number(utf8.RuneCountInString(text))}, {Key: "lines", Value: number(strings.Count(text, "\n") + 1)},
		{Key: "tokens", Value: number(m.tokens)}, {Key: "read_on", Value: rawjson.String("result_read")},
	}
	return string(rawjson.AppendObject(nil, fields))
}

func number(n int) json.RawMessage { return json.RawMessage(fmt.Sprint(n)) }

// cut leaves of a text what fits, marker included: of JSON leading members and elements,
// so that it stays JSON, of others leading characters.
func (in *Input) cut(text string, most int, m marker) string {
	if kind := rawjson.Kind([]byte(strings.TrimLeft(text, " \t\r\n"))); (kind == "object" || kind == "array") && json.Valid([]byte(text)) {
		if out, ok := in.cutJSON(text, most, m); ok {
			return out
		}
	}
	return in.cutText(text, most, m)
}

// cutText cuts at a character. Texts of one length need not have as many tokens, so what
// the search finds is looked at again.
func (in *Input) cutText(text string, most int, m marker) string {
	ends := make([]int, 0, len(text)+1) // the byte offsets at which characters begin, and the end
	for i := range text {
		ends = append(ends, i)
	}
	ends = append(ends, len(text))
	fits := func(i int) bool { return in.Tokens(text[:ends[i]]+m.text(i)) <= most }
	n := sort.Search(len(ends), func(i int) bool { return !fits(i) }) - 1
	for n >= 0 && !fits(n) {
		n--
	}
	if n >= 0 {
		return text[:ends[n]] + m.text(n)
	}
	for _, short := range m.short() {
		if in.Tokens(short) <= most {
			return short
		}
	}
	return ""
}

// cutJSON cuts an object or an array; false if not even its marker fits.
func (in *Input) cutJSON(text string, most int, m marker) (string, bool) {
	compact, err := rawjson.Compact([]byte(text))
	if err != nil {
		return "", false
	}
	closed := func(budget int) string { return withMarker(prune(compact, budget, 0), m) }
	fits := func(budget int) bool { return in.Tokens(closed(budget)) <= most }
	n := sort.Search(len(compact)+1, func(i int) bool { return !fits(i) }) - 1
	for step := 1; n >= 0 && !fits(n); step *= 2 {
		n -= step
	}
	if n < 0 {
		return "", false
	}
	return closed(n), true
}

// withMarker puts the marker at the end of a container.
func withMarker(value []byte, m marker) string {
	mark := rawjson.AppendObject(nil, []rawjson.Field{{Key: cutName, Value: m.json()}})
	if len(value) < 2 {
		return string(mark)
	}
	inner := value[1 : len(value)-1]
	if value[0] == '{' {
		mark = mark[1 : len(mark)-1]
	}
	out := append([]byte{value[0]}, inner...)
	if len(inner) > 0 {
		out = append(out, ',')
	}
	return string(append(append(out, mark...), value[len(value)-1]))
}

// pruneDepthMax is how deep prune cuts into what does not fit.
const pruneDepthMax = 32

// prune leaves of a compact JSON value what has at most budget bytes: the leading members
// or elements, the last of them itself pruned. It is empty if nothing fits.
func prune(value []byte, budget, depth int) []byte {
	if len(value) <= budget {
		return value
	}
	if budget < 2 || depth > pruneDepthMax {
		return nil
	}
	switch value[0] {
	case '{':
		fields, err := rawjson.Object(value)
		if err != nil {
			return nil
		}
		return pruneList('{', '}', budget, depth, len(fields), func(i int) ([]byte, []byte) {
			return append(rawjson.String(fields[i].Key), ':'), fields[i].Value
		})
	case '[':
		elements, err := rawjson.Array(value)
		if err != nil {
			return nil
		}
		return pruneList('[', ']', budget, depth, len(elements), func(i int) ([]byte, []byte) { return nil, elements[i] })
	case '"':
		return pruneText(value, budget)
	default:
		return nil
	}
}

func pruneList(opens, closes byte, budget, depth, n int, item func(int) (key, value []byte)) []byte {
	out := []byte{opens}
	for i := range n {
		key, value := item(i)
		room := budget - len(out) - 1 - len(key)
		if i > 0 {
			room--
		}
		kept := prune(value, room, depth+1)
		if kept == nil {
			break
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, key...), kept...)
		if len(kept) < len(value) {
			break
		}
	}
	return append(out, closes)
}

// pruneText cuts a text at a character, and ends it with an ellipsis.
func pruneText(literal []byte, budget int) []byte {
	const ellipsis = "…"
	text, ok := rawjson.Text(literal)
	if !ok || budget < 2+len(ellipsis) {
		return nil
	}
	for text != "" {
		out := rawjson.String(text + ellipsis)
		if len(out) <= budget {
			return out
		}
		over := len(out) - budget
		end := max(0, len(text)-max(over/6, 1)) // an escape has at most six bytes for one
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	return nil
}

// keyFields are members of results that say what the others are about.
var keyFields = map[string]bool{
	"code": true, "count": true, "cursor": true, "error": true, "errors": true, "id": true, "key": true, "kind": true, "message": true, "name": true, "next": true,
	"next_page_token": true, "nextPageToken": true, "number": true, "path": true, "size": true, "state": true, "status": true, "summary": true, "title": true,
	"total": true, "type": true, "url": true, "warning": true,
}

// Bounds of an outline.
const (
	outlineLines    = 20
	outlineElements = 5
	outlineDepth    = 4
)

// outline keeps, by rules, what tells most about a result: of JSON the key fields and the
// first elements of lists, of a text its first lines and those of key fields.
func outline(text string) string {
	if json.Valid([]byte(text)) {
		if compact, err := rawjson.Compact([]byte(text)); err == nil {
			if kept := outlineJSON(compact, 0); kept != nil {
				return string(kept)
			}
		}
	}
	var kept []string
	for i, line := range strings.Split(text, "\n") {
		name, _, ok := strings.Cut(line, ":")
		if i < outlineLines || ok && keyFields[strings.ToLower(strings.TrimSpace(name))] {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// outlineJSON is the outline of a value; nil for one without any key field.
func outlineJSON(value []byte, depth int) []byte {
	if depth > outlineDepth {
		return nil
	}
	switch value[0] {
	case '{':
		fields, err := rawjson.Object(value)
		if err != nil {
			return nil
		}
		var kept []rawjson.Field
		for _, f := range fields {
			container := f.Value[0] == '{' || f.Value[0] == '['
			if container {
				if inner := outlineJSON(f.Value, depth+1); inner != nil {
					kept = append(kept, rawjson.Field{Key: f.Key, Value: inner})
				}
			} else if keyFields[f.Key] {
				kept = append(kept, f)
			}
		}
		if kept == nil {
			return nil
		}
		return rawjson.AppendObject(nil, kept)
	case '[':
		elements, err := rawjson.Array(value)
		if err != nil || len(elements) == 0 {
			return nil
		}
		var kept [][]byte
		for _, e := range elements[:min(len(elements), outlineElements)] {
			if inner := outlineJSON(e, depth+1); inner != nil {
				kept = append(kept, inner)
			}
		}
		if kept == nil {
			return nil
		}
		if more := len(elements) - outlineElements; more > 0 {
			kept = append(kept, fmt.Appendf(nil, `{"_more":%d}`, more))
		}
		return append(append([]byte{'['}, bytes.Join(kept, []byte{','})...), ']')
	default:
		return value
	}
}
