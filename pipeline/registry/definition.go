package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// Definition is what a model may see of one tool: the function object of an
// OpenAI tools array. A Definition is immutable once made, so one pointer can
// be shared by every registry, surface and memo that holds this content.
type Definition struct {
	Name        string
	Description string
	// Parameters is the JSON Schema of the arguments, compact; nil if absent.
	Parameters json.RawMessage
	// JSON is the whole entry of the tools array, compact:
	// {"type":"function","function":{…}}, keys in the order they were given.
	JSON string
	// Runes is the number of code points in JSON.
	Runes int
	// Properties are the top-level parameter names in declaration order.
	Properties []string
	// Required are the required top-level parameters in the schema's order.
	Required []string

	function []rawjson.Field
}

// Define makes a definition with the usual keys: name, description, parameters.
// A nil parameters leaves that key out. It fails if name is empty or
// parameters is not a JSON object. Invalid UTF-8 in the texts becomes U+FFFD.
func Define(name, description string, parameters json.RawMessage) (*Definition, error) {
	d := &Definition{Name: name, Description: description}
	if name == "" {
		return nil, errNoName
	}
	d.function = []rawjson.Field{
		{Key: "name", Value: rawjson.String(name)},
		{Key: "description", Value: rawjson.String(description)},
	}
	if parameters != nil {
		compact, err := rawjson.Compact(parameters)
		if err != nil {
			return nil, fmt.Errorf("tool %q: parameters: %w", name, err)
		}
		d.function = append(d.function, rawjson.Field{Key: "parameters", Value: compact})
	}
	return d, d.finish()
}

// NewDefinition makes a definition from the function object's members, kept in
// the order given. The values must be valid JSON.
func NewDefinition(function []rawjson.Field) (*Definition, error) {
	d := &Definition{}
	if err := d.readText(function); err != nil {
		return nil, err
	}
	d.function = make([]rawjson.Field, len(function))
	for i, f := range function {
		value, err := rawjson.Compact(f.Value)
		if err != nil {
			return nil, fmt.Errorf("tool %q: field %s: %w", d.Name, f.Key, err)
		}
		d.function[i] = rawjson.Field{Key: f.Key, Value: value}
	}
	return d, d.finish()
}

// errNoName refuses a tool that nobody could call.
var errNoName = fmt.Errorf("tool without a name\nhint: give every tool a non-empty string under %q", "name")

// finish reads the schema and writes the entry of the tools array; function
// holds compact values.
func (d *Definition) finish() error {
	if raw, ok := rawjson.Get(d.function, "parameters"); ok && rawjson.Kind(raw) != "null" {
		if err := d.readParameters(raw); err != nil {
			return fmt.Errorf("tool %q: %w", d.Name, err)
		}
	}
	d.write()
	return nil
}

// write writes the entry of the tools array.
func (d *Definition) write() {
	d.JSON = entryJSON(d.function)
	d.Runes = utf8.RuneCountInString(d.JSON)
}

// entryJSON writes the entry of the tools array that a function object makes.
func entryJSON(function []rawjson.Field) string {
	const head, tail = `{"type":"function","function":{`, `}}`
	size := len(head) + len(tail)
	for _, f := range function {
		size += len(f.Key) + len(`"":,`) + len(f.Value)
	}
	var text strings.Builder
	text.Grow(size)
	text.WriteString(head)
	for i, f := range function {
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(rawjson.String(f.Key))
		text.WriteByte(':')
		text.Write(f.Value)
	}
	text.WriteString(tail)
	return text.String()
}

func (d *Definition) readText(function []rawjson.Field) error {
	raw, _ := rawjson.Get(function, "name")
	if err := json.Unmarshal(raw, &d.Name); err != nil || d.Name == "" {
		return errNoName
	}
	if raw, ok := rawjson.Get(function, "description"); ok {
		if err := json.Unmarshal(raw, &d.Description); err != nil {
			return fmt.Errorf("tool %q: description is %s, want string", d.Name, rawjson.Kind(raw))
		}
	}
	return nil
}

// readParameters takes what the pipeline asks of a schema. Only the outer shape
// is checked: what a property's schema says is the argument validator's
// business, and real servers list schemas that no validator accepts.
func (d *Definition) readParameters(raw json.RawMessage) error {
	schema, err := rawjson.Object(raw)
	if err != nil {
		return fmt.Errorf("parameters: %w\nhint: parameters is a JSON Schema, an object such as {\"type\":\"object\",\"properties\":{}}", err)
	}
	d.Parameters = raw
	if properties, ok := rawjson.Get(schema, "properties"); ok {
		fields, err := rawjson.Object(properties)
		if err == nil {
			for _, f := range fields {
				d.Properties = append(d.Properties, f.Key)
			}
		}
	}
	if required, ok := rawjson.Get(schema, "required"); ok {
		var names []string
		if json.Unmarshal(required, &names) == nil {
			d.Required = names
		}
	}
	return nil
}

// With returns a definition with the given fields replaced where they stand and
// new ones appended in the order given. It fails where NewDefinition would.
func (d *Definition) With(fields ...rawjson.Field) (*Definition, error) {
	function := make([]rawjson.Field, len(d.function), len(d.function)+len(fields))
	copy(function, d.function)
	for _, f := range fields {
		function = rawjson.Set(function, f.Key, f.Value)
	}
	return NewDefinition(function)
}

// WithDescription returns a definition with another description and all else
// shared: With for a field that needs no reading.
func (d *Definition) WithDescription(description string) *Definition {
	changed := *d
	changed.Description = description
	changed.function = rawjson.Set(slices.Clone(d.function), "description", rawjson.String(description))
	changed.write()
	return &changed
}
