package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// Agent models; docs/measures.md gives their rules in full.
const (
	AgentAware   = "aware"   // knows the right tool by its name, and searches for what it does not see
	AgentHasty   = "hasty"   // takes what ranks first, right or wrong
	AgentUnaware = "unaware" // as aware, but never searches
	AgentBlind   = "blind"   // calls what the listing names without its schema, and never searches
)

// Query writers: where the queries of an intent come from, in the order of asking.
const (
	WriterUtterance = "utterance" // what the user said, its keywords, its longest keywords
	WriterKeywords  = "keywords"  // the last two of these
	WriterRecorded  = "recorded"  // the queries that the session has for the turn
)

// Cache models: what a provider's prompt cache holds of a request.
const (
	CachePrefix = "prefix" // what it has in common with the request before, in whole blocks
	CacheNone   = "none"   // nothing
)

// How long an assembly is kept.
const (
	MemoTTL       = "ttl"       // until a probe's verdict that it rests on runs out
	MemoReference = "reference" // until newer ones push it out, as the reference does
	MemoOff       = "off"       // not at all
)

// GatewayOff is no gateway: calls go straight to the registry.
const GatewayOff = "off"

const (
	defaultMaxSearches = 3
	defaultTokenizer   = "o200k_base"
)

// Eager is the name of the arm that others are compared with.
const Eager = metrics.EagerArm

// Arm is one configuration under test. Each field that is a text takes the words
// that docs/format.md gives for the field of that name in a file of arms.
type Arm struct {
	Name    string         `json:"name"` // unique among the arms of a run
	Variant bridge.Variant `json:"variant"`
	// Bridge false leaves every schema on the surface.
	Bridge     bool          `json:"bridge"`
	ToolSearch bridge.Config `json:"tool_search"`
	Retriever  string        `json:"retriever"`
	Memo       string        `json:"memo"`
	Agent      string        `json:"agent"`
	Writer     string        `json:"writer"`
	// MaxSearches is how often the agent searches for one intent, 1 or more.
	MaxSearches int    `json:"max_searches"`
	Tokenizer   string `json:"tokenizer"`
	Cache       string `json:"cache"`
	// Gateway names the gateway that calls go through, GatewayOff for none; see Behind.
	Gateway       string       `json:"gateway"`
	GatewaySHA256 string       `json:"gateway_sha256,omitempty"`
	GatewayConfig *card.Config `json:"-"`
}

// NewArm returns an arm of a variant with every other field at its default.
func NewArm(name string, v bridge.Variant) Arm {
	return Arm{
		Name:        name,
		Variant:     v,
		Bridge:      true,
		ToolSearch:  v.DefaultConfig(),
		Retriever:   defaultRetriever(v),
		Memo:        MemoTTL,
		Agent:       AgentAware,
		Writer:      WriterUtterance,
		MaxSearches: defaultMaxSearches,
		Tokenizer:   defaultTokenizer,
		Cache:       CachePrefix,
		Gateway:     GatewayOff,
	}
}

// defaultRetriever is the one that a variant comes with.
func defaultRetriever(v bridge.Variant) string {
	if v == bridge.September {
		return "bm25-gated"
	}
	return "bm25"
}

// DefaultArms returns the arms that a run plays if it is told nothing: eager, and
// for each variant one without a listing and one with a listing of 5 % of the
// context.
func DefaultArms() []Arm {
	eager := NewArm(Eager, bridge.July)
	eager.Bridge = false
	arms := []Arm{eager}
	for _, v := range bridge.Variants() {
		bare := NewArm(string(v)+"-bare", v)
		bare.ToolSearch.Listing = bridge.Off
		arms = append(arms, bare, NewArm(string(v)+"-listing", v))
	}
	return arms
}

// SelectArms returns those of some arms that have the given names, in that order.
func SelectArms(all []Arm, names []string) ([]Arm, error) {
	var known []string
	for _, a := range all {
		known = append(known, a.Name)
	}
	var arms []Arm
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("unknown arm %q\nhint: %s", name, nearest.Hint(name, known))
		}
		if slices.ContainsFunc(arms, func(a Arm) bool { return a.Name == name }) {
			return nil, fmt.Errorf("arm %q is named twice\nhint: name each arm once", name)
		}
		arms = append(arms, all[i])
	}
	if len(arms) == 0 {
		return nil, fmt.Errorf("no arms\nhint: name some of %v, or a file that describes arms", known)
	}
	return arms, nil
}

