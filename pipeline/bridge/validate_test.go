package bridge_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// refusal is why September does not dispatch a call; "" if it does, else
// PATH/CONSTRAINT.
func refusal(t testing.TB, d *desk, tool *registry.Definition, arguments string) string {
	t.Helper()
	refused := d.CheckArguments(tool, json.RawMessage(arguments))
	if refused == nil {
		return ""
	}
	var body struct {
		Error, Path, Constraint, Hint string
		Parameters                    json.RawMessage
	}
	if err := json.Unmarshal([]byte(refused.Result().Text), &body); err != nil {
		t.Fatalf("%s: %v", refused.Result().Text, err)
	}
	if !strings.Contains(body.Error, "not invoked") || !strings.Contains(body.Error, body.Path+" breaks the constraint "+body.Constraint) ||
		string(body.Parameters) != string(tool.Parameters) || body.Hint == "" || refused.Described != tool.Name {
		t.Errorf("%s", refused.Result().Text)
	}
	if class := bridge.ClassMissingRequired; (refused.Class == class) != (body.Path+body.Constraint == "argumentsrequired") ||
		refused.Class != class && refused.Class != bridge.ClassInvalidArguments {
		t.Errorf("class %s of %s", refused.Class, body.Error)
	}
	return body.Path + "/" + body.Constraint
}

const options = `{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"],"additionalProperties":false}`

