package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// schemaVersion is the version of the report's JSON form.
const schemaVersion = 1

// Report is what a run found.
type Report struct {
	SchemaVersion int `json:"schema_version"`
	// Passed, Failed and Departures count decisions over all files. A vector that could not be compared counts as
	// one failure.
	Passed     int          `json:"passed"`
	Failed     int          `json:"failed"`
	Departures int          `json:"departures"`
	Files      []FileResult `json:"files"`
}

// FileResult is what one file's vectors led to.
type FileResult struct {
	File    string       `json:"file"`
	Format  string       `json:"format"` // bridge, toolsets, builtin_tools, distributions, sampling
	Vectors int          `json:"vectors"`
	Kinds   []KindResult `json:"kinds"`
	// Ignored are the fields that are read and deliberately not compared.
	Ignored []Ignored `json:"ignored,omitempty"`
}

// KindResult counts the decisions of one kind in one file.
type KindResult struct {
	Kind   string `json:"kind"`
	Passed int    `json:"passed"`
	Failed int    `json:"failed"`
	// Departures are decisions in which the pipeline follows the contract where that leaves the recorded system.
	Departures int `json:"departures"`
	// Differences are the first ones; a failed decision may have several.
	Differences []Difference `json:"differences"`
}

// Difference is one field in which a vector and the pipeline do not agree, or that cannot be compared.
type Difference struct {
	Vector string `json:"vector"` // the vector's id or name; empty if it has none
	Line   int    `json:"line"`   // on which the vector begins; 0 for the file as a whole
	Path   string `json:"path"`   // of the field within the vector
	// Want and Got are JSON values; both are absent where Fault says why nothing was compared.
	Want  json.RawMessage `json:"want,omitempty"`
	Got   json.RawMessage `json:"got,omitempty"`
	Fault string          `json:"fault,omitempty"`
}

// Ignored is a field that is not compared.
type Ignored struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

func (r *Report) add(f FileResult) {
	r.Files = append(r.Files, f)
	for _, k := range f.Kinds {
		r.Passed += k.Passed
		r.Failed += k.Failed
		r.Departures += k.Departures
	}
}

// WriteText writes the report for people: a table with one line for each kind of decision in each file, notes, and the
// first differences in full. It returns the writer's error.
func (r *Report) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	r.writeTable(b)
	fmt.Fprintf(b, "\n%d passed, %d failed, %d departures\n", r.Passed, r.Failed, r.Departures)
	r.writeNotes(b)
	for _, f := range r.Files {
		for _, k := range f.Kinds {
			k.writeDifferences(b, f.File)
		}
	}
	return b.Flush()
}

func (r *Report) writeTable(w io.Writer) {
	rows := [][]string{{"file", "format", "kind", "passed", "failed", "departures"}}
	for _, f := range r.Files {
		file, format := printable(f.File), f.Format
		for _, k := range f.Kinds {
			rows = append(rows, []string{file, format, k.Kind, strconv.Itoa(k.Passed), strconv.Itoa(k.Failed), strconv.Itoa(k.Departures)})
			file, format = "", ""
		}
	}
	const textColumns = 3
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	for _, row := range rows {
		for i, text := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if i < textColumns {
				text += pad
			} else {
				text = pad + text
			}
			if i > 0 {
				text = "  " + text
			}
			fmt.Fprint(w, text)
		}
		fmt.Fprintln(w)
	}
}

func (r *Report) writeNotes(w io.Writer) {
	if r.Departures > 0 {
		fmt.Fprintln(w, "departures: "+departureNote)
	}
	for _, f := range r.Files {
		for _, i := range f.Ignored {
			fmt.Fprintf(w, "not compared in %s: %s: %s\n", printable(f.File), i.Field, i.Reason)
		}
	}
}

func (k KindResult) writeDifferences(w io.Writer, file string) {
	if k.Failed == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s: %s: %d failed\n", printable(file), k.Kind, k.Failed)
	for _, d := range k.Differences {
		where := d.Vector
		if d.Line > 0 {
			where = strings.TrimSpace(fmt.Sprintf("%s (line %d)", printable(where), d.Line))
		}
		if d.Fault != "" {
			fmt.Fprintf(w, "  %s %s: %s\n", where, printable(d.Path), printable(d.Fault))
			continue
		}
		fmt.Fprintf(w, "  %s %s\n    want %s\n    got  %s\n", where, printable(d.Path), escaped(d.Want), escaped(d.Got))
	}
}

// escaped writes every character of a JSON value that does not show as itself in its escaped form, which JSON allows
// within strings only, and elsewhere there are none.
func escaped(value json.RawMessage) string {
	var b strings.Builder
	for _, r := range string(value) {
		switch high, low := utf16.EncodeRune(r); {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// printable quotes text that a terminal might take for more than text.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
