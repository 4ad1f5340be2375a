package shape

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// Bounds of what a store keeps; the oldest go first.
const (
	storeBytesMax   = 64 << 20
	storeResultsMax = 1000
)

// Store keeps whole results, redacted, for those whose results they are. It is safe for
// concurrent use.
type Store struct {
	mu    sync.Mutex
	all   map[storeKey]*list.Element // of *kept
	order *list.List                 // the latest first
	bytes int
}

type storeKey struct{ owner, handle string }

type kept struct {
	key  storeKey
	text string
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{all: make(map[storeKey]*list.Element), order: list.New()} }

// keep stores a result. Its handle is made from what tells it from others, so that it is
// the same in every replay; who does not own the result cannot use it.
func (s *Store) keep(owner, of, text string) string {
	sum := sha256.Sum256([]byte(owner + "\x00" + of))
	key := storeKey{owner, "r_" + hex.EncodeToString(sum[:8])}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.all[key]; at != nil {
		s.drop(at)
	}
	s.all[key] = s.order.PushFront(&kept{key, text})
	s.bytes += len(text)
	for s.order.Len() > 1 && (s.bytes > storeBytesMax || s.order.Len() > storeResultsMax) {
		s.drop(s.order.Back())
	}
	return key.handle
}

func (s *Store) drop(at *list.Element) {
	k := at.Value.(*kept)
	s.order.Remove(at)
	delete(s.all, k.key)
	s.bytes -= len(k.text)
}

// Whole returns a result by its handle.
func (s *Store) Whole(owner, handle string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.all[storeKey{owner, handle}]
	if at == nil {
		return "", false
	}
	return at.Value.(*kept).text, true
}

// Lengths of a piece, in code points.
const (
	pieceDefault = 8000
	pieceMax     = 100_000
)

// Call reads a piece of a result: arguments are {"handle", "offset", "length"} in code
// points, or {"handle", "pointer"}, a JSON pointer. The piece begins with a line that
// says where it stands.
func (s *Store) Call(owner string, arguments json.RawMessage) (string, error) {
	var in struct {
		Handle         string
		Offset, Length int
		Pointer        *string
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return "", errors.New("the arguments are not those of result_read: give handle, and offset and length or pointer")
	}
	text, ok := s.Whole(owner, in.Handle)
	if !ok {
		return "", fmt.Errorf("there is no result %.40q: it is another session's, or newer results pushed it out; make the call again that gave it", in.Handle)
	}
	if in.Pointer != nil {
		value, err := at(text, *in.Pointer)
		if err != nil {
			return "", err
		}
		return string(value), nil
	}
	if in.Length <= 0 {
		in.Length = pieceDefault
	}
	total := utf8.RuneCountInString(text)
	if in.Offset < 0 || in.Offset >= max(total, 1) {
		return "", fmt.Errorf("offset %d is outside of the result, which has %d characters", in.Offset, total)
	}
	piece := slice(text, in.Offset, min(in.Length, pieceMax))
	end := in.Offset + utf8.RuneCountInString(piece)
	return fmt.Sprintf("[characters %d to %d of %d]\n%s", in.Offset, end, total, piece), nil
}

// slice cuts out length code points from an offset.
func slice(text string, offset, length int) string {
	start, n := len(text), 0
	for i := range text {
		if n == offset {
			start = i
		}
		if n == offset+length {
			return text[start:i]
		}
		n++
	}
	return text[start:]
}

// at follows a JSON pointer (RFC 6901).
func at(text, pointer string) (json.RawMessage, error) {
	value, err := rawjson.Compact([]byte(text))
	if err != nil {
		return nil, errors.New("the result is no JSON: read it by offset and length")
	}
	if pointer == "" {
		return value, nil
	}
	if pointer[0] != '/' {
		return nil, fmt.Errorf("%.80q is no JSON pointer: it begins with /", pointer)
	}
	for i, part := range strings.Split(pointer[1:], "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		next, ok := member(value, part)
		if !ok {
			return nil, fmt.Errorf("the result has nothing at %.80q: part %d, %.40q, is not there", pointer, i+1, part)
		}
		value = next
	}
	return value, nil
}

func member(value json.RawMessage, name string) (json.RawMessage, bool) {
	switch rawjson.Kind(value) {
	case "object":
		fields, err := rawjson.Object(value)
		if err != nil {
			return nil, false
		}
		return rawjson.Get(fields, name)
	case "array":
		elements, err := rawjson.Array(value)
		i, bad := strconv.Atoi(name)
		if err != nil || bad != nil || i < 0 || i >= len(elements) {
			return nil, false
		}
		return elements[i], true
	}
	return nil, false
}
