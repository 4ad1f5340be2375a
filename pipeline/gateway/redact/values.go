package redact

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// valueMin is the length, in code points, from which a value is looked for.
const valueMin = 4

// values are exact secrets in all the forms in which they are looked for.
type values struct {
	// starts has a bit for each pair of bytes that a form starts with, so that the
	// usual text is passed over at a look-up a byte.
	starts *[1 << 10]uint64
	forms  map[[2]byte][]string // the longest first
}

// newValues makes the forms of each value.
func newValues(list []string) values {
	v := values{}
	for _, value := range list {
		if utf8.RuneCountInString(value) < valueMin || strings.Contains(Marker, value) {
			continue
		}
		for _, form := range formsOf(value) {
			v.add(form)
		}
	}
	for _, forms := range v.forms {
		slices.SortFunc(forms, func(a, b string) int {
			if len(a) != len(b) {
				return len(b) - len(a)
			}
			return strings.Compare(a, b)
		})
	}
	return v
}

func (v *values) add(form string) {
	if v.starts == nil {
		v.starts, v.forms = new([1 << 10]uint64), make(map[[2]byte][]string)
	}
	start := [2]byte{form[0], form[1]}
	if !slices.Contains(v.forms[start], form) {
		v.forms[start] = append(v.forms[start], form)
		pair := uint(form[0])<<8 | uint(form[1])
		v.starts[pair>>6] |= 1 << (pair & 63)
	}
}

// formsOf returns a value as it is and as URLs, JSON and base64 write it. The digits
// of percent escapes are written in either case.
func formsOf(value string) []string {
	literal := string(rawjson.String(value))
	b := []byte(value)
	forms := []string{
		value, url.QueryEscape(value), url.PathEscape(value), strings.ReplaceAll(url.QueryEscape(value), "+", "%20"), literal[1 : len(literal)-1],
		base64.RawStdEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b),
		base64.StdEncoding.EncodeToString(b), base64.URLEncoding.EncodeToString(b),
	}
	return append(forms, lowerEscapes(forms[1]), lowerEscapes(forms[2]), lowerEscapes(forms[3]))
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(text[i+1:i+3]))
		}
	}
	return string(b)
}

// at returns the length of the longest form that starts at i, or 0.
func (v *values) at(text string, i int) int {
	if i+1 >= len(text) {
		return 0
	}
	pair := uint(text[i])<<8 | uint(text[i+1])
	if v.starts[pair>>6]&(1<<(pair&63)) == 0 {
		return 0
	}
	for _, form := range v.forms[[2]byte{text[i], text[i+1]}] {
		if strings.HasPrefix(text[i:], form) {
			return len(form)
		}
	}
	return 0
}

// strike replaces the values in a text.
func (v *values) strike(text string) (string, int) {
	if v.starts == nil {
		return text, 0
	}
	var edits []edit
	for i := 0; i < len(text); {
		n := v.at(text, i)
		if n == 0 {
			i++
			continue
		}
		edits = append(edits, edit{i, i + n, Marker})
		i += n
	}
	if edits == nil {
		return text, 0
	}
	return string(apply(text, edits)), len(edits)
}

// in reports whether a text holds one of the values.
func (v *values) in(text string) bool {
	if v.starts == nil {
		return false
	}
	for i := range len(text) {
		if v.at(text, i) > 0 {
			return true
		}
	}
	return false
}
