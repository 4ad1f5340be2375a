package gateway

import (
	"slices"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

// plan says in what order the calls of one model output go.
type plan struct {
	before [][]int // the calls that must have ended, by call
	needs  [][]int // those of them that must have succeeded
	cyclic []bool  // calls that wait for themselves
}

// planned is what planning asks of a call.
type planned struct {
	tool      *tool // nil if none was found
	dependsOn []int // nil: nobody said
}

// planCalls orders calls. What was said goes first: a call waits for those that it
// depends on, by the output or by its card. Of the calls of which nothing was said
// those that only read run together, and any other waits for all calls ahead of it and
// holds up all behind it.
func planCalls(calls []planned) plan {
	p := plan{before: make([][]int, len(calls)), needs: make([][]int, len(calls)), cyclic: make([]bool, len(calls))}
	for i := range calls {
		p.needs[i] = needsOf(calls, i)
	}
	barrier := -1   // the last call that holds up others
	var since []int // the calls behind it
	for _, i := range p.order() {
		c := calls[i]
		p.before[i] = slices.Clone(p.needs[i])
		said := c.dependsOn != nil || len(p.needs[i]) > 0
		if !said && c.tool != nil && !c.tool.ReadOnly {
			p.before[i] = append(p.before[i], since...)
			if barrier >= 0 {
				p.before[i] = append(p.before[i], barrier)
			}
			barrier, since = i, since[:0]
			continue
		}
		if !said && barrier >= 0 {
			p.before[i] = append(p.before[i], barrier)
		}
		since = append(since, i)
	}
	return p
}

// order is the order of the calls, less that those which a call needs come before it.
// Calls that need one another are marked, and wait for nobody.
func (p *plan) order() []int {
	n := len(p.needs)
	order := make([]int, 0, n)
	placed := make([]bool, n)
	place := func(all bool) {
		for i := 0; i < n; i++ {
			missing := func(j int) bool { return !placed[j] && !p.cyclic[j] }
			if placed[i] || !all && slices.ContainsFunc(p.needs[i], missing) {
				continue
			}
			placed[i] = true
			order = append(order, i)
			if !all && i > 0 {
				i = -1 // what waited for it may come before the next
			}
		}
	}
	later := func(i int) bool { return slices.ContainsFunc(p.needs[i], func(j int) bool { return j > i }) }
	if !slices.ContainsFunc(indices(n), later) {
		return indices(n)
	}
	p.findCycles()
	place(false)
	place(true)
	return order
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// needsOf are the calls that one depends on, ascending.
func needsOf(calls []planned, i int) []int {
	c := calls[i]
	var needs []int
	for _, on := range c.dependsOn {
		if on >= 0 && on < len(calls) && on != i {
			needs = append(needs, on)
		}
	}
	if c.tool != nil && len(c.tool.DependsOn) > 0 {
		for j, other := range calls {
			if j != i && other.tool != nil && slices.Contains(c.tool.DependsOn, other.tool.ID) {
				needs = append(needs, j)
			}
		}
	}
	slices.Sort(needs)
	return slices.Compact(needs)
}

// findCycles marks the calls that need one another.
func (p *plan) findCycles() {
	g := simple.NewDirectedGraph()
	for i := range p.needs {
		g.AddNode(simple.Node(i))
	}
	for i, needs := range p.needs {
		for _, j := range needs {
			g.SetEdge(g.NewEdge(simple.Node(j), simple.Node(i)))
		}
	}
	for _, component := range topo.TarjanSCC(g) {
		for _, n := range component {
			p.cyclic[n.ID()] = len(component) > 1
		}
	}
	for i := range p.needs {
		if p.cyclic[i] {
			p.needs[i] = nil
		}
	}
}
