package eval

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// made makes a tool of words.
func made(name, description string) Tool {
	return Tool{ID: name, Name: name, Doc: search.Doc{Name: name, Description: description}}
}

// kitchen has two queries with gold and one without.
func kitchen() *Set {
	s := &Set{Name: "kitchen/1", Format: corpus.FormatIronclaw, Tools: []Tool{made("boil", "Heat water"), made("fry", "Heat oil"), made("wash", "Clean a pan")}}
	s.Queries = []Query{
		{ID: "q1", Text: "heat", Class: "obvious", Grades: map[string]int{"fry": 1}},
		{ID: "q2", Text: "clean water", Class: "multi", Grades: map[string]int{"boil": 1, "wash": 2}},
		{ID: "q3", Text: "fly", Class: "absent", Grades: map[string]int{}},
	}
	return s
}

// TestEvaluate sums up rankings that are known: bm25 puts boil before fry for q1, since both hold "heat" and are as long;
// substring finds nothing for q2, since no tool holds "clean water".
func TestEvaluate(t *testing.T) {
	report, err := Evaluate(t.Context(), []*Set{kitchen()}, Options{Retrievers: []string{"bm25", "substring"}, Cutoffs: []int{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	r := report.Sets[0]
	if r.PoolTools != 3 || r.Queries != 2 || r.AbsentQueries != 1 {
		t.Errorf("%d tools, %d queries, %d absent", r.PoolTools, r.Queries, r.AbsentQueries)
	}
	want := map[string]map[string]float64{
		"bm25":      {"recall@1": .25, "recall@2": 1, "precision@1": .5, "success@1": .5, "completeness@1": 0, "completeness@2": 1, "mrr": .75, "map": .75, noMatchAccuracy: 1},
		"substring": {"recall@1": 0, "recall@2": .5, "precision@1": 0, "success@1": 0, "completeness@1": 0, "completeness@2": .5, "mrr": .25, "map": .25, noMatchAccuracy: 1},
	}
	for _, s := range r.Retrievers {
		found := 0
		for _, f := range s.Figures {
			value, ok := want[s.Retriever][f.Measure]
			if !ok {
				continue
			}
			found++
			n := 2
			if f.Measure == noMatchAccuracy {
				n = 1
			}
			if f.Value != value || f.N != n || f.Interval.Low > value || f.Interval.High < value {
				t.Errorf("%s: %+v, want %v of %d", s.Retriever, f, value, n)
			}
		}
		if found != len(want[s.Retriever]) {
			t.Errorf("%s: %d of %d figures", s.Retriever, found, len(want[s.Retriever]))
		}
	}
	// recall@1, recall@2, ndcg@2, mrr, map of substring less bm25. Of recall@2 q1 has no difference and q2 one of -1:
	// either sign is as far from 0.
	if len(r.Comparisons) != 5 {
		t.Fatalf("%d comparisons", len(r.Comparisons))
	}
	wanted := Comparison{Measure: "recall@2", Retriever: "substring", Against: "bm25", Difference: -.5, Interval: metrics.Interval{Low: -1, High: 0}, N: 2, P: 1, PHolm: 1}
	if diff := cmp.Diff(wanted, r.Comparisons[1]); diff != "" {
		t.Errorf("comparison (-want +got):\n%s", diff)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	run := filepath.Join(folder(t, map[string]string{"bm25.run": "q1 Q0 a 1 1 t\n"}), "bm25.run")
	bare := func() *Set {
		return &Set{Name: "bare", Format: FormatQrels, Queries: []Query{{ID: "q1", Grades: map[string]int{"a": 1}}}}
	}
	for _, c := range []struct {
		name string
		sets []*Set
		o    Options
		want string
	}{
		{"a name twice", []*Set{kitchen(), kitchen()}, Options{Retrievers: []string{"bm25"}, Cutoffs: []int{1}}, `two sets have the name "kitchen/1"`},
		{"nothing to rank", []*Set{bare()}, Options{Retrievers: []string{"bm25"}, Cutoffs: []int{1}}, "bare: judgements without tools, which no retriever can rank"},
		{"a run by a retriever's name", []*Set{kitchen()}, Options{Retrievers: []string{"bm25"}, Runs: []string{run}, Cutoffs: []int{1}}, `two rankings have the name "bm25"`},
		{"no such run", []*Set{bare()}, Options{Runs: []string{"gone.run"}, Cutoffs: []int{1}}, "gone.run: no such file or directory"},
	} {
		_, err := Evaluate(t.Context(), c.sets, c.o)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Evaluate(cancelled, []*Set{kitchen()}, Options{Retrievers: []string{"bm25"}, Cutoffs: []int{1}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	report, err := Evaluate(t.Context(), []*Set{bare()}, Options{Runs: []string{run}, Cutoffs: []int{1}})
	if err != nil || report.Sets[0].Retrievers[0].Figures[0].Value != 1 {
		t.Errorf("a run of bare qrels: %+v, %v", report, err)
	}
}

// amongOthers are kitchen's options with distractors, one of which equals a gold but for letter case and white space.
func amongOthers() Options {
	o := Options{Retrievers: []string{"bm25", "vector"}, Cutoffs: []int{1, 2}, PoolSizes: []int{2, 4, 50}}
	for i, text := range []string{"Heat  OIL", "Heat a house", "Clean a street", "Carry water"} {
		t := made([]string{"Fry", "stove", "sweep", "bucket"}[i], text)
		t.ID = "distractor/" + t.ID
		o.Distractors = append(o.Distractors, t)
	}
	return o
}

func TestDistractors(t *testing.T) {
	report, err := Evaluate(t.Context(), []*Set{kitchen()}, amongOthers())
	if err != nil {
		t.Fatal(err)
	}
	r := report.Sets[0]
	var pools []Pool
	for _, p := range r.Pools {
		if p.Retriever == "bm25" {
			pools = append(pools, p)
		}
	}
	sizes := [][2]int{{3, 0}, {4, 1}, {6, 3}}
	if len(pools) != len(sizes) {
		t.Fatalf("%d pools", len(pools))
	}
	for i, p := range pools {
		if [2]int{p.Tools, p.Distractors} != sizes[i] {
			t.Errorf("pool %d: %d tools, %d distractors, want %v", i, p.Tools, p.Distractors, sizes[i])
		}
		if i > 0 && p.Recall[0].Value > pools[i-1].Recall[0].Value {
			t.Errorf("recall@1 rises from %v to %v with %d distractors more", pools[i-1].Recall[0].Value, p.Recall[0].Value, p.Distractors-pools[i-1].Distractors)
		}
	}
	if pools[0].Recall[1].Value != 1 {
		t.Errorf("alone: recall@2 %v", pools[0].Recall[1].Value)
	}
	if len(r.Notes) != 3 {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestWrite writes a report twice: the same bytes, which are read again, and a folder that is in the way is left alone.
func TestWrite(t *testing.T) {
	write := func(dir string) map[string][]byte {
		report, err := Evaluate(t.Context(), []*Set{kitchen()}, amongOthers())
		if err != nil {
			t.Fatal(err)
		}
		names, err := report.Write(dir)
		if err != nil {
			t.Fatal(err)
		}
		files := make(map[string][]byte)
		for _, name := range names {
			if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		return files
	}
	dir := filepath.Join(t.TempDir(), "new", "figures")
	first := write(dir)
	var names []string
	for name := range first {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{"eval.json", "kitchen_1.bm25.run", "kitchen_1.qrels", "kitchen_1.recall_at_1.svg", "kitchen_1.recall_at_2.svg", "kitchen_1.vector.run", "queries.parquet"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for name, content := range write(dir) {
		if !bytes.Equal(content, first[name]) {
			t.Errorf("%s has other bytes the second time", name)
		}
	}
	if svg := string(first["kitchen_1.recall_at_1.svg"]); !strings.Contains(svg, "<svg") || !strings.Contains(svg, ">vector<") {
		t.Errorf("no plot of both retrievers: %s", svg)
	}
	if got, want := string(first["kitchen_1.qrels"]), "q1 0 fry 1\nq2 0 boil 1\nq2 0 wash 2\nq3 0 boil 0\n"; got != want {
		t.Errorf("qrels\n%swant\n%s", got, want)
	}
	rows, err := parquet.Read[queryRow](bytes.NewReader(first["queries.parquet"]), int64(len(first["queries.parquet"])))
	if err != nil || len(rows) != 6 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if r := rows[0]; r.QueryID != "q1" || r.HitCount != 2 || r.Hits[0].Tool != "boil" || *r.RR != .5 || r.Cuts[1] != (cutCell{2, 1, .5, 1, 1, r.Cuts[1].NDCG}) {
		t.Errorf("first row %+v", r)
	}
	if r := rows[2]; r.RR != nil || r.AP != nil || len(r.Cuts) != 0 {
		t.Errorf("row of the absent query %+v", r)
	}
}

func TestWriteRefuses(t *testing.T) {
	report, err := Evaluate(t.Context(), []*Set{kitchen()}, Options{Retrievers: []string{"bm25"}, Cutoffs: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t, map[string]string{"kitchen_1.qrels/in/the/way": "", "file": ""})
	if _, err := report.Write(dir); err == nil || !strings.Contains(err.Error(), "kitchen_1.qrels: it is a folder") {
		t.Errorf("a folder in the way: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("files are left: %v", entries)
	}
	if _, err := report.Write(filepath.Join(dir, "file", "x")); err == nil || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("a file in the way: %v", err)
	}
}
