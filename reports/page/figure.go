package page

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// figure is a chart of each run with the same axes, what it shows, and its data as a table.
type figure struct {
	ID, Title, About string
	Key              []key
	Drawings         []drawing
	Columns          []string
	Rows             [][]string
}

// key says what a paint stands for.
type key struct {
	Paint paint
	Text  string
}

// plotArms bounds the arms that a chart of lines or points shows; its table has them all.
const plotArms = 12

// source is what figures are drawn from: one run.
type source struct {
	name    string // of the run; empty if there is only one
	summary reports.Summary
	values  map[[4]string]*metrics.Figure // by measure, arm, class and pool
	*evidence
}

func newSource(name string, s reports.Summary, e *evidence) *source {
	values := make(map[[4]string]*metrics.Figure, len(s.Figures))
	for i, f := range s.Figures {
		values[[4]string{f.Measure, f.Arm, f.Class, f.PoolBin}] = &s.Figures[i]
	}
	return &source{name, s, values, e}
}

// get returns the figure of an arm over everything; nil if there is none.
func (s *source) get(measure, arm string) *metrics.Figure {
	return s.values[[4]string{measure, arm, "", ""}]
}

// plots are all figures of a report, in the making.
type plots struct {
	sources []*source
	paints  map[string]paint // by arm
}

// newPlots gives every arm a paint, the same in all charts.
func newPlots(sources []*source) *plots {
	p := &plots{sources: sources, paints: map[string]paint{metrics.EagerArm: "a0"}}
	for _, s := range sources {
		for _, arm := range s.arms {
			if p.paints[arm] == "" {
				p.paints[arm] = paint(fmt.Sprintf("a%d", 1+(len(p.paints)-1)%6))
			}
		}
	}
	return p
}

// figures are all that have something to show.
func (p *plots) figures() (shown []figure, err error) {
	for _, draw := range []func() (figure, error){p.tokens, p.turns, p.paths, p.pareto, p.pools, p.classes, p.forms} {
		f, err := draw()
		if err != nil {
			return nil, fmt.Errorf("cannot draw %q: %w\nhint: a table of the run is damaged; repeat the run", f.Title, err)
		}
		if len(f.Rows) == 0 {
			continue
		}
		if len(p.sources) > 1 {
			f.Columns = append([]string{"run"}, f.Columns...)
		}
		shown = append(shown, f)
	}
	return shown, nil
}

// draw adds the chart of a source, and row by row its data.
func (f *figure) draw(s *source, d drawing, desc string) {
	d.Title, d.Desc, d.Run = f.Title, desc, s.name
	f.Drawings = append(f.Drawings, d)
}

func (f *figure) row(s *source, cells ...string) {
	if s.name != "" {
		cells = append([]string{s.name}, cells...)
	}
	f.Rows = append(f.Rows, cells)
}

// stacked draws bars of measures, one segment each, for every arm that has them.
func (p *plots) stacked(f *figure, parts []part, end func(*source, string) string, high float64, word func(float64) string, xLabel string) error {
	f.Columns = []string{"arm"}
	for _, part := range parts {
		f.Columns = append(f.Columns, part.text)
		f.Key = append(f.Key, key{part.paint, part.text})
	}
	for _, s := range p.sources {
		segments := make([]segment, len(parts))
		var arms, ends, said []string
		for _, arm := range s.arms {
			cells, there := []string{arm}, false
			for i, part := range parts {
				value := 0.0
				for _, measure := range part.measures {
					if v := s.get(measure, arm); v != nil {
						value, there = value+v.Value, true
					}
				}
				segments[i].paint, segments[i].values = part.paint, append(segments[i].values, value)
				cells = append(cells, word(value))
			}
			if !there {
				for i := range segments {
					segments[i].values = segments[i].values[:len(arms)]
				}
				continue
			}
			arms, ends = append(arms, arm), append(ends, end(s, arm))
			said = append(said, arm+" "+end(s, arm))
			f.row(s, cells...)
		}
		if len(arms) == 0 {
			continue
		}
		d, err := bars(arms, segments, ends, high, xLabel)
		if err != nil {
			return err
		}
		f.draw(s, d, strings.Join(said, "; "))
	}
	return nil
}

