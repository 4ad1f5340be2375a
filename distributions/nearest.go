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

// edits is the Levenshtein distance: the least number of insertions, deletions and replacements from a to b.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, rb := range b {
			replaced := diagonal
			if ra != rb {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
