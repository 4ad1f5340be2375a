package reports

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/metrics"
)

// PrintOptions choose what [Print] prints.
type PrintOptions struct {
	// Brief leaves out the definitions of measures and words.
	Brief bool
}

// noFigure stands where an arm has nothing to measure, and atMost before a break-even that smaller catalogs may lie below.
const (
	noFigure = "-"
	atMost   = "≤"
)

// Print writes a summary for people: what the best arm saves and costs in a sentence, what that rests on, and a table for
// each theme, arms side by side, each row with its unit, its better direction and the size of its population; below it
// what its measures mean. Lines have at most 100 columns with the default arms; of more than five arms, five stand side by
// side. The same summary gives the same bytes.
func Print(w io.Writer, s Summary, options PrintOptions) error {
	p := printer{summary: s, figures: indexFigures(s), options: options}
	p.head()
	for _, t := range themes() {
		p.theme(t)
		p.classes(t)
	}
	p.foot()
	_, err := w.Write(p.out.Bytes())
	return err
}

type printer struct {
	summary  Summary
	figures  figureIndex
	options  PrintOptions
	out      bytes.Buffer
	warnings []metrics.Warning // marked so far; a mark is a position
}

// head is what people read if they read no further.
func (p *printer) head() {
	s := p.summary
	writeParagraph(&p.out, 0, 0, headline(s, p.figures))
	p.out.WriteByte('\n')
	corpus := strings.TrimSpace(s.Corpus.Name + " " + s.Corpus.Version)
	measured := fmt.Sprintf("corpus %s, %s, seed %d", corpus, counted(s.Sessions, "session"), s.Seed)
	if s.Shard != nil {
		measured += fmt.Sprintf("; shard %s of a run, to be merged with the others", *s.Shard)
	}
	p.line("Measured on", measured)
	p.out.WriteString("Arms:\n")
	longest := 0
	for _, arm := range s.Assumptions {
		longest = max(longest, width(arm.Name))
	}
	for _, arm := range s.Assumptions {
		what := strings.Join(append([]string{p.deed(arm)}, differing(arm, s.Assumptions)...), ", ")
		indent := tableInset + longest + columnGap
		writeItem(&p.out, left(strings.Repeat(" ", tableInset)+arm.Name, indent), indent, what)
	}
	p.line("Assuming", strings.Join(shared(s.Assumptions), ", "))
	p.line("Reading", "↓ lower is better, ↑ higher is better, "+noFigure+" nothing to measure, "+atMost+" that or less")
	for _, arm := range s.Assumptions {
		if f := p.figures.get(metrics.MeasureByteIdentical, arm.Name); f != nil && f.Value < 1 {
			p.line("Fault", fmt.Sprintf("under %s the same definitions gave different bytes in %s%% of sessions", arm.Name, number(100-100*f.Value, 2)))
		}
	}
	if derived(s.Figures) {
		p.line("Derived intents", "this corpus has none of its own; they were made from tool descriptions, and are easier than what users say")
	}
	if c := s.Counts; c.Attempted > c.Done {
		p.line("Incomplete", fmt.Sprintf("%s of %s done, %s failed; figures are of those done",
			count(c.Done), counted(c.Attempted, "session"), count(c.Failed)))
	}
}

func (p *printer) line(title, text string) {
	writeParagraph(&p.out, 0, tableInset, title+": "+text)
}

// deed is what an arm does with tools.
func (p *printer) deed(arm Arm) string {
	if !arm.Bridge {
		return "every schema sent"
	}
	if f := p.figures.get("listing_tokens", arm.Name); f != nil && f.Value > 0 {
		return "tools deferred and listed"
	}
	return "tools deferred"
}

// derived reports whether figures rest on intents that no person wrote.
func derived(figures []metrics.Figure) bool {
	return slices.ContainsFunc(figures, func(f metrics.Figure) bool {
		return f.Class == metrics.ClassDerived || slices.Contains(f.Warnings, metrics.WarnDerivedIntents)
	})
}

// theme prints the table of a theme, if any arm has a figure for it, and what its measures mean.
func (p *printer) theme(t theme) {
	built := table{columns: p.arms()}
	var shown []metrics.Measure
	population := row{}
	for _, m := range t.shown() {
		r, n := p.measureRow(m)
		if r.cells == nil || t.dense && r.isZero() {
			continue
		}
		if population.cells != nil && !population.equals(n) {
			built.rows = append(built.rows, population)
		}
		population = n
		built.rows = append(built.rows, r)
		shown = append(shown, m)
	}
	if shown == nil {
		return
	}
	built.rows = append(built.rows, population)
	p.title(t.title, t.about)
	built.print(&p.out)
	if !p.options.Brief {
		p.out.WriteByte('\n')
		for _, d := range definitions(t, shown) {
			writeParagraph(&p.out, tableInset, 2*tableInset, d)
		}
	}
}

func (p *printer) title(title, about string) {
	p.out.WriteByte('\n')
	writeParagraph(&p.out, 0, tableInset, strings.ToUpper(title)+": "+about)
}

func (p *printer) arms() []string {
	names := make([]string, len(p.summary.Assumptions))
	for i, arm := range p.summary.Assumptions {
		names[i] = arm.Name
	}
	return names
}

// measureRow is the row of a measure and the row of its populations; both without cells if no arm has a figure.
func (p *printer) measureRow(m metrics.Measure) (values, populations row) {
	figures := make([]*metrics.Figure, len(p.summary.Assumptions))
	found := false
	for i, arm := range p.summary.Assumptions {
		figures[i] = p.figures.get(m.Name, arm.Name)
		found = found || figures[i] != nil
	}
	if !found {
		return row{}, row{}
	}
	values = row{label: m.Name, cells: p.cells(m.Unit, figures), text: direction(m)}
	populations = row{label: "n: " + m.Population, cells: make([]cell, len(figures))}
	for i, f := range figures {
		populations.cells[i].value = noFigure
		if f != nil {
			populations.cells[i].value = count(int64(f.N))
		}
	}
	return values, populations
}

