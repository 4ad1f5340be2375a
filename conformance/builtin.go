package conformance

import (
	"encoding/json"
	"math"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// coreSizeTolerance is how far the size of the core's schemas may lie from the recorded one, relative to that: the
// wording is another, what it weighs should not be.
const coreSizeTolerance = 0.15

// untyped is how a vector writes the type of a parameter whose schema states none.
const untyped = "?"

// builtinVector is one built-in tool.
type builtinVector struct {
	Name          string        `json:"name"`
	Toolset       string        `json:"toolset"`
	Core          bool          `json:"core"`
	Async         bool          `json:"async"`
	MaxResultSize *int          `json:"max_result_size_chars"` // null: no cap of its own
	DynamicSchema bool          `json:"dynamic_schema"`
	RequiresEnv   []string      `json:"requires_env"`
	Params        []paramVector `json:"params"`
	Required      []string      `json:"required"`
	HasCheck      bool          `json:"has_check"`
	SchemaChars   int           `json:"schema_chars"` // code points of the compact schema
}

type paramVector struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

func builtinFormat() format {
	return format{
		name:   "builtin_tools",
		fields: fieldsOf[builtinVector](),
		kinds: []string{"names", "toolset", "core", "async", "max_result_size_chars", "requires_env", "params", "required",
			"has_check", "core_size"},
		ignored: []Ignored{
			{"dynamic_schema", "no tool of a corpus replaces its schema at run time"},
			{"schema_chars", "of a single tool: the wording is the corpus's own, so only the core's total is held, within 15 %"},
		},
		begin: func(r *runner, t *tally) checker { return &builtinChecker{runner: r, tally: t} },
	}
}

// builtinChecker also keeps what the file as a whole is compared by.
type builtinChecker struct {
	*runner
	tally              *tally
	names              []string
	coreWant, coreHave int
}

// builtin returns a tool of the agent itself by its name.
func (r *runner) builtin(name string) (*corpus.Tool, bool) {
	t, ok := r.corpus.Tool(name)
	return t, ok && t.Builtin
}

func (b *builtinChecker) check(vector) {
	var v builtinVector
	ok := b.tally.read(&v, func() string { return v.Name })
	b.names = append(b.names, v.Name)
	if !ok {
		return
	}
	t, ok := b.builtin(v.Name)
	if !ok {
		return // finish says so
	}
	b.compare("toolset", v.Toolset, t.Toolset)
	b.compare("core", v.Core, b.corpus.Toolsets.IsCore(v.Name))
	b.compare("async", v.Async, t.Async)
	b.compare("max_result_size_chars", v.MaxResultSize, sizeOrNil(t.MaxResultSize))
	b.compare("requires_env", v.RequiresEnv, append([]string{}, t.RequiresEnv...))
	b.compare("params", v.Params, params(t.Definition.Parameters))
	b.compare("required", v.Required, append([]string{}, t.Definition.Required...))
	b.compare("has_check", v.HasCheck, t.Check != "")
	if v.Core {
		b.coreWant += v.SchemaChars
		b.coreHave += t.Definition.Runes
	}
}

func (b *builtinChecker) compare(field string, want, got any) {
	var c comparison
	c.equal(field, want, got)
	b.tally.decide(field, c)
}

// finish compares the tools there are and what the core weighs.
func (b *builtinChecker) finish() {
	b.tally.current, b.tally.currentName = vector{}, "all vectors"
	var names []string
	for _, t := range b.corpus.Tools {
		if t.Builtin {
			names = append(names, t.Definition.Name)
		}
	}
	var c comparison
	c.names("name", sortedNames(b.names), sortedNames(names))
	b.tally.decide("names", c)

	c = nil
	if math.Abs(float64(b.coreHave-b.coreWant)) > coreSizeTolerance*float64(b.coreWant) {
		c.equal("schema_chars", b.coreWant, b.coreHave)
	}
	b.tally.decide("core_size", c)
}

func sizeOrNil(size int) *int {
	if size == 0 {
		return nil
	}
	return &size
}

// params lists the top-level parameters of a schema with their types, in declaration order.
func params(schema json.RawMessage) []paramVector {
	list := []paramVector{}
	members, _ := rawjson.Object(schema) // absent, or an object: definitions hold nothing else
	raw, _ := rawjson.Get(members, "properties")
	properties, _ := rawjson.Object(raw)
	for _, p := range properties {
		kind := untyped
		members, err := rawjson.Object(p.Value)
		if raw, ok := rawjson.Get(members, "type"); ok && err == nil && json.Unmarshal(raw, &kind) != nil {
			kind = untyped
		}
		list = append(list, paramVector{Name: p.Key, Type: kind})
	}
	return list
}
