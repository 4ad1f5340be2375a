package corpus

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDerived(t *testing.T) {
	c, err := loading(map[string]string{"tools/s.json": `{"server":"issue-tracker","tools":[
		{"name":"createIssue","description":"Create a bug report or\n issue, e.g. for a crash. Second sentence.","parameters":{
			"required":["title","kind","tags","size","deep","on","when","any","nothing","title"],
			"properties":{"title":{"type":"string"},"kind":{"type":"string","enum":["bug" , "task"]},"tags":{"type":"array"},"size":{"type":["integer","null"]},
				"deep":{"type":"object"},"on":{"type":"boolean"},"when":{"type":"number"},"any":true,"nothing":{"type":"null"},"optional":{"type":"string"}}}},
		{"name":"list_issues","description":"List issues in the tracker of an issue"},
		{"name":"nothing","description":""},
		{"name":"sentence","description":"!. A tail."},
		{"name":"suche","description":"查找问题。第二句。"}
	]}`})
	if err != nil {
		t.Fatal(err)
	}
	derived := c.WithDerived()
	want := []*Intent{
		{ID: "derived:issue-tracker/createIssue", Utterance: "a bug report or e.g. for a crash", Language: "en", Class: Derived,
			Gold: []Gold{{Tool: "issue-tracker/createIssue", Arguments: []Argument{
				{Name: "title", Value: json.RawMessage(`"title"`)}, {Name: "kind", Value: json.RawMessage(`"bug"`)}, {Name: "tags", Value: json.RawMessage(`[]`)},
				{Name: "size", Value: json.RawMessage(`1`)}, {Name: "deep", Value: json.RawMessage(`{}`)}, {Name: "on", Value: json.RawMessage(`true`)},
				{Name: "when", Value: json.RawMessage(`1`)}, {Name: "any", Value: json.RawMessage(`"any"`)}, {Name: "nothing", Value: json.RawMessage(`null`)},
			}}}},
		{ID: "derived:issue-tracker/suche", Utterance: "查找问题", Language: "und", Class: Derived, Gold: []Gold{{Tool: "issue-tracker/suche"}}},
	}
	if diff := cmp.Diff(want, derived.Intents); diff != "" {
		t.Errorf("intents differ (-want +got):\n%s", diff)
	}
	if len(c.Intents) != 0 || derived.SHA256 == c.SHA256 || derived.WithDerived() != derived {
		t.Error("deriving changes the corpus, not the digest, or happens twice")
	}
	if tool, ok := derived.Tool("issue-tracker/suche"); !ok || !derived.HasToolset(tool.Toolset) {
		t.Error("the derived corpus has lost its tools")
	}
	for _, in := range derived.Intents {
		for _, g := range in.Gold {
			if !json.Valid(g.JSONArguments()) {
				t.Errorf("%s: arguments %s", in.ID, g.JSONArguments())
			}
		}
	}
	if c := embeddedCorpus(t); c.WithDerived() != c {
		t.Error("intents are derived for a corpus that has some")
	}
}

func TestFirstSentence(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"One":                            "One",
		"One.":                           "One",
		" One\n two!  Three.":            "One two",
		"Version 1.2 is out. Really":     "Version 1.2 is out",
		"Use e.g. this. Then that.":      "Use e.g. this",
		"Use it. 3 times.":               "Use it",
		"Who? \"Me.\"":                   "Who",
		"Wait... What":                   "Wait..",
		"One. Éa":                        "One",
		"One. éa":                        "One. éa",
		"一句。两句。":                         "一句",
		"file.txt and .env are read":     "file.txt and .env are read",
		"Ends in dots …. And more words": "Ends in dots …",
	} {
		if got := firstSentence(text); got != want {
			t.Errorf("firstSentence(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"createIssue_v2":  {"create", "issue", "v2"},
		"HTTPServer":      {"httpserver"},
		"add-éTag Straße": {"add", "é", "tag", "straße"},
		"--":              {},
	} {
		if got := words(splitCamel(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestFirstSentenceIsBounded keeps a description without a full stop from
// becoming one long utterance.
func TestFirstSentenceIsBounded(t *testing.T) {
	if n := len([]rune(firstSentence(strings.Repeat("é ", 100_000)))); n > sentenceMax {
		t.Errorf("%d code points, want %d at most", n, sentenceMax)
	}
}
