package page

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// evidence is what the tables of a run tell beyond its summary. Arms are positions in the summary's assumptions.
type evidence struct {
	arms    []string
	turns   [][]mean                 // by arm and turn: the effective tokens of a session so far
	forms   []map[int]map[string]int // by arm, budget and form of the listing: sessions
	intents []*intent                // the worst, worst first
	known   int                      // intents with a deferred gold
}

// mean is a running mean.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) { m.sum, m.n = m.sum+x, m.n+1 }

// value is the mean; 0 of nothing.
func (m mean) value() float64 {
	if m.n == 0 {
		return 0
	}
	return m.sum / float64(m.n)
}

// intent is how one intent fared in a run, over all sessions.
type intent struct {
	id, class string
	lost      []mean // by arm: 1 for a gold that was lost, 0 for one that was reached
	recall    []mean // by arm: recall@limit of the first query
	examples  []example
}

// example is one time that an arm met an intent: of all those, the first of those with the least recall.
type example struct {
	arms     []string
	paths    []string // by arm, those of the golds
	session  string
	row      int64
	turn     int
	recall   float64
	searches []metrics.Search
}

// gather reads the tables of a run, twice: first for what is over all sessions, then for examples of the worst intents.
// Memory grows with the number of different intents, and not with that of sessions.
func gather(ctx context.Context, run *reports.Run, limit int) (*evidence, error) {
	e := &evidence{}
	for _, arm := range run.Summary.Assumptions {
		e.arms = append(e.arms, arm.Name)
	}
	e.turns = make([][]mean, len(e.arms))
	e.forms = make([]map[int]map[string]int, len(e.arms))
	known := make(map[[2]string]*intent)
	for o, err := range run.Observations() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if err := e.checkArms(run.Dir, o); err != nil {
			return nil, err
		}
		for _, s := range o.Arms {
			e.addSession(s)
		}
		for _, c := range o.Calls {
			e.addCall(known, c)
		}
		for _, s := range o.Searches {
			e.addSearch(known, s)
		}
	}
	e.known = len(known)
	e.intents = worst(slices.Collect(maps.Values(known)), limit)
	return e, e.illustrate(ctx, run)
}

// checkArms refuses rows of arms that the summary does not have.
func (e *evidence) checkArms(dir string, o metrics.Observations) error {
	foreign := func(file, arm string) error {
		return fmt.Errorf("%s/%s: arm %q is not among those of %s\nhint: the files are not of one run; repeat the run", dir, file, arm, reports.SummaryFile)
	}
	for _, s := range o.Arms {
		if e.arm(s.Arm) < 0 {
			return foreign(reports.SessionArmsFile, s.Arm)
		}
	}
	for _, c := range o.Calls {
		if e.arm(c.Arm) < 0 {
			return foreign(reports.CallsFile, c.Arm)
		}
	}
	for _, s := range o.Searches {
		if e.arm(s.Arm) < 0 {
			return foreign(reports.SearchesFile, s.Arm)
		}
	}
	return nil
}

func (e *evidence) arm(name string) int { return slices.Index(e.arms, name) }

func (e *evidence) addSession(s metrics.SessionArm) {
	arm := e.arm(s.Arm)
	for turn, tokens := range s.EffectiveByTurn {
		if turn == len(e.turns[arm]) {
			e.turns[arm] = append(e.turns[arm], mean{})
		}
		e.turns[arm][turn].add(tokens)
	}
	if s.Activated {
		if e.forms[arm] == nil {
			e.forms[arm] = make(map[int]map[string]int)
		}
		if e.forms[arm][s.BudgetTokens] == nil {
			e.forms[arm][s.BudgetTokens] = make(map[string]int)
		}
		e.forms[arm][s.BudgetTokens][s.Form]++
	}
}

// intentOf finds or begins the record of an intent.
func (e *evidence) intentOf(known map[[2]string]*intent, id, class string) *intent {
	key := [2]string{id, class}
	if known[key] == nil {
		known[key] = &intent{id: id, class: class, lost: make([]mean, len(e.arms)), recall: make([]mean, len(e.arms))}
	}
	return known[key]
}

// addCall counts a gold that is deferred and was within reach.
func (e *evidence) addCall(known map[[2]string]*intent, c metrics.Call) {
	if !c.Deferred || c.Path == metrics.PathUnavailable || c.Path == metrics.PathDeclined {
		return
	}
	lost := 0.0
	if c.Path == metrics.PathLost {
		lost = 1
	}
	e.intentOf(known, c.IntentID, c.Class).lost[e.arm(c.Arm)].add(lost)
}

