package shape_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/redact"
	"github.com/toolgauge/toolgauge/pipeline/gateway/shape"
)

// ticks is a clock that goes on by a second whenever it is looked at.
type ticks struct{ now time.Time }

func (t *ticks) Now() time.Time {
	t.now = t.now.Add(time.Second)
	return t.now
}

// still is a clock that is set by hand.
type still struct{ now time.Time }

func (s *still) Now() time.Time { return s.now }

func numbers(n int) string {
	b := []byte(`{"items":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"id":%d,"name":"item %d","color":"blue"}`, i, i)
	}
	return string(append(b, `],"total":`+fmt.Sprint(n)+`}`...))
}

// handle is that of the call trace/1 of the owner me.
const handle = "r92ca849240ad"

func shaped(t *testing.T, in shape.Input) shape.Output {
	in.Redactor, in.Clock = redact.New(card.Redact{}), &ticks{}
	if in.Store == nil {
		in.Store = shape.NewStore(&still{})
	}
	in.Owner, in.Handle = "me", "trace/1"
	return shape.Result(t.Context(), in)
}

func TestResult(t *testing.T) {
	summarise := func(_ context.Context, text string, most int) (string, error) {
		return fmt.Sprintf("%d bytes in %d tokens, password=hunter2", len(text), most), nil
	}
	refuse := func(context.Context, string, int) (string, error) { return "", errors.New("no model") }
	const line = "a line of text\n"
	lines := strings.Repeat(line, 100)
	first := strings.Repeat(line, 20)
	for _, c := range []struct {
		name string
		card card.Card
		in   shape.Input
		want string
	}{
		{"short", card.Card{MaxResultTokens: 10}, shape.Input{Body: []byte("short")}, "short"},
		{"empty", card.Card{MaxResultTokens: 10}, shape.Input{}, ""},
		{"secret", card.Card{}, shape.Input{Body: []byte(`{"password":"hunter2"}`)}, `{"password":"[redacted]"}`},
		// The marker has 100 characters, 50 tokens are 200: 99 and a line break are left.
		{"text", card.Card{MaxResultTokens: 50}, shape.Input{Body: []byte(lines)},
			strings.Repeat(line, 6) + "a line of\n[truncated; in all 375 tokens, 1500 bytes; for the rest: result_read handle " + handle + " offset 99]"},
		{"list", card.Card{MaxResultTokens: 70}, shape.Input{Body: []byte(numbers(50))},
			`{"items":[{"id":0,"name":"item 0","color":"blue"},{"id":1,"name":"item 1","color":"blue"},{"id":2,"name":"item 2","color":"blue"}],` +
				`"_truncated":"truncated: 3 of 50 elements kept; in all 526 tokens, 2102 bytes; for the rest: result_read handle ` + handle + ` pointer /items/3"}`},
		// 40 tokens are 160 characters; all but the text takes 91 of them, and each é\n three.
		{"long text in JSON", card.Card{MaxResultTokens: 40}, shape.Input{Body: []byte(`{"n":1,"text":"` + strings.Repeat(`é\n`, 500) + `"}`)},
			`{"n":1,"text":"` + strings.Repeat(`é\n`, 23) + `…","_truncated":"truncated: result_read handle ` + handle + ` pointer /text"}`},
		{"cap", card.Card{}, shape.Input{Body: []byte("0123456789é"), BytesMax: 11, Bytes: 1000},
			"0123456789\n[truncated; in all 1000 bytes, of which 11 were read, 3 tokens; for the rest: result_read handle " + handle + " offset 10]"},
		{"cap in JSON", card.Card{}, shape.Input{Body: []byte(`[1,2,34`), Bytes: 1000},
			`[1,2,{"_truncated":"truncated; in all 1000 bytes, of which 7 were read, 2 tokens; for the rest: result_read handle ` + handle + ` offset 4"}]`},
		{"lazy", card.Card{Lazy: true}, shape.Input{Body: []byte(`{"a":1}`)},
			`{"handle":"` + handle + `","path":"result://` + handle + `","size":7,"type":"application/json","tokens":2,"read_with":"result_read"}`},
		{"lazy in few tokens", card.Card{Lazy: true, MaxResultTokens: 10}, shape.Input{Body: []byte(`x`)}, `{"handle":"` + handle + `"}`},
		{"key fields", card.Card{MaxResultTokens: 80, Summary: card.SummaryRules}, shape.Input{Body: []byte(numbers(50))},
			`{"items":[{"id":0,"name":"item 0"},{"id":1,"name":"item 1"},{"id":2,"name":"item 2"},{"id":3,"name":"item 3"},{"id":4,"name":"item 4"},"… 45 more"],"total":50,` +
				`"_truncated":"summary by key fields; in all 526 tokens, 2102 bytes; for the rest: result_read handle ` + handle + `"}`},
		{"first lines", card.Card{MaxResultTokens: 120, Summary: card.SummaryRules}, shape.Input{Body: []byte(lines)},
			first + "[summary by first lines; in all 375 tokens, 1500 bytes; for the rest: result_read handle " + handle + "]"},
		{"model", card.Card{MaxResultTokens: 100, Summary: card.SummaryModel}, shape.Input{Body: []byte(lines), Summarise: summarise},
			"1500 bytes in 75 tokens, password=[redacted]\n[summary by the model; in all 375 tokens, 1500 bytes; for the rest: result_read handle " + handle + "]"},
		{"no model", card.Card{MaxResultTokens: 120, Summary: card.SummaryModel}, shape.Input{Body: []byte(lines)},
			first + "[summary by first lines, since there is no model to ask; in all 375 tokens, 1500 bytes; for the rest: result_read handle " + handle + "]"},
		{"model fails, no key fields", card.Card{MaxResultTokens: 80, Summary: card.SummaryModel}, shape.Input{Body: []byte(`{"a":["x"` + strings.Repeat(`,{"b":1}`, 100) + `]}`), Summarise: refuse},
			`{"a":["x","… 100 more"],"_truncated":"summary by key fields, since the model did not answer; in all 203 tokens, 811 bytes; for the rest: result_read handle ` + handle + `"}`},
	} {
		c.in.Card = &c.card
		out := shaped(t, c.in)
		if out.Text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, out.Text, c.want)
		}
		if m := c.card.MaxResultTokens; m > 0 && out.Tokens > m {
			t.Errorf("%s: %d tokens", c.name, out.Tokens)
		}
	}
}

