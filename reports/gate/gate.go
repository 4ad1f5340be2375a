package gate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/reports/compare"
)

// Status is what became of a check.
type Status string

// The statuses.
const (
	Passed Status = "passed"
	Failed Status = "failed"
	Waived Status = "waived" // would have failed, and is excused for now
)

// Check is one rule applied to one arm.
type Check struct {
	Rule    string            `json:"rule"`
	Line    int               `json:"line"`
	Measure string            `json:"measure"`
	Arm     string            `json:"arm"`
	Class   string            `json:"class,omitempty"`
	Unit    string            `json:"unit"`
	Better  metrics.Direction `json:"better"`
	Status  Status            `json:"status"`
	// Reasons say what failed, each in a sentence; a waived check has those that are excused.
	Reasons []string `json:"reasons"`
	// Notes say how it was judged where that is not plain.
	Notes []string `json:"notes"`
	// Value and N are the run's figure and its population; Value is nil for a break-even that there is none of.
	Value *float64 `json:"value"`
	N     int      `json:"n"`
	// Baseline and Drop are set where the rule has a largest drop. Baseline is the mean over the pairs, or the baseline's figure
	// where only its summary is at hand; Drop is how much worse the run is, negative where it is better.
	Baseline    *float64          `json:"baseline,omitempty"`
	Drop        *float64          `json:"drop,omitempty"`
	AllowedDrop *float64          `json:"allowed_drop,omitempty"` // in the measure's unit
	Interval    *metrics.Interval `json:"interval,omitempty"`     // 95 %, of the mean difference, run less baseline
	Pairs       int               `json:"pairs,omitempty"`
	P           *float64          `json:"p,omitempty"`
	PHolm       *float64          `json:"p_holm,omitempty"`
	Floor       *float64          `json:"floor,omitempty"`
	Ceiling     *float64          `json:"ceiling,omitempty"`
	Alpha       float64           `json:"alpha,omitempty"`
	Waiver      *Waiver           `json:"waiver,omitempty"`

	rule Rule
	// unmeasured: a reason is that there is nothing to judge, which no waiver excuses.
	unmeasured bool
}

// Report is what a gate decided.
type Report struct {
	SchemaVersion int      `json:"schema_version"`
	Status        Status   `json:"status"` // Passed or Failed
	Rules         string   `json:"rules"`  // the file
	Run           string   `json:"run"`
	Baseline      string   `json:"baseline"` // empty without one
	Paired        bool     `json:"paired"`   // the baseline is a run, so that differences were taken pair by pair
	Mismatches    []string `json:"mismatches"`
	Passed        int      `json:"passed"`
	Failed        int      `json:"failed"`
	Waived        int      `json:"waived"`
	Checks        []Check  `json:"checks"`
	// Flips are the intents that flipped against the baseline, worse ones first; none without its tables.
	Flips []compare.Flip `json:"flips"`
}

// Options are what a gate judges by.
type Options struct {
	RulesFile     string
	Rules         []Rule
	Run           *reports.Run
	Baseline      *Baseline // nil if no rule has a largest drop
	AllowMismatch bool
	Now           time.Time // decides whether a waiver has expired
}

// NeedsBaseline returns the first rule that cannot be judged without one; nil if all can.
func NeedsBaseline(rules []Rule) *Rule {
	if i := slices.IndexFunc(rules, func(r Rule) bool { return r.LargestDrop != nil }); i >= 0 {
		return &rules[i]
	}
	return nil
}

// Judge holds a run to rules. Runs that cannot be compared are a [*reports.IncomparableError]; every other error is ctx's, or
// about a table that cannot be read.
func Judge(ctx context.Context, o Options) (*Report, error) {
	r := &Report{
		SchemaVersion: schemaVersion, Rules: o.RulesFile, Run: o.Run.Dir,
		Mismatches: []string{}, Flips: []compare.Flip{}, Checks: checksOf(o),
	}
	differences := make(map[compare.Column]compare.Difference)
	if o.Baseline != nil {
		var err error
		if r.Mismatches, err = o.Baseline.comparable(o.Run, o.AllowMismatch); err != nil {
			return nil, err
		}
		r.Baseline = o.Baseline.Path
		if o.Baseline.Run != nil {
			c, err := compare.Compare(ctx, o.Baseline.Run, o.Run, compare.Options{AllowMismatch: o.AllowMismatch, Columns: columnsOf(r.Checks)})
			if err != nil {
				return nil, err
			}
			r.Paired, r.Flips = true, c.Flips
			for _, d := range c.Measures {
				differences[d.Column] = d
			}
		}
	}
	settle(r.Checks, o.Run.Summary, o.Baseline, differences, o.Now)
	r.count()
	return r, nil
}

