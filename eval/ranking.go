package eval

import (
	"fmt"
	"strings"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// Depth is how many hits of a query are judged. MRR and MAP see no further; it is also trec_eval's usual depth.
const Depth = 1000

// Hit is one ranked tool.
type Hit struct {
	Tool  string // ID
	Score float64
}

// Ranking is what a retriever, or another program, finds for each query of a set.
type Ranking struct {
	Retriever string
	Hits      [][]Hit // by query, best first
	note      string  // of a run that was read
}

// Search lets a retriever rank the tools of the set for each query, Depth hits at most.
func (s *Set) Search(retriever string) (*Ranking, error) {
	i, err := newIndexer(retriever)
	if err != nil {
		return nil, err
	}
	return s.rank(i, s.Tools, Depth), nil
}

// indexer is a retriever that keeps what it made of each tool: analysing is the dear part, and the same distractors stand
// beside every set.
type indexer struct {
	retriever search.Retriever
	terms     map[string]*search.Terms // by all that the retriever sees of the tool
}

func (x *indexer) analyse(d *search.Doc) *search.Terms {
	key := strings.Join(append([]string{d.Name, d.Description, d.Source}, d.Parameters...), "\x00")
	if x.terms[key] == nil {
		x.terms[key] = x.retriever.Analyze(d)
	}
	return x.terms[key]
}

func newIndexer(name string) (*indexer, error) {
	r, err := search.New(name)
	if err != nil {
		return nil, err
	}
	return &indexer{r, make(map[string]*search.Terms)}, nil
}

// rank ranks a pool of tools for each query.
func (s *Set) rank(x *indexer, pool []Tool, depth int) *Ranking {
	catalog := make([]*search.Terms, len(pool))
	for i := range pool {
		catalog[i] = x.analyse(&pool[i].Doc)
	}
	index := x.retriever.Index(catalog)
	r := &Ranking{Retriever: x.retriever.Name(), Hits: make([][]Hit, len(s.Queries))}
	var found []search.Hit
	for i := range s.Queries {
		found = index.Search(found[:0], strings.TrimSpace(s.Queries[i].Text), depth) // trimmed as the bridge does
		r.Hits[i] = make([]Hit, len(found))
		for j, hit := range found {
			r.Hits[i][j] = Hit{pool[hit.Doc].ID, hit.Score}
		}
	}
	return r
}

// judged holds the measures of one query.
type judged struct {
	query    *Query
	hits     []Hit
	relevant int
	rr, ap   float64
	cuts     []cut // by cutoff
}

// cut holds the measures that look at the first k hits.
type cut struct {
	k                                              int
	recall, precision, success, completeness, ndcg float64
}

// judge lays a ranking beside the judgements.
func (s *Set) judge(r *Ranking, cutoffs []int) []judged {
	list := make([]judged, len(s.Queries))
	for i := range s.Queries {
		q, hits := &s.Queries[i], r.Hits[i][:min(len(r.Hits[i]), Depth)]
		ranked := make([]string, len(hits))
		for j, hit := range hits {
			ranked[j] = hit.Tool
		}
		graded := metrics.Grade(ranked, q.Grades)
		list[i] = judged{query: q, hits: hits, relevant: graded.Relevant(), rr: graded.ReciprocalRank(), ap: graded.AveragePrecision()}
		for _, k := range cutoffs {
			list[i].cuts = append(list[i].cuts, cut{
				k, graded.RecallAt(k), graded.PrecisionAt(k), graded.SuccessAt(k), graded.CompletenessAt(k), graded.NDCGAt(k),
			})
		}
	}
	return list
}

// values are the measures of a judged query, in the order of measureNames.
func (j *judged) values() []float64 {
	var values []float64
	for _, of := range []func(cut) float64{
		func(c cut) float64 { return c.recall },
		func(c cut) float64 { return c.precision },
		func(c cut) float64 { return c.success },
		func(c cut) float64 { return c.completeness },
		func(c cut) float64 { return c.ndcg },
	} {
		for _, c := range j.cuts {
			values = append(values, of(c))
		}
	}
	return append(values, j.rr, j.ap)
}

// measureNames are the measures that every query with gold has.
func measureNames(cutoffs []int) (names []string) {
	for _, family := range []string{"recall", "precision", "success", "completeness", "ndcg"} {
		for _, k := range cutoffs {
			names = append(names, fmt.Sprintf("%s@%d", family, k))
		}
	}
	return append(names, "mrr", "map")
}

// noMatchAccuracy is the one measure of queries that no tool serves.
const noMatchAccuracy = "no_match_accuracy"

// Definition is what a measure means.
type Definition struct{ Measure, Text string }

// Definitions are those of all measures, in the order of tables: what a measure is of one query. Figures are means over
// queries. Each is between 0 and 1, and higher is better.
func Definitions() []Definition {
	return []Definition{
		{"recall@k", "share of a query's relevant tools among its first k hits"},
		{"precision@k", "share of the first k hits that is relevant; a missing hit is not"},
		{"success@k", "1 if a relevant tool is among the first k hits, else 0"},
		{"completeness@k", "1 if all relevant tools are among the first k hits, else 0"},
		{"ndcg@k", "gain of the first k hits over the best order's; a hit gains grade/log2(rank+1)"},
		{"mrr", fmt.Sprintf("1 over the rank of the first relevant tool, 0 beyond %d hits", Depth)},
		{"map", fmt.Sprintf("precision at each relevant tool's rank, 0 beyond %d hits, averaged", Depth)},
		{noMatchAccuracy, "1 if a query that no tool serves is answered with no hits, else 0"},
	}
}
