package replay

import (
	"bytes"
	"encoding/json"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// fillerDepthMax ends schemas that go on for ever.
const fillerDepthMax = 8

// fillArguments makes up the required arguments of a tool, the least that its
// schema allows: what a model calls a tool with that it has mistaken for another.
func fillArguments(d *registry.Definition) json.RawMessage {
	return fillObject(d.Parameters, fillerDepthMax)
}

// fillersMax bounds the made-up arguments that a player keeps.
const fillersMax = 1 << 16

// filled is fillArguments, each tool's made up once.
func (p *Player) filled(d *registry.Definition) json.RawMessage {
	arguments, ok := p.fillers[d]
	if !ok {
		arguments = fillArguments(d)
		if len(p.fillers) >= fillersMax {
			clear(p.fillers)
		}
		p.fillers[d] = arguments
	}
	return arguments
}

// fill is the least value that a schema allows, as far as its common keywords
// tell; where they tell nothing, a word.
func fill(schema json.RawMessage, depth int) json.RawMessage {
	fields, err := rawjson.Object(schema)
	if err != nil || depth == 0 {
		return json.RawMessage(`"x"`)
	}
	if value, ok := rawjson.Get(fields, "const"); ok {
		return value
	}
	if value, ok := firstOf(fields, "enum"); ok {
		return value
	}
	for _, choice := range []string{"anyOf", "oneOf", "allOf"} {
		if branch, ok := firstOf(fields, choice); ok {
			return fill(branch, depth-1)
		}
	}
	kind, _ := rawjson.Get(fields, "type")
	if first, ok := firstOf(fields, "type"); ok {
		kind = first
	}
	switch string(kind) {
	case `"object"`:
		return fillObject(schema, depth-1)
	case `"array"`:
		return fillArray(fields, depth-1)
	case `"integer"`, `"number"`:
		if least, ok := rawjson.Get(fields, "minimum"); ok && rawjson.Kind(least) == "number" {
			return least
		}
		return json.RawMessage("1")
	case `"boolean"`:
		return json.RawMessage("true")
	case `"null"`:
		return json.RawMessage("null")
	default:
		return json.RawMessage(`"x"`)
	}
}

// firstOf is the first element of a list among a schema's fields.
func firstOf(fields []rawjson.Field, key string) (json.RawMessage, bool) {
	raw, ok := rawjson.Get(fields, key)
	if !ok {
		return nil, false
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil, false
	}
	return list[0], true
}

func fillObject(schema json.RawMessage, depth int) json.RawMessage {
	fields, _ := rawjson.Object(schema)
	properties, _ := rawjson.Get(fields, "properties")
	each, _ := rawjson.Object(properties)
	var required []string
	if raw, ok := rawjson.Get(fields, "required"); ok {
		_ = json.Unmarshal(raw, &required) // a list of something else requires nothing
	}
	var out []rawjson.Field
	for _, name := range required {
		if _, twice := rawjson.Get(out, name); !twice {
			property, _ := rawjson.Get(each, name)
			out = append(out, rawjson.Field{Key: name, Value: fill(property, depth)})
		}
	}
	return rawjson.AppendObject(nil, out)
}

// fillArray has no elements unless the schema wants some.
func fillArray(fields []rawjson.Field, depth int) json.RawMessage {
	least := 0
	if raw, ok := rawjson.Get(fields, "minItems"); ok {
		_ = json.Unmarshal(raw, &least)
	}
	items, _ := rawjson.Get(fields, "items")
	parts := make([][]byte, min(max(least, 0), fillerDepthMax))
	for i := range parts {
		parts[i] = fill(items, depth)
	}
	return append(append([]byte{'['}, bytes.Join(parts, []byte{','})...), ']')
}
