package page

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/toolgauge/toolgauge/reports"
)

// markdown is the report in GitHub's Markdown: headline, assumptions and tables.
func (r *Report) markdown() []byte {
	var out bytes.Buffer
	out.WriteString("# Toolgauge report\n")
	for i, h := range r.outline.Heads {
		if name := r.runName(i); name != "" {
			fmt.Fprintf(&out, "\n## %s\n", escape(strings.ToUpper(name[:1])+name[1:]))
		}
		fmt.Fprintf(&out, "\n%s\n\n", escape(h.Headline))
		item(&out, "Measured on", h.Measured)
		for _, arm := range h.Arms {
			item(&out, arm.Arm, arm.Deed)
		}
		if h.Assuming != "" {
			item(&out, "Assuming", h.Assuming)
		}
		for _, note := range append(h.Notes, identity(r.runs[i])...) {
			item(&out, note.Title, note.Text)
		}
	}
	for i, difference := range differences(r.runs) {
		if i == 0 {
			out.WriteString("\n## Differences\n\n")
		}
		fmt.Fprintf(&out, "- %s\n", escape(difference))
	}
	fmt.Fprintf(&out, "\nReading: %s\n", escape(reports.Reading))
	for _, t := range r.outline.Tables {
		r.markdownTable(&out, t)
	}
	if len(r.outline.Warnings) > 0 {
		out.WriteString("\n## Notes\n\n")
	}
	for i, w := range r.outline.Warnings {
		fmt.Fprintf(&out, "%d. %s\n", i+1, escape(string(w)))
	}
	out.WriteString("\n## Words\n\n")
	for _, w := range reports.Words() {
		item(&out, w.Title, w.Text)
	}
	return out.Bytes()
}

func item(out *bytes.Buffer, title, text string) {
	fmt.Fprintf(out, "- **%s**: %s\n", escape(title), escape(text))
}

func (r *Report) markdownTable(out *bytes.Buffer, t reports.Table) {
	about := t.About // of a table by class it begins with the name of a measure
	if !t.ByClass {
		about = strings.ToUpper(about[:1]) + about[1:]
	}
	fmt.Fprintf(out, "\n## %s\n\n%s\n\n", escape(t.Title), escape(about))
	head, rule := []string{"measure"}, []string{":--"}
	if t.ByClass {
		head[0] = "class"
	}
	for _, c := range r.outline.Columns {
		head, rule = append(head, escape(strings.TrimSpace(c.Arm+" "+r.runName(c.Run)))), append(rule, "--:")
	}
	head, rule = append(head, map[bool]string{true: "n", false: "unit"}[t.ByClass]), append(rule, ":--")
	line(out, head)
	line(out, rule)
	for _, row := range t.Rows {
		cells := []string{escape(row.Label)}
		for _, c := range row.Cells {
			text := escape(c.Text)
			for _, mark := range c.Marks {
				text += fmt.Sprintf("<sup>%d</sup>", mark)
			}
			cells = append(cells, text)
		}
		line(out, append(cells, escape(row.Unit+row.Population)))
	}
	for i, d := range t.Definitions {
		if i == 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(out, "- %s\n", escape(d))
	}
}

// line writes a table's line of cells that are Markdown already.
func line(out *bytes.Buffer, cells []string) {
	fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
}

// escape makes text plain: what Markdown or HTML would take for markup is written so that it is not, and line breaks and
// control characters are blanks. An underscore within a word is no markup.
func escape(text string) string {
	var out strings.Builder
	runes := []rune(text)
	inWord := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		switch {
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			out.WriteByte(' ')
		case r == '<':
			out.WriteString("&lt;")
		case r == '>':
			out.WriteString("&gt;")
		case r == '&':
			out.WriteString("&amp;")
		case r == '_' && inWord(i-1) && inWord(i+1):
			out.WriteByte('_')
		case strings.ContainsRune("\\`*_[]|~#$", r):
			out.WriteByte('\\')
			out.WriteRune(r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
