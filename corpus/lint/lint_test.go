package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/corpus/survey"
)

// load reads a corpus of a text.
func load(t testing.TB, text string) *corpus.Corpus {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func check(t testing.TB, c *corpus.Corpus) *Report {
	t.Helper()
	r, err := Check(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// good says everything.
const good = "Water the tomatoes of one bed. Use it when the soil is dry; fails if the tap is shut."

// tool writes a tool of a name, a description and properties.
func tool(name, description, properties string) string {
	text, _ := json.Marshal(description)
	return fmt.Sprintf(`{"name":%q,"description":%s,"inputSchema":{"type":"object","$defs":{"Bed":{"description":"A bed."}},"properties":{%s}}}`, name, text, properties)
}

func TestRules(t *testing.T) {
	long := good + strings.Repeat(" And more of it.", 70)
	for _, c := range []struct {
		name  string
		tools []string
		want  []string // "tool rule" of all findings
	}{
		{"nothing", []string{tool("a", good, `"bed":{"description":"Which."}`)}, nil},
		{"empty", []string{tool("a", " \n", "")}, []string{"a description-empty"}},
		{"short", []string{tool("a", "Use, or fail early.", "")}, []string{"a description-short"}},
		{"long enough", []string{tool("a", "Use, or fail earlier.", "")}, nil},
		{"short of no spaces", []string{tool("a", "打开窗户通风", "")}, []string{"a description-short", "a unretrievable"}},
		{"long enough of no spaces", []string{tool("a", "打开窗户通风吧", "")}, []string{"a unretrievable"}},
		{"long", []string{tool("a", long, "")}, []string{"a description-long"}},
		{"same", []string{tool("a", good, ""), tool("b", strings.ToUpper(good)+" ", "")}, []string{"b description-duplicate", "a neighbour-unsaid", "b neighbour-unsaid"}},
		{"alike", []string{tool("a", good+" It is slow in winter.", ""), tool("b", good+" It is slow in summer.", "")},
			[]string{"b description-near-duplicate", "a neighbour-unsaid", "b neighbour-unsaid"}},
		{"neighbours told apart", []string{tool("a", good+" In winter and snow, not in summer.", ""), tool("b", good+" Call b_ when hot, which takes no snow, unlike in June.", "")}, nil},
		{"a neighbour named", []string{tool("a", good+" See water_all for a field of maize, wheat and rye.", ""), tool("water_all", good+" Whole fields in one turn, only at night, never at noon.", "")}, nil},
		{"undocumented", []string{tool("a", good, `"x":{"type":"string"},"y":{"description":" "},"z":true,"bed":{"$ref":"#/$defs/Bed"},"no":{"$ref":"#/$defs/None"},"d":{"description":"D."}`)},
			[]string{"a parameter-undocumented"}},
		{"only the name", []string{tool("water_tomatoes", "Water the tomatoes. Use it or fail.", "")}, []string{"water_tomatoes found-by-name-only"}},
		{"not found", []string{
			tool("a", "Give water. Use it, or fail: sun.", ""), tool("b", "Give water. Use it, or fail.", ""), tool("c", "Give water. Use it, or fail.", ""), tool("d", "Give water. Use it, or fail.", ""),
			tool("e", "Give water. Use it, or fail.", ""), tool("f", "Give water. Use it, or fail.", ""),
		}, []string{"a unretrievable"}},
		{"when", []string{tool("a", "Water the tomatoes of one bed. It fails if there is no tap.", "")}, nil},
		{"when unsaid", []string{tool("a", "Water the tomatoes of one bed. Fails without a tap.", "")}, []string{"a when-unsaid"}},
		{"failure unsaid", []string{tool("a", "Water the tomatoes of one bed. Use in summer.", "")}, []string{"a failure-unsaid"}},
		{"not found is a failure", []string{tool("a", "Water the tomatoes of one bed, when asked, or say not found.", "")}, nil},
		{"no English", []string{tool("a", "Полить помидоры на одной грядке вечером.", "")}, []string{"a unretrievable"}},
	} {
		r := check(t, load(t, `{"server":"s","tools":[`+strings.Join(c.tools, ",")+`]}`))
		var got []string
		for _, f := range r.Findings {
			if f.Rule != duplicateRule.ID || c.name == "same" {
				got = append(got, strings.TrimPrefix(f.Tool, "s/")+" "+f.Rule)
			}
		}
		if c.name == "not found" {
			got = slices.DeleteFunc(got, func(s string) bool { return strings.HasSuffix(s, neighbourRule.ID) })
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNeighbourScores: a neighbour scores at least four fifths.
func TestNeighbourScores(t *testing.T) {
	c := load(t, `{"server":"s","tools":[`+tool("a", good, "")+","+tool("b", "Another.", "")+`]}`)
	a, _ := c.Tool("s/a")
	for score, want := range map[float64]int{7.9: 0, 8: 1, 12: 1} {
		k := &checker{report: &Report{}, corpus: c}
		k.neighbours(a, []survey.Hit{{ID: "s/a", Score: 10}, {ID: "s/b", Score: score}}, 10)
		if len(k.report.Findings) != want {
			t.Errorf("at %v of 10: %+v", score, k.report.Findings)
		}
	}
}

func TestMessages(t *testing.T) {
	r := check(t, load(t, "{\"server\":\"s\",\"tools\":[\n"+tool("a", "", `"b":{},"c":{},"d":{},"e":{},"f":{},"g":{},"h":{}`)+",\n"+tool("z", good, `"one":{}`)+"]}"))
	if len(r.Findings) != 3 || r.Tools != 2 || r.Asked != 1 {
		t.Fatalf("%+v", r)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"error description-empty (1): say in a sentence what the tool does\n",
		"tools.json:2:1: s/a: it has no description\n\nwarning parameter-undocumented (2): ",
		"tools.json:2:1: s/a: parameters b, c, d, e, f and 2 more have no description\n",
		"tools.json:3:1: s/z: parameter one has no description\n",
		"  2  warning  parameter-undocumented  Parameter without a description\n",
		"Without a finding that is listed: 0 of 2 tools.\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s\nlacks %q", &text, want)
		}
	}
	if r.Reached(Error) != 1 || r.Reached(Warning) != 3 || r.Reached(Note) != 3 {
		t.Errorf("reached %d, %d, %d", r.Reached(Error), r.Reached(Warning), r.Reached(Note))
	}
	r.Least(Error)
	if len(r.Findings) != 1 || r.Reached(Note) != 3 || r.Clean != 1 {
		t.Errorf("%d errors, %d findings", len(r.Findings), r.Reached(Note))
	}
}

// TestTellsApart: tools whose descriptions differ in what their names say are no
// near-duplicates.
func TestTellsApart(t *testing.T) {
	list := func(name, what string) string {
		return tool(name, "List the "+what+" of one bed in the whole garden. Use it when you look for them; fails if there is no bed.", "")
	}
	for _, c := range []struct {
		a, b string
		want bool // of a finding
	}{
		{list("list_beans", "beans"), list("list_peas", "peas"), false},
		{list("list_beans", "beans"), list("list_all", "peas"), false},
		{list("list_a", "beans"), list("list_b", "peas"), true},
		{list("list_beans_and_peas", "beans"), list("list_beans", "peas"), true},
		{list("list_beans_and_peas", "beans"), list("peas_and_beans", "peas"), true},
	} {
		for _, pair := range []string{c.a + "," + c.b, c.b + "," + c.a} {
			r := check(t, load(t, `{"server":"s","tools":[`+pair+`]}`))
			got := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Rule == nearDuplicateRule.ID })
			if got != c.want {
				t.Errorf("%s: %v, want %v", pair, got, c.want)
			}
		}
	}
}

// TestUnretrievableMessage: what cannot be found is told with what is found, and
// not of what has another's description anyway.
func TestUnretrievableMessage(t *testing.T) {
	var tools []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		tools = append(tools, tool(name, "Give water. Of "+strings.Repeat(name, 3), ""))
	}
	tools = append(tools, tool("h", "Give water. Of aaa", ""))
	var messages []string
	for _, f := range check(t, load(t, `{"server":"s","tools":[`+strings.Join(tools, ",")+`]}`)).Findings {
		if f.Rule == unretrievableRule.ID {
			messages = append(messages, f.Tool+": "+f.Message)
		}
	}
	want := []string{
		`s/f: a search for "Give water" finds, of 35 tools, first s/a, s/b, s/c, s/d, s/e`,
		`s/g: a search for "Give water" finds, of 35 tools, first s/a, s/b, s/c, s/d, s/e`,
	}
	if !slices.Equal(messages, want) {
		t.Errorf("%q", messages)
	}
}

// TestMost: the lines of a rule are bounded, what is counted is not.
func TestMost(t *testing.T) {
	var tools []string
	for i := range 5 {
		tools = append(tools, tool(fmt.Sprint("t", i), "", ""))
	}
	var text bytes.Buffer
	if err := check(t, load(t, `{"server":"s","tools":[`+strings.Join(tools, ",")+`]}`)).WriteText(&text, 2); err != nil {
		t.Fatal(err)
	}
	if strings.Count(text.String(), "it has no description") != 2 || !strings.Contains(text.String(), "  … and 3 more; --all lists them\n") || !strings.Contains(text.String(), "  5  error  description-empty") {
		t.Error(text.String())
	}
}

// TestOneLineAFinding: a name cannot break the lines that people read.
func TestOneLineAFinding(t *testing.T) {
	var text bytes.Buffer
	if err := check(t, load(t, `{"server":"s\nx","tools":[{"name":"a\u001b[2J\r\nb"}]}`)).WriteText(&text, 0); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "\n"); n != 6 || strings.ContainsAny(text.String(), "\r\x1b") {
		t.Errorf("%d lines: %q", n, &text)
	}
}

