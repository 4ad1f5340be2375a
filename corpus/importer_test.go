package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/toolname"
)

// imported describes the tools that a corpus holds beside the built-in ones:
// ID, toolset and visible name.
func imported(c *Corpus) []string {
	var list []string
	for _, t := range c.Tools {
		if !t.Builtin {
			list = append(list, t.ID+" "+t.Toolset+" "+t.Definition.Name)
		}
	}
	return list
}

func TestShapes(t *testing.T) {
	const (
		mcp    = `{"name":"a","description":"A.","inputSchema":{"type":"object"}}`
		openAI = `{"type":"function","function":{"name":"a","description":"A.","parameters":{"type":"object"}}}`
		flat   = `{"type":"function","name":"a","description":"A.","parameters":{"type":"object"},"strict":true}`
	)
	own, x, plugin := []string{"tools/a mcp-tools mcp__tools__a"}, []string{"x/a mcp-x mcp__x__a"}, []string{"a tools a"}
	two := []string{"x/a mcp-x mcp__x__a", "y/a mcp-y mcp__y__a"}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"OpenAI array", "[" + openAI + "]", plugin},
		{"flat OpenAI array", "[" + flat + "]", plugin},
		{"OpenAI tool", openAI, plugin},
		{"OpenAI result", `{"tools":[` + openAI + `]}`, plugin},
		{"bare tool", mcp, own},
		{"bare tool with a server", `{"server":"x",` + mcp[1:], x},
		{"list of bare tools", "[" + mcp + "]", own},
		{"tools/list", `{"tools":[` + mcp + `],"nextCursor":"","_meta":{}}`, own},
		{"JSON-RPC answer", `{"jsonrpc":"2.0","id":1,"result":{"tools":[` + mcp + `]}}`, own},
		{"JSON-RPC answer as text", "\n\t" + `{ "jsonrpc" : "2.0" , "result" : { "tools" : [ ` + mcp + " ] } }\n", own},
		{"one server", `{"server":"x","tools":[` + mcp + `]}`, x},
		{"list of servers", `[{"server":"x","tools":[` + mcp + `]},{"server":"y","tools":[` + mcp + `]}]`, two},
		{"servers, each a result", `{"servers":{"x":{"tools":[` + mcp + `]},"y":{"tools":[` + mcp + `]}}}`, two},
		{"servers, each a list", `{"servers":{"x":[` + mcp + `],"y":[` + mcp + `]}}`, two},
		{"servers by name, each a result", `{"x":{"tools":[` + mcp + `]},"y":{"tools":[` + mcp + `]}}`, two},
		{"servers by name, each a list", `{"x":[` + mcp + `],"y":[` + mcp + `]}`, two},
		{"servers by name, each an answer", `{"x":{"result":{"tools":[` + mcp + `]}},"y":{"result":{"tools":[` + mcp + `]}}}`, two},
		{"servers by name, one without tools", `{"x":[` + mcp + `],"y":[]}`, x},
		{"a server called name", `{"name":[` + mcp + `]}`, []string{"name/a mcp-name mcp__name__a"}},
		{"lines of bare tools", mcp + "\n" + strings.Replace(mcp, `"a"`, `"b"`, 1) + "\n", append(slices.Clone(own), "tools/b mcp-tools mcp__tools__b")},
		{"lines of tools with servers", `{"server":"x",` + mcp[1:] + "\n\n" + `{"server":"y",` + mcp[1:], two},
		{"lines of OpenAI tools", openAI + "\n" + strings.Replace(openAI, `"a"`, `"b"`, 1), append(slices.Clone(plugin), "b tools b")},
		{"lines of results", `{"server":"x","tools":[` + mcp + "]}\n" + `{"y":{"tools":[` + mcp + "]}}", two},
		{"lines of lists", "[" + mcp + "]\n[]\n", own},
		{"input_schema", strings.Replace(mcp, "inputSchema", "input_schema", 1), own},
		{"parameters", strings.Replace(mcp, "inputSchema", "parameters", 1), own},
		{"unknown fields", `{"name":"a","title":"A","_meta":{"tools":[1]},"description":"A.","inputSchema":{"type":"object"}}`, own},
		{"both kinds", `[` + openAI + `,` + mcp + `]`, append(slices.Clone(own), plugin...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := importing(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, imported(got)); diff != "" {
				t.Errorf("tools differ (-want +got):\n%s", diff)
			}
			for _, tool := range got.Tools {
				d := tool.Definition
				if !tool.Builtin && (d.Description != "A." || string(d.Parameters) != `{"type":"object"}`) {
					t.Errorf("%s: %s", tool.ID, d.JSON)
				}
			}
			if a, ok := got.Tool("a"); ok && c.text == "["+flat+"]" {
				want := `{"type":"function","function":{"name":"a","description":"A.","parameters":{"type":"object"},"strict":true}}`
				if a.Definition.JSON != want || string(a.Raw) != flat {
					t.Errorf("definition %s of %s", a.Definition.JSON, a.Raw)
				}
			}
			if got.Name != "tools" || len(got.Notes) > 0 {
				t.Errorf("name %q, notes %q", got.Name, got.Notes)
			}
		})
	}
}

