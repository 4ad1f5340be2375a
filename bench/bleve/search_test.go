package bleve_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/toolgauge/toolgauge/internal/zipfcorpus"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

const (
	field = "text"
	limit = 5
)

// BenchmarkSearch times one query on each side, and both in turn.
func BenchmarkSearch(b *testing.B) {
	drawn := zipfcorpus.Draw(zipfcorpus.Standard())
	ours := newOurs(b, drawn)
	b.Run("toolgauge", func(b *testing.B) { cycle(b, ours) })
	for _, peer := range []struct {
		name  string
		index func(testing.TB) bleve.Index
	}{{"bleve-scorch", newScorch}, {"bleve-memonly", newMemOnly}} {
		theirs := newTheirs(b, peer.index(b), drawn)
		b.Run(peer.name, func(b *testing.B) { cycle(b, theirs) })
		b.Run(peer.name+"-by-turns", func(b *testing.B) {
			var oursTaken, theirsTaken time.Duration
			for i := 0; b.Loop(); i++ {
				which := i % len(drawn.Queries)
				start := time.Now()
				ours(which)
				between := time.Now()
				theirs(which)
				oursTaken += between.Sub(start)
				theirsTaken += time.Since(between)
			}
			b.ReportMetric(float64(theirsTaken)/float64(oursTaken), "times")
		})
	}
}

// searcher runs one of the drawn queries and returns the number of hits.
type searcher func(which int) (hits int)

func cycle(b *testing.B, search searcher) {
	queries := zipfcorpus.Standard().Queries
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		search(i % queries)
	}
}

func newOurs(tb testing.TB, drawn zipfcorpus.Corpus) searcher {
	tb.Helper()
	retriever, err := search.New("bm25")
	if err != nil {
		tb.Fatal(err)
	}
	catalog := make([]*search.Terms, len(drawn.Docs))
	for i, words := range drawn.Docs {
		catalog[i] = retriever.Analyze(&search.Doc{Description: strings.Join(words, " ")})
	}
	built := retriever.Index(catalog)
	queries := make([]string, len(drawn.Queries))
	for i, words := range drawn.Queries {
		queries[i] = strings.Join(words, " ")
	}
	for _, text := range queries { // an index prepares more once it has been searched a few hundred times
		built.Search(nil, text, limit)
	}
	return func(which int) int { return len(built.Search(nil, queries[which], limit)) }
}

func newMapping(tb testing.TB) *mapping.IndexMappingImpl {
	tb.Helper()
	text := bleve.NewTextFieldMapping()
	text.Analyzer = "words"
	text.Store, text.IncludeInAll, text.IncludeTermVectors, text.DocValues = false, false, false, false
	document := bleve.NewDocumentStaticMapping()
	document.AddFieldMappingsAt(field, text)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = document
	if err := m.AddCustomAnalyzer("words", map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}); err != nil {
		tb.Fatal(err)
	}
	return m
}

// newScorch makes bleve's default kind of index, in memory, with BM25.
func newScorch(tb testing.TB) bleve.Index {
	tb.Helper()
	m := newMapping(tb)
	m.ScoringModel = index.BM25Scoring
	made, err := bleve.NewUsing("", m, scorch.Name, scorch.Name, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

func newMemOnly(tb testing.TB) bleve.Index {
	tb.Helper()
	made, err := bleve.NewMemOnly(newMapping(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// newTheirs fills a bleve index in one batch, and prepares the requests.
func newTheirs(tb testing.TB, made bleve.Index, drawn zipfcorpus.Corpus) searcher {
	tb.Helper()
	tb.Cleanup(func() { made.Close() })
	batch := made.NewBatch()
	for i, words := range drawn.Docs {
		if err := batch.Index(strconv.Itoa(i), map[string]any{field: strings.Join(words, " ")}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := made.Batch(batch); err != nil {
		tb.Fatal(err)
	}
	requests := make([]*bleve.SearchRequest, len(drawn.Queries))
	for i, words := range drawn.Queries {
		terms := make([]query.Query, len(words))
		for j, word := range words {
			term := bleve.NewTermQuery(word)
			term.SetField(field)
			terms[j] = term
		}
		requests[i] = bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(terms...), limit, 0, false)
	}
	return func(which int) int {
		result, err := made.SearchInContext(context.Background(), requests[which])
		if err != nil {
			tb.Fatal(err)
		}
		return len(result.Hits)
	}
}

// TestBothFind makes sure that the benchmark compares searches, and not one search with one failure: on each side every
// query has hits, and as many as on the other.
func TestBothFind(t *testing.T) {
	shape := zipfcorpus.Standard()
	shape.Docs, shape.Queries = 500, 100
	drawn := zipfcorpus.Draw(shape)
	ours := newOurs(t, drawn)
	for name, made := range map[string]bleve.Index{"scorch": newScorch(t), "memonly": newMemOnly(t)} {
		theirs := newTheirs(t, made, drawn)
		for which := range drawn.Queries {
			if we, they := ours(which), theirs(which); we != they || we == 0 {
				t.Errorf("%s, query %q: %d hits, ours has %d", name, drawn.Queries[which], they, we)
			}
		}
	}
}
