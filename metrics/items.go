package metrics

// Item is one member of a measure's population: what a session, a gold or an intent's first query counts for under an arm.
// An arm's figure is the mean of the values of its items, or their sum where [IsTotal] says so.
type Item struct {
	Measure string
	Arm     string
	Class   string // of the intent; empty for an item that is a whole session
	Place
	Value float64
}

// Place tells the items of one measure, arm and session apart. Of two runs of the same sessions, items of the same place are
// a pair.
type Place struct {
	Turn     int    // from 0; -1 for a whole session
	IntentID string // empty for a whole session
	Gold     int    // position among the intent's golds, from 0; -1 for what is no gold
}

// Items lists what one session adds to every figure. The observations are some that [Accumulator.Add] takes.
type Items struct{ rules []rule }

// NewItems prepares the measures for many sessions.
func NewItems() Items { return Items{rules()} }

// Of calls yield with every item of a session's observations: arms, calls and searches in their order, for each the
// measures in the order of [Measures].
func (x Items) Of(o Observations, yield func(Item)) {
	var eager *SessionArm
	for i := range o.Arms {
		if o.Arms[i].Arm == EagerArm {
			eager = &o.Arms[i]
		}
	}
	for _, s := range o.Arms {
		p := played{SessionArm: s, issued: issued(o.Searches, s.Arm)}
		if s.Arm != EagerArm {
			p.eager = eager
		}
		each(x.rules, func(r rule) func(played) (float64, bool) { return r.ofSession }, p,
			Item{Arm: s.Arm, Place: Place{Turn: -1, Gold: -1}}, yield)
	}
	for _, c := range o.Calls {
		each(x.rules, func(r rule) func(Call) (float64, bool) { return r.ofCall }, c,
			Item{Arm: c.Arm, Class: c.Class, Place: Place{c.Turn, c.IntentID, c.Gold}}, yield)
	}
	for _, s := range o.Searches {
		if s.Step > 0 {
			continue
		}
		j := judgedOf(s)
		each(x.rules, func(r rule) func(judged) (float64, bool) { return r.ofSearch }, j,
			Item{Arm: s.Arm, Class: s.Class, Place: Place{s.Turn, s.IntentID, -1}}, yield)
	}
}

// each yields an observation's item of every measure that it belongs to the population of.
func each[O any](rules []rule, value func(rule) func(O) (float64, bool), o O, item Item, yield func(Item)) {
	for i := range rules {
		f := value(rules[i])
		if f == nil {
			continue
		}
		if x, ok := f(o); ok {
			item.Measure, item.Value = rules[i].Name, x
			yield(item)
		}
	}
}

// IsTotal reports whether a measure's figure is the sum of its items and not their mean.
func IsTotal(measure string) bool {
	for _, r := range rules() {
		if r.Name == measure {
			return r.total
		}
	}
	return false
}

// HasItems reports whether a measure's figure is made of items. Break-evens are not: theirs come from sums over turns.
func HasItems(measure string) bool {
	for _, r := range rules() {
		if r.Name == measure {
			return r.ofSession != nil || r.ofCall != nil || r.ofSearch != nil
		}
	}
	return false
}
