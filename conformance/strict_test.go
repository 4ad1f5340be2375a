package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

type sample struct {
	Name    string          `json:"name"`
	Count   int             `json:"count"`
	Share   float64         `json:"share"`
	On      bool            `json:"on"`
	Limit   *int            `json:"limit"`
	Hint    *string         `json:"hint,omitempty"`
	Parts   []part          `json:"parts"`
	Content json.RawMessage `json:"content"`
	Keyed   []rawjson.Field `json:"keyed"`
}

type part struct {
	ID string `json:"id"`
}

const goodSample = `{"name":"a","count":2,"share":0.5,"on":true,"limit":null,"parts":[{"id":"x"}],"content":{"any":[1,{"any":2}]},"keyed":{"b":1,"a":2}}`

func TestStrictReadsWhatTheFormatHas(t *testing.T) {
	var s strict
	var got sample
	s.decode("", json.RawMessage(goodSample), &got)
	if len(s.faults) > 0 {
		t.Fatal(s.faults)
	}
	if got.Name != "a" || got.Count != 2 || got.Share != 0.5 || !got.On || got.Limit != nil || got.Hint != nil || got.Parts[0].ID != "x" ||
		string(got.Content) != `{"any":[1,{"any":2}]}` || got.Keyed[0].Key != "b" || string(got.Keyed[1].Value) != "2" {
		t.Errorf("got %+v", got)
	}
}

func TestStrictRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"name":"a"`, `"Name":"a"`, `Name: unknown field; the known ones here are: name, count, share, on, limit, hint, parts, content, keyed | name: missing`},
		{`"name":"a"`, `"name":"a","name":"a"`, `name: stands here twice`},
		{`"name":"a",`, ``, `name: missing`},
		{`"name":"a"`, `"name":null`, `name: is null, want string`},
		{`"name":"a"`, `"name":1`, `name: is 1, want string`},
		{`"count":2`, `"count":2.0`, `count: is 2.0, want whole number`},
		{`"count":2`, `"count":1e99`, `count: is 1e99, want whole number`},
		{`"count":2`, `"count":"2"`, `count: is string, want whole number`},
		{`"share":0.5`, `"share":1e999`, `share: is 1e999, want number`},
		{`"on":true`, `"on":"true"`, `on: is string, want boolean`},
		{`"limit":null,`, ``, `limit: missing`},
		{`"limit":null`, `"limit":"x"`, `limit: is string, want whole number`},
		{`[{"id":"x"}]`, `null`, `parts: is null, want array`},
		{`[{"id":"x"}]`, `[{"id":"x"},3]`, `parts[1]: is number, want object`},
		{`{"id":"x"}`, `{"id":"x","zz":0}`, `parts[0].zz: unknown field; the known ones here are: id`},
		{`{"id":"x"}`, `{}`, `parts[0].id: missing`},
		{`{"b":1,"a":2}`, `{"b":1,"b":2}`, `keyed.b: stands here twice`},
		{`{"b":1,"a":2}`, `[]`, `keyed: is array, want object`},
		{goodSample, `[]`, `: is array, want object`},
	} {
		var s strict
		s.decode("", json.RawMessage(strings.Replace(goodSample, c.old, c.new, 1)), new(sample))
		var got []string
		for _, f := range s.faults {
			got = append(got, f.Path+": "+f.Fault)
		}
		if g := strings.Join(got, " | "); g != c.want {
			t.Errorf("%s → %s: faults %q, want %q", c.old, c.new, g, c.want)
		}
	}
}

// mutant is one vector with one change.
type mutant struct {
	path string
	raw  json.RawMessage
}

// content is what vectors carry for the pipeline, in no fixed form, and in fields where a change need not change a
// decision.
func content(path string) bool {
	return path == "config" || strings.HasSuffix(path, ".parameters") || strings.HasSuffix(path, ".arguments")
}

// mutants returns every way of changing one place of a value: change gets each object and scalar that is format, with
// its path, and returns the replacements.
func mutants(path string, raw json.RawMessage, change func(path string, raw json.RawMessage) []json.RawMessage) []mutant {
	var out []mutant
	for _, m := range change(path, raw) {
		out = append(out, mutant{path, m})
	}
	if content(path) && !strings.HasPrefix(path, "want.calls") {
		return out
	}
	switch rawjson.Kind(raw) {
	case "object":
		fields, _ := rawjson.Object(raw)
		for i, f := range fields {
			for _, m := range mutants(join(path, f.Key), f.Value, change) {
				changed := slices.Clone(fields)
				changed[i].Value = m.raw
				out = append(out, mutant{m.path, rawjson.AppendObject(nil, changed)})
			}
		}
	case "array":
		elements, _ := rawjson.Array(raw)
		for i, e := range elements {
			for _, m := range mutants(index(path, i), e, change) {
				changed := slices.Clone(elements)
				changed[i] = m.raw
				text, _ := json.Marshal(changed)
				out = append(out, mutant{m.path, text})
			}
		}
	}
	return out
}

// ownVector returns one vector of testdata/bridge.jsonl by id, and one of each other file.
func ownVectors(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	own := make(map[string]json.RawMessage)
	for _, file := range []string{"bridge.jsonl", "toolsets.json", "builtin-tools.jsonl", "distributions.jsonl", "sampling.jsonl"} {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		vectors, err := split(file, data)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range vectors {
			switch id := stringField(v, "id"); {
			case id == "four-tools", id == "refused-queries", id == "september-core-tools", file != "bridge.jsonl" && i == 1, file == "toolsets.json":
				own[strings.TrimSpace(file+" "+id)] = v.raw
			}
		}
	}
	return own
}

// failures counts what a vector fails in, for any corpus that it is for.
func failures(t *testing.T, small, embedded *runner, name string, raw json.RawMessage) (vectors, others int) {
	t.Helper()
	r := embedded
	if strings.HasPrefix(name, "toolsets") || strings.HasPrefix(name, "builtin") {
		r = small
	}
	f, err := formatOf(name, vector{raw: raw, line: 1})
	if err != nil {
		return 1, 0
	}
	tally := newTally(f.kinds, 1)
	tally.vector(vector{raw: raw, line: 1}, f.begin(r, tally))
	for _, k := range tally.results() {
		if k.Kind == vectorKind {
			vectors += k.Failed
		} else {
			others += k.Failed
		}
	}
	return vectors, others
}

func runners(t *testing.T) (small, embedded *runner) {
	t.Helper()
	small, err := newRunner(Options{Corpus: smallCorpus(t)})
	if err != nil {
		t.Fatal(err)
	}
	if embedded, err = newRunner(Options{}); err != nil {
		t.Fatal(err)
	}
	return small, embedded
}

// keyed tells objects whose keys are content: more keys there mean other decisions, not another format.
func keyed(path string) bool {
	return path == "toolsets" || path == "non_core" || strings.HasSuffix(path, ".bm25") || strings.Contains(path, ".arguments")
}

func TestUnknownFieldAnywhereFailsTheVector(t *testing.T) {
	small, embedded := runners(t)
	for name, raw := range ownVectors(t) {
		all := mutants("", raw, func(path string, raw json.RawMessage) []json.RawMessage {
			if rawjson.Kind(raw) != "object" || content(path) || keyed(path) {
				return nil
			}
			fields, _ := rawjson.Object(raw)
			return []json.RawMessage{rawjson.AppendObject(nil, append(slices.Clone(fields), rawjson.Field{Key: "surplus", Value: json.RawMessage("1")}))}
		})
		if len(all) == 0 {
			t.Errorf("%s: nothing to try", name)
		}
		for _, m := range all {
			if vectors, others := failures(t, small, embedded, name, m.raw); vectors != 1 || others != 0 {
				t.Errorf("%s: a surplus field in %q: %d vectors and %d decisions failed, want 1 and 0", name, m.path, vectors, others)
			}
		}
	}
}

func TestMissingFieldAnywhereFails(t *testing.T) {
	small, embedded := runners(t)
	for name, raw := range ownVectors(t) {
		all := mutants("", raw, func(path string, raw json.RawMessage) []json.RawMessage {
			if rawjson.Kind(raw) != "object" || content(path) || keyed(path) {
				return nil
			}
			fields, _ := rawjson.Object(raw)
			var out []json.RawMessage
			for i, f := range fields {
				// Without these a request, or a built-in tool, means what it meant.
				if strings.HasSuffix(path, ".request") || f.Key == "toolset" && path == "tools[0]" {
					continue
				}
				out = append(out, rawjson.AppendObject(nil, slices.Delete(slices.Clone(fields), i, i+1)))
			}
			return out
		})
		for _, m := range all {
			if vectors, others := failures(t, small, embedded, name, m.raw); vectors+others == 0 {
				t.Errorf("%s: a field missing in %q fails nothing: %s", name, m.path, m.raw)
			}
		}
	}
}

// Every value under want is compared: a change of any one of them fails. Left out are requests, names to describe, texts to
// shorten or split and the budgets of listings, which are input.
func TestEveryExpectedValueIsCompared(t *testing.T) {
	small, embedded := runners(t)
	tried := 0
	for name, raw := range ownVectors(t) {
		if !strings.HasPrefix(name, "bridge") {
			continue
		}
		all := mutants("", raw, func(path string, raw json.RawMessage) []json.RawMessage {
			if !strings.HasPrefix(path, "want.") || strings.Contains(path, ".request") || strings.HasSuffix(path, ".in") || strings.HasPrefix(path, "want.listings") && strings.HasSuffix(path, ".budget") || strings.HasSuffix(path, "].name") {
				return nil
			}
			switch rawjson.Kind(raw) {
			case "string":
				var text string
				if err := json.Unmarshal(raw, &text); err != nil {
					t.Fatal(err)
				}
				return []json.RawMessage{rawjson.String(text + "~"), json.RawMessage("7")}
			case "number":
				var number float64
				if err := json.Unmarshal(raw, &number); err != nil {
					t.Fatal(err)
				}
				return []json.RawMessage{json.RawMessage(fmt.Sprint(number + 1)), json.RawMessage(`"7"`)}
			case "boolean":
				return []json.RawMessage{json.RawMessage(fmt.Sprint(string(raw) != "true")), json.RawMessage("null")}
			case "null":
				return []json.RawMessage{json.RawMessage(`"~"`)}
			case "array":
				elements, _ := rawjson.Array(raw)
				if len(elements) == 0 {
					return []json.RawMessage{json.RawMessage(`["~"]`)}
				}
				if strings.HasSuffix(path, "]") || path == "want.calls" || path == "want.search" || path == "want.describe" ||
					path == "want.listings" || path == "want.short_desc" || path == "want.tokenize" {
					return nil
				}
				text, _ := json.Marshal(elements[1:])
				return []json.RawMessage{text}
			default:
				return nil
			}
		})
		tried += len(all)
		for _, m := range all {
			if vectors, others := failures(t, small, embedded, name, m.raw); vectors+others == 0 {
				t.Errorf("%s: a change of %q fails nothing", name, m.path)
			}
		}
	}
	if tried < 400 {
		t.Errorf("%d changes tried, want hundreds", tried)
	}
}
