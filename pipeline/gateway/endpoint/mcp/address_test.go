package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// remoteEntry serves the fixture over streamable HTTP.
func remoteEntry(t *testing.T, label string) mcpserver.Server {
	t.Helper()
	f := &fixture{say: func(string) {}}
	server := httptest.NewServer(fixtureHandler(f))
	t.Cleanup(server.Close)
	return entryAt(label, server.URL)
}

func entryAt(label, url string) mcpserver.Server {
	return mcpserver.Server{Label: label, URL: url + "/mcp", Headers: []mcpserver.Variable{{Name: "Authorization", Value: "Bearer " + secret}}}
}

func fixtureHandler(f *fixture) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
			f.take(m)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, f.answer(m))
	}
}

// TestAddressesThatFail: what goes wrong with one request is that request's fault, and
// the next is answered.
func TestAddressesThatFail(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var misbehave http.HandlerFunc
	good := fixtureHandler(&fixture{say: func(string) {}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(data)))
		mu.Lock()
		bad := misbehave
		mu.Unlock()
		if bad != nil && strings.Contains(string(data), `"tools/call"`) {
			bad(w, r)
			return
		}
		good(w, r)
	}))
	defer server.Close()
	var told changes
	h := open(t, Options{Changed: told.add}, entryAt("a", server.URL))
	says := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		kind    endpoint.Kind
		text    string
	}{
		{"500", says(500, "text/plain", "x"), endpoint.ServerError, "it answers with the HTTP status 500 Internal Server Error"},
		{"599", says(599, "text/plain", "x"), endpoint.ServerError, "it answers with the HTTP status 599"},
		{"429", says(429, "text/plain", "x"), endpoint.Throttled, "it answers with the HTTP status 429 Too Many Requests"},
		{"401", says(401, "text/plain", secret), endpoint.Protocol, "it answers with the HTTP status 401 Unauthorized"},
		{"404", says(404, "text/plain", ""), endpoint.Protocol, "it answers with the HTTP status 404 Not Found"},
		{"400 with an error", says(400, "application/json", `{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"no"}}`), endpoint.Protocol, "error -32600: no"},
		{"a page", says(200, "text/html", "<html>"), endpoint.Transport, `its answer is no message, but of the type "text/html"`},
		{"202", says(202, "", ""), endpoint.Transport, `its answer is no message, but of the type ""`},
		{"no JSON", says(200, "application/json", `{"x`), endpoint.Transport, "it sends a message that cannot be read"},
		{"no event", says(200, "text/event-stream", ": nothing\n\n"), endpoint.Transport, ""},
		{"hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, endpoint.Timeout, "it did not answer in time"},
		{"half", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"jsonrpc":`)
		}, endpoint.Transport, "its answer breaks off: unexpected EOF"},
		{"half, and hang", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, endpoint.Timeout, "it did not answer in time"},
		{"reset", func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = c.(*net.TCPConn).SetLinger(0)
				_ = c.Close()
			}
		}, endpoint.Transport, "it cannot be reached: "},
	} {
		mu.Lock()
		misbehave = c.handler
		mu.Unlock()
		patience := time.Minute
		if c.kind == endpoint.Timeout {
			patience = 100 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := h.Endpoint("a", "echo").Call(ctx, endpoint.Request{})
		cancel()
		t.Run(c.name, func(t *testing.T) { wantFault(t, err, c.kind, "MCP server a: "+c.text) })
		if f, ok := err.(*endpoint.Fault); ok && (f.RetryAfter > 0) != (c.name == "429" || c.name == "500" || c.name == "599" || c.name == "401" || c.name == "404") {
			t.Errorf("%s: retry after %s", c.name, f.RetryAfter)
		}
		mu.Lock()
		misbehave = nil
		mu.Unlock()
		if got := textOfCall(t, h, "a", "echo", `{"text":"on"}`); got != "on" {
			t.Errorf("%s: then %q", c.name, got)
		}
	}
	if told.of("a") > 0 {
		t.Error("one request broke the connection")
	}
}

// TestSession: over a session the server tells of new tools unasked. A server that
// has lost the session, or is gone for a while, is connected to anew.
func TestSession(t *testing.T) {
	t.Parallel()
	serverOf := func() (*sdk.Server, *sdk.StreamableHTTPHandler) {
		s := sdk.NewServer(&sdk.Implementation{Name: "x", Version: "1"}, nil)
		s.AddTool(&sdk.Tool{Name: "hello", InputSchema: map[string]any{"type": "object"}}, hello)
		return s, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	}
	tools, handler := serverOf()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		current := handler
		mu.Unlock()
		current.ServeHTTP(w, r)
	}))
	defer server.Close()
	var told changes
	h := open(t, Options{Changed: told.add}, entryAt("a", server.URL))
	if got := textOfCall(t, h, "a", "hello", `{}`); got != "hello" {
		t.Errorf("%q", got)
	}
	eventually(t, "a new tool", func() bool { // the stream may not be open yet
		tools.AddTool(&sdk.Tool{Name: "late", InputSchema: map[string]any{"type": "object"}}, hello)
		return told.of("a") > 0
	})
	if got := names(h.Servers()[0].Tools); strings.Join(got, " ") != "hello late" {
		t.Errorf("tools %v", got)
	}
	others, other := serverOf() // which knows nothing of the session
	before := told.of("a")
	mu.Lock()
	handler = other
	mu.Unlock()
	defer func() {
		h.Close()
		for _, s := range []*sdk.Server{tools, others} {
			for session := range s.Sessions() {
				_ = session.Close()
			}
		}
	}()
	// The call may be the first to notice, or come when the stream has, or when all is
	// well again.
	var fault *endpoint.Fault
	if _, err := call(t, h, "a", "hello", `{}`); err != nil &&
		(!errors.As(err, &fault) || fault.Kind != endpoint.Transport || !strings.Contains(err.Error(), "it knows the session no longer")) {
		t.Errorf("error %v", err)
	}
	eventually(t, "a new session", func() bool { return told.of("a") >= before+2 && h.Servers()[0].Up })
	if got := textOfCall(t, h, "a", "hello", `{}`); got != "hello" {
		t.Errorf("%q", got)
	}
}

func hello(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello"}}}, nil
}

// TestAddressGone: an address where nobody is any more is not up, and is when somebody
// is again.
func TestAddressGone(t *testing.T) {
	t.Parallel()
	handler := fixtureHandler(&fixture{say: func(string) {}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn := func(l net.Listener) *httptest.Server {
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
		s.Start()
		return s
	}
	server := serveOn(listener)
	h := open(t, Options{}, entryAt("a", server.URL))
	server.Close()
	_, err = call(t, h, "a", "echo", `{}`)
	wantFault(t, err, endpoint.Transport, "MCP server a: it cannot be reached: ")
	eventually(t, "the end", func() bool { // that one request breaks is not the end
		_, err := call(t, h, "a", "echo", `{}`)
		return err != nil && !h.Servers()[0].Up
	})
	if s := h.Servers()[0]; len(s.Tools) != 2 {
		t.Errorf("state %+v", s)
	}
	if listener, err = net.Listen("tcp", listener.Addr().String()); err != nil {
		t.Skip("the port was taken:", err)
	}
	server = serveOn(listener)
	defer server.Close()
	eventually(t, "the return", func() bool { return h.Servers()[0].Up })
	if got := textOfCall(t, h, "a", "echo", `{"text":"on"}`); got != "on" {
		t.Errorf("%q", got)
	}
}
