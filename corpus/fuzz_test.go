package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolgauge/toolgauge/internal/textfile"
)

// checkOutcome holds what reading gave to the promise: an error that names the
// file and gives a hint, or tools that a model request can carry.
func checkOutcome(t *testing.T, file string, c *Corpus, err error) {
	t.Helper()
	if err != nil {
		text := err.Error()
		if !strings.Contains(text, file) || !strings.Contains(text, "\nhint: ") || len(text) > 4096 {
			t.Fatalf("an error without a file or a hint, or a long one: %.5000q", text)
		}
		if c != nil {
			t.Fatal("an error and a corpus")
		}
		return
	}
	seen := make(map[string]bool)
	for _, tool := range c.Tools {
		if tool.Builtin && tool.Raw == nil {
			t.Fatalf("%s has no text", tool.ID)
		}
		if seen[tool.ID] || seen["visible "+tool.Definition.Name] {
			t.Fatalf("%s or %s is there twice", tool.ID, tool.Definition.Name)
		}
		seen[tool.ID], seen["visible "+tool.Definition.Name] = true, true
		if found, ok := c.Tool(tool.ID); !ok || found != tool {
			t.Fatalf("%s is not found by its ID", tool.ID)
		}
		if !tool.Builtin {
			checkDefinition(t, tool)
			if !c.HasToolset(tool.Toolset) {
				t.Fatalf("toolset %q of %s is not known", tool.Toolset, tool.ID)
			}
		}
	}
	for _, in := range c.WithDerived().Intents {
		for _, g := range in.Gold {
			if _, ok := c.Tool(g.Tool); !ok {
				t.Fatalf("%s: gold %s is no tool", in.ID, g.Tool)
			}
		}
	}
}

// smallBase stands in for the embedded corpus, whose 81 tools would take most of
// the time.
func smallBase(f *testing.F) func() (*Corpus, error) {
	base, err := loadFolder("w", folderOf(whole), nil)
	if err != nil {
		f.Fatal(err)
	}
	return func() (*Corpus, error) { return base, nil }
}

func FuzzImport(f *testing.F) {
	for _, seed := range []string{
		`[{"type":"function","function":{"name":"a","description":"A. B","parameters":{"type":"object","properties":{"x":{}},"required":["x"]}}}]`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"x"}}`,
		`{"servers":{"x":{"tools":[{"name":"a"}]},"y z":[{"name":"_b"}]}}`,
		"{\"server\":\"x\",\"name\":\"a\"}\n\n{\"server\":\"x\",\"name\":\"a\",\"description\":\"other\"}\n",
		`[{"name":"touch"},{"function":{"name":"touch"}}]`, `[{"function":{"name":"mcp__s__t"}},{"server":"s","name":"t"}]`,
		`{"name":"\ud800","description":"\ud800","inputSchema":{"required":["x","x"],"properties":{"x":{"type":["integer"],"enum":[]}}}}`,
		`{"type":"function","name":"a","strict":true}`, "\ufeff[]", "\xff", "[", "{}", "null", `{"a":1,"a":2}`, `[[[[[[[[[[[]]]]]]]]]]]`,
	} {
		f.Add([]byte(seed))
	}
	base := smallBase(f)
	read := func(text []byte) (*Corpus, error) {
		data, err := textfile.Read(fstest.MapFS{"tools.json": {Data: text}}, "tools.json", "tools.json", textfile.Max)
		if err != nil {
			return nil, err
		}
		l := newLoader("tools")
		if err := l.importText(&document{file: "tools.json", data: data}, labels{"folder", "tools"}); err != nil {
			return nil, err
		}
		return l.finishImport("tools.json", base)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := read(text)
		checkOutcome(t, "tools.json", c, err)
		if err == nil {
			again, err := read(text)
			if err != nil || again.SHA256 != c.SHA256 {
				t.Fatalf("reading again gives %v or another digest", err)
			}
		}
	})
}

// FuzzGather reads a file as bench corpus import does, in JSON and in YAML, and
// holds the folder that is written of it to having the same tools.
func FuzzGather(f *testing.F) {
	for _, seed := range []string{
		plainCards, whole["tools/garden.yaml"], gathered["notes.json"], gathered["agent.json"], gathered["own.yaml"], gathered["many.json"],
		`{"server":"s","tools":[{"name":"x"},{"name":"x","description":"B."},{"name":"x~1"},{"name":"x_1"}]}`, `{"name":"a","toolset":"t"}`, `{"name":"a"}`,
		`{"tools":[{"name":"a","toolset":"all"}]}`, "{\"name\":\"a\",\"description\":\"\"}\n{\"name\":\"b\"}", "server: s\ntools: [{name: a, inputSchema: {type: object}}]", "", "[", "a: &a [*a]",
		`{"server":"..","tools":[{"name":"a"}]}`, `{"server":"A","tools":[{"name":"a"}]}{`, `{"servers":{"A":[{"name":"a"}],"a":[{"name":"a"}]}}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	base := smallBase(f)
	f.Fuzz(func(t *testing.T, text []byte, asYAML bool) {
		file := "tools.json"
		if asYAML {
			file = "tools.yaml"
		}
		data, err := textfile.Read(fstest.MapFS{file: {Data: text}}, file, file, textfile.Max)
		if err != nil {
			checkOutcome(t, file, nil, err)
			return
		}
		l := newLoader("tools")
		if err := l.gatherText(&document{file: file, data: data}, labels{"folder", "tools"}); err != nil {
			checkOutcome(t, file, nil, err)
			return
		}
		c, err := l.finishImport(file, base)
		checkOutcome(t, file, c, err)
		if err == nil {
			checkWritten(t, c, base)
		}
	})
}

