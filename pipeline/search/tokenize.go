package search

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// tokenByte maps each byte to its lower-cased form if it may stand in a token, and to 0 otherwise. Bytes of multi-byte
// characters are not token bytes, so letters beyond ASCII separate tokens.
var tokenByte = func() (table [256]byte) {
	for c := '0'; c <= '9'; c++ {
		table[c] = byte(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		table[c] = byte(c)
		table[c-'a'+'A'] = byte(c)
	}
	return table
}()

// Tokenize splits text into its maximal runs of ASCII letters and digits, lower-cased, in order. There is no stemming, no
// stop word and no splitting of camelCase; separators within a tool's name (_ . - :) need no rule of their own.
func Tokenize(text string) []string {
	var tokens []string
	for pos := 0; ; {
		start, end := nextToken(text, pos)
		if start == end {
			return tokens
		}
		tokens = append(tokens, strings.ToLower(text[start:end]))
		pos = end
	}
}

// nextToken returns the bounds of the first token at or after pos, as it stands in text; equal bounds mean none.
func nextToken(text string, pos int) (start, end int) {
	for pos < len(text) && tokenByte[text[pos]] == 0 {
		pos++
	}
	start = pos
	for pos < len(text) && tokenByte[text[pos]] != 0 {
		pos++
	}
	return start, pos
}

// appendLowerToken appends a token's bytes in lower case.
func appendLowerToken(dst []byte, token string) []byte {
	for i := range len(token) {
		dst = append(dst, tokenByte[token[i]])
	}
	return dst
}

// lower maps text to lower case by the full rules of Unicode, final sigma and the dotted capital I included, which
// strings.ToLower does not follow.
func lower(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return cases.Lower(language.Und).String(text)
		}
	}
	return strings.ToLower(text)
}