func TestSchemaIsChecked(t *testing.T) {
	for _, row := range []struct{ name, schema, arguments, want string }{
		{"fits", `{"properties":{"priority":{"enum":["low","high"]}}}`, `{"priority":"low"}`, ""},
		{"enum", `{"properties":{"priority":{"enum":["low","high"]}}}`, `{"priority":"urgent"}`, "arguments.priority/enum"},
		{"type within an object", `{"properties":{"options":` + options + `}}`, `{"options":{"count":"many"}}`, "arguments.options.count/type"},
		{"required within an object", `{"properties":{"options":` + options + `}}`, `{"options":{}}`, "arguments.options/required"},
		{"surplus member", `{"properties":{"options":` + options + `}}`, `{"options":{"count":1,"extra":2}}`, "arguments.options/additionalProperties"},
		{"required", `{"properties":{"a":{}},"required":["a"]}`, `{}`, "arguments/required"},
		{"null counts as given", `{"properties":{"a":{}},"required":["a"]}`, `{"a":null}`, ""},
		{"element", `{"properties":{"tags":{"type":"array","items":{"type":"string"}}}}`, `{"tags":["a",1]}`, "arguments.tags.1/type"},
		{"choice", `{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"boolean"}]}}}`, `{"a":[]}`, "arguments.a/anyOf"},
		{"negation", `{"properties":{"a":{"not":{"const":1}}}}`, `{"a":1}`, "arguments.a/not"},
		{"nothing is allowed", `{"properties":{"a":false}}`, `{"a":1}`, "arguments.a/false"},
		{"all of several", `{"allOf":[{"required":["b"]},{"properties":{"a":{"type":"integer"}}}]}`, `{"a":[]}`, "arguments/required"},
		{"a reference within", `{"$defs":{"n":{"minimum":3}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":2}`, "arguments.a/minimum"},
		{"the outermost first", `{"properties":{"a":{"properties":{"b":{"type":"null"}}},"z":{"type":"null"}}}`, `{"a":{"b":1},"z":1}`, "arguments.z/type"},
		{"missing before other faults", `{"properties":{"a":{}},"required":["z"],"additionalProperties":false}`, `{"b":1}`, "arguments/required"},
		{"by path", `{"properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"}}}`, `{"c":1,"b":1,"a":1}`, "arguments.a/type"},
		{"format is for people", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"at":{"type":"string","format":"date-time"}}}`, `{"at":"noon"}`, ""},

		{"repaired number", `{"properties":{"n":{"type":"integer"}}}`, `{"n":"42"}`, ""},
		{"repaired element", `{"properties":{"n":{"type":"array","items":{"type":"integer"}}}}`, `{"n":"42"}`, ""},
		{"empty object", `{"properties":{"o":{"type":"object"}},"required":["o"]}`, `{"o":{}}`, ""},
		{"blank text for an object", `{"properties":{"o":{"type":"object"}},"required":["o"]}`, `{"o":""}`, ""},
		{"text of an empty object", `{"properties":{"o":{"type":"object"}},"required":["o"]}`, `{"o":"{}"}`, ""},
		{"blank text for an object with members", `{"properties":{"o":` + options + `},"required":["o"]}`, `{"o":""}`, "arguments.o/type"},

		{"nullable", `{"properties":{"a":{"type":"string","nullable":true}}}`, `{"a":null}`, ""},
		{"nullable list of types", `{"properties":{"a":{"type":["string","integer"],"nullable":true}}}`, `{"a":null}`, ""},
		{"nullable enum", `{"properties":{"a":{"type":"string","enum":["x"],"nullable":true}}}`, `{"a":null}`, ""},
		{"nullable enum, another value", `{"properties":{"a":{"type":"string","enum":["x"],"nullable":true}}}`, `{"a":"y"}`, "arguments.a/enum"},
		{"nullable reference", `{"$defs":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/n","nullable":true}}}`, `{"a":null}`, ""},
		{"nullable element", `{"properties":{"a":{"type":"array","items":{"type":"object","nullable":true}}}}`, `{"a":[null]}`, ""},
		{"nullable constant", `{"properties":{"a":{"const":1,"nullable":true}}}`, `{"a":null}`, ""},
		{"nullable surplus member", `{"additionalProperties":{"type":"integer","nullable":true}}`, `{"z":null}`, ""},
		{"nullable surplus member of another type", `{"additionalProperties":{"type":"integer","nullable":true}}`, `{"z":"x"}`, "arguments.z/type"},
		{"nullable place of a list", `{"properties":{"a":{"type":"array","prefixItems":[{"type":"integer","nullable":true}]}}}`, `{"a":[null]}`, ""},
		{"nullable by pattern", `{"patternProperties":{"^x":{"type":"integer","nullable":true}}}`, `{"x1":null}`, ""},
		{"nullable where referred to", `{"$defs":{"n":{"type":"integer","nullable":true}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":null}`, ""},
		{"not nullable", `{"properties":{"a":{"type":"integer","nullable":false}}}`, `{"a":null}`, "arguments.a/type"},
		{"values that look like schemas", `{"properties":{"a":{"enum":[{"$ref":"http://x/y"},{"type":"string","nullable":true,"format":"z"}]}}}`, `{"a":{"type":"string","nullable":true,"format":"z"}}`, ""},
		{"the other such value", `{"properties":{"a":{"enum":[{"$ref":"http://x/y"}]}}}`, `{"a":{"$ref":"http://x/y"}}`, ""},
		{"a property named like a keyword", `{"properties":{"nullable":{"type":"boolean"},"format":{"type":"integer"}},"required":["format"]}`, `{"nullable":true}`, "arguments/required"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDeskOf(t, bridge.September)
			tool := d.schema(t, "mcp-a", "tool", row.schema)
			for range 3 { // the first compiles
				if got := refusal(t, d, tool, row.arguments); got != row.want {
					t.Errorf("%s with %s: %q, want %q", row.schema, row.arguments, got, row.want)
				}
			}
		})
	}
}

// TestRefusalNamesMembers: a model that called blindly is told what to add.
func TestRefusalNamesMembers(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	tool := d.schema(t, "mcp-a", "tool", `{"properties":{"b":{},"a":{}},"required":["b","a"],"additionalProperties":false}`)
	for arguments, want := range map[string]string{
		`{}`:                           "arguments breaks the constraint required: b, a",
		`{"a":1,"b":1,"z":1,"\n y":1}`: "arguments breaks the constraint additionalProperties: \n y, z",
	} {
		if got := d.CheckArguments(tool, json.RawMessage(arguments)); got == nil || !strings.HasSuffix(got.Message, want) {
			t.Errorf("%s: %v, want %q", arguments, got, want)
		}
	}
}

