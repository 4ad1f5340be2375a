// Package sessions makes, writes and reads sessions: timelines of what a user
// wants from an agent, with the tools that the agent is given.
//
// The steps:
//
//  1. A [Drawer] indexes a corpus for one set of [Options].
//  2. [Drawer.Draw] draws the session of one index: a distribution, the toolsets
//     and servers that it gives, a context length, and turns whose golds are all
//     within reach of those toolsets and servers.
//  3. [WriteFile] and [Create] put sessions into a file, [Read] takes them out
//     again, as Parquet or as JSON Lines, with the same fields in both.
//
// The opinion it holds: a session says what is asked and what is enabled, and
// nothing about how the agent goes about it. So one file of sessions serves every
// arm, and arms can be compared session by session.
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

// KindTurn is the event in which the user asks for something.
const KindTurn Kind = "turn"

// kinds are the kinds that this version knows.
var kinds = []string{string(KindTurn)}

// Event is something that happens in a session.
type Event struct {
	// AtMS is when, in milliseconds of session time from 0, never before the
	// event ahead of it.
	AtMS int64 `json:"at_ms"`
	Kind Kind  `json:"kind"`
	// Turn is what is asked: present in an event of kind turn, and only there.
	Turn *Turn `json:"turn,omitempty"`
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
	now := int64(0)
	for i := range s.Events {
		e := &s.Events[i]
		if e.AtMS < now {
			return below(element("events", i), fault("at_ms", "put events in time order, from 0", "%d is before %d", e.AtMS, now))
		}
		now = e.AtMS
		if err := e.check(); err != nil {
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
	if err := e.Kind.check(); err != nil {
		return below("kind", err)
	}
	if e.Turn == nil {
		return fault("turn", "an event of kind turn says what is asked", "missing")
	}
	return below("turn", e.Turn.check())
}

// check refuses events that this version does not know: to pass over them would
// replay another session than the file holds.
func (k Kind) check() error {
	if slices.Contains(kinds, string(k)) {
		return nil
	}
	return fault("", "this program knows events of kind "+strings.Join(kinds, ", ")+"; a newer one may know more",
		"unknown kind of event %s", shown(string(k)))
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
