package corpus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, dir, name string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// folderOf makes a file system of texts.
func folderOf(files map[string]string) fstest.MapFS {
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return folder
}

// whole is a corpus folder with every file and every field.
var whole = map[string]string{
	"corpus.yaml": "schema_version: 1\nname: whole\nversion: \"2\"\nlicence: MIT\nsources: [here, there]\n",
	"tools/builtin.json": `{
  "schema_version": 1,
  "tools": [
    {"name": "look", "toolset": "eyes", "description": "Look around. Use touch for what is near.",
     "parameters": {"type": "object", "required": ["where"], "properties": {"where": {"type": "string"}}},
     "requires_env": ["LAMP"], "check": "lamp", "max_result_size_chars": 500, "async": true, "read_only": true,
     "mentions": [{"text": " Use touch for what is near.", "tools": ["touch"]}]},
    {"name": "touch", "toolset": "hands", "description": "Touch a thing."}
  ]
}`,
	"tools/garden.yaml": `server: garden
tools:
  - name: water_bed
    description: >-
      Water a bed
      of the garden.
    parameters:
      required: [bed]
      type: object
      properties:
        bed: {type: string, enum: [north, "south"]}
        litres: {type: number, default: 1.50}
  - name: list
`,
	"toolsets.yaml": `schema_version: 1
core: [look]
webhook_safe: [touch]
defer: [look]
toolsets:
  - {name: eyes, description: To see., tools: [look]}
  - {name: hands, tools: [touch], includes: [eyes]}
  - {name: both, core: true, tools: [touch], posture: true}
`,
	"distributions.yaml": "schema_version: 1\ndistributions:\n  - {name: mine, description: Mine., toolsets: {eyes: 50, mcp-garden: 100}, servers: 1}\n",
	"intents/a.jsonl": `{"id":"a-1","utterance":"water the north bed","language":"en","class":"obvious","gold":[{"tool":"garden/water_bed","arguments":[{"name":"bed","value":"north","stated":true},{"name":"litres","value": {"at" : [1.50, "é\u00e9"]},"stated":false}]}]}

{"id":"a-2","utterance":"fly","language":"zh-Hant","class":"absent","gold":[]}
`,
	"intents/b.jsonl": `{"id":"a-0","utterance":"look, then touch","language":"en","class":"multi_tool","gold":[{"tool":"look"},{"tool":"touch","depends_on":[0]}]}`,
	"README.md":       "Not read.",
	"tools/.hidden":   "Not read either.",
}

