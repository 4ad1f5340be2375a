package harvest

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// secretMin is the length from which a value counts as a secret: shorter ones
// protect nothing, and to strike them out would spoil plain text.
const secretMin = 4

// lineMax bounds, in code points, one line that a server wrote.
const lineMax = 200

// struckOut stands in place of a secret.
const struckOut = "[redacted]"

// secrets are texts that must not be shown, the longest first.
type secrets []string

// secretFlag matches the arguments whose value, or the argument after them, is a
// secret.
var secretFlag = regexp.MustCompile(`(?i)pass|secret|token|key|auth|bearer|credential|header|cookie`)

// secrets returns the texts of the entry that must not be shown.
func (s Server) secrets() secrets {
	var list secrets
	add := func(text string) {
		for _, part := range append(strings.FieldsFunc(text, unicode.IsSpace), text) {
			if len(part) >= secretMin {
				list = append(list, part)
			}
		}
	}
	for _, v := range append(slices.Clone(s.Env), s.Headers...) {
		add(v.Value)
	}
	for i, arg := range s.Args {
		name, value, assigned := strings.Cut(arg, "=")
		switch {
		case assigned && secretFlag.MatchString(name):
			add(value)
		case i > 0 && strings.HasPrefix(s.Args[i-1], "-") && !strings.Contains(s.Args[i-1], "=") && secretFlag.MatchString(s.Args[i-1]):
			add(arg)
		}
		list = append(list, inAddress(arg)...)
	}
	list = append(list, inAddress(s.URL)...)
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(list)
}

// inAddress returns what an address has besides scheme and host: paths hold keys
// as often as queries do.
func inAddress(text string) (list secrets) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return nil
	}
	parts := []string{u.RequestURI(), u.EscapedPath(), u.Path, u.RawQuery, u.Fragment}
	if u.User != nil {
		password, _ := u.User.Password()
		parts = append(parts, u.User.String(), u.User.Username(), password)
	}
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	parts = append(parts, strings.Split(u.Path, "/")...)
	parts = append(parts, strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == '=' })...)
	for _, p := range parts {
		if len(p) >= secretMin {
			list = append(list, p)
		}
	}
	return list
}

// redact strikes the secrets out of a text.
func (l secrets) redact(text string) string {
	for _, secret := range l {
		text = strings.ReplaceAll(text, secret, struckOut)
	}
	return text
}

// clean makes a line without secrets of what a server wrote. It strikes out twice:
// before the line is cut, and once more without what coloured it.
func (l secrets) clean(text string) string { return l.redact(plain(l.redact(text))) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// plain makes a line of what a server wrote: no control characters, no line
// breaks, bounded.
func plain(text string) string {
	text = escapeSequence.ReplaceAllString(strings.ToValidUTF8(text, "\ufffd"), "")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(text); len(runes) > lineMax {
		text = string(runes[:lineMax]) + "…"
	}
	return text
}

// escapeSequence matches what colours text on a terminal.
var escapeSequence = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
