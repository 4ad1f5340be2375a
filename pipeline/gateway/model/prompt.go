package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// The tags around calls and results in the text of models that do not know tool calls.
const (
	callBegin   = "<tool_call>"
	callEnd     = "</tool_call>"
	resultBegin = "<tool_result>"
	resultEnd   = "</tool_result>"
)

// instruction tells a model how to call the tools that follow it.
const instruction = `You can call tools. To call one, write a block of this form:
<tool_call>{"name": "NAME", "arguments": {"PARAMETER": "VALUE"}}</tool_call>
Write several blocks for several calls. Do not invent results: stop after the last block, and the next message brings them in <tool_result> blocks, in the order of your calls. Where no tool is needed, answer in plain text.
Each line below is a tool; parameters is the JSON Schema of its arguments.`

// SystemPrompt is the system prompt in which a model that does not know tool calls
// finds the surface.
func SystemPrompt(system string, tools json.RawMessage) (string, error) {
	var surface []byte
	if len(tools) > 0 {
		if err := isArray("tools", tools); err != nil {
			return "", err
		}
		elements, err := rawjson.Array(tools)
		if err != nil {
			return "", err
		}
		for i, e := range elements {
			fields, err := rawjson.Object(e)
			function, ok := rawjson.Get(fields, "function")
			if err != nil || !ok {
				return "", fmt.Errorf("tool %d of the surface has no function\nhint: this is a fault of the program, which made it", i+1)
			}
			surface = append(append(surface, '\n'), function...)
		}
	}
	switch {
	case len(surface) == 0:
		return system, nil
	case system == "":
		return instruction + string(surface), nil
	default:
		return system + "\n\n" + instruction + string(surface), nil
	}
}

// completeText asks a model that does not know tool calls.
func (c *Client) completeText(ctx context.Context, r Request) (Reply, error) {
	system, err := SystemPrompt(r.System, r.Tools)
	if err != nil {
		return Reply{}, err
	}
	plain, err := plainMessages(r.Messages)
	if err != nil {
		return Reply{}, err
	}
	messages, err := withSystem(system, plain)
	if err != nil {
		return Reply{}, err
	}
	reply, err := c.chat(ctx, messages, nil)
	if err != nil {
		return Reply{}, err
	}
	if len(reply.Calls) == 0 { // an endpoint may have read them out of the text itself
		reply.Calls, reply.Text = ParseCalls(reply.Text)
	}
	return reply, nil
}

// plainMessages writes the calls and the results of a history as text. Messages that
// have neither stay as they are.
func plainMessages(messages json.RawMessage) (json.RawMessage, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	if err := isArray("messages", messages); err != nil {
		return nil, err
	}
	all, err := rawjson.Array(messages)
	if err != nil {
		return nil, err
	}
	var plain [][]byte
	var results []string
	flush := func() {
		if len(results) > 0 { // many models want a user's message between two of theirs, and only one
			plain = append(plain, message(openai.ChatMessageRoleUser, strings.Join(results, "\n")))
			results = nil
		}
	}
	for i, raw := range all {
		var m openai.ChatCompletionMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("message %d of a model request cannot be read: %w\nhint: this is a fault of the program, which made it", i+1, err)
		}
		switch {
		case m.Role == openai.ChatMessageRoleTool:
			results = append(results, resultBegin+textOf(m)+resultEnd)
		case len(m.ToolCalls) > 0:
			flush()
			plain = append(plain, message(m.Role, callsAsText(m)))
		default:
			flush()
			plain = append(plain, raw)
		}
	}
	flush()
	out := []byte{'['}
	for i, m := range plain {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, m...)
	}
	return append(out, ']'), nil
}

// callsAsText is a message with its calls in the form that the instruction gives.
func callsAsText(m openai.ChatCompletionMessage) string {
	var parts []string
	if text := textOf(m); text != "" {
		parts = append(parts, text)
	}
	for _, call := range m.ToolCalls {
		arguments := json.RawMessage(call.Function.Arguments)
		if !json.Valid(arguments) {
			arguments = rawjson.String(call.Function.Arguments)
		}
		parts = append(parts, callBegin+string(rawjson.AppendObject(nil, []rawjson.Field{
			{Key: "name", Value: rawjson.String(call.Function.Name)}, {Key: "arguments", Value: arguments},
		}))+callEnd)
	}
	return strings.Join(parts, "\n")
}
