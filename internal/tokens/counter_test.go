package tokens

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// samples are ordinary texts of several kinds and scripts.
var samples = []string{
	"",
	"Reads one page of the invoices that were sent since the given date, newest first. It doesn't follow links, and we'll say so.",
	`[{"type":"function","function":{"name":"mcp_ledger_list_invoices","description":"Lists invoices.\n- open: unpaid ones\n- all: every one","parameters":{"type":"object","properties":{"since":{"type":"string"},"limit":{"type":"integer","default":25}},"required":["since"]}}}]`,
	"func (s *Store) Get(ctx context.Context, id int64) (*Row, error) {\r\n\treturn s.rows[id], nil // O(1)\r\n}\r\n\r\n",
	"https://example.org/a/b?q=1&r=%20#top  |  2026-11-30T08:15:00Z  |  0xDEADBEEF  |  3.14159",
	"Покажи ВСЕ счета за прошлый месяц, пожалуйста.",
	"请列出上个月的所有发票,并按金额排序。東京は今日も雨です。오늘 회의는 몇 시인가요?",
	"أرني فواتير الشهر الماضي ١٢٣٤. हिन्दी में कितने चालान हैं? ขอดูใบแจ้งหนี้เดือนที่แล้ว",
	"Cafe\u0301 naïve ÇELİK ΣΟΦΊΑ ǅungla 👩🏽\u200d🚀 ½ Ⅷ … — “so” ’s\u00a0\u3000\u2028x\x00\x7f\ufeff\ufffd",
}

func TestCountAgainstLibrary(t *testing.T) {
	eachEncoding(t, func(t *testing.T, c *Counter, o oracle) {
		for _, text := range append(slices.Clone(samples), strings.Join(samples, "\n")) {
			for range 2 { // fresh, then from the cache
				if got, want := c.Count(text), o.count(text); got != want {
					t.Errorf("%q is %d tokens, want %d", text, got, want)
				}
			}
		}
	})
}

func TestCountOfRestlessTexts(t *testing.T) {
	eachEncoding(t, func(t *testing.T, c *Counter, o oracle) {
		rapid.Check(t, func(rt *rapid.T) {
			text := restless(300).Draw(rt, "text")
			if got, want := c.Count(text), o.count(text); got != want {
				rt.Fatalf("%q is %d tokens, want %d", text, got, want)
			}
		})
	})
}

// Counts that the encodings' makers publish, and the estimator's by hand.
func TestCountKnown(t *testing.T) {
	rows := []struct {
		text                  string
		o200k, cl100k, chars4 int
	}{
		{"", 0, 0, 0},
		{"tiktoken is great!", 6, 6, 5},
		{"antidisestablishmentarianism", 6, 6, 7},
		{"2 + 2 = 4", 7, 7, 3},
		{"お誕生日おめでとう", 8, 9, 3},
		{"\xf0\x9f\x98", 1, 1, 1}, // one maximal subpart, one U+FFFD
	}
	for _, row := range rows {
		for name, want := range map[string]int{o200kBase: row.o200k, cl100kBase: row.cl100k, chars4: row.chars4} {
			if got := counter(t, name).Count(row.text); got != want {
				t.Errorf("%s: %q is %d tokens, want %d", name, row.text, got, want)
			}
		}
	}
}

