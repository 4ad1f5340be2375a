package tokens

import "testing"

// Any bytes count as the library counts their mended text, and so do both
// sides of a prefix.
func FuzzCount(f *testing.F) {
	for _, text := range samples {
		f.Add(text, len(text)/2)
	}
	f.Add("\u0301AB中A's\r\n/ \u00a0 x", 7)
	f.Add("a\xf0\x9f\x98 \xed\xa0\x80b", 4)
	made, err := oracles()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		if len(text) > 4096 {
			t.Skip("the library is quadratic")
		}
		clean := wellFormed(text)
		for name, o := range made {
			c := counter(t, name)
			want := o.count(clean)
			if got := c.Count(text); got != want {
				t.Fatalf("%s: %q is %d tokens, want %d", name, text, got, want)
			}
			measure, bytes := c.Prefix(text, n)
			if bytes < 0 || bytes > max(n, 0) {
				t.Fatalf("%s: prefix of %q within %d has %d bytes", name, text, n, bytes)
			}
			if rest := c.Measure(text[bytes:]); measure+rest != want {
				t.Fatalf("%s: %q cut at %d measures %d + %d, want %d", name, text, bytes, measure, rest, want)
			}
		}
	})
}

// Any seam gives the measure of the whole text.
func FuzzMeasureCut(f *testing.F) {
	f.Add(`[{"type":"a"},{"type":"b"}]`, `{"type`, 2)
	f.Add("a, b, c", ", ", 1)
	f.Add("\xff\n- \n- ", "\n- ", 1)
	f.Fuzz(func(t *testing.T, text, seam string, at int) {
		for _, name := range Names() {
			c := counter(t, name)
			if got, want := NewMemo(c).MeasureCut(text, seam, at), c.Measure(text); got != want {
				t.Fatalf("%s: %q cut at %d in %q measures %d, want %d", name, text, at, seam, got, want)
			}
		}
	})
}
