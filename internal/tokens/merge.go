package tokens

import "math"

const (
	// rankBits bounds a rank, so that a rank and a position fit in one
	// 64-bit key of the queue.
	rankBits = 24

	// noRank marks neighbours that do not merge.
	noRank = math.MaxUint32

	// scanMax is the longest piece in bytes that is merged by scanning
	// for the lowest rank at each step. That is quadratic, and still the
	// faster way for the pieces of ordinary text.
	scanMax = 96
)

// countPiece returns how many tokens a pre-token becomes. The rule of both
// encodings: a piece that is a token is that token; else its bytes are
// merged, the lowest rank first and the leftmost among equals, until no two
// neighbours form a token.
func (v *vocabulary) countPiece(piece string, queue *mergeQueue) int {
	if _, whole := v.rank[piece]; whole {
		return 1
	}
	if len(piece) <= scanMax {
		return v.countShort(piece)
	}
	return v.countLong(piece, queue)
}

// countShort merges a piece of at most scanMax bytes.
func (v *vocabulary) countShort(piece string) int {
	// Part i starts at start[i]; rank[i] is that of merging parts i and
	// i+1. The last start is the end of the piece.
	var start [scanMax + 1]int
	var rank [scanMax + 1]uint32
	parts := len(piece)
	for i := range parts {
		start[i] = i
		rank[i] = noRank
		if i+2 <= parts {
			rank[i] = v.mergeRank(piece[i : i+2])
		}
	}
	start[parts] = parts
	for {
		lowest, at := uint32(noRank), 0
		for i, r := range rank[:parts] {
			if r < lowest {
				lowest, at = r, i
			}
		}
		if lowest == noRank {
			return parts
		}
		copy(start[at+1:parts], start[at+2:parts+1])
		copy(rank[at+1:parts-1], rank[at+2:parts])
		parts--
		rank[at] = noRank
		if at+2 <= parts {
			rank[at] = v.mergeRank(piece[start[at]:start[at+2]])
		}
		if at > 0 {
			rank[at-1] = v.mergeRank(piece[start[at-1]:start[at+1]])
		}
	}
}

// A mergeQueue is the working memory of countLong, kept for reuse.
type mergeQueue struct {
	parts []part
	heap  []uint64 // rank<<positionBits | position, a binary min-heap
}

const positionBits = 64 - rankBits

// A part is a node of the list of parts; its index is the byte it starts at.
type part struct {
	previous, next int
	rank           uint32 // of merging with next; noRank also once merged away
}

// countLong merges a piece of any length in O(n log n), in the same order
// as countShort: keys sort by rank, then position. A key whose rank is no
// longer its part's is stale and dropped when it surfaces.
func (v *vocabulary) countLong(piece string, queue *mergeQueue) int {
	queue.fill(v, piece)
	count, parts := len(piece), queue.parts
	for len(queue.heap) > 0 {
		key := queue.pop()
		at := int(key & (1<<positionBits - 1))
		if parts[at].rank != uint32(key>>positionBits) {
			continue
		}
		gone := parts[at].next
		after := parts[gone].next
		parts[gone].rank = noRank
		parts[at].next = after
		if after < len(piece) {
			parts[after].previous = at
		}
		count--
		queue.rerank(v, piece, at)
		if before := parts[at].previous; before >= 0 {
			queue.rerank(v, piece, before)
		}
	}
	return count
}

// fill starts with one part a byte.
func (q *mergeQueue) fill(v *vocabulary, piece string) {
	q.parts, q.heap = q.parts[:0], q.heap[:0]
	for i := range len(piece) {
		rank := uint32(noRank)
		if i+2 <= len(piece) {
			rank = v.mergeRank(piece[i : i+2])
		}
		q.parts = append(q.parts, part{i - 1, i + 1, rank})
		if rank != noRank {
			q.heap = append(q.heap, uint64(rank)<<positionBits|uint64(i))
		}
	}
	for i := len(q.heap)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
}

// rerank sets the rank of merging the part at with its new neighbour.
func (q *mergeQueue) rerank(v *vocabulary, piece string, at int) {
	p := &q.parts[at]
	p.rank = noRank
	if p.next == len(piece) {
		return
	}
	p.rank = v.mergeRank(piece[at:q.parts[p.next].next])
	if p.rank != noRank {
		q.push(uint64(p.rank)<<positionBits | uint64(at))
	}
}

func (q *mergeQueue) push(key uint64) {
	q.heap = append(q.heap, key)
	for i := len(q.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if q.heap[up] <= key {
			break
		}
		q.heap[i], q.heap[up] = q.heap[up], key
		i = up
	}
}

func (q *mergeQueue) pop() uint64 {
	top, last := q.heap[0], len(q.heap)-1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.sink(0)
	return top
}

func (q *mergeQueue) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			return
		}
		if right := child + 1; right < len(q.heap) && q.heap[right] < q.heap[child] {
			child = right
		}
		if q.heap[i] <= q.heap[child] {
			return
		}
		q.heap[i], q.heap[child] = q.heap[child], q.heap[i]
		i = child
	}
}
