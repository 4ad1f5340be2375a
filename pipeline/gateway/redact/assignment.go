package redact

import (
	"strings"
	"unicode/utf8"
)

// isName are the bytes of names in texts.
var isName = func() (in [256]bool) {
	for c := range in {
		in[c] = isAlnum(byte(c)) || c == '_' || c == '-' || c == '.' || c == '$' || c >= utf8.RuneSelf
	}
	return in
}()

func nameStart(text string, end int) int {
	start := end
	for start > 0 && end-start < nameMax && isName[text[start-1]] {
		start--
	}
	return start
}

// keptMax bounds the values that may be taken for harmless; it also bounds how far
// one is looked at that is then passed over.
const keptMax = 64

// value is the span of what is assigned.
type value struct {
	start, end int
	quoted     bool
}

// label is the name to the left of an assignment.
type label struct {
	text   string
	start  int
	quoted bool
}

// assignment strikes out what is assigned to a secret's name: NAME=value,
// name: value, "name": "value", name => value. The sign is text[i:j].
func (s *scanner) assignment(i, j int) int {
	l := s.labelBefore(i)
	naming := s.r.name(l.text)
	query := l.start > 0 && (s.text[l.start-1] == '?' || s.text[l.start-1] == '&') || j-i == len("%3D")
	if naming == harmless && query && isSignature(l.text) {
		naming = secret
	}
	if naming == harmless {
		return j
	}
	if naming < secret && !l.quoted {
		naming = s.wider(naming, l)
	}
	for j < len(s.text) && j < i+3 && (s.text[j] == '>' || s.text[j] == '=') {
		j++
	}
	v := s.valueAfter(j, l, naming, query)
	text := s.text[v.start:v.end]
	spaced := s.text[i] == ':' || s.text[i-1] == ' ' || v.start > j && s.text[j] == ' '
	switch {
	case len(text) > keptMax:
	case text == "", text == Marker:
		return max(v.end, j)
	case naming == bareKey && utf8.RuneCountInString(text) < bareKeyMin, naming == bareKey && isIssueKey(text):
		return j
	case naming < secret && isPath(text), naming < secret && !v.quoted && spaced && !l.quoted && !looksDrawn(text):
		return j
	case !v.quoted && naming != header && isPlaceholder(text, l.text):
		return j
	}
	s.strike(v.start, v.end)
	return v.end
}

// labelBefore returns the name in front of the sign at i.
func (s *scanner) labelBefore(i int) (l label) {
	text, end := s.text, i
	for end > 0 && i-end < 4 && (text[end-1] == ' ' || text[end-1] == '\t' || text[end-1] == ':' && end < i+1 && text[i] == '=') {
		end--
	}
	if end > 0 && text[end-1] == ']' {
		end--
	}
	if end > 0 && isQuote(text[end-1]) {
		l.quoted = true
		for end--; end > 0 && text[end-1] == '\\'; end-- {
		}
	}
	start := nameStart(text, end)
	if l.quoted { // the words of a quoted name may be apart
		for start > 0 && end-start < nameMax && (isName[text[start-1]] || text[start-1] == ' ') {
			start--
		}
	}
	if start > 0 && text[start-1] == '%' && isHex2(text[start:end]) {
		start += 2
	}
	if start > 0 && start < end && text[start-1] == '\\' && !l.quoted {
		start++
	}
	l.text, l.start = text[start:end], start
	return l
}

// wider judges a plain word with the word before it: API key, access token.
func (s *scanner) wider(n naming, l label) naming {
	if l.start < 2 || s.text[l.start-1] != ' ' {
		return n
	}
	if before := s.text[nameStart(s.text, l.start-1) : l.start-1]; manyOf[strings.ToLower(before)] {
		return secret
	}
	return n
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// valueAfter returns what stands at j, behind the sign.
func (s *scanner) valueAfter(j int, l label, n naming, query bool) value {
	text := s.text
	for j < len(text) && (text[j] == ' ' || text[j] == '\t' || l.quoted && (text[j] == '\n' || text[j] == '\r')) {
		j++
	}
	if j+1 < len(text) && isQuote(text[j+1]) && strings.IndexByte("bfruBFRU@$", text[j]) >= 0 {
		j++ // the mark of a literal, as in Python
	}
	quote := j
	for quote < len(text) && text[quote] == '\\' {
		quote++
	}
	switch {
	case quote < len(text) && isQuote(text[quote]):
		return s.quoted(quote+1, text[quote], quote-j, l.quoted)
	case l.quoted && j < len(text) && (text[j] == '{' || text[j] == '['):
		return value{j, s.balanced(j), true}
	case n == header && !query && !l.quoted:
		return s.line(j, l)
	}
	return s.unquoted(j, query)
}

// quoted returns a value up to the quote that ends it. Escapes are how many
// backslashes stand before the quotes of the value, as in JSON within JSON. What is
// not ended ends with the line, or in JSON with the text.
func (s *scanner) quoted(start int, quote byte, escapes int, lines bool) value {
	for i := start; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == quote:
			return value{start, i, true}
		case c == '\n' && !lines:
			return value{start, i, true}
		case c == '\\':
			end := i
			for end < len(s.text) && s.text[end] == '\\' {
				end++
			}
			if end < len(s.text) && s.text[end] == quote && end-i <= escapes {
				return value{start, i, true}
			}
			if (end-i)%2 == 0 && escapes == 0 {
				end-- // pairs of backslashes escape one another
			}
			i = end
		}
	}
	return value{start, len(s.text), true}
}

