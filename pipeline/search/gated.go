package search

import (
	"math"
	"slices"
	"strings"
)

const (
	gatedName = "bm25-gated"
	// mcpNamePrefix starts the model-visible name of every MCP server's tools; it tells them apart from nothing.
	mcpNamePrefix = "mcp__"
	// coverageTermsMin is how many answerable terms a query has at least for its hits to have to match half of them.
	coverageTermsMin = 4
	// columnsDocsMin is the size from which on a catalog has columns; making them takes longer than they save in a few
	// searches of a smaller one.
	columnsDocsMin = 1000
)

// ExactScore is the score of a tool whose name is the query. It stands for infinity, which JSON cannot express: no sum of
// contributions comes near it.
const ExactScore = math.MaxFloat64

// gated is BM25 that would rather find nothing than something unlikely. It differs from bm25 in these rules:
//
//   - Words count by their English stems, in tools and queries alike.
//   - The index text is the name without a leading "mcp__", the description, the parameter names, and the label of the
//     tool's source, unless that is a word of the text already.
//   - The gate: a hit must hold the token of the query with the highest idf, the first of equals. A token that the catalog
//     lacks has the highest of all, so a query with one finds nothing.
//   - The floor: if the catalog holds 4 or more distinct tokens of the query, a hit must hold half of these, rounded up.
//   - A tool whose name is the query, to the letter, is a hit whatever gate and floor say, and the first.
//   - There is no fallback.
//   - The products of the formula associate otherwise, which can differ in the last bit: (idf·tf)·2.5 / (tf + …).
type gated struct {
	lexicon lexicon
}

func newGated() *gated {
	r := &gated{}
	r.lexicon.init(newStemmer())
	return r
}

func (r *gated) Name() string { return gatedName }

func (r *gated) Analyze(doc *Doc) *Terms {
	terms := &Terms{owner: r, name: doc.Name}
	name, source := strings.TrimPrefix(doc.Name, mcpNamePrefix), doc.Source
	if source != "" && holdsWord(source, append([]string{name, doc.Description}, doc.Parameters...)) {
		source = ""
	}
	r.lexicon.countTexts(terms, doc.Parameters, name, doc.Description, source)
	return terms
}

// holdsWord reports whether one of the texts holds a word, letter case aside.
func holdsWord(word string, texts []string) bool {
	word = strings.ToLower(word)
	for _, text := range texts {
		if slices.Contains(Tokenize(text), word) {
			return true
		}
	}
	return false
}

func (r *gated) Index(catalog []*Terms) Index {
	x := &gatedIndex{inverted: newInverted(r, &r.lexicon, catalog)}
	x.names, x.norms = make([]string, len(catalog)), make([]float64, len(catalog))
	for doc, terms := range catalog {
		x.names[doc], x.norms[doc] = terms.name, x.norm(terms)
	}
	if len(catalog) >= columnsDocsMin {
		x.makeColumns()
	}
	return x
}

// gatedIndex ranks the docs that hold the gate.
type gatedIndex struct {
	inverted
	names []string  // by doc
	norms []float64 // by doc
	// columns have, by term, the frequencies by doc of a common term, so that searches need not pass all its postings. Nil
	// in a small catalog.
	columns [][]uint32
}

func (x *gatedIndex) makeColumns() {
	x.columns = make([][]uint32, len(x.starts)-1)
	for term := range x.columns {
		postings := x.postingsOf(uint32(term))
		if len(postings) <= len(x.catalog)/columnShare {
			continue
		}
		column := make([]uint32, len(x.catalog))
		for _, place := range postings {
			column[x.cells[place].doc] = x.cells[place].frequency
		}
		x.columns[term] = column
	}
}

// asked is one token of a query that the catalog holds.
type asked struct {
	term     uint32
	postings []uint32
	idf      float64
	fresh    uint32 // 1, or 0 if the token stands further left in the query too
}

func (x *gatedIndex) Search(dst []Hit, query string, limit int) []Hit {
	if limit <= 0 || len(x.catalog) == 0 || query == "" {
		return dst
	}
	s := x.lexicon.scratches.Get().(*scratch)
	defer x.lexicon.scratches.Put(s)
	s.begin(len(x.catalog))
	s.candidates = s.candidates[:0]
	if tokens := x.lookUp(s, query); tokens > 0 && tokens == len(s.terms) {
		gate, required := x.ask(s)
		for _, place := range s.asked[gate].postings {
			s.candidates = append(s.candidates, x.cells[place].doc)
		}
		x.score(s)
		s.candidates = slices.DeleteFunc(s.candidates, func(doc uint32) bool { return s.matched[doc] < required || x.names[doc] == query })
	}
	for doc, name := range x.names {
		if name == query {
			s.exact[doc] = ExactScore
			s.candidates = append(s.candidates, uint32(doc))
		}
	}
	return appendBest(dst, s.candidates, s.exact, limit)
}