func TestCounts(t *testing.T) {
	out := shaped(t, shape.Input{
		Card: &card.Card{MaxResultTokens: 50},
		Body: []byte("password=hunter2 \xff\n" + strings.Repeat("a line of text\n", 100)),
	})
	if out.Undecodable != 1 || out.Redactions != 1 || out.Handle != handle || out.Tokens != 50 {
		t.Errorf("%+v", out)
	}
	if out.TruncatedTokens != 381-25 { // 1522 code points, of which 100 are left
		t.Errorf("%d tokens truncated", out.TruncatedTokens)
	}
	want := []shape.Step{{Name: "cap", Took: time.Second}, {Name: "decode", Took: time.Second}, {Name: "redact", Took: time.Second}, {Name: "fit", Took: time.Second}}
	if fmt.Sprint(out.Steps) != fmt.Sprint(want) {
		t.Errorf("steps %v", out.Steps)
	}
}

// TestEncodings: the bytes are those of the encodings' tables.
func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		label, body, want string
		undecodable       int
	}{
		{"gbk", "\xc4\xe3\xba\xc3", "你好", 0},
		{"gb18030", "\xc4\xe3\x81\x30\x81\x30", "你\u0080", 0},
		{"gb2312", "\xba\xc3", "好", 0},
		{"shift_jis", "\x93\xfa\x96\x7b\xb1", "日本ｱ", 0},
		{"euc-kr", "\xc7\xd1\xb1\xdb", "한글", 0},
		{"windows-1252", "caf\xe9 \x80", "café €", 0},
		{"latin1", "\xe9", "é", 0},
		{"utf-16le", "h\x00\xe9\x00=\xd8\x00\xde", "hé😀", 0},
		{"utf-16be", "\x00h\x00\xe9", "hé", 0},
		{"gbk", "\xc4\xe3\xff!", "你\ufffd!", 1},
		{"shift_jis", "\x93\xfa\xfd", "日\ufffd", 1},
		{"utf-16le", "h\x00\x00\xdcx\x00", "h\ufffdx", 1},
		{"", "\xef\xbb\xbfé", "é", 0},
		{"gbk", "\xef\xbb\xbfé", "é", 0}, // the mark goes before the label
		{"", "\xff\xfeh\x00", "h", 0},
		{"", "\xfe\xff\x00h", "h", 0},
		{"", "a\xe2\x82b\xff", "a\ufffd\ufffdb\ufffd", 3},
		{"", "a\ufffdb", "a\ufffdb", 0}, // it was there before
		{"no-such-label", "é", "é", 0},
	} {
		for _, in := range []shape.Input{{Card: &card.Card{Encoding: c.label}}, {Card: &card.Card{}, Encoding: c.label}} {
			in.Body = []byte(c.body)
			if out := shaped(t, in); out.Text != c.want || out.Undecodable != c.undecodable {
				t.Errorf("%s %q: %q, %d; want %q, %d", c.label, c.body, out.Text, out.Undecodable, c.want, c.undecodable)
			}
		}
	}
}

