// Package toolset decides which tools a session gets: it turns the names of
// toolsets into the names of tools.
//
// A Table holds the fixed toolsets: groups of tools that may include one
// another. A Resolver lays the registry over it, so that a tool which a plugin
// or an MCP server registers under a toolset's name belongs to that toolset,
// and a toolset that only the registry knows can be named too. Names that
// nobody knows resolve to nothing.
//
// The opinion it holds: tools are granted by how far an entry point is trusted,
// not by completeness. Most bundles share one core list; the one that reads
// untrusted text has a short list of its own.
package toolset

import (
	"fmt"
	"slices"
	"strings"
)

// bundlePrefix starts the name of every platform bundle.
const bundlePrefix = "hermes-"

// mcpPrefix starts the toolset name of every MCP server's tools.
const mcpPrefix = "mcp-"

// Toolset is a named group of tools.
type Toolset struct {
	Name        string
	Description string
	// Tools are the direct members in declaration order.
	Tools []string
	// Includes names toolsets whose tools belong to this one too.
	Includes []string
	// Posture marks a selection of the core for a way of working: disabling it
	// takes away only what it adds to the core.
	Posture bool
}

// Lists are the tools that a table names beside its toolsets.
type Lists struct {
	// Core holds what every full bundle holds.
	Core []string
	// WebhookSafe holds what untrusted entry points may reach.
	WebhookSafe []string
	// Defer holds the core tools that defer where nobody configures a list, in
	// pipelines in which core tools do.
	Defer []string
}

// Table is the fixed part: toolsets in declaration order, and the lists. It is
// immutable.
type Table struct {
	sets   []Toolset
	index  map[string]int
	lists  Lists
	isCore map[string]bool
	sorted [][]string // the tools of each set, sorted
	all    []string   // those of all sets, sorted
}

// NewTable checks and keeps toolsets. It fails on a missing or repeated name
// and on an include that names no toolset.
func NewTable(lists Lists, sets []Toolset) (*Table, error) {
	t := &Table{
		sets:   slices.Clone(sets),
		index:  make(map[string]int, len(sets)),
		lists:  Lists{slices.Clone(lists.Core), slices.Clone(lists.WebhookSafe), slices.Clone(lists.Defer)},
		isCore: make(map[string]bool, len(lists.Core)),
	}
	for _, name := range lists.Core {
		t.isCore[name] = true
	}
	for i, s := range sets {
		if s.Name == "" {
			return nil, fmt.Errorf("toolset %d has no name\nhint: give every toolset a name", i+1)
		}
		if _, taken := t.index[s.Name]; taken || s.Name == "all" || s.Name == "*" {
			return nil, fmt.Errorf("toolset %q is declared twice or reserved\nhint: keep one declaration", s.Name)
		}
		t.index[s.Name] = i
	}
	for _, s := range sets {
		for _, include := range s.Includes {
			if _, ok := t.index[include]; !ok {
				return nil, fmt.Errorf("toolset %q includes unknown toolset %q\nhint: declare it, or remove it from includes", s.Name, include)
			}
		}
		t.sorted = append(t.sorted, sortedUnion(s.Tools))
		t.all = append(t.all, s.Tools...)
	}
	t.all = sortedUnion(t.all)
	return t, nil
}

// Core returns the tools that every full bundle holds.
func (t *Table) Core() []string { return slices.Clone(t.lists.Core) }

// IsCore reports whether a tool is on the core list.
func (t *Table) IsCore(tool string) bool { return t.isCore[tool] }

// WebhookSafe returns the tools for entry points that carry third-party text.
func (t *Table) WebhookSafe() []string { return slices.Clone(t.lists.WebhookSafe) }

// Defer returns the core tools that defer where nobody configures a list.
func (t *Table) Defer() []string { return slices.Clone(t.lists.Defer) }

// Names returns the fixed toolsets' names in declaration order.
func (t *Table) Names() []string {
	names := make([]string, len(t.sets))
	for i, s := range t.sets {
		names[i] = s.Name
	}
	return names
}

// Static returns a fixed toolset as declared, without what the registry adds.
func (t *Table) Static(name string) (Toolset, bool) {
	i, ok := t.index[name]
	if !ok {
		return Toolset{}, false
	}
	s := t.sets[i]
	s.Tools, s.Includes = slices.Clone(s.Tools), slices.Clone(s.Includes)
	return s, true
}

// Registry is what a Resolver asks about registered tools.
type Registry interface {
	// Toolsets returns the names of the toolsets that hold a tool.
	Toolsets() []string
	// ToolsIn returns the tools registered under a toolset's name, sorted.
	ToolsIn(toolset string) []string
	// Alias returns the toolset that an alias stands for.
	Alias(name string) (string, bool)
}

// Resolver answers for the fixed toolsets and the registered ones together.
type Resolver struct {
	table    *Table
	registry Registry
}

// NewResolver lays a registry over a table; a nil registry leaves the table
// alone.
func NewResolver(t *Table, r Registry) *Resolver { return &Resolver{table: t, registry: r} }

// Table returns the fixed part.
func (r *Resolver) Table() *Table { return r.table }

