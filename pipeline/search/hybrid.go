package search

import "slices"

const (
	hybridName = "hybrid"
	// fusionRank is the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): the larger, the less
	// the first ranks stand out.
	fusionRank = 60
	// fusionDepth is how many hits of each ranking are fused. Further ones would add next to nothing.
	fusionDepth = 1000
)

// hybrid joins the rankings of bm25 and vector:
//
//	score(q, d) = Σ over the rankings with d among their first 1,000 of 1/(60 + rank)
//
// It needs no scale on which scores of both kinds could be compared. Ties stand in catalog order.
type hybrid struct {
	parts []Retriever
}

func newHybrid() *hybrid { return &hybrid{parts: []Retriever{newBM25(), newVector()}} }

func (r *hybrid) Name() string { return hybridName }

func (r *hybrid) Analyze(doc *Doc) *Terms {
	terms := &Terms{owner: r}
	for _, part := range r.parts {
		terms.parts = append(terms.parts, part.Analyze(doc))
	}
	return terms
}

func (r *hybrid) Index(catalog []*Terms) Index {
	x := &hybridIndex{names: make([]string, len(r.parts)), size: len(catalog)}
	for i, part := range r.parts {
		terms := make([]*Terms, len(catalog))
		for doc, t := range catalog {
			checkOwner(r, t)
			terms[doc] = t.parts[i]
		}
		x.names[i] = part.Name()
		x.parts = append(x.parts, part.Index(terms))
	}
	return x
}

type hybridIndex struct {
	names []string // of the retrievers
	parts []Index
	size  int
}

func (x *hybridIndex) Len() int { return x.size }

// fused is the score that each doc has from the rankings, by doc.
func (x *hybridIndex) fused(query string) map[int][]Contribution {
	scores := make(map[int][]Contribution)
	for i, part := range x.parts {
		for rank, hit := range part.Search(nil, query, fusionDepth) {
			scores[hit.Doc] = append(scores[hit.Doc], Contribution{Token: x.names[i], Score: 1 / float64(fusionRank+rank+1)})
		}
	}
	return scores
}

func (x *hybridIndex) Search(dst []Hit, query string, limit int) []Hit {
	if limit <= 0 {
		return dst
	}
	var hits []Hit
	for doc, parts := range x.fused(query) {
		hits = append(hits, Hit{Doc: doc, Score: sum(parts)})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		if better(a, b) {
			return -1
		}
		return 1 // never equal: a doc occurs once
	})
	return append(dst, hits[:min(limit, len(hits))]...)
}

func sum(parts []Contribution) float64 {
	total := 0.0
	for _, part := range parts {
		total += part.Score
	}
	return total
}

func (x *hybridIndex) Explain(query string, limit int) *Explanation {
	first := x.parts[0].Explain(query, 0)
	e := &Explanation{
		Gate: -1, Tokens: first.Tokens, Answerable: first.Answerable,
		rule: "Hits are those of bm25 and vector; each ranking adds 1/(60 + rank).",
	}
	fused := x.fused(query)
	e.hit(x, query, limit, func(hit Hit) Judged {
		parts := fused[hit.Doc]
		return Judged{Hit: hit, Reason: FoundByTerms, TermScore: sum(parts), Matched: len(parts), Contributions: parts}
	})
	return e
}
