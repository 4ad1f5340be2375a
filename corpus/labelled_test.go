package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// setFolder writes files by name, and returns where.
func setFolder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Small sets of each format.
const (
	mcpproxyToolsText   = `{"tools":[{"tool_id":"fs:write","server":"fs","tool":"write","description":"Write a file.","schema":{"properties":{"path":{},"text":{}}}},{"tool_id":"fs:read","server":"fs","tool":"read","description":"Read a file."}]}`
	mcpproxyQueriesText = `{"queries":[{"id":"q1","query":"read it","labels":[{"tool_id":"fs:read","relevance":2},{"tool_id":"fs:write","relevance":0}]}]}`
	ironclawText        = `{"tools":[{"capability_id":"fs.read","name":"fs__read","description":"Read a file.","parameters":{"properties":{"path":{}}}}],"intents":[{"class":"obvious","query":"read","relevance":{"fs__read":3}},{"class":"no_match","query":"fly","relevance":{}}]}`
	azureToolsText      = `{"results":[{"command":"az vm list","description":"List machines.","option":[{"name":"group"}]}]}`
	azureQueriesText    = `{"az_vm_list":["List my machines","Show machines"],"az_vm_gone":["Delete it"]}`
	sealToolsText       = `{"api_name":"readFile","api_description":"Read a file","field":"Files","parameters":{"path":{"type":"str","description":"Where"},"lines":{"type":"int"}},"required":["path","lines","gone"]}` + "\n" + `{"api_name":"writeFile","api_description":"Write a file","field":"Files","parameters":{}}`
	sealQueriesText     = `{"id":"d1","query":"read it and write it","calling":[{"api":"readFile"},{"api":"writeFile"},{"api":"readFile"}]}`
	beirCorpusText      = `{"_id":"d1","title":"read","text":"Read a file."}` + "\n\n" + `{"_id":"d2","text":"Write a file."}` + "\n"
	beirQueriesText     = `{"_id":"q1","text":"read it"}` + "\n" + `{"_id":"q2","text":"not judged"}` + "\n"
	beirQrelsText       = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n"
)

func TestReadLabelled(t *testing.T) {
	for _, c := range []struct {
		format string
		files  map[string]string
		tools  []string // names that retrievers read
		texts  []string // of the queries
		grades map[string]int
		notes  int
	}{
		{FormatMCPProxy, map[string]string{"t.json": mcpproxyToolsText, "q.json": mcpproxyQueriesText, "LICENSE": "MIT", "baseline.json": `{"recall":1}`},
			[]string{"mcp__fs__read", "mcp__fs__write"}, []string{"read it"}, map[string]int{"fs:read": 2, "fs:write": 0}, 1},
		{FormatIronclaw, map[string]string{"all.json": ironclawText}, []string{"fs__read"}, []string{"read", "fly"}, map[string]int{"fs__read": 3}, 0},
		{FormatAzureMCP, map[string]string{"tools.json": azureToolsText, "prompts.json": azureQueriesText},
			[]string{"az_vm_list"}, []string{"List my machines", "Show machines"}, map[string]int{"az_vm_list": 1}, 1},
		{FormatSealTools, map[string]string{"tool.jsonl": sealToolsText, "dev.jsonl": sealQueriesText},
			[]string{"readFile", "writeFile"}, []string{"read it and write it"}, map[string]int{"readFile": 1, "writeFile": 1}, 0},
		{FormatBEIR, map[string]string{"corpus.jsonl": beirCorpusText, "queries.jsonl": beirQueriesText, "qrels/test.tsv": beirQrelsText, "qrels/train.tsv": "x"},
			[]string{"d2", "read"}, []string{"read it"}, map[string]int{"d1": 1, "d2": 0}, 1},
	} {
		s, err := ReadLabelled(setFolder(t, c.files))
		if err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		var tools, texts []string
		for _, tool := range s.Tools {
			tools = append(tools, tool.Visible)
		}
		for _, q := range s.Queries {
			texts = append(texts, q.Text)
		}
		if s.Name != "set" || s.Format != c.format || !slices.Equal(tools, c.tools) || !slices.Equal(texts, c.texts) || len(s.Notes) != c.notes {
			t.Errorf("%s: name %s, format %s, tools %q, queries %q, notes %q", c.format, s.Name, s.Format, tools, texts, s.Notes)
		}
		if diff := cmp.Diff(c.grades, s.Queries[0].Grades); diff != "" {
			t.Errorf("%s: grades (-want +got):\n%s", c.format, diff)
		}
	}
}

