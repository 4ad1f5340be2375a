package shape

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// decode turns bytes into UTF-8, and counts what could not be. A byte order mark
// goes before the label; without either, and under a label that nobody knows, the
// bytes count as UTF-8. Of bytes that were cut off the last may be a part of a
// character, which is dropped and not counted.
func decode(body []byte, label string, capped bool) (text string, undecodable int) {
	enc, body := encodingOf(body, label)
	if enc == nil {
		return decodeUTF8(body, capped)
	}
	decoded, err := enc.NewDecoder().Bytes(body)
	if err != nil { // the decoders answer faults with U+FFFD; what else there is is no text
		return decodeUTF8(body, capped)
	}
	text = strings.TrimPrefix(string(decoded), "\ufeff")
	if capped {
		text = strings.TrimSuffix(text, string(utf8.RuneError))
	}
	return text, strings.Count(text, string(utf8.RuneError))
}

// encodingOf returns the encoding of a text, and the text without its mark; nil
// means UTF-8.
func encodingOf(body []byte, label string) (encoding.Encoding, []byte) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return nil, body[3:]
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), body[2:]
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), body[2:]
	case label == "":
		return nil, body
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil, body
	}
	if name, err := htmlindex.Name(enc); err == nil && name == "utf-8" {
		return nil, body
	}
	return enc, body
}

// decodeUTF8 replaces each byte that is not of a character.
func decodeUTF8(body []byte, capped bool) (string, int) {
	if capped {
		body = withoutPart(body)
	}
	if utf8.Valid(body) {
		return string(body), 0
	}
	text := make([]byte, 0, len(body)+len(body)/8)
	undecodable := 0
	for len(body) > 0 {
		r, n := utf8.DecodeRune(body)
		if r == utf8.RuneError && n == 1 {
			undecodable++
		}
		text = utf8.AppendRune(text, r)
		body = body[n:]
	}
	return string(text), undecodable
}

// withoutPart drops the beginning of a character at the end.
func withoutPart(body []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(body); n++ {
		if tail := body[len(body)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return body[:len(body)-n]
			}
			return body
		}
	}
	return body
}

// valid replaces what is not UTF-8.
func valid(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }
