package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tap is a transport that keeps results as they came. A client would sort the keys of
// schemas, drop fields that it does not know, and refuse a whole list for one odd tool;
// it gets an empty result in their place. Which results are kept is up to the context
// of a request: see [Keep].
type Tap struct{ mcp.Transport }

// Kept is the result of one request, as it came.
type Kept struct {
	empty json.RawMessage
	mu    sync.Mutex
	raw   json.RawMessage
}

// Raw returns the last result; nil if none came.
func (k *Kept) Raw() json.RawMessage {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.raw
}

// keptKey is the key of a Kept in a context.
type keptKey struct{}

// Keep returns a context whose requests have their result kept. The client is given
// empty in its place, such as {"tools":[]}.
func Keep(ctx context.Context, empty string) (context.Context, *Kept) {
	k := &Kept{empty: json.RawMessage(empty)}
	return context.WithValue(ctx, keptKey{}, k), k
}

// Connect opens the connection that is tapped.
func (t Tap) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tapped{Connection: c, asked: make(map[any]*Kept)}, nil
}

type tapped struct {
	mcp.Connection
	mu    sync.Mutex
	asked map[any]*Kept // by the ID of the request
}

// Write notes which requests have their result kept. One whose context ends is
// forgotten: its answer need not come.
func (c *tapped) Write(ctx context.Context, m jsonrpc.Message) error {
	request, ok := m.(*jsonrpc.Request)
	if k, keeps := ctx.Value(keptKey{}).(*Kept); ok && keeps && request.IsCall() {
		id := request.ID.Raw()
		c.mu.Lock()
		c.asked[id] = k
		c.mu.Unlock()
		context.AfterFunc(ctx, func() { c.take(id) })
	}
	return c.Connection.Write(ctx, m)
}

func (c *tapped) take(id any) *Kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.asked[id]
	delete(c.asked, id)
	return k
}

// Read keeps the results of those requests.
func (c *tapped) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	response, ok := m.(*jsonrpc.Response)
	if err != nil || !ok {
		return m, err
	}
	if k := c.take(response.ID.Raw()); k != nil && response.Error == nil {
		k.mu.Lock()
		k.raw = bytes.Clone(response.Result)
		k.mu.Unlock()
		response.Result = k.empty
	}
	return response, nil
}
