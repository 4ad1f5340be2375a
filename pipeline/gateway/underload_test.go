package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// versioned answers with the version that its card's target has.
type versioned string

func (v versioned) Call(context.Context, endpoint.Request) (endpoint.Answer, error) {
	time.Sleep(time.Millisecond)
	return endpoint.Answer{Body: []byte(v)}, nil
}

// fortyTools are 38 tools that answer with their version, and two composite actions
// whose steps must all answer with the same one.
func fortyTools(version int) string {
	var b strings.Builder
	b.WriteString("limits: {concurrent: 256, endpoint_concurrent: 256}\nsession: {principal: test}\ntools:\n")
	for i := range 38 {
		fmt.Fprintf(&b, "  - {id: tool_%d, description: \"Version %d of tool %d.\", input_schema: {type: object}, endpoint: {target: \"https://x.test.invalid/v%d\"}}\n", i, version, i, version)
	}
	for i := range 2 {
		fmt.Fprintf(&b, "  - {id: pair_%d, description: \"Calls four tools.\", input_schema: {type: object}, steps: [{tool: tool_1}, {tool: tool_2}, {tool: tool_3}, {tool: tool_%d}]}\n", i, 30+i)
	}
	return b.String()
}

// serveMCP puts an MCP server in front of a session.
func serveMCP(s *gateway.Session, names []string) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "gateway", Version: "1"}, nil)
	for _, name := range names {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result := s.DispatchAll(ctx, []registry.Call{{ID: r.Params.Name, Name: r.Params.Name, Arguments: r.Params.Arguments}})[0]
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: result.Text}}, IsError: result.Failed}, nil
		})
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

// TestReloadsUnderLoad reloads 40 tools 100 times while they are called over MCP, some
// 200 times a second: every call is answered, each from one version of the tools alone,
// over the connection that was there at the start.
func TestReloadsUnderLoad(t *testing.T) {
	defer goleak.VerifyNone(t)
	open := func(c *card.Card) (endpoint.Endpoint, error) {
		return versioned(c.Target[strings.LastIndexByte(c.Target, '/')+1:]), nil
	}
	config := parsed(t, fortyTools(0))
	g, err := gateway.New(gateway.Options{Config: config, Open: open})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range g.Cards(nil) {
		names = append(names, c.Name)
	}
	web := httptest.NewServer(serveMCP(g.Session(gateway.SessionOptions{ID: "load", Who: config.Session}), names))
	defer web.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := mcp.NewClient(&mcp.Implementation{Name: "load", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL, HTTPClient: &http.Client{Transport: transport}, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	id := session.ID()

	var answered, calls atomic.Int64
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for w := range 4 {
		callers.Go(func() {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for i := w; ; i += 7 {
				select {
				case <-stop:
					return
				case <-tick.C:
				}
				name := names[i%len(names)]
				calls.Add(1)
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
				if err != nil || result.IsError || len(result.Content) != 1 {
					t.Errorf("call %d of %s was lost: %v %+v", i, name, err, result)
					continue
				}
				answered.Add(1)
				if got := result.Content[0].(*mcp.TextContent).Text; !oneVersion(got) {
					t.Errorf("%s was answered from a mixed snapshot: %s", name, got)
				}
			}
		})
	}
	for version := 1; version <= 100; version++ {
		if err := g.Reload(parsed(t, fortyTools(version)), nil); err != nil {
			t.Error(err)
		}
		time.Sleep(15 * time.Millisecond)
	}
	close(stop)
	callers.Wait()
	if calls.Load() != answered.Load() || calls.Load() == 0 || session.ID() != id {
		t.Errorf("%d of %d calls were answered; the connection is the same: %v", answered.Load(), calls.Load(), session.ID() == id)
	}
	t.Logf("%d calls were answered during 100 reloads", answered.Load())
}

// oneVersion reports whether a tool's answer, or all answers of a composite action, have
// one version.
func oneVersion(text string) bool {
	var composite struct{ Steps []struct{ Result string } }
	if json.Unmarshal([]byte(text), &composite) != nil {
		return strings.HasPrefix(text, "v")
	}
	for _, s := range composite.Steps {
		if s.Result != composite.Steps[0].Result {
			return false
		}
	}
	return len(composite.Steps) == 4
}
