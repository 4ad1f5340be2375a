package lint

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/toolgauge/toolgauge/corpus/survey"
)

// WriteText writes the report for people: a line a finding, as compilers write
// them, and then how many there are of each rule.
func (r *Report) WriteText(w io.Writer) error {
	var out bytes.Buffer
	for _, f := range r.Findings {
		line := fmt.Sprintf("%s: %s: %s (%s)", f.Severity, f.Tool, f.Message, f.Rule)
		if f.File != "" {
			line = fmt.Sprintf("%s:%d: %s", f.File, f.Line, line)
		}
		out.WriteString(survey.OneLine(line) + "\n")
	}
	if len(r.Findings) > 0 {
		out.WriteByte('\n')
	}
	synthetic := ""
	if r.Synthetic {
		synthetic = ", synthetic"
	}
	fmt.Fprintf(&out, "Corpus %s%s: %d tools judged; %d asked for among %d (%s).\n", survey.OneLine(r.Corpus), synthetic, r.Tools, r.Asked, r.Pool, r.Retriever)
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	advice, total := make(map[string]string), 0
	for _, rule := range Rules() {
		advice[rule.ID] = rule.Advice
	}
	for _, c := range r.Counts {
		if c.Findings > 0 {
			fmt.Fprintf(table, "  %d\t%s\t%s\t%s\n", c.Findings, c.Severity, c.Rule, advice[c.Rule])
			total += c.Findings
		}
	}
	table.Flush()
	switch hidden := total - len(r.Findings); {
	case total == 0:
		out.WriteString("Nothing to look at.\n")
	case hidden > 0:
		fmt.Fprintf(&out, "Not listed: %d; --level note lists all.\n", hidden)
	}
	_, err := out.WriteTo(w)
	return err
}
