package conformance

import (
	"encoding/json"
	"slices"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// found is July's tool_search result as a model reads it.
type found struct {
	Query          string  `json:"query"`
	TotalAvailable int     `json:"total_available"`
	Matches        []match `json:"matches"`
}

type match struct {
	Name        string `json:"name"`
	Source      string `json:"source"`
	SourceName  string `json:"source_name"`
	Description string `json:"description"`
}

// foundSeveral is September's.
type foundSeveral struct {
	Queries        []string        `json:"queries"`
	TotalAvailable int             `json:"total_available"`
	Results        []foundGroup    `json:"results"`
	Tools          []rawjson.Field `json:"tools"`
}

type foundGroup struct {
	Query            string          `json:"query"`
	Matches          []string        `json:"matches"`
	AvailableSources json.RawMessage `json:"available_sources,omitempty"`
	Hint             json.RawMessage `json:"hint,omitempty"`
}

func (s *stage) checkSearch(t *tally, path string, want searchWant) {
	result, _ := s.scope.ToolSearch(arguments(want.Request))
	var c comparison
	c.equal(path+".error", want.Error, result.Failed)
	switch {
	case result.Failed || want.Error:
	case s.vector.Variant == bridge.September:
		compareFoundSeveral(&c, path, want, result.Text)
	default:
		compareFound(&c, path, want, result.Text)
	}
	if want.Error {
		s.compareRefused(&c, path, want)
	}
	s.compareReading(&c, path, want, query(want.Request))
	t.decide("search", c)

	if want.BM25 != nil {
		c = nil
		s.compareScores(&c, path+".bm25", *want.BM25, query(want.Request))
		t.decide("bm25", c)
	}
}

// compareRefused holds what else a refusal's vector says: there is a catalog, and nothing of it was found.
func (s *stage) compareRefused(c *comparison, path string, want searchWant) {
	if want.TotalAvailable != nil {
		c.equal(path+".total_available", *want.TotalAvailable, s.scope.Len())
	}
	if want.Matches != nil {
		c.names(path+".matches", *want.Matches, nil)
	}
	if want.Sources != nil {
		c.equal(path+".sources", append([][]string{}, *want.Sources...), [][]string{})
	}
}

func compareFound(c *comparison, path string, want searchWant, text string) {
	var got found
	var reader strict
	reader.decode(path, json.RawMessage(text), &got)
	if len(reader.faults) > 0 {
		*c = append(*c, reader.faults...)
		return
	}
	names, sources := []string{}, [][]string{}
	for _, m := range got.Matches {
		names = append(names, m.Name)
		sources = append(sources, []string{m.Source, m.SourceName})
	}
	c.equal(path+".total_available", *want.TotalAvailable, got.TotalAvailable)
	c.names(path+".matches", *want.Matches, names)
	c.equal(path+".sources", append([][]string{}, *want.Sources...), sources)
}

// compareFoundSeveral compares the result of one query. Every match is told of under tools as well.
func compareFoundSeveral(c *comparison, path string, want searchWant, text string) {
	var got foundSeveral
	var reader strict
	reader.decode(path, json.RawMessage(text), &got)
	if len(reader.faults) > 0 {
		*c = append(*c, reader.faults...)
		return
	}
	c.equal(path+".total_available", *want.TotalAvailable, got.TotalAvailable)
	if len(got.Results) != 1 {
		c.fault(path, "%d results for one query", len(got.Results))
		return
	}
	c.names(path+".matches", *want.Matches, got.Results[0].Matches)
	var told []string
	for _, f := range got.Tools {
		told = append(told, f.Key)
	}
	c.names(path+".tools", *want.Matches, told)
}

// compareReading compares what the retriever reads in a query, and by which rules it lets tools pass: nothing, where the
// vector has no tokens.
func (s *stage) compareReading(c *comparison, path string, want searchWant, query string) {
	if s.vector.Variant != bridge.September || want.Error {
		return
	}
	got := s.scope.Index().Explain(query, 0)
	if want.Tokens == nil {
		c.names(path+".tokens", nil, tokens(got))
		return
	}
	c.names(path+".tokens", *want.Tokens, tokens(got))
	var gate *string
	if got.Gate >= 0 {
		gate = &got.Tokens[got.Gate].Text
	}
	c.equal(path+".gate", want.Gate, gate)
	c.names(path+".answerable", *want.Answerable, got.Answerable)
	c.equal(path+".required_terms", want.RequiredTerms, got.Required)
}

// tokens are a query's tokens as the index looks them up, in order.
func tokens(e *search.Explanation) []string {
	tokens := make([]string, len(e.Tokens))
	for i, t := range e.Tokens {
		tokens[i] = t.Text
	}
	return tokens
}

// compareScores compares every positive score by terms of the index, of hits and of what the variant's rules turn away.
func (s *stage) compareScores(c *comparison, path string, want []rawjson.Field, query string) {
	scores, order := s.scores(query)
	seen := make(map[string]bool, len(want))
	for _, w := range want {
		seen[w.Key] = true
		var score float64
		if err := json.Unmarshal(w.Value, &score); err != nil {
			c.fault(join(path, w.Key), "is no number")
			continue
		}
		// Of tools with one name the vector can hold one score only.
		if !slices.ContainsFunc(scores[w.Key], func(got float64) bool { return isClose(score, got) }) {
			*c = append(*c, Difference{Path: join(path, w.Key), Want: w.Value, Got: firstScore(scores[w.Key])})
		}
	}
	for _, name := range order {
		if !seen[name] {
			*c = append(*c, Difference{Path: join(path, name), Want: show(nil), Got: firstScore(scores[name])})
		}
	}
}

// scores has the positive scores by the name of the tool, and the names in order.
func (s *stage) scores(query string) (scores map[string][]float64, order []string) {
	scores = make(map[string][]float64)
	index := s.scope.Index()
	explained := index.Explain(query, index.Len())
	for _, tool := range slices.Concat(explained.Hits, explained.Rejected) {
		if tool.TermScore == 0 { // found by its name
			continue
		}
		name := s.scope.Tools()[tool.Doc].Name
		if scores[name] == nil {
			order = append(order, name)
		}
		scores[name] = append(scores[name], tool.TermScore)
	}
	return scores, order
}

func firstScore(scores []float64) json.RawMessage {
	if len(scores) == 0 {
		return show(nil)
	}
	return show(scores[0])
}

// query is a request's one query as the retriever gets it; what is no text has none.
func query(r searchRequest) string {
	raw := r.Query
	if r.Queries != nil {
		raw = r.Queries
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}
