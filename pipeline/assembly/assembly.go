// Package assembly turns the names of toolsets into what a model sees.
//
// The steps, in the order that the contract fixes: (1) the enabled toolsets'
// tool names; (2) less the disabled ones, always last on names; (3) the usable
// definitions among them, from the registry; (4 to 6) rewriting, where a tool's
// text depends on which other tools are there; (7) recording the names, for
// those who ask which tools a session resolved to; (8) schemas made fit for
// model APIs; (9) the bridge. If the bridge fails, the session gets its
// definitions unbridged, with a warning, rather than none.
//
// A small memo in front returns an assembly again while nothing it depends on
// has changed: toolsets, settings, registry generation, and the verdicts of the
// probes it asked, which run out.
package assembly

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// kanbanToolset is added for a kanban worker, whatever it enabled.
const kanbanToolset = "kanban"

// Rewrite changes one tool's definition by what else is available. It returns
// the definition to show, or nil to drop the tool.
type Rewrite func(d *registry.Definition, available func(name string) bool) (*registry.Definition, error)

// Options sets up an Assembler.
type Options struct {
	Registry *registry.Registry // required
	Resolver *toolset.Resolver  // required
	Bridge   *bridge.Bridge     // required
	// Rewrites holds the rewrite rules by tool name.
	Rewrites map[string]Rewrite
	// Usable is another assembler of the same registry, resolver and rewrites with
	// the default memo, if there is one: what does not depend on the bridge is then
	// taken from it instead of being made again. It serves the default memo only.
	Usable *Assembler
	// Hides keeps tools from the session, whatever it enabled: a gateway's visibility.
	// Nil hides none.
	Hides func(name string) bool
	// Memo chooses how long assemblies are kept; the zero value is the default.
	Memo MemoMode
	// Shared keeps per-tool work between assemblers; nil gives a fresh one.
	Shared *Shared
	// Log receives what is worth a warning; nil discards it.
	Log *slog.Logger
}

// Assembler assembles surfaces. It is not safe for concurrent use.
type Assembler struct {
	registry *registry.Registry
	resolver *toolset.Resolver
	bridge   *bridge.Bridge
	rewrites map[string]Rewrite
	shared   *Shared
	source   *Assembler
	hides    func(name string) bool
	memo     memo
	log      *slog.Logger
	last     *Assembled
}

