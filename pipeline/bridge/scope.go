package bridge

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// matchDescriptionMax is the length in code points at which a search result
// cuts a tool's description.
const matchDescriptionMax = 400

// Scope is what one session can reach through the bridge: the deferrable tools
// among the definitions it was made from, and nothing else.
type Scope struct {
	bridge *Bridge
	config Config
	split  *Split
	tools  []*registry.Definition
	byName map[string]*registry.Definition
}

// Scope makes a scope of the definitions that a session may use, before the
// bridge took any of them off the surface.
func (b *Bridge) Scope(definitions []*registry.Definition, c Config) *Scope {
	return b.Split(definitions).Scope(b, c)
}

// Scope makes the scope of definitions that the same bridge has classified.
func (s *Split) Scope(b *Bridge, c Config) *Scope {
	if s.byName == nil {
		s.byName = make(map[string]*registry.Definition, len(s.Deferrable))
		for _, t := range s.Deferrable {
			s.byName[t.Name] = t
		}
	}
	return &Scope{bridge: b, config: c, split: s, tools: s.Deferrable, byName: s.byName}
}

// Scope makes the scope of a surface: its deferred tools.
func (s *Surface) Scope(b *Bridge, c Config) *Scope {
	if s.split == nil || !s.Activated {
		return (&Split{Visible: s.Definitions}).Scope(b, c)
	}
	return s.split.Scope(b, c)
}

// Len is the number of tools in scope.
func (s *Scope) Len() int { return len(s.tools) }

// Tools returns the tools in scope, in catalog order. The slice is shared.
func (s *Scope) Tools() []*registry.Definition { return s.tools }

// Has reports whether a tool is in scope.
func (s *Scope) Has(name string) bool { return s.byName[name] != nil }

// Index returns the search index over the tools in scope. Its work is kept
// with the split.
func (s *Scope) Index() search.Index {
	if s.split.index == nil {
		terms := make([]*search.Terms, len(s.tools))
		for i, t := range s.tools {
			terms[i] = s.bridge.terms(t, s.split.labels[i])
		}
		s.split.index = s.bridge.retriever.Index(terms)
	}
	return s.split.index
}

// Match is one tool that a search found.
type Match struct {
	Tool  *registry.Definition
	Score float64
}

// searchKey is a search among the tools of one split.
type searchKey struct {
	query string
	limit int
}

// searchesMax bounds the searches that a split keeps; a full map is emptied.
const searchesMax = 1 << 10

// Search ranks the tools in scope for a query. The slice is shared.
func (s *Scope) Search(query string, limit int) []Match {
	key := searchKey{query, limit}
	matches, done := s.split.searches[key]
	if !done {
		matches = s.search(query, limit)
		if s.split.searches == nil {
			s.split.searches = make(map[searchKey][]Match)
		} else if len(s.split.searches) >= searchesMax {
			clear(s.split.searches)
		}
		s.split.searches[key] = matches
	}
	return matches
}

func (s *Scope) search(query string, limit int) []Match {
	hits := s.Index().Search(nil, query, limit)
	matches := make([]Match, len(hits))
	for i, h := range hits {
		matches[i] = Match{Tool: s.tools[h.Doc], Score: h.Score}
	}
	return matches
}

// CallError is a refusal of one of the bridge's tools, with its reason as a
// class that programs can tell apart.
type CallError struct {
	Class   ErrorClass
	Message string
	// Extra follows the message in the result object.
	Extra []rawjson.Field
	// Described is the tool whose schema Extra hands back; empty if none is.
	Described string
}

// Error returns the message.
func (e *CallError) Error() string { return e.Message }

// Result is the refusal as the model reads it.
func (e *CallError) Result() registry.Result { return registry.ErrorResult(e.Message, e.Extra...) }

// ErrorClass says why a bridge tool refused.
type ErrorClass string

// The classes, in the order in which a tool_call is checked.
const (
	ClassQueryMissing     ErrorClass = "query_missing"
	ClassTooMany          ErrorClass = "too_many"
	ClassNameMissing      ErrorClass = "name_missing"
	ClassBridgeRecursion  ErrorClass = "bridge_recursion"
	ClassArgumentsNotJSON ErrorClass = "arguments_not_json"
	ClassNotObject        ErrorClass = "arguments_not_object"
	ClassNotDeferrable    ErrorClass = "not_deferrable"
	ClassNotInScope       ErrorClass = "not_in_scope"
	ClassDeferred         ErrorClass = "deferred" // of a call by the tool's own name
	ClassMissingRequired  ErrorClass = "missing_required"
	// ClassInvalidArguments is any other way not to fit the schema.
	ClassInvalidArguments ErrorClass = "invalid_arguments"
)

// ToolSearch answers a tool_search call, and returns the tools that it found,
// each once, in the order of the result.
//
// July takes {"query", "limit"?} and answers {"query", "total_available",
// "matches": [{"name", "source", "source_name", "description"}]}, descriptions
// of at most 400 code points. September takes {"queries", "limit"?}, the limit
// being each query's, and answers {"queries", "total_available", "results":
// [{"query", "matches": [name]}], "tools": {name: {"source", "source_name",
// "description", "required"}}}; a result without matches has
// "available_sources": [{"name", "tool_count"}] and a "hint".
func (s *Scope) ToolSearch(args []rawjson.Field) (registry.Result, []Match) {
	return s.bridge.rules.search(s, args)
}

