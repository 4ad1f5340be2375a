package bridge

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// Types is what coercion knows of a schema: the JSON types of each value. Nil
// stands for a schema that says nothing.
type Types struct {
	allowed    []string
	properties map[string]*Types
	items      *Types
	// blank: blank text stands for an empty object.
	blank bool
}

// ReadTypes reads the types from a schema once, for calls to come. Parts of the
// schema that cannot be read say nothing.
func (v Variant) ReadTypes(schema json.RawMessage) *Types {
	return readTypes(schema, v.rules().blankObjects)
}

func readTypes(schema json.RawMessage, blankObjects bool) *Types {
	members, err := rawjson.Object(schema)
	if err != nil {
		return nil
	}
	t := &Types{allowed: schemaTypes(members)}
	t.blank = blankObjects && slices.Contains(t.allowed, "object") && !requires(members)
	if raw, ok := rawjson.Get(members, "properties"); ok {
		if properties, err := rawjson.Object(raw); err == nil {
			t.properties = make(map[string]*Types, len(properties))
			for _, p := range properties {
				t.properties[p.Key] = readTypes(p.Value, blankObjects)
			}
		}
	}
	if items, ok := rawjson.Get(members, "items"); ok {
		t.items = readTypes(items, blankObjects)
	}
	return t
}

// Coerce repairs arguments that a model wrote in the wrong JSON type, where the
// schema says what was meant: "42" for an integer, "true" for a boolean, JSON
// text for an array or an object, one value for an array of them, "null" where
// null is allowed, and the same inside nested objects and arrays. Whatever cannot
// be repaired stays as it is; inf and nan stay text, since JSON has no such
// numbers. In September blank text stands for an object, if that requires no
// members.
func (t *Types) Coerce(object json.RawMessage) json.RawMessage {
	if t == nil || len(t.properties) == 0 {
		return object
	}
	fields, err := rawjson.Object(object)
	if err != nil {
		return object
	}
	changed := false
	for i, f := range fields {
		fields[i].Value = t.properties[f.Key].value(f.Value)
		changed = changed || string(fields[i].Value) != string(f.Value)
	}
	if !changed {
		return object
	}
	return rawjson.AppendObject(nil, fields)
}

func (t *Types) value(value json.RawMessage) json.RawMessage {
	if t == nil || len(t.allowed) == 0 {
		return value
	}
	kind := rawjson.Kind(value)
	if kind == "string" && !slices.Contains(t.allowed, "string") {
		value = t.text(value)
		kind = rawjson.Kind(value)
	}
	switch {
	case kind == "object" && slices.Contains(t.allowed, "object"):
		return t.Coerce(value)
	case kind == "array" && slices.Contains(t.allowed, "array"):
		return t.array(value)
	case t.allowed[0] == "array" && kind != "object" && kind != "array" && kind != "null" && !isOf(value, kind, t.allowed):
		return t.array(append(append([]byte{'['}, value...), ']'))
	default:
		return value
	}
}

func (t *Types) array(array json.RawMessage) json.RawMessage {
	if t.items == nil {
		return array
	}
	elements, err := rawjson.Array(array)
	if err != nil {
		return array
	}
	out := []byte{'['}
	for i, e := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, t.items.value(e)...)
	}
	return append(out, ']')
}

// isOf reports whether a scalar is of one of the wanted types.
func isOf(value json.RawMessage, kind string, types []string) bool {
	if slices.Contains(types, kind) {
		return true
	}
	if kind != "number" || !slices.Contains(types, "integer") {
		return false
	}
	f, err := strconv.ParseFloat(string(value), 64)
	return err == nil && f == math.Trunc(f)
}

// text turns a JSON string into the first of the allowed types that its text is
// a value of.
func (t *Types) text(value json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value
	}
	text = strings.TrimFunc(text, isSpace)
	if t.blank && text == "" {
		return json.RawMessage("{}")
	}
	for _, allowed := range t.allowed {
		if v := textAs(text, allowed); v != nil {
			return v
		}
	}
	return value
}

// requires reports whether an object schema has required members.
func requires(members []rawjson.Field) bool {
	raw, ok := rawjson.Get(members, "required")
	return ok && string(raw) != "[]"
}

func textAs(text, wanted string) json.RawMessage {
	switch wanted {
	case "integer", "number":
		if digits, ok := joinDigits(text); ok {
			if n, ok := new(big.Int).SetString(digits, 10); ok {
				return json.RawMessage(n.String()) // exact: identifiers outgrow doubles
			}
		}
		f, err := parseFloatText(text)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil
		}
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return json.RawMessage(strconv.FormatInt(int64(f), 10))
		}
		if wanted == "number" {
			return json.RawMessage(strconv.FormatFloat(f, 'g', -1, 64))
		}
	case "boolean":
		if lower := strings.ToLower(text); lower == "true" || lower == "false" {
			return json.RawMessage(lower)
		}
	case "null":
		if strings.EqualFold(text, "null") {
			return json.RawMessage("null")
		}
	case "array", "object":
		compact, err := rawjson.Compact([]byte(text))
		if err == nil && rawjson.Kind(compact) == wanted {
			return compact
		}
	}
	return nil
}

// schemaTypes lists the JSON types that a property may have: its type keyword
// (a name or a list), null where nullable is true; without a type keyword, the
// types of the branches of anyOf and oneOf. A branch that names no type may
// allow any, text included, so beside one only null is sure.
func schemaTypes(members []rawjson.Field) []string {
	var types []string
	if raw, ok := rawjson.Get(members, "type"); ok {
		var one string
		var many []string
		if json.Unmarshal(raw, &one) == nil {
			types = append(types, one)
		} else if json.Unmarshal(raw, &many) == nil {
			types = append(types, many...)
		}
	}
	if raw, ok := rawjson.Get(members, "nullable"); ok && string(raw) == "true" {
		types = append(types, "null")
	}
	if _, typed := rawjson.Get(members, "type"); typed {
		return types
	}
	open := false
	for _, keyword := range []string{"anyOf", "oneOf"} {
		raw, ok := rawjson.Get(members, keyword)
		if !ok {
			continue
		}
		branches, err := rawjson.Array(raw)
		if err != nil {
			continue
		}
		for _, b := range branches {
			var known []string
			if members, err := rawjson.Object(b); err == nil {
				known = schemaTypes(members)
			}
			open = open || len(known) == 0
			types = append(types, known...)
		}
	}
	if open {
		return slices.DeleteFunc(types, func(t string) bool { return t != "null" })
	}
	return types
}
