package tokens

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestPiecesByHand(t *testing.T) {
	rows := []struct{ text, o200k, cl100k string }{
		{"Hello world", "Hello| world", "Hello| world"},
		{"readFile HTTPServer", "read|File| HTTPServer", "readFile| HTTPServer"},
		{"it's THEY'LL 'so'", "it's| THEY'LL| '|so|'", "it|'s| THEY|'LL| '|so|'"},
		{"12345a", "123|45|a", "123|45|a"},
		{"a  b", "a| | b", "a| | b"},
		{"a \n  b", "a| \n| | b", "a| \n| | b"},
		{"a\t\tb  ", "a|\t|\tb|  ", "a|\t|\tb|  "},
		{"x =>\n/y", "x| =>\n/|y", "x| =>\n|/y"},
		{`[{"type":"function"`, `[{"|type|":"|function|"`, `[{"|type|":"|function|"`},
		{`a\n- b`, `a|\n|-| b`, `a|\n|-| b`},
		{"中A", "中|A", "中A"},
		{"中Ab", "中Ab", "中Ab"},
		{"e\u0301a", "e\u0301a", "e|\u0301a"},
		{"\u0301AB", "\u0301|AB", "\u0301AB"},
		{"!\u0301a", "!\u0301a", "!\u0301|a"},
	}
	for _, row := range rows {
		if got := strings.Join(scanned(counter(t, o200kBase), row.text), "|"); got != row.o200k {
			t.Errorf("%s: %q cut into %q, want %q", o200kBase, row.text, got, row.o200k)
		}
		if got := strings.Join(scanned(counter(t, cl100kBase), row.text), "|"); got != row.cl100k {
			t.Errorf("%s: %q cut into %q, want %q", cl100kBase, row.text, got, row.cl100k)
		}
	}
}

// eachText calls visit with all texts of 1 to longest runes of alphabet.
func eachText(alphabet []rune, longest int, visit func(text []rune)) {
	text := make([]rune, 0, longest)
	var grow func()
	grow = func() {
		for _, r := range alphabet {
			text = append(text, r)
			visit(text)
			if len(text) < longest {
				grow()
			}
			text = text[:len(text)-1]
		}
	}
	grow()
}

// All short texts over one or two members of each class that a pattern tells
// apart: every way in which the matcher backtracks shows up here.
func TestPiecesOfAllShortTexts(t *testing.T) {
	if raceDetector {
		t.Skip("many texts and one goroutine: nothing to race")
	}
	const longest = 4
	alphabet := []rune("Lbse中\u03011 \u00a0\n/'!")
	eachEncoding(t, func(t *testing.T, c *Counter, o oracle) {
		eachText(alphabet, longest, func(runes []rune) {
			text := string(runes)
			if got, want := scanned(c, text), o.pieces(t, text); !slices.Equal(got, want) {
				t.Fatalf("%q cut into %q, want %q", text, got, want)
			}
		})
	})
}

func TestPiecesOfRestlessTexts(t *testing.T) {
	eachEncoding(t, func(t *testing.T, c *Counter, o oracle) {
		rapid.Check(t, func(rt *rapid.T) {
			text := restless(300).Draw(rt, "text")
			if got, want := scanned(c, text), o.pieces(t, text); !slices.Equal(got, want) {
				rt.Fatalf("%q cut into %q, want %q", text, got, want)
			}
		})
	})
}

// Each code point's class, from unicode's questions instead of its ranges.
func TestClasses(t *testing.T) {
	table := classes()
	for r := range rune(unicode.MaxRune + 1) {
		want := other
		switch {
		case r == '\r' || r == '\n':
			want = newline
		case unicode.IsSpace(r):
			want = space
		case unicode.IsUpper(r) || unicode.IsTitle(r):
			want = upper
		case unicode.IsLower(r):
			want = lower
		case unicode.IsLetter(r):
			want = uncased
		case unicode.IsMark(r):
			want = mark
		case unicode.IsNumber(r):
			want = number
		}
		// IsUpper and IsLower answer for more than Lu and Ll.
		if unicode.Is(unicode.Lm, r) || unicode.Is(unicode.Lo, r) {
			want = uncased
		}
		if unicode.Is(unicode.N, r) {
			want = number
		}
		if table[r] != want {
			t.Fatalf("class of %U is %08b, want %08b", r, table[r], want)
		}
	}
}