func (s *Scope) searchOne(args []rawjson.Field) (registry.Result, []Match) {
	query := textArg(args, "query")
	if query == "" {
		err := &CallError{Class: ClassQueryMissing, Message: "query is required"}
		return err.Result(), nil
	}
	matches := s.Search(query, s.limit(args))
	out := append([]byte(`{"query":`), rawjson.String(query)...)
	out = append(out, `,"total_available":`...)
	out = strconv.AppendInt(out, int64(len(s.tools)), 10)
	out = append(out, `,"matches":[`...)
	for i, m := range matches {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, s.bridge.found(m.Tool, func(kind, toolset string) json.RawMessage {
			return rawjson.AppendObject(nil, []rawjson.Field{
				{Key: "name", Value: rawjson.String(m.Tool.Name)},
				{Key: "source", Value: rawjson.String(kind)},
				{Key: "source_name", Value: rawjson.String(toolset)},
				{Key: "description", Value: rawjson.String(cutRunes(m.Tool.Description, matchDescriptionMax))},
			})
		})...)
	}
	return registry.Result{Text: string(append(out, "]}"...))}, matches
}

// found is what a search result says of a tool, which describe writes the first
// time.
func (b *Bridge) found(t *registry.Definition, describe func(kind, toolset string) json.RawMessage) json.RawMessage {
	kind, toolset := b.source(t.Name)
	key := foundKey{t, kind, toolset}
	text, ok := b.kept.found[key]
	if !ok {
		text = describe(kind, toolset)
		if len(b.kept.found) >= memoMax {
			clear(b.kept.found)
		}
		b.kept.found[key] = text
	}
	return text
}

// limit reads how many hits a search asks for: absent or unreadable means the
// default, anything else is brought into range.
func (s *Scope) limit(args []rawjson.Field) int {
	raw, ok := rawjson.Get(args, "limit")
	if !ok {
		return s.config.SearchDefaultLimit
	}
	n, err := toInt(decode(raw))
	if err != nil {
		return s.config.SearchDefaultLimit
	}
	return min(max(n, 1), s.config.MaxSearchLimit)
}

// ToolDescribe answers a tool_describe call, and returns the names of the tools
// whose schema the result holds.
//
// July takes {"name"} and answers {"name", "description", "parameters"} of one
// tool in scope. September takes {"names"} and answers {"tools": [{"name",
// "description", "parameters"}]}, with "not_found": [name] and a "hint" if some
// are not in scope, and "errors": {name: message} for those that the model sees
// without the bridge.
func (s *Scope) ToolDescribe(args []rawjson.Field) (registry.Result, []string) {
	return s.bridge.rules.describe(s, args)
}

func (s *Scope) describeOne(args []rawjson.Field) (registry.Result, []string) {
	name := textArg(args, "name")
	if err := s.check(name); err != nil {
		return err.Result(), nil
	}
	return registry.Result{Text: string(describe(s.byName[name]))}, []string{name}
}

// describe is all of a tool that a model needs to call it.
func describe(t *registry.Definition) json.RawMessage {
	parameters := t.Parameters
	if parameters == nil {
		parameters = json.RawMessage("{}")
	}
	return rawjson.AppendObject(nil, []rawjson.Field{
		{Key: "name", Value: rawjson.String(t.Name)},
		{Key: "description", Value: rawjson.String(t.Description)},
		{Key: "parameters", Value: parameters},
	})
}

// check finds out whether a named tool can be reached through the bridge.
func (s *Scope) check(name string) *CallError {
	switch {
	case name == "":
		return &CallError{Class: ClassNameMissing, Message: "name is required"}
	case !s.bridge.Deferrable(name):
		return s.bridge.rules.notDeferrable(s, name)
	case !s.Has(name):
		return notInScope(name)
	default:
		return nil
	}
}

func notDeferrable(name string) *CallError {
	return &CallError{Class: ClassNotDeferrable, Message: "'" + name + "' is not a tool that is loaded on demand: call it directly if you can see it, or look for another with " + SearchTool}
}

func notInScope(name string) *CallError {
	return &CallError{Class: ClassNotInScope, Message: "'" + name + "' is not currently available: it is not available in this session"}
}

// CheckDirect finds what keeps a deferrable tool from being called by its own name:
// it must be usable in the session, and on its surface. The bridge is the only way to
// one that it deferred.
func (s *Surface) CheckDirect(name string, usable bool) *CallError {
	switch {
	case !usable:
		return notInScope(name)
	case s.Activated:
		return &CallError{Class: ClassDeferred, Message: "'" + name + "' is loaded on demand and was not invoked: read its schema with " + DescribeTool + ", then run it with " + CallTool}
	default:
		return nil
	}
}

// Call is a tool_call, unwrapped.
type Call struct {
	Name      string
	Arguments json.RawMessage // a JSON object
}