// part is a segment of a bar: the sum of measures.
type part struct {
	paint    paint
	text     string
	measures []string
}

// tokens shows what the surface is made of.
func (p *plots) tokens() (figure, error) {
	f := figure{ID: "tokens", Title: "Schema tokens by part", About: "What the tools array of a session's first request is made of; mean over sessions."}
	high := 0.0
	for _, s := range p.sources {
		for _, arm := range s.arms {
			if v := s.get("surface_tokens", arm); v != nil {
				high = max(high, v.Value)
			}
		}
	}
	err := p.stacked(&f, []part{
		{"visible", "visible tools", []string{"visible_tokens"}},
		{"bridge", "bridge", []string{"bridge_tokens"}},
		{"listing", "listing", []string{"listing_tokens"}},
	}, func(s *source, arm string) string {
		if v := s.get("surface_tokens", arm); v != nil {
			return whole(v.Value)
		}
		return ""
	}, high, whole, "tokens")
	return f, err
}

// paths shows how golds are reached.
func (p *plots) paths() (figure, error) {
	f := figure{ID: "paths", Title: "Ways to the tool", About: "By which path the tools that intents need are called; the end of a bar is the lost share of those within reach."}
	all := []part{
		{"quiet1", "direct", []string{"path_direct"}}, {"quiet2", "warm", []string{"path_warm"}},
		{"way1", "described", []string{"path_described"}}, {"way2", "searched", []string{"path_searched"}},
		{"way3", "retried", []string{"path_retried"}}, {"way4", "blind", []string{"path_blind"}},
		{"way5", "repaired", []string{"path_repaired"}}, {"lost", "lost", []string{"path_lost"}},
		{"quiet3", "unavailable", []string{"path_unavailable"}}, {"quiet4", "declined", []string{"path_declined"}},
	}
	used := slices.DeleteFunc(all, func(part part) bool {
		return !slices.ContainsFunc(p.sources, func(s *source) bool {
			return slices.ContainsFunc(s.arms, func(arm string) bool {
				v := s.get(part.measures[0], arm)
				return v != nil && v.Value > 0
			})
		})
	})
	err := p.stacked(&f, used, func(s *source, arm string) string {
		if v := s.get(metrics.MeasureLostRate, arm); v != nil {
			return percent(v.Value) + " lost"
		}
		return ""
	}, 1, percent, "share of golds and absent intents")
	return f, err
}

// turns shows what sessions cost turn by turn.
func (p *plots) turns() (figure, error) {
	f := figure{
		ID: "turns", Title: "Effective tokens over a session",
		About:   "Mean after each turn, over the sessions that reach it: those of later turns are fewer and longer. A ring marks the turn from which an arm stays below eager.",
		Columns: []string{"arm", "turn", "sessions", "effective tokens"},
	}
	high := 0.0
	for _, s := range p.sources {
		for _, turns := range s.turns {
			for _, m := range turns {
				high = max(high, m.value())
			}
		}
	}
	for _, s := range p.sources {
		var all []series
		var ticks, said []string
		for i, arm := range s.arms {
			if len(s.turns[i]) == 0 {
				continue
			}
			line := series{name: arm, paint: p.paints[arm], ring: s.breakEven(arm) - 1}
			for turn, m := range s.turns[i] {
				line.at = append(line.at, plotter.XY{X: float64(turn), Y: m.value()})
				f.row(s, arm, fmt.Sprint(turn+1), whole(float64(m.n)), whole(m.value()))
				if turn == len(ticks) {
					ticks = append(ticks, fmt.Sprint(turn+1))
				}
			}
			said = append(said, fmt.Sprintf("%s %s after turn %d", arm, whole(line.at[len(line.at)-1].Y), len(line.at)))
			all = append(all, line)
		}
		if len(all) == 0 {
			continue
		}
		d, err := lines(all[:min(plotArms, len(all))], thinned(ticks), high, "turn", "effective tokens so far")
		if err != nil {
			return f, err
		}
		f.draw(s, d, strings.Join(said, "; "))
	}
	return f, nil
}

