package bridge

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// How much September takes and tells at once.
const (
	queriesMax = 7
	namesMax   = 10

	// foundDescriptionMax is the length in code points at which a search result
	// cuts a description; an ellipsis follows.
	foundDescriptionMax = 500
	// foundRequiredMax is how many required parameters a search result names,
	// foundNameMax the length in code points at which it cuts each.
	foundRequiredMax = 32
	foundNameMax     = 64
)

const (
	emptyHint    = "Nothing fits this query. Try other words, or the name of one of `available_sources`, before you say that it cannot be done."
	notFoundHint = "Names under `not_found` are no tools of this session; find exact names with `tool_search`."
)

// searchSeveral is September's tool_search.
func (s *Scope) searchSeveral(args []rawjson.Field) (registry.Result, []Match) {
	queries := textsArg(args, "queries")
	switch {
	case len(queries) == 0:
		return (&CallError{Class: ClassQueryMissing, Message: "queries is required: a list of texts to search for"}).Result(), nil
	case len(queries) > queriesMax:
		return tooMany("queries", len(queries), queriesMax).Result(), nil
	}
	limit := s.limit(args)
	var found []Match
	seen := make(map[string]bool)
	groups := make([]json.RawMessage, len(queries))
	for i, query := range queries {
		matches := s.Search(query, limit)
		groups[i] = s.group(query, matches)
		for _, m := range matches {
			if !seen[m.Tool.Name] {
				seen[m.Tool.Name] = true
				found = append(found, m)
			}
		}
	}
	tools := make([]rawjson.Field, len(found))
	for i, m := range found {
		tools[i] = rawjson.Field{Key: m.Tool.Name, Value: s.bridge.found(m.Tool, foundOf(m.Tool))}
	}
	return registry.Result{Text: string(rawjson.AppendObject(nil, []rawjson.Field{
		{Key: "queries", Value: texts(queries)},
		{Key: "total_available", Value: number(len(s.tools))},
		{Key: "results", Value: list(groups)},
		{Key: "tools", Value: rawjson.AppendObject(nil, tools)},
	}))}, found
}

// group is the result of one query: names, or where else to look.
func (s *Scope) group(query string, matches []Match) json.RawMessage {
	names := make([]string, len(matches))
	for i, m := range matches {
		names[i] = m.Tool.Name
	}
	group := []rawjson.Field{{Key: "query", Value: rawjson.String(query)}, {Key: "matches", Value: texts(names)}}
	if len(matches) == 0 {
		group = append(group,
			rawjson.Field{Key: "available_sources", Value: s.sources()},
			rawjson.Field{Key: "hint", Value: rawjson.String(emptyHint)})
	}
	return rawjson.AppendObject(nil, group)
}

// sources counts the tools in scope by the label of their source.
func (s *Scope) sources() json.RawMessage {
	if s.split.sources != nil {
		return s.split.sources
	}
	counts := make(map[string]int)
	for _, label := range s.split.labels {
		counts[label]++
	}
	var sources []json.RawMessage
	for _, label := range slices.Sorted(maps.Keys(counts)) {
		sources = append(sources, rawjson.AppendObject(nil, []rawjson.Field{
			{Key: "name", Value: rawjson.String(label)}, {Key: "tool_count", Value: number(counts[label])},
		}))
	}
	s.split.sources = list(sources)
	return s.split.sources
}

// foundOf is what a search result tells of one tool.
func foundOf(t *registry.Definition) func(kind, toolset string) json.RawMessage {
	return func(kind, toolset string) json.RawMessage {
		description := cutRunes(t.Description, foundDescriptionMax)
		if len(description) < len(t.Description) {
			description += "…"
		}
		required := make([]string, min(len(t.Required), foundRequiredMax))
		for i := range required {
			required[i] = cutRunes(t.Required[i], foundNameMax)
		}
		return rawjson.AppendObject(nil, []rawjson.Field{
			{Key: "source", Value: rawjson.String(kind)},
			{Key: "source_name", Value: rawjson.String(toolset)},
			{Key: "description", Value: rawjson.String(description)},
			{Key: "required", Value: texts(required)},
		})
	}
}