// TestBadSets holds errors to name the file, the place and a way out.
func TestBadSets(t *testing.T) {
	pair := func(tools, queries string) map[string]string {
		return map[string]string{"t.json": tools, "q.json": queries}
	}
	beir := func(corpus, queries, qrels string) map[string]string {
		return map[string]string{"corpus.jsonl": corpus, "queries.jsonl": queries, "qrels/test.tsv": qrels}
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // DIR stands for the folder
	}{
		{"nothing", nil, "DIR: no such file or directory"},
		{"truncated", pair(mcpproxyToolsText[:40], mcpproxyQueriesText), "DIR/t.json:1:41: invalid JSON: unexpected end of JSON input"},
		{"not UTF-8", pair(mcpproxyToolsText, "{\"queries\":\n\"\xff\"}"), "DIR/q.json:2:2: invalid UTF-8 (byte 0xff)"},
		{"tools alone", map[string]string{"t.json": mcpproxyToolsText}, "DIR: tools of the format mcpproxy, but no queries"},
		{"queries alone", map[string]string{"q.json": mcpproxyQueriesText}, "DIR: queries of the format mcpproxy, but no tools"},
		{"two formats", pair(mcpproxyToolsText, ironclawText), "DIR/t.json: holds a set of the format mcpproxy, beside one of the format ironclaw in the same folder"},
		{"tools twice", map[string]string{"a.json": azureToolsText, "b.json": azureToolsText, "q.json": azureQueriesText}, "DIR/b.json: more tools, beside those of DIR/a.json"},
		{"queries twice", map[string]string{"a.json": azureToolsText, "b.json": azureQueriesText, "q.json": azureQueriesText}, "DIR/q.json: more queries, beside those of DIR/b.json"},
		{"a tool twice", pair(`{"tools":[{"tool_id":"x","server":"s","tool":"x"},`+"\n"+`{"tool_id":"x","server":"s","tool":"y"}]}`, mcpproxyQueriesText), `DIR/t.json:2:1: tool "x" is there twice; first in line 1`},
		{"a field lacks", pair(mcpproxyToolsText, `{"queries":[{"id":"q1","labels":[]}]}`), "DIR/q.json:1:13: a query lacks query"},
		{"a field of another kind", pair(mcpproxyToolsText, `{"queries":[{"id":"q1","query":7,"labels":[]}]}`), "DIR/q.json:1:32: query of a query is number, want string"},
		{"a blank query", pair(mcpproxyToolsText, `{"queries":[{"id":"q1","query":" ","labels":[]}]}`), "DIR/q.json:1:32: query of a query is blank"},
		{"half a grade", pair(mcpproxyToolsText, `{"queries":[{"id":"q1","query":"x","labels":[{"tool_id":"a","relevance":1.5}]}]}`), `DIR/q.json:1:73: relevance of a label: "1.5" is no grade`},
		{"a label twice", pair(mcpproxyToolsText, `{"queries":[{"id":"q1","query":"x","labels":[{"tool_id":"a","relevance":1},{"tool_id":"a","relevance":2}]}]}`), `DIR/q.json:1:76: label of "a" is there twice; first in line 1`},
		{"a key twice", map[string]string{"a.json": `{"tools":[],"intents":[{"query":"x","relevance":{"a":1,` + "\n" + `"a":2}}]}`}, `DIR/a.json:2:1: "a" is given twice; first at DIR/a.json:1:50`},
		{"a tool is no object", map[string]string{"a.json": `{"tools":[3],"intents":[]}`}, "DIR/a.json:1:11: a tool is number, want object"},
		{"a prompt is no text", pair(azureToolsText, `{"az_vm_list":["x",3]}`), `DIR/q.json:1:20: a prompt of "az_vm_list" is no text, or blank`},
		{"a strange line", map[string]string{"a.jsonl": sealToolsText + "\n" + `{"name":"x"}`}, "DIR/a.jsonl:3:1: a line lacks api_name"},
		{"BEIR without queries", map[string]string{"corpus.jsonl": beirCorpusText, "qrels/test.tsv": beirQrelsText}, "DIR/queries.jsonl: no such file or directory"},
		{"BEIR with two qrels", map[string]string{"corpus.jsonl": beirCorpusText, "queries.jsonl": beirQueriesText, "qrels/a.tsv": "", "qrels/b.tsv": ""}, "DIR/qrels: 2 files of qrels, and none is test.tsv"},
		{"BEIR with a document twice", beir(beirCorpusText+`{"_id":"d1"}`, beirQueriesText, beirQrelsText), `DIR/corpus.jsonl:4:1: document "d1" is there twice; first in line 1`},
		{"BEIR with a short line", beir(beirCorpusText, beirQueriesText, "query-id\tcorpus-id\tscore\nq1\td1\n"), "DIR/qrels/test.tsv:2:1: fields between tabs: 2, want 3"},
		{"BEIR with qrels of TREC", beir(beirCorpusText, beirQueriesText, "q1 0 d1 1\n"), "DIR/qrels/test.tsv:1:1: fields between tabs: 1, want 3"},
		{"BEIR without documents", map[string]string{"queries.jsonl": beirQueriesText, "qrels/test.tsv": beirQrelsText}, "DIR/corpus.jsonl: no such file or directory"},
		{"BEIR with qrels packed", beir(beirCorpusText, beirQueriesText, "\x1f\x8b\b"), "DIR/qrels/test.tsv: compressed by gzip"},
		{"BEIR with a bad grade", beir(beirCorpusText, beirQueriesText, "q1\td1\t1\nq1\td2\tx\n"), `DIR/qrels/test.tsv:2:1: "x" is no grade`},
		{"BEIR with an unknown query", beir(beirCorpusText, beirQueriesText, "q9\td1\t1\n"), `DIR/qrels/test.tsv:1:1: unknown query "q9"`},
		{"BEIR with a judgement twice", beir(beirCorpusText, beirQueriesText, "q1\td1\t1\nq1\td1\t1\n"), `DIR/qrels/test.tsv:2:1: query "q1" judges "d1" twice`},
	} {
		dir := setFolder(t, c.files)
		_, err := ReadLabelled(dir)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		text, hint, ok := strings.Cut(strings.ReplaceAll(err.Error(), dir, "DIR"), "\nhint: ")
		if !ok || hint == "" || !strings.Contains(text, c.want) {
			t.Errorf("%s: error %s\nhint: %s\nwant %s", c.name, text, hint, c.want)
		}
	}
}

