package bridge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

var vocabulary = []string{"create", "issue", "list", "message", "工具", "send", "x1", "repo", "big", "calendar"}

// drawTools fills a desk with random tools of random sources.
func drawTools(t testing.TB, rt *rapid.T, d *desk, most int) []*registry.Definition {
	n := rapid.IntRange(0, most).Draw(rt, "tools")
	tools := make([]*registry.Definition, n)
	word := rapid.SampledFrom(vocabulary)
	for i := range tools {
		name := fmt.Sprintf("%s_%s_%d", word.Draw(rt, "verb"), word.Draw(rt, "noun"), i)
		text := strings.Join(rapid.SliceOfN(word, 0, 8).Draw(rt, "description"), " ")
		toolset := rapid.SampledFrom([]string{"mcp-alpha", "mcp-beta", "beta", "plugin", "mcp-a-source-with-a-long-name"}).Draw(rt, "toolset")
		tools[i] = d.define(t, toolset, name, text, rapid.SliceOfNDistinct(word, 0, 2, rapid.ID).Draw(rt, "parameters")...)
	}
	return tools
}

var formOrder = []bridge.Form{bridge.FormNone, bridge.FormGroups, bridge.FormMixed, bridge.FormNames, bridge.FormFull}

// TestLargerBudgetNeverShowsLess: neither in form nor in names, and no listing
// is ever over its budget.
func TestLargerBudgetNeverShowsLess(t *testing.T) { eachVariant(t, largerBudgetNeverShowsLess) }

func largerBudgetNeverShowsLess(t *testing.T, variant bridge.Variant) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDeskOf(t, variant)
		tools := drawTools(t, rt, d, 25)
		least, shown := 0, map[string]bool{}
		for budget := 0; budget < 400; budget += rapid.IntRange(1, 30).Draw(rt, "step") {
			l := d.List(tools, budget)
			if got := (len([]rune(l.Text)) + 3) / 4; got > budget {
				rt.Fatalf("budget %d: a listing of %d tokens", budget, got)
			}
			rank := slices.Index(formOrder, l.Form)
			if rank < least {
				rt.Fatalf("budget %d: form %s after %s", budget, l.Form, formOrder[least])
			}
			least = rank
			for _, tool := range tools {
				named := namesTool(l.Text, tool.Name)
				if shown[tool.Name] && !named {
					rt.Fatalf("budget %d no longer names %s:\n%s", budget, tool.Name, l.Text)
				}
				if toolset := strings.TrimPrefix(d.catalog[tool.Name], "mcp-"); named != l.Names(toolset) {
					rt.Fatalf("budget %d: %s named %t, Names(%s) %t", budget, tool.Name, named, toolset, l.Names(toolset))
				}
				shown[tool.Name] = named
			}
		}
	})
}

// namesTool looks for a tool's name as a listing writes it: on a line of its
// own, in a list, or in front of a description.
func namesTool(text, name string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "- ")
		front, _, _ := strings.Cut(line, ": ")
		if front == name || slices.Contains(strings.Split(line, ", "), name) {
			return true
		}
	}
	return false
}

// TestShownDecidesOnTheSurface: settings that agree in what is shown show the same.
func TestShownDecidesOnTheSurface(t *testing.T) { eachVariant(t, shownDecidesOnTheSurface) }

func shownDecidesOnTheSurface(t *testing.T, variant bridge.Variant) {
	position := rapid.SampledFrom([]bridge.Switch{bridge.Auto, bridge.On, bridge.Off})
	rapid.Check(t, func(rt *rapid.T) {
		d := newDeskOf(t, variant)
		tools := drawTools(t, rt, d, 12)
		surfaces := make(map[bridge.Shown]*bridge.Surface)
		for range 8 {
			c := variant.DefaultConfig()
			c.Enabled, c.Listing = position.Draw(rt, "enabled"), position.Draw(rt, "listing")
			c.ThresholdPct = rapid.SampledFrom([]float64{0, 1, 5, 50, 100}).Draw(rt, "threshold")
			c.ListingMaxTokens = rapid.SampledFrom([]int{200, 4000}).Draw(rt, "cap")
			c.SearchDefaultLimit = rapid.IntRange(1, 9).Draw(rt, "limit")
			length := rapid.SampledFrom([]int{0, 1000, 5000}).Draw(rt, "context")
			s, err := d.Assemble(tools, c, length)
			if err != nil {
				rt.Fatal(err)
			}
			shown := c.Shown(length)
			if other := surfaces[shown]; other != nil && !sameTexts(s.Definitions, other.Definitions) {
				rt.Fatalf("%+v: %+v at %d tokens shows another surface than other settings", shown, c, length)
			}
			surfaces[shown] = s
		}
	})
}

