package shape

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/clock"
)

// The bounds of a Store. The oldest results go first.
const (
	OwnerResultsMax = 256       // results of one owner
	OwnerBytesMax   = 64 << 20  // of the results of one owner
	StoreBytesMax   = 256 << 20 // of all results
	KeptFor         = time.Hour // on the store's clock
)

// Store keeps whole results by owner and handle, so that what was left out can be
// read. Owners see nothing of one another: a handle says nothing outside of its
// owner's results. It is safe for concurrent use.
type Store struct {
	time clock.Clock

	mu     sync.Mutex
	owners map[string]*shelf
	ages   *list.List // of *stored, the oldest first
	bytes  int
}

// shelf is what one owner has.
type shelf struct {
	results map[string]*stored
	ages    *list.List // of *stored, the oldest first
	bytes   int
}

// stored is a result in a store, and its places in the order of age.
type stored struct {
	owner, handle, text string
	until               time.Time
	inAll, inOwn        *list.Element
}

// NewStore returns an empty Store.
func NewStore(t clock.Clock) *Store {
	return &Store{time: t, owners: make(map[string]*shelf), ages: list.New()}
}

// Put keeps a text and returns its handle, which depends on the owner and id alone.
// A text under the same id takes the place of the one before it. Empty means that
// the text is larger than all that an owner may have.
func (s *Store) Put(owner, id, text string) string {
	text = valid(text)
	if len(text) > OwnerBytesMax {
		return ""
	}
	handle := handleOf(owner, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	own := s.owners[owner]
	if own != nil && own.results[handle] != nil {
		s.remove(own.results[handle])
		own = s.owners[owner]
	}
	for own != nil && (own.ages.Len() >= OwnerResultsMax || own.bytes+len(text) > OwnerBytesMax) {
		s.remove(own.ages.Front().Value.(*stored))
		own = s.owners[owner]
	}
	for s.bytes+len(text) > StoreBytesMax {
		s.remove(s.ages.Front().Value.(*stored))
	}
	s.add(&stored{owner: owner, handle: handle, text: text, until: s.time.Now().Add(KeptFor)})
	return handle
}

// handleOf makes a handle of 12 hexadecimal digits.
func handleOf(owner, id string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%s/%s", len(owner), owner, id))
	return "r" + hex.EncodeToString(sum[:6])
}

func (s *Store) add(r *stored) {
	own := s.owners[r.owner]
	if own == nil {
		own = &shelf{results: make(map[string]*stored), ages: list.New()}
		s.owners[r.owner] = own
	}
	own.results[r.handle] = r
	r.inAll, r.inOwn = s.ages.PushBack(r), own.ages.PushBack(r)
	own.bytes += len(r.text)
	s.bytes += len(r.text)
}

func (s *Store) remove(r *stored) {
	own := s.owners[r.owner]
	delete(own.results, r.handle)
	own.ages.Remove(r.inOwn)
	s.ages.Remove(r.inAll)
	own.bytes -= len(r.text)
	s.bytes -= len(r.text)
	if len(own.results) == 0 {
		delete(s.owners, r.owner)
	}
}

// expire removes what has been kept long enough.
func (s *Store) expire() {
	now := s.time.Now()
	for e := s.ages.Front(); e != nil; e = s.ages.Front() {
		r := e.Value.(*stored)
		if now.Before(r.until) {
			return
		}
		s.remove(r)
	}
}

// ErrNoResult is the error of a handle that is not, or no longer, the owner's.
var ErrNoResult = errors.New("no such result")

// whole returns the text of a handle.
func (s *Store) whole(owner, handle string) (string, error) {
	handle = strings.TrimPrefix(handle, resultScheme)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if own := s.owners[owner]; own != nil && own.results[handle] != nil {
		return own.results[handle].text, nil
	}
	return "", fmt.Errorf("handle %q: %w\nhint: results are kept for %s; call the tool again for a new handle", shown(handle), ErrNoResult, KeptFor)
}

// shown is a text of somebody else's, short enough for an error.
func shown(text string) string {
	const most = 64
	if len(text) <= most {
		return text
	}
	return text[:byteOffset(text, most)] + "…"
}

// Read returns length code points of a result from offset on, fewer at its end.
func (s *Store) Read(owner, handle string, offset, length int) (string, error) {
	text, err := s.whole(owner, handle)
	if err != nil {
		return "", err
	}
	piece, _, err := slice(text, offset, length)
	return piece, err
}

// slice returns length code points from offset on, and how many code points there
// are.
func slice(text string, offset, length int) (piece string, total int, err error) {
	total = utf8.RuneCountInString(text)
	switch {
	case offset < 0 || offset > total:
		return "", total, fmt.Errorf("offset %d is outside of the text\nhint: it has %d code points; the first is at offset 0", offset, total)
	case length < 0:
		return "", total, fmt.Errorf("length %d is below 0\nhint: leave it out for %d code points", length, DefaultLength)
	}
	text = text[byteOffset(text, offset):]
	return text[:byteOffset(text, length)], total, nil
}

// Pointer returns the value that a JSON pointer (RFC 6901) names in a result.
func (s *Store) Pointer(owner, handle, pointer string) (string, error) {
	text, err := s.whole(owner, handle)
	if err != nil {
		return "", err
	}
	return resolve(text, pointer)
}
