package reports

import (
	"slices"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
)

// distributionRow is one number of a distribution's calls.
type distributionRow struct {
	name, unit string
	decimals   int
	dense      bool // left out where no arm has any
	definition string
	value      func(d *metrics.DistributionCalls) float64
}

func distributionRows() []distributionRow {
	return []distributionRow{
		{"calls", "calls", 0, false, "golds that were dispatched", func(d *metrics.DistributionCalls) float64 { return float64(d.Calls) }},
		{"failed", "calls ↓", 0, false, "calls whose outcome is an error", func(d *metrics.DistributionCalls) float64 { return float64(d.Failed) }},
		{"denied", "calls", 0, true, "calls that a rule of the gateway forbids", func(d *metrics.DistributionCalls) float64 { return float64(d.Denied) }},
		{"p95", "ms ↓", 1, false, "virtual time to the result that 95 in a hundred calls do not exceed, by nearest rank", func(d *metrics.DistributionCalls) float64 { return d.LatencyP95MS }},
		{"doubled", "effects ↓", 0, true, "side effects beyond the first of one call; must be 0", func(d *metrics.DistributionCalls) float64 { return float64(d.DuplicatedSideEffects) }},
		{"leaked", "secrets ↓", 0, true, "secrets of endpoints that results bring into the messages; must be 0", func(d *metrics.DistributionCalls) float64 { return float64(d.LeakedSecrets) }},
	}
}

// distributions adds the table of calls by distribution, where there are several.
func (o *outliner) distributions() {
	type key struct {
		run       int
		arm, name string
	}
	found := make(map[key]*metrics.DistributionCalls)
	var names []string
	for run, s := range o.summaries {
		for i, d := range s.Distributions {
			found[key{run, d.Arm, d.Distribution}] = &s.Distributions[i]
			if !slices.Contains(names, d.Distribution) {
				names = append(names, d.Distribution)
			}
		}
	}
	if len(names) < 2 {
		return
	}
	slices.Sort(names)
	table := Table{Title: "Calls by distribution", About: "totals over the sessions that were drawn from each"}
	shown := make(map[string]bool)
	for _, name := range names {
		for _, r := range distributionRows() {
			row := Row{Label: name + " " + r.name, Unit: r.unit}
			for _, c := range o.Columns {
				cell := Cell{Text: noFigure}
				if d := found[key{c.Run, c.Arm, name}]; d != nil {
					value := r.value(d)
					cell = Cell{Text: numerals.Number(value, r.decimals), Value: &value}
				}
				row.Cells = append(row.Cells, cell)
			}
			if !r.dense || !row.isZero() {
				table.Rows = append(table.Rows, row)
				shown[r.name] = true
			}
		}
	}
	for _, r := range distributionRows() {
		if shown[r.name] {
			table.Definitions = append(table.Definitions, r.name+": "+r.definition)
		}
	}
	o.Tables = append(o.Tables, table)
}
