package redact

import (
	"regexp"
	"strings"
)

// The forms of secrets in plain text.
var (
	// privateKey is a PEM block, or what of one was not cut off.
	privateKey = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|$)`)

	// known are tokens whose beginning tells whose they are.
	known = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{8,}|[sr]k_(?:live|test)_[A-Za-z0-9]{8,}|whsec_[A-Za-z0-9+/=]{8,}|gh[opsur]_[A-Za-z0-9]{8,}|github_pat_[A-Za-z0-9_]{8,}` +
		`|glpat-[A-Za-z0-9_-]{8,}|xox[abeoprs]-[A-Za-z0-9-]{8,}|A(?:KIA|SIA)[0-9A-Z]{12,}|AIza[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_-]{8,}` +
		`|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?|npm_[A-Za-z0-9]{8,}|pypi-[A-Za-z0-9_-]{8,}|hf_[A-Za-z0-9]{8,}|dop_v1_[a-f0-9]{8,}|SG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})`)

	// scheme is the credentials of an HTTP authorization.
	scheme = regexp.MustCompile(`(?i)\b(bearer|basic|digest|negotiate)(\s+)([A-Za-z0-9._~+/=-]{6,})`)

	// header is a line whose whole rest is secret.
	header = regexp.MustCompile(`(?i)\b((?:proxy-)?authorization|(?:set-)?cookie)(["']?\s*:\s*["']?)([^\r\n"']+)`)

	// userInfo is what an address has in front of its host.
	userInfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)([^/\s@"'<>]+)@`)

	// assigned is NAME=VALUE or NAME: VALUE, with quotes or without, in an address, a
	// header, a configuration or a piece of JSON.
	assigned = regexp.MustCompile(`([A-Za-z][A-Za-z0-9_.\-\[\]%]*)(\\?["']?\s*(?:=>|=|:)\s*)(\\?"(?:[^"\\\r\n]|\\[^"])*\\?"?|'[^'\r\n]*'?|[^\s&"',;}<>]+)`)

	// option is --NAME VALUE on a command line.
	option = regexp.MustCompile(`(--?[A-Za-z][A-Za-z0-9_.-]*)(\s+)(["']?[^\s"'-][^\s"']*["']?)`)
)

// plain takes secrets out of a text that is no JSON.
func (r *Redactor) plain(text string) (string, int) {
	found := 0
	for _, v := range r.values {
		if n := strings.Count(text, v); n > 0 {
			text, found = strings.ReplaceAll(text, v, Mark), found+n
		}
	}
	replace := func(form *regexp.Regexp, secret int) {
		text = form.ReplaceAllStringFunc(text, func(match string) string {
			parts := form.FindStringSubmatch(match)
			if parts == nil || strings.Contains(parts[secret], Mark[:len(Mark)-1]) {
				return match
			}
			found++
			parts[secret] = quoted(parts[secret])
			if secret == 0 {
				return parts[0]
			}
			return strings.Join(parts[1:], "")
		})
	}
	replace(privateKey, 0)
	replace(known, 0)
	replace(header, 3)
	replace(scheme, 3)
	text = userInfo.ReplaceAllStringFunc(text, func(match string) string {
		parts := userInfo.FindStringSubmatch(match)
		if parts == nil || parts[2] == Mark {
			return match
		}
		found++
		return parts[1] + Mark + "@"
	})
	for _, form := range []*regexp.Regexp{assigned, option} {
		var n int
		text, n = r.valuesOf(form, text)
		found += n
	}
	return text, found
}

// valuesOf strikes out the values, the third part of a form, whose names, the first, say
// that they are secret. What stands in the value of a harmless name is looked at too.
func (r *Redactor) valuesOf(form *regexp.Regexp, text string) (string, int) {
	var b strings.Builder
	found, done := 0, 0
	for from := 0; from < len(text); {
		at := form.FindStringSubmatchIndex(text[from:])
		if at == nil {
			break
		}
		name, value := text[from+at[2]:from+at[3]], text[from+at[6]:from+at[7]]
		if !strings.Contains(value, Mark[:len(Mark)-1]) && r.tells(name, value) {
			b.WriteString(text[done : from+at[6]])
			b.WriteString(quoted(value))
			found, done = found+1, from+at[7]
			from = done
			continue
		}
		from += at[6]
	}
	b.WriteString(text[done:])
	return b.String(), found
}

// tells reports whether a name makes its value a secret.
func (r *Redactor) tells(name, value string) bool {
	value = strings.Trim(value, `\"'`)
	switch value {
	case "", "true", "false", "null", "nil", "none", "None":
		return false
	}
	switch r.nameKind(unescapedName(name)) {
	case nameSecret:
		return true
	case nameMaybe:
		return looksSecret(value)
	default:
		return false
	}
}

// unescapedName is a parameter's name without the escapes of an address.
func unescapedName(name string) string {
	if !strings.Contains(name, "%") {
		return name
	}
	return strings.NewReplacer("%5F", "_", "%5f", "_", "%2D", "-", "%2d", "-", "%5B", "[", "%5D", "]", "%5b", "[", "%5d", "]").Replace(name)
}

// quoted is the mark in the quotes that a value had.
func quoted(value string) string {
	for _, quote := range []string{`\"`, `"`, `'`} {
		if strings.HasPrefix(value, quote) {
			if strings.HasSuffix(value, quote) && len(value) > len(quote) {
				return quote + Mark + quote
			}
			return quote + Mark
		}
	}
	return Mark
}

// triggers are beginnings of words, in lower case, without which no form and no name of
// a secret can match.
var triggers = byFirst(
	"pass", "pwd", `"pin"`, "pin=", "pin:", "secret", "token", "key", "auth", "bearer", "basic", "digest", "negotiate", "cookie", "credential",
	"sk-", "sk_", "rk_", "whsec_", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-", "xox", "akia", "asia", "aiza", "ya29", "eyj",
	"npm_", "pypi-", "hf_", "dop_v1_", "sg.", "-----begin",
)

// byFirst orders words by their first two bytes.
func byFirst(list ...string) *triggerTable {
	table := &triggerTable{words: make(map[uint16][]string)}
	for _, word := range list {
		pair := uint16(word[0])<<8 | uint16(word[1])
		table.pairs[pair>>6] |= 1 << (pair & 63)
		table.words[pair] = append(table.words[pair], word)
	}
	return table
}

// triggerTable has words by their first two bytes, and a bit for each such pair.
type triggerTable struct {
	pairs [1 << 10]uint64
	words map[uint16][]string
}

// lower has the lower case of each ASCII byte.
var lower = func() (table [256]byte) {
	for i := range table {
		table[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			table[i] += 'a' - 'A'
		}
	}
	return table
}()

// suspicious reports whether a text could hold a secret. It only looks.
func (r *Redactor) suspicious(text string) bool {
	if len(r.keys) > 0 || strings.Contains(text, `\u`) || strings.Contains(text, "://") && strings.Contains(text, "@") {
		return true
	}
	for i := 0; i+1 < len(text); i++ {
		pair := uint16(lower[text[i]])<<8 | uint16(lower[text[i+1]])
		if triggers.pairs[pair>>6]&(1<<(pair&63)) == 0 {
			continue
		}
		for _, word := range triggers.words[pair] {
			if len(text)-i >= len(word) && strings.EqualFold(text[i:i+len(word)], word) {
				return true
			}
		}
	}
	for _, v := range r.values {
		if strings.Contains(text, v) {
			return true
		}
	}
	return false
}
