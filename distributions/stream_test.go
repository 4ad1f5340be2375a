package distributions

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	//lint:ignore SA1019 the control of TestNeighboursAreUnrelated needs the bare generator.
	"golang.org/x/exp/rand"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// TestStreamVectors compares with vectors computed from NewStream's documentation by another program.
func TestStreamVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/streams.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	rows := 0
	for ; decoder.More(); rows++ {
		var v struct {
			Seed, Label, Index string
			StateHigh          string    `json:"state_high"`
			StateLow           string    `json:"state_low"`
			Uint64             []string  `json:"uint64"`
			Float64            []float64 `json:"float64"`
			IntN               []int     `json:"int_n"`
			Perm               []int     `json:"perm_10"`
			Sample             []int     `json:"sample_4_of_100"`
			Shuffle            []int     `json:"shuffle_8"`
		}
		if err := decoder.Decode(&v); err != nil {
			t.Fatal(err)
		}
		begin := func() *Stream { return NewStream(hex(t, v.Seed), v.Label, hex(t, v.Index)) }
		name := fmt.Sprintf("(%s, %q, %s)", v.Seed, v.Label, v.Index)

		state, err := begin().source.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if high, low := binary.BigEndian.Uint64(state[:8]), binary.BigEndian.Uint64(state[8:]); high != hex(t, v.StateHigh) || low != hex(t, v.StateLow) {
			t.Errorf("%s: state %016x %016x, want %s %s", name, high, low, v.StateHigh, v.StateLow)
		}
		s := begin()
		for i, want := range v.Uint64 {
			if got := s.Uint64(); got != hex(t, want) {
				t.Errorf("%s: Uint64 %d is %016x, want %s", name, i, got, want)
			}
		}
		s = begin()
		for i, want := range v.Float64 {
			if got := s.Float64(); got != want {
				t.Errorf("%s: Float64 %d is %v, want %v", name, i, got, want)
			}
		}
		s = begin()
		for i, n := range []int{2, 10, 1000, 1<<62 + 1, 1<<62 + 1} {
			if got := s.IntN(n); got != v.IntN[i] {
				t.Errorf("%s: IntN(%d) is %d, want %d", name, n, got, v.IntN[i])
			}
		}
		if got := begin().Perm(10); !slices.Equal(got, v.Perm) {
			t.Errorf("%s: Perm(10) is %v, want %v", name, got, v.Perm)
		}
		if got := begin().SampleK(100, 4); !slices.Equal(got, v.Sample) {
			t.Errorf("%s: SampleK(100, 4) is %v, want %v", name, got, v.Sample)
		}
		order := []int{0, 1, 2, 3, 4, 5, 6, 7}
		begin().Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if !slices.Equal(order, v.Shuffle) {
			t.Errorf("%s: Shuffle gives %v, want %v", name, order, v.Shuffle)
		}
	}
	if rows != 12 {
		t.Errorf("read %d vectors, want 12", rows)
	}
}

func hex(t *testing.T, s string) uint64 {
	t.Helper()
	u, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestMixIsSplitMix64 compares with the published outputs of SplitMix64 for seed 1234567.
func TestMixIsSplitMix64(t *testing.T) {
	state := uint64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		state += gamma
		if got := mix(state); got != want {
			t.Errorf("output %d is %d, want %d", i, got, want)
		}
	}
	if double := gamma; double+gamma != gamma2 {
		t.Errorf("gamma2 is %x, want twice gamma", gamma2)
	}
}

// TestNeighboursAreUnrelated looks at the first draws of 4,096 neighbouring indices: spread over 32 bins, pairs of
// neighbours over 8 by 8 cells, and their correlation. The control packs index and seed into the state unhashed, and
// must fail, or the test proves nothing.
func TestNeighboursAreUnrelated(t *testing.T) {
	const n = 4096
	for _, seed := range []uint64{0, 1, 42, math.MaxUint64} {
		for _, label := range []string{"", "sessions", "stability"} {
			first := make([]float64, n)
			for i := range first {
				first[i] = NewStream(seed, label, uint64(i)).Float64()
			}
			spread, pairs, r := spreadP(first), pairsP(first), correlation(first)
			if spread < 0.001 || pairs < 0.001 || math.Abs(r) > 3.3/math.Sqrt(n) {
				t.Errorf("seed %d, label %q: p of the spread %.5f, of pairs %.5f, correlation %.4f", seed, label, spread, pairs, r)
			}
		}
	}
	packed := make([]float64, n)
	for i := range packed {
		var state [16]byte
		binary.BigEndian.PutUint64(state[:8], uint64(i))
		binary.BigEndian.PutUint64(state[8:], 42)
		var source rand.PCGSource
		if err := source.UnmarshalBinary(state[:]); err != nil {
			t.Fatal(err)
		}
		packed[i] = float64(source.Uint64()>>11) * 0x1p-53
	}
	if spread := spreadP(packed); spread > 1e-9 {
		t.Errorf("packed states pass (p %.5f), so this test cannot tell good from bad", spread)
	}
}

