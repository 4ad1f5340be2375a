package sessions

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const headerLine = `{"schema_version":1,"kind":"sessions"}`

// sampleLine is the sample as a line.
func sampleLine(t testing.TB) string {
	t.Helper()
	data := writeAll(t, filepath.Join(t.TempDir(), "s.jsonl"), sample())
	lines := strings.Split(string(data), "\n")
	if len(lines) != 3 || lines[0] != headerLine || lines[2] != "" {
		t.Fatalf("the file holds %q", lines)
	}
	return lines[1]
}

// readText reads a file of that text.
func readText(t testing.TB, text string) ([]*Session, error) {
	t.Helper()
	return ReadFile(fileOf(t, "s.jsonl", []byte(text)))
}

func TestLinesAreReadAsPeopleWriteThem(t *testing.T) {
	line := sampleLine(t)
	spaced := strings.NewReplacer(`":`, `" : `, `,"`, " ,\t\"", `[`, `[ `, `]`, ` ]`, `{`, `{ `).Replace(line)
	for name, text := range map[string]string{
		"plain":              headerLine + "\n" + line + "\n",
		"no end of line":     headerLine + "\n" + line,
		"windows":            headerLine + "\r\n" + line + "\r\n",
		"blank lines":        "\n" + headerLine + "\n\n  \n" + line + "\n\n",
		"byte order mark":    "\xef\xbb\xbf" + headerLine + "\n" + line,
		"header's order":     `{"kind":"sessions", "schema_version": 1}` + "\n" + line,
		"spaces":             headerLine + "\n" + spaced,
		"escapes":            headerLine + "\n" + strings.NewReplacer("ö", `\u00f6`, "<", `\u003c`).Replace(line),
		"escaped name":       headerLine + "\n" + strings.Replace(line, `"seed"`, `"s\u0065ed"`, 1),
		"empty lists named":  headerLine + "\n" + strings.Replace(line, `"stated":true}]}`, `"stated":true}],"depends_on":[]}`, 1),
		"queries left out":   headerLine + "\n" + strings.Replace(line, `,"queries":[]`, "", 1),
		"value with escapes": headerLine + "\n" + strings.Replace(line, `[null,"é"]`, ` [ null , "\u00e9" ] `, 1),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readText(t, text)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || !reflect.DeepEqual(got[0], sample()) {
				t.Errorf("read %+v", got[0])
			}
		})
	}
}

func TestLinesAreWrittenForPeople(t *testing.T) {
	line := sampleLine(t)
	for _, want := range []string{`"utterance":"öffne <b> & schließe`, `"seed":18446744073709551615,`, `"value":12.50,`, `"gold":[],"queries":[]`} {
		if !strings.Contains(line, want) {
			t.Errorf("the line lacks %s:\n%s", want, line)
		}
	}
}

