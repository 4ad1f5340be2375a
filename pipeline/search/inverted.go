package search

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
)

// lexicon is what a retriever of terms keeps from one tool, index and search to the next.
type lexicon struct {
	vocabulary vocabulary
	counters   sync.Pool // of *[]uint32, all zero
	scratches  sync.Pool // of *scratch
}

// init prepares the lexicon. A nil stemmer leaves words as they stand.
func (l *lexicon) init(stems *stemmer) {
	l.vocabulary.ids = make(map[string]uint32)
	l.vocabulary.stems = stems
	l.counters.New = func() any { return new([]uint32) }
	l.scratches.New = func() any { return new(scratch) }
}

// countTexts counts the terms of one tool in the texts that are its index text.
func (l *lexicon) countTexts(terms *Terms, parameters []string, texts ...string) {
	ids := make([]uint32, 0, 64)
	for _, text := range texts {
		ids = l.vocabulary.appendIDs(ids, text)
	}
	for _, parameter := range parameters {
		ids = l.vocabulary.appendIDs(ids, parameter)
	}
	terms.length = len(ids)
	terms.counts, terms.frequencies = countTerms(ids)
}

// inverted is an inverted index of one catalog. Term i, in the order of ids, owns the postings from starts[i] to starts[i+1], ascending by
// doc. A posting is the place of a cell.
type inverted struct {
	lexicon    *lexicon
	catalog    []*Terms
	meanLength float64 // tokens in a doc, at least 1
	present    []termBlock
	starts     []uint32
	postings   []uint32
	cells      []cell
}

// termBlock says which of 64 consecutive term ids occur in the catalog, and how many lower ids do: a term's place
// is found by counting bits, in a hundredth of the memory that a table over the whole vocabulary would take.
type termBlock struct {
	bits  uint64
	below uint32
}

// cell is what all terms of one frequency in one doc have in common: their contribution without the idf.
type cell struct {
	part      float64
	doc       uint32
	frequency uint32
}

// contribution is what a term of some idf adds to the score of the cell's doc.
func (c cell) contribution(idf float64) float64 { return float64(idf * c.part) }

// newInverted joins the tools of a catalog, all analysed by the owner of the lexicon.
func newInverted(owner Retriever, l *lexicon, catalog []*Terms) inverted {
	x := inverted{lexicon: l, catalog: slices.Clone(catalog)}
	counters := l.counters.Get().(*[]uint32)
	defer l.counters.Put(counters)
	size := l.vocabulary.size()
	if len(*counters) < size {
		*counters = make([]uint32, size+size/4)
	}
	next := (*counters)[:size]
	x.countDocs(owner, next)
	x.placePostings(next)
	x.fillPostings(next)
	return x
}

// countDocs makes the cells, leaves each term's document frequency in df, and notes which terms are present.
func (x *inverted) countDocs(owner Retriever, df []uint32) {
	tokens, cells := 0, 0
	for _, terms := range x.catalog {
		checkOwner(owner, terms)
		tokens += terms.length
		cells += len(terms.frequencies)
	}
	x.meanLength = max(float64(tokens)/float64(max(len(x.catalog), 1)), 1)
	x.cells = make([]cell, 0, cells)
	x.present = make([]termBlock, (len(df)+63)/64)
	for doc, terms := range x.catalog {
		norm := x.norm(terms)
		for _, frequency := range terms.frequencies {
			tf := float64(frequency)
			x.cells = append(x.cells, cell{part: float64(tf*2.5) / (tf + norm), doc: uint32(doc), frequency: frequency})
		}
		for _, term := range terms.counts {
			df[term.id]++
			x.present[term.id/64].bits |= 1 << (term.id % 64)
		}
	}
}

// placePostings replaces each document frequency by the start of the term's postings.
func (x *inverted) placePostings(next []uint32) {
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
func (x *inverted) fillPostings(next []uint32) {
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

// norm is the share of a doc's length in the denominator of its contributions.
func (x *inverted) norm(terms *Terms) float64 {
	return float64(1.5 * (0.25 + float64(0.75*float64(terms.length))/x.meanLength))
}

// idf is the weight of a term that occurs in df docs.
func (x *inverted) idf(df int) float64 {
	return ln(1 + (float64(len(x.catalog)-df)+0.5)/(float64(df)+0.5))
}

func (x *inverted) Len() int { return len(x.catalog) }

// lookUp fills s.terms with those tokens of the query that the catalog holds, in order and with repetitions, and returns the
// number of all its tokens.
func (x *inverted) lookUp(s *scratch, query string) (tokens int) {
	s.ids, tokens = x.lexicon.vocabulary.appendKnownIDs(s.ids[:0], query)
	s.terms = s.terms[:0]
	for _, id := range s.ids {
		if term, ok := x.term(id); ok {
			s.terms = append(s.terms, term)
		}
	}
	return tokens
}

// term returns the place of a term among those of the catalog.
func (x *inverted) term(id uint32) (term uint32, ok bool) {
	if int(id/64) >= len(x.present) { // first seen after the index was made
		return 0, false
	}
	block, bit := x.present[id/64], uint64(1)<<(id%64)
	return block.below + uint32(bits.OnesCount64(block.bits&(bit-1))), block.bits&bit != 0
}

// postingsOf returns the places of the cells of those docs that hold a term.
func (x *inverted) postingsOf(term uint32) []uint32 {
	return x.postings[x.starts[term]:x.starts[term+1]]
}

// cellOf returns the cell that a term has in a doc, of frequency 0 if the doc lacks the term.
func (x *inverted) cellOf(postings []uint32, doc int) cell {
	at, ok := slices.BinarySearchFunc(postings, uint32(doc), func(place, doc uint32) int { return cmp.Compare(x.cells[place].doc, doc) })
	if !ok {
		return cell{}
	}
	return x.cells[postings[at]]
}
