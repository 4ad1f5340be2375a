package model

import (
	"encoding/json"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// The other marks that text is searched for.
const (
	fenceBegin   = "```json"
	fenceEnd     = "```"
	thoughtBegin = "<think>"
	thoughtEnd   = "</think>"
)

// ParseCalls reads the calls out of a model's text, and returns the text without
// them. A call is an object with a name and an object of arguments, in a block
// <tool_call>…</tool_call> or ```json … ```; a block may hold several, one after
// another or in an array. A block that is not closed, or holds anything else, is text:
// half a call is no call. What a model writes within <think> is not meant for anybody.
func ParseCalls(text string) (calls []registry.Call, rest string) {
	var kept strings.Builder
	for text != "" {
		at, mark := firstMark(text)
		if mark == "" {
			break
		}
		block := text[at+len(mark):]
		if mark == thoughtBegin {
			end := strings.Index(block, thoughtEnd)
			if end < 0 {
				break
			}
			end += at + len(thoughtBegin) + len(thoughtEnd)
			kept.WriteString(text[:end])
			text = text[end:]
			continue
		}
		found, length := parseBlock(block, mark)
		if length == 0 {
			kept.WriteString(text[:at+len(mark)])
			text = block
			continue
		}
		for _, c := range found {
			c.ID = callID(len(calls))
			calls = append(calls, c)
		}
		kept.WriteString(text[:at])
		text = block[length:]
	}
	kept.WriteString(text)
	if len(calls) == 0 {
		return nil, kept.String()
	}
	return calls, strings.TrimSpace(kept.String())
}

// firstMark finds the first mark of a text; an empty one if there is none.
func firstMark(text string) (at int, mark string) {
	for i := range len(text) {
		if text[i] != '<' && text[i] != '`' {
			continue
		}
		for _, m := range [...]string{callBegin, fenceBegin, thoughtBegin} {
			if strings.HasPrefix(text[i:], m) {
				return i, m
			}
		}
	}
	return 0, ""
}

// parseBlock reads the calls behind a mark, and returns the length of the block with
// the end of it; 0 if it is no block of calls.
func parseBlock(block, mark string) (calls []registry.Call, length int) {
	end := callEnd
	if mark == fenceBegin {
		end = fenceEnd
	}
	d := json.NewDecoder(strings.NewReader(block))
	for {
		at := int(d.InputOffset())
		if rest := strings.TrimLeft(block[at:], " \t\r\n"); strings.HasPrefix(rest, end) {
			if len(calls) == 0 {
				return nil, 0
			}
			return calls, len(block) - len(rest) + len(end)
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, 0
		}
		values := []json.RawMessage{value}
		if rawjson.Kind(value) == "array" {
			var err error
			if values, err = rawjson.Array(value); err != nil {
				return nil, 0
			}
		}
		for _, v := range values {
			c, ok := callOf(v)
			if !ok {
				return nil, 0
			}
			calls = append(calls, c)
		}
	}
}

// callOf reads one call.
func callOf(value json.RawMessage) (registry.Call, bool) {
	fields, err := rawjson.Object(value)
	if err != nil {
		return registry.Call{}, false
	}
	raw, _ := rawjson.Get(fields, "name")
	name, ok := rawjson.Text(raw)
	if !ok || name == "" {
		return registry.Call{}, false
	}
	arguments, ok := rawjson.Get(fields, "arguments")
	if !ok {
		return registry.Call{}, false
	}
	// Models that learnt the API's form write the object as a text.
	if text, ok := rawjson.Text(arguments); ok && json.Valid([]byte(text)) {
		arguments = json.RawMessage(text)
	}
	if rawjson.Kind(arguments) != "object" {
		return registry.Call{}, false
	}
	return registry.Call{Name: name, Arguments: arguments}, true
}

// withoutThoughts is a text without what is within <think>.
func withoutThoughts(text string) string {
	var kept strings.Builder
	for {
		before, rest, found := strings.Cut(text, thoughtBegin)
		kept.WriteString(before)
		if !found {
			return kept.String()
		}
		if _, text, found = strings.Cut(rest, thoughtEnd); !found {
			return kept.String()
		}
	}
}
