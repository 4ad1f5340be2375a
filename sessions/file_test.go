package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/atomicfile"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// sample is a valid session with something in every field.
func sample() *Session {
	return &Session{
		SessionID: "s1", RowIndex: 7, Seed: math.MaxUint64, Distribution: "few",
		Toolsets: []string{"web", "file"}, Servers: []string{"mcp-github"}, ContextLength: 128_000,
		CorpusSHA256: strings.Repeat("0123456789abcdef", 4),
		Events: []Event{
			{AtMS: 0, Kind: KindTurn, Turn: &Turn{IntentID: "i1", Utterance: "öffne <b> & schließe\u2028es", Language: "de", Class: corpus.MultiTool,
				Gold: []corpus.Gold{
					{Tool: "github/get", Arguments: []corpus.Argument{{Name: "n", Value: json.RawMessage(`12.50`), Stated: true}}, DependsOn: []int{}},
					{Tool: "write_file", Arguments: []corpus.Argument{{Name: "a", Value: json.RawMessage(`{"k":[null,"é"]}`)}, {Name: "b", Value: json.RawMessage(`""`)}}, DependsOn: []int{0}},
				}, Queries: []string{"", "close it"}}},
			{AtMS: 90_000, Kind: KindTurn, Turn: &Turn{IntentID: "i2", Utterance: "pizza", Language: "en", Class: corpus.Absent,
				Gold: []corpus.Gold{}, Queries: []string{}}},
			{AtMS: 95_000, Kind: KindServerUp, Server: "mcp-maps"},
			{AtMS: 96_000, Kind: KindToolsChanged, Server: "mcp-github", Tools: &ToolChanges{Added: []string{},
				Removed: []string{"github/get"}, Edited: []Description{{Tool: "github/put", Description: "Lege <b> & ö ab."}, {Tool: "github/del"}}}},
			{AtMS: 96_000, Kind: KindToolsChanged, Server: "mcp-github", Tools: &ToolChanges{Added: []string{"github/get"},
				Removed: []string{}, Edited: []Description{}}},
			{AtMS: 97_000, Kind: KindProbeFail, Probe: "mcp-github"},
			{AtMS: 98_000, Kind: KindConfig, Config: &ConfigChange{Enable: []string{"vision"}, Disable: []string{"file", "web"}}},
			{AtMS: 98_001, Kind: KindProbeOK, Probe: "mcp-github"},
			{AtMS: 99_000, Kind: KindServerDown, Server: "mcp-maps"},
		},
	}
}

// event returns the first event of a kind in a sample.
func event(s *Session, k Kind) *Event {
	return &s.Events[slices.IndexFunc(s.Events, func(e Event) bool { return e.Kind == k })]
}

