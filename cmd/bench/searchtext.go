package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// searched is what bench search prints.
type searched struct {
	Query       string          `json:"query"`
	Corpus      string          `json:"corpus"`
	PoolTools   int             `json:"pool_tools"`
	PoolSources int             `json:"pool_sources"`
	Limit       int             `json:"limit"`
	Retrievers  []retrieverText `json:"retrievers"`
}

// retrieverText is an explanation with the names of its tools.
type retrieverText struct {
	Retriever       string       `json:"retriever"`
	Rule            string       `json:"rule"`
	Problem         string       `json:"problem"`
	Tokens          []tokenText  `json:"tokens"`
	Gate            *string      `json:"gate"`
	Answerable      []string     `json:"answerable"`
	Required        int          `json:"required"`
	Fallback        bool         `json:"fallback"`
	Found           int          `json:"found"`
	Hits            []judgedText `json:"hits"`
	RejectedByGate  int          `json:"rejected_by_gate"`
	RejectedByFloor int          `json:"rejected_by_floor"`
	Rejected        []judgedText `json:"rejected"`
}

type tokenText struct {
	Token string  `json:"token"`
	Tools int     `json:"tools"`
	IDF   float64 `json:"idf"`
}

type judgedText struct {
	Rank          int                `json:"rank"` // from 1; 0 of a tool that was turned away
	Tool          string             `json:"tool"`
	Score         float64            `json:"score"`
	Reason        search.Reason      `json:"reason"`
	TermScore     float64            `json:"term_score"`
	Matched       int                `json:"matched"`
	Contributions []contributionText `json:"contributions"`
}

type contributionText struct {
	Token string  `json:"token"`
	Score float64 `json:"score"`
}

// add adds a retriever's explanation.
func (s *searched) add(retriever string, tools []*registry.Definition, e *search.Explanation) {
	r := retrieverText{
		Retriever: retriever, Rule: e.Rule(), Problem: e.Problem, Tokens: []tokenText{}, Answerable: append([]string{}, e.Answerable...),
		Required: e.Required, Fallback: e.Fallback, Found: e.Found, Hits: []judgedText{},
		RejectedByGate: e.RejectedByGate, RejectedByFloor: e.RejectedByFloor, Rejected: []judgedText{},
	}
	for _, token := range e.Tokens {
		r.Tokens = append(r.Tokens, tokenText{Token: token.Text, Tools: token.DF, IDF: token.IDF})
	}
	if e.Gate >= 0 {
		r.Gate = &e.Tokens[e.Gate].Text
	}
	for i, judged := range e.Hits {
		r.Hits = append(r.Hits, newJudgedText(i+1, tools, judged))
	}
	for _, judged := range e.Rejected {
		r.Rejected = append(r.Rejected, newJudgedText(0, tools, judged))
	}
	s.Retrievers = append(s.Retrievers, r)
}

func newJudgedText(rank int, tools []*registry.Definition, j search.Judged) judgedText {
	text := judgedText{
		Rank: rank, Tool: tools[j.Doc].Name, Score: j.Score, Reason: j.Reason, TermScore: j.TermScore, Matched: j.Matched,
		Contributions: []contributionText{},
	}
	for _, part := range j.Contributions {
		text.Contributions = append(text.Contributions, contributionText(part))
	}
	return text
}

// writeText lays the explanations out for a terminal: one block a retriever, and of several a table of their ranks.
func (s *searched) writeText(w io.Writer) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "Query %q in %s of %s (corpus %s).\n", s.Query, numerals.Of(s.PoolTools, "tool"), numerals.Of(s.PoolSources, "source"), s.Corpus)
	for _, r := range s.Retrievers {
		text.WriteByte('\n')
		r.writeTo(&text)
	}
	if len(s.Retrievers) > 1 {
		text.WriteString("\nRANKS AND SCORES, side by side (–: not among the tools shown)\n")
		s.writeRanks(&text)
	}
	_, err := w.Write(text.Bytes())
	return err
}

func (r *retrieverText) writeTo(text *bytes.Buffer) {
	fmt.Fprintf(text, "%s: %s found", strings.ToUpper(r.Retriever), numerals.Of(r.Found, "tool"))
	if len(r.Hits) < r.Found {
		fmt.Fprintf(text, ", the first %d shown", len(r.Hits))
	}
	fmt.Fprintf(text, "\n  %s\n", r.Rule)
	if len(r.Tokens) > 0 {
		var tokens []string
		for _, token := range r.Tokens {
			tokens = append(tokens, fmt.Sprintf("%s (in %s, idf %.4f)", token.Token, numerals.Of(token.Tools, "tool"), token.IDF))
		}
		fmt.Fprintf(text, "  Tokens: %s.\n", strings.Join(tokens, ", "))
	}
	t := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	for _, hit := range r.Hits {
		fmt.Fprintf(t, "  %3d\t%s\t%s\t%s\n", hit.Rank, scoreText(hit.Score), hit.Tool, hit.why())
	}
	if len(r.Rejected) > 0 {
		_ = t.Flush() // into memory
		fmt.Fprintf(text, "  Turned away, by what they would have scored (%d of %d):\n", len(r.Rejected), r.RejectedByGate+r.RejectedByFloor)
	}
	for _, rejected := range r.Rejected {
		fmt.Fprintf(t, "    –\t%s\t%s\t%s\n", rejected.Reason, rejected.Tool, rejected.why())
	}
	_ = t.Flush() // into memory
}

// why says what a tool's score is made of.
func (j *judgedText) why() string {
	switch j.Reason {
	case search.FoundByName, search.FoundByFallback:
		return "by its name"
	case search.FoundByDescription:
		return "by its description"
	}
	parts := make([]string, len(j.Contributions))
	for i, part := range j.Contributions {
		parts[i] = fmt.Sprintf("%s %.4f", part.Token, part.Score)
	}
	return strings.Join(parts, " + ")
}

// scoreText is a score as people read it.
func scoreText(score float64) string {
	if score == search.ExactScore {
		return "exact"
	}
	return fmt.Sprintf("%.4f", score)
}

// writeRanks writes a row for each tool that any retriever shows as a hit.
func (s *searched) writeRanks(text *bytes.Buffer) {
	t := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "  ")
	for _, r := range s.Retrievers {
		fmt.Fprintf(t, "%s\t", r.Retriever)
	}
	fmt.Fprintln(t, "tool")
	shown := make(map[string]bool)
	for _, r := range s.Retrievers {
		for _, hit := range r.Hits {
			if shown[hit.Tool] {
				continue
			}
			shown[hit.Tool] = true
			fmt.Fprint(t, "  ")
			for _, other := range s.Retrievers {
				fmt.Fprintf(t, "%s\t", other.place(hit.Tool))
			}
			fmt.Fprintln(t, hit.Tool)
		}
	}
	_ = t.Flush() // into memory
}

// place is where a tool stands with a retriever, as far as is shown.
func (r *retrieverText) place(tool string) string {
	for _, hit := range r.Hits {
		if hit.Tool == tool {
			return fmt.Sprintf("%d. %s", hit.Rank, scoreText(hit.Score))
		}
	}
	for _, rejected := range r.Rejected {
		if rejected.Tool == tool {
			return string(rejected.Reason)
		}
	}
	return "–"
}
