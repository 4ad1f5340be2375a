package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestUnread(t *testing.T) {
	for _, row := range []struct {
		files, want []string
	}{
		{[]string{"a.json", "b.jsonl", "README.md", ".x.py"}, nil},
		{[]string{"a.json", "z.py", "new.yaml", "c.yml"}, []string{"c.yml", "new.yaml", "z.py"}},
		{[]string{"corpus.yaml", "toolsets.yaml", "distributions.yaml", "tools/a.json", "tools/b.yaml"}, nil},
		{[]string{"corpus.yaml", "late.json", "late.yaml", "LICENSE"}, []string{"late.json", "late.yaml"}},
	} {
		root := t.TempDir()
		for _, name := range row.files {
			path := filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := Unread(root); !slices.Equal(got, row.want) {
			t.Errorf("of %v unread are %v, want %v", row.files, got, row.want)
		}
		if got := Unread(filepath.Join(root, row.files[0])); got != nil {
			t.Errorf("beside a file unread are %v", got)
		}
	}
	if got := Unread(""); got != nil {
		t.Errorf("of no path unread are %v", got)
	}
}
