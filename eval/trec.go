package eval

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/textfile"
	"github.com/toolgauge/toolgauge/metrics"
)

const (
	qrelsLine = "a line of qrels is QUERY ITERATION TOOL GRADE, between blanks"
	runLine   = "a line of a run is QUERY Q0 TOOL RANK SCORE TAG, between blanks"
)

// trecID makes an ID a word, as the fields of TREC's files have to be: blanks, control characters and % become %XX, by the
// bytes of their UTF-8.
func trecID(id string) string {
	if !strings.ContainsFunc(id, breaksWord) {
		return id
	}
	var word strings.Builder
	for _, r := range id {
		if !breaksWord(r) {
			word.WriteRune(r)
			continue
		}
		for _, b := range []byte(string(r)) {
			fmt.Fprintf(&word, "%%%02X", b)
		}
	}
	return word.String()
}

func breaksWord(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '%' }

// parseQrels reads TREC qrels as bare judgements; errNoQrels means that the first line is none.
func parseQrels(f *textfile.File) ([]Query, error) {
	var queries []Query
	at := make(map[string]int) // positions of queries
	err := f.Lines(func(start, end int) error {
		fields := strings.Fields(string(f.Data[start:end]))
		if len(fields) != 4 {
			if len(queries) == 0 {
				return errNoQrels
			}
			return f.ErrorAt(start, qrelsLine, "%d fields, want 4", len(fields))
		}
		grade, err := corpus.ParseGrade(fields[3])
		if err != nil {
			if len(queries) == 0 {
				return errNoQrels
			}
			return f.ErrorAt(start, qrelsLine+"; a grade is a whole number", "%w", err)
		}
		i, known := at[fields[0]]
		if !known {
			i = len(queries)
			at[fields[0]] = i
			queries = append(queries, Query{ID: fields[0], Grades: make(map[string]int)})
		}
		if _, again := queries[i].Grades[fields[2]]; again {
			return f.ErrorAt(start, "keep one of the two", "query %s judges %s twice", textfile.Shown(fields[0]), textfile.Shown(fields[2]))
		}
		queries[i].Grades[fields[2]] = grade
		return nil
	})
	if len(queries) == 0 && err == nil {
		err = errNoQrels
	}
	return queries, err
}

// writeQrels writes the judgements of a set. A query that no tool serves and of which nothing is judged gets one line with
// grade 0, for the first tool of the set, because trec_eval knows a query by its lines only.
func (s *Set) writeQrels(w io.Writer) error {
	out := bufio.NewWriter(w)
	for i := range s.Queries {
		q := &s.Queries[i]
		for _, id := range slices.Sorted(maps.Keys(q.Grades)) {
			fmt.Fprintf(out, "%s 0 %s %d\n", trecID(q.ID), trecID(id), q.Grades[id])
		}
		if len(q.Grades) == 0 && len(s.Tools) > 0 {
			fmt.Fprintf(out, "%s 0 %s 0\n", trecID(q.ID), trecID(s.Tools[0].ID))
		}
	}
	return out.Flush()
}

// writeRun writes a ranking with scores that decrease strictly, so that trec_eval, which sorts by them, sees this order.
func (s *Set) writeRun(w io.Writer, r *Ranking) error {
	out := bufio.NewWriter(w)
	tag := "toolgauge-" + trecID(r.Retriever)
	for i := range s.Queries {
		scores := make([]float64, len(r.Hits[i]))
		for j, hit := range r.Hits[i] {
			scores[j] = hit.Score
		}
		for j, score := range metrics.DecreasingScores(scores) {
			text := strconv.FormatFloat(float64(score), 'g', -1, 32)
			fmt.Fprintf(out, "%s Q0 %s %d %s %s\n", trecID(s.Queries[i].ID), trecID(r.Hits[i][j].Tool), j+1, text, tag)
		}
	}
	return out.Flush()
}

// ReadRun reads a ranking that another program wrote as a TREC run file. As with trec_eval its order is that of the scores,
// in single precision, ties by tool ID backwards, and its ranks are not looked at. Queries that are not the set's are passed
// over; it is an error if all are. The ranking bears the name of its file.
func (s *Set) ReadRun(path string) (*Ranking, error) {
	f, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := s.parseRun(f)
	if err != nil {
		return nil, err
	}
	r.Retriever = nameOf(path)
	return r, nil
}

func (s *Set) parseRun(f *textfile.File) (*Ranking, error) {
	queries, tools := make(map[string]int), make(map[string]string)
	for i := range s.Queries {
		queries[s.Queries[i].ID] = i
	}
	for i := range s.Queries {
		queries[trecID(s.Queries[i].ID)] = i // as exported, rather than another's that reads the same
	}
	for i := range s.Tools {
		tools[trecID(s.Tools[i].ID)] = s.Tools[i].ID
	}
	r := &Ranking{Hits: make([][]Hit, len(s.Queries))}
	seen := make(map[[2]string]bool)
	others, ours := 0, 0
	err := f.Lines(func(at, end int) error {
		fields := strings.Fields(string(f.Data[at:end]))
		if len(fields) != 6 {
			return f.ErrorAt(at, runLine, "%d fields, want 6", len(fields))
		}
		score, err := strconv.ParseFloat(fields[4], 32)
		if err != nil || math.IsNaN(score) {
			return f.ErrorAt(at, runLine, "%s is no score", textfile.Shown(fields[4]))
		}
		key := [2]string{fields[0], fields[2]}
		if seen[key] {
			return f.ErrorAt(at, "keep one of the two", "query %s ranks %s twice", textfile.Shown(fields[0]), textfile.Shown(fields[2]))
		}
		seen[key] = true
		i, known := queries[fields[0]]
		if !known {
			others++
			return nil
		}
		ours++
		id := fields[2]
		if own, ok := tools[id]; ok {
			id = own
		}
		r.Hits[i] = append(r.Hits[i], Hit{Tool: id, Score: score})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if ours == 0 {
		return nil, fmt.Errorf("%s: none of its queries is one of the set %s\nhint: %s", f.Name, s.Name, runLine)
	}
	if others > 0 {
		r.note = fmt.Sprintf("lines of %s for queries that are not those of the set: %d", f.Name, others)
	}
	for _, hits := range r.Hits {
		slices.SortFunc(hits, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(trecID(b.Tool), trecID(a.Tool)))
		})
	}
	return r, nil
}
