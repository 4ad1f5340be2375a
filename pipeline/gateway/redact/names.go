package redact

import (
	"slices"
	"strings"
	"unicode"
)

// nameKind is what a name says of its value.
type nameKind int

const (
	nameHarmless nameKind = iota
	nameMaybe             // a secret if it looks like one
	nameSecret
)

// secretWords are words of which one makes a name that of a secret.
var secretWords = []string{
	"apikey", "authorization", "bearer", "cookie", "cookies", "credential", "credentials", "passcode", "passphrase", "passwd", "password",
	"passwords", "pwd", "secret", "secrets",
}

// keyWords make a name with the word key that of a secret: api_key, ssh-key, but not
// issue_key or primary_key.
var keyWords = []string{
	"access", "account", "api", "app", "auth", "client", "consumer", "deploy", "encryption", "gpg", "license", "master", "private", "secret",
	"service", "session", "shared", "signing", "ssh", "storage", "subscription", "webhook",
}

// tokenCounters are words of names in which token is a unit, a kind or a place to read
// on from, and no secret.
var tokenCounters = []string{
	"budget", "completion", "continuation", "count", "cursor", "estimate", "input", "length", "limit", "max", "min", "next", "output", "page",
	"per", "previous", "prompt", "rate", "skip", "sync", "total", "type", "usage",
}

// nameKind judges the name of a member, a parameter or a variable.
func (r *Redactor) nameKind(name string) nameKind {
	if len(name) > nameMax || name == "" {
		return nameHarmless
	}
	list := words(name)
	whole := joined(list)
	if r.keys[whole] {
		return nameSecret
	}
	has := func(word string) bool { return slices.Contains(list, word) }
	among := func(known []string) bool {
		return slices.ContainsFunc(list, func(word string) bool { return slices.Contains(known, word) })
	}
	switch {
	case among(secretWords) || slices.ContainsFunc(secretEndings, func(ending string) bool { return strings.HasSuffix(whole, ending) }):
		return nameSecret
	case has("pass") && len(list) == 1 || has("auth") && len(list) == 1 || has("pin") && len(list) == 1:
		return nameMaybe
	case has("token") && !among(tokenCounters):
		return nameSecret
	case has("token") || has("tokens"):
		return nameHarmless
	case has("key") && among(keyWords) || has("keys") && among(keyWords):
		return nameSecret
	case whole == "key":
		return nameMaybe
	}
	return nameHarmless
}

// secretEndings are those of names written without any sign between their words.
var secretEndings = []string{"accesskey", "accesstoken", "apikey", "apitoken", "authtoken", "clientsecret", "password", "passwd", "privatekey", "refreshtoken", "secretkey", "sessiontoken"}

// nameMax bounds the names that are looked at, in bytes.
const nameMax = 200

// words splits a name where the case or the kind of its characters changes.
func words(name string) (list []string) {
	var word []rune
	flush := func() {
		if len(word) > 0 {
			list = append(list, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, c := range runes {
		switch {
		case !unicode.IsLetter(c):
			flush()
			continue
		case unicode.IsUpper(c) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
		}
		word = append(word, c)
	}
	flush()
	return list
}

// joined is how names are compared: without case and signs.
func joined(words []string) string { return strings.Join(words, "") }

// looksSecret tells a secret from a word by its form: long, without spaces, with a digit,
// and no number of a ticket.
func looksSecret(text string) bool {
	if len(text) < 8 || strings.ContainsFunc(text, unicode.IsSpace) || !strings.ContainsAny(text, "0123456789") {
		return false
	}
	project, number, ticket := strings.Cut(text, "-")
	return !(ticket && project == strings.ToUpper(project) && strings.Trim(number, "0123456789") == "")
}
