package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/internal/textfile"
	"github.com/toolgauge/toolgauge/metrics"
)

// Options say what Evaluate asks.
type Options struct {
	Retrievers []string // names that search.New knows
	Runs       []string // paths of run files, of a single set
	Cutoffs    []int    // k, ascending, each at least 1
	// Distractors are laid beside the tools of each set until there are as many as each of PoolSizes; none: not asked.
	Distractors []Tool
	PoolSizes   []int
}

// Report is what retrievers make of labelled sets.
type Report struct {
	Sets []*SetReport `json:"sets"`
}

// SetReport is what retrievers make of one set.
type SetReport struct {
	Set    string `json:"set"`
	Format string `json:"format"`
	// PoolTools is the number of tools that each query is asked of; 0 of bare qrels, which do not say.
	PoolTools int `json:"pool_tools"`
	// Queries have a relevant tool; AbsentQueries have none.
	Queries       int          `json:"queries"`
	AbsentQueries int          `json:"absent_queries"`
	Retrievers    []Scores     `json:"retrievers"`
	Comparisons   []Comparison `json:"comparisons"`
	Pools         []Pool       `json:"pools,omitempty"`
	Notes         []string     `json:"notes"`

	set      *Set
	rankings []*Ranking
	judged   [][]judged // by retriever, by query
}

// Scores are the figures of one retriever.
type Scores struct {
	Retriever string   `json:"retriever"`
	Figures   []Figure `json:"figures"`
}

// Figure is a mean over queries.
type Figure struct {
	Measure  string           `json:"measure"`
	Value    float64          `json:"value"`
	Interval metrics.Interval `json:"interval_95"`
	N        int              `json:"queries"`
}

// Comparison is what one retriever has over the first, query by query.
type Comparison struct {
	Measure    string           `json:"measure"`
	Retriever  string           `json:"retriever"`
	Against    string           `json:"against"`
	Difference float64          `json:"difference"`
	Interval   metrics.Interval `json:"interval_95"`
	N          int              `json:"queries"`
	// P is that of a two-sided randomisation test, PHolm adjusted for all comparisons of the set.
	P     float64 `json:"p"`
	PHolm float64 `json:"p_holm"`
}

// Pool is what one retriever finds with distractors beside the set's tools.
type Pool struct {
	Retriever string `json:"retriever"`
	// Tools is the number of tools in the pool, Distractors how many of them are distractors.
	Tools       int `json:"pool_tools"`
	Distractors int `json:"distractors"`
	// Recall has a figure for each cutoff.
	Recall []Figure `json:"recall"`
}

// Evaluate asks every retriever all queries of every set. Each set needs a name of its own.
func Evaluate(ctx context.Context, sets []*Set, o Options) (*Report, error) {
	report := &Report{}
	var indexers []*indexer
	for _, name := range o.Retrievers {
		x, err := newIndexer(name)
		if err != nil {
			return nil, err
		}
		indexers = append(indexers, x)
	}
	for i, s := range sets {
		if slices.ContainsFunc(sets[:i], func(other *Set) bool { return other.Name == s.Name }) {
			return nil, fmt.Errorf("two sets have the name %s\nhint: rename the folder or file of one", textfile.Shown(s.Name))
		}
		r, err := evaluateSet(ctx, s, indexers, o)
		if err != nil {
			return nil, err
		}
		report.Sets = append(report.Sets, r)
	}
	return report, nil
}

func evaluateSet(ctx context.Context, s *Set, indexers []*indexer, o Options) (*SetReport, error) {
	r := &SetReport{
		Set: s.Name, Format: s.Format, PoolTools: len(s.Tools), Queries: s.Judged(), AbsentQueries: s.AbsentQueries(),
		Comparisons: []Comparison{}, Notes: append([]string{}, s.Notes...), set: s,
	}
	if len(s.Tools) == 0 && len(indexers) > 0 {
		return nil, fmt.Errorf("%s: judgements without tools, which no retriever can rank\nhint: give a run file by --run, and --retriever ''", s.Name)
	}
	for _, x := range indexers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.rankings = append(r.rankings, s.rank(x, s.Tools, Depth))
	}
	for _, path := range o.Runs {
		ranking, err := s.ReadRun(path)
		if err != nil {
			return nil, err
		}
		if ranking.note != "" {
			r.Notes = append(r.Notes, ranking.note)
		}
		r.rankings = append(r.rankings, ranking)
	}
	for i, ranking := range r.rankings {
		if slices.ContainsFunc(r.rankings[:i], func(other *Ranking) bool { return other.Retriever == ranking.Retriever }) {
			return nil, fmt.Errorf("two rankings have the name %s\nhint: rename the run file", textfile.Shown(ranking.Retriever))
		}
		r.judged = append(r.judged, s.judge(ranking, o.Cutoffs))
		r.Retrievers = append(r.Retrievers, Scores{ranking.Retriever, figures(r.judged[i], o.Cutoffs)})
	}
	r.compare(o.Cutoffs)
	return r, r.askAmong(ctx, indexers, o)
}

// figures sums up what one retriever does.
func figures(list []judged, cutoffs []int) []Figure {
	var items, absent [][]float64
	for i := range list {
		switch {
		case list[i].relevant > 0:
			items = append(items, list[i].values())
		case len(list[i].hits) == 0:
			absent = append(absent, []float64{1})
		default:
			absent = append(absent, []float64{0})
		}
	}
	return append(means(measureNames(cutoffs), items), means([]string{noMatchAccuracy}, absent)...)
}

// means are the figures of columns of values; there are none without items.
func means(names []string, items [][]float64) (list []Figure) {
	intervals := metrics.MeanIntervals(items)
	for c := range intervals {
		list = append(list, Figure{names[c], mean(items, c), intervals[c], len(items)})
	}
	return list
}

func mean(items [][]float64, column int) float64 {
	sum := 0.0
	for _, item := range items {
		sum += item[column]
	}
	return sum / float64(len(items))
}

// compared tells the measures that retrievers are compared by. The others say much the same again, and each test more
// makes all of them weaker.
func compared(cutoffs []int) []string {
	var names []string
	for _, k := range cutoffs {
		names = append(names, fmt.Sprintf("recall@%d", k))
	}
	return append(names, fmt.Sprintf("ndcg@%d", slices.Max(cutoffs)), "mrr", "map")
}

// compare tests each retriever against the first on the queries with gold.
func (r *SetReport) compare(cutoffs []int) {
	var columns []int
	for _, name := range compared(cutoffs) {
		columns = append(columns, slices.Index(measureNames(cutoffs), name))
	}
	for at := 1; at < len(r.judged); at++ {
		items := differences(r.judged[at], r.judged[0], columns)
		ps := metrics.RandomisationTests(items)
		for c, f := range means(compared(cutoffs), items) {
			r.Comparisons = append(r.Comparisons, Comparison{
				Measure: f.Measure, Retriever: r.rankings[at].Retriever, Against: r.rankings[0].Retriever,
				Difference: f.Value, Interval: f.Interval, N: f.N, P: ps[c],
			})
		}
	}
	ps := make([]float64, len(r.Comparisons))
	for i, c := range r.Comparisons {
		ps[i] = c.P
	}
	for i, p := range metrics.Holm(ps) {
		r.Comparisons[i].PHolm = p
	}
}

// differences are what one retriever has over another in some measures, for each query with gold.
func differences(list, against []judged, columns []int) (items [][]float64) {
	for i := range list {
		if list[i].relevant == 0 {
			continue
		}
		a, b := list[i].values(), against[i].values()
		item := make([]float64, len(columns))
		for c, column := range columns {
			item[c] = a[column] - b[column]
		}
		items = append(items, item)
	}
	return items
}
