// Package redacttest plants secrets in what goes through a gateway, so that tests
// can look for them in what comes out. The places, the spelling of names and the
// nesting are drawn; the secrets are made up.
package redacttest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// Planted is what was planted, and where.
type Planted struct {
	Secrets []string
	// Values are those of the secrets that nothing announces: a redactor finds them
	// by its list of exact values only.
	Values []string

	Arguments []json.RawMessage // objects
	Results   []string          // JSON and plain text
	Errors    []string
	URLs      []string
}

// Plant plants n secrets, each in one place of each kind.
func Plant(r *rand.Rand, n int) Planted {
	p := Planted{}
	for i := range n {
		g := gardener{r}
		if i%10 == 9 {
			g.plantValue(&p)
			continue
		}
		secret := g.letters(16 + r.IntN(24))
		p.Secrets = append(p.Secrets, secret)
		p.Arguments = append(p.Arguments, g.nest(g.member(secret), r.IntN(6)))
		p.Results = append(p.Results, g.result(secret))
		p.Errors = append(p.Errors, "call failed: "+g.line(secret)+" (attempt 2)")
		p.URLs = append(p.URLs, g.url(secret))
	}
	return p
}

// Leaked returns the secrets that are in a text, as they are or as URLs, JSON or
// base64 write them.
func (p Planted) Leaked(text string) (leaked []string) {
	for _, s := range p.Secrets {
		quoted, _ := json.Marshal(s)
		for _, form := range []string{s, url.QueryEscape(s), string(quoted[1 : len(quoted)-1]), base64.RawStdEncoding.EncodeToString([]byte(s))} {
			if strings.Contains(text, form) {
				leaked = append(leaked, s)
				break
			}
		}
	}
	return leaked
}

// gardener draws places for secrets.
type gardener struct{ r *rand.Rand }

func (g gardener) pick(from ...string) string { return from[g.r.IntN(len(from))] }

// letters draws letters and digits, a digit first.
func (g gardener) letters(n int) string {
	const all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = all[g.r.IntN(len(all))]
	}
	b[0] = all[52+g.r.IntN(10)]
	return string(b)
}

// plantValue plants a secret of any characters where nothing announces it.
func (g gardener) plantValue(p *Planted) {
	secret := g.letters(6) + g.pick(`"`, `\`, "&", " ", "é", "/+", "<") + g.letters(8)
	p.Secrets, p.Values = append(p.Secrets, secret), append(p.Values, secret)
	escaped := url.QueryEscape(secret)
	if g.r.IntN(2) == 0 {
		escaped = url.PathEscape(secret)
	}
	p.Arguments = append(p.Arguments, g.nest(object("note", g.pick("see "+secret, secret, base64.StdEncoding.EncodeToString([]byte(secret)))), g.r.IntN(6)))
	p.Results = append(p.Results, g.pick("it is "+secret+".", string(object("text", secret))))
	p.Errors = append(p.Errors, "no such thing as "+secret)
	p.URLs = append(p.URLs, "https://example.org/"+escaped+"/list?q="+url.QueryEscape(secret))
}

// name draws a secret's name in a spelling of its own.
func (g gardener) name() string {
	words := strings.Fields(g.pick("password", "db password", "passwd", "secret", "client secret", "token", "access token", "refresh token",
		"api key", "x api key", "secret key", "private key", "authorization", "proxy authorization", "cookie", "set cookie", "credential",
		"auth token", "session token", "aws secret access key", "ssh passphrase"))
	switch g.r.IntN(6) {
	case 0:
		return strings.Join(words, "_")
	case 1:
		return strings.Join(words, "-")
	case 2:
		return strings.ToUpper(strings.Join(words, "_"))
	case 3:
		for i, word := range words {
			if i > 0 {
				words[i] = strings.ToUpper(word[:1]) + word[1:]
			}
		}
		return strings.Join(words, "")
	case 4:
		for i, word := range words {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
		return strings.Join(words, g.pick("", "-", "_"))
	}
	b := []byte(strings.Join(words, g.pick("_", "-")))
	for i := range b {
		if g.r.IntN(2) == 0 {
			b[i] = strings.ToUpper(string(b[i]))[0]
		}
	}
	return string(b)
}

func object(name string, value any) json.RawMessage {
	raw, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		panic("redacttest: " + err.Error())
	}
	return raw
}

// credential gives a secret the form of a credential.
func (g gardener) credential(secret string) string {
	long := secret + g.letters(24)
	return g.pick("sk-"+long, "sk-proj-"+long, "ghp_"+long, "github_pat_"+long, "glpat-"+long, "xoxb-"+long, "hf_"+long, "npm_"+long,
		"AIza"+long, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0."+secret, "Bearer "+secret, "bearer  "+secret,
		"-----BEGIN PRIVATE KEY-----\n"+secret+"\n-----END PRIVATE KEY-----")
}

// member makes an object that holds a secret.
func (g gardener) member(secret string) json.RawMessage {
	switch g.r.IntN(9) {
	case 0:
		return object("text", "use "+g.credential(secret)+" now")
	case 1:
		return object("url", g.url(secret))
	case 2:
		return object(g.name(), []string{secret})
	case 3:
		return object(g.name(), map[string]any{"inner": []any{1, map[string]string{"x": secret}}})
	case 4:
		return object("env", []any{map[string]string{"name": g.name(), "value": secret}, map[string]string{"value": secret, "key": g.name()}})
	case 5:
		return object("args", []string{"run", "--" + g.name(), secret, "-v"})
	case 6:
		return object("body", g.line(secret))
	case 7: // the name in escapes
		name := g.name()
		return json.RawMessage(fmt.Sprintf(`{"\u%04x%s": "%s"}`, name[0], name[1:], secret))
	}
	return object(g.name(), secret)
}

// nest puts a value into others, and now and then into a text of JSON.
func (g gardener) nest(raw json.RawMessage, depth int) json.RawMessage {
	asText := false
	for range depth {
		switch n := g.r.IntN(4); {
		case n == 0 && !asText:
			raw, asText = object("payload", string(raw)), true
		case n <= 1:
			raw = object("items", []any{1, "two", raw, nil})
		default:
			raw = object(g.pick("data", "config", "nested", "options"), raw)
		}
	}
	return raw
}

// line draws a line of text that holds a secret.
func (g gardener) line(secret string) string {
	name := g.name()
	return g.pick(name+"="+secret, "export "+name+"="+secret, name+": "+secret, name+`: "`+secret+`"`, `{"`+name+`": "`+secret+`"`,
		"run --"+name+" "+secret, "run --"+name+"="+secret, "curl -u me:"+secret, `curl -H "Authorization: Token `+secret+`"`,
		g.credential(secret), g.url(secret), "<password>"+secret+"</password>", `{\"`+name+`\": \"`+secret+`\", \"a\": 1}`)
}

// result draws a result that holds a secret.
func (g gardener) result(secret string) string {
	if g.r.IntN(2) == 0 {
		return string(g.nest(g.member(secret), g.r.IntN(6)))
	}
	return "first line\n" + g.line(secret) + "\nlast line\n"
}

// url draws an address that holds a secret.
func (g gardener) url(secret string) string {
	inner := "https://example.org/a?" + g.name() + "=" + secret
	return g.pick("https://user:"+secret+"@example.org/a", "postgres://app:"+secret+"@db:5432/x?sslmode=off", inner+"&page=2", inner+"#part",
		"https://example.org/a?page=2&"+g.name()+"="+secret, "https://example.org/a?back="+url.QueryEscape(inner),
		"https://"+secret+"@example.org/a")
}
