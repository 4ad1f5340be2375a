package shape

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// The bounds of a summary by the rules.
const (
	linesMax   = 20  // of plain text, from the first
	lineMax    = 200 // code points of a line, or of a text in JSON
	samplesMax = 5   // elements of an array, from the first
	depthMax   = 4   // containers within containers
)

// keyFields are the members that a summary keeps: what happened, what it is, how
// much there is, and how to get the next part. Their names are compared without case
// and without what separates their words. Members that are objects or arrays are
// looked into, whatever their names.
var keyFields = func() map[string]bool {
	m := make(map[string]bool)
	for _, name := range strings.Fields("error errors message detail reason status statuscode code ok success " +
		"id key name title summary description type kind state path url uri link " +
		"count total size length page pages hasmore next nextpage nextpagetoken cursor offset " +
		"createdat updatedat date time timestamp") {
		m[name] = true
	}
	return m
}()

// digest shortens a text by the rules: of JSON it keeps the key fields, of anything
// else the first lines.
func (s *shaper) digest(w *whole) string {
	if startsJSON(w.text) {
		if out, ok := digestJSON([]byte(w.text), 0); ok {
			w.note, w.summary = "summary by key fields", true
			return string(out)
		}
		return w.text
	}
	w.note, w.summary = "summary by first lines", true
	lines := strings.SplitN(w.text, "\n", linesMax+1)
	if len(lines) > linesMax {
		lines = lines[:linesMax]
	}
	for i, line := range lines {
		lines[i] = clip(strings.TrimRight(line, "\r"))
	}
	return strings.Join(lines, "\n")
}

func startsJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && (text[0] == '{' || text[0] == '[')
}

// digestJSON returns what the rules keep of a value; ok is false where that is
// nothing.
func digestJSON(raw []byte, depth int) (out json.RawMessage, ok bool) {
	switch rawjson.Kind(raw) {
	case "object":
		return digestObject(raw, depth)
	case "array":
		return digestArray(raw, depth)
	case "string":
		text, _ := rawjson.Text(raw)
		return rawjson.String(clip(text)), true
	}
	return raw, true
}

func digestObject(raw []byte, depth int) (json.RawMessage, bool) {
	fields, err := rawjson.Object(raw)
	if err != nil || depth >= depthMax {
		return nil, false
	}
	var kept []rawjson.Field
	for _, f := range fields {
		container := f.Value[0] == '{' || f.Value[0] == '['
		if !container && !keyFields[squash(f.Key)] {
			continue
		}
		if value, ok := digestJSON(f.Value, depth+1); ok {
			kept = append(kept, rawjson.Field{Key: f.Key, Value: value})
		}
	}
	return rawjson.AppendObject(nil, kept), len(kept) > 0
}

func digestArray(raw []byte, depth int) (json.RawMessage, bool) {
	elements, err := rawjson.Array(raw)
	if err != nil || depth >= depthMax {
		return nil, false
	}
	out := []byte{'['}
	kept := 0
	for _, e := range elements[:min(len(elements), samplesMax)] {
		value, ok := digestJSON(e, depth+1)
		if !ok {
			continue
		}
		if kept++; kept > 1 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	if kept == 0 {
		return nil, false
	}
	if more := len(elements) - kept; more > 0 {
		out = append(append(out, ','), rawjson.String(fmt.Sprintf("… %d more", more))...)
	}
	return append(out, ']'), true
}

// squash leaves the letters of a name, in lower case.
func squash(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == ' ' || c == '.' {
			return -1
		}
		return c
	}, strings.ToLower(name))
}

// clip shortens a line.
func clip(line string) string {
	if len(line) <= lineMax || utf8.RuneCountInString(line) <= lineMax {
		return line
	}
	return line[:byteOffset(line, lineMax)] + "…"
}

// byteOffset returns where a text's code point n starts, or the text's length.
func byteOffset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// resultScheme begins the path of a whole result.
const resultScheme = "result://"

// lazy returns a handle and what is known of the result in place of it.
func (s *shaper) lazy(w *whole, id string) (string, bool) {
	kind := "text/plain"
	if startsJSON(w.text) && json.Valid([]byte(w.text)) {
		kind = "application/json"
	}
	s.keep(w, id)
	if w.handle == "" {
		return "", false
	}
	fields := []rawjson.Field{
		{Key: "handle", Value: rawjson.String(w.handle)},
		{Key: "path", Value: rawjson.String(resultScheme + w.handle)},
		{Key: "size", Value: json.RawMessage(fmt.Sprint(w.bytes))},
		{Key: "type", Value: rawjson.String(kind)},
		{Key: "tokens", Value: json.RawMessage(fmt.Sprint(w.tokens))},
		{Key: "read_with", Value: rawjson.String(ReadTool)},
	}
	if w.capped() {
		fields = append(fields, rawjson.Field{Key: "read", Value: json.RawMessage(fmt.Sprint(w.read))})
	}
	for _, n := range [...]int{len(fields), 1} {
		text := string(rawjson.AppendObject(nil, fields[:n]))
		if s.max == 0 || s.tokens(text) <= s.max {
			s.out.TruncatedTokens += w.tokens
			return text, true
		}
	}
	return "", false
}
