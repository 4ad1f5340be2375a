package compare

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// SurfaceChange says of an arm in how many sessions the first request's surface has other bytes, and shows one of them.
type SurfaceChange struct {
	Arm      string        `json:"arm"`
	Sessions int           `json:"sessions"` // whose surface changed
	Of       int           `json:"of"`       // sessions compared
	At       Location      `json:"at"`       // the first of them
	Before   SurfacePart   `json:"before"`
	After    SurfacePart   `json:"after"`
	Entries  []EntryChange `json:"entries"` // of that session; empty without a text
	// NoText says why there is no text to compare; empty if there is.
	NoText string `json:"no_text,omitempty"`
	// Command shows the surface of At: run by the program of either run, its outputs can be compared with diff.
	Command string `json:"command,omitempty"`
}

// SurfacePart is a surface as the tables have it, in tokens of the arm's tokenizer.
type SurfacePart struct {
	SHA256        string `json:"sha256"`
	Form          string `json:"form"`
	VisibleTools  int    `json:"visible_tools"`
	DeferredTools int    `json:"deferred_tools"`
	SurfaceTokens int    `json:"surface_tokens"`
	VisibleTokens int    `json:"visible_tokens"`
	BridgeTokens  int    `json:"bridge_tokens"`
	ListingTokens int    `json:"listing_tokens"`
}

// surfaces collects the surfaces that changed.
type surfaces struct {
	order     []*SurfaceChange
	index     map[string]*SurfaceChange
	tokenizer map[string]string
}

func newSurfaces(arms []string) *surfaces {
	s := &surfaces{index: make(map[string]*SurfaceChange), tokenizer: make(map[string]string)}
	for _, arm := range arms {
		s.index[arm] = &SurfaceChange{Arm: arm, Entries: []EntryChange{}}
		s.order = append(s.order, s.index[arm])
	}
	return s
}

// add compares the surfaces of one session.
func (s *surfaces) add(p pair) {
	before := make(map[string]metrics.SessionArm)
	for _, a := range p.before.Arms {
		before[a.Arm] = a
	}
	for _, b := range p.after.Arms {
		a, both := before[b.Arm]
		change := s.index[b.Arm]
		if !both || change == nil {
			continue
		}
		change.Of++
		if a.SurfaceSHA256 == b.SurfaceSHA256 {
			continue
		}
		if change.Sessions++; change.Sessions == 1 {
			change.At, change.Before, change.After = p.at, partOf(a), partOf(b)
			s.tokenizer[b.Arm] = b.Assumptions.Tokenizer
		}
	}
}

func partOf(s metrics.SessionArm) SurfacePart {
	return SurfacePart{
		SHA256: s.SurfaceSHA256, Form: s.Form, VisibleTools: s.VisibleTools, DeferredTools: s.DeferredTools,
		SurfaceTokens: s.SurfaceTokens, VisibleTokens: s.VisibleTokens, BridgeTokens: s.BridgeTokens, ListingTokens: s.ListingTokens,
	}
}

// list gives the arms with changed surfaces, each with the text of one if it can be derived again.
func (s *surfaces) list(ctx context.Context, before, after *reports.Run, o Options) ([]SurfaceChange, error) {
	list := []SurfaceChange{}
	for _, change := range s.order {
		if change.Sessions == 0 {
			continue
		}
		change.Command = SurfaceCommand(after, change.Arm, change.At)
		if err := change.derive(ctx, before, after, o, s.tokenizer[change.Arm]); err != nil {
			return nil, err
		}
		list = append(list, *change)
	}
	return list, nil
}

// derive compares the texts, if both have the hash that was recorded: a text that only looks like the one that was sent
// would be worse than none.
func (c *SurfaceChange) derive(ctx context.Context, before, after *reports.Run, o Options, tokenizer string) error {
	if o.Surface == nil {
		c.NoText = "surfaces are stored as hashes, and nothing here derives their texts"
		return nil
	}
	var texts [2]string
	for i, side := range []struct {
		run  *reports.Run
		want string
	}{{before, c.Before.SHA256}, {after, c.After.SHA256}} {
		text, err := o.Surface(ctx, side.run, c.Arm, c.At)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.NoText = "the text of " + side.run.Dir + " cannot be derived again: " + firstLine(err)
			return nil
		}
		if sum := sha256.Sum256([]byte(text)); hex.EncodeToString(sum[:]) != side.want {
			c.NoText = "this program derives another text than " + side.run.Dir + " recorded: another version or another corpus made it"
			return nil
		}
		texts[i] = text
	}
	var err error
	c.Entries, err = diffSurfaces(texts[0], texts[1], func(text string) (int, error) { return o.Count(tokenizer, text) })
	return err
}
