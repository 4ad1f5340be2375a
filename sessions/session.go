// Package sessions makes, writes and reads sessions: timelines of what a user
// wants from an agent, with the tools that the agent is given.
//
// The steps:
//
//  1. A [Drawer] indexes a corpus for one set of [Options].
//  2. [Drawer.Draw] draws the session of one index: a distribution, the toolsets
//     and servers that it gives, a context length, turns whose golds are all
//     within reach of those toolsets and servers, and events between the turns
//     that change what is there.
//  3. [WriteFile] and [Create] put sessions into a file, [Read] takes them out
//     again, as Parquet or as JSON Lines, with the same fields in both.
//
// The opinion it holds: a session says what is asked, what is enabled and what
// becomes of that, and nothing about how the agent goes about it. So one file of
// sessions serves every arm, and arms can be compared session by session.
//
// The promise: a session depends on (corpus, options, index) alone. Session
// 734,211 drawn by itself equals the one of the whole, on every machine, and a
// file of the same sessions has the same bytes. A file is read in full or
// refused with its name, the line or row, the field and a hint; it is never
// patched up, and it appears under its name only when it is complete.
//
// # File format
//
// Version 1. A JSON Lines file starts with the line
//
//	{"schema_version":1,"kind":"sessions"}
//
// and every further line is a [Session]. A Parquet file carries the same two
// entries as key-value metadata, because they are facts of the file and not of a
// row, and one row a session; lists of the JSON form are lists there, and the
// value of a gold argument is a column of JSON text. A third entry, file_sha256,
// is the digest of the file with the 64 digits of that entry as zeros: a file
// damaged on its way is refused before it is opened. Unsigned 64-bit seeds keep
// their value in both. Which of the two a file is, is told by its content.
package sessions

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/nearest"
)

// SchemaVersion is the version of the file format that this package writes and
// reads.
const SchemaVersion = 1

// Session is a timeline of turns and events with the toolsets that are enabled
// and the length of the model's context.
type Session struct {
	// SessionID tells sessions of a file apart. A drawn session's is made from
	// all that it depends on, so equal sessions have equal ids.
	SessionID string `json:"session_id"`
	// RowIndex is the index that the session was drawn for, from 0.
	RowIndex int64 `json:"row_index"`
	// Seed is the seed that it was drawn with.
	Seed uint64 `json:"seed"`
	// Distribution names the distribution that gave the toolsets and servers;
	// empty for a session that was not drawn.
	Distribution string `json:"distribution"`
	// Toolsets names the fixed toolsets enabled.
	Toolsets []string `json:"toolsets"`
	// Servers names the source toolsets enabled, such as "mcp-github".
	Servers []string `json:"servers"`
	// ContextLength is what the model can take in, in tokens, from 1 to 2^31-1.
	ContextLength int `json:"context_length"`
	// CorpusSHA256 is the digest of the corpus that the session refers to, in
	// 64 lower-case hex digits.
	CorpusSHA256 string `json:"corpus_sha256"`
	// Events is what happens, in time order, at least one thing.
	Events []Event `json:"events"`
}

// Kind tells what happens in an event.
type Kind string

// The kinds of events. A session begins with its toolsets switched on, its
// servers connected with all their tools, and every probe passing; an event says
// what is another way from its moment on.
const (
	// KindTurn: the user asks for something.
	KindTurn Kind = "turn"
	// KindServerUp: a server connects with all its tools, as the corpus has them.
	// It may be new to the session, or one that left.
	KindServerUp Kind = "server_up"
	// KindServerDown: a server leaves with all its tools.
	KindServerDown Kind = "server_down"
	// KindToolsChanged: a connected server has other tools than before.
	KindToolsChanged Kind = "tools_changed"
	// KindProbeFail and KindProbeOK: an availability probe begins to fail, or to
	// pass again. Those who ask it learn of that when its last verdict runs out. A
	// probe keeps its state while its server is away.
	KindProbeFail Kind = "probe_fail"
	KindProbeOK   Kind = "probe_ok"
	// KindConfig: the user switches fixed toolsets on or off.
	KindConfig Kind = "config"
)

// Kinds returns all kinds of events.
func Kinds() []Kind {
	return []Kind{KindTurn, KindServerUp, KindServerDown, KindToolsChanged, KindProbeFail, KindProbeOK, KindConfig}
}