// TestImportLabelled imports a set of each kind, writes it as a corpus folder, and reads that: the tools with their schemas,
// and the queries as intents.
func TestImportLabelled(t *testing.T) {
	for _, c := range []struct {
		format  string
		files   map[string]string
		tools   map[string]string // parameters of own tools, by ID
		intents []string
	}{
		{FormatMCPProxy, map[string]string{"t.json": mcpproxyToolsText, "q.json": mcpproxyQueriesText},
			map[string]string{"fs/read": "", "fs/write": `{"properties":{"path":{},"text":{}}}`}, []string{"q1 paraphrase read it [fs/read]"}},
		{FormatIronclaw, map[string]string{"all.json": ironclawText},
			map[string]string{"fs/read": `{"properties":{"path":{}}}`}, []string{"i1 obvious read [fs/read]", "i2 absent fly []"}},
		{FormatAzureMCP, map[string]string{"tools.json": azureToolsText, "prompts.json": azureQueriesText},
			map[string]string{"az/vm_list": `{"type":"object","properties":{"group":{}}}`},
			[]string{"p1 paraphrase List my machines [az/vm_list]", "p2 paraphrase Show machines [az/vm_list]"}},
		{FormatSealTools, map[string]string{"tool.jsonl": sealToolsText, "dev.jsonl": sealQueriesText},
			map[string]string{"set/readFile": `{"type":"object","properties":{"path":{"type":"string","description":"Where"},"lines":{"type":"integer"}},"required":["path","lines"]}`, "set/writeFile": `{"type":"object","properties":{}}`},
			[]string{"d1 multi_tool read it and write it [set/readFile {\"path\":\"path\",\"lines\":1} set/writeFile]"}},
		{FormatBEIR, map[string]string{"corpus.jsonl": beirCorpusText, "queries.jsonl": beirQueriesText, "qrels/test.tsv": beirQrelsText},
			map[string]string{"set/read": "", "set/d2": ""}, []string{"q1 paraphrase read it [set/read]"}},
	} {
		dir := setFolder(t, c.files)
		imported, err := Import("mine", []string{dir})
		if err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		out := filepath.Join(t.TempDir(), "corpus")
		if _, err := imported.WriteFolder(out); err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		for _, path := range []string{dir, out} {
			loaded, err := Load(path)
			if err != nil {
				t.Errorf("%s: %v", c.format, err)
				continue
			}
			tools, intents := make(map[string]string), []string(nil)
			for _, tool := range loaded.Own() {
				function, _ := rawjson.Object([]byte(tool.Definition.JSON))
				inner, _ := rawjson.Get(function, "function")
				fields, _ := rawjson.Object(inner)
				schema, _ := rawjson.Get(fields, "parameters")
				tools[tool.ID] = string(schema)
			}
			for _, in := range loaded.Intents {
				var golds []string
				for _, g := range in.Gold {
					golds = append(golds, strings.TrimSuffix(g.Tool+" "+string(g.JSONArguments()), " {}"))
				}
				intents = append(intents, fmt.Sprint(in.ID, " ", in.Class, " ", in.Utterance, " ", golds))
			}
			if diff := cmp.Diff(c.tools, tools); diff != "" {
				t.Errorf("%s: tools (-want +got):\n%s", c.format, diff)
			}
			if diff := cmp.Diff(c.intents, intents); diff != "" {
				t.Errorf("%s: intents (-want +got):\n%s", c.format, diff)
			}
			if loaded.SHA256 != imported.SHA256 {
				t.Errorf("%s: another digest from %s", c.format, path)
			}
		}
	}
}

