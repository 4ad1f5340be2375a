package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// folder makes a folder of files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func mustScan(t *testing.T, dir string, o Options) *Report {
	t.Helper()
	r, err := Scan(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// verdicts writes a report as lines FILE yes|no REASON.
func verdicts(r *Report) (lines []string) {
	for _, v := range r.Files {
		answer := "no"
		if v.Registers {
			answer = "yes"
		}
		lines = append(lines, strings.Join([]string{v.File, answer, v.Reason}, " "))
	}
	return lines
}

// countLines stands for the corpus's reading of cards: one card a line.
func countLines(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err == nil && strings.HasPrefix(string(text), "bad") {
		err = fmt.Errorf("%s:1:1: bad beside %s\nhint: make it good", path, path)
	}
	return strings.Count(string(text), "\n"), err
}

var toolFiles = map[string]string{
	"__init__.py":         "registry.register(a)",
	"registry.py":         "registry.register(a)",
	"mcp_tool.py":         "registry.register(a)",
	".hidden.py":          "registry.register(a)",
	".hidden.json":        "card\n",
	"Z.py":                "x = 1\nregistry.register(\n  x)",
	"both.py":             "registry.register(a)\nregistry.register(b)",
	"bom.py":              byteOrderMark + "registry.register(a)",
	"broken.py":           "registry.register(a)\nif x\n",
	"cards.yaml":          "card\ncard\n",
	"bad.json":            "bad",
	"none.yml":            "",
	"inside.py":           "def f():\n  if a:\n    registry.register(a)",
	"latin.py":            "registry.register(a)\n# caf\xe9",
	"loop.py":             "for a in b:\n  registry.register(a)",
	"wide.py":             "ｒegistry.ｒegister(a)",
	"wide_mentioned.py":   "# registry.register\nｒegistry.ｒegister(a)",
	"null.py":             "registry.register(a)\x00",
	"plain.py":            "import registry",
	"says.py":             "'registry.register(a)'",
	"notes.txt":           "registry.register(a)",
	"loose/tool.py":       "registry.register(a)",
	"package/__init__.py": "", "package/tool.py": "registry.register(a)", "package/other.py": "registry.register(a)",
	"empty/other.py": "registry.register(a)",
	"named.py/x.txt": "",
}

func TestScan(t *testing.T) {
	dir := folder(t, toolFiles)
	if err := os.Symlink("nowhere", filepath.Join(dir, "link.py")); err != nil {
		t.Fatal(err)
	}
	july := []string{
		".hidden.py yes line 1: registry.register(…)",
		"Z.py yes line 2: registry.register(…)",
		"__init__.py no passed over because of its name",
		"bad.json no 1:1: bad beside bad.json",
		"bom.py no begins with a byte order mark, which is a syntax error here; save it as UTF-8 without one",
		"both.py yes line 1: registry.register(…)",
		"broken.py no syntax error in line 2: : is missing",
		"cards.yaml yes tool cards: 2",
		"inside.py no line 3: registry.register(…) stands within def and if, not at module level",
		"latin.py no line 2: the text is not UTF-8",
		"link.py no cannot be read: no such file or directory",
		"loop.py no line 2: registry.register(…) stands within for, not at module level",
		"mcp_tool.py no passed over because of its name",
		"named.py no cannot be read: it is no regular file",
		"none.yml no holds no tool cards",
		"notes.txt no neither a Python module nor a YAML or JSON file",
		"null.py no syntax error in line 1: null byte",
		"plain.py no does not mention both registry and register",
		"registry.py no passed over because of its name",
		"says.py no no statement registry.register(…)",
		"wide.py no does not mention both registry and register",
		"wide_mentioned.py yes line 2: registry.register(…)",
	}
	if diff := cmp.Diff(july, verdicts(mustScan(t, dir, Options{Cards: countLines}))); diff != "" {
		t.Errorf("july: %s", diff)
	}
	differs := map[string]string{
		"bom.py":  "bom.py yes line 1: registry.register(…)",
		"loop.py": "loop.py yes line 2: registry.register(…)",
	}
	var september []string
	for _, line := range july {
		name, _, _ := strings.Cut(line, " ")
		if other, ok := differs[name]; ok {
			line = other
		}
		switch name {
		case "mcp_tool.py":
			september = append(september, "loose/tool.py no the folder has no __init__.py, so it is no package")
		case "plain.py":
			september = append(september, "package/tool.py yes line 1: registry.register(…)")
		}
		september = append(september, line)
	}
	if diff := cmp.Diff(september, verdicts(mustScan(t, dir, Options{September: true, Cards: countLines}))); diff != "" {
		t.Errorf("september: %s", diff)
	}
	r := mustScan(t, dir, Options{})
	if r.Files[3].Reason != "tool cards are not looked for" || r.Files[7].Registers {
		t.Errorf("without a reader of cards: %v", verdicts(r))
	}
	if _, err := Scan(filepath.Join(dir, "nowhere"), Options{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("of a folder that is not there: %v", err)
	}
	if r := mustScan(t, t.TempDir(), Options{}); r.Files == nil || len(r.Files) > 0 {
		t.Errorf("of an empty folder: %v", r.Files)
	}
}

func cachedFiles(r *Report) (names []string) {
	for _, v := range r.Files {
		if v.Cached {
			names = append(names, v.File)
		}
	}
	return names
}

func TestCache(t *testing.T) {
	dir := folder(t, map[string]string{"a.py": "registry.register(a)", "b.py": "import registry", "c.json": "card\n", "registry.py": ""})
	other := folder(t, map[string]string{"d.py": "registry.register(a)"})
	o := Options{Cards: countLines, CacheFile: filepath.Join(t.TempDir(), "new", "cache.json")}
	first := mustScan(t, dir, o)
	if len(cachedFiles(first)) > 0 || len(first.Notes) > 0 {
		t.Errorf("the first scan has kept verdicts %v and notes %v", cachedFiles(first), first.Notes)
	}
	before, _ := os.Stat(o.CacheFile)
	again := mustScan(t, dir, o)
	if diff := cmp.Diff([]string{"a.py", "b.py", "c.json"}, cachedFiles(again)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(verdicts(first), verdicts(again)); diff != "" {
		t.Error(diff)
	}
	if after, _ := os.Stat(o.CacheFile); !os.SameFile(before, after) {
		t.Error("a cache that is up to date was written again")
	}
	mustScan(t, other, o)
	if n := len(cachedFiles(mustScan(t, dir, o))); n != 3 {
		t.Errorf("after a scan of another folder %d verdicts are kept, want 3", n)
	}
	// Another size, another time, another variant: each is read again.
	change := func(name, text string, modified time.Time) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	info, _ := os.Stat(filepath.Join(dir, "a.py"))
	change("a.py", "registry.register(a) # longer", info.ModTime())
	change("b.py", "import registrz", info.ModTime().Add(time.Hour))
	if diff := cmp.Diff([]string{"c.json"}, cachedFiles(mustScan(t, dir, o))); diff != "" {
		t.Error(diff)
	}
	o.September = true
	if kept := cachedFiles(mustScan(t, dir, o)); len(kept) > 0 {
		t.Errorf("verdicts of the other variant are kept: %v", kept)
	}
	// A file that is gone leaves the cache.
	if err := os.Remove(filepath.Join(dir, "b.py")); err != nil {
		t.Fatal(err)
	}
	mustScan(t, dir, o)
	if text, _ := os.ReadFile(o.CacheFile); strings.Contains(string(text), "b.py") || !strings.Contains(string(text), "d.py") {
		t.Errorf("the cache holds %s", text)
	}
}

// TestCacheIsTrusted shows that a kept verdict is taken without reading the file,
// and when it is not.
func TestCacheIsTrusted(t *testing.T) {
	dir := folder(t, map[string]string{"a.py": "import registry"})
	path := filepath.Join(dir, "a.py")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	cacheFile := filepath.Join(t.TempDir(), "cache.json")
	good := fmt.Sprintf(`[%d,%d,"july",true,0,"kept"]`, info.ModTime().UnixNano(), info.Size())
	for _, c := range []struct {
		text    string
		trusted bool
	}{
		{`{"schema_version":1,"files":{%q:` + good + `}}`, true},
		{`{"schema_version":1,"files":{"x":7,%q:` + good + `}}`, true},
		{`{"schema_version":2,"files":{%q:` + good + `}}`, false},
		{`{"files":{%q:` + good + `}}`, false},
		{`{"schema_version":1,"files":{%q:` + strings.Replace(good, "july", "september", 1) + `}}`, false},
		{`{"schema_version":1,"files":{%q:` + strings.Replace(good, "true", `"true"`, 1) + `}}`, false},
		{`{"schema_version":1,"files":{%q:` + strings.Replace(good, "true", "null", 1) + `}}`, false},
		{`{"schema_version":1,"files":{%q:` + strings.Replace(good, `,"kept"`, "", 1) + `}}`, false},
		{`{"schema_version":1,"files":{%q:` + strings.Replace(good, `"kept"`, `"kept",1`, 1) + `}}`, false},
		{`{"schema_version":1,"files":{%q:` + strings.Replace(good, "[", "[1", 1) + `}}`, false},
		{`{"schema_version":1,"files":{%q:{}}}`, false},
		{`{"schema_version":1,"files":{%q:` + good + `}`, false},
		{`{"schema_version":1,"files":[%q]}`, false},
		{`[%q]`, false},
		{`null%.0s`, false},
		{"%.0s", false},
	} {
		text := fmt.Sprintf(c.text, path)
		if err := os.WriteFile(cacheFile, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, want := range []bool{c.trusted, true} { // whatever it was, the scan has mended it
			v := mustScan(t, dir, Options{CacheFile: cacheFile}).Files[0]
			if v.Cached != want || v.Registers != (c.trusted) {
				t.Errorf("%s: verdict %+v, want cached %v", text, v, want)
			}
		}
	}
}

// TestCacheThatCannotBe: a scan works without its cache and says so.
func TestCacheThatCannotBe(t *testing.T) {
	dir := folder(t, map[string]string{"a.py": "registry.register(a)", "file": ""})
	for _, cacheFile := range []string{filepath.Join(dir, "file", "cache.json"), dir} {
		r := mustScan(t, dir, Options{CacheFile: cacheFile})
		if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "verdicts are not kept for the next scan: ") || strings.Contains(r.Notes[0], "\n") || !r.Files[0].Registers {
			t.Errorf("cache %s: notes %q", cacheFile, r.Notes)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := &cache{SchemaVersion: cacheVersion, Files: map[string]entry{}}
	for i := range cacheEntriesMax {
		c.Files[fmt.Sprintf("/other/%d.py", i)] = entry{}
	}
	path := filepath.Join(t.TempDir(), "cache.json")
	if err := c.write(path, "/tools", map[string]entry{"/tools/a.py": {}}); err != nil {
		t.Fatal(err)
	}
	if read := readCache(path); len(read.Files) != 1 {
		t.Errorf("%d files are kept, want the one of the folder scanned last", len(read.Files))
	}
}

// TestScansAtOnce: scans that share a cache file do not disturb each other.
func TestScansAtOnce(t *testing.T) {
	cacheFile := filepath.Join(t.TempDir(), "cache.json")
	dirs := []string{folder(t, toolFiles), folder(t, toolFiles)}
	want := verdicts(mustScan(t, dirs[0], Options{Cards: countLines}))
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 5 {
				r, err := Scan(dirs[i%2], Options{Cards: countLines, CacheFile: cacheFile})
				if err != nil {
					t.Error(err)
					return
				}
				if diff := cmp.Diff(want, verdicts(r)); diff != "" || len(r.Notes) > 0 {
					t.Errorf("%s, notes %v", diff, r.Notes)
				}
			}
		})
	}
	group.Wait()
}

func TestWriteText(t *testing.T) {
	r := &Report{Files: []Verdict{
		{File: "a.py", Kind: Python, Registers: true, Reason: "line 1: registry.register(…)", Cached: true},
		{File: "long\tname.json", Kind: Cards, Registers: true, Cards: 3, Reason: "tool cards: 3"},
		{File: "b.txt", Kind: Other, Reason: "neither"},
	}}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `yes  a.py               line 1: registry.register(…) (cached)
yes  "long\tname.json"  tool cards: 3
no   b.txt              neither
files: 3; register: 2; do not: 1; tool cards: 3; verdicts from the cache: 1
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// FuzzReadCache: whatever the file holds, it reads as a cache whose entries can be
// written and read again.
func FuzzReadCache(f *testing.F) {
	f.Add([]byte(`{"schema_version":1,"files":{"/a.py":[1,2,"july",true,0,"x"]}}`))
	f.Add([]byte(`{"schema_version":1,"files":{"/a.py":[1,2,"july",true,0,"x"],"/b.py":[],"/c.py":null}}`))
	f.Add([]byte(`{"schema_version":1`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "cache.json")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		c := readCache(path)
		if err := c.write(path, "/nowhere", map[string]entry{"/nowhere/a.py": {Reason: "x"}}); err != nil {
			t.Fatal(err)
		}
		if again := readCache(path); len(again.Files) == 0 || again.Files["/nowhere/a.py"].Reason != "x" {
			t.Errorf("written and read again: %v", again.Files)
		}
	})
}

// TestChangedWhileRead: a verdict on a file that changed meanwhile is not kept.
func TestChangedWhileRead(t *testing.T) {
	dir := folder(t, map[string]string{"a.json": "card\n"})
	path := filepath.Join(dir, "a.json")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{CacheFile: filepath.Join(t.TempDir(), "cache.json"), Cards: func(path string) (int, error) {
		if err := os.WriteFile(path, []byte("card\ncard\n"), 0o666); err != nil {
			t.Error(err)
		}
		return 1, os.Chtimes(path, info.ModTime(), info.ModTime())
	}}
	mustScan(t, dir, o)
	if text, err := os.ReadFile(o.CacheFile); err == nil && strings.Contains(string(text), "a.json") {
		t.Errorf("the cache holds %s", text)
	}
}