// New returns an assembler.
func New(o Options) *Assembler {
	a := &Assembler{
		registry: o.Registry, resolver: o.Resolver, bridge: o.Bridge,
		rewrites: o.Rewrites, shared: o.Shared, source: o.Usable, hides: o.Hides, log: o.Log,
		memo: memo{mode: o.Memo},
	}
	if a.shared == nil {
		a.shared = NewShared()
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	return a
}

// Request says what to assemble.
type Request struct {
	// Enabled names toolsets; nil means all of them, empty means none.
	Enabled []string
	// Disabled names toolsets to take away, after everything was added.
	Disabled []string
	Config   bridge.Config
	// ContextLength is the model's context in tokens; 0 or less is unknown.
	ContextLength int
	// SkipBridge stops before the last step.
	SkipBridge bool
	// KanbanWorker marks a session started for a kanban task, DelegatedChild
	// one started by another session: the first gets the kanban tools unless
	// it is also the second.
	KanbanWorker   bool
	DelegatedChild bool
}

// Assembled is a surface and the definitions that it was made from.
type Assembled struct {
	*bridge.Surface
	// Usable are the session's definitions before the bridge, sorted by the
	// names that they are registered under.
	Usable []*registry.Definition

	renamed map[*registry.Definition]*renaming
	split   *bridge.Split
	// validUntil is when a probe's verdict that this rests on runs out; the zero
	// time means never.
	validUntil time.Time
}

// has reports whether a tool of that name is usable. The names are sorted, unless an
// override has changed one.
func (s *Assembled) has(name string) bool {
	_, found := slices.BinarySearchFunc(s.Usable, name, func(d *registry.Definition, name string) int { return strings.Compare(d.Name, name) })
	return found || slices.ContainsFunc(s.Usable, func(d *registry.Definition) bool { return d.Name == name })
}

// Assemble returns the surface for a request. The result is shared with later
// calls and must not be changed.
func (a *Assembler) Assemble(r Request) *Assembled {
	if r.SkipBridge { // nothing that only the bridge reads makes a difference
		r.Config, r.ContextLength = bridge.Config{}, 0
	}
	key := a.memo.key(a.registry, r)
	now := a.registry.Clock().Now()
	if hit, ok := a.memo.get(key, now); ok {
		a.last = hit
		return hit
	}
	assembled := a.usable(r)
	assembled.Surface = nil
	a.bridgeOver(assembled, r)
	a.memo.put(key, assembled, now)
	a.last = assembled
	return assembled
}

// Resolved returns the names of the tools that the last assembly resolved to,
// before the bridge, whether the memo answered it or not.
func (a *Assembler) Resolved() []string {
	if a.last == nil {
		return nil
	}
	names := make([]string, len(a.last.Usable))
	for i, d := range a.last.Usable {
		names[i] = d.Name
	}
	return names
}

// Names returns the tool names of a request: steps one and two. Names of
// toolsets that nobody knows add nothing.
func (a *Assembler) Names(r Request) []string {
	enabled := r.Enabled
	if enabled == nil {
		enabled = []string{"all"}
	}
	if r.KanbanWorker && !r.DelegatedChild && !slices.Contains(enabled, kanbanToolset) {
		enabled = append(slices.Clone(enabled), kanbanToolset)
	}
	names := a.resolver.Resolve(enabled...)
	if a.hides != nil {
		names = slices.DeleteFunc(names, a.hides)
	}
	if len(r.Disabled) == 0 {
		return names
	}
	gone := make(map[string]bool)
	for _, toolset := range r.Disabled {
		for _, name := range a.resolver.Disables(toolset) {
			gone[name] = true
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return gone[name] })
}

// usable runs steps one to eight, or takes their result from the memo: requests
// that differ in what the bridge reads share it.
func (a *Assembler) usable(r Request) *Assembled {
	if !r.SkipBridge && a.memo.mode == MemoTTL {
		r.SkipBridge = true
		base := *a.Assemble(r)
		return &base
	}
	if a.source != nil && a.memo.mode == MemoTTL {
		base := *a.source.Assemble(r)
		base.split = nil // of another bridge
		return &base
	}
	reading := a.registry.Definitions(a.Names(r))
	for _, i := range reading.Overridden {
		reading.Definitions[i] = a.shared.intern(reading.Definitions[i])
	}
	s := &Assembled{Usable: a.rewrite(reading.Definitions), validUntil: reading.ValidUntil}
	for i, d := range s.Usable {
		clean := a.shared.sanitized(d, a.log)
		s.Usable[i] = clean.definition
		if clean.renamed != nil {
			if s.renamed == nil {
				s.renamed = make(map[*registry.Definition]*renaming)
			}
			s.renamed[clean.definition] = clean.renamed
		}
	}
	s.Usable = slices.Clip(s.Usable)
	return s
}

// shown returns the definition of a tool as the session's model saw it.
func (a *Assembler) shown(r Request, name string) (sanitized, bool) {
	r.SkipBridge = true
	s := a.Assemble(r)
	i := slices.IndexFunc(s.Usable, func(d *registry.Definition) bool { return d.Name == name })
	if i < 0 {
		return sanitized{}, false
	}
	return sanitized{definition: s.Usable[i], renamed: s.renamed[s.Usable[i]]}, true
}

// rewrite applies the rules of the tools that have one.
func (a *Assembler) rewrite(definitions []*registry.Definition) []*registry.Definition {
	if len(a.rewrites) == 0 {
		return definitions
	}
	// No binary search: an override may have changed a name.
	available := func(name string) bool {
		return slices.ContainsFunc(definitions, func(d *registry.Definition) bool { return d.Name == name })
	}
	kept := make([]*registry.Definition, 0, len(definitions))
	for _, d := range definitions {
		if rule := a.rewrites[d.Name]; rule != nil {
			rewritten, err := rule(d, available)
			switch {
			case err != nil:
				a.log.Warn("rewrite failed, definition stands", "tool", d.Name, "err", err)
			case rewritten == nil:
				continue
			default:
				d = a.shared.intern(rewritten)
			}
		}
		kept = append(kept, d)
	}
	return kept
}

// bridgeOver runs step nine: it sets the surface. Whatever goes wrong in the
// bridge, the session keeps its definitions.
func (a *Assembler) bridgeOver(s *Assembled, r Request) {
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if err != nil {
			a.log.Warn("bridge failed, definitions stay unbridged", "err", err)
		}
		if s.Surface == nil {
			s.Surface = &bridge.Surface{Definitions: s.Usable, Listing: bridge.Listing{Form: bridge.FormNone}}
		}
	}()
	if s.split == nil {
		s.split = a.bridge.Split(s.Usable)
	}
	if !r.SkipBridge {
		s.Surface, err = a.bridge.AssembleSplit(s.split, r.Config, r.ContextLength)
	}
}