func TestParts(t *testing.T) {
	content := `[{"type":"text","text":"password=hunter2"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"text","text":"` +
		strings.Repeat("word ", 100) + `","x":1},{"type":"text","text":"last"}]`
	out := shaped(t, shape.Input{Card: &card.Card{MaxResultTokens: 60}, Content: json.RawMessage(content)})
	want := `[{"type":"text","text":"password=[redacted]"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"text","text":"` +
		strings.Repeat("word ", 23) + `word\n[truncated; in all 125 tokens, 500 bytes; for the rest: result_read handle r59b7d266958f offset 119]","x":1},{"type":"text","text":""}]`
	if string(out.Content) != want || out.Tokens > 60 || out.Redactions != 1 {
		t.Errorf("%s\n%s\n%d tokens, %d redactions", out.Content, want, out.Tokens, out.Redactions)
	}
	capped := shaped(t, shape.Input{Card: &card.Card{}, Content: json.RawMessage(content), BytesMax: 60})
	want = `[{"type":"text","text":"password=[redacted]"},{"type":"text","text":"[truncated: 1 of 4 parts kept; in all ` + fmt.Sprint(len(content)) + ` bytes]"}]`
	if string(capped.Content) != want {
		t.Errorf("%s\n%s", capped.Content, want)
	}
	if out := shaped(t, shape.Input{Card: &card.Card{}, Content: json.RawMessage(`{"a":1}`)}); out.Text != `{"a":1}` || out.Content != nil {
		t.Errorf("%+v", out)
	}
}

// estimators count tokens in ways that differ in size and evenness.
var estimators = []func(string) int{
	nil,
	func(s string) int { return len(s) },
	func(s string) int { return len(strings.Fields(s)) },
	func(s string) int { return len(s)/3 + strings.Count(s, "a")%3 }, // does not grow evenly
}

func drawText(t *rapid.T) string {
	if rapid.Bool().Draw(t, "json") {
		raw, err := json.Marshal(drawValue(t, 4))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "word ", "é", "\n", "{", "\"", "long line of words ", "😀"}), 0, 200).Draw(t, "text"), "")
}

func drawValue(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	if depth == 0 {
		kind = 0
	}
	switch kind {
	case 0:
		return strings.Repeat(rapid.SampledFrom([]string{"a", "é", "\n", "\"", "\u2028", "😀"}).Draw(t, "text"), rapid.IntRange(0, 300).Draw(t, "times"))
	case 1:
		return rapid.IntRange(-1000, 1<<40).Draw(t, "number")
	case 2:
		list := []any{}
		for range rapid.IntRange(0, 6).Draw(t, "elements") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 5).Draw(t, "members") {
		object[rapid.SampledFrom([]string{"id", "name", "items", "a/b~", "other", "error"}).Draw(t, "name")] = drawValue(t, depth-1)
	}
	return object
}

