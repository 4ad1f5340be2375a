package assembly

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// Dispatcher carries out a call of a real tool: the registry, or a gateway in
// front of it.
type Dispatcher interface {
	Dispatch(ctx context.Context, name string, arguments json.RawMessage) registry.Result
}

// agentLoopTools are answered by the agent itself, which holds their state; a
// dispatch of one is a fault of the caller.
var agentLoopTools = [...]string{"todo", "memory", "session_search", "delegate_task"}

// Status tells how a call ended.
type Status string

// The statuses of a call.
const (
	StatusOK      Status = "ok"
	StatusError   Status = "error"
	StatusBlocked Status = "blocked"
)

// HookEvent is what a hook learns of a call of a real tool.
type HookEvent struct {
	CallID, SessionID string
	Tool              string
	Arguments         json.RawMessage
	// Result, Status and DurationMS are set behind the call; the duration, in
	// milliseconds of the session's clock, is the same for all who ask.
	Result     registry.Result
	Status     Status
	DurationMS int64
}

// Hooks lets others watch and stop calls. Nil hooks are not called. Searches
// and descriptions are answered inline: they fire none in July, and Post alone
// in September.
type Hooks struct {
	// Pre may stop a call by returning a reason.
	Pre func(HookEvent) (blockReason string)
	// Transform may replace a result.
	Transform func(HookEvent) registry.Result
	Post      func(HookEvent)
}

// ToolCall is one call as a model asks for it.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage
	// SkipPre is set by an executor that already ran the Pre hook.
	SkipPre bool
}

// Session answers a model's calls for one set of toolsets: the bridge's tools
// inline, all others through the dispatcher, under their own name.
type Session struct {
	ID         string
	Assembler  *Assembler
	Request    Request
	Dispatcher Dispatcher
	// Loop answers the tools whose state the agent itself holds; nil means that a
	// call of one is an error.
	Loop  Dispatcher
	Hooks Hooks

	// scope answers while the definitions and settings that it was made from
	// stand.
	scope       *bridge.Scope
	scopeFrom   *Assembled
	scopeConfig bridge.Config
}

// Outcome is what a call led to.
type Outcome struct {
	Result registry.Result
	// Tool is the real tool that was dispatched; empty if none was.
	Tool string
	// Matches are the tools that a search found, each once, best first; those of
	// several queries in the order of the queries.
	Matches []bridge.Match
	// Described names the tools whose schema the result puts in front of the
	// model: those of a description, and that of a call that was sent back with
	// the schema.
	Described []string
	// Refusal is set where the bridge sent the call back.
	Refusal *bridge.CallError
}

// Call carries out one call. The session's definitions are read anew each time,
// so that a scope never outlives what it was made from.
func (s *Session) Call(ctx context.Context, c ToolCall) Outcome {
	fields, err := rawjson.Object(c.Arguments)
	if err != nil {
		return Outcome{Result: registry.ErrorResult("arguments is not a JSON object: " + err.Error())}
	}
	if !bridge.IsBridgeTool(c.Name) {
		return s.callTool(ctx, c)
	}
	if c.Name != bridge.CallTool {
		return s.answer(c, fields)
	}
	call, refusal := s.Scope().ToolCall(fields)
	if refusal != nil {
		o := Outcome{Result: refusal.Result(), Refusal: refusal}
		if refusal.Described != "" {
			o.Described = []string{refusal.Described}
		}
		return o
	}
	c.Name, c.Arguments = call.Name, call.Arguments
	return s.callTool(ctx, c)
}

// answer answers a search or a description inline.
func (s *Session) answer(c ToolCall, fields []rawjson.Field) Outcome {
	var o Outcome
	if c.Name == bridge.SearchTool {
		o.Result, o.Matches = s.Scope().ToolSearch(fields)
	} else {
		o.Result, o.Described = s.Scope().ToolDescribe(fields)
	}
	if s.Assembler.bridge.PostsAnswers() {
		s.post(HookEvent{
			CallID: c.ID, SessionID: s.ID, Tool: c.Name, Arguments: c.Arguments,
			Result: o.Result, Status: statusOf(o.Result),
		})
	}
	return o
}

// Scope returns what the session can reach through the bridge now.
func (s *Session) Scope() *bridge.Scope {
	request := s.Request
	request.SkipBridge = true
	now := s.Assembler.Assemble(request)
	if s.scopeFrom != now || s.scopeConfig != request.Config {
		split := now.split
		if split == nil { // the bridge has failed, and holds nothing
			split = &bridge.Split{Visible: now.Usable}
		}
		s.scope = split.Scope(s.Assembler.bridge, request.Config)
		s.scopeFrom, s.scopeConfig = now, request.Config
	}
	return s.scope
}

// callTool runs hooks and dispatches one real tool.
func (s *Session) callTool(ctx context.Context, c ToolCall) Outcome {
	dispatcher := s.Dispatcher
	if slices.Contains(agentLoopTools[:], c.Name) {
		dispatcher = s.Loop
	}
	if dispatcher == nil {
		return Outcome{Result: registry.ErrorResult(c.Name + " must be handled by the agent itself")}
	}
	event := HookEvent{CallID: c.ID, SessionID: s.ID, Tool: c.Name, Arguments: s.prepare(c)}
	if s.Hooks.Pre != nil && !c.SkipPre {
		if reason := s.Hooks.Pre(event); reason != "" {
			event.Result, event.Status = registry.ErrorResult(reason), StatusBlocked
			s.post(event)
			return Outcome{Result: event.Result}
		}
	}
	clock := s.Assembler.registry.Clock()
	start := clock.Now()
	event.Result = dispatcher.Dispatch(ctx, c.Name, event.Arguments)
	event.DurationMS = max(0, clock.Now().Sub(start).Nanoseconds()/int64(time.Millisecond))
	event.Status = statusOf(event.Result)
	if s.Hooks.Transform != nil {
		event.Result = s.Hooks.Transform(event)
	}
	s.post(event)
	return Outcome{Result: event.Result, Tool: c.Name}
}

func statusOf(r registry.Result) Status {
	if r.Failed {
		return StatusError
	}
	return StatusOK
}

func (s *Session) post(event HookEvent) {
	if s.Hooks.Post != nil {
		s.Hooks.Post(event)
	}
}

// prepare repairs argument types by the schema that the model saw and gives
// property names back their original spelling.
func (s *Session) prepare(c ToolCall) json.RawMessage {
	a := s.Assembler
	entry, ok := a.registry.Entry(c.Name)
	if !ok {
		return c.Arguments
	}
	clean := a.shared.sanitized(entry.Definition, a.log)
	if entry.Overrides != nil || a.rewrites[c.Name] != nil {
		if shown, ok := a.shown(s.Request, c.Name); ok {
			clean = shown
		}
	}
	return clean.renamed.restore(a.bridge.Coerce(clean.definition, c.Arguments))
}
