package reports

import (
	"bytes"
	"io"
	"strings"
)

// PrintOptions choose what [Print] prints.
type PrintOptions struct {
	// Brief leaves out the definitions of measures and words.
	Brief bool
}

// Print writes a summary for people: what the best arm saves and costs in a sentence, what that rests on, and a table for
// each theme, arms side by side, each row with its unit, its better direction and the size of its population; below it
// what its measures mean. Lines have at most 100 columns with the default arms; of more than five arms, five stand side by
// side. The same summary gives the same bytes.
func Print(w io.Writer, s Summary, options PrintOptions) error {
	p := printer{outline: NewOutline(s), options: options}
	p.head()
	for _, t := range p.outline.Tables {
		p.table(t)
	}
	p.foot()
	_, err := w.Write(p.out.Bytes())
	return err
}

// printer prints the outline of one summary.
type printer struct {
	outline Outline
	options PrintOptions
	out     bytes.Buffer
}

// head is what people read if they read no further.
func (p *printer) head() {
	h := p.outline.Heads[0]
	writeParagraph(&p.out, 0, 0, h.Headline)
	p.out.WriteByte('\n')
	p.line("Measured on", h.Measured)
	p.out.WriteString("Arms:\n")
	longest := 0
	for _, arm := range h.Arms {
		longest = max(longest, width(arm.Arm))
	}
	for _, arm := range h.Arms {
		indent := tableInset + longest + columnGap
		writeItem(&p.out, left(strings.Repeat(" ", tableInset)+arm.Arm, indent), indent, arm.Deed)
	}
	p.line("Assuming", h.Assuming)
	p.line("Reading", Reading)
	for _, note := range h.Notes {
		p.line(note.Title, note.Text)
	}
}

func (p *printer) line(title, text string) {
	writeParagraph(&p.out, 0, tableInset, title+": "+text)
}

// table prints a table and what its measures mean.
func (p *printer) table(t Table) {
	p.title(t.Title, t.About)
	built := table{}
	for _, c := range p.outline.Columns {
		built.columns = append(built.columns, c.Arm)
	}
	for _, r := range t.Rows {
		printed := row{label: r.Label, text: r.Unit}
		if t.ByClass {
			printed.text = "n " + r.Population
		}
		for _, c := range r.Cells {
			marks := ""
			for _, mark := range c.Marks {
				marks += superscript(mark)
			}
			printed.cells = append(printed.cells, cell{c.Text, marks})
		}
		built.rows = append(built.rows, printed)
	}
	built.print(&p.out)
	if !p.options.Brief && len(t.Definitions) > 0 {
		p.out.WriteByte('\n')
		for _, d := range t.Definitions {
			writeParagraph(&p.out, tableInset, 2*tableInset, d)
		}
	}
}

func (p *printer) title(title, about string) {
	p.out.WriteByte('\n')
	writeParagraph(&p.out, 0, tableInset, strings.ToUpper(title)+": "+about)
}

// foot explains marks and words.
func (p *printer) foot() {
	if len(p.outline.Warnings) > 0 {
		p.out.WriteByte('\n')
		for i, w := range p.outline.Warnings {
			writeParagraph(&p.out, 0, tableInset, superscript(i+1)+" "+string(w))
		}
	}
	if p.options.Brief {
		return
	}
	p.title("Words", "what the tables speak of")
	for _, w := range Words() {
		writeParagraph(&p.out, tableInset, 2*tableInset, w.Title+": "+w.Text)
	}
}
