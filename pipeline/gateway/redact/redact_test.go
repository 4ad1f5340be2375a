package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/redact"
	"github.com/toolgauge/toolgauge/pipeline/gateway/redact/redacttest"
)

func TestJSON(t *testing.T) {
	r := redact.New(card.Redact{Keys: []string{"Employee-No"}, Values: []string{"s3cr3t/val\"ue", "99887766"}})
	for _, c := range []struct {
		in, want string
		n        int
	}{
		{`{"password": "hunter2"}`, `{"password": "[redacted]"}`, 1},
		{`{"pAsSwOrD":"a", "DB_PASSWORD":"b", "dbPassword":"c", "db-passwd":"d"}`, `{"pAsSwOrD":"[redacted]", "DB_PASSWORD":"[redacted]", "dbPassword":"[redacted]", "db-passwd":"[redacted]"}`, 4},
		{`{"p\u0061ssword":"a"}`, `{"p\u0061ssword":"[redacted]"}`, 1},
		{`{"apiKey":1,"api_key":[1],"API-KEY":{"a":1},"apikey":"x"}`, `{"apiKey":"[redacted]","api_key":"[redacted]","API-KEY":"[redacted]","apikey":"[redacted]"}`, 4},
		{`{"token":"abc","accessToken":"x","id_token":"y"}`, `{"token":"[redacted]","accessToken":"[redacted]","id_token":"[redacted]"}`, 3},
		{`{"Authorization":"Basic x","Set-Cookie":["a"],"credentials":{"a":{}}}`, `{"Authorization":"[redacted]","Set-Cookie":"[redacted]","credentials":"[redacted]"}`, 3},
		{`{"secret":null,"token":true,"password":""}`, `{"secret":null,"token":true,"password":""}`, 0},
		{`{"a":[{"b":{"private_key":"x"}}]}`, `{"a":[{"b":{"private_key":"[redacted]"}}]}`, 1},
		{`{"body":"{\"password\":\"x\",\"n\":1}"}`, `{"body":"{\"password\":\"[redacted]\",\"n\":1}"}`, 1},
		{`{"key":"hunter22"}`, `{"key":"[redacted]"}`, 1},
		{`[{"key":"color","value":"red"},{"key":"enter"},{"key":"AB-12"}]`, `[{"key":"color","value":"red"},{"key":"enter"},{"key":"AB-12"}]`, 0},
		{`[{"value":["x"],"name":"API_KEY"},{"key":"password","value":"y"}]`, `[{"value":"[redacted]","name":"API_KEY"},{"key":"password","value":"[redacted]"}]`, 2},
		{`["--token","abc","--verbose","abc"]`, `["--token","[redacted]","--verbose","abc"]`, 1},
		{`{"employee_no":12}`, `{"employee_no":"[redacted]"}`, 1},
		{`{"a":"see s3cr3t/val\"ue","b":99887766,"c":[1]}`, `{"a":"see [redacted]","b":"[redacted]","c":[1]}`, 2},
		{`{"sk-abcdefgh12345678":1}`, `{"[redacted]":1}`, 1},
		{`{"properties":{"token":{"x":"y"}},"token":{"type":"x"}}`, `{"properties":{"token":"[redacted]"},"token":"[redacted]"}`, 2},
		{`"x"`, `"x"`, 0},
		{`{"password": "hunter2"`, `{"password": "[redacted]"`, 1}, // cut off: no JSON
	} {
		got, n := r.JSON(json.RawMessage(c.in))
		if string(got) != c.want || n != c.n {
			t.Errorf("%s\n gives %s, %d\n  want %s, %d", c.in, got, n, c.want, c.n)
		}
	}
}

