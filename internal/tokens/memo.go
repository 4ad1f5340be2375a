package tokens

import "strings"

const (
	// memoBytesMax bounds what a Memo keeps, in bytes: 64 MiB. A Memo that
	// would pass it forgets everything and starts again.
	memoBytesMax = 64 << 20

	// memoEntryBytes is what an entry takes beside its text, roughly.
	memoEntryBytes = 64
)

// A Memo remembers measures by content, for texts that come again and again:
// tool definitions, listings, their lines. (A text that comes once is better
// given to the Counter.) It keeps at most 64 MiB and then starts afresh. It
// is not safe for concurrent use: give each worker its own.
type Memo struct {
	counter  *Counter
	measures map[string]int
	bytes    int
	bytesMax int
}

// NewMemo returns an empty memo of c's measures.
func NewMemo(c *Counter) *Memo {
	return &Memo{counter: c, measures: make(map[string]int), bytesMax: memoBytesMax}
}

// Counter returns the counter whose measures are remembered.
func (m *Memo) Counter() *Counter { return m.counter }

// Measure returns Counter.Measure of text, remembered.
func (m *Memo) Measure(text string) int {
	if m.counter.bpe == nil {
		return units(text) // as fast as looking it up
	}
	if measure, known := m.measures[text]; known {
		return measure
	}
	measure := m.counter.Measure(text)
	m.keep(text, measure)
	return measure
}

// MeasureCut returns Measure(text) as the sum over the chunks that text
// falls into when it is cut at bytes into each occurrence of seam; each
// chunk is remembered, so that a text which shares most chunks with earlier
// ones is cheap. Where SeamExact(seam, at) does not hold, text is not cut:
// the measure is right, and whole texts are remembered.
func (m *Memo) MeasureCut(text, seam string, at int) int {
	if m.counter.bpe == nil || !SeamExact(seam, at) {
		return m.Measure(text)
	}
	sum, start, from := 0, 0, 0
	for {
		found := strings.Index(text[from:], seam)
		if found < 0 {
			return sum + m.Measure(text[start:])
		}
		cut := from + found + at
		sum += m.Measure(text[start:cut])
		start, from = cut, cut
	}
}

// keep remembers a measure. The key is a copy, since a chunk would hold
// on to the whole text that it was cut from.
func (m *Memo) keep(text string, measure int) {
	size := len(text) + memoEntryBytes
	if size > m.bytesMax {
		return
	}
	if m.bytes+size > m.bytesMax {
		clear(m.measures)
		m.bytes = 0
	}
	m.bytes += size
	m.measures[strings.Clone(text)] = measure
}
