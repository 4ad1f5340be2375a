package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/toolgauge/toolgauge/eval"
	"github.com/toolgauge/toolgauge/metrics"
)

// writeEval lays a report out for a terminal: for each set a table of measures, retrievers side by side, and the
// differences between them. folder is where the files went, if any did.
func writeEval(w io.Writer, r *eval.Report, folder string) error {
	var text bytes.Buffer
	for i, s := range r.Sets {
		if i > 0 {
			text.WriteByte('\n')
		}
		writeSet(&text, s)
		writePools(&text, s)
		writeComparisons(&text, s)
	}
	text.WriteString("\nMeasures: means over n queries, from 0 to 1, higher is better; [95 % bootstrap interval, BCa]\n")
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, d := range eval.Definitions() {
		fmt.Fprintf(t, "  %s\t%s\n", d.Measure, d.Text)
	}
	_ = t.Flush() // into memory
	if folder != "" {
		fmt.Fprintf(&text, "\nFolder: %s\n", folder)
	}
	_, err := w.Write(text.Bytes())
	return err
}

// writeSet writes the table of one set.
func writeSet(text *bytes.Buffer, s *eval.SetReport) {
	tools := "tools not known"
	if s.PoolTools > 0 {
		tools = plural(s.PoolTools, "tool")
	}
	fmt.Fprintf(text, "%s (format %s): %s; queries with gold: %d, without: %d\n", strings.ToUpper(s.Set), s.Format, tools, s.Queries, s.AbsentQueries)
	t := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "  ")
	for _, r := range s.Retrievers {
		fmt.Fprintf(t, "\t%s", r.Retriever)
	}
	fmt.Fprintln(t, "\tn")
	for i, f := range s.Retrievers[0].Figures {
		fmt.Fprintf(t, "  %s", f.Measure)
		for _, r := range s.Retrievers {
			fmt.Fprintf(t, "\t%s", figureText(r.Figures[i]))
		}
		fmt.Fprintf(t, "\t%d\n", f.N)
	}
	_ = t.Flush() // into memory
}

func figureText(f eval.Figure) string {
	return fmt.Sprintf("%.3f %s", f.Value, intervalText(f.Interval, "%.3f"))
}

func intervalText(i metrics.Interval, format string) string {
	return fmt.Sprintf("["+format+", "+format+"]", i.Low, i.High)
}

// writePools writes recall against the size of the pool.
func writePools(text *bytes.Buffer, s *eval.SetReport) {
	if len(s.Pools) == 0 {
		return
	}
	fmt.Fprintf(text, "\n  %s among distractors, n %d\n", strings.ToUpper(s.Set), s.Queries)
	t := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "  \ttools")
	for _, p := range s.Pools {
		if p.Tools != s.Pools[0].Tools {
			break
		}
		fmt.Fprintf(t, "\t%s", p.Retriever)
	}
	fmt.Fprintln(t)
	for cutoff, first := range s.Pools[0].Recall {
		size := 0
		for _, p := range s.Pools {
			if p.Tools != size {
				if size != 0 {
					fmt.Fprintln(t)
				}
				size = p.Tools
				fmt.Fprintf(t, "  %s\t%d", first.Measure, size)
			}
			fmt.Fprintf(t, "\t%s", figureText(p.Recall[cutoff]))
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // into memory
}

// writeComparisons writes the differences between retrievers.
func writeComparisons(text *bytes.Buffer, s *eval.SetReport) {
	if len(s.Comparisons) == 0 {
		return
	}
	first := s.Comparisons[0]
	fmt.Fprintf(text, "\n  %s less %s, query by query, n %d; p: two-sided randomisation test, Holm over all %d\n",
		strings.ToUpper(s.Set), first.Against, s.Queries, len(s.Comparisons))
	t := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "  ")
	byMeasure := make(map[string]string)
	for _, c := range s.Comparisons {
		if c.Measure == first.Measure {
			fmt.Fprintf(t, "\t%s", c.Retriever)
		}
		byMeasure[c.Measure] += fmt.Sprintf("\t%+.3f %s p %s", c.Difference, intervalText(c.Interval, "%+.3f"), pText(c.PHolm))
	}
	fmt.Fprintln(t)
	for _, c := range s.Comparisons {
		if c.Retriever == first.Retriever {
			fmt.Fprintf(t, "  %s%s\n", c.Measure, byMeasure[c.Measure])
		}
	}
	_ = t.Flush() // into memory
}

func pText(p float64) string {
	if p < 0.001 {
		return "<.001"
	}
	return fmt.Sprintf("%.3f", p)
}
