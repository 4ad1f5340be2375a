package sessions

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Range is a run of row indices: Count of them from First on.
type Range struct {
	First int64 `json:"first"`
	Count int64 `json:"count"`
}

// Last returns the last index of the range; First-1 if it is empty.
func (r Range) Last() int64 { return r.First + r.Count - 1 }

// String writes the range as ParseRange reads it.
func (r Range) String() string {
	if r.First == 0 {
		return strconv.FormatInt(r.Count, 10)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last())
}

// ParseRange reads "N", the first N rows, or "A-B", rows A to B with both
// included and counted from 0. A range has at least one row, and indices are
// below 2^63-1. flag names the source in errors.
func ParseRange(flag, text string) (Range, error) {
	const hint = "write a number of rows, as in 1000, or the first and last row counted from 0, as in 500-599"
	refuse := func(format string, args ...any) (Range, error) {
		return Range{}, fmt.Errorf("%s %q: %s\nhint: %s", flag, text, fmt.Sprintf(format, args...), hint)
	}
	from, to, isSpan := strings.Cut(text, "-")
	first, ok := parseDigits(from)
	if !ok {
		return refuse("not a number of rows, nor a range of them")
	}
	if !isSpan {
		if first == 0 {
			return refuse("no rows")
		}
		return Range{Count: first}, nil
	}
	last, ok := parseDigits(to)
	if !ok || last == math.MaxInt64 { // one more, and the count would not fit
		return refuse("%q is not a row", to)
	}
	if last < first {
		return refuse("row %d is before row %d", last, first)
	}
	return Range{First: first, Count: last - first + 1}, nil
}

// parseDigits reads digits alone: a sign or a blank would be a slip.
func parseDigits(text string) (int64, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
