package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// place tells people where a thing stands in a file.
type place struct {
	file string
	line int
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

// errorAt words a fault at a place, with a hint.
func (p place) errorAt(hint, format string, args ...any) error {
	return fmt.Errorf("%s: %w\nhint: %s", p, fmt.Errorf(format, args...), hint)
}

// element is one value of a JSON array with the line that it starts on.
type element struct {
	raw  json.RawMessage
	line int
}

// checkUTF8 refuses text that is not UTF-8: JSON decoders would quietly replace
// what they cannot read, and token counts with it.
func checkUTF8(file string, data []byte) error {
	if utf8.Valid(data) {
		return nil
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			line, column := rawjson.Position(data, int64(i))
			return fmt.Errorf("%s:%d:%d: invalid UTF-8 (byte 0x%02x)\nhint: convert the file to UTF-8", file, line, column, data[i])
		}
		i += n
	}
	return nil
}

// syntaxError places a decoding error by line and column. base is the offset of
// data in the file that whole holds.
func syntaxError(file string, whole []byte, base int64, data []byte, err error) error {
	line, column := rawjson.Position(whole, base+rawjson.ErrorOffset(err, data))
	hint := "check the JSON there"
	if len(bytes.TrimSpace(data)) == 0 {
		hint = "the file is empty: export it again"
	} else if rawjson.ErrorOffset(err, data) >= int64(len(data)) {
		hint = "the file stops short: it may be truncated"
	}
	return fmt.Errorf("%s:%d:%d: invalid JSON: %w\nhint: %s", file, line, column, err, hint)
}

// elements splits the JSON array that starts at offset base of whole, bytes
// kept.
func elements(file string, whole []byte, base int64, array []byte) ([]element, error) {
	d := json.NewDecoder(bytes.NewReader(array))
	if _, err := d.Token(); err != nil {
		return nil, syntaxError(file, whole, base, array, err)
	}
	var out []element
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, syntaxError(file, whole, base, array, err)
		}
		line, _ := rawjson.Position(whole, base+d.InputOffset()-int64(len(raw)))
		out = append(out, element{raw, line})
	}
	return out, nil
}

// members splits a JSON object, values as they stand in the file, with the
// offset of each value.
func members(file string, whole []byte, base int64, object []byte) ([]rawjson.Field, []int64, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil, nil, syntaxError(file, whole, base, object, err)
	}
	var fields []rawjson.Field
	var offsets []int64
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, syntaxError(file, whole, base, object, err)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, nil, syntaxError(file, whole, base, object, err)
		}
		fields = append(fields, rawjson.Field{Key: key.(string), Value: raw})
		offsets = append(offsets, base+d.InputOffset()-int64(len(raw)))
	}
	return fields, offsets, nil
}

// card is a tool card of the project's own format.
type card struct {
	Name          string          `json:"name"`
	Toolset       string          `json:"toolset"`
	Description   string          `json:"description"`
	Parameters    json.RawMessage `json:"parameters"`
	RequiresEnv   []string        `json:"requires_env"`
	Check         string          `json:"check"`
	MaxResultSize int             `json:"max_result_size_chars"`
	Async         bool            `json:"async"`
	ReadOnly      bool            `json:"read_only"`
	Mentions      []Mention       `json:"mentions"`
}

// cardFields are the fields that a card may have, for hints.
var cardFields = []string{"name", "toolset", "description", "parameters", "requires_env", "check", "max_result_size_chars", "async", "read_only", "mentions"}

// cards reads a card file: {"server": …, "tools": [card, …]}; without a server,
// each card names its toolset.
func (l *loader) cards(file string, data []byte) error {
	if err := checkUTF8(file, data); err != nil {
		return err
	}
	if !json.Valid(data) {
		var v any
		return syntaxError(file, data, 0, data, json.Unmarshal(data, &v))
	}
	if kind := rawjson.Kind(data); kind != "object" {
		return place{file, 1}.errorAt("write {\"server\": …, \"tools\": […]}", "a card file is an object, not %s", kind)
	}
	fields, offsets, err := members(file, data, 0, data)
	if err != nil {
		return err
	}
	var server string
	for i, f := range fields {
		line, _ := rawjson.Position(data, offsets[i])
		at := place{file, line}
		switch f.Key {
		case "server":
			if json.Unmarshal(f.Value, &server) != nil || server == "" {
				return at.errorAt("name the MCP server, or leave the field out", "server is %s, want a non-empty string", rawjson.Kind(f.Value))
			}
		case "schema_version":
			if err := checkVersion(at, f.Value); err != nil {
				return err
			}
		case "tools":
		default:
			return at.errorAt("a card file has schema_version, server and tools", "unknown field %q", f.Key)
		}
	}
	for i, f := range fields {
		if f.Key != "tools" {
			continue
		}
		if rawjson.Kind(f.Value) != "array" {
			line, _ := rawjson.Position(data, offsets[i])
			return place{file, line}.errorAt("write tools: [ … ]", "tools is %s, want array", rawjson.Kind(f.Value))
		}
		list, err := elements(file, data, offsets[i], f.Value)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := l.card(place{file, e.line}, server, e.raw); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkVersion(at place, raw json.RawMessage) error {
	var v int
	if json.Unmarshal(raw, &v) != nil || v != SchemaVersion {
		return at.errorAt(fmt.Sprintf("this program reads schema_version %d", SchemaVersion), "schema_version %s is not supported", raw)
	}
	return nil
}

func (l *loader) card(at place, server string, raw json.RawMessage) error {
	fields, err := rawjson.Object(raw)
	if err != nil {
		return at.errorAt("a card is an object with a name", "tool card: %w", err)
	}
	for _, f := range fields {
		if !slices.Contains(cardFields, f.Key) {
			return at.errorAt(nearestHint(f.Key, cardFields), "unknown field %q in tool card", f.Key)
		}
	}
	var c card
	if err := json.Unmarshal(raw, &c); err != nil {
		return at.errorAt("see the card's fields in docs/format.md", "tool card: %w", err)
	}
	if c.Name == "" {
		return at.errorAt("give every tool a non-empty name", "tool without a name")
	}
	if server == "" && c.Toolset == "" {
		return at.errorAt("name the server at the top of the file, or the card's toolset", "tool %q has neither server nor toolset", c.Name)
	}
	if c.MaxResultSize < 0 {
		return at.errorAt("leave it out for no cap", "tool %q: max_result_size_chars %d is negative", c.Name, c.MaxResultSize)
	}
	t := &Tool{
		Server: server, Name: c.Name, Toolset: c.Toolset, Builtin: server == "", Raw: bytes.Clone(raw),
		RequiresEnv: c.RequiresEnv, Check: c.Check, MaxResultSize: c.MaxResultSize, Async: c.Async, ReadOnly: c.ReadOnly, Mentions: c.Mentions,
	}
	for _, m := range c.Mentions {
		if m.Text == "" || strings.Count(c.Description, m.Text) != 1 || len(m.Tools) == 0 {
			return at.errorAt("give text that stands once in the description, and tools", "tool %q: mention %q", c.Name, m.Text)
		}
	}
	return l.add(at, t, functionFields(c.Description, c.Parameters), refuseDuplicates)
}

// functionFields are the members of a function object behind the name.
func functionFields(description string, parameters json.RawMessage) []rawjson.Field {
	fields := []rawjson.Field{{Key: "description", Value: rawjson.String(description)}}
	if parameters != nil {
		fields = append(fields, rawjson.Field{Key: "parameters", Value: parameters})
	}
	return fields
}
