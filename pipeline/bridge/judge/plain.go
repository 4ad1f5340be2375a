package judge

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// plain is a schema that says no more than types, properties and enumerations, as most
// tools' do. Arguments that fit one can be told without decoding them. It only ever says
// yes: what it does not know to fit is judged in full.
type plain struct {
	kinds      []string // of JSON; nil: any
	integer    bool     // numbers are whole
	properties map[string]*plain
	required   []string
	closed     bool // no other properties
	items      *plain
	enum       [][]byte // literals; nil: any
}

// plainDepthMax bounds the nesting of plain schemas.
const plainDepthMax = 8

// plainOf reads a decoded schema, before it was adapted; nil if it is not plain.
func plainOf(schema any, depth int) *plain {
	s, ok := schema.(map[string]any)
	if !ok || depth > plainDepthMax {
		return nil
	}
	p := &plain{}
	for keyword, value := range s {
		switch keyword {
		case "$schema", "title", "description", "default", "examples", "format", "deprecated", "readOnly", "writeOnly":
		case "type":
			if !p.types(value) {
				return nil
			}
		case "required":
			list, ok := value.([]any)
			if !ok {
				return nil
			}
			for _, name := range list {
				text, ok := name.(string)
				if !ok {
					return nil
				}
				p.required = append(p.required, text)
			}
		case "properties":
			members, ok := value.(map[string]any)
			if !ok {
				return nil
			}
			p.properties = make(map[string]*plain, len(members))
			for name, member := range members {
				if p.properties[name] = plainOf(member, depth+1); p.properties[name] == nil {
					return nil
				}
			}
		case "additionalProperties":
			allowed, ok := value.(bool)
			if !ok {
				return nil
			}
			p.closed = !allowed
		case "items":
			if p.items = plainOf(value, depth+1); p.items == nil {
				return nil
			}
		case "enum":
			list, ok := value.([]any)
			if !ok {
				return nil
			}
			for _, v := range list {
				text, ok := v.(string)
				if !ok {
					return nil
				}
				p.enum = append(p.enum, rawjson.String(text))
			}
			if p.enum == nil {
				return nil
			}
		default:
			return nil
		}
	}
	return p
}

// types reads the keyword type.
func (p *plain) types(value any) bool {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, t := range list {
		switch t {
		case "string", "boolean", "null", "object", "array", "number":
			p.kinds = append(p.kinds, t.(string))
		case "integer":
			p.kinds, p.integer = append(p.kinds, "number"), true
		default:
			return false
		}
	}
	return len(list) == 1 || !p.integer // beside others a whole number may be a number too
}

// fits reports whether a compact value is known to fit.
func (p *plain) fits(value json.RawMessage) bool {
	kind := rawjson.Kind(value)
	switch {
	case p.kinds != nil && !slices.Contains(p.kinds, kind),
		p.integer && kind == "number" && bytes.ContainsAny(value, ".eE"),
		p.enum != nil && !slices.ContainsFunc(p.enum, func(e []byte) bool { return bytes.Equal(e, value) }):
		return false
	case kind == "array" && p.items != nil:
		elements, err := rawjson.Array(value)
		return err == nil && !slices.ContainsFunc(elements, func(e json.RawMessage) bool { return !p.items.fits(e) })
	case kind == "object":
		return p.fitsObject(value)
	}
	return true
}

func (p *plain) fitsObject(value json.RawMessage) bool {
	fields, err := rawjson.Object(value)
	if err != nil {
		return false
	}
	for i, f := range fields {
		member, known := p.properties[f.Key]
		if !known && p.closed || known && !member.fits(f.Value) {
			return false
		}
		for _, other := range fields[:i] {
			if other.Key == f.Key {
				return false
			}
		}
	}
	for _, name := range p.required {
		if _, ok := rawjson.Get(fields, name); !ok {
			return false
		}
	}
	return true
}
