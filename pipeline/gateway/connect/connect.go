// Package connect opens a gateway to what is really there: files, services, MCP servers,
// models, and an audit log on disk. Simulated endpoints are simulated in real time.
package connect

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint/builtin"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint/mcp"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint/sim"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint/web"
	"github.com/toolgauge/toolgauge/pipeline/gateway/model"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// Gateway is a gateway with everything that it holds open.
type Gateway struct {
	*gateway.Gateway
	start    time.Time
	web      *web.Client
	builtins map[string]endpoint.Endpoint
	audit    *audit.Log
	models   []*model.Client
	servers  *mcp.Hub
	changed  chan struct{} // filled when the tools of servers are others
	ended    chan struct{} // closed when nobody reads changed any more
	faults   atomic.Pointer[error]
}

// Open opens everything that a configuration names, on the machine's clock, and
// publishes its tools in a registry, if one is given. The caller closes it.
func Open(ctx context.Context, config *card.Config, r *registry.Registry) (_ *Gateway, err error) {
	g := &Gateway{start: time.Now(), builtins: make(map[string]endpoint.Endpoint)}
	defer func() {
		if err != nil {
			_ = g.Close() // the first error tells more
		}
	}()
	g.web = web.NewClient(web.Options{Clock: clock.Wall{}})
	for _, t := range builtin.Tools(clock.Wall{}, config.Folders) {
		g.builtins["internal://builtin/"+t.Name] = t.Endpoint
	}
	o := gateway.Options{Config: config, Registry: r, Publish: r != nil, Open: func(c *card.Card) (endpoint.Endpoint, error) { return g.endpoint(config, c) }}
	if config.Audit.Path != "" {
		if g.audit, err = audit.Open(config.Audit.Path, audit.Options{Fsync: config.Audit.Fsync}); err != nil {
			return nil, err
		}
		o.Audit = g.audit
	}
	if o.Summarise, o.Embed, err = g.askModels(config); err != nil {
		return nil, err
	}
	if len(config.Servers) > 0 {
		g.changed = make(chan struct{}, 1)
		g.servers, err = mcp.Open(ctx, config.Servers, mcp.Options{Changed: func(string) {
			select {
			case g.changed <- struct{}{}:
			default: // a change that was not looked at yet covers this one
			}
		}})
		if err != nil {
			return nil, err
		}
		o.Cards = g.servers.Cards()
	}
	if g.Gateway, err = gateway.New(o); err != nil {
		return nil, err
	}
	if g.servers != nil {
		g.ended = make(chan struct{})
		go g.follow()
	}
	return g, nil
}

// follow registers the tools of MCP servers anew whenever they change.
func (g *Gateway) follow() {
	defer close(g.ended)
	for range g.changed {
		if err := g.Reload(g.Config(), g.servers.Cards()); err != nil {
			g.faults.Store(&err)
		}
	}
}

// ServerCards are those of the MCP servers, as Watch takes them.
func (g *Gateway) ServerCards() []*card.Card {
	if g.servers == nil {
		return nil
	}
	return g.servers.Cards()
}

// Notes tell of MCP servers that do not answer, of their tools that are left out, and of
// the last change of their tools that could not be taken over, a sentence each.
func (g *Gateway) Notes() (notes []string) {
	if g.servers == nil {
		return nil
	}
	for _, s := range g.servers.Servers() {
		if !s.Up {
			notes = append(notes, fmt.Sprintf("MCP server %s does not answer: %v", s.Label, s.Err))
		}
		for _, reason := range s.LeftOut {
			notes = append(notes, fmt.Sprintf("MCP server %s: %s", s.Label, reason))
		}
	}
	if fault := g.faults.Load(); fault != nil {
		notes = append(notes, fmt.Sprintf("the servers' new tools are not in use: %v", *fault))
	}
	return notes
}

// askModels opens the model endpoints.
func (g *Gateway) askModels(config *card.Config) (
	summarise func(context.Context, string, int) (string, error), embed func(context.Context, []string) ([][]float32, error), err error,
) {
	open := func(m *card.Model) (*model.Client, error) {
		client, err := model.New(*m, model.Options{Web: g.web})
		if err == nil {
			g.models = append(g.models, client)
		}
		return client, err
	}
	if config.Model != nil {
		client, err := open(config.Model)
		if err != nil {
			return nil, nil, fmt.Errorf("model: %w", err)
		}
		summarise = client.Summarise
	}
	if config.Embed != nil {
		client, err := open(config.Embed)
		if err != nil {
			return nil, nil, fmt.Errorf("embed: %w", err)
		}
		embed = client.Embed
	}
	return summarise, embed, nil
}

// endpoint opens what a card's target names.
func (g *Gateway) endpoint(config *card.Config, c *card.Card) (endpoint.Endpoint, error) {
	u, err := url.Parse(c.Target)
	if err != nil {
		return nil, fmt.Errorf("its target is no address\nhint: write it as https://HOST/PATH")
	}
	switch u.Scheme {
	case "internal":
		if e := g.builtins[strings.TrimSuffix(c.Target, "/")]; e != nil {
			return e, nil
		}
		return nil, fmt.Errorf("nothing inside the program is called %q\nhint: see the names in docs/format.md", c.Target)
	case "http", "https":
		return g.web.Open(c.Target)
	case "sim":
		m := config.Simulated[u.Host]
		if m == nil {
			return nil, fmt.Errorf("there is no simulation %q\nhint: describe it under simulations", u.Host)
		}
		return sim.New(m, sim.Options{Timeline: clock.Wall{}, Start: g.start}), nil
	case "mcp", "hermes":
		server, _ := card.MCPServer(c.Target)
		return g.servers.Endpoint(server, card.MCPTool(c.Target)), nil
	default:
		return nil, nil // the registry's own
	}
}

// Close ends everything that Open began.
func (g *Gateway) Close() error {
	if g.servers != nil {
		g.servers.Close() // from then on nothing changes
		close(g.changed)
		if g.ended != nil {
			<-g.ended
		}
	}
	for _, m := range g.models {
		m.Close()
	}
	if g.web != nil {
		g.web.Close()
	}
	if g.audit != nil {
		return g.audit.Close()
	}
	return nil
}

// NewID is a session id that no other session has.
func NewID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	return "session-" + hex.EncodeToString(id[:])
}
