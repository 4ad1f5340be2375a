package reports

import (
	"slices"
	"strconv"
	"strings"
)

// assumption is one thing that figures rest on, in words.
type assumption struct {
	name string
	of   func(Assumptions) string // empty where nothing is assumed
}

// assumptions are all but the bridge, which an arm's deed tells of.
func assumptions() []assumption {
	return []assumption{
		{"variant", func(a Assumptions) string { return a.Variant }},
		{"agent", func(a Assumptions) string { return a.Agent }},
		{"writer", func(a Assumptions) string { return a.Writer }},
		{"retriever", func(a Assumptions) string { return a.Retriever }},
		{"tokenizer", func(a Assumptions) string { return a.Tokenizer }},
		{"gateway", func(a Assumptions) string { return a.Gateway }},
		{"memo", func(a Assumptions) string { return a.Memo }},
		{"cache", func(a Assumptions) string { return a.Cache }},
		{"settings", func(a Assumptions) string { return a.Settings }},
		{"token weights", weights},
	}
}

// weights are what effective tokens are made of; empty where nothing was weighed.
func weights(a Assumptions) string {
	if a.WeightFresh == 0 && a.WeightCached == 0 && a.WeightWrite == 0 && a.WeightOutput == 0 {
		return ""
	}
	weight := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	parts := []string{"fresh input " + weight(a.WeightFresh), "cached input " + weight(a.WeightCached)}
	if a.WeightWrite != 0 {
		parts = append(parts, "cache write "+weight(a.WeightWrite))
	}
	return strings.Join(append(parts, "output "+weight(a.WeightOutput)), " / ")
}

// common reports whether all arms assume the same.
func (a assumption) common(arms []Arm) bool {
	return !slices.ContainsFunc(arms, func(arm Arm) bool { return a.of(arm.Assumptions) != a.of(arms[0].Assumptions) })
}

// shared words what all arms assume.
func shared(arms []Arm) (list []string) {
	for _, a := range assumptions() {
		if len(arms) > 0 && a.common(arms) && a.of(arms[0].Assumptions) != "" {
			list = append(list, a.name+" "+a.of(arms[0].Assumptions))
		}
	}
	return list
}

// differing words what an arm assumes and not every other does.
func differing(arm Arm, arms []Arm) (list []string) {
	for _, a := range assumptions() {
		if value := a.of(arm.Assumptions); value != "" && !a.common(arms) {
			list = append(list, a.name+" "+value)
		}
	}
	return list
}

// DifferingAssumptions lists what two arms of one name do not share: what it is, and how either has it.
func DifferingAssumptions(before, after Arm) (list [][3]string) {
	if before.Bridge != after.Bridge {
		list = append(list, [3]string{"bridge", onOff(before.Bridge), onOff(after.Bridge)})
	}
	for _, a := range assumptions() {
		if was, is := a.of(before.Assumptions), a.of(after.Assumptions); was != is {
			list = append(list, [3]string{a.name, was, is})
		}
	}
	return list
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