// TestImportFolder imports files of every shape from a folder: lists belong to
// the server that the file names, single tools to the one that the folder
// names.
func TestImportFolder(t *testing.T) {
	const mcp = `{"name":"a","description":"A."}`
	dir := filepath.Join(t.TempDir(), "my.servers")
	for name, text := range map[string]string{
		"github.json":    `{"tools":[` + mcp + `]}`,
		"single.snap":    strings.Replace(mcp, `"a"`, `"s"`, 1),
		"plain.json":     `{"type":"function","function":{"name":"f"}}`,
		"more/one.json":  mcp,
		"more/slack.txt": "[" + mcp + "]",
		"lines.jsonl":    mcp + "\n" + `{"server":"other",` + mcp[1:],
		"notes.md":       "# not JSON",
		"table.csv":      "a,b",
		".hidden.json":   "{",
		".git/x.json":    "{",
	} {
		write(t, dir, name, text)
	}
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"github/a mcp-github mcp__github__a", "lines/a mcp-lines mcp__lines__a", "more/a mcp-more mcp__more__a",
		"my.servers/s mcp-my.servers mcp__my_servers__s_ccd82753", "other/a mcp-other mcp__other__a", "slack/a mcp-slack mcp__slack__a", "f my.servers f",
	}
	if diff := cmp.Diff(want, imported(c)); diff != "" {
		t.Errorf("tools differ (-want +got):\n%s", diff)
	}
	if want := []string{"files left out because they are not JSON: 2, the first is " + filepath.Join(dir, "notes.md")}; !slices.Equal(c.Notes, want) || c.Name != "my.servers" {
		t.Errorf("%s: notes %q", c.Name, c.Notes)
	}
}

// TestImportWorkingFolder names the source of "." by the folder's name.
func TestImportWorkingFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "garden")
	write(t, dir, "one.json", `{"name":"a"}`)
	t.Chdir(dir)
	c, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"garden/a mcp-garden mcp__garden__a"}; !slices.Equal(imported(c), want) {
		t.Errorf("%q, want %q", imported(c), want)
	}
}

func TestPluginToolsets(t *testing.T) {
	for file, want := range map[string]string{"web.json": "plugin-web", "all.json": "plugin-all", "mcp-x.json": "plugin-mcp-x", "mine.json": "mine"} {
		c, err := importFile(file, fstest.MapFS{file: {Data: []byte(`[{"function":{"name":"f"}},{"function":{"name":"g"}}]`)}}, file, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := c.SourceNames(); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: sources %q, want %q", file, got, want)
		}
		if renamed := strings.HasPrefix(want, "plugin-"); renamed != (len(c.Notes) == 1) {
			t.Errorf("%s: notes %q", file, c.Notes)
		}
	}
}

