package search

import (
	"strings"
	"sync"
	"sync/atomic"
)

const (
	bm25Name = "bm25"
	// fallbackScore is the score of a tool that was found by its name as a substring only.
	fallbackScore = 0.1
)

// bm25 is Okapi BM25 with k1 = 1.5 and b = 0.75, over a tool's name, description and top-level parameter names:
//
//	score(q, d) = Σ over tokens t of q, in order: idf(t) · (tf·2.5 / (tf + 1.5·(0.25 + 0.75·|d|/avg)))
//	idf(t)      = ln(1 + (N - df + 0.5)/(df + 0.5))
//
// where tf counts t in d, df the docs with t among the catalog's N, |d| the tokens of d, and avg their mean, at least 1. A
// token that stands twice in the query counts twice. If no token of the query occurs in the catalog, the tools whose name
// contains the whole query, letter case aside, are the hits, in catalog order.
type bm25 struct {
	lexicon lexicon

	prunedDocsMin     int   // smaller catalogs are not pruned
	prunedSearchesMin int64 // nor are an index's first so many searches
}

func newBM25() *bm25 {
	r := &bm25{prunedDocsMin: defaultPrunedDocsMin, prunedSearchesMin: defaultPrunedSearchesMin}
	r.lexicon.init(nil)
	return r
}

func (r *bm25) Name() string { return bm25Name }

func (r *bm25) Analyze(doc *Doc) *Terms {
	terms := &Terms{owner: r, name: lower(doc.Name)}
	r.lexicon.countTexts(terms, doc.Parameters, doc.Name, doc.Description)
	return terms
}

func (r *bm25) Index(catalog []*Terms) Index {
	return &bm25Index{inverted: newInverted(r, &r.lexicon, catalog), retriever: r}
}

// bm25Index ranks by the formula alone, and prunes where that pays.
type bm25Index struct {
	inverted
	retriever *bm25

	searches atomic.Int64
	prepare  sync.Once
	pruning  atomic.Pointer[pruning]
}

func (x *bm25Index) Search(dst []Hit, query string, limit int) []Hit {
	if limit <= 0 || len(x.catalog) == 0 {
		return dst
	}
	s := x.lexicon.scratches.Get().(*scratch)
	defer x.lexicon.scratches.Put(s)
	tokens := x.lookUp(s, query)
	if tokens == 0 {
		return dst
	}
	if len(s.terms) == 0 {
		return x.appendByName(dst, query, limit)
	}
	s.begin(len(x.catalog))
	if p := x.pruned(); p != nil && len(s.terms) <= prunedTokensMax {
		p.score(s, limit)
		dst = appendBest(dst, s.candidates, s.exact, limit)
	} else {
		for _, term := range s.terms {
			postings := x.postingsOf(term)
			s.add(postings, x.cells, x.idf(len(postings)))
		}
		dst = appendBest(dst, s.touched[:s.touchedCount], s.scores, limit)
	}
	s.end()
	return dst
}

// appendByName appends the tools whose name contains the query.
func (x *bm25Index) appendByName(dst []Hit, query string, limit int) []Hit {
	query = lower(query)
	for doc, terms := range x.catalog {
		if limit == 0 {
			break
		}
		if strings.Contains(terms.name, query) {
			dst = append(dst, Hit{Doc: doc, Score: fallbackScore})
			limit--
		}
	}
	return dst
}

func (x *bm25Index) Explain(query string, limit int) *Explanation {
	e := x.explain(query)
	e.Fallback = e.Problem == "" && len(e.Answerable) == 0
	e.hit(x, query, limit, func(hit Hit) Judged {
		if e.Fallback {
			return Judged{Hit: hit, Reason: FoundByFallback}
		}
		j := Judged{Hit: hit, Reason: FoundByTerms}
		x.contributions(&j, e, cell.contribution)
		return j
	})
	return e
}
