package search

import (
	"math/bits"
	"slices"
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
	vocabulary vocabulary
	counters   sync.Pool // of *[]uint32, all zero
	scratches  sync.Pool // of *scratch

	prunedDocsMin     int   // smaller catalogs are not pruned
	prunedSearchesMin int64 // nor are an index's first so many searches
}

func newBM25() *bm25 {
	r := &bm25{prunedDocsMin: defaultPrunedDocsMin, prunedSearchesMin: defaultPrunedSearchesMin}
	r.vocabulary.ids = make(map[string]uint32)
	r.counters.New = func() any { return new([]uint32) }
	r.scratches.New = func() any { return new(scratch) }
	return r
}

func (r *bm25) Name() string { return bm25Name }

func (r *bm25) Analyze(doc *Doc) *Terms {
	ids := r.vocabulary.appendIDs(make([]uint32, 0, 64), doc.Name)
	ids = r.vocabulary.appendIDs(ids, doc.Description)
	for _, parameter := range doc.Parameters {
		ids = r.vocabulary.appendIDs(ids, parameter)
	}
	terms := &Terms{name: lower(doc.Name), length: len(ids), vocabulary: &r.vocabulary}
	terms.counts, terms.frequencies = countTerms(ids)
	return terms
}

// bm25Index is an inverted index. Term i, in the order of ids, owns the postings from starts[i] to starts[i+1], ascending by
// doc. A posting is the place of a cell.
type bm25Index struct {
	retriever *bm25
	catalog   []*Terms
	present   []termBlock
	starts    []uint32
	postings  []uint32
	cells     []cell

	searches atomic.Int64
	prepare  sync.Once
	pruning  atomic.Pointer[pruning]
}

// termBlock says which of 64 consecutive term ids occur in the catalog, and how many lower ids do: a term's place
// is found by counting bits, in a hundredth of the memory that a table over the whole vocabulary would take.
type termBlock struct {
	bits  uint64
	below uint32
}

// cell is what all terms of one frequency in one doc have in common: their contribution without the idf.
type cell struct {
	part float64
	doc  uint32
}

// contribution is what a term of some idf adds to the score of the cell's doc.
func (c cell) contribution(idf float64) float64 { return float64(idf * c.part) }

func (r *bm25) Index(catalog []*Terms) Index {
	x := &bm25Index{retriever: r, catalog: slices.Clone(catalog)}
	counters := r.counters.Get().(*[]uint32)
	defer r.counters.Put(counters)
	size := r.vocabulary.size()
	if len(*counters) < size {
		*counters = make([]uint32, size+size/4)
	}
	next := (*counters)[:size]
	x.countDocs(next)
	x.placePostings(next)
	x.fillPostings(next)
	return x
}

// countDocs makes the cells, leaves each term's document frequency in df, and notes which terms are present.
func (x *bm25Index) countDocs(df []uint32) {
	tokens, cells := 0, 0
	for _, terms := range x.catalog {
		if terms == nil || terms.vocabulary != &x.retriever.vocabulary {
			panic("search: the catalog holds terms that another retriever analysed")
		}
		tokens += terms.length
		cells += len(terms.frequencies)
	}
	meanLength := max(float64(tokens)/float64(max(len(x.catalog), 1)), 1)
	x.cells = make([]cell, 0, cells)
	x.present = make([]termBlock, (len(df)+63)/64)
	for doc, terms := range x.catalog {
		norm := float64(1.5 * (0.25 + float64(0.75*float64(terms.length))/meanLength))
		for _, frequency := range terms.frequencies {
			tf := float64(frequency)
			x.cells = append(x.cells, cell{part: float64(tf*2.5) / (tf + norm), doc: uint32(doc)})
		}
		for _, term := range terms.counts {
			df[term.id]++
			x.present[term.id/64].bits |= 1 << (term.id % 64)
		}
	}
}

// placePostings replaces each document frequency by the start of the term's postings.
func (x *bm25Index) placePostings(next []uint32) {
	distinct := uint32(0)
	for i := range x.present {
		x.present[i].below = distinct
		distinct += uint32(bits.OnesCount64(x.present[i].bits))
	}
	x.starts = make([]uint32, 0, distinct+1)
	sum := uint32(0)
	for i, block := range x.present {
		for set := block.bits; set != 0; set &= set - 1 {
			id := i*64 + bits.TrailingZeros64(set)
			x.starts = append(x.starts, sum)
			next[id], sum = sum, sum+next[id]
		}
	}
	x.starts = append(x.starts, sum)
	x.postings = make([]uint32, sum)
}

// fillPostings writes the postings of every term in catalog order, and leaves next all zero.
func (x *bm25Index) fillPostings(next []uint32) {
	first := uint32(0) // of the doc's cells
	for _, terms := range x.catalog {
		for _, term := range terms.counts {
			at := next[term.id]
			next[term.id] = at + 1
			x.postings[at] = first + term.level
		}
		first += uint32(len(terms.frequencies))
	}
	for i, block := range x.present {
		for set := block.bits; set != 0; set &= set - 1 {
			next[i*64+bits.TrailingZeros64(set)] = 0
		}
	}
}

// idf is the weight of a term that occurs in df docs.
func (x *bm25Index) idf(df int) float64 {
	return ln(1 + (float64(len(x.catalog)-df)+0.5)/(float64(df)+0.5))
}

func (x *bm25Index) Len() int { return len(x.catalog) }

func (x *bm25Index) Search(dst []Hit, query string, limit int) []Hit {
	if limit <= 0 || len(x.catalog) == 0 {
		return dst
	}
	s := x.retriever.scratches.Get().(*scratch)
	defer x.retriever.scratches.Put(s)
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

// lookUp fills s.terms with those tokens of the query that the catalog holds, in order and with repetitions, and returns the
// number of all its tokens.
func (x *bm25Index) lookUp(s *scratch, query string) (tokens int) {
	s.ids, tokens = x.retriever.vocabulary.appendKnownIDs(s.ids[:0], query)
	s.terms = s.terms[:0]
	for _, id := range s.ids {
		if term, ok := x.term(id); ok {
			s.terms = append(s.terms, term)
		}
	}
	return tokens
}

// term returns the place of a term among those of the catalog.
func (x *bm25Index) term(id uint32) (term uint32, ok bool) {
	if int(id/64) >= len(x.present) { // first seen after the index was made
		return 0, false
	}
	block, bit := x.present[id/64], uint64(1)<<(id%64)
	return block.below + uint32(bits.OnesCount64(block.bits&(bit-1))), block.bits&bit != 0
}

// postingsOf returns the places of the cells of those docs that hold a term.
func (x *bm25Index) postingsOf(term uint32) []uint32 {
	return x.postings[x.starts[term]:x.starts[term+1]]
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

func (x *bm25Index) Explain(query string, doc int) []Contribution {
	tokens := Tokenize(query)
	explained := make([]Contribution, len(tokens))
	for i, token := range tokens {
		explained[i].Token = token
		if doc < 0 || doc >= len(x.catalog) {
			continue
		}
		ids, _ := x.retriever.vocabulary.appendKnownIDs(nil, token)
		for _, id := range ids {
			if term, ok := x.term(id); ok {
				explained[i].Score = x.contribution(term, uint32(doc))
			}
		}
	}
	return explained
}

// contribution is what a term adds to the score of one doc, 0 if the doc lacks it.
func (x *bm25Index) contribution(term, doc uint32) float64 {
	postings := x.postingsOf(term)
	for _, place := range postings {
		if x.cells[place].doc == doc {
			return x.cells[place].contribution(x.idf(len(postings)))
		}
	}
	return 0
}