// TestBytesKept compares what was imported with the text, byte for byte: white
// space, escapes, key order and repeats within a schema stay in Raw; Definition
// has them without white space and without needless escapes.
func TestBytesKept(t *testing.T) {
	const (
		schema  = `{ "z" : 1.50e+2,"type":"object", "properties":{"b":{},"a":{"enum":["\u00e9","<&>"]} } ,"z":-0}`
		compact = `{"z":1.50e+2,"type":"object","properties":{"b":{},"a":{"enum":["é","<&>"]}},"z":-0}`
		mcp     = "{\"inputSchema\":" + schema + ",\r\n\t\"name\" : \"a\", \"annotations\":{\"readOnlyHint\":true},\"description\":\"\\u0041.\\/\"}"
		openAI  = `{"function" :{"strict":true,"parameters":` + schema + `, "name":"\u0062","description":null}, "type":"function","extra":[ ]}`
	)
	c, err := importing("[ " + mcp + "\n,\t" + openAI + " ]")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := c.Tool("tools/a")
	if string(a.Raw) != mcp || !a.ReadOnly {
		t.Errorf("raw\n%s\nwant\n%s", a.Raw, mcp)
	}
	if want := `{"type":"function","function":{"name":"mcp__tools__a","description":"A./","parameters":` + compact + `}}`; a.Definition.JSON != want {
		t.Errorf("definition\n%s\nwant\n%s", a.Definition.JSON, want)
	}
	b, _ := c.Tool("b")
	if string(b.Raw) != openAI || b.ReadOnly {
		t.Errorf("raw\n%s\nwant\n%s", b.Raw, openAI)
	}
	if want := `{"type":"function","function":{"strict":true,"parameters":` + compact + `,"name":"b","description":null}}`; b.Definition.JSON != want {
		t.Errorf("definition\n%s\nwant\n%s", b.Definition.JSON, want)
	}
}

