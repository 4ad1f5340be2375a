package assembly

import (
	"context"
	"encoding/json"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// Dispatcher carries out the calls of one model output: the registry, or a gateway in
// front of it. It returns their results in the order of the calls, which it does not
// keep.
type Dispatcher interface {
	DispatchAll(ctx context.Context, calls []registry.Call) []registry.Result
}

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
	// milliseconds of the session's clock, is the call's own and the same for all
	// who ask.
	Result     registry.Result
	Status     Status
	DurationMS int64
}

// Hooks lets others watch and stop calls. Nil hooks are not called. Searches
// and descriptions are answered inline: they fire none in July, and Post alone
// in September.
type Hooks struct {
	// Pre may stop a call by returning a reason. It is asked of all calls of a batch
	// before the first of them is made.
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
	// DependsOn are calls of the same model output that go first, by their place in
	// it, all before this one. Nil says nothing about the order, an empty list that
	// there is none.
	DependsOn []int
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
	// spare is the last batch, whose room the next one uses.
	spare batch
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

// Call carries out one call.
func (s *Session) Call(ctx context.Context, c ToolCall) Outcome {
	return s.Calls(ctx, []ToolCall{c})[0]
}

// Calls carries out the calls of one model output and returns what each led to, in
// the same order. Searches and descriptions are answered inline; the others, under the
// names of the real tools, go to the dispatcher as one batch, and those whose state the
// agent holds go between. A call that depends on one that failed is not made. The
// session's definitions are read anew each time, so that a scope never outlives what it
// was made from.
func (s *Session) Calls(ctx context.Context, calls []ToolCall) []Outcome {
	b := s.spare
	s.spare = batch{} // a handler may call the session again
	b.begin(s, len(calls))
	for i, c := range calls {
		call, answered := s.resolve(c)
		if answered != nil {
			b.outcomes[i] = *answered
			continue
		}
		b.add(ctx, i, call)
	}
	b.dispatch(ctx)
	return b.end()
}

// resolve answers a call inline, or returns that of the real tool.
func (s *Session) resolve(c ToolCall) (ToolCall, *Outcome) {
	fields, err := rawjson.Object(c.Arguments)
	if err != nil {
		return c, &Outcome{Result: registry.ErrorResult("arguments is not a JSON object: " + err.Error())}
	}
	if !bridge.IsBridgeTool(c.Name) {
		if refusal := s.checkDirect(c.Name); refusal != nil {
			return c, &Outcome{Result: refusal.Result(), Refusal: refusal}
		}
		return c, nil
	}
	if c.Name != bridge.CallTool {
		o := s.answer(c, fields)
		return c, &o
	}
	call, refusal := s.Scope().ToolCall(fields)
	if refusal != nil {
		o := Outcome{Result: refusal.Result(), Refusal: refusal}
		if refusal.Described != "" {
			o.Described = []string{refusal.Described}
		}
		return c, &o
	}
	c.Name, c.Arguments = call.Name, call.Arguments
	return c, nil
}

// checkDirect keeps a model from calling by name what it can only reach through the
// bridge, or not at all. Tools that never defer are not asked about.
func (s *Session) checkDirect(name string) *bridge.CallError {
	if !s.Assembler.bridge.Deferrable(name) {
		return nil
	}
	now := s.Assembler.Assemble(s.Request)
	return now.CheckDirect(name, now.has(name))
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
