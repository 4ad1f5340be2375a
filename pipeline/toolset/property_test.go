package toolset_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// drawTable makes toolsets that include one another at will, cycles and all.
func drawTable(t *rapid.T) []toolset.Toolset {
	n := rapid.IntRange(1, 7).Draw(t, "toolsets")
	sets := make([]toolset.Toolset, n)
	for i := range sets {
		sets[i].Name = fmt.Sprintf("s%d", i)
		for _, k := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 3).Draw(t, "tools") {
			sets[i].Tools = append(sets[i].Tools, fmt.Sprintf("t%d", k))
		}
		for _, k := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "includes") {
			sets[i].Includes = append(sets[i].Includes, fmt.Sprintf("s%d", k))
		}
	}
	return sets
}

// TestResolveIsReachability: a toolset's tools are those of all toolsets that
// can be reached from it, whatever the graph of includes; naming several is
// the union, and order or repetition of names does not matter.
func TestResolveIsReachability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := drawTable(t)
		tb, err := toolset.NewTable(toolset.Lists{}, sets)
		if err != nil {
			t.Fatal(err)
		}
		r := toolset.NewResolver(tb, nil)
		byName := make(map[string]toolset.Toolset)
		for _, s := range sets {
			byName[s.Name] = s
		}
		reachable := func(start string) []string {
			seen, queue, tools := map[string]bool{start: true}, []string{start}, []string{}
			for len(queue) > 0 {
				s := byName[queue[0]]
				queue = queue[1:]
				tools = append(tools, s.Tools...)
				for _, include := range s.Includes {
					if !seen[include] {
						seen[include] = true
						queue = append(queue, include)
					}
				}
			}
			slices.Sort(tools)
			return slices.Compact(tools)
		}
		var all, names []string
		for _, s := range sets {
			want := reachable(s.Name)
			if got := r.Resolve(s.Name); !slices.Equal(got, want) {
				t.Fatalf("%s resolves to %q, want %q", s.Name, got, want)
			}
			all = append(all, want...)
			names = append(names, s.Name, s.Name)
		}
		slices.Sort(all)
		all = slices.Compact(all)
		names = rapid.Permutation(names).Draw(t, "names")
		for _, got := range [][]string{r.Resolve("all"), r.Resolve("*"), r.Resolve(names...)} {
			if !slices.Equal(got, all) {
				t.Fatalf("every toolset: %q, want %q", got, all)
			}
		}
	})
}