// TestBounds: a result never has more tokens than its card allows; what is left of
// JSON is JSON; and the whole can be read piece by piece.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		store := shape.NewStore(&still{})
		in := shape.Input{
			Card: &card.Card{
				MaxResultTokens: rapid.SampledFrom([]int{1, 2, 3, 10, 30, 50, 100, 300}).Draw(t, "max"),
				Summary:         rapid.SampledFrom([]card.Summary{card.SummaryNone, card.SummaryRules, card.SummaryModel}).Draw(t, "summary"),
				Lazy:            rapid.IntRange(0, 9).Draw(t, "lazy") == 0,
			},
			Body: []byte(text), Tokens: rapid.SampledFrom(estimators).Draw(t, "tokens"), Store: store, Owner: "me", Handle: "1",
			Summarise: func(context.Context, string, int) (string, error) { return text + text, nil },
		}
		out := shape.Result(context.Background(), in)
		tokens := in.Tokens
		if tokens == nil {
			tokens = func(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }
		}
		if n := tokens(out.Text); n > in.Card.MaxResultTokens || n != out.Tokens {
			t.Fatalf("%d tokens, said %d, of %d: %s", n, out.Tokens, in.Card.MaxResultTokens, out.Text)
		}
		if !utf8.ValidString(out.Text) {
			t.Fatalf("%q", out.Text)
		}
		container := text != "" && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
		if container && in.Card.Summary != card.SummaryModel && tokens("[]") <= in.Card.MaxResultTokens && tokens("{}") <= in.Card.MaxResultTokens && !json.Valid([]byte(out.Text)) {
			t.Fatalf("%s gives %s", text, out.Text)
		}
		if out.Handle == "" {
			if out.Text != text {
				t.Fatalf("%q gives %q, and the rest is gone", text, out.Text)
			}
			return
		}
		step := rapid.IntRange(1, 100).Draw(t, "step")
		if whole := readAll(t, store, out.Handle, step); whole != text {
			t.Fatalf("%q is read as %q", text, whole)
		}
	})
}

func readAll(t *rapid.T, store *shape.Store, handle string, step int) string {
	var whole strings.Builder
	for offset := 0; ; offset += step {
		piece, err := store.Read("me", handle, offset, step)
		if err != nil {
			t.Fatal(err)
		}
		whole.WriteString(piece)
		if utf8.RuneCountInString(piece) < step {
			return whole.String()
		}
	}
}

// TestHostile: what is long or deep in an unusual way is cut in time that grows with
// its length.
func TestHostile(t *testing.T) {
	const n = 100_000
	for name, body := range map[string]string{
		"nested":      strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"too deep":    strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n),
		"open":        strings.Repeat("[", n),
		"commas":      "[" + strings.Repeat("1,", n) + "1]",
		"one text":    `["` + strings.Repeat(`\ud83d\ude00`, n) + `"]`,
		"no rune":     strings.Repeat("\x80", n),
		"no line end": strings.Repeat("x", 1<<20),
	} {
		for _, bytes := range []int64{0, 1 << 30} {
			for _, summary := range []card.Summary{card.SummaryNone, card.SummaryRules} {
				out := shaped(t, shape.Input{Card: &card.Card{MaxResultTokens: 2000, Summary: summary}, Body: []byte(body), Bytes: bytes})
				if out.Tokens > 2000 {
					t.Errorf("%s: %d tokens", name, out.Tokens)
				}
			}
		}
	}
}

func FuzzResult(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2,{"b":"c"}]}`, `["` + strings.Repeat(`\ud83d\ude00`, 60) + `"]`, "text\nand more", "\xff\xfeh\x00", `{"a":"` + strings.Repeat("x", 300)} {
		f.Add([]byte(seed), "gbk", 10, int64(1000))
		f.Add([]byte(seed), "", 60, int64(0))
	}
	f.Fuzz(func(t *testing.T, body []byte, label string, most int, bytes int64) {
		most = max(0, most)
		out := shape.Result(t.Context(), shape.Input{
			Card: &card.Card{MaxResultTokens: most, Encoding: label}, Body: body, Bytes: bytes, BytesMax: 1 << 16,
			Redactor: redact.New(card.Redact{}), Store: shape.NewStore(&still{}),
		})
		if most > 0 && out.Tokens > most || !utf8.ValidString(out.Text) {
			t.Fatalf("%d tokens of %d: %q", out.Tokens, most, out.Text)
		}
	})
}

func BenchmarkResult(b *testing.B) {
	body := []byte(numbers(20_000)) // about 0.9 MB
	store := shape.NewStore(&still{})
	redactor := redact.New(card.Redact{})
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		shape.Result(b.Context(), shape.Input{Card: &card.Card{MaxResultTokens: 4000}, Body: body, Redactor: redactor, Store: store, Handle: "1"})
	}
}
