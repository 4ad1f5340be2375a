// Package search ranks deferred tools for a query. It is what answers tool_search: a tool that it does not find is, for a
// model without a listing, a tool that does not exist.
//
// The steps, in order: Retriever.Analyze turns one tool into term statistics; Retriever.Index joins the statistics of
// exactly one catalog; Index.Search ranks within that catalog. The first step is the dear one and depends on the tool
// alone, so callers keep its result by content and share it between catalogs. The second is cheap enough to be
// repeated at every assembly, so that a catalog never outlives the definitions that it was derived from.
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
}

// Terms holds the term statistics of one Doc. It belongs to the retriever that made it, does not change, and may stand
// in any number of catalogs, several times in one catalog included.
type Terms struct {
	name        string      // lower-cased, for the substring fallback
	counts      []termCount // distinct terms, ascending by id
	frequencies []uint32    // the different counts that terms have in this tool
	length      int         // tokens, repetitions included
	vocabulary  *vocabulary // gives the ids of counts their meaning
}

// Hit is one ranked tool.
type Hit struct {
	Doc   int     // position in the catalog
	Score float64 // above 0; comparable within one result only
}

// Contribution is what one query token adds to the score of one tool.
type Contribution struct {
	Token string
	Score float64 // 0 when the tool lacks the token
}

// Retriever is one way of ranking tools.
type Retriever interface {
	// Name is the name that New knows the retriever by.
	Name() string
	// Analyze does the work that depends on one tool alone. The retriever remembers every distinct term that it
	// has analysed, so its memory grows with the vocabulary of its tools and not with their number.
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
	// and a query without tokens give none.
	Search(dst []Hit, query string, limit int) []Hit
	// Explain returns what each token of the query, in query order and with repetitions, adds to the score of one
	// tool; adding them up from the left gives the score of the tool's hit exactly. A tool outside the catalog, and
	// one found by its name as a substring only, has contributions of 0.
	Explain(query string, doc int) []Contribution
}

// Names lists the retrievers that New knows, sorted.
func Names() []string { return []string{bm25Name} }

// New returns a fresh retriever. Workers that share one contend for its vocabulary, so each worker does best with its
// own. An unknown name is an error that names the nearest known one.
func New(name string) (Retriever, error) {
	if name == bm25Name {
		return newBM25(), nil
	}
	return nil, fmt.Errorf("unknown retriever %q\nhint: %s", name, nearest.Hint(name, Names()))
}
