package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func referenceStem(word string) string {
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}

func referenceStems(text string) []string {
	tokens := referenceTokens(text)
	for i, token := range tokens {
		tokens[i] = referenceStem(token)
	}
	return tokens
}

// referenceGatedTexts are the terms of each doc's index text.
func referenceGatedTexts(docs []Doc) (texts [][]string, average float64) {
	total := 0
	for _, doc := range docs {
		text := strings.TrimPrefix(doc.Name, "mcp__") + " " + doc.Description + " " + strings.Join(doc.Parameters, " ")
		if !slices.Contains(referenceTokens(text), strings.ToLower(doc.Source)) {
			text += " " + doc.Source
		}
		texts = append(texts, referenceStems(text))
		total += len(texts[len(texts)-1])
	}
	return texts, max(float64(total)/float64(max(len(docs), 1)), 1)
}

// referenceGated follows the rules word for word, one doc after the other.
func referenceGated(docs []Doc, query string, limit int) []Hit {
	if limit <= 0 || query == "" {
		return nil
	}
	texts, average := referenceGatedTexts(docs)
	tokens := referenceStems(query)
	gate, gateIDF, answerable := "", math.Inf(-1), map[string]bool{}
	idfs := make([]float64, len(tokens))
	for i, token := range tokens {
		df := 0
		for _, text := range texts {
			if slices.Contains(text, token) {
				df++
			}
		}
		if idfs[i] = ln(1 + (float64(len(docs)-df)+0.5)/(float64(df)+0.5)); idfs[i] > gateIDF {
			gate, gateIDF = token, idfs[i]
		}
		if df > 0 {
			answerable[token] = true
		}
	}
	required := 1
	if len(answerable) >= 4 {
		required = int(math.Ceil(float64(len(answerable)) / 2))
	}
	var hits []Hit
	for i, text := range texts {
		score, matched := 0.0, map[string]bool{}
		for j, token := range tokens {
			if tf := float64(count(text, token)); tf > 0 {
				norm := float64(1.5 * (0.25 + float64(0.75*float64(len(text)))/average))
				score += float64(float64(idfs[j]*tf)*2.5) / (tf + norm)
				matched[token] = true
			}
		}
		if docs[i].Name == query {
			hits = append(hits, Hit{i, math.MaxFloat64})
		} else if matched[gate] && len(matched) >= required {
			hits = append(hits, Hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return hits[:min(limit, len(hits))]
}

// gatedDoc draws tools that share words, word forms and names.
func gatedDoc() *rapid.Generator[Doc] {
	return rapid.Custom(func(t *rapid.T) Doc {
		return Doc{
			Name:        rapid.SampledFrom([]string{"", "mcp__", "mcp_"}).Draw(t, "prefix") + wordForms(3).Draw(t, "name"),
			Description: wordForms(8).Draw(t, "description"),
			Parameters:  rapid.SliceOfN(wordForms(2), 0, 3).Draw(t, "parameters"),
			Source:      rapid.SampledFrom([]string{"", "github", "GitHub", "google_calendar", "list"}).Draw(t, "source"),
		}
	})
}

func wordForms(maxLen int) *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{"a", "A", "create", "Creating", "created", "issue", "issues", "list", "lists", "github", "x1", "é", "工"})
	return rapid.Map(rapid.SliceOfN(word, 0, maxLen), func(words []string) string { return strings.Join(words, "_") })
}

// gatedQuery draws queries, some of which are a tool's name.
func gatedQuery(docs []Doc) *rapid.Generator[string] {
	if len(docs) == 0 {
		return wordForms(7)
	}
	names := make([]string, len(docs))
	for i, doc := range docs {
		names[i] = doc.Name
	}
	return rapid.OneOf(wordForms(7), wordForms(7), rapid.SampledFrom(names))
}

func indexGated(docs []Doc) Index {
	r := newGated()
	return r.Index(analyze(r, docs))
}

func TestGatedEqualsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(gatedDoc(), 0, 30).Draw(t, "docs")
		query := gatedQuery(docs).Draw(t, "query")
		limit := rapid.IntRange(-1, 35).Draw(t, "limit")
		if diff := cmp.Diff(referenceGated(docs, query, limit), indexGated(docs).Search(nil, query, limit)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// TestColumnsChangeNothing searches a catalog that is large enough for columns.
func TestColumnsChangeNothing(t *testing.T) {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(5, 11)), 1.1, 1, 200)
	docs := make([]Doc, columnsDocsMin)
	for i := range docs {
		docs[i] = Doc{Name: fmt.Sprintf("tool_%d", i), Description: zipfText(zipf, 12)}
	}
	x, found := indexGated(docs), 0
	if columns := x.(*gatedIndex).columns; !slices.ContainsFunc(columns, func(c []uint32) bool { return c != nil }) {
		t.Fatal("no term has a column")
	}
	for range 8 {
		query := zipfText(zipf, 5)
		want := referenceGated(docs, query, 50)
		if diff := cmp.Diff(want, x.Search(nil, query, 50)); diff != "" {
			t.Fatalf("query %q (-want +got):\n%s", query, diff)
		}
		found += len(want)
	}
	if found == 0 {
		t.Error("no query found anything")
	}
}

