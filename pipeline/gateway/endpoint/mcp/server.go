package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/internal/mcpserver"
	"github.com/toolgauge/toolgauge/pipeline/bridge/judge"
)

// Bounds on what a server may send: of one message, and between two answers.
const (
	messageMax = 32 << 20
	outputMax  = 64 << 20
)

// server is one entry, whether it is up or not.
type server struct {
	hub     *Hub
	entry   mcpserver.Server
	secrets mcpserver.Secrets
	tried   chan struct{} // closed when the first attempt has come to something

	mu       sync.Mutex
	live     *connection // nil: it is not up
	err      error
	tools    []Tool
	leftOut  []string
	listings int
}

// connection is one life of a server.
type connection struct {
	server  *server
	wire    mcpserver.Wire
	session *sdk.ClientSession
	relist  chan struct{} // holds an element when the tools have changed
	over    chan struct{} // closed when the connection has ended
	why     error         // set before over is closed
}

// run keeps the server up until the hub is closed.
func (s *server) run() {
	o := s.hub.options
	first := sync.OnceFunc(func() { close(s.tried) })
	defer first()
	for pause := time.Duration(0); ; {
		began := o.Timeline.Now()
		c, err := s.connect()
		if err != nil {
			s.down(err)
			first()
		} else {
			select {
			case <-s.tried:
				s.changed()
			default:
				first()
			}
			c.serve()
			s.changed()
		}
		if s.entry.Fault != "" || s.hub.ended.Err() != nil {
			return
		}
		if pause = min(max(2*pause, o.PauseMin), o.PauseMax); o.Timeline.Now().Sub(began) > o.PauseMax {
			pause = o.PauseMin
		}
		if clock.Sleep(s.hub.ended, o.Timeline, pause) != nil {
			return
		}
	}
}

func (s *server) changed() {
	if s.hub.options.Changed != nil && s.hub.ended.Err() == nil {
		s.hub.options.Changed(s.entry.Label)
	}
}

func (s *server) down(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live, s.err = nil, err
}

// connect starts the server, or calls its address. One that does not know the
// handshake that most servers speak is asked again with the newer one.
func (s *server) connect() (*connection, error) {
	if s.entry.Fault != "" {
		return nil, errors.New(s.entry.Fault)
	}
	var err error
	for _, protocol := range []string{mcpserver.ProtocolInitialize, mcpserver.ProtocolDiscover} {
		c := &connection{
			server: s, relist: make(chan struct{}, 1), over: make(chan struct{}),
			wire: mcpserver.Open(s.entry, mcpserver.Options{MessageMax: messageMax, OutputMax: outputMax, Lasting: true}),
		}
		if err = c.open(protocol); err == nil {
			return c, nil
		}
		if !errors.Is(err, mcpserver.ErrRejected) {
			break
		}
	}
	return nil, err
}

// listChanged has the tools listed again.
func (c *connection) listChanged() {
	select {
	case c.relist <- struct{}{}:
	default: // somebody is about to ask anyway
	}
}

