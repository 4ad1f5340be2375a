package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// vectorKind counts vectors that could not be compared at all. It stands in a report only if there are some.
const vectorKind = "vector"

// tolerance is how far two scores or probabilities may lie apart, relative to the larger.
const tolerance = 1e-9

// tally counts the decisions of one file.
type tally struct {
	kinds []KindResult
	shown int
	// current names the vector whose decisions are being compared.
	current     vector
	currentName string
}

func newTally(kinds []string, shown int) *tally {
	t := &tally{shown: shown}
	for _, kind := range append([]string{vectorKind}, kinds...) {
		t.kinds = append(t.kinds, KindResult{Kind: kind, Differences: []Difference{}})
	}
	return t
}

// vector compares one vector. A panic of the pipeline fails the vector and leaves the others to be compared.
func (t *tally) vector(v vector, c checker) {
	defer func() {
		if p := recover(); p != nil {
			t.decide(vectorKind, []Difference{{Fault: fmt.Sprintf("the pipeline panicked: %v", p)}})
		}
	}()
	t.current, t.currentName = v, ""
	c.check(v)
}

// read decodes the current vector and reports whether it can be compared. name finds what people call it by.
func (t *tally) read(into any, name func() string) bool {
	var s strict
	s.decode("", t.current.raw, into)
	t.currentName = name()
	return t.readable(s.faults)
}

// readable counts the current vector as failed if there are faults.
func (t *tally) readable(faults []Difference) bool {
	if len(faults) > 0 {
		t.decide(vectorKind, faults)
	}
	return len(faults) == 0
}

// decide counts one decision: failed if there are differences, else passed.
func (t *tally) decide(kind string, differences []Difference) {
	k := t.kind(kind)
	if len(differences) == 0 {
		k.Passed++
		return
	}
	k.Failed++
	for _, d := range differences {
		if t.shown >= 0 && len(k.Differences) >= t.shown {
			break
		}
		d.Vector, d.Line = t.currentName, t.current.line
		k.Differences = append(k.Differences, d)
	}
}

// depart counts one decision as a stated departure.
func (t *tally) depart(kind string) { t.kind(kind).Departures++ }

func (t *tally) kind(name string) *KindResult {
	i := slices.IndexFunc(t.kinds, func(k KindResult) bool { return k.Kind == name })
	return &t.kinds[i]
}

func (t *tally) results() []KindResult {
	return slices.DeleteFunc(t.kinds, func(k KindResult) bool { return k.Kind == vectorKind && k.Failed == 0 })
}

// comparison collects the differences of one decision.
type comparison []Difference

// equal compares two values by their JSON.
func (c *comparison) equal(path string, want, got any) {
	if w, g := show(want), show(got); !bytes.Equal(w, g) {
		*c = append(*c, Difference{Path: path, Want: w, Got: g})
	}
}

// names compares two lists of names in order; nil and empty are one.
func (c *comparison) names(path string, want, got []string) {
	c.equal(path, append([]string{}, want...), append([]string{}, got...))
}

// close compares two numbers within the tolerance.
func (c *comparison) close(path string, want, got float64) {
	if !isClose(want, got) {
		*c = append(*c, Difference{Path: path, Want: show(want), Got: show(got)})
	}
}

func (c *comparison) fault(path, format string, args ...any) {
	*c = append(*c, Difference{Path: path, Fault: fmt.Sprintf(format, args...)})
}

// isClose is written so that a NaN is close to nothing.
func isClose(a, b float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b)) && !math.IsInf(a-b, 0)
}

// show writes a value as compact JSON; what JSON has no form for is written as text.
func show(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		b.Reset()
		_ = e.Encode(fmt.Sprint(v)) // text always has a form
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