// TestStrangersNeverEnter: a tool that shares no stem with the query is no hit, unless the query is its name.
func TestStrangersNeverEnter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(gatedDoc(), 1, 30).Draw(t, "docs")
		query := gatedQuery(docs).Draw(t, "query")
		texts, _ := referenceGatedTexts(docs)
		for _, hit := range indexGated(docs).Search(nil, query, len(docs)) {
			shared := slices.ContainsFunc(referenceStems(query), func(token string) bool { return slices.Contains(texts[hit.Doc], token) })
			if !shared && docs[hit.Doc].Name != query {
				t.Fatalf("query %q found %+v, which shares nothing with it", query, docs[hit.Doc])
			}
		}
	})
}

// TestExplanationsAgree compares what every retriever explains with what it finds.
func TestExplanationsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(gatedDoc(), 0, 20).Draw(t, "docs")
		query := gatedQuery(docs).Draw(t, "query")
		limit := rapid.IntRange(-1, 25).Draw(t, "limit")
		for _, c := range constructors() {
			r := c.make()
			x := r.Index(analyze(r, docs))
			e := x.Explain(query, limit)
			var hits []Hit
			for _, judged := range e.Hits {
				hits = append(hits, judged.Hit)
				checkJudged(t, e, judged)
			}
			if diff := cmp.Diff(x.Search(nil, query, limit), hits); diff != "" {
				t.Fatalf("%s: hits (-found +explained):\n%s", c.name, diff)
			}
			if all := x.Search(nil, query, len(docs)); len(all) != e.Found {
				t.Fatalf("%s: %d found, explained as %d", c.name, len(all), e.Found)
			}
			if rejected := min(max(limit, 0), e.RejectedByGate+e.RejectedByFloor); len(e.Rejected) != rejected {
				t.Fatalf("%s: %d of %d+%d rejected tools, want %d", c.name, len(e.Rejected), e.RejectedByGate, e.RejectedByFloor, rejected)
			}
			for _, judged := range e.Rejected {
				checkJudged(t, e, judged)
			}
			if rule := e.Rule(); !strings.HasSuffix(rule, ".") {
				t.Fatalf("%s: rule %q", c.name, rule)
			}
		}
	})
}

// checkJudged holds a tool's reason against its contributions.
func checkJudged(t *rapid.T, e *Explanation, j Judged) {
	sum, matched := 0.0, map[string]bool{}
	for _, part := range j.Contributions {
		sum += part.Score
		matched[part.Token] = true
	}
	if sum != j.TermScore || len(matched) != j.Matched {
		t.Fatalf("%d tokens add up to %v in %+v", len(matched), sum, j)
	}
	gate := e.Gate < 0 || matched[e.Tokens[e.Gate].Text]
	var ok bool
	switch j.Reason {
	case FoundByTerms:
		ok = j.Score == sum && gate && j.Matched >= e.Required
	case FoundByExactName:
		ok = j.Score == ExactScore
	case FoundByFallback:
		ok = e.Fallback && j.Score == fallbackScore && sum == 0
	case FoundByName, FoundByDescription:
		ok = len(e.Tokens) == 0
	case RejectedByGate:
		ok = j.Score == 0 && !gate && sum > 0
	case RejectedByFloor:
		ok = j.Score == 0 && gate && j.Matched < e.Required
	}
	if !ok {
		t.Fatalf("reason does not fit %+v", j)
	}
}

// TestSixTools has behaviours that hold whatever the descriptions say.
func TestSixTools(t *testing.T) {
	docs := []Doc{
		{Name: "mcp__actions__rerun-workflow", Description: "Run a workflow again.", Parameters: []string{"run_id"}, Source: "actions"},
		{Name: "mcp__github__create_issue", Description: "Open an issue in a repository.", Parameters: []string{"title", "body"}, Source: "github"},
		{Name: "mcp__github__list_issues", Description: "The issues of a repository.", Parameters: []string{"repo"}, Source: "github"},
		{Name: "mcp__slack__send", Description: "Post a message.", Parameters: []string{"channel", "text"}, Source: "slack"},
		{Name: "mcp__gist__save", Description: "Keep a snippet of code.", Parameters: []string{"content"}, Source: "gist"},
		{Name: "mcp__codeql__scan", Description: "Look for faults in a repository.", Parameters: []string{"repo"}, Source: "codeql"},
		{Name: "list", Description: "What there is."},
		{Name: "list_more", Description: "List lists: a list of the list."},
	}
	x := indexGated(docs)
	for _, row := range []struct {
		query string
		want  string // the hits' last name parts, in order
	}{
		{"run shell command execute code", ""},                   // "shell" is in no tool
		{"issue", "list_issues create_issue"},                    // one stem, which stands twice in the first
		{"creating an issue", "create_issue"},                    // and one more; "an" in one tool is the gate
		{"sending messages", "send"},                             // the gate is "send"
		{"create issue github repository title", "create_issue"}, // "titl" and "creat" are in one tool
		{"linear issue slack", ""},                               // "linear" is in no tool
		{"list", "list list_more list_issues"},                   // the exact name stands before better scores
		{"mcp__github__list_issues", "list_issues"},              // "mcp" is in no text, the name is exact all the same
		{"MCP__github__list_issues", ""},                         // a name is exact to the letter
		{"codeql", "scan"},                                       // the server's name counts though it is no word of the text
		{"", ""}, {"  ", ""}, {"工具", ""},
	} {
		var got []string
		for _, hit := range x.Search(nil, row.query, 5) {
			parts := strings.Split(docs[hit.Doc].Name, "__")
			got = append(got, parts[len(parts)-1])
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("query %q: %v, want %q", row.query, got, row.want)
		}
	}
}