func TestNew(t *testing.T) {
	for _, name := range Names() {
		if got := counter(t, name).Name(); got != name {
			t.Errorf("New(%q) is called %q", name, got)
		}
	}
	_, err := New("o200k")
	want := "unknown tokenizer \"o200k\"\nhint: use o200k_base, cl100k_base or chars4"
	if err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestTokensOfMeasure(t *testing.T) {
	rows := []struct{ measure, bpe, chars4 int }{{0, 0, 0}, {1, 1, 1}, {4, 4, 1}, {5, 5, 2}, {95_047, 95_047, 23_762}}
	for _, row := range rows {
		if got := counter(t, o200kBase).Tokens(row.measure); got != row.bpe {
			t.Errorf("o200k_base: Tokens(%d) = %d, want %d", row.measure, got, row.bpe)
		}
		if got := counter(t, chars4).Tokens(row.measure); got != row.chars4 {
			t.Errorf("chars4: Tokens(%d) = %d, want %d", row.measure, got, row.chars4)
		}
	}
}

func TestPrefixByHand(t *testing.T) {
	rows := []struct {
		name, text     string
		n              int
		measure, bytes int
	}{
		{o200kBase, "Hello world again", -1, 0, 0},
		{o200kBase, "Hello world again", 4, 0, 0},
		{o200kBase, "Hello world again", 5, 1, 5},
		{o200kBase, "Hello world again", 10, 1, 5},
		{o200kBase, "Hello world again", 11, 2, 11},
		{o200kBase, "Hello world again", 17, 3, 17},
		{o200kBase, "Hello world again", 99, 3, 17},
		{o200kBase, "a\xf0\x9f b", 2, 1, 1}, // U+FFFD takes three bytes, what it stands for two
		{o200kBase, "a\xf0\x9f b", 3, 2, 3},
		{o200kBase, "a\xf0\x9f b", 4, 2, 3},
		{chars4, "né中", 2, 1, 1},
		{chars4, "né中", 3, 2, 3},
		{chars4, "né中", 5, 2, 3},
		{chars4, "né中", 6, 3, 6},
		{chars4, "n\xe4\xb8x", 2, 1, 1},
		{chars4, "n\xe4\xb8x", 3, 2, 3},
	}
	for _, row := range rows {
		measure, bytes := counter(t, row.name).Prefix(row.text, row.n)
		if measure != row.measure || bytes != row.bytes {
			t.Errorf("%s: Prefix(%q, %d) = %d, %d, want %d, %d", row.name, row.text, row.n, measure, bytes, row.measure, row.bytes)
		}
	}
}

// A prefix ends at the last boundary that the matcher knows and measures what
// the pieces of the whole text do up to there; the rest measures what is left.
func TestPrefix(t *testing.T) {
	eachEncoding(t, func(t *testing.T, c *Counter, o oracle) {
		rapid.Check(t, func(rt *rapid.T) {
			text := restless(200).Draw(rt, "text")
			n := rapid.IntRange(-1, len(text)+1).Draw(rt, "n")
			measure, bytes := c.Prefix(text, n)
			want, wantMeasure := 0, 0
			for _, piece := range o.pieces(t, text) {
				if want+len(piece) > n {
					break
				}
				want += len(piece)
				wantMeasure += c.piece(piece)
			}
			if bytes != want {
				rt.Fatalf("prefix of %q within %d ends at %d, want %d", text, n, bytes, want)
			}
			if measure != wantMeasure {
				rt.Fatalf("prefix %q measures %d, want %d", text[:bytes], measure, wantMeasure)
			}
			if rest := o.count(text[bytes:]); measure+rest != o.count(text) {
				rt.Fatalf("%q cut at %d measures %d + %d, want %d", text, bytes, measure, rest, o.count(text))
			}
		})
	})
}

// The same for ill-formed text, whose lengths are those of its own bytes.
func TestPrefixOfIllFormedText(t *testing.T) {
	parts := rapid.SampledFrom([]string{"a", "Z", " ", "中", "\n", "!", "\xe4\xb8", "\x80", "\xf0\x9f", "\xff"})
	for _, name := range Names() {
		c := counter(t, name)
		rapid.Check(t, func(rt *rapid.T) {
			text := strings.Join(rapid.SliceOfN(parts, 0, 40).Draw(rt, "parts"), "")
			n := rapid.IntRange(0, len(text)).Draw(rt, "n")
			measure, bytes := c.Prefix(text, n)
			if bytes > n {
				rt.Fatalf("prefix of %q within %d has %d bytes", text, n, bytes)
			}
			if got := c.Measure(text[:bytes]); got != measure {
				rt.Fatalf("prefix %q measures %d, want %d", text[:bytes], measure, got)
			}
			if rest := c.Measure(text[bytes:]); measure+rest != c.Measure(text) {
				rt.Fatalf("%q cut at %d measures %d + %d, want %d", text, bytes, measure, rest, c.Measure(text))
			}
			// The next boundary lies beyond n.
			if bytes < len(text) {
				for more := n + 1; ; more++ {
					if _, next := c.Prefix(text, more); next > bytes {
						if next <= n {
							rt.Fatalf("prefix of %q within %d ends at %d, not at %d", text, n, bytes, next)
						}
						break
					}
				}
			}
		})
	}
}

func TestCountWarmAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector drops pooled memory")
	}
	text := strings.Join(samples, "\n") + strings.Repeat("ab", 500)
	for _, name := range Names() {
		c := counter(t, name)
		if allocs := testing.AllocsPerRun(50, func() { c.Count(text) }); allocs >= 1 {
			t.Errorf("%s: %v allocations per count, want none", name, allocs)
		}
	}
}

func TestCountConcurrently(t *testing.T) {
	c, err := newBPE(o200kBase, nextO200k) // of its own, so that its cache starts empty
	if err != nil {
		t.Fatal(err)
	}
	want := make([]int, len(samples))
	for i, text := range samples {
		want[i] = counter(t, o200kBase).Count(text)
	}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i, text := range samples {
				if got := c.Count(text); got != want[i] {
					t.Errorf("%q is %d tokens, want %d", text, got, want[i])
				}
			}
		})
	}
	workers.Wait()
}

// Far more pieces than slots: they take each other's place, and what is found
// is true.
func TestPieceCacheIsBounded(t *testing.T) {
	cache := newPieceCache()
	const pieces = 2 * cacheSlots
	found := 0
	for pass := range 2 {
		for i := range pieces {
			piece := strconv.Itoa(i)
			tokens, home, known := cache.find(piece)
			if known && tokens != i {
				t.Fatalf("piece %s has %d tokens, want %d", piece, tokens, i)
			}
			if known {
				found++
			} else if pass == 0 {
				cache.add(piece, home, i)
			}
		}
	}
	if found < cacheSlots*9/10 || found > cacheSlots {
		t.Errorf("%d pieces kept, want nearly all of %d slots used", found, cacheSlots)
	}
	long := strings.Repeat("x", cachedPieceMax+1)
	_, home, _ := cache.find(long)
	cache.add(long, home, 1)
	if _, _, known := cache.find(long); known {
		t.Errorf("a piece of %d bytes was kept", len(long))
	}
}

func TestVocabularyFaults(t *testing.T) {
	rows := []struct{ raw, want string }{
		{"IQ== 0\n!! 1\n", "line 2: token: illegal base64 data at input byte 0"},
		{"IQ== 0\n\nIg== one\n", `line 3: rank: strconv.ParseUint: parsing "one": invalid syntax`},
		{"IQ== 99999999\n", `line 1: rank: strconv.ParseUint: parsing "99999999": value out of range`},
		{"IQ==\n", `line 1: rank: strconv.ParseUint: parsing "": invalid syntax`},
		{"IQ== 0\n", "no token for the byte 0x00"},
	}
	for _, row := range rows {
		if _, err := parseVocabulary([]byte(row.raw)); err == nil || err.Error() != row.want {
			t.Errorf("vocabulary %q: error %q, want %q", row.raw, err, row.want)
		}
	}
	if _, err := loadVocabulary("none"); err == nil || !strings.Contains(err.Error(), "none.tiktoken") {
		t.Errorf("missing vocabulary: error %v, want one that names the file", err)
	}
}
