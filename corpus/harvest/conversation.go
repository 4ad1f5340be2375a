package harvest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/provenance"
)

// The versions of MCP that servers are asked with: the last one that begins with
// initialize, and the first that begins with server/discover. Few servers know
// the second yet, and some break on a request that they do not know.
const (
	protocolInitialize = "2025-11-25"
	protocolDiscover   = "2026-07-28"
)

// errRejected marks that a server answered the handshake with an error.
var errRejected = errors.New("handshake rejected")

// conversation is one server that is asked once.
type conversation struct {
	server  Server
	timeout time.Duration
	answer  Answer
}

// wire is what carries a conversation: it opens the connection, and afterwards
// says what went wrong below the protocol.
type wire interface {
	mcp.Transport
	// end ends the server, or the connection to it, and frees all that was held.
	end()
	// fault is what broke the connection; nil if nothing did. It is asked after
	// end.
	fault() error
	// stderr are the last lines of the server's standard error.
	stderr() []string
}

// run asks the server and fills in the answer.
func (c *conversation) run(ctx context.Context, protocol string) error {
	var w wire
	if c.server.URL != "" {
		w = newEndpoint(c.server)
	} else {
		w = newProcess(c.server)
	}
	step, err := c.talk(ctx, w, protocol)
	if err == nil {
		return nil
	}
	var answered *jsonrpc.Error
	clean := c.server.secrets().clean
	for _, line := range w.stderr() {
		c.answer.Stderr = append(c.answer.Stderr, clean(line))
	}
	fault := w.fault()
	switch {
	case errors.As(fault, new(*definiteError)):
		return fault
	case ctx.Err() != nil:
		return fmt.Errorf("no answer to %s within %s", step, c.timeout)
	case errors.As(err, &answered):
		err = fmt.Errorf("it answers %s with the error %d: %s", step, answered.Code, clean(answered.Message))
		if step == stepHandshake {
			err = fmt.Errorf("%w%w", err, silently{errRejected})
		}
		return err
	case errors.As(err, new(*definiteError)):
		return err
	case fault != nil:
		return fmt.Errorf("%w, before it answered %s", fault, step)
	}
	return fmt.Errorf("%s fails: %s", step, clean(sender.ReplaceAllString(err.Error(), "")))
}

// sender matches what the client puts ahead of an error, which names the step once
// more.
var sender = regexp.MustCompile(`^((calling|sending) "[^"]*": )+`)

// silently wraps an error that a caller may ask for and nobody reads.
type silently struct{ error }

func (silently) Error() string   { return "" }
func (s silently) Unwrap() error { return s.error }

// The steps of a conversation, as errors call them.
const (
	stepHandshake = "initialize"
	stepList      = "tools/list"
)

// definiteError is a fault that says all there is to say: a bound passed, an answer
// that cannot be read. Neither time nor how the server ended matters beside it.
type definiteError struct{ text string }

func (e *definiteError) Error() string { return e.text }

func definite(format string, args ...any) error { return &definiteError{fmt.Sprintf(format, args...)} }

// talk shakes hands and lists. It returns the step that failed, and leaves
// nothing behind.
func (c *conversation) talk(ctx context.Context, w wire, protocol string) (step string, err error) {
	// A server that does not read blocks whoever writes to it, the client's own
	// goroutines too: only its end frees them.
	defer context.AfterFunc(ctx, w.end)()
	defer w.end()
	t := &tap{Transport: w}
	client := mcp.NewClient(
		&mcp.Implementation{Name: "toolgauge", Version: provenance.Current().ToolVersion},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}, Logger: slog.New(slog.DiscardHandler)},
	)
	session, err := client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		return stepHandshake, err
	}
	defer func() {
		w.end()
		_ = session.Close()
	}()
	if hello := session.InitializeResult(); hello != nil {
		clean := c.server.secrets().clean
		c.answer.Protocol = clean(hello.ProtocolVersion)
		if hello.ServerInfo != nil {
			c.answer.Name, c.answer.Version = clean(hello.ServerInfo.Name), clean(hello.ServerInfo.Version)
		}
	}
	return stepList, c.list(ctx, session, t)
}

// page is the result of one tools/list. Its tools keep their bytes.
type page struct {
	Tools      []json.RawMessage `json:"tools"`
	NextCursor string            `json:"nextCursor"`
}

// list takes all pages.
func (c *conversation) list(ctx context.Context, session *mcp.ClientSession, t *tap) error {
	seen := make(map[string]bool)
	for cursor := ""; ; {
		if _, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor}); err != nil {
			var answered *jsonrpc.Error
			if c.answer.Pages == 0 && errors.As(err, &answered) && answered.Code == jsonrpc.CodeMethodNotFound {
				return nil // a server may have prompts or resources alone
			}
			return err
		}
		raw := t.take()
		var p page
		if !utf8.Valid(raw) {
			return definite("its answer to %s is not UTF-8", stepList)
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return definite("its answer to %s is no list of tools", stepList)
		}
		c.answer.Pages++
		if err := c.add(p.Tools); err != nil {
			return err
		}
		switch {
		case p.NextCursor == "":
			return nil
		case seen[p.NextCursor]:
			return definite("its pages of tools never end: a cursor comes again")
		case c.answer.Pages == pagesMax:
			return definite("it lists more than %d pages of tools", pagesMax)
		}
		cursor = p.NextCursor
		seen[cursor] = true
	}
}

// add takes the tools of a page, but for those that no corpus can hold.
func (c *conversation) add(tools []json.RawMessage) error {
	if len(c.answer.Tools)+len(c.answer.LeftOut)+len(tools) > toolsMax {
		return definite("it lists more than %d tools", toolsMax)
	}
	secrets := c.server.secrets()
	for _, tool := range tools {
		if secrets.keyIn(string(tool)) {
			c.answer.LeftOut = append(c.answer.LeftOut, fmt.Sprintf("tool %s repeats a secret of the entry", secrets.clean(nameOf(tool))))
			continue
		}
		if err := corpus.CheckListed(c.server.Label, tool); err != nil {
			c.answer.LeftOut = append(c.answer.LeftOut, secrets.clean(firstLine(err.Error())))
			continue
		}
		c.answer.Tools = append(c.answer.Tools, tool)
	}
	return nil
}

// nameOf returns a tool's name, quoted, for a note.
func nameOf(tool json.RawMessage) string {
	var named struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(tool, &named) // else the name is empty
	return fmt.Sprintf("%.60q", named.Name)
}
