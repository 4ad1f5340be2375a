package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

func TestLine(t *testing.T) {
	r := &Record{
		Time:    time.Date(2026, 11, 30, 10, 8, 7, 60_000_000, time.FixedZone("", 3600)),
		TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", SessionID: "s", Principal: "ann", Tool: "mail", Name: "send_mail",
		CallID: "c1", ModelCall: "s/1", Arguments: json.RawMessage("{\n \"to\" : \"<b@example.org>\\n\"}"),
		Outcome: "denied", Code: "denied", Rule: "scope", Phase: "authorise", Confirmed: "asked", CacheHit: true, Opened: true,
		Undecodable: 3, ResultSHA256: "00", ResultBytes: 9, ResultTokens: 4, TruncatedTokens: 2,
		Waiting: 1500 * time.Microsecond, Queued: time.Nanosecond, Executing: 1000000 * time.Second,
	}
	want := `{"schema_version":1,"time":"2026-11-30T09:08:07.060000000Z","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736",` +
		`"session_id":"s","principal":"ann","tool":"mail","gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"send_mail",` +
		`"gen_ai.tool.call.id":"c1","model_call":"s/1","arguments":{"to":"<b@example.org>\n"},"outcome":"denied",` +
		`"error.type":"denied","rule":"scope","phase":"authorise","attempts":0,"cache_hit":true,"confirmed":"asked",` +
		`"throttled":false,"timed_out":0,"opened":true,"undecodable":3,"result_sha256":"00","result_bytes":9,` +
		`"result_tokens":4,"truncated_tokens":2,"waiting_ms":1.5,"queued_ms":0.000001,"executing_ms":1000000000,"shaping_ms":0}` + "\n"
	if diff := cmp.Diff(want, string(appendRecord(nil, r))); diff != "" {
		t.Error(diff)
	}
	if line := string(appendRecord(nil, sample())); !strings.Contains(line, `"gen_ai.tool.call.id":"call_1","mcp.method.name":"tools/call",`) ||
		strings.Contains(line, "error.type") || strings.Contains(line, "rule") {
		t.Errorf("of an MCP server's tool: %s", line)
	}
}

func TestMillis(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 1: "0.000001", -1: "-0.000001", 999_999: "0.999999", 1_000_000: "1", 1_000_001: "1.000001",
		-1_500_000: "-1.5", 120_000: "0.12", time.Hour: "3600000",
		1<<63 - 1: "9223372036854.775807", -1 << 63: "-9223372036854.775808",
	} {
		got := string(appendMillis(nil, d))
		if got != want {
			t.Errorf("%d ns: %s, want %s", d, got, want)
		}
		var back millis
		if err := back.UnmarshalJSON([]byte(got)); err != nil || time.Duration(back) != d {
			t.Errorf("%s reads as %d (%v), want %d", got, back, err, d)
		}
	}
	for _, wrong := range []string{"1e3", "0.0000001", "9223372036854.775808", "-9223372036854.775809", `"1"`, "99999999999999999999", "1.2.3"} {
		var m millis
		if err := m.UnmarshalJSON([]byte(wrong)); err == nil {
			t.Errorf("%s reads as %d", wrong, m)
		}
	}
}

// TestValues holds appendValue against encoding/json.
func TestValues(t *testing.T) {
	for _, text := range []string{
		``, ` `, `{}`, ` [ ] `, `{"a":1,}`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{a:1}`, `[1 2]`, `1 2`, `truex`, `nul`, `-`, `01`, `-0`, `1.`, `.5`,
		`1e`, `1e+`, `1E-09`, `0.50`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\uD800"`, "\"\n\"", "\"\x7f\"", `{"a":{"b":[1,{"c":"]}"}]}}`,
		`{"a" :	[ true , null , false ] }`, `]`, `}`, `[}`, `{]`, `{"a":1]`, "\x00", `+1`, `--1`, `[[`,
		strings.Repeat("[", valueDepthMax) + strings.Repeat("]", valueDepthMax),
	} {
		got, ok := appendValue([]byte("x"), []byte(text))
		if ok != json.Valid([]byte(text)) {
			t.Errorf("%q: %t", text, ok)
		}
		var want bytes.Buffer
		want.WriteByte('x')
		if ok {
			if err := json.Compact(&want, []byte(text)); err != nil || want.String() != string(got) {
				t.Errorf("%q: %q, want %q", text, got, want.String())
			}
		}
	}
	deep := strings.Repeat("[", valueDepthMax+1) + strings.Repeat("]", valueDepthMax+1)
	if got := appendArguments(nil, json.RawMessage(deep)); got[0] != '"' || !json.Valid(got) {
		t.Errorf("nested too deep: %.20s", got)
	}
}

