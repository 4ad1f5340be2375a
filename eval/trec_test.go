package eval

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/textfile"
)

// textOf is a text as a file.
func textOf(content string) *textfile.File {
	return &textfile.File{Name: "file", Data: []byte(content)}
}

// qrelsSet makes a set of bare judgements.
func qrelsSet(t rapid.TB, content string) *Set {
	t.Helper()
	queries, err := parseQrels(textOf(content))
	if err != nil {
		t.Fatal(err)
	}
	return &Set{Name: "set", Format: FormatQrels, Queries: queries}
}

// TestControlVector reads qrels and a run, and compares with what trec_eval -c printed of them: q1 has ties, whose order
// is by name backwards, q4 has nothing relevant and q5 no hit.
func TestControlVector(t *testing.T) {
	s := qrelsSet(t, `q1 0 a 1
q1 0 c 1
q1 0 x 1
q2 0 a 2
q2 0 b 1
q2 0 c 0
q3 0 a 1
q4 0 z 0
q5 0 a 1
`)
	r, err := s.parseRun(textOf(`q1 Q0 a 1 1.0 t
q1 Q0 b 2 1.0 t
q1 Q0 c 3 1.0 t
q1 Q0 d 4 .5 t
q2 Q0 b 1 9 t
q2 Q0 u 2 8 t
q2 Q0 a 3 7 t
q2 Q0 c 4 6 t
q3 Q0 b 1 2 t
q3 Q0 c 2 1 t
q4 Q0 z 1 1 t
`))
	if err != nil {
		t.Fatal(err)
	}
	list := s.judge(r, []int{1, 2, 3, 5})
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.00005 {
			t.Errorf("%s: %.4f, trec_eval %.4f", what, got, want)
		}
	}
	wants := []struct {
		recall, ndcg [3]float64
		ap, rr       float64
	}{
		{[3]float64{.3333, .3333, .6667}, [3]float64{1, .6131, .7039}, .5556, 1},
		{[3]float64{.5, .5, 1}, [3]float64{.5, .3801, .7602}, .8333, 1},
		{}, {}, {},
	}
	var recall, ndcg [3]float64
	var ap, rr, success float64
	for i, want := range wants {
		for k := range 3 {
			near(fmt.Sprintf("q%d recall@%d", i+1, k+1), list[i].cuts[k].recall, want.recall[k])
			near(fmt.Sprintf("q%d ndcg@%d", i+1, k+1), list[i].cuts[k].ndcg, want.ndcg[k])
			recall[k] += list[i].cuts[k].recall / 5
			ndcg[k] += list[i].cuts[k].ndcg / 5
		}
		near(fmt.Sprintf("q%d map", i+1), list[i].ap, want.ap)
		near(fmt.Sprintf("q%d recip_rank", i+1), list[i].rr, want.rr)
		ap, rr, success = ap+list[i].ap/5, rr+list[i].rr/5, success+list[i].cuts[0].success/5
	}
	near("q1 P_5", list[0].cuts[3].precision, .4)
	for k, want := range []float64{.1667, .1667, .3333} {
		near(fmt.Sprintf("all recall@%d", k+1), recall[k], want)
	}
	for k, want := range []float64{.3000, .1986, .2928} {
		near(fmt.Sprintf("all ndcg@%d", k+1), ndcg[k], want)
	}
	near("all map", ap, .2778)
	near("all recip_rank", rr, .4)
	near("all success@1", success, .4)
}

// TestRunOrder holds to trec_eval's order: by score in single precision, ties by ID backwards, whatever the ranks say.
func TestRunOrder(t *testing.T) {
	s := qrelsSet(t, "q1 0 a 1\n")
	r, err := s.parseRun(textOf("q1 Q0 a 1 1.00000001 t\nq1 Q0 b 2 1 t\nq1 Q0 c 3 7 t\nq1 Q0 d 4 -2 t\nq9 Q0 a 1 1 t\n"))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, hit := range r.Hits[0] {
		order = append(order, hit.Tool)
	}
	if got := strings.Join(order, " "); got != "c b a d" || r.note == "" {
		t.Errorf("order %s, note %q", got, r.note)
	}
}

func TestTrecID(t *testing.T) {
	for id, want := range map[string]string{
		"fs:read": "fs:read", "Exa Search/web": "Exa%20Search/web", "Exa%20Search/web": "Exa%2520Search/web", "a\u2028é": "a%E2%80%A8é",
	} {
		if got := trecID(id); got != want {
			t.Errorf("%q becomes %q, want %q", id, got, want)
		}
	}
}

