package search

import "math"

// ln2 in two parts: ln2Hi has enough trailing zero bits that k*ln2Hi is exact for every binary exponent k.
const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// ln is the natural logarithm of a finite x >= 1, within 0.51 units in the last place, from operations that every CPU
// rounds alike. math.Log will not do: its bits differ between architectures, and a last-bit difference in an idf can
// swap two tools whose scores differ only by the order of summation.
//
// It reduces x to 2^k*m with m near 1 and sums ln m = 2(s + s³/3 + s⁵/5 + …), s = (m-1)/(m+1), carrying the leading terms
// in two doubles each.
func ln(x float64) float64 {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	// s + sLo is the quotient to about 106 bits; the numerator is exact, the denominator carries its rounding error.
	num, den := m-1, m+1
	denLo := m - (den - 1)
	s := num / den
	sLo := (math.FMA(-s, den, num) - float64(s*denLo)) / den
	// Past |s|^25 the terms are below 2^-63 of the first, because |s| < 0.172.
	square := float64(s * s)
	tail := 0.0
	for n := 25; n >= 3; n -= 2 {
		tail = float64((tail + 1/float64(n)) * square)
	}
	low := 2 * (sLo + float64(s*tail))
	high, err := twoSum(float64(float64(k)*ln2Hi), 2*s)
	return high + (err + (low + float64(float64(k)*ln2Lo)))
}

// twoSum returns a+b rounded, and the rounding error, exactly (Knuth).
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	part := sum - a
	return sum, (a - (sum - part)) + (b - part)
}
