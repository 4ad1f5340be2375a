package sweep

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/replay"
)

// SchemaVersion is that of sweep.json and sweep.parquet.
const SchemaVersion = 1

// Report is what a sweep found.
type Report struct {
	SchemaVersion int             `json:"schema_version"`
	Source        Source          `json:"source"`
	Objective     Objective       `json:"objective"`
	Weights       metrics.Weights `json:"weights"`
	Settings      []replay.Arm    `json:"settings"` // resolved, under the default agent model
	Contexts      []*Context      `json:"contexts"`

	grid *Grid
}

// Source says what was played. Whoever runs a sweep fills it in.
type Source struct {
	Corpus         string `json:"corpus"`
	CorpusVersion  string `json:"corpus_version"`
	CorpusSHA256   string `json:"corpus_sha256"`
	SessionsSHA256 string `json:"sessions_sha256,omitempty"` // of a file
	Seed           uint64 `json:"seed"`
	Sessions       int    `json:"sessions"`
}

// Context is what holds for the sessions of one context length.
type Context struct {
	Length   int        `json:"context_length_tokens"` // 0: not known
	Sessions int        `json:"sessions"`
	Outcomes []*Outcome `json:"outcomes"` // by agent model; the first is the one that is recommended for
}

// Outcome is what holds under one agent model.
type Outcome struct {
	Model          Model          `json:"model"`
	Recommendation Recommendation `json:"recommendation"`
	Points         []*Point       `json:"points"` // in the order of the grid
}

// Point is one setting under the model and context of its outcome.
type Point struct {
	Setting string `json:"setting"`
	// Group numbers the points from 1: those of one number behave alike in every
	// session.
	Group int `json:"group"`
	// Fits: no setting's tools array is larger than the context in fewer sessions.
	Fits bool `json:"fits"`
	// Eligible: it may be recommended.
	Eligible  bool    `json:"eligible"`
	Front     bool    `json:"front"` // it fits, and no other one that fits beats it
	Objective float64 `json:"objective"`
	Figures

	index int // in the grid's points
}

// Figures are those of one point, by measure. Those without a population are left
// out; of the others the population is the number of sessions where none is given.
type Figures struct {
	EffectiveTokens  float64  `json:"effective_tokens"`
	NetSaved         *float64 `json:"net_saved,omitempty"`
	PromptTokens     float64  `json:"prompt_tokens"`
	Requests         float64  `json:"requests"`
	SurfaceTokens    float64  `json:"surface_tokens"`
	ListingTokens    float64  `json:"listing_tokens"`
	OverContext      *float64 `json:"over_context,omitempty"`
	WrongCalls       float64  `json:"wrong_calls"`
	ColdCalls        *float64 `json:"cold_calls,omitempty"`
	ExtraRequests    *float64 `json:"extra_requests,omitempty"`
	ReachedColdCalls int      `json:"reached_cold_calls"`
	LostRate         *float64 `json:"lost_rate,omitempty"`
	GoldsWithinReach int      `json:"golds_within_reach"`
}

// Recommendation is the setting to take, and what speaks for it.
type Recommendation struct {
	Setting string `json:"setting"`
	// Same describes the settings that behave exactly like it, itself included.
	Same string `json:"same"`
	Why  string `json:"why"`
	// Edge says that a value is the largest or the smallest that was tried, so that
	// others beyond may be better; empty if none is.
	Edge string `json:"edge,omitempty"`
	// Next and Default are what the next best setting and the default ones have more
	// of the objective; nil where there is no other, or where it is recommended.
	Next    *Comparison `json:"next_best"`
	Default *Comparison `json:"default"`
	// Elsewhere is what becomes of it under the other models.
	Elsewhere []Elsewhere `json:"elsewhere,omitempty"`
}

// Elsewhere is what becomes of a recommendation under another model.
type Elsewhere struct {
	Model Model `json:"model"`
	// Setting is the one recommended there; Holds: it is the same, or behaves so.
	Setting string `json:"setting"`
	Holds   bool   `json:"holds"`
	// Keeping is what the first recommendation costs there, and LostRate what it
	// loses; nil where it holds or was not played.
	Keeping  *Comparison `json:"keeping,omitempty"`
	LostRate *float64    `json:"lost_rate,omitempty"`
	// BestLostRate is that of Setting.
	BestLostRate *float64 `json:"best_lost_rate,omitempty"`
}

