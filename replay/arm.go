package replay

import (
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// Names that an arm may use.
const (
	VariantJuly     = "july"
	AgentAware      = "aware"
	WriterUtterance = "utterance"
	GatewayOff      = "off"

	defaultMaxSearches = 3
	defaultTokenizer   = "o200k_base"
	defaultRetriever   = "bm25"
)

// Eager is the name of the arm that others are compared with.
const Eager = "eager"

// Arm is one configuration under test.
type Arm struct {
	Name    string `json:"name"`
	Variant string `json:"variant"`
	// Bridge false leaves every schema on the surface.
	Bridge     bool          `json:"bridge"`
	ToolSearch bridge.Config `json:"tool_search"`
	Retriever  string        `json:"retriever"`
	Agent      string        `json:"agent"`
	Writer     string        `json:"writer"`
	// MaxSearches is how often the agent searches for one intent, 1 or more.
	MaxSearches int    `json:"max_searches"`
	Tokenizer   string `json:"tokenizer"`
	Gateway     string `json:"gateway"`
}

// NewArm returns an arm with every field at its default.
func NewArm(name string) Arm {
	return Arm{
		Name:        name,
		Variant:     VariantJuly,
		Bridge:      true,
		ToolSearch:  bridge.DefaultConfig(),
		Retriever:   defaultRetriever,
		Agent:       AgentAware,
		Writer:      WriterUtterance,
		MaxSearches: defaultMaxSearches,
		Tokenizer:   defaultTokenizer,
		Gateway:     GatewayOff,
	}
}

// DefaultArms returns the arms that a run plays if it is told nothing: eager,
// july-bare without a listing, july-listing with one of 5 % of the context.
func DefaultArms() []Arm {
	eager := NewArm(Eager)
	eager.Bridge = false
	bare := NewArm("july-bare")
	bare.ToolSearch.Listing = bridge.Off
	return []Arm{eager, bare, NewArm("july-listing")}
}

// SelectArms returns the default arms with the given names, in that order.
func SelectArms(names []string) ([]Arm, error) {
	all := DefaultArms()
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
		return nil, fmt.Errorf("no arms\nhint: name some of %v", known)
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

// Assumptions are what every figure of the arm rests on.
func (a Arm) Assumptions() metrics.Assumptions {
	return metrics.Assumptions{
		Variant: a.Variant, Bridge: a.Bridge, Retriever: a.Retriever, Agent: a.Agent,
		Writer: a.Writer, Tokenizer: a.Tokenizer, Gateway: a.Gateway,
	}
}

// check refuses names that nothing here answers to.
func (a Arm) check() error {
	for _, f := range []struct {
		field, value string
		known        []string
	}{
		{"variant", a.Variant, []string{VariantJuly}},
		{"retriever", a.Retriever, search.Names()},
		{"agent", a.Agent, []string{AgentAware}},
		{"writer", a.Writer, []string{WriterUtterance}},
		{"tokenizer", a.Tokenizer, tokens.Names()},
		{"gateway", a.Gateway, []string{GatewayOff}},
	} {
		if !slices.Contains(f.known, f.value) {
			return fmt.Errorf("arm %q: unknown %s %q\nhint: %s", a.Name, f.field, f.value, nearest.Hint(f.value, f.known))
		}
	}
	if a.MaxSearches < 1 {
		return fmt.Errorf("arm %q: max_searches %d\nhint: give at least 1", a.Name, a.MaxSearches)
	}
	return nil
}
