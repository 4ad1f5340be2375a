package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// parquetMagic starts and ends every Parquet file.
const parquetMagic = "PAR1"

// Both sizes change a file's bytes, so they are fixed: rows handed to the
// library at once, and rows of a row group (about 20 MB of sessions).
const (
	batchRows    = 256
	rowGroupRows = 32 * batchRows
)

// The rows of the Parquet form: the fields of Session and its parts by the same
// names, in the widths of the format.
type (
	sessionRow struct {
		SessionID     string     `parquet:"session_id"`
		RowIndex      int64      `parquet:"row_index"`
		Seed          uint64     `parquet:"seed"`
		Distribution  string     `parquet:"distribution,dict"`
		Toolsets      []string   `parquet:"toolsets,list"`
		Servers       []string   `parquet:"servers,list"`
		ContextLength int32      `parquet:"context_length"`
		CorpusSHA256  string     `parquet:"corpus_sha256,dict"`
		Events        []eventRow `parquet:"events,list"`
	}
	eventRow struct {
		AtMS   int64            `parquet:"at_ms"`
		Kind   string           `parquet:"kind,dict"`
		Turn   *turnRow         `parquet:"turn,optional"`
		Server *string          `parquet:"server,optional,dict"`
		Tools  *toolChangesRow  `parquet:"tools,optional"`
		Probe  *string          `parquet:"probe,optional,dict"`
		Config *configChangeRow `parquet:"config,optional"`
	}
	toolChangesRow struct {
		Added   []string         `parquet:"added,list"`
		Removed []string         `parquet:"removed,list"`
		Edited  []descriptionRow `parquet:"edited,list"`
	}
	descriptionRow struct {
		Tool        string `parquet:"tool"`
		Description string `parquet:"description"`
	}
	configChangeRow struct {
		Enable  []string `parquet:"enable,list"`
		Disable []string `parquet:"disable,list"`
	}
	turnRow struct {
		IntentID  string    `parquet:"intent_id"`
		Utterance string    `parquet:"utterance"`
		Language  string    `parquet:"language,dict"`
		Class     string    `parquet:"class,dict"`
		Gold      []goldRow `parquet:"gold,list"`
		Queries   []string  `parquet:"queries,list"`
	}
	goldRow struct {
		Tool      string        `parquet:"tool"`
		Arguments []argumentRow `parquet:"arguments,list"`
		DependsOn []int32       `parquet:"depends_on,list"`
	}
	argumentRow struct {
		Name   string `parquet:"name"`
		Value  string `parquet:"value"`
		Stated bool   `parquet:"stated"`
	}
)

func rowOf(s *Session) sessionRow {
	row := sessionRow{
		SessionID: s.SessionID, RowIndex: s.RowIndex, Seed: s.Seed, Distribution: s.Distribution, Toolsets: s.Toolsets,
		Servers: s.Servers, ContextLength: int32(s.ContextLength), CorpusSHA256: s.CorpusSHA256, Events: make([]eventRow, len(s.Events)),
	}
	for i := range s.Events {
		row.Events[i] = eventRowOf(&s.Events[i])
	}
	return row
}

func eventRowOf(e *Event) eventRow {
	row := eventRow{AtMS: e.AtMS, Kind: string(e.Kind)}
	if t := e.Turn; t != nil {
		row.Turn = &turnRow{
			IntentID: t.IntentID, Utterance: t.Utterance, Language: t.Language, Class: string(t.Class),
			Gold: goldRows(t.Gold), Queries: t.Queries,
		}
	}
	if e.Server != "" {
		row.Server = &e.Server
	}
	if t := e.Tools; t != nil {
		row.Tools = &toolChangesRow{Added: t.Added, Removed: t.Removed, Edited: make([]descriptionRow, len(t.Edited))}
		for i, edit := range t.Edited {
			row.Tools.Edited[i] = descriptionRow(edit)
		}
	}
	if e.Probe != "" {
		row.Probe = &e.Probe
	}
	if c := e.Config; c != nil {
		row.Config = &configChangeRow{Enable: c.Enable, Disable: c.Disable}
	}
	return row
}

func goldRows(golds []corpus.Gold) []goldRow {
	rows := make([]goldRow, len(golds))
	for i, g := range golds {
		rows[i] = goldRow{Tool: g.Tool, Arguments: make([]argumentRow, len(g.Arguments)), DependsOn: make([]int32, len(g.DependsOn))}
		for j, a := range g.Arguments {
			rows[i].Arguments[j] = argumentRow{Name: a.Name, Value: string(a.Value), Stated: a.Stated}
		}
		for j, on := range g.DependsOn {
			rows[i].DependsOn[j] = int32(on)
		}
	}
	return rows
}

