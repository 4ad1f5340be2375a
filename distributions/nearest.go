package distributions

import "strings"

// nearest returns the known word that was probably meant by a mistyped one, or "" if none is close. Case and the choice
// between hyphen and underscore do not count; beyond that, one edit in three characters is forgiven (at least one).
func nearest(word string, known []string) string {
	typed := []rune(fold(word))
	limit := max(1, min(len(typed), maxNameBytes)/3)
	best, bestEdits := "", limit+1
	for _, k := range known {
		candidate := []rune(fold(k))
		// No fewer edits are possible than the lengths differ by. This also keeps absurdly long input from costing time.
		if apart := len(typed) - len(candidate); apart > limit || -apart > limit {
			continue
		}
		if n := edits(typed, candidate); n < bestEdits {
			best, bestEdits = k, n
		}
	}
	return best
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// edits is the least number of insertions, deletions, replacements and swaps of neighbours from a to b, no letter being
// edited twice (the optimal string alignment distance).
func edits(a, b []rune) int {
	// Three rows: of two letters ago, of the letter before, and of this one.
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			replaced := above[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, row[j]+1, above[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
