package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolgauge/toolgauge/internal/textfile"
)

// The files of a BEIR folder.
const (
	beirCorpus  = "corpus.jsonl"
	beirQueries = "queries.jsonl"
	beirQrels   = "qrels"
	beirTest    = "test.tsv"
)

// readBEIR reads corpus.jsonl {_id, title, text}, queries.jsonl {_id, text} and qrels/*.tsv (query-id, corpus-id, score
// below a line of headings). A document's title is taken for the tool's name, its text for the description. Of several qrels
// test.tsv counts; queries that it does not judge are not asked.
func (s *Labelled) readBEIR(folder string) error {
	s.Format = FormatBEIR
	err := eachLine(filepath.Join(folder, beirCorpus), "document", func(o *object) string {
		t := LabelledTool{ID: o.words("_id"), Visible: o.optional("title"), Description: o.optional("text"), at: o.node}
		if t.Visible == "" {
			t.Visible = t.ID
		}
		t.Name = t.Visible
		s.Tools = append(s.Tools, t)
		return t.ID
	})
	if err != nil {
		return err
	}
	byID, order := make(map[string]Query), []string{}
	err = eachLine(filepath.Join(folder, beirQueries), "query", func(o *object) string {
		q := Query{ID: o.words("_id"), Text: o.words("text"), Grades: make(map[string]int), at: o.node}
		byID[q.ID] = q
		order = append(order, q.ID)
		return q.ID
	})
	if err != nil {
		return err
	}
	file, err := qrelsOf(filepath.Join(folder, beirQrels))
	if err != nil {
		return err
	}
	qrels, err := textfile.Open(file)
	if err != nil {
		return err
	}
	judged, err := readBEIRQrels(qrels, byID)
	if err != nil {
		return err
	}
	for _, id := range order {
		if judged[id] {
			s.Queries = append(s.Queries, byID[id])
		}
	}
	if n := len(order) - len(s.Queries); n > 0 {
		s.note("queries of %s without a judgement, which are not asked: %d", s.Name, n)
	}
	s.settle()
	return nil
}

// eachLine reads JSON Lines; take returns the ID of what it took.
func eachLine(path, what string, take func(o *object) string) error {
	f, err := textfile.Open(path)
	if err != nil {
		return err
	}
	seen := make(claimed)
	return (&document{file: path, data: f.Data}).lines(func(n node) error {
		o := looseObject(n, "a line")
		seen.take(o, what, take(o))
		return o.err
	})
}

// qrelsOf chooses among a folder's qrels.
func qrelsOf(folder string) (string, error) {
	test := filepath.Join(folder, beirTest)
	if _, err := os.Stat(test); !errors.Is(err, fs.ErrNotExist) {
		return test, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.tsv"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("%s: %d files of qrels, and none is %s\nhint: keep the one to judge by, or name it %s", folder, len(files), beirTest, beirTest)
	}
	return files[0], nil
}

// readBEIRQrels adds judgements to queries, and returns which have any.
func readBEIRQrels(f *textfile.File, queries map[string]Query) (judged map[string]bool, err error) {
	judged = make(map[string]bool)
	first := true
	err = f.Lines(func(start, end int) error {
		fields := strings.Split(strings.Trim(string(f.Data[start:end]), "\r\n"), "\t")
		if len(fields) != 3 {
			return f.ErrorAt(start, "a line is query-id, corpus-id and score, between tabs", "fields between tabs: %d, want 3", len(fields))
		}
		grade, err := ParseGrade(fields[2])
		heading := first && err != nil
		first = false
		if heading {
			return nil
		}
		q, known := queries[fields[0]]
		_, again := q.Grades[fields[1]]
		switch {
		case err != nil:
			return f.ErrorAt(start, gradeHint, "%w", err)
		case !known:
			return f.ErrorAt(start, "name a query of "+beirQueries, "unknown query %s", textfile.Shown(fields[0]))
		case again:
			return f.ErrorAt(start, "keep one of the two", "query %s judges %s twice", textfile.Shown(fields[0]), textfile.Shown(fields[1]))
		}
		q.Grades[fields[1]] = grade
		judged[q.ID] = true
		return nil
	})
	return judged, err
}