// session turns a row back into a session, values compacted. A value that is no
// JSON, or no UTF-8, stays as it is, for check to find.
func (row *sessionRow) session() (*Session, error) {
	s := &Session{
		SessionID: row.SessionID, RowIndex: row.RowIndex, Seed: row.Seed, Distribution: row.Distribution, Toolsets: row.Toolsets,
		Servers: row.Servers, ContextLength: int(row.ContextLength), CorpusSHA256: row.CorpusSHA256, Events: make([]Event, len(row.Events)),
	}
	for i := range row.Events {
		if err := row.Events[i].check(); err != nil {
			return nil, below(element("events", i), err)
		}
		s.Events[i] = row.Events[i].event()
	}
	s.settle()
	return s, nil
}

// check tells a text that is null from an empty one, which are the same in an
// Event.
func (row *eventRow) check() error {
	return Kind(row.Kind).checkDetails(func(detail string) bool {
		switch detail {
		case "turn":
			return row.Turn != nil
		case "server":
			return row.Server != nil
		case "tools":
			return row.Tools != nil
		case "probe":
			return row.Probe != nil
		default:
			return row.Config != nil
		}
	})
}

func (row *eventRow) event() Event {
	e := Event{AtMS: row.AtMS, Kind: Kind(row.Kind)}
	if t := row.Turn; t != nil {
		e.Turn = &Turn{
			IntentID: t.IntentID, Utterance: t.Utterance, Language: t.Language, Class: corpus.Class(t.Class),
			Gold: goldsOf(t.Gold), Queries: t.Queries,
		}
	}
	if row.Server != nil {
		e.Server = *row.Server
	}
	if t := row.Tools; t != nil {
		e.Tools = &ToolChanges{Added: t.Added, Removed: t.Removed, Edited: make([]Description, len(t.Edited))}
		for i, edit := range t.Edited {
			e.Tools.Edited[i] = Description(edit)
		}
	}
	if row.Probe != nil {
		e.Probe = *row.Probe
	}
	if c := row.Config; c != nil {
		e.Config = &ConfigChange{Enable: c.Enable, Disable: c.Disable}
	}
	return e
}

func goldsOf(rows []goldRow) []corpus.Gold {
	golds := make([]corpus.Gold, len(rows))
	for i, row := range rows {
		g := corpus.Gold{Tool: row.Tool, Arguments: make([]corpus.Argument, len(row.Arguments)), DependsOn: make([]int, len(row.DependsOn))}
		for j, a := range row.Arguments {
			value := json.RawMessage(a.Value)
			if compact, err := rawjson.Compact(value); err == nil && utf8.Valid(value) {
				value = compact
			}
			g.Arguments[j] = corpus.Argument{Name: a.Name, Value: value, Stated: a.Stated}
		}
		for j, on := range row.DependsOn {
			g.DependsOn[j] = int(on)
		}
		golds[i] = g
	}
	return golds
}

// parquetEncoder writes Parquet.
type parquetEncoder struct {
	sealer *sealer
	writer *parquet.GenericWriter[sessionRow]
	batch  []sessionRow
}

func newParquetEncoder(w io.Writer) *parquetEncoder {
	sealer := newSealer(w)
	return &parquetEncoder{
		sealer: sealer,
		writer: parquet.NewGenericWriter[sessionRow](sealer,
			parquet.Compression(&zstd.Codec{}),
			parquet.MaxRowsPerRowGroup(rowGroupRows),
			// The library's own default holds a version, which must not change the bytes.
			parquet.CreatedBy("toolgauge", strconv.Itoa(SchemaVersion), "sessions"),
			parquet.KeyValueMetadata("schema_version", strconv.Itoa(SchemaVersion)),
			parquet.KeyValueMetadata("kind", fileKind),
			parquet.KeyValueMetadata(sealKey, sealBlank),
		),
		batch: make([]sessionRow, 0, batchRows),
	}
}

func (e *parquetEncoder) encode(s *Session) error {
	e.batch = append(e.batch, rowOf(s))
	if len(e.batch) < batchRows {
		return nil
	}
	return e.flush()
}

func (e *parquetEncoder) flush() error {
	err := guard(func() error {
		_, err := e.writer.Write(e.batch)
		return err
	})
	clear(e.batch)
	e.batch = e.batch[:0]
	return err
}

