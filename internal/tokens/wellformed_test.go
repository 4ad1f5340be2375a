package tokens

import (
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

// The first rows are the Unicode Standard's own examples (tables 3-8 to 3-11).
func TestWellFormed(t *testing.T) {
	rows := []struct{ text, want string }{
		{"a\xf1\x80\x80\xe1\x80\xc2b\x80c\x80\xbfd", "a\ufffd\ufffd\ufffdb\ufffdc\ufffd\ufffdd"},
		{"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82A", "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdA"},
		{"\xed\xa0\x80\xed\xbf\xbf\xed\xafA", "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdA"},
		{"\xf4\x91\x92\x93\xffA\x80\xbfB", "\ufffd\ufffd\ufffd\ufffd\ufffdA\ufffd\ufffdB"},
		{"\xe1\x80\xe2\xf0\x91\x92\xf1\xbfA", "\ufffd\ufffd\ufffd\ufffdA"},
		{"", ""},
		{"plain, naïve, 中, 😀, \ufffd", "plain, naïve, 中, 😀, \ufffd"},
		{"cut \xe4\xb8", "cut \ufffd"},
		{"cut \xf0\x9f\x98", "cut \ufffd"},
		{"\xf0\x90\xf4\x8f\xbf\xe0\xa0\xdf", "\ufffd\ufffd\ufffd\ufffd"},
	}
	for _, row := range rows {
		got := wellFormed(row.text)
		if got != row.want {
			t.Errorf("%q became %q, want %q", row.text, got, row.want)
		}
		if n := units(row.text); n != utf8.RuneCountInString(row.want) {
			t.Errorf("%q has %d units, want %d", row.text, n, utf8.RuneCountInString(row.want))
		}
	}
}

func TestWellFormedAgainstDecoder(t *testing.T) {
	bytes := rapid.SliceOf(rapid.SampledFrom([]byte("a\x80\x8f\x90\x9f\xa0\xbf\xc0\xc2\xdf\xe0\xe1\xed\xef\xf0\xf1\xf3\xf4\xf5\xff")))
	rapid.Check(t, func(t *rapid.T) {
		text := string(bytes.Draw(t, "bytes"))
		want, err := unicode.UTF8.NewDecoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := wellFormed(text); got != want {
			t.Fatalf("%q became %q, want %q", text, got, want)
		}
	})
}
