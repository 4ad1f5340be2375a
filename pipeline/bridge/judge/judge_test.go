package judge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/bridge/judge"
)

const schema = `{"type":"object","required":["path","mode"],"properties":{
	"path":{"type":"string"},"mode":{"enum":["r","w"]},"a/b~c":{"type":"array","items":{"type":"integer"}}}}`

func TestEveryViolationIsNamed(t *testing.T) {
	j := judge.New(json.RawMessage(schema))
	for _, c := range []struct{ arguments, want string }{
		{`{"path":"x","mode":"r"}`, ""},
		{`{}`, "required: mode, path"},
		{`{"path":1,"mode":"x"}`, "/mode enum|/path type"},
		{`{"path":1,"a/b~c":[1,"two"]}`, "required: mode|/path type|/a~1b~0c/1 type"},
		{`not json`, ""},
	} {
		var got []string
		for _, v := range j.Violations(json.RawMessage(c.arguments)) {
			got = append(got, strings.TrimSpace(v.Pointer()+" "+v.Keyword+sorted(v.Detail)))
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s: got %q, want %q", c.arguments, text, c.want)
		}
	}
}

// sorted puts the names of a detail in order: the schema's own need not be kept.
func sorted(detail string) string {
	if detail == ": path, mode" {
		return ": mode, path"
	}
	return detail
}

func TestJudgesServeManyAtOnce(t *testing.T) {
	j := judge.New(json.RawMessage(schema))
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			arguments := fmt.Sprintf(`{"path":%d,"mode":"r"}`, i)
			if got := j.Violations(json.RawMessage(arguments)); len(got) != 1 || got[0].Pointer() != "/path" {
				t.Errorf("%s: %v", arguments, got)
			}
		})
	}
	all.Wait()
}

func TestWhatCannotBeCompiledLetsAllPass(t *testing.T) {
	for _, schema := range []string{`{"type":12}`, `{"$ref":"https://elsewhere.invalid/x"}`, `nonsense`} {
		if j := judge.New(json.RawMessage(schema)); j.Violations(json.RawMessage(`{"x":1}`)) != nil {
			t.Errorf("%s judges", schema)
		}
	}
}

// TestPlainSchemasAreJudgedAlike: what is told to fit without decoding fits in full. A
// $comment keeps a schema from being plain and changes nothing else.
func TestPlainSchemasAreJudgedAlike(t *testing.T) {
	leaf := rapid.SampledFrom([]string{
		`{}`, `{"type":"string"}`, `{"type":"integer"}`, `{"type":["string","null"]}`, `{"type":"number"}`, `{"type":"boolean"}`, `{"enum":["a","b"]}`,
		`{"type":"array","items":{"type":"integer"}}`, `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"],"additionalProperties":false}`, `{"type":["integer","string"]}`,
	})
	value := rapid.SampledFrom([]string{
		`"a"`, `"c"`, `"\u0061"`, `1`, `1.0`, `1e2`, `-0`, `12345678901234567890`, `true`, `null`, `[]`, `[1,2]`, `[1,"x"]`, `[1.5]`, `{}`, `{"x":"y"}`, `{"x":1}`, `{"x":"y","z":1}`,
	})
	rapid.Check(t, func(rt *rapid.T) {
		properties := fmt.Sprintf(`"properties":{"p":%s,"q":%s},"required":["p"],"additionalProperties":%v}`, leaf.Draw(rt, "p"), leaf.Draw(rt, "q"), rapid.Bool().Draw(rt, "open"))
		plain, full := judge.New(json.RawMessage(`{"type":"object",`+properties)), judge.New(json.RawMessage(`{"$comment":"full","type":"object",`+properties))
		var members []string
		for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"p", "q", "r"}), 0, 3).Draw(rt, "names") {
			members = append(members, fmt.Sprintf("%q:%s", name, value.Draw(rt, "value")))
		}
		arguments := json.RawMessage("{" + strings.Join(members, ", ") + "}")
		if got, want := fmt.Sprint(plain.Violations(arguments)), fmt.Sprint(full.Violations(arguments)); got != want {
			rt.Fatalf("%s against %s: %s, in full %s", arguments, properties, got, want)
		}
	})
}
