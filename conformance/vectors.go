package conformance

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// vector is one recorded input with its expected decisions, as it stands in a file.
type vector struct {
	raw  json.RawMessage
	line int // on which it begins, from 1
}

// split reads a file as a stream of JSON values, one a line or in any other layout, or as one array of them. It never
// returns an empty slice without an error.
func split(file string, data []byte) ([]vector, error) {
	if err := checkUTF8(file, data); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, badInput("%s: the file is empty\nhint: fetch or export it again", file)
	}
	values, err := splitStream(file, data, 0)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 && values[0].raw[0] == '[' {
		start := len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
		return splitArray(file, data, start, values[0].raw)
	}
	return values, nil
}

// splitStream splits data from an offset to its end.
func splitStream(file string, data []byte, start int) ([]vector, error) {
	var values []vector
	d := json.NewDecoder(bytes.NewReader(data[start:]))
	lines := lineCounter{data: data, line: 1}
	for {
		before := start + int(d.InputOffset())
		if len(bytes.TrimSpace(data[before:])) == 0 {
			return values, nil
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, syntaxError(file, data, before)
		}
		values = append(values, vector{raw, lines.at(start + int(d.InputOffset()) - len(raw))})
	}
}

// splitArray splits the array that begins at an offset of data, and that is known to be valid.
func splitArray(file string, data []byte, start int, array json.RawMessage) ([]vector, error) {
	d := json.NewDecoder(bytes.NewReader(array))
	if _, err := d.Token(); err != nil {
		return nil, syntaxError(file, data, start)
	}
	var values []vector
	lines := lineCounter{data: data, line: 1}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, syntaxError(file, data, start)
		}
		values = append(values, vector{raw, lines.at(start + int(d.InputOffset()) - len(raw))})
	}
	if len(values) == 0 {
		return nil, badInput("%s: the array holds no vectors\nhint: fetch or export the file again", file)
	}
	return values, nil
}

// lineCounter finds lines for growing offsets, each byte looked at once.
type lineCounter struct {
	data   []byte
	offset int
	line   int
}

func (c *lineCounter) at(offset int) int {
	c.line += bytes.Count(c.data[c.offset:offset], []byte{'\n'})
	c.offset = offset
	return c.line
}

// syntaxError places the fault in the value that begins at or after an offset of data.
func syntaxError(file string, data []byte, start int) error {
	// The value is decoded alone: a decoder that has already returned values counts offsets differently.
	var raw json.RawMessage
	err := json.NewDecoder(bytes.NewReader(data[start:])).Decode(&raw)
	offset := rawjson.ErrorOffset(err, data[start:])
	line, column := rawjson.Position(data, int64(start)+offset)
	hint := "check the JSON there; a file of vectors is JSON Lines or one array"
	if int64(start)+offset >= int64(len(data)) {
		hint = "the file stops short: fetch or export it again"
	}
	return badInput("%s:%d:%d: invalid JSON: %w\nhint: %s", file, line, column, err, hint)
}

// checkUTF8 refuses other encodings: JSON decoders would quietly replace what they cannot read.
func checkUTF8(file string, data []byte) error {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			line, column := rawjson.Position(data, int64(i))
			return badInput("%s:%d:%d: invalid UTF-8 (byte 0x%02x)\nhint: convert the file to UTF-8", file, line, column, data[i])
		}
		i += n
	}
	return nil
}

// format is one kind of vector file.
type format struct {
	name string
	// fields are the top-level fields of a vector, by which the format is told.
	fields []string
	// kinds are the decisions that are compared, in the order of the report.
	kinds   []string
	ignored []Ignored
	begin   func(*runner, *tally) checker
}

// checker compares the vectors of one file.
type checker interface {
	// check compares one vector.
	check(vector)
	// finish compares what only the file as a whole can tell.
	finish()
}

func formats() []format {
	return []format{bridgeFormat(), toolsetsFormat(), builtinFormat(), distributionsFormat(), samplingFormat()}
}

// formatOf tells the format of a file by its first vector: the one whose fields it shares most of, half of them at
// least, so that a vector with a field missing or misspelt is still known for what it is, and reported.
func formatOf(file string, first vector) (format, error) {
	fields, err := rawjson.Object(first.raw)
	var best format
	var share float64
	names := []string{}
	for _, f := range formats() {
		known := 0
		for _, name := range f.fields {
			if _, ok := rawjson.Get(fields, name); ok {
				known++
			}
		}
		if s := float64(known) / float64(len(f.fields)); s >= 0.5 && s > share {
			best, share = f, s
		}
		names = append(names, f.name+" ("+strings.Join(f.fields, ", ")+")")
	}
	if err != nil || share == 0 {
		return format{}, badInput("%s:%d: not a vector of a known format\nhint: the formats are told by their fields: %s",
			file, first.line, strings.Join(names, "; "))
	}
	return best, nil
}

// stringField peeks at a text field of a vector that may not be readable otherwise.
func stringField(v vector, name string) string {
	fields, err := rawjson.Object(v.raw)
	if err != nil {
		return ""
	}
	raw, ok := rawjson.Get(fields, name)
	if !ok {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// sortedNames returns a sorted copy, never nil, so that no names and an empty list are one.
func sortedNames(names []string) []string {
	return slices.Sorted(slices.Values(append([]string{}, names...)))
}
