package bridge

import (
	"encoding/json"
	"slices"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// SearchArguments writes the arguments of a tool_search call for one query.
func (v Variant) SearchArguments(query string) json.RawMessage {
	if v == September {
		return object("queries", texts([]string{query}))
	}
	return object("query", rawjson.String(query))
}

// DescribeArguments writes the arguments of the tool_describe calls that load
// some tools' schemas: one call for each tool in July, one for each ten in
// September.
func (v Variant) DescribeArguments(names []string) []json.RawMessage {
	var calls []json.RawMessage
	if v == September {
		for several := range slices.Chunk(names, namesMax) {
			calls = append(calls, object("names", texts(several)))
		}
		return calls
	}
	for _, name := range names {
		calls = append(calls, object("name", rawjson.String(name)))
	}
	return calls
}

// CallArguments writes the arguments of a tool_call of one tool.
func (v Variant) CallArguments(name string, arguments json.RawMessage) json.RawMessage {
	call := rawjson.AppendObject(nil, []rawjson.Field{
		{Key: "name", Value: rawjson.String(name)}, {Key: "arguments", Value: arguments},
	})
	if v == September {
		return object("calls", list([]json.RawMessage{call}))
	}
	return call
}

// object is a JSON object of one member.
func object(key string, value json.RawMessage) json.RawMessage {
	return rawjson.AppendObject(nil, []rawjson.Field{{Key: key, Value: value}})
}

// list is a JSON array of values.
func list(values []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// texts is a JSON array of texts.
func texts(values []string) json.RawMessage {
	raw := make([]json.RawMessage, len(values))
	for i, v := range values {
		raw[i] = rawjson.String(v)
	}
	return list(raw)
}