// thinned blanks so many ticks that the others have room.
func thinned(ticks []string) []string {
	const most = 10
	step := (len(ticks) + most - 1) / most
	for i := range ticks {
		if i%step > 0 {
			ticks[i] = ""
		}
	}
	return ticks
}

// breakEven is the turn from which an arm stays below eager, 0 if there is none.
func (s *source) breakEven(arm string) int {
	for _, b := range s.summary.BreakEvens {
		if b.Arm == arm && b.Measure == metrics.MeasureBreakEvenTurns && b.At <= int64(len(s.turns[s.arm(arm)])) {
			return int(b.At)
		}
	}
	return 0
}

// group is arms that have the same values.
type group struct {
	arms   []string
	values []float64
}

// grouped puts arms with equal values together: arms with one retriever find the same.
func grouped(arms []string, values func(arm string) []float64) (groups []group) {
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	for _, arm := range arms {
		v := values(arm)
		if !slices.ContainsFunc(v, func(x float64) bool { return !math.IsNaN(x) }) {
			continue
		}
		at := slices.IndexFunc(groups, func(g group) bool { return slices.EqualFunc(g.values, v, same) })
		if at < 0 {
			groups = append(groups, group{[]string{arm}, v})
		} else {
			groups[at].arms = append(groups[at].arms, arm)
		}
	}
	return groups
}

// slice is one class or one pool of a measure.
func (s *source) slice(measure, arm, class, pool string) float64 {
	if v := s.values[[4]string{measure, arm, class, pool}]; v != nil {
		return v.Value
	}
	return math.NaN()
}

// recallMeasure is what retrieval is drawn by.
const recallMeasure = "recall@limit"

