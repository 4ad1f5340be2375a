package search

import (
	"cmp"
	"slices"
)

// A large catalog has a few terms that stand in a great part of its tools, and that hardly tell one tool from another. A plain
// search spends most of its time on adding their small contributions up. Pruning leaves that out for every tool that
// cannot be a hit whatever they add, after the idea of Turtle and Flood's MaxScore (1995).
//
// Preparing it takes the time that a few hundred searches save, so an index that is made for a session and searched a few
// times does without.
const (
	defaultPrunedDocsMin     = 1000
	defaultPrunedSearchesMin = 200
	// columnShare gives a term a column if more than one doc in that many holds it.
	columnShare = 8
	// prunedTokensMax bounds the query, and with it what rounding can do to a sum: far less than roundingSlack, which
	// is relative too.
	prunedTokensMax = 1000
	roundingSlack   = 1e-9
)

// pruning is what an index prepares for it.
type pruning struct {
	index   *bm25Index
	reaches []reach // by term
}

// reach is what pruning must know of one term.
type reach struct {
	idf    float64
	bound  float64   // its largest contribution to any doc
	column []float64 // of a common term: the contributions by doc, 0 where the doc lacks it
}

// pending is one token of a query in the order of pruning: the largest bounds first.
type pending struct {
	term  uint32
	bound float64
	open  float64 // the sum of the bounds from this token on
}

// pruned returns the index's pruning, and prepares it if it is due; nil means to search without.
func (x *bm25Index) pruned() *pruning {
	if len(x.catalog) < x.retriever.prunedDocsMin {
		return nil
	}
	if p := x.pruning.Load(); p != nil {
		return p
	}
	if x.searches.Add(1) <= x.retriever.prunedSearchesMin {
		return nil
	}
	x.prepare.Do(func() { x.pruning.Store(newPruning(x)) })
	return x.pruning.Load()
}

func newPruning(x *bm25Index) *pruning {
	p := &pruning{index: x, reaches: make([]reach, len(x.starts)-1)}
	for term := range p.reaches {
		postings := x.postingsOf(uint32(term))
		reach := &p.reaches[term]
		reach.idf = x.idf(len(postings))
		if len(postings) > len(x.catalog)/columnShare {
			reach.column = make([]float64, len(x.catalog))
		}
		for _, place := range postings {
			cell := x.cells[place]
			contribution := cell.contribution(reach.idf)
			reach.bound = max(reach.bound, contribution)
			if reach.column != nil {
				reach.column[cell.doc] = contribution
			}
		}
	}
	return p
}

// score leaves in s.candidates docs among which are the limit best, with the same scores, bit for bit, as adding
// every token up in the order of the query.
//
// It adds tokens up, the strongest first, until the rest together cannot lift a doc from nothing to the limit-th best sum:
// from there on only docs that have a sum are candidates. The rest is added to candidates alone, and those that fell
// out of reach are dropped. Sums serve for dropping only, as their order is not the query's: what is left is scored anew.
func (p *pruning) score(s *scratch, limit int) {
	p.orderPending(s)
	least, next := p.gather(s, limit)
	for ; next < len(s.pending); next++ {
		s.keep(least - s.pending[next].open)
		p.addToCandidates(s, s.pending[next].term)
	}
	if len(s.candidates) > limit {
		s.keep(s.reached(s.candidates, limit, s.pending[0].open))
	}
	p.scoreCandidates(s)
}

// orderPending fills s.pending from s.terms.
func (p *pruning) orderPending(s *scratch) {
	s.pending = s.pending[:0]
	for _, term := range s.terms {
		s.pending = append(s.pending, pending{term: term, bound: p.reaches[term].bound})
	}
	slices.SortFunc(s.pending, func(a, b pending) int { return cmp.Compare(b.bound, a.bound) })
	open := 0.0
	for i := range slices.Backward(s.pending) {
		open += s.pending[i].bound
		s.pending[i].open = open
	}
}

// gather adds pending tokens up until no new doc can become a hit. It makes the docs that have a sum candidates, and returns
// the sum that a hit must reach, and the first token not added.
func (p *pruning) gather(s *scratch, limit int) (least float64, next int) {
	added := 0.0
	for ; next < len(s.pending); next++ {
		// No sum exceeds added, so until that exceeds the rest there is nothing to test.
		token := s.pending[next]
		if added > token.open && s.touchedCount >= limit {
			if least = s.reached(s.touched[:s.touchedCount], limit, added); least > token.open {
				break
			}
		}
		added += token.bound
		s.add(p.index.postingsOf(token.term), p.index.cells, p.reaches[token.term].idf)
	}
	s.candidates = append(s.candidates[:0], s.touched[:s.touchedCount]...)
	return least, next
}

// addToCandidates adds one term to every candidate.
func (p *pruning) addToCandidates(s *scratch, term uint32) {
	reach := p.reaches[term]
	if reach.column != nil {
		for _, doc := range s.candidates {
			s.scores[doc] += reach.column[doc]
		}
		return
	}
	for _, place := range p.index.postingsOf(term) {
		if cell := p.index.cells[place]; s.scores[cell.doc] > 0 {
			s.scores[cell.doc] += cell.contribution(reach.idf)
		}
	}
}

// scoreCandidates leaves the scores of the candidates in s.exact, whose other elements it spoils.
func (p *pruning) scoreCandidates(s *scratch) {
	exact := s.exact
	for _, doc := range s.candidates {
		exact[doc] = 0
	}
	for _, term := range s.terms {
		reach := p.reaches[term]
		if reach.column != nil {
			for _, doc := range s.candidates {
				exact[doc] += reach.column[doc]
			}
			continue
		}
		for _, place := range p.index.postingsOf(term) {
			cell := p.index.cells[place]
			exact[cell.doc] += cell.contribution(reach.idf)
		}
	}
}
