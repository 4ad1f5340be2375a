// Package bridge keeps deferred tools off the table and within reach.
//
// Given the definitions that a session may use, it splits them into the core,
// which always stays visible, and the deferrable rest (tools of MCP servers and
// plugins). If any tool is deferrable it replaces all of them with three tools
// of its own: tool_search finds a tool, tool_describe returns its schema,
// tool_call runs it. A listing of the deferred tools, cut to a budget, goes into
// tool_search's description, because a model that cannot see what it lacks
// makes do with the wrong tool or says that it cannot help.
//
// The steps: ParseConfig reads the settings and clamps them; Bridge.Assemble
// splits, lists and returns the surface; Bridge.Scope answers the three tools
// for a session. A Scope holds exactly the deferrable tools of the definitions
// it was made from: nothing outside them can be found, described or called
// through it, and it is made anew whenever the definitions are read.
package bridge

import (
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// mcpPrefix starts the toolset name of every MCP server's tools.
const mcpPrefix = "mcp-"

// runesPerToken is the estimator of all budgets: code points per token, on the
// low side on purpose.
const runesPerToken = 4

// estimate turns code points into estimated tokens, rounded up.
func estimate(runes int) int { return (runes + runesPerToken - 1) / runesPerToken }

// Catalog tells which toolset holds a tool; the registry does.
type Catalog interface {
	Toolset(name string) (string, bool)
}

// Options sets up a Bridge.
type Options struct {
	// Core reports whether a tool never defers. Required.
	Core func(name string) bool
	// Catalog knows the registered tools. Required.
	Catalog Catalog
	// Retriever ranks tools for tool_search. Required.
	Retriever search.Retriever
	// Memo keeps per-tool work between bridges; nil gives the bridge its own.
	Memo *Memo
}

// Bridge classifies, lists and answers. It is not safe for concurrent use: a
// replay worker owns its bridge, as it owns its memo.
type Bridge struct {
	core      func(string) bool
	catalog   Catalog
	retriever search.Retriever
	memo      *Memo
}

// New returns a bridge.
func New(o Options) *Bridge {
	b := &Bridge{core: o.Core, catalog: o.Catalog, retriever: o.Retriever, memo: o.Memo}
	if b.memo == nil {
		b.memo = NewMemo()
	}
	return b
}

// memoMax bounds each map of a Memo; a full map is emptied.
const memoMax = 1 << 18

// Memo keeps what depends on one tool's content alone: its listing line and its
// term statistics. Definitions are immutable, so a pointer stands for content.
// It serves one retriever and one goroutine at a time.
type Memo struct {
	lines map[*registry.Definition]listingLine
	terms map[*registry.Definition]*search.Terms
	last  struct {
		terms []*search.Terms
		index search.Index
	}
	// tools are the last descriptions of tool_search, newest first.
	tools []searchTool
	own   ownTools
}

// NewMemo returns an empty memo.
func NewMemo() *Memo {
	return &Memo{
		lines: make(map[*registry.Definition]listingLine),
		terms: make(map[*registry.Definition]*search.Terms),
	}
}

func (b *Bridge) line(t *registry.Definition) listingLine {
	line, ok := b.memo.lines[t]
	if !ok {
		line = newListingLine(t)
		if len(b.memo.lines) >= memoMax {
			clear(b.memo.lines)
		}
		b.memo.lines[t] = line
	}
	return line
}

func (b *Bridge) terms(t *registry.Definition) *search.Terms {
	terms, ok := b.memo.terms[t]
	if !ok {
		terms = b.retriever.Analyze(&search.Doc{Name: t.Name, Description: t.Description, Parameters: t.Properties})
		if len(b.memo.terms) >= memoMax {
			clear(b.memo.terms)
		}
		b.memo.terms[t] = terms
	}
	return terms
}

// Deferrable reports whether a tool may be deferred: it is registered, not on
// the core list, and not one of the bridge's own.
func (b *Bridge) Deferrable(name string) bool {
	if IsBridgeTool(name) || b.core(name) {
		return false
	}
	_, registered := b.catalog.Toolset(name)
	return registered
}

// Classify splits definitions into visible and deferrable ones, each in the
// order given. Definitions that bear a bridge tool's name are dropped.
func (b *Bridge) Classify(definitions []*registry.Definition) (visible, deferrable []*registry.Definition) {
	s := b.Split(definitions)
	return s.Visible, s.Deferrable
}

// Split is a session's definitions, classified: what assemblies under several
// settings share. It holds for as long as its definitions do.
type Split struct {
	Visible    []*registry.Definition
	Deferrable []*registry.Definition
	// all are both, in the order given.
	all []*registry.Definition
	// labels are the source labels of Deferrable.
	labels []string
	groups []group // of Deferrable, once a listing needed them
	tokens int     // estimated, of Deferrable
}

// Split classifies definitions; see Classify.
func (b *Bridge) Split(definitions []*registry.Definition) *Split {
	s := &Split{all: withoutBridgeTools(definitions), Deferrable: make([]*registry.Definition, 0, len(definitions))}
	for _, d := range s.all {
		if !b.core(d.Name) {
			if toolset, registered := b.catalog.Toolset(d.Name); registered {
				s.Deferrable = append(s.Deferrable, d)
				s.labels = append(s.labels, label(toolset))
				continue
			}
		}
		s.Visible = append(s.Visible, d)
	}
	s.Visible, s.Deferrable = slices.Clip(s.Visible), slices.Clip(s.Deferrable)
	s.tokens = Estimate(s.Deferrable)
	return s
}

// Surface is the tools array of one model request, and what was decided on the
// way to it.
type Surface struct {
	// Definitions is the array in order: the visible tools, then the bridge's
	// three if it is active; every definition if it is not.
	Definitions []*registry.Definition
	// Deferred are the tools kept off the surface, in the order given.
	Deferred  []*registry.Definition
	Activated bool
	Tier      int
	Listing   Listing
	// DeferrableCount and DeferrableTokens (estimated) are those of the
	// deferrable tools, whether the bridge is active or not.
	DeferrableCount  int
	DeferrableTokens int
	// BudgetTokens is the listing's budget in estimated tokens.
	BudgetTokens int
}

// Assemble turns the usable definitions of a session into its surface.
// contextLength is the model's context in tokens; 0 or less means unknown.
func (b *Bridge) Assemble(definitions []*registry.Definition, c Config, contextLength int) (*Surface, error) {
	return b.AssembleSplit(b.Split(definitions), c, contextLength)
}

// AssembleSplit is Assemble for definitions that are classified already.
func (b *Bridge) AssembleSplit(split *Split, c Config, contextLength int) (*Surface, error) {
	s := &Surface{
		Listing:          Listing{Form: FormNone},
		DeferrableCount:  len(split.Deferrable),
		DeferrableTokens: split.tokens,
		BudgetTokens:     c.Budget(contextLength),
	}
	if c.Enabled == Off || len(split.Deferrable) == 0 {
		s.Definitions = split.all
		if c.Enabled == Off {
			s.BudgetTokens = c.share(max(contextLength, 0))
		}
		return s, nil
	}
	s.Activated = true
	s.Deferred = split.Deferrable
	if c.Listing != Off {
		if split.groups == nil {
			split.groups = grouped(split.Deferrable, split.labels)
		}
		s.Listing = b.list(split.groups, s.BudgetTokens)
	}
	s.Tier = s.Listing.Form.tier()
	tools, err := b.Tools(len(split.Deferrable), s.Listing)
	if err != nil {
		return nil, err
	}
	s.Definitions = slices.Concat(split.Visible, tools)
	return s, nil
}

// Names reports whether the surface shows a tool's name: it is visible, or the
// listing names it.
func (b *Bridge) Names(s *Surface, name string) bool {
	if !b.Deferrable(name) || !s.Activated {
		return true
	}
	toolset, _ := b.catalog.Toolset(name)
	return s.Listing.Names(label(toolset))
}

// Estimate is the contract's token count of definitions: the code points of
// their compact JSON, summed, by four, rounded up.
func Estimate(definitions []*registry.Definition) int {
	runes := 0
	for _, d := range definitions {
		runes += d.Runes
	}
	return estimate(runes)
}

// source says where a tool comes from: mcp, plugin or other.
func (b *Bridge) source(name string) (kind, toolset string) {
	toolset, ok := b.catalog.Toolset(name)
	switch {
	case !ok:
		return otherLabel, toolset
	case strings.HasPrefix(toolset, mcpPrefix):
		return "mcp", toolset
	default:
		return "plugin", toolset
	}
}

func withoutBridgeTools(definitions []*registry.Definition) []*registry.Definition {
	kept := make([]*registry.Definition, 0, len(definitions))
	for _, d := range definitions {
		if !IsBridgeTool(d.Name) {
			kept = append(kept, d)
		}
	}
	return kept
}