// balanced returns the end of the object or array that begins at i.
func (s *scanner) balanced(i int) int {
	for depth := 0; i < len(s.text); i++ {
		switch s.text[i] {
		case '"':
			i = s.quoted(i+1, '"', 0, true).end
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s.text)
}

// line returns the rest of a header's line, or of the quotes that hold it.
func (s *scanner) line(start int, l label) value {
	if l.start > 0 && isQuote(s.text[l.start-1]) {
		return value{start, s.quoted(start, s.text[l.start-1], 0, false).end, false}
	}
	for i := start; i < len(s.text); i++ {
		if c := s.text[i]; c == '\n' || c == '\r' || c == '\\' && i+1 < len(s.text) && (s.text[i+1] == 'n' || s.text[i+1] == 'r') {
			return value{start, i, false}
		}
	}
	return value{start, len(s.text), false}
}

// unquoted returns a word without the punctuation behind it; in a query it ends with
// the parameter.
func (s *scanner) unquoted(start int, query bool) value {
	end := start
loop:
	for ; end < len(s.text); end++ {
		switch c := s.text[end]; c {
		case ' ', '\t', '\n', '\r', '"', '\'', '`', '<', '>':
			break loop
		case '&', '#':
			if query {
				break loop
			}
		case '%':
			if query && strings.HasPrefix(s.text[end:], "%26") {
				break loop
			}
		case '\\':
			if end+1 < len(s.text) && strings.IndexByte(`nrt"'`, s.text[end+1]) >= 0 {
				break loop
			}
		}
	}
	if strings.HasPrefix(s.text[start:end], Marker) && strings.Trim(s.text[start+len(Marker):end], punctuation) == "" {
		return value{start, start + len(Marker), false}
	}
	for end > start && strings.IndexByte(punctuation, s.text[end-1]) >= 0 {
		end--
	}
	return value{start, end, false}
}

// punctuation ends a word without being of it.
const punctuation = ",;:.)]}"

// bareKeyMin is the length, in code points, from which what stands under the name
// key may be a credential: shorter are keys of a keyboard or of a table.
const bareKeyMin = 6

// isIssueKey reports whether a text is the key of an issue, such as AB-12.
func isIssueKey(text string) bool {
	letters, digits, found := strings.Cut(text, "-")
	return found && len(letters) <= 10 && len(digits) <= 7 && letters != "" && digits != "" &&
		strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && strings.Trim(digits, "0123456789") == ""
}

func isPath(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "~/")
}

// looksDrawn reports whether a word is more likely drawn at random than written: it
// has a digit, both cases, or no end.
func looksDrawn(text string) bool {
	upper := strings.ContainsAny(text[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	lower := strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz")
	return len(text) >= 6 && (len(text) >= 20 || upper && lower || strings.ContainsAny(text, "0123456789"))
}

// isPlaceholder reports whether a bare word stands for a value: a type, a variable,
// a call, or the name itself.
func isPlaceholder(text, name string) bool {
	lower := strings.ToLower(text)
	if placeholders[strings.TrimSuffix(lower, "?")] || strings.EqualFold(squash(text), squash(name)) {
		return true
	}
	for _, start := range [...]string{"${", "$(", "{{", "%(", "process.env.", "os.environ", "os.getenv", "secrets."} {
		if strings.HasPrefix(lower, start) {
			return true
		}
	}
	if rest, ok := strings.CutPrefix(text, "$"); ok && rest != "" && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return true
	}
	end := 0
	for end < len(text) && (isAlnum(text[end]) || text[end] == '_' || text[end] == '.') {
		end++
	}
	return end > 0 && end < len(text) && (text[end] == '(' || text[end] == '[') && !isDigit(text[0])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

var placeholders = set("string str number int integer bool boolean null none nil true false undefined required optional any object " +
	"missing invalid expired unset empty secret password token value yes no self *** ****** xxx")
