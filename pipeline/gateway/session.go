package gateway

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// SessionOptions say whose calls a session makes.
type SessionOptions struct {
	ID  string // unique while the gateway lives
	Who card.Session
	// Ask asks somebody to agree to a call; nil means that nobody is there.
	Ask func(context.Context, Question) (bool, error)
	// Observe is told of every call when its record was kept. Calls that run side by
	// side tell it one after another where the timeline is virtual.
	Observe func(*audit.Record)
}

// Question is a call that somebody shall agree to.
type Question struct {
	Tool        string
	Description string
	Arguments   json.RawMessage // redacted
}

// Session makes the calls of one model. It is safe for concurrent use.
type Session struct {
	gateway *Gateway
	options SessionOptions
	outputs atomic.Uint64 // of the model, so far
}

// Session begins a session.
func (g *Gateway) Session(o SessionOptions) *Session { return &Session{gateway: g, options: o} }

// owner is whose results and cached answers a session shares: those of its principal.
// Sessions without one have nothing in common.
func owner(principal, session string) string {
	if principal == "" {
		return "\x00" + session
	}
	return principal
}

// traceKey is the key of a model request's trace in a context.
type traceKey struct{}

// WithTrace gives the calls of a context a model request's trace: 32 hex digits, as
// W3C Trace Context has them.
func WithTrace(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, traceKey{}, id)
}

// trace is the trace of a model output: its request's, or one made of the session and
// the output's number, the same in every replay.
func (s *Session) trace(ctx context.Context, output uint64) string {
	if id, ok := ctx.Value(traceKey{}).(string); ok {
		return id
	}
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], hash("trace", s.options.ID, output))
	binary.BigEndian.PutUint64(id[8:], hash("trace/", s.options.ID, output)|1) // zeros are no trace
	var digits [32]byte
	hex.Encode(digits[:], id[:])
	return string(digits[:])
}

// hash mixes a label, a text and a number, by FNV-1a and the finaliser of SplitMix64
// (Steele et al., 2014).
func hash(label, text string, n uint64) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range [...]string{label, text} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	h += n * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// batch is the calls of one model output.
type batch struct {
	*Session
	snapshot *snapshot
	trace    string
	output   string
	start    time.Time
	calls    []registry.Call
	ids      []string // of the calls, each another
	routes   []route
	plan     plan
	done     []clock.Event
	results  []registry.Result
}

// DispatchAll carries out the calls of one model output and returns their results in
// the same order.
func (s *Session) DispatchAll(ctx context.Context, calls []registry.Call) []registry.Result {
	n := s.outputs.Add(1)
	b := &batch{
		Session: s, snapshot: s.gateway.snapshot.Load(), trace: s.trace(ctx, n), output: fmt.Sprintf("%s/%d", s.options.ID, n),
		start: s.gateway.time.Now(), calls: calls, ids: distinct(calls),
		results: make([]registry.Result, len(calls)), routes: make([]route, len(calls)),
	}
	for i, c := range calls {
		b.routes[i] = s.route(ctx, b.snapshot, c)
	}
	if len(calls) == 1 {
		b.results[0] = b.carry(ctx, 0)
		return b.results
	}
	list := make([]planned, len(calls))
	for i, c := range calls {
		list[i] = planned{tool: b.routes[i].tool, dependsOn: c.DependsOn}
	}
	b.plan, b.done = planCalls(list), make([]clock.Event, len(calls))
	for i := range calls {
		s.gateway.time.Go(func() {
			b.results[i] = b.inTurn(ctx, i)
			b.done[i].Happen()
		})
	}
	for i := range calls {
		s.gateway.time.Wait(context.WithoutCancel(ctx), &b.done[i], clock.Forever)
	}
	return b.results
}

// distinct are the ids of calls, with a number where a model gave one id twice: who
// keeps the ids of calls that it has served must not take two calls for one.
func distinct(calls []registry.Call) []string {
	ids := make([]string, len(calls))
	times := make(map[string]int, len(calls))
	for i, c := range calls {
		id := c.ID
		for times[id] > 0 {
			times[c.ID]++
			id = fmt.Sprintf("%s#%d", c.ID, times[c.ID])
		}
		times[id]++
		ids[i] = id
	}
	return ids
}

// inTurn carries out a call when those that go first have ended.
func (b *batch) inTurn(ctx context.Context, i int) registry.Result {
	if b.plan.cyclic[i] {
		return b.refuse(i, &Error{
			Code: InvalidArguments, Phase: PhaseWait, Message: "this call and others of the same output depend on one another",
			SuggestedAction: "Make the calls one after another.",
		})
	}
	for _, before := range b.plan.before[i] {
		if b.gateway.time.Wait(ctx, &b.done[before], clock.Forever) == clock.Cancelled {
			return b.refuse(i, cancelled(PhaseWait))
		}
	}
	for _, needed := range b.plan.needs[i] {
		if b.results[needed].Failed {
			return b.refuse(i, &Error{
				Code: Cancelled, Phase: PhaseWait, Message: fmt.Sprintf("it depends on the call of %s, which failed", b.calls[needed].Name),
				SuggestedAction: "See why that call failed, then make both again.", Retryable: true,
			})
		}
	}
	return b.carry(ctx, i)
}

func cancelled(phase string) *Error {
	return &Error{Code: Cancelled, Phase: phase, Message: "the call was cancelled", SuggestedAction: "Make the call again if it is still wanted.", Retryable: true}
}

// carry carries out one call of the batch.
func (b *batch) carry(ctx context.Context, i int) registry.Result {
	c := b.call(i)
	return c.finish(c.run(ctx))
}

// refuse ends a call before it began.
func (b *batch) refuse(i int, e *Error) registry.Result {
	return b.call(i).finish(registry.Result{}, e)
}

// call begins one call of the batch.
func (b *batch) call(i int) *call {
	now := b.gateway.time.Now()
	c := &call{Session: b.Session, snapshot: b.snapshot, in: b.calls[i], route: b.routes[i]}
	c.in.ID = b.ids[i]
	c.record = &audit.Record{
		Time: b.start, TraceID: b.trace, SessionID: b.options.ID, Principal: b.options.Who.Principal,
		Name: b.calls[i].Name, CallID: b.calls[i].ID, ModelCall: b.output, Waiting: now.Sub(b.start),
	}
	return c
}
