// Package sweep finds the settings to run with: it plays the same sessions under
// many and says which to take, and by how much.
//
// The steps: a grid of values, or a list of arms, gives settings; settings and
// agent models give points; one replay plays every session under all points, once
// for those that behave alike in it; each point gets its figures, for each context
// length; those that no other one beats are the front; of them, by an objective,
// one setting is recommended, with its margin over the next best and over the
// default settings, paired session by session, and with what becomes of it under
// the other agent models.
//
// The figures of a point are those of a separate run of its arm. The same grid and
// sessions give the same report, byte for byte, whatever the number of workers.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/sessions"
)

// Limits on what one sweep holds.
const (
	// PointsMax bounds the settings times the agent models.
	PointsMax = 2000
	// contextsMax bounds the context lengths, each of which has tables of its own.
	contextsMax = 16
	// cellsMax bounds the points times the sessions: the margins need the figures
	// of each session under each point.
	cellsMax = 10_000_000
)

// Options say what is played.
type Options struct {
	Corpus       *corpus.Corpus // required
	Grid         *Grid          // required
	Objective    Objective
	Weights      metrics.Weights // of effective tokens; the zero value is the default
	SystemPrompt string          // empty for the default one
	Workers      int
	// Played is called after each session, if it is set.
	Played func()
}

// Run plays the sessions under every point of the grid and reports.
func Run(ctx context.Context, o Options, all iter.Seq2[*sessions.Session, error]) (*Report, error) {
	c := newCollector(o.Grid)
	if o.Weights == (metrics.Weights{}) {
		o.Weights = metrics.DefaultWeights()
	}
	options := replay.Options{Corpus: o.Corpus, Arms: o.Grid.arms(), Weights: o.Weights, SystemPrompt: o.SystemPrompt}
	plays := 0
	err := replay.RunAlike(ctx, options, o.Grid.inContexts(all), o.Workers, func(alike []replay.Alike) error {
		if err := c.add(alike); err != nil {
			return err
		}
		if plays++; o.Played != nil && plays%max(1, len(o.Grid.contexts)) == 0 {
			o.Played()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if plays == 0 {
		return nil, errors.New("no sessions\nhint: draw at least one, or name a file that holds some")
	}
	return newReport(o, c), nil
}

// inContexts are the sessions, each once for every context length of the grid, or
// as they are if it has none.
func (g *Grid) inContexts(all iter.Seq2[*sessions.Session, error]) iter.Seq2[*sessions.Session, error] {
	if len(g.contexts) == 0 {
		return all
	}
	return func(yield func(*sessions.Session, error) bool) {
		for s, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, length := range g.contexts {
				resized := *s
				resized.ContextLength = length
				if !yield(&resized, nil) {
					return
				}
			}
		}
	}
}

// cell is what one session gave under one point, as far as objectives go.
type cell struct {
	effective float64
	// cold calls reached, and their extra requests; golds within reach, and those
	// lost: as the measures of these names count them.
	reached, extra, within, lost int32
}

func cellOf(a replay.Alike) cell {
	c := cell{effective: a.Row.EffectiveTokens}
	for _, call := range a.Calls {
		if call.Cold && call.Path.Reached() {
			c.reached++
			c.extra += int32(call.ExtraRequests)
		}
		if call.Path != metrics.PathUnavailable && call.Path != metrics.PathDeclined {
			c.within++
		}
		if call.Path == metrics.PathLost {
			c.lost++
		}
	}
	return c
}

// collector takes in sessions, in their order.
type collector struct {
	grid  *Grid
	tally map[int]*tally // by context length
	cells int
}

// tally is what the sessions of one context length gave.
type tally struct {
	sessions int
	cells    []cell // for each session, one for each point
	// classes number the points: those of one class behaved alike in every session.
	classes []int
	figures []*metrics.Accumulator // by model
}

func newCollector(g *Grid) *collector { return &collector{grid: g, tally: make(map[int]*tally)} }

// measures are those that a sweep gives figures of.
func measures() []string {
	return []string{
		"surface_tokens", "listing_tokens", "over_context", "requests", "prompt_tokens", metrics.MeasureEffectiveTokens,
		metrics.MeasureNetSaved, "wrong_calls", "cold_calls", metrics.MeasureExtraRequests, metrics.MeasureLostRate,
	}
}

// of returns the tally of a context length.
func (c *collector) of(length int) (*tally, error) {
	t := c.tally[length]
	if t == nil {
		if len(c.tally) == contextsMax {
			return nil, fmt.Errorf("the sessions have more than %d context lengths\nhint: play them all with some that you choose, as in context_length=32000,200000", contextsMax)
		}
		t = &tally{classes: make([]int, len(c.grid.points))}
		for range c.grid.models {
			t.figures = append(t.figures, metrics.NewAccumulator(measures()...))
		}
		c.tally[length] = t
	}
	return t, nil
}

// add takes in one session.
func (c *collector) add(all []replay.Alike) error {
	if c.cells += len(c.grid.points); c.cells > cellsMax {
		return fmt.Errorf("more than %d sessions times points\nhint: take fewer sessions, or fewer values", cellsMax)
	}
	t, err := c.of(all[0].Row.ContextLength)
	if err != nil {
		return err
	}
	t.sessions++
	from := len(t.cells)
	t.cells = append(t.cells, make([]cell, len(c.grid.points))...)
	of := make([]int, len(c.grid.points)) // the element of all that a point is in
	for i, a := range all {
		cell := cellOf(a)
		for _, point := range a.Arms {
			t.cells[from+point], of[point] = cell, i
		}
	}
	t.refine(contents(all), of)
	for model, figures := range t.figures {
		if err := figures.Add(c.observations(all, of, model)); err != nil {
			return err
		}
	}
	return nil
}

// observations are those of a session under the points of one model, whose arms
// bear the names of their settings.
func (c *collector) observations(all []replay.Alike, of []int, model int) (o metrics.Observations) {
	for i, p := range c.grid.points {
		if p.model != model {
			continue
		}
		row := all[of[i]].Row
		row.Arm = c.grid.settings[p.setting].Name
		o.Arms = append(o.Arms, row)
		for _, call := range all[of[i]].Calls {
			call.Arm = row.Arm
			o.Calls = append(o.Calls, call)
		}
	}
	return o
}