// details returns the fields that an event of the kind has beside at_ms and kind;
// none for a kind that this version does not know.
func (k Kind) details() []string {
	switch k {
	case KindTurn:
		return []string{"turn"}
	case KindServerUp, KindServerDown:
		return []string{"server"}
	case KindToolsChanged:
		return []string{"server", "tools"}
	case KindProbeFail, KindProbeOK:
		return []string{"probe"}
	case KindConfig:
		return []string{"config"}
	default:
		return nil
	}
}

// Event is something that happens in a session. Each kind has fields of its own,
// all of them filled; the others are empty.
type Event struct {
	// AtMS is when, in milliseconds of session time from 0 to some 292 years (2^63-1
	// nanoseconds), never before the event ahead of it.
	AtMS int64 `json:"at_ms"`
	Kind Kind  `json:"kind"`
	// Turn is what is asked in an event of kind turn.
	Turn *Turn `json:"turn,omitempty"`
	// Server is the source toolset that an event of kind server_up, server_down
	// or tools_changed is about, such as "mcp-github".
	Server string `json:"server,omitempty"`
	// Tools is what changed in an event of kind tools_changed.
	Tools *ToolChanges `json:"tools,omitempty"`
	// Probe names the probe of an event of kind probe_fail or probe_ok: a source
	// toolset, whose tools all ask it, or the check that a tool's card names.
	Probe string `json:"probe,omitempty"`
	// Config is what an event of kind config switches.
	Config *ConfigChange `json:"config,omitempty"`
}

// ToolChanges are the tools of one server that are no longer as they were, at
// least one. Tools are named by id, each once.
type ToolChanges struct {
	// Added are back as the corpus has them, removed since the server connected.
	Added []string `json:"added"`
	// Removed are gone, until they are added or the server connects anew.
	Removed []string `json:"removed"`
	// Edited have another description, until they are edited or removed or the
	// server connects anew.
	Edited []Description `json:"edited"`
}

// IDs are the ids of all these tools.
func (c *ToolChanges) IDs() []string {
	ids := slices.Concat(c.Added, c.Removed)
	for _, e := range c.Edited {
		ids = append(ids, e.Tool)
	}
	return ids
}

// Description is the new description of a tool.
type Description struct {
	Tool        string `json:"tool"`
	Description string `json:"description"`
}

// ConfigChange names the fixed toolsets that are switched on, which were off, and
// those that are switched off, which were on; at least one.
type ConfigChange struct {
	Enable  []string `json:"enable"`
	Disable []string `json:"disable"`
}

// Turn is one intent as it is uttered in a session.
type Turn struct {
	// IntentID is the id of the corpus's intent.
	IntentID  string `json:"intent_id"`
	Utterance string `json:"utterance"`
	// Language is the utterance's, as a BCP 47 tag.
	Language string       `json:"language"`
	Class    corpus.Class `json:"class"`
	// Gold are the calls that serve the intent; none if its class is absent.
	Gold []corpus.Gold `json:"gold"`
	// Queries are the search queries that a model was recorded to make for the
	// turn; none in a drawn session.
	Queries []string `json:"queries"`
}

// fieldError is a fault in one field of a session.
type fieldError struct {
	path, problem, hint string
}

func (e *fieldError) Error() string {
	if e.path == "" {
		return e.problem + "\nhint: " + e.hint
	}
	return e.path + ": " + e.problem + "\nhint: " + e.hint
}

func fault(path, hint, format string, args ...any) error {
	return &fieldError{path: path, problem: fmt.Sprintf(format, args...), hint: hint}
}

// below puts the path of the surrounding value before that of a field error.
func below(parent string, err error) error {
	f, ok := err.(*fieldError)
	if !ok {
		return err
	}
	moved := *f
	switch {
	case f.path == "":
		moved.path = parent
	case f.path[0] == '[':
		moved.path = parent + f.path
	default:
		moved.path = parent + "." + f.path
	}
	return &moved
}

// shownMax bounds what an error shows of a value, in bytes: a value can be as
// long as a file.
const shownMax = 80

// shown quotes a value for an error.
func shown(value string) string {
	if len(value) <= shownMax {
		return strconv.Quote(value)
	}
	return strconv.Quote(value[:shownMax]) + "…"
}

// nearestHint words the known name that was perhaps meant. Names too long to be
// a slip of the pen are not compared: the time grows with their length.
func nearestHint(name string, known []string) string {
	if len(name) > shownMax {
		return "use one of " + strings.Join(known, ", ")
	}
	return nearest.Hint(name, known)
}

