package tokens

import (
	"strings"
	"unicode/utf8"
)

// wellFormed returns text with each maximal subpart of an ill-formed
// sequence replaced by one U+FFFD (Unicode Standard, section 3.9, the
// practice that web decoders follow). A well-formed text comes back
// as it is, without a copy.
//
// strings.ToValidUTF8 joins neighbouring faults into one replacement and a
// range loop replaces byte by byte; both give other counts.
func wellFormed(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var clean strings.Builder
	clean.Grow(len(text) + 16)
	for i := 0; i < len(text); {
		width, valid := unitAt(text, i)
		if valid {
			clean.WriteString(text[i : i+width])
		} else {
			clean.WriteRune(utf8.RuneError)
		}
		i += width
	}
	return clean.String()
}

// unitAt returns the width in bytes of the unit at text[i:]: a
// well-formed code point, or the maximal subpart of an ill-formed one.
func unitAt(text string, i int) (width int, valid bool) {
	r, width := utf8.DecodeRuneInString(text[i:])
	if r != utf8.RuneError || width != 1 {
		return width, true
	}
	return subpart(text[i:]), false
}

// subpart returns the length of the maximal subpart that an ill-formed
// sequence starts with: 1, 2 or 3 bytes. The byte ranges are those of the
// Unicode Standard's table of well-formed byte sequences.
func subpart(s string) int {
	tail, low, high := 0, byte(0x80), byte(0xBF)
	switch lead := s[0]; {
	case lead >= 0xC2 && lead <= 0xDF:
		tail = 1
	case lead == 0xE0:
		tail, low = 2, 0xA0
	case lead == 0xED:
		tail, high = 2, 0x9F
	case lead >= 0xE1 && lead <= 0xEF:
		tail = 2
	case lead == 0xF0:
		tail, low = 3, 0x90
	case lead >= 0xF1 && lead <= 0xF3:
		tail = 3
	case lead == 0xF4:
		tail, high = 3, 0x8F
	}
	n := 1
	for ; n <= tail && n < len(s) && s[n] >= low && s[n] <= high; n++ {
		low, high = 0x80, 0xBF
	}
	return n
}

// units returns how many code points text has once it is well-formed.
func units(text string) int {
	if utf8.ValidString(text) {
		return utf8.RuneCountInString(text)
	}
	n := 0
	for i := 0; i < len(text); n++ {
		width, _ := unitAt(text, i)
		i += width
	}
	return n
}
