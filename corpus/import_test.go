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
