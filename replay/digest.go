package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/toolgauge/toolgauge/pipeline/registry"
)

const (
	// digestsMax is how many arrays a digester keeps: those of a session's arms,
	// before and behind a few events.
	digestsMax = 16
	// markEvery is how many entries lie between two places to go on from.
	markEvery = 8
)

// digester makes the digests of tools arrays. Most arrays begin as an earlier one
// does, so it goes on from the last place that a kept one has in common.
type digester struct {
	kept   [digestsMax]digested
	next   int
	buffer [1 << 12]byte
}

// digested is an array whose digest is known.
type digested struct {
	definitions []*registry.Definition
	digest      string // hex of the SHA-256 of the array's bytes
	bytes       int
	marks       []digestMark // one behind every markEvery entries
}

// digestMark is a digest under way.
type digestMark struct {
	hash  hash.Cloner
	bytes int
}

// sum is the hex digest of the tools array's bytes, and their number.
func (d *digester) sum(definitions []*registry.Definition) (digest string, bytes int) {
	var marks []digestMark
	for i := range d.kept {
		k := &d.kept[i]
		n := commonEntries(k.definitions, definitions)
		if k.digest != "" && n == len(k.definitions) && n == len(definitions) {
			return k.digest, k.bytes
		}
		if n = min(n/markEvery, len(k.marks)); n > len(marks) {
			marks = k.marks[:n:n]
		}
	}
	made := d.finish(definitions, marks)
	d.kept[d.next] = made
	d.next = (d.next + 1) % digestsMax
	return made.digest, made.bytes
}

// finish digests what follows the last of an array's marks.
func (d *digester) finish(definitions []*registry.Definition, marks []digestMark) digested {
	h, bytes := hash.Hash(nil), 0
	write := func(s string) {
		bytes += len(s)
		for len(s) > 0 {
			n := copy(d.buffer[:], s)
			h.Write(d.buffer[:n])
			s = s[n:]
		}
	}
	if len(marks) > 0 {
		last := marks[len(marks)-1]
		if clone, err := last.hash.Clone(); err == nil {
			h, bytes = clone, last.bytes
		}
	}
	from := len(marks) * markEvery
	if h == nil {
		h, marks, from = sha256.New(), nil, 0
		write("[")
	}
	for i := from; i < len(definitions); i++ {
		if i > 0 {
			write(",")
		}
		write(definitions[i].JSON)
		if (i+1)%markEvery == 0 {
			marks = appendMark(marks, h, bytes)
		}
	}
	write("]")
	return digested{definitions, hex.EncodeToString(h.Sum(nil)), bytes, marks}
}

// appendMark appends a mark, if the hash can be cloned.
func appendMark(marks []digestMark, h hash.Hash, bytes int) []digestMark {
	cloner, ok := h.(hash.Cloner)
	if !ok {
		return marks
	}
	clone, err := cloner.Clone()
	if err != nil {
		return marks
	}
	return append(marks, digestMark{clone, bytes})
}

// commonEntries is how many definitions two arrays have in common from their
// beginning.
func commonEntries(a, b []*registry.Definition) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