// TestWhatCannotBeJudgedPasses: a schema that is no good stops nobody.
func TestWhatCannotBeJudgedPasses(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	for name, schema := range map[string]string{
		"unknown type": `{"properties":{"a":{"type":"date"}},"required":["a"]}`, "type of a wrong type": `{"type":7}`,
		"required is text": `{"required":"a"}`, "required inside a property": `{"properties":{"a":{"required":true}}}`,
		"pattern beyond the language": `{"properties":{"a":{"pattern":"(?<=x)y"}}}`, "reference into nothing": `{"$ref":"#/$defs/none"}`,
		"reference to itself": `{"$ref":"#"}`, "unknown dialect": `{"$schema":"http://example.com/own","required":["a"]}`,
		"base that is no address": `{"$id":"::","required":["a"]}`, "bound that is no number": `{"minProperties":"3"}`,
	} {
		if got := d.CheckArguments(d.schema(t, "mcp-a", "tool", schema), json.RawMessage(`{}`)); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := d.CheckArguments(nil, json.RawMessage(`{}`)); got != nil {
		t.Errorf("unknown tool: %v", got)
	}
	bare, err := registry.Define("bare", "No schema.", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.CheckArguments(bare, json.RawMessage(`{"a":1}`)); got != nil {
		t.Errorf("no schema: %v", got)
	}
	number := d.schema(t, "mcp-a", "number", `{"properties":{"a":{"type":"number","multipleOf":2,"minimum":1}}}`)
	if got := d.CheckArguments(number, json.RawMessage(`{"a":1e999999999}`)); got != nil {
		t.Errorf("a number without a value: %v", got)
	}
}

// TestChecksEnd: a short schema whose references unfold without end, by itself or
// with the arguments, is given up; a call that is merely large is not.
func TestChecksEnd(t *testing.T) {
	d := newDeskOf(t, bridge.September)
	var laughs strings.Builder
	laughs.WriteString(`{"$ref":"#/$defs/d40","$defs":{"d0":{"required":["x"]}`)
	for i := range 40 {
		fmt.Fprintf(&laughs, `,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i)
	}
	laughs.WriteString(`}}`)
	deep := strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)
	for _, dialect := range []string{"", `"$schema":"http://json-schema.org/draft-07/schema#",`} {
		for schema, arguments := range map[string]string{
			laughs.String(): `{}`,
			`{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}},"additionalProperties":false}`: strings.Replace(deep, "1", `{"b":1}`, 1),
			`{"properties":{"a":{"not":{"oneOf":[{"$ref":"#"},{"$ref":"#"}]}}}}`:                      deep,
		} {
			tool := d.schema(t, "mcp-a", "tool", "{"+dialect+schema[1:])
			if got := d.CheckArguments(tool, json.RawMessage(arguments)); got != nil {
				t.Errorf("%s: %v", tool.Parameters, got)
			}
		}
	}
	large := d.schema(t, "mcp-a", "large", `{"properties":{"a":{"type":"array","items":{"type":"integer","minimum":1}}}}`)
	many := `{"a":[` + strings.Repeat("1,", 10_000) + `0]}`
	for range 6 { // more steps than one check may take, were they not each its own
		if got := refusal(t, d, large, many); got != "arguments.a.10000/minimum" {
			t.Fatalf("a large call: %q", got)
		}
	}
}

// TestNothingIsLoaded: a schema that refers to another document is open, and
// nobody is asked for that document.
func TestNothingIsLoaded(t *testing.T) {
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		_, _ = w.Write([]byte(`{"type":"null"}`))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(`{"type":"null"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDeskOf(t, bridge.September)
	for _, address := range []string{server.URL, "file://" + file, file, "schema.json", "other#/x", "elsewhere"} {
		for _, schema := range []string{`{"properties":{"a":{"$ref":%}}}`, `{"$schema":%,"required":["b"]}`, `{"$ref":%}`} {
			tool := d.schema(t, "mcp-a", "tool", strings.ReplaceAll(schema, "%", string(rawjson.String(address))))
			if got := d.CheckArguments(tool, json.RawMessage(`{"a":1}`)); got != nil {
				t.Errorf("%s: %v", tool.Parameters, got)
			}
		}
	}
	if asked {
		t.Error("the server was asked for a schema")
	}
}

// TestJulyLooksForMissingOnesAlone: what September refuses otherwise, July runs.
func TestJulyLooksForMissingOnesAlone(t *testing.T) {
	d := newDesk(t)
	tool := d.schema(t, "mcp-a", "tool", `{"properties":{"a":{"type":"integer"},"o":{"type":"object"}},"required":["a"]}`)
	if got := d.CheckArguments(tool, json.RawMessage(`{"a":"text","o":""}`)); got != nil {
		t.Errorf("%v", got)
	}
	if got := d.CheckArguments(tool, json.RawMessage(`{}`)); got == nil || got.Class != bridge.ClassMissingRequired || got.Described != "tool" {
		t.Errorf("%v", got)
	}
	if got := string(d.Coerce(tool, json.RawMessage(`{"o":""}`))); got != `{"o":""}` {
		t.Errorf("blank text becomes %s", got)
	}
}

// TestCheckAgreesWithTheSchema: over drawn schemas and values, a call is refused
// exactly if its repaired arguments break the schema.
func TestCheckAgreesWithTheSchema(t *testing.T) {
	refused, passed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		root := &node{kinds: []string{"object"}, properties: []*node{drawNode(rt, 3), drawNode(rt, 3)}}
		schema, err := json.Marshal(root.schema())
		if err != nil {
			rt.Fatal(err)
		}
		arguments, err := json.Marshal(map[string]any{"a": drawValue(rt, 3), "b": drawValue(rt, 3)})
		if err != nil {
			rt.Fatal(err)
		}
		d := newDeskOf(t, bridge.September)
		tool := d.schema(t, "mcp-a", "tool", string(schema))
		var repaired any
		if err := json.Unmarshal(d.Coerce(tool, arguments), &repaired); err != nil {
			rt.Fatal(err)
		}
		got := refusal(t, d, tool, string(arguments))
		if (got == "") != root.accepts(repaired) {
			rt.Fatalf("%s with %s (%v): %q", schema, arguments, repaired, got)
		}
		if again := refusal(t, newDeskOf(t, bridge.September), tool, string(arguments)); again != got {
			rt.Fatalf("%s with %s: %q, then %q", schema, arguments, got, again)
		}
		if got == "" {
			passed++
		} else {
			refused++
		}
	})
	if refused == 0 || passed == 0 {
		t.Errorf("%d refused, %d passed: the property was not tried", refused, passed)
	}
}