func drawRecord(t *rapid.T) *Record {
	text, number := rapid.String(), rapid.Int()
	d := rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) })
	r := &Record{
		Time:    time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
		TraceID: text.Draw(t, "trace"), SessionID: text.Draw(t, "session"), Principal: text.Draw(t, "principal"),
		Tool:      rapid.OneOf(text, rapid.Just(mcpTools+"a/b")).Draw(t, "tool"),
		Name:      text.Draw(t, "name"),
		CallID:    text.Draw(t, "call"),
		ModelCall: text.Draw(t, "model"), Outcome: text.Draw(t, "outcome"), Code: text.Draw(t, "code"),
		Rule: text.Draw(t, "rule"), Phase: text.Draw(t, "phase"), Confirmed: text.Draw(t, "confirmed"),
		Attempts: number.Draw(t, "attempts"), TimedOut: number.Draw(t, "timed out"), Undecodable: number.Draw(t, "undecodable"),
		CacheHit: rapid.Bool().Draw(t, "hit"), Throttled: rapid.Bool().Draw(t, "throttled"), Opened: rapid.Bool().Draw(t, "opened"),
		ResultSHA256: text.Draw(t, "sha"), ResultBytes: number.Draw(t, "bytes"), ResultTokens: number.Draw(t, "tokens"),
		TruncatedTokens: number.Draw(t, "cut"),
		Waiting:         d.Draw(t, "waiting"), Queued: d.Draw(t, "queued"), Executing: d.Draw(t, "executing"), Shaping: d.Draw(t, "shaping"),
		Steps: Steps{Cap: d.Draw(t, "cap"), Fit: d.Draw(t, "fit")},
	}
	if rapid.Bool().Draw(t, "arguments") {
		r.Arguments = rawjson.AppendObject(nil, []rawjson.Field{{Key: text.Draw(t, "key"), Value: rawjson.String(text.Draw(t, "value"))}})
	}
	return r
}

// TestReadGivesBackWhatWasWritten, to the nanosecond.
func TestReadGivesBackWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := openLog(t, path, Options{})
	rapid.Check(t, func(t *rapid.T) {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		var want []*Record
		for range rapid.IntRange(0, 3).Draw(t, "records") {
			r := drawRecord(t)
			if err := l.Write(r); err != nil {
				t.Fatal(err)
			}
			want = append(want, r)
		}
		var got []*Record
		for r, err := range Read(path) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestRead(t *testing.T) {
	line := string(appendRecord(nil, sample()))
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for text, want := range map[string][]string{
		"":                                nil,
		line:                              {""},
		line + line[:len(line)-1]:         {"", ""},
		line + line[:90]:                  {""},
		line[:90] + "\n" + line:           {path + ":1: the line is not whole, or no JSON\nhint: ", ""},
		line + "{\"schema_version\":2}\n": {"", path + ":2: schema_version 2 is not known\nhint: "},
		"{\"schema_version\":1,\"attempts\":\"two\"}\n" + line: {path + ":1: ", ""},
		strings.Repeat("x", lineMax+2):                         {path + ":1: the line is longer than "},
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, err := range Read(path) {
			if err == nil {
				got = append(got, "")
			} else {
				got = append(got, err.Error())
			}
		}
		same := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			same = same && strings.HasPrefix(got[i], want[i]) && (got[i] == "") == (want[i] == "")
		}
		if !same {
			t.Errorf("%.200q gives %q, want %q", text, got, want)
		}
	}
	for _, err := range Read(filepath.Join(t.TempDir(), "none")) {
		if err == nil || !strings.Contains(err.Error(), "cannot read ") {
			t.Errorf("a log that is not there: %v", err)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("name", []byte(`{"a":[1,"\ud83d\ude00"]}`), int64(1), int64(0))
	f.Add("a\nb\xff", []byte("{\"a\":\n\"\xff\"}"), int64(-1), int64(1<<60))
	f.Add("\u2028", []byte(`{"a"`), int64(0), int64(-1))
	f.Fuzz(func(t *testing.T, text string, arguments []byte, n, at int64) {
		r := &Record{
			Time: time.Unix(at, n), TraceID: text, Tool: mcpTools + text, Name: text, Code: text, Rule: text,
			Arguments: arguments, Attempts: int(n), Waiting: time.Duration(n), Shaping: time.Duration(at),
		}
		line := appendRecord(nil, r)
		if !json.Valid(line) || bytes.IndexByte(line, '\n') != len(line)-1 || bytes.IndexByte(line, '\r') >= 0 {
			t.Fatalf("no line: %q", line)
		}
		if value, ok := appendValue(nil, arguments); ok {
			var want bytes.Buffer
			if err := json.Compact(&want, bytes.ToValidUTF8(arguments, []byte("?"))); err != nil {
				t.Fatalf("%q is taken for a value", arguments)
			}
			if again, ok := appendValue(nil, value); !ok || !bytes.Equal(again, value) {
				t.Fatalf("copied twice: %q, then %q", value, again)
			}
		} else if json.Valid(arguments) && bytes.Count(arguments, []byte("["))+bytes.Count(arguments, []byte("{")) < valueDepthMax {
			t.Fatalf("%q is taken for no value", arguments)
		}
	})
}
