package page

import (
	"context"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// view is what the template lays out.
type view struct {
	Style  template.CSS
	Script template.JS
	Policy string

	Runs        []runView
	Differences []string
	Reading     string
	Arms        armTable
	Figures     []figure
	Columns     []column
	Groups      []columnGroup
	Tables      []reports.Table
	Intents     []intentTable
	Warnings    []metrics.Warning
	Words       []reports.Note
}

// runView is a run's head.
type runView struct {
	Name string // "run 1"; empty if there is only one
	reports.Head
	Tiles    []tile
	Identity []reports.Note
}

// tile is one large number of the arm that the headline speaks of.
type tile struct{ Value, Text string }

// column is a column of a measure's table, and columnGroup the columns of one arm where there are several runs.
type column struct{ Run, Arm string }

type columnGroup struct {
	Arm  string
	Span int
}

// armTable has a row for each arm of each run.
type armTable struct {
	Columns []armColumn
	Rows    []armRow
}

type armColumn struct{ Name, Unit string }

type armRow struct {
	Run, Arm, Deed string
	Cells          []sortable
}

// sortable is a cell with the number that it is sorted by; Key is empty where there is none.
type sortable struct{ Text, Key string }

func known(x float64, text string) sortable {
	return sortable{text, strconv.FormatFloat(x, 'g', 10, 64)}
}

// intentTable are the worst intents of a run.
type intentTable struct {
	Run     string
	Shown   int
	Known   int
	Arms    []string // those that defer tools
	Classes []string
	Rows    []intentRow
}

type intentRow struct {
	ID, Class, Query string
	Asked            sortable
	Lost             []sortable
	Recall           sortable
	Examples         []exampleView
}

type exampleView struct {
	Arms, Where string
	Steps       []stepView
}

type stepView struct {
	Query   string
	Issued  bool
	Hits    []hitView
	Missing []string
}

type hitView struct {
	Tool, Score string
	Gold        bool
}

// runName tells runs of one report apart; their ids hold times.
func (r *Report) runName(run int) string {
	if len(r.runs) == 1 {
		return ""
	}
	return fmt.Sprintf("run %d", run+1)
}

// view gathers and words everything.
func (r *Report) view(ctx context.Context) (*view, error) {
	v := &view{Differences: differences(r.runs), Reading: reports.Reading, Tables: r.outline.Tables, Warnings: r.outline.Warnings, Words: reports.Words()}
	var sources []*source
	for i, run := range r.runs {
		e, err := gather(ctx, run, MaxIntents/len(r.runs))
		if err != nil {
			return nil, err
		}
		s := newSource(r.runName(i), run.Summary, e)
		sources = append(sources, s)
		h := r.outline.Heads[i]
		v.Runs = append(v.Runs, runView{Name: s.name, Head: h, Tiles: tiles(s, h.Best), Identity: identity(run)})
		v.Intents = append(v.Intents, s.intentTable())
	}
	for _, c := range r.outline.Columns {
		v.Columns = append(v.Columns, column{r.runName(c.Run), c.Arm})
		if last := len(v.Groups) - 1; last >= 0 && v.Groups[last].Arm == c.Arm {
			v.Groups[last].Span++
		} else {
			v.Groups = append(v.Groups, columnGroup{c.Arm, 1})
		}
	}
	v.Arms = armsOf(sources, r.outline)
	var err error
	v.Figures, err = newPlots(sources).figures()
	return v, err
}

// tiles are the four numbers that sum an arm up.
func tiles(s *source, arm string) (all []tile) {
	if saved := s.get("saved_pct", arm); saved != nil {
		all = append(all, tile{signed(-saved.Value), "schema tokens of a session's first request"})
	}
	tokens, net := s.get(metrics.MeasureEffectiveTokens, arm), s.get(metrics.MeasureNetSaved, arm)
	if tokens != nil && net != nil && tokens.Value+net.Value > 0 {
		all = append(all, tile{signed(-100 * net.Value / (tokens.Value + net.Value)), "effective tokens of a whole session"})
	}
	if extra := s.get(metrics.MeasureExtraRequests, arm); extra != nil {
		all = append(all, tile{"+" + numerals.Number(extra.Value, 2), "requests until a deferred tool is called for the first time"})
	}
	if lost := s.get(metrics.MeasureLostRate, arm); lost != nil {
		all = append(all, tile{percent(lost.Value), "of the tools needed are never reached"})
	}
	return all
}

// signed is a change in percent.
func signed(x float64) string {
	text := numerals.Number(math.Abs(x), 1) + "%"
	switch {
	case x < 0:
		return "−" + text
	case x > 0:
		return "+" + text
	default:
		return text
	}
}

// identity says what a run is of, in hashes, so that two reports can be told apart or found to be of the same.
func identity(run *reports.Run) []reports.Note {
	m, s := run.Manifest, run.Summary
	notes := []reports.Note{{Title: "corpus sha256", Text: s.Corpus.SHA256}}
	if s.SessionsSHA256 != "" {
		notes = append(notes, reports.Note{Title: "sessions sha256", Text: s.SessionsSHA256})
	}
	notes = append(notes, reports.Note{Title: "configuration sha256", Text: s.ConfigSHA256}, reports.Note{Title: "program", Text: m.ToolVersion})
	if m.Git != nil {
		commit := m.Git.Commit
		if m.Git.Dirty {
			commit += ", with changes"
		}
		notes = append(notes, reports.Note{Title: "commit", Text: commit})
	}
	return notes
}

// armsOf sets all arms side by side in the measures that a choice between them rests on.
func armsOf(sources []*source, outline reports.Outline) armTable {
	shown := []struct {
		measure, name, unit string
		factor              float64
		decimals            int
	}{
		{"surface_tokens", "schema tokens", "tokens ↓", 1, 0},
		{"saved_pct", "saved", "% ↑", 1, 1},
		{metrics.MeasureEffectiveTokens, "effective tokens", "tokens ↓", 1, 0},
		{metrics.MeasureNetSaved, "net saved", "tokens ↑", 1, 0},
		{metrics.MeasureExtraRequests, "extra requests", "requests ↓", 1, 2},
		{metrics.MeasureLostRate, "never reached", "% ↓", 100, 1},
		{recallMeasure, recallMeasure, "share ↑", 1, 3},
	}
	t := armTable{}
	for _, m := range shown {
		t.Columns = append(t.Columns, armColumn{m.name, m.unit})
	}
	for i, s := range sources {
		for _, arm := range outline.Heads[i].Arms {
			row := armRow{Run: s.name, Arm: arm.Arm, Deed: arm.Deed}
			for _, m := range shown {
				cell := sortable{Text: "-"}
				if v := s.get(m.measure, arm.Arm); v != nil {
					cell = known(v.Value, numerals.Number(m.factor*v.Value, m.decimals))
				}
				row.Cells = append(row.Cells, cell)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// intentTable words the worst intents of a run.
func (s *source) intentTable() intentTable {
	t := intentTable{Run: s.name, Shown: len(s.intents), Known: s.known}
	var arms []int
	for i, arm := range s.summary.Assumptions {
		if arm.Bridge {
			arms = append(arms, i)
			t.Arms = append(t.Arms, arm.Name)
		}
	}
	for _, i := range s.intents {
		row := intentRow{ID: i.id, Class: i.class, Query: i.id, Asked: known(float64(i.asked()), whole(float64(i.asked()))), Recall: sortable{Text: "-"}}
		for _, arm := range arms {
			cell := sortable{Text: "-"}
			if i.lost[arm].n > 0 {
				cell = known(i.lost[arm].value(), percent(i.lost[arm].value()))
			}
			row.Lost = append(row.Lost, cell)
		}
		if recall := total(i.recall); recall.n > 0 {
			row.Recall = known(recall.value(), numerals.Number(recall.value(), 3))
		}
		for _, x := range i.examples {
			row.Examples = append(row.Examples, x.view())
		}
		if len(i.examples) > 0 {
			row.Query = i.examples[0].searches[0].Query
		}
		if !slices.Contains(t.Classes, i.class) {
			t.Classes = append(t.Classes, i.class)
		}
		t.Rows = append(t.Rows, row)
	}
	slices.Sort(t.Classes)
	return t
}

// view words an example.
func (x example) view() exampleView {
	var arms []string
	for i, arm := range x.arms {
		arms = append(arms, fmt.Sprintf("%s: %s", arm, x.paths[i]))
	}
	first := x.searches[0]
	v := exampleView{
		Arms:  strings.Join(arms, "; "),
		Where: fmt.Sprintf("%s among %s deferred tools; row %d, turn %d", first.Retriever, whole(float64(first.PoolSize)), x.row, x.turn+1),
	}
	for _, s := range x.searches {
		step := stepView{Query: s.Query, Issued: s.Issued}
		ranked := make(map[string]bool)
		for _, hit := range s.Hits[:min(maxHits, len(s.Hits))] {
			ranked[hit.Tool] = true
			step.Hits = append(step.Hits, hitView{hit.Tool, score(hit.Score), slices.Contains(s.Gold, hit.Tool)})
		}
		for _, gold := range s.Gold {
			if !ranked[gold] {
				step.Missing = append(step.Missing, gold)
			}
		}
		v.Steps = append(v.Steps, step)
	}
	return v
}

// score is a hit's score; an exact name has the largest there is, in place of infinity.
func score(x float64) string {
	if x == math.MaxFloat64 {
		return "exact"
	}
	return numerals.Number(x, 2)
}

// differences says in what runs differ from the first, beside their arms.
func differences(runs []*reports.Run) (list []string) {
	first := runs[0].Summary
	for i, run := range runs[1:] {
		s := run.Summary
		name := fmt.Sprintf("run %d", i+2)
		if s.Corpus.SHA256 != first.Corpus.SHA256 {
			list = append(list, fmt.Sprintf("%s has another corpus than run 1 (%s, and %s): its figures are of other tools and intents.", name, corpusName(s.Corpus), corpusName(first.Corpus)))
		}
		if s.Seed != first.Seed || s.Sessions != first.Sessions || s.SessionsSHA256 != first.SessionsSHA256 {
			list = append(list, fmt.Sprintf("%s has other sessions than run 1 (%s of seed %d, and %s of seed %d): part of each difference is chance.",
				name, whole(float64(s.Sessions)), s.Seed, whole(float64(first.Sessions)), first.Seed))
		}
		for _, arm := range s.Assumptions {
			at := slices.IndexFunc(first.Assumptions, func(a reports.Arm) bool { return a.Name == arm.Name })
			if at >= 0 && first.Assumptions[at] != arm {
				list = append(list, fmt.Sprintf("The arm %s of %s assumes other than that of run 1.", arm.Name, name))
			}
		}
	}
	return list
}

// corpusName is a corpus with the beginning of its hash.
func corpusName(c reports.Corpus) string {
	return strings.TrimSpace(c.Name+" "+c.Version) + ", sha256 " + c.SHA256[:min(12, len(c.SHA256))]
}
