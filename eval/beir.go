package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolgauge/toolgauge/pipeline/search"
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
func readBEIR(folder string) (*Set, error) {
	s, byID := &Set{Name: nameOf(folder), Format: FormatBEIR}, make(map[string]Query)
	err := eachLine(filepath.Join(folder, beirCorpus), func(o *object, seen claims) {
		id, title := o.text("_id"), o.optionalText("title")
		seen.take(o, "document", id)
		if title == "" {
			title = id
		}
		s.Tools = append(s.Tools, Tool{ID: id, Name: title, Doc: search.Doc{Name: title, Description: o.optionalText("text")}})
	})
	if err != nil {
		return nil, err
	}
	var order []string
	err = eachLine(filepath.Join(folder, beirQueries), func(o *object, seen claims) {
		q := Query{ID: o.text("_id"), Text: o.text("text"), Grades: make(map[string]int)}
		seen.take(o, "query", q.ID)
		byID[q.ID] = q
		order = append(order, q.ID)
	})
	if err != nil {
		return nil, err
	}
	file, err := qrelsOf(filepath.Join(folder, beirQrels))
	if err != nil {
		return nil, err
	}
	t, err := open(file)
	if err != nil {
		return nil, err
	}
	judged, err := t.beirQrels(byID)
	if err != nil {
		return nil, err
	}
	for _, id := range order {
		if judged[id] {
			s.Queries = append(s.Queries, byID[id])
		}
	}
	if n := len(order) - len(s.Queries); n > 0 {
		s.note("queries of %s without a judgement, which are not asked: %d", s.Name, n)
	}
	s.settle("not among its documents")
	return s, nil
}

// eachLine reads JSON Lines.
func eachLine(path string, take func(o *object, seen claims)) error {
	t, err := open(path)
	if err != nil {
		return err
	}
	seen := make(claims)
	return t.lines(func(at int, line []byte) error {
		v, err := t.value(at, line)
		if err != nil {
			return err
		}
		o := v.object("a line")
		take(o, seen)
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

// beirQrels adds judgements to queries, and returns which have any.
func (t *text) beirQrels(queries map[string]Query) (judged map[string]bool, err error) {
	const hint = "a line is query-id, corpus-id and score, between tabs"
	judged = make(map[string]bool)
	first := true
	err = t.lines(func(at int, line []byte) error {
		fields := strings.Split(strings.Trim(string(line), "\r\n"), "\t")
		if len(fields) != 3 {
			return t.errorAt(at, hint, "%d fields, want 3", len(fields))
		}
		grade, err := parseGrade(fields[2])
		heading := first && err != nil
		first = false
		if heading {
			return nil
		}
		q, known := queries[fields[0]]
		_, again := q.Grades[fields[1]]
		switch {
		case err != nil:
			return t.errorAt(at, gradeHint, "%w", err)
		case !known:
			return t.errorAt(at, "name a query of "+beirQueries, "unknown query %s", shown(fields[0]))
		case again:
			return t.errorAt(at, "keep one of the two", "query %s judges %s twice", shown(fields[0]), shown(fields[1]))
		}
		q.Grades[fields[1]] = grade
		judged[q.ID] = true
		return nil
	})
	return judged, err
}