// element is the path of a list's element, counted from 0.
func element(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// check holds a session against the rules of the format. Writers and readers
// both call it, so nothing is written that could not be read.
func (s *Session) check() error {
	switch {
	case s.SessionID == "":
		return fault("session_id", "give every session an id of its own", "empty")
	case s.RowIndex < 0:
		return fault("row_index", "rows are counted from 0", "%d is negative", s.RowIndex)
	case s.ContextLength < 1 || s.ContextLength > math.MaxInt32:
		return fault("context_length", "give the model's context length in tokens", "%d is not between 1 and %d", s.ContextLength, math.MaxInt32)
	case !isDigest(s.CorpusSHA256):
		return fault("corpus_sha256", "give the corpus's SHA-256 in 64 lower-case hex digits", "%s is no digest", shown(s.CorpusSHA256))
	case len(s.Events) == 0:
		return fault("events", "a session needs at least one turn", "empty")
	}
	for _, text := range []struct{ path, value string }{{"session_id", s.SessionID}, {"distribution", s.Distribution}} {
		if err := checkText(text.path, text.value); err != nil {
			return err
		}
	}
	if err := checkNames("toolsets", s.Toolsets); err != nil {
		return err
	}
	if err := checkNames("servers", s.Servers); err != nil {
		return err
	}
	return s.checkEvents()
}

// atMSMax is the latest that an event can happen: what a time.Duration holds, some
// 292 years. A clock could not be moved past it.
const atMSMax = int64(math.MaxInt64 / time.Millisecond)

// checkEvents checks each event, and that the events before it allow it.
func (s *Session) checkEvents() error {
	var st *state
	now := int64(0)
	for i := range s.Events {
		e := &s.Events[i]
		if e.AtMS < now {
			return below(element("events", i), fault("at_ms", "put events in time order, from 0", "%d is before %d", e.AtMS, now))
		}
		if e.AtMS > atMSMax {
			return below(element("events", i), fault("at_ms", fmt.Sprintf("give milliseconds from the session's beginning, %d at most", atMSMax), "%d is beyond any clock", e.AtMS))
		}
		now = e.AtMS
		if err := e.check(); err != nil {
			return below(element("events", i), err)
		}
		if e.Kind == KindTurn {
			continue
		}
		if st == nil {
			st = newState(s)
		}
		if err := st.apply(e); err != nil {
			return below(element("events", i), err)
		}
	}
	return nil
}

// isDigest reports whether text is a SHA-256 in lower-case hex.
func isDigest(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// checkText refuses text that is not UTF-8: JSON would quietly replace what it
// cannot hold, and the two formats would differ.
func checkText(path, text string) error {
	if !utf8.ValidString(text) {
		return fault(path, "write text as UTF-8", "invalid UTF-8 in %s", shown(text))
	}
	return nil
}

func checkNames(path string, names []string) error {
	seen := make(map[string]struct{}, len(names))
	for i, name := range names {
		if name == "" {
			return fault(element(path, i), "name it, or leave it out", "empty")
		}
		if _, again := seen[name]; again {
			return fault(element(path, i), "keep one of the two", "%s is listed twice", shown(name))
		}
		seen[name] = struct{}{}
		if err := checkText(element(path, i), name); err != nil {
			return err
		}
	}
	return nil
}

func (e *Event) check() error {
	if err := e.Kind.checkDetails(e.has); err != nil {
		return err
	}
	switch e.Kind {
	case KindTurn:
		return below("turn", e.Turn.check())
	case KindToolsChanged:
		if err := e.Tools.check(); err != nil {
			return below("tools", err)
		}
	case KindConfig:
		return below("config", e.Config.check())
	}
	if err := checkText("server", e.Server); err != nil {
		return err
	}
	return checkText("probe", e.Probe)
}

// has reports whether a field that only some kinds have is filled.
func (e *Event) has(detail string) bool {
	switch detail {
	case "turn":
		return e.Turn != nil
	case "server":
		return e.Server != ""
	case "tools":
		return e.Tools != nil
	case "probe":
		return e.Probe != ""
	default:
		return e.Config != nil
	}
}

// check refuses events that this version does not know: to pass over them would
// replay another session than the file holds.
func (k Kind) check() error {
	if k.details() != nil {
		return nil
	}
	return fault("", "this program knows events of kind "+strings.Join(kindNames(), ", ")+"; a newer one may know more",
		"unknown kind of event %s", shown(string(k)))
}

// checkDetails checks that an event has the fields of its kind and no others.
func (k Kind) checkDetails(has func(detail string) bool) error {
	if err := k.check(); err != nil {
		return below("kind", err)
	}
	details := k.details()
	for _, m := range eventFields {
		switch {
		case !m.optional: // every kind has it
		case slices.Contains(details, m.name) == has(m.name):
		case has(m.name):
			return fault(m.name, "leave it out, or give the event the kind that was meant", "an event of kind %s has no such field", k)
		default:
			return fault(m.name, fmt.Sprintf("an event of kind %s has the fields at_ms, kind, %s", k, strings.Join(details, ", ")), "missing or empty")
		}
	}
	return nil
}

func kindNames() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return names
}

func (c *ToolChanges) check() error {
	if len(c.Added)+len(c.Removed)+len(c.Edited) == 0 {
		return fault("", "name at least one tool, or leave the event out", "nothing changes")
	}
	if err := checkNames("added", c.Added); err != nil {
		return err
	}
	if err := checkNames("removed", c.Removed); err != nil {
		return err
	}
	seen := make(map[string]bool, len(c.Edited)+len(c.Removed))
	for _, tool := range c.Removed {
		seen[tool] = true
	}
	for i, edit := range c.Edited {
		path := element("edited", i)
		switch {
		case edit.Tool == "":
			return fault(path+".tool", "name it, or leave it out", "empty")
		case seen[edit.Tool]:
			return fault(path+".tool", "keep one of the two", "%s is listed twice", shown(edit.Tool))
		}
		seen[edit.Tool] = true
		if err := checkText(path+".tool", edit.Tool); err != nil {
			return err
		}
		if err := checkText(path+".description", edit.Description); err != nil {
			return err
		}
	}
	return nil
}

func (c *ConfigChange) check() error {
	if len(c.Enable)+len(c.Disable) == 0 {
		return fault("", "name at least one toolset, or leave the event out", "nothing is switched")
	}
	if err := checkNames("enable", c.Enable); err != nil {
		return err
	}
	return checkNames("disable", c.Disable)
}

func (t *Turn) check() error {
	switch {
	case t.IntentID == "":
		return fault("intent_id", "name the intent", "empty")
	case strings.TrimSpace(t.Utterance) == "":
		return fault("utterance", "write what the user says", "empty")
	case t.Language == "":
		return fault("language", "give the utterance's language, for example en", "empty")
	case !slices.Contains(corpus.Classes(), t.Class):
		return fault("class", nearestHint(string(t.Class), classNames()), "unknown class %s", shown(string(t.Class)))
	case t.Class == corpus.Absent && len(t.Gold) > 0:
		return fault("gold", "leave gold empty, or give the turn another class", "an absent intent has no gold")
	case t.Class != corpus.Absent && len(t.Gold) == 0:
		return fault("gold", "name the tools that serve the intent, or set class to absent", "empty, but the class is %s", t.Class)
	}
	for _, text := range []struct{ path, value string }{{"intent_id", t.IntentID}, {"utterance", t.Utterance}, {"language", t.Language}} {
		if err := checkText(text.path, text.value); err != nil {
			return err
		}
	}
	for i, query := range t.Queries {
		if err := checkText(element("queries", i), query); err != nil {
			return err
		}
	}
	for i := range t.Gold {
		if err := checkGold(&t.Gold[i], i); err != nil {
			return below(element("gold", i), err)
		}
	}
	return nil
}

func classNames() []string {
	var names []string
	for _, c := range corpus.Classes() {
		names = append(names, string(c))
	}
	return names
}

// checkGold checks the gold at position i of its turn.
func checkGold(g *corpus.Gold, i int) error {
	if g.Tool == "" {
		return fault("tool", "name the tool as SERVER/NAME, or NAME for a built-in one", "empty")
	}
	if err := checkText("tool", g.Tool); err != nil {
		return err
	}
	for j, on := range g.DependsOn {
		if on < 0 || on >= i {
			return fault(element("depends_on", j), "name golds ahead of this one, counted from 0", "%d is not an earlier gold", on)
		}
	}
	for j := range g.Arguments {
		a := &g.Arguments[j]
		path := element("arguments", j)
		if a.Name == "" {
			return fault(path+".name", "name the parameter", "empty")
		}
		if err := checkText(path+".name", a.Name); err != nil {
			return err
		}
		if !json.Valid(a.Value) || !utf8.Valid(a.Value) {
			return fault(path+".value", "write the value as JSON; a text needs quotation marks", "%s is no JSON value", shown(string(a.Value)))
		}
	}
	return nil
}