// FuzzCheckArguments: whatever a server's schema and a model's arguments are, a
// check ends, twice the same, and hands back the schema if it refuses.
func FuzzCheckArguments(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"properties":{"a":{"type":"integer","nullable":true}},"required":["a"]}`, `{"a":"x"}`},
		{`{"$ref":"#","allOf":[{"$ref":"#/properties/a"}],"properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":{}}}`},
		{`{"$id":"http://x/","$defs":{"a":{"$anchor":"b","not":true}},"$dynamicRef":"#b"}`, `{}`},
		{`{"properties":{"a":{"multipleOf":1e-300,"enum":[1e400]}},"dependencies":{"a":["b"]}}`, `{"a":1e9999}`},
		{`{"items":[{}],"prefixItems":[1],"patternProperties":{"(":{}},"nullable":true,"enum":[]}`, `{"":""}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		tool, err := registry.Define("tool", "Does.", json.RawMessage(schema))
		if err != nil || len(schema)+len(arguments) > 2000 {
			return
		}
		if _, err := rawjson.Object([]byte(arguments)); err != nil {
			return
		}
		var results [2]string
		for i := range results {
			d := newDeskOf(t, bridge.September)
			if refused := d.CheckArguments(tool, json.RawMessage(arguments)); refused != nil {
				results[i] = refused.Result().Text
				errorOf(t, refused.Result())
				if !strings.Contains(results[i], string(tool.Parameters)) {
					t.Fatalf("%s does not hold %s", results[i], tool.Parameters)
				}
			}
		}
		if results[0] != results[1] {
			t.Fatalf("%s, then %s", results[0], results[1])
		}
	})
}
