// Package registry knows which tools exist and which of them are usable now.
//
// A tool exists from Register to Deregister; it is usable while its probe
// passes, or always if it has none. The two are kept apart: Definitions
// returns usable tools only, every other query can tell of both. The package
// is the leaf of the pipeline: it imports no tool, and tools import it.
//
// Two promises hold whatever callers do. A tool of another toolset is never
// replaced by accident: a registration under a taken name is refused unless it
// says Override, and a plugin needs the operator's permission for that too.
// And one failed probe never makes a tool that just worked disappear: within
// the grace period a failure counts as a flake.
package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// DefaultMaxResultSize is the result cap in characters of a tool that has none
// of its own, where the caller names no other.
const DefaultMaxResultSize = 100_000

// mcpPrefix starts the toolset name of every MCP server's tools.
const mcpPrefix = "mcp-"

// Errors that a caller can act on; both are also logged.
var (
	// ErrNameTaken refuses a registration whose name another toolset holds.
	ErrNameTaken = errors.New("tool name is taken by another toolset")
	// ErrNotPermitted refuses a plugin that may not replace or remove a tool.
	ErrNotPermitted = errors.New("plugin is not permitted to change a tool it does not own")
)

// Owner names who loaded a handler: empty for the program itself, else a plugin
// as "name" or "name.submodule". It is set by the loader, never by the plugin,
// so no closure or nested function can pass for somebody else's.
type Owner string

// root is the plugin that an owner belongs to.
func (o Owner) root() string {
	name, _, _ := strings.Cut(string(o), ".")
	return name
}

// Handler carries out a call. args is a JSON object. The result must be a
// string or a Multimodal value; Dispatch answers anything else with an error.
type Handler func(ctx context.Context, args json.RawMessage) (any, error)

// Multimodal is a result that holds content parts other than text, as the JSON
// array that a model request carries.
type Multimodal struct {
	Content json.RawMessage
}

// Registration is one tool as its source hands it over.
type Registration struct {
	Toolset    string
	Definition *Definition
	Handler    Handler
	// Check is the availability probe; nil means always usable. Tools that
	// share one probe share the pointer, and the probe then runs once for all.
	Check *Check
	// RequiresEnv names the environment variables that the tool needs.
	RequiresEnv []string
	// MaxResultSize caps the result in characters; 0 means no cap of its own.
	MaxResultSize int
	// ReadOnly says that a call has no effect.
	ReadOnly bool
	// Overrides is asked at every read of the definitions for fields that
	// replace those of Definition, even the name. An error keeps Definition.
	Overrides func() ([]rawjson.Field, error)
	// Override permits taking a name from another toolset.
	Override bool
	Owner    Owner
}

// Options sets up a Registry. The zero value is ready to use.
type Options struct {
	// Clock times the probe cache; nil means the machine's clock.
	Clock clock.Clock
	// AllowToolOverride lists the plugins (their root names) that the operator
	// lets replace or remove tools of others.
	AllowToolOverride map[string]bool
	// Log receives refusals, replacements and flakes; nil discards them.
	Log *slog.Logger
	// SizeHint is about how many tools will register; 0 if nobody knows.
	SizeHint int
}

// Registry is the one source of truth about tools. It is safe for concurrent
// use; probes and handlers run outside its lock.
type Registry struct {
	clock  clock.Clock
	policy map[string]bool
	log    *slog.Logger

	mu         sync.RWMutex
	entries    map[string]*Registration
	slab       []Registration // room for the next entries
	toolsets   map[string]*members
	aliases    map[string]string
	generation uint64
	probes     probeCache
}

// New returns an empty registry.
func New(o Options) *Registry {
	r := &Registry{
		clock:    o.Clock,
		policy:   maps.Clone(o.AllowToolOverride),
		log:      o.Log,
		entries:  make(map[string]*Registration, o.SizeHint),
		toolsets: make(map[string]*members),
		aliases:  make(map[string]string),
	}
	if r.clock == nil {
		r.clock = clock.Wall{}
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// Register adds a tool, or replaces one. Under a name that the same toolset
// holds the last registration wins. Under a name of another toolset it returns
// ErrNameTaken unless reg.Override is set, and ErrNotPermitted if a plugin sets
// it without the operator's leave; both leave the registry unchanged.
func (r *Registry) Register(reg Registration) error {
	if reg.Definition == nil {
		return errors.New("registration without a definition\nhint: set Registration.Definition")
	}
	name := reg.Definition.Name
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.entries[name]; old != nil {
		if err := r.mayReplace(old, &reg); err != nil {
			r.log.Error("registration refused", "tool", name, "toolset", reg.Toolset, "held_by", old.Toolset, "err", err)
			return err
		}
		r.log.Info("tool replaced", "tool", name, "toolset", reg.Toolset, "was", old.Toolset)
		if old.Toolset != reg.Toolset {
			r.leave(old.Toolset, name)
			r.join(reg.Toolset, name)
		}
	} else {
		r.join(reg.Toolset, name)
	}
	r.entries[name] = r.keep(reg)
	r.generation++
	return nil
}

func (r *Registry) mayReplace(old, reg *Registration) error {
	name := reg.Definition.Name
	if old.Toolset == reg.Toolset {
		return nil
	}
	if !reg.Override {
		return fmt.Errorf("%w: %q of toolset %q is held by toolset %q\nhint: rename the tool, or register it with Override", ErrNameTaken, name, reg.Toolset, old.Toolset)
	}
	if reg.Owner != "" && !r.policy[reg.Owner.root()] {
		return fmt.Errorf("%w: %q may not override %q\nhint: set allow_tool_override for the plugin if you trust it", ErrNotPermitted, reg.Owner, name)
	}
	return nil
}

// Deregister removes a tool on behalf of caller. An unknown name is no error
// and changes nothing. A plugin may remove its own tools and those of MCP
// servers; for others it needs the operator's leave, else ErrNotPermitted (or
// it could remove a tool first and then register without Override). With the
// last tool of a toolset its aliases go too.
func (r *Registry) Deregister(name string, caller Owner) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := r.entries[name]
	if entry == nil {
		return nil
	}
	foreign := caller != "" && caller.root() != entry.Owner.root()
	if foreign && !strings.HasPrefix(entry.Toolset, mcpPrefix) && !r.policy[caller.root()] {
		err := fmt.Errorf("%w: %q may not remove %q\nhint: set allow_tool_override for the plugin if you trust it", ErrNotPermitted, caller, name)
		r.log.Error("removal refused", "tool", name, "toolset", entry.Toolset, "err", err)
		return err
	}
	delete(r.entries, name)
	r.leave(entry.Toolset, name)
	if r.toolsets[entry.Toolset] == nil {
		maps.DeleteFunc(r.aliases, func(_, target string) bool { return target == entry.Toolset })
	}
	r.generation++
	return nil
}

// Exchange removes tools and registers others at once: whoever reads sees all of it
// or nothing. It is for who owns them all; a new name that another toolset holds, or
// a registration without a definition, is an error that changes nothing.
func (r *Registry) Exchange(gone []string, come []Registration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range come {
		if come[i].Definition == nil {
			return errors.New("registration without a definition\nhint: set Registration.Definition")
		}
		name := come[i].Definition.Name
		if old := r.entries[name]; old != nil && !slices.Contains(gone, name) {
			if err := r.mayReplace(old, &come[i]); err != nil {
				return err
			}
		}
	}
	for _, name := range gone {
		if old := r.entries[name]; old != nil {
			delete(r.entries, name)
			r.leave(old.Toolset, name)
		}
	}
	for i := range come {
		name := come[i].Definition.Name
		if old := r.entries[name]; old != nil {
			r.leave(old.Toolset, name)
		}
		r.join(come[i].Toolset, name)
		r.entries[name] = r.keep(come[i])
	}
	r.generation++
	return nil
}

// slabSize is how many registrations are allocated at once.
const slabSize = 64

// keep copies a registration to where it can stay. Registrations are replaced,
// never changed, so readers may hold on to them outside the lock.
func (r *Registry) keep(reg Registration) *Registration {
	if len(r.slab) == cap(r.slab) {
		r.slab = make([]Registration, 0, slabSize)
	}
	r.slab = append(r.slab, reg)
	return &r.slab[len(r.slab)-1]
}

// members are the tools of one toolset. They are sorted when somebody asks, so
// that a server with thousands of tools registers in linear time.
type members struct {
	names  []string
	sorted bool
}

func (r *Registry) join(toolset, name string) {
	m := r.toolsets[toolset]
	if m == nil {
		m = &members{names: make([]string, 0, 16), sorted: true}
		r.toolsets[toolset] = m
	}
	m.sorted = m.sorted && (len(m.names) == 0 || m.names[len(m.names)-1] < name)
	m.names = append(m.names, name)
}

func (r *Registry) leave(toolset, name string) {
	m := r.toolsets[toolset]
	i := slices.Index(m.names, name)
	m.names = slices.Delete(m.names, i, i+1)
	if len(m.names) == 0 {
		delete(r.toolsets, toolset)
	}
}

// RegisterAlias lets alias stand for toolset. An alias that is taken is
// replaced with a warning.
func (r *Registry) RegisterAlias(alias, toolset string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.aliases[alias]; ok && old != toolset {
		r.log.Warn("alias replaced", "alias", alias, "toolset", toolset, "was", old)
	}
	r.aliases[alias] = toolset
	r.generation++
}

// Generation counts the changes so far: registrations, removals, aliases. Two
// reads with equal generations saw the same tools.
func (r *Registry) Generation() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.generation
}

