package sessions

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseRange(t *testing.T) {
	for text, want := range map[string]Range{
		"1":                     {0, 1},
		"1000":                  {0, 1000},
		"0-0":                   {0, 1},
		"500-599":               {500, 100},
		"734211-734211":         {734211, 1},
		"9223372036854775807":   {0, math.MaxInt64},
		"007":                   {0, 7},
		"0-9223372036854775806": {0, math.MaxInt64},
		"9223372036854775806-9223372036854775806": {math.MaxInt64 - 1, 1},
	} {
		got, err := ParseRange("--rows", text)
		if err != nil || got != want {
			t.Errorf("ParseRange(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                      "not a number of rows",
		"0":                     "no rows",
		"-5":                    "not a number of rows",
		"+5":                    "not a number of rows",
		"5-":                    `"" is not a row`,
		"5-4":                   "row 4 is before row 5",
		"1-2-3":                 `"2-3" is not a row`,
		" 5":                    "not a number of rows",
		"5.0":                   "not a number of rows",
		"1e3":                   "not a number of rows",
		"٣":                     "not a number of rows",
		"9223372036854775808":   "not a number of rows",
		"0-9223372036854775807": "is not a row",
		"99999999999999999999":  "not a number of rows",
	} {
		_, err := ParseRange("--rows", text)
		wantError(t, err, "--rows", want)
	}
}

func TestRangesPrintAsTheyAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "first")
		last := rapid.Int64Range(first, math.MaxInt64-1).Draw(t, "last")
		r := Range{First: first, Count: last - first + 1}
		got, err := ParseRange("--rows", r.String())
		if err != nil || got != r || got.Last() != last {
			t.Fatalf("%+v prints as %q and reads as %+v, %v", r, r, got, err)
		}
	})
}

func FuzzParseRange(f *testing.F) {
	for _, text := range []string{"1", "5-9", "0-9223372036854775807", "-", "9-1", strings.Repeat("9", 40)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRange("--rows", text)
		if err == nil && (r.First < 0 || r.Count < 1 || r.Last() < r.First || r.Last() == math.MaxInt64) {
			t.Errorf("ParseRange(%q) = %+v", text, r)
		}
	})
}
