// Package zipfcorpus draws word lists whose frequencies follow Zipf's law, as those of natural language nearly do. Speed
// figures of retrievers are taken on them: a few words stand in almost every document and most words in hardly any, which
// is what decides how long a search takes.
//
// It is a package of its own because two modules must draw the very same words: the benchmarks of pipeline/search, and
// those of bench/bleve, which is kept out of the main module for the sake of its dependencies.
//
// Word k (from 0) of the vocabulary has the text "w" and k in four digits, and a probability in proportion to (k+1)^-s. All
// draws come from one PCG stream, documents first and then queries, so a seed fixes every word.
package zipfcorpus

import (
	"fmt"
	"math/rand/v2"
)

// Shape says how much to draw. Every field must be at least 1, except Exponent, which must be above 1.
type Shape struct {
	Docs       int
	DocWords   int // words a document, repetitions included
	Queries    int
	QueryWords int // words a query, repetitions included
	Vocabulary int // at most 10,000 words
	Exponent   float64
	Seed       uint64
}

// Standard is the shape that the project's search figures are quoted for.
func Standard() Shape {
	return Shape{Docs: 3000, DocWords: 45, Queries: 1000, QueryWords: 6, Vocabulary: 5000, Exponent: 1.1, Seed: 1}
}

// Corpus holds the words of each document and of each query.
type Corpus struct {
	Docs    [][]string
	Queries [][]string
}

// Draw returns the corpus of a shape.
func Draw(shape Shape) Corpus {
	words := make([]string, shape.Vocabulary)
	for k := range words {
		words[k] = fmt.Sprintf("w%04d", k)
	}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(shape.Seed, 0)), shape.Exponent, 1, uint64(shape.Vocabulary-1))
	draw := func(lists, length int) [][]string {
		drawn := make([][]string, lists)
		for i := range drawn {
			drawn[i] = make([]string, length)
			for j := range drawn[i] {
				drawn[i][j] = words[zipf.Uint64()]
			}
		}
		return drawn
	}
	docs := draw(shape.Docs, shape.DocWords)
	return Corpus{Docs: docs, Queries: draw(shape.Queries, shape.QueryWords)}
}
