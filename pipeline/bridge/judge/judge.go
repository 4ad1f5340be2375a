// Package judge checks the arguments of a call against the JSON Schema of its tool.
//
// Schemas come from anybody, so compiling one never reads what it refers to, and a
// check never takes for ever: what cannot be judged passes.
package judge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// schemaURL is the base of a tool's schema. Nothing is ever loaded from it, nor
// from anywhere else.
const schemaURL = "http://tool.invalid/parameters"

// Judge is a compiled schema that gives up on a check that takes too long. It is
// safe for concurrent use; a nil Judge lets everything pass.
type Judge struct {
	mu     sync.Mutex
	schema *jsonschema.Schema
	plain  *plain // nil if the schema says more than that
	steps  int    // of the check that is running
}

// stepsMax bounds how many schemas one check enters. References can make a short
// schema take for ever; no call that a model writes comes near.
const stepsMax = 50_000

// stepFormat stands as the format of every schema. A validator asks a format
// before it descends, so asking it is a step.
const stepFormat = "step"

func (j *Judge) step(any) error {
	j.steps++
	if j.steps > stepsMax {
		panic("too many steps")
	}
	return nil
}

// noLoader keeps schemas to themselves: a reference to another document makes
// the schema unusable instead of reading files or asking servers.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("not loaded") }

// New compiles a schema. It returns nil if arguments cannot be judged by it: it is
// malformed, of an unknown dialect, or refers to another document.
func New(parameters json.RawMessage) (j *Judge) {
	defer func() {
		if recover() != nil { // schemas come from servers, whatever they hold
			j = nil
		}
	}()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(parameters)))
	if err != nil {
		return nil
	}
	j = &Judge{plain: plainOf(document, 0)}
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

// Violation is one way in which arguments break a schema.
type Violation struct {
	Location []string // members and indices that lead to the value; none: the whole
	Keyword  string   // of the schema, such as required or type
	Detail   string   // which members, as ": a, b"; else empty
}

// Pointer is the location as a JSON pointer (RFC 6901).
func (v Violation) Pointer() string {
	var b strings.Builder
	for _, member := range v.Location {
		b.WriteByte('/')
		b.WriteString(escapes.Replace(member))
	}
	return b.String()
}

// escapes are those of a member in a JSON pointer.
var escapes = strings.NewReplacer("~", "~0", "/", "~1")

// Required reports whether the violation is a member that is missing from the
// whole, and no other.
func (v Violation) Required() bool { return v.Keyword == requiredKeyword && len(v.Location) == 0 }

const requiredKeyword = "required"

// Violations returns everything that arguments break: the outermost first, missing
// members before others, then in the order of their locations and keywords. There
// are none where the arguments fit or cannot be judged.
func (j *Judge) Violations(arguments json.RawMessage) []Violation {
	all, _ := j.Check(arguments) // what is no JSON cannot be judged
	return all
}

// Check is Violations, and an error for arguments that are not a JSON object.
func (j *Judge) Check(arguments json.RawMessage) (all []Violation, err error) {
	if j != nil && j.plain != nil && rawjson.Kind(arguments) == "object" && j.plain.fits(arguments) {
		return nil, nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return nil, err
	}
	all = j.violations(value)
	if _, object := value.(map[string]any); !object {
		return all, errNoObject
	}
	return all, nil
}

var errNoObject = errors.New("not a JSON object")

// violations are those of a decoded value.
func (j *Judge) violations(value any) (all []Violation) {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	defer func() {
		if recover() != nil { // too long, or a number without a value
			all = nil
		}
	}()
	j.steps = 0
	var broken *jsonschema.ValidationError
	if !errors.As(j.schema.Validate(value), &broken) {
		return nil
	}
	all = violations(nil, broken)
	slices.SortFunc(all, func(a, b Violation) int {
		return cmp.Or(
			cmp.Compare(len(a.Location), len(b.Location)),
			cmp.Compare(otherThanRequired(a), otherThanRequired(b)),
			cmp.Compare(strings.Join(a.Location, "."), strings.Join(b.Location, ".")),
			cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Detail, b.Detail))
	})
	return all
}

func otherThanRequired(v Violation) int {
	if v.Keyword == requiredKeyword {
		return 0
	}
	return 1
}

// violations appends the violations below an error. Of a choice between
// branches, the choice itself is what is broken.
func violations(dst []Violation, e *jsonschema.ValidationError) []Violation {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			dst = violations(dst, cause)
		}
		return dst
	case *kind.RefCycle, *kind.InvalidJsonValue: // the schema's fault, or the reader's
		return dst
	default:
		v := Violation{Location: e.InstanceLocation, Keyword: strings.Join(k.KeywordPath(), "/")}
		switch k := k.(type) {
		case *kind.Required:
			v.Detail = ": " + strings.Join(k.Missing, ", ")
		case *kind.AdditionalProperties:
			v.Detail = ": " + strings.Join(slices.Sorted(slices.Values(k.Properties)), ", ")
		case *kind.FalseSchema: // these two go without a keyword of their own
			v.Keyword = "false"
		case *kind.Not:
			v.Keyword = "not"
		}
		return append(dst, v)
	}
}
