package assembly

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func TestSanitizeSchema(t *testing.T) {
	long := strings.Repeat("n", 70)
	for _, row := range []struct{ name, in, want string }{
		{"nothing to do", `{"type":"object","properties":{"a-b.c_D9":{"type":"string"}},"required":["a-b.c_D9"]}`, ""},
		{"no properties", `{"type":"object"}`, ""},
		{"a space", `{"properties":{"a b":{}}}`, `{"properties":{"a_b":{}}}`},
		{"each character becomes one underscore", `{"properties":{"größe 工":{}}}`, `{"properties":{"gr__e__":{}}}`},
		{"an empty name", `{"properties":{"":{}}}`, `{"properties":{"_":{}}}`},
		{"required follows", `{"required":["x","a b"],"properties":{"a b":{},"x":{}}}`, `{"required":["x","a_b"],"properties":{"a_b":{},"x":{}}}`},
		{"a sibling has the name", `{"properties":{"a b":{},"a_b":{},"a/b":{}}}`, `{"properties":{"a_b_2":{},"a_b":{},"a_b_3":{}}}`},
		{"64 characters stay", `{"properties":{"` + long[:64] + `":{}}}`, ""},
		{"65 are cut", `{"properties":{"` + long[:65] + `":{}}}`, `{"properties":{"` + long[:64] + `":{}}}`},
		{"cut and numbered", `{"properties":{"` + long[:65] + `":{},"` + long[:66] + `":{}}}`, `{"properties":{"` + long[:64] + `":{},"` + long[:62] + `_2":{}}}`},
		{"below a property", `{"properties":{"x":{"type":"object","properties":{"a b":{}},"required":["a b"]}}}`, `{"properties":{"x":{"type":"object","properties":{"a_b":{}},"required":["a_b"]}}}`},
		{"below a renamed property", `{"properties":{"x y":{"properties":{"a b":{}}}}}`, `{"properties":{"x_y":{"properties":{"a_b":{}}}}}`},
		{"below items", `{"properties":{"x":{"type":"array","items":{"properties":{"a b":{}}}}}}`, `{"properties":{"x":{"type":"array","items":{"properties":{"a_b":{}}}}}}`},
		{"items of items", `{"properties":{"x":{"items":{"items":{"properties":{"a b":{}}}}}}}`, `{"properties":{"x":{"items":{"items":{"properties":{"a_b":{}}}}}}}`},
		{"properties that are none", `{"properties":["a b"]}`, ""},
		{"a property that is no schema", `{"properties":{"a b":true}}`, `{"properties":{"a_b":true}}`},
		{"a property called properties", `{"properties":{"properties":{"type":"string"}}}`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, renamed := sanitizeSchema(json.RawMessage(row.in))
			want := row.want
			if want == "" {
				want = row.in
			}
			if string(got) != want || (renamed != nil) != (row.want != "") {
				t.Errorf("got  %s, renamed %t\nwant %s", got, renamed != nil, want)
			}
		})
	}
}

// TestRestore: what the model writes under the names that it was shown comes
// back under the tool's own.
func TestRestore(t *testing.T) {
	_, renamed := sanitizeSchema(json.RawMessage(`{"properties":{
		"a b":{"type":"string"},
		"deep one":{"type":"object","properties":{"c d":{},"plain":{}}},
		"list":{"type":"array","items":{"properties":{"e f":{}}}}}}`))
	for in, want := range map[string]string{
		`{"a_b":1}`:                         `{"a b":1}`,
		`{"unknown":{"a_b":1},"a_b":2}`:     `{"unknown":{"a_b":1},"a b":2}`,
		`{"deep_one":{"c_d":1,"plain":2}}`:  `{"deep one":{"c d":1,"plain":2}}`,
		`{"deep_one":"text"}`:               `{"deep one":"text"}`,
		`{"list":[{"e_f":1},2,{"e_f":{}}]}`: `{"list":[{"e f":1},2,{"e f":{}}]}`,
		`{"list":[]}`:                       `{"list":[]}`,
		`{"c_d":1}`:                         `{"c_d":1}`,
		`{}`:                                `{}`,
		`[{"a_b":1}]`:                       `[{"a_b":1}]`,
		`{"a_b":"\"quoted\" 工","list":{"e_f":1}}`: `{"a b":"\"quoted\" 工","list":{"e_f":1}}`,
	} {
		if got := renamed.restore(json.RawMessage(in)); string(got) != want {
			t.Errorf("restore(%s) = %s, want %s", in, got, want)
		}
	}
	var nothing *renaming
	if got := nothing.restore(json.RawMessage(`{ "a" : 1 }`)); string(got) != `{ "a" : 1 }` {
		t.Errorf("nothing renamed, but %s", got)
	}
}