// settle judges checks; with a baseline that is a run, by the differences to it.
func settle(checks []Check, run reports.Summary, b *Baseline, differences map[compare.Column]compare.Difference, now time.Time) {
	for i := range checks {
		checks[i].judgeFigure(run)
		if checks[i].rule.LargestDrop != nil && b != nil {
			checks[i].measureDrop(b, differences)
		}
	}
	adjust(checks)
	for i := range checks {
		checks[i].judgeDrop()
		checks[i].decide(now)
	}
}

// checksOf applies every rule to its arms.
func checksOf(o Options) []Check {
	var all []string
	summaries := []reports.Summary{o.Run.Summary}
	if o.Baseline != nil {
		summaries = append(summaries, o.Baseline.Summary)
	}
	for _, s := range summaries {
		for _, a := range s.Assumptions {
			if !slices.Contains(all, a.Name) {
				all = append(all, a.Name)
			}
		}
	}
	checks := []Check{}
	for _, rule := range o.Rules {
		arms := rule.Arms
		if arms[0] == AllArms {
			arms = all
		}
		for _, arm := range arms {
			checks = append(checks, Check{
				Rule: rule.Name, Line: rule.Line, Measure: rule.Measure.Name, Arm: arm, Class: rule.Class, Unit: rule.Measure.Unit,
				Better: rule.Better, Reasons: []string{}, Notes: []string{}, Floor: rule.Floor, Ceiling: rule.Ceiling,
				Alpha: rule.Alpha, Waiver: rule.Waiver, rule: rule,
			})
		}
	}
	return checks
}

func (c *Check) column() compare.Column {
	return compare.Column{Measure: c.Measure, Arm: c.Arm, Class: c.Class}
}

// columnsOf are the differences that the checks ask for.
func columnsOf(checks []Check) []compare.Column {
	columns := []compare.Column{}
	for i := range checks {
		if checks[i].rule.LargestDrop != nil {
			columns = append(columns, checks[i].column())
		}
	}
	return columns
}

// breakEven is the place of a break-even as a number: where there is none, it is farther off than any.
func breakEven(at int64) float64 {
	if at == 0 {
		return math.Inf(1)
	}
	return float64(at)
}

func finite(x float64) *float64 {
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func (c *Check) value(x float64) string {
	if math.IsInf(x, 0) {
		return "none"
	}
	return compare.Value(c.Unit, x)
}

func (c *Check) fail(format string, values ...any) {
	c.Reasons = append(c.Reasons, fmt.Sprintf(format, values...))
}

// judgeFigure holds the run's own figure to population, floor and ceiling.
func (c *Check) judgeFigure(s reports.Summary) {
	f, missing := lookUp(s, "the run", c.Measure, c.Arm, c.Class)
	if missing != "" {
		c.unmeasured = true
		c.fail("%s", missing)
		return
	}
	c.Value, c.N = finite(f.value), f.n
	if f.n < c.rule.SmallestPopulation {
		c.unmeasured = true
		c.fail("population of %d (%s), and the rule asks for %d", f.n, c.rule.Measure.Population, c.rule.SmallestPopulation)
	}
	if c.Floor != nil && f.value < *c.Floor {
		c.fail("%s is below the floor %s", c.value(f.value), c.value(*c.Floor))
	}
	if c.Ceiling != nil && f.value > *c.Ceiling {
		c.fail("%s is above the ceiling %s", c.value(f.value), c.value(*c.Ceiling))
	}
}

// measureDrop finds out how much worse than the baseline the run is.
func (c *Check) measureDrop(b *Baseline, differences map[compare.Column]compare.Difference) {
	if c.unmeasured && c.N == 0 {
		return
	}
	was, missing := b.lookUp(c)
	if missing != "" {
		c.unmeasured = true
		c.fail("%s", missing)
		return
	}
	is := math.Inf(1)
	if c.Value != nil {
		is = *c.Value
	}
	difference := is - was.value
	if math.IsInf(was.value, 1) && math.IsInf(is, 1) {
		difference = 0
	}
	if b.Run != nil && metrics.HasItems(c.Measure) {
		d, ok := differences[c.column()]
		if !ok || d.N == 0 {
			c.unmeasured = true
			c.fail("empty population: the runs have no %s in common", c.rule.Measure.Population)
			return
		}
		was.value, difference = d.Before, d.Difference
		c.Interval, c.Pairs, c.P = &d.Interval, d.N, &d.P
		if d.OnlyBefore+d.OnlyAfter > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("the drop is over %d pairs; %d more are in the baseline alone and %d in the run alone", d.N, d.OnlyBefore, d.OnlyAfter))
		}
	} else if c.Alpha != 0 {
		c.Notes = append(c.Notes, "no test: the baseline is a summary without pairs, so the drop alone decides, and alpha does not excuse it")
	}
	drop := difference
	if c.Better == metrics.Higher {
		drop = -difference
	}
	allowed := c.rule.LargestDrop.of(was.value)
	c.Baseline, c.Drop, c.AllowedDrop = finite(was.value), &drop, finite(allowed)
}

