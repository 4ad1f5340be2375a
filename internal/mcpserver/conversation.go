package mcpserver

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

	"github.com/toolgauge/toolgauge/internal/provenance"
)

// The versions of MCP that servers are asked with: the last one that begins with
// initialize, and the first that begins with server/discover. Few servers know
// the second yet, and some break on a request that they do not know.
const (
	ProtocolInitialize = "2025-11-25"
	ProtocolDiscover   = "2026-07-28"
)

// The steps of a conversation, as errors call them.
const (
	StepHandshake = "initialize"
	StepList      = "tools/list"
)

// ErrRejected marks that a server answered the handshake with an error: it may know
// another one.
var ErrRejected = errors.New("handshake rejected")

// Bounds on a list of tools. The largest servers known list some hundred in under a
// megabyte.
const (
	PagesMax = 100
	ToolsMax = 10_000
)

// NewClient returns a client that says who it is, and logs nothing.
func NewClient(o mcp.ClientOptions) *mcp.Client {
	o.Logger = slog.New(slog.DiscardHandler)
	return mcp.NewClient(&mcp.Implementation{Name: "toolgauge", Version: provenance.Current().ToolVersion}, &o)
}

// page is the result of one tools/list. Its tools keep their bytes.
type page struct {
	Tools      []json.RawMessage `json:"tools"`
	NextCursor string            `json:"nextCursor"`
}

// List takes all pages of a server's tools, over a session that is tapped, and hands
// on each as it comes, byte for byte. A server that knows no tools at all has none.
func List(ctx context.Context, session *mcp.ClientSession, take func(tools []json.RawMessage)) error {
	seen := make(map[string]bool)
	tools := 0
	for pages, cursor := 0, ""; ; {
		listing, kept := Keep(ctx, `{"tools":[]}`)
		if _, err := session.ListTools(listing, &mcp.ListToolsParams{Cursor: cursor}); err != nil {
			var answered *jsonrpc.Error
			if pages == 0 && errors.As(err, &answered) && answered.Code == jsonrpc.CodeMethodNotFound {
				return nil // a server may have prompts or resources alone
			}
			return err
		}
		raw := kept.Raw()
		var p page
		if !utf8.Valid(raw) {
			return Definite("its answer to %s is not UTF-8", StepList)
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return Definite("its answer to %s is no list of tools", StepList)
		}
		pages++
		if tools += len(p.Tools); tools > ToolsMax {
			return Definite("it lists more than %d tools", ToolsMax)
		}
		take(p.Tools)
		switch {
		case p.NextCursor == "":
			return nil
		case seen[p.NextCursor]:
			return Definite("its pages of tools never end: a cursor comes again")
		case pages == PagesMax:
			return Definite("it lists more than %d pages of tools", PagesMax)
		}
		cursor = p.NextCursor
		seen[cursor] = true
	}
}

// Explain words why a step of a conversation failed, without the secrets of the entry.
// The wire was ended, so that it knows how the server did. A handshake that the server
// answered with an error is ErrRejected.
func Explain(ctx context.Context, s Server, w Wire, step string, timeout time.Duration, err error) error {
	var answered *jsonrpc.Error
	clean := s.Secrets().Clean
	fault := w.Fault()
	switch {
	case errors.As(fault, new(*DefiniteError)):
		return fault
	case ctx.Err() != nil:
		return fmt.Errorf("no answer to %s within %s", step, timeout)
	case errors.As(err, &answered):
		err = fmt.Errorf("it answers %s with the error %d: %s", step, answered.Code, clean(answered.Message))
		if step == StepHandshake {
			err = fmt.Errorf("%w%w", err, silently{ErrRejected})
		}
		return err
	case errors.As(err, new(*DefiniteError)):
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
