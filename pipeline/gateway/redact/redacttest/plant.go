// Package redacttest plants secrets where they occur, in as many spellings as people
// and programs use, so that tests can look for what is left of them.
package redacttest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Random is what Plant draws from.
type Random interface{ IntN(n int) int }

// Planted is a secret, and the texts that hold it.
type Planted struct {
	Secret string
	// JSON is an object that holds it somewhere, and Text a text that is none.
	JSON json.RawMessage
	Text string
	// URL is an address that holds it.
	URL string
}

// names are those of members, parameters and variables that hold secrets, as found in
// public interfaces.
var names = []string{
	"password", "Password", "PASSWORD", "user_password", "passwd", "pwd", "passphrase", "secret", "client_secret", "clientSecret", "CLIENT-SECRET",
	"token", "access_token", "accessToken", "refresh-token", "X-Auth-Token", "api_key", "apiKey", "apikey", "API-KEY", "x-api-key", "private_key",
	"privateKey", "secretAccessKey", "aws_secret_access_key", "authorization", "Authorization", "credentials", "cookie", "session_token", "GITHUB_TOKEN", "db.password",
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func word(r Random, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	return b.String()
}

// prefixes are beginnings of tokens that tell whose they are.
var prefixes = []string{"sk-", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "npm_", "hf_", "AKIA", "AIza"}

// Plant draws a secret and hides it.
func Plant(r Random) Planted {
	secret := word(r, 12+r.IntN(20)) + "7"
	name := names[r.IntN(len(names))]
	bare := r.IntN(3) == 0 // known by its own form alone
	if bare {
		prefix := prefixes[r.IntN(len(prefixes))]
		secret = prefix + word(r, 30)
		if prefix == "AKIA" {
			secret = prefix + strings.ToUpper(word(r, 16))
		}
		name = []string{"note", "text", "value", "comment"}[r.IntN(4)]
	}
	return Planted{Secret: secret, JSON: object(r, name, secret), Text: text(r, name, secret, bare), URL: address(r, name, secret, bare)}
}

// object hides a secret in an object, up to six levels deep, or in a text that is JSON.
func object(r Random, name, secret string) json.RawMessage {
	var value any = map[string]any{name: secret, "count": 3}
	for range r.IntN(6) {
		switch r.IntN(4) {
		case 0:
			value = map[string]any{"item": value, "kind": "x"}
		case 1:
			value = []any{1, value, "y"}
		case 2:
			raw, err := json.Marshal(value)
			if err != nil {
				panic(err)
			}
			value = map[string]any{"body": string(raw)}
		default:
			value = map[string]any{"headers": []any{value}}
		}
	}
	raw, err := json.Marshal(map[string]any{"data": value})
	if err != nil {
		panic(err)
	}
	if r.IntN(4) == 0 { // as some encoders write it
		raw = []byte(strings.Replace(string(raw), `"`+name[:1], fmt.Sprintf(`"\u%04x`, name[0]), 1))
	}
	return raw
}

// text hides a secret in a text that is no JSON.
func text(r Random, name, secret string, bare bool) string {
	if bare {
		return fmt.Sprintf([]string{"The answer was %s.", "see (%s), please", "login failed for %s", "a\n%s\nb"}[r.IntN(4)], secret)
	}
	switch r.IntN(7) {
	case 0:
		return "connect failed: " + name + "=" + secret
	case 1:
		return "config\n" + name + ": " + secret + "\nmore"
	case 2:
		return `got {"` + name + `":"` + secret + `"} and stopped`
	case 3:
		return "run it with --" + strings.ReplaceAll(strings.ToLower(name), "_", "-") + " " + secret + " again"
	case 4:
		return "Authorization: Bearer " + secret
	case 5:
		return "export " + strings.ToUpper(name) + `="` + secret + `"`
	default:
		return "postgres://admin:" + secret + "@db.example/x is down"
	}
}

// address hides a secret in an address.
func address(r Random, name, secret string, bare bool) string {
	switch r.IntN(3) {
	case 0:
		return "https://user:" + secret + "@host.example/path"
	case 1:
		if !bare {
			return "https://host.example/path?page=2&" + url.QueryEscape(name) + "=" + url.QueryEscape(secret) + "&z=1"
		}
	}
	if bare {
		return "https://host.example/hook/" + secret
	}
	return "wss://host.example/s?" + url.QueryEscape(name) + "=" + url.QueryEscape(secret)
}
