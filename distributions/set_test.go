package distributions

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var seventeen = []string{"default", "image_gen", "research", "science", "development", "safe", "balanced", "minimal",
	"terminal_only", "terminal_web", "creative", "reasoning", "browser_use", "browser_only", "browser_tasks",
	"terminal_tasks", "mixed_tasks"}

func TestPresets(t *testing.T) {
	set := NewSet()
	if diff := cmp.Diff(append(slices.Clone(seventeen), "few", "ten", "forty"), set.Names()); diff != "" {
		t.Errorf("names differ (-want +got):\n%s", diff)
	}
	for _, d := range set.All() {
		if len(d.Description) <= 5 || len(d.Entries) == 0 {
			t.Errorf("%s: description %q, %d entries", d.Name, d.Description, len(d.Entries))
		}
		for _, e := range d.Entries {
			if !(e.Percent > 0 && e.Percent <= 100) {
				t.Errorf("%s: %s at %v percent", d.Name, e.Toolset, e.Percent)
			}
		}
	}
	for name, servers := range map[string]int{"default": 0, "few": 3, "ten": 10, "forty": 40} {
		d := preset(t, name)
		if d.Servers != servers || !slices.Equal(d.Entries, preset(t, "default").Entries) {
			t.Errorf("%s: %d servers over %v", name, d.Servers, d.Entries)
		}
	}
}

func TestGet(t *testing.T) {
	set := NewSet()
	if d := preset(t, "default"); d.Description == "" || len(d.Entries) != 6 {
		t.Errorf("default is %+v", d)
	}
	for _, c := range []struct{ name, nearest string }{
		{"nonexistent", ""}, {"", ""}, {"reserch", "research"}, {"Research", "research"}, {"image-gen", "image_gen"},
		{"fourty", "forty"}, {"sience", "science"}, {"xyz", ""}, {strings.Repeat("a", 1<<20), ""},
	} {
		d, err := set.Get(c.name)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || unknown.Name != c.name || unknown.Nearest != c.nearest {
			t.Errorf("Get(%.20q) gives %+v, error %.200v, want the hint %q", c.name, d, err, c.nearest)
		}
		if set.Validate(c.name) {
			t.Errorf("Validate(%.20q) is true", c.name)
		}
	}
	for _, name := range []string{"default", "research"} {
		if !set.Validate(name) {
			t.Errorf("Validate(%q) is false", name)
		}
	}
	_, err := set.Get("reserch")
	if want := "unknown distribution \"reserch\"\nhint: did you mean \"research\"? datagen list shows every distribution"; err.Error() != want {
		t.Errorf("error is\n%v\nwant\n%s", err, want)
	}
}

// TestCopiesAreFresh writes into everything handed out and looks whether the set changed.
func TestCopiesAreFresh(t *testing.T) {
	set := NewSet()
	before := set.All()
	all, one := set.All(), preset(t, "default")
	got, err := set.Get("default")
	if err != nil {
		t.Fatal(err)
	}
	summaries, presets := set.Summaries(nil), Presets()
	for _, d := range append(append(all, one, got, summaries[0].Distribution), presets...) {
		d.Entries[0].Percent = math.NaN()
	}
	for i := range all {
		all[i].Name = "changed"
	}
	if diff := cmp.Diff(before, set.All()); diff != "" {
		t.Errorf("the set changed:\n%s", diff)
	}
	if diff := cmp.Diff(before, Presets()); diff != "" {
		t.Errorf("the presets changed:\n%s", diff)
	}
}

// TestPresetDraws holds what sampling the presets must give, whatever the stream.
func TestPresetDraws(t *testing.T) {
	for i := range uint64(20) {
		s := NewStream(i, "presets", 0)
		if d := preset(t, "default").Sample(s.Float64, nil, nil); len(d.Toolsets) != 6 {
			t.Errorf("default gives %v", d.Toolsets)
		}
		if d := preset(t, "minimal").Sample(s.Float64, nil, nil); !slices.Contains(d.Toolsets, "web") {
			t.Errorf("minimal gives %v", d.Toolsets)
		}
		for _, name := range []string{"balanced", "reasoning"} {
			if d := preset(t, name).Sample(s.Float64, nil, nil); len(d.Toolsets) < 1 {
				t.Errorf("%s gives %v", name, d.Toolsets)
			}
		}
	}
}

