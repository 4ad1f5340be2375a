package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/toolgauge/toolgauge/eval"
	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
)

// How many retrievers stand side by side within 100 columns.
const (
	figureColumns     = 3
	differenceColumns = 2
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
		tools = numerals.Of(s.PoolTools, "tool")
	}
	fmt.Fprintf(text, "%s (format %s): %s; queries with gold: %d, without: %d\n", strings.ToUpper(s.Set), s.Format, tools, s.Queries, s.AbsentQueries)
	for some := range slices.Chunk(s.Retrievers, figureColumns) {
		if some[0].Retriever != s.Retrievers[0].Retriever {
			text.WriteByte('\n')
		}
		t := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
		fmt.Fprint(t, "  ")
		for _, r := range some {
			fmt.Fprintf(t, "\t%s", r.Retriever)
		}
		fmt.Fprintln(t, "\tn")
		for i, f := range some[0].Figures {
			fmt.Fprintf(t, "  %s", f.Measure)
			for _, r := range some {
				fmt.Fprintf(t, "\t%s", figureText(r.Figures[i]))
			}
			fmt.Fprintf(t, "\t%d\n", f.N)
		}
		_ = t.Flush() // into memory
	}
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
	var retrievers []string
	for _, p := range s.Pools {
		if p.Tools == s.Pools[0].Tools {
			retrievers = append(retrievers, p.Retriever)
		}
	}
	for some := range slices.Chunk(retrievers, figureColumns) {
		if some[0] != retrievers[0] {
			text.WriteByte('\n')
		}
		t := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "  \ttools\t%s\n", strings.Join(some, "\t"))
		for cutoff, first := range s.Pools[0].Recall {
			for pools := range slices.Chunk(s.Pools, len(retrievers)) { // of one size
				fmt.Fprintf(t, "  %s\t%d", first.Measure, pools[0].Tools)
				for _, p := range pools {
					if slices.Contains(some, p.Retriever) {
						fmt.Fprintf(t, "\t%s", figureText(p.Recall[cutoff]))
					}
				}
				fmt.Fprintln(t)
			}
		}
		_ = t.Flush() // into memory
	}
}

// writeComparisons writes the differences between retrievers.
func writeComparisons(text *bytes.Buffer, s *eval.SetReport) {
	if len(s.Comparisons) == 0 {
		return
	}
	first := s.Comparisons[0]
	fmt.Fprintf(text, "\n  %s less %s, query by query, n %d; p: two-sided randomisation test, Holm over all %d\n",
		strings.ToUpper(s.Set), first.Against, s.Queries, len(s.Comparisons))
	measures := len(s.Comparisons) / (len(s.Retrievers) - 1) // of each retriever
	for some := range slices.Chunk(slices.Collect(slices.Chunk(s.Comparisons, measures)), differenceColumns) {
		if some[0][0].Retriever != first.Retriever {
			text.WriteByte('\n')
		}
		t := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
		fmt.Fprint(t, "  ")
		for _, of := range some {
			fmt.Fprintf(t, "\t%s", of[0].Retriever)
		}
		fmt.Fprintln(t)
		for i, c := range some[0] {
			fmt.Fprintf(t, "  %s", c.Measure)
			for _, of := range some {
				fmt.Fprintf(t, "\t%+.3f %s p %s", of[i].Difference, intervalText(of[i].Interval, "%+.3f"), pText(of[i].PHolm))
			}
			fmt.Fprintln(t)
		}
		_ = t.Flush() // into memory
	}
}

func pText(p float64) string {
	if p < 0.001 {
		return "<.001"
	}
	return fmt.Sprintf("%.3f", p)
}
