package metrics_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"pgregory.net/rapid"
)

// inTrecOrder sorts a scored run as trec_eval does: by score, ties by name, both descending.
func inTrecOrder(scores map[string]float64) []string {
	var ranked []string
	for tool := range scores {
		ranked = append(ranked, tool)
	}
	slices.SortFunc(ranked, func(a, b string) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a))
	})
	return ranked
}

// near is equality to the four decimals that trec_eval prints.
func near(got, want float64) bool { return math.Abs(got-want) < 0.00005 }

// TestControlVector checks five queries whose values trec_eval -c printed.
func TestControlVector(t *testing.T) {
	type grades = map[string]int
	type scores = map[string]float64
	queries := []struct {
		qrels        grades
		run          scores
		recall, ndcg [3]float64 // at 1, 2, 3
		success1     float64
		p5, rr, ap   float64
	}{
		{grades{"a": 1, "c": 1, "x": 1}, scores{"a": 1, "b": 1, "c": 1, "d": .5},
			[3]float64{.3333, .3333, .6667}, [3]float64{1, .6131, .7039}, 1, .4, 1, .5556},
		{grades{"a": 2, "b": 1, "c": 0}, scores{"b": 9, "u": 8, "a": 7, "c": 6},
			[3]float64{.5, .5, 1}, [3]float64{.5, .3801, .7602}, 1, .4, 1, .8333},
		{grades{"a": 1}, scores{"b": 2, "c": 1}, [3]float64{}, [3]float64{}, 0, 0, 0, 0},
		{grades{"z": 0}, scores{"z": 1}, [3]float64{}, [3]float64{}, 0, 0, 0, 0},
		{grades{"a": 1}, scores{}, [3]float64{}, [3]float64{}, 0, 0, 0, 0},
	}
	if got := inTrecOrder(queries[0].run); !slices.Equal(got, []string{"c", "b", "a", "d"}) {
		t.Fatalf("order of q1 is %v", got)
	}
	sums := map[string]float64{}
	for i, q := range queries {
		r := metrics.Grade(inTrecOrder(q.run), q.qrels)
		check := func(name string, got, want float64) {
			t.Helper()
			if !near(got, want) {
				t.Errorf("q%d %s = %.4f, want %.4f", i+1, name, got, want)
			}
			sums[name] += got
		}
		for k := 1; k <= 3; k++ {
			check(fmt.Sprintf("recall@%d", k), r.RecallAt(k), q.recall[k-1])
			check(fmt.Sprintf("ndcg@%d", k), r.NDCGAt(k), q.ndcg[k-1])
		}
		check("success@1", r.SuccessAt(1), q.success1)
		check("P@5", r.PrecisionAt(5), q.p5)
		check("RR", r.ReciprocalRank(), q.rr)
		check("map", r.AveragePrecision(), q.ap)
	}
	for name, want := range map[string]float64{
		"recall@1": .1667, "recall@2": .1667, "recall@3": .3333, "ndcg@1": .3, "ndcg@2": .1986, "ndcg@3": .2928,
		"success@1": .4, "RR": .4, "map": .2778,
	} {
		if got := sums[name] / float64(len(queries)); !near(got, want) {
			t.Errorf("all five: %s = %.4f, want %.4f", name, got, want)
		}
	}
}