func newReport(o Options, c *collector) *Report {
	r := &Report{SchemaVersion: SchemaVersion, Objective: o.Objective, Weights: o.Weights, grid: c.grid}
	for _, s := range c.grid.settings {
		r.Settings = append(r.Settings, s.Arm)
	}
	for _, length := range slices.Sorted(maps.Keys(c.tally)) {
		t := c.tally[length]
		context := &Context{Length: length, Sessions: t.sessions}
		for model := range c.grid.models {
			context.Outcomes = append(context.Outcomes, newOutcome(o.Objective, c.grid, t, model))
		}
		first := context.Outcomes[0]
		for _, other := range context.Outcomes[1:] {
			first.Recommendation.Elsewhere = append(first.Recommendation.Elsewhere, elsewhere(o.Objective, c.grid, t, first, other))
		}
		r.Contexts = append(r.Contexts, context)
		r.Source.Sessions += t.sessions
	}
	r.Source.Sessions /= max(1, len(c.grid.contexts))
	return r
}

// name is that of a point's setting.
func (g *Grid) name(point int) string { return g.settings[g.points[point].setting].Name }

// newOutcome finds front and recommendation under one model.
func newOutcome(o Objective, g *Grid, t *tally, model int) *Outcome {
	out := &Outcome{Model: g.models[model], Points: pointsOf(o, g, t, model)}
	leastOver := least(out.Points, func(p *Point) (float64, bool) { return value(p.OverContext), true })
	for _, p := range out.Points {
		p.Fits = value(p.OverContext) == leastOver
	}
	bound := newLostBound(o, out.Points)
	for _, p := range out.Points {
		p.Eligible = p.Fits && value(p.LostRate) <= bound.rate+LostTolerance
		p.Front = p.Fits && !slices.ContainsFunc(out.Points, func(by *Point) bool { return by.Fits && beaten(by.axes(), p.axes()) })
	}
	out.recommend(o, g, t, bound)
	return out
}

// pointsOf are the points of one model, with their figures and groups.
func pointsOf(o Objective, g *Grid, t *tally, model int) []*Point {
	bySetting := make(map[string][]metrics.Figure)
	for _, f := range t.figures[model].Figures() {
		if f.Class == "" && f.PoolBin == "" {
			bySetting[f.Arm] = append(bySetting[f.Arm], f)
		}
	}
	var points []*Point
	groups := make(map[int]int)
	for i, p := range g.points {
		if p.model != model {
			continue
		}
		if groups[t.classes[i]] == 0 {
			groups[t.classes[i]] = 1 + len(groups)
		}
		point := &Point{Setting: g.name(i), Group: groups[t.classes[i]], Figures: figuresOf(bySetting[g.name(i)]), index: i}
		point.Objective = o.of(point.axes())
		points = append(points, point)
	}
	return points
}

// figuresOf puts figures where they belong.
func figuresOf(list []metrics.Figure) (f Figures) {
	for _, m := range list {
		switch m.Measure {
		case metrics.MeasureEffectiveTokens:
			f.EffectiveTokens = m.Value
		case metrics.MeasureNetSaved:
			f.NetSaved = &m.Value
		case "prompt_tokens":
			f.PromptTokens = m.Value
		case "requests":
			f.Requests = m.Value
		case "surface_tokens":
			f.SurfaceTokens = m.Value
		case "listing_tokens":
			f.ListingTokens = m.Value
		case "over_context":
			f.OverContext = &m.Value
		case "wrong_calls":
			f.WrongCalls = m.Value
		case "cold_calls":
			f.ColdCalls = &m.Value
		case metrics.MeasureExtraRequests:
			f.ExtraRequests, f.ReachedColdCalls = &m.Value, m.N
		case metrics.MeasureLostRate:
			f.LostRate, f.GoldsWithinReach = &m.Value, m.N
		}
	}
	return f
}

