package metrics

import (
	"maps"
	"slices"
	"strconv"
)

// BreakEven says from where on an arm is cheaper than [EagerArm], in effective tokens: from which turn of a session
// ([MeasureBreakEvenTurns]), or from how many tokens of deferred schemas ([MeasureBreakEvenTokens]).
//
// Each session is compared with itself under [EagerArm]; one that was not played under both arms, or whose tokens were not
// weighed, says nothing. Curve holds the mean saving at each place, and a place has a break-even behind it if the saving is
// above 0 there and at every later place that has sessions.
//
// Sessions differ in length, so at each turn only those that reach it are compared: a session that ended says nothing of
// later turns. The sessions at a later turn are thus fewer and longer ones. Likewise a session stands in one bin of
// deferred schemas, and one that defers nothing in none: the bridge is not there to be paid for.
type BreakEven struct {
	Measure string `json:"measure"`
	Arm     string `json:"arm"`
	// At is the place of the break-even: a turn counted from 1, or the lower edge of a bin in tokens; 0 if there is none.
	At       int64     `json:"at"`
	Sessions int       `json:"sessions"` // compared, at least 1
	Curve    []SavedAt `json:"curve"`    // by At, ascending; at least one
	Warnings []Warning `json:"warnings,omitempty"`
}

// SavedAt is what an arm saved at one place of a curve.
type SavedAt struct {
	// At is a turn, from 1, or the lower edge of a bin of deferred schema tokens, a power of two; its upper edge is the
	// next power of two.
	At       int64 `json:"at"`
	Sessions int   `json:"sessions"` // at the place, at least 1
	// SavedTokens are the effective tokens under [EagerArm] less those under the arm, mean over the sessions: by the end of
	// the turn, or of the whole session. Negative where the arm cost more.
	SavedTokens float64 `json:"saved_tokens"`
}

// String is the place, or "none".
func (b BreakEven) String() string {
	if b.At == 0 {
		return "none"
	}
	return strconv.FormatInt(b.At, 10)
}

// BreakEvens gives the break-evens of every arm that was played beside [EagerArm], in the order of arms of
// [Accumulator.Figures], for each arm by turns and then, if it defers anything, by tokens.
func (a *Accumulator) BreakEvens() []BreakEven {
	var all []BreakEven
	for _, name := range a.order {
		arm := a.arms[name]
		first := len(all)
		if len(arm.byTurn) > 0 {
			all = append(all, breakEven(MeasureBreakEvenTurns, name, arm.byTurn[1].n, arm.byTurn))
		}
		if len(arm.byDeferred) > 0 {
			sessions := 0
			for _, s := range arm.byDeferred {
				sessions += s.n
			}
			all = append(all, breakEven(MeasureBreakEvenTokens, name, sessions, arm.byDeferred))
		}
		for i := first; i < len(all) && a.countedOtherwise(name); i++ {
			all[i].Warnings = append(all[i].Warnings, WarnCountedOtherwise)
		}
	}
	return all
}

// saving sums what an arm saved at one place over the sessions that have the place.
type saving struct {
	tokens float64
	n      int
}

// addTo adds one session's saving to a place.
func addTo(savings map[int64]saving, at int64, tokens float64) {
	s := savings[at]
	savings[at] = saving{s.tokens + tokens, s.n + 1}
}

// addSaved adds what a session saved under the arm against eager.
func (t *armTotals) addSaved(eager, arm SessionArm) {
	if len(arm.EffectiveByTurn) == 0 || len(eager.EffectiveByTurn) == 0 {
		return
	}
	for i, tokens := range arm.EffectiveByTurn {
		addTo(t.byTurn, int64(i)+1, eager.EffectiveByTurn[i]-tokens)
	}
	if arm.DeferredSchemaTokens > 0 {
		addTo(t.byDeferred, lowerEdge(sizeBits(arm.DeferredSchemaTokens)), eager.EffectiveTokens-arm.EffectiveTokens)
	}
}

func breakEven(measure, arm string, sessions int, savings map[int64]saving) BreakEven {
	b := BreakEven{Measure: measure, Arm: arm, Sessions: sessions}
	for _, at := range slices.Sorted(maps.Keys(savings)) {
		s := savings[at]
		b.Curve = append(b.Curve, SavedAt{At: at, Sessions: s.n, SavedTokens: s.tokens / float64(s.n)})
	}
	for _, s := range slices.Backward(b.Curve) {
		if s.SavedTokens <= 0 {
			break
		}
		b.At = s.At
	}
	// The last place has few sessions as a rule, and decides whether the saving stays.
	if b.Curve[len(b.Curve)-1].Sessions < populationSmall {
		b.Warnings = append(b.Warnings, WarnThinEnd)
	}
	return b
}
