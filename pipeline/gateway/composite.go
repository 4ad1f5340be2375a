package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// steps carries out a composite action: its calls, one after another, each
// authorised and recorded like any other. The first that fails ends it.
func (c *call) steps(ctx context.Context, t *tool) (registry.Result, *Error) {
	parameters, err := rawjson.Object(c.in.Arguments)
	if err != nil {
		return registry.Result{}, &Error{Code: InvalidArguments, Phase: PhaseValidate, Message: err.Error(), SuggestedAction: "Repeat the call with a JSON object."}
	}
	if err := c.bucket(ctx, t); err != nil {
		return registry.Result{}, err
	}
	before := c.gateway.time.Now()
	var done [][]byte
	for i, step := range t.Steps {
		result := c.step(ctx, i, step.Tool, fill(step.Arguments, parameters))
		outcome := rawjson.Field{Key: "result", Value: asJSON(result)}
		if result.Failed {
			outcome = rawjson.Field{Key: "failed", Value: asJSON(result)}
		}
		done = append(done, rawjson.AppendObject(nil, []rawjson.Field{{Key: "tool", Value: rawjson.String(step.Tool)}, outcome}))
		if result.Failed {
			c.record.Executing = c.gateway.time.Now().Sub(before)
			return registry.Result{}, &Error{
				Code: EndpointError, Phase: PhaseExecute,
				Message:         fmt.Sprintf("step %d of %d (%s) failed, and those behind it were not made: %s", i+1, len(t.Steps), step.Tool, asJSON(result)),
				SuggestedAction: "See what the failed step says. The steps ahead of it have taken effect.",
			}
		}
	}
	c.record.Executing = c.gateway.time.Now().Sub(before)
	text := []byte(`{"steps":[`)
	text = append(text, bytes.Join(done, []byte{','})...)
	return registry.Result{Text: string(append(text, "]}"...))}, nil
}

// step makes the call of one step.
func (c *call) step(ctx context.Context, i int, tool string, arguments json.RawMessage) registry.Result {
	s := &call{Session: c.Session, snapshot: c.snapshot}
	s.in = registry.Call{ID: fmt.Sprintf("%s/%d", c.in.ID, i+1), Name: tool, Arguments: arguments}
	s.record = &audit.Record{
		Time: c.gateway.time.Now(), TraceID: c.record.TraceID, SessionID: c.options.ID, Principal: c.options.Who.Principal,
		Name: tool, CallID: s.in.ID, ModelCall: c.record.ModelCall,
	}
	s.route = c.Session.route(ctx, c.snapshot, s.in)
	result := s.finish(s.run(ctx))
	c.effect = c.effect || s.record.Attempts > 0
	return result
}

// asJSON is a result as a JSON value.
func asJSON(r registry.Result) json.RawMessage {
	switch {
	case r.Content != nil:
		return r.Content
	case json.Valid([]byte(r.Text)):
		return json.RawMessage(r.Text)
	default:
		return rawjson.String(r.Text)
	}
}

// fill puts parameters into a step's arguments. A text that is ${NAME} and no more
// becomes the parameter, of whatever type; within other text its text is put in.
func fill(arguments json.RawMessage, parameters []rawjson.Field) json.RawMessage {
	switch rawjson.Kind(arguments) {
	case "object":
		fields, err := rawjson.Object(arguments)
		if err != nil {
			return arguments
		}
		filled := make([]rawjson.Field, 0, len(fields))
		for _, f := range fields {
			if value := fill(f.Value, parameters); value != nil {
				filled = append(filled, rawjson.Field{Key: f.Key, Value: value})
			}
		}
		return rawjson.AppendObject(nil, filled)
	case "array":
		elements, err := rawjson.Array(arguments)
		if err != nil {
			return arguments
		}
		parts := make([][]byte, 0, len(elements))
		for _, e := range elements {
			if value := fill(e, parameters); value != nil {
				parts = append(parts, value)
			}
		}
		return append(append([]byte{'['}, bytes.Join(parts, []byte{','})...), ']')
	case "string":
		text, _ := rawjson.Text(arguments)
		return fillText(text, arguments, parameters)
	default:
		return arguments
	}
}

// fillText fills one text. A parameter that was not given leaves out the member that
// stands for it alone, and nothing in other text.
func fillText(text string, raw json.RawMessage, parameters []rawjson.Field) json.RawMessage {
	if name, ok := strings.CutPrefix(text, "${"); ok && strings.Count(text, "${") == 1 && strings.HasSuffix(name, "}") {
		value, _ := rawjson.Get(parameters, strings.TrimSuffix(name, "}"))
		return value
	}
	if !strings.Contains(text, "${") {
		return raw
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		b.WriteString(before)
		if !ok {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			b.WriteString("${" + rest)
			break
		}
		value, _ := rawjson.Get(parameters, name)
		if plain, isText := rawjson.Text(value); isText {
			b.WriteString(plain)
		} else {
			b.Write(value)
		}
		text = after
	}
	return rawjson.String(b.String())
}
