// Package redact keeps secrets out of what is written down or handed on: the
// arguments and results of calls, their errors, and addresses.
//
// A secret is known by one of four signs: it is a value that the configuration
// names; it stands under a name such as password, api_key or authorization, in
// JSON, in a query or in an assignment; it has the form of a credential (a known
// prefix, a JSON web token, a private key, a bearer string); or it is the user
// information of an address. In its place stands [redacted].
//
// What comes out is stable: redacting it once more changes nothing. Valid JSON
// stays valid JSON, and texts without secrets are returned as they are, without a
// copy. The package prefers to take too much under a name that is a secret's and
// nothing under one that is not: max_tokens, token_count, keyboard, primary_key and
// next_page_token keep their values.
//
// It does not find secrets that nothing announces: a password in the middle of a
// sentence, or one that was transformed in a way that the package does not know.
package redact

import (
	"encoding/json"
	"strings"

	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// Marker stands in place of a secret.
const Marker = "[redacted]"

// The limits on work.
const (
	nestedMax = 4 // JSON within texts of JSON that is read as JSON; below, as plain text
	roundsMax = 8 // passes over a text that keeps changing; then nothing of it is shown
)

// Redactor strikes secrets out. It never changes once it is made, and is safe for
// concurrent use.
type Redactor struct {
	off    bool
	keys   map[string]bool // squashed
	values values
}

// New makes a Redactor. The names of o.Keys are compared without case and without
// what separates their words. The values of o.Values are compared exactly: a secret
// in another case is another secret. They are also found as they are written in
// URLs, in JSON and in base64. Values of fewer than 4 code points are not looked
// for, since they protect nothing and would spoil plain text.
func New(o card.Redact) *Redactor {
	r := &Redactor{off: o.Off, values: newValues(o.Values)}
	if len(o.Keys) > 0 {
		r.keys = make(map[string]bool, len(o.Keys))
		for _, key := range o.Keys {
			if squashed := squash(key); squashed != "" {
				r.keys[squashed] = true
			}
		}
	}
	return r
}

// Text returns a text without its secrets, and how many were struck out. A text that
// is a JSON object or array is redacted as JSON.
func (r *Redactor) Text(text string) (string, int) {
	if r.off {
		return text, 0
	}
	return r.text(text, 0)
}

// JSON returns a JSON value without its secrets, and how many were struck out. Under
// a secret's name numbers, objects and arrays are replaced as well as texts; null,
// true and false stay. What is not valid JSON is redacted as text, and comes out
// with the faults it had.
func (r *Redactor) JSON(raw json.RawMessage) (json.RawMessage, int) {
	if r.off {
		return raw, 0
	}
	out, n, ok := settle(raw, func(raw json.RawMessage) (json.RawMessage, int) {
		if out, n, ok := r.json(raw, 0); ok {
			return out, n
		}
		text, n := r.plain(string(raw), 0)
		if n == 0 {
			return raw, 0
		}
		return json.RawMessage(text), n
	})
	if !ok {
		return json.RawMessage(markerJSON), n
	}
	return out, n
}

// Bytes is Text for bytes.
func (r *Redactor) Bytes(b []byte) ([]byte, int) {
	text, n := r.Text(string(b))
	if n == 0 {
		return b, 0
	}
	return []byte(text), n
}

// text redacts a text that stands within depth texts of JSON.
func (r *Redactor) text(text string, depth int) (string, int) {
	out, n, ok := settle(text, func(text string) (string, int) {
		if depth < nestedMax && startsJSON(text) && json.Valid([]byte(text)) {
			if out, n, ok := r.json([]byte(text), depth+1); ok {
				if n == 0 {
					return text, 0
				}
				return string(out), n
			}
		}
		return r.plain(text, depth)
	})
	if !ok {
		return Marker, n
	}
	return out, n
}

// settle repeats a pass until it finds nothing more, since what is struck out may
// bring two parts together that are a sign only together. It is what makes the
// result stable. It gives up on a text that keeps changing.
func settle[T ~string | ~[]byte](in T, pass func(T) (T, int)) (out T, total int, ok bool) {
	for range roundsMax {
		out, n := pass(in)
		if n == 0 {
			return in, total, true
		}
		in, total = out, total+n
	}
	return in, total, false
}

// startsJSON reports whether a text may be a JSON object or array.
func startsJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && (text[0] == '{' || text[0] == '[')
}

// edit is a part of a text that is replaced.
type edit struct {
	start, end int
	with       string
}

// apply makes the edits, which are in order and do not overlap.
func apply[T ~string | ~[]byte](text T, edits []edit) []byte {
	size := len(text)
	for _, e := range edits {
		size += len(e.with)
	}
	out := make([]byte, 0, size)
	from := 0
	for _, e := range edits {
		out = append(out, text[from:e.start]...)
		out = append(out, e.with...)
		from = e.end
	}
	return append(out, text[from:]...)
}
