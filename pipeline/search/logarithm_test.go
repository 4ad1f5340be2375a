package search

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestLogarithmIsRoundedCorrectly has values from a computation with 60 decimal digits, rounded once.
func TestLogarithmIsRoundedCorrectly(t *testing.T) {
	for _, row := range []struct{ x, want float64 }{
		{1.0, 0x0.0p+0},
		{1.0000000000000002, 0x1.fffffffffffffp-53},
		{1.0001666388935175, 0x1.5d701f1b453d7p-13},
		{1.25, 0x1.c8ff7c79a9a22p-3},
		{1.3333333333333333, 0x1.269621134db91p-2},
		{1.4142135623730951, 0x1.62e42fefa39f0p-2},
		{1.4142135623730954, 0x1.62e42fefa39f3p-2},
		{2.0, 0x1.62e42fefa39efp-1},
		{2.718281828459045, 0x1.0000000000000p+0},
		{3.0, 0x1.193ea7aad030bp+0},
		{5.0, 0x1.9c041f7ed8d33p+0},
		{41.0, 0x1.db565458eac4ep+1},
		{134.33333333333334, 0x1.399ee9b361b13p+2},
		{201.0, 0x1.536958fd351f0p+2},
		{2001.0, 0x1.e67d6037b19cap+2},
		{1000001.0, 0x1.ba18abb1dedc8p+3},
		{1e+300, 0x1.5963447f87fb5p+9},
	} {
		if got := ln(row.x); got != row.want {
			t.Errorf("ln(%v) = %x, want %x", row.x, got, row.want)
		}
	}
}

// TestLogarithmIsNearTheLibrarys: the library's may itself be off by one unit in the last place.
func TestLogarithmIsNearTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1, math.MaxFloat64).Draw(t, "x")
		want := math.Log(x)
		if got := ln(x); math.Abs(got-want) > 2*(math.Nextafter(want, math.Inf(1))-want) {
			t.Errorf("ln(%v) = %v, want about %v", x, got, want)
		}
	})
}
