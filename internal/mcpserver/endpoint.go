package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// versionHeader tells a server the version agreed on, in every request behind the
// handshake.
const versionHeader = "Mcp-Protocol-Version"

// redirectsMax bounds the redirects that are followed, within one host.
const redirectsMax = 5

// endpoint is a server behind an address, spoken to over streamable HTTP.
type endpoint struct {
	server   Server
	options  Options
	requests *http.Transport

	mu        sync.Mutex
	read      int // bytes of all answers so far
	version   string
	handshake any // ID of the request initialize
	broken    error
	open      mcp.Connection

	gone     chan struct{} // closed when the connection is broken
	ended    context.Context
	end      context.CancelFunc
	speaking sync.WaitGroup // of what a lasting connection runs
}

func newEndpoint(s Server, o Options) *endpoint {
	e := &endpoint{server: s, options: o, requests: http.DefaultTransport.(*http.Transport).Clone(), gone: make(chan struct{})}
	e.ended, e.end = context.WithCancel(context.Background())
	return e
}

// Connect prepares the connection; the first request opens it.
func (e *endpoint) Connect(ctx context.Context) (mcp.Connection, error) {
	t := &mcp.StreamableClientTransport{
		Endpoint:             e.server.URL,
		HTTPClient:           &http.Client{Transport: e, CheckRedirect: e.sameHost},
		MaxRetries:           -1,
		MaxEventSize:         e.options.MessageMax,
		DisableStandaloneSSE: true,
	}
	open, err := t.Connect(ctx)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.open = open
	e.mu.Unlock()
	c := &call{Connection: open, endpoint: e}
	if e.options.Lasting {
		e.listen(c)
	}
	return c, nil
}

// sameHost refuses a redirect that would carry the headers elsewhere, or make
// another request of this one.
func (e *endpoint) sameHost(r *http.Request, via []*http.Request) error {
	switch first := via[0]; {
	case len(via) > redirectsMax:
		return e.breakOff(Definite("it redirects without end"))
	case r.URL.Host != first.URL.Host || r.URL.Scheme != first.URL.Scheme || r.Method != first.Method:
		return e.breakOff(Definite("it redirects to another address; give that one in its entry"))
	}
	return nil
}

// RoundTrip adds the entry's headers to a request and bounds the answer.
func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := e.send(r)
	if err != nil {
		return nil, err
	}
	if e.options.Lasting {
		return e.judge(r, response)
	}
	if err := faultOf(r.Method, response.StatusCode); err != nil {
		_ = e.breakOff(err)
	}
	response.Body = &bounded{ReadCloser: response.Body, endpoint: e}
	return response, nil
}

// send sends a request with the entry's headers. If that fails the connection is
// broken; a lasting one only if nobody is there any more.
func (e *endpoint) send(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for _, h := range e.server.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	e.mu.Lock()
	if e.version != "" && r.Header.Get(versionHeader) == "" {
		r.Header.Set(versionHeader, e.version)
	}
	e.mu.Unlock()
	response, err := e.requests.RoundTrip(r)
	if err == nil || r.Context().Err() != nil {
		return response, err
	}
	fault := Definite("it cannot be reached: %s", e.server.Secrets().Clean(err.Error()))
	var network *net.OpError
	switch {
	case !e.options.Lasting:
		_ = e.breakOff(fault)
		return nil, err
	case errors.As(err, &network) && network.Op == "dial":
		_ = e.breakOff(fault)
	}
	return nil, fault
}

// faultOf says what is wrong with a server that answers a message with an HTTP
// status; nil where the status says nothing that the answer does not say better.
func faultOf(method string, status int) error {
	if method != http.MethodPost {
		return nil
	}
	words := fmt.Sprintf("%d %s", status, http.StatusText(status))
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return Definite("it refuses access (%s); see the headers of its entry", words)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return Definite("nothing at its address speaks streamable HTTP (%s); a server that speaks sse alone cannot be asked", words)
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		return Definite("it answers with the HTTP status %s", words)
	}
	return nil
}

// bounded is the body of an answer. Bytes count against the bounds of the server.
type bounded struct {
	io.ReadCloser
	endpoint *endpoint
	read     int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += n
	b.endpoint.mu.Lock()
	b.endpoint.read += n
	all := b.endpoint.read
	b.endpoint.mu.Unlock()
	lasting := b.endpoint.options.Lasting
	switch {
	case b.read > b.endpoint.options.MessageMax:
		err = b.endpoint.options.tooLong()
	case all > b.endpoint.options.OutputMax && !lasting:
		err = b.endpoint.options.tooMuch()
	default:
		return n, err
	}
	if lasting {
		return n, err
	}
	return n, b.endpoint.breakOff(err)
}

// call is the open connection. It learns the version agreed on, which the
// transport adds to requests only if no connection is laid around its own.
type call struct {
	mcp.Connection
	endpoint *endpoint
	messages chan message // of a lasting connection
}

// Write notes which request is the handshake.
func (c *call) Write(ctx context.Context, m jsonrpc.Message) error {
	if request, ok := m.(*jsonrpc.Request); ok && request.Method == "initialize" {
		c.endpoint.mu.Lock()
		c.endpoint.handshake = request.ID.Raw()
		c.endpoint.mu.Unlock()
	}
	return c.Connection.Write(ctx, m)
}

// Read takes the version from the answer to it.
func (c *call) Read(ctx context.Context) (jsonrpc.Message, error) {
	if c.messages != nil {
		return c.next()
	}
	m, err := c.Connection.Read(ctx)
	if response, ok := m.(*jsonrpc.Response); err == nil && ok {
		c.endpoint.agree(response)
	}
	return m, err
}

// agree takes the version from the answer to the handshake, and reports whether that
// is what a response is.
func (e *endpoint) agree(response *jsonrpc.Response) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.handshake == nil || response.ID.Raw() != e.handshake {
		return false
	}
	var hello struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(response.Result, &hello) == nil && len(hello.Version) <= lineMax && !strings.ContainsAny(hello.Version, "\r\n") {
		e.version = hello.Version
	}
	return response.Error == nil
}

// End closes what is open.
func (e *endpoint) End() {
	e.end()
	e.mu.Lock()
	open := e.open
	e.mu.Unlock()
	if open != nil {
		_ = open.Close()
	}
	e.speaking.Wait()
	e.requests.CloseIdleConnections()
}

// breakOff keeps the first error that broke the connection, and returns its own.
func (e *endpoint) breakOff(err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken == nil {
		e.broken = err
		close(e.gone)
	}
	return err
}

// Fault is the first error that broke the connection.
func (e *endpoint) Fault() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.broken
}

// Stderr is empty: nobody sees it from afar.
func (e *endpoint) Stderr() []string { return nil }
