package harvest

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tap is a transport that keeps the result of tools/list as it came. The client
// gets an empty list in its place: it would sort the keys of schemas, drop fields
// that it does not know, and refuse the whole list for one odd tool.
type tap struct {
	mcp.Transport
	mu     sync.Mutex
	asked  map[any]bool // IDs of the requests for a list
	result json.RawMessage
}

// Connect opens the connection that is tapped.
func (t *tap) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.asked = make(map[any]bool)
	return &tapped{c, t}, nil
}

// take returns the last result.
func (t *tap) take() json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	raw := t.result
	t.result = nil
	return raw
}

type tapped struct {
	mcp.Connection
	tap *tap
}

// Write notes which requests ask for a list.
func (c *tapped) Write(ctx context.Context, m jsonrpc.Message) error {
	if request, ok := m.(*jsonrpc.Request); ok && request.Method == "tools/list" {
		c.tap.mu.Lock()
		c.tap.asked[request.ID.Raw()] = true
		c.tap.mu.Unlock()
	}
	return c.Connection.Write(ctx, m)
}

// Read keeps the results of those requests.
func (c *tapped) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	response, ok := m.(*jsonrpc.Response)
	if err != nil || !ok || response.Error != nil {
		return m, err
	}
	c.tap.mu.Lock()
	defer c.tap.mu.Unlock()
	if c.tap.asked[response.ID.Raw()] {
		delete(c.tap.asked, response.ID.Raw())
		c.tap.result = bytes.Clone(response.Result)
		response.Result = json.RawMessage(`{"tools":[]}`)
	}
	return response, nil
}