// Unwrap reads a tool_call's arguments and returns the call of the real tool,
// not yet checked against a session. Arguments may be an object, its JSON text,
// or nothing; blank text counts as nothing. July takes {"name", "arguments"};
// September takes that as well, or "calls" with one such entry.
func (b *Bridge) Unwrap(args []rawjson.Field) (Call, *CallError) { return b.unwrap(nil, args) }

func (b *Bridge) unwrap(s *Scope, args []rawjson.Field) (Call, *CallError) {
	args, err := b.rules.call(args)
	if err != nil {
		return Call{}, err
	}
	name := textArg(args, "name")
	if name == "" {
		return Call{}, &CallError{Class: ClassNameMissing, Message: "name is required: the exact name of the tool to run"}
	}
	if IsBridgeTool(name) {
		return Call{}, &CallError{Class: ClassBridgeRecursion, Message: "'" + name + "' is a bridge tool: call it directly"}
	}
	raw, _ := rawjson.Get(args, "arguments")
	arguments, err := objectArgument(raw)
	if err != nil {
		return Call{}, err
	}
	if !b.Deferrable(name) {
		return Call{}, b.rules.notDeferrable(s, name)
	}
	return Call{Name: name, Arguments: arguments}, nil
}

func objectArgument(raw json.RawMessage) (json.RawMessage, *CallError) {
	if kind := rawjson.Kind(raw); kind == "nothing" || kind == "null" {
		return json.RawMessage("{}"), nil
	}
	if rawjson.Kind(raw) == "string" {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, notJSON(err)
		}
		if strings.TrimFunc(text, isSpace) == "" {
			return json.RawMessage("{}"), nil
		}
		compact, err := rawjson.Compact([]byte(text))
		if err != nil {
			return nil, notJSON(err)
		}
		raw = compact
	}
	if kind := rawjson.Kind(raw); kind != "object" {
		return nil, &CallError{Class: ClassNotObject, Message: "arguments must be a JSON object, not " + kind}
	}
	return raw, nil
}

func notJSON(err error) *CallError {
	return &CallError{Class: ClassArgumentsNotJSON, Message: "arguments is not valid JSON: " + err.Error()}
}

// ToolCall resolves a tool_call within the session: unwrapped, in scope, and with
// arguments that the variant lets pass. The arguments that it returns are as the
// model gave them, not repaired. The call is to be dispatched under the tool's
// own name, so that whoever guards calls sees the real tool.
func (s *Scope) ToolCall(args []rawjson.Field) (Call, *CallError) {
	call, err := s.bridge.unwrap(s, args)
	if err != nil {
		return Call{}, err
	}
	if !s.Has(call.Name) {
		return Call{}, notInScope(call.Name)
	}
	if err := s.bridge.CheckArguments(s.byName[call.Name], call.Arguments); err != nil {
		return Call{}, err
	}
	return call, nil
}

// CheckArguments finds what keeps a call with these arguments from being
// dispatched: in July a required one that is missing (see MissingRequired), in
// September whatever breaks the tool's JSON Schema, once the arguments are
// repaired as Coerce does. The refusal hands the schema back. What cannot be
// judged passes: an unknown tool (nil), a schema that is malformed or refers to
// another document.
func (b *Bridge) CheckArguments(t *registry.Definition, arguments json.RawMessage) *CallError {
	return b.rules.checkArguments(b, t, arguments)
}

// MissingRequired checks a call made without the schema in sight: it names the
// required arguments that are missing and hands back the schema, so that the
// model can repair the call. A null counts as given, types are not checked, and
// a schema that cannot be read lets the call pass.
func MissingRequired(t *registry.Definition, arguments json.RawMessage) *CallError {
	if t == nil {
		return nil
	}
	given, err := rawjson.Object(arguments)
	if err != nil {
		return nil
	}
	var missing []string
	for _, name := range t.Required {
		if _, ok := rawjson.Get(given, name); !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &CallError{
		Class:     ClassMissingRequired,
		Message:   "'" + t.Name + "' was not invoked: missing required arguments " + strings.Join(missing, ", "),
		Described: t.Name,
		Extra: []rawjson.Field{
			{Key: "parameters", Value: t.Parameters},
			{Key: "hint", Value: rawjson.String("Repeat the call with every required argument; `parameters` is the schema.")},
		},
	}
}

// textArg reads a text argument.
func textArg(args []rawjson.Field, key string) string {
	raw, _ := rawjson.Get(args, key)
	return text(raw)
}

// text reads a text, white space at its ends removed; null and nothing are
// empty. Other values are taken as their JSON text, as a lenient caller would.
func text(raw json.RawMessage) string {
	if kind := rawjson.Kind(raw); kind == "nothing" || kind == "null" {
		return ""
	}
	text, ok := rawjson.Text(raw)
	if !ok {
		text = string(raw)
	}
	return strings.TrimFunc(text, isSpace)
}

// decode reads a scalar for the number rules of the settings.
func decode(raw json.RawMessage) any {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

func cutRunes(s string, limit int) string {
	n := 0
	for i := range s {
		if n == limit {
			return s[:i]
		}
		n++
	}
	return s
}
