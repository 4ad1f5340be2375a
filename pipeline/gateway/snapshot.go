package gateway

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolgauge/toolgauge/pipeline/bridge/judge"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// snapshot is everything that a configuration says, checked and ready. Calls keep
// the one that they began with; a reload makes another.
type snapshot struct {
	config *card.Config
	tools  []*tool // the configuration's and those of MCP servers, by id
	byID   map[string]*tool
	byName map[string]*tool

	mu      sync.Mutex
	derived map[*registry.Definition]*tool // of the registry's tools
	catalog *catalog
}

// tool is a card with what carries it out.
type tool struct {
	*card.Card
	serial   uint64 // differs between any two tools of a gateway
	endpoint endpoint.Endpoint
	behind   string // what its breaker and its bulkhead stand for
	shared   *Shared
	schema   string
}

var serials atomic.Uint64

func (t *tool) judge() *judge.Judge { return t.shared.judge(t.schema) }

// safe reports whether a second try cannot have a second effect.
func (t *tool) safe() bool { return t.Idempotent || t.ReadOnly }

// Reload puts a configuration, and the cards of other sources, in the place of those
// before, at once. Calls under way end as they began. An error changes nothing; it
// names every fault.
func (g *Gateway) Reload(config *card.Config, cards []*card.Card) error {
	g.reload.Lock()
	defer g.reload.Unlock()
	complete, err := config.Complete(cards...)
	if err != nil {
		return err
	}
	old := g.snapshot.Load()
	next := &snapshot{
		config: config, derived: make(map[*registry.Definition]*tool),
		byID: make(map[string]*tool, len(complete)), byName: make(map[string]*tool, len(complete)),
	}
	var faults []error
	for _, c := range complete {
		t, err := g.open(c)
		if err != nil {
			faults = append(faults, fmt.Errorf("tool %q: %w", c.ID, err))
			continue
		}
		next.tools = append(next.tools, t)
		next.byID[c.ID], next.byName[c.Name] = t, t
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	g.snapshot.Store(next) // first: what is listed can always be called
	if g.options.Publish {
		if err := g.publish(old, next); err != nil {
			g.snapshot.Store(old)
			return err
		}
	}
	g.cache.Clear()
	return nil
}

// open makes a card ready for calls.
func (g *Gateway) open(c *card.Card) (*tool, error) {
	t := &tool{Card: c, serial: serials.Add(1), shared: g.options.Shared, schema: string(c.InputSchema), behind: behind(c)}
	switch {
	case len(c.Steps) > 0:
		return t, nil
	case c.Target == card.ResultReadTarget:
		t.endpoint = reader{g}
		return t, nil
	}
	if g.options.Open != nil {
		var err error
		if t.endpoint, err = g.options.Open(c); err != nil {
			return nil, err
		}
	}
	if t.endpoint == nil {
		if g.options.Registry == nil {
			return nil, fmt.Errorf("nothing carries out %q\nhint: give the card an endpoint.target", c.Target)
		}
		t.endpoint = registered{registry: g.options.Registry, name: c.Name}
	}
	return t, nil
}

// behind names what a card's calls reach: a server, a host, a toolset.
func behind(c *card.Card) string {
	u, err := url.Parse(c.Target)
	if c.Target == "" || err != nil {
		return c.Toolset
	}
	if u.Scheme == "internal" {
		return c.Target
	}
	return u.Scheme + "://" + u.Host
}

// publisher owns what a gateway registers. A card's tool that is not in the snapshot is
// gone, whatever the registry still lists: nobody may call it without its card.
const publisher registry.Owner = "gateway"

// publish brings the registry from one snapshot to the next.
func (g *Gateway) publish(old, next *snapshot) error {
	var gone []string
	if old != nil {
		for _, t := range old.tools {
			if next.byName[t.Name] == nil {
				gone = append(gone, t.Name)
			}
		}
	}
	var come []registry.Registration
	for _, t := range next.tools {
		if old != nil && old.byName[t.Name] != nil && sameDefinition(old.byName[t.Name].Card, t.Card) {
			continue
		}
		d, err := registry.Define(t.Name, t.Description, t.InputSchema)
		if err != nil {
			return err
		}
		come = append(come, registry.Registration{Toolset: t.Toolset, Definition: d, Handler: bare(t), Owner: publisher})
	}
	return g.options.Registry.Exchange(gone, come)
}

func sameDefinition(a, b *card.Card) bool {
	return a.Description == b.Description && a.Toolset == b.Toolset && string(a.InputSchema) == string(b.InputSchema)
}

// find returns the tool of an id or a model-visible name, or nil.
func (g *Gateway) find(s *snapshot, name string) *tool {
	if t := s.byName[name]; t != nil {
		return t
	}
	if t := s.byID[name]; t != nil {
		return t
	}
	if g.options.Registry == nil {
		return nil
	}
	entry, ok := g.options.Registry.Entry(name)
	if !ok || entry.Handler == nil || entry.Owner == publisher { // the snapshot alone knows those
		return nil
	}
	return g.derive(s, &entry)
}

// derive makes the card of a tool that is in the registry only.
func (g *Gateway) derive(s *snapshot, entry *registry.Registration) *tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.derived[entry.Definition]; t != nil {
		return t
	}
	d := entry.Definition
	c := s.config.Derive(card.Card{
		ID: IDOf(entry.Toolset, d.Name), Name: d.Name, Description: d.Description, InputSchema: d.Parameters,
		Toolset: entry.Toolset, ReadOnly: entry.ReadOnly,
	})
	t := &tool{
		Card: c, serial: serials.Add(1), shared: g.options.Shared, schema: string(d.Parameters), behind: entry.Toolset,
		endpoint: registered{registry: g.options.Registry, name: d.Name},
	}
	s.derived[d] = t
	return t
}

// IDOf is the id of a registry's tool: an address for that of an MCP server, its name
// for others.
func IDOf(toolset, name string) string {
	server, ok := strings.CutPrefix(toolset, "mcp-")
	if !ok {
		return name
	}
	tool := strings.TrimPrefix(name, "mcp__")
	if _, after, ok := strings.Cut(tool, "__"); ok {
		tool = after
	}
	return "hermes://mcp/" + server + "/" + tool
}

// Cards returns the cards of the configuration and of MCP servers that a session of
// some teams may see, by id.
func (g *Gateway) Cards(teams []string) []*card.Card {
	var seen []*card.Card
	for _, t := range g.snapshot.Load().tools {
		if t.Visible(teams) {
			seen = append(seen, t.Card)
		}
	}
	return seen
}

// Config returns the configuration in use.
func (g *Gateway) Config() *card.Config { return g.snapshot.Load().config }

// all returns every tool, those of the registry included, in the order of their names.
func (g *Gateway) all(s *snapshot) []*tool {
	byName := maps.Clone(s.byName)
	if r := g.options.Registry; r != nil {
		for _, name := range r.Names() {
			if byName[name] == nil {
				if entry, ok := r.Entry(name); ok && entry.Handler != nil && entry.Owner != publisher {
					byName[name] = g.derive(s, &entry)
				}
			}
		}
	}
	tools := make([]*tool, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		tools = append(tools, byName[name])
	}
	return tools
}
