package gateway

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge/judge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// Code says what went wrong with a call.
type Code string

// The codes of errors.
const (
	UnknownTool          Code = "unknown_tool"
	InvalidArguments     Code = "invalid_arguments"
	Denied               Code = "denied"
	ConfirmationRequired Code = "confirmation_required"
	RateLimited          Code = "rate_limited"
	Timeout              Code = "timeout"
	Unavailable          Code = "unavailable"
	EndpointError        Code = "endpoint_error"
	ResultTooLarge       Code = "result_too_large"
	Cancelled            Code = "cancelled"
)

// Codes lists the codes.
func Codes() []Code {
	return []Code{
		UnknownTool, InvalidArguments, Denied, ConfirmationRequired, RateLimited, Timeout, Unavailable,
		EndpointError, ResultTooLarge, Cancelled,
	}
}

// The phases of a call, in their order.
const (
	PhaseRoute     = "route"
	PhaseAuthorise = "authorise"
	PhaseValidate  = "validate"
	PhaseConfirm   = "confirm"
	PhaseWait      = "wait" // for other calls of the same model output
	PhaseQueue     = "queue"
	PhaseExecute   = "execute"
	PhaseShape     = "shape"
	PhaseAudit     = "audit"
	PhaseDone      = "done"
)

// Error is why a call was not carried out, or failed, in terms that a model can act
// on.
type Error struct {
	Code            Code
	Message         string
	SuggestedAction string
	Retryable       bool // the same call may succeed later
	RetryAfter      time.Duration
	Candidates      []Candidate
	Violations      []judge.Violation // of invalid arguments, all of them
	Rule            string            // that denied the call
	TraceID         string
	Phase           string
}

// Candidate is a tool that may have been meant.
type Candidate struct {
	Tool        string // model-visible name
	Description string // its beginning
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Result is the error as a call's result: {"error": {…}}.
func (e *Error) Result() registry.Result {
	fields := []rawjson.Field{
		{Key: "code", Value: rawjson.String(string(e.Code))},
		{Key: "message", Value: rawjson.String(e.Message)},
	}
	if e.Rule != "" {
		fields = append(fields, rawjson.Field{Key: "rule", Value: rawjson.String(e.Rule)})
	}
	if len(e.Violations) > 0 {
		fields = append(fields, rawjson.Field{Key: "violations", Value: violationsJSON(e.Violations)})
	}
	if len(e.Candidates) > 0 {
		fields = append(fields, rawjson.Field{Key: "candidates", Value: candidatesJSON(e.Candidates)})
	}
	fields = append(fields,
		rawjson.Field{Key: "suggested_action", Value: rawjson.String(e.SuggestedAction)},
		rawjson.Field{Key: "retryable", Value: json.RawMessage(fmt.Sprint(e.Retryable))})
	if e.RetryAfter > 0 {
		fields = append(fields, rawjson.Field{Key: "retry_after_ms", Value: json.RawMessage(fmt.Sprint(e.RetryAfter.Milliseconds()))})
	}
	fields = append(fields,
		rawjson.Field{Key: "phase", Value: rawjson.String(e.Phase)},
		rawjson.Field{Key: "trace_id", Value: rawjson.String(e.TraceID)})
	body := rawjson.AppendObject(nil, fields)
	return registry.Result{
		Text:   string(rawjson.AppendObject(nil, []rawjson.Field{{Key: "error", Value: body}})),
		Failed: true, Cause: e,
	}
}

func violationsJSON(all []judge.Violation) json.RawMessage {
	list := []byte{'['}
	for i, v := range all {
		if i > 0 {
			list = append(list, ',')
		}
		list = rawjson.AppendObject(list, []rawjson.Field{
			{Key: "pointer", Value: rawjson.String(v.Pointer())},
			{Key: "keyword", Value: rawjson.String(v.Keyword + v.Detail)},
		})
	}
	return append(list, ']')
}

func candidatesJSON(all []Candidate) json.RawMessage {
	list := []byte{'['}
	for i, c := range all {
		if i > 0 {
			list = append(list, ',')
		}
		list = rawjson.AppendObject(list, []rawjson.Field{
			{Key: "tool", Value: rawjson.String(c.Tool)},
			{Key: "description", Value: rawjson.String(c.Description)},
		})
	}
	return append(list, ']')
}
