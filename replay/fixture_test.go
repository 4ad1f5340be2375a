package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/sessions"
)

// The tiny corpus: one core tool and two servers with two tools each. Words are
// chosen so that hits can be told by hand: no two tools share a word, but for
// mcp, and their server's name.
var tinyFiles = map[string]string{
	"corpus.yaml":   "schema_version: 1\nname: tiny\nversion: \"1\"\nlicence: MIT\n",
	"toolsets.yaml": "schema_version: 1\ncore: [read_note]\ntoolsets:\n  - {name: desk, description: Paper on the desk., tools: [read_note]}\n",
	"tools/desk.json": `{"tools":[{"name":"read_note","toolset":"desk","description":"Opens a note.",
		"parameters":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}]}`,
	"tools/depot.json": `{"server":"depot","tools":[
		{"name":"find_part","description":"Looks up spare parts by number.","parameters":{"type":"object","properties":{"label":{"type":"string"}},"required":["label"]}},
		{"name":"count_stock","description":"Counts pieces on hand.","parameters":{"type":"object","properties":{"bin":{"type":"integer"}}}}]}`,
	"tools/post.json": `{"server":"post","tools":[
		{"name":"send_letter","description":"Mails one letter. Adds a stamp – “first class”.","parameters":{"type":"object","properties":{"address":{"type":"string"},"body":{"type":"string"}},"required":["address","body"]}},
		{"name":"track_parcel","description":"Tells where parcels are.","parameters":{"type":"object","properties":{"code":{"type":"string"}}}}]}`,
}

// The tools of the tiny corpus as a model sees them.
const (
	readNote    = "read_note"
	countStock  = "mcp__depot__count_stock"
	findPart    = "mcp__depot__find_part"
	sendLetter  = "mcp__post__send_letter"
	trackParcel = "mcp__post__track_parcel"
)

// tinyTool is a tool of the tiny corpus as the tests write it down once more.
type tinyTool struct {
	id, server, description, parameters string
}

var tinyTools = map[string]tinyTool{
	readNote:    {"read_note", "", "Opens a note.", `{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}`},
	countStock:  {"depot/count_stock", "mcp-depot", "Counts pieces on hand.", `{"type":"object","properties":{"bin":{"type":"integer"}}}`},
	findPart:    {"depot/find_part", "mcp-depot", "Looks up spare parts by number.", `{"type":"object","properties":{"label":{"type":"string"}},"required":["label"]}`},
	sendLetter:  {"post/send_letter", "mcp-post", "Mails one letter. Adds a stamp – “first class”.", `{"type":"object","properties":{"address":{"type":"string"},"body":{"type":"string"}},"required":["address","body"]}`},
	trackParcel: {"post/track_parcel", "mcp-post", "Tells where parcels are.", `{"type":"object","properties":{"code":{"type":"string"}}}`},
}

func (t tinyTool) entry(name string) string {
	return `{"type":"function","function":{"name":"` + name + `","description":"` + t.description + `","parameters":` + t.parameters + `}}`
}

// loadCorpus writes a corpus folder and loads it.
func loadCorpus(t testing.TB, files map[string]string) *corpus.Corpus {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := corpus.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tinySession is a session of the tiny corpus with everything enabled.
func tinySession(c *corpus.Corpus, turns ...sessions.Turn) *sessions.Session {
	s := &sessions.Session{
		SessionID: "s1", Seed: 1, Distribution: "by hand", Toolsets: []string{"desk"}, Servers: []string{"mcp-depot", "mcp-post"},
		ContextLength: 32_000, CorpusSHA256: c.SHA256,
	}
	for i := range turns {
		s.Events = append(s.Events, sessions.Event{AtMS: int64(i) * 1000, Kind: sessions.KindTurn, Turn: &turns[i]})
	}
	return s
}

// asks is a turn in English; without golds its intent is absent.
func asks(id, utterance string, golds ...corpus.Gold) sessions.Turn {
	class := corpus.Obvious
	if len(golds) == 0 {
		class = corpus.Absent
	}
	return sessions.Turn{IntentID: id, Utterance: utterance, Language: "en", Class: class, Gold: golds}
}

// gold is a call of a tiny tool, by its model-visible name, with text arguments
// given as name, value, name, value.
func gold(name string, arguments ...string) corpus.Gold {
	g := corpus.Gold{Tool: tinyTools[name].id}
	for i := 0; i < len(arguments); i += 2 {
		g.Arguments = append(g.Arguments, corpus.Argument{Name: arguments[i], Value: json.RawMessage(compactJSON(arguments[i+1])), Stated: true})
	}
	return g
}

func after(g corpus.Gold, dependsOn ...int) corpus.Gold {
	g.DependsOn = dependsOn
	return g
}

// compactJSON is JSON as requests carry it, by encoding/json.
func compactJSON(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func counterOf(t testing.TB, name string) *tokens.Counter {
	t.Helper()
	c, err := tokens.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newPlayer(t testing.TB, o Options) *Player {
	t.Helper()
	p, err := NewPlayer(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func playOne(t testing.TB, c *corpus.Corpus, arms []Arm, s *sessions.Session) metrics.Observations {
	t.Helper()
	o, err := newPlayer(t, Options{Corpus: c, Arms: arms}).Play(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// armRow, armCalls and armSearches pick one arm's rows.
func armRow(t testing.TB, o metrics.Observations, arm string) metrics.SessionArm {
	t.Helper()
	for _, row := range o.Arms {
		if row.Arm == arm {
			return row
		}
	}
	t.Fatalf("no row of arm %s", arm)
	return metrics.SessionArm{}
}

func armCalls(o metrics.Observations, arm string) []metrics.Call {
	var calls []metrics.Call
	for _, c := range o.Calls {
		if c.Arm == arm {
			calls = append(calls, c)
		}
	}
	return calls
}

func armSearches(o metrics.Observations, arm string) []metrics.Search {
	var searches []metrics.Search
	for _, s := range o.Searches {
		if s.Arm == arm {
			searches = append(searches, s)
		}
	}
	return searches
}

// embeddedDrawer draws sessions of the embedded corpus.
func embeddedDrawer(t testing.TB, o sessions.Options) (*corpus.Corpus, *sessions.Drawer) {
	t.Helper()
	c, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	d, err := sessions.NewDrawer(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, d
}

func drawSession(t testing.TB, d *sessions.Drawer, index int64) *sessions.Session {
	t.Helper()
	s, err := d.Draw(index)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// julyArms are the default arms without those of september, whose words the
// scripts do not speak.
func julyArms() []Arm { return DefaultArms()[:3] }

// recorded lists the ids of the tools that a player's endpoints run, in order.
func recorded(p *Player) *[]string {
	ran := new([]string)
	for tool, registration := range p.registrations {
		handler := registration.Handler
		registration.Handler = func(ctx context.Context, arguments json.RawMessage) (any, error) {
			*ran = append(*ran, tool.ID)
			return handler(ctx, arguments)
		}
		p.registrations[tool] = registration
	}
	return ran
}
