package metrics

import (
	"fmt"
	"strconv"
	"strings"
)

// Weights are the prices of tokens, relative to each other: effective tokens are
// the sum of a session's tokens, each by the weight of its kind.
type Weights struct {
	Fresh  float64 `json:"fresh"`  // input that the prompt cache does not hold
	Cached float64 `json:"cached"` // input that it holds
	Write  float64 `json:"write"`  // added for fresh input that goes into it
	Output float64 `json:"output"`
}

// ParseWeights reads weights as a command line gives them, "cached=0.1,output=4":
// those not named keep their default.
func ParseWeights(text string) (Weights, error) {
	w := DefaultWeights()
	fields := map[string]*float64{"fresh": &w.Fresh, "cached": &w.Cached, "write": &w.Write, "output": &w.Output}
	given := make(map[*float64]bool)
	for _, part := range strings.Split(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		field := fields[name]
		if field == nil {
			return Weights{}, fmt.Errorf("unknown weight %q\nhint: weights are fresh, cached, write and output, as in cached=0.1,output=4", part)
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return Weights{}, fmt.Errorf("weight %s: %q is no number\nhint: write %s=0.5", name, number, name)
		}
		if given[field] {
			return Weights{}, fmt.Errorf("weight %s is given twice\nhint: keep one of the two", name)
		}
		*field, given[field] = value, true
	}
	if w == (Weights{}) {
		return Weights{}, fmt.Errorf("every weight is 0\nhint: leave one above 0, or nothing is counted")
	}
	return w, w.Check()
}

// DefaultWeights are the weights of a run that sets none.
func DefaultWeights() Weights { return Weights{Fresh: 1, Cached: 0.1, Output: 4} }

// weightMax keeps sums of weighted tokens exact enough to compare.
const weightMax = 1000

// Check refuses weights that are no price: negative, not finite, or above 1000.
func (w Weights) Check() error {
	for _, f := range []struct {
		name  string
		value float64
	}{{"fresh", w.Fresh}, {"cached", w.Cached}, {"write", w.Write}, {"output", w.Output}} {
		if !(f.value >= 0 && f.value <= weightMax) {
			return fmt.Errorf("weight %s is %v\nhint: give a number from 0 to %d", f.name, f.value, weightMax)
		}
	}
	return nil
}
