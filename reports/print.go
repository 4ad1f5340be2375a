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

// noFigure stands where an arm has nothing to measure.
const noFigure = "-"

// Print writes a summary for people: what the best arm saves and costs in a sentence, what that rests on, and a table for
// each theme, arms side by side, each row with its unit, its better direction and the size of its population; below it
// what its measures mean. Lines have at most 100 columns with three arms of ordinary names, 130 with five; of more arms,
// five stand side by side. The same summary gives the same bytes.
func Print(w io.Writer, s Summary, options PrintOptions) error {
	p := printer{summary: s, figures: indexFigures(s.Figures), options: options}
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
	p.line("Measured on", fmt.Sprintf("corpus %s, %s, seed %d", corpus, counted(s.Sessions, "session"), s.Seed))
	p.line("Arms", strings.Join(p.deeds(), "; "))
	p.line("Assuming", strings.Join(assumed(s.Assumptions), ", "))
	for _, arm := range s.Assumptions {
		if f := p.figures.get(metrics.MeasureByteIdentical, arm.Name); f != nil && f.Value < 1 {
			p.line("Fault", fmt.Sprintf("under %s the same definitions gave different bytes in %s%% of sessions", arm.Name, number(100-100*f.Value, 2)))
		}
	}
	if derived(s.Figures) {
		p.line("Derived intents", "this corpus has none of its own; they were made from tool descriptions, and are easier than what users say")
	}
	if c := s.Counts; c.Attempted > c.Done {
		p.line("Incomplete", fmt.Sprintf("%s of %s done, %s failed, %s skipped; figures are of those done",
			count(c.Done), counted(c.Attempted, "session"), count(c.Failed), count(c.Skipped)))
	}
}

func (p *printer) line(title, text string) {
	writeParagraph(&p.out, 0, tableInset, title+": "+text)
}

// deeds groups the arms by what they do with tools.
func (p *printer) deeds() []string {
	const eager, bare, listed = "every schema sent", "tools deferred", "tools deferred and listed"
	doers := make(map[string][]string)
	for _, arm := range p.summary.Assumptions {
		deed := eager
		if arm.Bridge {
			deed = bare
			if f := p.figures.get("listing_tokens", arm.Name); f != nil && f.Value > 0 {
				deed = listed
			}
		}
		doers[deed] = append(doers[deed], arm.Name)
	}
	var list []string
	for _, deed := range []string{eager, bare, listed} {
		if names := doers[deed]; names != nil {
			list = append(list, fmt.Sprintf("%s (%s)", strings.Join(names, ", "), deed))
		}
	}
	return list
}

// assumed words each assumption once, and where arms differ, whose it is.
func assumed(arms []Arm) []string {
	var list []string
	for _, field := range []struct {
		name string
		of   func(Assumptions) string
	}{
		{"agent", func(a Assumptions) string { return a.Agent }},
		{"writer", func(a Assumptions) string { return a.Writer }},
		{"tokenizer", func(a Assumptions) string { return a.Tokenizer }},
		{"retriever", func(a Assumptions) string { return a.Retriever }},
		{"variant", func(a Assumptions) string { return a.Variant }},
		{"gateway", func(a Assumptions) string { return a.Gateway }},
	} {
		var values []string
		holders := make(map[string][]string)
		for _, arm := range arms {
			value := field.of(arm.Assumptions)
			if value == "" {
				continue
			}
			if holders[value] == nil {
				values = append(values, value)
			}
			holders[value] = append(holders[value], arm.Name)
		}
		if len(values) == 1 {
			list = append(list, field.name+" "+values[0])
			continue
		}
		for _, value := range values {
			list = append(list, fmt.Sprintf("%s %s (%s)", field.name, value, strings.Join(holders[value], ", ")))
		}
	}
	return list
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
		if m.Name == metrics.MeasureBreakEvenTurns {
			figures[i] = breakEvenFigure(p.summary.BreakEvens, arm.Name)
		} else {
			figures[i] = p.figures.get(m.Name, arm.Name)
		}
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
		case f.Measure == metrics.MeasureBreakEvenTurns && f.Value == 0:
			cells[i] = cell{"none", p.marks(f.Warnings)}
		default:
			cells[i] = cell{number(f.Value, decimals), p.marks(f.Warnings)}
		}
	}
	return cells
}

// breakEvenFigure is an arm's break-even as a figure; a value of 0 is none.
func breakEvenFigure(all []metrics.BreakEven, arm string) *metrics.Figure {
	for _, b := range all {
		if b.Arm == arm && len(b.Curve) > 0 {
			return &metrics.Figure{Measure: metrics.MeasureBreakEvenTurns, Arm: arm, Value: float64(b.Turn), N: b.Curve[0].Sessions, Warnings: b.Warnings}
		}
	}
	return nil
}

// figureIndex finds a figure by measure, arm and class, "" for everything.
type figureIndex map[[3]string]*metrics.Figure

func indexFigures(figures []metrics.Figure) figureIndex {
	index := make(figureIndex, len(figures))
	for i, f := range figures {
		if f.PoolBin == "" {
			index[[3]string{f.Measure, f.Arm, f.Class}] = &figures[i]
		}
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
		{"n", "the size of the population that the rows above it are over"},
		{noFigure, "the arm has nothing to measure"},
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
