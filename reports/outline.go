package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
)

// Outline is what a report says of runs, whatever it is written in: text for a terminal, Markdown, HTML. All of them have
// its words and its figures, so that none says more or less than another.
type Outline struct {
	Heads   []Head   // one for each run
	Columns []Column // of every table
	Tables  []Table
	// Warnings are what weakens figures; the mark of a cell is a position among them, from 1.
	Warnings []metrics.Warning
}

// Head is what a reader should know of a run before its tables.
type Head struct {
	Headline string
	Best     string // the arm that the headline speaks of; empty if none defers tools
	Measured string // corpus, sessions and seed
	Arms     []ArmDeed
	Assuming string // what all arms assume; empty if there is nothing
	Notes    []Note // what is wrong with the run, or weakens all of it
}

// ArmDeed says what an arm does with tools, and what it assumes that not every other does.
type ArmDeed struct{ Arm, Deed string }

// Note is a paragraph under a word or two.
type Note struct{ Title, Text string }

// Column is one arm of one run.
type Column struct {
	Run int // a position among the heads
	Arm string
}

// Table holds the measures of a theme, a row each, or one measure with a row for each class of intents.
type Table struct {
	Title, About string
	ByClass      bool
	Rows         []Row
	Definitions  []string // of the measures in it; none of a table by class, whose measure stands in an earlier table
}

// Row is a line of a table. Its Label is a measure, a class of intents, or, where Sizes is set, the population that the
// measures above it are over: its cells are then the population's sizes.
type Row struct {
	Label string
	Cells []Cell // one for each column
	Sizes bool
	Unit  string // of a measure, with an arrow that says which way is better
	// Population is the size of a class: a number, or two where the arms differ in it.
	Population string
}

// Cell is a figure in words.
type Cell struct {
	Text  string
	Value *float64 // nil where there is nothing to measure
	Marks []int    // positions among the outline's warnings, from 1
}

// noFigure stands where an arm has nothing to measure, and atMost before a break-even that smaller catalogs may lie below.
const (
	noFigure = "-"
	atMost   = "≤"
)

// Reading explains the signs that stand in tables.
const Reading = "↓ lower is better, ↑ higher is better, " + noFigure + " nothing to measure, " + atMost + " that or less"

// NewOutline words summaries. Of several, the columns of one arm stand side by side, in the order of the summaries.
func NewOutline(summaries ...Summary) Outline {
	o := outliner{summaries: summaries}
	var arms []string
	for _, s := range summaries {
		o.figures = append(o.figures, indexFigures(s))
		for _, arm := range s.Assumptions {
			if !slices.Contains(arms, arm.Name) {
				arms = append(arms, arm.Name)
			}
		}
	}
	for _, arm := range arms {
		for run, s := range summaries {
			if findArm(s.Assumptions, arm) != nil {
				o.Columns = append(o.Columns, Column{run, arm})
			}
		}
	}
	for run := range summaries {
		o.Heads = append(o.Heads, o.head(run))
	}
	for _, t := range themes() {
		o.theme(t)
		o.classes(t)
		if t.benchmark == gatewayBenchmark {
			o.distributions()
		}
	}
	return o.Outline
}

// outliner builds an outline.
type outliner struct {
	Outline
	summaries []Summary
	figures   []figureIndex
}

func (o *outliner) head(run int) Head {
	s, figures := o.summaries[run], o.figures[run]
	h := Head{Headline: headline(s, figures), Best: bestArm(s, figures), Assuming: strings.Join(shared(s.Assumptions), ", ")}
	corpus := strings.TrimSpace(s.Corpus.Name + " " + s.Corpus.Version)
	h.Measured = fmt.Sprintf("corpus %s, %s, seed %d", corpus, numerals.Of(s.Sessions, "session"), s.Seed)
	if s.Shard != nil {
		h.Measured += fmt.Sprintf("; shard %s of a run, to be merged with the others", *s.Shard)
	}
	for _, arm := range s.Assumptions {
		what := append([]string{deed(arm, figures)}, differing(arm, s.Assumptions)...)
		h.Arms = append(h.Arms, ArmDeed{arm.Name, strings.Join(what, ", ")})
		if f := figures.get(metrics.MeasureByteIdentical, arm.Name); f != nil && f.Value < 1 {
			h.Notes = append(h.Notes, Note{"Fault", fmt.Sprintf("under %s the same definitions gave different bytes in %s%% of sessions", arm.Name, numerals.Number(100-100*f.Value, 2))})
		}
	}
	if derived(s.Figures) {
		h.Notes = append(h.Notes, Note{"Derived intents", "this corpus has none of its own; they were made from tool descriptions, and are easier than what users say"})
	}
	if c := s.Counts; c.Attempted > c.Done {
		h.Notes = append(h.Notes, Note{"Incomplete", fmt.Sprintf("%s of %s done, %s failed; figures are of those done",
			numerals.Count(c.Done), numerals.Of(c.Attempted, "session"), numerals.Count(c.Failed))})
	}
	return h
}

