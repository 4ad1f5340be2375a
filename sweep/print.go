package sweep

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
)

// The width of a line, and that of a table's first column.
const (
	lineWidth    = 100
	settingWidth = 44
)

// rowsMax is how many rows of a table that are not on the front are printed.
const rowsMax = 8

// Print writes a report for people: for each context length the recommendation,
// then the tables that it was taken from, in lines of at most 100 columns.
func (r *Report) Print(w io.Writer) error {
	var out bytes.Buffer
	for _, c := range r.Contexts {
		r.printRecommendation(&out, c)
	}
	paragraph(&out, "", "", fmt.Sprintf("Measured on: corpus %s, %s, %s under each of %d points, seed %d",
		strings.TrimSpace(r.Source.Corpus+" "+r.Source.CorpusVersion), numerals.Of(r.Source.Sessions, "session"), "played", r.grid.Points(), r.Source.Seed))
	paragraph(&out, "", "", "Objective: "+r.Objective.String())
	for _, c := range r.Contexts {
		for _, o := range c.Outcomes {
			r.printTable(&out, c, o)
		}
	}
	printFoot(&out)
	_, err := w.Write(out.Bytes())
	return err
}

func contextText(length int) string {
	if length <= 0 {
		return "unknown context"
	}
	return numerals.Count(length) + " tokens of context"
}

// printRecommendation says what to take for one context length.
func (r *Report) printRecommendation(out *bytes.Buffer, c *Context) {
	first := c.Outcomes[0]
	rec := first.Recommendation
	paragraph(out, "", "  ", fmt.Sprintf("%s, agent %s (%s): %s", contextText(c.Length), first.Model, numerals.Of(c.Sessions, "session"), rec.Setting))
	item := func(text string) { paragraph(out, "  ", "    ", text) }
	item(rec.Why)
	if rec.Same != rec.Setting {
		item("The same here: " + rec.Same + ".")
	}
	switch {
	case rec.Next != nil && rec.Default != nil && rec.Next.Setting == rec.Default.Setting:
		item("The next best, and the default: " + r.marginText(rec.Next) + ".")
	default:
		if rec.Next != nil {
			item("The next best, " + rec.Next.Setting + ": " + r.marginText(rec.Next) + ".")
		}
		if rec.Default != nil {
			item("The default: " + r.marginText(rec.Default) + lostText(first.point(DefaultSetting)) + ".")
		}
	}
	if rec.Default != nil && !rec.Default.Apart() && first.point(DefaultSetting).Eligible {
		item("These sessions do not tell it from the default: keep that, or play more of them.")
	}
	for _, e := range rec.Elsewhere {
		item(r.elsewhereText(rec.Setting, e))
	}
	if rec.Edge != "" {
		item(rec.Edge)
	}
	if c.Sessions < sessionsFew {
		item(fmt.Sprintf("This rests on %s only.", numerals.Of(c.Sessions, "session")))
	}
	out.WriteByte('\n')
}

// sessionsFew is the number of sessions under which it is said how few they are.
const sessionsFew = 30

// lostText says why a point was not in question.
func lostText(p *Point) string {
	switch {
	case p.Eligible:
		return ""
	case !p.Fits:
		return ", but its tools alone are larger than the context more often"
	default:
		return fmt.Sprintf(", but it loses %s%% of the tools needed", numerals.Number(100*value(p.LostRate), 1))
	}
}

// marginText is what one setting has more of the objective.
func (r *Report) marginText(c *Comparison) string {
	unit, decimals := "effective tokens", 0
	if r.Objective.Given {
		unit, decimals = "of the sum", 1
	}
	word := "more"
	d, low, high := c.Difference, c.Interval.Low, c.Interval.High
	if d < 0 {
		word, d, low, high = "fewer", -d, -high, -low
	}
	return fmt.Sprintf("%s %s %s [%s, %s], p %s", numerals.Number(d, decimals), word, unit, numerals.Number(low, decimals), numerals.Number(high, decimals), pText(c.P))
}

func pText(p float64) string {
	if p < 0.001 {
		return "<.001"
	}
	return fmt.Sprintf("%.3f", p)
}