// adjust takes all p-values that a gate reads together as one family.
func adjust(checks []Check) {
	var tested []*Check
	var ps []float64
	for i := range checks {
		if c := &checks[i]; c.Alpha != 0 && c.P != nil {
			tested, ps = append(tested, c), append(ps, *c.P)
		}
	}
	for i, p := range metrics.Holm(ps) {
		tested[i].PHolm = &p
	}
}

// rounding is the share of a drop that summation in another order may add.
const rounding = 1e-9

// judgeDrop holds the drop to the largest that is allowed.
func (c *Check) judgeDrop() {
	if c.Drop == nil {
		return
	}
	drop, allowed := *c.Drop, math.Inf(1)
	if c.AllowedDrop != nil {
		allowed = *c.AllowedDrop
	}
	if math.IsInf(drop, 0) {
		c.Drop = nil // JSON has no infinity
	}
	if drop <= allowed+float64(rounding*allowed) || drop <= 0 {
		return
	}
	if c.Drop == nil {
		c.fail("there is none any more, and the baseline has one at %s", c.value(*c.Baseline))
		return
	}
	what := fmt.Sprintf("worse by %s than the baseline's %s, and %s is allowed", c.value(drop), c.value(*c.Baseline), c.value(allowed))
	switch {
	case c.PHolm == nil:
		c.fail("%s", what)
	case *c.PHolm < c.Alpha:
		c.fail("%s; adjusted p %s, below alpha %g", what, compare.PValue(*c.PHolm), c.Alpha)
	case *c.P == metrics.LeastSampledP:
		// No larger drop could give another p: a test that cannot fail excuses nothing.
		c.fail("%s; the test gave the least p that it can, and adjusted (%.2g) that is not below alpha %g: raise alpha, or test less", what, *c.PHolm, c.Alpha)
	default:
		c.Notes = append(c.Notes, fmt.Sprintf("%s; but adjusted p %s is not below alpha %g", what, compare.PValue(*c.PHolm), c.Alpha))
	}
}

// decide makes a status of the reasons and the waiver.
func (c *Check) decide(now time.Time) {
	w := c.Waiver
	switch {
	case w != nil && w.Expires.over(now):
		c.Status = Failed
		c.fail("the waiver expired on %s (%s, %s): fix what it excused and remove it, or renew it", w.Expires, w.Issue, w.Reason)
	case len(c.Reasons) == 0:
		c.Status = Passed
		if w != nil {
			c.Notes = append(c.Notes, "passes without its waiver, which can go")
		}
	case w != nil && !c.unmeasured:
		c.Status = Waived
	default:
		c.Status = Failed
	}
}

// count sums the checks up.
func (r *Report) count() {
	r.Status = Passed
	for _, c := range r.Checks {
		switch c.Status {
		case Passed:
			r.Passed++
		case Waived:
			r.Waived++
		default:
			r.Failed++
			r.Status = Failed
		}
	}
}