// deed is what an arm does with tools.
func deed(arm Arm, figures figureIndex) string {
	if !arm.Bridge {
		return "every schema sent"
	}
	if f := figures.get("listing_tokens", arm.Name); f != nil && f.Value > 0 {
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

// theme adds the table of a theme, if any arm has a figure for it.
func (o *outliner) theme(t theme) {
	var rows []Row
	var shown []metrics.Measure
	population := Row{}
	for _, m := range t.shown() {
		values, sizes := o.measureRow(m)
		if values.Cells == nil || t.dense && values.isZero() && !slices.Contains(t.must, m.Name) {
			continue
		}
		if population.Cells != nil && !population.equals(sizes) {
			rows = append(rows, population)
		}
		population = sizes
		rows = append(rows, values)
		shown = append(shown, m)
	}
	if shown != nil {
		o.Tables = append(o.Tables, Table{Title: t.title, About: t.about, Rows: append(rows, population), Definitions: definitions(t, shown)})
	}
}

// classes adds the table of one measure of a theme for each class of intents.
func (o *outliner) classes(t theme) {
	m, ok := metrics.FindMeasure(t.byClass)
	if !ok {
		return
	}
	var classes []string
	for _, s := range o.summaries {
		for _, f := range s.Figures {
			if f.Measure == m.Name && f.Class != "" && !slices.Contains(classes, f.Class) {
				classes = append(classes, f.Class)
			}
		}
	}
	if classes == nil {
		return
	}
	slices.Sort(classes)
	table := Table{Title: t.title + " by class", About: fmt.Sprintf("%s per class of intent, %s; n: %s", m.Name, direction(m), m.Population), ByClass: true}
	for _, class := range classes {
		figures := o.row(m.Name, class)
		table.Rows = append(table.Rows, Row{Label: class, Cells: o.cells(m.Unit, figures), Population: populations(figures)})
	}
	o.Tables = append(o.Tables, table)
}

// row finds the figures of a measure, one for each column; nil where there is none.
func (o *outliner) row(measure, class string) []*metrics.Figure {
	figures := make([]*metrics.Figure, len(o.Columns))
	for i, c := range o.Columns {
		figures[i] = o.figures[c.Run][[3]string{measure, c.Arm, class}]
	}
	return figures
}

// measureRow is the row of a measure and the row of its populations; both without cells if no arm has a figure.
func (o *outliner) measureRow(m metrics.Measure) (values, sizes Row) {
	figures := o.row(m.Name, "")
	if !slices.ContainsFunc(figures, func(f *metrics.Figure) bool { return f != nil }) {
		return Row{}, Row{}
	}
	values = Row{Label: m.Name, Cells: o.cells(m.Unit, figures), Unit: direction(m)}
	sizes = Row{Label: "n: " + m.Population, Sizes: true, Cells: make([]Cell, len(figures))}
	for i, f := range figures {
		sizes.Cells[i].Text = noFigure
		if f != nil {
			sizes.Cells[i] = Cell{Text: numerals.Count(f.N), Value: new(float64(f.N))}
		}
	}
	return values, sizes
}

// cells are the values of one row, all with the same number of decimals.
func (o *outliner) cells(unit string, figures []*metrics.Figure) []Cell {
	cells := make([]Cell, len(figures))
	decimals := decimalsOf(unit, figures)
	for i, f := range figures {
		if f == nil {
			cells[i].Text = noFigure
			continue
		}
		cells[i] = Cell{Text: numerals.Number(f.Value, decimals), Value: &f.Value, Marks: o.marks(f.Warnings)}
		switch {
		case f.Value == 0 && (f.Measure == metrics.MeasureBreakEvenTurns || f.Measure == metrics.MeasureBreakEvenTokens):
			cells[i].Text, cells[i].Value = "none", nil
		case f.Measure == metrics.MeasureBreakEvenTokens && f.Value > 1 && paysAtEverySize(o.summaries[o.Columns[i].Run], f.Arm):
			cells[i].Text = atMost + cells[i].Text
		}
	}
	return cells
}

// marks are the positions of warnings, which become the outline's.
func (o *outliner) marks(warnings []metrics.Warning) (marks []int) {
	for _, w := range warnings {
		at := slices.Index(o.Warnings, w)
		if at < 0 {
			at = len(o.Warnings)
			o.Warnings = append(o.Warnings, w)
		}
		marks = append(marks, at+1)
	}
	return marks
}

// populations are the sizes behind one row, in one number if all arms have the same.
func populations(figures []*metrics.Figure) string {
	var sizes []int
	for _, f := range figures {
		if f != nil {
			sizes = append(sizes, f.N)
		}
	}
	least, most := numerals.Count(int64(slices.Min(sizes))), numerals.Count(int64(slices.Max(sizes)))
	if least == most {
		return least
	}
	return least + " to " + most
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

func (r Row) isZero() bool {
	for _, c := range r.Cells {
		if strings.Trim(c.Text, "0.") != "" && c.Text != noFigure {
			return false
		}
	}
	return true
}

// equals compares the texts of two rows.
func (r Row) equals(other Row) bool {
	return r.Label == other.Label && slices.EqualFunc(r.Cells, other.Cells, func(a, b Cell) bool { return a.Text == b.Text })
}

// Words are what a newcomer meets in every table, and what each means.
func Words() []Note {
	return []Note{
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
