package search

import (
	"fmt"
	"slices"
)

// Explanation says what a search did with a query, and why.
type Explanation struct {
	// Tokens are what the retriever reads in the query, in order and with repetitions; a retriever that reads the query
	// as a whole has none.
	Tokens []Token
	// Gate is the position in Tokens of the token that a hit must hold, and -1 if there is no such rule.
	Gate int
	// Answerable are the distinct tokens that the catalog holds, sorted.
	Answerable []string
	// Required is how many of them a hit must hold: the floor. 0 if tokens decide nothing.
	Required int
	// Fallback tells that no token was answerable, so that names were searched for the whole query.
	Fallback bool
	// Problem says what is wrong with the query, so that nothing but an exact name can be found; empty if nothing is.
	Problem string

	// Hits are those of a search with the same query and limit, and Found is how many there are without a limit.
	Hits  []Judged
	Found int
	// Rejected are tools that hold a token of the query and are no hits, the best by TermScore first, as many as the limit
	// lets through. RejectedByGate and RejectedByFloor count all of them.
	Rejected        []Judged
	RejectedByGate  int
	RejectedByFloor int

	rule string // of a retriever that always follows the same
}

// Token is one token of a query.
type Token struct {
	Text string  // as it is looked up: lower-cased and, where the retriever does so, stemmed
	DF   int     // tools of the catalog that hold it
	IDF  float64 // its weight
}

// Judged is a tool with the reason why it is a hit or is none.
type Judged struct {
	Hit    // of a rejected tool, the score is 0
	Reason Reason
	// TermScore is the sum of the contributions, added up from the left. It is the score unless the reason gives another.
	TermScore float64
	// Matched is how many of the answerable tokens the tool holds, or how many of the joined rankings hold it.
	Matched int
	// Contributions are those of the query's tokens that the tool holds, in the order of the query and with
	// repetitions.
	Contributions []Contribution
}

// Contribution is what one token of a query adds to the score of one tool.
type Contribution struct {
	Token string
	Score float64 // above 0
}

// Reason is why a tool is a hit or is none.
type Reason string

// The reasons.
const (
	FoundByTerms       Reason = "terms"       // it holds tokens of the query
	FoundByExactName   Reason = "exact name"  // the query is its name
	FoundByFallback    Reason = "fallback"    // its name contains the query, and nothing holds a token of it
	FoundByName        Reason = "name"        // the query is found in its name
	FoundByDescription Reason = "description" // the query is found in its description only
	RejectedByGate     Reason = "gate"        // it lacks the query's most telling token
	RejectedByFloor    Reason = "floor"       // it holds too few tokens of the query
)

// Rule says in one sentence by which rule tools became hits, or none did.
func (e *Explanation) Rule() string {
	exact := len(e.Hits) > 0 && e.Hits[0].Reason == FoundByExactName
	switch {
	case e.Problem != "" && exact:
		return "The one tool with exactly this name is found; there is nothing else to find, as " + e.Problem + "."
	case e.Problem != "":
		return "Nothing is found: " + e.Problem + "."
	case e.rule != "":
		return e.rule
	case e.Fallback && e.Found == 0:
		return "No tool holds a token of the query, and no name contains the whole query (fallback)."
	case e.Fallback:
		return "No tool holds a token of the query, so the hits are the tools whose name contains the whole query (fallback)."
	case e.Required == 0 && e.Found == 0:
		return "No name and no description matches."
	case e.Required == 0:
		return "Tools whose name matches come first, then those whose description does; both in catalog order."
	case e.Gate < 0: // a token is answerable, or else names were searched
		return "Every tool that holds a token of the query is a hit."
	}
	return e.gateRule(exact)
}

// gateRule words what gate and floor did.
func (e *Explanation) gateRule(exact bool) string {
	gate := e.Tokens[e.Gate]
	var text string
	if gate.DF == 0 {
		text = fmt.Sprintf("No tool holds the gate %q, so none passes (%s with other tokens turned away)", gate.Text, counted(e.RejectedByGate))
	} else {
		text = fmt.Sprintf("A hit must hold the gate %q, which the fewest tools hold (%s without it turned away)", gate.Text, counted(e.RejectedByGate))
		if e.Required > 1 {
			text += fmt.Sprintf(", and %d of the %d answerable tokens (floor: %s with fewer turned away)", e.Required, len(e.Answerable), counted(e.RejectedByFloor))
		}
	}
	if exact {
		text += "; the tool with exactly this name passes all the same"
	}
	return text + "."
}

func counted(tools int) string {
	switch tools {
	case 0:
		return "none"
	case 1:
		return "1 tool"
	}
	return fmt.Sprintf("%d tools", tools)
}

// explain begins an explanation with what the catalog knows of the query's tokens.
func (x *inverted) explain(query string) *Explanation {
	e := &Explanation{Gate: -1, Required: 1}
	for _, text := range x.lexicon.vocabulary.tokens(query) {
		df := len(x.postingsOfToken(text))
		e.Tokens = append(e.Tokens, Token{Text: text, DF: df, IDF: x.idf(df)})
		if df > 0 {
			e.Answerable = append(e.Answerable, text)
		}
	}
	slices.Sort(e.Answerable)
	e.Answerable = slices.Compact(e.Answerable)
	if len(e.Tokens) == 0 {
		e.Problem = noToken
	}
	return e
}

// hit fills in the hits of a search, each as judge sees it.
func (e *Explanation) hit(x Index, query string, limit int, judge func(Hit) Judged) {
	hits := x.Search(nil, query, x.Len())
	e.Found = len(hits)
	for _, hit := range hits[:min(max(limit, 0), len(hits))] {
		e.Hits = append(e.Hits, judge(hit))
	}
}

// postingsOfToken returns the postings of a token of an explanation.
func (x *inverted) postingsOfToken(text string) []uint32 {
	if id, ok := x.lexicon.vocabulary.id(text); ok {
		if term, ok := x.term(id); ok {
			return x.postingsOf(term)
		}
	}
	return nil
}

// contributions fills in what each token of the query adds to the score of a tool by a formula.
func (x *inverted) contributions(j *Judged, e *Explanation, formula func(c cell, idf float64) float64) {
	matched := make(map[string]bool)
	for _, token := range e.Tokens {
		c := x.cellOf(x.postingsOfToken(token.Text), j.Doc)
		if c.frequency == 0 {
			continue
		}
		matched[token.Text] = true
		part := Contribution{Token: token.Text, Score: formula(c, token.IDF)}
		j.Contributions = append(j.Contributions, part)
		j.TermScore += part.Score
	}
	j.Matched = len(matched)
}
