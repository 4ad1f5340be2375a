package sessions

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// parquetError reads a Parquet file from memory, and returns how many sessions
// came and the error.
func parquetError(data []byte) (rows int64, err error) {
	c := &collector{path: "s.parquet", seen: map[string]int64{}, take: func(*Session) bool { return true }}
	err = readParquet("s.parquet", bytes.NewReader(data), int64(len(data)), c)
	return c.rows, err
}

// twoRows is a Parquet file of two sessions.
func twoRows(t testing.TB) []byte {
	t.Helper()
	other := sample()
	other.SessionID = "s2"
	return writeAll(t, filepath.Join(t.TempDir(), "s.parquet"), sample(), other)
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	good := twoRows(t)
	if rows, err := parquetError(good); rows != 2 || err != nil {
		t.Fatal(rows, err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		rows, err := parquetError(bad)
		if i < len(parquetMagic) {
			continue // such a file is not taken for Parquet; see below
		}
		if err == nil || rows > 0 {
			t.Fatalf("bit %d of byte %d: %d sessions, %v", i%8, i, rows, err)
		}
		wantError(t, err, "s.parquet: ")
	}
	good[0] ^= 1
	_, err := ReadFile(fileOf(t, "s.parquet", good))
	wantError(t, err, "s.parquet:1:")
}

func TestEveryTruncationIsFound(t *testing.T) {
	good := twoRows(t)
	for n := range good {
		rows, err := parquetError(good[:n])
		if err == nil || rows > 0 {
			t.Fatalf("the first %d of %d bytes: %d sessions, %v", n, len(good), rows, err)
		}
		wantError(t, err, "s.parquet: ", damagedHint)
	}
	for _, n := range []int{4, 5, len(good) / 2, len(good) - 1} {
		_, err := ReadFile(fileOf(t, "cut.parquet", good[:n]))
		wantError(t, err, "cut.parquet: the file stops short")
	}
	_, err := parquetError(append(bytes.Clone(good), 0))
	wantError(t, err, "s.parquet: the file stops short")
	_, err = parquetError(append(bytes.Clone(good), good...))
	wantError(t, err, "s.parquet: the content does not fit the file's own checksum")
}

// seal writes rows of any type, sealed, with the metadata given.
func seal[T any](t *testing.T, rows []T, metadata ...string) []byte {
	t.Helper()
	var file bytes.Buffer
	sealer := newSealer(&file)
	options := []parquet.WriterOption{parquet.KeyValueMetadata(sealKey, sealBlank)}
	for i := 0; i < len(metadata); i += 2 {
		options = append(options, parquet.KeyValueMetadata(metadata[i], metadata[i+1]))
	}
	w := parquet.NewGenericWriter[T](sealer, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	sealer.hold()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sealer.seal(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestOtherParquetFilesAreRefused(t *testing.T) {
	good := []string{"schema_version", "1", "kind", "sessions"}
	row := rowOf(sample())
	type fewer struct {
		SessionID string `parquet:"session_id"`
	}
	type more struct {
		sessionRow
		Note string `parquet:"note"`
	}
	type signed struct {
		sessionRow
		Seed int64 `parquet:"seed"`
	}
	type nullable struct {
		sessionRow
		Seed *uint64 `parquet:"seed,optional"`
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"no version", seal(t, []sessionRow{row}), "schema_version: missing"},
		{"other version", seal(t, []sessionRow{row}, "schema_version", "2", "kind", "sessions"), `schema_version: "2" is not supported`},
		{"other kind", seal(t, []sessionRow{row}, "schema_version", "1", "kind", "calls"), `kind: the file holds "calls", not sessions`},
		{"column missing", seal(t, []fewer{{"s1"}}, good...), "row_index: the column is missing"},
		{"column unknown", seal(t, []more{{sessionRow: row}}, good...), "note: unknown column"},
		{"column of another type", seal(t, []signed{{sessionRow: row}}, good...), "seed: the column holds INT(64,true), want INT(64,false)"},
		{"column nullable", seal(t, []nullable{{sessionRow: row}}, good...), "seed: the column differs in where it may repeat or be null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, err := parquetError(c.data)
			wantError(t, err, "s.parquet: "+c.want)
			if rows > 0 {
				t.Error("sessions came with the error")
			}
		})
	}
	if rows, err := parquetError(seal(t, []sessionRow{row}, good...)); rows != 1 || err != nil {
		t.Errorf("a file that is right is refused: %v", err)
	}
	_, err := ReadFile(fileOf(t, "none.parquet", seal(t, []sessionRow{}, good...)))
	wantError(t, err, "none.parquet: holds no sessions")

	var unsealed bytes.Buffer
	w := parquet.NewGenericWriter[sessionRow](&unsealed)
	if _, err := w.Write([]sessionRow{row}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = parquetError(unsealed.Bytes())
	wantError(t, err, "s.parquet: file_sha256: missing", "datagen sessions")
}

// TestFaultySessionsAreRefusedFromParquet writes rows that a writer would refuse.
func TestFaultySessionsAreRefusedFromParquet(t *testing.T) {
	for _, bad := range faultySessions() {
		if bad.name == "context large" {
			continue // no column can hold it
		}
		t.Run(bad.name, func(t *testing.T) {
			s := sample()
			bad.spoil(s)
			data := seal(t, []sessionRow{rowOf(sample()), rowOf(s)}, "schema_version", "1", "kind", "sessions")
			_, err := parquetError(data)
			wantError(t, err, "s.parquet:row 2: ", bad.want)
		})
	}
}

// TestEmptyTextIsNotNull: an empty text in a column of another kind is a field
// too many, as it is in a line.
func TestEmptyTextIsNotNull(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*eventRow)
		want  string
	}{
		"server": {func(e *eventRow) { e.Server = new(string) }, "events[0].server: an event of kind turn has no such field"},
		"probe":  {func(e *eventRow) { e.Probe = new(string) }, "events[0].probe: an event of kind turn has no such field"},
		"filled": {func(e *eventRow) { *e = eventRow{Kind: "server_up", Server: new(string)} }, "events[0].server: missing or empty"},
		"null":   {func(e *eventRow) { *e = eventRow{Kind: "server_up"} }, "events[0].server: missing or empty"},
	} {
		t.Run(name, func(t *testing.T) {
			row := rowOf(sample())
			c.spoil(&row.Events[0])
			_, err := parquetError(seal(t, []sessionRow{row}, "schema_version", "1", "kind", "sessions"))
			wantError(t, err, "s.parquet:row 1: "+c.want)
		})
	}
}

func TestValuesAreCompactedFromParquet(t *testing.T) {
	row := rowOf(sample())
	row.Events[0].Turn.Gold[1].Arguments[0].Value = ` {"k": [null, "\u00e9"]}`
	data := seal(t, []sessionRow{row}, "schema_version", "1", "kind", "sessions")
	c := &collector{path: "s", seen: map[string]int64{}, take: func(s *Session) bool {
		if got := string(s.Events[0].Turn.Gold[1].Arguments[0].Value); got != `{"k":[null,"é"]}` {
			t.Errorf("value %s", got)
		}
		return true
	}}
	if err := readParquet("s", bytes.NewReader(data), int64(len(data)), c); err != nil {
		t.Fatal(err)
	}
}

func TestColumnsAreNamedAsFields(t *testing.T) {
	for path, want := range map[string]string{
		"seed":                  "seed",
		"toolsets.list.element": "toolsets[]",
		"events.list.element.turn.gold.list.element.arguments.list.element.name": "events[].turn.gold[].arguments[].name",
		"list.element": "list.element",
	} {
		if got := columnName(strings.Split(path, ".")); got != want {
			t.Errorf("columnName(%s) = %s, want %s", path, got, want)
		}
	}
}

func TestBytesDoNotNameTheLibrarysVersion(t *testing.T) {
	if data := twoRows(t); bytes.Contains(data, []byte("parquet-go")) {
		t.Error("the file names the library that wrote it, so a new version of it changes the bytes")
	}
}

func FuzzParquet(f *testing.F) {
	good := twoRows(f)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte("PAR1PAR1"))
	f.Add([]byte("PAR1" + sealMark + sealBlank + "\x4d\x00\x00\x00PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if rows, err := parquetError(data); err == nil && rows != 2 && rows != 0 {
			t.Errorf("read %d sessions from a file of two", rows)
		}
	})
}
