package assembly

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// propertyNameMax is the longest property name that model APIs accept.
const propertyNameMax = 64

// sharedMax bounds each map of a Shared; a full map is emptied.
const sharedMax = 1 << 18

// Shared keeps per-tool work between the assemblers of one goroutine, by
// content: definitions are immutable, so a pointer stands for content, and
// definitions that are made anew at each assembly are interned by their JSON.
type Shared struct {
	clean    map[*registry.Definition]sanitized
	interned map[string]*registry.Definition
}

// NewShared returns an empty store.
func NewShared() *Shared {
	return &Shared{
		clean:    make(map[*registry.Definition]sanitized),
		interned: make(map[string]*registry.Definition),
	}
}

// intern returns the one definition that stands for this content.
func (s *Shared) intern(d *registry.Definition) *registry.Definition {
	if known, ok := s.interned[d.JSON]; ok {
		return known
	}
	if len(s.interned) >= sharedMax {
		clear(s.interned)
	}
	s.interned[d.JSON] = d
	return d
}

// sanitized is a definition whose property names every model API accepts, and
// how to get the original names back.
type sanitized struct {
	definition *registry.Definition
	renamed    *renaming
}

func (s *Shared) sanitized(d *registry.Definition, log *slog.Logger) sanitized {
	if clean, ok := s.clean[d]; ok {
		return clean
	}
	clean := sanitized{definition: d}
	if len(d.Parameters) > 0 {
		schema, renamed := sanitizeSchema(d.Parameters)
		if renamed != nil {
			changed, err := d.With(rawjson.Field{Key: "parameters", Value: schema})
			if err != nil {
				log.Warn("schema not sanitized", "tool", d.Name, "err", err)
			} else {
				clean = sanitized{definition: changed, renamed: renamed}
			}
		}
	}
	if len(s.clean) >= sharedMax {
		clear(s.clean)
	}
	s.clean[d] = clean
	return clean
}

// renaming maps sanitized property names back, level by level. Nil means that
// nothing was renamed here or below.
type renaming struct {
	original map[string]string
	children map[string]*renaming // by sanitized name
	items    *renaming
}

// restore gives arguments their original names.
func (r *renaming) restore(value json.RawMessage) json.RawMessage {
	if r == nil {
		return value
	}
	switch rawjson.Kind(value) {
	case "object":
		fields, err := rawjson.Object(value)
		if err != nil {
			return value
		}
		for i, f := range fields {
			fields[i].Value = r.children[f.Key].restore(f.Value)
			if original, ok := r.original[f.Key]; ok {
				fields[i].Key = original
			}
		}
		return rawjson.AppendObject(nil, fields)
	case "array":
		elements, err := rawjson.Array(value)
		if err != nil || r.items == nil {
			return value
		}
		out := []byte{'['}
		for i, e := range elements {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, r.items.restore(e)...)
		}
		return append(out, ']')
	default:
		return value
	}
}

// sanitizeSchema renames the properties of an object schema whose names are not
// of the form [A-Za-z0-9_.-]{1,64}, at every level of properties and items. A
// nil renaming means that the schema stands as it is.
func sanitizeSchema(schema json.RawMessage) (json.RawMessage, *renaming) {
	members, err := rawjson.Object(schema)
	if err != nil {
		return schema, nil
	}
	r := &renaming{original: make(map[string]string), children: make(map[string]*renaming)}
	for i, m := range members {
		switch m.Key {
		case "properties":
			members[i].Value = sanitizeProperties(m.Value, r)
		case "items":
			members[i].Value, r.items = sanitizeSchema(m.Value)
		}
	}
	if len(r.original) == 0 && len(r.children) == 0 && r.items == nil {
		return schema, nil
	}
	if raw, ok := rawjson.Get(members, "required"); ok {
		members = rawjson.Set(members, "required", renameRequired(raw, r))
	}
	return rawjson.AppendObject(nil, members), r
}

func sanitizeProperties(raw json.RawMessage, r *renaming) json.RawMessage {
	properties, err := rawjson.Object(raw)
	if err != nil {
		return raw
	}
	taken := make(map[string]bool, len(properties))
	for _, p := range properties {
		taken[p.Key] = taken[p.Key] || validPropertyName(p.Key)
	}
	for i, p := range properties {
		name := p.Key
		if !validPropertyName(name) {
			name = freePropertyName(p.Key, taken)
			taken[name] = true
			r.original[name] = p.Key
			properties[i].Key = name
		}
		value, child := sanitizeSchema(p.Value)
		properties[i].Value = value
		if child != nil {
			r.children[name] = child
		}
	}
	return rawjson.AppendObject(nil, properties)
}

func renameRequired(raw json.RawMessage, r *renaming) json.RawMessage {
	var names []string
	if json.Unmarshal(raw, &names) != nil {
		return raw
	}
	clean := make(map[string]string, len(r.original))
	for name, original := range r.original {
		clean[original] = name
	}
	out := []byte{'['}
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		if renamed, ok := clean[name]; ok {
			name = renamed
		}
		out = rawjson.AppendString(out, name)
	}
	return append(out, ']')
}

func validPropertyName(name string) bool {
	if name == "" || len(name) > propertyNameMax {
		return false
	}
	for i := range len(name) {
		if !isPropertyByte(name[i]) {
			return false
		}
	}
	return true
}

func isPropertyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
}

// freePropertyName replaces what is not allowed by an underscore, cuts to the
// limit, and numbers the name if a sibling has it already.
func freePropertyName(name string, taken map[string]bool) string {
	mapped := strings.Map(func(c rune) rune {
		if c < utf8.RuneSelf && isPropertyByte(byte(c)) {
			return c
		}
		return '_'
	}, name)
	if mapped == "" {
		mapped = "_"
	}
	if len(mapped) > propertyNameMax {
		mapped = mapped[:propertyNameMax]
	}
	free := mapped
	for n := 2; taken[free]; n++ {
		suffix := "_" + strconv.Itoa(n)
		free = mapped[:min(len(mapped), propertyNameMax-len(suffix))] + suffix
	}
	return free
}