// TestSanitizedIsKept: the same definition is worked on once, and a clean one
// is passed on as it is.
func TestSanitizedIsKept(t *testing.T) {
	s, log := NewShared(), slog.New(slog.DiscardHandler)
	clean, err := registry.Define("clean", "", json.RawMessage(`{"properties":{"a":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	odd, err := registry.Define("odd", "", json.RawMessage(`{"properties":{"a b":{}},"required":["a b"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.sanitized(clean, log); got.definition != clean || got.renamed != nil {
		t.Errorf("a clean definition became %s", got.definition.JSON)
	}
	first := s.sanitized(odd, log)
	if strings.Join(first.definition.Properties, " ") != "a_b" || strings.Join(first.definition.Required, " ") != "a_b" {
		t.Errorf("definition %s", first.definition.JSON)
	}
	if s.sanitized(odd, log).definition != first.definition {
		t.Error("the same definition was sanitized twice")
	}
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// shape is an object whose names may be anything; the property below writes it
// as a schema, and an instance of it under the original names.
type shape struct {
	names  []string
	fields []*shape // nil for a scalar
	list   bool     // an array of such objects
}

func drawShape(rt *rapid.T, depth int) *shape {
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "a b", "a_b", "a/b", "a_b_2", "", "größe", "工具", "$ref", "x.y-z", strings.Repeat("l", 64), strings.Repeat("l", 65), strings.Repeat("l", 66)}),
		rapid.String())
	s := &shape{list: rapid.Bool().Draw(rt, "list")}
	s.names = rapid.SliceOfNDistinct(name, 0, 5, rapid.ID).Draw(rt, "names")
	for range s.names {
		var field *shape
		if depth > 0 && rapid.IntRange(0, 2).Draw(rt, "kind") == 0 {
			field = drawShape(rt, depth-1)
		}
		s.fields = append(s.fields, field)
	}
	return s
}

func (s *shape) schema() json.RawMessage {
	if s == nil {
		return json.RawMessage(`{"type":"integer"}`)
	}
	var properties []rawjson.Field
	required := []byte{'['}
	for i, name := range s.names {
		properties = append(properties, rawjson.Field{Key: name, Value: s.fields[i].schema()})
		if i > 0 {
			required = append(required, ',')
		}
		required = rawjson.AppendString(required, name)
	}
	object := rawjson.AppendObject(nil, []rawjson.Field{
		{Key: "type", Value: json.RawMessage(`"object"`)},
		{Key: "properties", Value: rawjson.AppendObject(nil, properties)},
		{Key: "required", Value: append(required, ']')},
	})
	if s.list {
		return json.RawMessage(`{"type":"array","items":` + string(object) + `}`)
	}
	return object
}

// instance writes a value of the shape, with the names of the given schema: the
// original one, or what became of it.
func (s *shape) instance(rt *rapid.T, schema json.RawMessage) json.RawMessage {
	if s == nil {
		return json.RawMessage(`1`)
	}
	if s.list {
		items := member(rt, schema, "items")
		inner := (&shape{names: s.names, fields: s.fields}).instance(rt, items)
		return json.RawMessage("[" + string(inner) + "," + string(inner) + "]")
	}
	properties, err := rawjson.Object(member(rt, schema, "properties"))
	if err != nil {
		rt.Fatal(err)
	}
	var required []string
	if err := json.Unmarshal(member(rt, schema, "required"), &required); err != nil {
		rt.Fatal(err)
	}
	seen := make(map[string]bool)
	var fields []rawjson.Field
	for i, p := range properties {
		if seen[p.Key] || required[i] != p.Key {
			rt.Fatalf("property %q: repeated %t, required %q", p.Key, seen[p.Key], required[i])
		}
		seen[p.Key] = true
		fields = append(fields, rawjson.Field{Key: p.Key, Value: s.fields[i].instance(rt, p.Value)})
	}
	return rawjson.AppendObject(nil, fields)
}

func member(rt *rapid.T, object json.RawMessage, key string) json.RawMessage {
	fields, err := rawjson.Object(object)
	if err != nil {
		rt.Fatalf("%s: %v", object, err)
	}
	value, ok := rawjson.Get(fields, key)
	if !ok {
		rt.Fatalf("%s has no %s", object, key)
	}
	return value
}

// TestSanitizedNamesRestore: every name of every level is one that model APIs
// take, and arguments written under these names come back under the originals.
func TestSanitizedNamesRestore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawShape(rt, 3)
		s.list = false
		original := s.schema()
		clean, renamed := sanitizeSchema(original)
		checkNames(rt, clean)
		written := s.instance(rt, clean)
		want := s.instance(rt, original)
		if got := renamed.restore(written); string(got) != string(want) {
			rt.Fatalf("written  %s\nrestored %s\nwant     %s", written, got, want)
		}
		again, twice := sanitizeSchema(clean)
		if twice != nil || string(again) != string(clean) {
			rt.Fatalf("sanitizing twice: %s, then %s", clean, again)
		}
	})
}

