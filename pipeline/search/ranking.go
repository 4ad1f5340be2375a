package search

import "slices"

// better reports whether a stands before b: the higher score first, and on equal scores the catalog's order.
func better(a, b Hit) bool {
	return a.Score > b.Score || (a.Score == b.Score && a.Doc < b.Doc)
}

// compareHits orders hits, the better one first.
func compareHits(a, b Hit) int {
	if better(a, b) {
		return -1
	}
	return 1 // never equal: a doc occurs once
}

// appendBest appends the limit best of the given docs to dst, best first. The limit must be at least 1. While it looks
// for them, the tail of dst serves as a heap with the worst hit on top.
func appendBest(dst []Hit, docs []uint32, scores []float64, limit int) []Hit {
	limit = min(limit, len(docs))
	base := len(dst)
	dst = slices.Grow(dst, limit)
	for _, doc := range docs[:limit] {
		dst = append(dst, Hit{Doc: int(doc), Score: scores[doc]})
	}
	best := dst[base:]
	if limit < len(docs) {
		for i := len(best)/2 - 1; i >= 0; i-- {
			sink(best, i)
		}
		worst := best[0]
		for _, doc := range docs[limit:] {
			if score := scores[doc]; score >= worst.Score {
				if hit := (Hit{Doc: int(doc), Score: score}); better(hit, worst) {
					best[0] = hit
					sink(best, 0)
					worst = best[0]
				}
			}
		}
	}
	slices.SortFunc(best, compareHits)
	return dst
}

// sink moves element i down until both its children are better than it.
func sink(heap []Hit, i int) {
	moved := heap[i]
	for {
		child := 2*i + 1
		if child >= len(heap) {
			break
		}
		if child+1 < len(heap) && better(heap[child], heap[child+1]) {
			child++
		}
		if !better(moved, heap[child]) {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = moved
}