// Entry returns the registration of a tool.
func (r *Registry) Entry(name string) (Registration, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if e := r.entries[name]; e != nil {
		return *e, true
	}
	return Registration{}, false
}

// Toolset returns the toolset that holds a tool.
func (r *Registry) Toolset(name string) (string, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if e := r.entries[name]; e != nil {
		return e.Toolset, true
	}
	return "", false
}

// Names returns the names of all tools, sorted.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.entries))
}

// Toolsets returns the names of all toolsets that hold a tool, sorted.
func (r *Registry) Toolsets() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.toolsets))
}

// ToolsIn returns the names of the tools that toolset holds, sorted.
func (r *Registry) ToolsIn(toolset string) []string {
	r.mu.RLock()
	m := r.toolsets[toolset]
	if m == nil || m.sorted {
		defer r.mu.RUnlock()
		if m == nil {
			return nil
		}
		return slices.Clone(m.names)
	}
	r.mu.RUnlock()

	r.mu.Lock()
	defer r.mu.Unlock()
	if m = r.toolsets[toolset]; m == nil {
		return nil
	}
	slices.Sort(m.names)
	m.sorted = true
	return slices.Clone(m.names)
}

// Alias returns the toolset that alias stands for.
func (r *Registry) Alias(alias string) (string, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	toolset, ok := r.aliases[alias]
	return toolset, ok
}

// RequiredEnv returns, for each toolset that needs any, the environment
// variables that its tools name, sorted and without repeats.
func (r *Registry) RequiredEnv() map[string][]string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	required := make(map[string][]string)
	for _, e := range r.entries {
		if len(e.RequiresEnv) > 0 {
			required[e.Toolset] = append(required[e.Toolset], e.RequiresEnv...)
		}
	}
	for toolset, names := range required {
		slices.Sort(names)
		required[toolset] = slices.Compact(names)
	}
	return required
}

// MaxResultSize returns the cap in characters of a tool's result: its own, else
// fallback if positive, else DefaultMaxResultSize.
func (r *Registry) MaxResultSize(name string, fallback int) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if e := r.entries[name]; e != nil && e.MaxResultSize > 0 {
		return e.MaxResultSize
	}
	if fallback > 0 {
		return fallback
	}
	return DefaultMaxResultSize
}
