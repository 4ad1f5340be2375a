package lint

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
)

// beside judges tools by the descriptions of the others: same ones, and those of
// nearly the same words. A finding stands at every tool but the first.
func (k *checker) beside(tools []*corpus.Tool) {
	first := make(map[string]*corpus.Tool)
	var distinct []*corpus.Tool
	var sets [][]string
	for _, t := range tools {
		text := strings.ToLower(strings.Join(strings.Fields(t.Definition.Description), " "))
		if text == "" {
			continue
		}
		if other := first[text]; other != nil {
			k.add(t, duplicateRule, "%s has the same description", other.ID)
			k.repeats[t.ID] = true
			continue
		}
		first[text] = t
		if set := slices.Compact(slices.Sorted(slices.Values(wordsOf(text)))); len(set) >= alikeWordsMin {
			distinct, sets = append(distinct, t), append(sets, set)
		}
	}
	told := func(i, j int) bool {
		return tellsApart(distinct[i].Name, distinct[j].Name, sets[i], sets[j]) || tellsApart(distinct[j].Name, distinct[i].Name, sets[j], sets[i])
	}
	for i, j := range nearest(sets, func(i, j int) bool { return !told(i, j) }) {
		if j >= 0 {
			k.add(distinct[i], nearDuplicateRule, "%s has nearly the same description", distinct[j].ID)
		}
	}
}

// tellsApart reports whether a description has a word, and the other does not,
// that stands in the tool's name and not in the other's: "list the labels" and
// "list the assignees" of tools so called are told apart. An s at the end, as of
// verbs and plurals, does not matter.
func tellsApart(name, otherName string, words, otherWords []string) bool {
	name, otherName = strings.ToLower(name), strings.ToLower(otherName)
	return slices.ContainsFunc(words, func(w string) bool {
		_, other := slices.BinarySearch(otherWords, w)
		w = strings.TrimSuffix(w, "s")
		return !other && w != "" && strings.Contains(name, w) && !strings.Contains(otherName, w)
	})
}

// candidatesMax bounds the sets that are remembered for one word. Only words that
// hundreds of descriptions have among their rarest reach it, and those have
// hundreds of near-duplicates, of which one is enough to tell.
const candidatesMax = 64

// nearest finds for each set of words an earlier one that shares at least
// alikePercent of all words of both and counts as alike, the most similar and of
// equals the first; -1 if there is none.
//
// Of two sets so similar, each has one of the other's rarest words among its own
// rarest: if x words in common are needed, among the first len-x+1. So only sets
// that meet in those are compared (prefix filtering: Chaudhuri, Ganti and
// Kaushik, "A primitive operator for similarity joins in data cleaning", ICDE
// 2006).
func nearest(sets [][]string, alike func(i, j int) bool) []int {
	ranked := rankWords(sets)
	met := make(map[int][]int) // word → earlier sets that have it among their rarest
	seen := make([]int, len(sets))
	result := make([]int, len(sets))
	for i, set := range ranked {
		best, bestShare := -1, 0.0
		for _, word := range set[:len(set)-neededWords(len(set))+1] {
			for _, j := range met[word] {
				if seen[j] == i+1 {
					continue
				}
				seen[j] = i + 1
				if share := shared(set, ranked[j]); share >= alikePercent && (share > bestShare || share == bestShare && j < best) && alike(i, j) {
					best, bestShare = j, share
				}
			}
			if len(met[word]) < candidatesMax {
				met[word] = append(met[word], i)
			}
		}
		result[i] = best
	}
	return result
}

// neededWords is how many of a set's n words another has to have to be alike.
func neededWords(n int) int { return (alikePercent*n + 99) / 100 }

// rankWords gives words numbers, the rarest first, and sorts each set by them.
func rankWords(sets [][]string) [][]int {
	counts := make(map[string]int)
	for _, set := range sets {
		for _, w := range set {
			counts[w]++
		}
	}
	words := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b))
	})
	rank := make(map[string]int, len(words))
	for i, w := range words {
		rank[w] = i
	}
	ranked := make([][]int, len(sets))
	for i, set := range sets {
		ranked[i] = make([]int, len(set))
		for j, w := range set {
			ranked[i][j] = rank[w]
		}
		slices.Sort(ranked[i])
	}
	return ranked
}

// shared is Jaccard's index of two ascending sets in percent: common words over all
// words.
func shared(a, b []int) float64 {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			common++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return float64(100*common) / float64(len(a)+len(b)-common)
}
