package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// strict decodes one vector and notes everything in it that its format does not have. The standard decoder would let
// through fields in another letter case, repeated and missing ones, and null for anything.
//
// Formats are structs. A field's tag gives its exact name; ",omitempty" lets it be absent. A pointer lets a value be
// null. A json.RawMessage is any value, taken as content; a []rawjson.Field is an object whose keys are content, in
// order, each once.
type strict struct {
	faults []Difference
}

func (s *strict) fault(path, format string, args ...any) {
	s.faults = append(s.faults, Difference{Path: path, Fault: fmt.Sprintf(format, args...)})
}

// decode fills the struct that into points to.
func (s *strict) decode(path string, raw json.RawMessage, into any) {
	s.value(path, raw, reflect.ValueOf(into).Elem())
}

var (
	anyValue  = reflect.TypeFor[json.RawMessage]()
	anyObject = reflect.TypeFor[[]rawjson.Field]()
)

func (s *strict) value(path string, raw json.RawMessage, into reflect.Value) {
	switch {
	case into.Type() == anyValue:
		into.SetBytes(raw)
	case into.Type() == anyObject:
		into.Set(reflect.ValueOf(s.members(path, raw)))
	case into.Kind() == reflect.Pointer:
		if rawjson.Kind(raw) != "null" {
			into.Set(reflect.New(into.Type().Elem()))
			s.value(path, raw, into.Elem())
		}
	case into.Kind() == reflect.Struct:
		s.object(path, raw, into)
	case into.Kind() == reflect.Slice:
		s.list(path, raw, into)
	default:
		s.scalar(path, raw, into)
	}
}

// members splits an object and refuses repeated keys.
func (s *strict) members(path string, raw json.RawMessage) []rawjson.Field {
	fields, err := rawjson.Object(raw)
	if err != nil {
		s.fault(path, "is %s, want object", rawjson.Kind(raw))
		return nil
	}
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		if seen[f.Key] {
			s.fault(join(path, f.Key), "stands here twice")
		}
		seen[f.Key] = true
	}
	return fields
}

func (s *strict) object(path string, raw json.RawMessage, into reflect.Value) {
	if rawjson.Kind(raw) != "object" {
		s.fault(path, "is %s, want object", rawjson.Kind(raw))
		return
	}
	given := s.members(path, raw)
	known := fieldNames(into.Type())
	for _, f := range given {
		if !slices.Contains(known, f.Key) {
			s.fault(join(path, f.Key), "unknown field; the known ones here are: %s", strings.Join(known, ", "))
		}
	}
	for i := range into.NumField() {
		name, options, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		raw, ok := rawjson.Get(given, name)
		switch {
		case ok:
			s.value(join(path, name), raw, into.Field(i))
		case options != "omitempty":
			s.fault(join(path, name), "missing")
		}
	}
}

func (s *strict) list(path string, raw json.RawMessage, into reflect.Value) {
	elements, err := rawjson.Array(raw)
	if err != nil {
		s.fault(path, "is %s, want array", rawjson.Kind(raw))
		return
	}
	list := reflect.MakeSlice(into.Type(), len(elements), len(elements))
	for i, e := range elements {
		s.value(index(path, i), e, list.Index(i))
	}
	into.Set(list)
}

func (s *strict) scalar(path string, raw json.RawMessage, into reflect.Value) {
	wanted := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "whole number", reflect.Float64: "number",
	}[into.Kind()]
	kind := rawjson.Kind(raw)
	if kind == "null" || json.Unmarshal(raw, into.Addr().Interface()) != nil {
		s.fault(path, "is %s, want %s", describe(kind, raw), wanted)
	}
}

// describe names a scalar by kind; a number is shown, since its fault is often its value.
func describe(kind string, raw json.RawMessage) string {
	const shownMax = 40
	if kind == "number" && len(raw) <= shownMax {
		return string(raw)
	}
	return kind
}

// fieldNames returns the names of a format's fields, in order.
func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// fieldsOf returns the top-level fields of a format.
func fieldsOf[T any]() []string { return fieldNames(reflect.TypeFor[T]()) }
