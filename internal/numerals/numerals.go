// Package numerals words numbers for people: thousands apart, and things in the singular or the plural.
package numerals

import (
	"strconv"
	"strings"
)

// Number is x with thousands apart, so many decimals, and no minus before a zero.
func Number(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		text = rest
		if strings.Trim(text, "0.") != "" {
			sign = "-"
		}
	}
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// Count is n with thousands apart.
func Count[N int | int64](n N) string { return Number(float64(n), 0) }

// Of is a number of things, as in "1 session" or "2,000 sessions".
func Of[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}
