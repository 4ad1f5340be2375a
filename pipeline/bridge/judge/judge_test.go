package judge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

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
