package numerals

import "testing"

func TestNumber(t *testing.T) {
	for _, row := range []struct {
		x        float64
		decimals int
		want     string
	}{
		{0, 0, "0"}, {-0.4, 0, "0"}, {-0.04, 1, "0.0"}, {999, 0, "999"}, {1000, 0, "1,000"}, {-1000, 0, "-1,000"},
		{1234567.891, 2, "1,234,567.89"}, {-999.96, 1, "-1,000.0"}, {100000, 3, "100,000.000"},
	} {
		if got := Number(row.x, row.decimals); got != row.want {
			t.Errorf("Number(%v, %d) = %q, want %q", row.x, row.decimals, got, row.want)
		}
	}
}

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 tools", 1: "1 tool", 2: "2 tools", 12345: "12,345 tools", -1: "-1 tools"} {
		if got := Of(n, "tool"); got != want {
			t.Errorf("Of(%d) = %q, want %q", n, got, want)
		}
	}
}
