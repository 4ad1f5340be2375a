package metrics

import (
	"math"
	"slices"
)

// Ranking is a ranked list laid beside its judgements: all that the retrieval measures need to know. Its methods follow
// trec_eval's definitions, with relevant meaning a grade of 1 or more:
//
//   - A list shorter than k counts as filled up with tools that are not relevant: precision still divides by k.
//   - A tool that is ranked twice counts at its first rank; its second rank is one more miss. (trec_eval refuses such a
//     list.)
//   - Without a relevant tool every measure is 0, as in trec_eval -c; see [Ranking.Relevant] to leave such a query out.
//   - At k under 1 every measure is 0.
type Ranking struct {
	grades []int // by rank; 0 for what is not judged
	ideal  []int // the positive grades of all that is judged, ranked or not, best first
}

// Grade lays ranked tools, best first, beside the grades of the judged ones. A tool may be given by name or by index. What
// is not judged has grade 0, and a grade below 0 counts as 0.
func Grade[T comparable](ranked []T, judgements map[T]int) Ranking {
	r := Ranking{grades: make([]int, len(ranked))}
	for _, grade := range judgements {
		if grade > 0 {
			r.ideal = append(r.ideal, grade)
		}
	}
	slices.SortFunc(r.ideal, func(a, b int) int { return b - a })
	seen := make(map[T]bool, len(judgements))
	for i, tool := range ranked {
		if grade := judgements[tool]; grade > 0 && !seen[tool] {
			seen[tool] = true
			r.grades[i] = grade
		}
	}
	return r
}

// Relevant is the number of relevant tools, ranked or not. A query with none of them is not judged.
func (r Ranking) Relevant() int { return len(r.ideal) }

// found counts the relevant tools among the first k.
func (r Ranking) found(k int) int {
	n := 0
	for _, grade := range r.grades[:within(r.grades, k)] {
		if grade > 0 {
			n++
		}
	}
	return n
}

// within is k cut to what the list has.
func within(grades []int, k int) int { return max(0, min(k, len(grades))) }

// RecallAt is the share of the relevant tools that are among the first k, 0 to 1 (trec_eval: recall_k).
func (r Ranking) RecallAt(k int) float64 {
	if r.Relevant() == 0 {
		return 0
	}
	return float64(r.found(k)) / float64(r.Relevant())
}

// PrecisionAt is the share of the first k places that hold a relevant tool, 0 to 1 (trec_eval: P_k).
func (r Ranking) PrecisionAt(k int) float64 {
	if k < 1 {
		return 0
	}
	return float64(r.found(k)) / float64(k)
}

// SuccessAt is 1 if a relevant tool is among the first k, else 0 (trec_eval: success_k).
func (r Ranking) SuccessAt(k int) float64 {
	if r.found(k) > 0 {
		return 1
	}
	return 0
}

// CompletenessAt is 1 if all relevant tools are among the first k, and there are any, else 0. trec_eval has no such
// measure: an intent that needs two tools is not served by one of them.
func (r Ranking) CompletenessAt(k int) float64 {
	if found := r.found(k); found > 0 && found == r.Relevant() {
		return 1
	}
	return 0
}

