package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeFiles makes a folder of files.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tools")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCountCards(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
		fault      string
	}{
		{"one.json", `{"name": "find", "description": "Find."}`, 1, ""},
		{"schema.json", `{"name": "find", "inputSchema": {"type": "object"}}`, 1, ""},
		{"one.yaml", "name: find\ndescription: Find.\nparameters: {type: object}\n", 1, ""},
		{"own.yml", "tools:\n  - {name: find, toolset: notes}\n  - {name: add, toolset: notes}\n", 2, ""},
		{"own.json", `{"schema_version": 1, "server": "notes", "tools": [{"name": "find"}]}`, 1, ""},
		{"card.yaml", "name: find\ntoolset: notes\nread_only: true\n", 1, ""},
		{"openai.json", `[{"type": "function", "function": {"name": "find"}}]`, 1, ""},
		{"lines.json", "{\"name\": \"find\", \"description\": \"\"}\n{\"name\": \"add\"}\n", 2, ""},
		{"servers.yaml", "a: [{name: find}]\nb: [{name: find}, {name: add}]\n", 3, ""},
		{"twice.json", `[{"name": "find"}, {"name": "find"}]`, 2, ""},
		{"none.json", `[]`, 0, ""},
		{"bare.json", `{"name": "package", "version": "1"}`, 0, "neither a description nor parameters"},
		{"other.yaml", "a: 1\n", 0, `object with fields "a" holds no tools`},
		{"typo.yaml", "name: find\ntoolset: notes\ndescripton: Find.\n", 0, `unknown field "descripton"`},
		{"repeat.json", `{"name": "find", "toolset": "a", "toolset": "b"}`, 0, "given twice"},
		{"cut.json", `{"name": "find"`, 0, "invalid JSON"},
		{"cut.yaml", "a: [", 0, "invalid YAML"},
		{"empty.json", "", 0, "the file is empty"},
		{"text.yaml", "hello", 0, "a JSON string holds no tools"},
		{"latin.json", "\"\xe9\"", 0, "invalid UTF-8"},
	} {
		dir := writeFiles(t, map[string]string{c.name: c.text})
		got, err := CountCards(filepath.Join(dir, c.name))
		switch {
		case c.fault == "" && (err != nil || got != c.want):
			t.Errorf("%s: %d cards, error %v, want %d", c.name, got, err, c.want)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), "\nhint: ")):
			t.Errorf("%s: error %v, want %s", c.name, err, c.fault)
		}
	}
}

var gathered = map[string]string{
	"notes.json": `{"name": "find",  "description": "Find.", "inputSchema": {"type" : "object", "properties": {"\u0061":{ }}}, "annotations": {"readOnlyHint": true}}`,
	"agent.json": `[{"type": "function", "function": {"strict": true, "name": "fetch", "inputSchema": {"title": "unused"}, "parameters": {"type":"object" }}},
		{"type": "function", "function": {"name": "read_file", "parameters": {}}}]`,
	"own.yaml":  "tools:\n  - {name: add, toolset: 'my notes', requires_env: [KEY], check: c, async: true, max_result_size_chars: 7}\n",
	"many.json": `{"a b": [{"name": "x"}], "a_b": [{"name": "x", "input_schema": {"type": "object"}}]}`,
}

func gather(t *testing.T, files map[string]string) (*Corpus, string) {
	t.Helper()
	dir := writeFiles(t, files)
	var paths []string
	for name := range files {
		paths = append(paths, filepath.Join(dir, name))
	}
	c, err := GatherCards("mine", paths)
	if err != nil {
		t.Fatal(err)
	}
	return c, filepath.Join(filepath.Dir(dir), "out")
}

// TestWriteFolder: what is written is read as the same tools, and schemas keep
// their bytes.
func TestWriteFolder(t *testing.T) {
	c, out := gather(t, gathered)
	notes, err := c.WriteFolder(out)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"tools left out because they bear the names of built-in tools, which every corpus has: 1",
		"tools that lose fields which a card does not have, or the order of name, description and parameters: 1",
	}
	if strings.Join(notes, "\n") != strings.Join(want, "\n") {
		t.Errorf("notes %q", notes)
	}
	again, err := Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if again.Name != "mine" {
		t.Errorf("the corpus is called %q", again.Name)
	}
	for _, id := range []string{"tools/find", "fetch", "add", "a b/x", "a_b/x"} {
		before, ok := c.Tool(id)
		after, ok2 := again.Tool(id)
		if !ok || !ok2 {
			t.Fatalf("tool %s is there before %v, after %v", id, ok, ok2)
		}
		before.Raw, after.Raw = nil, nil
		if id != "fetch" && before.Definition.JSON != after.Definition.JSON {
			t.Errorf("%s: %s became %s", id, before.Definition.JSON, after.Definition.JSON)
		}
		if before.Toolset != after.Toolset || before.Check != after.Check || before.Async != after.Async || before.ReadOnly != after.ReadOnly || before.MaxResultSize != after.MaxResultSize {
			t.Errorf("%+v became %+v", before, after)
		}
	}
	for file, bytes := range map[string]string{
		"mcp-tools.json": gathered["notes.json"],
		"agent.json":     `"parameters":{"type":"object" }`,
	} {
		text, err := os.ReadFile(filepath.Join(out, "tools", file))
		if err != nil || !strings.Contains(string(text), bytes) {
			t.Errorf("error %v, %s holds\n%s", err, file, text)
		}
	}
}

