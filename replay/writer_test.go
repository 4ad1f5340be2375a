package replay

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/sessions"
)

func TestQueries(t *testing.T) {
	for _, c := range []struct {
		name, utterance, language string
		want                      []string
	}{
		{"the keywords, then the three longest in the order said", "open the ticket about payroll, and tell Bo", "en",
			[]string{"open the ticket about payroll, and tell Bo", "open ticket about payroll tell Bo", "ticket about payroll"}},
		{"stop words in any case", "The END is Near, And It Will Be", "en",
			[]string{"The END is Near, And It Will Be", "END Near"}},
		{"six keywords at most", "one two three four five six seven eight", "en",
			[]string{"one two three four five six seven eight", "one two three four five six", "three four five"}},
		{"of equal lengths the first said", "aa bb cc dd ee", "en", []string{"aa bb cc dd ee", "aa bb cc"}},
		{"length in letters, not bytes", "éé aaa bbb ccc", "en", []string{"éé aaa bbb ccc", "aaa bbb ccc"}},
		{"repeats are left out", "deploy web shop", "en", []string{"deploy web shop"}},
		{"keywords that are the three longest", "deploy the web shop", "en", []string{"deploy the web shop", "deploy web shop"}},
		{"nothing but stop words", "is it not that?", "en", []string{"is it not that?"}},
		{"no words", "?!", "en", []string{"?!"}},
		{"words end at all but letters and digits", "re-run job_42's step", "en", []string{"re-run job_42's step", "re run job 42 s step", "run job step"}},
		{"a repeated word stays", "no go no go now", "en", []string{"no go no go now", "go go now"}},
		{"another language as said", "öffne das Ticket über die Gehälter", "de", []string{"öffne das Ticket über die Gehälter"}},
		{"no language is English", "open the door", "", []string{"open the door", "open door"}},
		{"English of a region", "open the door", "en-GB", []string{"open the door", "open door"}},
		{"English in capitals", "open the door", "EN", []string{"open the door", "open door"}},
		{"a language that begins alike", "open the door", "enm", []string{"open the door"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := queries(WriterUtterance, &sessions.Turn{Utterance: c.utterance, Language: c.language}); !slices.Equal(got, c.want) {
				t.Errorf("queries(%q, %q)\n got %q\nwant %q", c.utterance, c.language, got, c.want)
			}
		})
	}
}

// The stop words are the 33 of Lucene's StandardAnalyzer.
func TestStopWords(t *testing.T) {
	const lucene = "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with"
	if words := strings.Fields(lucene); len(words) != 33 || len(stopWords) != 33 {
		t.Fatalf("%d stop words, want 33", len(stopWords))
	}
	for _, w := range strings.Fields(lucene) {
		if !stopWords[w] {
			t.Errorf("%q is no stop word", w)
		}
	}
}

// Whatever is said, the first query is just that, there are at most three, none
// comes twice, and the later ones are words of the utterance in its order.
func TestQueriesHoldTheirRules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.OneOf(rapid.StringMatching(`[a-zA-Zé0-9]{1,9}`), rapid.SampledFrom([]string{"the", "And", "is", "…", "a-b", "中文"}))
		said := strings.Join(rapid.SliceOfN(word, 1, 12).Draw(rt, "words"), rapid.SampledFrom([]string{" ", ", "}).Draw(rt, "between"))
		list := queries(WriterUtterance, &sessions.Turn{Utterance: said, Language: rapid.SampledFrom([]string{"en", "", "en-US", "fr"}).Draw(rt, "language")})
		if list[0] != said || len(list) > 3 {
			rt.Fatalf("queries of %q: %q", said, list)
		}
		for i, query := range list[1:] {
			rest := said
			words := strings.Fields(query)
			if len(words) > 6 || i == 1 && len(words) != 3 || slices.Contains(list[:i+1], query) {
				rt.Fatalf("query %d of %q: %q", i+1, said, list)
			}
			for _, w := range words {
				at := strings.Index(rest, w)
				if at < 0 || stopWords[strings.ToLower(w)] || !utf8.ValidString(w) {
					rt.Fatalf("query %d of %q: %q", i+1, said, query)
				}
				rest = rest[at+len(w):]
			}
		}
	})
}
