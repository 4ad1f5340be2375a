package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
)

// box is settings that are all combinations of some values: for each key those
// taken, by position.
type box [][]int

// namesMax is how many arms are named before the rest is counted.
const namesMax = 4

// describe says in one line which settings some points have: as few combinations of
// values as merging finds, and in them only what is not the default.
func (g *Grid) describe(points []int) string {
	var texts, names []string
	var boxes []box
	for _, p := range points {
		s := g.settings[g.points[p].setting]
		names = append(names, s.Name)
		b, ok := g.boxOf(s)
		switch {
		case s.Name == metrics.EagerArm:
			texts = append(texts, s.Name)
		case !ok: // the default settings, beside the grid
			texts = append(texts, s.Name)
		default:
			boxes = append(boxes, b)
		}
	}
	if len(g.keys) == 0 {
		if more := len(names) - namesMax; more > 0 {
			names = append(names[:namesMax], fmt.Sprintf("and %d more", more))
		}
		return strings.Join(names, ", ")
	}
	for k := range g.keys {
		boxes = merged(boxes, k)
	}
	for _, b := range boxes {
		texts = append(texts, g.textOf(b))
	}
	if slices.Contains(names, DefaultSetting) && !slices.Contains(texts, DefaultSetting) {
		texts[len(texts)-1] += " (default among them)"
	}
	return strings.Join(texts, "; ")
}

// boxOf is the box of one setting; none if its values are not the grid's.
func (g *Grid) boxOf(s Setting) (b box, ok bool) {
	for i, v := range s.values {
		at := slices.Index(g.keys[i].values, v)
		if at < 0 {
			return nil, false
		}
		b = append(b, []int{at})
	}
	return b, len(b) > 0
}

// merged joins boxes that differ in one key alone.
func merged(boxes []box, key int) (joined []box) {
	for _, b := range boxes {
		i := slices.IndexFunc(joined, func(other box) bool {
			for k := range b {
				if k != key && !slices.Equal(b[k], other[k]) {
					return false
				}
			}
			return true
		})
		if i < 0 {
			joined = append(joined, b)
			continue
		}
		joined[i][key] = append(joined[i][key], b[key]...)
		slices.Sort(joined[i][key])
	}
	return joined
}

// textOf writes a box.
func (g *Grid) textOf(b box) string {
	plain := g.settings[slices.IndexFunc(g.settings, func(s Setting) bool { return s.Name == DefaultSetting })].values
	var list []string
	for k, taken := range b {
		values := g.keys[k].values
		switch {
		case len(taken) == 1 && values[taken[0]] == plain[k]:
		case len(taken) > 1 && len(taken) == len(values):
			list = append(list, "any "+g.keys[k].name)
		default:
			list = append(list, g.keys[k].name+"="+valuesText(values, taken))
		}
	}
	if len(list) == 0 {
		return DefaultSetting
	}
	return strings.Join(list, " ")
}

// valuesText writes some of a key's values; three or more neighbouring numbers as
// from where to where they go.
func valuesText(values []string, taken []int) string {
	var list []string
	for i := 0; i < len(taken); {
		j := i + 1
		for j < len(taken) && taken[j] == taken[j-1]+1 && number(values[taken[j-1]]) < number(values[taken[j]]) {
			j++
		}
		if j-i > 2 {
			list = append(list, values[taken[i]]+".."+values[taken[j-1]])
		} else {
			for ; i < j; i++ {
				list = append(list, values[taken[i]])
			}
		}
		i = j
	}
	return strings.Join(list, ",")
}

// edge says which number is the largest or the smallest tried, if all of some points
// have it.
func (g *Grid) edge(points []int) string {
	for i, k := range g.keys {
		if len(k.words) > 0 || len(k.values) < 2 {
			continue
		}
		var taken []float64
		for _, p := range points {
			if values := g.settings[g.points[p].setting].values; values != nil {
				taken = append(taken, number(values[i]))
			}
		}
		tried := make([]float64, len(k.values))
		for j, v := range k.values {
			tried[j] = number(v)
		}
		switch {
		case len(taken) == 0 || slices.Min(taken) != slices.Max(taken):
		case taken[0] >= slices.Max(tried):
			return "No larger " + k.name + " was tried; one may be better."
		case taken[0] <= slices.Min(tried):
			return "No smaller " + k.name + " was tried; one may be better."
		}
	}
	return ""
}

// number is a value as a number; words are all 0, and never rise.
func number(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return f
}

// why says in a sentence what speaks for the recommended point, of so many that
// were eligible.
func (out *Outcome) why(o Objective, best *Point, eligible int, bound lostBound) string {
	eager := out.point(metrics.EagerArm)
	tokens, without := numerals.Number(best.EffectiveTokens, 0), numerals.Number(eager.EffectiveTokens, 0)
	if !eager.Fits {
		without += fmt.Sprintf(", and larger than the context in %s%% of the sessions", numerals.Number(100*value(eager.OverContext), 1))
	}
	lost, extra := numerals.Number(100*value(best.LostRate), 1), numerals.Number(value(best.ExtraRequests), 2)
	switch {
	case o.Given:
		return fmt.Sprintf("Of the %d settings that fit the context it has the least sum, %s: %s effective tokens a session, %s extra requests a cold call, %s%% of the tools needed lost.",
			eligible, numerals.Number(best.Objective, 1), tokens, extra, lost)
	case best.Group == eager.Group:
		return fmt.Sprintf("Nothing costs less than to send every schema, %s effective tokens a session: a bridge does not pay here.", tokens)
	}
	of := fmt.Sprintf("the fewest of the %d settings that lose", eligible)
	if eligible == 1 {
		of = "and is the only setting that loses"
	}
	return fmt.Sprintf("It takes %s effective tokens a session (eager: %s), %s hardly more tools than the best %s (it loses %s%%, the best %s%%). A cold call takes %s extra requests.",
		tokens, without, of, bound.of, lost, numerals.Number(100*bound.rate, 1), extra)
}