// open shakes hands and lists; then the server is up. A connection that fails is ended.
func (c *connection) open(protocol string) error {
	s := c.server
	ctx, cancel := context.WithTimeout(s.hub.ended, s.hub.options.StartTimeout)
	defer cancel()
	// A server that does not read blocks whoever writes to it: only its end frees them.
	stop := context.AfterFunc(ctx, c.wire.End)
	step := mcpserver.StepHandshake
	session, err := newClient(s.entry, c.listChanged).Connect(ctx, mcpserver.Tap{Transport: c.wire}, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err == nil {
		c.session, step = session, mcpserver.StepList
		err = c.list(ctx)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	c.wire.End()
	if session != nil {
		_ = session.Close()
	}
	if s.hub.ended.Err() != nil {
		return errClosed
	}
	return c.lastWords(mcpserver.Explain(ctx, s.entry, c.wire, step, s.hub.options.StartTimeout, err))
}

// lastWords adds to an error what the server wrote last to standard error.
func (c *connection) lastWords(err error) error {
	lines := c.wire.Stderr()
	if len(lines) == 0 {
		return err
	}
	return fmt.Errorf("%w; the last it wrote: %s", err, c.server.secrets.Clean(lines[len(lines)-1]))
}

// serve keeps the list of tools up to date until the connection ends, and the server is
// down.
func (c *connection) serve() {
	ended := make(chan error, 1)
	go func() { ended <- c.session.Wait() }()
	var rest <-chan time.Time
	for relist := c.relist; ; {
		select {
		case <-relist:
			c.refresh()
			// A server that says it without end is not asked without end.
			relist, rest = nil, time.After(c.server.hub.options.PauseMin)
			continue
		case <-rest:
			relist, rest = c.relist, nil
			continue
		case err := <-ended:
			c.wire.End()
			c.why = c.lastWords(c.end(err))
		case <-c.server.hub.ended.Done():
			c.wire.End()
			c.why = errClosed
		}
		_ = c.session.Close()
		c.server.down(c.why)
		close(c.over)
		return
	}
}

// end says how the connection ended.
func (c *connection) end(err error) error {
	switch fault := c.wire.Fault(); {
	case fault != nil:
		return fault
	case err != nil:
		return errors.New(c.server.secrets.Clean(err.Error()))
	}
	return errors.New("it ended the connection")
}

// refresh lists the tools again. If that fails those that are known stay.
func (c *connection) refresh() {
	s := c.server
	ctx, cancel := context.WithTimeout(s.hub.ended, s.hub.options.StartTimeout)
	defer cancel()
	before := s.state()
	if err := c.list(ctx); err != nil {
		err = fmt.Errorf("its tools have changed, but it does not list them: %s", s.secrets.Clean(err.Error()))
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
		return
	}
	if !before.lists(s.state()) {
		s.changed()
	}
}

// lists reports whether two states of a server that is up tell the same of its tools.
func (s State) lists(other State) bool {
	same := func(a, b Tool) bool { return a.Name == b.Name && a.Generation == b.Generation }
	return s.Err == nil && slices.EqualFunc(s.Tools, other.Tools, same) && slices.Equal(s.LeftOut, other.LeftOut)
}

// list takes all tools of the server, which is then up.
func (c *connection) list(ctx context.Context) error {
	s := c.server
	l := listing{server: s, seen: make(map[string]bool)}
	if err := mcpserver.List(ctx, c.session, l.take); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listings++
	before := make(map[string]Tool, len(s.tools))
	for _, t := range s.tools {
		before[t.Name] = t
	}
	for i := range l.tools {
		t := &l.tools[i]
		t.Generation = s.listings
		if known, ok := before[t.Name]; ok && string(known.Raw) == string(t.Raw) {
			t.Generation = known.Generation
		}
	}
	s.live, s.err, s.tools, s.leftOut = c, nil, l.tools, l.leftOut
	return nil
}

// listing is a list of tools that is being taken.
type listing struct {
	server  *server
	seen    map[string]bool
	tools   []Tool
	leftOut []string
}

// take takes the tools of a page, but for those that no gateway can hold.
func (l *listing) take(page []json.RawMessage) {
	secrets := l.server.secrets
	for _, raw := range page {
		d, fault := definitionOf(raw)
		switch {
		case fault != "":
		case l.seen[d.Name]:
			fault = "it is listed twice; the first counts"
		case secrets.KeyIn(string(raw)):
			fault = "it repeats a secret of the entry"
		}
		if fault != "" {
			l.leftOut = append(l.leftOut, secrets.Clean(fmt.Sprintf("tool %.60q: %s", d.Name, fault)))
			continue
		}
		l.seen[d.Name] = true
		l.tools = append(l.tools, Tool{Server: l.server.entry.Label, Name: d.Name, Raw: raw})
	}
}

// definition is what a card takes from a tool's definition.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// definitionOf reads a definition, and says what is wrong with it.
func definitionOf(raw json.RawMessage) (d definition, fault string) {
	switch err := json.Unmarshal(raw, &d); {
	case err != nil:
		return d, "it is no definition of a tool"
	case strings.TrimSpace(d.Name) == "":
		return d, "it has no name"
	}
	if string(d.InputSchema) == "null" {
		d.InputSchema = nil
	}
	if d.InputSchema != nil && (d.InputSchema[0] != '{' || judge.New(d.InputSchema) == nil) {
		return d, "its input schema is no JSON Schema"
	}
	return d, ""
}