func (r *Report) elsewhereText(setting string, e Elsewhere) string {
	under := fmt.Sprintf("Under %s: ", e.Model)
	switch {
	case e.Holds:
		return under + "the same."
	case e.Keeping == nil:
		return under + e.Setting + "; " + setting + " was not played with it."
	}
	text := under + e.Setting + ". To keep " + setting + " takes " + r.marginText(e.Keeping)
	if e.LostRate != nil && e.BestLostRate != nil {
		text += fmt.Sprintf(", and loses %s%% of the tools needed instead of %s%%", numerals.Number(100*value(e.LostRate), 1), numerals.Number(100*value(e.BestLostRate), 1))
	}
	return text + "."
}

// printTable writes the points of one model, those that behave alike in one row, by
// the objective's first axis; far from the front only the best.
func (r *Report) printTable(out *bytes.Buffer, c *Context, o *Outcome) {
	fmt.Fprintf(out, "\n%s, AGENT %s\n", strings.ToUpper(contextText(c.Length)), strings.ToUpper(o.Model.String()))
	fmt.Fprintf(out, "   %-*s %16s %9s %14s %9s\n", settingWidth, "", "effective_tokens", "of eager", "extra_requests", "lost_rate")
	eager := o.point(metrics.EagerArm)
	var rows []*Point
	for _, p := range o.Points {
		if !slices.ContainsFunc(rows, func(other *Point) bool { return other.Group == p.Group }) {
			rows = append(rows, p)
		}
	}
	slices.SortStableFunc(rows, func(a, b *Point) int { return cmp.Compare(a.EffectiveTokens, b.EffectiveTokens) })
	left, hidden := rowsMax, 0
	best, plain := o.point(o.Recommendation.Setting), o.point(DefaultSetting)
	for _, p := range rows {
		if !p.Front && p.Group != best.Group && p.Group != eager.Group && p.Group != plain.Group {
			if left == 0 {
				hidden++
				continue
			}
			left--
		}
		mark := rune(' ')
		if p.Front {
			mark = '*'
		}
		arrow := rune(' ')
		if p.Group == best.Group {
			arrow = '>'
		}
		lines := wrapped(r.grid.describe(o.groupOf(p)), settingWidth)
		fmt.Fprintf(out, "%c%c %s %16s %9s %14s %9s%s\n", arrow, mark, padded(lines[0], settingWidth), numerals.Number(p.EffectiveTokens, 0), percent(p.EffectiveTokens, eager.EffectiveTokens),
			figure(p.ExtraRequests, 2), figure(p.LostRate, 3), unfit(p))
		for _, line := range lines[1:] {
			fmt.Fprintf(out, "     %s\n", line)
		}
	}
	if hidden > 0 {
		fmt.Fprintf(out, "   and %s behind the front, with more tokens than some above; --json has all\n", numerals.Of(hidden, "row"))
	}
}

func percent(x, of float64) string {
	if of == 0 {
		return "-"
	}
	return numerals.Number(100*x/of, 1) + "%"
}

func figure(f *float64, decimals int) string {
	if f == nil {
		return "-"
	}
	return numerals.Number(*f, decimals)
}

// unfit marks a point whose tools array does not fit the context where others' do.
func unfit(p *Point) string {
	if p.Fits {
		return ""
	}
	return "!"
}

func printFoot(out *bytes.Buffer) {
	out.WriteByte('\n')
	paragraph(out, "", "", "> recommended; * on the front: nothing in its table has less of one of the three figures and no more of the others; "+
		"! its tools alone are larger than the context in more sessions than with other settings. "+
		"What stands in one row behaves alike in every session. [95 % interval, session by session]; p: two-sided randomisation test. "+
		"Of many settings the best looks a little better than it is.")
	for _, name := range axes() {
		m, _ := metrics.FindMeasure(name)
		paragraph(out, "  ", "    ", m.Name+": "+m.Definition+"; "+m.Unit+", lower is better")
	}
}

// paragraph writes a text in lines; the first begins with one indent, the others
// with another.
func paragraph(out *bytes.Buffer, first, others, text string) {
	for i, line := range wrapped(text, lineWidth-max(len(first), len(others))) {
		if i > 0 {
			first = others
		}
		out.WriteString(first + line + "\n")
	}
}

// wrapped breaks a text into lines of at most so many characters; a word that is
// longer has a line of its own.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
