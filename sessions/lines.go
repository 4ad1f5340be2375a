package sessions

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// lineMax bounds a line in bytes. A session of a thousand turns takes about a
// hundredth of it.
const lineMax = 64 << 20

// byteOrderMark begins files that some editors save; it is passed over.
var byteOrderMark = []byte("\xef\xbb\xbf")

// header is the first line of a JSON Lines file.
type header struct {
	SchemaVersion int64  `json:"schema_version"`
	Kind          string `json:"kind"`
}

// linesEncoder writes JSON Lines.
type linesEncoder struct {
	buffer  *bufio.Writer
	encoder *json.Encoder
	begun   bool
}

func newLinesEncoder(w io.Writer) *linesEncoder {
	buffer := bufio.NewWriterSize(w, 1<<16)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	return &linesEncoder{buffer: buffer, encoder: encoder}
}

func (e *linesEncoder) encode(s *Session) error {
	if !e.begun {
		e.begun = true
		if err := e.encoder.Encode(header{SchemaVersion, fileKind}); err != nil {
			return err
		}
	}
	return e.encoder.Encode(s.withLists())
}

func (e *linesEncoder) finish() error { return e.buffer.Flush() }

// withLists returns a copy of s in which no list is nil, since JSON would write
// null for it.
func (s *Session) withLists() *Session {
	c := *s
	c.Toolsets, c.Servers = settled(c.Toolsets), settled(c.Servers)
	c.Events = make([]Event, len(s.Events))
	for i, e := range s.Events {
		if e.Turn != nil {
			turn := *e.Turn
			turn.Gold, turn.Queries = settled(turn.Gold), settled(turn.Queries)
			e.Turn = &turn
		}
		if e.Tools != nil {
			e.Tools = &ToolChanges{Added: settled(e.Tools.Added), Removed: settled(e.Tools.Removed), Edited: settled(e.Tools.Edited)}
		}
		if e.Config != nil {
			e.Config = &ConfigChange{Enable: settled(e.Config.Enable), Disable: settled(e.Config.Disable)}
		}
		c.Events[i] = e
	}
	return &c
}

// readLines reads JSON Lines: the header, then a session a line. Blank lines are
// passed over.
func readLines(path string, r io.Reader, c *collector) error {
	lines := bufio.NewReaderSize(r, 1<<16)
	begun := false
	for n := 1; ; n++ {
		line, err := readLine(lines, lineMax)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s:%d: %w\nhint: check that it is a file of sessions", path, n, err)
		}
		last := err != nil
		if n == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := readSessionLine(path, n, line, &begun, c); err != nil {
				if errors.Is(err, errStopped) {
					return nil
				}
				return err
			}
		}
		if last {
			break
		}
	}
	if !begun {
		return emptyFile(path)
	}
	return nil
}

// readSessionLine reads line n: the header if it is the first that is not blank.
func readSessionLine(path string, n int, line []byte, begun *bool, c *collector) error {
	if err := checkLine(line, *begun); err != nil {
		return fmt.Errorf("%s:%d:%w", path, n, err)
	}
	if !*begun {
		*begun = true
		if err := checkHeader(line); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		return nil
	}
	s, err := decodeSession(line)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", path, n, err)
	}
	return c.add(s, strconv.Itoa(n))
}

// readLine returns the next line of up to limit bytes, its end included, with
// io.EOF if it is the last. The line is the caller's to keep.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > limit {
			return nil, fmt.Errorf("the line is longer than %d bytes", limit)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

const formatsHint = "sessions are read from Parquet and from JSON Lines; check that it is one of them"

