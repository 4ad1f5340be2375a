package bridge

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// schemasMax bounds how many tools' schemas are kept, which weigh far more than
// their text.
const schemasMax = 1 << 14

// schemaURL is the base of a tool's schema. Nothing is ever loaded from it, nor
// from anywhere else.
const schemaURL = "http://tool.invalid/parameters"

// argumentSchema is what the bridge knows of a tool's parameters.
type argumentSchema struct {
	types *Types
	// judge is made at the first check; nil if the schema makes none.
	judge  *judge
	judged bool
	// last are the arguments judged last, and lastBroken what they broke: arms of
	// one session make the same call.
	last       string
	lastBroken *violation
}

// violation is the judge's on coerced arguments.
func (s *argumentSchema) violation(t *registry.Definition, arguments json.RawMessage) *violation {
	if !s.judged {
		s.judge, s.judged = newJudge(t.Parameters), true
	}
	if s.last == "" || s.last != string(arguments) {
		s.last, s.lastBroken = string(arguments), s.judge.violation(arguments)
	}
	return s.lastBroken
}

// judge is a compiled schema that gives up on a check that takes too long.
type judge struct {
	schema *jsonschema.Schema
	steps  int // of the check that is running
}

// stepsMax bounds how many schemas one check enters. References can make a short
// schema take for ever; no call that a model writes comes near.
const stepsMax = 50_000

// stepFormat stands as the format of every schema. A validator asks a format
// before it descends, so asking it is a step.
const stepFormat = "step"

func (j *judge) step(any) error {
	j.steps++
	if j.steps > stepsMax {
		panic("too many steps")
	}
	return nil
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
	if v.path == argumentsPath && v.constraint == requiredKeyword {
		class = ClassMissingRequired
	}
	return &CallError{
		Class:     class,
		Message:   "'" + t.Name + "' was not invoked: " + v.path + " breaks the constraint " + v.constraint + v.detail,
		Described: t.Name,
		Extra: []rawjson.Field{
			{Key: "path", Value: rawjson.String(v.path)},
			{Key: "constraint", Value: rawjson.String(v.constraint)},
			{Key: "parameters", Value: t.Parameters},
			{Key: "hint", Value: rawjson.String("Repeat the call with arguments that fit `parameters`, the schema.")},
		},
	}
}

// noLoader keeps schemas to themselves: a reference to another document makes
// the schema unusable instead of reading files or asking servers.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("not loaded") }

// newJudge compiles a schema. It returns nil if arguments cannot be judged by
// it: it is malformed, of an unknown dialect, or refers to another document.
func newJudge(parameters json.RawMessage) (j *judge) {
	defer func() {
		if recover() != nil { // schemas come from servers, whatever they hold
			j = nil
		}
	}()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(parameters)))
	if err != nil {
		return nil
	}
	j = &judge{}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.RegisterFormat(&jsonschema.Format{Name: stepFormat, Validate: j.step})
	c.AssertFormat()
	if c.AddResource(schemaURL, adapt(document)) != nil {
		return nil
	}
	if j.schema, err = c.Compile(schemaURL); err != nil {
		return nil
	}
	return j
}

// The keywords under which a schema holds others: one, a list, or by name.
var (
	schemaKeywords = []string{
		"additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
		"unevaluatedItems", "unevaluatedProperties",
	}
	schemaListKeywords = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	schemaMapKeywords  = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)

// adapt changes a decoded schema, in place, to what tools mean by theirs:
// nullable allows null, and format says something to people only, so that its
// place is free to count steps. Values that are no schemas, such as those of
// enum, stay as they are.
func adapt(schema any) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	s["format"] = stepFormat
	for _, keyword := range schemaKeywords {
		if child, ok := s[keyword]; ok {
			s[keyword] = adapt(child)
		}
	}
	for _, keyword := range schemaListKeywords {
		if children, ok := s[keyword].([]any); ok {
			for i := range children {
				children[i] = adapt(children[i])
			}
		}
	}
	for _, keyword := range schemaMapKeywords {
		if children, ok := s[keyword].(map[string]any); ok {
			for name := range children {
				children[name] = adapt(children[name])
			}
		}
	}
	if s["nullable"] != true {
		return s
	}
	return nullable(s)
}

// nullable makes a schema allow null: where only type and enum could forbid it,
// by adding it to them, so that a violation still names the constraint.
func nullable(s map[string]any) any {
	for _, keyword := range []string{"$ref", "allOf", "anyOf", "const", "if", "not", "oneOf"} {
		if _, ok := s[keyword]; ok {
			return map[string]any{"anyOf": []any{map[string]any{"type": "null"}, s}}
		}
	}
	switch types := s["type"].(type) {
	case string:
		if types != "null" {
			s["type"] = []any{types, "null"}
		}
	case []any:
		if !slices.Contains(types, any("null")) {
			s["type"] = append(types, "null")
		}
	}
	if values, ok := s["enum"].([]any); ok && !slices.Contains(values, nil) {
		s["enum"] = append(values, nil)
	}
	return s
}

// violation is one way in which arguments break a schema.
type violation struct {
	path       string // from argumentsPath, members joined by dots
	constraint string // the keyword
	detail     string
	depth      int
}

const (
	argumentsPath   = "arguments"
	requiredKeyword = "required"
)

// violation returns the violation to report: of all, the outermost, missing
// members before others, then in the order of their paths and keywords. It is
// nil where the arguments fit or cannot be judged.
func (j *judge) violation(arguments json.RawMessage) (first *violation) {
	if j == nil {
		return nil
	}
	defer func() {
		if recover() != nil { // too long, or a number without a value
			first = nil
		}
	}()
	j.steps = 0
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(arguments)))
	if err != nil {
		return nil
	}
	var broken *jsonschema.ValidationError
	if !errors.As(j.schema.Validate(value), &broken) {
		return nil
	}
	all := violations(nil, broken)
	if len(all) == 0 {
		return nil
	}
	least := slices.MinFunc(all, func(a, b violation) int {
		return cmp.Or(
			cmp.Compare(a.depth, b.depth),
			cmp.Compare(otherThanRequired(a), otherThanRequired(b)),
			cmp.Compare(a.path, b.path), cmp.Compare(a.constraint, b.constraint), cmp.Compare(a.detail, b.detail))
	})
	return &least
}

func otherThanRequired(v violation) int {
	if v.constraint == requiredKeyword {
		return 0
	}
	return 1
}

// violations appends the violations below an error. Of a choice between
// branches, the choice itself is what is broken.
func violations(dst []violation, e *jsonschema.ValidationError) []violation {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			dst = violations(dst, cause)
		}
		return dst
	case *kind.RefCycle, *kind.InvalidJsonValue: // the schema's fault, or the reader's
		return dst
	default:
		v := violation{
			path:  strings.Join(append([]string{argumentsPath}, e.InstanceLocation...), "."),
			depth: len(e.InstanceLocation),
		}
		v.constraint = strings.Join(k.KeywordPath(), "/")
		switch k := k.(type) {
		case *kind.Required:
			v.detail = ": " + strings.Join(k.Missing, ", ")
		case *kind.AdditionalProperties:
			v.detail = ": " + strings.Join(slices.Sorted(slices.Values(k.Properties)), ", ")
		case *kind.FalseSchema: // these two go without a keyword of their own
			v.constraint = "false"
		case *kind.Not:
			v.constraint = "not"
		}
		return append(dst, v)
	}
}