func TestFaultyLinesAreRefused(t *testing.T) {
	line := sampleLine(t)
	swap := func(old, new string) string {
		if !strings.Contains(line, old) {
			t.Fatalf("the sample lacks %s", old)
		}
		return headerLine + "\n" + strings.Replace(line, old, new, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"blank", " \n\n", "s.jsonl: the file is empty"},
		{"header alone", headerLine + "\n", "s.jsonl: holds no sessions"},
		{"no header", line, `s.jsonl:1: schema_version: missing from the first line`},
		{"header an array", "[1]", "s.jsonl:1: want a JSON object, got array"},
		{"version", `{"schema_version":2,"kind":"sessions"}`, `s.jsonl:1: schema_version: "2" is not supported`},
		{"version as text", `{"schema_version":"1","kind":"sessions"}`, "s.jsonl:1: schema_version: want number, got string"},
		{"kind", `{"schema_version":1,"kind":"runs"}`, `s.jsonl:1: kind: the file holds "runs", not sessions`},
		{"kind missing", `{"schema_version":1}`, "s.jsonl:1: kind: missing"},
		{"header's field", `{"schema_version":1,"kind":"sessions","sed":1}`, `s.jsonl:1: unknown field "sed"`},
		{"not JSON", "session_id,seed\n1,2\n", "s.jsonl:1:1: invalid JSON"},
		{"syntax", headerLine + "\n{\"session_id\" 1}", "s.jsonl:2:15: invalid JSON"},
		{"cut off", headerLine + "\n" + line[:len(line)/2], "the line stops short: the file may be truncated"},
		{"binary", "\x1f\x8b\x08\x00", "s.jsonl:1:2: invalid UTF-8 (byte 0x8b)\nhint: sessions are read from Parquet and from JSON Lines"},
		{"encoding", swap("pizza", "pi\xe9a"), "s.jsonl:2:"},
		{"two values", headerLine + "\n" + line + line, "invalid JSON"},
		{"an array", headerLine + "\n[" + line + "]", "s.jsonl:2: want object, got array"},
		{"unknown field", swap(`"seed"`, `"sede"`), "s.jsonl:2: unknown field \"sede\"\nhint: did you mean \"seed\"?"},
		{"other case", swap(`"seed"`, `"Seed"`), `unknown field "Seed"`},
		{"twice", swap(`"seed":`, `"row_index":1,"seed":`), "s.jsonl:2: row_index: the field is there twice"},
		{"missing", swap(`"seed":18446744073709551615,`, ``), "s.jsonl:2: seed: missing"},
		{"null", swap(`"distribution":"few"`, `"distribution":null`), "s.jsonl:2: distribution: want string, got null"},
		{"seed too large", swap(`18446744073709551615`, `18446744073709551616`), `s.jsonl:2: seed: "18446744073709551616" is out of range`},
		{"seed negative", swap(`18446744073709551615`, `-1`), `seed: "-1" is out of range`},
		{"seed fraction", swap(`18446744073709551615`, `1.0`), `seed: "1.0" is out of range`},
		{"row fraction", swap(`"row_index":7`, `"row_index":7.5`), `row_index: "7.5" is no whole number`},
		{"row large", swap(`"row_index":7`, `"row_index":9223372036854775808`), "is no whole number of 64 bits"},
		{"context large", swap(`128000`, `2147483648`), "context_length: 2147483648 is out of range"},
		{"toolsets text", swap(`["web","file"]`, `"web"`), "s.jsonl:2: toolsets: want array, got string"},
		{"toolset number", swap(`["web","file"]`, `["web",1]`), "s.jsonl:2: toolsets[1]: want string, got number"},
		{"turn null", swap(`"turn":{"intent_id":"i1"`, `"turn":null,"x":{"intent_id":"i1"`), "s.jsonl:2: events[0].turn: want object, got null"},
		{"turn's field", swap(`"utterance":"pizza"`, `"utterance":"pizza","text":""`), `s.jsonl:2: events[1].turn: unknown field "text"`},
		{"stated", swap(`"stated":true`, `"stated":1`), "s.jsonl:2: events[0].turn.gold[0].arguments[0].stated: want boolean, got number"},
		{"stated missing", swap(`,"stated":true`, ``), "events[0].turn.gold[0].arguments[0].stated: missing"},
		{"depends", swap(`"depends_on":[0]`, `"depends_on":["0"]`), "events[0].turn.gold[1].depends_on[0]: want number, got string"},
		{"unknown kind", swap(`{"at_ms":90000,"kind":"turn",`, `{"at_ms":90000,"kind":"server_off","host":"mcp-github",`),
			"s.jsonl:2: events[1].kind: unknown kind of event \"server_off\"\nhint: this program knows events of kind turn, server_up, server_down, tools_changed, probe_fail, probe_ok, config; "},
		{"kind missing", swap(`"kind":"server_up",`, ``), "s.jsonl:2: events[2].kind: missing"},
		{"server missing", swap(`"kind":"server_up","server":"mcp-maps"`, `"kind":"server_up"`), "s.jsonl:2: events[2].server: missing or empty"},
		{"server of a turn", swap(`"kind":"turn",`, `"kind":"turn","server":"mcp-maps",`), "s.jsonl:2: events[0].server: an event of kind turn has no such field"},
		{"server of a turn, empty", swap(`"kind":"turn",`, `"kind":"turn","server":"",`), "s.jsonl:2: events[0].server: an event of kind turn has no such field"},
		{"field ahead of its kind", swap(`"kind":"server_up",`, `"probe":"","kind":"server_up",`), "s.jsonl:2: events[2].probe: an event of kind server_up has no such field"},
		{"probe a number", swap(`"probe":"mcp-github"`, `"probe":1`), "s.jsonl:2: events[5].probe: want string, got number"},
		{"config null", swap(`"config":{`, `"config":null,"x":{`), "s.jsonl:2: events[6].config: want object, got null"},
		{"config's field", swap(`"enable":[`, `"enabled":[`), `s.jsonl:2: events[6].config: unknown field "enabled"`},
		{"config half", swap(`"enable":["vision"],`, ``), "s.jsonl:2: events[6].config.enable: missing"},
		{"tools half", swap(`"added":[],`, ``), "s.jsonl:2: events[3].tools.added: missing"},
		{"tools' field", swap(`"added":[],`, `"added":[],"changed":[],`), `s.jsonl:2: events[3].tools: unknown field "changed"`},
		{"removed a number", swap(`"removed":["github/get"]`, `"removed":[1]`), "s.jsonl:2: events[3].tools.removed[0]: want string, got number"},
		{"edited text", swap(`{"tool":"github/put","description":"Lege <b> & ö ab."}`, `"github/put"`), "s.jsonl:2: events[3].tools.edited[0]: want object, got string"},
		{"description missing", swap(`,"description":"Lege <b> & ö ab."`, ``), "s.jsonl:2: events[3].tools.edited[0].description: missing"},
		{"duplicate", headerLine + "\n" + line + "\n\n" + line, `s.jsonl:4: session_id: "s1" is also the id of session 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readText(t, c.text)
			wantError(t, err, c.want)
			if got != nil {
				t.Error("sessions came with the error")
			}
		})
	}
}

// TestFaultySessionsAreRefusedFromLines spoils sessions that a writer would
// refuse and encodes them all the same.
func TestFaultySessionsAreRefusedFromLines(t *testing.T) {
	for _, bad := range faultySessions() {
		if strings.HasPrefix(bad.name, "bytes in") || strings.HasPrefix(bad.name, "argument") && bad.name != "argument name" {
			continue // no line can hold these
		}
		t.Run(bad.name, func(t *testing.T) {
			s := sample()
			bad.spoil(s)
			var text bytes.Buffer
			e := newLinesEncoder(&text)
			for _, each := range []*Session{sample(), s} {
				if err := e.encode(each); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.finish(); err != nil {
				t.Fatal(err)
			}
			_, err := readText(t, text.String())
			want := bad.want
			if bad.name == "context large" { // found on reading the number
				want = "context_length: 2147483648 is out of range"
			}
			wantError(t, err, "s.jsonl:3: ", want)
		})
	}
}

// TestTheExamplesOfTheSpecificationAreRead puts the events that docs/format.md
// shows into a session.
func TestTheExamplesOfTheSpecificationAreRead(t *testing.T) {
	text, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, `{"at_ms":`) {
			events = append(events, line)
		}
	}
	line, _, _ := strings.Cut(sampleLine(t), `"events":`)
	line = strings.Replace(line, `"web","file"`, `"web","browser"`, 1) + `"events":[` + strings.ReplaceAll(strings.Join(events, ","), "\n", "") + "]}"
	got, err := readText(t, headerLine+"\n"+line)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[Kind]bool{}
	for _, e := range got[0].Events {
		shown[e.Kind] = true
	}
	for _, k := range Kinds() {
		if !shown[k] {
			t.Errorf("no example of kind %s", k)
		}
	}
}

func TestALineHasALimit(t *testing.T) {
	text := strings.Repeat("x", 99) + "\n" + strings.Repeat("y", 100) + "\n"
	r := bufio.NewReaderSize(strings.NewReader(text), 16) // a line comes in several parts
	if line, err := readLine(r, 100); err != nil || string(line) != text[:100] {
		t.Errorf("read %q, %v", line, err)
	}
	if _, err := readLine(r, 100); err == nil || err.Error() != "the line is longer than 100 bytes" {
		t.Errorf("a line of 101 bytes: %v", err)
	}
}

func FuzzLines(f *testing.F) {
	line := sampleLine(f)
	f.Add([]byte(headerLine + "\n" + line + "\n"))
	f.Add([]byte(line))
	for _, k := range kindNames() {
		f.Add([]byte(headerLine + "\n" + strings.Replace(line, `"turn"`, `"`+k+`"`, 1)))
		f.Add([]byte(headerLine + "\n" + strings.Replace(line, `"`+k+`"`, `"server_down"`, 1)))
	}
	f.Add([]byte(headerLine + "\r\n\r\n" + strings.Replace(line, "pizza", `\ud83c\udf55\ud800`, 1)))
	f.Add([]byte(headerLine + "\n" + strings.Replace(line, "12.50", strings.Repeat("[", 50)+strings.Repeat("]", 50), 1)))
	f.Add([]byte("\xef\xbb\xbf" + headerLine))
	f.Add([]byte("{}\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got []*Session
		c := &collector{path: "in", seen: map[string]int64{}, take: func(s *Session) bool {
			got = append(got, s)
			return true
		}}
		if err := readLines("in", bytes.NewReader(data), c); err != nil {
			if !strings.HasPrefix(err.Error(), "in:") || !strings.Contains(err.Error(), "\nhint: ") {
				t.Errorf("error %q lacks the file's name or a hint", err)
			}
			return
		}
		// What was read can be written in both formats, and read again.
		if len(got) == 0 {
			return
		}
		for _, format := range []Format{JSONLines, Parquet} {
			if again := reread(t, format, got); !reflect.DeepEqual(got, again) {
				t.Errorf("%s changed the sessions", format)
			}
		}
	})
}

// reread takes sessions through a format and back, in memory.
func reread(t interface{ Fatal(...any) }, format Format, list []*Session) []*Session {
	var file bytes.Buffer
	var into encoder = newLinesEncoder(&file)
	if format == Parquet {
		into = newParquetEncoder(&file)
	}
	for _, s := range list {
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		if err := into.encode(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := into.finish(); err != nil {
		t.Fatal(err)
	}
	var got []*Session
	c := &collector{path: "out", seen: map[string]int64{}, take: func(s *Session) bool {
		got = append(got, s)
		return true
	}}
	var err error
	if format == Parquet {
		err = readParquet("out", bytes.NewReader(file.Bytes()), int64(file.Len()), c)
	} else {
		err = readLines("out", &file, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}