func TestText(t *testing.T) {
	r := redact.New(card.Redact{Values: []string{"pass word&1"}})
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
	for _, c := range []struct{ in, want string }{
		{"PASSWORD=hunter2 and more", "PASSWORD=[redacted] and more"},
		{"password: hunter2.", "password: [redacted]."},
		{`api_key = "a b c"`, `api_key = "[redacted]"`},
		{"run --password hunter2 -v", "run --password [redacted] -v"},
		{"run --token=hunter2 -v", "run --token=[redacted] -v"},
		{"curl -u me:hunter2 x", "curl -u [redacted] x"},
		{`curl -H "Authorization: Token abc def" x`, `curl -H "Authorization: [redacted]" x`},
		{"Cookie: a=b; c=d\nHost: x", "Cookie: [redacted]\nHost: x"},
		{"sent Bearer abc123def to", "sent Bearer [redacted] to"},
		{"sent basic " + base64.StdEncoding.EncodeToString([]byte("me:pw")) + " to", "sent basic [redacted] to"},
		{"key sk-abcdefgh12345678.", "key [redacted]."},
		{"a ghp_0123456789abcdef0123 b", "a [redacted] b"},
		{"id AKIAIOSFODNN7EXAMPLE", "id [redacted]"},
		{"jwt " + jwt + ".", "jwt [redacted]."},
		{"x\n-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\ny", "x\n[redacted]\ny"},
		{"x -----BEGIN PRIVATE KEY-----\nabc", "x [redacted]"},
		{"https://me:pw@host/a?token=abc&page=2#x", "https://[redacted]@host/a?token=[redacted]&page=2#x"},
		{"https://h/a?u=https%3A%2F%2Fh%3Ftoken%3Dabc%26page%3D2", "https://h/a?u=https%3A%2F%2Fh%3Ftoken%3D[redacted]%26page%3D2"},
		{"https://h/a?X-Amz-Signature=abc&sig=1f", "https://h/a?X-Amz-Signature=[redacted]&sig=[redacted]"},
		{"see postgres://me:p/w?x@host/db", "see postgres://[redacted]@host/db"},
		{"<password>abc</password>", "<password>[redacted]</password>"},
		{`said {\"password\":\"a\\\"b\",\"n\":1}`, `said {\"password\":\"[redacted]\",\"n\":1}`},
		{`log: {"secrets": {"a": ["x"]}} end`, `log: {"secrets": "[redacted]"} end`},
		{"[INFO] a\n{\"env\":[{\"name\":\"api_key\",\"value\":\"hunter2\"}]}\n[\"--token\",\"a1b2c3d4\"] {", "[INFO] a\n{\"env\":[{\"name\":\"api_key\",\"value\":\"[redacted]\"}]}\n[\"--token\",\"[redacted]\"] {"},
		{`it {says {"t\u006fken":"hunter2"}`, `it {says {"t\u006fken":"[redacted]"}`},
		{"it is pass word&1, or pass+word%261 or pass%20word%261 or pass+word%261", "it is [redacted], or [redacted] or [redacted] or [redacted]"},
		{"it is " + base64.StdEncoding.EncodeToString([]byte("pass word&1")), "it is [redacted]"},
		{`{"password":"x"}`, `{"password":"[redacted]"}`},
		// It is JSON once the faulty escape is gone, and read as such then.
		{`{"password":"a\qb","p\u0061sswd":"x"}`, `{"password":"[redacted]","p\u0061sswd":"[redacted]"}`},
		{"API key: a1b2c3d4", "API key: [redacted]"},
	} {
		if got, n := r.Text(c.in); got != c.want || n == 0 {
			t.Errorf("%s\n gives %s, %d\n  want %s", c.in, got, n, c.want)
		}
		if got, n := r.Bytes([]byte(c.in)); string(got) != c.want || n == 0 {
			t.Errorf("bytes of %s give %s, %d", c.in, got, n)
		}
	}
}

// TestHarmless: what is near a secret in name or form and is none.
func TestHarmless(t *testing.T) {
	r := redact.New(card.Redact{})
	for _, in := range []string{
		`{"max_tokens":4096,"maxTokens":4096,"token_count":12,"tokens":["a","b"],"total_tokens":123456,"tokenLimit":7,"prompt_tokens":9}`,
		`{"keyboard":"qwertz-layout","primary_key":"customer_id","keyword":"something","keywords":["abcdefgh"],"foreignKey":"orders.id"}`,
		`{"next_page_token":"abcdefgh1234","nextToken":"abc123456789","continuation_token":"x1y2z3abcdef"}`,
		`{"token_type":"bearer-token","password_policy":"12 characters","secret_name":"prod/database","key_id":"0123456789","cookie_policy":"strict one"}`,
		`{"public_key":"ssh-ed25519 AAAA","idempotency_key":"0123456789abcdef","sort_key":"created_at","monkey":"business","secretary":"Ms Smith"}`,
		`{"properties":{"token":{"type":"string"},"password":{ "description":"of the user"}},"required":["token"]}`,
		`{"token_ids":[1,2,3],"tokenIds":["a","b"]}`,
		"http://example.org:8080/@me and https://[::1]:80/@me",
		`{"authorizationUrl":"https://example.org/auth","author":"somebody","authority":"nobody"}`,
		`{"pass":12,"passed":true,"passenger":"somebody","passage":"something","compass":"northwest"}`,
		`{"pwd":"/home/somebody","auth":"session_scoped","bearing":"northwest","tokenizer":"cl100k_base"}`,
		`{"data":"sk-learn is a library, as is hf_hub","risk-assessment-of-2024-0123456789":1}`,
		"syntax error: unexpected token: identifier",
		"def f(token: str, password: string, key=None): sorted(x, key=len)",
		"self.token = token\napi_key = os.environ['API_KEY']\npassword=${DB_PASSWORD}",
		"use basic authentication, or bearer authentication",
		"ssh://git@example.org/a.git and https://example.org/@me:here",
		"-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
		"the key: always look twice",
		"PWD=/home/somebody", "",
	} {
		if got, n := r.Text(in); got != in || n != 0 {
			t.Errorf("%s\n becomes %s, %d", in, got, n)
		}
	}
}

