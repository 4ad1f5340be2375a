package python

import (
	"slices"
	"strings"
	"unicode/utf8"
)

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads an integer, a floating point or an imaginary literal.
func (l *lexer) number() token {
	if l.peek(0) == '0' {
		switch l.peek(1) | 0x20 {
		case 'x':
			return l.radix("0123456789abcdef")
		case 'o':
			return l.radix("01234567")
		case 'b':
			return l.radix("01")
		}
	}
	start := l.at
	if l.peek(0) != '.' && !l.digits() {
		return l.breakOff("a number with a stray underscore")
	}
	whole := l.text[start:l.at]
	isFloat := false
	if l.peek(0) == '.' {
		isFloat = true
		l.at++
		if isDigit(l.peek(0)) && !l.digits() {
			return l.breakOff("a number with a stray underscore")
		}
	}
	if l.exponentAhead() {
		isFloat = true
		l.at++
		if !isDigit(l.peek(0)) {
			l.at++ // the sign
		}
		if !isDigit(l.peek(0)) || !l.digits() {
			return l.breakOff("a number without an exponent")
		}
	}
	t := token{number, l.line, ""}
	if l.peek(0)|0x20 == 'j' {
		l.at++
		t.kind = imaginary
	}
	if t.kind == number && !isFloat {
		switch {
		case whole[0] == '0' && strings.Trim(whole, "0_") != "":
			return l.breakOff("an integer that begins with 0")
		case len(whole)-strings.Count(whole, "_") > decimalDigitMax:
			return l.breakOff("an integer with too many digits")
		}
	}
	return l.numberEnd(t)
}

// digits passes decimal digits, of which single underscores may part any two.
func (l *lexer) digits() bool {
	for {
		for isDigit(l.peek(0)) {
			l.at++
		}
		if l.peek(0) != '_' {
			return true
		}
		l.at++
		if !isDigit(l.peek(0)) {
			return false
		}
	}
}

// exponentAhead reports whether an e begins an exponent: a digit or a sign
// follows. Otherwise it begins a word such as else.
func (l *lexer) exponentAhead() bool {
	return l.peek(0)|0x20 == 'e' && (isDigit(l.peek(1)) || l.peek(1) == '+' || l.peek(1) == '-')
}

// radix reads an integer with a prefix such as 0x. An underscore may follow the
// prefix too.
func (l *lexer) radix(digits string) token {
	isOne := func(c byte) bool { return isNameByte(c) && strings.IndexByte(digits, lower(c)) >= 0 }
	l.at += 2
	for {
		if l.peek(0) == '_' {
			l.at++
		}
		if !isOne(l.peek(0)) {
			return l.breakOff("a number without digits behind its prefix or an underscore")
		}
		for isOne(l.peek(0)) {
			l.at++
		}
		if l.peek(0) != '_' {
			break
		}
	}
	if isDigit(l.peek(0)) {
		return l.breakOff("a digit that the number's prefix does not allow")
	}
	return l.numberEnd(token{number, l.line, ""})
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// followers are the keywords that may follow a number without a space between.
var followers = []string{"and", "else", "for", "if", "in", "is", "or", "not"}

// numberEnd refuses a number that runs into a name.
func (l *lexer) numberEnd(t token) token {
	if c := l.peek(0); isNameByte(c) && c < utf8.RuneSelf && !slices.ContainsFunc(followers, l.has) {
		return l.breakOff("a number that runs into a name")
	}
	return t
}
