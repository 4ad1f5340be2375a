package search

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The reference below follows the formula word for word, one doc after the other, with nothing prepared. The retriever must
// agree with it to the last bit, whatever it prepares, prunes and reuses.

var referenceToken = regexp.MustCompile(`[A-Za-z0-9]+`)

func referenceTokens(text string) []string {
	tokens := referenceToken.FindAllString(text, -1)
	for i := range tokens {
		tokens[i] = strings.ToLower(tokens[i])
	}
	return tokens
}

func count(tokens []string, token string) (n int) {
	for _, other := range tokens {
		if other == token {
			n++
		}
	}
	return n
}

func referenceSearch(docs []Doc, query string, limit int) []Hit {
	tokens := referenceTokens(query)
	if limit <= 0 || len(tokens) == 0 {
		return nil
	}
	texts, total := make([][]string, len(docs)), 0
	for i, doc := range docs {
		name := strings.NewReplacer("_", " ", ".", " ", "-", " ", ":", " ").Replace(doc.Name)
		texts[i] = referenceTokens(name + " " + doc.Description + " " + strings.Join(doc.Parameters, " "))
		total += len(texts[i])
	}
	average := max(float64(total)/float64(max(len(docs), 1)), 1)
	scores := make([]float64, len(docs))
	for _, token := range tokens {
		df := 0
		for _, text := range texts {
			if slices.Contains(text, token) {
				df++
			}
		}
		idf := ln(1 + (float64(len(docs)-df)+0.5)/(float64(df)+0.5))
		for i, text := range texts {
			tf := float64(count(text, token))
			norm := float64(1.5 * (0.25 + float64(0.75*float64(len(text)))/average))
			scores[i] += float64(idf * (float64(tf*2.5) / (tf + norm)))
		}
	}
	var hits []Hit
	for i, score := range scores {
		if score > 0 {
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
	if hits == nil {
		for i, doc := range docs {
			if strings.Contains(lower(doc.Name), lower(query)) {
				hits = append(hits, Hit{i, 0.1})
			}
		}
	}
	return hits[:min(limit, len(hits))]
}

// indexPruned builds an index that is pruned from so many docs on.
func indexPruned(docs []Doc, prunedDocsMin int) Index {
	r := newBM25()
	r.prunedDocsMin, r.prunedSearchesMin = prunedDocsMin, 0
	return r.Index(analyze(r, docs))
}

func analyze(r Retriever, docs []Doc) []*Terms {
	catalog := make([]*Terms, len(docs))
	for i := range docs {
		catalog[i] = r.Analyze(&docs[i])
	}
	return catalog
}

const never = 1 << 30

// wordList draws words from a tiny vocabulary, so that tools share words, lengths and scores.
func wordList(maxLen int) *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{"a", "b", "A", "create", "issue", "list", "Σ", "x1", "é", "get-file", "工"})
	return rapid.Map(rapid.SliceOfN(word, 0, maxLen), func(words []string) string { return strings.Join(words, "_") })
}

func TestSearchEqualsReference(t *testing.T) {
	doc := rapid.Custom(func(t *rapid.T) Doc {
		return Doc{
			Name:        wordList(3).Draw(t, "name"),
			Description: wordList(8).Draw(t, "description"),
			Parameters:  rapid.SliceOfN(wordList(2), 0, 3).Draw(t, "parameters"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(doc, 0, 30).Draw(t, "docs")
		query := wordList(6).Draw(t, "query")
		limit := rapid.IntRange(-1, 35).Draw(t, "limit")
		want := referenceSearch(docs, query, limit)
		for _, prunedDocsMin := range []int{never, 0} {
			if diff := cmp.Diff(want, indexPruned(docs, prunedDocsMin).Search(nil, query, limit)); diff != "" {
				t.Fatalf("pruned from %d docs on (-want +got):\n%s", prunedDocsMin, diff)
			}
		}
	})
}

// zipfText draws text whose words are as unevenly spread as those of language.
func zipfText(zipf *rand.Zipf, words int) string {
	var text strings.Builder
	for range words {
		fmt.Fprintf(&text, "w%d ", zipf.Uint64())
	}
	return text.String()
}

// TestPruningChangesNothing draws larger catalogs, where pruning drops docs at every step. Every fifth doc is a copy of an
// earlier one, so ties are common.
func TestPruningChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		vocabulary := rapid.SampledFrom([]uint64{3, 30, 300}).Draw(t, "vocabulary")
		zipf := rand.NewZipf(random, rapid.SampledFrom([]float64{1.01, 1.1, 2}).Draw(t, "exponent"), 1, vocabulary)
		docs := make([]Doc, rapid.IntRange(1, 200).Draw(t, "docs"))
		for i := range docs {
			if docs[i] = (Doc{Description: zipfText(zipf, 1+random.IntN(20))}); i%5 == 4 {
				docs[i] = docs[random.IntN(i)]
			}
		}
		plain, pruned := indexPruned(docs, never), indexPruned(docs, 0)
		for round := range 20 {
			query, limit := zipfText(zipf, 1+random.IntN(8)), 1+random.IntN(50)
			want, got := plain.Search(nil, query, limit), pruned.Search(nil, query, limit)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("query %q, limit %d (-plain +pruned):\n%s", query, limit, diff)
			}
			if round > 0 {
				continue // the reference is slow
			}
			if diff := cmp.Diff(referenceSearch(docs, query, limit), got); diff != "" {
				t.Fatalf("query %q, limit %d (-reference +pruned):\n%s", query, limit, diff)
			}
		}
	})
}

