package metrics

import (
	"math"
	"testing"
)

func TestLog2(t *testing.T) {
	for k := range 62 {
		if got := log2(1 << k); got != float64(k) {
			t.Errorf("log2(2^%d) = %v", k, got)
		}
	}
	for n := 2; n < 100_000; n++ {
		want := math.Log2(float64(n))
		if ulp := math.Nextafter(want, 100) - want; math.Abs(log2(n)-want) > 2*ulp {
			t.Fatalf("log2(%d) = %v, math says %v", n, log2(n), want)
		}
	}
}
