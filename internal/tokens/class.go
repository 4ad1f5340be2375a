package tokens

import (
	"sync"
	"unicode"
)

// A class says what the pre-token patterns ask about a code point. The
// values are bits, so that a set of classes is tested with one AND; every
// code point has exactly one.
type class uint8

const (
	upper   class = 1 << iota // Lu, Lt
	lower                     // Ll
	uncased                   // Lm, Lo: both halves of a word take them
	mark                      // M
	number                    // N
	space                     // White_Space without CR and LF
	newline                   // CR, LF
	other                     // punctuation, symbols, controls, unassigned
)

const (
	letter   = upper | lower | uncased
	wordHead = upper | uncased | mark // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	wordTail = lower | uncased | mark // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	symbol   = other | mark           // [^\s\p{L}\p{N}]
	white    = space | newline        // \s
)

type classTable [unicode.MaxRune + 1]class

// classes is the table of every code point's class: one megabyte, filled
// once, read-only afterwards. The library's patterns run on the same
// unicode tables, so both know the same Unicode version.
var classes = sync.OnceValue(func() *classTable {
	table := new(classTable)
	for r := range table {
		table[r] = other
	}
	table.set(upper, unicode.Lu, unicode.Lt)
	table.set(lower, unicode.Ll)
	table.set(uncased, unicode.Lm, unicode.Lo)
	table.set(mark, unicode.M)
	table.set(number, unicode.N)
	table.set(space, unicode.White_Space)
	table['\r'], table['\n'] = newline, newline
	return table
})

func (t *classTable) set(c class, ranges ...*unicode.RangeTable) {
	for _, in := range ranges {
		for _, r := range in.R16 {
			for at := rune(r.Lo); at <= rune(r.Hi); at += rune(r.Stride) {
				t[at] = c
			}
		}
		for _, r := range in.R32 {
			for at := rune(r.Lo); at <= rune(r.Hi); at += rune(r.Stride) {
				t[at] = c
			}
		}
	}
}
