package replay

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/toolgauge/toolgauge/sessions"
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

// queries are what a writer asks for a turn, in the order of asking:
//
//   - `utterance`: what the user said; then its keywords; then its three longest
//     keywords, in the order said.
//   - `keywords`: the last two of these.
//   - `recorded`: the queries that the session has for the turn, which may be none.
//
// Queries that repeat an earlier one are left out, since they would find the same.
// Keywords are the first six words that are no English stop words; another
// language is searched as said.
func queries(writer string, t *sessions.Turn) []string {
	if writer == WriterRecorded {
		return distinct(t.Queries...)
	}
	primary, _, _ := strings.Cut(strings.ToLower(t.Language), "-")
	if primary != "en" && primary != "" {
		return []string{t.Utterance}
	}
	words := keywords(t.Utterance)
	list := []string{t.Utterance, strings.Join(words, " "), strings.Join(longest(words), " ")}
	if writer == WriterKeywords && len(words) > 0 {
		list = list[1:]
	}
	return distinct(list...)
}

// distinct are the given queries, each once, blank ones left out.
func distinct(given ...string) []string {
	var list []string
	for _, query := range given {
		if strings.TrimSpace(query) != "" && !slices.Contains(list, query) {
			list = append(list, query)
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
