package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/internal/zipfcorpus"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// zipfDoc makes a tool of a drawn document: three words of name, five parameters, the rest is description.
func zipfDoc(words []string) *search.Doc {
	return &search.Doc{
		Name:        strings.Join(words[:3], "_"),
		Description: strings.Join(words[3:len(words)-5], " "),
		Parameters:  words[len(words)-5:],
	}
}

// zipfCatalog analyses the documents of a shape.
func zipfCatalog(t testing.TB, name string, shape zipfcorpus.Shape) (search.Retriever, []*search.Terms, zipfcorpus.Corpus) {
	t.Helper()
	retriever, drawn := newRetriever(t, name), zipfcorpus.Draw(shape)
	catalog := make([]*search.Terms, len(drawn.Docs))
	for i, words := range drawn.Docs {
		catalog[i] = retriever.Analyze(zipfDoc(words))
	}
	return retriever, catalog, drawn
}

// zipfIndex indexes the documents of a shape and joins the words of its queries.
func zipfIndex(t testing.TB, name string, shape zipfcorpus.Shape) (search.Index, []string) {
	t.Helper()
	retriever, catalog, drawn := zipfCatalog(t, name, shape)
	queries := make([]string, len(drawn.Queries))
	for i, words := range drawn.Queries {
		queries[i] = strings.Join(words, " ")
	}
	return retriever.Index(catalog), queries
}

// BenchmarkSearch times one query of 6 words, drawn as zipfcorpus.Standard says: in 3,000 documents of 45 words, and in 200 of
// 30 words, as a session has them. The mean is over 1,000 different queries, taken in turn, after all of them have been run once. No buffer is given for the
// hits, so the one allocation is the result.
func BenchmarkSearch(b *testing.B) { benchmarkSearch(b, "bm25") }

// BenchmarkGatedSearch times the same queries by bm25-gated.
func BenchmarkGatedSearch(b *testing.B) { benchmarkSearch(b, "bm25-gated") }

func benchmarkSearch(b *testing.B, name string) {
	for _, size := range []struct{ docs, words int }{{200, 30}, {3000, 45}} {
		shape := zipfcorpus.Standard()
		shape.Docs, shape.DocWords = size.docs, size.words
		index, queries := zipfIndex(b, name, shape)
		for _, limit := range []int{5, 10, 50} {
			b.Run(fmt.Sprintf("docs=%d/limit=%d", size.docs, limit), func(b *testing.B) {
				b.ReportAllocs()
				for _, query := range queries {
					index.Search(nil, query, limit)
				}
				i := 0
				for b.Loop() {
					index.Search(nil, queries[i%len(queries)], limit)
					i++
				}
			})
		}
	}
}

// BenchmarkIndex times the index of one catalog whose tools have been analysed before: the 3,000 tools of the search figures,
// and catalogs of the size that a session has.
func BenchmarkIndex(b *testing.B) {
	standard := zipfcorpus.Standard()
	for _, size := range []struct{ docs, words int }{{20, 30}, {200, 30}, {3000, 45}} {
		b.Run(fmt.Sprintf("docs=%d/words=%d", size.docs, size.words), func(b *testing.B) {
			shape := standard
			shape.Docs, shape.DocWords = size.docs, size.words
			retriever, catalog, _ := zipfCatalog(b, "bm25", shape)
			b.ReportAllocs()
			for b.Loop() {
				retriever.Index(catalog)
			}
		})
	}
}

// BenchmarkAnalyze times the work on one tool of 45 words.
func BenchmarkAnalyze(b *testing.B) {
	retriever, _, _ := zipfCatalog(b, "bm25", zipfcorpus.Standard())
	shape := zipfcorpus.Standard()
	shape.Docs = 1
	doc := zipfDoc(zipfcorpus.Draw(shape).Docs[0])
	b.ReportAllocs()
	for b.Loop() {
		retriever.Analyze(doc)
	}
}