// addSearch judges the first query of an intent.
func (e *evidence) addSearch(known map[[2]string]*intent, s metrics.Search) {
	if s.Step > 0 {
		return
	}
	if judged, ok := metrics.Evaluate(s); ok {
		e.intentOf(known, s.IntentID, s.Class).recall[e.arm(s.Arm)].add(judged.AtLimit.Recall)
	}
}

// total is the mean over all arms.
func total(byArm []mean) (all mean) {
	for _, m := range byArm {
		all.sum, all.n = all.sum+m.sum, all.n+m.n
	}
	return all
}

// asked is how often an intent's golds were wanted under the arm that wanted them most.
func (i *intent) asked() (most int) {
	for arm := range i.lost {
		most = max(most, i.lost[arm].n, i.recall[arm].n)
	}
	return most
}

// worst are the intents that lose most of their golds over all arms, of equals those that their first query finds least of,
// and then those that are asked most.
func worst(all []*intent, limit int) []*intent {
	slices.SortFunc(all, func(a, b *intent) int {
		return cmp.Or(
			cmp.Compare(total(b.lost).value(), total(a.lost).value()),
			cmp.Compare(total(a.recall).value(), total(b.recall).value()),
			cmp.Compare(b.asked(), a.asked()),
			cmp.Compare(a.id, b.id), cmp.Compare(a.class, b.class))
	})
	return all[:min(limit, len(all))]
}

// illustrate finds an example of each intent under each arm. Arms whose example is the same search with the same hits
// share it.
func (e *evidence) illustrate(ctx context.Context, run *reports.Run) error {
	wanted := make(map[[2]string]*intent, len(e.intents))
	for _, i := range e.intents {
		wanted[[2]string{i.id, i.class}] = i
		i.examples = make([]example, len(e.arms))
	}
	if len(wanted) == 0 {
		return nil
	}
	for o, err := range run.Observations() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		for _, s := range o.Searches {
			if i := wanted[[2]string{s.IntentID, s.Class}]; i != nil {
				i.examples[e.arm(s.Arm)].take(s, o.Calls)
			}
		}
	}
	for _, i := range e.intents {
		i.examples = shared(i.examples)
	}
	return nil
}

// take makes the example the search's, or adds the search to it, or leaves it as it is.
func (x *example) take(s metrics.Search, calls []metrics.Call) {
	if s.Step > 0 {
		if len(x.searches) > 0 && x.session == s.SessionID && x.row == s.RowIndex && x.turn == s.Turn {
			x.searches = append(x.searches, s)
		}
		return
	}
	judged, ok := metrics.Evaluate(s)
	if !ok || len(x.searches) > 0 && judged.AtLimit.Recall >= x.recall {
		return
	}
	*x = example{arms: []string{s.Arm}, session: s.SessionID, row: s.RowIndex, turn: s.Turn, recall: judged.AtLimit.Recall, searches: []metrics.Search{s}}
	x.paths = []string{pathsOf(s, calls)}
}

// pathsOf are the ways to the golds of the intent that a search is for.
func pathsOf(s metrics.Search, calls []metrics.Call) string {
	paths := ""
	for _, c := range calls {
		if c.Arm == s.Arm && c.Turn == s.Turn && c.IntentID == s.IntentID {
			if paths != "" {
				paths += ", "
			}
			paths += string(c.Path)
		}
	}
	return paths
}

// shared merges examples that differ in their arm alone, and drops empty ones.
func shared(examples []example) (merged []example) {
	for _, x := range examples {
		if len(x.searches) == 0 {
			continue
		}
		at := slices.IndexFunc(merged, func(y example) bool {
			return x.session == y.session && x.row == y.row && x.turn == y.turn && slices.EqualFunc(x.searches, y.searches, sameSearch)
		})
		if at < 0 {
			merged = append(merged, x)
			continue
		}
		for i, search := range x.searches {
			merged[at].searches[i].Issued = merged[at].searches[i].Issued || search.Issued
		}
		merged[at].arms = append(merged[at].arms, x.arms...)
		merged[at].paths = append(merged[at].paths, x.paths...)
	}
	return merged
}

func sameSearch(a, b metrics.Search) bool {
	return a.Query == b.Query && a.Retriever == b.Retriever && a.PoolSize == b.PoolSize && a.Limit == b.Limit &&
		slices.Equal(a.Gold, b.Gold) && slices.Equal(a.Hits, b.Hits)
}
