// Package rawjson handles JSON whose bytes matter. Token counts depend on the
// order of keys and on how strings are written, so schemas are never decoded
// into maps and encoded again: they are compacted as they stand.
//
// The compact form is the one that model requests are counted in: no white
// space, keys and numbers as given, strings with the fewest escapes (non-ASCII
// and HTML characters as themselves).
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Field is one member of a JSON object: its key, and its value as compact JSON.
type Field struct {
	Key   string
	Value json.RawMessage
}

// Compact returns the compact form of one JSON value. It fails on anything
// that encoding/json does not accept as a value.
func Compact(raw []byte) ([]byte, error) {
	if err := validate(raw); err != nil {
		return nil, err
	}
	return appendCompact(make([]byte, 0, len(raw)), raw), nil
}

// validate checks syntax; json.Valid alone does not say where the fault is.
func validate(raw []byte) error {
	if json.Valid(raw) {
		return nil
	}
	var v json.RawMessage
	err := json.Unmarshal(raw, &v)
	if err == nil {
		err = errors.New("invalid JSON")
	}
	return err
}

// appendCompact appends the compact form of raw, which must be valid JSON.
func appendCompact(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := stringEnd(raw, i)
			dst = appendStringLiteral(dst, raw[i:end])
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// stringEnd returns the index just behind the string literal that starts at i.
func stringEnd(raw []byte, i int) int {
	for j := i + 1; j < len(raw); j++ {
		switch raw[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return len(raw)
}

// appendStringLiteral rewrites one valid string literal with minimal escapes.
func appendStringLiteral(dst, lit []byte) []byte {
	if bytes.IndexByte(lit, '\\') < 0 && utf8.Valid(lit) {
		return append(dst, lit...)
	}
	dst = append(dst, '"')
	for i := 1; i < len(lit)-1; {
		c := lit[i]
		if c != '\\' {
			r, n := utf8.DecodeRune(lit[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		switch e := lit[i+1]; e {
		case 'u':
			r, n := decodeUnicodeEscape(lit[i:])
			dst = appendRune(dst, r)
			i += n
		case '/':
			dst = append(dst, '/')
			i += 2
		default:
			dst = append(dst, '\\', e)
			i += 2
		}
	}
	return append(dst, '"')
}

// decodeUnicodeEscape reads \uXXXX, or a surrogate pair of two, at the start of
// lit and returns the rune and the bytes read. A lone surrogate becomes U+FFFD.
func decodeUnicodeEscape(lit []byte) (rune, int) {
	r := hex4(lit[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(lit) >= 12 && lit[6] == '\\' && lit[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(lit[8:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		r <<= 4
		switch {
		case c >= '0' && c <= '9':
			r |= rune(c - '0')
		case c >= 'a' && c <= 'f':
			r |= rune(c-'a') + 10
		default:
			r |= rune(c-'A') + 10
		}
	}
	return r
}

// AppendString appends s as a JSON string literal with minimal escapes: the
// quote, the backslash and the control characters below U+0020, nothing else.
// Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		if plain[s[i]] {
			i++
			continue
		}
		if c := s[i]; c < utf8.RuneSelf {
			dst = appendRune(append(dst, s[start:i]...), rune(c))
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(append(dst, s[start:i]...), "\uFFFD"...)
			start = i + 1
		}
		i += n
	}
	return append(append(dst, s[start:]...), '"')
}

// plain marks the bytes that stand for themselves in a string literal, whatever
// stands beside them.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

const hexDigits = "0123456789abcdef"

// appendRune appends one rune of a string literal, escaped where it must be.
func appendRune(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\n':
		return append(dst, '\\', 'n')
	case r == '\r':
		return append(dst, '\\', 'r')
	case r == '\t':
		return append(dst, '\\', 't')
	case r == '\b':
		return append(dst, '\\', 'b')
	case r == '\f':
		return append(dst, '\\', 'f')
	case r < ' ':
		return append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
	default:
		return utf8.AppendRune(dst, r)
	}
}

// String returns s as a JSON string literal with minimal escapes.
func String(s string) json.RawMessage {
	return AppendString(make([]byte, 0, len(s)+len(s)/16+2), s)
}

// Text decodes a JSON string. It is false for any other value; raw must be valid
// JSON.
func Text(raw []byte) (string, bool) {
	if n := len(raw); n >= 2 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && raw[n-1] == '"' && utf8.Valid(raw) {
		return string(raw[1 : n-1]), true
	}
	var text string
	if Kind(raw) != "string" || json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	return text, true
}

// Object splits a JSON object into its members in the order given, values
// compacted. It fails on anything but an object. A repeated key is kept: which
// one wins is the reader's business.
func Object(raw []byte) ([]Field, error) {
	if err := validate(raw); err != nil {
		return nil, err
	}
	compact := appendCompact(make([]byte, 0, len(raw)), raw)
	if len(compact) == 0 || compact[0] != '{' {
		return nil, fmt.Errorf("want a JSON object, got %s", Kind(compact))
	}
	fields := make([]Field, 0, 4)
	for i := 1; compact[i] != '}'; {
		if compact[i] == ',' {
			i++
		}
		end := stringEnd(compact, i)
		key, _ := Text(compact[i:end])
		i = end + 1 // the colon
		end = valueEnd(compact, i)
		fields = append(fields, Field{Key: key, Value: compact[i:end:end]})
		i = end
	}
	return fields, nil
}

// Array splits a JSON array into its elements, compacted.
func Array(raw []byte) ([]json.RawMessage, error) {
	if err := validate(raw); err != nil {
		return nil, err
	}
	compact := appendCompact(make([]byte, 0, len(raw)), raw)
	if len(compact) == 0 || compact[0] != '[' {
		return nil, fmt.Errorf("want a JSON array, got %s", Kind(compact))
	}
	var elements []json.RawMessage
	for i := 1; compact[i] != ']'; {
		if compact[i] == ',' {
			i++
		}
		end := valueEnd(compact, i)
		elements = append(elements, compact[i:end:end])
		i = end
	}
	return elements, nil
}

// valueEnd returns the index just behind the value that starts at i of valid
// compact JSON.
func valueEnd(compact []byte, i int) int {
	depth := 0
	for j := i; j < len(compact); j++ {
		switch compact[j] {
		case '"':
			j = stringEnd(compact, j) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return j
			}
			depth--
		case ',':
			if depth == 0 {
				return j
			}
		}
	}
	return len(compact)
}

// AppendObject appends fields as a compact JSON object.
func AppendObject(dst []byte, fields []Field) []byte {
	dst = append(dst, '{')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, f.Key), ':')
		dst = append(dst, f.Value...)
	}
	return append(dst, '}')
}

// Get returns the value of the last field with that key: the one that wins
// when an object is decoded.
func Get(fields []Field, key string) (json.RawMessage, bool) {
	for i := len(fields) - 1; i >= 0; i-- {
		if fields[i].Key == key {
			return fields[i].Value, true
		}
	}
	return nil, false
}

// Set replaces the value of key where it stands, or appends the field. Of
// several fields with that key it takes the last, the one that Get returns.
func Set(fields []Field, key string, value json.RawMessage) []Field {
	for i := len(fields) - 1; i >= 0; i-- {
		if fields[i].Key == key {
			fields[i].Value = value
			return fields
		}
	}
	return append(fields, Field{Key: key, Value: value})
}

// Kind names the JSON type of a value by its first byte: object, array, string,
// boolean, null, number, or nothing for empty input.
func Kind(raw []byte) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// Position turns a byte offset into a line and a column, both from 1; the
// column counts code points.
func Position(data []byte, offset int64) (line, column int) {
	offset = min(max(offset, 0), int64(len(data)))
	head := data[:offset]
	line = bytes.Count(head, []byte{'\n'}) + 1
	return line, utf8.RuneCount(head[bytes.LastIndexByte(head, '\n')+1:]) + 1
}

// ErrorOffset finds where in data a decoding error happened: the byte offset
// that encoding/json reports, or the end of data when the input stopped short.
func ErrorOffset(err error, data []byte) int64 {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax) && strings.HasPrefix(syntax.Error(), "unexpected end"):
		return int64(len(data))
	case errors.As(err, &syntax):
		return max(syntax.Offset-1, 0)
	case errors.As(err, &kind):
		return max(kind.Offset-1, 0)
	default:
		return int64(len(data))
	}
}
