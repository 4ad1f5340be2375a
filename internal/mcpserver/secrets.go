package mcpserver

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// secretMin is the length from which a value is struck out: shorter ones protect
// nothing, and to strike them out would spoil plain text.
const secretMin = 4

// keyMin is the length from which a value can be a key.
const keyMin = 8

// lineMax bounds, in code points, one line that a server wrote.
const lineMax = 200

// struckOut stands in place of a secret.
const struckOut = "[redacted]"

// secret is a text that must not be shown.
type secret struct {
	text string
	// key marks what can be nothing but a secret. Of the others some are plain
	// words (LOG=info), which a tool may use.
	key bool
}

// Secrets are the texts of an entry that must not be shown, the longest first.
type Secrets []secret

// secretName matches the names of variables, headers and arguments whose value is
// a secret.
var secretName = regexp.MustCompile(`(?i)pass|secret|token|key|auth|bearer|credential|header|cookie|^-H$`)

// variableName matches what sets a variable in an argument, as in docker run -e
// NAME=VALUE.
var variableName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// looksLikeKey tells what is likely to be a key by its form.
func looksLikeKey(text string) bool {
	return len(text) >= keyMin && strings.ContainsAny(text, "0123456789") &&
		strings.ContainsFunc(text, unicode.IsLetter) && !strings.ContainsFunc(text, unicode.IsSpace)
}

// add adds a value and its words. certain says that its name is that of a secret.
func (l *Secrets) add(value string, certain bool) {
	for _, part := range append(strings.FieldsFunc(value, unicode.IsSpace), value) {
		if len(part) >= secretMin {
			*l = append(*l, secret{part, looksLikeKey(part) || certain && len(part) >= keyMin})
		}
	}
}

// Secrets returns the texts of the entry that must not be shown.
func (s Server) Secrets() Secrets {
	list := s.argumentSecrets()
	for _, v := range append(slices.Clone(s.Env), s.Headers...) {
		list.add(v.Value, secretName.MatchString(v.Name))
		list.addAddress(v.Value)
	}
	list.addAddress(s.URL)
	list.sort()
	return list
}

// argumentSecrets returns those that stand in the arguments, or may.
func (s Server) argumentSecrets() (list Secrets) {
	for _, value := range s.Taken {
		list.add(value, true)
	}
	runs := s.packageArgument()
	for i, arg := range s.Args {
		name, value, assigned := cutAny(arg, "=:")
		switch {
		case s.behindSecretFlag(i):
			list.add(arg, true)
			list.add(value, true)
		case assigned && secretName.MatchString(name):
			list.add(value, true)
		case assigned && variableName.MatchString(name):
			list.add(value, false)
		case i != runs && bareKey.MatchString(arg) && looksLikeKey(arg):
			list.add(arg, true)
		}
		list.addAddress(arg)
	}
	list.sort()
	return list
}

// behindSecretFlag reports whether an argument is the value of an option such as
// --token.
func (s Server) behindSecretFlag(i int) bool {
	return i > 0 && strings.HasPrefix(s.Args[i-1], "-") && !strings.Contains(s.Args[i-1], "=") && secretName.MatchString(s.Args[i-1])
}

// bareKey matches an argument that can be a key: no path, package or option.
var bareKey = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{15,}$`)

func cutAny(text, marks string) (before, after string, found bool) {
	i := strings.IndexAny(text, marks)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// addAddress adds what an address has besides scheme and host: paths hold keys as
// often as queries do.
func (l *Secrets) addAddress(text string) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return
	}
	for _, part := range []string{u.RequestURI(), u.EscapedPath(), u.Path, u.RawQuery, u.Fragment} {
		l.add(part, false)
	}
	if u.User != nil {
		password, _ := u.User.Password()
		l.add(u.User.String(), true)
		l.add(u.User.Username(), false)
		l.add(password, true)
		l.add(base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)), true)
	}
	for name, values := range u.Query() {
		for _, value := range values {
			l.add(value, secretName.MatchString(name))
		}
	}
	for _, part := range append(strings.Split(u.Path, "/"), strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == '=' })...) {
		l.add(part, false)
	}
}

// sort puts the longest first, and of equal texts the key.
func (l *Secrets) sort() {
	slices.SortFunc(*l, func(a, b secret) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text), compareKey(a, b))
	})
	*l = slices.CompactFunc(*l, func(a, b secret) bool { return a.text == b.text })
}

func compareKey(a, b secret) int {
	switch {
	case a.key == b.key:
		return 0
	case a.key:
		return -1
	}
	return 1
}

// KeyIn reports whether a text holds what can be nothing but a secret.
func (l Secrets) KeyIn(text string) bool {
	return slices.ContainsFunc(l, func(s secret) bool { return s.key && strings.Contains(text, s.text) })
}

// Redact strikes the secrets out of a text.
func (l Secrets) Redact(text string) string {
	for _, s := range l {
		text = strings.ReplaceAll(text, s.text, struckOut)
	}
	return text
}

// Clean makes a line without secrets of what a server wrote: once as it is, and
// once without what coloured it. It is cut last, since half a secret is not found.
func (l Secrets) Clean(text string) string {
	text = l.Redact(plain(l.Redact(text)))
	if runes := []rune(text); len(runes) > lineMax {
		text = string(runes[:lineMax]) + "…"
	}
	return text
}

// plain makes a line of what a server wrote: no control characters, no line
// breaks.
func plain(text string) string {
	text = escapeSequence.ReplaceAllString(strings.ToValidUTF8(text, "\ufffd"), "")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// escapeSequence matches what colours text on a terminal.
var escapeSequence = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
