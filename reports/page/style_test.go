package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestContrast holds texts to the contrast of 4.5 to 1 that WCAG 2 asks for at level AA, and what charts are read by to 3 to
// 1, in both themes.
func TestContrast(t *testing.T) {
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := make(map[string][2]string)
	for _, m := range regexp.MustCompile(`--([a-z0-9]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);`).FindAllStringSubmatch(string(style), -1) {
		colours[m[1]] = [2]string{m[2], m[3]}
	}
	for _, c := range []struct {
		front, back string
		least       float64
	}{
		{"ink", "paper panel", 4.5}, {"soft", "paper panel", 4.5}, {"link", "paper panel", 4.5}, {"warn", "paper panel", 4.5}, {"good", "paper panel", 4.5},
		{"a0", "paper", 4.5}, {"a1", "paper", 4.5}, {"a2", "paper", 4.5}, {"a3", "paper", 4.5}, {"a4", "paper", 4.5}, {"a5", "paper", 4.5}, {"a6", "paper", 4.5},
		{"listing", "paper", 3}, {"lost", "paper", 3}, {"way2", "paper", 3}, {"way5", "paper", 3},
	} {
		for _, back := range strings.Fields(c.back) {
			for theme, name := range []string{"light", "dark"} {
				front, behind := colours[c.front][theme], colours[back][theme]
				if front == "" || behind == "" {
					t.Fatalf("no colour %s or %s", c.front, back)
				}
				if ratio := contrast(t, front, behind); ratio < c.least {
					t.Errorf("%s on %s, %s: contrast %.2f, want %.1f", c.front, back, name, ratio, c.least)
				}
			}
		}
	}
	for name := range colours {
		if strings.Count(string(style), "var(--"+name+")") == 0 {
			t.Errorf("the colour %s is not used", name)
		}
	}
}

// contrast is the ratio of WCAG 2 between two colours in hex.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

// luminance is the relative luminance of sRGB, as WCAG 2 defines it.
func luminance(t *testing.T, hex string) (sum float64) {
	t.Helper()
	for i, weight := range []float64{.2126, .7152, .0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= .04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// TestContrastOfKnownColours checks the ratio by colours whose ratio is known.
func TestContrastOfKnownColours(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"000000", "ffffff", 21}, {"777777", "ffffff", 4.48}, {"ffffff", "ffffff", 1}} {
		if got := contrast(t, c.a, c.b); math.Abs(got-c.want) > .01 {
			t.Errorf("contrast of %s and %s is %.2f, want %.2f", c.a, c.b, got, c.want)
		}
	}
}
