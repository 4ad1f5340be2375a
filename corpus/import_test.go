package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlaces holds tools to the line at which a reader finds them.
func TestToolPlaces(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"list.json":   "{\"tools\": [\n\n  {\"name\": \"a\"}, {\"name\": \"b\"},\n  {\n   \"name\": \"c\"}]}",
		"lines.jsonl": "{\"server\":\"l\",\"name\":\"a\"}\r\n\r\n{\"server\":\"l\",\"name\":\"b\"}\n",
		"flat.json":   `{"server":"f","name":"a","description":"A."}`,
		"cards.yaml":  "# A comment.\nserver: y\ntools:\n- name: a\n  description: >\n    Long\n    text\n-\n  name: b\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var paths []string
	for _, name := range []string{"list.json", "lines.jsonl", "flat.json", "cards.yaml"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	c, err := Import("several", paths)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tool := range c.Own() {
		got = append(got, fmt.Sprintf("%s %s:%d", tool.ID, filepath.Base(tool.File), tool.Line))
	}
	want := []string{"f/a flat.json:1", "l/a lines.jsonl:1", "l/b lines.jsonl:3", "list/a list.json:3", "list/b list.json:3", "list/c list.json:4",
		"y/a cards.yaml:4", "y/b cards.yaml:9"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if c.Name != "several" || len(c.Tools) == len(got) {
		t.Errorf("name %q, %d tools, of which %d are its own", c.Name, len(c.Tools), len(got))
	}
	embedded := embeddedCorpus(t)
	if len(embedded.Own()) != len(embedded.Tools) {
		t.Error("the embedded corpus has tools that are not its own")
	}
	if tool, _ := embedded.Tool("github/create_issue"); tool == nil || tool.File != "embedded/tools/github.json" || tool.Line < 2 {
		t.Errorf("create_issue stands at %s:%d", tool.File, tool.Line)
	}
}

// TestLoadLike: two exports of one server are of one server, whatever the files
// are called.
func TestLoadLike(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"before.json": `[{"name": "a"}]`, "after.json": `[{"name": "a"}, {"name": "b", "server": "s"}]`, "old/a.json": `{"name": "a"}`, "new/a.json": `{"name": "a"}`, "new/list.json": `[{"name": "b"}]`,
		"new/sub/c.json": `{"name": "c"}`, "folder/corpus.yaml": "schema_version: 1\nname: folder\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, other, name, want string }{
		{"after.json", "before.json", "after", "before/a s/b"},
		{"after.json", "folder", "after", "after/a s/b"},
		{"after.json", "missing", "after", "after/a s/b"},
		{"new", "old", "new", "list/b old/a sub/c"},
	} {
		loaded, err := LoadLike(filepath.Join(dir, c.path), filepath.Join(dir, c.other))
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, tool := range loaded.Own() {
			ids = append(ids, tool.ID)
		}
		if got := strings.Join(ids, " "); got != c.want || loaded.Name != c.name {
			t.Errorf("%s like %s: %s, called %s, want %s", c.path, c.other, got, loaded.Name, c.want)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{"testdata/tools-list.json", "missing"}, "missing: no such file or directory\nhint: give files or folders of exported tools"},
		{[]string{"../examples/corpus"}, "../examples/corpus: is a corpus folder already\nhint: give it to --corpus as it is"},
		{[]string{t.TempDir()}, "no tools found\nhint: " + importHint},
	} {
		if _, err := Import("x", c.paths); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.paths, err)
		}
	}
}
