package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func tool(name, description, rest string) string {
	return `{"type":"function","function":{"name":"` + name + `","description":"` + description + `"` + rest + `}}`
}

func TestDiffSurfaces(t *testing.T) {
	count := func(text string) (int, error) { return len(text), nil }
	a, b, c := tool("a", "one", ""), tool("b", "two", ""), tool("c", "three", "")
	listed := tool("tool_search", `Find.\n- x: X.\n- y: Y.`, "")
	relisted := tool("tool_search", `Find.\n- y: Y.\n- z: Z.`, "")
	typed := tool("a", "one", `,"parameters":{"type":"object"}`)
	for _, test := range []struct {
		name          string
		before, after []string
		want          []EntryChange
	}{
		{"nothing", []string{a, b}, []string{a, b}, []EntryChange{}},
		{"added and removed", []string{a, b}, []string{b, c}, []EntryChange{{Tool: "c", Change: "added", TokensAfter: len(c)}, {Tool: "a", Change: "removed", TokensBefore: len(a)}}},
		{"a listing", []string{listed}, []string{relisted}, []EntryChange{
			{Tool: "tool_search", Change: "edited", TokensBefore: len(listed), TokensAfter: len(relisted), Lines: []string{"- - x: X.", "+ - z: Z."}}}},
		{"a schema", []string{a}, []string{typed}, []EntryChange{{Tool: "a", Change: "edited", TokensBefore: len(a), TokensAfter: len(typed), Schema: true}}},
		{"moved", []string{a, b, c}, []string{b, c, a}, []EntryChange{{Tool: "a", Change: "moved", TokensBefore: len(a), TokensAfter: len(a)}}},
	} {
		got, err := diffSurfaces("["+strings.Join(test.before, ",")+"]", "["+strings.Join(test.after, ",")+"]", count)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, d)
		}
	}
	for _, broken := range []string{"", "{}", `["a"]`} {
		if _, err := diffSurfaces(broken, "[]", count); err == nil || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%q: error %v", broken, err)
		}
	}
}

// TestDiffIsConsistent: what a diff takes out stands in the first list, what it puts in stands in the second, as many lines are
// kept of both, and only equal lists have no changes.
func TestDiffIsConsistent(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := words.Draw(t, "a"), words.Draw(t, "b")
		var gone, come []string
		for _, line := range diff(a, b) {
			if strings.HasPrefix(line, "- ") {
				gone = append(gone, line[2:])
			} else {
				come = append(come, line[2:])
			}
		}
		if len(a)-len(gone) != len(b)-len(come) || !subsequence(gone, a) || !subsequence(come, b) {
			t.Fatalf("from %q to %q: - %q + %q", a, b, gone, come)
		}
		if (len(gone)+len(come) == 0) != slices.Equal(a, b) {
			t.Fatalf("from %q to %q: - %q + %q", a, b, gone, come)
		}
	})
}

// without takes the words of a subsequence out, the first of each.
func without(all, gone []string) (rest []string) {
	for _, word := range all {
		if len(gone) > 0 && gone[0] == word {
			gone = gone[1:]
			continue
		}
		rest = append(rest, word)
	}
	return rest
}

func subsequence(part, all []string) bool { return len(all)-len(without(all, part)) == len(part) }
