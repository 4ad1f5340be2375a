package tokens

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

const (
	// cacheSlots bounds the cache: at most this many pieces are kept, and
	// a new piece then takes the place of an old one.
	cacheSlots = 1 << 16

	// cacheProbes is how many slots a piece may stand in.
	cacheProbes = 8

	// cachedPieceMax is the longest piece in bytes that is kept.
	cachedPieceMax = 128
)

// A pieceCache remembers how many tokens pieces become. It is safe for
// concurrent use without locks: a slot is replaced whole, so a reader
// sees an entry or another one, and each is true. What it forgets
// costs time and never changes a count.
type pieceCache struct {
	seed  maphash.Seed
	slots [cacheSlots]atomic.Pointer[countedPiece]
}

type countedPiece struct {
	text   string
	tokens int
}

func newPieceCache() *pieceCache {
	return &pieceCache{seed: maphash.MakeSeed()}
}

// find returns the count of a piece, or the home slot under which it can
// be added.
func (p *pieceCache) find(piece string) (tokens int, home uint64, found bool) {
	home = maphash.String(p.seed, piece)
	for probe := range uint64(cacheProbes) {
		entry := p.slots[(home+probe)%cacheSlots].Load()
		if entry == nil {
			break
		}
		if entry.text == piece {
			return entry.tokens, home, true
		}
	}
	return 0, home, false
}

// add keeps the count of a piece in the first free slot of its own, else
// in place of one that its hash names.
func (p *pieceCache) add(piece string, home uint64, tokens int) {
	if len(piece) > cachedPieceMax {
		return
	}
	entry := &countedPiece{strings.Clone(piece), tokens}
	for probe := range uint64(cacheProbes) {
		if p.slots[(home+probe)%cacheSlots].CompareAndSwap(nil, entry) {
			return
		}
	}
	p.slots[(home+(home>>32)%cacheProbes)%cacheSlots].Store(entry)
}
