// Package builtin has the tools that a gateway carries out itself: they tell the
// time, list files, and send back what they are given. Their targets are
// internal://builtin/NAME.
//
// None of them changes anything, and list_files sees nothing outside of the folders
// that it is given, whatever paths and symbolic links it meets.
package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // the time zones are the same on every machine that has none of its own

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// Prefix begins the targets of the tools; a tool's name follows.
const Prefix = "internal://builtin/"

// Tool is a tool that is built in.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage // JSON Schema, an object
	ReadOnly    bool
	Endpoint    endpoint.Endpoint
}

// Tools returns the tools, by name. The time is that of c; folders are those that
// list_files may look into, as absolute paths.
func Tools(c clock.Clock, folders []string) []Tool {
	return []Tool{
		{
			Name: "echo", ReadOnly: true, Endpoint: serve(echo),
			Description: "Return the arguments exactly as they were given, whatever they are. Use it to see whether calls get through and how arguments arrive; it looks nothing up and has no effect. It does not fail.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"value":{"description":"What to send back. Any other members come back as well."}}}`),
		},
		{
			Name: "get_system_time", ReadOnly: true, Endpoint: serve(teller{c}.call),
			Description: "Tell the current date and time, in UTC or in a time zone. Use it whenever an answer depends on today's date or on the time of day; it does not convert other times. It fails on a time zone that is not in the IANA database.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"timezone":{"type":"string","description":"IANA name such as Europe/Berlin; UTC if it is left out."}},"additionalProperties":false}`),
		},
		{
			Name: "list_files", ReadOnly: true, Endpoint: serve(lister{folders}.call),
			Description: fmt.Sprintf("List the names, kinds and sizes of what is in a folder, sorted by path. Use it to find out which files there are; it reads no contents and follows no symbolic links. It gives at most %d entries and says when there are more, and fails on a path that does not exist or lies outside of the allowed folders.", entriesMax),
			InputSchema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"path":{"type":"string","description":"The folder: absolute, or relative to the first allowed folder; that one itself if it is left out."},"depth":{"type":"integer","minimum":1,"maximum":%d,"description":"How many levels to go down; 1, the folder alone, if it is left out."}},"additionalProperties":false}`, depthMax)),
		},
	}
}

// serve is an endpoint that answers with the JSON, or the mistake, of a function.
type serve func(ctx context.Context, arguments json.RawMessage) ([]byte, error)

// mistake is an error of whoever called.
type mistake string

func (m mistake) Error() string { return string(m) }

// Call answers within the call's bounds.
func (s serve) Call(ctx context.Context, r endpoint.Request) (endpoint.Answer, error) {
	body, err := s(ctx, r.Arguments)
	var wrong mistake
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.Timeout, Err: fmt.Errorf("%s was not done in time", r.Tool)}
	case ctx.Err() != nil:
		return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.Closed, Err: context.Cause(ctx)}
	case errors.As(err, &wrong):
		return endpoint.Answer{Body: []byte(wrong), IsError: true}, nil
	case err != nil:
		return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.ServerError, Err: err}
	}
	got := endpoint.Answer{Body: body}
	if r.BytesMax > 0 && int64(len(body)) > r.BytesMax {
		got.Body, got.Bytes = body[:r.BytesMax], int64(len(body))
	}
	return got, nil
}

// read reads arguments into their struct.
func read(arguments json.RawMessage, into any) error {
	if err := json.Unmarshal(arguments, into); err != nil {
		return mistake(fmt.Sprintf("the arguments cannot be read: %v. Repeat the call with arguments that fit the tool's schema.", err))
	}
	return nil
}

func echo(_ context.Context, arguments json.RawMessage) ([]byte, error) { return arguments, nil }

type teller struct{ clock clock.Clock }

func (t teller) call(_ context.Context, arguments json.RawMessage) ([]byte, error) {
	var in struct {
		Timezone string `json:"timezone"`
	}
	if err := read(arguments, &in); err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(in.Timezone)
	if err != nil || in.Timezone == "Local" {
		return nil, mistake(fmt.Sprintf("there is no time zone %q. Use an IANA name such as Europe/Berlin, or leave it out for UTC.", in.Timezone))
	}
	return rawjson.AppendObject(nil, []rawjson.Field{
		{Key: "time", Value: rawjson.String(t.clock.Now().In(zone).Format(time.RFC3339))},
		{Key: "timezone", Value: rawjson.String(zone.String())},
	}), nil
}
