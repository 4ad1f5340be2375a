package shape

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// detail is how much a marker says; a marker takes at most half of the tokens.
type detail int

const (
	full   detail = iota // totals, what is kept, how to read on
	handle               // how to read on
	nothing
)

// TruncatedMember is the name under which a marker stands in JSON.
const TruncatedMember = "_truncated"

// cut shortens part, the whole text or a summary of it, until it fits with its
// marker, and returns how many tokens of part are left.
func (s *shaper) cut(part string, w *whole) (text string, kept int) {
	forms := []cutter{&textCut{part, w}}
	if c := newJSONCut(part, w); c != nil {
		forms = []cutter{c, forms[0]}
	}
	for _, c := range forms {
		for d := full; d <= nothing; d++ {
			if empty, _ := c.render(0, d); s.max > 0 && s.tokens(empty) > s.room(d) {
				continue
			}
			text, n := s.longest(c, d, len(part))
			if _, isJSON := c.(*jsonCut); isJSON && !json.Valid([]byte(text)) {
				break
			}
			return text, s.tokens(part[:n])
		}
	}
	return "", 0
}

// room is what a marker may take.
func (s *shaper) room(d detail) int {
	if d == nothing {
		return s.max
	}
	return s.max / 2
}

// cutter renders the first n bytes of a text, or a little less, with a marker, and
// returns how many it kept.
type cutter interface {
	render(n int, d detail) (text string, kept int)
}

// longest looks for the longest part that fits. Every part it takes was counted, so
// the bound holds for counts that do not grow evenly, too.
func (s *shaper) longest(c cutter, d detail, size int) (text string, kept int) {
	fits := func(n int) bool {
		candidate, k := c.render(n, d)
		if s.max > 0 && s.tokens(candidate) > s.max {
			return false
		}
		text, kept = candidate, k
		return true
	}
	if s.max <= 0 {
		fits(size)
		return text, kept
	}
	fits(0)
	low, high := 0, 64
	for high < size && fits(high) {
		low, high = high, 2*high
	}
	high = min(high, size)
	n := sort.Search(high-low, func(i int) bool { return !fits(low + i + 1) })
	fits(low + n)
	return text, kept
}

// textCut cuts plain text.
type textCut struct {
	part string
	w    *whole
}

func (c *textCut) render(n int, d detail) (string, int) {
	for n > 0 && n < len(c.part) && !utf8.RuneStart(c.part[n]) {
		n--
	}
	text := c.part[:n]
	if d == nothing {
		return text, n
	}
	marker := c.w.marker(d, "", 0, 0)
	if !c.w.summary {
		marker = c.w.marker(d, fmt.Sprintf("offset %d", utf8.RuneCountInString(text)), 0, 0)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "[" + marker + "]", n
}

// marker says how much there is and where to read on. Where names an offset or a
// pointer; kept of elements say what is there of a list.
func (w *whole) marker(d detail, where string, kept, elements int) string {
	rest := ""
	if w.handle != "" {
		rest = "result_read handle " + w.handle
		if where != "" {
			rest += " " + where
		}
	}
	if d == handle {
		if rest == "" {
			return truncated
		}
		return truncated + ": " + rest
	}
	said := w.note
	if elements > 0 {
		said += fmt.Sprintf(": %d of %d elements kept", kept, elements)
	}
	if w.capped() {
		said += fmt.Sprintf("; in all %d bytes, of which %d were read, %d tokens", w.bytes, w.read, w.tokens)
	} else {
		said += fmt.Sprintf("; in all %d tokens, %d bytes", w.tokens, w.bytes)
	}
	if rest != "" {
		said += "; for the rest: " + rest
	}
	return said
}

// jsonCut cuts a JSON object or array between its values. A long text in it is cut
// between characters.
type jsonCut struct {
	part     string
	w        *whole
	elements map[int]int // by where an array starts
}

// newJSONCut returns nil for what is not JSON. Of an answer that was cut off the
// beginning may be.
func newJSONCut(part string, w *whole) *jsonCut {
	trimmed := strings.TrimLeft(part, " \t\r\n")
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' || !w.capped() && !json.Valid([]byte(part)) {
		return nil
	}
	return &jsonCut{part: part, w: w, elements: make(map[int]int)}
}

// longText is the length, in bytes, from which a text is cut within.
const longText = 200

// nestingMax is the depth from which on nothing is kept.
const nestingMax = 1000

// frame is a container that is open.
type frame struct {
	start     int
	object    bool
	named     bool   // the name of a member was read, its value comes
	count     int    // members or elements that are complete
	nameStart int    // of the last member
	name      string // its literal
}

// cursor is how far JSON was read.
type cursor struct {
	frames []frame
	end    int // behind the last value that is complete
	open   int // containers that are open there
	within int // behind the last character of a long text that the cut falls into; 0: none
}

