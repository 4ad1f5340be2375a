package zipfcorpus

import (
	"math"
	"slices"
	"testing"
)

func TestDrawHasTheShapeAndRepeats(t *testing.T) {
	shape := Shape{Docs: 7, DocWords: 5, Queries: 3, QueryWords: 2, Vocabulary: 20, Exponent: 1.1, Seed: 4}
	first, second := Draw(shape), Draw(shape)
	if len(first.Docs) != 7 || len(first.Queries) != 3 {
		t.Fatalf("%d documents and %d queries, want 7 and 3", len(first.Docs), len(first.Queries))
	}
	for i, words := range first.Docs {
		if len(words) != 5 || !slices.Equal(words, second.Docs[i]) {
			t.Errorf("document %d is %q and then %q, want the same 5 words", i, words, second.Docs[i])
		}
	}
	for i, words := range first.Queries {
		if len(words) != 2 || !slices.Equal(words, second.Queries[i]) {
			t.Errorf("query %d is %q and then %q, want the same 2 words", i, words, second.Queries[i])
		}
	}
	shape.Seed++
	if other := Draw(shape); slices.EqualFunc(first.Docs, other.Docs, slices.Equal[[]string]) {
		t.Error("another seed draws the same documents")
	}
}

// TestFrequencies compares the share of some words in the standard documents with what the law gives them.
func TestFrequencies(t *testing.T) {
	shape, counts, words := Standard(), map[string]int{}, 0.0
	for _, doc := range Draw(shape).Docs {
		for _, word := range doc {
			counts[word]++
			words++
		}
	}
	sum := 0.0
	for k := range shape.Vocabulary {
		sum += math.Pow(float64(k+1), -shape.Exponent)
	}
	for word, k := range map[string]float64{"w0000": 0, "w0001": 1, "w0009": 9} {
		want := math.Pow(k+1, -shape.Exponent) / sum
		if got := float64(counts[word]) / words; math.Abs(got-want) > 0.05*want {
			t.Errorf("%s makes up %.4f of the words, want about %.4f", word, got, want)
		}
	}
}