func TestOff(t *testing.T) {
	r := redact.New(card.Redact{Off: true, Values: []string{"hunter2"}})
	const in = `{"password":"hunter2"}`
	text, n := r.Text(in)
	raw, m := r.JSON(json.RawMessage(in))
	if text != in || string(raw) != in || n+m != 0 {
		t.Errorf("%s, %s, %d", text, raw, n+m)
	}
}

// TestPlanted: of 500 secrets in arguments, results, errors and addresses none is
// left.
func TestPlanted(t *testing.T) {
	for seed := range uint64(8) {
		p := redacttest.Plant(rand.New(rand.NewPCG(seed, 1)), 500)
		r := redact.New(card.Redact{Values: p.Values})
		var out []string
		for i := range p.Secrets {
			arguments, n := r.JSON(p.Arguments[i])
			if !json.Valid(arguments) || n == 0 {
				t.Errorf("%s gives %s, %d", p.Arguments[i], arguments, n)
			}
			out = append(out, string(arguments))
			for _, in := range []string{p.Results[i], p.Errors[i], p.URLs[i]} {
				text, n := r.Text(in)
				if n == 0 {
					t.Errorf("nothing found in %s", in)
				}
				out = append(out, text)
			}
		}
		if leaked := p.Leaked(strings.Join(out, "\n")); len(leaked) > 0 {
			t.Errorf("seed %d leaks %d: %s", seed, len(leaked), where(out, leaked[0]))
		}
		all := strings.Join(p.Results, "\n")
		if len(p.Leaked(all)) != 500 {
			t.Errorf("of 500 secrets %d were planted", len(p.Leaked(all)))
		}
	}
}

func where(all []string, secret string) string {
	for _, text := range all {
		if strings.Contains(text, secret) {
			return text
		}
	}
	return secret
}

// pieces are what the properties build texts of: signs of secrets in any order.
var pieces = []string{
	"password", "token", "api_key", "key", "=", ":", " ", "\"", "'", "\\", "{", "}", "[", "]", ",", "&", "?", "%3D", "%26", "://", "@", "-", "--", ">", "<", "/",
	"Bearer ", "basic ", "sk-", "ghp_0123456789abcdef", "eyJhbGciOiJI.", "abc123DEF", "hunter2", "\n", "[redacted]", "é", "\xff", "\\n", "\\u0070", "exact\"1",
	"-----BEGIN PRIVATE KEY-----", "-----END ", "Cookie", "value", "name", "null", "1", ".",
}

var redactor = redact.New(card.Redact{Keys: []string{"own"}, Values: []string{`exact"1`, "DEFhun"}})

func TestTwiceIsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String())).Draw(t, "pieces"), "")
		once, _ := redactor.Text(in)
		if twice, n := redactor.Text(once); twice != once || n != 0 {
			t.Fatalf("%q gives %q, then %q, %d", in, once, twice, n)
		}
	})
}

func drawJSON(t *rapid.T, depth int) any {
	texts := rapid.Custom(func(t *rapid.T) string {
		return strings.ToValidUTF8(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces"), ""), "?")
	})
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind %= 3
	}
	switch kind {
	case 0:
		return texts.Draw(t, "text")
	case 1:
		return float64(rapid.IntRange(0, 1<<30).Draw(t, "number"))
	case 2:
		return nil
	case 3:
		list := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			list = append(list, drawJSON(t, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		object[rapid.OneOf(rapid.SampledFrom([]string{"name", "key", "value", "password", "note"}), texts).Draw(t, "name")] = drawJSON(t, depth-1)
	}
	return object
}

// TestShapeStays: valid JSON stays valid, with the same values but for those that
// were replaced, and comes out the same a second time.
func TestShapeStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawJSON(t, 4)
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		once, n := redactor.JSON(raw)
		var out any
		if err := json.Unmarshal(once, &out); err != nil {
			t.Fatalf("%s gives %s: %v", raw, once, err)
		}
		if n == 0 && string(once) != string(raw) {
			t.Fatalf("%s changed to %s without a count", raw, once)
		}
		if path, same := sameShape(in, out); !same {
			t.Fatalf("%s gives %s: not the same at %s", raw, once, path)
		}
		if twice, n := redactor.JSON(once); string(twice) != string(once) || n != 0 {
			t.Fatalf("%s gives %s, then %s, %d", raw, once, twice, n)
		}
	})
}