// TestVeryLongQueryIsNotPruned covers the queries that pruning leaves to the plain search.
func TestVeryLongQueryIsNotPruned(t *testing.T) {
	docs := []Doc{{Name: "a b"}, {Name: "b"}, {Name: "c"}}
	query := strings.Repeat("b a ", prunedTokensMax)
	if diff := cmp.Diff(referenceSearch(docs, query, 3), indexPruned(docs, 0).Search(nil, query, 3)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestScratchIsLeftClean searches catalogs of several sizes in turn with one retriever, whose scratch they share.
func TestScratchIsLeftClean(t *testing.T) {
	r := newBM25()
	r.prunedDocsMin, r.prunedSearchesMin = 40, 3
	zipf := rand.NewZipf(rand.New(rand.NewPCG(7, 7)), 1.1, 1, 50)
	var catalogs [][]Doc
	var indexes []Index
	for _, size := range []int{60, 3, 200, 1, 39, 100} {
		docs := make([]Doc, size)
		for i := range docs {
			docs[i].Description = zipfText(zipf, 12)
		}
		catalogs, indexes = append(catalogs, docs), append(indexes, r.Index(analyze(r, docs)))
	}
	for round := range 50 {
		which := round % len(catalogs)
		query := zipfText(zipf, 4)
		want, got := referenceSearch(catalogs[which], query, 5), indexes[which].Search(nil, query, 5)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d (-want +got):\n%s", round, diff)
		}
	}
}

// TestConcurrentUse analyses, indexes and searches with one retriever from many goroutines at once.
func TestConcurrentUse(t *testing.T) {
	r := newBM25()
	r.prunedDocsMin, r.prunedSearchesMin = 46, 5
	zipf := rand.NewZipf(rand.New(rand.NewPCG(3, 9)), 1.1, 1, 200)
	docs := make([]Doc, 50)
	for i := range docs {
		docs[i] = Doc{Name: fmt.Sprintf("tool_%d", i), Description: zipfText(zipf, 15)}
	}
	queries := make([]string, 12)
	want := make([][]Hit, len(queries))
	for i := range queries {
		queries[i] = zipfText(zipf, 5)
		want[i] = referenceSearch(docs, queries[i], 7)
	}
	shared := r.Index(analyze(r, docs))
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			own := docs[worker:]
			ownIndex := r.Index(analyze(r, own))
			for i, query := range queries {
				if diff := cmp.Diff(want[i], shared.Search(nil, query, 7)); diff != "" {
					t.Errorf("shared index, query %q (-want +got):\n%s", query, diff)
				}
				if diff := cmp.Diff(referenceSearch(own, query, 3), ownIndex.Search(nil, query, 3)); diff != "" {
					t.Errorf("own index, query %q (-want +got):\n%s", query, diff)
				}
			}
		})
	}
	group.Wait()
}

// TestExplainAddsUpToScore adds the contributions of every hit up and compares bits.
func TestExplainAddsUpToScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(rapid.Map(wordList(8), func(text string) Doc { return Doc{Description: text} }), 1, 20).Draw(t, "docs")
		query := wordList(6).Draw(t, "query")
		for _, prunedDocsMin := range []int{never, 0} {
			x := indexPruned(docs, prunedDocsMin)
			for _, hit := range x.Explain(query, len(docs)).Hits {
				sum, tokens := 0.0, referenceTokens(query)
				for _, part := range hit.Contributions {
					at := slices.Index(tokens, part.Token)
					if at < 0 {
						t.Fatalf("contributions %v of doc %d are not in the order of query %q", hit.Contributions, hit.Doc, query)
					}
					tokens = tokens[at+1:]
					sum += part.Score
				}
				if hit.Reason == FoundByTerms && (sum != hit.Score || sum != hit.TermScore) {
					t.Fatalf("contributions of doc %d add up to %v, want %v and %v", hit.Doc, sum, hit.Score, hit.TermScore)
				}
			}
		}
	})
}

// TestWordsMetAfterIndexing searches for words that the retriever met only after the index was made.
func TestWordsMetAfterIndexing(t *testing.T) {
	r := newBM25()
	docs := []Doc{{Name: "first"}, {Name: "second"}}
	x := r.Index(analyze(r, docs))
	for i := range 200 {
		r.Analyze(&Doc{Name: fmt.Sprintf("later%d", i)})
	}
	for i := range 200 {
		query := fmt.Sprintf("second later%d", i)
		if diff := cmp.Diff(referenceSearch(docs, query, 5), x.Search(nil, query, 5)); diff != "" {
			t.Fatalf("query %q (-want +got):\n%s", query, diff)
		}
	}
}

// FuzzSearch gives two tools and a query any bytes.
func FuzzSearch(f *testing.F) {
	f.Add("create_issue", "Creates an issue.", "list-issues", "Lists issues", "create an issue", 5)
	f.Add("a.b:c", "", "", "\xff\x00", "Σ\xe2\x82", 1)
	f.Add("工具", "x", "工具 y", "x", "工具", 2)
	f.Fuzz(func(t *testing.T, name1, description1, name2, description2, query string, limit int) {
		docs := []Doc{{Name: name1, Description: description1}, {Name: name2, Description: description2}}
		want := referenceSearch(docs, query, limit)
		for _, prunedDocsMin := range []int{never, 0} {
			if diff := cmp.Diff(want, indexPruned(docs, prunedDocsMin).Search(nil, query, limit)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	})
}

// FuzzTokenize compares with the regular expression that defines tokens.
func FuzzTokenize(f *testing.F) {
	for _, text := range []string{"", "create_issue", "Ünïcode 42", "getUserID v1.2", "\xff\xfe", "K"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Tokenize(text)
		if diff := cmp.Diff(referenceTokens(text), got); diff != "" && len(got) > 0 {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if again := Tokenize(strings.Join(got, " ")); !slices.Equal(got, again) {
			t.Fatalf("tokens of %q are %q, and of these tokens %q", text, got, again)
		}
	})
}
