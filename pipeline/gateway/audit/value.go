package audit

import "unicode/utf8"

// valueDepthMax bounds how deep arrays and objects nest in a value that is copied.
const valueDepthMax = 1000

// appendValue appends one JSON value without the white space between its tokens, and
// reports whether src is one. Bytes in a string that are not UTF-8 become U+FFFD. It
// reads and writes in one pass: every call waits for its record.
func appendValue(dst, src []byte) ([]byte, bool) {
	c := copier{src: src, dst: dst}
	ok := c.value(0)
	c.space()
	return c.dst, ok && c.at == len(src)
}

// copier copies a value from src, at its place, to the end of dst.
type copier struct {
	src, dst []byte
	at       int
}

// next is the byte at the place; 0, which no token begins with, at the end.
func (c *copier) next() byte {
	if c.at < len(c.src) {
		return c.src[c.at]
	}
	return 0
}

func (c *copier) space() {
	for c.at < len(c.src) {
		switch c.src[c.at] {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return
		}
	}
}

// take copies one byte if it is the next token.
func (c *copier) take(b byte) bool {
	c.space()
	if c.next() != b {
		return false
	}
	c.at++
	c.dst = append(c.dst, b)
	return true
}

func (c *copier) value(depth int) bool {
	c.space()
	switch b := c.next(); {
	case b == '"':
		return c.text()
	case b == '{':
		return depth < valueDepthMax && c.list('{', '}', depth)
	case b == '[':
		return depth < valueDepthMax && c.list('[', ']', depth)
	case b == 't':
		return c.word("true")
	case b == 'f':
		return c.word("false")
	case b == 'n':
		return c.word("null")
	default:
		return c.number()
	}
}

// list copies an object or an array.
func (c *copier) list(opens, closes byte, depth int) bool {
	c.take(opens)
	if c.take(closes) {
		return true
	}
	for {
		if opens == '{' {
			c.space()
			if c.next() != '"' || !c.text() || !c.take(':') {
				return false
			}
		}
		if !c.value(depth + 1) {
			return false
		}
		if c.take(closes) {
			return true
		}
		if !c.take(',') {
			return false
		}
	}
}

func (c *copier) word(word string) bool {
	if end := c.at + len(word); end > len(c.src) || string(c.src[c.at:end]) != word {
		return false
	}
	c.at += len(word)
	c.dst = append(c.dst, word...)
	return true
}

func (c *copier) number() bool {
	start := c.at
	if c.next() == '-' {
		c.at++
	}
	switch b := c.next(); {
	case b == '0':
		c.at++
	case !c.digits():
		return false
	}
	if c.next() == '.' {
		c.at++
		if !c.digits() {
			return false
		}
	}
	if b := c.next(); b == 'e' || b == 'E' {
		c.at++
		if b := c.next(); b == '+' || b == '-' {
			c.at++
		}
		if !c.digits() {
			return false
		}
	}
	c.dst = append(c.dst, c.src[start:c.at]...)
	return true
}

// digits passes over digits, and reports whether there was one.
func (c *copier) digits() bool {
	start := c.at
	for b := c.next(); '0' <= b && b <= '9'; b = c.next() {
		c.at++
	}
	return c.at > start
}

// plain marks the bytes of a string that need no look: ASCII that is neither the end
// nor an escape nor a control character.
var plain = func() (table [256]bool) {
	for b := ' '; b < utf8.RuneSelf; b++ {
		table[b] = b != '"' && b != '\\'
	}
	return table
}()

// text copies a string, whose opening quote is next.
func (c *copier) text() bool {
	src, start := c.src, c.at
	for i := c.at + 1; i < len(src); {
		switch b := src[i]; {
		case plain[b]:
			i++
		case b == '"':
			c.at = i + 1
			c.dst = append(c.dst, src[start:c.at]...)
			return true
		case b == '\\':
			n := escapeLen(src[i:])
			if n == 0 {
				return false
			}
			i += n
		case b < ' ':
			return false
		default:
			r, n := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && n == 1 {
				c.dst = append(append(c.dst, src[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += n
		}
	}
	return false
}

// escapeLen is the length of the escape sequence at the start of src; 0 if it is none.
func escapeLen(src []byte) int {
	if len(src) < 2 {
		return 0
	}
	switch src[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(src) < 6 {
			return 0
		}
		for _, b := range src[2:6] {
			if !('0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F') {
				return 0
			}
		}
		return 6
	default:
		return 0
	}
}