// checkWritten reads the folder that a corpus is written as.
func checkWritten(t *testing.T, c *Corpus, base func() (*Corpus, error)) {
	t.Helper()
	files, _, err := c.cardFiles()
	if err != nil {
		if !strings.Contains(err.Error(), "\nhint: ") {
			t.Fatalf("an error without a hint: %v", err)
		}
		return
	}
	folder := fstest.MapFS{}
	for _, file := range files {
		if _, again := folder[file.name]; again {
			t.Fatalf("%s is written twice", file.name)
		}
		folder[file.name] = &fstest.MapFile{Data: file.data}
	}
	again, err := loadFolder("c", folder, base)
	checkOutcome(t, "c", again, err)
	if err != nil {
		return
	}
	for _, tool := range c.Own() {
		read, ok := again.Tool(tool.ID)
		if !tool.Builtin && (!ok || read.Definition.Description != tool.Definition.Description || read.ReadOnly != tool.ReadOnly || read.Line == 0) {
			t.Fatalf("%s is written as %+v", tool.ID, read)
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(whole["corpus.yaml"]))
	f.Add([]byte(plainManifest))
	for _, seed := range []string{"schema_version: 2\nname: a", "schema_version: 1\nname: ''", "name: [a]", "schema_version: 1\nname: a\nsources: [1]", "schema_version: 01\nname: a", "{}", "", "\xff"} {
		f.Add([]byte(seed))
	}
	base := smallBase(f)
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFolder(t, "corpus.yaml", text, base) })
}

func FuzzDistributions(f *testing.F) {
	for _, seed := range []string{
		"schema_version: 1\ndistributions:\n  - name: x\n    description: X.\n    toolsets: {mcp-s: 50}\n    servers: 1\n", "schema_version: 1\ndistributions: []", "schema_version: 1\ndistributions: [{name: default}]", "[", "",
	} {
		f.Add([]byte(seed))
	}
	base := smallBase(f)
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFolder(t, "distributions.yaml", text, base) })
}

// fuzzFolder reads a folder in which one file is drawn.
func fuzzFolder(t *testing.T, file string, text []byte, base func() (*Corpus, error)) {
	folder := fstest.MapFS{"corpus.yaml": {Data: []byte(plainManifest)}, "tools/s.json": {Data: []byte(plainCards)}}
	folder[file] = &fstest.MapFile{Data: text}
	c, err := loadFolder("c", folder, base)
	checkOutcome(t, "c", c, err)
}

