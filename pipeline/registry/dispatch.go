package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// Sizes of an error text that goes back to a model, in code points.
const (
	errorBodyMax = 2000
	errorPrefix  = "[TOOL_ERROR] "
)

// Call is one call of a tool, as a model asked for it.
type Call struct {
	ID        string
	Name      string          // model-visible
	Arguments json.RawMessage // an object
	// DependsOn are calls of the same model output that go first, by their place
	// in it, all before this one.
	DependsOn []int
}

// Result is what a call gives back to the model.
type Result struct {
	// Text is the result as the model reads it. Failures are JSON objects with
	// an "error" member.
	Text string
	// Content is set instead of Text for a multimodal result: a JSON array of
	// content parts.
	Content json.RawMessage
	// Failed reports that Text is an error of the registry: unknown tool,
	// handler error, or a result that breaks the contract.
	Failed bool
	// Cause is the handler's error where Text tells of one; else nil.
	Cause error
	// Took is how long the call took by the session's clock; who dispatches sets it.
	Took time.Duration
}

// ErrorResult returns a failed result whose text is a JSON object: "error" with
// the message, then the extra fields in the order given.
func ErrorResult(message string, extra ...rawjson.Field) Result {
	fields := append([]rawjson.Field{{Key: "error", Value: rawjson.String(message)}}, extra...)
	return Result{Text: string(rawjson.AppendObject(nil, fields)), Failed: true}
}

// NotMade is the result of a call that was not made because one that it depends on
// failed.
func NotMade(name string) Result {
	return ErrorResult(name + " was not called: a call that it depends on failed")
}

// DispatchAll carries out the calls of one model output, one after another, and
// returns their results in the same order. A call that depends on one that failed is
// not made.
func (r *Registry) DispatchAll(ctx context.Context, calls []Call) []Result {
	results := make([]Result, len(calls))
	for i, c := range calls {
		failed := func(on int) bool { return on >= 0 && on < i && results[on].Failed }
		if slices.ContainsFunc(c.DependsOn, failed) {
			results[i] = NotMade(c.Name)
			continue
		}
		start := r.clock.Now()
		results[i] = r.Dispatch(ctx, c.Name, c.Arguments)
		results[i].Took = max(0, r.clock.Now().Sub(start))
	}
	return results
}

// Dispatch carries out a call by name with a JSON object of arguments. It never
// panics and never returns a result of another shape than Result promises.
func (r *Registry) Dispatch(ctx context.Context, name string, args json.RawMessage) Result {
	entry, ok := r.Entry(name)
	if !ok || entry.Handler == nil {
		return ErrorResult("Unknown tool: " + name)
	}
	value, err := callHandler(ctx, entry.Handler, args)
	if err != nil {
		kind, text := describeError(err)
		body := "Tool execution failed: " + kind + ": " + stripMarkup(text)
		r.log.Error("tool failed", "tool", name, "err", body)
		result := ErrorResult(errorPrefix + truncate(body, errorBodyMax))
		result.Cause = err
		return result
	}
	switch v := value.(type) {
	case string:
		return Result{Text: v}
	case Multimodal:
		if rawjson.Kind(v.Content) == "array" && json.Valid(v.Content) {
			return Result{Content: v.Content}
		}
	}
	kind := typeName(value)
	r.log.Error("result breaks the contract", "tool", name, "type", kind)
	return ErrorResult(fmt.Sprintf("tool %s returned %s, want a string or multimodal content", name, kind),
		rawjson.Field{Key: "error_type", Value: rawjson.String("tool_result_contract")},
		rawjson.Field{Key: "tool", Value: rawjson.String(name)},
		rawjson.Field{Key: "result_type", Value: rawjson.String(kind)})
}

func callHandler(ctx context.Context, h Handler, args json.RawMessage) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, panicError{p}
		}
	}()
	return h(ctx, args)
}

// panicError carries a recovered panic.
type panicError struct{ value any }

func (p panicError) Error() string { return fmt.Sprint(p.value) }

// ErrorType is the name that a model reads for a recovered panic.
func (p panicError) ErrorType() string { return "panic" }

// describeError returns an error's type and message for the model. An error
// whose methods panic, such as a nil pointer in an error's clothes, is a fault
// of the handler like any other.
func describeError(err error) (kind, text string) {
	defer func() {
		if p := recover(); p != nil {
			kind, text = panicError{p}.ErrorType(), panicError{p}.Error()
		}
	}()
	return errorType(err), err.Error()
}

// errorType names an error for the model: what the error calls itself through
// an ErrorType method, else its Go type.
func errorType(err error) string {
	var named interface{ ErrorType() string }
	if errors.As(err, &named) {
		return named.ErrorType()
	}
	t := reflect.TypeOf(err)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return cmp.Or(t.Name(), "error")
}

// markup is what could pass for a turn boundary or a code block when an error
// text lands in a prompt: role tags, fences and CDATA marks.
var markup = regexp.MustCompile("(?i)</?(?:system|assistant|user|human|tool|function|tool_call|tool_response|function_call)\\b[^>]*>|```[A-Za-z0-9_-]*|<!\\[CDATA\\[|\\]\\]>")

// stripMarkup strips until nothing is left to strip: what stood around a mark may
// make up another.
func stripMarkup(text string) string {
	for {
		stripped := markup.ReplaceAllString(text, "")
		if len(stripped) == len(text) {
			return text
		}
		text = stripped
	}
}

// truncate cuts text to limit code points, the last three being dots.
func truncate(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	return string(runes[:limit-3]) + "..."
}

// typeName names a value's type as the result contract does: with the names of
// the reference implementation's language for the types that JSON knows.
func typeName(v any) string {
	switch reflect.ValueOf(v).Kind() {
	case reflect.Invalid:
		return "NoneType"
	case reflect.Map, reflect.Struct:
		return "dict"
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "int"
	case reflect.Float32, reflect.Float64:
		return "float"
	case reflect.Slice:
		if reflect.TypeOf(v).Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "list"
	default:
		return strings.TrimPrefix(reflect.TypeOf(v).String(), "*")
	}
}
