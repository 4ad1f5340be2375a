package redact

import (
	"strings"
)

// scan redacts a plain text, in one pass over its values and one over the rest.
func (r *Redactor) scan(text string) (string, int) {
	text, struck := r.values.strike(text)
	s := scanner{r: r, text: text}
	s.run()
	if s.edits == nil {
		return text, struck
	}
	return string(apply(text, s.edits)), struck + len(s.edits)
}

// scanner finds secrets in a plain text. It looks at each byte once, but for the
// few around a sign.
type scanner struct {
	r     *Redactor
	text  string
	edits []edit
}

// The classes of bytes.
const (
	plain = iota
	word  // letters and digits
	sign  // what may be, or announce, a secret
)

var classOf = func() (class [256]uint8) {
	for c := range class {
		if isAlnum(byte(c)) {
			class[c] = word
		}
	}
	for _, c := range []byte(`:=->%\`) {
		class[c] = sign
	}
	return class
}()

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func (s *scanner) run() {
	text := s.text
	for i := 0; i < len(text); {
		switch classOf[text[i]] {
		case word:
			if mayBeCredential(text, i) {
				if start, end, ok := credential(text, i); ok {
					s.strike(start, end)
					i = end
					continue
				}
			}
			for i < len(text) && classOf[text[i]] == word {
				i++
			}
		case sign:
			i = s.sign(i)
		default:
			i++
		}
	}
}

// strike replaces a part, unless nothing is left of it.
func (s *scanner) strike(start, end int) {
	if start < end && s.text[start:end] != Marker {
		s.edits = append(s.edits, edit{start, end, Marker})
	}
}

// sign looks at the byte at i, which may announce a secret, and returns where to go
// on.
func (s *scanner) sign(i int) int {
	switch s.text[i] {
	case ':':
		if strings.HasPrefix(s.text[i:], "://") {
			return s.address(i + len("://"))
		}
		return s.assignment(i, i+1)
	case '=':
		return s.assignment(i, i+1)
	case '>':
		return s.element(i)
	case '-':
		if strings.HasPrefix(s.text[i:], pemBegin) {
			return s.privateKey(i)
		}
		return s.flag(i)
	case '%':
		return s.percent(i)
	default: // a backslash: what it escapes begins no word
		if strings.HasPrefix(s.text[i:], `\u`) {
			return min(i+len(`\u0000`), len(s.text))
		}
		if i+1 < len(s.text) && isAlnum(s.text[i+1]) {
			return i + 2
		}
		return i + 1
	}
}

// percent passes over an escape, whose digits begin no word. %3D assigns, as in an
// address within an address.
func (s *scanner) percent(i int) int {
	if !isHex2(s.text[i+1:]) {
		return i + 1
	}
	if s.text[i+1] == '3' && s.text[i+2]|0x20 == 'd' {
		return s.assignment(i, i+3)
	}
	return i + 3
}

func isHex2(text string) bool { return len(text) >= 2 && isHex(text[0]) && isHex(text[1]) }

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// passwordMax bounds how far, in bytes, a password is looked for that holds what
// should end it.
const passwordMax = 128

// address strikes the user information out of an address whose authority begins
// at i. Without a password it is mostly a name, unless it is long.
func (s *scanner) address(i int) int {
	end := i
	at, colon := -1, -1
authority:
	for ; end < len(s.text) && strings.IndexByte(addressEnd, s.text[end]) < 0; end++ {
		switch s.text[end] {
		case '@':
			at = end
		case ':':
			colon = end
		case '/', '?', '#':
			if at >= 0 || colon < 0 || strings.Trim(s.text[colon+1:end], "0123456789]") == "" || end > i+passwordMax {
				break authority
			}
			// What follows the colon is no port: the password was not escaped.
		}
	}
	if at < 0 {
		return i
	}
	if user := s.text[i:at]; strings.Contains(user, ":") || len(user) >= 16 {
		s.strike(i, at)
		return at
	}
	return i
}

// addressEnd are the bytes that no address holds.
const addressEnd = "\"'`<>\\ \t\r\n"

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
)

// privateKey strikes out the block of a private key, or what is there of it.
func (s *scanner) privateKey(i int) int {
	label := s.text[i+len(pemBegin) : min(len(s.text), i+len(pemBegin)+40)]
	if !strings.Contains(label, "PRIVATE KEY") {
		return i + len(pemBegin)
	}
	end := len(s.text)
	if n := strings.Index(s.text[i:], pemEnd); n >= 0 {
		end = i + n + len(pemEnd)
		if n := strings.Index(s.text[end:min(len(s.text), end+60)], "-----"); n >= 0 {
			end += n + len("-----")
		}
	}
	s.strike(i, end)
	return end
}

// element strikes out what stands between <password> and the next tag, where i is
// the end of a start tag.
func (s *scanner) element(i int) int {
	start := nameStart(s.text, i)
	if start == 0 || s.text[start-1] != '<' || s.r.name(s.text[start:i]) < wary {
		return i + 1
	}
	end := strings.IndexByte(s.text[i:], '<')
	if end < 0 {
		end = len(s.text) - i
	}
	s.strike(i+1, i+end)
	return i + end
}

// flag strikes out the argument behind an option such as --password, or that of
// curl's -u where it holds a password.
func (s *scanner) flag(i int) int {
	if i > 0 && !strings.ContainsRune(" \t\r\n\"'`[(,", rune(s.text[i-1])) {
		return i + 1
	}
	start := i
	for start < len(s.text) && start < i+2 && s.text[start] == '-' {
		start++
	}
	end := start
	for end < len(s.text) && end < start+nameMax && isName[s.text[end]] {
		end++
	}
	if end == start || end == len(s.text) || s.text[end] == '=' {
		return start
	}
	name := s.text[start:end]
	user := name == "u" || name == "user"
	if !user && s.r.name(name) == harmless {
		return start
	}
	at := end
	for at < len(s.text) && at < end+8 && strings.IndexByte(" \t\"',", s.text[at]) >= 0 {
		at++
	}
	if at == end || at == len(s.text) || s.text[at] == '-' {
		return start
	}
	v := s.unquoted(at, false)
	if q := s.text[at-1]; q == '"' || q == '\'' {
		v = s.quoted(at, q, 0, false)
	}
	text := s.text[v.start:v.end]
	if user && !strings.Contains(text, ":") || !user && !v.quoted && (isPlaceholder(text, name) || len(text) <= 4 && isLowerWord(text)) {
		return start
	}
	s.strike(v.start, v.end)
	return max(v.end, start)
}