func (e *parquetEncoder) finish() error {
	if err := e.flush(); err != nil {
		return err
	}
	if err := guard(e.writer.Flush); err != nil { // all rows are out, the footer is not
		return err
	}
	e.sealer.hold()
	if err := guard(e.writer.Close); err != nil {
		return err
	}
	return e.sealer.seal()
}

// guard turns a panic of the library into an error. The seal keeps damage away
// from it; this is for what a seal cannot tell, such as a file of another make.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}

const damagedHint = "the file is damaged or truncated: write or copy it again"

// readParquet reads a Parquet file of size bytes.
func readParquet(path string, f io.ReaderAt, size int64, c *collector) error {
	if err := checkSeal(f, size); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	file, err := openParquet(path, f, size)
	if err != nil {
		return err
	}
	var rows *parquet.GenericReader[sessionRow]
	err = guard(func() error {
		rows = parquet.NewGenericReader[sessionRow](file)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w\nhint: %s", path, err, damagedHint)
	}
	defer func() { _ = guard(rows.Close) }()
	batch := make([]sessionRow, batchRows)
	for {
		clear(batch) // sessions handed on hold the lists; they must not be filled again
		n := 0
		err := guard(func() (err error) {
			n, err = rows.Read(batch)
			return err
		})
		for i := range batch[:n] {
			if err := c.addRow(&batch[i]); err != nil {
				if errors.Is(err, errStopped) {
					return nil
				}
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF) && c.rows == file.NumRows():
			return nil
		case errors.Is(err, io.EOF) || err == nil && n == 0:
			return fmt.Errorf("%s: ends after %d of %d rows\nhint: %s", path, c.rows, file.NumRows(), damagedHint)
		case err != nil:
			return fmt.Errorf("%s:row %d: %w\nhint: %s", path, c.rows+1, err, damagedHint)
		}
	}
}

// addRow checks and hands on the session of the next row.
func (c *collector) addRow(row *sessionRow) error {
	place := fmt.Sprintf("row %d", c.rows+1)
	s, err := row.session()
	if err != nil {
		return fmt.Errorf("%s:%s: %w", c.path, place, err)
	}
	return c.add(s, place)
}

// openParquet reads a file's footer and checks that it is one of sessions.
func openParquet(path string, f io.ReaderAt, size int64) (*parquet.File, error) {
	var file *parquet.File
	err := guard(func() (err error) {
		file, err = parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w\nhint: %s", path, err, damagedHint)
	}
	err = guard(func() error {
		version, ok := file.Lookup("schema_version")
		if !ok {
			return fault("schema_version", "write the file with datagen sessions", "missing from the file's key-value metadata")
		}
		kind, _ := file.Lookup("kind")
		if err := checkHead(version, kind); err != nil {
			return err
		}
		return checkColumns(file.Schema())
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// checkColumns compares a file's columns with those of the format. The library
// would fill missing ones with zeros and pass over those that it does not know.
func checkColumns(got *parquet.Schema) error {
	const hint = "the columns of a file of sessions are listed in docs/format.md"
	want := parquet.SchemaOf(sessionRow{})
	for _, path := range want.Columns() {
		w, _ := want.Lookup(path...)
		g, ok := got.Lookup(path...)
		switch {
		case !ok:
			return fault(columnName(path), hint, "the column is missing")
		case g.Node.Type().String() != w.Node.Type().String():
			return fault(columnName(path), hint, "the column holds %s, want %s", g.Node.Type(), w.Node.Type())
		case g.MaxRepetitionLevel != w.MaxRepetitionLevel || g.MaxDefinitionLevel != w.MaxDefinitionLevel:
			return fault(columnName(path), hint, "the column differs in where it may repeat or be null")
		}
	}
	for _, path := range got.Columns() {
		if _, ok := want.Lookup(path...); !ok {
			return fault(columnName(path), hint, "unknown column")
		}
	}
	return nil
}

// columnName writes a column's path as the fields of a session are written:
// events[].turn.class for events.list.element.turn.class.
func columnName(path []string) string {
	var name strings.Builder
	for i := 0; i < len(path); i++ {
		if i > 0 && slices.Equal(path[i:min(i+2, len(path))], []string{"list", "element"}) {
			name.WriteString("[]")
			i++
			continue
		}
		if i > 0 {
			name.WriteByte('.')
		}
		name.WriteString(path[i])
	}
	return name.String()
}
