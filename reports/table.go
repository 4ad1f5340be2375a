package reports

import (
	"fmt"
	"iter"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// What decides the bytes of a table beside its rows. A change to any of these changes every file.
const (
	batchRows    = 512 // rows handed to the library at once
	rowGroupRows = 32 * 1024
	pageBytes    = 64 * 1024 // the library's own 256 KiB, times a hundred columns, is memory that a run has better uses for
	createdBy    = "toolgauge"
)

// inputs are the hashes of what a run was given. Every table repeats them, so that a file alone says what it rests on.
type inputs struct {
	corpusSHA256, sessionsSHA256, configSHA256 string
	synthetic                                  bool // the corpus was made by rule
}

// tableWriter writes one Parquet table. It belongs to one goroutine.
type tableWriter[T any] struct {
	file    *runFile
	parquet *parquet.GenericWriter[T]
	batch   []T
	rows    int64 // added so far
}

func newTableWriter[T any](file *runFile, in inputs) *tableWriter[T] {
	options := []parquet.WriterOption{
		parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.PageBufferSize(pageBytes),
		parquet.CreatedBy(createdBy, strconv.Itoa(SchemaVersion), ""),
		parquet.KeyValueMetadata("schema_version", strconv.Itoa(SchemaVersion)),
		parquet.KeyValueMetadata("corpus_sha256", in.corpusSHA256),
		parquet.KeyValueMetadata("sessions_sha256", in.sessionsSHA256),
		parquet.KeyValueMetadata("config_sha256", in.configSHA256),
	}
	if in.synthetic {
		options = append(options, parquet.KeyValueMetadata("synthetic", "true"))
	}
	return &tableWriter[T]{file: file, parquet: parquet.NewGenericWriter[T](file, options...), batch: make([]T, 0, batchRows)}
}

// add appends a row. The library sees whole batches, wherever one session ends and the next begins: how rows are cut into
// batches decides where pages end.
func (t *tableWriter[T]) add(row T) error {
	t.batch = append(t.batch, row)
	t.rows++
	if len(t.batch) == batchRows {
		return t.flush()
	}
	return nil
}

func (t *tableWriter[T]) flush() error {
	n, err := t.parquet.Write(t.batch)
	if err == nil && n != len(t.batch) {
		err = fmt.Errorf("%d of %d rows written", n, len(t.batch))
	}
	t.batch = t.batch[:0]
	return t.file.fault(err)
}

func (t *tableWriter[T]) rowCount() int64 { return t.rows }

// close completes the table's bytes. The file is then ready to commit.
func (t *tableWriter[T]) close() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.file.fault(t.parquet.Close())
}

// readTable iterates over the rows of a Parquet file in their order. An error names the file and ends the iteration.
func readTable[T any](path string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		table, err := openTable[T](path)
		if err != nil {
			yield(none, tableError(path, err))
			return
		}
		defer table.close()
		for {
			rows, err := table.next()
			if err != nil {
				yield(none, tableError(path, err))
				return
			}
			if len(rows) == 0 {
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

func tableError(path string, err error) error {
	return fmt.Errorf("cannot read %s: %w\nhint: the file is damaged or not a table of this version; copy it again, or repeat the run", path, err)
}

// tableReader reads one Parquet table batch by batch.
type tableReader[T any] struct {
	file    *os.File
	parquet *parquet.GenericReader[T]
	left    int64 // rows
}

func openTable[T any](path string) (_ *tableReader[T], err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, cause(err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	defer recoverError(&err, debug.SetPanicOnFault(true))
	info, err := file.Stat()
	if err != nil {
		return nil, cause(err)
	}
	opened, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		return nil, err
	}
	if want := parquet.SchemaOf(new(T)); !parquet.EqualNodes(opened.Schema(), want) {
		return nil, fmt.Errorf("its columns are not those of schema_version %d", SchemaVersion)
	}
	return &tableReader[T]{file: file, parquet: parquet.NewGenericReader[T](opened), left: opened.NumRows()}, nil
}

// next returns the next rows, none at the end. Each call returns rows that the next leaves alone.
func (t *tableReader[T]) next() (rows []T, err error) {
	if t.left == 0 {
		return nil, nil
	}
	defer recoverError(&err, debug.SetPanicOnFault(true))
	rows = make([]T, min(batchRows, t.left))
	n, err := t.parquet.Read(rows)
	// The library may give the last rows and the end of the file at once.
	if n == 0 {
		if err == nil {
			err = fmt.Errorf("no progress")
		}
		return nil, fmt.Errorf("%d rows are missing: %w", t.left, err)
	}
	t.left -= int64(n)
	return rows[:n], nil
}

func (t *tableReader[T]) close() {
	_ = t.parquet.Close()
	_ = t.file.Close()
}

// recoverError turns a panic into an error, and has the goroutine meet faults as it did before. The library checks much of
// a file, but not all: what it takes for the address of a text may be none, and such a fault must not end the program.
func recoverError(err *error, panicOnFault bool) {
	debug.SetPanicOnFault(panicOnFault)
	if p := recover(); p != nil {
		*err = fmt.Errorf("%v", p)
	}
}
