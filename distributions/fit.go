package distributions

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// minExpected is the least expected count of a cell for which the chi-square approximation is taken to hold (Cochran,
// "Some methods for strengthening the common chi-square tests", Biometrics 10, 1954).
const minExpected = 5

// ChiSquare is Pearson's test of observed counts against expected ones ("On the criterion that a given system of
// deviations …", Philosophical Magazine 50, 1900): the sum over cells of (observed - expected)²/expected.
type ChiSquare struct {
	// Statistic is the sum, 0 or more; 0 if not tested.
	Statistic float64 `json:"statistic"`
	// DF is the degrees of freedom, cells minus one; 0 if there was nothing to test or too little to test it with.
	DF int `json:"df"`
	// P is the chance of a statistic at least as large if the sample follows the distribution, 0 to 1. It is 0 if
	// something was observed that cannot happen, and 1 if not tested.
	P float64 `json:"p"`
	// Note says why there was no test, or what cannot happen; otherwise empty.
	Note string `json:"note,omitempty"`
}

// ToolsetFit compares how often one toolset was drawn with how often it should be. Inclusions in different draws are
// independent with one probability, hence a test with two cells: drawn and not drawn.
type ToolsetFit struct {
	Marginal
	Observed int     `json:"observed"`
	Expected float64 `json:"expected"`
	ChiSquare
}

// SizeCell counts the draws that have From to To toolsets.
type SizeCell struct {
	From     int     `json:"from"`
	To       int     `json:"to"`
	Observed int     `json:"observed"`
	Expected float64 `json:"expected"`
}

// SizeFit compares the sizes of the draws with [Distribution.SizeDistribution]. Neighbouring sizes are pooled into cells
// of at least 5 expected draws.
type SizeFit struct {
	Cells []SizeCell `json:"cells"`
	ChiSquare
}

// Fit is a sample of draws beside the distribution it should follow.
type Fit struct {
	Distribution      string       `json:"distribution"`
	Draws             int          `json:"draws"`
	Fallbacks         int          `json:"fallbacks"`
	ExpectedFallbacks float64      `json:"expected_fallbacks"`
	Toolsets          []ToolsetFit `json:"toolsets"`
	Size              SizeFit      `json:"size"`
	// Unexpected are toolsets that were drawn and do not stand in the distribution, sorted.
	Unexpected []string `json:"unexpected"`
}

// Observed compares draws with d: each toolset's count with its marginal probability, and the sizes with their exact
// distribution. exists must be the function that the draws were made with.
func (d Distribution) Observed(draws iter.Seq[Draw], exists func(string) bool) Fit {
	counts := map[string]int{}
	sizes := map[int]int{}
	fit := Fit{Distribution: d.Name, Toolsets: []ToolsetFit{}, Unexpected: []string{}}
	for draw := range draws {
		fit.Draws++
		if draw.Fallback {
			fit.Fallbacks++
		}
		sizes[len(draw.Toolsets)]++
		for _, t := range draw.Toolsets {
			counts[t]++
		}
	}
	fit.ExpectedFallbacks = float64(fit.Draws) * d.PFallback(exists)
	for _, m := range d.Marginals(exists) {
		fit.Toolsets = append(fit.Toolsets, toolsetFit(m, counts[m.Toolset], fit.Draws))
		delete(counts, m.Toolset)
	}
	fit.Unexpected = slices.AppendSeq(fit.Unexpected, maps.Keys(counts))
	slices.Sort(fit.Unexpected)
	fit.Size = sizeFit(sizes, d.SizeDistribution(exists), fit.Draws)
	return fit
}

// Holds says whether the sample may have come from the distribution: nothing impossible was drawn, and no test has
// p < alpha/tests, where tests is the number of tests made (Bonferroni's correction, so that a sound sample fails in
// at most a fraction alpha of all cases). alpha lies in (0,1); 0.001 suits a check that runs often.
func (f Fit) Holds(alpha float64) bool {
	if len(f.Unexpected) > 0 {
		return false
	}
	least, tests := f.Size.P, 0
	if f.Size.DF > 0 {
		tests++
	}
	for _, t := range f.Toolsets {
		least = min(least, t.P)
		if t.DF > 0 {
			tests++
		}
	}
	return least >= alpha/float64(max(tests, 1))
}

func toolsetFit(m Marginal, observed, draws int) ToolsetFit {
	n, q := float64(draws), m.Probability
	fit := ToolsetFit{Marginal: m, Observed: observed, Expected: float64(n * q), ChiSquare: ChiSquare{P: 1}}
	switch rarer := min(q, 1-q); {
	case draws == 0:
		fit.Note = "no draws"
	case q == 0 && observed > 0:
		fit.P, fit.Note = 0, fmt.Sprintf("cannot happen: drawn in %d of %d draws", observed, draws)
	case q == 1 && observed != draws:
		fit.P, fit.Note = 0, fmt.Sprintf("cannot happen: missing from %d of %d draws", draws-observed, draws)
	case rarer == 0:
		fit.Note = "certain"
	case n*rarer < minExpected:
		fit.Note = fmt.Sprintf("not tested: needs %.0f draws", math.Ceil(minExpected/rarer))
	default:
		off := float64(observed) - fit.Expected
		fit.Statistic = off * off / (fit.Expected * (1 - q))
		fit.DF = 1
		fit.P = survival(fit.Statistic, fit.DF)
	}
	return fit
}

func sizeFit(observed map[int]int, probability []float64, draws int) SizeFit {
	fit := SizeFit{Cells: []SizeCell{}, ChiSquare: ChiSquare{P: 1}}
	if draws == 0 {
		fit.Note = "no draws"
		return fit
	}
	possible := 0
	var open SizeCell
	for size, p := range probability {
		if p == 0 {
			continue
		}
		possible += observed[size]
		if open.Expected == 0 {
			open.From = size
		}
		open.To = size
		open.Observed += observed[size]
		open.Expected += float64(float64(draws) * p)
		if open.Expected >= minExpected {
			fit.Cells = append(fit.Cells, open)
			open = SizeCell{}
		}
	}
	fit.Cells = pool(fit.Cells, open)
	switch {
	case possible < draws:
		fit.P, fit.Note = 0, fmt.Sprintf("cannot happen: the size of %d of %d draws", draws-possible, draws)
	case len(fit.Cells) < 2:
		fit.Note = "not tested: one cell"
	default:
		for _, c := range fit.Cells {
			off := float64(c.Observed) - c.Expected
			fit.Statistic += float64(off * off / c.Expected)
		}
		fit.DF = len(fit.Cells) - 1
		fit.P = survival(fit.Statistic, fit.DF)
	}
	return fit
}

// pool adds the sizes left over at the top, too few for a cell of their own, to the last cell.
func pool(cells []SizeCell, rest SizeCell) []SizeCell {
	if rest.Expected == 0 {
		return cells
	}
	if len(cells) == 0 {
		return append(cells, rest)
	}
	last := &cells[len(cells)-1]
	last.To = rest.To
	last.Observed += rest.Observed
	last.Expected += rest.Expected
	return cells
}

// survival is the upper tail of the chi-square distribution.
func survival(statistic float64, df int) float64 {
	return distuv.ChiSquared{K: float64(df)}.Survival(statistic)
}