// TestWriteFolderAgain: what a folder's tools are written as again is the folder,
// byte for byte, and the same corpus, whatever a server listed.
func TestWriteFolderAgain(t *testing.T) {
	c, out := gather(t, map[string]string{
		"a.json": `{"server": "s", "tools": [{"name": "x", "annotations": {"readOnlyHint": true}}, {"name": "y~z", "title": "Why"}]}`,
		"b.json": `{"server": "s", "tools": [{"name": "x", "description": "Other.", "inputSchema": {"a": 1, "a": 2}}, {"name": "x"}, {"name": "x", "description": "Third."}]}`,
		"c.yaml": "schema_version: 1\nserver: s\ntools:\n  - {name: own, read_only: true}\n",
		"d.json": gathered["agent.json"],
	})
	if _, err := c.WriteFolder(out); err != nil {
		t.Fatal(err)
	}
	first, err := Load(out)
	if err != nil {
		t.Fatal(err)
	}
	imported, err := Import("mine", []string{filepath.Join(out, "tools")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := imported.WriteFolder(out + "2"); err != nil {
		t.Fatal(err)
	}
	if imported.SHA256 != first.SHA256 {
		t.Error("the folder and its tools imported are two corpora")
	}
	entries, err := os.ReadDir(filepath.Join(out, "tools"))
	if err != nil || len(entries) != 3 {
		t.Fatalf("%v, error %v", entries, err)
	}
	for _, e := range entries {
		a, err := os.ReadFile(filepath.Join(out, "tools", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(out+"2", "tools", e.Name()))
		if err != nil || string(a) != string(b) {
			t.Errorf("%s, error %v:\n%s\nbecame\n%s", e.Name(), err, a, b)
		}
	}
	for _, tool := range c.Own() {
		if read, ok := first.Tool(tool.ID); !tool.Builtin && (!ok || read.ReadOnly != tool.ReadOnly || tool.Server != "" && read.Definition.JSON != tool.Definition.JSON) {
			t.Errorf("%s became %+v", tool.ID, read)
		}
	}
}

// TestImportPassesOver: a folder may hold pictures, but no tools in another
// encoding than UTF-8.
func TestImportPassesOver(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.json": `[{"name": "x"}]`, "logo.png": "\x89PNG\r\n\x00\xff"})
	c, err := Load(dir)
	if err != nil || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "logo.png") {
		t.Errorf("error %v, %+v", err, c)
	}
	dir = writeFiles(t, map[string]string{"a.json": "[{\"name\": \"x\xff\"}]"})
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "a.json:1:13: invalid UTF-8") {
		t.Errorf("error %v", err)
	}
}

// TestToolColumns: a tool knows its line and column in every kind of file.
func TestToolColumns(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       string
	}{
		{"one.json", `[{"name": "a", "description": "ß"}, {"name": "b"}]`, "1:2 1:37"},
		{"crlf.json", "\ufeff{\"tools\": [\r\n  {\"name\": \"a\"},\r\n\t{\"name\": \"b\"}]}", "2:3 3:2"},
		{"lines.jsonl", "{\"name\": \"a\"}\n\n  {\"name\": \"b\"}\n", "1:1 3:3"},
		{"cards.yaml", "schema_version: 1\nserver: s\ntools:\n  - name: a\n  -\n    name: b\n", "4:5 6:5"},
	} {
		dir := writeFiles(t, map[string]string{c.file: c.text})
		loaded, err := Load(filepath.Join(dir, c.file))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		var places []string
		for _, tool := range loaded.Own() {
			if filepath.Base(tool.File) != c.file {
				t.Errorf("%s: in %s", c.file, tool.File)
			}
			places = append(places, fmt.Sprintf("%d:%d", tool.Line, tool.Column))
		}
		if got := strings.Join(places, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.file, got, c.want)
		}
	}
}

// TestWriteFolderRefuses: nothing is written over, and a fault leaves nothing.
func TestWriteFolderRefuses(t *testing.T) {
	onlyBuiltin := map[string]string{"agent.json": `[{"type": "function", "function": {"name": "read_file", "parameters": {}}}]`}
	for _, c := range []struct {
		name  string
		files map[string]string
		place func(t *testing.T, out string) string
		fault string
	}{
		{"an existing folder", gathered, func(t *testing.T, out string) string {
			if err := os.Mkdir(out, 0o777); err != nil {
				t.Fatal(err)
			}
			return out
		}, "file already exists"},
		{"a missing parent", gathered, func(_ *testing.T, out string) string { return filepath.Join(out, "deep", "er") }, "no such file or directory"},
		{"a key twice", map[string]string{"agent.json": `[{"type": "function", "name": "x", "parameters": {"a": 1, "a": 2}}]`},
			func(_ *testing.T, out string) string { return out }, `agent.json:1:2: the schema of tool "x" has a key twice`},
		{"built-in tools alone", onlyBuiltin, func(_ *testing.T, out string) string { return out }, "no tools but built-in ones"},
		{"a card that could not be read again", gathered, func(_ *testing.T, out string) string { return out }, `toolset "all" is reserved`},
	} {
		corpus, out := gather(t, c.files)
		if strings.HasPrefix(c.name, "a card") {
			add, _ := corpus.Tool("add")
			add.Toolset = "all"
		}
		_, err := corpus.WriteFolder(c.place(t, out))
		if err == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%s: error %v, want %s", c.name, err, c.fault)
		}
		entries, err := os.ReadDir(filepath.Dir(out))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != "tools" && e.Name() != "out" {
				t.Errorf("%s: %s is left", c.name, e.Name())
			}
		}
		if rest, err := os.ReadDir(out); err == nil && len(rest) > 0 {
			t.Errorf("%s: the folder holds %v", c.name, rest)
		}
	}
}
