package sessions

import (
	"slices"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// registered answers a resolver for the tools of a corpus, as if all of them
// were registered: what a session may use is settled by names, and whether a
// tool answers today is the replay's business.
type registered struct {
	tools map[string][]string
}

func newRegistered(c *corpus.Corpus) registered {
	tools := make(map[string][]string)
	for _, t := range c.Tools {
		tools[t.Toolset] = append(tools[t.Toolset], t.Definition.Name)
	}
	for _, names := range tools {
		slices.Sort(names)
	}
	return registered{tools}
}

func (r registered) Toolsets() []string {
	var names []string
	for name := range r.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r registered) ToolsIn(toolset string) []string { return r.tools[toolset] }

func (r registered) Alias(string) (string, bool) { return "", false }

// reach finds the intents that a session can ask for: those whose golds are all
// in the toolsets enabled. A corpus may have tens of thousands of intents and a
// session thousands of servers, so nothing is scanned but what is enabled.
//
// A grant is a toolset, fixed or of a server, that some session may enable.
type reach struct {
	number map[string]int // a grant's name → its number
	// alone holds, for each grant, the intents that need this grant and that no
	// other grant could serve in part: they are in reach exactly if it is enabled.
	alone [][]int
	// shared holds, for each grant, the other intents whose first gold it serves.
	shared [][]int
	// golds holds, for each intent and each of its golds, the grants that serve it,
	// in ascending order.
	golds [][][]int
	// unserved counts the intents that no combination of grants serves.
	unserved int
}

// newReach indexes intents by the grants named. Absent intents are left out.
func newReach(c *corpus.Corpus, grants []string) *reach {
	r := &reach{
		number: make(map[string]int, len(grants)),
		alone:  make([][]int, len(grants)),
		shared: make([][]int, len(grants)),
		golds:  make([][][]int, len(c.Intents)),
	}
	resolver := toolset.NewResolver(c.Toolsets, newRegistered(c))
	serving := make(map[string][]int, len(c.Tools)) // a visible name → grants
	for g, name := range grants {
		r.number[name] = g
		for _, tool := range resolver.Resolve(name) {
			serving[tool] = append(serving[tool], g)
		}
	}
	for i, in := range c.Intents {
		if in.Class != corpus.Absent {
			r.add(c, i, in, serving)
		}
	}
	return r
}

// add files one intent.
func (r *reach) add(c *corpus.Corpus, i int, in *corpus.Intent, serving map[string][]int) {
	golds := make([][]int, len(in.Gold))
	alone := true
	for j, gold := range in.Gold {
		if tool, ok := c.Tool(gold.Tool); ok {
			golds[j] = serving[tool.Definition.Name]
		}
		if len(golds[j]) == 0 {
			r.unserved++
			return
		}
		alone = alone && len(golds[j]) == 1 && golds[j][0] == golds[0][0]
	}
	r.golds[i] = golds
	if alone {
		g := golds[0][0]
		r.alone[g] = append(r.alone[g], i)
		return
	}
	for _, g := range golds[0] {
		r.shared[g] = append(r.shared[g], i)
	}
}

// within returns the intents in reach of the grants named, each once, in an
// order that depends on the names alone.
func (r *reach) within(names ...[]string) pool {
	enabled := make([]bool, len(r.alone))
	var grants []int
	for _, list := range names {
		for _, name := range list {
			if g, ok := r.number[name]; ok && !enabled[g] {
				enabled[g] = true
				grants = append(grants, g)
			}
		}
	}
	var p pool
	var together []int
	for _, g := range grants {
		p.add(r.alone[g])
		for _, i := range r.shared[g] {
			// Filed under every grant of its first gold, it counts under the first
			// enabled one.
			if firstEnabled(r.golds[i][0], enabled) == g && allEnabled(r.golds[i], enabled) {
				together = append(together, i)
			}
		}
	}
	p.add(together)
	return p
}

// firstEnabled returns the first enabled grant, or -1.
func firstEnabled(grants []int, enabled []bool) int {
	for _, g := range grants {
		if enabled[g] {
			return g
		}
	}
	return -1
}

func allEnabled(golds [][]int, enabled []bool) bool {
	for _, grants := range golds {
		if firstEnabled(grants, enabled) < 0 {
			return false
		}
	}
	return true
}

// pool is a number of intents, held as the lists that they stand in.
type pool struct {
	lists [][]int
	size  int
}

func (p *pool) add(list []int) {
	if len(list) > 0 {
		p.lists = append(p.lists, list)
		p.size += len(list)
	}
}

// at returns the intent at position n of [0,size).
func (p *pool) at(n int) int {
	for _, list := range p.lists {
		if n < len(list) {
			return list[n]
		}
		n -= len(list)
	}
	panic("sessions: position outside the pool")
}

// deck deals the positions [0,size) in random order, and all of them before any
// comes again. It is a Fisher-Yates shuffle that remembers only what it moved,
// since few of many are dealt.
type deck struct {
	size, dealt int
	moved       map[int]int
}

// deal returns the next position. The deck must not be empty.
func (d *deck) deal(stream *distributions.Stream) int {
	if d.dealt == d.size || d.moved == nil {
		d.dealt, d.moved = 0, make(map[int]int)
	}
	j := d.dealt + stream.IntN(d.size-d.dealt)
	picked := d.place(j)
	d.moved[j] = d.place(d.dealt)
	d.dealt++
	return picked
}

// place returns what lies at a place of the shuffled deck.
func (d *deck) place(i int) int {
	if v, ok := d.moved[i]; ok {
		return v
	}
	return i
}