// checkLine checks encoding and syntax. Its error starts with the column.
func checkLine(line []byte, begun bool) error {
	if !utf8.Valid(line) {
		at := invalidUTF8(line)
		_, column := rawjson.Position(line, int64(at))
		hint := "convert the file to UTF-8"
		if !begun {
			hint = formatsHint
		}
		return fmt.Errorf("%d: invalid UTF-8 (byte 0x%02x)\nhint: %s", column, line[at], hint)
	}
	if json.Valid(line) {
		return nil
	}
	var v json.RawMessage
	err := json.Unmarshal(line, &v)
	offset := rawjson.ErrorOffset(err, line)
	_, column := rawjson.Position(line, offset)
	hint := "check the JSON there"
	switch {
	case offset >= int64(len(line)):
		hint = "the line stops short: the file may be truncated"
	case !begun:
		hint = formatsHint
	}
	return fmt.Errorf("%d: invalid JSON: %w\nhint: %s", column, err, hint)
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8; text has
// one.
func invalidUTF8(text []byte) int {
	for i := 0; ; {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
}

// checkHeader reads the first line.
func checkHeader(line []byte) error {
	const hint = `the first line of a file of sessions is {"schema_version":1,"kind":"sessions"}`
	fields, err := rawjson.Object(line)
	if err != nil {
		return fmt.Errorf("%w\nhint: %s", err, hint)
	}
	if _, ok := rawjson.Get(fields, "schema_version"); !ok {
		return fault("schema_version", hint, "missing from the first line")
	}
	var h header
	c := &cursor{text: line}
	err = c.object(headerFields, func(field string) (err error) {
		switch field {
		case "schema_version":
			h.SchemaVersion, err = c.integer()
		case "kind":
			h.Kind, err = c.string()
		}
		return err
	})
	if err != nil {
		return err
	}
	return checkHead(strconv.FormatInt(h.SchemaVersion, 10), h.Kind)
}

// checkHead checks what a file of either format says of itself.
func checkHead(version, kind string) error {
	if kind != fileKind {
		return fault("kind", "name a file of sessions", "the file holds %s, not sessions", shown(kind))
	}
	if version != strconv.Itoa(SchemaVersion) {
		return fault("schema_version", fmt.Sprintf("this program reads version %d", SchemaVersion), "%s is not supported", shown(version))
	}
	return nil
}

// The fields of each object of the format, in the order in which they are
// written.
var (
	headerFields  = []member{{name: "schema_version"}, {name: "kind"}}
	sessionFields = []member{
		{name: "session_id"}, {name: "row_index"}, {name: "seed"}, {name: "distribution"}, {name: "toolsets"},
		{name: "servers"}, {name: "context_length"}, {name: "corpus_sha256"}, {name: "events"},
	}
	// Which of the optional ones an event has goes by its kind; see Kind.details.
	eventFields = []member{
		{name: "at_ms"}, {name: "kind"}, {name: "turn", optional: true}, {name: "server", optional: true},
		{name: "tools", optional: true}, {name: "probe", optional: true}, {name: "config", optional: true},
	}
	toolChangesFields  = []member{{name: "added"}, {name: "removed"}, {name: "edited"}}
	descriptionFields  = []member{{name: "tool"}, {name: "description"}}
	configChangeFields = []member{{name: "enable"}, {name: "disable"}}
	turnFields         = []member{
		{name: "intent_id"}, {name: "utterance"}, {name: "language"}, {name: "class"}, {name: "gold"},
		{name: "queries", optional: true},
	}
	goldFields     = []member{{name: "tool"}, {name: "arguments", optional: true}, {name: "depends_on", optional: true}}
	argumentFields = []member{{name: "name"}, {name: "value"}, {name: "stated"}}
)

// decodeSession reads a session from a line of valid JSON. Reading is strict:
// fields unknown, repeated or missing are errors, and so are other types.
func decodeSession(line []byte) (*Session, error) {
	s := &Session{}
	c := &cursor{text: line}
	err := c.object(sessionFields, func(field string) (err error) {
		switch field {
		case "session_id":
			s.SessionID, err = c.string()
		case "row_index":
			s.RowIndex, err = c.integer()
		case "seed":
			s.Seed, err = c.unsigned()
		case "distribution":
			s.Distribution, err = c.string()
		case "toolsets":
			s.Toolsets, err = list(c, (*cursor).string)
		case "servers":
			s.Servers, err = list(c, (*cursor).string)
		case "context_length":
			s.ContextLength, err = c.int()
		case "corpus_sha256":
			s.CorpusSHA256, err = c.string()
		case "events":
			s.Events, err = list(c, decodeEvent)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.settle()
	return s, nil
}

func decodeEvent(c *cursor) (e Event, err error) {
	var present []string
	err = c.object(eventFields, func(field string) (err error) {
		present = append(present, field)
		switch field {
		case "at_ms":
			e.AtMS, err = c.integer()
		case "kind":
			var kind string
			if kind, err = c.string(); err == nil {
				// At once: what else is in an event of another kind is unknown too.
				e.Kind = Kind(kind)
				err = e.Kind.check()
			}
		case "turn":
			e.Turn = &Turn{}
			err = decodeTurn(c, e.Turn)
		case "server":
			e.Server, err = c.string()
		case "tools":
			e.Tools, err = decodeToolChanges(c)
		case "probe":
			e.Probe, err = c.string()
		case "config":
			e.Config, err = decodeConfigChange(c)
		}
		return err
	})
	if err != nil {
		return e, err
	}
	return e, e.Kind.checkDetails(func(detail string) bool { return slices.Contains(present, detail) })
}

func decodeToolChanges(c *cursor) (*ToolChanges, error) {
	t := &ToolChanges{}
	err := c.object(toolChangesFields, func(field string) (err error) {
		switch field {
		case "added":
			t.Added, err = list(c, (*cursor).string)
		case "removed":
			t.Removed, err = list(c, (*cursor).string)
		case "edited":
			t.Edited, err = list(c, decodeDescription)
		}
		return err
	})
	return t, err
}

func decodeDescription(c *cursor) (d Description, err error) {
	err = c.object(descriptionFields, func(field string) (err error) {
		switch field {
		case "tool":
			d.Tool, err = c.string()
		case "description":
			d.Description, err = c.string()
		}
		return err
	})
	return d, err
}

func decodeConfigChange(c *cursor) (*ConfigChange, error) {
	change := &ConfigChange{}
	err := c.object(configChangeFields, func(field string) (err error) {
		switch field {
		case "enable":
			change.Enable, err = list(c, (*cursor).string)
		case "disable":
			change.Disable, err = list(c, (*cursor).string)
		}
		return err
	})
	return change, err
}

func decodeTurn(c *cursor, t *Turn) error {
	return c.object(turnFields, func(field string) (err error) {
		switch field {
		case "intent_id":
			t.IntentID, err = c.string()
		case "utterance":
			t.Utterance, err = c.string()
		case "language":
			t.Language, err = c.string()
		case "class":
			var class string
			class, err = c.string()
			t.Class = corpus.Class(class)
		case "gold":
			t.Gold, err = list(c, decodeGold)
		case "queries":
			t.Queries, err = list(c, (*cursor).string)
		}
		return err
	})
}

func decodeGold(c *cursor) (g corpus.Gold, err error) {
	err = c.object(goldFields, func(field string) (err error) {
		switch field {
		case "tool":
			g.Tool, err = c.string()
		case "arguments":
			g.Arguments, err = list(c, decodeArgument)
		case "depends_on":
			g.DependsOn, err = list(c, (*cursor).int)
		}
		return err
	})
	return g, err
}

func decodeArgument(c *cursor) (a corpus.Argument, err error) {
	err = c.object(argumentFields, func(field string) (err error) {
		switch field {
		case "name":
			a.Name, err = c.string()
		case "value":
			a.Value, err = c.compact()
		case "stated":
			a.Stated, err = c.boolean()
		}
		return err
	})
	return a, err
}