func (c *jsonCut) render(n int, d detail) (string, int) {
	at := c.read(min(n, len(c.part)))
	kept := at.end
	text := append([]byte(nil), c.part[:at.end]...)
	frames := at.frames[:at.open]
	if at.within > 0 {
		kept = at.within
		text = append(append(text[:0], c.part[:at.within]...), "…\""...)
		frames = at.frames
	}
	if len(frames) == 0 { // not even the first bracket
		frames = []frame{{object: strings.TrimLeft(c.part, " \t\r\n")[0] == '{'}}
		text = append(text[:0], opener(frames[0]))
	}
	for i := len(frames) - 1; i > 0; i-- {
		text = append(text, closer(frames[i]))
	}
	if d != nothing {
		if len(frames) > 1 || frames[0].count > 0 || at.within > 0 {
			text = append(text, ',')
		}
		member := rawjson.AppendObject(nil, []rawjson.Field{{Key: TruncatedMember, Value: rawjson.String(c.marker(frames, d, kept, at.within > 0))}})
		if frames[0].object {
			member = member[1 : len(member)-1]
		}
		text = append(text, member...)
	}
	return string(append(text, closer(frames[0]))), kept
}

func opener(f frame) byte {
	if f.object {
		return '{'
	}
	return '['
}

func closer(f frame) byte {
	if f.object {
		return '}'
	}
	return ']'
}

// marker names the outermost list that the cut falls into, or else the text. What was
// cut off when it was read is no JSON that a pointer could point into.
func (c *jsonCut) marker(frames []frame, d detail, kept int, within bool) string {
	if c.w.capped() && !c.w.summary {
		return c.w.marker(d, fmt.Sprintf("offset %d", utf8.RuneCountInString(c.part[:kept])), 0, 0)
	}
	pointer := ""
	for i, f := range frames {
		if f.object {
			name, _ := rawjson.Text([]byte(f.name))
			pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			continue
		}
		total := c.count(f.start)
		return c.w.marker(d, c.where(fmt.Sprintf("%s/%d", pointer, f.count), i > 0 || f.count < total), f.count, total)
	}
	return c.w.marker(d, c.where(pointer, within), 0, 0)
}

// pointerMax bounds the pointers, in bytes, that a marker names.
const pointerMax = 80

// where names a place in the whole, which a summary has none of.
func (c *jsonCut) where(pointer string, known bool) string {
	if !known || c.w.summary || len(pointer) > pointerMax {
		return ""
	}
	return "pointer " + pointer
}

// count counts the elements of the array that starts at i.
func (c *jsonCut) count(start int) int {
	if n, ok := c.elements[start]; ok {
		return n
	}
	depth, n, any := 0, 0, false
	for i := start; i < len(c.part); i++ {
		switch b := c.part[i]; b {
		case '"':
			i = literalEnd(c.part, i) - 1
			any = true
		case '{', '[':
			any = any || depth > 0
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				i = len(c.part)
			}
		case ',':
			if depth == 1 {
				n++
			}
		case ' ', '\t', '\r', '\n':
		default:
			any = true
		}
	}
	if any {
		n++
	}
	c.elements[start] = n
	return n
}

// literalEnd returns the index behind the text literal that starts at i.
func literalEnd(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// read reads JSON up to n. The end of the outermost container is not read: the
// marker goes before it.
func (c *jsonCut) read(n int) cursor {
	var at cursor
	text := c.part
	for i := 0; i < n; {
		switch b := text[i]; b {
		case ' ', '\t', '\r', '\n', ',':
			i++
		case ':':
			if len(at.frames) > 0 {
				at.frames[len(at.frames)-1].named = true
			}
			i++
		case '{', '[':
			if len(at.frames) == nestingMax {
				return at
			}
			at.frames = append(at.frames, frame{start: i, object: b == '{'})
			i++
			if len(at.frames) == 1 {
				at.end, at.open = i, 1
			}
		case '}', ']':
			if len(at.frames) <= 1 {
				return at
			}
			at.frames = at.frames[:len(at.frames)-1]
			i++
			at.complete(i)
		default:
			end := scalarEnd(text, i)
			f := at.top()
			switch {
			case f == nil:
				return at
			case b == '"' && f.object && !f.named:
				f.nameStart, f.name = i, text[i:end]
			case end <= n && (end < len(text) || b == '"'):
				at.complete(end)
			case b == '"' && end-i >= longText:
				at.within = within(text, i, n)
				return at
			}
			i = end
		}
	}
	return at
}

func (at *cursor) top() *frame {
	if len(at.frames) == 0 {
		return nil
	}
	return &at.frames[len(at.frames)-1]
}

// complete notes that a value ends at i.
func (at *cursor) complete(i int) {
	f := at.top()
	f.count++
	f.named = false
	at.end, at.open = i, len(at.frames)
}

func scalarEnd(text string, i int) int {
	if text[i] == '"' {
		return literalEnd(text, i)
	}
	for i < len(text) && strings.IndexByte(" \t\r\n,:{}[]\"", text[i]) < 0 {
		i++
	}
	return i
}

// within returns the end of the last character before n of the text literal that
// starts at i, or 0.
func within(text string, i, n int) int {
	start := i + 1
	for i = start; i < n; {
		size := 1
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == 'u':
			size = 6
			if i+2 < len(text) && text[i+2]|0x20 == 'd' && strings.HasPrefix(text[min(i+6, len(text)):], `\u`) { // a pair
				size = 12
			}
		case text[i] == '\\':
			size = 2
		default:
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		if i+size > n {
			break
		}
		i += size
	}
	if i == start {
		return 0
	}
	return i
}