// ask fills s.asked from s.terms, and returns the gate and the floor.
func (x *gatedIndex) ask(s *scratch) (gate int, required uint32) {
	s.asked, s.order = s.asked[:0], s.order[:0]
	for i, term := range s.terms {
		postings := x.postingsOf(term)
		s.asked = append(s.asked, asked{term: term, postings: postings, idf: x.idf(len(postings)), fresh: 1})
		s.order = append(s.order, uint64(term)<<32|uint64(i))
		if len(postings) < len(s.asked[gate].postings) {
			gate = i
		}
	}
	slices.Sort(s.order)
	distinct := len(s.order)
	for i := 1; i < len(s.order); i++ {
		if s.order[i]>>32 == s.order[i-1]>>32 {
			s.asked[uint32(s.order[i])].fresh = 0
			distinct--
		}
	}
	return gate, uint32(floor(distinct))
}

// floor is how many of a query's distinct answerable tokens a hit must hold.
func floor(answerable int) int {
	if answerable < coverageTermsMin {
		return 1
	}
	return (answerable + 1) / 2
}

// score adds the contributions to each candidate up in s.exact, in the order of the query, and counts the distinct tokens that
// it holds in s.matched. It spoils what both hold of other docs.
func (x *gatedIndex) score(s *scratch) {
	if len(s.matched) < len(x.catalog) {
		s.matched = make([]uint32, len(s.exact))
	}
	for _, doc := range s.candidates {
		s.exact[doc], s.matched[doc] = 0, 0
	}
	for i := range s.asked {
		token := &s.asked[i]
		if x.columns != nil && x.columns[token.term] != nil {
			column := x.columns[token.term]
			for _, doc := range s.candidates {
				x.add(s, token, doc, column[doc])
			}
			continue
		}
		for _, place := range token.postings {
			x.add(s, token, x.cells[place].doc, x.cells[place].frequency)
		}
	}
}

// add adds what a token contributes to a doc, nothing if its frequency is 0. A branch would be mispredicted too often.
func (x *gatedIndex) add(s *scratch, token *asked, doc, frequency uint32) {
	s.exact[doc] += gatedContribution(token.idf, frequency, x.norms[doc])
	s.matched[doc] += token.fresh * min(frequency, 1)
}

func gatedContribution(idf float64, frequency uint32, norm float64) float64 {
	tf := float64(frequency)
	return float64(float64(idf*tf)*2.5) / (tf + norm)
}

func (x *gatedIndex) Explain(query string, limit int) *Explanation {
	e := x.explain(query)
	e.Required = floor(len(e.Answerable))
	for i, token := range e.Tokens {
		if e.Gate < 0 || token.DF < e.Tokens[e.Gate].DF {
			e.Gate = i
		}
	}
	judge := func(hit Hit, reason Reason) Judged {
		j := Judged{Hit: hit, Reason: reason}
		x.contributions(&j, e, func(c cell, idf float64) float64 { return gatedContribution(idf, c.frequency, x.norms[c.doc]) })
		return j
	}
	e.hit(x, query, limit, func(hit Hit) Judged {
		if x.names[hit.Doc] == query {
			return judge(hit, FoundByExactName)
		}
		return judge(hit, FoundByTerms)
	})
	x.reject(e, query, limit, judge)
	return e
}

// reject fills in the tools that hold a token of the query and are no hits.
func (x *gatedIndex) reject(e *Explanation, query string, limit int, judge func(Hit, Reason) Judged) {
	if len(e.Answerable) == 0 {
		return
	}
	s := new(scratch)
	s.begin(len(x.catalog))
	x.lookUp(s, query)
	x.ask(s)
	for doc := range x.catalog {
		s.candidates = append(s.candidates, uint32(doc))
	}
	x.score(s)
	gate := x.postingsOfToken(e.Tokens[e.Gate].Text)
	var rejected []Hit
	reasons := make(map[int]Reason)
	for doc, name := range x.names {
		switch {
		case s.matched[doc] == 0 || name == query:
			continue
		case x.cellOf(gate, doc).frequency == 0:
			e.RejectedByGate++
			reasons[doc] = RejectedByGate
		case int(s.matched[doc]) < e.Required:
			e.RejectedByFloor++
			reasons[doc] = RejectedByFloor
		default:
			continue
		}
		rejected = append(rejected, Hit{Doc: doc, Score: s.exact[doc]})
	}
	slices.SortFunc(rejected, compareHits)
	for _, hit := range rejected[:min(max(limit, 0), len(rejected))] {
		e.Rejected = append(e.Rejected, judge(Hit{Doc: hit.Doc}, reasons[hit.Doc]))
	}
}
