package bridge

import (
	"encoding/json"
	"slices"

	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// splitsMax is how many splits a memo keeps: a session goes back to what it had
// when a probe recovers, and other orders of registration lead to the same.
const splitsMax = 8

// Split is a session's definitions, classified: what assemblies under several
// settings share. It holds for as long as its definitions do, and is shared by
// all that classify the same definitions alike.
type Split struct {
	Visible    []*registry.Definition
	Deferrable []*registry.Definition
	// all are both, in the order given.
	all []*registry.Definition
	// labels are the source labels of Deferrable.
	labels []string
	tokens int // estimated, of Deferrable
	// groups, byName, index and sources are of Deferrable, once something needed
	// them.
	groups  []group
	byName  map[string]*registry.Definition
	index   search.Index
	sources json.RawMessage
	// searches are those made among Deferrable.
	searches map[searchKey][]Match
	// surfaces are those that were made of it.
	surfaces []keptSurface
}

// keptSurface is a surface with what else it depends on beside its split.
type keptSurface struct {
	config        Config
	contextLength int
	surface       *Surface
}

// surfacesMax bounds the surfaces of one split.
const surfacesMax = 8

// Split classifies definitions, which must not change afterwards; see Classify.
func (b *Bridge) Split(definitions []*registry.Definition) *Split {
	s := b.kept.spare
	if s == nil {
		s = &Split{}
	}
	s.all, s.labels = s.all[:0], s.labels[:0]
	s.Visible, s.Deferrable = s.Visible[:0], s.Deferrable[:0]
	for _, d := range definitions {
		if IsBridgeTool(d.Name) {
			continue
		}
		s.all = append(s.all, d)
		if toolset, ok := b.deferrable(d.Name); ok {
			s.Deferrable = append(s.Deferrable, d)
			s.labels = append(s.labels, label(toolset))
		} else {
			s.Visible = append(s.Visible, d)
		}
	}
	b.kept.spare = s
	return b.kept.split(s)
}

// split returns the kept split that equals s, or keeps a copy.
func (m *variantMemo) split(s *Split) *Split {
	i := slices.IndexFunc(m.splits, s.equal)
	if i >= 0 {
		s = m.splits[i]
		m.splits = slices.Delete(m.splits, i, i+1)
	} else {
		s = &Split{
			Visible: slices.Clip(slices.Clone(s.Visible)), Deferrable: slices.Clip(slices.Clone(s.Deferrable)),
			all: slices.Clip(slices.Clone(s.all)), labels: slices.Clone(s.labels), tokens: Estimate(s.Deferrable),
		}
	}
	m.splits = slices.Insert(m.splits[:min(len(m.splits), splitsMax-1)], 0, s)
	return s
}

// equal reports whether two splits have the same tools, classified alike. What is
// visible follows from the rest.
func (s *Split) equal(other *Split) bool {
	return slices.Equal(s.all, other.all) && slices.Equal(s.Deferrable, other.Deferrable) && slices.Equal(s.labels, other.labels)
}

// AssembleSplit is Assemble for definitions that are classified already. The
// surface is shared and must not be changed.
func (b *Bridge) AssembleSplit(split *Split, c Config, contextLength int) (*Surface, error) {
	for _, k := range split.surfaces {
		if k.config == c && k.contextLength == contextLength {
			return k.surface, nil
		}
	}
	s, err := b.surface(split, c, contextLength)
	if err == nil {
		split.surfaces = append(split.surfaces[:min(len(split.surfaces), surfacesMax-1)], keptSurface{c, contextLength, s})
	}
	return s, err
}

func (b *Bridge) surface(split *Split, c Config, contextLength int) (*Surface, error) {
	s := &Surface{
		split:            split,
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
	s.Definitions = slices.Clip(slices.Concat(split.Visible, tools))
	return s, nil
}
