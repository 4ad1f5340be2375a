// Package eval asks retrievers the queries of labelled sets, and says which of them finds the right tools and how sure that
// is.
//
// The steps, in order:
//
//  1. [Read] recognises a labelled set by its content: those that corpus reads, TREC qrels, and corpora. [FromCorpus] takes a corpus that is there already.
//  2. [Set.Search] lets a retriever rank the set's tools for each query; [Set.ReadRun] takes the ranking of another program.
//  3. [Set.Judge] lays a ranking beside the judgements, in trec_eval's arithmetic, query by query.
//  4. [Evaluate] does this for all retrievers, sums up with intervals, compares them pair by pair, and asks again among
//     distractors; [Write] puts all of it into a folder that other programs read.
//
// It holds that a mean says little about fifty queries unless its interval stands beside it, and that two means do not say
// which retriever is better: the same queries, compared one by one, do.
//
// It promises that the same set and retrievers give the same bytes, and that what trec_eval makes of an exported ranking is
// what stands here, query by query.
package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// Tool is one tool that a query may be asked of.
type Tool struct {
	ID   string // unique in its set: what judgements and rankings name
	Name string // as its owner calls it
	Doc  search.Doc
}

// Query is one query and its judgements.
type Query = corpus.Query

// Set is a labelled set.
type Set struct {
	Name string
	// Format is what Read recognised: one of the Format constants here or of corpus.
	Format string
	// Tools stand in the order in which a session has them, by model-visible name. There are none of a set of bare qrels.
	Tools []Tool
	// Queries stand in the order of their file.
	Queries []Query
	// Notes tell what reading decided on its own, one sentence each.
	Notes []string
}

// The formats that Read recognises beside those of corpus.
const (
	FormatQrels  = "qrels"
	FormatCorpus = "corpus"
	// FormatDerived is a corpus without intents of its own: the queries are sentences of its descriptions, which are easier
	// to find than what users say.
	FormatDerived = "derived"
)

// EmbeddedName is the name that Read knows the embedded corpus by.
const EmbeddedName = "embedded"

// Judged is the number of queries that a tool serves.
func (s *Set) Judged() int { return len(s.Queries) - s.AbsentQueries() }

// AbsentQueries is the number of queries that no tool serves.
func (s *Set) AbsentQueries() int {
	n := 0
	for i := range s.Queries {
		if s.Queries[i].Absent() {
			n++
		}
	}
	return n
}

// FromCorpus makes a set of the name of a corpus: its intents, asked of all tools that the bridge can defer. Golds that are always
// visible are not judged, and an intent that has no others is left out. A corpus without intents is asked derived ones.
func FromCorpus(name string, c *corpus.Corpus) *Set {
	s := &Set{Name: name, Format: FormatCorpus}
	if len(c.Intents) == 0 {
		c = c.WithDerived()
		s.Format = FormatDerived
		s.note("the queries of %s are sentences of its own descriptions, which are easier to find than what users say", name)
	}
	for _, t := range c.Deferrable() {
		s.Tools = append(s.Tools, corpusTool(t))
	}
	sortTools(s.Tools)
	known := make(map[string]bool, len(s.Tools))
	for i := range s.Tools {
		known[s.Tools[i].ID] = true
	}
	dropped, left := 0, 0
	for _, in := range c.Intents {
		q := Query{ID: in.ID, Text: in.Utterance, Class: string(in.Class), Grades: make(map[string]int)}
		for _, gold := range in.Gold {
			if known[gold.Tool] {
				q.Grades[gold.Tool] = 1
			} else {
				dropped++
			}
		}
		if len(in.Gold) > 0 && q.Absent() {
			left++
			continue
		}
		s.Queries = append(s.Queries, q)
	}
	if dropped > 0 {
		s.note("golds of %s that are always visible and not judged: %d; queries left out because all of theirs are: %d", name, dropped, left)
	}
	return s
}

func corpusTool(t *corpus.Tool) Tool {
	d := t.Definition
	return Tool{ID: t.ID, Name: t.Name, Doc: search.Doc{
		Name: d.Name, Description: d.Description, Parameters: d.Properties, Source: strings.TrimPrefix(t.Toolset, "mcp-"),
	}}
}

func sortTools(tools []Tool) {
	slices.SortFunc(tools, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(a.Doc.Name, b.Doc.Name), cmp.Compare(a.ID, b.ID))
	})
}

func (s *Set) note(format string, values ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, values...))
}