// value is a figure, 0 where there is none: nothing is over a context that is not
// known, and where nothing is called cold, nothing is waited for.
func value(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

// axes are the point's figures along the axes.
func (p *Point) axes() [3]float64 {
	return [3]float64{p.EffectiveTokens, value(p.ExtraRequests), value(p.LostRate)}
}

// lostBound is the lost rate that others are held against, and whose it is.
type lostBound struct {
	rate float64
	of   string
}

// newLostBound is the least lost rate of what lists tools, or, if nothing does, of
// what defers them. A weighted objective needs no bound: it weighs.
func newLostBound(o Objective, points []*Point) lostBound {
	if o.Given {
		return lostBound{rate: math.Inf(1)}
	}
	listing := least(points, func(p *Point) (float64, bool) { return value(p.LostRate), p.Fits && p.ListingTokens > 0 })
	if !math.IsInf(listing, 1) {
		return lostBound{listing, "listing"}
	}
	return lostBound{least(points, func(p *Point) (float64, bool) { return value(p.LostRate), p.Fits && p.Setting != metrics.EagerArm }), "bridge"}
}

// recommend takes, of the eligible points, of which there is always one, the one
// with the least of the objective. Among equals the default settings come first,
// then eager, then the fewest changes, then the order of the grid.
func (out *Outcome) recommend(o Objective, g *Grid, t *tally, bound lostBound) {
	var eligible []*Point
	for _, p := range out.Points {
		if p.Eligible {
			eligible = append(eligible, p)
		}
	}
	slices.SortStableFunc(eligible, func(a, b *Point) int {
		return cmp.Or(cmp.Compare(a.Objective, b.Objective), g.simpler(a.index, b.index))
	})
	best := eligible[0]
	r := &out.Recommendation
	r.Setting, r.Same, r.Edge = best.Setting, g.describe(out.groupOf(best)), g.edge(out.groupOf(best))
	for _, p := range eligible {
		if p.Group != best.Group {
			r.Next = o.compare(t, g, p.index, best.index)
			break
		}
	}
	for _, p := range out.Points {
		if p.Setting == DefaultSetting && p.Group != best.Group {
			r.Default = o.compare(t, g, p.index, best.index)
		}
	}
	r.Why = out.why(o, best, len(eligible), bound)
}

// groupOf are the grid's points that behave like one.
func (out *Outcome) groupOf(of *Point) (group []int) {
	for _, p := range out.Points {
		if p.Group == of.Group {
			group = append(group, p.index)
		}
	}
	return group
}

// point is the one of a setting, or nil.
func (out *Outcome) point(setting string) *Point {
	i := slices.IndexFunc(out.Points, func(p *Point) bool { return p.Setting == setting })
	if i < 0 {
		return nil
	}
	return out.Points[i]
}

// simpler orders two points by how much is set.
func (g *Grid) simpler(a, b int) int {
	return cmp.Or(cmp.Compare(g.changed(a), g.changed(b)), cmp.Compare(a, b))
}

// changed counts what is set: nothing for the default settings, and little for
// eager, which has nothing to set.
func (g *Grid) changed(point int) int {
	s := g.settings[g.points[point].setting]
	plain := slices.IndexFunc(g.settings, func(s Setting) bool { return s.Name == DefaultSetting })
	n := 2
	switch s.Name {
	case DefaultSetting:
		return 0
	case metrics.EagerArm:
		return 1
	}
	for i, v := range s.values {
		if v != g.settings[plain].values[i] {
			n++
		}
	}
	return n
}

// elsewhere says what becomes of the first model's recommendation under another.
func elsewhere(o Objective, g *Grid, t *tally, first, other *Outcome) Elsewhere {
	e := Elsewhere{Model: other.Model, Setting: other.Recommendation.Setting}
	kept, best := other.point(first.Recommendation.Setting), other.point(e.Setting)
	e.BestLostRate = best.LostRate
	switch {
	case kept == nil:
	case kept.Group == best.Group:
		e.Holds = true
	default:
		e.Keeping, e.LostRate = o.compare(t, g, kept.index, best.index), kept.LostRate
	}
	return e
}
