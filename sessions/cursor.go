package sessions

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// cursor reads JSON value by value and says what is wrong with a value in terms
// of the format: which field, what stands there, what should. encoding/json
// would match names in any case, let fields be missing or repeated, and report
// faults by the names of Go types. The text must be valid JSON.
type cursor struct {
	text []byte
	at   int
}

// member is a field that an object may have.
type member struct {
	name     string
	optional bool
}

// skipSpace moves to the next byte that is not white space, and returns it.
func (c *cursor) skipSpace() byte {
	for {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return b
		}
	}
}

// want checks that the next value is of a type, named as rawjson.Kind does.
func (c *cursor) want(kind string) error {
	c.skipSpace()
	if got := rawjson.Kind(c.text[c.at:]); got != kind {
		return fault("", "see the fields of a session in docs/format.md", "want %s, got %s", kind, got)
	}
	return nil
}

// scalar returns the text of the next string, number, boolean or null.
func (c *cursor) scalar() []byte {
	start := c.at
	if c.text[c.at] == '"' {
		for c.at++; c.text[c.at] != '"'; c.at++ {
			if c.text[c.at] == '\\' {
				c.at++
			}
		}
		c.at++
		return c.text[start:c.at]
	}
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\n', '\r', ',', ']', '}':
			return c.text[start:c.at]
		}
		c.at++
	}
	return c.text[start:]
}

// value returns the text of the next value, whatever it is.
func (c *cursor) value() []byte {
	c.skipSpace()
	start, depth := c.at, 0
	for {
		switch c.skipSpace() {
		case '{', '[':
			depth++
			c.at++
		case '}', ']':
			depth--
			c.at++
		case ',', ':':
			c.at++
			continue
		default:
			c.scalar()
		}
		if depth == 0 {
			return c.text[start:c.at]
		}
	}
}

// object reads an object: read is called behind the name of each field and must
// take its value. Optional fields may be missing; null is a value of its own
// type.
func (c *cursor) object(members []member, read func(field string) error) error {
	if err := c.want("object"); err != nil {
		return err
	}
	c.at++
	seen := 0
	for c.skipSpace() != '}' {
		if c.text[c.at] == ',' {
			c.at++
			c.skipSpace()
		}
		name := unquote(c.scalar())
		c.skipSpace()
		c.at++ // the colon
		i := indexOf(members, name)
		switch {
		case i < 0:
			return fault("", nearestHint(name, namesOf(members)), "unknown field %s", shown(name))
		case seen&(1<<i) != 0:
			return fault(name, "keep one of the two", "the field is there twice")
		}
		seen |= 1 << i
		if err := read(members[i].name); err != nil {
			return below(members[i].name, err)
		}
	}
	c.at++
	for i, m := range members {
		if seen&(1<<i) == 0 && !m.optional {
			return fault(m.name, "the field is required; see docs/format.md", "missing")
		}
	}
	return nil
}

func indexOf(members []member, name string) int {
	for i := range members {
		if members[i].name == name {
			return i
		}
	}
	return -1
}

func namesOf(members []member) []string {
	var names []string
	for _, m := range members {
		names = append(names, m.name)
	}
	return names
}

// list reads an array whose elements read takes.
func list[T any](c *cursor, read func(*cursor) (T, error)) ([]T, error) {
	if err := c.want("array"); err != nil {
		return nil, err
	}
	c.at++
	var all []T
	for c.skipSpace() != ']' {
		if c.text[c.at] == ',' {
			c.at++
		}
		v, err := read(c)
		if err != nil {
			return nil, below(element("", len(all)), err)
		}
		all = append(all, v)
	}
	c.at++
	return all, nil
}

func (c *cursor) string() (string, error) {
	if err := c.want("string"); err != nil {
		return "", err
	}
	return unquote(c.scalar()), nil
}

// unquote decodes a string literal, of which most have no escapes.
func unquote(literal []byte) string {
	inner := literal[1 : len(literal)-1]
	for _, b := range inner {
		if b == '\\' {
			var s string
			_ = json.Unmarshal(literal, &s) // valid: the whole text was checked
			return s
		}
	}
	return string(inner)
}

func (c *cursor) boolean() (bool, error) {
	if err := c.want("boolean"); err != nil {
		return false, err
	}
	return string(c.scalar()) == "true", nil
}

// compact returns the next value in its compact form.
func (c *cursor) compact() (json.RawMessage, error) {
	text, err := rawjson.Compact(c.value())
	if err != nil {
		return nil, fault("", "write the value as JSON", "%v", err)
	}
	return text, nil
}

// integer reads a whole number without fraction or exponent.
func (c *cursor) integer() (int64, error) {
	if err := c.want("number"); err != nil {
		return 0, err
	}
	text := string(c.scalar())
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fault("", "write a whole number in digits", "%s is no whole number of 64 bits", shown(text))
	}
	return n, nil
}

// unsigned reads a whole number from 0 to 2^64-1.
func (c *cursor) unsigned() (uint64, error) {
	if err := c.want("number"); err != nil {
		return 0, err
	}
	text := string(c.scalar())
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fault("", "write a whole number from 0 to 18446744073709551615", "%s is out of range", shown(text))
	}
	return n, nil
}

// int reads a whole number of 32 bits.
func (c *cursor) int() (int, error) {
	n, err := c.integer()
	if err == nil && (n < math.MinInt32 || n > math.MaxInt32) {
		err = fault("", "write a number below 2147483648", "%d is out of range", n)
	}
	return int(n), err
}
