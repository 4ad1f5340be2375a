package registry_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func TestNewDefinition(t *testing.T) {
	for _, row := range []struct {
		name, function       string
		properties, required string
	}{
		{"keys in the order given", `{"parameters":{"required":["b","a"],"properties":{"b":{},"a":{}}},"strict":true,"name":"t"}`, "b a", "b a"},
		{"no parameters", `{"name":"t","description":"d"}`, "", ""},
		{"null parameters", `{"name":"t","parameters":null}`, "", ""},
		{"no description", `{"name":"t","parameters":{}}`, "", ""},
		{"properties that are no object are let be", `{"name":"t","parameters":{"properties":["a"],"required":"a"}}`, "", ""},
		{"a required list with other values is let be", `{"name":"t","parameters":{"properties":{"a":{}},"required":["a",1]}}`, "a", ""},
		{"a repeated key: the last wins", `{"name":"t","parameters":{"properties":{"a":{}}},"parameters":{"properties":{"b":{}}}}`, "b", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			fields, err := rawjson.Object([]byte(row.function))
			if err != nil {
				t.Fatal(err)
			}
			d, err := registry.NewDefinition(fields)
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"type":"function","function":` + row.function + `}`; d.JSON != want {
				t.Errorf("JSON %s, want %s", d.JSON, want)
			}
			if p, r := strings.Join(d.Properties, " "), strings.Join(d.Required, " "); p != row.properties || r != row.required {
				t.Errorf("properties %q, required %q; want %q, %q", p, r, row.properties, row.required)
			}
		})
	}
}

func TestNewDefinitionRefuses(t *testing.T) {
	for _, row := range []struct{ function, word string }{
		{`{}`, "without a name"},
		{`{"name":""}`, "without a name"},
		{`{"name":7}`, "without a name"},
		{`{"name":"t","description":{}}`, "description is object"},
		{`{"name":"t","parameters":[]}`, "parameters"},
		{`{"name":"t","parameters":"text"}`, "parameters"},
	} {
		fields, err := rawjson.Object([]byte(row.function))
		if err != nil {
			t.Fatal(err)
		}
		if d, err := registry.NewDefinition(fields); err == nil || !strings.Contains(err.Error(), row.word) {
			t.Errorf("%s: %v, %v; want an error that says %q", row.function, d, err, row.word)
		}
	}
	for _, parameters := range []string{`{`, `[]`, `1`} {
		if _, err := registry.Define("t", "d", json.RawMessage(parameters)); err == nil || !strings.Contains(err.Error(), `"t"`) {
			t.Errorf("Define with parameters %s: error %v does not name the tool", parameters, err)
		}
	}
	if _, err := registry.Define("", "d", nil); err == nil || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("Define without a name: %v", err)
	}
}

func TestDefinitionCountsCodePoints(t *testing.T) {
	plain, err := registry.Define("t", "size", nil)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := registry.Define("t", "größe 工具 😀", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := wide.Runes-plain.Runes, len([]rune("größe 工具 😀"))-len("size"); got != want {
		t.Errorf("%d code points more, want %d", got, want)
	}
}

func TestWithLeavesTheOriginal(t *testing.T) {
	d := definition(t, "t", "a")
	before := d.JSON
	changed, err := d.With(rawjson.Field{Key: "description", Value: rawjson.String("New.")})
	if err != nil {
		t.Fatal(err)
	}
	if changed.Description != "New." || d.JSON != before || d.Description == "New." {
		t.Errorf("changed %q, original %s", changed.Description, d.JSON)
	}
}

// WithDescription makes what With makes of the same text, and leaves the original.
func TestWithDescriptionIsWith(t *testing.T) {
	for _, given := range []string{
		`{"name":"t","description":"Old.","parameters":{"type":"object","properties":{"a":{}},"required":["a"]}}`,
		`{"name":"t","x":1}`,
	} {
		fields, err := rawjson.Object([]byte(given))
		if err != nil {
			t.Fatal(err)
		}
		d, err := registry.NewDefinition(fields)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"", "New, \"quoted\" é.", "two\nlines"} {
			before := d.JSON
			want, err := d.With(rawjson.Field{Key: "description", Value: rawjson.String(text)})
			if err != nil {
				t.Fatal(err)
			}
			if got := d.WithDescription(text); !reflect.DeepEqual(got, want) {
				t.Errorf("%s with %q: %+v, want %+v", given, text, got, want)
			}
			if d.JSON != before {
				t.Errorf("the original became %s", d.JSON)
			}
		}
	}
}

// FuzzNewDefinition: any function object is refused or becomes one compact
// entry of a tools array that says what the object said.
func FuzzNewDefinition(f *testing.F) {
	for _, seed := range []string{
		`{"name":"t"}`, `{"name":"t","description":"\ud800","parameters":{"type":"object","properties":{"\u00e9":{}},"required":["x"]}}`,
		`{"parameters":{"properties":{"a":1,"a":2}},"name":"t","name":"u"}`, `{"name":"\u0000"}`, `[]`, `{"name":"t","x":[{"y":[]}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		fields, err := rawjson.Object(raw)
		if err != nil {
			return
		}
		d, err := registry.NewDefinition(fields)
		if err != nil {
			return
		}
		var entry struct {
			Type     string
			Function struct{ Name, Description string }
		}
		if err := json.Unmarshal([]byte(d.JSON), &entry); err != nil {
			t.Fatalf("%s: %v", d.JSON, err)
		}
		if entry.Type != "function" || d.Name == "" || d.Runes != utf8.RuneCountInString(d.JSON) {
			t.Fatalf("type %q, name %q, %d code points for %s", entry.Type, d.Name, d.Runes, d.JSON)
		}
		compact, err := rawjson.Compact([]byte(d.JSON))
		if err != nil || string(compact) != d.JSON {
			t.Fatalf("not compact: %s, %v", d.JSON, err)
		}
	})
}

func ExampleDefine() {
	d, err := registry.Define("create_issue", "Open an issue.",
		json.RawMessage(`{"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.JSON)
	fmt.Println(d.Properties, d.Required, d.Runes)
	// Output:
	// {"type":"function","function":{"name":"create_issue","description":"Open an issue.","parameters":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}}
	// [title] [title] 178
}

func ExampleRegistry() {
	r := registry.New(registry.Options{})
	d, _ := registry.Define("create_issue", "Open an issue.", nil)
	fmt.Println(r.Register(registry.Registration{Toolset: "mcp-github", Definition: d}))
	fmt.Println(r.Register(registry.Registration{Toolset: "mcp-gitlab", Definition: d}))
	for _, d := range r.Definitions(r.Names()).Definitions {
		fmt.Println(d.Name)
	}
	// Output:
	// <nil>
	// tool name is taken by another toolset: "create_issue" of toolset "mcp-gitlab" is held by toolset "mcp-github"
	// hint: rename the tool, or register it with Override
	// create_issue
}
