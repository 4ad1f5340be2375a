package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// The tools array is counted entry by entry: each entry is cut between `{"` and
// `type`, where no token crosses, so the sum is the count of the whole array.
const (
	entryOpen = `{"`
	arrayHead = `[` + entryOpen
	between   = `,` + entryOpen
	arrayTail = `]`

	listingSeam   = `\n- `
	listingSeamAt = len(`\n`)
	namesSeam     = `, `
	namesSeamAt   = len(`,`)
)

// surfaceCounter measures tools arrays. It keeps the measures of definitions by
// pointer, which stands for their content, and of everything else by text.
type surfaceCounter struct {
	counter *tokens.Counter
	memo    *tokens.Memo
	entries map[*registry.Definition]entryMeasure
}

// entryMeasure is that of an entry followed by another, and of the last one.
type entryMeasure struct{ mid, last int }

// entriesMax bounds the kept measures; a full map is emptied.
const entriesMax = 1 << 18

func newSurfaceCounter(c *tokens.Counter, memo *tokens.Memo) *surfaceCounter {
	return &surfaceCounter{counter: c, memo: memo, entries: make(map[*registry.Definition]entryMeasure)}
}

// entryText is an entry as the array holds it, from behind its opening.
func entryText(d *registry.Definition, last bool) string {
	if last {
		return d.JSON[len(entryOpen):] + arrayTail
	}
	return d.JSON[len(entryOpen):] + between
}

func (c *surfaceCounter) entry(d *registry.Definition, last bool) int {
	if d.Name == bridge.SearchTool {
		return c.cutMeasure(entryText(d, last))
	}
	m, ok := c.entries[d]
	if !ok {
		m = entryMeasure{mid: c.counter.Measure(entryText(d, false)), last: c.counter.Measure(entryText(d, true))}
		if len(c.entries) >= entriesMax {
			clear(c.entries)
		}
		c.entries[d] = m
	}
	if last {
		return m.last
	}
	return m.mid
}

// cutMeasure measures a text that may hold a listing: new at every assembly,
// its lines and names seldom.
func (c *surfaceCounter) cutMeasure(text string) int {
	if strings.Contains(text, listingSeam) {
		return c.memo.MeasureCut(text, listingSeam, listingSeamAt)
	}
	return c.memo.MeasureCut(text, namesSeam, namesSeamAt)
}

// measure is that of a whole tools array.
func (c *surfaceCounter) measure(definitions []*registry.Definition) int {
	if len(definitions) == 0 {
		return c.memo.Measure("[]")
	}
	sum := c.memo.Measure(arrayHead)
	for i, d := range definitions {
		sum += c.entry(d, i == len(definitions)-1)
	}
	return sum
}

func (c *surfaceCounter) tokens(definitions []*registry.Definition) int {
	return c.counter.Tokens(c.measure(definitions))
}

// retained is the share of after's tokens that lie in the common byte prefix of
// both arrays, cut back to a pre-token boundary: what a prompt cache keeps.
func (c *surfaceCounter) retained(before, after []*registry.Definition) float64 {
	total := c.tokens(after)
	if len(before) == 0 || len(after) == 0 {
		if len(before) == len(after) {
			return 1
		}
		return 0
	}
	common := c.memo.Measure(arrayHead)
	for i, d := range after {
		last := i == len(after)-1
		if i >= len(before) {
			break
		}
		if before[i] == d && last == (i == len(before)-1) {
			common += c.entry(d, last)
			continue
		}
		text := entryText(d, last)
		common += c.prefix(text, commonBytes(text, entryText(before[i], i == len(before)-1)))
		break
	}
	return float64(c.counter.Tokens(common)) / float64(total)
}

// prefix measures the first n bytes of text, cut back to a pre-token boundary.
// Everything up to the last seam is measured by chunks, which are known.
func (c *surfaceCounter) prefix(text string, n int) int {
	cut := 0
	if i := strings.LastIndex(text[:n], listingSeam); i >= 0 {
		cut = i + listingSeamAt
	}
	measure := 0
	if cut > 0 {
		measure = c.cutMeasure(text[:cut])
	}
	rest, _ := c.counter.Prefix(text[cut:], n-cut)
	return measure + rest
}

// commonBytes is the length of the common prefix, found block by block.
func commonBytes(a, b string) int {
	const block = 256
	n, i := min(len(a), len(b)), 0
	for i+block <= n && a[i:i+block] == b[i:i+block] {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// sameSurface reports whether two tools arrays have the same bytes.
func sameSurface(a, b []*registry.Definition) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && a[i].JSON != b[i].JSON {
			return false
		}
	}
	return true
}

// surfaceSHA256 is the hex digest of the tools array's bytes, and their number.
func surfaceSHA256(definitions []*registry.Definition) (digest string, bytes int) {
	h := sha256.New()
	buffer := make([]byte, 0, 1<<15)
	write := func(s string) {
		bytes += len(s)
		for len(s) > 0 {
			if len(buffer) == cap(buffer) {
				h.Write(buffer)
				buffer = buffer[:0]
			}
			n := copy(buffer[len(buffer):cap(buffer)], s)
			buffer = buffer[:len(buffer)+n]
			s = s[n:]
		}
	}
	write("[")
	for i, d := range definitions {
		if i > 0 {
			write(",")
		}
		write(d.JSON)
	}
	write("]")
	h.Write(buffer)
	return hex.EncodeToString(h.Sum(nil)), bytes
}