// describeSeveral is September's tool_describe.
func (s *Scope) describeSeveral(args []rawjson.Field) (registry.Result, []string) {
	names := distinct(textsArg(args, "names"))
	switch {
	case len(names) == 0:
		return (&CallError{Class: ClassNameMissing, Message: "names is required: a list of exact tool names"}).Result(), nil
	case len(names) > namesMax:
		return tooMany("names", len(names), namesMax).Result(), nil
	}
	var described, notFound []string
	var tools []json.RawMessage
	var errors []rawjson.Field
	for _, name := range names {
		if s.check(name) == nil {
			described, tools = append(described, name), append(tools, describe(s.byName[name]))
			continue
		}
		if direct := s.direct(name); direct != "" {
			errors = append(errors, rawjson.Field{Key: name, Value: rawjson.String(callDirectly(direct))})
			continue
		}
		notFound = append(notFound, name)
	}
	result := []rawjson.Field{{Key: "tools", Value: list(tools)}}
	if len(notFound) > 0 {
		result = append(result,
			rawjson.Field{Key: "not_found", Value: texts(notFound)},
			rawjson.Field{Key: "hint", Value: rawjson.String(notFoundHint)})
	}
	if len(errors) > 0 {
		result = append(result, rawjson.Field{Key: "errors", Value: rawjson.AppendObject(nil, errors)})
	}
	return registry.Result{Text: string(rawjson.AppendObject(nil, result))}, described
}

// oneOfCalls is the one entry of `calls`, or the arguments as they stand where
// they hold no calls.
func oneOfCalls(args []rawjson.Field) ([]rawjson.Field, *CallError) {
	raw, ok := rawjson.Get(args, "calls")
	if !ok || rawjson.Kind(raw) == "null" {
		return args, nil
	}
	calls := []json.RawMessage{raw}
	if rawjson.Kind(raw) == "array" {
		calls, _ = rawjson.Array(raw)
	}
	switch len(calls) {
	case 0:
		return nil, &CallError{Class: ClassNameMissing, Message: "calls is empty: give it one call with name and arguments"}
	case 1:
	default:
		return nil, tooMany("calls", len(calls), 1)
	}
	entry, err := rawjson.Object(calls[0])
	if err != nil {
		return nil, &CallError{Class: ClassNameMissing, Message: "calls holds " + rawjson.Kind(calls[0]) + ": give it one object with name and arguments"}
	}
	return entry, nil
}

func tooMany(argument string, given, most int) *CallError {
	return &CallError{
		Class:   ClassTooMany,
		Message: "too many " + argument + ": " + strconv.Itoa(given) + " given, " + strconv.Itoa(most) + " at most in one call",
	}
}

// diagnose is September's answer to a name that the bridge does not run. What
// the model sees decides, not what is registered somewhere: without a scope, and
// so without a surface, the name may well be in sight.
func diagnose(s *Scope, name string) *CallError {
	direct := name
	if s != nil {
		direct = s.direct(name)
	}
	if direct != "" {
		return &CallError{Class: ClassNotDeferrable, Message: callDirectly(direct)}
	}
	for _, t := range s.tools {
		if foldName(t.Name) == foldName(name) {
			return &CallError{Class: ClassNotDeferrable, Message: "there is no tool '" + name + "': the exact name is '" + t.Name + "'"}
		}
	}
	return &CallError{Class: ClassNotDeferrable, Message: "'" + name + "' is not available in this session: do not retry it, look for another tool with " + SearchTool}
}

func callDirectly(name string) string {
	return "'" + name + "' is not loaded on demand: you can see it, so call it directly, without " + CallTool
}

// direct is the exact name of the tool that the model sees under a name, letter
// case and hyphens aside; empty if it sees none.
func (s *Scope) direct(name string) string {
	if IsBridgeTool(name) {
		return name
	}
	folded := foldName(name)
	for _, t := range s.split.Visible {
		if foldName(t.Name) == folded {
			return t.Name
		}
	}
	return ""
}

func foldName(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "-", "_")
}

// textsArg reads a list of texts, blank ones left out; one text counts as a list
// of it. Other values are taken as textArg does.
func textsArg(args []rawjson.Field, key string) []string {
	raw, _ := rawjson.Get(args, key)
	values := []json.RawMessage{raw}
	if rawjson.Kind(raw) == "array" {
		values, _ = rawjson.Array(raw)
	}
	var texts []string
	for _, v := range values {
		if text := text(v); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// distinct keeps the first of equal texts.
func distinct(texts []string) []string {
	seen := make(map[string]bool, len(texts))
	return slices.DeleteFunc(texts, func(t string) bool {
		again := seen[t]
		seen[t] = true
		return again
	})
}

func number(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }
