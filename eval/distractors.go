package eval

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

// ReadDistractors reads tools to lay beside those of a set: whatever corpus.Load reads, the agent's own tools aside. Notes
// tell what reading decided on its own.
func ReadDistractors(path string) (tools []Tool, notes []string, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil, textfile.Unreadable(path, err)
	}
	c, err := corpus.Load(path)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range c.Tools {
		if !t.Builtin {
			tool := corpusTool(t)
			tool.ID = "distractor/" + tool.ID // never the ID of a gold
			tools = append(tools, tool)
		}
	}
	return tools, c.Notes, nil
}

// sameTool is what two tools have in common of which one could serve a query as well as the other: name and description,
// letter case and white space aside.
func sameTool(t *Tool) [2]string {
	plain := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	return [2]string{plain(t.Name), plain(t.Doc.Description)}
}

// strangers are the distractors that equal no tool of the set, in an order that is drawn once for all sets and sizes: each
// pool holds the smaller ones.
func (s *Set) strangers(distractors []Tool) []Tool {
	own := make(map[[2]string]bool, len(s.Tools))
	for i := range s.Tools {
		own[sameTool(&s.Tools[i])] = true
	}
	var strangers []Tool
	for _, at := range distributions.NewStream(1, "distractors", 0).Perm(len(distractors)) {
		if t := &distractors[at]; !own[sameTool(t)] {
			strangers = append(strangers, *t)
		}
	}
	return strangers
}

// askAmong asks the queries again in ever larger pools, beginning with the set alone. Sizes that the set alone exceeds are
// left out; one that there are too few distractors for becomes the largest that there are enough for.
func (r *SetReport) askAmong(ctx context.Context, indexers []*indexer, o Options) error {
	if len(o.Distractors) == 0 || len(indexers) == 0 || len(o.PoolSizes) == 0 || r.Queries == 0 {
		return nil
	}
	strangers := r.set.strangers(o.Distractors)
	if n := len(o.Distractors) - len(strangers); n > 0 {
		r.note("distractors that are left out because they equal a tool of %s by name and description: %d", r.Set, n)
	}
	own := len(r.set.Tools)
	most := own + len(strangers)
	sizes := []int{own}
	for _, size := range o.PoolSizes {
		if size >= own {
			sizes = append(sizes, min(size, most))
		}
	}
	if slices.Min(o.PoolSizes) < own {
		r.note("pools of fewer than the %d tools of %s are left out", own, r.Set)
	}
	if slices.Max(o.PoolSizes) > most {
		r.note("the largest pool of %s has %d tools, its own and all distractors: there are none for the %d that were asked for", r.Set, most, slices.Max(o.PoolSizes))
	}
	slices.Sort(sizes)
	for _, size := range slices.Compact(sizes) {
		pool := slices.Concat(r.set.Tools, strangers[:size-own])
		sortTools(pool)
		for _, x := range indexers {
			if err := ctx.Err(); err != nil {
				return err
			}
			ranking := r.set.rank(x, pool, slices.Max(o.Cutoffs))
			r.Pools = append(r.Pools, Pool{x.retriever.Name(), size, size - own, recalls(r.set.judge(ranking, o.Cutoffs), o.Cutoffs)})
		}
	}
	return nil
}

// recalls are the figures of recall, by cutoff.
func recalls(list []judged, cutoffs []int) []Figure {
	var items [][]float64
	for i := range list {
		if list[i].relevant == 0 {
			continue
		}
		var item []float64
		for _, c := range list[i].cuts {
			item = append(item, c.recall)
		}
		items = append(items, item)
	}
	return means(measureNames(cutoffs)[:len(cutoffs)], items)
}

func (r *SetReport) note(format string, values ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, values...))
}
