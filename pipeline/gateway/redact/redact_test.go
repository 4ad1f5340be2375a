package redact_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/redact"
	"github.com/toolgauge/toolgauge/pipeline/gateway/redact/redacttest"
)

func TestJSON(t *testing.T) {
	r := redact.New(card.Redact{Keys: []string{"pet-name"}, Values: []string{"open sesame"}})
	for _, c := range []struct{ in, want string }{
		{`{"password":"hunter2"}`, `{"password":"[redacted]"}`},
		{`{"a":[{"Api-Key":"k"},{"clientSecret":["x","y"]},{"token":{"value":1}}]}`, `{"a":[{"Api-Key":"[redacted]"},{"clientSecret":"[redacted]"},{"token":"[redacted]"}]}`},
		{`{"pass\u0077ord":12345, "b": true}`, `{"pass\u0077ord":"[redacted]", "b": true}`},
		{`{"password":null,"secret":true,"token":""}`, `{"password":null,"secret":true,"token":""}`},
		{`{"name":"Authorization","value":"abc"}`, `{"name":"Authorization","value":"[redacted]"}`},
		{`{"name":"Accept","value":"abc"}`, `{"name":"Accept","value":"abc"}`},
		{`{"body":"{\"password\":\"x1\",\"a\":1}"}`, `{"body":"{\"password\":\"[redacted]\",\"a\":1}"}`},
		{`{"petName":"Rex"}`, `{"petName":"[redacted]"}`},
		{`["say open sesame now"]`, `["say [redacted] now"]`},
		{`{"open sesame":1}`, `{"[redacted]":1}`},
		{`{"key":"Enter"}`, `{"key":"Enter"}`},
		{`{"key":"PROJ-12345"}`, `{"key":"PROJ-12345"}`},
		{`{"key":"a8f5f167f44f4964"}`, `{"key":"[redacted]"}`},
		{`{"max_tokens":100,"token_count":3,"nextPageToken":"abc123","keyword":"k","primary_key":"id","issue_key":"AB-1","keyboard":"us","author":"me","compass":"north"}`, ""},
		{`{"keys":["ctrl","l"],"tokens":[1,2],"tokenizer":"o200k"}`, ""},
	} {
		if c.want == "" {
			c.want = c.in
		}
		got, _ := r.JSON(json.RawMessage(c.in))
		if string(got) != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	r := redact.New(card.Redact{Values: []string{"sésame/ouvre"}})
	for _, c := range []struct{ in, want string }{
		{"nothing here", "nothing here"},
		{"Authorization: Bearer abc.def-123", "Authorization: [redacted]"},
		{"got a bearer abc.def-123 back", "got a bearer [redacted] back"},
		{"https://u:p@h/x?token=abc&page=2", "https://[redacted]@h/x?token=[redacted]&page=2"},
		{"GET /x?api%5Fkey=abc&b=1", "GET /x?api%5Fkey=[redacted]&b=1"},
		{"--password hunter2 --verbose", "--password [redacted] --verbose"},
		{"DB_PASSWORD='a b c' run", "DB_PASSWORD='[redacted]' run"},
		{"my key is ghp_abcdefgh12345678, keep it", "my key is [redacted], keep it"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest", "[redacted]\nrest"},
		{"-----BEGIN PRIVATE KEY-----\nMIIcut", "[redacted]"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "[redacted]"},
		{"q=s%C3%A9same%2Fouvre", "q=[redacted]"},
		{"max_tokens=5 tokens: 12 page_token=abc", "max_tokens=5 tokens: 12 page_token=abc"},
		{`{"password":"x"`, `{"password":"[redacted]"`},
	} {
		if got, _ := r.Text(c.in); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestOffLeavesEverything(t *testing.T) {
	r := redact.New(card.Redact{Off: true})
	if got, n := r.JSON(json.RawMessage(`{"password":"x"}`)); string(got) != `{"password":"x"}` || n != 0 {
		t.Errorf("got %s", got)
	}
}

// TestPlanted hides secrets in many spellings and nestings, and looks for them.
func TestPlanted(t *testing.T) {
	r := redact.New(card.Redact{})
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		p := redacttest.Plant(random)
		for _, in := range []string{string(p.JSON), p.Text, p.URL, "failed: " + p.URL + " (" + p.Text + ")"} {
			out, _ := r.Text(in)
			if strings.Contains(out, p.Secret) {
				t.Errorf("%d: %s\nleaves %s", i, in, out)
			}
			if again, _ := r.Text(out); again != out {
				t.Errorf("%d: twice is not once: %s\n%s", i, out, again)
			}
		}
		if out, n := r.JSON(p.JSON); !json.Valid(out) || n == 0 {
			t.Errorf("%d: %s became %s (%d found)", i, p.JSON, out, n)
		}
	}
}

// TestJSONStaysJSON: whatever stands in it, the same members in the same order.
func TestJSONStaysJSON(t *testing.T) {
	r := redact.New(card.Redact{})
	word := rapid.SampledFrom([]string{"password", "name", "value", "key", "a", "token", "x y", "sk-abcdefgh123", "\x00", "é", `q"q`, "Basic abcdefgh=="})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Map(word, func(s string) any { return s }), rapid.Map(rapid.Int(), func(n int) any { return n }), rapid.Just[any](nil), rapid.Just[any](true))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(word, value(depth-1), 0, 3), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(rt *rapid.T) {
		in, err := json.Marshal(value(4).Draw(rt, "value"))
		if err != nil {
			rt.Fatal(err)
		}
		out, n := r.JSON(in)
		if !json.Valid(out) || (n == 0) != (string(out) == string(in)) {
			rt.Fatalf("%s became %s (%d found)", in, out, n)
		}
		if again, _ := r.JSON(out); string(again) != string(out) {
			rt.Fatalf("twice is not once: %s, then %s", out, again)
		}
	})
}

func FuzzRedact(f *testing.F) {
	for _, seed := range []string{`{"password":"x"}`, `[[[[{"key":"aaaaaaaa1"}`, "Cookie: a=b", `{"a":"\ud800"}`, "--token x"} {
		f.Add(seed)
	}
	r := redact.New(card.Redact{Values: []string{"abcd"}})
	f.Fuzz(func(t *testing.T, in string) {
		out, _ := r.JSON(json.RawMessage(in))
		if json.Valid([]byte(in)) && !json.Valid(out) {
			t.Fatalf("%q became %q", in, out)
		}
		r.Text(in)
	})
}

func TestHostileTextsEnd(t *testing.T) {
	r := redact.New(card.Redact{})
	for _, in := range []string{
		strings.Repeat(`{"password":`, 4000) + "1" + strings.Repeat("}", 4000), strings.Repeat("[", 9000) + `"token"` + strings.Repeat("]", 9000),
		strings.Repeat("key", 100_000), strings.Repeat("token=", 50_000), strings.Repeat("https://a:", 30_000), strings.Repeat("-----BEGIN PRIVATE KEY-----", 3000),
		strings.Repeat(`\"password\":`, 20_000),
	} {
		r.Text(in)
	}
}

func BenchmarkHarmless(b *testing.B) {
	r := redact.New(card.Redact{})
	in := json.RawMessage(`{"title":"Minutes of the meeting","body":"` + strings.Repeat("We agreed on the plan. ", 40) + `","folder":"work/minutes","pinned":false,"order":12}`)
	b.ReportAllocs()
	for b.Loop() {
		r.JSON(in)
	}
}
