package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// TestBehindAGateway: tools of servers are called by their names, one is closed without
// the others, and what a server adds is there after a reload.
func TestBehindAGateway(t *testing.T) {
	t.Parallel()
	config, err := card.Parse("gateway.yaml", []byte(`schema_version: 1
mcpServers: {a: {command: x}, b: {command: x}}
session: {principal: me}
rules: [{match: "hermes://mcp/a/echo", auth: admin}]
`))
	if err != nil {
		t.Fatal(err)
	}
	var told changes
	h := open(t, Options{Changed: told.add}, entryOf(t, "a", "plain"), entryOf(t, "b", "plain"))
	g, err := gateway.New(gateway.Options{Config: config, Cards: h.Cards(), Open: func(c *card.Card) (endpoint.Endpoint, error) {
		server, _ := card.MCPServer(c.Target)
		return h.Endpoint(server, card.MCPTool(c.Target)), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := g.Session(gateway.SessionOptions{ID: "s", Who: config.Session})
	text := func(name string) string {
		return s.DispatchAll(t.Context(), []registry.Call{{Name: name, Arguments: json.RawMessage(`{"text":"hello"}`)}})[0].Text
	}
	for name, want := range map[string]string{
		"mcp__b__echo":           "hello",
		"hermes://mcp/b/echo":    "hello",
		"mcp__a__echo":           `"denied"`,
		card.MCPName("a", "a/b"): "error -32602: Unknown tool",
		"mcp__b__more":           `"unknown_tool"`,
	} {
		if got := text(name); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	_ = textOfCall(t, h, "b", "grow", `{}`)
	eventually(t, "the new list", func() bool { return told.of("b") == 1 })
	if err := g.Reload(config, h.Cards()); err != nil {
		t.Fatal(err)
	}
	if got := text("mcp__b__more"); !strings.Contains(got, "Unknown tool") { // of the server
		t.Errorf("%s", got)
	}
}
