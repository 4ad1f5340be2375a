package redact

import (
	"encoding/json"
	"strings"
)

// embeddedWork bounds the search for JSON within a text, in multiples of its length:
// brackets that nest and hold no JSON would be looked at again and again.
const embeddedWork = 8

// plain redacts a text that is no JSON as a whole: the objects and arrays within it,
// such as those of a log's lines, then the rest.
func (r *Redactor) plain(text string, depth int) (string, int) {
	struck := 0
	if depth < nestedMax {
		text, struck = r.embedded(text, depth+1)
	}
	text, n := r.scan(text)
	return text, struck + n
}

// embedded redacts the JSON objects and arrays within a text.
func (r *Redactor) embedded(text string, depth int) (string, int) {
	var edits []edit
	struck, work := 0, embeddedWork*len(text)
	for i := 0; work > 0; {
		n := strings.IndexAny(text[i:], "{[")
		if n < 0 {
			break
		}
		start := i + n
		end := closing(text, start)
		work -= end - start
		i = start + 1
		if text[end-1] != text[start]+2 || !json.Valid([]byte(text[start:end])) { // } and ] stand two behind { and [
			continue
		}
		i = end
		if out, n, ok := r.json([]byte(text[start:end]), depth); ok && n > 0 {
			edits = append(edits, edit{start, end, string(out)})
			struck += n
		}
	}
	if edits == nil {
		return text, 0
	}
	return string(apply(text, edits)), struck
}

// closing returns the index behind the bracket that closes the one at i; the text's
// end where nothing does.
func closing(text string, i int) int {
	for depth := 0; i < len(text); {
		switch text[i] {
		case '"':
			end := stringEnd(text, i)
			if end < 0 {
				return len(text)
			}
			i = end
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(text)
}
