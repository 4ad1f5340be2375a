// Package mcp carries calls to MCP servers: processes of their own, and addresses.
//
// The steps: connect to all servers at once and list their tools ([Open]); make cards
// of these ([Hub.Cards]); send calls, many at a time over one connection
// ([Hub.Endpoint]). A server that says that its tools have changed is asked for them
// again. One that dies is started again, after a pause that doubles from time to time,
// and asked again.
//
// The promise: a server that is dead, slow or broken keeps none of the others from
// answering. Its tools are not forgotten while it is away: calls of them fail as
// unavailable. A definition is kept as the server sent it. A call that is given up
// leaves the connection to the others. After Close no process and no goroutine is left.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/internal/mcpserver"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// Defaults of Options.
const (
	DefaultStartTimeout = time.Minute
	DefaultPauseMin     = time.Second
	DefaultPauseMax     = time.Minute
)

// Options sets up a Hub.
type Options struct {
	// Timeline is the time of the pauses before a server is started again; nil means
	// the machine's. Servers themselves live in the machine's time.
	Timeline clock.Timeline
	// StartTimeout bounds the time from a server's start to its last page of tools, and
	// that of asking for them again. 0 means a minute: packages may have to load.
	StartTimeout time.Duration
	// PauseMin and PauseMax are the first and the longest pause before a server is
	// started again. 0 means a second and a minute. PauseMin also is the least time
	// between a list of tools and the next, however often a server says that it changed.
	PauseMin, PauseMax time.Duration
	// Changed is called, if it is set, when a server's tools have changed, when it has
	// died, and when it is back; by then [Hub.Servers] tells so. It is called by several
	// goroutines, never twice at once for one server, and must not call Close.
	Changed func(server string)
}

// Tool is a tool as its server defines it.
type Tool struct {
	Server string
	Name   string
	Raw    json.RawMessage // the definition, byte for byte
	// Generation is the number of the listing, from 1, in which this definition came
	// up first: it changes if and only if the definition does.
	Generation int
}

// State is what is known of one server.
type State struct {
	Label string
	Up    bool
	// Err is why a server is not up, or why its tools could not be listed again.
	Err error
	// Tools are those of the last listing, in its order; of a server that is away too.
	Tools []Tool
	// LeftOut says, a sentence each, which definitions are no tools here and why.
	LeftOut []string
}

// Hub holds the connections to MCP servers. It is safe for concurrent use.
type Hub struct {
	options Options
	servers []*server
	byLabel map[string]*server
	ended   context.Context
	end     context.CancelFunc
	running sync.WaitGroup
}

// Open connects to servers and lists their tools, all at once. It returns when each of
// them has answered or failed; those that failed are tried again from time to time. Its
// error names every server, if none answered, or is that of the context, which bounds
// the opening alone. Labels must differ.
func Open(ctx context.Context, servers []mcpserver.Server, o Options) (*Hub, error) {
	if o.Timeline == nil {
		o.Timeline = clock.Wall{}
	}
	o.StartTimeout = cmp.Or(o.StartTimeout, DefaultStartTimeout)
	o.PauseMin, o.PauseMax = cmp.Or(o.PauseMin, DefaultPauseMin), cmp.Or(o.PauseMax, DefaultPauseMax)
	h := &Hub{options: o, byLabel: make(map[string]*server, len(servers))}
	h.ended, h.end = context.WithCancel(context.Background())
	for _, entry := range servers {
		s := &server{hub: h, entry: entry, secrets: entry.Secrets(), tried: make(chan struct{})}
		h.servers = append(h.servers, s)
		h.byLabel[entry.Label] = s
	}
	for _, s := range h.servers {
		h.running.Go(s.run)
	}
	for _, s := range h.servers {
		select {
		case <-s.tried:
		case <-ctx.Done():
			h.Close()
			return nil, ctx.Err()
		}
	}
	if err := h.allDown(); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// allDown is the error of servers none of which answers.
func (h *Hub) allDown() error {
	var reasons []string
	for _, s := range h.Servers() {
		if s.Up {
			return nil
		}
		reasons = append(reasons, fmt.Sprintf("server %s: %v", s.Label, s.Err))
	}
	if len(reasons) == 0 {
		return nil
	}
	return fmt.Errorf("none of the MCP servers answers\n%s\nhint: start one of them by hand with the command of its entry", strings.Join(reasons, "\n"))
}

// Close ends all servers and connections, and waits for that. Calls fail from then on.
func (h *Hub) Close() {
	h.end()
	h.running.Wait()
}

// Servers tells of all servers, in the order in which they were given.
func (h *Hub) Servers() []State {
	states := make([]State, len(h.servers))
	for i, s := range h.servers {
		states[i] = s.state()
	}
	return states
}

// Cards makes a card of every tool of every server, those that are away included. What
// a server says of a tool besides name, description and schema has no say: annotations
// are hints by strangers.
func (h *Hub) Cards() []*card.Card {
	var cards []*card.Card
	for _, s := range h.Servers() {
		for _, t := range s.Tools {
			d, _ := definitionOf(t.Raw) // it was read when it was listed
			cards = append(cards, &card.Card{
				ID: card.MCPID(t.Server, t.Name), Name: card.MCPName(t.Server, t.Name), Toolset: "mcp-" + t.Server,
				Description: d.Description, InputSchema: d.InputSchema, Target: card.MCPTarget(t.Server, t.Name),
			})
		}
	}
	return cards
}

// Endpoint is where calls of a server's tool go. It outlives the server's connections,
// and may be had before the tool is known.
func (h *Hub) Endpoint(server, tool string) endpoint.Endpoint {
	return remote{server: h.byLabel[server], label: server, tool: tool}
}

// errClosed is why a server is not up after Close.
var errClosed = errors.New("the connection was closed")

// state copies what is known of a server.
func (s *server) state() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{Label: s.entry.Label, Up: s.live != nil, Err: s.err, Tools: slices.Clone(s.tools), LeftOut: slices.Clone(s.leftOut)}
}