// Get returns a toolset with the tools registered under its name merged in
// (sorted), or false if nobody knows the name.
func (r *Resolver) Get(name string) (Toolset, bool) {
	set, static := r.table.Static(name)
	if r.registry == nil {
		return set, static
	}
	if static {
		if registered := r.registry.ToolsIn(name); len(registered) > 0 {
			set.Tools = sortedUnion(set.Tools, registered)
		}
		return set, true
	}
	target, tools := name, r.registry.ToolsIn(name)
	if len(tools) == 0 {
		alias, ok := r.registry.Alias(name)
		if !ok {
			return Toolset{}, false
		}
		target, tools = alias, r.registry.ToolsIn(alias)
	}
	description := "Plugin toolset: " + name
	if server, ok := strings.CutPrefix(target, mcpPrefix); ok {
		description = "Tools of MCP server " + server
	}
	return Toolset{Name: name, Description: description, Tools: tools}, true
}

// Names returns the names of all toolsets, fixed and registered, sorted.
func (r *Resolver) Names() []string {
	names := r.table.Names()
	if r.registry != nil {
		names = append(names, r.registry.Toolsets()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Valid reports whether a name can be enabled: all, *, a fixed toolset, a
// toolset of the registry, or an alias.
func (r *Resolver) Valid(name string) bool {
	if name == "all" || name == "*" {
		return true
	}
	_, ok := r.Get(name)
	return ok
}

// Resolve returns the tools of the named toolsets, includes followed, sorted
// and without repeats. all and * stand for every toolset. Unknown names add
// nothing; a cycle of includes ends where it began.
func (r *Resolver) Resolve(names ...string) []string {
	var lists [][]string // each sorted
	for _, name := range names {
		lists = r.walk(name, make(map[string]bool, 1), lists)
	}
	return merged(lists)
}

// walk adds a toolset's tools. Includes share visited, which ends cycles and
// reads a diamond's bottom once.
func (r *Resolver) walk(name string, visited map[string]bool, lists [][]string) [][]string {
	if name == "all" || name == "*" {
		return r.everything(lists)
	}
	if visited[name] {
		return lists
	}
	visited[name] = true
	i, static := r.table.index[name]
	lists = append(lists, r.registered(name, static))
	if !static {
		return lists
	}
	lists = append(lists, r.table.sorted[i])
	for _, include := range r.table.sets[i].Includes {
		lists = r.walk(include, visited, lists)
	}
	return lists
}

// everything adds the tools of every toolset: each branch of all starts afresh,
// so what one has visited does not matter to the next, and the union over the
// fixed toolsets is the same every time.
func (r *Resolver) everything(lists [][]string) [][]string {
	lists = append(lists, r.table.all)
	if r.registry != nil {
		for _, name := range r.registry.Toolsets() {
			lists = append(lists, r.registry.ToolsIn(name))
		}
	}
	return lists
}

// merged is the union of sorted lists. The tools of a source mostly have a prefix
// of their own, so that taken by their first tools the lists hardly overlap.
func merged(lists [][]string) []string {
	size := 0
	lists = slices.DeleteFunc(lists, func(list []string) bool {
		size += len(list)
		return len(list) == 0
	})
	slices.SortFunc(lists, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	union := make([]string, 0, size)
	for _, list := range lists {
		union = merge(union, list)
	}
	return slices.Compact(union)
}

// merge adds a sorted list to another, from the back as far as they overlap.
func merge(union, list []string) []string {
	i, j := len(union), len(list)
	union = append(union, list...)
	for k := len(union) - 1; i > 0 && j > 0; k-- {
		if union[i-1] > list[j-1] {
			i--
			union[k] = union[i]
		} else {
			j--
			union[k] = list[j]
		}
	}
	copy(union, list[:j])
	return union
}

// registered returns the tools that the registry holds under a toolset's name
// or, for a name that is no fixed toolset and holds none, under the toolset that
// it is an alias of.
func (r *Resolver) registered(name string, static bool) []string {
	if r.registry == nil {
		return nil
	}
	tools := r.registry.ToolsIn(name)
	if len(tools) == 0 && !static {
		if target, ok := r.registry.Alias(name); ok {
			tools = r.registry.ToolsIn(target)
		}
	}
	return tools
}

// NonCore returns what a bundle adds to the core: its direct tools and those of
// one level of includes, less the core list; sorted. For a name that is no
// toolset it is empty.
func (r *Resolver) NonCore(name string) []string {
	set, ok := r.Get(name)
	if !ok {
		return nil
	}
	tools := set.Tools
	for _, include := range set.Includes {
		if included, ok := r.Get(include); ok {
			tools = append(tools, included.Tools...)
		}
	}
	tools = slices.DeleteFunc(sortedUnion(tools), r.table.IsCore)
	return tools
}

// Disables returns the tools that disabling a toolset takes away. For a platform
// bundle or a posture that is only what it adds to the core: the core is shared
// by all bundles, and subtracting it would leave a session with nothing.
func (r *Resolver) Disables(name string) []string {
	set, ok := r.Get(name)
	if strings.HasPrefix(name, bundlePrefix) || (ok && set.Posture) {
		return r.NonCore(name)
	}
	return r.Resolve(name)
}

// Info describes a toolset to people.
type Info struct {
	Toolset
	// Resolved are all its tools with includes followed, sorted.
	Resolved []string
	// Composite reports that it includes other toolsets.
	Composite bool
}

// Info returns a toolset with its resolved tools.
func (r *Resolver) Info(name string) (Info, bool) {
	set, ok := r.Get(name)
	if !ok {
		return Info{}, false
	}
	return Info{Toolset: set, Resolved: r.Resolve(name), Composite: len(set.Includes) > 0}, true
}

func sortedUnion(lists ...[]string) []string {
	union := slices.Concat(lists...)
	slices.Sort(union)
	return slices.Compact(union)
}
