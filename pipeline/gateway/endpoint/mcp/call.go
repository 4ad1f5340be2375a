package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint/web"
)

// reasonMax is how long a call waits to learn how the server ended that it was sent to.
const reasonMax = 2 * time.Second

// messageRunesMax bounds what is repeated of a server's error.
const messageRunesMax = 2000

// remote is the endpoint of one tool.
type remote struct {
	server *server // nil: there is none of that name
	label  string
	tool   string
}

// Call sends tools/call. An error of the protocol is a fault; isError is the tool's own
// answer.
func (t remote) Call(ctx context.Context, r endpoint.Request) (endpoint.Answer, error) {
	if t.server == nil {
		return endpoint.Answer{}, t.fault(endpoint.Closed, errors.New("there is no such server"))
	}
	c, err := t.server.connected()
	if err != nil {
		return endpoint.Answer{}, t.away(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	params := &sdk.CallToolParams{Name: t.tool, Arguments: r.Arguments}
	if len(r.Arguments) == 0 {
		params.Arguments = json.RawMessage("{}")
	}
	if len(r.TraceID) == 32 {
		params.Meta = sdk.Meta{"traceparent": r.TraceParent()}
	}
	calling, kept := mcpserver.Keep(ctx, `{"content":[]}`)
	if _, err := c.session.CallTool(calling, params); err != nil {
		return endpoint.Answer{}, t.faultOf(ctx, c, err)
	}
	a, err := answerOf(kept.Raw(), r.BytesMax)
	if err != nil {
		return endpoint.Answer{}, t.fault(endpoint.Protocol, err)
	}
	return a, nil
}

// connected is the connection of a server that is up, or why it is not.
func (s *server) connected() (*connection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return nil, s.err
	}
	return s.live, nil
}

func (t remote) fault(kind endpoint.Kind, err error) *endpoint.Fault {
	return &endpoint.Fault{Kind: kind, Err: fmt.Errorf("MCP server %s: %w", t.label, err)}
}

// away is the fault of a call to a server that is not up.
func (t remote) away(err error) *endpoint.Fault {
	if t.server.hub.ended.Err() != nil {
		return t.fault(endpoint.Closed, errClosed)
	}
	return t.fault(endpoint.Transport, fmt.Errorf("it is unavailable: %w", err))
}

// faultOf says why a call was not answered.
func (t remote) faultOf(ctx context.Context, c *connection, err error) *endpoint.Fault {
	var answered *jsonrpc.Error
	var status *mcpserver.StatusError
	var definite *mcpserver.DefiniteError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return t.fault(endpoint.Timeout, fmt.Errorf("it did not answer in time: %w", ctx.Err()))
	case ctx.Err() != nil:
		return t.fault(endpoint.Closed, ctx.Err())
	case errors.As(err, &status):
		return t.statusFault(status)
	case errors.As(err, &definite):
		return t.fault(endpoint.Transport, definite)
	case errors.As(err, &answered):
		kind := endpoint.Protocol
		if answered.Code == jsonrpc.CodeInternalError {
			kind = endpoint.ServerError
		}
		return t.fault(kind, fmt.Errorf("error %d: %s", answered.Code, t.shown(answered.Message)))
	}
	timer := time.NewTimer(reasonMax)
	defer timer.Stop()
	select {
	case <-c.over:
		return t.away(c.why)
	case <-ctx.Done():
	case <-timer.C:
	}
	return t.fault(endpoint.Transport, errors.New(t.shown(err.Error())))
}

// shown is a server's text without the secrets of its entry, and not without end.
func (t remote) shown(text string) string {
	text = t.server.secrets.Redact(strings.ToValidUTF8(text, "\ufffd"))
	if runes := []rune(text); len(runes) > messageRunesMax {
		text = string(runes[:messageRunesMax]) + "…"
	}
	return text
}

// statusFault is the fault that an HTTP status stands for.
func (t remote) statusFault(status *mcpserver.StatusError) *endpoint.Fault {
	kind := endpoint.Protocol
	switch {
	case status.Status == http.StatusTooManyRequests:
		kind = endpoint.Throttled
	case status.Status >= 500:
		kind = endpoint.ServerError
	}
	f := t.fault(kind, status)
	f.RetryAfter = web.RetryAfter(status.RetryAfter, t.server.hub.options.Timeline.Now())
	return f
}

// result is what a tool answered.
type result struct {
	Content    json.RawMessage `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	Type       string          `json:"resultType"`
}

// part is one part of a result.
type part struct {
	Type string          `json:"type"`
	Text json.RawMessage `json:"text"`
}

// answerOf makes an answer of a result. Texts are its body, a line break between two of
// them, so that what comes behind can decode and cut it; bytes that are not UTF-8 are
// left as they are. A result without parts has its structured content as body. If a part
// is no text, Content is MCP's array of parts as it came, since a picture cannot be cut.
func answerOf(raw json.RawMessage, bytesMax int64) (endpoint.Answer, error) {
	var r result
	if err := json.Unmarshal(raw, &r); err != nil {
		return endpoint.Answer{}, errors.New("its answer is no result of a tool")
	}
	if r.Type != "" && r.Type != "complete" {
		return endpoint.Answer{}, fmt.Errorf("it wants something before it answers (%.40q), which nobody is here to give", r.Type)
	}
	var parts []part
	if r.Content != nil && json.Unmarshal(r.Content, &parts) != nil {
		return endpoint.Answer{}, errors.New("the content of its answer is no list of parts")
	}
	a := endpoint.Answer{IsError: r.IsError}
	if len(parts) == 0 && string(r.Structured) != "null" {
		a.Body = r.Structured
	}
	for i, p := range parts {
		text, ok := textOf(p.Text)
		if p.Type != "text" || !ok {
			a.Body, a.Content = nil, r.Content
			return a, nil
		}
		if i > 0 {
			a.Body = append(a.Body, '\n')
		}
		a.Body = append(a.Body, text...)
	}
	if length := int64(len(a.Body)); bytesMax > 0 && length > bytesMax {
		a.Body, a.Bytes = a.Body[:bytesMax], length
	}
	return a, nil
}

// textOf reads a JSON string. Bytes that are not UTF-8 stay as they are: some servers
// hand on what they read from a file, and whoever knows its encoding can decode it.
func textOf(raw json.RawMessage) ([]byte, bool) {
	var s string
	if len(raw) < 2 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return nil, false
	}
	if utf8.Valid(raw) {
		return []byte(s), true
	}
	var out []byte
	for rest := raw[1 : len(raw)-1]; len(rest) > 0; {
		n := validBytes(rest)
		if json.Unmarshal([]byte(`"`+string(rest[:n])+`"`), &s) != nil {
			return nil, false
		}
		out = append(out, s...)
		if n < len(rest) {
			out = append(out, rest[n])
			n++
		}
		rest = rest[n:]
	}
	return out, true
}

// validBytes counts the bytes ahead of the first that is not UTF-8.
func validBytes(text []byte) (n int) {
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if r == utf8.RuneError && size < 2 {
			break
		}
		n += size
	}
	return n
}

// Available reports whether the tool's server answers now.
func (t remote) Available() bool { return t.server != nil && t.server.state().Up }
