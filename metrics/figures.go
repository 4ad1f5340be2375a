package metrics

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
)

// Measures that code asks for by name.
const (
	MeasureEffectiveTokens = "effective_tokens"
	MeasureNetSaved        = "net_saved"
	MeasureBreakEvenTurns  = "break_even_turns"
	MeasureBreakEvenTokens = "break_even_tokens"
	MeasureExtraRequests   = "extra_requests"
	MeasureLostRate        = "lost_rate"
	MeasureByteIdentical   = "byte_identical"
)

// EagerArm is the name of the arm that every schema is on the surface of: what other arms are set against.
const EagerArm = "eager"

// Classes of intents that count apart.
const (
	// ClassAbsent: no tool serves the intent.
	ClassAbsent = "absent"
	// ClassDerived: the utterance was made from a tool's description, in a corpus without intents.
	ClassDerived = "derived"
)

// Figure is one measure of one arm, over all that the arm played or over one slice of it.
type Figure struct {
	Measure string `json:"measure"` // FindMeasure explains it
	Arm     string `json:"arm"`
	// Class and PoolBin name the slice: one class of intent, or one bin of deferred tools as PoolBin writes it. At most one
	// of them is set; with neither, the figure is over everything.
	Class      string    `json:"class,omitempty"`
	PoolBin    string    `json:"pool_bin,omitempty"`
	Value      float64   `json:"value"` // finite, within the measure's range
	N          int       `json:"n"`     // size of the population, at least 1
	Population string    `json:"population"`
	Unit       string    `json:"unit"`
	Better     Direction `json:"better"`
	Warnings   []Warning `json:"warnings,omitempty"`
}

// Warning says what weakens a figure, in words that are the same wherever it applies, so that a table can print each of
// them once as a footnote.
type Warning string

// The warnings.
const (
	WarnSmallPopulation  Warning = "population under 30: a few sessions or intents decide this figure"
	WarnThinEnd          Warning = "its last turn or bin has under 30 sessions, and they decide whether the saving stays"
	WarnCountedOtherwise Warning = "eager's tokens are counted, cached or weighed otherwise: the difference is not what the arm saves"
	WarnLostCalls        Warning = "some calls were lost and are not in this mean: read it beside lost_rate"
	WarnNotByteIdentical Warning = "below 1: the same definitions gave different bytes, a fault of the assembly"
	WarnDerivedIntents   Warning = "rests on intents of class derived, made from tool descriptions: easier than what users say"
)

// populationSmall is the size under which a population is warned of.
const populationSmall = 30

// PoolBin is the bin of a pool of so many deferred tools: from one power of two to the next, as in "64-127".
func PoolBin(size int) string { return binName(sizeBits(size)) }

// sizeBits numbers the bins: that of a size is its length in bits.
func sizeBits(size int) int { return bits.Len(uint(max(size, 0))) }

// lowerEdge is the least size in a bin.
func lowerEdge(length int) int64 {
	if length == 0 {
		return 0
	}
	return 1 << (length - 1)
}

func binName(length int) string {
	low := lowerEdge(length)
	if length <= 1 {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d-%d", low, low+(low-1))
}

// tally is a running sum and what went into it.
type tally struct {
	sum     float64
	n       int
	derived bool // an intent of ClassDerived is among the n
}

func (t *tally) add(x float64, class string) {
	t.sum += x
	t.n++
	t.derived = t.derived || class == ClassDerived
}

// armTotals are the running sums of one arm. Each slice of tallies has one for every rule.
type armTotals struct {
	assumptions Assumptions
	all         []tally
	classes     map[string][]tally
	bins        map[int][]tally // by sizeBits of the pool
	latencies   sample
	// What was saved against EagerArm, by turn from 1, and by the lower edge of the bin of deferred schema tokens.
	byTurn, byDeferred map[int64]saving
	distributions      map[string]*distributionTotals
}

// Figures gives the figures of everything added so far: arms in the order in which they first came; for each, the whole,
// then classes by name, then pools by size; for each of these, measures in the order of [Measures]. A measure whose
// population is empty has no figure.
func (a *Accumulator) Figures() []Figure {
	var figures []Figure
	for _, name := range a.order {
		arm := a.arms[name]
		figures = a.appendSlice(figures, Figure{Arm: name}, a.whole(arm))
		for _, class := range slices.Sorted(maps.Keys(arm.classes)) {
			figures = a.appendSlice(figures, Figure{Arm: name, Class: class}, arm.classes[class])
		}
		for _, bin := range slices.Sorted(maps.Keys(arm.bins)) {
			figures = a.appendSlice(figures, Figure{Arm: name, PoolBin: binName(bin)}, arm.bins[bin])
		}
	}
	return figures
}

// whole are the tallies over everything, percentiles among them.
func (a *Accumulator) whole(arm *armTotals) []tally {
	all := slices.Clone(arm.all)
	for i, rule := range a.rules {
		if rule.percent > 0 {
			all[i] = arm.latencies.tally(rule.percent)
		}
	}
	return all
}

// appendSlice appends the figures of one slice of an arm; of names the arm and the slice.
func (a *Accumulator) appendSlice(figures []Figure, of Figure, tallies []tally) []Figure {
	lost := false
	for i, rule := range a.rules {
		lost = lost || rule.Name == MeasureLostRate && tallies[i].sum > 0
	}
	for i, rule := range a.rules {
		t := tallies[i]
		if t.n == 0 {
			continue
		}
		f := of
		f.Measure, f.Population, f.Unit, f.Better = rule.Name, rule.Population, rule.Unit, rule.Better
		f.Value, f.N = t.sum, t.n
		if !rule.total && rule.percent == 0 {
			f.Value /= float64(t.n)
		}
		f.Warnings = warnings(f, lost, t.derived)
		if rule.Population == perPair && a.countedOtherwise(f.Arm) {
			f.Warnings = append(f.Warnings, WarnCountedOtherwise)
		}
		figures = append(figures, f)
	}
	return figures
}

// countedOtherwise reports whether an arm's tokens are not those of [EagerArm]: of another tokenizer, cache or weight.
func (a *Accumulator) countedOtherwise(arm string) bool {
	eager := a.arms[EagerArm]
	if eager == nil {
		return false
	}
	x, y := a.arms[arm].assumptions, eager.assumptions
	return x.Tokenizer != y.Tokenizer || x.Cache != y.Cache || x.WeightFresh != y.WeightFresh || x.WeightCached != y.WeightCached ||
		x.WeightWrite != y.WeightWrite || x.WeightOutput != y.WeightOutput
}

// warnings says what weakens f, whose slice has lost calls or not, and whose population has derived intents or not.
func warnings(f Figure, lost, derived bool) []Warning {
	var list []Warning
	if f.N < populationSmall {
		list = append(list, WarnSmallPopulation)
	}
	if f.Measure == MeasureExtraRequests && lost {
		list = append(list, WarnLostCalls)
	}
	if f.Measure == MeasureByteIdentical && f.Value < 1 {
		list = append(list, WarnNotByteIdentical)
	}
	if derived {
		list = append(list, WarnDerivedIntents)
	}
	return list
}
