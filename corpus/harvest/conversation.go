package harvest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/mcpserver"
)

// conversation is one server that is asked once.
type conversation struct {
	server  mcpserver.Server
	timeout time.Duration
	answer  Answer
}

// run asks the server and fills in the answer.
func (c *conversation) run(ctx context.Context, protocol string) error {
	w := mcpserver.Open(c.server, mcpserver.Options{MessageMax: messageMax, OutputMax: outputMax})
	step, err := c.talk(ctx, w, protocol)
	if err == nil {
		return nil
	}
	for _, line := range w.Stderr() {
		c.answer.Stderr = append(c.answer.Stderr, c.server.Secrets().Clean(line))
	}
	return mcpserver.Explain(ctx, c.server, w, step, c.timeout, err)
}

// talk shakes hands and lists. It returns the step that failed, and leaves
// nothing behind.
func (c *conversation) talk(ctx context.Context, w mcpserver.Wire, protocol string) (step string, err error) {
	// A server that does not read blocks whoever writes to it, the client's own
	// goroutines too: only its end frees them.
	defer context.AfterFunc(ctx, w.End)()
	defer w.End()
	client := mcpserver.NewClient(mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, mcpserver.Tap{Transport: w}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		return mcpserver.StepHandshake, err
	}
	defer func() {
		w.End()
		_ = session.Close()
	}()
	if hello := session.InitializeResult(); hello != nil {
		clean := c.server.Secrets().Clean
		c.answer.Protocol = clean(hello.ProtocolVersion)
		if hello.ServerInfo != nil {
			c.answer.Name, c.answer.Version = clean(hello.ServerInfo.Name), clean(hello.ServerInfo.Version)
		}
	}
	return mcpserver.StepList, mcpserver.List(ctx, session, func(tools []json.RawMessage) {
		c.answer.Pages++
		c.add(tools)
	})
}

// add takes the tools of a page, but for those that no corpus can hold.
func (c *conversation) add(tools []json.RawMessage) {
	secrets := c.server.Secrets()
	for _, tool := range tools {
		if secrets.KeyIn(string(tool)) {
			c.answer.LeftOut = append(c.answer.LeftOut, fmt.Sprintf("tool %s repeats a secret of the entry", secrets.Clean(nameOf(tool))))
			continue
		}
		if err := corpus.CheckListed(c.server.Label, tool); err != nil {
			c.answer.LeftOut = append(c.answer.LeftOut, secrets.Clean(firstLine(err.Error())))
			continue
		}
		c.answer.Tools = append(c.answer.Tools, tool)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// nameOf returns a tool's name, quoted, for a note.
func nameOf(tool json.RawMessage) string {
	var named struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(tool, &named) // else the name is empty
	return fmt.Sprintf("%.60q", named.Name)
}
