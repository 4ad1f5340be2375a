package sweep

import (
	"reflect"
	"slices"

	"github.com/toolgauge/toolgauge/replay"
)

// contents numbers what a session gave: plays that came to the same have the same
// number, though the pipeline told them apart.
func contents(all []replay.Alike) []int {
	numbers := make([]int, len(all))
	for i := range all {
		numbers[i] = i
		for j := range i {
			if same(&all[i], &all[j]) {
				numbers[i] = numbers[j]
				break
			}
		}
	}
	return numbers
}

// same compares what is cheap to compare first.
func same(a, b *replay.Alike) bool {
	return a.Row.PromptTokens == b.Row.PromptTokens && a.Row.Requests == b.Row.Requests && a.Row.SurfaceSHA256 == b.Row.SurfaceSHA256 &&
		slices.Equal(a.Calls, b.Calls) && reflect.DeepEqual(a.Row, b.Row)
}

// refine parts those points of one class that a session told apart: of is the play
// of each point, and contents number the plays. Classes are numbered in the order
// of their first points.
func (t *tally) refine(contents, of []int) {
	type class struct{ before, content int }
	numbers := make(map[class]int)
	for point, before := range t.classes {
		c := class{before, contents[of[point]]}
		n, there := numbers[c]
		if !there {
			n = len(numbers)
			numbers[c] = n
		}
		t.classes[point] = n
	}
}
