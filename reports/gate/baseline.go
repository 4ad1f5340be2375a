package gate

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/reports/compare"
)

// Baseline is what a run is held against.
type Baseline struct {
	Path    string
	Summary reports.Summary
	Run     *reports.Run // nil where only a summary is at hand
}

// OpenBaseline opens a run folder, or reads the summary of one: its summary.json, or what [Extract] left of it.
func OpenBaseline(path string) (*Baseline, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		s, err := reports.ReadSummary(path)
		if err != nil {
			return nil, err
		}
		if s.Sessions < 1 || len(s.Assumptions) == 0 {
			return nil, fmt.Errorf("%s: not the summary of a run\nhint: name a run folder, its %s, or what bench gate -o wrote", path, reports.SummaryFile)
		}
		return &Baseline{Path: path, Summary: s}, nil
	}
	r, err := compare.Open(path)
	if err != nil {
		return nil, err
	}
	return &Baseline{Path: path, Summary: r.Summary, Run: r}, nil
}

// Extract leaves of a summary what the rules ask for: a baseline of a few KB that can be committed.
func Extract(s reports.Summary, rules []Rule) reports.Summary {
	wanted := func(measure, arm, class string) bool {
		return slices.ContainsFunc(rules, func(r Rule) bool {
			return r.Measure.Name == measure && r.Class == class && (r.Arms[0] == AllArms || slices.Contains(r.Arms, arm))
		})
	}
	figures, breakEvens := []metrics.Figure{}, []metrics.BreakEven{}
	for _, f := range s.Figures {
		if f.PoolBin == "" && wanted(f.Measure, f.Arm, f.Class) {
			figures = append(figures, f)
		}
	}
	for _, b := range s.BreakEvens {
		if wanted(b.Measure, b.Arm, "") {
			b.Curve = nil
			breakEvens = append(breakEvens, b)
		}
	}
	s.Figures, s.BreakEvens = figures, breakEvens
	return s
}

// comparable refuses a baseline of other corpora or sessions, unless that is allowed; then it returns what differs.
func (b *Baseline) comparable(run *reports.Run, allow bool) ([]string, error) {
	mismatches := compare.Mismatches(b.Summary, run.Summary)
	if len(mismatches) > 0 && !allow {
		return nil, compare.Refuse(b.Path, run.Dir, mismatches)
	}
	return mismatches, nil
}

// figure is what a summary says of a measure.
type figure struct {
	value float64 // of a break-even: infinite where there is none
	n     int
}

// lookUp finds the baseline's figure for a check. A file holds what rules asked for when it was written, so that a missing
// figure need not be an empty population.
func (b *Baseline) lookUp(c *Check) (figure, string) {
	f, reason := lookUp(b.Summary, "the baseline", c.Measure, c.Arm, c.Class)
	if reason != "" && b.Run == nil && hasArm(b.Summary, c.Arm) {
		reason = fmt.Sprintf("the baseline has no figure of %s under %s: its population was empty, or it was written for other rules; then write it again with these",
			strings.TrimSpace(c.Measure+" "+c.Class), c.Arm)
	}
	return f, reason
}

func hasArm(s reports.Summary, arm string) bool {
	return slices.ContainsFunc(s.Assumptions, func(a reports.Arm) bool { return a.Name == arm })
}

// lookUp finds a figure of a summary; the reason says why there is none.
func lookUp(s reports.Summary, of, measure, arm, class string) (f figure, reason string) {
	if !hasArm(s, arm) {
		return f, fmt.Sprintf("matches nothing: %s has no arm %q", of, arm)
	}
	for _, b := range s.BreakEvens {
		if b.Measure == measure && b.Arm == arm {
			return figure{breakEven(b.At), b.Sessions}, ""
		}
	}
	inClass := class == ""
	for _, f := range s.Figures {
		if f.PoolBin != "" || f.Arm != arm || f.Class != class {
			continue
		}
		if f.Measure == measure {
			return figure{f.Value, f.N}, ""
		}
		inClass = true
	}
	if !inClass {
		return f, fmt.Sprintf("matches nothing: %s has no figure of class %q under %s", of, class, arm)
	}
	m, _ := metrics.FindMeasure(measure)
	return f, fmt.Sprintf("empty population: %s has no %s under %s", of, m.Population, arm)
}
