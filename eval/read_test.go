package eval

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/textfile"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

const publicData = "../../shared/data/public/"

// public is the path of other people's data, where it is here.
func public(t testing.TB, name string) string {
	t.Helper()
	if _, err := os.Stat(publicData + name); err != nil {
		t.Skipf("other people's data is not here: %v", err)
	}
	return publicData + name
}

// folder writes files by name, and returns where.
func folder(t testing.TB, files map[string]string) string {
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

// TestRead holds what retrievers read of a tool to what its set says.
func TestRead(t *testing.T) {
	dir := folder(t, map[string]string{"all.json": `{"tools":[{"capability_id":"fs.read","name":"fs__read","description":"Read a file.","parameters":{"properties":{"path":{}}}}],` +
		`"intents":[{"class":"obvious","query":"read","relevance":{"fs__read":3}},{"class":"no_match","query":"fly","relevance":{}}]}`})
	s, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := Tool{ID: "fs__read", Name: "read", Doc: search.Doc{Name: "fs__read", Description: "Read a file.", Parameters: []string{"path"}, Source: "fs"}}
	if diff := cmp.Diff([]Tool{want}, s.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if s.Name != "set" || s.Format != corpus.FormatIronclaw || s.Judged() != 1 || s.AbsentQueries() != 1 || s.Queries[0].Grades["fs__read"] != 3 {
		t.Errorf("name %s, format %s, queries %+v", s.Name, s.Format, s.Queries)
	}
	qrels, err := Read(filepath.Join(folder(t, map[string]string{"a.qrels": "q1 0 a 1\nq1 0 b 0\n\nq2 0 z 0\n"}), "a.qrels"))
	if err != nil || qrels.Name != "a" || qrels.Format != FormatQrels || len(qrels.Tools) != 0 || qrels.Judged() != 1 || qrels.AbsentQueries() != 1 {
		t.Errorf("qrels: %+v, %v", qrels, err)
	}
}

// TestReadOthers counts what is in the sets of other projects.
func TestReadOthers(t *testing.T) {
	for _, c := range []struct {
		name                  string
		tools, judged, absent int
	}{
		{"mcpproxy", 45, 47, 0}, {"ironclaw", 50, 64, 8}, {"azure-mcp", 118, 226, 0}, {"seal-tools", 4076, 700, 0},
	} {
		s, err := Read(public(t, c.name))
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != c.name || s.Format != c.name || len(s.Tools) != c.tools || s.Judged() != c.judged || s.AbsentQueries() != c.absent {
			t.Errorf("%s: format %s, %d tools, %d queries, %d absent", s.Name, s.Format, len(s.Tools), s.Judged(), s.AbsentQueries())
		}
	}
}

func TestReadCorpora(t *testing.T) {
	s, err := Read(EmbeddedName)
	if err != nil {
		t.Fatal(err)
	}
	if s.Format != FormatCorpus || s.Name != EmbeddedName || len(s.Tools) < 200 || s.Judged() < 200 || s.AbsentQueries() == 0 {
		t.Errorf("embedded: format %s, %d tools, %d queries, %d absent", s.Format, len(s.Tools), s.Judged(), s.AbsentQueries())
	}
	path := filepath.Join(folder(t, map[string]string{"mine.json": `{"tools":[{"name":"a","description":"Wash the dishes. Slowly."}]}`}), "mine.json")
	if s, err = Read(path); err != nil {
		t.Fatal(err)
	}
	if s.Format != FormatDerived || s.Name != "mine" || !slices.ContainsFunc(s.Queries, func(q Query) bool { return q.Text == "Wash the dishes" }) {
		t.Errorf("derived: format %s, name %s, queries %v", s.Format, s.Name, s.Queries)
	}
}

func TestBadSets(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // DIR stands for the folder
	}{
		{"nothing", nil, "DIR: no such file or directory"},
		{"no set", map[string]string{"a.json": `{"x":1}`}, `no labelled set, and no corpus: DIR/a.json:1:1: object with fields "x" holds no tools`},
		{"an empty file", map[string]string{"a.json": " \n"}, "no labelled set, and no corpus: DIR/a.json: the file is empty"},
		{"no gold is a tool", map[string]string{"a.json": `{"tools":[{"name":"a"}],"intents":[{"query":"x","relevance":{"b":1}}]}`}, "DIR: no query can be judged"},
	} {
		dir := folder(t, c.files)
		_, err := Read(dir)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		text, hint, ok := strings.Cut(strings.ReplaceAll(err.Error(), dir, "DIR"), "\nhint: ")
		if !ok || hint == "" || !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: error %s\nhint: %s\nwant %s", c.name, text, hint, c.want)
		}
	}
}

// checkFault holds an error to name the file and a way out.
func checkFault(t *testing.T, err error) {
	t.Helper()
	if !strings.HasPrefix(err.Error(), "file") || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("error without a file or a hint: %v", err)
	}
}

// FuzzQrels reads any qrels.
func FuzzQrels(f *testing.F) {
	for _, seed := range []string{"q1 0 a 1\nq1 0 b 0\n", "", "q 0 d x", "q 0 d 1\nq 0 d 1", "q\t0\td\t-1\r\n", "q 0 d 1\n\nq 0 d"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		queries, err := parseQrels(&textfile.File{Name: "file", Data: data})
		switch {
		case err == errNoQrels:
		case err != nil:
			checkFault(t, err)
		case len(queries) == 0:
			t.Error("no queries, and no error")
		}
	})
}
