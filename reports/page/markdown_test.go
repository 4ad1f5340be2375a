package page

import "testing"

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"surface_tokens, 5 %":  "surface_tokens, 5 %",
		"_a_ path_*":           `\_a\_ path\_\*`,
		"a|b\nc\td":            `a\|b c d`,
		"<img> & `x` [y](z)":   "&lt;img&gt; &amp; \\`x\\` \\[y\\](z)",
		`\ # ~ $`:              `\\ \# \~ \$`,
		"größer ≤ 3\u2028naïf": "größer ≤ 3 naïf",
	} {
		if got := escape(text); got != want {
			t.Errorf("escape(%q) = %q, want %q", text, got, want)
		}
	}
}
