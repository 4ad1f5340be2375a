package tokens

import (
	"testing"
)

func TestSeamExact(t *testing.T) {
	rows := []struct {
		seam string
		at   int
		want bool
	}{
		{`{"type`, 2, true},
		{`{"role`, 2, true},
		{`{"type":"function"`, 2, true},
		{`\n- `, 2, true},
		{"\n- ", 1, true},
		{", ", 1, true},
		{"a1", 1, true},
		{"1a", 1, true},
		{"},{", 1, false},   // one run of symbols
		{`"type`, 1, false}, // the quote may lead the word
		{`1"type`, 2, false},
		{`/"type`, 2, false}, // the slash may end what stands before
		{" -", 1, false},     // a space may lead symbols
		{" a", 1, false},
		{"n's", 1, false}, // a contraction
		{"12", 1, false},
		{"\n/", 1, false},
		{"\n\n", 1, false},
		{",\n", 1, false},
		{"aa", 1, false},
		{"a\u0301", 1, false},
		{"aé", 2, false}, // inside a code point
		{"é-", 2, true},
		{"\xff ", 1, false},
		{", ", 0, false},
		{", ", 2, false},
		{", ", -1, false},
		{", ", 9, false},
		{"", 0, false},
	}
	for _, row := range rows {
		if got := SeamExact(row.seam, row.at); got != row.want {
			t.Errorf("SeamExact(%q, %d) = %v, want %v", row.seam, row.at, got, row.want)
		}
	}
}

// Wherever the rules call a place exact, it is a boundary of the pre-tokens of
// every short text that has it. (The scanner itself is checked elsewhere.)
func TestSeamExactInAllShortTexts(t *testing.T) {
	if raceDetector {
		t.Skip("many texts and one goroutine: nothing to race")
	}
	const longest = 5
	alphabet := []rune("Lse中\u03011 \u00a0\n/'!")
	for _, name := range []string{o200kBase, cl100kBase} {
		c := counter(t, name)
		places := 0
		eachText(alphabet, longest, func(runes []rune) {
			text := string(runes)
			boundary := make([]bool, len(text)+1)
			for i := 0; i < len(text); {
				i = c.scan.next(&c.scan, text, i)
				boundary[i] = true
			}
			for at := range text {
				if !SeamExact(text, at) {
					continue
				}
				places++
				if !boundary[at] {
					t.Fatalf("%s: %q is no boundary at %d", name, text, at)
				}
			}
		})
		if places == 0 {
			t.Errorf("%s: no exact place in any text", name)
		}
	}
}