func checkNames(rt *rapid.T, schema json.RawMessage) {
	fields, err := rawjson.Object(schema)
	if err != nil {
		rt.Fatalf("%s: %v", schema, err)
	}
	if items, ok := rawjson.Get(fields, "items"); ok {
		checkNames(rt, items)
	}
	raw, ok := rawjson.Get(fields, "properties")
	if !ok {
		return
	}
	properties, err := rawjson.Object(raw)
	if err != nil {
		rt.Fatal(err)
	}
	for _, p := range properties {
		if !validName.MatchString(p.Key) {
			rt.Fatalf("property name %q", p.Key)
		}
		checkNames(rt, p.Value)
	}
}

// FuzzSanitizeSchema: any schema stays valid JSON of the same kind, and what is
// left of its names is fit for use.
func FuzzSanitizeSchema(f *testing.F) {
	for _, seed := range []string{
		`{"properties":{"a b":{"items":{"properties":{"":1}}}},"required":["a b",7]}`, `{"properties":{"a b":1,"a b":2}}`, `[]`, `{"items":[{"properties":{"a b":{}}}]}`,
	} {
		f.Add(seed, `{"a_b":[{"_":1}]}`)
	}
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		compact, err := rawjson.Compact([]byte(schema))
		if err != nil || !json.Valid([]byte(arguments)) {
			return
		}
		clean, renamed := sanitizeSchema(compact)
		if !json.Valid(clean) || rawjson.Kind(clean) != rawjson.Kind(compact) {
			t.Fatalf("%s became %s", compact, clean)
		}
		if renamed == nil && string(clean) != string(compact) {
			t.Fatalf("nothing renamed, but %s became %s", compact, clean)
		}
		if restored := renamed.restore(json.RawMessage(arguments)); !json.Valid(restored) {
			t.Fatalf("%s restored to %s", arguments, restored)
		}
	})
}

func Example_sanitizeSchema() {
	clean, renamed := sanitizeSchema(json.RawMessage(`{"properties":{"file path":{"type":"string"}},"required":["file path"]}`))
	fmt.Println(string(clean))
	fmt.Println(string(renamed.restore(json.RawMessage(`{"file_path":"/etc/hosts"}`))))
	// Output:
	// {"properties":{"file_path":{"type":"string"}},"required":["file_path"]}
	// {"file path":"/etc/hosts"}
}
