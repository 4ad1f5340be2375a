//go:build !race

package search_test

import (
	"testing"

	"github.com/toolgauge/toolgauge/internal/zipfcorpus"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// TestSearchAllocates at most the result, small catalog or large. (The race detector empties pools at random, so these counts
// hold without it alone.)
func TestSearchAllocates(t *testing.T) {
	for _, row := range []struct {
		name string
		docs int
	}{{"bm25", 50}, {"bm25", 1500}, {"bm25-gated", 50}, {"bm25-gated", 1500}} {
		shape := zipfcorpus.Standard()
		shape.Docs, shape.Queries = row.docs, 50
		x, queries := zipfIndex(t, row.name, shape)
		buffer := make([]search.Hit, 0, 5)
		next := 0
		query := func() string { next++; return queries[next%len(queries)] }
		for range 500 { // until all is prepared that will be
			x.Search(buffer[:0], query(), 5)
		}
		if got := testing.AllocsPerRun(200, func() { x.Search(buffer[:0], query(), 5) }); got > 0 {
			t.Errorf("%s, %d docs: %v allocations into a buffer with room, want 0", row.name, row.docs, got)
		}
		if got := testing.AllocsPerRun(200, func() { x.Search(nil, query(), 5) }); got > 1 {
			t.Errorf("%s, %d docs: %v allocations into no buffer, want at most 1", row.name, row.docs, got)
		}
	}
}
