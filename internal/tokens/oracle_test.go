package tokens

import (
	"sync"
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"pgregory.net/rapid"
)

// encodings are the two BPE encodings with their published pre-token
// patterns, which the oracle runs on a backtracking matcher.
var encodings = map[string]string{
	o200kBase: `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
	cl100kBase: `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}` +
		`| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
}

type oracle struct {
	pattern *regexp2.Regexp
	encoder *tiktoken.Tiktoken
}

var oracles = sync.OnceValues(func() (map[string]oracle, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	made := map[string]oracle{}
	for name, pattern := range encodings {
		encoder, err := tiktoken.GetEncoding(name)
		if err != nil {
			return nil, err
		}
		made[name] = oracle{regexp2.MustCompile(pattern, regexp2.None), encoder}
	}
	return made, nil
})

// eachEncoding runs a test for both encodings with the counter and its oracle.
func eachEncoding(t *testing.T, test func(t *testing.T, c *Counter, o oracle)) {
	made, err := oracles()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{o200kBase, cl100kBase} {
		t.Run(name, func(t *testing.T) { test(t, counter(t, name), made[name]) })
	}
}

func counter(t testing.TB, name string) *Counter {
	t.Helper()
	c, err := New(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// count is the library's count of a well-formed text.
func (o oracle) count(text string) int { return len(o.encoder.EncodeOrdinary(text)) }

// pieces is the matcher's cut of a well-formed text.
func (o oracle) pieces(t testing.TB, text string) []string {
	var all []string
	match, err := o.pattern.FindStringMatch(text)
	for match != nil && err == nil {
		all = append(all, match.String())
		match, err = o.pattern.FindNextMatch(match)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// scanned is the scanner's cut of a well-formed text.
func scanned(c *Counter, text string) []string {
	var all []string
	for i := 0; i < len(text); {
		end := c.scan.next(&c.scan, text, i)
		all = append(all, text[i:end])
		i = end
	}
	return all
}

// restless draws texts that change class at almost every step, now and then
// with any code point.
func restless(longest int) *rapid.Generator[string] {
	common := []rune("aabsStTdmrREveLlZǅʰªß中あ\u0301\u0903\u20dd19½Ⅷ٣    \t\u00a0\u3000\u0085\u2028\v\n\n\r//'''’\"{}[]:,.-_\\!#@\x00\x7f\u200d\ufe0f\ufeff\ufffdſKİéÉ😀👩€\u0378\ue000")
	one := rapid.OneOf(rapid.SampledFrom(common), rapid.SampledFrom(common), rapid.SampledFrom(common), rapid.Rune())
	return sized(one, longest)
}

// sized draws texts of all lengths up to longest runes; rapid's own strings
// are mostly short.
func sized(one *rapid.Generator[rune], longest int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		n := rapid.SampledFrom([]int{0, 1, 2, 5, 12, 40, longest / 2, longest}).Draw(t, "length")
		n = min(n, longest)
		return rapid.StringOfN(one, n, n, -1).Draw(t, "text")
	})
}
