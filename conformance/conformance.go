// Package conformance replays recorded decisions through the real pipeline and says where the two differ.
//
// A vector is one recorded input with the decisions that the contract fixes for it: a catalog and how it is split,
// listed, searched and called; a toolset and what it resolves to; a roll and the toolsets that it draws. Vectors come in
// files of five formats, told apart by content and never by name: bridge cases, toolset tables, built-in tools,
// distributions, and samples.
//
// The steps: read a file and split it into vectors; find the format that the first one has; decode each strictly; drive
// the registry, the bridge, the retriever, the toolset table or the distributions with its input; compare decision by
// decision; count by file and kind.
//
// The opinion it holds: a vector that is not understood in full proves nothing. An unknown field, a missing one, a
// repeated one or a value of the wrong type fails the vector, and so does a variant that the pipeline does not have.
// What is read and deliberately not compared is named in the report with the reason.
//
// The promise: a decision counts as passed only if it was compared with what the pipeline did. Where the contract states
// a departure from the recorded system, the decision counts as a departure, apart from both, and fails nothing.
package conformance

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// fileBytesMax bounds one file of vectors.
const fileBytesMax = 256 << 20

// defaultShown is how many differences a report keeps of one kind.
const defaultShown = 5

// ErrInput marks a file that could not be used at all: unreadable, empty, cut short, not JSON, or of no known format.
var ErrInput = errors.New("unusable input")

// inputError is an error that ErrInput matches, without adding to its words.
type inputError struct{ error }

func (e inputError) Is(target error) bool { return target == ErrInput }

func (e inputError) Unwrap() error { return e.error }

func badInput(format string, args ...any) error { return inputError{fmt.Errorf(format, args...)} }

// Options sets up a run. The zero value is ready to use.
type Options struct {
	// Corpus holds the core list, the toolsets, the built-in tools and the distributions that vectors are compared
	// with; nil means the embedded corpus.
	Corpus *corpus.Corpus
	// Shown is how many differences of each kind in each file the report keeps: 0 means five, a negative number
	// all. Counts are complete either way.
	Shown int
}

// Run replays the vectors of all files and returns one report. A file that cannot be used is an error that [ErrInput]
// matches; the other files are replayed all the same, and the report covers those. Vectors that differ are no error:
// see [Report.Failed].
func Run(o Options, files ...string) (*Report, error) {
	r, err := newRunner(o)
	if err != nil {
		return nil, err
	}
	report := &Report{SchemaVersion: schemaVersion, Files: []FileResult{}}
	if len(files) == 0 {
		return report, badInput("no vectors given\nhint: name one or more files of vectors")
	}
	var faults []error
	for _, file := range files {
		data, err := readFile(file, fileBytesMax)
		if err == nil {
			var result FileResult
			if result, err = r.replay(file, data); err == nil {
				report.add(result)
				continue
			}
		}
		faults = append(faults, err)
	}
	return report, errors.Join(faults...)
}

// runner is what all files of a run share.
type runner struct {
	corpus *corpus.Corpus
	// retrievers are those that were needed so far.
	retrievers map[bridge.Variant]search.Retriever
	shown      int
}

func newRunner(o Options) (*runner, error) {
	r := &runner{corpus: o.Corpus, retrievers: make(map[bridge.Variant]search.Retriever), shown: o.Shown}
	if r.shown == 0 {
		r.shown = defaultShown
	}
	if r.corpus == nil {
		var err error
		if r.corpus, err = corpus.Embedded(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// retriever returns what a variant searches with.
func (r *runner) retriever(v bridge.Variant) (search.Retriever, error) {
	if known, ok := r.retrievers[v]; ok {
		return known, nil
	}
	retriever, err := search.New(retrieverOf(v))
	if err != nil {
		return nil, err
	}
	r.retrievers[v] = retriever
	return retriever, nil
}

// replay runs the vectors of one file.
func (r *runner) replay(file string, data []byte) (FileResult, error) {
	vectors, err := split(file, data)
	if err != nil {
		return FileResult{}, err
	}
	f, err := formatOf(file, vectors[0])
	if err != nil {
		return FileResult{}, err
	}
	t := newTally(f.kinds, r.shown)
	c := f.begin(r, t)
	for _, v := range vectors {
		t.vector(v, c)
	}
	c.finish()
	return FileResult{File: file, Format: f.name, Vectors: len(vectors), Kinds: t.results(), Ignored: f.ignored}, nil
}

func readFile(path string, bytesMax int) ([]byte, error) {
	// Looked at before it is opened: opening a pipe that nobody writes to never ends.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, badInput("%s: not a regular file\nhint: write what it gives to a file first", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, badInput("%s: %w\nhint: check the path and its permissions", path, cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(bytesMax)+1))
	if err != nil {
		return nil, badInput("%s: %w\nhint: name a file of vectors", path, cause(err))
	}
	if len(data) > bytesMax {
		return nil, badInput("%s: larger than %d bytes\nhint: split it into several files", path, bytesMax)
	}
	return data, nil
}

// cause drops the operation and path that os errors repeat.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
