package replay

import (
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

	sourceSeam   = ` tools (`
	sourceSeamAt = len(` tools`)

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
	parts   map[string]int // of listings, by their text
	// late are the last versions of tool_search, which outnumber all other
	// definitions and are long: to keep them all would keep every listing.
	late [lateMax]lateEntry
	next int
	// arrays are the last tools arrays measured: arms of one session share some.
	arrays     [arraysMax]arrayMeasure
	arraysNext int
}

// arrayMeasure is that of a tools array, which nobody changes once it is made.
type arrayMeasure struct {
	definitions []*registry.Definition
	measure     int
}

// entryMeasure is that of an entry followed by another, and of the last one.
type entryMeasure struct{ mid, last int }

type lateEntry struct {
	definition *registry.Definition
	entryMeasure
}

const (
	// entriesMax bounds the kept measures; a full map is emptied.
	entriesMax = 1 << 18
	partsMax   = 1 << 13
	lateMax    = 16
	arraysMax  = 32
)

func newSurfaceCounter(c *tokens.Counter, memo *tokens.Memo) *surfaceCounter {
	return &surfaceCounter{counter: c, memo: memo, entries: make(map[*registry.Definition]entryMeasure), parts: make(map[string]int)}
}

// entryTail is what follows an entry in the array.
func entryTail(last bool) string {
	if last {
		return arrayTail
	}
	return between
}

// entry is the measure of an entry from behind its opening, with its tail.
func (c *surfaceCounter) entry(d *registry.Definition, last bool) int {
	m := c.entryMeasure(d)
	if last {
		return m.last
	}
	return m.mid
}

func (c *surfaceCounter) entryMeasure(d *registry.Definition) entryMeasure {
	if d.Name == bridge.SearchTool {
		for i := range c.late {
			if c.late[i].definition == d {
				return c.late[i].entryMeasure
			}
		}
		m := c.withTails(d.JSON[len(entryOpen):], c.cutMeasure)
		c.late[c.next] = lateEntry{d, m}
		c.next = (c.next + 1) % lateMax
		return m
	}
	m, ok := c.entries[d]
	if !ok {
		m = c.withTails(d.JSON[len(entryOpen):], c.counter.Measure)
		if len(c.entries) >= entriesMax {
			clear(c.entries)
		}
		c.entries[d] = m
	}
	return m
}

// withTails measures an entry with either tail. Only its end is put together
// with them; see cutEnd.
func (c *surfaceCounter) withTails(text string, measure func(string) int) entryMeasure {
	head, end := cutEnd(text)
	m := measure(head)
	return entryMeasure{mid: m + c.memo.Measure(end+between), last: m + c.memo.Measure(end+arrayTail)}
}

// cutEnd cuts a text behind its last ASCII letter that an ASCII symbol other
// than the apostrophe follows. There a pre-token ends whatever stands around it
// (tokens.SeamExact gives the rule). A text without such a place is all end.
func cutEnd(text string) (head, end string) {
	for i := len(text) - 1; i > 0; i-- {
		if c := text[i]; c <= ' ' || c >= 0x7f || c == '\'' || isLetter(c) || c >= '0' && c <= '9' {
			continue
		}
		if isLetter(text[i-1]) {
			return text[:i], text[i:]
		}
	}
	return "", text
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// cutMeasure measures a text that may hold a listing: new at every assembly, the
// parts of its sources seldom, its lines and names hardly ever.
func (c *surfaceCounter) cutMeasure(text string) int {
	sum := 0
	for {
		i := strings.Index(text, sourceSeam)
		if i < 0 {
			return sum + c.lineMeasure(text)
		}
		part := text[:i+sourceSeamAt]
		measure, known := c.parts[part]
		if !known {
			measure = c.lineMeasure(part)
			if len(c.parts) >= partsMax {
				clear(c.parts)
			}
			c.parts[strings.Clone(part)] = measure
		}
		sum, text = sum+measure, text[i+sourceSeamAt:]
	}
}

// lineMeasure measures a part of a listing by its lines or names.
func (c *surfaceCounter) lineMeasure(text string) int {
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
	for _, a := range c.arrays {
		if len(a.definitions) == len(definitions) && &a.definitions[0] == &definitions[0] {
			return a.measure
		}
	}
	sum := c.memo.Measure(arrayHead)
	for i, d := range definitions {
		sum += c.entry(d, i == len(definitions)-1)
	}
	c.arrays[c.arraysNext] = arrayMeasure{definitions, sum}
	c.arraysNext = (c.arraysNext + 1) % arraysMax
	return sum
}

func (c *surfaceCounter) tokens(definitions []*registry.Definition) int {
	return c.counter.Tokens(c.measure(definitions))
}

// retained is the share of after's tokens that lie in the common byte prefix of
// both arrays, cut back to a pre-token boundary: what a prompt cache keeps.
func (c *surfaceCounter) retained(before, after []*registry.Definition) float64 {
	if len(before) == 0 && len(after) == 0 {
		return 1
	}
	return float64(c.counter.Tokens(c.common(before, after))) / float64(c.tokens(after))
}

// common measures the common byte prefix of two different arrays, cut back to a
// pre-token boundary.
func (c *surfaceCounter) common(before, after []*registry.Definition) int {
	if len(before) == 0 || len(after) == 0 {
		return 0
	}
	common := c.memo.Measure(arrayHead)
	for i, d := range after {
		last := i == len(after)-1
		if i >= len(before) {
			break
		}
		if last == (i == len(before)-1) && sameText(before[i], d) {
			common += c.entry(d, last)
			continue
		}
		common += c.commonEntry(d, last, before[i], i == len(before)-1)
		break
	}
	return common
}

// commonEntry measures what two different entries have in common from their
// beginning.
func (c *surfaceCounter) commonEntry(d *registry.Definition, last bool, other *registry.Definition, otherLast bool) int {
	text, otherText := d.JSON[len(entryOpen):], other.JSON[len(entryOpen):]
	n := commonBytes(text, otherText)
	if n == len(text) || n == len(otherText) { // the tails may go on alike
		text, otherText = text+entryTail(last), otherText+entryTail(otherLast)
		n = commonBytes(text, otherText)
	}
	return c.prefix(text, n)
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
	if len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if !sameText(a[i], b[i]) {
			return false
		}
	}
	return true
}

// sameText reports whether two definitions read the same: one that an assembly
// makes, as the bridge's own, has another pointer each time.
func sameText(a, b *registry.Definition) bool { return a == b || a.JSON == b.JSON }