// sameShape compares a value with what became of it. A replaced value is a text with
// the marker in it.
func sameShape(in, out any) (string, bool) {
	if text, ok := out.(string); ok && strings.Contains(text, redact.Marker) {
		return "", true
	}
	switch in := in.(type) {
	case map[string]any:
		got, ok := out.(map[string]any)
		if !ok {
			return "", false
		}
		for name, value := range in {
			kept, ok := got[name]
			if !ok {
				continue // a name that held a secret
			}
			if path, same := sameShape(value, kept); !same {
				return "/" + name + path, false
			}
		}
		return "", len(got) <= len(in)
	case []any:
		got, ok := out.([]any)
		if !ok || len(got) != len(in) {
			return "", false
		}
		for i := range in {
			if path, same := sameShape(in[i], got[i]); !same {
				return fmt.Sprintf("/%d%s", i, path), false
			}
		}
		return "", true
	}
	return "", reflect.DeepEqual(in, out)
}

// TestHostile: nesting and length cost no more than the bytes they take.
func TestHostile(t *testing.T) {
	const n = 100_000
	for name, in := range map[string]string{
		"arrays":         strings.Repeat("[", n) + strings.Repeat("]", n),
		"open in text":   "x" + strings.Repeat("[{", n),
		"no JSON":        strings.Repeat(`[{a}`, n) + strings.Repeat("]", n),
		"quotes in open": "x[" + strings.Repeat(`"[`, n),
		"open arrays":    strings.Repeat("[", n),
		"objects":        strings.Repeat(`{"token":`, n) + "1" + strings.Repeat("}", n),
		"keys":           strings.Repeat(`{"key":`, n) + `"abcdef1"` + strings.Repeat("}", n),
		"values":         strings.Repeat(`{"name":"password","value":`, n) + `1` + strings.Repeat("}", n),
		"assignments":    strings.Repeat("token:", n),
		"keys and signs": strings.Repeat("key=${", n),
		"prefixes":       strings.Repeat("eyJ-sk-", n),
		"quotes":         strings.Repeat(`token: "`, n),
		"backslashes":    strings.Repeat(`\`, n) + `"` + strings.Repeat(`"token":\"`, n),
		"begins":         strings.Repeat("-----BEGIN ", n),
		"addresses":      strings.Repeat("a://b:", n),
		"flags":          strings.Repeat(" --token", n),
		"elements":       strings.Repeat("<token>", n),
		"bearers":        strings.Repeat("bearer bearer ", n),
	} {
		once, _ := redactor.Text(in)
		if _, again := redactor.Text(once); again != 0 {
			t.Errorf("%s: %d more at the second time", name, again)
		}
		redactor.JSON(json.RawMessage(in))
	}
}

func FuzzRedact(f *testing.F) {
	for _, piece := range pieces {
		f.Add(piece + "=" + piece)
		f.Add(`{"` + piece + `":"` + piece + `"}`)
	}
	f.Fuzz(func(t *testing.T, in string) {
		once, n := redactor.Text(in)
		if n == 0 && once != in {
			t.Fatalf("%q changed to %q without a count", in, once)
		}
		if twice, n := redactor.Text(once); twice != once || n != 0 {
			t.Fatalf("%q gives %q, then %q", in, once, twice)
		}
		raw, _ := redactor.JSON(json.RawMessage(in))
		if json.Valid([]byte(in)) && !json.Valid(raw) {
			t.Fatalf("%s gives %s", in, raw)
		}
	})
}

// harmlessObject is an object of five members and about 1 KB.
var harmlessObject = json.RawMessage(`{"id":12345,"title":"` + strings.Repeat("a plain sentence of words. ", 16) + `","url":"https://example.org/items/12345?page=2","max_tokens":100,"body":"` + strings.Repeat("more words, and more. ", 21) + `"}`)

func BenchmarkHarmless(b *testing.B) {
	r := redact.New(card.Redact{})
	b.SetBytes(int64(len(harmlessObject)))
	b.ReportAllocs()
	for b.Loop() {
		if _, n := r.JSON(harmlessObject); n != 0 {
			b.Fatal(n)
		}
	}
}

func BenchmarkMegabyte(b *testing.B) {
	text := strings.Repeat("a line of a log: level=info, url=https://example.org/a?page=2\n", 1<<20/63)
	r := redact.New(card.Redact{Values: []string{"hunter2hunter2"}})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, n := r.Text(text); n != 0 {
			b.Fatal(n)
		}
	}
}

func BenchmarkMegabyteOfSecrets(b *testing.B) {
	text := "[" + strings.Repeat(`{"user":"somebody","password":"hunter2","note":"{\"token\":\"abc\"}"},`, 1<<20/75) + "1]"
	r := redact.New(card.Redact{})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, n := r.Text(text); n == 0 {
			b.Fatal(n)
		}
	}
}