func sameTexts(a, b []*registry.Definition) bool {
	return slices.EqualFunc(a, b, func(x, y *registry.Definition) bool { return x.JSON == y.JSON })
}

// TestOrderNeverShows: the listing is a function of the set of tools.
func TestOrderNeverShows(t *testing.T) { eachVariant(t, orderNeverShows) }

func orderNeverShows(t *testing.T, variant bridge.Variant) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDeskOf(t, variant)
		tools := drawTools(t, rt, d, 25)
		shuffled := slices.Clone(tools)
		if len(tools) > 0 {
			shuffled = rapid.Permutation(tools).Draw(rt, "order")
		}
		budget := rapid.IntRange(0, 500).Draw(rt, "budget")
		if a, b := d.List(tools, budget), d.List(shuffled, budget); a.Text != b.Text || a.Form != b.Form {
			rt.Fatalf("%s:\n%s\n\n%s:\n%s", a.Form, a.Text, b.Form, b.Text)
		}
	})
}

// TestHitsShareATerm: a tool that has no word of the query is no hit, unless no
// tool has one; then the hits are those whose name holds the query.
func TestHitsShareATerm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDesk(t)
		tools := drawTools(t, rt, d, 15)
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append([]string{"zzz", "cre", "_", "e_i", "Issue!"}, vocabulary...)), 0, 3).Draw(rt, "query"), " ")
		limit := rapid.IntRange(0, 20).Draw(rt, "limit")
		words := search.Tokenize(query)
		shares := func(tool *registry.Definition) bool {
			own := search.Tokenize(tool.Name + " " + tool.Description + " " + strings.Join(tool.Properties, " "))
			return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(own, w) })
		}
		admit := shares
		if !slices.ContainsFunc(tools, shares) {
			admit = func(tool *registry.Definition) bool {
				return len(words) > 0 && strings.Contains(strings.ToLower(tool.Name), strings.ToLower(query))
			}
		}
		want := 0
		for _, tool := range tools {
			if admit(tool) {
				want++
			}
		}
		hits := d.Scope(tools, bridge.DefaultConfig()).Search(query, limit)
		if len(hits) != min(want, limit) {
			rt.Fatalf("%q: %d hits (%s), want %d", query, len(hits), matchNames(hits), min(want, limit))
		}
		for i, h := range hits {
			if !admit(h.Tool) || h.Score <= 0 || (i > 0 && hits[i-1].Score < h.Score) {
				rt.Fatalf("%q: hit %d is %s with %g after %v", query, i, h.Tool.Name, h.Score, matchNames(hits))
			}
		}
	})
}

// TestOutOfScopeStaysOut: what a session was not given is not found, described
// or called, whatever is asked.
func TestOutOfScopeStaysOut(t *testing.T) { eachVariant(t, outOfScopeStaysOut) }

func outOfScopeStaysOut(t *testing.T, variant bridge.Variant) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDeskOf(t, variant)
		all := drawTools(t, rt, d, 15)
		var given []*registry.Definition
		for _, tool := range all {
			if rapid.Bool().Draw(rt, "given") {
				given = append(given, tool)
			}
		}
		scope := d.Scope(given, with(func(c *bridge.Config) { c.SearchDefaultLimit, c.MaxSearchLimit = 50, 50 }))
		if scope.Len() != len(given) {
			rt.Fatalf("%d tools in scope, want %d", scope.Len(), len(given))
		}
		for _, tool := range all {
			in := slices.Contains(given, tool)
			_, matches := scope.ToolSearch(fields(t, string(variant.SearchArguments(tool.Name+" "+tool.Description))))
			for _, m := range matches {
				if !slices.Contains(given, m.Tool) {
					rt.Fatalf("a search finds %s", m.Tool.Name)
				}
			}
			_, described := scope.ToolDescribe(fields(t, string(variant.DescribeArguments([]string{tool.Name})[0])))
			if slices.Contains(described, tool.Name) != in {
				rt.Fatalf("%s: in scope %t, described %q", tool.Name, in, described)
			}
			call := fields(t, string(variant.CallArguments(tool.Name, json.RawMessage("{}"))))
			if _, refusal := scope.ToolCall(call); (refusal == nil) != in || scope.Has(tool.Name) != in {
				rt.Fatalf("%s: in scope %t, refusal %v", tool.Name, in, refusal)
			}
		}
	})
}

// node is a schema that the property below can draw, and check values against.
type node struct {
	kinds      []string // of the type keyword; none means that anything goes
	items      *node
	properties []*node // named a, b, …
	branches   []*node // of anyOf
	text       string  // an enum of this one text, without a type
}