// TestExports holds what a reader of exported files measures to what was measured here, whatever IDs, ties and scores
// there are: it sorts by score, and has to find the order of the ranks.
func TestExports(t *testing.T) {
	id := rapid.StringOfN(rapid.RuneFrom([]rune("ab %\t é\u00a0\u2028/")), 1, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		s := &Set{Name: "set"}
		for _, tool := range rapid.SliceOfNDistinct(id, 1, 8, rapid.ID).Draw(t, "tools") {
			s.Tools = append(s.Tools, Tool{ID: tool})
		}
		r := &Ranking{Retriever: "r"}
		for _, q := range rapid.SliceOfNDistinct(id, 1, 4, rapid.ID).Draw(t, "queries") {
			grades := make(map[string]int)
			for i := range s.Tools {
				if rapid.Bool().Draw(t, "judged") {
					grades[s.Tools[i].ID] = rapid.IntRange(-1, 3).Draw(t, "grade")
				}
			}
			s.Queries = append(s.Queries, Query{ID: q, Grades: grades})
			var hits []Hit
			for _, at := range rapid.Permutation(indexes(len(s.Tools))).Draw(t, "order") {
				score := rapid.SampledFrom([]float64{0, 1, 1, 1e-300, math.MaxFloat64, 2.5}).Draw(t, "score")
				hits = append(hits, Hit{s.Tools[at].ID, score})
			}
			r.Hits = append(r.Hits, hits)
		}
		var qrels, run bytes.Buffer
		if err := s.writeQrels(&qrels); err != nil {
			t.Fatal(err)
		}
		if err := s.writeRun(&run, r); err != nil {
			t.Fatal(err)
		}
		read, err := s.parseRun(textOf(run.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, run.String())
		}
		bare := qrelsSet(t, qrels.String())
		if len(bare.Queries) != len(s.Queries) {
			t.Fatalf("%d of %d queries in\n%s", len(bare.Queries), len(s.Queries), qrels.String())
		}
		theirs, err := bare.parseRun(textOf(run.String()))
		if err != nil {
			t.Fatal(err)
		}
		cutoffs := []int{1, 3, 5}
		ours, again, outside := s.judge(r, cutoffs), s.judge(read, cutoffs), bare.judge(theirs, cutoffs)
		for i := range ours {
			if !slices.Equal(ours[i].values(), again[i].values()) || !slices.Equal(ours[i].values(), outside[i].values()) {
				t.Fatalf("query %q: %v, read again %v, by the files alone %v\n%s%s", s.Queries[i].ID, ours[i].values(), again[i].values(), outside[i].values(), qrels.String(), run.String())
			}
		}
	})
}

func indexes(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

func TestBadRuns(t *testing.T) {
	s := qrelsSet(t, "q1 0 a 1\n")
	for _, c := range []struct{ name, run, want string }{
		{"nothing", "", "file: none of its queries is one of the set set"},
		{"other queries", "q2 Q0 a 1 1 t\n", "file: none of its queries is one of the set set"},
		{"a field lacks", "q1 Q0 a 1 1 t\nq1 Q0 b 2 t\n", "file:2:1: 5 fields, want 6"},
		{"no score", "q1 Q0 a 1 best t\n", `file:1:1: "best" is no score`},
		{"NaN", "q1 Q0 a 1 nan t\n", `file:1:1: "nan" is no score`},
		{"a tool twice", "q1 Q0 a 1 2 t\n\nq1 Q0 a 2 1 t\n", `file:3:1: query "q1" ranks "a" twice`},
	} {
		_, err := s.parseRun(textOf(c.run))
		if err == nil || !strings.HasPrefix(err.Error(), c.want+"\nhint: ") {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
	for _, c := range []struct{ name, qrels, want string }{
		{"a field lacks", "q1 0 a 1\nq1 0 b\n", "file:2:1: 3 fields, want 4"},
		{"no grade", "q1 0 a 1\nq1 0 b yes\n", `file:2:1: "yes" is no grade`},
		{"a judgement twice", "q1 0 a 1\nq1 0 a 0\n", `file:2:1: query "q1" judges "a" twice`},
	} {
		_, err := parseQrels(textOf(c.qrels))
		if err == nil || !strings.HasPrefix(err.Error(), c.want+"\nhint: ") {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

// FuzzRun reads any run.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{"q1 Q0 a 1 1 t\n", "", "q1 Q0 a 1 1e39 t", "q1 Q0 a 1 -inf t\nq1 Q0 b 1 inf t", "q1 Q0 a 1 0x1p-2 t", "\x00 \x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := qrelsSet(t, "q1 0 a 1\nq1 0 b 2\n")
		r, err := s.parseRun(&textfile.File{Name: "file", Data: data})
		if err != nil {
			checkFault(t, err)
			return
		}
		for _, v := range s.judge(r, []int{1, 2})[0].values() {
			if !(v >= 0 && v <= 1) {
				t.Errorf("a measure of %v", v)
			}
		}
	})
}