// TestBytesKeptProperty draws texts with white space anywhere and reads the
// value back from Raw and from Definition.
func TestBytesKeptProperty(t *testing.T) {
	space := rapid.StringMatching(`[ \t\r\n]{0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		var raws []string
		text := "["
		for i := range rapid.IntRange(1, 4).Draw(t, "tools") {
			schema := spacedObject(t, space, 3)
			name, _ := json.Marshal(fmt.Sprintf("t%d%s", i, rapid.String().Draw(t, "name")))
			raw := "{" + space.Draw(t, "s") + `"name"` + space.Draw(t, "s") + ":" + string(name) + "," + space.Draw(t, "s") + `"inputSchema":` + schema + "}"
			raws = append(raws, raw)
			if i > 0 {
				text += ","
			}
			text += space.Draw(t, "s") + raw + space.Draw(t, "s")
		}
		c, err := importing(text + "]")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var got []string
		for _, tool := range c.Tools {
			if tool.Builtin {
				continue
			}
			got = append(got, string(tool.Raw))
			checkDefinition(t, tool)
			var read struct{ InputSchema json.RawMessage }
			if err := json.Unmarshal(tool.Raw, &read); err != nil {
				t.Fatal(err)
			}
			var want bytes.Buffer
			if err := json.Compact(&want, read.InputSchema); err != nil || want.String() != string(tool.Definition.Parameters) {
				t.Fatalf("parameters %s, want %s", tool.Definition.Parameters, want.String())
			}
		}
		slices.Sort(got)
		slices.Sort(raws)
		if !slices.Equal(got, raws) {
			t.Fatalf("raw %q, want %q", got, raws)
		}
	})
}

// spacedObject draws a JSON object without escapes, with white space between
// any two tokens.
func spacedObject(t *rapid.T, space *rapid.Generator[string], depth int) string {
	text := "{" + space.Draw(t, "s")
	for i := range rapid.IntRange(0, 3).Draw(t, "members") {
		if i > 0 {
			text += "," + space.Draw(t, "s")
		}
		text += fmt.Sprintf("%q", rapid.StringMatching(`[a-zé{}\[\]:,]{0,4}`).Draw(t, "key")) + space.Draw(t, "s") + ":" + space.Draw(t, "s")
		if depth > 0 && rapid.Bool().Draw(t, "nested") {
			text += spacedObject(t, space, depth-1)
		} else {
			text += rapid.SampledFrom([]string{"1", "-0.50E+3", "true", "null", `"a b"`, "[ ]", `[1 , {"]":"}"}]`}).Draw(t, "value")
		}
		text += space.Draw(t, "s")
	}
	return text + "}"
}

// checkDefinition holds a tool to what a model request needs.
func checkDefinition(t interface{ Fatalf(string, ...any) }, tool *Tool) {
	d := tool.Definition
	if d == nil || d.Name == "" || tool.ID == "" || tool.Toolset == "" || !json.Valid(tool.Raw) {
		t.Fatalf("incomplete tool %+v", tool)
	}
	var entry struct {
		Type     string
		Function struct {
			Name       string
			Parameters json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(d.JSON), &entry); err != nil || entry.Type != "function" || entry.Function.Name != d.Name {
		t.Fatalf("%s: %v in %.200s", tool.ID, err, d.JSON)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(d.JSON)); err != nil || compact.String() != d.JSON {
		t.Fatalf("%s: not compact: %.200s", tool.ID, d.JSON)
	}
	if len(d.Parameters) > 0 && d.Parameters[0] != '{' {
		t.Fatalf("%s: parameters %.80s", tool.ID, d.Parameters)
	}
}

// TestRepeats merges what a model could not tell apart and keeps what differs,
// the same in whatever order the tools come.
func TestRepeats(t *testing.T) {
	lines := []string{
		`{"name":"a","description":"One."}`,
		`{"name":"a","description":"Two."}`,
		`{"name":"a", "description":"One."}`,                                                     // white space
		`{"description":"\u004fne.","name":"a","title":"A","annotations":{"readOnlyHint":true}}`, // what no model sees
		`{"name":"a","description":"One.","inputSchema":{"type":"object"}}`,
		`{"name":"a","description":"Two."}`,
		`{"name":"b","description":"One."}`,
	}
	first, err := importing(strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"tools/a mcp-tools mcp__tools__a", "tools/a~2 mcp-tools mcp__tools__a_2", "tools/a~3 mcp-tools mcp__tools__a_3", "tools/b mcp-tools mcp__tools__b",
	}
	got := imported(first)
	if len(got) != len(want) {
		t.Fatalf("tools %q", got)
	}
	descriptions := make(map[string]bool)
	for i, tool := range first.Tools[81:] {
		if i == 0 || i == 3 {
			if got[i] != want[i] {
				t.Errorf("got %q, want %q", got[i], want[i])
			}
		} else if hash := tool.ID[strings.Index(tool.ID, "~")+1:]; tool.Definition.Name != "mcp__tools__a_"+hash || !toolname.EndsInHash("_"+hash) {
			t.Errorf("got %q", got[i])
		}
		descriptions[tool.Definition.Description+string(tool.Definition.Parameters)] = true
		if tool.ReadOnly {
			t.Errorf("%s: read-only though one repeat does not say so", tool.ID)
		}
	}
	if len(descriptions) != 3 {
		t.Errorf("contents %v", descriptions)
	}
	notes := []string{"tools merged because they repeat another of their server: 3", "tools kept under a name with a suffix because they share it with another of their server but differ in content: 2"}
	if diff := cmp.Diff(notes, first.Notes); diff != "" {
		t.Errorf("notes differ (-want +got):\n%s", diff)
	}
	rapid.Check(t, func(t *rapid.T) {
		again, err := importing(strings.Join(rapid.Permutation(lines).Draw(t, "lines"), "\n"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, imported(again)); diff != "" || again.SHA256 != first.SHA256 {
			t.Fatalf("another order gives other names or another digest:\n%s", diff)
		}
	})
}

func TestNextPage(t *testing.T) {
	c, err := importing(`{"x":{"tools":[{"name":"a"}],"nextCursor":"p2"},"y":{"tools":[],"nextCursor":"p2"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"lists of tools that go on elsewhere (they have a nextCursor): 2, the first in tools.json"}; !slices.Equal(c.Notes, want) {
		t.Errorf("notes %q, want %q", c.Notes, want)
	}
}

// publicData returns the path of other people's data, which the project does
// not hold.
func publicData(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", "public", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here", path)
	}
	return path
}