// TestFloor has four tokens that one tool each holds and that another holds in part: one is too few, two are enough.
func TestFloor(t *testing.T) {
	docs := []Doc{{Name: "alpha"}, {Name: "alpha beta"}, {Name: "alpha gamma delta"}, {Name: "gamma delta beta beta"}, {Name: "gamma"}}
	e := indexGated(docs).Explain("delta gamma beta alpha", 5)
	if got := e.Tokens[e.Gate].Text; got != "delta" || e.Required != 2 || e.Found != 2 || e.RejectedByGate != 3 {
		t.Errorf("gate %q, floor %d, %d found, %d turned away by the gate; want delta, 2, 2, 3", got, e.Required, e.Found, e.RejectedByGate)
	}
	docs = append(docs, Doc{Name: "delta"})
	e = indexGated(docs).Explain("delta gamma beta alpha", 5)
	if got := e.Tokens[e.Gate].Text; got != "beta" { // in two tools now, as delta is in three
		t.Errorf("gate %q, want beta", got)
	}
	e = indexGated([]Doc{{Name: "alpha"}, {Name: "beta gamma delta"}, {Name: "beta gamma delta"}}).Explain("alpha beta gamma delta", 5)
	if e.Found != 0 || e.RejectedByFloor != 1 || len(e.Rejected) != 3 || e.Rejected[0].Reason != RejectedByFloor || e.RejectedByGate != 2 {
		t.Errorf("explanation %+v, want one tool below the floor before two that lack the gate", e)
	}
	for answerable, want := range []int{1, 1, 1, 1, 2, 3, 3, 4} {
		if got := floor(answerable); got != want {
			t.Errorf("floor(%d) = %d, want %d", answerable, got, want)
		}
	}
}

// TestManySearchersAgree searches with 512 goroutines at once, half of them over indexes of their own.
func TestManySearchersAgree(t *testing.T) {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(2, 4)), 1.1, 1, 60)
	docs := make([]Doc, 60)
	for i := range docs {
		docs[i] = Doc{Name: fmt.Sprintf("creating_%d", i), Description: zipfText(zipf, 12) + "issues created"}
	}
	query := zipfText(zipf, 3) + "creates issue"
	for _, c := range constructors() {
		r := c.make()
		shared := r.Index(analyze(r, docs))
		first, rule := shared.Search(nil, query, 10), shared.Explain(query, 10).Rule()
		var group sync.WaitGroup
		for worker := range 512 {
			group.Go(func() {
				x := shared
				if worker%16 == 0 {
					x = r.Index(analyze(r, docs))
				}
				if got := x.Search(nil, query, 10); !slices.Equal(first, got) {
					t.Errorf("%s: %v, want %v", c.name, got, first)
				}
				if worker%16 == 1 {
					if got := x.Explain(query, 10).Rule(); got != rule {
						t.Errorf("%s: %q, want %q", c.name, got, rule)
					}
				}
			})
		}
		group.Wait()
	}
}

// TestStemmerForgetsNothingThatCounts stems words that it keeps, and one that is too long for a word.
func TestStemmerForgetsNothingThatCounts(t *testing.T) {
	s := newStemmer()
	for range 2 {
		for word, want := range map[string]string{"issues": "issu", "creating": "creat", "messages": "messag", "a": "a", "42": "42"} {
			if got := s.stem([]byte(word)); got != want {
				t.Errorf("stem of %q is %q, want %q", word, got, want)
			}
		}
	}
	long := strings.Repeat("ay", stemmedBytesMax) + "ing"
	if got := s.stem([]byte(long)); got != long {
		t.Errorf("a word of %d bytes was stemmed", len(long))
	}
	if len(s.stems) != 5 {
		t.Errorf("%d stems are kept, want 5", len(s.stems))
	}
}

// FuzzGated gives two tools and a query any bytes.
func FuzzGated(f *testing.F) {
	f.Add("mcp__github__create_issue", "Creates an issue.", "github", "list-issues", "Lists issues", "create an issue", 5)
	f.Add("工具", "x", "", "mcp__", "x", "工具", 2)
	f.Fuzz(func(t *testing.T, name1, description1, source1, name2, description2, query string, limit int) {
		docs := []Doc{{Name: name1, Description: description1, Source: source1}, {Name: name2, Description: description2}}
		for _, token := range referenceTokens(name1 + " " + description1 + " " + source1 + " " + name2 + " " + description2 + " " + query) {
			if len(token) > stemmedBytesMax {
				t.Skip("the reference stems words of any length")
			}
		}
		if diff := cmp.Diff(referenceGated(docs, query, limit), indexGated(docs).Search(nil, query, limit)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
