package bridge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// catalog is who is registered: toolsets by tool name.
type catalog map[string]string

func (c catalog) Toolset(name string) (string, bool) {
	toolset, ok := c[name]
	return toolset, ok
}

// coreTools are the core list of these tests.
var coreTools = []string{
	"terminal", "read_file", "write_file", "patch", "search_files", "todo", "memory", "browser_navigate",
	"web_search", "session_search", "clarify", "execute_code", "delegate_task", "send_message",
}

func isCore(name string) bool {
	for _, core := range coreTools {
		if core == name {
			return true
		}
	}
	return false
}

// desk is a bridge with the tools that it knows.
type desk struct {
	*bridge.Bridge
	variant bridge.Variant
	catalog catalog
}

// newDesk has a bridge as it was in July.
func newDesk(t testing.TB) *desk { return newDeskOf(t, bridge.July) }

// newDeskOf has a bridge of a variant that defers some core tools.
func newDeskOf(t testing.TB, variant bridge.Variant, deferred ...string) *desk {
	t.Helper()
	name := "bm25"
	if variant == bridge.September {
		name = "bm25-gated"
	}
	retriever, err := search.New(name)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{variant: variant, catalog: catalog{}}
	d.Bridge = bridge.New(bridge.Options{Variant: variant, Defer: deferred, Core: isCore, Catalog: d.catalog, Retriever: retriever})
	for _, name := range coreTools {
		d.catalog[name] = name
	}
	return d
}

// define makes a tool whose parameters are all text; a star marks a required
// one. With a toolset the tool is registered, with "" it is not.
func (d *desk) define(t testing.TB, toolset, name, description string, parameters ...string) *registry.Definition {
	t.Helper()
	var properties, required []string
	for _, p := range parameters {
		bare, star := strings.CutSuffix(p, "*")
		properties = append(properties, fmt.Sprintf("%q:{\"type\":\"string\"}", bare))
		if star {
			required = append(required, fmt.Sprintf("%q", bare))
		}
	}
	schema := fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s]}`, strings.Join(properties, ","), strings.Join(required, ","))
	definition, err := registry.Define(name, description, json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	if toolset != "" {
		d.catalog[name] = toolset
	}
	return definition
}

// schema makes a tool with a schema of its own.
func (d *desk) schema(t testing.TB, toolset, name, schema string) *registry.Definition {
	t.Helper()
	definition, err := registry.Define(name, "Does as it is told.", json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	d.catalog[name] = toolset
	return definition
}

// session is what a session of these tools can reach, with the default settings.
func (d *desk) session(tools ...*registry.Definition) *bridge.Scope {
	return d.Scope(tools, d.variant.DefaultConfig())
}

// eachVariant runs a test once for each variant.
func eachVariant(t *testing.T, test func(*testing.T, bridge.Variant)) {
	for _, v := range bridge.Variants() {
		t.Run(string(v), func(t *testing.T) { test(t, v) })
	}
}

// four is the small catalog that retrieval is tried on.
func (d *desk) four(t testing.TB) []*registry.Definition {
	return []*registry.Definition{
		d.define(t, "mcp-github", "github_create_issue", "Open a new issue in a GitHub repository.", "title", "body"),
		d.define(t, "mcp-github", "github_search_repos", "Find GitHub repositories by topic or name.", "query"),
		d.define(t, "mcp-slack", "slack_send_message", "Post a message to a Slack channel.", "channel", "text"),
		d.define(t, "mcp-calendar", "calendar_create_event", "Put an event into the calendar.", "title", "start"),
	}
}

func namesOf(definitions []*registry.Definition) string {
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = d.Name
	}
	return strings.Join(names, " ")
}

func matchNames(matches []bridge.Match) string {
	names := make([]string, len(matches))
	for i, m := range matches {
		names[i] = m.Tool.Name
	}
	return strings.Join(names, " ")
}

func fields(t testing.TB, object string) []rawjson.Field {
	t.Helper()
	f, err := rawjson.Object([]byte(object))
	if err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	return f
}

func arguments(pairs ...string) []rawjson.Field {
	var f []rawjson.Field
	for i := 0; i < len(pairs); i += 2 {
		f = append(f, rawjson.Field{Key: pairs[i], Value: rawjson.String(pairs[i+1])})
	}
	return f
}

// errorOf is the error message of a result, "" if it is none.
func errorOf(t testing.TB, r registry.Result) string {
	t.Helper()
	var body struct{ Error string }
	if err := json.Unmarshal([]byte(r.Text), &body); err != nil {
		t.Fatalf("result %q is no JSON object: %v", r.Text, err)
	}
	if (body.Error != "") != r.Failed {
		t.Fatalf("result %q, failed %t", r.Text, r.Failed)
	}
	return body.Error
}

func assemble(t testing.TB, b *bridge.Bridge, tools []*registry.Definition, c bridge.Config, contextLength int) *bridge.Surface {
	t.Helper()
	s, err := b.Assemble(tools, c, contextLength)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// with changes the default settings.
func with(change func(*bridge.Config)) bridge.Config {
	c := bridge.DefaultConfig()
	change(&c)
	return c
}

// description is what tool_search says on a surface, "" if it is not there.
func description(s *bridge.Surface) string {
	for _, d := range s.Definitions {
		if d.Name == bridge.SearchTool {
			return d.Description
		}
	}
	return ""
}