// TestIntentOfQuery grades: the highest are gold, and the class is the set's own where it is one of ours.
func TestIntentOfQuery(t *testing.T) {
	tools := make(map[string]*Tool)
	for _, name := range []string{"a", "b", "c"} {
		tools[name] = &Tool{ID: "s/" + name, Definition: &registry.Definition{}}
	}
	for _, c := range []struct {
		class  string
		grades map[string]int
		want   string
	}{
		{"confusable", map[string]int{"a": 3, "b": 1, "c": 0}, "confusable [{s/a [] []}]"},
		{"no_match", nil, "absent []"},
		{"", map[string]int{"a": 0, "b": -1}, "absent []"},
		{"absent", map[string]int{"a": 1}, "paraphrase [{s/a [] []}]"},
		{"obvious", map[string]int{"c": 2, "b": 2, "a": 1}, "multi_tool [{s/b [] []} {s/c [] []}]"},
	} {
		q := Query{ID: "q", Class: c.class, Grades: c.grades}
		in := q.intent(tools)
		if got := fmt.Sprint(in.Class, " ", in.Gold); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.class, c.grades, got, c.want)
		}
	}
}

// TestTwoSetsAtOnce refuses sets whose queries have the same IDs.
func TestTwoSetsAtOnce(t *testing.T) {
	first, second := setFolder(t, map[string]string{"all.json": ironclawText}), setFolder(t, map[string]string{"all.json": strings.ReplaceAll(ironclawText, "fs", "db")})
	_, err := Import("both", []string{first, second})
	if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(second, "all.json")+`:1:`) || !strings.Contains(err.Error(), `query "i1" has the ID of another set's`) {
		t.Errorf("error %v", err)
	}
}

// FuzzLabelled reads anything: it may be refused, with a place and a hint, and never breaks.
func FuzzLabelled(f *testing.F) {
	for _, seed := range []string{
		mcpproxyToolsText, mcpproxyQueriesText, ironclawText, azureToolsText, azureQueriesText, sealToolsText, sealQueriesText,
		"", "{", "[]", `{"tools":[],"intents":3}`, `{"a":[""]}`, `{"results":[{"command":null}]}`, `{"api_name":"a","parameters":{"p":null}}`,
		`{"results":[{"command":"a b","option":[{"name":"x"},{"name":"x"}]}]}`, `{"tools":[{"name":"a","parameters":{"properties":[]}}],"intents":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if textfile.CheckUTF8("file", data) != nil {
			return
		}
		p, err := (&document{file: "file", data: data}).part()
		if err != nil {
			if err != errNoPart {
				checkFault(t, err)
			}
			return
		}
		for i := range p.queries {
			if p.queries[i].Grades == nil {
				t.Errorf("query %d has no grades", i)
			}
		}
		for _, tool := range p.tools {
			if tool.ID == "" || tool.Name == "" || tool.Visible == "" {
				t.Errorf("a tool without a name: %+v", tool)
			}
			if _, err := tool.at.doc.value(tool.at.start, tool.at.end); err != nil {
				t.Error(err)
			}
		}
	})
}

// checkFault holds an error to name the file and a way out.
func checkFault(t *testing.T, err error) {
	t.Helper()
	if !strings.HasPrefix(err.Error(), "file") || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("error without a file or a hint: %v", err)
	}
}

// FuzzBEIRQrels reads any qrels in BEIR's format.
func FuzzBEIRQrels(f *testing.F) {
	for _, seed := range []string{beirQrelsText, "", "q1\td1\t1", "q1\td1", "q1\t\t1\n", "\t\t\n\t\t"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if textfile.CheckUTF8("file", data) != nil {
			return
		}
		queries := map[string]Query{"q1": {ID: "q1", Grades: make(map[string]int)}}
		if _, err := readBEIRQrels(&textfile.File{Name: "file", Data: data}, queries); err != nil {
			checkFault(t, err)
		}
	})
}