// slices lists the classes or pools that a measure has, over all sources, in the order in which they come.
func (p *plots) slices(of func(metrics.Figure) string) (names []string) {
	for _, s := range p.sources {
		for _, v := range s.summary.Figures {
			if name := of(v); v.Measure == recallMeasure && name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// pools shows recall against the number of deferred tools.
func (p *plots) pools() (figure, error) {
	f := figure{ID: "pools", Title: "Recall by pool size", About: "Share of an intent's deferred tools among the first hits of its first query, by how many tools are searched. Arms that find the same share a line.",
		Columns: []string{"arms", "deferred tools", "intents", recallMeasure}}
	bins := p.slices(func(v metrics.Figure) string { return v.PoolBin })
	slices.SortFunc(bins, func(a, b string) int { return binEdge(a) - binEdge(b) })
	var ticks []string
	for _, bin := range bins {
		ticks = append(ticks, fmt.Sprint(binEdge(bin)))
	}
	for _, s := range p.sources {
		var all []series
		var said []string
		for _, g := range grouped(s.arms, func(arm string) (values []float64) {
			for _, bin := range bins {
				values = append(values, s.slice(recallMeasure, arm, "", bin))
			}
			return values
		}) {
			line := series{name: strings.Join(g.arms, "\n"), paint: p.paints[g.arms[0]], ring: -1}
			for i, x := range g.values {
				if math.IsNaN(x) {
					continue
				}
				line.at = append(line.at, plotter.XY{X: float64(i), Y: x})
				f.row(s, strings.Join(g.arms, ", "), bins[i], whole(float64(s.values[[4]string{recallMeasure, g.arms[0], "", bins[i]}].N)), numerals.Number(x, 3))
			}
			said = append(said, fmt.Sprintf("%s from %s at %s tools to %s at %s", strings.Join(g.arms, " and "), numerals.Number(line.at[0].Y, 3), bins[int(line.at[0].X)],
				numerals.Number(line.at[len(line.at)-1].Y, 3), bins[int(line.at[len(line.at)-1].X)]))
			all = append(all, line)
		}
		if len(all) == 0 {
			continue
		}
		d, err := lines(all[:min(plotArms, len(all))], ticks, 1, "deferred tools, from", recallMeasure)
		if err != nil {
			return f, err
		}
		f.draw(s, d, strings.Join(said, "; "))
	}
	return f, nil
}

// binEdge is the lower edge of a bin of deferred tools.
func binEdge(bin string) (edge int) {
	_, _ = fmt.Sscan(strings.SplitN(bin, "-", 2)[0], &edge)
	return edge
}

// classes shows recall for each class of intents.
func (p *plots) classes() (figure, error) {
	f := figure{ID: "classes", Title: "Recall by class of intent", About: "Share of an intent's deferred tools among the first hits of its first query. Arms that find the same share a point.",
		Columns: []string{"arms", "class", "intents", recallMeasure}}
	classes := p.slices(func(v metrics.Figure) string { return v.Class })
	slices.Sort(classes)
	for _, s := range p.sources {
		var all []series
		var said []string
		for _, g := range grouped(s.arms, func(arm string) (values []float64) {
			for _, class := range classes {
				values = append(values, s.slice(recallMeasure, arm, class, ""))
			}
			return values
		}) {
			points := series{name: strings.Join(g.arms, ", "), paint: p.paints[g.arms[0]], ring: -1}
			for i, x := range g.values {
				points.at = append(points.at, plotter.XY{X: x, Y: float64(i)})
				if !math.IsNaN(x) {
					f.row(s, points.name, classes[i], whole(float64(s.values[[4]string{recallMeasure, g.arms[0], classes[i], ""}].N)), numerals.Number(x, 3))
					said = append(said, fmt.Sprintf("%s of %s %s", points.name, classes[i], numerals.Number(x, 3)))
				}
			}
			if entry := (key{points.paint, points.name}); !slices.Contains(f.Key, entry) {
				f.Key = append(f.Key, entry)
			}
			all = append(all, points)
		}
		if len(all) > 0 {
			f.draw(s, dots(classes, all[:min(plotArms, len(all))], recallMeasure), strings.Join(said, "; "))
		}
	}
	return f, nil
}

// pareto shows what arms cost in tokens and in round trips, and what they lose.
func (p *plots) pareto() (figure, error) {
	f := figure{ID: "pareto", Title: "What is given for what", About: "Effective tokens of a session against the extra requests of a cold call, with the share of tools never reached. Filled: on the front, no other arm is at least as good in all three and better in one. Eager needs no extra request by definition.",
		Columns: []string{"arm", "effective tokens", "extra requests", "never reached", "on the front"}}
	xHigh, yHigh := 0.0, 0.0
	for _, s := range p.sources {
		for _, b := range s.bargains() {
			xHigh, yHigh = max(xHigh, b.tokens), max(yHigh, b.requests)
		}
	}
	for _, s := range p.sources {
		var spots []spot
		var said []string
		for _, b := range s.bargains() {
			text := fmt.Sprintf("%s, %s lost", b.arm, percent(b.lost))
			spots = append(spots, spot{b.tokens, b.requests, text, p.paints[b.arm], !b.front})
			f.row(s, b.arm, whole(b.tokens), numerals.Number(b.requests, 2), percent(b.lost), map[bool]string{true: "yes", false: "no"}[b.front])
			said = append(said, fmt.Sprintf("%s: %s tokens, %s requests, %s lost", b.arm, whole(b.tokens), numerals.Number(b.requests, 2), percent(b.lost)))
		}
		if len(spots) > 0 {
			f.draw(s, scatter(spots[:min(plotArms, len(spots))], xHigh*1.08, yHigh*1.12, "effective tokens of a session", "extra requests of a cold call"), strings.Join(said, "; "))
		}
	}
	return f, nil
}

// bargain is what an arm costs and loses.
type bargain struct {
	arm                    string
	tokens, requests, lost float64
	front                  bool
}

// bargains are those of the arms whose tokens are known and counted as eager's are.
func (s *source) bargains() (all []bargain) {
	for _, arm := range s.arms {
		tokens, requests, cold := s.get(metrics.MeasureEffectiveTokens, arm), s.get(metrics.MeasureExtraRequests, arm), s.get("cold_calls", arm)
		saved := s.get(metrics.MeasureNetSaved, arm)
		if tokens == nil || requests == nil && cold != nil && cold.Value > 0 ||
			saved != nil && slices.Contains(saved.Warnings, metrics.WarnCountedOtherwise) {
			continue
		}
		b := bargain{arm: arm, tokens: tokens.Value}
		if requests != nil {
			b.requests = requests.Value
		}
		if lost := s.get(metrics.MeasureLostRate, arm); lost != nil {
			b.lost = lost.Value
		}
		all = append(all, b)
	}
	for i := range all {
		all[i].front = !slices.ContainsFunc(all, func(other bargain) bool { return other.beats(all[i]) })
	}
	return all
}

// beats reports whether a is at least as good as b in everything and better in something.
func (a bargain) beats(b bargain) bool {
	return a.tokens <= b.tokens && a.requests <= b.requests && a.lost <= b.lost &&
		(a.tokens < b.tokens || a.requests < b.requests || a.lost < b.lost)
}

// budgetRows bounds the budgets of one arm that are shown one by one; of more, those within a factor of two share a row.
const budgetRows = 6

// forms shows which form of listing fits into which budget.
func (p *plots) forms() (figure, error) {
	f := figure{ID: "forms", Title: "Form of the listing by budget", About: "In which form the listing fits into its budget (estimated tokens): share of the sessions that defer tools, whose number ends the bar.",
		Columns: []string{"arm", "budget", "form", "sessions"}}
	order := []key{{"way3", "full"}, {"way2", "mixed"}, {"way1", "names"}, {"quiet2", "groups"}, {"quiet1", "none"}}
	used := make(map[string]bool)
	for _, s := range p.sources {
		segments := make([]segment, len(order))
		var rows, ends, said []string
		for i, arm := range s.arms {
			if v := s.get("listing_tokens", arm); v == nil || v.Value == 0 {
				continue
			}
			for _, b := range budgets(s.forms[i]) {
				rows, ends = append(rows, arm+" "+b.name), append(ends, whole(float64(b.sessions())))
				for k, form := range order {
					segments[k].paint = form.Paint
					segments[k].values = append(segments[k].values, float64(b.forms[form.Text])/float64(b.sessions()))
					if n := b.forms[form.Text]; n > 0 {
						used[form.Text] = true
						f.row(s, arm, b.name, form.Text, whole(float64(n)))
						said = append(said, fmt.Sprintf("%s, budget %s: %s in %s sessions", arm, b.name, form.Text, whole(float64(n))))
					}
				}
			}
		}
		if len(rows) == 0 {
			continue
		}
		d, err := bars(rows, segments, ends, 1, "share of sessions")
		if err != nil {
			return f, err
		}
		f.draw(s, d, strings.Join(said, "; "))
	}
	f.Key = slices.DeleteFunc(order, func(k key) bool { return !used[k.Text] })
	return f, nil
}

// budget is how many sessions had which form within it.
type budget struct {
	name  string
	forms map[string]int
}

func (b budget) sessions() (n int) {
	for _, sessions := range b.forms {
		n += sessions
	}
	return n
}

// budgets are those of an arm, ascending.
func budgets(forms map[int]map[string]int) (all []budget) {
	name := func(tokens int) string { return whole(float64(tokens)) }
	if len(forms) > budgetRows {
		name = metrics.PoolBin
	}
	for _, tokens := range slices.Sorted(maps.Keys(forms)) {
		if last := len(all) - 1; last < 0 || all[last].name != name(tokens) {
			all = append(all, budget{name(tokens), make(map[string]int)})
		}
		for form, n := range forms[tokens] {
			all[len(all)-1].forms[form] += n
		}
	}
	return all
}
