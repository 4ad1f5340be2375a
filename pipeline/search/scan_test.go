package search_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

var scanned = []search.Doc{
	{Name: "notes_find", Description: "Search notes by their words."},
	{Name: "create_issue", Description: "Open an issue."},
	{Name: "Close_Issue", Description: "Close it; notes stay."},
	{Name: "datei_öffnen", Description: "ÖFFNET eine Datei"},
	{Name: "list_notes", Description: ""},
}

func TestSubstring(t *testing.T) {
	x := indexBy(t, "substring", scanned)
	for _, row := range []struct {
		query string
		limit int
		want  []string
	}{
		{"NOTES", 9, []string{"notes_find", "list_notes", "Close_Issue"}}, // names first, then descriptions
		{"notes", 2, []string{"notes_find", "list_notes"}},
		{"notes", 1, []string{"notes_find"}},
		{"issue", 9, []string{"create_issue", "Close_Issue"}},
		{"issue.", 9, []string{"create_issue"}},
		{"Öffne", 9, []string{"datei_öffnen"}}, // letters that bm25 has no token for
		{"find Search", 9, []string{}},         // name and description are no one text
		{"create issue", 9, []string{}},        // nor are spaces put aside
		{".*", 9, []string{}},
		{"", 9, []string{}}, {" \t", 9, []string{}}, {"notes", 0, []string{}}, {"notes", -1, []string{}},
	} {
		if diff := cmp.Diff(row.want, names(scanned, x.Search(nil, row.query, row.limit))); diff != "" {
			t.Errorf("query %q, limit %d (-want +got):\n%s", row.query, row.limit, diff)
		}
	}
}

func TestRegex(t *testing.T) {
	x := indexBy(t, "regex", scanned)
	for _, row := range []struct {
		query string
		want  []string
	}{
		{"notes", []string{"notes_find", "list_notes", "Close_Issue"}},
		{"^(create|close)_", []string{"create_issue", "Close_Issue"}},
		{"create|CLOSE", []string{"create_issue", "Close_Issue"}}, // letter case is put aside in every branch
		{"issue$", []string{"create_issue", "Close_Issue"}},       // the end of the name
		{"words\\.$", []string{"notes_find"}},                     // or of the description
		{"^create.*open", []string{"create_issue"}},               // over both
		{"(?-i)issue$", []string{"create_issue"}},                 // who asks for letter case has it
		{"ö", []string{"datei_öffnen"}},
		{".", []string{"notes_find", "create_issue", "Close_Issue", "datei_öffnen", "list_notes"}},
		{"", []string{}},
		{"  ", []string{}},
		{"(unclosed", []string{}},
	} {
		if diff := cmp.Diff(row.want, names(scanned, x.Search(nil, row.query, 9))); diff != "" {
			t.Errorf("pattern %q (-want +got):\n%s", row.query, diff)
		}
	}
}

// TestPatternProblems: a pattern that is refused finds nothing, and the explanation says why.
func TestPatternProblems(t *testing.T) {
	x := indexBy(t, "regex", scanned)
	for _, row := range []struct{ pattern, problem string }{
		{"(unclosed", "the pattern cannot be read: missing closing ): `(unclosed`"},
		{"*", "the pattern cannot be read: missing argument to repetition operator: `*`"},
		{"a\xff", "the pattern cannot be read: invalid UTF-8: `\xff`"},
		{`(?=notes)`, "the pattern cannot be read: invalid or unsupported Perl syntax: `(?=`"},
		{`(.)\1`, "the pattern cannot be read: invalid escape sequence: `\\1`"},
		{strings.Repeat("ö", 201), "the pattern has 201 characters, and at most 200 are allowed"},
		{"(x{30}){30}(x{30}){30}", "the pattern repeats too much: written out, it has more than 1000 parts"},
		{"((x?){1000}){1000}", "the pattern cannot be read: expression too large: `((x?){1000}){1000}`"},
		{" ", "the query is blank"},
	} {
		if hits := x.Search(nil, row.pattern, 9); len(hits) > 0 {
			t.Errorf("pattern %q: hits %v", row.pattern, hits)
		}
		if got := x.Explain(row.pattern, 9); got.Problem != row.problem || got.Rule() != "Nothing is found: "+row.problem+"." {
			t.Errorf("pattern %q: problem %q, want %q; rule %q", row.pattern, got.Problem, row.problem, got.Rule())
		}
	}
	if e := x.Explain(strings.Repeat("ö", 200), 9); e.Problem != "" {
		t.Errorf("200 characters: problem %q, want none", e.Problem)
	}
}

func TestRules(t *testing.T) {
	for _, row := range []struct{ retriever, query, want string }{
		{"bm25", "find the issue", "Every tool that holds a token of the query is a hit."},
		{"bm25", "ssue", "No tool holds a token of the query, so the hits are the tools whose name contains the whole query (fallback)."},
		{"bm25", "zzz", "No tool holds a token of the query, and no name contains the whole query (fallback)."},
		{"bm25", "Ö", "Nothing is found: the query holds no token, which is a run of ASCII letters and digits."},
		{"bm25-gated", "notes", `A hit must hold the gate "note", which the fewest tools hold (none without it turned away).`},
		{"bm25-gated", "close issues", `A hit must hold the gate "close", which the fewest tools hold (1 tool without it turned away).`},
		{"bm25-gated", "close it notes stay open", `A hit must hold the gate "close", which the fewest tools hold (3 tools without it turned away), and 3 of the 5 answerable tokens (floor: none with fewer turned away).`},
		{"bm25-gated", "close zzz", `No tool holds the gate "zzz", so none passes (1 tool with other tokens turned away).`},
		{"bm25-gated", "Close_Issue", `A hit must hold the gate "close", which the fewest tools hold (1 tool without it turned away); the tool with exactly this name passes all the same.`},
		{"substring", "zzz", "No name and no description matches."},
		{"substring", "notes", "Tools whose name matches come first, then those whose description does; both in catalog order."},
	} {
		if got := indexBy(t, row.retriever, scanned).Explain(row.query, 5).Rule(); got != row.want {
			t.Errorf("%s, query %q:\n got %s\nwant %s", row.retriever, row.query, got, row.want)
		}
	}
	exact := indexBy(t, "bm25-gated", []search.Doc{{Name: "工具"}}).Explain("工具", 5).Rule()
	if want := "The one tool with exactly this name is found; there is nothing else to find, as the query holds no token, which is a run of ASCII letters and digits."; exact != want {
		t.Errorf("got %s\nwant %s", exact, want)
	}
}

// FuzzRegex gives patterns and texts any bytes: what is not refused is searched for, and never fails.
func FuzzRegex(f *testing.F) {
	f.Add("^create|(close)+", "create_issue", "Open an issue.")
	f.Add(`(\pL{10}){20}\b[^a]`, "工具", "\xff")
	f.Fuzz(func(t *testing.T, pattern, name, description string) {
		x := indexBy(t, "regex", []search.Doc{{Name: name, Description: description}})
		e := x.Explain(pattern, 1)
		if e.Problem != "" && len(e.Hits) > 0 {
			t.Errorf("pattern %q has a problem and hits: %+v", pattern, e)
		}
	})
}
