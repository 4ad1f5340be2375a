package lint

import (
	"slices"
	"strings"
	"unicode"
)

// Words whose presence the notes look for. They are guesses: a description may
// say it otherwise, and some say nothing with them.
var (
	whenWords    = wordSet(`use used uses using useful when whenever if before after instead once while prefer call unless during`)
	failureWords = wordSet(`fail fails failed failure failures error errors raise raises throw throws invalid reject rejects rejected
		refuse refuses refused must cannot can't only limit limits limited maximum minimum max min most least require requires
		required unless unknown missing denied exceed exceeds exceeding timeout timeouts null none never already`)
	contrastWords = wordSet(`unlike instead rather not only other versus than whereas but without except don't`)
)

func wordSet(text string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// wordsOf are the runs of letters, digits and inner apostrophes of a text, in
// lower case.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
	for i, w := range words {
		words[i] = strings.Trim(w, "'")
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

func hasWord(words []string, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(w string) bool { return set[w] })
}

// length is the number of code points, denser scripts weighed.
func length(text string) int {
	n := 0
	for _, r := range text {
		n++
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			n += 2
		}
	}
	return n
}

// isLatin reports whether most letters are Latin, as those of English are.
func isLatin(text string) bool {
	latin, others := 0, 0
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r):
		case unicode.Is(unicode.Latin, r):
			latin++
		default:
			others++
		}
	}
	return latin > others
}
