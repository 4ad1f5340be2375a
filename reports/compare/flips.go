package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// What of an intent can flip.
const (
	// FlipCall: whether the call of a gold is reached, lost, unavailable, or answered with an error.
	FlipCall = "call"
	// FlipHit: whether a gold is among the first search_default_limit hits of the intent's first query.
	FlipHit = "hit@limit"
	// FlipNoMatch: whether the first query of an intent that no tool serves is answered with no hits.
	FlipNoMatch = "no_match"
)

// Flip is an intent of which something turned into its opposite under an arm, in one session or in many.
type Flip struct {
	Arm      string  `json:"arm"`
	IntentID string  `json:"intent_id"`
	Class    string  `json:"class"`
	What     string  `json:"what"` // FlipCall, FlipHit or FlipNoMatch
	Tool     string  `json:"tool,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Times    int     `json:"times"` // turns in which it did, over all sessions
	// Before, After, Query and At are of the first of them. Query is that of a search.
	Before string   `json:"before"`
	After  string   `json:"after"`
	Query  string   `json:"query,omitempty"`
	At     Location `json:"at"`
	// Command plays the session of At alone, as the run after did; empty where its flags are not known, as of a merged run.
	Command string `json:"command,omitempty"`
}

// flipKey is what flips are counted by.
type flipKey struct {
	arm, intent, what string
	gold              int
	verdict           Verdict
}

// flips collects what flipped.
type flips struct {
	arms  []string
	order []*Flip
	index map[flipKey]*Flip
}

func newFlips(arms []string) *flips { return &flips{arms: arms, index: make(map[flipKey]*Flip)} }

// armPlace is a place under an arm.
type armPlace struct {
	arm   string
	place metrics.Place
}

// add looks for flips in one session.
func (f *flips) add(p pair) {
	calls := make(map[armPlace]metrics.Call)
	for _, c := range p.before.Calls {
		calls[armPlace{c.Arm, metrics.Place{Turn: c.Turn, IntentID: c.IntentID, Gold: c.Gold}}] = c
	}
	for _, c := range p.after.Calls {
		was, ok := calls[armPlace{c.Arm, metrics.Place{Turn: c.Turn, IntentID: c.IntentID, Gold: c.Gold}}]
		if before, after := outcomeOf(was), outcomeOf(c); ok && before.word != after.word {
			f.note(flipKey{c.Arm, c.IntentID, FlipCall, c.Gold, ranked(before.rank, after.rank)}, Flip{
				Class: c.Class, Tool: c.Tool, Before: before.String(), After: after.String(), At: at(p, c.Turn),
			})
		}
	}
	searches := make(map[armPlace]metrics.Search)
	for _, s := range p.before.Searches {
		if s.Step == 0 {
			searches[armPlace{s.Arm, metrics.Place{Turn: s.Turn, IntentID: s.IntentID}}] = s
		}
	}
	for _, s := range p.after.Searches {
		was, ok := searches[armPlace{s.Arm, metrics.Place{Turn: s.Turn, IntentID: s.IntentID}}]
		if !ok || s.Step > 0 {
			continue
		}
		before, after := foundOf(was), foundOf(s)
		if before.what == after.what && before.what != "" && before.good != after.good {
			f.note(flipKey{s.Arm, s.IntentID, before.what, 0, ranked(rankOf(before.good), rankOf(after.good))}, Flip{
				Class: s.Class, Before: before.words, After: after.words, Query: s.Query, At: at(p, s.Turn),
			})
		}
	}
}

func at(p pair, turn int) Location {
	l := p.at
	l.Turn = turn
	return l
}

// note counts a flip.
func (f *flips) note(key flipKey, first Flip) {
	if known := f.index[key]; known != nil {
		known.Times++
		return
	}
	first.Arm, first.IntentID, first.What, first.Verdict, first.Times = key.arm, key.intent, key.what, key.verdict, 1
	f.index[key] = &first
	f.order = append(f.order, &first)
}

// list gives the flips: worse ones first, then by arm, the most frequent first.
func (f *flips) list(after *reports.Run) []Flip {
	verdicts := []Verdict{Worse, Changed, Better}
	slices.SortStableFunc(f.order, func(a, b *Flip) int {
		return cmp.Or(
			cmp.Compare(slices.Index(verdicts, a.Verdict), slices.Index(verdicts, b.Verdict)),
			cmp.Compare(slices.Index(f.arms, a.Arm), slices.Index(f.arms, b.Arm)),
			cmp.Compare(b.Times, a.Times),
		)
	})
	list := []Flip{}
	for _, flip := range f.order {
		flip.Command = RunCommand(after, flip.Arm, flip.At)
		list = append(list, *flip)
	}
	return list
}

// outcome is what became of a call.
type outcome struct {
	word string
	path metrics.Path
	rank int // the higher the better
}

func outcomeOf(c metrics.Call) outcome {
	switch {
	case c.Path.Reached() && c.Failed:
		return outcome{"failed", c.Path, 1}
	case c.Path.Reached():
		return outcome{"reached", c.Path, 2}
	default:
		return outcome{string(c.Path), c.Path, 0}
	}
}

// String is the outcome with the path that led to it.
func (o outcome) String() string {
	if o.word == string(o.path) {
		return o.word
	}
	return fmt.Sprintf("%s (%s)", o.word, o.path)
}

// ranked is the verdict on a change of rank.
func ranked(before, after int) Verdict {
	switch {
	case after > before:
		return Better
	case after < before:
		return Worse
	default:
		return Changed
	}
}

func rankOf(good bool) int {
	if good {
		return 1
	}
	return 0
}

// found is what became of a first query.
type found struct {
	what  string // FlipHit or FlipNoMatch; empty where there is nothing to judge
	good  bool
	words string
}

func foundOf(s metrics.Search) found {
	if s.Class == metrics.ClassAbsent {
		if len(s.Hits) == 0 {
			return found{FlipNoMatch, true, "no hits"}
		}
		return found{FlipNoMatch, false, "first hit " + s.Hits[0].Tool}
	}
	judged, ok := metrics.Evaluate(s)
	if !ok {
		return found{}
	}
	if judged.AtLimit.Success > 0 {
		for _, hit := range s.Hits {
			if slices.Contains(s.Gold, hit.Tool) {
				return found{FlipHit, true, fmt.Sprintf("rank %d", hit.Rank)}
			}
		}
	}
	if len(s.Hits) == 0 {
		return found{FlipHit, false, "no hits"}
	}
	return found{FlipHit, false, fmt.Sprintf("not within %d", s.Limit)}
}
