package assembly

import (
	"context"
	"slices"

	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// agentLoopTools are answered by the agent itself, which holds their state; a
// dispatch of one is a fault of the caller.
var agentLoopTools = [...]string{"todo", "memory", "session_search", "delegate_task"}

// batch is a model output under way: what its calls led to so far, and those of them
// that wait to be dispatched together.
type batch struct {
	session  *Session
	outcomes []Outcome
	places   []int // of the output's calls among those that wait; -1 outside

	loop   bool // those that wait are the agent's own
	calls  []registry.Call
	events []HookEvent // one for each call that waits
	from   []int       // where they stand in the output
}

func (b *batch) begin(s *Session, n int) {
	b.session, b.outcomes = s, make([]Outcome, n)
	for range n {
		b.places = append(b.places, -1)
	}
}

// end returns the outcomes and leaves the room to the session's next batch.
func (b *batch) end() []Outcome {
	outcomes := b.outcomes
	b.session.spare = batch{places: b.places[:0], calls: b.calls, events: b.events, from: b.from}
	return outcomes
}

// dispatcher answers the calls that wait.
func (b *batch) dispatcher() Dispatcher {
	if b.loop {
		return b.session.Loop
	}
	return b.session.Dispatcher
}

// add lets a call of a real tool, the output's ith, wait, unless something keeps it
// from being made.
func (b *batch) add(ctx context.Context, i int, c ToolCall) {
	s := b.session
	if loop := slices.Contains(agentLoopTools[:], c.Name); loop != b.loop {
		b.dispatch(ctx)
		b.loop = loop
	}
	if b.dispatcher() == nil {
		b.outcomes[i].Result = registry.ErrorResult(c.Name + " must be handled by the agent itself")
		return
	}
	failed := func(on int) bool { return on >= 0 && on < len(b.outcomes) && b.outcomes[on].Result.Failed }
	if slices.ContainsFunc(c.DependsOn, failed) {
		b.outcomes[i].Result = registry.NotMade(c.Name)
		return
	}
	event := HookEvent{CallID: c.ID, SessionID: s.ID, Tool: c.Name, Arguments: s.prepare(c)}
	if s.Hooks.Pre != nil && !c.SkipPre {
		if reason := s.Hooks.Pre(event); reason != "" {
			event.Result, event.Status = registry.ErrorResult(reason), StatusBlocked
			s.post(event)
			b.outcomes[i].Result = event.Result
			return
		}
	}
	b.places[i] = len(b.calls)
	b.calls = append(b.calls, registry.Call{ID: c.ID, Name: c.Name, Arguments: event.Arguments, DependsOn: c.DependsOn})
	b.events, b.from = append(b.events, event), append(b.from, i)
}

// dispatch makes the calls that wait.
func (b *batch) dispatch(ctx context.Context) {
	if len(b.calls) == 0 {
		return
	}
	for k := range b.calls {
		b.calls[k].DependsOn = b.among(b.calls[k].DependsOn)
	}
	results := b.dispatcher().DispatchAll(ctx, b.calls)
	s := b.session
	for k := range b.events {
		event := &b.events[k]
		event.Result = results[k]
		event.DurationMS = max(0, event.Result.Took.Milliseconds())
		event.Status = statusOf(event.Result)
		if s.Hooks.Transform != nil {
			event.Result = s.Hooks.Transform(*event)
		}
		s.post(*event)
		i := b.from[k]
		b.outcomes[i] = Outcome{Result: event.Result, Tool: event.Tool}
		b.places[i] = -1
	}
	clear(b.calls)
	clear(b.events)
	b.calls, b.events, b.from = b.calls[:0], b.events[:0], b.from[:0]
}

// among brings places in the output to places among the calls that wait. What has
// been answered by then holds nobody up.
func (b *batch) among(output []int) []int {
	if len(output) == 0 {
		return output
	}
	waiting := []int{}
	for _, on := range output {
		if on >= 0 && on < len(b.places) && b.places[on] >= 0 {
			waiting = append(waiting, b.places[on])
		}
	}
	return waiting
}
