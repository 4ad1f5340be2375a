package metrics_test

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

// simulated skips a test that draws for minutes, unless it is asked for.
func simulated(t *testing.T) {
	if os.Getenv("TOOLGAUGE_SIMULATIONS") == "" {
		t.Skip("draws for a minute; TOOLGAUGE_SIMULATIONS=1 runs it")
	}
}

// TestIntervalCoverage: of samples from a distribution whose mean is known, about 95 % have an interval that holds it.
// Samples of skewed distributions have fewer, the fewer the smaller they are; that of the log-normal is only reported.
func TestIntervalCoverage(t *testing.T) {
	simulated(t)
	// The columns of one call share its resamples, which leaves each column's coverage what it is.
	const calls, columns = 125, 64
	exponential := func(r *rand.Rand) float64 { return r.ExpFloat64() - 1 }
	normal := func(r *rand.Rand) float64 { return r.NormFloat64() }
	logNormal := func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) - math.Exp(0.5) }
	for _, c := range []struct {
		name        string
		draw        func(*rand.Rand) float64 // of mean 0
		n           int
		least, most float64
	}{
		{"exponential", exponential, 50, .92, 1},
		{"exponential", exponential, 200, .935, 1},
		{"normal", normal, 50, .93, .965},
		{"normal", normal, 200, .935, .965},
		{"log-normal", logNormal, 50, 0, 1},
		{"log-normal", logNormal, 200, 0, 1},
	} {
		covered := make([]int, calls)
		parallel(calls, func(call int) {
			random := rand.New(rand.NewPCG(uint64(c.n), uint64(call)))
			items := make([][]float64, c.n)
			for i := range items {
				items[i] = make([]float64, columns)
				for j := range items[i] {
					items[i][j] = c.draw(random)
				}
			}
			for _, interval := range metrics.MeanIntervals(items) {
				if interval.Low <= 0 && 0 <= interval.High {
					covered[call]++
				}
			}
		})
		sum := 0
		for _, n := range covered {
			sum += n
		}
		share := float64(sum) / (calls * columns)
		t.Logf("%s, n %d: %.4f of %d intervals hold the mean", c.name, c.n, share, calls*columns)
		if share < c.least || share > c.most {
			t.Errorf("%s, n %d: coverage %.4f, want %v to %v", c.name, c.n, share, c.least, c.most)
		}
	}
}

// parallel calls f with 0 to n-1, on all CPUs.
func parallel(n int, f func(int)) {
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		free <- struct{}{}
		wait.Go(func() {
			f(i)
			<-free
		})
	}
	wait.Wait()
}
