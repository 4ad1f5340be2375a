package compare

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/toolgauge/toolgauge/metrics"
)

// Column is a measure of an arm, over all classes of intents or over one.
type Column struct {
	Measure string `json:"measure"`
	Arm     string `json:"arm"`
	Class   string `json:"class,omitempty"`
}

// Difference is how a measure of an arm changed, over the items (sessions, golds, queries) that both runs have.
type Difference struct {
	Column
	Unit       string            `json:"unit"`
	Better     metrics.Direction `json:"better"`
	Population string            `json:"population"`
	// N is the number of pairs of items. An item may belong to the population of one run alone: a call that is lost there
	// has no extra requests.
	N            int `json:"n"`
	OnlyBefore   int `json:"items_only_before"`
	OnlyAfter    int `json:"items_only_after"`
	ItemsChanged int `json:"items_changed"`
	// Before and After are the means (or totals) over the pairs. Where items have no partner, they are not the runs' figures.
	Before     float64 `json:"before"`
	After      float64 `json:"after"`
	Difference float64 `json:"difference"` // After less Before
	// Interval is the 95 % interval of Difference, P the two-sided p of a paired randomisation test, and PHolm that p
	// adjusted for all columns that have a pair which differs.
	Interval metrics.Interval `json:"interval"`
	P        float64          `json:"p"`
	PHolm    float64          `json:"p_holm"`
	Verdict  Verdict          `json:"verdict"`
}

// columns collects the pairs of items.
type columns struct {
	items metrics.Items
	order []*column
	index map[Column]*column
}

// column is the pairs of one column.
type column struct {
	Difference
	total bool
	// differences has one value for each pair; while all are 0 it is empty.
	differences []float64
}

// newColumns starts the wanted columns, by default every measure of every arm.
func newColumns(wanted []Column, arms []string) *columns {
	c := &columns{items: metrics.NewItems(), index: make(map[Column]*column)}
	if wanted == nil {
		for _, arm := range arms {
			for _, m := range metrics.Measures() {
				wanted = append(wanted, Column{Measure: m.Name, Arm: arm})
			}
		}
	}
	for _, key := range wanted {
		m, ok := metrics.FindMeasure(key.Measure)
		if !ok || !metrics.HasItems(key.Measure) || c.index[key] != nil {
			continue
		}
		c.index[key] = &column{
			Difference: Difference{Column: key, Unit: m.Unit, Better: m.Better, Population: m.Population, P: 1, PHolm: 1, Verdict: Same},
			total:      metrics.IsTotal(key.Measure),
		}
		c.order = append(c.order, c.index[key])
	}
	return c
}

// itemKey is where an item stands in its session.
type itemKey struct {
	measure, arm, class string
	place               metrics.Place
}

// add pairs the items of one session.
func (c *columns) add(p pair) {
	before := make(map[itemKey]float64)
	c.items.Of(p.before, func(i metrics.Item) {
		if c.wants(i) {
			before[keyOf(i)] = i.Value
		}
	})
	c.items.Of(p.after, func(i metrics.Item) {
		if !c.wants(i) {
			return
		}
		was, paired := before[keyOf(i)]
		delete(before, keyOf(i))
		for _, column := range c.of(i.Measure, i.Arm, i.Class) {
			if paired {
				column.pair(was, i.Value)
			} else {
				column.OnlyAfter++
			}
		}
	})
	for key := range before { // a count: the order does not matter
		for _, column := range c.of(key.measure, key.arm, key.class) {
			column.OnlyBefore++
		}
	}
}

func keyOf(i metrics.Item) itemKey { return itemKey{i.Measure, i.Arm, i.Class, i.Place} }

func (c *columns) wants(i metrics.Item) bool { return len(c.of(i.Measure, i.Arm, i.Class)) > 0 }

// of are the columns that an item belongs to: that of all classes, and that of its own.
func (c *columns) of(measure, arm, class string) []*column {
	var list [2]*column
	n := 0
	if all := c.index[Column{measure, arm, ""}]; all != nil {
		list[n] = all
		n++
	}
	if own := c.index[Column{measure, arm, class}]; own != nil && class != "" {
		list[n] = own
		n++
	}
	return list[:n]
}

// pair adds a pair of items.
func (c *column) pair(before, after float64) {
	c.N++
	c.Before += before
	c.After += after
	d := after - before
	if d != 0 && c.differences == nil {
		c.differences = make([]float64, c.N-1)
	}
	if c.differences != nil {
		c.differences = append(c.differences, d)
	}
	if d != 0 {
		c.ItemsChanged++
	}
}

// differences finishes the columns that have a pair: means, intervals, tests.
func (c *columns) differences(ctx context.Context) ([]Difference, error) {
	var changed []*column
	for _, column := range c.order {
		if column.differences != nil {
			changed = append(changed, column)
		}
	}
	if err := test(ctx, changed); err != nil {
		return nil, err
	}
	var ps []float64
	for _, column := range changed {
		ps = append(ps, column.P)
	}
	for i, p := range metrics.Holm(ps) {
		changed[i].PHolm = p
	}
	list := []Difference{}
	for _, column := range c.order {
		if column.N+column.OnlyBefore+column.OnlyAfter > 0 {
			column.finish()
			list = append(list, column.Difference)
		}
	}
	return list, nil
}

// finish turns sums into means.
func (c *column) finish() {
	if c.N == 0 {
		return
	}
	sum := 0.0
	for _, d := range c.differences {
		sum += d
	}
	scale := 1 / float64(c.N)
	if c.total {
		scale = 1
		c.Interval.Low *= float64(c.N)
		c.Interval.High *= float64(c.N)
	}
	c.Difference.Difference = sum * scale
	c.Before, c.After = c.Before*scale, c.After*scale
	c.Verdict = verdict(c.ItemsChanged, c.Difference.Difference, c.Better)
}

// verdict says which way a mean moved.
func verdict(itemsChanged int, difference float64, better metrics.Direction) Verdict {
	switch {
	case itemsChanged == 0:
		return Same
	case difference == 0 || better == metrics.Neither:
		return Changed
	case (difference > 0) == (better == metrics.Higher):
		return Better
	default:
		return Worse
	}
}

// columnsAtOnce is how many columns share the draws of a bootstrap: drawing costs more than adding up.
const columnsAtOnce = 16

// test gives columns with differences their intervals and p-values. Columns of as many pairs are resampled together, which
// gives each what it would have alone.
func test(ctx context.Context, changed []*column) error {
	bySize := slices.Clone(changed)
	slices.SortStableFunc(bySize, func(a, b *column) int { return cmp.Compare(a.N, b.N) })
	var groups [][]*column
	for _, c := range bySize {
		last := len(groups) - 1
		if last < 0 || groups[last][0].N != c.N || len(groups[last]) == columnsAtOnce {
			groups = append(groups, nil)
			last++
		}
		groups[last] = append(groups[last], c)
	}
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, group := range groups {
		if ctx.Err() != nil {
			break
		}
		free <- struct{}{}
		wait.Go(func() {
			testGroup(group)
			<-free
		})
	}
	wait.Wait()
	return ctx.Err()
}

// testGroup tests columns of as many pairs.
func testGroup(group []*column) {
	values := make([]float64, group[0].N*len(group))
	items := make([][]float64, group[0].N)
	for i := range items {
		items[i] = values[i*len(group) : (i+1)*len(group)]
		for c, column := range group {
			items[i][c] = column.differences[i]
		}
	}
	intervals, ps := metrics.MeanIntervals(items), metrics.RandomisationTests(items)
	for c, column := range group {
		column.Interval, column.P = intervals[c], ps[c]
	}
}
