package search

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	substringName = "substring"
	regexName     = "regex"

	nameScore        = 2.0 // of a hit by its name
	descriptionScore = 1.0 // of a hit by its description only

	// patternRunesMax is the length in characters of the longest pattern that is tried.
	patternRunesMax = 200
	// patternStepsMax bounds what a pattern can do at one character of a text: repetition counts multiply, so that a short
	// pattern can stand for a very long one.
	patternStepsMax = 1000
)

// The problems of a query that has nothing to search for.
const (
	noToken    = "the query holds no token, which is a run of ASCII letters and digits"
	blankQuery = "the query is blank"
)

// scan ranks by reading the tools one after the other: those whose name matches the query, then those whose description
// does, both in catalog order. It has no terms, so it knows no better and worse within the two.
type scan struct {
	name string
	// texts are what is read of a tool: the name, and a text tried after it.
	texts func(doc *Doc) (name, text string)
	// matcher returns what matches the query, or the problem that it has.
	matcher func(query string) (matches func(text string) bool, problem string)
}

// newSubstring returns the retriever of the tools whose name or description contains the query, letter case aside.
func newSubstring() *scan {
	return &scan{
		name:  substringName,
		texts: func(doc *Doc) (name, text string) { return lower(doc.Name), lower(doc.Description) },
		matcher: func(query string) (func(string) bool, string) {
			query = lower(query)
			return func(text string) bool { return strings.Contains(text, query) }, ""
		},
	}
}

// newRegex returns the retriever of the tools that match the query as a pattern (RE2 syntax, letter case aside): in the
// name, or in the name, a space and the description.
func newRegex() *scan {
	return &scan{
		name:    regexName,
		texts:   func(doc *Doc) (name, text string) { return doc.Name, doc.Name + " " + doc.Description },
		matcher: compilePattern,
	}
}

func (r *scan) Name() string { return r.name }

func (r *scan) Analyze(doc *Doc) *Terms {
	name, text := r.texts(doc)
	return &Terms{owner: r, name: name, text: text}
}

func (r *scan) Index(catalog []*Terms) Index {
	for _, terms := range catalog {
		checkOwner(r, terms)
	}
	return &scanIndex{retriever: r, catalog: slices.Clone(catalog)}
}

type scanIndex struct {
	retriever *scan
	catalog   []*Terms
}

func (x *scanIndex) Len() int { return len(x.catalog) }

func (x *scanIndex) Search(dst []Hit, query string, limit int) []Hit {
	if limit <= 0 || len(x.catalog) == 0 {
		return dst
	}
	matches, problem := x.matcher(query)
	if problem != "" {
		return dst
	}
	var others []Hit // found by their description
	for doc, terms := range x.catalog {
		if limit == 0 {
			return dst
		}
		if matches(terms.name) {
			dst = append(dst, Hit{Doc: doc, Score: nameScore})
			limit--
		} else if len(others) < limit && matches(terms.text) {
			others = append(others, Hit{Doc: doc, Score: descriptionScore})
		}
	}
	return append(dst, others[:min(limit, len(others))]...)
}

func (x *scanIndex) matcher(query string) (matches func(text string) bool, problem string) {
	if strings.TrimSpace(query) == "" {
		return nil, blankQuery
	}
	return x.retriever.matcher(query)
}

func (x *scanIndex) Explain(query string, limit int) *Explanation {
	e := &Explanation{Gate: -1}
	_, e.Problem = x.matcher(query)
	e.hit(x, query, limit, func(hit Hit) Judged {
		if hit.Score == nameScore {
			return Judged{Hit: hit, Reason: FoundByName}
		}
		return Judged{Hit: hit, Reason: FoundByDescription}
	})
	return e
}

// compilePattern returns what matches a pattern, or what is wrong with it.
func compilePattern(pattern string) (matches func(text string) bool, problem string) {
	if n := utf8.RuneCountInString(pattern); n > patternRunesMax {
		return nil, fmt.Sprintf("the pattern has %d characters, and at most %d are allowed", n, patternRunesMax)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil, "the pattern cannot be read: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	if steps(parsed) > patternStepsMax {
		return nil, fmt.Sprintf("the pattern repeats too much: written out, it has more than %d parts", patternStepsMax)
	}
	compiled, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, "the pattern cannot be read: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	return compiled.MatchString, ""
}

// steps counts the parts of a pattern with its repetitions written out.
func steps(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}