func TestRankingEdges(t *testing.T) {
	gold := map[string]int{"a": 1, "b": 1}
	for _, c := range []struct {
		name       string
		ranked     []string
		judgements map[string]int
		k          int
		recall, precision, success, completeness, ndcg,
		rr, ap float64
		relevant int
	}{
		{name: "no judgements", ranked: []string{"a"}, k: 1},
		{name: "only grade 0", ranked: []string{"a"}, judgements: map[string]int{"a": 0}, k: 1},
		{name: "a negative grade is 0", ranked: []string{"c", "a"}, judgements: map[string]int{"a": 1, "c": -3}, k: 2,
			recall: 1, precision: .5, success: 1, completeness: 1, ndcg: 1 / math.Log2(3), rr: .5, ap: .5, relevant: 1},
		{name: "no hits", judgements: gold, k: 3, relevant: 2},
		{name: "k past the end", ranked: []string{"a"}, judgements: gold, k: 10,
			recall: .5, precision: .1, success: 1, ndcg: 1 / (1 + 1/math.Log2(3)), rr: 1, ap: .5, relevant: 2},
		{name: "k of 0", ranked: []string{"a", "b"}, judgements: gold, k: 0, rr: 1, ap: 1, relevant: 2},
		{name: "k below 0", ranked: []string{"a", "b"}, judgements: gold, k: -1, rr: 1, ap: 1, relevant: 2},
		{name: "all within k", ranked: []string{"x", "b", "a"}, judgements: gold, k: 3,
			recall: 1, precision: 2. / 3, success: 1, completeness: 1,
			ndcg: (1/math.Log2(3) + .5) / (1 + 1/math.Log2(3)), rr: .5, ap: (1./2 + 2./3) / 2, relevant: 2},
		{name: "ranked twice counts once, and its second rank is a miss", ranked: []string{"a", "a", "b"}, judgements: gold, k: 2,
			recall: .5, precision: .5, success: 1, ndcg: 1 / (1 + 1/math.Log2(3)), rr: 1, ap: (1 + 2./3) / 2, relevant: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := metrics.Grade(c.ranked, c.judgements)
			for _, m := range []struct {
				name      string
				got, want float64
			}{
				{"relevant", float64(r.Relevant()), float64(c.relevant)},
				{"recall", r.RecallAt(c.k), c.recall},
				{"precision", r.PrecisionAt(c.k), c.precision},
				{"success", r.SuccessAt(c.k), c.success},
				{"completeness", r.CompletenessAt(c.k), c.completeness},
				{"ndcg", r.NDCGAt(c.k), c.ndcg},
				{"reciprocal rank", r.ReciprocalRank(), c.rr},
				{"average precision", r.AveragePrecision(), c.ap},
			} {
				if math.Abs(m.got-m.want) > 1e-14 {
					t.Errorf("%s = %v, want %v", m.name, m.got, m.want)
				}
			}
		})
	}
}

// drawRanking draws a list, with repetitions, and grades for tools in it and outside.
func drawRanking(t *rapid.T) ([]int, map[int]int) {
	tool := rapid.IntRange(0, 19)
	return rapid.SliceOfN(tool, 0, 25).Draw(t, "ranked"), rapid.MapOfN(tool, rapid.IntRange(-1, 3), 0, 8).Draw(t, "judgements")
}

func TestRankingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranked, judgements := drawRanking(t)
		r := metrics.Grade(ranked, judgements)
		for k := 1; k <= 30; k++ {
			for name, x := range map[string]float64{
				"recall": r.RecallAt(k), "precision": r.PrecisionAt(k), "ndcg": r.NDCGAt(k), "rr": r.ReciprocalRank(),
				"ap": r.AveragePrecision(),
			} {
				if !(x >= 0 && x <= 1+1e-15) {
					t.Fatalf("%s at %d = %v", name, k, x)
				}
			}
			if r.RecallAt(k) < r.RecallAt(k-1) {
				t.Fatalf("recall falls from %d to %d", k-1, k)
			}
			if r.CompletenessAt(k) > r.SuccessAt(k) {
				t.Fatalf("complete at %d without success", k)
			}
			if (r.CompletenessAt(k) == 1) != (r.RecallAt(k) == 1) || (r.SuccessAt(k) == 1) != (r.RecallAt(k) > 0) {
				t.Fatalf("at %d: completeness %v, success %v, recall %v", k, r.CompletenessAt(k), r.SuccessAt(k), r.RecallAt(k))
			}
			if within := r.ReciprocalRank() >= 1/float64(k); within != (r.SuccessAt(k) == 1) {
				t.Fatalf("at %d: success %v, reciprocal rank %v", k, r.SuccessAt(k), r.ReciprocalRank())
			}
		}
	})
}

// TestBestOrderIsPerfect: all judged tools, best grade first, and then anything else.
func TestBestOrderIsPerfect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, judgements := drawRanking(t)
		var best []int
		for tool, grade := range judgements {
			if grade > 0 {
				best = append(best, tool)
			}
		}
		slices.SortFunc(best, func(a, b int) int { return judgements[b] - judgements[a] })
		r := metrics.Grade(append(best, 100, 101), judgements)
		if len(best) == 0 {
			return
		}
		if r.AveragePrecision() != 1 || r.CompletenessAt(len(best)) != 1 {
			t.Fatalf("average precision %v, completeness %v", r.AveragePrecision(), r.CompletenessAt(len(best)))
		}
		for k := 1; k < 12; k++ {
			if r.NDCGAt(k) != 1 {
				t.Fatalf("ndcg@%d = %v", k, r.NDCGAt(k))
			}
		}
	})
}

