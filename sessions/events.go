package sessions

import (
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// change is a kind of thing that comes over a session.
type change int

const (
	serverLeaves change = iota
	probeFails
	serverConnects // one that the session never had
	toolsChange
	toolsetOff
	toolsetOn   // one that the session never had
	changeCount // how many there are
)

// How likely the changes are among each other, where all are possible, and how
// many turns are asked before one that takes something away is undone. Like the
// gaps between turns these are assumptions, not observations: connections and
// probes are what breaks, servers change their tools now and then, and users
// seldom touch their settings.
var changeWeights = [changeCount]int{serverLeaves: 25, probeFails: 25, serverConnects: 10, toolsChange: 25, toolsetOff: 7, toolsetOn: 8}

const outageTurnsMax = 3

// addEvents draws the events of a session whose turns are drawn. Each turn rolls
// for one, which comes between the turn before and itself. What rolls at the
// first turn, before which there is nothing to change, comes before the second.
func (d *Drawer) addEvents(s *Session) error {
	turns := s.Events
	if d.options.EventShare == NoEvents || len(turns) < 2 {
		return nil
	}
	stream := distributions.NewStream(s.Seed, EventsLabel, uint64(s.RowIndex))
	u := &unfolding{
		drawer: d, stream: stream, state: newState(s), rolled: make([]int, len(turns)), ends: make(map[int][]Event),
		toolsets: slices.Clone(s.Toolsets), servers: slices.Clone(s.Servers), edits: make(map[string]int),
	}
	total := 0
	for i := range turns {
		if stream.Float64() < d.options.EventShare {
			u.rolled[max(i, 1)]++
			total++
		}
	}
	s.Events = append(make([]Event, 0, len(turns)+total), turns[0])
	for i := 1; i < len(turns); i++ {
		events, err := u.before(i)
		if err != nil {
			return fmt.Errorf("session %d: an event that cannot be: %w", s.RowIndex, err)
		}
		u.setTimes(events, turns[i-1].AtMS, turns[i].AtMS)
		s.Events = append(append(s.Events, events...), turns[i])
	}
	return nil
}

// unfolding is a session on its way through its events.
type unfolding struct {
	drawer *Drawer
	stream *distributions.Stream
	state  *state
	// rolled counts the events still to come before each turn, and ends holds what
	// is to be undone there.
	rolled []int
	ends   map[int][]Event
	// toolsets and servers are all that the session ever had, in order.
	toolsets, servers []string
	edits             map[string]int // of a tool's description
}

// before draws what happens before a turn, without the times.
func (u *unfolding) before(turn int) ([]Event, error) {
	events := u.ends[turn]
	for i := range events {
		if err := u.state.apply(&events[i]); err != nil {
			return nil, err
		}
	}
	for u.rolled[turn] > 0 {
		u.rolled[turn]--
		e, ok := u.next(turn)
		if !ok {
			continue
		}
		if err := u.state.apply(&e); err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// setTimes puts events between two turns, every moment being equally likely.
func (u *unfolding) setTimes(events []Event, after, before int64) {
	times := make([]int64, len(events))
	for i := range times {
		times[i] = after + 1 + int64(u.stream.IntN(int(before-after-1)))
	}
	slices.Sort(times)
	for i := range events {
		events[i].AtMS = times[i]
	}
}

// next draws a change before a turn; there is none if nothing is possible.
//
// What takes something away is undone before a turn one to three further on. That
// takes the place of an event that rolled for a later turn, so that ends do not
// come on top of the share asked for. Without one to take, nothing is taken away,
// unless the session is over by then.
func (u *unfolding) next(turn int) (Event, bool) {
	end := turn + 1 + u.stream.IntN(outageTurnsMax)
	later := slices.IndexFunc(u.rolled[turn:], func(n int) bool { return n > 0 })
	up, on := u.usable(), u.switchedOn()
	// The last that is left stays.
	outage := (end >= len(u.rolled) || later >= 0) && len(up)+len(on) > 1
	off := u.offered()
	possible := [changeCount]bool{
		serverLeaves:   outage && len(up) > 0,
		probeFails:     outage && len(up) > 0,
		serverConnects: len(u.servers) > 0 && len(u.servers) < len(u.drawer.sources),
		toolsChange:    len(up) > 0,
		toolsetOff:     outage && len(on) > 0,
		toolsetOn:      len(u.toolsets) > 0 && len(off) > 0,
	}
	what, ok := u.pick(possible)
	if !ok {
		return Event{}, false
	}
	var event, undone Event
	switch what {
	case serverLeaves:
		server := one(u.stream, up)
		event, undone = Event{Kind: KindServerDown, Server: server}, Event{Kind: KindServerUp, Server: server}
	case probeFails:
		server := one(u.stream, up)
		event, undone = Event{Kind: KindProbeFail, Probe: server}, Event{Kind: KindProbeOK, Probe: server}
	case serverConnects:
		return u.connect(), true
	case toolsChange:
		return u.changeTools(one(u.stream, up)), true
	case toolsetOff:
		name := []string{one(u.stream, on)}
		event, undone = config([]string{}, name), config(name, []string{})
	case toolsetOn:
		name := one(u.stream, off)
		u.toolsets = append(u.toolsets, name)
		return config([]string{name}, []string{}), true
	}
	if end < len(u.rolled) {
		u.rolled[turn+later]--
		u.ends[end] = append(u.ends[end], undone)
	}
	return event, true
}

func config(enable, disable []string) Event {
	return Event{Kind: KindConfig, Config: &ConfigChange{Enable: enable, Disable: disable}}
}

// one draws one of a list.
func one[T any](stream *distributions.Stream, list []T) T { return list[stream.IntN(len(list))] }

// pick draws one of the changes that are possible, by weight.
func (u *unfolding) pick(possible [changeCount]bool) (change, bool) {
	sum := 0
	for c, ok := range possible {
		if ok {
			sum += changeWeights[c]
		}
	}
	if sum == 0 {
		return 0, false
	}
	at := u.stream.IntN(sum)
	for c, ok := range possible {
		if !ok {
			continue
		}
		if at -= changeWeights[c]; at < 0 {
			return change(c), true
		}
	}
	panic("sessions: position outside the weights")
}

// usable returns the servers that are connected and whose probe passes.
func (u *unfolding) usable() []string {
	return kept(u.servers, func(name string) bool { return u.state.servers[name] && !u.state.failing[name] })
}

// switchedOn returns the toolsets that are on.
func (u *unfolding) switchedOn() []string {
	return kept(u.toolsets, func(name string) bool { return u.state.toolsets[name] })
}

// offered returns the toolsets that the session never had.
func (u *unfolding) offered() []string {
	return kept(u.drawer.offered, func(name string) bool { return !slices.Contains(u.toolsets, name) })
}

// kept returns a new list of the elements that pass.
func kept[T any](list []T, pass func(T) bool) []T {
	var all []T
	for _, v := range list {
		if pass(v) {
			all = append(all, v)
		}
	}
	return all
}

// connect draws a server that the session never had. Sources are many, what a
// session has is few: the position among the others is found by passing over what
// it has.
func (u *unfolding) connect() Event {
	sources := u.drawer.sources
	var had []int
	for _, name := range u.servers {
		at, _ := slices.BinarySearch(sources, name)
		had = append(had, at)
	}
	slices.Sort(had)
	at := u.stream.IntN(len(sources) - len(had))
	for _, h := range had {
		if h <= at {
			at++
		}
	}
	u.servers = append(u.servers, sources[at])
	return Event{Kind: KindServerUp, Server: sources[at]}
}

// changeTools draws what changes at a server: a tool comes back, half of the times
// if there is one that went; else one goes, but never the last, or one is edited,
// equally likely.
func (u *unfolding) changeTools(server string) Event {
	removed := u.state.removed[server]
	gone := kept(u.drawer.tools[server], func(t *corpus.Tool) bool { return removed[t.ID] })
	there := kept(u.drawer.tools[server], func(t *corpus.Tool) bool { return !removed[t.ID] })
	changes := &ToolChanges{Added: []string{}, Removed: []string{}, Edited: []Description{}}
	switch {
	case len(gone) > 0 && u.stream.IntN(2) == 0:
		changes.Added = append(changes.Added, one(u.stream, gone).ID)
	case len(there) > 1 && u.stream.IntN(2) == 0:
		changes.Removed = append(changes.Removed, one(u.stream, there).ID)
	default:
		tool := one(u.stream, there)
		u.edits[tool.ID]++
		changes.Edited = append(changes.Edited, Description{Tool: tool.ID, Description: revised(tool.Definition.Description, u.edits[tool.ID])})
	}
	return Event{Kind: KindToolsChanged, Server: server, Tools: changes}
}

// revised is a description after a number of edits. What is new stands at the
// front, where a listing shows it.
func revised(description string, edits int) string {
	return fmt.Sprintf("Revision %d: %s", edits+1, description)
}

// sourceTools returns the tools of each source.
func sourceTools(c *corpus.Corpus) map[string][]*corpus.Tool {
	tools := make(map[string][]*corpus.Tool)
	for _, t := range c.Tools {
		if !t.Builtin {
			tools[t.Toolset] = append(tools[t.Toolset], t)
		}
	}
	return tools
}

// offeredToolsets returns the fixed toolsets that a user may add to what a session
// has, in the order of the table: those with tools that are all gone again when
// the toolset is switched off. Bundles and postures are not: they stand for a
// whole session.
func offeredToolsets(c *corpus.Corpus) []string {
	resolver := toolset.NewResolver(c.Toolsets, newRegistered(c))
	return kept(c.Toolsets.Names(), func(name string) bool {
		tools := resolver.Resolve(name)
		return len(tools) > 0 && slices.Equal(tools, resolver.Disables(name))
	})
}
