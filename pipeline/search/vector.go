package search

import (
	"math"
	"slices"
	"unicode"
)

const (
	vectorName = "vector"
	// gramRunes is the length of the letter groups that words are cut into.
	gramRunes = 3
	// wordMark stands before a whole word among features, so that no word is taken for a group of letters.
	wordMark = '='
)

// vector ranks by the angle between query and tool. Their features are the words of any script, lower-cased, and the groups
// of three characters in each word, the blanks at its ends included, so that inflected, compound and misspelt words still
// meet. A tool's text is its name, description and top-level parameter names.
//
//	w(t, d)     = (1 + ln tf) · idf(t)
//	idf(t)      = 1 + ln((1 + N)/(1 + df))
//	score(q, d) = Σ over features t of w(t, q)·w(t, d) / (|w(q)| · |w(d)|)
//
// It is the cosine of the two weight vectors, at most 1 (rounding aside). Every tool that shares a feature with the query
// is a hit; ties stand in catalog order.
type vector struct {
	lexicon lexicon
}

func newVector() *vector {
	r := &vector{}
	r.lexicon.init(nil)
	return r
}

func (r *vector) Name() string { return vectorName }

func (r *vector) Analyze(doc *Doc) *Terms {
	features := appendFeatures(appendFeatures(nil, doc.Name), doc.Description)
	for _, parameter := range doc.Parameters {
		features = appendFeatures(features, parameter)
	}
	terms := &Terms{owner: r, length: len(features)}
	terms.counts, terms.frequencies = countTerms(r.lexicon.vocabulary.number(features))
	return terms
}

func (r *vector) Index(catalog []*Terms) Index {
	x := &vectorIndex{inverted: newInverted(r, &r.lexicon, catalog)}
	x.idfs = make([]float64, len(x.starts)-1)
	for term := range x.idfs {
		x.idfs[term] = x.smoothIDF(len(x.postingsOf(uint32(term))))
	}
	x.normalise()
	return x
}

// vectorIndex is an inverted index whose cells hold (1 + ln tf)/|w(d)|.
type vectorIndex struct {
	inverted
	idfs []float64 // by term
}

// smoothIDF is the weight of a feature that df tools have; one that none has weighs most.
func (x *vectorIndex) smoothIDF(df int) float64 {
	return 1 + ln(float64(1+len(x.catalog))/float64(1+df))
}

// normalise sets the cells.
func (x *vectorIndex) normalise() {
	first := 0
	for _, terms := range x.catalog {
		cells := x.cells[first : first+len(terms.frequencies)]
		first += len(cells)
		for i := range cells {
			cells[i].part = dampened(cells[i].frequency)
		}
		sum := 0.0
		for _, term := range terms.counts {
			place, _ := x.term(term.id)
			w := cells[term.level].contribution(x.idfs[place])
			sum += float64(w * w)
		}
		for i := range cells {
			cells[i].part /= math.Sqrt(sum)
		}
	}
}

// dampened is 1 + ln of a count, so that a word said ten times does not weigh ten times as much.
func dampened(count uint32) float64 { return 1 + ln(float64(count)) }

// weighed is one feature of a query.
type weighed struct {
	feature string
	df      int
	idf     float64
	// weight is w(t, q)/|w(q)|; times the idf and the part of a cell it is what the feature adds to a score.
	weight   float64
	postings []uint32 // empty if the catalog lacks the feature
}

// weigh takes a query apart: its distinct features in the order of their first appearance.
func (x *vectorIndex) weigh(query string) []weighed {
	var list []weighed
	counts := make(map[string]uint32)
	for _, feature := range appendFeatures(nil, query) {
		counts[feature]++
		if counts[feature] == 1 {
			postings := x.postingsOfToken(feature)
			list = append(list, weighed{feature: feature, df: len(postings), idf: x.smoothIDF(len(postings)), postings: postings})
		}
	}
	sum := 0.0
	for i := range list {
		list[i].weight = float64(dampened(counts[list[i].feature]) * list[i].idf)
		sum += float64(list[i].weight * list[i].weight)
	}
	for i := range list {
		list[i].weight /= math.Sqrt(sum)
	}
	return list
}

func (x *vectorIndex) Search(dst []Hit, query string, limit int) []Hit {
	if limit <= 0 || len(x.catalog) == 0 {
		return dst
	}
	s := x.lexicon.scratches.Get().(*scratch)
	defer x.lexicon.scratches.Put(s)
	s.begin(len(x.catalog))
	for _, w := range x.weigh(query) {
		s.add(w.postings, x.cells, float64(w.weight*w.idf))
	}
	dst = appendBest(dst, s.touched[:s.touchedCount], s.scores, limit)
	s.end()
	return dst
}

func (x *vectorIndex) Explain(query string, limit int) *Explanation {
	e := &Explanation{Gate: -1, rule: "Every tool that shares a word, or three characters of a word, with the query is a hit."}
	list := x.weigh(query)
	for _, w := range list {
		e.Tokens = append(e.Tokens, Token{Text: w.feature, DF: w.df, IDF: w.idf})
		if w.df > 0 {
			e.Answerable = append(e.Answerable, w.feature)
		}
	}
	slices.Sort(e.Answerable)
	if len(list) == 0 {
		e.Problem = noWord
	}
	e.hit(x, query, limit, func(hit Hit) Judged {
		j := Judged{Hit: hit, Reason: FoundByTerms}
		for _, w := range list {
			if c := x.cellOf(w.postings, hit.Doc); c.frequency > 0 {
				part := Contribution{Token: w.feature, Score: c.contribution(float64(w.weight * w.idf))}
				j.Contributions = append(j.Contributions, part)
				j.TermScore += part.Score
				j.Matched++
			}
		}
		return j
	})
	return e
}

// noWord is the problem of a query without features.
const noWord = "the query holds no word, which is a run of letters and digits"

// appendFeatures appends the features of a text: for each word the word itself, marked, and then its groups of
// characters.
func appendFeatures(dst []string, text string) []string {
	var word []rune
	flush := func() {
		if len(word) == 0 {
			return
		}
		dst = append(dst, string(wordMark)+string(word))
		padded := append(append([]rune{' '}, word...), ' ')
		for i := 0; i+gramRunes <= len(padded); i++ {
			dst = append(dst, string(padded[i:i+gramRunes]))
		}
		word = word[:0]
	}
	for _, r := range lower(text) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			word = append(word, r)
		} else {
			flush()
		}
	}
	flush()
	return dst
}
