package audit

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// SchemaVersion is the version of the lines that a Log writes.
const SchemaVersion = 1

// lineStart begins every line, of any version.
const lineStart = `{"schema_version":`

// timeForm is RFC 3339 with all nine digits of the second's fraction, so that times
// sort as texts.
const timeForm = "2006-01-02T15:04:05.000000000Z07:00"

// mcpTools begins the ids of tools that MCP servers carry out.
const mcpTools = "hermes://mcp/"

// AppendJSON appends the record as its line of a log, without the newline.
func (r *Record) AppendJSON(dst []byte) []byte {
	dst = appendRecord(dst, r)
	return dst[:len(dst)-1]
}

// appendRecord appends a record's line with its newline. Members stand in a fixed
// order under the names of OpenTelemetry's conventions for generative models where
// those have one. Those that most calls have nothing to say in are left out when
// they are empty: mcp.method.name, error.type, rule, confirmed, truncated_tokens,
// shaping_steps.
func appendRecord(dst []byte, r *Record) []byte {
	dst = append(append(dst, lineStart...), '0'+SchemaVersion)
	dst = r.Time.UTC().AppendFormat(append(dst, `,"time":"`...), timeForm)
	dst = append(dst, '"')
	dst = appendText(dst, `,"trace_id":`, r.TraceID)
	dst = appendText(dst, `,"session_id":`, r.SessionID)
	dst = appendText(dst, `,"principal":`, r.Principal)
	dst = appendText(dst, `,"tool":`, r.Tool)
	dst = appendText(dst, `,"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":`, r.Name)
	dst = appendText(dst, `,"gen_ai.tool.call.id":`, r.CallID)
	if strings.HasPrefix(r.Tool, mcpTools) {
		dst = append(dst, `,"mcp.method.name":"tools/call"`...)
	}
	dst = appendText(dst, `,"model_call":`, r.ModelCall)
	dst = appendArguments(append(dst, `,"arguments":`...), r.Arguments)
	dst = appendText(dst, `,"outcome":`, r.Outcome)
	dst = appendUnlessEmpty(dst, `,"error.type":`, r.Code)
	dst = appendUnlessEmpty(dst, `,"rule":`, r.Rule)
	dst = appendText(dst, `,"phase":`, r.Phase)
	dst = appendNumber(dst, `,"attempts":`, r.Attempts)
	dst = appendFlag(dst, `,"cache_hit":`, r.CacheHit)
	dst = appendUnlessEmpty(dst, `,"confirmed":`, r.Confirmed)
	dst = appendFlag(dst, `,"throttled":`, r.Throttled)
	dst = appendNumber(dst, `,"timed_out":`, r.TimedOut)
	dst = appendFlag(dst, `,"opened":`, r.Opened)
	dst = appendNumber(dst, `,"undecodable":`, r.Undecodable)
	dst = appendText(dst, `,"result_sha256":`, r.ResultSHA256)
	dst = appendNumber(dst, `,"result_bytes":`, r.ResultBytes)
	dst = appendNumber(dst, `,"result_tokens":`, r.ResultTokens)
	if r.TruncatedTokens != 0 {
		dst = appendNumber(dst, `,"truncated_tokens":`, r.TruncatedTokens)
	}
	dst = appendMillis(append(dst, `,"waiting_ms":`...), r.Waiting)
	dst = appendMillis(append(dst, `,"queued_ms":`...), r.Queued)
	dst = appendMillis(append(dst, `,"executing_ms":`...), r.Executing)
	dst = appendMillis(append(dst, `,"shaping_ms":`...), r.Shaping)
	if r.Steps != (Steps{}) {
		dst = appendMillis(append(dst, `,"shaping_steps":{"cap_ms":`...), r.Steps.Cap)
		dst = appendMillis(append(dst, `,"decode_ms":`...), r.Steps.Decode)
		dst = appendMillis(append(dst, `,"redact_ms":`...), r.Steps.Redact)
		dst = append(appendMillis(append(dst, `,"fit_ms":`...), r.Steps.Fit), '}')
	}
	return append(dst, '}', '\n')
}

func appendText(dst []byte, key, text string) []byte {
	return rawjson.AppendString(append(dst, key...), text)
}

func appendUnlessEmpty(dst []byte, key, text string) []byte {
	if text == "" {
		return dst
	}
	return appendText(dst, key, text)
}

func appendNumber(dst []byte, key string, n int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(n), 10)
}

func appendFlag(dst []byte, key string, flag bool) []byte {
	return strconv.AppendBool(append(dst, key...), flag)
}

// appendArguments appends arguments in compact form; what is no JSON is written as a
// text, so that it is on record and the line can be read.
func appendArguments(dst []byte, arguments json.RawMessage) []byte {
	if len(arguments) == 0 {
		return append(dst, "null"...)
	}
	if whole, ok := appendValue(dst, arguments); ok {
		return whole
	}
	return rawjson.AppendString(dst, string(arguments))
}

// nanosPerMilli is how many nanoseconds are a millisecond.
const nanosPerMilli = int64(time.Millisecond)

// appendMillis appends a duration in milliseconds, exactly: up to six decimals, none
// that is a trailing zero.
func appendMillis(dst []byte, d time.Duration) []byte {
	whole, rest := int64(d)/nanosPerMilli, int64(d)%nanosPerMilli
	if rest < 0 {
		rest = -rest
		if whole == 0 {
			dst = append(dst, '-')
		}
	}
	dst = strconv.AppendInt(dst, whole, 10)
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for digit := nanosPerMilli / 10; rest > 0; digit /= 10 {
		dst = append(dst, byte('0'+rest/digit))
		rest %= digit
	}
	return dst
}
