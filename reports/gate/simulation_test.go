package gate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/reports/compare"
)

// TestFalseAlarms judges 10,000 pairs of runs between which there is no difference but chance, by five rules that allow no
// drop at alpha 0.05 in either direction, and counts how many gates fail: 5 % at most, and 0.7 % more for the luck of the draw.
func TestFalseAlarms(t *testing.T) {
	if os.Getenv("TOOLGAUGE_SIMULATIONS") == "" {
		t.Skip("draws for a minute; TOOLGAUGE_SIMULATIONS=1 runs it")
	}
	const gates, rules, pairs = 10_000, 5, 40
	failed := make([]bool, gates)
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for g := range gates {
		free <- struct{}{}
		wait.Go(func() {
			failed[g] = nullGate(rand.New(rand.NewPCG(5, uint64(g))), rules, pairs)
			<-free
		})
	}
	wait.Wait()
	alarms := 0
	for _, f := range failed {
		if f {
			alarms++
		}
	}
	share := float64(alarms) / gates
	t.Logf("%d of %d gates without a difference fail: %.4f", alarms, gates, share)
	if share > .057 {
		t.Errorf("%.4f false alarms, want 0.057 at most", share)
	}
	if alarms == 0 {
		t.Error("no gate fails: nothing was tested")
	}
}

// nullGate reports whether a gate fails whose differences are symmetrical around 0.
func nullGate(random *rand.Rand, rules, pairs int) bool {
	items := make([][]float64, pairs)
	for i := range items {
		items[i] = make([]float64, rules)
		for j := range items[i] {
			items[i][j] = random.NormFloat64() - random.NormFloat64()
		}
	}
	ps := metrics.RandomisationTests(items)
	summary := reports.Summary{Assumptions: []reports.Arm{{Name: "a"}}}
	baseline := &Baseline{Summary: summary, Run: &reports.Run{}}
	measure, _ := metrics.FindMeasure("requests")
	differences := make(map[compare.Column]compare.Difference)
	var checks []Check
	for j := range rules {
		mean := 0.0
		for i := range items {
			mean += items[i][j] / float64(pairs)
		}
		class := fmt.Sprint(j)
		figure := metrics.Figure{Measure: measure.Name, Arm: "a", Class: class, Value: 10 + mean, N: pairs}
		summary.Figures = append(summary.Figures, figure)
		column := compare.Column{Measure: measure.Name, Arm: "a", Class: class}
		differences[column] = compare.Difference{Column: column, N: pairs, Before: 10, After: 10 + mean, Difference: mean, P: ps[j]}
		checks = append(checks, Check{
			Measure: measure.Name, Arm: "a", Class: class, Better: []metrics.Direction{metrics.Lower, metrics.Higher}[j%2], Alpha: 0.05,
			rule: Rule{Measure: measure, LargestDrop: &Drop{}, SmallestPopulation: 1},
		})
	}
	baseline.Summary = summary
	settle(checks, summary, baseline, differences, time.Time{})
	return slices.ContainsFunc(checks, func(c Check) bool { return c.Status == Failed })
}
