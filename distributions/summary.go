package distributions

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Summary is a distribution with its exact figures, for a listing.
type Summary struct {
	Distribution
	// Preset says that the distribution is built in.
	Preset       bool    `json:"preset"`
	PFallback    float64 `json:"p_fallback"`
	PEmpty       float64 `json:"p_empty"`
	ExpectedSize float64 `json:"expected_size"`
	// Missing are the toolsets that do not exist, in declaration order.
	Missing []string `json:"missing"`
}

// Summarise returns d with its figures. exists is that of [Distribution.Sample]. Preset is left false: the [Set] knows.
func (d Distribution) Summarise(exists func(string) bool) Summary {
	s := Summary{
		Distribution: d.clone(),
		PFallback:    d.PFallback(exists),
		PEmpty:       d.PEmpty(exists),
		ExpectedSize: d.ExpectedSize(exists),
		Missing:      []string{},
	}
	if s.Entries == nil {
		s.Entries = []Entry{}
	}
	for _, m := range d.Marginals(exists) {
		if !m.Exists {
			s.Missing = append(s.Missing, m.Toolset)
		}
	}
	return s
}

// WriteSummaries writes an aligned table, one line a distribution, with its footnotes.
func WriteSummaries(w io.Writer, summaries []Summary) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "name\tservers\tmean size\tp(fallback)\ttoolsets (percent)")
	var notes []string
	for _, s := range summaries {
		entries := make([]string, len(s.Entries))
		for i, e := range s.Entries {
			entries[i] = e.Toolset + " " + strconv.FormatFloat(e.Percent, 'g', -1, 64)
		}
		if len(entries) == 0 {
			entries = []string{"-"}
		}
		fmt.Fprintf(t, "%s\t%d\t%.4f\t%.4g\t%s\n", s.Name, s.Servers, s.ExpectedSize, s.PFallback, strings.Join(entries, ", "))
		if len(s.Missing) > 0 {
			note := fmt.Sprintf("%s: no such toolset: %s", s.Name, strings.Join(s.Missing, ", "))
			if s.PEmpty > 0 {
				note += fmt.Sprintf("; a draw has no toolset with probability %.4g", s.PEmpty)
			}
			notes = append(notes, note)
		}
	}
	notes = append(notes,
		"servers: MCP servers drawn besides the toolsets.",
		"mean size: mean number of toolsets in a draw, fallback included, servers not.",
		"p(fallback): chance that no toolset comes up and the likeliest is taken.")
	fmt.Fprintf(t, "\n%s\n", strings.Join(notes, "\n"))
	return writeTable(w, t, &text)
}

// String is the row on one line: its number, toolsets, servers, and whether it is the fallback.
func (r Row) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d: %s", r.RowIndex, strings.Join(r.Toolsets, ", "))
	if len(r.Toolsets) == 0 {
		b.WriteString("no toolset")
	}
	if len(r.Servers) > 0 {
		fmt.Fprintf(&b, "; servers %s", strings.Join(r.Servers, ", "))
	}
	if r.Fallback {
		b.WriteString(" (fallback)")
	}
	return b.String()
}

// WriteFit writes a fit as two aligned tables: a line for every toolset, then one for every cell of sizes. Where there
// was no test, the column p says why.
func WriteFit(w io.Writer, f Fit) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %d draws, %d fallbacks (expected %.1f)\n\n", f.Distribution, f.Draws, f.Fallbacks, f.ExpectedFallbacks)
	fmt.Fprintln(t, "toolset\tpercent\tobserved\texpected\tchi-square\tdf\tp")
	for _, s := range f.Toolsets {
		statistic, df, p := s.columns()
		percent := strconv.FormatFloat(s.Percent, 'g', -1, 64)
		fmt.Fprintf(t, "%s\t%s\t%d\t%.1f\t%s\t%s\t%s\n", s.Toolset, percent, s.Observed, s.Expected, statistic, df, p)
	}
	statistic, df, p := f.Size.columns()
	fmt.Fprintf(t, "\nsizes: chi-square %s, df %s, p %s\n", statistic, df, p)
	if len(f.Size.Cells) > 0 {
		fmt.Fprintln(t, "toolsets\tobserved\texpected")
	}
	for _, c := range f.Size.Cells {
		size := strconv.Itoa(c.From)
		if c.To > c.From {
			size += " to " + strconv.Itoa(c.To)
		}
		fmt.Fprintf(t, "%s\t%d\t%.1f\n", size, c.Observed, c.Expected)
	}
	if len(f.Unexpected) > 0 {
		fmt.Fprintf(t, "\ndrawn but not in the distribution: %s\n", strings.Join(f.Unexpected, ", "))
	}
	fmt.Fprintln(t, "\np: chance of a deviation at least this large if the sample follows the distribution.")
	return writeTable(w, t, &text)
}

// writeTable hands a finished table on in one piece: a tabwriter that writes as it goes may lose an error.
func writeTable(w io.Writer, t *tabwriter.Writer, text *bytes.Buffer) error {
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := w.Write(text.Bytes())
	return err
}

// columns are the statistic, the degrees of freedom and p as they stand in a table.
func (c ChiSquare) columns() (statistic, df, p string) {
	switch {
	case c.Note == "":
		return fmt.Sprintf("%.3f", c.Statistic), strconv.Itoa(c.DF), fmt.Sprintf("%.4f", c.P)
	case c.P == 0:
		return "-", "-", "0 (" + c.Note + ")"
	default:
		return "-", "-", c.Note
	}
}