func drawNode(rt *rapid.T, depth int) *node {
	n := &node{}
	switch form := rapid.IntRange(0, 9).Draw(rt, "form"); {
	case form == 0:
		return n
	case form == 1:
		n.text = rapid.SampledFrom([]string{"all", "42", "true", "null", "[]"}).Draw(rt, "enum")
		return n
	case form <= 3 && depth > 0:
		for range rapid.IntRange(1, 3).Draw(rt, "branches") {
			n.branches = append(n.branches, drawNode(rt, depth-1))
		}
		return n
	}
	n.kinds = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"string", "integer", "number", "boolean", "null", "array", "object"}), 1, 3, rapid.ID).Draw(rt, "types")
	if depth > 0 && slices.Contains(n.kinds, "array") {
		n.items = drawNode(rt, depth-1)
	}
	if depth > 0 && slices.Contains(n.kinds, "object") {
		for range rapid.IntRange(0, 2).Draw(rt, "properties") {
			n.properties = append(n.properties, drawNode(rt, depth-1))
		}
	}
	return n
}

func (n *node) schema() map[string]any {
	s := map[string]any{}
	switch {
	case n.text != "":
		s["enum"] = []string{n.text}
	case len(n.branches) > 0:
		var branches []any
		for _, b := range n.branches {
			branches = append(branches, b.schema())
		}
		s["anyOf"] = branches
	case len(n.kinds) == 1:
		s["type"] = n.kinds[0]
	case len(n.kinds) > 1:
		s["type"] = n.kinds
	}
	if n.items != nil {
		s["items"] = n.items.schema()
	}
	if n.properties != nil {
		properties := map[string]any{}
		for i, p := range n.properties {
			properties[string(rune('a'+i))] = p.schema()
		}
		s["properties"] = properties
	}
	return s
}

// accepts validates a decoded value as JSON Schema does.
func (n *node) accepts(v any) bool {
	switch {
	case n.text != "":
		return v == n.text
	case len(n.branches) > 0:
		return slices.ContainsFunc(n.branches, func(b *node) bool { return b.accepts(v) })
	case len(n.kinds) > 0 && !slices.ContainsFunc(n.kinds, func(kind string) bool { return isKind(v, kind) }):
		return false
	}
	switch v := v.(type) {
	case []any:
		return n.items == nil || !slices.ContainsFunc(v, func(e any) bool { return !n.items.accepts(e) })
	case map[string]any:
		for i, p := range n.properties {
			if member, ok := v[string(rune('a'+i))]; ok && !p.accepts(member) {
				return false
			}
		}
	}
	return true
}

func isKind(v any, kind string) bool {
	switch v := v.(type) {
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	case bool:
		return kind == "boolean"
	case nil:
		return kind == "null"
	case []any:
		return kind == "array"
	default:
		return kind == "object"
	}
}

func drawValue(rt *rapid.T, depth int) any {
	switch form := rapid.IntRange(0, 7).Draw(rt, "value"); {
	case form == 0 && depth > 0:
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(rt, "elements") {
			list = append(list, drawValue(rt, depth-1))
		}
		return list
	case form == 1 && depth > 0:
		object := map[string]any{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2, rapid.ID).Draw(rt, "keys") {
			object[key] = drawValue(rt, depth-1)
		}
		return object
	case form == 2:
		return rapid.SampledFrom([]any{1.0, 2.5, -3.0, true, nil}).Draw(rt, "scalar")
	default:
		return rapid.SampledFrom([]string{"42", "1e3", "2.5", "true", "null", "all", "x", "", "[]", `["1"]`, `{"a":"1"}`, `"42"`}).Draw(rt, "text")
	}
}

// TestCoerceKeepsWhatIsValid: coercing twice is coercing once, and arguments
// that a schema accepts are still accepted afterwards.
func TestCoerceKeepsWhatIsValid(t *testing.T) {
	seen := 0
	rapid.Check(t, func(rt *rapid.T) {
		root := &node{kinds: []string{"object"}, properties: []*node{drawNode(rt, 3), drawNode(rt, 3)}}
		schema, err := json.Marshal(root.schema())
		if err != nil {
			rt.Fatal(err)
		}
		value := map[string]any{"a": drawValue(rt, 3), "b": drawValue(rt, 3)}
		arguments, err := json.Marshal(value)
		if err != nil {
			rt.Fatal(err)
		}
		once := coerce(arguments, schema)
		if twice := coerce(once, schema); string(twice) != string(once) {
			rt.Fatalf("schema %s: %s, then %s, then %s", schema, arguments, once, twice)
		}
		var after any
		if err := json.Unmarshal(once, &after); err != nil {
			rt.Fatalf("%s became %s: %v", arguments, once, err)
		}
		if root.accepts(value) {
			seen++
			if !root.accepts(after) {
				rt.Fatalf("schema %s accepts %s but not %s", schema, arguments, once)
			}
		}
	})
	if seen == 0 {
		t.Error("no valid arguments were drawn: the property was not tried")
	}
}