func TestFolder(t *testing.T) {
	c, err := loadFolder("w", folderOf(whole), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "whole" || c.Version != "2" || c.Licence != "MIT" || !slices.Equal(c.Sources, []string{"here", "there"}) {
		t.Errorf("manifest: %q %q %q %q", c.Name, c.Version, c.Licence, c.Sources)
	}
	var ids []string
	for _, tool := range c.Tools {
		ids = append(ids, tool.ID)
	}
	if want := []string{"look", "touch", "garden/list", "garden/water_bed"}; !slices.Equal(ids, want) {
		t.Errorf("tools %q, want %q", ids, want)
	}
	look, _ := c.Tool("look")
	if !look.Builtin || look.Server != "" || look.Toolset != "eyes" || !slices.Equal(look.RequiresEnv, []string{"LAMP"}) ||
		look.Check != "lamp" || look.MaxResultSize != 500 || !look.Async || !look.ReadOnly || len(look.Mentions) != 1 {
		t.Errorf("look: %+v", look)
	}
	water, _ := c.Tool("garden/water_bed")
	if water.Builtin || water.Server != "garden" || water.Toolset != "mcp-garden" || water.Name != "water_bed" {
		t.Errorf("water_bed: %+v", water)
	}
	const definition = `{"type":"function","function":{"name":"mcp__garden__water_bed","description":"Water a bed of the garden.",` +
		`"parameters":{"required":["bed"],"type":"object","properties":{"bed":{"type":"string","enum":["north","south"]},"litres":{"type":"number","default":1.50}}}}}`
	if water.Definition.JSON != definition {
		t.Errorf("definition\n%s\nwant\n%s", water.Definition.JSON, definition)
	}
	if both, _ := c.Toolsets.Static("both"); !slices.Equal(both.Tools, []string{"look", "touch"}) || !both.Posture {
		t.Errorf("both: %+v", both)
	}
	if !c.Toolsets.IsCore("look") || !slices.Equal(c.Toolsets.WebhookSafe(), []string{"touch"}) || !slices.Equal(c.Toolsets.Defer(), []string{"look"}) {
		t.Error("core, webhook_safe or defer is lost")
	}
	if d, err := c.Distributions.Get("mine"); err != nil || d.Servers != 1 {
		t.Errorf("mine: %+v, %v", d, err)
	}
	checkWholeIntents(t, c)
}

func checkWholeIntents(t *testing.T, c *Corpus) {
	t.Helper()
	want := []*Intent{
		{ID: "a-0", Utterance: "look, then touch", Language: "en", Class: MultiTool, Gold: []Gold{{Tool: "look"}, {Tool: "touch", DependsOn: []int{0}}}},
		{ID: "a-1", Utterance: "water the north bed", Language: "en", Class: Obvious, Gold: []Gold{{Tool: "garden/water_bed", Arguments: []Argument{
			{Name: "bed", Value: json.RawMessage(`"north"`), Stated: true}, {Name: "litres", Value: json.RawMessage(`{"at":[1.50,"éé"]}`)},
		}}}},
		{ID: "a-2", Utterance: "fly", Language: "zh-Hant", Class: Absent},
	}
	if diff := cmp.Diff(want, c.Intents); diff != "" {
		t.Errorf("intents differ (-want +got):\n%s", diff)
	}
	if got := string(c.Intents[1].Gold[0].JSONArguments()); got != `{"bed":"north","litres":{"at":[1.50,"éé"]}}` {
		t.Errorf("arguments %s", got)
	}
}

// TestJSONAndYAMLCards reads the same cards from both.
func TestJSONAndYAMLCards(t *testing.T) {
	inJSON := `{"server":"s","tools":[{"name":"a","description":"Say \"no\":\n\tyes","parameters":{"z":1,"a":[null,true,-1.5e3],"Ä":{"on":"off"}}}]}`
	inYAML := "server: s\r\ntools:\r\n- name: a\r\n  description: \"Say \\\"no\\\":\\n\\tyes\"\r\n  parameters: {z: 1, a: [~, true, -1.5e3], Ä: {\"on\": \"off\"}}\r\n"
	var digests []string
	for name, text := range map[string]string{"tools/s.json": inJSON, "tools/s.yaml": inYAML, "tools/s.yml": "\ufeff" + inYAML} {
		folder := folderOf(map[string]string{"corpus.yaml": plainManifest, name: text})
		c, err := loadFolder("c", folder, Embedded)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := c.Tool("s/a")
		if got := string(a.Definition.Parameters); got != `{"z":1,"a":[null,true,-1.5e3],"Ä":{"on":"off"}}` {
			t.Errorf("%s: parameters %s", name, got)
		}
		digests = append(digests, c.SHA256)
	}
	if slices.Sort(digests); digests[0] != digests[2] {
		t.Error("the digest depends on the language of the cards")
	}
}

// TestWithoutToolsets completes a folder from the embedded corpus.
func TestWithoutToolsets(t *testing.T) {
	base, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c, err := loading(map[string]string{
		"tools/p.json":       `{"tools":[{"name":"mine","toolset":"shed"}]}`,
		"distributions.yaml": "schema_version: 1\ndistributions: [{name: d, description: D., toolsets: {web: 1, shed: 2, mcp-s: 3}}]",
		"intents/i.jsonl":    `{"id":"1","utterance":"run it","language":"en","class":"obvious","gold":[{"tool":"terminal"},{"tool":"mine"}]}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"mcp-s", "shed"}; !slices.Equal(c.SourceNames(), want) {
		t.Errorf("sources %q, want %q", c.SourceNames(), want)
	}
	if mine, _ := c.Tool("mine"); mine.Builtin {
		t.Error("a plugin's tool counts as built in")
	}
	builtin := 0
	for _, tool := range c.Tools {
		if tool.Builtin {
			builtin++
		}
	}
	if builtin != 81 || c.Toolsets != base.Toolsets || len(c.Intents) != 1 {
		t.Errorf("%d built-in tools, %d intents", builtin, len(c.Intents))
	}
	if !c.Distributions.Validate("d") || base.Distributions.Validate("d") {
		t.Error("the distribution is not the folder's alone")
	}
}

// TestDigest says what changes a corpus's identity: content does, names of the
// corpus and of files and their number do not.
func TestDigest(t *testing.T) {
	load := func(change func(files map[string]string)) string {
		t.Helper()
		files := make(map[string]string)
		for name, text := range whole {
			files[name] = text
		}
		change(files)
		c, err := loadFolder("w", folderOf(files), nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.SHA256
	}
	replace := func(file, old, new string) func(map[string]string) {
		return func(files map[string]string) {
			if !strings.Contains(files[file], old) {
				t.Fatalf("%s has no %q", file, old)
			}
			files[file] = strings.Replace(files[file], old, new, 1)
		}
	}
	original := load(func(map[string]string) {})
	for name, change := range map[string]func(map[string]string){
		"name, version, licence": replace("corpus.yaml", "name: whole\nversion: \"2\"\nlicence: MIT", "name: other"),
		"white space":            replace("tools/builtin.json", `{"type": "object", `, `{"type":"object",`),
		"order of cards": func(f map[string]string) {
			f["tools/zz.json"] = f["tools/builtin.json"]
			delete(f, "tools/builtin.json")
		},
		"files of intents":     func(f map[string]string) { f["intents/a.jsonl"] += f["intents/b.jsonl"]; delete(f, "intents/b.jsonl") },
		"unread files":         func(f map[string]string) { f["README.md"] = "" },
		"a toolset's sentence": replace("toolsets.yaml", "To see.", "For seeing."),
	} {
		if load(change) != original {
			t.Errorf("%s: the digest differs", name)
		}
	}
	seen := map[string]string{original: "the original"}
	for name, change := range map[string]func(map[string]string){
		"a description":     replace("tools/builtin.json", "Touch a thing", "Touch things"),
		"the order of keys": replace("tools/builtin.json", `"type": "object", "required": ["where"]`, `"required": ["where"], "type": "object"`),
		"a number's form":   replace("tools/garden.yaml", "1.50", "1.5"),
		"environment":       replace("tools/builtin.json", `"LAMP"`, `"LAMP", "OIL"`),
		"environment, one":  replace("tools/builtin.json", `"LAMP"`, `"LAMP OIL"`),
		"probe":             replace("tools/builtin.json", `"check": "lamp"`, `"check": "lamps"`),
		"size":              replace("tools/builtin.json", "500", "501"),
		"async":             replace("tools/builtin.json", `"async": true`, `"async": false`),
		"read-only":         replace("tools/builtin.json", `"read_only": true`, `"read_only": false`),
		"mention":           replace("tools/builtin.json", `["touch"]`, `["touch", "look"]`),
		"core":              replace("toolsets.yaml", "core: [look]", "core: [look, touch]"),
		"webhook_safe":      replace("toolsets.yaml", "webhook_safe: [touch]", "webhook_safe: []"),
		"defer":             replace("toolsets.yaml", "defer: [look]", "defer: [touch]"),
		"include":           replace("toolsets.yaml", "includes: [eyes]", "includes: []"),
		"posture":           replace("toolsets.yaml", "posture: true", "posture: false"),
		"distribution":      replace("distributions.yaml", "eyes: 50", "eyes: 51"),
		"servers drawn":     replace("distributions.yaml", "servers: 1", "servers: 2"),
		"utterance":         replace("intents/a.jsonl", "fly", "fly!"),
		"stated":            replace("intents/a.jsonl", `"stated":true`, `"stated":false`),
		"depends_on":        replace("intents/b.jsonl", `,"depends_on":[0]`, ""),
	} {
		digest := load(change)
		if other, again := seen[digest]; again {
			t.Errorf("%s: the digest is that of %s", name, other)
		}
		seen[digest] = name
	}
}

func TestToolsetsKnown(t *testing.T) {
	c, err := loadFolder("w", folderOf(whole), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"eyes": true, "both": true, "mcp-garden": true, "garden": false, "web": false, "": false, "all": false} {
		if c.HasToolset(name) != want {
			t.Errorf("HasToolset(%q) = %t", name, !want)
		}
	}
	c.SourceNames()[0] = "spoilt"
	if !slices.Equal(c.SourceNames(), []string{"mcp-garden"}) {
		t.Errorf("sources %q", c.SourceNames())
	}
	if allocs := testing.AllocsPerRun(100, func() { c.HasToolset("mcp-garden") }); allocs > 0 {
		t.Errorf("HasToolset of a source allocates %v times", allocs)
	}
	for _, tool := range c.Deferrable() {
		if tool.ID == "look" {
			t.Error("a core tool is deferrable")
		}
	}
	if n := len(c.Deferrable()); n != 3 {
		t.Errorf("%d deferrable tools, want 3", n)
	}
}

func TestRewrites(t *testing.T) {
	c, err := loadFolder("w", folderOf(whole), nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := c.Rewrites()
	if len(rules) != 1 {
		t.Fatalf("%d rules, want look's alone", len(rules))
	}
	look, _ := c.Tool("look")
	for _, row := range []struct {
		available, description string
	}{
		{"touch", "Look around. Use touch for what is near."},
		{"other", "Look around."},
	} {
		d, err := rules["look"](look.Definition, func(name string) bool { return name == row.available })
		if err != nil || d.Description != row.description {
			t.Errorf("with %s: %q, %v", row.available, d.Description, err)
		}
		if (d == look.Definition) != (row.available == "touch") {
			t.Errorf("with %s: a definition is shared exactly if nothing changes", row.available)
		}
		if !json.Valid([]byte(d.JSON)) || !strings.Contains(d.JSON, row.description) || !strings.HasSuffix(d.JSON, look.Definition.JSON[strings.Index(look.Definition.JSON, `,"parameters"`):]) {
			t.Errorf("with %s: %s", row.available, d.JSON)
		}
	}
}

// TestRewriteAny keeps a mention while one of several tools is there, and leaves
// out each mention by itself.
func TestRewriteAny(t *testing.T) {
	d, err := registry.Define("x", "A. See p or q. See r.", nil)
	if err != nil {
		t.Fatal(err)
	}
	tool := &Tool{Definition: d, Mentions: []Mention{{Text: " See p or q.", Tools: []string{"p", "q"}}, {Text: " See r.", Tools: []string{"r"}}}}
	for available, want := range map[string]string{"": "A.", "p": "A. See p or q.", "q": "A. See p or q.", "r": "A. See r.", "pq": "A. See p or q.", "qr": "A. See p or q. See r."} {
		got, err := tool.rewrite(d, func(name string) bool { return strings.Contains(available, name) })
		if err != nil || got.Description != want {
			t.Errorf("with %q: %q, want %q (%v)", available, got.Description, want, err)
		}
	}
}

// TestUserCorpus loads the example that the documentation points to.
func TestUserCorpus(t *testing.T) {
	c, err := Load(filepath.Join("..", "examples", "corpus"))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Tools) != 81+3 || len(c.Intents) != 4 || len(c.Notes) != 0 || !slices.Equal(c.SourceNames(), []string{"mcp-greenhouse"}) {
		t.Errorf("%d tools, %d intents, notes %q, sources %q", len(c.Tools), len(c.Intents), c.Notes, c.SourceNames())
	}
	if !c.Distributions.Validate("greenhouse_day") {
		t.Error("the distribution is missing")
	}
	for _, in := range c.Intents {
		for _, fault := range intentFaults(c, in) {
			t.Errorf("%s: %s", in.ID, fault)
		}
	}
}
