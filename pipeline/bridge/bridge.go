// Package bridge keeps deferred tools off the table and within reach.
//
// Given the definitions that a session may use, it splits them into those that
// stay visible, the core first of all, and the deferrable rest: tools of MCP
// servers and plugins, and in September core tools of a list too. If any tool is
// deferrable it replaces all of them with three tools of its own: tool_search
// finds a tool, tool_describe returns its schema, tool_call runs it. A listing of
// the deferred tools, cut to a budget, goes into tool_search's description,
// because a model that cannot see what it lacks makes do with the wrong tool or
// says that it cannot help.
//
// It comes in two variants, July and September. All that tells them apart stands
// in one set of rules, which a Bridge takes when it is made: it is of one variant
// and has one defer list.
//
// The steps: ParseConfig reads the settings and clamps them; Bridge.Assemble
// splits, lists and returns the surface; Bridge.Scope answers the three tools
// for a session. A Scope holds exactly the deferrable tools of the definitions
// it was made from: nothing outside them can be found, described or called
// through it, and it is made anew whenever the definitions are read.
package bridge

import (
	"encoding/json"
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
	// Variant is whose behaviour the bridge has; the zero value is July.
	Variant Variant
	// Defer names core tools that are deferrable all the same, and tools of
	// toolsets that stay visible otherwise: Config.DeferNames composes it. July
	// defers no core tool whatever it names.
	Defer []string
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
	rules     rules
	deferred  map[string]bool // by the defer list
	core      func(string) bool
	catalog   Catalog
	retriever search.Retriever
	memo      *Memo
	kept      *variantMemo // the memo's, for this variant
}

// New returns a bridge.
func New(o Options) *Bridge {
	b := &Bridge{rules: o.Variant.rules(), core: o.Core, catalog: o.Catalog, retriever: o.Retriever, memo: o.Memo}
	if b.rules.defers && len(o.Defer) > 0 {
		b.deferred = make(map[string]bool, len(o.Defer))
		for _, name := range o.Defer {
			b.deferred[name] = true
		}
	}
	if b.memo == nil {
		b.memo = NewMemo()
	}
	b.kept = b.memo.variant(o.Variant)
	return b
}

// PostsAnswers reports whether hooks hear of calls that the bridge answers
// itself: searches and descriptions.
func (b *Bridge) PostsAnswers() bool { return b.rules.postsAnswers }

// memoMax bounds each map of a Memo; a full map is emptied.
const memoMax = 1 << 18

// Memo keeps what depends on content alone: of one tool its listing line, its
// term statistics, what its schema says of arguments; of one source its part of
// a listing; of the last few sets of tools, classified alike, what was derived
// from them. Definitions are immutable, so a pointer stands for content. It
// serves one retriever, bridges of any variant, and one goroutine at a time.
type Memo struct {
	terms    map[*registry.Definition]analysed
	variants map[Variant]*variantMemo
}

// analysed is a tool's term statistics under the label that it had.
type analysed struct {
	terms *search.Terms
	label string
}

// variantMemo is what differs between variants.
type variantMemo struct {
	lines   map[*registry.Definition]string
	blocks  map[blockKey]*block
	schemas map[*registry.Definition]*argumentSchema
	// found is what a search result says of a tool.
	found map[foundKey]json.RawMessage
	// bare holds tool_search without a listing, by the number of deferred tools;
	// tools its last versions with one, newest first.
	bare  map[int]*registry.Definition
	tools []searchTool
	own   ownTools
	// splits are the last ones, newest first, and spare has room for the next.
	splits []*Split
	spare  *Split
}

// foundKey is what the words of a search result on a tool depend on.
type foundKey struct {
	tool          *registry.Definition
	kind, toolset string
}

// NewMemo returns an empty memo.
func NewMemo() *Memo {
	return &Memo{terms: make(map[*registry.Definition]analysed), variants: make(map[Variant]*variantMemo)}
}

// Forget drops what sets of tools led to. What is known of single tools, and of
// those of one source in their order, stays, so the next assembly groups, lists
// and indexes anew.
func (m *Memo) Forget() {
	for _, kept := range m.variants {
		kept.splits = nil
	}
}

func (m *Memo) variant(v Variant) *variantMemo {
	if v == "" {
		v = July
	}
	kept := m.variants[v]
	if kept == nil {
		kept = &variantMemo{
			lines:   make(map[*registry.Definition]string),
			blocks:  make(map[blockKey]*block),
			schemas: make(map[*registry.Definition]*argumentSchema),
			found:   make(map[foundKey]json.RawMessage),
			bare:    make(map[int]*registry.Definition),
		}
		m.variants[v] = kept
	}
	return kept
}

func (b *Bridge) line(t *registry.Definition) string {
	line, ok := b.kept.lines[t]
	if !ok {
		line = listingLine(t, b.rules.shortDescription)
		if len(b.kept.lines) >= memoMax {
			clear(b.kept.lines)
		}
		b.kept.lines[t] = line
	}
	return line
}

func (b *Bridge) terms(t *registry.Definition, label string) *search.Terms {
	known, ok := b.memo.terms[t]
	if !ok || known.label != label {
		known = analysed{label: label, terms: b.retriever.Analyze(&search.Doc{
			Name: t.Name, Description: t.Description, Parameters: t.Properties, Source: label,
		})}
		if len(b.memo.terms) >= memoMax {
			clear(b.memo.terms)
		}
		b.memo.terms[t] = known
	}
	return known.terms
}

// Deferrable reports whether a tool may be deferred: it is registered, not on
// the core list, and not one of the bridge's own. In September the defer list
// adds core tools, and tools of the toolsets desktop_ui, project and setup may
// not unless it names them.
func (b *Bridge) Deferrable(name string) bool {
	_, ok := b.deferrable(name)
	return ok && !IsBridgeTool(name)
}

// deferrable is Deferrable for a name that is not the bridge's own, with the
// toolset that holds the tool.
func (b *Bridge) deferrable(name string) (toolset string, ok bool) {
	named := b.deferred[name]
	if !named && b.core(name) {
		return "", false
	}
	toolset, registered := b.catalog.Toolset(name)
	return toolset, registered && (named || !slices.Contains(b.rules.visibleToolsets, toolset))
}

// Classify splits definitions into visible and deferrable ones, each in the
// order given. Definitions that bear a bridge tool's name are dropped.
func (b *Bridge) Classify(definitions []*registry.Definition) (visible, deferrable []*registry.Definition) {
	s := b.Split(definitions)
	return s.Visible, s.Deferrable
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

	split *Split
}

// Assemble turns the usable definitions of a session into its surface.
// contextLength is the model's context in tokens; 0 or less means unknown.
func (b *Bridge) Assemble(definitions []*registry.Definition, c Config, contextLength int) (*Surface, error) {
	return b.AssembleSplit(b.Split(definitions), c, contextLength)
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
