// Package bleve times the project's retriever beside bleve, a general search library for Go, on the same documents and
// queries in the same run.
//
// It is a module of its own, so that bleve and what bleve needs stay out of the project's requirements. To run it:
//
//	cd bench/bleve && go test -bench . -benchmem
//
// The documents and queries are those of zipfcorpus.Standard: 3,000 documents of 45 words and 1,000 queries of 6 words, taken
// in turn, 5 hits each. Both sides index the same text and return positions and scores. bleve runs at what serves
// it best here: indexes in memory, words split at spaces alone, nothing stored, a prepared disjunction of term
// queries. Its default index, scorch, scores by BM25; the other, which NewMemOnly makes, knows tf-idf only. The figure
// "times" is bleve's time divided by ours, each query timed on one and then on the other.
//
// This is about speed alone. bleve's BM25 is not the textbook's, and its index can be changed and kept on disk, which
// ours cannot.
package bleve
