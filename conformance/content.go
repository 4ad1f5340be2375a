package conformance

import (
	"encoding/json"
	"strconv"
	"strings"
)

// sameContent reports whether two JSON values mean the same: keys in any order, the last of repeated keys, whole numbers
// to the digit and others as doubles, so that 1.0 and 1 are one.
func sameContent(a, b json.RawMessage) bool {
	x, errX := decodeContent(a)
	y, errY := decodeContent(b)
	return errX == nil && errY == nil && sameValue(x, y)
}

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			other, ok := b[key]
			if !ok || !sameValue(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i, value := range a {
			if !sameValue(value, b[i]) {
				return false
			}
		}
		return true
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(a.String(), b.String())
	default:
		return a == b
	}
}

func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	if !strings.ContainsAny(a+b, ".eE") {
		return false // two whole numbers have one spelling each, but for the sign of zero
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
