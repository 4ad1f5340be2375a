package reports

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Widths of the printed summary, in columns.
const (
	textWidth  = 100 // of sentences
	nameWidth  = 10  // an arm's longer name is broken
	cellWidth  = 7   // the least of a column
	columnGap  = 2
	blockArms  = 5 // arms side by side; further ones follow below
	tableInset = 2
)

// table is rows of labelled cells under named columns.
type table struct {
	columns []string
	rows    []row
}

// row is a line of a table. Text behind the last cell says how to read them.
type row struct {
	label string
	cells []cell
	text  string
}

// cell is a value and the marks of its footnotes.
type cell struct{ value, marks string }

// print lays the table out: labels left, values right, marks behind the values.
func (t table) print(out *bytes.Buffer) {
	for from := 0; from < len(t.columns); from += blockArms {
		to := min(from+blockArms, len(t.columns))
		if from > 0 {
			out.WriteByte('\n')
		}
		t.block(out, from, to)
	}
}

// block prints the columns from..to-1.
func (t table) block(out *bytes.Buffer, from, to int) {
	label, marks := 0, 0
	for _, r := range t.rows {
		label = max(label, width(r.label))
		for _, c := range r.cells[from:to] {
			marks = max(marks, width(c.marks))
		}
	}
	var names [][]string
	var widths []int
	deepest := 0
	gap := max(columnGap, marks+1) // marks stand in the gap behind their value
	for i := from; i < to; i++ {
		name := breakName(t.columns[i])
		widest := cellWidth
		for _, part := range name {
			widest = max(widest, width(part))
		}
		for _, r := range t.rows {
			widest = max(widest, width(r.cells[i].value))
		}
		names, widths, deepest = append(names, name), append(widths, widest), max(deepest, len(name))
	}
	for level := range deepest {
		var line strings.Builder
		line.WriteString(strings.Repeat(" ", tableInset+label+columnGap))
		for i, name := range names {
			// Short names stand next to the values.
			part := ""
			if at := level - (deepest - len(name)); at >= 0 {
				part = name[at]
			}
			line.WriteString(right(part, widths[i]) + strings.Repeat(" ", gap))
		}
		writeLine(out, line.String())
	}
	for _, r := range t.rows {
		var line strings.Builder
		line.WriteString(strings.Repeat(" ", tableInset) + left(r.label, label+columnGap))
		for i, c := range r.cells[from:to] {
			line.WriteString(right(c.value, widths[i]) + left(c.marks, gap))
		}
		if marks > 0 {
			line.WriteByte(' ') // a mark belongs to its value, not to the text
		}
		line.WriteString(r.text)
		writeLine(out, line.String())
	}
}

// breakName breaks a long name behind hyphens and the like.
func breakName(name string) []string {
	var lines []string
	line := ""
	for name != "" {
		end := strings.IndexAny(name, "-_/.") + 1
		if end == 0 {
			end = len(name)
		}
		if line != "" && width(line)+width(name[:end]) > nameWidth {
			lines = append(lines, line)
			line = ""
		}
		line += name[:end]
		name = name[end:]
	}
	return append(lines, line)
}

// writeParagraph writes words in lines of at most textWidth; lines after the first are indented by hang.
func writeParagraph(out *bytes.Buffer, indent, hang int, text string) {
	writeItem(out, strings.Repeat(" ", indent), hang, text)
}

// writeItem is writeParagraph with the beginning of the first line.
func writeItem(out *bytes.Buffer, line string, hang int, text string) {
	used := false
	for _, word := range strings.Fields(text) {
		if used && width(line)+1+width(word) > textWidth {
			writeLine(out, line)
			line, used = strings.Repeat(" ", hang), false
		}
		if used {
			line += " "
		}
		line += word
		used = true
	}
	writeLine(out, line)
}

func writeLine(out *bytes.Buffer, line string) {
	out.WriteString(strings.TrimRight(line, " "))
	out.WriteByte('\n')
}

func width(s string) int { return utf8.RuneCountInString(s) }

func left(s string, n int) string { return s + strings.Repeat(" ", max(0, n-width(s))) }

func right(s string, n int) string { return strings.Repeat(" ", max(0, n-width(s))) + s }
