package reports

import (
	"math"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/metrics"
)

// decimalsOf is how many decimals the values of a row have: enough to tell arms apart, not more than they are worth.
func decimalsOf(unit string, figures []*metrics.Figure) int {
	largest := 0.0
	for _, f := range figures {
		if f != nil {
			largest = max(largest, math.Abs(f.Value))
		}
	}
	switch unit {
	case "tokens":
		if largest == 0 || largest >= 10 {
			return 0
		}
		return 1
	case "%", "ms":
		return 1
	case "turns", "effects", "secrets":
		return 0
	case "calls": // some are totals, others means
		for _, f := range figures {
			if f != nil && f.Value != math.Trunc(f.Value) {
				return 2
			}
		}
		return 0
	case "requests", "searches", "attempts", "openings", "times":
		return 2
	default:
		return 3
	}
}

// direction is the unit of a measure and a mark for which way it improves, which the head explains.
func direction(m metrics.Measure) string {
	switch m.Better {
	case metrics.Lower:
		return m.Unit + " ↓"
	case metrics.Higher:
		return m.Unit + " ↑"
	default:
		return m.Unit
	}
}

// superscript is n as a footnote's sign.
func superscript(n int) string {
	return strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").
		Replace(strconv.Itoa(n))
}

// definitions are the meanings of the shown measures of a theme, a line each; the measures of one pattern share a line.
func definitions(t theme, shown []metrics.Measure) []string {
	var list []string
	for _, pattern := range t.measures {
		var family []string
		name := pattern
		for _, m := range shown {
			if matches(pattern, m.Name) {
				family = append(family, m.Definition)
				name = m.Name
			}
		}
		switch len(family) {
		case 0:
		case 1:
			list = append(list, name+": "+family[0])
		default:
			list = append(list, pattern+": "+alternatives(family))
		}
	}
	return list
}

// alternatives says once what sentences have in common, and side by side where they differ: "after one tool is added" and
// "after one tool is removed" become "after one tool is added | removed".
func alternatives(sentences []string) string {
	var words [][]string
	shortest := math.MaxInt
	for _, s := range sentences {
		words = append(words, strings.Fields(s))
		shortest = min(shortest, len(words[len(words)-1]))
	}
	start := 0
	for start < shortest && same(words, func(s []string) string { return s[start] }) {
		start++
	}
	end := 0
	for end < shortest-start && same(words, func(s []string) string { return s[len(s)-1-end] }) {
		end++
	}
	parts := words[0][:start:start]
	for i, s := range words {
		if i > 0 {
			parts = append(parts, "|")
		}
		parts = append(parts, s[start:len(s)-end]...)
		if i < len(words)-1 && len(parts) > 0 {
			parts[len(parts)-1] = strings.TrimSuffix(parts[len(parts)-1], ",")
		}
	}
	return strings.Join(append(parts, words[0][len(words[0])-end:]...), " ")
}

// same reports whether a word is the same in all sentences.
func same(sentences [][]string, word func([]string) string) bool {
	for _, s := range sentences {
		if word(s) != word(sentences[0]) {
			return false
		}
	}
	return true
}
