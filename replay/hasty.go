package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// picksMax is how many wrong tools `hasty` calls from what it is shown, counted
// apart for the listing and for its searches.
const picksMax = 3

// hasty plays the agent model `hasty`, which does not know which tool is gold. A
// gold on the surface it calls, as the eager arm does, so that what it costs more
// is the bridge's. Otherwise it takes the line of the listing that bm25 ranks
// first for the utterance, describes and calls that tool, and if it was no gold,
// takes the next line, three wrong ones at most. Then it searches, and does the
// same with the hits in the order shown. Then the gold is lost.
type hasty struct {
	begun   bool
	lines   []string // ranked lines of the listing, not tried yet
	hits    []string // hits of the searches, not tried yet
	tried   []string
	wrong   int // calls from the list in use
	queried bool
	pick    string // the tool in hand; empty for none
	loaded  bool   // its description was asked for
}

func (h *hasty) next(a *attempt) []move {
	if !h.begun {
		h.begun = true
		h.lines = a.play.rankedLines(a.turn.Utterance)
	}
	var moves []move
	var hidden []*goldCall
	for _, g := range a.ready() {
		if g.visible {
			moves = append(moves, g.directly())
		} else {
			hidden = append(hidden, g)
		}
	}
	if len(hidden) == 0 && len(a.golds) > 0 {
		return moves
	}
	if !a.play.shown.Activated {
		h.giveUp(a, hidden)
		return moves
	}
	if h.pick == "" {
		h.choose(hidden, a)
	}
	switch {
	case h.pick != "":
		return append(moves, h.use(a, hidden)...)
	case a.searched < len(a.queries) && !(h.queried && h.wrong >= picksMax):
		if !h.queried {
			h.queried, h.wrong = true, 0
		}
		return append(moves, a.search(func(g *goldCall) bool { return g.visible }))
	default:
		h.giveUp(a, hidden)
		return moves
	}
}

func (h *hasty) giveUp(a *attempt, golds []*goldCall) {
	for _, g := range golds {
		g.lose(a)
	}
}

// choose takes the next candidate in hand, if there is one.
func (h *hasty) choose(hidden []*goldCall, a *attempt) {
	list := &h.lines
	if h.queried {
		list = &h.hits
	}
	for len(*list) > 0 && h.wrong < picksMax {
		name := (*list)[0]
		*list = (*list)[1:]
		if !slices.Contains(h.tried, name) || isGold(hidden, name) {
			h.pick, h.loaded = name, false
			h.tried = append(h.tried, name)
			return
		}
	}
	h.chooseKnown(hidden, a)
}

// chooseKnown takes a gold in hand that was tried before its turn.
func (h *hasty) chooseKnown(hidden []*goldCall, a *attempt) {
	for _, g := range hidden {
		if slices.Contains(h.tried, g.name) && a.play.described[g.name] {
			h.pick, h.loaded = g.name, true
			return
		}
	}
}

func isGold(golds []*goldCall, name string) bool {
	return slices.ContainsFunc(golds, func(g *goldCall) bool { return g.name == name })
}

// use describes the tool in hand, or calls it if its schema is known.
func (h *hasty) use(a *attempt, hidden []*goldCall) []move {
	if !a.play.described[h.pick] && !h.loaded {
		h.loaded = true
		return a.describe(h.pick)
	}
	var moves []move
	for _, g := range hidden {
		if g.name == h.pick {
			moves = append(moves, a.through(g, g.arguments))
		}
	}
	if len(moves) > 0 {
		h.pick = ""
		return moves
	}
	arguments := json.RawMessage("{}")
	if d := a.play.definition(h.pick); d != nil {
		arguments = a.play.player.filled(d)
	}
	return []move{{modelCall: modelCall{name: bridge.CallTool, arguments: a.play.arm.Variant.CallArguments(h.pick, arguments)}}}
}

func (h *hasty) learn(a *attempt, m *move) {
	switch {
	case m.gold != nil:
		m.gold.settle(a, m)
	case m.name == bridge.SearchTool:
		for _, match := range m.outcome.Matches {
			h.hits = append(h.hits, match.Tool.Name)
		}
	case m.name == bridge.CallTool:
		h.wrong++
		h.pick = ""
		a.blame()
	}
}

// blame charges a wrong call to the first gold that it was meant for.
func (a *attempt) blame() {
	for _, g := range a.ready() {
		if !g.visible {
			g.wrong++
			return
		}
	}
	a.wrong++
}

// rankedLines are the tools that the listing names, ranked for an utterance by
// what their lines say. Lines that share no word with it are left out.
func (p *play) rankedLines(utterance string) []string {
	if !p.shown.Activated {
		return nil
	}
	return p.player.rig.lines.of(p.shown.Listing).rank(utterance)
}

// lineIndexes keeps the last indexes of listings: plays side by side see the same.
type lineIndexes struct {
	retriever search.Retriever
	kept      [lineIndexesMax]keptLines
	next      int
}

const lineIndexesMax = 16

type keptLines struct {
	form  bridge.Form
	text  string
	index *lineIndex
}

func (x *lineIndexes) of(l bridge.Listing) *lineIndex {
	for i := range x.kept {
		if k := &x.kept[i]; k.index != nil && k.form == l.Form && k.text == l.Text {
			return k.index
		}
	}
	index := newLineIndex(x.retriever, l)
	x.kept[x.next] = keptLines{l.Form, l.Text, index}
	x.next = (x.next + 1) % lineIndexesMax
	return index
}

// lineIndex searches the lines of a listing.
type lineIndex struct {
	names []string
	index search.Index
}

func newLineIndex(r search.Retriever, l bridge.Listing) *lineIndex {
	x := &lineIndex{}
	var terms []*search.Terms
	for _, line := range listedLines(l) {
		x.names = append(x.names, line.Name)
		terms = append(terms, r.Analyze(&line))
	}
	x.index = r.Index(terms)
	return x
}

func (x *lineIndex) rank(utterance string) []string {
	var names []string
	for _, hit := range x.index.Search(nil, utterance, len(x.names)) {
		names = append(names, x.names[hit.Doc])
	}
	return names
}

// listedLines reads the tools off a listing, as a model would: the full form has a
// line for each, the others a line of names below each source's heading.
func listedLines(l bridge.Listing) []search.Doc {
	var docs []search.Doc
	names := false
	for line := range strings.Lines(l.Text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case l.Form == bridge.FormFull:
			if item, ok := strings.CutPrefix(line, "- "); ok {
				name, says, _ := strings.Cut(item, ": ")
				docs = append(docs, search.Doc{Name: name, Description: says})
			}
		case names:
			for _, name := range strings.Split(line, ", ") {
				docs = append(docs, search.Doc{Name: name})
			}
			names = false
		default:
			names = strings.HasSuffix(line, "):")
		}
	}
	return docs
}
