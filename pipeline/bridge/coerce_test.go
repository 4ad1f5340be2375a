package bridge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
)

func TestCoerce(t *testing.T) {
	const numbers, object = `{"type":"array","items":{"type":"integer"}}`, `{"type":"object","properties":{"n":{"type":"integer"}}}`
	for _, row := range []struct{ name, schema, in, want string }{
		{"whole number", `{"type":"integer"}`, `"42"`, `42`},
		{"with a sign and space", `{"type":"integer"}`, `" -7\n"`, `-7`},
		{"with an exponent", `{"type":"integer"}`, `"1e3"`, `1000`},
		{"with a zero fraction", `{"type":"integer"}`, `"42.0"`, `42`},
		{"leading zeros", `{"type":"integer"}`, `"007"`, `7`},
		{"an identifier beyond 2^53 keeps its digits", `{"type":"integer"}`, `"1234567890123456789"`, `1234567890123456789`},
		{"so does it as a number", `{"type":"number"}`, `"1234567890123456789"`, `1234567890123456789`},
		{"a fraction is no whole number", `{"type":"integer"}`, `"3.14"`, `"3.14"`},
		{"fraction", `{"type":"number"}`, `"3.14"`, `3.14`},
		{"whole number for a number", `{"type":"number"}`, `"42"`, `42`},
		{"exponent for a number", `{"type":"number"}`, `"1e-7"`, `1e-07`},
		{"words stay", `{"type":"integer"}`, `"many"`, `"many"`},
		{"empty text stays", `{"type":"integer"}`, `""`, `""`},
		{"hexadecimal stays", `{"type":"integer"}`, `"0x10"`, `"0x10"`},
		{"inf stays", `{"type":"number"}`, `"inf"`, `"inf"`},
		{"-inf stays", `{"type":"number"}`, `"-inf"`, `"-inf"`},
		{"nan stays", `{"type":"number"}`, `"nan"`, `"nan"`},
		{"Infinity stays", `{"type":"number"}`, `"Infinity"`, `"Infinity"`},
		{"a number beyond doubles stays", `{"type":"number"}`, `"1e999"`, `"1e999"`},

		{"true", `{"type":"boolean"}`, `"true"`, `true`},
		{"False", `{"type":"boolean"}`, `" False "`, `false`},
		{"yes is no boolean", `{"type":"boolean"}`, `"yes"`, `"yes"`},
		{"1 is no boolean", `{"type":"boolean"}`, `1`, `1`},

		{"null where it may be", `{"type":["integer","null"]}`, `"null"`, `null`},
		{"null where nullable", `{"type":"integer","nullable":true}`, `"Null"`, `null`},
		{"null in a branch", `{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"null"`, `null`},
		{"null beside a branch that says nothing", `{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}]}`, `"null"`, `null`},
		{"null where text may be", `{"type":["string","null"]}`, `"null"`, `"null"`},
		{"null where it may not be", `{"type":"integer"}`, `"null"`, `"null"`},

		{"text of an array", numbers, `"[1, 2]"`, `[1,2]`},
		{"and what is in it", numbers, `"[\"1\", 2]"`, `[1,2]`},
		{"elements", numbers, `["1",2,"x"]`, `[1,2,"x"]`},
		{"one value for an array", numbers, `5`, `[5]`},
		{"one text for an array", numbers, `"5"`, `[5]`},
		{"one text that is no element", numbers, `"x"`, `["x"]`},
		{"true for an array", `{"type":"array"}`, `true`, `[true]`},
		{"null is not wrapped", numbers, `null`, `null`},
		{"an object is not wrapped", numbers, `{"a":1}`, `{"a":1}`},
		{"wrapped twice", `{"type":"array","items":` + numbers + `}`, `"7"`, `[[7]]`},
		{"a whole number that may stand alone", `{"type":["array","integer"],"items":{"type":"string"}}`, `5`, `5`},
		{"an integral float that may stand alone", `{"type":["array","integer"]}`, `5.0`, `5.0`},

		{"text of an object", object, `"{\"n\": \"3\"}"`, `{"n":3}`},
		{"a member", object, `{"n":"3","m":"3"}`, `{"n":3,"m":"3"}`},
		{"text that is no JSON stays", object, `"{n: 3}"`, `"{n: 3}"`},
		{"text of something else stays", object, `"[1]"`, `"[1]"`},
		{"nested", `{"type":"object","properties":{"list":{"type":"array","items":` + object + `}}}`, `{"list":"[{\"n\":\"1\"}]"}`, `{"list":[{"n":1}]}`},

		{"text where text is wanted", `{"type":"string"}`, `"42"`, `"42"`},
		{"text where text may be", `{"type":["integer","string"]}`, `"42"`, `"42"`},
		{"text where a branch may be text", `{"oneOf":[{"type":"integer"},{"type":"string"}]}`, `"42"`, `"42"`},
		{"text where a branch says nothing", `{"anyOf":[{"type":"integer"},{"enum":["42"]}]}`, `"42"`, `"42"`},
		{"text beside an array where a branch says nothing", `{"anyOf":[{"type":"array"},{"const":"all"}]}`, `"all"`, `"all"`},
		{"the type keyword decides, branches that refine do not", `{"type":"object","properties":{"n":{"type":"integer"}},"anyOf":[{"required":["n"]}]}`, `{"n":"3"}`, `{"n":3}`},
		{"a number where text is wanted stays", `{"type":"string"}`, `42`, `42`},
		{"no type", `{"enum":["42"]}`, `"42"`, `"42"`},
		{"a type that nobody knows", `{"type":"str"}`, `"42"`, `"42"`},
		{"a type that is no name", `{"type":7}`, `"42"`, `"42"`},
		{"a schema that is none", `true`, `"42"`, `"42"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			schema := json.RawMessage(`{"type":"object","properties":{"v":` + row.schema + `}}`)
			got := coerce(json.RawMessage(`{"v":`+row.in+`,"other":"42"}`), schema)
			if want := `{"v":` + row.want + `,"other":"42"}`; string(got) != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestCoerceWithoutASchema: what cannot be read says nothing.
func TestCoerceWithoutASchema(t *testing.T) {
	const in = `{"v" : "42"}`
	for _, schema := range []string{"", "null", "[]", "{", `{"type":"object"}`, `{"properties":[]}`, `{"properties":{}}`} {
		if got := coerce(json.RawMessage(in), json.RawMessage(schema)); string(got) != in {
			t.Errorf("schema %q: %s", schema, got)
		}
	}
	schema := json.RawMessage(`{"properties":{"v":{"type":"integer"}}}`)
	for _, in := range []string{"", "null", "[1]", `"text"`, `{"v":`} {
		if got := coerce(json.RawMessage(in), schema); string(got) != in {
			t.Errorf("arguments %q became %q", in, got)
		}
	}
}

// FuzzCoerce: valid arguments stay valid JSON objects with the same keys, and
// coercing twice is coercing once, whatever the schema.
func FuzzCoerce(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"v":"[\"1\"]"}`, `{"properties":{"v":{"type":"array","items":{"type":"integer"}}}}`},
		{`{"v":"{\"v\":\"1\"}"}`, `{"properties":{"v":{"type":"object","properties":{"v":{"type":["null","number"]}}}}}`},
		{`{"v":"\"1\"","v":"x"}`, `{"properties":{"v":{"anyOf":[{"type":"array"},{}],"nullable":true}}}`},
		{`{"v":"1_0"}`, `{"properties":{"v":{"type":"integer"},"v":{"type":"boolean"}}}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, arguments, schema string) {
		if !json.Valid([]byte(arguments)) || !json.Valid([]byte(schema)) || !strings.HasPrefix(arguments, "{") {
			return
		}
		once := coerce(json.RawMessage(arguments), json.RawMessage(schema))
		twice := coerce(once, json.RawMessage(schema))
		if !json.Valid(once) || string(once) != string(twice) {
			t.Fatalf("once %s, twice %s", once, twice)
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal([]byte(arguments), &before) != nil || json.Unmarshal(once, &after) != nil {
			t.Fatalf("%s became %s", arguments, once)
		}
		for key := range before {
			if _, ok := after[key]; !ok {
				t.Fatalf("%q is gone: %s", key, once)
			}
		}
	})
}

// coerce repairs arguments by a schema that is read for this one call.
func coerce(arguments, schema json.RawMessage) json.RawMessage {
	return bridge.July.ReadTypes(schema).Coerce(arguments)
}