// TestLabelsAndSeedsAreUnrelated pairs the first draws under one label or seed with those under the next.
func TestLabelsAndSeedsAreUnrelated(t *testing.T) {
	const n = 4096
	for what, at := range map[string]func(i uint64) *Stream{
		"seed":  func(i uint64) *Stream { return NewStream(i, "sessions", 7) },
		"label": func(i uint64) *Stream { return NewStream(1, "label-"+strconv.FormatUint(i, 10), 7) },
	} {
		first := make([]float64, n)
		for i := range first {
			first[i] = at(uint64(i)).Float64()
		}
		if spread, pairs := spreadP(first), pairsP(first); min(spread, pairs) < 0.001 {
			t.Errorf("neighbouring %ss: p of the spread %.5f, of pairs %.5f", what, spread, pairs)
		}
	}
}

func spreadP(u []float64) float64 {
	counts := make([]float64, 32)
	for _, x := range u {
		counts[int(x*32)]++
	}
	return uniformP(counts, float64(len(u)))
}

func pairsP(u []float64) float64 {
	counts := make([]float64, 64)
	for i := 1; i < len(u); i++ {
		counts[int(u[i-1]*8)*8+int(u[i]*8)]++
	}
	return uniformP(counts, float64(len(u)-1))
}

func uniformP(counts []float64, n float64) float64 {
	expected, sum := n/float64(len(counts)), 0.0
	for _, c := range counts {
		sum += (c - expected) * (c - expected) / expected
	}
	return distuv.ChiSquared{K: float64(len(counts) - 1)}.Survival(sum)
}

func correlation(u []float64) float64 {
	// A uniform number has mean 1/2 and variance 1/12.
	sum := 0.0
	for i := 1; i < len(u); i++ {
		sum += (u[i-1] - 0.5) * (u[i] - 0.5)
	}
	return sum * 12 / float64(len(u)-1)
}

func TestIntNIsEven(t *testing.T) {
	s := NewStream(5, "even", 0)
	for _, n := range []int{2, 3, 7, 30} {
		counts := make([]float64, n)
		for range 3000 {
			counts[s.IntN(n)]++
		}
		if p := uniformP(counts, 3000); p < 0.001 {
			t.Errorf("IntN(%d): counts %v, p %.5f", n, counts, p)
		}
	}
	if got := s.IntN(1); got != 0 {
		t.Errorf("IntN(1) is %d", got)
	}
}

func TestIntNPanicsOnlyForCallersMistakes(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("IntN(%d) did not panic", n)
				}
			}()
			NewStream(1, "", 0).IntN(n)
		}()
	}
}

func TestSampleKBounds(t *testing.T) {
	for _, c := range []struct{ n, k, want int }{{0, 0, 0}, {-3, 2, 0}, {5, -1, 0}, {5, 0, 0}, {5, 5, 5}, {5, 9, 5}, {5, 2, 2}} {
		if got := NewStream(1, "", 0).SampleK(c.n, c.k); len(got) != c.want {
			t.Errorf("SampleK(%d, %d) gives %d numbers, want %d", c.n, c.k, len(got), c.want)
		}
	}
}

// TestSampleKOrders counts the 12 ordered pairs out of 4.
func TestSampleKOrders(t *testing.T) {
	counts := map[[2]int]float64{}
	for i := range uint64(6000) {
		k := NewStream(9, "orders", i).SampleK(4, 2)
		counts[[2]int{k[0], k[1]}]++
	}
	flat := []float64{}
	for _, c := range counts {
		flat = append(flat, c)
	}
	if p := uniformP(flat, 6000); len(flat) != 12 || p < 0.001 {
		t.Errorf("%d ordered pairs, p %.5f: %v", len(flat), p, counts)
	}
}

func TestSampleKIsPrefixOfPerm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, index := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "index")
		label := rapid.String().Draw(t, "label")
		n, k := rapid.IntRange(0, 60).Draw(t, "n"), rapid.IntRange(0, 70).Draw(t, "k")
		perm := NewStream(seed, label, index).Perm(n)
		some := NewStream(seed, label, index).SampleK(n, k)
		if !slices.Equal(some, perm[:min(k, n)]) {
			t.Fatalf("SampleK(%d, %d) = %v is not the beginning of Perm = %v", n, k, some, perm)
		}
		slices.Sort(perm)
		for i, x := range perm {
			if i != x {
				t.Fatalf("Perm(%d) misses %d", n, i)
			}
		}
	})
}

// TestStreamFeedsGonum draws normal numbers, whose mean must lie near 0.
func TestStreamFeedsGonum(t *testing.T) {
	normal := distuv.Normal{Mu: 0, Sigma: 1, Src: NewStream(3, "normal", 0)}
	sum := 0.0
	for range 10000 {
		sum += normal.Rand()
	}
	if mean := sum / 10000; math.Abs(mean) > 0.04 {
		t.Errorf("mean of 10,000 standard normal numbers is %.4f", mean)
	}
}

func BenchmarkNewStream(b *testing.B) {
	for i := range b.N {
		NewStream(1, "sessions", uint64(i)).Uint64()
	}
}

func BenchmarkFloat64(b *testing.B) {
	s := NewStream(1, "sessions", 0)
	for range b.N {
		s.Float64()
	}
}
