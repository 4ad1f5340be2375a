package gate

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/reports/compare"
)

// flipsShown is how many flipped intents a text names; the JSON has all.
const flipsShown = 10

// name is a check as texts call it.
func (c *Check) name() string { return compare.Line(c.Rule + ", " + c.Arm) }

// figure words the run's figure.
func (c *Check) figure() string {
	if c.Value == nil && c.N == 0 {
		return "–"
	}
	if c.Value == nil {
		return "none"
	}
	return c.value(*c.Value)
}

// demand words what the rule asks for.
func (c *Check) demand() string {
	var parts []string
	if c.Floor != nil {
		parts = append(parts, fmt.Sprintf("at least %g", *c.Floor))
	}
	if c.Ceiling != nil {
		parts = append(parts, fmt.Sprintf("at most %g", *c.Ceiling))
	}
	if d := c.rule.LargestDrop; d != nil {
		text := fmt.Sprintf("worse by at most %g", d.Value)
		if d.Percent {
			text += "%"
		}
		if c.Alpha != 0 {
			text += fmt.Sprintf(" unless by chance (alpha %g)", c.Alpha)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// change words how far the run is from the baseline; empty where nothing was compared.
func (c *Check) change() string {
	if c.Baseline == nil || c.Drop == nil {
		return ""
	}
	switch {
	case *c.Drop == 0:
		return "unchanged"
	case *c.Drop < 0:
		return fmt.Sprintf("better by %s than %s", c.value(-*c.Drop), c.value(*c.Baseline))
	default:
		return fmt.Sprintf("worse by %s than %s", c.value(*c.Drop), c.value(*c.Baseline))
	}
}

// flipped are the worse flips under the arms of checks that did not pass.
func (r *Report) flipped() (list []compare.Flip) {
	for _, f := range r.Flips {
		if f.Verdict == compare.Worse && slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Arm == f.Arm && c.Status != Passed }) {
			list = append(list, f)
		}
	}
	return list
}

// outcome is the gate in a sentence.
func (r *Report) outcome() string {
	word := "passed"
	if r.Status == Failed {
		word = "FAILED"
	}
	text := fmt.Sprintf("Gate %s: %d of %d checks passed", word, r.Passed, len(r.Checks))
	if r.Failed > 0 {
		text += fmt.Sprintf(", %d failed", r.Failed)
	}
	if r.Waived > 0 {
		text += fmt.Sprintf(", %d waived", r.Waived)
	}
	return text
}

// against words what the run was held against.
func (r *Report) against() string {
	switch {
	case r.Baseline == "":
		return "no baseline"
	case r.Paired:
		return "baseline " + r.Baseline + ", pair by pair"
	default:
		return "baseline " + r.Baseline + ", a summary: figure by figure, without tests or flipped intents"
	}
}

// WriteText writes a report for people: checks that failed first, in full, with the intents that flipped; then a line for each other.
func (r *Report) WriteText(w io.Writer) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\nRules: %s. Run: %s; %s.\n", r.outcome(), r.Rules, r.Run, r.against())
	for _, m := range r.Mismatches {
		fmt.Fprintf(&text, "Not the same input: %s\n", m)
	}
	r.writeChecks(&text, Failed)
	r.writeChecks(&text, Waived)
	r.writeFlips(&text)
	r.writeChecks(&text, Passed)
	_, err := w.Write(text.Bytes())
	return err
}

func (r *Report) writeChecks(text *bytes.Buffer, status Status) {
	for i := range r.Checks {
		if r.Checks[i].Status == status {
			r.Checks[i].write(text, r.Rules)
		}
	}
}

// writeFlips names the intents that flipped where a check did not pass.
func (r *Report) writeFlips(text *bytes.Buffer) {
	if !r.Paired || r.Failed+r.Waived == 0 {
		return
	}
	flips := r.flipped()
	if len(flips) == 0 {
		text.WriteString("Flipped intents under these arms: none for the worse\n")
		return
	}
	fmt.Fprintf(text, "Flipped intents under these arms: %s\n", compare.FlipCount(flips))
	for i, f := range flips {
		if i == flipsShown {
			fmt.Fprintf(text, "  … and %d more; --json has them all\n", len(flips)-i)
			break
		}
		fmt.Fprintf(text, "  %s\n", f)
		if f.Command != "" {
			fmt.Fprintf(text, "    %s\n", f.Command)
		}
	}
}

// write writes one check.
func (c *Check) write(text *bytes.Buffer, rules string) {
	if c.Status == Passed {
		fmt.Fprintf(text, "passed  %s: %s", c.name(), c.figure())
		if change := c.change(); change != "" {
			fmt.Fprintf(text, ", %s", change)
		}
		fmt.Fprintf(text, " (%s; n %s)\n", c.demand(), numerals.Number(float64(c.N), 0))
	} else {
		fmt.Fprintf(text, "%s  %s (%s:%d): %s %s, n %s; asked: %s\n", strings.ToUpper(string(c.Status)), c.name(), rules, c.Line,
			c.figure(), c.Unit, numerals.Number(float64(c.N), 0), c.demand())
		for _, reason := range c.Reasons {
			fmt.Fprintf(text, "        because: %s\n", compare.Line(reason))
		}
		if w := c.Waiver; w != nil && c.Status == Waived {
			fmt.Fprintf(text, "        waived until %s: %s (%s)\n", w.Expires, compare.Line(w.Reason), compare.Line(w.Issue))
		}
	}
	for _, note := range c.Notes {
		fmt.Fprintf(text, "        note: %s\n", compare.Line(note))
	}
}
