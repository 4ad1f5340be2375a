package discovery

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// counts are the totals of a report.
type counts struct{ registering, cards, cached int }

func (r *Report) counts() (n counts) {
	for _, v := range r.Files {
		n.cards += v.Cards
		if v.Registers {
			n.registering++
		}
		if v.Cached {
			n.cached++
		}
	}
	return n
}

// WriteText writes the report for people: a line for each file and one of totals.
// It returns the writer's error.
func (r *Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range r.Files {
		verdict, cached := "no", ""
		if v.Registers {
			verdict = "yes"
		}
		if v.Cached {
			cached = " (cached)"
		}
		fmt.Fprintf(t, "%s\t%s\t%s%s\n", verdict, shown(v.File), v.Reason, cached)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	n := r.counts()
	_, err := fmt.Fprintf(w, "files: %d; register: %d; do not: %d; tool cards: %d; verdicts from the cache: %d\n",
		len(r.Files), n.registering, len(r.Files)-n.registering, n.cards, n.cached)
	return err
}

// shown keeps a name that holds control characters from breaking the table.
func shown(name string) string {
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == '\ufffd' {
			return fmt.Sprintf("%q", name)
		}
	}
	return name
}
