package gate

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/reports/compare"
)

// markdownFlips is how many flipped intents a comment has room for.
const markdownFlips = 50

// Markdown is the report for a pull request: the outcome, a table of what did not pass, and folded away what passed and
// which intents flipped.
func (r *Report) Markdown() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "### %s\n\nRules `%s`, run `%s`; %s.\n", r.outcome(), code(r.Rules), code(r.Run), plain(r.against()))
	for _, m := range r.Mismatches {
		fmt.Fprintf(&text, "\nNot the same input: %s\n", plain(m))
	}
	if r.Failed+r.Waived > 0 {
		text.WriteString("\n| | check | figure | n | asked | why |\n|---|---|---|---|---|---|\n")
		for _, status := range []Status{Failed, Waived} {
			for i := range r.Checks {
				if r.Checks[i].Status == status {
					r.Checks[i].markdownRow(&text)
				}
			}
		}
	}
	if flips := r.flipped(); len(flips) > 0 {
		fmt.Fprintf(&text, "\n<details><summary>Flipped intents: %s</summary>\n\n", plain(compare.FlipCount(flips)))
		for i, f := range flips {
			if i == markdownFlips {
				fmt.Fprintf(&text, "- … and %d more\n", len(flips)-i)
				break
			}
			fmt.Fprintf(&text, "- %s\n", plain(f.String()))
			if f.Command != "" {
				fmt.Fprintf(&text, "  `%s`\n", code(f.Command))
			}
		}
		text.WriteString("\n</details>\n")
	}
	if r.Passed > 0 {
		fmt.Fprintf(&text, "\n<details><summary>%d passed</summary>\n\n| | check | figure | n | asked | change |\n|---|---|---|---|---|---|\n", r.Passed)
		for i := range r.Checks {
			if r.Checks[i].Status == Passed {
				r.Checks[i].markdownRow(&text)
			}
		}
		text.WriteString("\n</details>\n")
	}
	return text.Bytes()
}

// markdownRow is a check as a row of a table.
func (c *Check) markdownRow(text *bytes.Buffer) {
	mark := map[Status]string{Failed: "❌", Waived: "⚠️", Passed: "✅"}[c.Status]
	var why []string
	for _, reason := range c.Reasons {
		why = append(why, plain(reason))
	}
	if c.Status == Passed {
		why = append(why, plain(c.change()))
	}
	if w := c.Waiver; w != nil && c.Status == Waived {
		why = append(why, plain(fmt.Sprintf("waived until %s: %s (%s)", w.Expires, w.Reason, w.Issue)))
	}
	for _, note := range c.Notes {
		why = append(why, plain(note))
	}
	fmt.Fprintf(text, "| %s | %s | %s %s | %s | %s | %s |\n", mark, plain(c.name()), c.figure(), c.Unit, numerals.Number(float64(c.N), 0), plain(c.demand()), strings.Join(why, "<br>"))
}

// plain is text that Markdown and HTML leave as it is.
func plain(text string) string {
	return strings.NewReplacer(
		"\\", "\\\\", "&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "@", "&#64;",
	).Replace(compare.Line(text))
}

// code is text between back ticks.
func code(text string) string {
	return strings.ReplaceAll(compare.Line(text), "`", "'")
}