func TestLargeImport(t *testing.T) {
	path := publicData(t, "toucan/tools.jsonl")
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(imported(c)); n != 17_578-1_252 || len(c.SourceNames()) != 1_868 || len(c.Notes) != 2 {
		t.Errorf("%d tools of %d servers, notes %q", n, len(c.SourceNames()), c.Notes)
	}
	for _, tool := range c.Tools {
		if len(tool.Definition.Name) > toolname.Max {
			t.Errorf("%s: %s", tool.ID, tool.Definition.Name)
		}
	}
}

// BenchmarkLargeImport reads a catalog of 17,578 tools.
func BenchmarkLargeImport(b *testing.B) {
	path := publicData(b, "toucan/tools.jsonl")
	for b.Loop() {
		if _, err := Load(path); err != nil {
			b.Fatal(err)
		}
	}
}

func TestToolPerFile(t *testing.T) {
	path := publicData(t, "github-mcp-server/toolsnaps")
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(path, "*.snap"))
	if err != nil || len(files) != 117 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	raws := make(map[string]bool)
	for _, tool := range c.Tools {
		raws[string(tool.Raw)] = true
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !raws[string(bytes.TrimSpace(data))] {
			t.Errorf("%s: its bytes are lost", file)
		}
	}
	if got := c.SourceNames(); len(imported(c)) != 117 || !slices.Equal(got, []string{"mcp-toolsnaps"}) {
		t.Errorf("%d tools, sources %q", len(imported(c)), got)
	}
}

// TestBuiltinNamesAreAdopted imports an agent's whole array: its own tools stand
// in the place of the built-in ones.
func TestBuiltinNamesAreAdopted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.json")
	array := `[{"type":"function","function":{"name":"read_file","description":"Ours.","parameters":{"type":"object"}}},
		{"type":"function","function":{"name":"plant_tree","description":"Theirs."}}]`
	if err := os.WriteFile(path, []byte(array), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := c.Tool("read_file")
	if own == nil || !own.Builtin || own.Toolset != "file" || own.Definition.Description != "Ours." {
		t.Errorf("read_file is %+v, want the imported one in the toolset file", own)
	}
	other, _ := c.Tool("plant_tree")
	if other == nil || other.Builtin || other.Toolset != "agent" {
		t.Errorf("plant_tree is %+v, want a tool of the source agent", other)
	}
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "built-in") {
		t.Errorf("notes %q, want one on the built-in name", c.Notes)
	}
}

// TestClientConfigurationIsNamed answers the likeliest mistake with the way out.
func TestClientConfigurationIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, []byte(`{"mcpServers":{"x":{"command":"npx","args":["-y","x"]}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path)
	if err == nil || !strings.Contains(err.Error(), "client's configuration") || !strings.Contains(err.Error(), "hint: ask the servers with bench corpus harvest") {
		t.Errorf("error %v", err)
	}
}

// TestCardsTakeInputSchema reads cards that were copied from a server's list.
func TestCardsTakeInputSchema(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("corpus.yaml", "schema_version: 1\nname: c\n")
	write("tools/x.json", `{"server":"x","tools":[{"name":"a","inputSchema":{"type":"object","properties":{"b":{}}}}]}`)
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := c.Tool("x/a"); a == nil || !slices.Equal(a.Definition.Properties, []string{"b"}) {
		t.Errorf("x/a is %+v", a)
	}
	write("tools/x.json", `{"server":"x","tools":[{"name":"a","parameters":{},"inputSchema":{}}]}`)
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "which mean the same") {
		t.Errorf("error %v", err)
	}
}
