package metrics

import "strconv"

// BreakEven says from which turn on an arm is cheaper than [EagerArm], in prompt tokens since the session began.
//
// Sessions differ in length, so at each turn only those that reach it are compared, each with itself under [EagerArm]: a
// session that ended says nothing of later turns, and one that was not played under both arms says nothing at all. The
// sessions at a later turn are thus fewer and longer ones, and Curve shows how many they are. The last turn that any
// session reaches is the last that "stay" can mean.
type BreakEven struct {
	Arm string `json:"arm"`
	// Turn is the smallest one, counted from 1, from which the mean saving is above 0 at every turn to the last; 0 if there
	// is none.
	Turn     int         `json:"turn"`
	Curve    []TurnSaved `json:"curve"` // from turn 1, at least one
	Warnings []Warning   `json:"warnings,omitempty"`
}

// TurnSaved is what an arm saved by the end of a turn.
type TurnSaved struct {
	Turn     int `json:"turn"`     // from 1
	Sessions int `json:"sessions"` // that reach the turn, at least 1
	// SavedTokens are the prompt tokens of all requests so far under EagerArm less those under the arm, mean over the
	// sessions; negative where the arm cost more.
	SavedTokens float64 `json:"saved_tokens"`
}

// String is the turn, or "none".
func (b BreakEven) String() string {
	if b.Turn == 0 {
		return "none"
	}
	return strconv.Itoa(b.Turn)
}

// BreakEvens gives the break-even of every arm that was played beside [EagerArm], in the order of arms of
// [Accumulator.Figures].
func (a *Accumulator) BreakEvens() []BreakEven {
	var all []BreakEven
	for _, name := range a.order {
		if saved := a.arms[name].saved; len(saved) > 0 {
			all = append(all, breakEven(name, saved))
		}
	}
	return all
}

// savedByTurn sums what an arm saved by the end of one turn over the sessions that have the turn.
type savedByTurn struct {
	tokens   int64
	sessions int
}

// addTurns adds one session: cumulative prompt tokens after each turn, under the eager arm and under this one.
func (t *armTotals) addTurns(eager, arm []int64) {
	for turn := range arm {
		if turn == len(t.saved) {
			t.saved = append(t.saved, savedByTurn{})
		}
		t.saved[turn].tokens += eager[turn] - arm[turn]
		t.saved[turn].sessions++
	}
}

func breakEven(arm string, saved []savedByTurn) BreakEven {
	b := BreakEven{Arm: arm, Curve: make([]TurnSaved, len(saved))}
	stays := true
	for i := len(saved) - 1; i >= 0; i-- {
		s := saved[i]
		b.Curve[i] = TurnSaved{Turn: i + 1, Sessions: s.sessions, SavedTokens: float64(s.tokens) / float64(s.sessions)}
		if stays = stays && s.tokens > 0; stays {
			b.Turn = i + 1
		}
	}
	// The last turn has the fewest sessions, and decides whether the saving stays.
	if saved[len(saved)-1].sessions < populationSmall {
		b.Warnings = append(b.Warnings, WarnSmallPopulation)
	}
	return b
}
