package lint

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/toolgauge/toolgauge/corpus/survey"
	"github.com/toolgauge/toolgauge/internal/numerals"
)

// WriteText writes the report for people: rule by rule, the gravest first, what to
// do and then a line a finding, as compilers write them; and how many there are of
// each rule. most bounds the lines of a rule; 0 for all.
func (r *Report) WriteText(w io.Writer, most int) error {
	var out bytes.Buffer
	findings := make(map[string][]Finding)
	for _, f := range r.Findings {
		findings[f.Rule] = append(findings[f.Rule], f)
	}
	for _, rule := range Rules() {
		found := findings[rule.ID]
		if len(found) == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s %s (%d): %s\n", rule.Severity, rule.ID, len(found), rule.Advice)
		for i, f := range found {
			if i == most && most > 0 {
				fmt.Fprintf(&out, "  … and %d more; --all lists them\n", len(found)-i)
				break
			}
			line := f.Tool + ": " + f.Message
			if f.File != "" {
				line = fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, line)
			}
			fmt.Fprintf(&out, "  %s\n", survey.OneLine(line))
		}
		out.WriteByte('\n')
	}
	r.writeCounts(&out, findings)
	_, err := out.WriteTo(w)
	return err
}

// writeCounts writes how many tools were judged and what of each rule was found.
func (r *Report) writeCounts(out *bytes.Buffer, listed map[string][]Finding) {
	synthetic := ""
	if r.Synthetic {
		synthetic = ", synthetic"
	}
	fmt.Fprintf(out, "Corpus %s%s: %s judged, %s of them searched for among %s (%s).\n", survey.OneLine(r.Corpus), synthetic,
		numerals.Of(r.Tools, "tool"), numerals.Count(r.Asked), numerals.Count(r.Pool), r.Retriever)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	title, hidden := make(map[string]string), 0
	for _, rule := range Rules() {
		title[rule.ID] = rule.Title
	}
	for _, c := range r.Counts {
		if c.Findings == 0 {
			continue
		}
		note := ""
		if len(listed[c.Rule]) == 0 {
			note, hidden = " (not listed)", hidden+c.Findings
		}
		fmt.Fprintf(table, "  %d\t%s\t%s\t%s%s\n", c.Findings, c.Severity, c.Rule, title[c.Rule], note)
	}
	table.Flush()
	fmt.Fprintf(out, "Without a finding that is listed: %s of %s.\n", numerals.Count(r.Clean), numerals.Of(r.Tools, "tool"))
	if hidden > 0 {
		fmt.Fprintf(out, "Not listed: %d; --level note lists all.\n", hidden)
	}
}
