// Package survey says what a corpus is made of: how many tools of how many
// servers, what they take in tokens and where, which names meet, how well tools
// are found by their own words; and what changed between two corpora.
//
// The steps: NewRetrieval puts all tools that can be deferred into one catalog,
// the hardest there is, and asks for tools with the intents derived from them;
// Measure counts; Compare lays two corpora side by side.
//
// What it promises: results depend on the corpora alone. Tokens are exact: those
// of the tools sum to those of their array.
package survey

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// SchemaVersion is that of the JSON forms of Stats and Diff.
const SchemaVersion = 1

// Tokenizer is the name of the one that tokens are counted with.
const Tokenizer = "o200k_base"

// Top is the last rank at which a tool counts as found: as many hits as
// tool_search gives unless it is asked for more.
const Top = 5

// Retrieval searches all tools of a corpus that can be deferred, as tool_search
// would for a session that has all of them. One goroutine at a time may use it.
type Retrieval struct {
	scope *bridge.Scope
	ids   map[string]string // by model-visible name
}

// Hit is one tool found.
type Hit struct {
	ID    string // the tool's
	Score float64
}

// NewRetrieval indexes a corpus. retriever is one of search.Names.
func NewRetrieval(c *corpus.Corpus, retriever string) (*Retrieval, error) {
	ranks, err := search.New(retriever)
	if err != nil {
		return nil, err
	}
	r := &Retrieval{ids: make(map[string]string)}
	toolsets := make(catalog)
	var definitions []*registry.Definition
	for _, t := range c.Deferrable() {
		r.ids[t.Definition.Name] = t.ID
		toolsets[t.Definition.Name] = t.Toolset
		definitions = append(definitions, t.Definition)
	}
	slices.SortFunc(definitions, func(a, b *registry.Definition) int { return cmp.Compare(a.Name, b.Name) })
	b := bridge.New(bridge.Options{Core: c.Toolsets.IsCore, Catalog: toolsets, Retriever: ranks})
	r.scope = b.Scope(definitions, bridge.DefaultConfig())
	return r, nil
}

// catalog is the toolset of each tool, by model-visible name.
type catalog map[string]string

// Toolset returns where a tool registers.
func (c catalog) Toolset(name string) (string, bool) {
	toolset, ok := c[name]
	return toolset, ok
}

// Len is the number of tools searched.
func (r *Retrieval) Len() int { return r.scope.Len() }

// Has reports whether a tool is among those searched.
func (r *Retrieval) Has(t *corpus.Tool) bool { return r.scope.Has(t.Definition.Name) }

// Search returns at most limit hits for a query, best first.
func (r *Retrieval) Search(query string, limit int) (hits []Hit) {
	for _, m := range r.scope.Search(query, limit) {
		hits = append(hits, Hit{r.ids[m.Tool.Name], m.Score})
	}
	return hits
}

// Ask searches for a tool with its derived intent. It is false for a tool that has
// no derived intent, is built in, or is not among those searched.
func (r *Retrieval) Ask(t *corpus.Tool, limit int) (hits []Hit, asked bool) {
	in, ok := t.DerivedIntent()
	if !ok || t.Builtin || !r.Has(t) {
		return nil, false
	}
	return r.Search(in.Utterance, limit), true
}

// Rank is the rank of a tool among hits, from 1; 0 if it is not there.
func Rank(id string, hits []Hit) int {
	return 1 + slices.IndexFunc(hits, func(h Hit) bool { return h.ID == id })
}

// EvenlySpread returns at most n of the items, as far apart as can be, in their
// order.
func EvenlySpread[T any](items []T, n int) []T {
	if len(items) <= n {
		return items
	}
	picked := make([]T, n)
	for i := range picked {
		picked[i] = items[i*len(items)/n]
	}
	return picked
}

// A tool's entry in the tools array is counted from behind its `{"` to behind the
// next one's: the word type follows, where tokens.SeamExact proves that no token
// crosses. So counts sum to that of the array.
const (
	entryOpen = `{"`
	arrayHead = `[` + entryOpen
	between   = `,` + entryOpen
	arrayTail = `]`
)

// arrayTokens are the tokens of an array of tools.
func arrayTokens(c *tokens.Counter, tools []*corpus.Tool) int {
	if len(tools) == 0 {
		return c.Count("[]")
	}
	sum := c.Measure(arrayHead)
	for i, t := range tools {
		tail := between
		if i == len(tools)-1 {
			tail = arrayTail
		}
		sum += c.Measure(t.Definition.JSON[len(entryOpen):] + tail)
	}
	return c.Tokens(sum)
}

// toolTokens are the tokens of a tool's entry with another behind it.
func toolTokens(c *tokens.Counter, t *corpus.Tool) int {
	return c.Count(t.Definition.JSON[len(entryOpen):] + between)
}

// OneLine is a text with a blank for each control character, so that a name which
// holds some breaks no line and no table of those that people read.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
