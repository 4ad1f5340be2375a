package metrics

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// resamples is how many resamples an interval, and how many sign flips a test, rests on.
	resamples = 10_000
	// exactItemsMax is the most differences of which every choice of signs is tried.
	exactItemsMax = 20
	// tail is what lies outside a 95 % interval on either side.
	tail = 0.025
	// The seeds of all draws. Any other pair would do; these are fixed so that the same items give the same figures.
	seedHigh, seedLow = 0x746F6F6C67617567, 0x626F6F7473747261
)

// Interval holds a mean with 95 % confidence, bounds included.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// MeanIntervals returns the 95 % interval of the mean of each column: items[i][c] is the value of item i in column c, and
// all items have the same columns. A column whose values are all equal has that value as its interval. No items give no
// intervals; a column with a value that is not finite has NaN for both bounds. Items that are differences of pairs give the
// intervals of the mean difference.
//
// It is the bootstrap's BCa interval (Efron, "Better bootstrap confidence intervals", JASA 1987) of 10,000 resamples:
//
//	z0 = Φ⁻¹(share of resampled means below the mean, half of those equal to it included)
//	a  = Σ(x-mean)³ / 6(Σ(x-mean)²)^1.5
//	bounds: the resampled means whose ranks are nearest to the shares Φ(z0 + (z0+z)/(1-a(z0+z))), z = ±Φ⁻¹(0.975)
//
// The draws are those of one fixed seed, and the same for all columns.
func MeanIntervals(items [][]float64) []Interval {
	if len(items) == 0 {
		return nil
	}
	intervals := make([]Interval, len(items[0]))
	var varied []int // columns whose values differ
	for c := range intervals {
		first := items[0][c]
		intervals[c] = Interval{first, first}
		if slices.ContainsFunc(items, func(item []float64) bool { return !finite(item[c]) }) {
			intervals[c] = Interval{math.NaN(), math.NaN()}
			continue
		}
		if slices.ContainsFunc(items, func(item []float64) bool { return item[c] != first }) {
			varied = append(varied, c)
		}
	}
	sums := resample(items, varied)
	for i, c := range varied {
		values := make([]float64, len(items))
		for j, item := range items {
			values[j] = item[c]
		}
		intervals[c] = bca(values, sums[i])
	}
	return intervals
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// resample sums up each of some columns over items that are drawn, as many as there are, with replacement: sums[i][r] is
// that of column columns[i] in resample r.
func resample(items [][]float64, columns []int) (sums [][]float64) {
	rows := make([]float64, 0, len(items)*len(columns))
	for _, item := range items {
		for _, c := range columns {
			rows = append(rows, item[c])
		}
	}
	sums = make([][]float64, len(columns))
	for i := range sums {
		sums[i] = make([]float64, resamples)
	}
	draws := rand.NewPCG(seedHigh, seedLow)
	sum := make([]float64, len(columns))
	for r := range resamples {
		clear(sum)
		for range items {
			// The high word of a product is a draw below the factor, with a bias below 2^-40 for 16 million items.
			drawn, _ := bits.Mul64(draws.Uint64(), uint64(len(items)))
			row := rows[int(drawn)*len(columns):][:len(sum)]
			for i := range sum {
				sum[i] += row[i]
			}
		}
		for i := range sum {
			sums[i][r] = sum[i]
		}
	}
	return sums
}

// bca is the interval of the mean of values that are not all equal, by their resampled sums, which it sorts.
func bca(values, sums []float64) Interval {
	sum, near := total(values)
	n := float64(len(values))
	below := 0.0
	for _, s := range sums {
		switch {
		case math.Abs(s-sum) <= near:
			below += 0.5
		case s < sum:
			below++
		}
	}
	// A share of 0 or 1 would have no quantile.
	below = min(max(below, 0.5), resamples-0.5)
	z0 := distuv.UnitNormal.Quantile(below / resamples)
	a := acceleration(values, sum/n)
	slices.Sort(sums)
	bound := func(share float64) float64 {
		z := z0 + distuv.UnitNormal.Quantile(share)
		if d := 1 - float64(a*z); d > 0 {
			share = distuv.UnitNormal.CDF(z0 + z/d)
		}
		// The nearest rank, and nothing in between: its choice hides the last bits of Φ, which differ between CPUs.
		return sums[int(math.Round(share*(resamples-1)))] / n
	}
	return Interval{bound(tail), bound(1 - tail)}
}

// total is the sum of values, and the difference up to which another sum of as many of them counts as equal: sums in
// another order differ by rounding.
func total(values []float64) (sum, near float64) {
	for _, v := range values {
		sum += v
		near += math.Abs(v)
	}
	return sum, near * 1e-12
}

func acceleration(values []float64, mean float64) float64 {
	squares, cubes := 0.0, 0.0
	for _, v := range values {
		d := v - mean
		square := float64(d * d)
		squares += square
		cubes += float64(square * d)
	}
	return cubes / (6 * float64(squares*math.Sqrt(squares)))
}

// LeastSampledP is the least p that a randomisation test gives where it draws its choices of signs.
const LeastSampledP = 1 / (1. + resamples)

// RandomisationTests returns, for each column, the two-sided p-value of a paired randomisation test: items[i][c] is the
// difference of pair i in column c, and p the probability that, were both of a pair drawn alike, the mean difference would
// be as far from 0 as it is or farther. No items give no p-values; a column with a value that
// is not finite has NaN.
//
// Where up to 20 pairs differ, every choice of signs is tried. Where more do, 10,000 choices are drawn with a fixed seed, and
// p = (1 + those as far)/(1 + 10,000), since the signs as they are count as a choice too. (Fisher, "The design of
// experiments", 1935, §21; for retrieval Smucker, Allan and Carterette, CIKM 2007.)
func RandomisationTests(items [][]float64) []float64 {
	if len(items) == 0 {
		return nil
	}
	ps := make([]float64, len(items[0]))
	for c := range ps {
		differences := make([]float64, len(items))
		for i, item := range items {
			differences[i] = item[c]
		}
		ps[c] = randomisationTest(differences)
	}
	return ps
}

func randomisationTest(differences []float64) float64 {
	if slices.ContainsFunc(differences, func(d float64) bool { return !finite(d) }) {
		return math.NaN()
	}
	sum, near := total(differences)
	least := math.Abs(sum) - near
	// A difference of 0 is the same under both signs.
	differences = slices.DeleteFunc(slices.Clone(differences), func(d float64) bool { return d == 0 })
	if len(differences) <= exactItemsMax {
		return float64(signsAsFar(differences, 0, least)) / float64(int(1)<<len(differences))
	}
	draws := rand.NewPCG(seedHigh, seedLow)
	asFar := 0
	for range resamples {
		flipped, signs := 0.0, uint64(0)
		for i, d := range differences {
			if i%64 == 0 {
				signs = draws.Uint64()
			}
			flipped += math.Float64frombits(math.Float64bits(d) ^ signs<<63)
			signs >>= 1
		}
		if math.Abs(flipped) >= least {
			asFar++
		}
	}
	return float64(1+asFar) / (1 + resamples)
}

// signsAsFar counts the choices of signs whose sum, added to the sum so far, is at least as far from 0.
func signsAsFar(differences []float64, sum, least float64) int {
	if len(differences) == 0 {
		if math.Abs(sum) >= least {
			return 1
		}
		return 0
	}
	rest := differences[1:]
	return signsAsFar(rest, sum+differences[0], least) + signsAsFar(rest, sum-differences[0], least)
}

// Holm adjusts the p-values of several tests that are read together, so that the chance of finding any difference where
// there is none stays below the level that the adjusted ones are held against (Holm, Scandinavian Journal of Statistics
// 1979). The order is kept.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := make([]float64, len(ps))
	least := 0.0
	for i, at := range order {
		least = max(least, min(1, float64(len(ps)-i)*ps[at]))
		adjusted[at] = least
	}
	return adjusted
}
