package distributions

import (
	"encoding/binary"
	"math/bits"
	randv2 "math/rand/v2"

	//lint:ignore SA1019 its PCG is wanted as it is: frozen, and small enough to be described below.
	"golang.org/x/exp/rand"
)

// Stream is a sequence of random numbers that depends on a seed, a label and an index, and on nothing else.
// It is also a source for math/rand/v2, so gonum's distributions can draw from it.
// A Stream belongs to one goroutine.
type Stream struct {
	source rand.PCGSource
}

var _ randv2.Source = (*Stream)(nil)

const (
	// gamma is SplitMix64's increment: 2^64 divided by the golden ratio, made odd.
	gamma uint64 = 0x9E3779B97F4A7C15
	// gamma2 is twice gamma, mod 2^64. It keeps the two halves of the state apart.
	gamma2 uint64 = 0x3C6EF372FE94F82A
)

// NewStream returns the stream of (seed, label, index), at its beginning. The label says what is drawn ("sessions",
// "stability"), the index says for which item; different labels or indices give unrelated streams.
//
// The generator is PCG XSL RR 128/64. Its 128-bit state is derived thus, in 64-bit arithmetic that wraps around:
//
//	gamma  = 0x9E3779B97F4A7C15
//	gamma2 = 0x3C6EF372FE94F82A, which is 2*gamma
//	mix(z) : z = (z XOR z>>30) * 0xBF58476D1CE4E5B9
//	         z = (z XOR z>>27) * 0x94D049BB133111EB
//	         z XOR z>>31
//	low    = mix(seed + gamma)
//	high   = mix(seed + gamma2)
//	for each word w of: the label's length in bytes;
//	                    the label's bytes, eight to a word, little-endian, the last word filled up with zeros;
//	                    the index:
//	    low  = mix((low  XOR w) + gamma)
//	    high = mix((high XOR w) + gamma2)
//	state  = high * 2^64 + low
//
// Every output then advances the state, state = state * 47026247687942121848144207491837523525 +
// 117397592171526113268558934119004209487 (mod 2^128), and returns rotr64(high XOR low, high >> 58) of the new state.
//
// mix is a bijection, so two indices under one seed and label never share a state. The state is hashed, not packed,
// because neighbouring indices would otherwise start at neighbouring states, and their first outputs would correlate.
//
// Sources: mix and gamma are those of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014); the generator is from O'Neill, "PCG: a family of simple fast space-efficient
// statistically good algorithms for random number generation", HMC-CS-2014-0905.
func NewStream(seed uint64, label string, index uint64) *Stream {
	low, high := mix(seed+gamma), mix(seed+gamma2)
	absorb := func(word uint64) {
		low = mix((low ^ word) + gamma)
		high = mix((high ^ word) + gamma2)
	}
	absorb(uint64(len(label)))
	for start := 0; start < len(label); start += 8 {
		var word [8]byte
		copy(word[:], label[start:])
		absorb(binary.LittleEndian.Uint64(word[:]))
	}
	absorb(index)

	var state [16]byte
	binary.BigEndian.PutUint64(state[:8], high)
	binary.BigEndian.PutUint64(state[8:], low)
	s := new(Stream)
	if err := s.source.UnmarshalBinary(state[:]); err != nil {
		panic("distributions: the generator refuses a state of 16 bytes: " + err.Error())
	}
	return s
}

// mix is the output function of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Uint64 returns the next 64 bits.
func (s *Stream) Uint64() uint64 { return s.source.Uint64() }

// Float64 returns a uniform number in [0,1), a multiple of 2^-53: the upper 53 bits of one Uint64.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// IntN returns a uniform integer in [0,n), without bias. It panics if n is not positive, which is a mistake in the
// calling code and never in a user's input.
//
// Source: Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019. Most calls take one
// Uint64; the number taken depends on the stream alone.
func (s *Stream) IntN(n int) int {
	if n <= 0 {
		panic("distributions: IntN needs a positive n")
	}
	bound := uint64(n)
	high, low := bits.Mul64(s.Uint64(), bound)
	if low < bound {
		for reject := -bound % bound; low < reject; {
			high, low = bits.Mul64(s.Uint64(), bound)
		}
	}
	return int(high)
}

// Shuffle puts n elements in random order by calling swap (Fisher and Yates, from the last element down). It does
// nothing for n under 2.
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, s.IntN(i+1))
	}
}

// Perm returns the integers of [0,n) in random order; none if n is not positive. It equals SampleK(n, n).
func (s *Stream) Perm(n int) []int { return s.SampleK(n, n) }

// SampleK returns k distinct integers of [0,n) in the order drawn, every ordered choice being equally likely. A k over
// n counts as n; a negative one as 0. It takes memory in proportion to n.
func (s *Stream) SampleK(n, k int) []int { return sampleK(n, k, s.IntN) }

// sampleK runs the first k steps of a Fisher-Yates shuffle of [0,n), where draw(m) gives an integer of [0,m).
func sampleK(n, k int, draw func(m int) int) []int {
	n = max(n, 0)
	k = min(max(k, 0), n)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	for i := range k {
		j := i + draw(n-i)
		all[i], all[j] = all[j], all[i]
	}
	return all[:k:k]
}