// ReciprocalRank is 1 over the rank of the first relevant tool, 0 if none is ranked (trec_eval: recip_rank).
func (r Ranking) ReciprocalRank() float64 {
	for i, grade := range r.grades {
		if grade > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// AveragePrecision is the precision at the rank of each relevant tool, averaged over all relevant tools; one that is not
// ranked counts 0 (trec_eval: map). Range 0 to 1.
func (r Ranking) AveragePrecision() float64 {
	if r.Relevant() == 0 {
		return 0
	}
	sum, found := 0.0, 0
	for i, grade := range r.grades {
		if grade > 0 {
			found++
			sum += float64(found) / float64(i+1)
		}
	}
	return sum / float64(r.Relevant())
}

// NDCGAt is the gain of the first k over the gain of the best possible order of everything judged, cut at the same k, 0 to
// 1. A tool's gain is its grade over log2(rank+1): linear in the grade (trec_eval: ndcg_cut_k; Järvelin and Kekäläinen
// 2002).
func (r Ranking) NDCGAt(k int) float64 {
	ideal := gain(r.ideal, k)
	if ideal == 0 {
		return 0
	}
	return gain(r.grades, k) / ideal
}

// gain is the discounted cumulative gain of the first k grades.
func gain(grades []int, k int) float64 {
	sum := 0.0
	for i, grade := range grades[:within(grades, k)] {
		if grade > 0 {
			sum += float64(grade) / log2(i+2)
		}
	}
	return sum
}

// log2 is the binary logarithm of n >= 1, exact for powers of two, from operations that every CPU rounds alike: math.Log2
// differs in its last bit from one architecture to another, and so would the files that nDCG is written to.
//
// It reduces n to 2^k*m with m near 1 and sums ln m = 2(s + s³/3 + s⁵/5 + …), s = (m-1)/(m+1).
func log2(n int) float64 {
	m, k := math.Frexp(float64(n))
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	s := (m - 1) / (m + 1)
	// Past |s|^23 the terms are below 2^-60 of the first, because |s| < 0.172.
	square := float64(s * s)
	tail := 0.0
	for odd := 23; odd >= 3; odd -= 2 {
		tail = float64((tail + 1/float64(odd)) * square)
	}
	ln := 2 * (s + float64(s*tail))
	return float64(k) + float64(ln*math.Log2E)
}

// Cutoffs are the k at which hits are judged; the session's search_default_limit is one more.
func Cutoffs() [4]int { return [4]int{1, 3, 5, 10} }

// Cut holds the measures that look at the first K hits, each 0 to 1.
type Cut struct {
	K            int
	Recall       float64
	Precision    float64
	Success      float64
	Completeness float64
	NDCG         float64
}

// Retrieval holds the measures of one query, each 0 to 1.
type Retrieval struct {
	Relevant         int // gold tools
	ReciprocalRank   float64
	AveragePrecision float64
	At               [4]Cut // at each of Cutoffs
	AtLimit          Cut    // at the search's own limit
}

// Evaluate judges the hits of a search, in their order, against its gold tools, each of them of grade 1. Its second result
// is false, and its first holds zeros, if the search has no gold: such a query is not judged.
//
// Hits must reach down to the largest of [Cutoffs], even where the agent was shown fewer: what a list does not hold counts
// as not found.
func Evaluate(s Search) (Retrieval, bool) {
	judgements := make(map[string]int, len(s.Gold))
	for _, tool := range s.Gold {
		judgements[tool] = 1
	}
	ranked := make([]string, len(s.Hits))
	for i, hit := range s.Hits {
		ranked[i] = hit.Tool
	}
	ranking := Grade(ranked, judgements)
	r := Retrieval{
		Relevant:         ranking.Relevant(),
		ReciprocalRank:   ranking.ReciprocalRank(),
		AveragePrecision: ranking.AveragePrecision(),
		AtLimit:          ranking.cut(s.Limit),
	}
	for i, k := range Cutoffs() {
		r.At[i] = ranking.cut(k)
	}
	return r, r.Relevant > 0
}

func (r Ranking) cut(k int) Cut {
	return Cut{
		K:            k,
		Recall:       r.RecallAt(k),
		Precision:    r.PrecisionAt(k),
		Success:      r.SuccessAt(k),
		Completeness: r.CompletenessAt(k),
		NDCG:         r.NDCGAt(k),
	}
}

// Limits of exported scores: the least magnitude that keeps full precision, and a floor with room for further ranks below.
const (
	scoreLeast = 0x1p-126
	scoreFloor = -0x1p100
)

// DecreasingScores returns scores, given best first, so changed that each is strictly below the one before; a score that
// already is stays as it is, rounded. A program that sorts by score, as trec_eval does, then keeps the order of ranks, ties
// included. The results are single precision, because trec_eval reads them so, and never subnormal, infinite or NaN; NaN
// counts as the largest score that its rank allows.
func DecreasingScores(scores []float64) []float32 {
	decreasing := make([]float32, len(scores))
	ceiling := float32(math.MaxFloat32)
	for i, score := range scores {
		decreasing[i] = ceiling
		if score < float64(ceiling) {
			decreasing[i] = min(ceiling, normal(float32(max(score, scoreFloor)), 0))
		}
		ceiling = normal(math.Nextafter32(decreasing[i], float32(math.Inf(-1))), -scoreLeast)
	}
	return decreasing
}

// normal returns x, or where it is subnormal a neighbour that is not: 0 above zero, negative below it.
func normal(x, negative float32) float32 {
	switch {
	case x > 0 && x < scoreLeast:
		return 0
	case x < 0 && x > -scoreLeast:
		return negative
	default:
		return x
	}
}
