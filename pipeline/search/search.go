// Package search ranks deferred tools for a query. It is what answers tool_search: a tool that it does not find is, for a
// model without a listing, a tool that does not exist.
//
// Its retrievers are bm25, bm25-gated (which stems words, and would rather find nothing than something unlikely), substring
// and regex. The first two rank by terms, over one kind of inverted index; the others read names and descriptions.
//
// The steps, in order: Retriever.Analyze turns one tool into what the retriever needs of it, such as term statistics;
// Retriever.Index joins the tools of exactly one catalog; Index.Search ranks within that catalog, and Index.Explain says
// why. The first step is the dear one and depends on the tool alone, so callers keep its result by content and share it
// between catalogs. The second is cheap enough to be repeated at every assembly, so that a catalog never outlives the
// definitions that it was derived from.
//
// A retriever promises that its hits depend on the catalog, its order and the query, and on nothing else: the same
// scores to the last bit on every CPU, ties in catalog order, whatever was analysed, indexed or searched before.
// Retrievers and indexes are safe for concurrent use, and what an index answers never changes.
package search

import (
	"fmt"

	"github.com/toolgauge/toolgauge/internal/nearest"
)

// Doc is what a retriever may see of one deferred tool. Schema bodies are left out on purpose: they would drown the few
// words that say what the tool does.
type Doc struct {
	Name        string
	Description string
	Parameters  []string // top-level parameter names, in declaration order
	// Source is the label of the server or plugin that owns the tool; empty if
	// nobody does. Not every retriever reads it.
	Source string
}

// Terms holds what a retriever keeps of one Doc. It belongs to the retriever that made it, does not change, and may stand
// in any number of catalogs, several times in one catalog included.
type Terms struct {
	owner       Retriever
	name        string      // as the retriever compares it: some in lower case
	text        string      // what is searched beside the name, of retrievers that read texts
	counts      []termCount // distinct terms, ascending by id
	frequencies []uint32    // the different counts that terms have in this tool
	length      int         // tokens, repetitions included
	parts       []*Terms    // of a retriever that joins others, one of each
}

// Hit is one ranked tool.
type Hit struct {
	Doc   int     // position in the catalog
	Score float64 // above 0 and finite; comparable within one result only
}

// Retriever is one way of ranking tools.
type Retriever interface {
	// Name is the name that New knows the retriever by.
	Name() string
	// Analyze does the work that depends on one tool alone. A retriever of terms remembers every distinct term that
	// it has analysed, so its memory grows with the vocabulary of its tools and not with their number.
	Analyze(doc *Doc) *Terms
	// Index prepares searching within exactly this catalog, whose order breaks ties. It panics if an element is nil
	// or was analysed by another retriever. The slice may be reused afterwards.
	Index(catalog []*Terms) Index
}

// Index ranks the tools of one catalog.
type Index interface {
	// Len is the number of tools in the catalog.
	Len() int
	// Search appends at most limit hits to dst, best first, and returns the extended slice. A limit of 0 or less
	// and a blank query give none.
	Search(dst []Hit, query string, limit int) []Hit
	// Explain says what Search does with the same query and limit, and why. It may take far longer.
	Explain(query string, limit int) *Explanation
}

// constructors has the retrievers by name, sorted.
func constructors() []constructor {
	return []constructor{
		{bm25Name, func() Retriever { return newBM25() }},
		{gatedName, func() Retriever { return newGated() }},
		{hybridName, func() Retriever { return newHybrid() }},
		{regexName, func() Retriever { return newRegex() }},
		{substringName, func() Retriever { return newSubstring() }},
		{vectorName, func() Retriever { return newVector() }},
	}
}

type constructor struct {
	name string
	make func() Retriever
}

// Names lists the retrievers that New knows, sorted.
func Names() (names []string) {
	for _, c := range constructors() {
		names = append(names, c.name)
	}
	return names
}

// New returns a fresh retriever. Workers that share one contend for its vocabulary, so each worker does best with its
// own. An unknown name is an error that names the nearest known one.
func New(name string) (Retriever, error) {
	for _, c := range constructors() {
		if c.name == name {
			return c.make(), nil
		}
	}
	return nil, fmt.Errorf("unknown retriever %q\nhint: %s", name, nearest.Hint(name, Names()))
}

// checkOwner panics unless a tool was analysed by the owner.
func checkOwner(owner Retriever, terms *Terms) {
	if terms == nil || terms.owner != owner {
		panic("search: the catalog holds terms that another retriever analysed")
	}
}