func TestAddFile(t *testing.T) {
	set := NewSet()
	if err := set.AddFile("testdata/distributions.yaml"); err != nil {
		t.Fatal(err)
	}
	want := []Distribution{
		{Name: "my_servers", Description: "What our team has open on a normal day.",
			Entries: []Entry{{"web", 100}, {"terminal", 80}, {"mcp-github", 60}}, Servers: 2},
		{Name: "reading", Description: "Documents first; a browser if they do not suffice.",
			Entries: []Entry{{"file", 97.5}, {"mcp-docs", 97.5}, {"browser", 12}, {"terminal", 0}}},
		{Name: "servers_alone", Description: "Five MCP servers and nothing else.", Servers: 5},
	}
	if diff := cmp.Diff(want, set.All()[20:]); diff != "" {
		t.Errorf("custom distributions differ (-want +got):\n%s", diff)
	}
	if err := set.AddFile("testdata/absent.yaml"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "testdata/absent.yaml") || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("an absent file gives %v", err)
	}
	if err := set.AddFile(t.TempDir()); err == nil || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("a folder gives %v", err)
	}
	large := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(large, make([]byte, maxFileBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := set.AddFile(large); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large file gives %v", err)
	}
}

// TestAddRefuses gives faulty texts. Each is "schema_version: 1" and "distributions:" on lines 1 and 2, then the case's
// own text from line 3, unless the text has a version itself.
func TestAddRefuses(t *testing.T) {
	const d = "- name: x\n  description: Some text.\n  "
	for _, c := range []struct{ name, text, message, hint string }{
		{"above 100", d + "toolsets: {web: 120}", `f.yaml:5: distribution "x": percent of toolset "web" is "120", outside 0 to 100`, "from 0"},
		{"below 0", d + "toolsets:\n    web: 20\n    file: -0.5", `f.yaml:7: distribution "x": percent of toolset "file" is "-0.5", outside 0 to 100`, "from 0"},
		{"infinite", d + "toolsets: {web: 1e999}", `f.yaml:5: distribution "x": percent of toolset "web" is "1e999", not a number`, "from 0"},
		{"tagged infinite", d + "toolsets: {web: !!float 1e999}", `f.yaml:5: distribution "x": percent of toolset "web" is "1e999", outside 0 to 100`, "from 0"},
		{"not a number", d + "toolsets: {web: .nan}", `f.yaml:5: distribution "x": percent of toolset "web" is ".nan"`, "from 0"},
		{"tagged NaN", d + "toolsets: {web: !!float nan}", `f.yaml:5: distribution "x": percent of toolset "web" is "nan", outside`, "from 0"},
		{"percent in quotes", d + "toolsets: {web: \"80\"}", `f.yaml:5: distribution "x": percent of toolset "web" is "80", not a number`, "plain number"},
		{"percent sign", d + "toolsets: {web: 80%}", `f.yaml:5: distribution "x": percent of toolset "web" is "80%", not a number`, "plain number"},
		{"no percent", d + "toolsets: {web: }", `f.yaml:5: distribution "x": percent of toolset "web" is empty, not a number`, "plain number"},
		{"hexadecimal", d + "toolsets: {web: 0x10}", `f.yaml:5: distribution "x": percent of toolset "web" is "0x10", not a decimal number`, "plain number"},
		{"percent is a list", d + "toolsets: {web: [80]}", `f.yaml:5: distribution "x": percent of toolset "web" is a list, not a number`, "plain number"},
		{"toolset twice", d + "toolsets:\n    web: 20\n    web: 30", `f.yaml:7: distribution "x": toolset "web" is already given on line 6`, "keep one"},
		{"toolset without name", d + "toolsets: {\"\": 20}", `f.yaml:5: distribution "x": "" cannot name a toolset`, "name a toolset"},
		{"toolset with a space", d + "toolsets: {a b: 20}", `f.yaml:5: distribution "x": "a b" cannot name a toolset`, "without spaces"},
		{"toolset is a number", d + "toolsets: {12: 20}", `f.yaml:5: distribution "x": "12" cannot name a toolset`, "quote"},
		{"toolset is a mapping", d + "toolsets: {{a: b}: 20}", `f.yaml:5: distribution "x": a mapping cannot name a toolset`, "name a toolset"},
		{"toolset merged in", d + "toolsets: {<<: {web: 20}}", `f.yaml:5: distribution "x": "<<" cannot name a toolset`, "name a toolset"},
		{"toolsets is a list", d + "toolsets: [web, file]", `f.yaml:5: distribution "x": toolsets is a list, not a mapping`, "toolsets: {"},
		{"toolsets is empty", d + "toolsets:", `f.yaml:5: distribution "x": toolsets is empty, not a mapping`, "toolsets: {"},
		{"draws nothing", d + "toolsets: {}", `f.yaml:3: distribution "x" draws nothing`, "add toolsets"},
		{"neither toolsets nor servers", d, `f.yaml:3: distribution "x" draws nothing`, "servers of 1"},
		{"negative servers", d + "servers: -1", `f.yaml:5: distribution "x": servers is "-1", not a count`, "servers: 3"},
		{"fractional servers", d + "servers: 2.5", `f.yaml:5: distribution "x": servers is "2.5", not a count`, "servers: 3"},
		{"too many servers", d + "servers: 99999999999999999999", `f.yaml:5: distribution "x": servers is "99999999999999999999", not a count`, "servers: 3"},
		{"servers in words", d + "servers: all", `f.yaml:5: distribution "x": servers is "all", not a count`, "servers: 3"},
		{"servers is a mapping", d + "servers: {}", `f.yaml:5: distribution "x": servers is a mapping, not a count`, "servers: 3"},
		{"mistyped field", d + "toolset: {web: 10}", `f.yaml:5: unknown field "toolset"`, `did you mean "toolsets"?`},
		{"unknown field", d + "temperature: 1", `f.yaml:5: unknown field "temperature"`, "name, description, toolsets, servers"},
		{"field twice", d + "name: y", `f.yaml:5: field "name" is already given on line 3`, "keep one"},
		{"no name", "- description: Text.\n  toolsets: {web: 1}", `f.yaml:3: the distribution lacks a name`, "name:"},
		{"no description", "- name: x\n  toolsets: {web: 1}", `f.yaml:3: the distribution lacks a description`, "description:"},
		{"empty name", "- name: \"\"\n  description: Text.", `f.yaml:3: name is "", which cannot name`, "letters"},
		{"null name", "- name:\n  description: Text.", `f.yaml:3: name is empty, which cannot name`, "letters"},
		{"name with a space", "- name: my own\n  description: Text.", `f.yaml:3: name is "my own"`, "letters"},
		{"name begins with a hyphen", "- name: -x\n  description: Text.", `f.yaml:3: name is "-x"`, "beginning with"},
		{"name is a number", "- name: 12\n  description: Text.", `f.yaml:3: name is "12"`, "quote a number"},
		{"long name", "- name: " + strings.Repeat("a", 65) + "\n  description: Text.", `f.yaml:3: name is "aaa`, "64"},
		{"blank description", "- name: x\n  description: \" \\n\"", `f.yaml:4: distribution "x": description is empty`, "sentence"},
		{"description is a list", "- name: x\n  description: [a]", `f.yaml:4: distribution "x": description is a list, not text`, "sentence"},
		{"a distribution is text", "- default", `f.yaml:3: a distribution is a single value, not a mapping`, "name, description"},
		{"distributions is a mapping", "  x: {web: 1}", `f.yaml:3: distributions is a mapping, not a list`, "- name:"},
		{"a preset's name", "- name: y\n  description: Text.\n  servers: 1\n- name: default\n  description: Text.\n  servers: 1",
			`f.yaml:6: distribution "default" is a preset and cannot be redefined`, `"my_default"`},
		{"the same name twice", "- name: x\n  description: Text.\n  servers: 1\n- name: x\n  description: Text.\n  servers: 1",
			`f.yaml:6: distribution "x" is already defined at f.yaml:3`, "rename"},
		{"a name of another file", "- name: taken\n  description: Text.\n  servers: 1", `f.yaml:3: distribution "taken" is already defined at first.yaml:3`, "rename"},
		{"alias", "- name: x\n  description: &a Text.\n  toolsets: *a", `f.yaml:5: distribution "x": toolsets is an alias, not a mapping`, "anchors and aliases"},
		{"broken YAML", "- name: x\n  toolsets: {web: 1\n", `f.yaml:5: not valid YAML: `, "brackets"},
		{"two documents", "---\nschema_version: 1", `f.yaml: empty, or more than one YAML document`, "schema_version: 1"},
		{"not UTF-8", "- name: \xff", `f.yaml: not valid UTF-8`, "UTF-8"},
		{"no version", "!distributions: []", `f.yaml:1: the file lacks schema_version`, "schema_version: 1"},
		{"later version", "!schema_version: 2", `f.yaml:1: schema_version is "2", and only 1 can be read`, "schema_version: 1"},
		{"version in quotes", "!schema_version: '1'\n", `f.yaml:1: schema_version is "1", and only 1 can be read`, "schema_version: 1"},
		{"no distributions", "!schema_version: 1", `f.yaml:1: the file lacks distributions`, "distributions:"},
		{"null distributions", "!schema_version: 1\ndistributions:", `f.yaml:2: distributions is empty, not a list`, "- name:"},
		{"unknown field at the top", "!schema_version: 1\ndistribution: []", `f.yaml:2: unknown field "distribution"`, `did you mean "distributions"?`},
		{"a list at the top", "![]", `f.yaml:1: the file is a list, not a mapping`, "schema_version, distributions"},
		{"empty", "!", `f.yaml: empty, or more than one YAML document`, "schema_version: 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := NewSet()
			if err := set.Add("first.yaml", []byte("schema_version: 1\ndistributions:\n- {name: taken, description: Text., servers: 1}")); err != nil {
				t.Fatal(err)
			}
			before := set.All()
			text, bare := strings.CutPrefix(c.text, "!")
			if !bare {
				text = "schema_version: 1\ndistributions:\n" + text
			}
			err := set.Add("f.yaml", []byte(text))
			if err == nil {
				t.Fatalf("accepted:\n%s", text)
			}
			message, hint, _ := strings.Cut(err.Error(), "\nhint: ")
			if !strings.HasPrefix(message, c.message) || !strings.Contains(hint, c.hint) || strings.Contains(message, "\n") {
				t.Errorf("error\n%v\nwant\n%s\nhint: …%s…", err, c.message, c.hint)
			}
			if diff := cmp.Diff(before, set.All()); diff != "" {
				t.Errorf("a refused file changed the set:\n%s", diff)
			}
		})
	}
}