func FuzzCardsJSON(f *testing.F) {
	f.Add([]byte(plainCards))
	f.Add([]byte(whole["tools/builtin.json"]))
	for _, seed := range []string{
		`{"server":"x","tools":[{"name":"a","toolset":"web"}]}`, `{"tools":[{"name":"a","toolset":"mine","max_result_size_chars":1e9,"mentions":[{"text":"x","tools":[]}]}]}`,
		`{"tools":[{"name":"look","toolset":"all"}]}`, `{"server":1,"tools":{}}`, `{"tools":[1]}`, `[]`, `{`, "",
	} {
		f.Add([]byte(seed))
	}
	base := smallBase(f)
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFolder(t, "tools/x.json", text, base) })
}

func FuzzCardsYAML(f *testing.F) {
	f.Add([]byte(whole["tools/garden.yaml"]))
	for _, seed := range []string{
		"server: t\ntools:\n  - &a {name: a}\n  - *a\n", "tools: &a [*a]", "a: !!int x", "? [a]\n: b", "server: x\ntools:\n- name: a\n  parameters: {<<: {a: b}}\n",
		"server: x\ntools: [{name: a, description: 2001-01-01, parameters: {n: 0x1F}}]", "server: x\ntools:\n- name: |\n   a\n   b\n", "--- a\n--- b", "%YAML 1.3", "\ufeffa: b", "a: 'b\r\n", "", "#", "!!binary aa==", "&a",
	} {
		f.Add([]byte(seed))
	}
	base := smallBase(f)
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFolder(t, "tools/x.yaml", text, base) })
}

func FuzzToolsets(f *testing.F) {
	f.Add([]byte(whole["toolsets.yaml"]))
	for _, seed := range []string{
		"schema_version: 1\ncore: [mcp__s__a]\ntoolsets:\n- {name: x, core: true, includes: [x]}\n", "schema_version: 1\ntoolsets: [{name: \"*\"}]", "schema_version: 1\ntoolsets: {}", "toolsets: []", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFolder(t, "toolsets.yaml", text, nil) })
}

func FuzzIntents(f *testing.F) {
	for _, file := range []string{"intents/a.jsonl", "intents/b.jsonl"} {
		f.Add([]byte(strings.ReplaceAll(strings.ReplaceAll(whole[file], "garden/water_bed", "s/a"), `"look"`, `"s/b"`)))
	}
	for _, seed := range []string{
		`{"id":"1","utterance":"x","language":"en","class":"absent","gold":[]}`, `{"id":"1","utterance":"x","language":"en","class":"derived","gold":[{"tool":"s/a","arguments":[{"name":"x","value":1e400,"stated":false}],"depends_on":[-1]}]}`,
		`{"id":"1"}`, "[]", "{}\n{", "\xff", "\r\n \t\n",
	} {
		f.Add([]byte(seed))
	}
	base := smallBase(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		folder := fstest.MapFS{"corpus.yaml": {Data: []byte(plainManifest)}, "tools/s.json": {Data: []byte(plainCards)}, "intents/x.jsonl": {Data: text}}
		c, err := loadFolder("c", folder, base)
		checkOutcome(t, "intents/x.jsonl", c, err)
		if err != nil {
			return
		}
		ids := make(map[string]bool)
		for _, in := range c.Intents {
			if ids[in.ID] || in.ID == "" || (in.Class == Absent) != (len(in.Gold) == 0) {
				t.Fatalf("intent %+v", in)
			}
			ids[in.ID] = true
		}
	})
}

// TestErrorsCanBeTold lets callers ask what kind of fault it was.
func TestErrorsCanBeTold(t *testing.T) {
	_, err := Load("missing")
	if !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cause of %v is lost", fmt.Sprint(err))
	}
}
