package bridge

import (
	"encoding/json"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge/judge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// schemasMax bounds how many tools' schemas are kept, which weigh far more than
// their text.
const schemasMax = 1 << 14

// argumentSchema is what the bridge knows of a tool's parameters.
type argumentSchema struct {
	types *Types
	// judge is made at the first check; nil if the schema makes none.
	judge  *judge.Judge
	judged bool
	// last are the arguments judged last, and lastBroken what they broke: arms of
	// one session make the same call.
	last       string
	lastBroken *judge.Violation
}

// violation is the first of the judge's on coerced arguments, or nil.
func (s *argumentSchema) violation(t *registry.Definition, arguments json.RawMessage) *judge.Violation {
	if !s.judged {
		s.judge, s.judged = judge.New(t.Parameters), true
	}
	if s.last == "" || s.last != string(arguments) {
		s.last, s.lastBroken = string(arguments), nil
		if all := s.judge.Violations(arguments); len(all) > 0 {
			s.lastBroken = &all[0]
		}
	}
	return s.lastBroken
}

func (b *Bridge) schemaOf(t *registry.Definition) *argumentSchema {
	known, ok := b.kept.schemas[t]
	if !ok {
		known = &argumentSchema{types: readTypes(t.Parameters, b.rules.blankObjects)}
		if len(b.kept.schemas) >= schemasMax {
			clear(b.kept.schemas)
		}
		b.kept.schemas[t] = known
	}
	return known
}

// Coerce repairs a call's arguments by the tool's schema; see Types.Coerce.
func (b *Bridge) Coerce(t *registry.Definition, arguments json.RawMessage) json.RawMessage {
	return b.schemaOf(t).types.Coerce(arguments)
}

// argumentsPath is where the path of a violation begins, members joined by dots.
const argumentsPath = "arguments"

// checkSchema is September's check of a call's arguments.
func (b *Bridge) checkSchema(t *registry.Definition, arguments json.RawMessage) *CallError {
	if t == nil {
		return nil
	}
	known := b.schemaOf(t)
	v := known.violation(t, known.types.Coerce(arguments))
	if v == nil {
		return nil
	}
	class := ClassInvalidArguments
	if v.Required() {
		class = ClassMissingRequired
	}
	path := strings.Join(append([]string{argumentsPath}, v.Location...), ".")
	return &CallError{
		Class:     class,
		Message:   "'" + t.Name + "' was not invoked: " + path + " breaks the constraint " + v.Keyword + v.Detail,
		Described: t.Name,
		Extra: []rawjson.Field{
			{Key: "path", Value: rawjson.String(path)},
			{Key: "constraint", Value: rawjson.String(v.Keyword)},
			{Key: "parameters", Value: t.Parameters},
			{Key: "hint", Value: rawjson.String("Repeat the call with arguments that fit `parameters`, the schema.")},
		},
	}
}
