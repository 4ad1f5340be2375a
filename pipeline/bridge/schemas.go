package bridge

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// The three reserved names.
const (
	SearchTool   = "tool_search"
	DescribeTool = "tool_describe"
	CallTool     = "tool_call"
)

// IsBridgeTool reports whether a name is one of the three reserved ones.
func IsBridgeTool(name string) bool {
	return name == SearchTool || name == DescribeTool || name == CallTool
}

// ownTexts are the words and parameters of the bridge's own schemas. Their size
// is part of every figure, so a test holds July's within a tenth of the
// reference's 378 estimated tokens, and September's near them: terse wording
// must not pass for containment.
type ownTexts struct {
	// search has one %d: the number of deferred tools.
	search, describe, call                               string
	searchParameters, describeParameters, callParameters json.RawMessage
}

// listingGuidance follows a listing: without it models deny what they have.
const listingGuidance = "Whatever is listed exists: never claim that it is unavailable. With the exact name in sight, skip `tool_search`; otherwise search first."

func julyTexts() ownTexts {
	return ownTexts{
		search: "Find one of the %d further tools of this session that are loaded on demand (MCP servers and plugins). " +
			"Ranks them by name, description and parameter names against a few words that say what you want to do. " +
			"Returns names with short descriptions; take one to `tool_describe` next. Use it before you fall back on another tool or decline a request.",
		searchParameters: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"Words for the task at hand, for example \"create calendar event\"."},` +
			`"limit":{"type":"integer","description":"How many tools to return at most; leave it out for the usual number."}},` +
			`"required":["query"]}`),
		describe: "Load the description and the parameter schema of one tool that `tool_search` found or listed. " +
			"Read it before the first `tool_call` of that tool.",
		describeParameters: json.RawMessage(`{"type":"object","properties":{` +
			`"name":{"type":"string","description":"Exact tool name, as found or listed."}},` +
			`"required":["name"]}`),
		call: "Run a tool that is loaded on demand, by its exact name, with arguments that fit the schema from `tool_describe`. " +
			"Permissions and approvals are those of the tool itself. Call tools that you can see directly, without this one.",
		callParameters: json.RawMessage(`{"type":"object","properties":{` +
			`"name":{"type":"string","description":"Exact tool name."},` +
			`"arguments":{"type":"object","description":"The tool's arguments as an object."}},` +
			`"required":["name","arguments"]}`),
	}
}

func septemberTexts() ownTexts {
	return ownTexts{
		search: "Find some of the %d further tools of this session that are loaded on demand (MCP servers, plugins, seldom used built-in tools). " +
			"Ranks them by name, description, parameter names and source, for each query apart. " +
			"Returns names with short descriptions; take what fits to `tool_describe` next. Use it before you fall back on another tool or decline a request.",
		searchParameters: json.RawMessage(`{"type":"object","properties":{` +
			`"queries":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":7,"description":"One query for each thing that you need, for example \"create calendar event\"."},` +
			`"limit":{"type":"integer","description":"How many tools to return at most for each query; leave it out for the usual number."}},` +
			`"required":["queries"]}`),
		describe: "Load the descriptions and parameter schemas of tools that `tool_search` found or listed. " +
			"Read them before the first `tool_call` of a tool.",
		describeParameters: json.RawMessage(`{"type":"object","properties":{` +
			`"names":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":10,"description":"Exact tool names, as found or listed."}},` +
			`"required":["names"]}`),
		call: "Run a tool that is loaded on demand, by its exact name, with arguments that fit the schema from `tool_describe`. " +
			"Permissions and approvals are those of the tool itself. Call tools that you can see directly, without this one.",
		callParameters: json.RawMessage(`{"type":"object","properties":{` +
			`"calls":{"type":"array","minItems":1,"maxItems":1,"items":{"type":"object","properties":{` +
			`"name":{"type":"string","description":"Exact tool name."},` +
			`"arguments":{"type":"object","description":"The tool's arguments as an object."}},` +
			`"required":["name","arguments"]}}},` +
			`"required":["calls"]}`),
	}
}

// ownTools are the definitions that do not depend on what is deferred. A memo
// keeps them: whatever is remembered by definition would otherwise grow by two
// with every bridge.
type ownTools struct {
	search, describe, call *registry.Definition // search still without its description
}

func newOwnTools(texts ownTexts) (ownTools, error) {
	describe, err := registry.Define(DescribeTool, texts.describe, texts.describeParameters)
	if err != nil {
		return ownTools{}, err
	}
	call, err := registry.Define(CallTool, texts.call, texts.callParameters)
	if err != nil {
		return ownTools{}, err
	}
	search, err := registry.Define(SearchTool, "", texts.searchParameters)
	return ownTools{search, describe, call}, err
}

// Tools returns the bridge's three definitions for a number of deferred tools
// and their listing.
func (b *Bridge) Tools(deferred int, listing Listing) ([]*registry.Definition, error) {
	if b.kept.own.describe == nil {
		own, err := newOwnTools(b.rules.texts)
		if err != nil {
			return nil, fmt.Errorf("bridge tools: %w", err)
		}
		b.kept.own = own
	}
	return []*registry.Definition{b.searchTool(deferred, listing.Text), b.kept.own.describe, b.kept.own.call}, nil
}

// searchTool is tool_search for a number of deferred tools and a listing's text.
type searchTool struct {
	deferred   int
	listing    string
	definition *registry.Definition
}

// searchToolsMax is how many versions of tool_search a memo keeps: assemblies of
// one session differ little, and mostly not at all.
const searchToolsMax = 8

// searchTool makes tool_search, or finds it if the text is that of a late one.
func (b *Bridge) searchTool(deferred int, listing string) *registry.Definition {
	if d := b.kept.bare[deferred]; d != nil && listing == "" {
		return d
	}
	for _, t := range b.kept.tools {
		if t.deferred == deferred && t.listing == listing {
			return t.definition
		}
	}
	description := fmt.Sprintf(b.rules.texts.search, deferred)
	if listing != "" {
		description += "\n\n" + listing + "\n" + listingGuidance
	}
	d := b.kept.own.search.WithDescription(description)
	if listing == "" {
		if len(b.kept.bare) >= memoMax {
			clear(b.kept.bare)
		}
		b.kept.bare[deferred] = d
		return d
	}
	b.kept.tools = slices.Insert(b.kept.tools, 0, searchTool{deferred, listing, d})
	if len(b.kept.tools) > searchToolsMax {
		b.kept.tools = b.kept.tools[:searchToolsMax]
	}
	return d
}
