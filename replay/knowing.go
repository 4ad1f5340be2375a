package replay

import (
	"slices"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
)

// knowing plays the agent models that know the right tools when they read their
// names. A tool on the surface they call; one that the listing or a search named
// they describe and then call; `blind` calls it at once and describes nothing.
// For any other, `aware` searches with the writer's next query, one search for
// all golds that are not in sight; `unaware` and `blind` give it up.
type knowing struct {
	searches bool
	blind    bool
	// asked are the tools whose description was asked for: what did not help the
	// first time is not done again.
	asked []string
}

func (k *knowing) next(a *attempt) []move {
	p := a.play
	var moves []move
	var describe []string // in one go, in the place of the first of them
	var unseen []*goldCall
	place := 0
	for _, g := range a.ready() {
		switch {
		case g.visible:
			moves = append(moves, g.directly())
		case p.shown.Activated && p.described[g.name]:
			moves = append(moves, a.through(g, g.arguments))
		case g.named && k.blind:
			moves = append(moves, a.through(g, g.stated))
		case g.named && slices.Contains(describe, g.name): // two calls of one tool
		case g.named && slices.Contains(k.asked, g.name):
			g.lose(a)
		case g.named:
			if len(describe) == 0 {
				place = len(moves)
			}
			describe = append(describe, g.name)
		default:
			unseen = append(unseen, g)
		}
	}
	if len(describe) > 0 {
		k.asked = append(k.asked, describe...)
		moves = slices.Insert(moves, place, a.describe(describe...)...)
	}
	declines := len(a.golds) == 0
	if len(unseen) == 0 && !declines {
		return moves
	}
	if k.searches && p.shown.Activated && a.searched < len(a.queries) {
		return append(moves, a.search(func(g *goldCall) bool { return g.visible || g.named || p.described[g.name] }))
	}
	for _, g := range unseen {
		g.lose(a)
	}
	return moves
}

func (k *knowing) learn(a *attempt, m *move) {
	switch {
	case m.gold != nil:
		m.gold.settle(a, m)
	case m.name == bridge.SearchTool:
		a.found(m)
	}
}