func TestEvaluate(t *testing.T) {
	s := metrics.Search{Limit: 2, Gold: []string{"b", "d", "b"}, Hits: []metrics.Hit{{Tool: "a"}, {Tool: "b"}, {Tool: "c"}, {Tool: "d"}}}
	r, ok := metrics.Evaluate(s)
	if !ok || r.Relevant != 2 || r.ReciprocalRank != .5 || r.AveragePrecision != .5 {
		t.Errorf("got %+v, %v", r, ok)
	}
	if at3 := r.At[1]; at3.K != 3 || at3.Recall != .5 || at3.Precision != 1./3 || at3.Success != 1 || at3.Completeness != 0 {
		t.Errorf("at 3: %+v", at3)
	}
	if r.At[2].Completeness != 1 || r.AtLimit.K != 2 || r.AtLimit.Precision != .5 {
		t.Errorf("at 5: %+v, at limit: %+v", r.At[2], r.AtLimit)
	}
	s.Gold = nil
	if r, ok := metrics.Evaluate(s); ok || r.ReciprocalRank != 0 {
		t.Errorf("without gold: %+v, %v", r, ok)
	}
}

func TestDecreasingScores(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name string
		in   []float64
		want []string // shortest text of each
	}{
		{"none", nil, nil},
		{"already decreasing", []float64{3, 2.5, -1}, []string{"3", "2.5", "-1"}},
		{"a tie", []float64{1, 1, 1, .5}, []string{"1", "0.99999994", "0.9999999", "0.5"}},
		{"equal in single precision", []float64{1, 1 - 1e-12}, []string{"1", "0.99999994"}},
		{"rising", []float64{1, 5}, []string{"1", "0.99999994"}},
		{"ties at zero", []float64{0, 0, 0}, []string{"0", "-1.1754944e-38", "-1.1754945e-38"}},
		{"subnormal", []float64{1e-40, -1e-40, 1e-40}, []string{"0", "-1.1754944e-38", "-1.1754945e-38"}},
		{"past single precision", []float64{inf, 1e300, -inf, -inf}, []string{"3.4028235e+38", "3.4028233e+38", "-1.2676506e+30", "-1.2676508e+30"}},
		{"not a number", []float64{2, math.NaN(), 1}, []string{"2", "1.9999999", "1"}},
	} {
		var got []string
		for _, score := range metrics.DecreasingScores(c.in) {
			got = append(got, strconv.FormatFloat(float64(score), 'g', -1, 32))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestDecreasingScoresKeepOrder: whatever the scores, printing and reading them in either precision leaves them strictly
// decreasing.
func TestDecreasingScoresKeepOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := metrics.DecreasingScores(rapid.SliceOf(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, 1e-38, math.Inf(-1)}))).Draw(t, "scores"))
		for _, bits := range []int{32, 64} {
			before := math.Inf(1)
			for _, score := range scores {
				read, err := strconv.ParseFloat(strconv.FormatFloat(float64(score), 'g', -1, 32), bits)
				if err != nil || !(read < before) || math.IsInf(read, 0) {
					t.Fatalf("%v read with %d bits is %v after %v: %v", score, bits, read, before, err)
				}
				before = read
			}
		}
	})
}

func ExampleGrade() {
	ranked := []string{"search_code", "create_issue", "list_issues", "close_issue"}
	r := metrics.Grade(ranked, map[string]int{"create_issue": 1, "close_issue": 1})
	fmt.Printf("recall@3 %.2f\n", r.RecallAt(3))
	fmt.Printf("completeness@3 %.0f\n", r.CompletenessAt(3))
	fmt.Printf("ndcg@10 %.4f\n", r.NDCGAt(10))
	fmt.Printf("reciprocal rank %.2f\n", r.ReciprocalRank())
	// Output:
	// recall@3 0.50
	// completeness@3 0
	// ndcg@10 0.6509
	// reciprocal rank 0.50
}