// config is the bridge configuration that the arm runs with.
func (a Arm) config() bridge.Config {
	c := a.ToolSearch
	if !a.Bridge {
		c.Enabled = bridge.Off
	}
	return c
}

// memoMode is the arm's memo in the words of the assembly.
func (a Arm) memoMode() assembly.MemoMode {
	switch a.Memo {
	case MemoReference:
		return assembly.MemoReference
	case MemoOff:
		return assembly.MemoOff
	default:
		return assembly.MemoTTL
	}
}

// assumptions are what every figure of the arm rests on.
func (a Arm) assumptions(w metrics.Weights) metrics.Assumptions {
	return metrics.Assumptions{
		Variant: string(a.Variant), Bridge: a.Bridge, Retriever: a.Retriever, Agent: a.Agent,
		Writer: a.Writer, Tokenizer: a.Tokenizer, Gateway: a.Gateway, Memo: a.Memo, Cache: a.Cache,
		Settings:    a.settings(),
		WeightFresh: w.Fresh, WeightCached: w.Cached, WeightWrite: w.Write, WeightOutput: w.Output,
	}
}

// settings writes down what of the bridge's settings and of the agent's searches is
// not the variant's default.
func (a Arm) settings() string {
	if !a.Bridge {
		return ""
	}
	c, d := a.ToolSearch, NewArm(a.Name, a.Variant).ToolSearch
	var list []string
	for _, s := range []struct {
		name        string
		value, from any
	}{
		{"enabled", c.Enabled, d.Enabled}, {"threshold_pct", c.ThresholdPct, d.ThresholdPct},
		{"search_default_limit", c.SearchDefaultLimit, d.SearchDefaultLimit}, {"max_search_limit", c.MaxSearchLimit, d.MaxSearchLimit},
		{"listing", c.Listing, d.Listing}, {"listing_max_tokens", c.ListingMaxTokens, d.ListingMaxTokens},
		{"max_searches", a.MaxSearches, defaultMaxSearches},
	} {
		if s.value != s.from {
			list = append(list, fmt.Sprintf("%s=%v", s.name, s.value))
		}
	}
	if c.Defer != d.Defer {
		list = append(list, "defer="+strings.Join(c.Defer.Names(), ","))
	}
	return strings.Join(list, " ")
}

// choice is a field of an arm that takes one of some words.
type choice struct {
	field string
	value *string
	known []string
}

// choices are all such fields but the variant.
func (a *Arm) choices() []choice {
	return []choice{
		{"retriever", &a.Retriever, search.Names()},
		{"memo", &a.Memo, []string{MemoTTL, MemoReference, MemoOff}},
		{"agent", &a.Agent, []string{AgentAware, AgentHasty, AgentUnaware, AgentBlind}},
		{"writer", &a.Writer, []string{WriterUtterance, WriterKeywords, WriterRecorded}},
		{"tokenizer", &a.Tokenizer, tokens.Names()},
		{"cache", &a.Cache, []string{CachePrefix, CacheNone}},
	}
}

// check refuses names that nothing here answers to.
func (a Arm) check() error {
	if !slices.Contains(bridge.Variants(), a.Variant) {
		return fmt.Errorf("arm %q: unknown variant %q\nhint: use one of %v", a.Name, a.Variant, bridge.Variants())
	}
	for _, c := range a.choices() {
		if !slices.Contains(c.known, *c.value) {
			return fmt.Errorf("arm %q: unknown %s %q\nhint: %s", a.Name, c.field, *c.value, nearest.Hint(*c.value, c.known))
		}
	}
	if a.MaxSearches < 1 || a.MaxSearches > maxSearchesMax {
		return fmt.Errorf("arm %q: max_searches %d\nhint: give 1 to %d", a.Name, a.MaxSearches, maxSearchesMax)
	}
	return nil
}

// maxSearchesMax bounds max_searches: no writer has more queries than a turn of a
// session can hold, and none needs as many.
const maxSearchesMax = 1000
