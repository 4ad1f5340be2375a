package python

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestCalls(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Call
	}{
		{"", nil},
		{"registry.register(a)", []Call{{Line: 1}}},
		{"import a\n\n# note\nregistry.register(\n  a,\n)\nregistry.register()", []Call{{Line: 4}, {Line: 7}}},
		{"x = 1; registry.register(a); y", []Call{{Line: 1}}},
		{"('a'\n'b')\n(registry\n.register)(a)\n", []Call{{Line: 3}}},
		{"\"\"\"a\nb\"\"\"\r\nregistry.register()\r", []Call{{Line: 3}}},
		{"ｒegistry.register(a)", []Call{{Line: 1}}},
		{"x = registry.register(a)", nil},
		{"registry.register(a), b", nil},
		{"registry.register(a)(b)", nil},
		{"await registry.register(a)", nil},
		{"if a: registry.register(a)\nelif b: registry.register(b)\nelse:\n  registry.register(c)", []Call{
			{1, []string{"if"}}, {2, []string{"elif"}}, {4, []string{"else"}}}},
		{"for a in b:\n  def f():\n    registry.register(a)\nelse:\n  registry.register(c)\nregistry.register(d)", []Call{
			{3, []string{"for", "def"}}, {5, []string{"else"}}, {Line: 6}}},
		{"async for a in b: registry.register(a)", []Call{{1, []string{"async for"}}}},
		{"class A:\n  try: registry.register(a)\n  except: registry.register(b)\n  finally: registry.register(c)", []Call{
			{2, []string{"class", "try"}}, {3, []string{"class", "except"}}, {4, []string{"class", "finally"}}}},
		{"match a:\n  case 1:\n    with b: registry.register(a)", []Call{{3, []string{"case", "with"}}}},
	} {
		got, err := Calls(c.text, register)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"x = 1\nif x\n  y", "line 2: : is missing"},
		{"x = (1,\n\n", "line 1: a bracket is not closed"},
		{"registry.register(a) b", "line 1: the end of the line is missing"},
		{"if x:\n    y\n  z", "line 3: the indentation is that of no block around"},
		{"if x:\n\ty\n        z", "line 3: tabs and spaces are mixed"},
		{"x = 'a\n'", "line 1: a string is not closed"},
		{"a\nb\x00", "line 2: null byte"},
		{"f() = 1", "line 1: that cannot be assigned to"},
		{"x = 1 +", "line 1: an expression is missing"},
		{"\ufeffx = 1", "line 1: a character that no name may hold"},
		{"try: a\n\nb", "line 3: except or finally is missing"},
	} {
		found, err := Calls(c.text, register)
		if err == nil || err.Error() != c.want || found != nil {
			t.Errorf("%q: %d calls, error %v, want %s", c.text, len(found), err, c.want)
		}
	}
}

// TestLimits: what Python's tokenizer refuses for its size, and not less.
func TestLimits(t *testing.T) {
	t.Parallel()
	nested := func(open, middle, closing string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(closing, n)
	}
	blocks := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "%sif x:\n", strings.Repeat(" ", i))
		}
		return text.String() + strings.Repeat(" ", n) + "y"
	}
	var texts []string
	for _, pair := range [][2]string{
		{nested("(", "x", ")", 200), nested("(", "x", ")", 201)},
		{blocks(99), blocks(100)},
		{strings.Repeat("1", 4300), strings.Repeat("1", 4301)},
		{strings.Repeat("1_", 4299) + "1", strings.Repeat("1_", 4300) + "1"},
		{"0x" + strings.Repeat("f", 5000), "0" + strings.Repeat("7", 5000)},
	} {
		for i, text := range pair {
			if _, err := Calls(text, register); (err == nil) != (i == 0) {
				t.Errorf("%.40q… of %d bytes: error %v", text, len(text), err)
			}
			texts = append(texts, text)
		}
	}
	// No rule recurses without a bracket or a block, so these are read to their ends.
	for _, text := range []string{
		strings.Repeat("not ", 1e5) + "x", strings.Repeat("-", 1e5) + "x", "x" + strings.Repeat("**x", 1e5), "x" + strings.Repeat(".y", 1e5),
		strings.Repeat("lambda:", 1e5) + "x", strings.Repeat("x if y else ", 1e5) + "z", "if x: y\n" + strings.Repeat("elif x: y\n", 1e5), strings.Repeat("x=", 1e5) + "y",
		"match(" + strings.Repeat("x,", 3e5) + ")", "with (" + strings.Repeat("x,", 3e5) + ") as y: z",
	} {
		if _, err := Calls(text, register); err != nil {
			t.Errorf("%.20q…: %v", text, err)
		}
	}
	compare(t, texts)
}

// TestNames compares which characters may begin and continue a name.
func TestNames(t *testing.T) {
	t.Parallel()
	const program = `
import json, sys, unicodedata
chars = [c for c in map(chr, range(0x80, 0x110000)) if unicodedata.category(c) not in ("Cn", "Cs")]
json.dump({"unicode": unicodedata.unidata_version, "known": "".join(chars),
    "start": "".join(c for c in chars if c.isidentifier()),
    "continue": "".join(c for c in chars if ("a" + c).isidentifier())}, sys.stdout)`
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: nothing to compare with")
	}
	out, err := exec.Command(path, "-X", "utf8", "-c", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	var python struct{ Unicode, Known, Start, Continue string }
	if err := json.Unmarshal(out, &python); err != nil {
		t.Fatal(err)
	}
	set := func(s string) map[rune]bool {
		m := make(map[rune]bool, utf8.RuneCountInString(s))
		for _, r := range s {
			m[r] = true
		}
		return m
	}
	start, continues := set(python.Start), set(python.Continue)
	for _, r := range python.Known {
		if strings.ContainsRune("・･\u200c\u200d", r) || unicode.In(r, unicode.Cn) {
			continue // Unicode 15.1 made these four name characters; the rest only Python knows
		}
		if got, want := isXID(r, true), start[r]; got != want {
			t.Errorf("%U begins a name: %v, in Python with Unicode %s: %v", r, got, python.Unicode, want)
		}
		if got, want := isXID(r, false), continues[r]; got != want {
			t.Errorf("%U continues a name: %v, in Python with Unicode %s: %v", r, got, python.Unicode, want)
		}
	}
}

// BenchmarkCalls reads a module of ordinary statements. The speed does not depend
// on the size.
func BenchmarkCalls(b *testing.B) {
	text := strings.Join(testModules(b, "modules"), "\n")
	for _, repeat := range []int{1, 100, 2000} {
		text := strings.Repeat(text, repeat)
		b.Run(fmt.Sprintf("%dKB", len(text)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Calls(text, register); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
