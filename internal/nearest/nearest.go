// Package nearest finds the name that a mistyped one was meant to be.
package nearest

import "strings"

// runesMax is how much of a name is compared: a mistyped name can be anything
// that a file holds, and known ones can be many.
const runesMax = 128

// Name returns the known name closest to name by edit distance, letter case and
// the difference of - and _ put aside; the first of equals; empty if known is.
// Of longer names the first 128 characters count.
func Name(name string, known []string) string {
	best, least := "", -1
	typed := fold(name)
	for _, k := range known {
		if d := distance(typed, fold(k)); least < 0 || d < least {
			best, least = k, d
		}
	}
	return best
}

// Hint words the nearest name for an error's hint.
func Hint(name string, known []string) string {
	if len(known) == 0 {
		return "there are none to choose from"
	}
	return "did you mean \"" + Name(name, known) + "\"?"
}

func fold(s string) []rune {
	runes := []rune(strings.ReplaceAll(strings.ToLower(s), "-", "_"))
	return runes[:min(len(runes), runesMax)]
}

// distance is Levenshtein's, in one row.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
