package survey

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/toolgauge/toolgauge/internal/numerals"
)

// collisionsShown bounds the names that WriteText lists.
const collisionsShown = 10

// WriteText writes the stats for people.
func (s *Stats) WriteText(w io.Writer) error {
	var out bytes.Buffer
	name := OneLine(strings.TrimSpace(s.Corpus + " " + s.Version))
	if s.Synthetic {
		name += ", synthetic"
	}
	fmt.Fprintf(&out, "Corpus %s (%.12s): %s of %s and %s, and %s of the agent's own.\n", name, s.SHA256,
		numerals.Of(s.Tools-s.BuiltinTools, "tool"), numerals.Of(s.Servers, "server"), numerals.Of(s.Plugins, "plugin"), numerals.Of(s.BuiltinTools, "tool"))
	fmt.Fprintf(&out, "%s can be deferred. The tools array of the %s among them that the corpus brings is %s tokens (%s).\n",
		numerals.Count(s.DeferrableTools), numerals.Count(s.Tokens.Tools), numerals.Count(s.Tokens.Array), s.Tokenizer)
	if n := s.ServerTools; n.Max > 0 {
		fmt.Fprintf(&out, "A server or plugin has %d to %d tools; half of them have %d or fewer.\n", n.Min, n.Max, n.P50)
	}

	out.WriteString("\nTOKENS of these, each part by itself\n")
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "  part\tsum\tmin\tp25\tp50\tp75\tp90\tp99\tmax\t")
	for _, row := range []struct {
		part string
		Spread
	}{{"tool", s.Tokens.Tool}, {"name", s.Tokens.Name}, {"description", s.Tokens.Description}, {"schema", s.Tokens.Schema}} {
		fmt.Fprintf(table, "  %s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", row.part, numerals.Count(row.Sum), row.Min, row.P25, row.P50, row.P75, row.P90, row.P99, row.Max)
	}
	table.Flush()

	out.WriteString("\nLARGEST of them\n")
	table = tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  tokens\tdescription\tschema\ttool")
	for _, t := range s.Largest {
		fmt.Fprintf(table, "  %d\t%d\t%d\t%s\n", t.Tokens, t.Description, t.Schema, OneLine(t.Tool))
	}
	table.Flush()

	s.writeCollisions(&out)
	s.writeIntents(&out)
	_, err := out.WriteTo(w)
	return err
}

func (s *Stats) writeCollisions(out *bytes.Buffer) {
	fmt.Fprintf(out, "\nNAMES that tools of several owners have: %s\n", numerals.Count(len(s.Collisions)))
	for i, c := range s.Collisions {
		if i == collisionsShown {
			fmt.Fprintf(out, "  … and %s more (--json has all)\n", numerals.Count(len(s.Collisions)-i))
			break
		}
		few := c.Tools[:min(len(c.Tools), 4)]
		line := strings.Join(few, ", ")
		if rest := len(c.Tools) - len(few); rest > 0 {
			line += fmt.Sprintf(", and %s more", numerals.Count(rest))
		}
		fmt.Fprintf(out, "  %s\n", OneLine(c.Name+": "+line))
	}
}

func (s *Stats) writeIntents(out *bytes.Buffer) {
	fmt.Fprintf(out, "\nINTENTS: %s", numerals.Count(s.Intents))
	if s.DerivedIntents > 0 {
		fmt.Fprintf(out, "; %s derived from descriptions take their place", numerals.Count(s.DerivedIntents))
	}
	out.WriteByte('\n')
	for _, row := range []struct {
		what   string
		counts []Count
	}{{"by class", s.Classes}, {"by language", s.Languages}} {
		if len(row.counts) == 0 {
			continue
		}
		var words []string
		for _, c := range row.counts {
			words = append(words, fmt.Sprintf("%s %s", c.Name, numerals.Count(c.Count)))
		}
		fmt.Fprintf(out, "  %s: %s\n", row.what, strings.Join(words, ", "))
	}
	r := s.Retrieval
	if r.Asked == 0 {
		return
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(r.Asked) }
	fmt.Fprintf(out, "\nFOUND by the first sentence of their own descriptions, without their names' words (%s, %s asked for, among %s tools):\n  first %.1f %%, within the first %d %.1f %%\n",
		r.Retriever, numerals.Of(r.Asked, "tool"), numerals.Count(r.Pool), share(r.First), Top, share(r.Top5))
}
