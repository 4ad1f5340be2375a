package replay

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// stopWords are Lucene's 33 English stop words (StandardAnalyzer's default set).
var stopWords = func() map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(`a an and are as at be but by for if in into is it no not of on or such
		that the their then there these they this to was will with`) {
		set[w] = true
	}
	return set
}()

const (
	keywordsMax = 6
	longestMax  = 3
)

// queries is the writer `utterance`: what the user said; then its keywords; then
// its three longest keywords, in the order said. Queries that repeat an earlier
// one are left out, since they would find the same. Keywords are the first six
// words that are no English stop words; another language is searched as said.
func queries(utterance, language string) []string {
	list := []string{utterance}
	if primary, _, _ := strings.Cut(strings.ToLower(language), "-"); primary != "en" && primary != "" {
		return list
	}
	words := keywords(utterance)
	for _, next := range []string{strings.Join(words, " "), strings.Join(longest(words), " ")} {
		if next != "" && !slices.Contains(list, next) {
			list = append(list, next)
		}
	}
	return list
}

func keywords(utterance string) []string {
	var kept []string
	for _, w := range strings.FieldsFunc(utterance, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if !stopWords[strings.ToLower(w)] {
			kept = append(kept, w)
		}
		if len(kept) == keywordsMax {
			break
		}
	}
	return kept
}

// longest picks the three longest words; of equals the one said first.
func longest(words []string) []string {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len([]rune(words[b])), len([]rune(words[a])))
	})
	order = order[:min(len(order), longestMax)]
	slices.Sort(order)
	picked := make([]string, len(order))
	for i, at := range order {
		picked[i] = words[at]
	}
	return picked
}
