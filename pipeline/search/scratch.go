package search

// scratch is what one search needs beside its result. It is kept from one search to the next, whatever their catalogs.
type scratch struct {
	ids   []uint32 // of the query's tokens, in the vocabulary
	terms []uint32 // of the query's tokens, in the catalog

	scores       []float64 // by doc, all zero between searches
	touched      []uint32  // the first touchedCount are the docs whose score is not zero, in no order
	touchedCount int

	candidates []uint32  // the docs that may be hits, in no order
	exact      []float64 // by doc; of candidates alone it means anything

	// For pruning only.
	pending   []pending // the query's tokens, the strongest first
	histogram [histogramBins]uint32

	// For gates only.
	asked   []asked  // the query's tokens, in order and with repetitions
	order   []uint64 // their terms and, below, positions, sorted
	matched []uint32 // by doc: the distinct tokens held; of candidates alone it means anything
}

const histogramBins = 256

// begin makes room for the scores of a catalog.
func (s *scratch) begin(docs int) {
	if len(s.scores) < docs {
		s.scores = make([]float64, docs)
		s.exact = make([]float64, docs)
		s.touched = make([]uint32, docs+1) // add writes one past the last
	}
	s.touchedCount = 0
}

// end clears the scores.
func (s *scratch) end() {
	for _, doc := range s.touched[:s.touchedCount] {
		s.scores[doc] = 0
	}
}

// add adds the contributions of one token, which are above 0.
func (s *scratch) add(postings []uint32, cells []cell, idf float64) {
	scores, touched, count := s.scores, s.touched, s.touchedCount
	for _, place := range postings {
		cell := cells[place]
		touched[count] = cell.doc // stays if the doc is new; a branch would be mispredicted too often
		score := scores[cell.doc]
		if score == 0 {
			count++
		}
		scores[cell.doc] = score + cell.contribution(idf)
	}
	s.touchedCount = count
}

// reached returns a lower bound, close to it, of the limit-th best score of docs, of which there must be that many. No score
// may exceed most, rounding aside.
//
// A histogram finds it in one pass without comparing scores, which a processor could not predict.
func (s *scratch) reached(docs []uint32, limit int, most float64) float64 {
	clear(s.histogram[:])
	scale := (histogramBins - 1) / most
	for _, doc := range docs {
		s.histogram[uint8(s.scores[doc]*scale)]++
	}
	bin, above := histogramBins, 0
	for above < limit {
		bin--
		above += int(s.histogram[bin])
	}
	return float64(bin) / scale * (1 - roundingSlack)
}

// keep keeps the candidates whose score is at least so much.
func (s *scratch) keep(least float64) {
	candidates, scores, count := s.candidates, s.scores, 0
	for _, doc := range candidates {
		candidates[count] = doc
		if scores[doc] >= least {
			count++
		}
	}
	s.candidates = candidates[:count]
}
