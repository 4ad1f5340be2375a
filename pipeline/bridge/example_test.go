package bridge_test

import (
	"encoding/json"
	"fmt"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// exampleDesk makes a bridge over two tools of which one is core.
func exampleDesk() (*bridge.Bridge, []*registry.Definition) {
	tools := registry.New(registry.Options{})
	for _, t := range []struct{ toolset, name, description string }{
		{"terminal", "terminal", "Run a shell command."},
		{"mcp-calendar", "create_event", "Put an event into the calendar."},
	} {
		d, err := registry.Define(t.name, t.description, json.RawMessage(`{"type":"object","properties":{"what":{"type":"string"}},"required":["what"]}`))
		if err != nil {
			panic(err)
		}
		if err := tools.Register(registry.Registration{Toolset: t.toolset, Definition: d}); err != nil {
			panic(err)
		}
	}
	retriever, err := search.New("bm25")
	if err != nil {
		panic(err)
	}
	b := bridge.New(bridge.Options{
		Core:    func(name string) bool { return name == "terminal" },
		Catalog: tools, Retriever: retriever,
	})
	return b, tools.Definitions(tools.Names()).Definitions
}

func ExampleBridge_Assemble() {
	b, tools := exampleDesk()
	surface, err := b.Assemble(tools, bridge.DefaultConfig(), 200_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range surface.Definitions {
		fmt.Println(d.Name)
	}
	fmt.Println(surface.Listing.Form)
	fmt.Println(surface.Listing.Text)
	// Output:
	// terminal
	// tool_search
	// tool_describe
	// tool_call
	// full
	// Deferred tools by source. Load a schema with `tool_describe`, run a tool with `tool_call`:
	// calendar tools (1):
	// - create_event: Put an event into the calendar.
}

func ExampleScope_ToolCall() {
	b, tools := exampleDesk()
	scope := b.Scope(tools, bridge.DefaultConfig())
	for _, arguments := range []string{`{}`, `{"what": "lunch"}`} {
		call, refusal := scope.ToolCall([]rawjson.Field{
			{Key: "name", Value: rawjson.String("create_event")},
			{Key: "arguments", Value: json.RawMessage(arguments)},
		})
		if refusal != nil {
			fmt.Println(refusal)
			continue
		}
		fmt.Println(call.Name, string(call.Arguments))
	}
	// Output:
	// 'create_event' was not invoked: missing required arguments what
	// create_event {"what": "lunch"}
}

func ExampleParseConfig() {
	c, notes := bridge.ParseConfig(map[string]any{"threshold_pct": "7.5", "max_search_limit": 999, "listing": "fulll"})
	fmt.Println(c.ThresholdPct, c.MaxSearchLimit, c.Listing)
	for _, n := range notes {
		fmt.Println(n)
	}
	// Output:
	// 7.5 50 auto
	// max_search_limit: 999 is not usable; 50 used
	// listing: fulll is not usable; auto used
}

func ExampleTypes_Coerce() {
	schema := json.RawMessage(`{"properties":{"limit":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"note":{"type":"string"}}}`)
	fmt.Println(string(bridge.July.ReadTypes(schema).Coerce(json.RawMessage(`{"limit":"1e3","tags":"urgent","note":"42"}`))))
	// Output: {"limit":1000,"tags":["urgent"],"note":"42"}
}
