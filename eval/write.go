package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

// The names of the files that Write makes, beside those of sets and retrievers.
const (
	ReportFile  = "eval.json"
	QueriesFile = "queries.parquet"
)

// output is one file to write.
type output struct {
	name  string
	write func(w io.Writer) error
}

// Write puts a report into a folder, which it makes if it is not there: eval.json, queries.parquet with a row for each query
// and retriever, SET.qrels, SET.RETRIEVER.run, and with distractors SET.recall_at_K.svg. It returns the names of the files.
// Files of these names are replaced. None is put in place before all are written, so a full disk leaves the folder as it was.
func (r *Report) Write(folder string) (names []string, err error) {
	made := false
	if _, err := os.Stat(folder); os.IsNotExist(err) {
		made = true
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fmt.Errorf("cannot create the folder %s: %w\nhint: name a folder that you may write to", folder, textfile.Cause(err))
	}
	defer func() {
		if err != nil && made {
			_ = os.Remove(folder)
		}
	}()
	var files []*atomicfile.File
	defer func() {
		for _, f := range files {
			f.Abort() // does nothing to one that is in place
		}
	}()
	for _, o := range r.outputs() {
		f, err := atomicfile.Create(filepath.Join(folder, o.name))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		if err := o.write(f); err != nil {
			return nil, err
		}
		names = append(names, o.name)
	}
	for _, f := range files {
		if err := f.Commit(); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func (r *Report) outputs() []output {
	outputs := []output{{ReportFile, r.writeJSON}, {QueriesFile, r.writeQueries}}
	for _, s := range r.Sets {
		name := fileName(s.Set)
		outputs = append(outputs, output{name + ".qrels", s.set.writeQrels})
		for _, ranking := range s.rankings {
			outputs = append(outputs, output{name + "." + fileName(ranking.Retriever) + ".run", func(w io.Writer) error { return s.set.writeRun(w, ranking) }})
		}
		if len(s.Pools) == 0 {
			continue
		}
		for i, f := range s.Pools[0].Recall {
			outputs = append(outputs, output{name + "." + strings.Replace(f.Measure, "@", "_at_", 1) + ".svg", func(w io.Writer) error { return s.plot(w, i) }})
		}
	}
	return outputs
}

// fileName makes a name part of a file's name.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
}

func (r *Report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
