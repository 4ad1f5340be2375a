package python

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// isNameByte reports whether a byte may stand in a name: letters, digits, _ and
// whatever is not ASCII; see isIdentifier.
func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c >= utf8.RuneSelf
}

// isIdentifier reports whether a word may be a name: Unicode's XID_Start or _,
// then XID_Continue.
func isIdentifier(word string) bool {
	for i, r := range word {
		if !isXID(r, i == 0) {
			return false
		}
	}
	return true
}

// isXID derives the properties XID_Start and XID_Continue as Unicode's annex 31
// does: what ID_Start and ID_Continue have, as long as the normal form of the
// character has it too.
func isXID(r rune, start bool) bool {
	if !isID(r, start) {
		return false
	}
	if r < utf8.RuneSelf {
		return true
	}
	for i, n := range norm.NFKC.String(string(r)) {
		if !isID(n, start && i == 0) {
			return false
		}
	}
	return true
}

func isID(r rune, start bool) bool {
	if unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space) {
		return false
	}
	if r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start) {
		return true
	}
	return !start && unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
}

// sameName reports whether a name as written is a name in normal form.
func sameName(written, name string) bool {
	if written == name {
		return true
	}
	for i := range len(written) {
		if written[i] >= utf8.RuneSelf {
			return norm.NFKC.String(written) == name
		}
	}
	return false
}
