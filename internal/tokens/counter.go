package tokens

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// A Counter counts the tokens of one tokenizer. It is safe for
// concurrent use.
type Counter struct {
	name   string
	bpe    *vocabulary // nil for chars4
	scan   scanner
	cache  *pieceCache
	queues sync.Pool // of *mergeQueue
}

const (
	o200kBase  = "o200k_base"
	cl100kBase = "cl100k_base"
	chars4     = "chars4"

	// charsPerToken is the divisor of chars4, in code points.
	charsPerToken = 4
)

// The two vocabularies are megabytes that never change, so that a process
// reads each at most once, when it is first asked for.
var (
	o200kCounter  = sync.OnceValues(func() (*Counter, error) { return newBPE(o200kBase, nextO200k) })
	cl100kCounter = sync.OnceValues(func() (*Counter, error) { return newBPE(cl100kBase, nextCl100k) })
)

// Names returns the names that New knows, the default first.
func Names() []string {
	return []string{o200kBase, cl100kBase, chars4}
}

// New returns the counter called name; calls for one BPE encoding share one.
// The first call for a BPE encoding takes some 40 ms to read its embedded
// vocabulary. An unknown name is an error that lists the known ones.
func New(name string) (*Counter, error) {
	switch name {
	case o200kBase:
		return o200kCounter()
	case cl100kBase:
		return cl100kCounter()
	case chars4:
		return &Counter{name: chars4}, nil
	}
	return nil, fmt.Errorf("unknown tokenizer %q\nhint: use %s, %s or %s", name, o200kBase, cl100kBase, chars4)
}

func newBPE(name string, next func(*scanner, string, int) int) (*Counter, error) {
	v, err := loadVocabulary(name)
	if err != nil {
		return nil, err
	}
	return &Counter{
		name:   name,
		bpe:    v,
		scan:   scanner{classes(), next},
		cache:  newPieceCache(),
		queues: sync.Pool{New: func() any { return new(mergeQueue) }},
	}, nil
}

// Name returns the tokenizer's name, one of Names.
func (c *Counter) Name() string { return c.name }

// Count returns the tokens of text, at least 0: Tokens(Measure(text)).
func (c *Counter) Count(text string) int {
	return c.Tokens(c.Measure(text))
}

// Measure returns a figure of text that may be added over parts that meet
// at an exact seam, at least 0: tokens for a BPE encoding, code points for
// chars4. Ill-formed UTF-8 counts as the text in which each maximal
// subpart of an ill-formed sequence is one U+FFFD.
func (c *Counter) Measure(text string) int {
	if c.bpe == nil {
		return units(text)
	}
	text = wellFormed(text)
	sum := 0
	for i := 0; i < len(text); {
		end := c.scan.next(&c.scan, text, i)
		sum += c.piece(text[i:end])
		i = end
	}
	return sum
}

// Tokens turns a measure, or a sum of measures, into tokens: the measure
// itself for a BPE encoding, ceil(measure / 4) for chars4.
func (c *Counter) Tokens(measure int) int {
	if c.bpe != nil {
		return measure
	}
	return (measure + charsPerToken - 1) / charsPerToken
}

// Prefix returns the measure and the length in bytes of the longest
// prefix of text that ends at a pre-token boundary of text and has at most
// n bytes; for chars4, at a code point's. The measure is that of the prefix
// within text, where blanks at its end may be cut otherwise than alone. The
// rest, text[bytes:], measures Measure(text) − measure, and Prefix can go on
// in it.
func (c *Counter) Prefix(text string, n int) (measure, bytes int) {
	switch {
	case n >= len(text):
		return c.Measure(text), len(text)
	case c.bpe == nil:
		for bytes < n {
			width, _ := unitAt(text, bytes)
			if bytes+width > n {
				break
			}
			bytes += width
			measure++
		}
		return measure, bytes
	case utf8.ValidString(text):
		for bytes < n {
			end := c.scan.next(&c.scan, text, bytes)
			if end > n {
				break
			}
			measure += c.piece(text[bytes:end])
			bytes = end
		}
		return measure, bytes
	}
	// Pieces are those of the mended text, lengths those of the given one.
	clean := wellFormed(text)
	for i := 0; i < len(clean); {
		end := c.scan.next(&c.scan, clean, i)
		piece, length := clean[i:end], bytes
		for range utf8.RuneCountInString(piece) {
			width, _ := unitAt(text, length)
			length += width
		}
		if length > n {
			break
		}
		measure += c.piece(piece)
		i, bytes = end, length
	}
	return measure, bytes
}

// piece returns the tokens of one pre-token.
func (c *Counter) piece(piece string) int {
	if len(piece) == 1 {
		return 1
	}
	tokens, home, found := c.cache.find(piece)
	if !found {
		queue := c.queues.Get().(*mergeQueue)
		tokens = c.bpe.countPiece(piece, queue)
		c.queues.Put(queue)
		c.cache.add(piece, home, tokens)
	}
	return tokens
}