// all is a sequence of sessions without an error.
func all(list ...*Session) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		for _, s := range list {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// formats names a file of each format in a folder.
func formats(folder string) []string {
	return []string{filepath.Join(folder, "s.jsonl"), filepath.Join(folder, "s.parquet")}
}

// writeAll writes sessions into a file that must not fail.
func writeAll(t testing.TB, path string, list ...*Session) []byte {
	t.Helper()
	if n, err := WriteFile(path, all(list...)); err != nil || n != int64(len(list)) {
		t.Fatalf("WriteFile wrote %d of %d sessions: %v", n, len(list), err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// fileOf writes bytes into a new file.
func fileOf(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFilesGiveBackWhatWasDrawn(t *testing.T) {
	d := newDrawer(t, embedded(t), Options{Seed: math.MaxUint64})
	r := Range{First: 100, Count: 2*batchRows + 9} // three batches for Parquet
	for _, path := range formats(t.TempDir()) {
		if n, err := WriteFile(path, d.Sessions(r)); err != nil || n != r.Count {
			t.Fatalf("wrote %d, %v", n, err)
		}
		// All of them at once: what was read must outlast the batches behind it.
		list, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(list)) != r.Count {
			t.Errorf("%s: read %d sessions, want %d", filepath.Base(path), len(list), r.Count)
		}
		for i, got := range list {
			if want := draw(t, d, r.First+int64(i)); !reflect.DeepEqual(want, got) {
				t.Fatalf("%s: session %d:\n%s", filepath.Base(path), r.First+int64(i), cmp.Diff(want, got))
			}
		}
	}
}

// TestRowGroupsAreCrossed writes more rows than a row group holds.
func TestRowGroupsAreCrossed(t *testing.T) {
	for _, rows := range []int64{rowGroupRows, rowGroupRows + 1} {
		path := filepath.Join(t.TempDir(), "s.parquet")
		d := newDrawer(t, workshop(t), Options{Mix: only("lean"), TurnsMin: 1, TurnsMax: 1})
		if n, err := WriteFile(path, d.Sessions(Range{Count: rows})); err != nil || n != rows {
			t.Fatalf("wrote %d, %v", n, err)
		}
		next := int64(0)
		for s, err := range Read(path) {
			if err != nil {
				t.Fatal(err)
			}
			if s.RowIndex != next {
				t.Fatalf("row %d holds session %d", next, s.RowIndex)
			}
			next++
		}
		if next != rows {
			t.Errorf("read %d of %d rows", next, rows)
		}
	}
}

func TestEqualSessionsGiveEqualBytes(t *testing.T) {
	d := newDrawer(t, embedded(t), Options{Seed: 6})
	for _, name := range []string{"s.jsonl", "s.parquet"} {
		var first []byte
		for range 3 {
			path := filepath.Join(t.TempDir(), name)
			if _, err := WriteFile(path, d.Sessions(Range{Count: 600})); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = data
			}
			if !bytes.Equal(first, data) {
				t.Fatalf("%s: two files of the same sessions differ", name)
			}
		}
	}
}

// words are the texts that a session can hold: any UTF-8.
func words() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "\x00", "\u2028", `"\`, "<&>", "🛠", "\ufffd", "PAR1", sealMark + sealBlank}))
}

func names() *rapid.Generator[string] {
	return words().Filter(func(s string) bool { return s != "" })
}

func values() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		text := rapid.OneOf(
			rapid.SampledFrom([]string{"null", "true", "-0", "1e400", "12.50", "[]", "{}", `[{"a":[1,{}]},null]`, `{"k":"v","k":2}`, `""`}),
			rapid.Map(words(), func(s string) string { return string(rawjson.String(s)) }),
		).Draw(t, "value")
		return json.RawMessage(text)
	})
}

// sessionOf generates valid sessions of an id.
func sessionOf(id string) *rapid.Generator[*Session] {
	return rapid.Custom(func(t *rapid.T) *Session {
		s := sample()
		s.SessionID = id
		s.RowIndex = rapid.Int64Range(0, math.MaxInt64).Draw(t, "row")
		s.Seed = rapid.Uint64().Draw(t, "seed")
		s.Distribution = words().Draw(t, "distribution")
		s.Toolsets = rapid.SliceOfNDistinct(names(), 0, 3, rapid.ID[string]).Draw(t, "toolsets")
		s.Servers = rapid.SliceOfNDistinct(names(), 0, 3, rapid.ID[string]).Draw(t, "servers")
		s.ContextLength = rapid.IntRange(1, math.MaxInt32).Draw(t, "context")
		s.Events = nil
		at := int64(0)
		for range rapid.IntRange(1, 6).Draw(t, "events") {
			at += rapid.Int64Range(0, atMSMax/6).Draw(t, "gap")
			s.Events = append(s.Events, events(s).Draw(t, "event"))
			s.Events[len(s.Events)-1].AtMS = at
		}
		s.settle()
		return s
	})
}

// events generates an event that can follow those that a session has. What comes
// up as any kind and cannot follow is replaced by a turn.
func events(s *Session) *rapid.Generator[Event] {
	short := rapid.SampledFrom([]string{"a", "b", "ö"})
	few := rapid.SliceOfNDistinct(short, 0, 2, rapid.ID[string])
	return rapid.Custom(func(t *rapid.T) Event {
		e := Event{Kind: rapid.SampledFrom(Kinds()).Draw(t, "kind")}
		switch e.Kind {
		case KindTurn:
			e.Turn = turns().Draw(t, "turn")
		case KindServerUp, KindServerDown:
			e.Server = rapid.OneOf(short, names()).Draw(t, "server")
		case KindToolsChanged:
			e.Server = rapid.SampledFrom(append([]string{"a"}, s.Servers...)).Draw(t, "server")
			e.Tools = &ToolChanges{Added: few.Draw(t, "added"), Removed: few.Draw(t, "removed")}
			for _, tool := range few.Draw(t, "edited") {
				e.Tools.Edited = append(e.Tools.Edited, Description{tool, words().Draw(t, "description")})
			}
		case KindProbeFail, KindProbeOK:
			e.Probe = short.Draw(t, "probe")
		case KindConfig:
			e.Config = &ConfigChange{Enable: few.Draw(t, "enable"), Disable: few.Draw(t, "disable")}
		}
		e.AtMS = atMSMax
		next := *s
		next.Events = append(slices.Clone(s.Events), e)
		if next.checkEvents() != nil {
			return Event{Kind: KindTurn, Turn: turns().Draw(t, "turn")}
		}
		return e
	})
}

func turns() *rapid.Generator[*Turn] {
	return rapid.Custom(func(t *rapid.T) *Turn {
		turn := &Turn{
			IntentID:  names().Draw(t, "intent"),
			Utterance: words().Filter(func(s string) bool { return strings.TrimSpace(s) != "" }).Draw(t, "utterance"),
			Language:  names().Draw(t, "language"),
			Class:     rapid.SampledFrom(corpus.Classes()).Draw(t, "class"),
			Queries:   rapid.SliceOfN(words(), 0, 2).Draw(t, "queries"),
		}
		if turn.Class == corpus.Absent {
			return turn
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "golds") {
			g := corpus.Gold{Tool: names().Draw(t, "tool")}
			for range rapid.IntRange(0, 2).Draw(t, "arguments") {
				g.Arguments = append(g.Arguments, corpus.Argument{Name: names().Draw(t, "name"), Value: values().Draw(t, "value"), Stated: rapid.Bool().Draw(t, "stated")})
			}
			if i > 0 {
				g.DependsOn = rapid.SliceOfN(rapid.IntRange(0, i-1), 0, 2).Draw(t, "depends")
			}
			turn.Gold = append(turn.Gold, g)
		}
		return turn
	})
}

func TestFormatsHoldTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []*Session
		for i := range rapid.IntRange(1, 3).Draw(t, "sessions") {
			list = append(list, sessionOf(fmt.Sprint(i)).Draw(t, "session"))
		}
		for _, format := range []Format{JSONLines, Parquet} {
			if got := reread(t, format, list); !reflect.DeepEqual(list, got) {
				t.Fatalf("%s:\n%s", format, cmp.Diff(list, got))
			}
		}
	})
}

// TestNilListsAreEmptyLists: a session made elsewhere may hold nil where the
// reader gives an empty list; the formats do not differ by it.
func TestNilListsAreEmptyLists(t *testing.T) {
	bare := func() *Session { // with nothing in any list that may be empty
		s := sample()
		s.Toolsets, s.Servers = []string{}, []string{}
		s.Events[0].Turn.Gold[0].Arguments, s.Events[0].Turn.Queries = []corpus.Argument{}, []string{}
		event(s, KindServerUp).Server, event(s, KindServerDown).Server = "mcp-github", "mcp-github"
		event(s, KindConfig).Config.Disable = []string{}
		return s
	}
	s := bare()
	s.Toolsets, s.Servers = nil, nil
	s.Events[0].Turn.Gold[0].Arguments, s.Events[0].Turn.Gold[0].DependsOn, s.Events[0].Turn.Queries = nil, nil, nil
	s.Events[1].Turn.Gold, s.Events[1].Turn.Queries = nil, nil
	s.Events[3].Tools.Added = nil
	s.Events[4].Tools.Removed, s.Events[4].Tools.Edited = nil, nil
	event(s, KindConfig).Config.Disable = nil
	for _, path := range formats(t.TempDir()) {
		data := writeAll(t, path, s)
		if s.Toolsets != nil || s.Events[1].Turn.Gold != nil || s.Events[3].Tools.Added != nil || event(s, KindConfig).Config.Disable != nil {
			t.Fatal("writing changed the session")
		}
		if bytes.Contains(data, []byte(":null")) {
			t.Errorf("null was written:\n%s", data)
		}
		got, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := bare(); !reflect.DeepEqual(want, got[0]) {
			t.Errorf("%s", cmp.Diff(want, got[0]))
		}
	}
}

func TestFormatIsToldByContent(t *testing.T) {
	for _, path := range formats(t.TempDir()) {
		data := writeAll(t, path, sample())
		for _, name := range []string{"x.parquet", "x.jsonl", "x", "x.csv"} {
			if got, err := ReadFile(fileOf(t, name, data)); err != nil || len(got) != 1 {
				t.Errorf("%s under the name %s: %v", filepath.Base(path), name, err)
			}
		}
	}
	for name, want := range map[string]Format{"a.parquet": Parquet, "b.PARQUET": Parquet, "dir.x/c.jsonl": JSONLines} {
		if got, err := FormatOf(name); err != nil || got != want {
			t.Errorf("FormatOf(%q) = %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"a.json", "a", "a.parquet/", "", ".jsonl.gz"} {
		_, err := FormatOf(name)
		wantError(t, err, name, ".parquet or .jsonl")
	}
}

func TestWritersRefuseWhatReadersWould(t *testing.T) {
	for _, bad := range faultySessions() {
		t.Run(bad.name, func(t *testing.T) {
			folder := t.TempDir()
			s := sample()
			bad.spoil(s)
			for _, path := range formats(folder) {
				_, err := WriteFile(path, all(sample(), s))
				wantError(t, err, path, "session 2 of the file", bad.want)
			}
			wantNothing(t, folder)
		})
	}
}

// wantNothing checks that a folder is empty.
func wantNothing(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// faultySessions are ways to break one rule of the format each, and the words of
// the error.
func faultySessions() []struct {
	name  string
	spoil func(*Session)
	want  string
} {
	const bad = "\xff"
	gold := func(s *Session) *corpus.Gold { return &s.Events[0].Turn.Gold[1] }
	return []struct {
		name  string
		spoil func(*Session)
		want  string
	}{
		{"same id", func(s *Session) {}, `session_id: "s1" is also the id of session 1`},
		{"no id", func(s *Session) { s.SessionID = "" }, "session_id: empty"},
		{"row", func(s *Session) { s.RowIndex = -1 }, "row_index: -1 is negative"},
		{"context 0", func(s *Session) { s.ContextLength = 0 }, "context_length: 0 is not between"},
		{"context large", func(s *Session) { s.ContextLength = math.MaxInt32 + 1 }, "context_length: 2147483648 is not between"},
		{"digest short", func(s *Session) { s.CorpusSHA256 = "ab" }, `corpus_sha256: "ab" is no digest`},
		{"digest case", func(s *Session) { s.CorpusSHA256 = strings.Repeat("A", 64) }, "corpus_sha256: "},
		{"no events", func(s *Session) { s.Events = nil }, "events: empty"},
		{"toolset twice", func(s *Session) { s.Toolsets = []string{"a", "b", "a"} }, `toolsets[2]: "a" is listed twice`},
		{"server empty", func(s *Session) { s.Servers = []string{""} }, "servers[0]: empty"},
		{"time back", func(s *Session) { s.Events[0].AtMS = 90_001 }, "events[1].at_ms: 90000 is before 90001"},
		{"time negative", func(s *Session) { s.Events[0].AtMS = -1 }, "events[0].at_ms: -1 is before 0"},
		{"time beyond the clock", func(s *Session) { s.Events[len(s.Events)-1].AtMS = 9_223_372_036_855 }, ".at_ms: 9223372036855 is beyond any clock\nhint: give milliseconds from the session's beginning, 9223372036854 at most"},
		{"kind unknown", func(s *Session) { s.Events[1].Kind = "server_off" }, `events[1].kind: unknown kind of event "server_off"`},
		{"kind empty", func(s *Session) { s.Events[1].Kind = "" }, `events[1].kind: unknown kind of event ""`},
		{"no turn", func(s *Session) { s.Events[1].Turn = nil }, "events[1].turn: missing"},
		{"intent", func(s *Session) { s.Events[1].Turn.IntentID = "" }, "events[1].turn.intent_id: empty"},
		{"utterance", func(s *Session) { s.Events[1].Turn.Utterance = " \n" }, "events[1].turn.utterance: empty"},
		{"language", func(s *Session) { s.Events[1].Turn.Language = "" }, "events[1].turn.language: empty"},
		{"class", func(s *Session) { s.Events[1].Turn.Class = "abset" }, "events[1].turn.class: unknown class \"abset\"\nhint: did you mean \"absent\"?"},
		{"class long", func(s *Session) { s.Events[1].Turn.Class = corpus.Class(strings.Repeat("x", 1<<20)) }, "…\nhint: use one of exact_name"},
		{"absent with gold", func(s *Session) { s.Events[0].Turn.Class = corpus.Absent }, "events[0].turn.gold: an absent intent has no gold"},
		{"no gold", func(s *Session) { s.Events[1].Turn.Class = corpus.Obvious }, "events[1].turn.gold: empty, but the class is obvious"},
		{"tool", func(s *Session) { gold(s).Tool = "" }, "events[0].turn.gold[1].tool: empty"},
		{"depends on itself", func(s *Session) { gold(s).DependsOn = []int{0, 1} }, "events[0].turn.gold[1].depends_on[1]: 1 is not an earlier gold"},
		{"depends negative", func(s *Session) { gold(s).DependsOn = []int{-1} }, "gold[1].depends_on[0]: -1 is not an earlier gold"},
		{"argument name", func(s *Session) { gold(s).Arguments[1].Name = "" }, "gold[1].arguments[1].name: empty"},
		{"argument value", func(s *Session) { gold(s).Arguments[1].Value = json.RawMessage("x") }, `gold[1].arguments[1].value: "x" is no JSON value`},
		{"argument no value", func(s *Session) { gold(s).Arguments[0].Value = nil }, `gold[1].arguments[0].value: "" is no JSON value`},
		{"another kind's turn", func(s *Session) { s.Events[2].Turn = s.Events[1].Turn }, "events[2].turn: an event of kind server_up has no such field"},
		{"another kind's server", func(s *Session) { s.Events[1].Server = "mcp-maps" }, "events[1].server: an event of kind turn has no such field"},
		{"another kind's tools", func(s *Session) { event(s, KindProbeFail).Tools = event(s, KindToolsChanged).Tools }, "events[5].tools: an event of kind probe_fail has no such field"},
		{"another kind's probe", func(s *Session) { event(s, KindConfig).Probe = "mcp-github" }, "events[6].probe: an event of kind config has no such field"},
		{"another kind's config", func(s *Session) { event(s, KindServerDown).Config = event(s, KindConfig).Config }, "events[8].config: an event of kind server_down has no such field"},
		{"no server up", func(s *Session) { event(s, KindServerUp).Server = "" }, "events[2].server: missing or empty\nhint: an event of kind server_up has the fields at_ms, kind, server"},
		{"no server changed", func(s *Session) { event(s, KindToolsChanged).Server = "" }, "events[3].server: missing or empty"},
		{"no tools", func(s *Session) { event(s, KindToolsChanged).Tools = nil }, "events[3].tools: missing or empty\nhint: an event of kind tools_changed has the fields at_ms, kind, server, tools"},
		{"no probe", func(s *Session) { event(s, KindProbeOK).Probe = "" }, "events[7].probe: missing or empty"},
		{"no config", func(s *Session) { event(s, KindConfig).Config = nil }, "events[6].config: missing or empty"},
		{"server up twice", func(s *Session) { event(s, KindServerUp).Server = "mcp-github" }, `events[2].server: "mcp-github" is connected already`},
		{"server down unknown", func(s *Session) { event(s, KindServerDown).Server = "mcp-slack" }, `events[8].server: "mcp-slack" is not connected`},
		{"server down twice", func(s *Session) { s.Events = append(s.Events, s.Events[8]) }, `events[9].server: "mcp-maps" is not connected`},
		{"tools of a server away", func(s *Session) { event(s, KindToolsChanged).Server = "mcp-slack" }, `events[3].server: "mcp-slack" is not connected`},
		{"nothing changes", func(s *Session) { event(s, KindToolsChanged).Tools = &ToolChanges{} }, "events[3].tools: nothing changes"},
		{"tool added unknown", func(s *Session) { s.Events[4].Tools.Added[0] = "github/push" }, `events[4].tools.added[0]: "github/push" was not removed`},
		{"tool added twice", func(s *Session) { s.Events = slices.Insert(s.Events, 5, s.Events[4]) }, `events[5].tools.added[0]: "github/get" was not removed`},
		{"tool of another server", func(s *Session) { s.Events[4].Server = "mcp-maps" }, `events[4].tools.added[0]: "github/get" was not removed`},
		{"tool after a reconnect", func(s *Session) {
			s.Events[0] = s.Events[3]
			s.Events[1] = Event{Kind: KindServerDown, Server: "mcp-github", AtMS: 96_000}
			s.Events[2] = Event{Kind: KindServerUp, Server: "mcp-github", AtMS: 96_000}
			s.Events[3] = s.Events[4]
		}, `events[3].tools.added[0]: "github/get" was not removed`},
		{"tool removed twice", func(s *Session) {
			s.Events[4].Tools = &ToolChanges{Removed: []string{"github/x", "github/get"}}
		}, `events[4].tools.removed[1]: "github/get" is removed already`},
		{"tool removed edited", func(s *Session) {
			s.Events[4].Tools = &ToolChanges{Edited: []Description{{Tool: "github/get"}}}
		}, `events[4].tools.edited[0].tool: "github/get" is removed`},
		{"tool removed and edited", func(s *Session) { s.Events[3].Tools.Edited[1].Tool = "github/get" }, `events[3].tools.edited[1].tool: "github/get" is listed twice`},
		{"tool edited twice", func(s *Session) { s.Events[3].Tools.Edited[1].Tool = "github/put" }, `events[3].tools.edited[1].tool: "github/put" is listed twice`},
		{"tool edited unnamed", func(s *Session) { s.Events[3].Tools.Edited[1].Tool = "" }, "events[3].tools.edited[1].tool: empty"},
		{"tool added unnamed", func(s *Session) { s.Events[4].Tools.Added[0] = "" }, "events[4].tools.added[0]: empty"},
		{"tool removed and again", func(s *Session) { s.Events[3].Tools.Removed = []string{"a", "a"} }, `events[3].tools.removed[1]: "a" is listed twice`},
		{"probe fails twice", func(s *Session) { event(s, KindProbeOK).Kind = KindProbeFail }, `events[7].probe: "mcp-github" fails already`},
		{"probe passes already", func(s *Session) { event(s, KindProbeFail).Kind = KindProbeOK }, `events[5].probe: "mcp-github" does not fail`},
		{"nothing is switched", func(s *Session) { event(s, KindConfig).Config = &ConfigChange{} }, "events[6].config: nothing is switched"},
		{"toolset on already", func(s *Session) { event(s, KindConfig).Config.Enable[0] = "web" }, `events[6].config.enable[0]: "web" is on already`},
		{"toolset not on", func(s *Session) { event(s, KindConfig).Config.Disable[1] = "vision" }, `events[6].config.disable[1]: "vision" is not on`},
		{"toolset off twice", func(s *Session) { event(s, KindConfig).Config.Disable[1] = "file" }, `events[6].config.disable[1]: "file" is listed twice`},
		{"toolset unnamed", func(s *Session) { event(s, KindConfig).Config.Enable[0] = "" }, "events[6].config.enable[0]: empty"},
		{"bytes in server", func(s *Session) { event(s, KindServerUp).Server = bad }, "events[2].server: invalid UTF-8"},
		{"bytes in probe", func(s *Session) { event(s, KindProbeFail).Probe = bad }, "events[5].probe: invalid UTF-8"},
		{"bytes in changed tool", func(s *Session) { s.Events[3].Tools.Removed[0] = bad }, "tools.removed[0]: invalid UTF-8"},
		{"bytes in edited tool", func(s *Session) { s.Events[3].Tools.Edited[0].Tool = bad }, "tools.edited[0].tool: invalid UTF-8"},
		{"bytes in description", func(s *Session) { s.Events[3].Tools.Edited[0].Description = bad }, "tools.edited[0].description: invalid UTF-8"},
		{"bytes in switched toolset", func(s *Session) { event(s, KindConfig).Config.Disable[0] = bad }, "config.disable[0]: invalid UTF-8"},
		{"bytes in id", func(s *Session) { s.SessionID = bad }, "session_id: invalid UTF-8"},
		{"bytes in distribution", func(s *Session) { s.Distribution = bad }, "distribution: invalid UTF-8"},
		{"bytes in toolset", func(s *Session) { s.Toolsets[1] = bad }, "toolsets[1]: invalid UTF-8"},
		{"bytes in intent", func(s *Session) { s.Events[0].Turn.IntentID = bad }, "intent_id: invalid UTF-8"},
		{"bytes in utterance", func(s *Session) { s.Events[0].Turn.Utterance = bad }, "utterance: invalid UTF-8"},
		{"bytes in language", func(s *Session) { s.Events[0].Turn.Language = bad }, "language: invalid UTF-8"},
		{"bytes in query", func(s *Session) { s.Events[0].Turn.Queries[1] = bad }, "queries[1]: invalid UTF-8"},
		{"bytes in tool", func(s *Session) { gold(s).Tool = bad }, "gold[1].tool: invalid UTF-8"},
		{"bytes in name", func(s *Session) { gold(s).Arguments[0].Name = bad }, "arguments[0].name: invalid UTF-8"},
		{"bytes in value", func(s *Session) { gold(s).Arguments[0].Value = json.RawMessage("\"" + bad + "\"") }, "arguments[0].value: "},
	}
}

func TestNothingIsLeftOfAFileThatFails(t *testing.T) {
	folder := t.TempDir()
	boom := errors.New("no more sessions")
	for _, path := range formats(folder) {
		_, err := WriteFile(path, func(yield func(*Session, error) bool) {
			if yield(sample(), nil) {
				yield(nil, boom)
			}
		})
		if !errors.Is(err, boom) {
			t.Errorf("the sequence's error is lost: %v", err)
		}
		_, err = WriteFile(path, all())
		wantError(t, err, path, "no sessions to write")
	}
	wantNothing(t, folder)

	_, err := WriteFile(filepath.Join(folder, "none", "s.jsonl"), all(sample()))
	wantError(t, err, "s.jsonl", "create the folder")
	_, err = WriteFile(filepath.Join(folder, "s.csv"), all(sample()))
	wantError(t, err, "s.csv", ".parquet or .jsonl")
}

func TestAWriterThatFailedDoesNotCommit(t *testing.T) {
	folder := t.TempDir()
	for _, path := range formats(folder) {
		w, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(sample()); err != nil || w.Rows() != 1 {
			t.Fatal(w.Rows(), err)
		}
		first := w.Write(sample())
		wantError(t, first, "session 2 of the file", "is also the id")
		other := sample()
		other.SessionID = "s2"
		if err := w.Write(other); err != first {
			t.Errorf("a write after a failed one gives %v", err)
		}
		if err := w.Commit(); err != first {
			t.Errorf("Commit after a failed write gives %v", err)
		}
	}
	wantNothing(t, folder)
}

// failing is an encoder's target without space.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, &atomicfile.Error{Path: "out", Action: "write", Cause: syscall.ENOSPC}
	}
	return len(p), nil
}

// TestAFullDiskIsReported fills the disk at many points of a file, its very end
// included.
func TestAFullDiskIsReported(t *testing.T) {
	for _, format := range []Format{Parquet, JSONLines} {
		for left := 0; ; left += 500 {
			target := &failing{left: left}
			var into encoder = newLinesEncoder(target)
			if format == Parquet {
				into = newParquetEncoder(target)
			}
			var err error
			for i := 0; i < 40 && err == nil; i++ {
				err = into.encode(sample())
			}
			if err == nil {
				err = into.finish()
			}
			if err == nil {
				if left < 3000 {
					t.Errorf("%s: a file of %d bytes at most", format, left)
				}
				break
			}
			if got := named("out", err); !errors.Is(got, syscall.ENOSPC) || !strings.Contains(got.Error(), "cannot write out") {
				t.Fatalf("%s after %d bytes: %v", format, left, got)
			}
		}
	}
}

func TestReadRefusesWhatIsNoFileOfSessions(t *testing.T) {
	folder := t.TempDir()
	_, err := ReadFile(filepath.Join(folder, "none.jsonl"))
	wantError(t, err, "none.jsonl", "no such file")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v does not wrap the cause", err)
	}
	_, err = ReadFile(folder)
	wantError(t, err, folder, "is a folder")
	_, err = ReadFile(os.DevNull)
	wantError(t, err, os.DevNull, "not a regular file")
	_, err = ReadFile(fileOf(t, "empty.parquet", nil))
	wantError(t, err, "empty.parquet", "the file is empty")
}

func TestReadersMayStop(t *testing.T) {
	d := newDrawer(t, workshop(t), Options{Mix: only("lean")})
	for _, path := range formats(t.TempDir()) {
		if _, err := WriteFile(path, d.Sessions(Range{Count: 20})); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, err := range Read(path) {
			if err != nil {
				t.Fatal(err)
			}
			if seen++; seen == 3 {
				break
			}
		}
		if seen != 3 {
			t.Errorf("saw %d sessions", seen)
		}
	}
}