// TestOwnToolsOnly leaves alone what an import is lent.
func TestOwnToolsOnly(t *testing.T) {
	if r := check(t, load(t, `{"server":"s","tools":[`+tool("a", good, "")+`]}`)); r.Tools != 1 || r.Pool < 2 {
		t.Errorf("%d tools judged, %d searched", r.Tools, r.Pool)
	}
	embedded, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if r := check(t, embedded); r.Tools != len(embedded.Tools) || r.Reached(Error) > 0 {
		t.Errorf("embedded: %d tools judged, %d errors", r.Tools, r.Reached(Error))
	}
}

func TestAskedMax(t *testing.T) {
	c, err := corpus.Scale(50)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Check(c, Options{AskedMax: 10})
	if err != nil || r.Asked > 10 || r.Asked < 5 || r.Tools != 50 || !r.Synthetic {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Check(c, Options{Retriever: "bm52"}); err == nil {
		t.Error("an unknown retriever checks")
	}
}

// TestNearest holds the filter to comparing every pair.
func TestNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom(strings.Fields("a b c d e f g h i j k l m n o p q r s t u v"))
		sets := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []string {
			set := rapid.SliceOfNDistinct(word, 1, 22, rapid.ID[string]).Draw(t, "set")
			slices.Sort(set)
			return set
		}), 0, 30).Draw(t, "sets")
		got := nearest(sets, func(i, j int) bool { return true })
		ranked := rankWords(sets)
		for i := range sets {
			best, bestShare := -1, 0.0
			for j := range i {
				if share := shared(ranked[i], ranked[j]); share >= alikePercent && share > bestShare {
					best, bestShare = j, share
				}
			}
			if got[i] != best {
				t.Fatalf("set %d of %q: nearest %d, want %d", i, sets, got[i], best)
			}
		}
	})
}

func TestNames(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "see add_note": true, "add_note": true, "`add_note`, or": true, "add_notes": false, "my-add_note": false, "xadd_note add_note.": true, "éadd_note": false,
	} {
		if names(text, "add_note") != want {
			t.Errorf("%q: %v, want %v", text, !want, want)
		}
	}
}

func TestShared(t *testing.T) {
	for _, c := range []struct {
		a, b []int
		want float64
	}{{[]int{1, 2}, []int{1, 2}, 100}, {[]int{1, 2}, []int{3}, 0}, {[]int{1, 2, 3}, []int{2, 3, 4}, 50}, {[]int{1}, []int{1, 2, 3, 4}, 25}} {
		if got := shared(c.a, c.b); got != c.want {
			t.Errorf("%v and %v share %v %%, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestRulesAreComplete holds every rule to having all that its readers need.
func TestRulesAreComplete(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range Rules() {
		if seen[r.ID] || r.Meaning == "" || r.Advice == "" || !slices.Contains(Severities(), r.Severity) {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
	}
}
