// Package lint reads the tools of a corpus as a model and its retriever read them,
// and says at which line of which file a description, a parameter or a name will
// cost a search.
//
// The steps: Check judges each tool that the corpus brings itself, first alone
// (how long it is, what it leaves undocumented), then beside the others (whose
// words it repeats), then in a search (is it found by the words that it has?). Rules lists what
// is looked for. A Report is written as text, JSON or SARIF, which code review
// shows at the line.
//
// It holds an opinion: what can be measured is a warning, what is guessed from
// the presence of a few English words is a note. It promises that a report
// depends on the corpus and the options alone.
package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/corpus/survey"
)

// SchemaVersion is that of a report's JSON form.
const SchemaVersion = 1

// Severity says how much a finding matters; the names are SARIF's levels.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // a model cannot know what the tool is for
	Warning Severity = "warning" // measured: it costs tokens, searches or calls
	Note    Severity = "note"    // guessed: worth a look
)

// Severities returns all of them, the gravest first.
func Severities() []Severity { return []Severity{Error, Warning, Note} }

// Reaches reports whether a severity is as grave as another, or graver.
func (s Severity) Reaches(other Severity) bool {
	return slices.Index(Severities(), s) <= slices.Index(Severities(), other)
}

// Finding is one thing to look at.
type Finding struct {
	Rule     string   `json:"rule"` // a Rule's ID
	Severity Severity `json:"severity"`
	Tool     string   `json:"tool"` // its ID
	// File, Line and Column, in code points, both from 1, are where the tool stands;
	// "" and 0 if it was made and not read.
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Advice  string `json:"advice"`
}

// Report is what a check found.
type Report struct {
	SchemaVersion int    `json:"schema_version"`
	Corpus        string `json:"corpus"`
	SHA256        string `json:"corpus_sha256"`
	// Synthetic marks a corpus that was made by rule.
	Synthetic bool `json:"synthetic"`
	// Tools were judged, and Clean of them have none of Findings; Asked of them were
	// searched for among Pool.
	Tools     int    `json:"tools"`
	Clean     int    `json:"clean"`
	Retriever string `json:"retriever"`
	Asked     int    `json:"asked"`
	Pool      int    `json:"pool"`
	// Counts has every rule in the order of Rules, whatever the findings left out.
	Counts []RuleCount `json:"counts"`
	// Findings are the gravest first, then by file and line, then in the order of
	// the corpus's tools.
	Findings []Finding `json:"findings"`
}

// RuleCount is how often a rule found something.
type RuleCount struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Findings int      `json:"findings"`
}

// Options say how to check.
type Options struct {
	// Retriever is one of search.Names; empty for bm25.
	Retriever string
	// AskedMax bounds the tools that are searched for, evenly spread over the
	// corpus; 0 for all. Every search reads the whole catalog.
	AskedMax int
}

// Check judges the tools that a corpus brings itself.
func Check(c *corpus.Corpus, o Options) (*Report, error) {
	o.Retriever = cmp.Or(o.Retriever, "bm25")
	retrieval, err := survey.NewRetrieval(c, o.Retriever)
	if err != nil {
		return nil, err
	}
	own := c.Own()
	k := &checker{report: &Report{
		SchemaVersion: SchemaVersion, Corpus: c.Name, SHA256: c.SHA256, Synthetic: c.Synthetic,
		Tools: len(own), Retriever: o.Retriever, Pool: retrieval.Len(), Findings: []Finding{},
	}, corpus: c, repeats: make(map[string]bool)}
	for _, t := range own {
		k.alone(t)
	}
	k.beside(own)
	k.searched(retrieval, own, o.AskedMax)
	k.finish(own)
	return k.report, nil
}

// Least leaves out the findings that are less grave than a severity. Counts stay.
func (r *Report) Least(s Severity) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return !f.Severity.Reaches(s) })
	r.countClean()
}

func (r *Report) countClean() {
	found := make(map[string]bool)
	for _, f := range r.Findings {
		found[f.Tool] = true
	}
	r.Clean = r.Tools - len(found)
}

// Reached counts the findings of a severity or a graver one, left out or not.
func (r *Report) Reached(s Severity) int {
	n := 0
	for _, c := range r.Counts {
		if c.Severity.Reaches(s) {
			n += c.Findings
		}
	}
	return n
}

// checker collects the findings.
type checker struct {
	report *Report
	corpus *corpus.Corpus
	// repeats are the tools, by ID, that have the description of an earlier one.
	repeats map[string]bool
}

func (k *checker) add(t *corpus.Tool, r Rule, format string, args ...any) {
	k.report.Findings = append(k.report.Findings, Finding{
		Rule: r.ID, Severity: r.Severity, Tool: t.ID, File: t.File, Line: t.Line, Column: t.Column,
		Message: fmt.Sprintf(format, args...), Advice: r.Advice,
	})
}

// finish counts and sorts.
func (k *checker) finish(tools []*corpus.Tool) {
	place, rule := make(map[string]int), make(map[string]int)
	for i, t := range tools {
		place[t.ID] = i
	}
	for i, r := range Rules() {
		rule[r.ID] = i
		k.report.Counts = append(k.report.Counts, RuleCount{r.ID, r.Severity, 0})
	}
	for _, f := range k.report.Findings {
		k.report.Counts[rule[f.Rule]].Findings++
	}
	slices.SortStableFunc(k.report.Findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Severities(), a.Severity), slices.Index(Severities(), b.Severity)),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(place[a.Tool], place[b.Tool]), cmp.Compare(rule[a.Rule], rule[b.Rule]))
	})
	k.report.countClean()
}