func TestAddAccepts(t *testing.T) {
	for _, c := range []struct {
		name, percent string
		want          float64
	}{
		{"0", "0", 0}, {"100", "100", 100}, {"fraction", "33.3", 33.3}, {"exponent", "1e1", 10}, {"leading zero is decimal", "010", 10},
		{"sign", "+7", 7}, {"underscore", "1_0", 10}, {"negative zero", "-0.0", 0},
	} {
		set := NewSet()
		err := set.Add("f.yaml", []byte("schema_version: 1\ndistributions:\n- {name: x.y-1, description: Text, toolsets: {web: "+c.percent+"}}\n"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		d, err := set.Get("x.y-1")
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Entries[0].Percent; got != c.want || math.Signbit(got) {
			t.Errorf("%s: %q is read as %v, want %v", c.name, c.percent, got, c.want)
		}
	}
	if err := NewSet().Add("f.yaml", []byte("\ufeffschema_version: 1\ndistributions: []\n")); err != nil {
		t.Errorf("a byte order mark and an empty list: %v", err)
	}
}

// FuzzAdd looks for text that panics, hangs, gives an error without its parts, or a distribution outside its limits.
func FuzzAdd(f *testing.F) {
	example, err := os.ReadFile("testdata/distributions.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	for _, text := range []string{"", "{}", "schema_version: 1\ndistributions: [{name: a, description: b, toolsets: {web: 1}}]",
		"schema_version: 1\ndistributions: &a [*a]", "a: &a [*a, *a]\n<<: *a", "? [a]\n: b", "- !!binary x", "%YAML 1.1\n---\na", "a: |\n\tb"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set := NewSet()
		presets := len(set.Names())
		if err := set.Add("f.yaml", data); err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") || !strings.Contains(err.Error(), "\nhint: ") {
				t.Fatalf("error without file or hint: %v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, d := range set.All()[presets:] {
			if d.Name == "" || d.Description == "" || d.Servers < 0 || seen[d.Name] || slices.Contains(seventeen, d.Name) {
				t.Fatalf("accepted %+v", d)
			}
			seen[d.Name] = true
			for _, e := range d.Entries {
				if e.Toolset == "" || !(e.Percent >= 0 && e.Percent <= 100) {
					t.Fatalf("accepted %+v", e)
				}
			}
			d.Sample(NewStream(1, "fuzz", 0).Float64, nil, []string{"a", "b"})
		}
	})
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"größe", "grosse", 3}, {"ab", "ba", 1},
		{"wbe", "web", 1}, {"abcd", "badc", 2}, {"abc", "ca", 3}, {"abc", "cab", 2}} {
		if got := edits([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("edits(%q, %q) is %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := nearest("abx", []string{"abd", "abc"}); got != "abd" {
		t.Errorf("of equally near words the first must win, got %q", got)
	}
}
