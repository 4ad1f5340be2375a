package metrics

import "math"

// Mean returns the arithmetic mean of values, summed in their order, or NaN if there are none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Quantile returns the quantile p, 0 to 1, of values in ascending order, interpolated linearly between the two nearest:
// type 7 of Hyndman and Fan (1996), the default of numpy and R. It is NaN if there are no values or p is no share.
//
// The interpolation starts from the nearer neighbour, as numpy's does, so the two agree to the last bit.
func Quantile(ascending []float64, p float64) float64 {
	if len(ascending) == 0 || !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	position := float64(float64(len(ascending)-1) * p)
	below := int(position)
	share := position - float64(below)
	if share == 0 {
		return ascending[below]
	}
	low, high := ascending[below], ascending[below+1]
	switch step := high - low; {
	case low == high:
		// Two infinities of one sign have no difference to take a share of.
		return low
	case share < 0.5:
		return low + float64(step*share)
	default:
		return high - float64(step*(1-share))
	}
}