// cells are the values of one row, all with the same number of decimals.
func (p *printer) cells(unit string, figures []*metrics.Figure) []cell {
	cells := make([]cell, len(figures))
	decimals := decimalsOf(unit, figures)
	for i, f := range figures {
		switch {
		case f == nil:
			cells[i].value = noFigure
		case f.Value == 0 && (f.Measure == metrics.MeasureBreakEvenTurns || f.Measure == metrics.MeasureBreakEvenTokens):
			cells[i] = cell{"none", p.marks(f.Warnings)}
		case f.Measure == metrics.MeasureBreakEvenTokens && f.Value > 1 && paysAtEverySize(p.summary, f.Arm):
			cells[i] = cell{atMost + number(f.Value, decimals), p.marks(f.Warnings)}
		default:
			cells[i] = cell{number(f.Value, decimals), p.marks(f.Warnings)}
		}
	}
	return cells
}

// breakEvenFigure is a break-even as a figure; a value of 0 is none.
func breakEvenFigure(b metrics.BreakEven) metrics.Figure {
	return metrics.Figure{Measure: b.Measure, Arm: b.Arm, Value: float64(b.At), N: b.Sessions, Warnings: b.Warnings}
}

// figureIndex finds a figure by measure, arm and class, "" for everything.
type figureIndex map[[3]string]*metrics.Figure

func indexFigures(s Summary) figureIndex {
	index := make(figureIndex, len(s.Figures))
	for i, f := range s.Figures {
		if f.PoolBin == "" {
			index[[3]string{f.Measure, f.Arm, f.Class}] = &s.Figures[i]
		}
	}
	for _, b := range s.BreakEvens {
		index[[3]string{b.Measure, b.Arm, ""}] = new(breakEvenFigure(b))
	}
	return index
}

// get returns the figure of an arm over everything; nil if there is none.
func (x figureIndex) get(measure, arm string) *metrics.Figure { return x[[3]string{measure, arm, ""}] }

// classes prints one measure of a theme for each class of intent.
func (p *printer) classes(t theme) {
	m, ok := metrics.FindMeasure(t.byClass)
	if !ok {
		return
	}
	var classes []string
	for _, f := range p.summary.Figures {
		if f.Measure == m.Name && f.Class != "" && !slices.Contains(classes, f.Class) {
			classes = append(classes, f.Class)
		}
	}
	if classes == nil {
		return
	}
	slices.Sort(classes)
	built := table{columns: p.arms()}
	for _, class := range classes {
		figures := make([]*metrics.Figure, len(p.summary.Assumptions))
		for i, arm := range p.summary.Assumptions {
			figures[i] = p.figures[[3]string{m.Name, arm.Name, class}]
		}
		built.rows = append(built.rows, row{label: class, cells: p.cells(m.Unit, figures), text: "n " + populations(figures)})
	}
	p.title(t.title+" by class", fmt.Sprintf("%s per class of intent, %s; n: %s", m.Name, direction(m), m.Population))
	built.print(&p.out)
}

// populations are the sizes behind one row, in one number if all arms have the same.
func populations(figures []*metrics.Figure) string {
	var sizes []int
	for _, f := range figures {
		if f != nil {
			sizes = append(sizes, f.N)
		}
	}
	least, most := count(int64(slices.Min(sizes))), count(int64(slices.Max(sizes)))
	if least == most {
		return least
	}
	return least + " to " + most
}

// marks are the footnote signs of warnings, which the foot explains.
func (p *printer) marks(warnings []metrics.Warning) string {
	marks := ""
	for _, w := range warnings {
		at := slices.Index(p.warnings, w)
		if at < 0 {
			at = len(p.warnings)
			p.warnings = append(p.warnings, w)
		}
		marks += superscript(at + 1)
	}
	return marks
}

// words are what a newcomer meets in every table.
func words() [][2]string {
	return [][2]string{
		{"arm", "one configuration under test; " + metrics.EagerArm + " is the one that sends every tool's schema with every request"},
		{"surface", "the tools array of one model request"},
		{"deferred", "left out of the surface, and reached through the bridge: tool_search, tool_describe, tool_call"},
		{"listing", "the catalog of deferred tools in the description of tool_search"},
		{"intent, gold", "one thing that a user wants, and a tool that it needs"},
		{"cold call", "the first use of a deferred tool in a session"},
		{"limit", "search_default_limit, the number of hits that a search returns unless it asks for more"},
		{"effective tokens", "what a session's tokens cost, in fresh input tokens; the weights stand behind Assuming"},
		{"pair", "a session under an arm, and the same session under " + metrics.EagerArm},
		{"n", "the size of the population that the rows above it are over"},
	}
}

// foot explains marks and words.
func (p *printer) foot() {
	if len(p.warnings) > 0 {
		p.out.WriteByte('\n')
		for i, w := range p.warnings {
			writeParagraph(&p.out, 0, tableInset, superscript(i+1)+" "+string(w))
		}
	}
	if p.options.Brief {
		return
	}
	p.title("Words", "what the tables speak of")
	for _, w := range words() {
		writeParagraph(&p.out, tableInset, 2*tableInset, w[0]+": "+w[1])
	}
}

func (r row) isZero() bool {
	for _, c := range r.cells {
		if strings.Trim(c.value, "0.") != "" && c.value != noFigure {
			return false
		}
	}
	return true
}

func (r row) equals(other row) bool {
	return r.label == other.label && slices.Equal(r.cells, other.cells)
}
