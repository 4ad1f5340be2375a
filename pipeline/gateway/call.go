package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/limit"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// call is one call on its way.
type call struct {
	*Session
	snapshot *snapshot
	in       registry.Call
	route    route
	record   *audit.Record
	// valid: the arguments are an object of valid JSON, as validate has found.
	valid bool
	// effect: something was asked of an endpoint, by this call or a step of it.
	effect bool
}

// answer is what a call came to, as the cache keeps it.
type answer struct {
	text    string
	content json.RawMessage
	err     *Error

	bytes, tokens, truncated, undecodable int
}

func (a *answer) size() int { return len(a.text) + len(a.content) }

// run takes a call through its steps.
func (c *call) run(ctx context.Context) (registry.Result, *Error) {
	if len(c.in.Arguments) == 0 {
		c.in.Arguments = json.RawMessage("{}")
	}
	if c.route.err != nil {
		return registry.Result{}, c.route.err
	}
	t := c.route.tool
	c.record.Tool = t.ID
	if err := authorise(&c.options.Who, t.Card); err != nil {
		return registry.Result{}, err
	}
	if err := c.validate(t); err != nil {
		return registry.Result{}, err
	}
	if err := c.confirm(ctx, t); err != nil {
		return registry.Result{}, err
	}
	if err := c.gateway.log.ready(); err != nil {
		return registry.Result{}, unrecorded(err)
	}
	if len(t.Steps) > 0 {
		return c.steps(ctx, t)
	}
	a, err := c.answer(ctx, t)
	if err != nil {
		return registry.Result{}, err
	}
	c.record.ResultBytes, c.record.ResultTokens = a.bytes, a.tokens
	c.record.TruncatedTokens, c.record.Undecodable = a.truncated, a.undecodable
	if a.err != nil {
		return registry.Result{}, a.err
	}
	return registry.Result{Text: a.text, Content: a.content}, nil
}

// answer asks the cache, then the endpoint.
func (c *call) answer(ctx context.Context, t *tool) (*answer, *Error) {
	if !t.ReadOnly || t.CacheTTL <= 0 {
		return c.ask(ctx, t), nil
	}
	key, err := limit.Key(t.ID, t.serial, owner(c.options.Who.Principal, c.options.ID), c.in.Arguments)
	if err != nil {
		return c.ask(ctx, t), nil // arguments that have no canonical form are never alike
	}
	before := c.gateway.time.Now()
	kept, shared, err := c.gateway.cache.Do(ctx, key, t.CacheTTL, func() (limit.Value, bool) {
		a := c.ask(ctx, t)
		return limit.Value{Content: a, Size: a.size()}, a.err == nil
	})
	if err != nil {
		return nil, cancelled(PhaseQueue)
	}
	if shared {
		c.record.CacheHit = true
		c.record.Queued += c.gateway.time.Now().Sub(before)
	}
	a := kept.Content.(*answer)
	if a.err != nil { // it was one call, but the error is each caller's own
		own := *a.err
		return &answer{err: &own}, nil
	}
	return a, nil
}

// argumentsMax bounds the arguments of a call, in bytes: a record must have room for
// them, however they are escaped, or it could never be written.
const argumentsMax = 2 << 20

// validate checks the arguments, and lets the memory of failures know.
func (c *call) validate(t *tool) *Error {
	if len(c.in.Arguments) > argumentsMax {
		return &Error{
			Code: InvalidArguments, Phase: PhaseValidate, Message: fmt.Sprintf("the arguments have %d bytes, more than the %d that are allowed", len(c.in.Arguments), argumentsMax),
			SuggestedAction: "Pass large values by reference, such as a path.",
		}
	}
	broken, err := t.judge().Check(c.in.Arguments)
	if err != nil {
		return &Error{Code: InvalidArguments, Phase: PhaseValidate, Message: "the arguments are no JSON object", SuggestedAction: "Repeat the call with a JSON object that fits the tool's schema."}
	}
	c.valid = true
	if len(broken) == 0 {
		return nil
	}
	for _, v := range broken {
		c.gateway.memory.Fail(t.ID, v.Pointer(), v.Keyword)
	}
	first := broken[0]
	return &Error{
		Code: InvalidArguments, Phase: PhaseValidate, Violations: broken,
		Message:         fmt.Sprintf("the arguments do not fit the schema of %s: %q breaks %s%s", t.Name, first.Pointer(), first.Keyword, first.Detail),
		SuggestedAction: "Correct the members that violations points at, and repeat the call.",
	}
}

// confirm lets somebody agree to the call.
func (c *call) confirm(ctx context.Context, t *tool) *Error {
	if !t.Confirm && !c.options.Who.Confirm {
		return nil
	}
	if c.options.Ask == nil {
		if c.snapshot.config.Confirm.Unattended == card.UnattendedDeny {
			return &Error{
				Code: ConfirmationRequired, Rule: RuleConfirm, Phase: PhaseConfirm, Message: t.Name + " needs somebody's agreement, and nobody is there",
				SuggestedAction: "Tell the user what you would do, and let them do it.",
			}
		}
		c.record.Confirmed = "unattended"
		return nil
	}
	before := c.gateway.time.Now()
	arguments, _ := c.gateway.redactor.JSON(c.in.Arguments)
	agreed, err := c.options.Ask(ctx, Question{Tool: t.Name, Description: t.Description, Arguments: arguments})
	c.record.Waiting += c.gateway.time.Now().Sub(before)
	switch {
	case err != nil:
		return cancelled(PhaseConfirm)
	case !agreed:
		return &Error{Code: Denied, Rule: RuleConfirm, Phase: PhaseConfirm, Message: "the user did not agree to this call", SuggestedAction: "Ask the user what to do instead."}
	}
	c.record.Confirmed = "asked"
	return nil
}

func unrecorded(err error) *Error {
	return &Error{
		Code: Unavailable, Phase: PhaseAudit, Message: "calls cannot be recorded, so none is carried out: " + err.Error(),
		SuggestedAction: "Stop, and tell the user that the audit log cannot be written.", Retryable: true,
	}
}

// finish records a call and returns what the model gets.
func (c *call) finish(result registry.Result, failure *Error) registry.Result {
	r := c.record
	r.Outcome, r.Phase = "ok", PhaseDone
	if failure != nil {
		failure.TraceID = r.TraceID
		c.gateway.redact(failure)
		r.Outcome, r.Code, r.Rule, r.Phase = "error", string(failure.Code), failure.Rule, failure.Phase
		if failure.Rule != "" {
			r.Outcome = "denied"
		}
		result = failure.Result()
	}
	r.Name, _ = c.gateway.redactor.Text(r.Name)
	r.Arguments = c.redacted()
	text := result.Text
	if result.Content != nil {
		text = string(result.Content)
	}
	sum := sha256.Sum256([]byte(text))
	var digest [2 * sha256.Size]byte
	hex.Encode(digest[:], sum[:])
	r.ResultSHA256, r.ResultBytes = string(digest[:]), len(text)
	if r.ResultTokens == 0 {
		r.ResultTokens = c.gateway.options.Tokens(text)
	}
	result.Took = r.Waiting + r.Queued + r.Executing + r.Shaping
	carriedOut := c.effect || r.Attempts > 0
	if err := c.gateway.log.keep(r, carriedOut); err != nil {
		if failure == nil || failure.Phase != PhaseAudit {
			e := unrecorded(err)
			e.TraceID = r.TraceID
			e.Message, _ = c.gateway.redactor.Text(e.Message)
			if carriedOut {
				e.Message = "the call was carried out but cannot be recorded, so its result is withheld"
				e.Retryable = false
			}
			withheld := e.Result()
			withheld.Took = result.Took
			return withheld
		}
	}
	c.gateway.tally.Add(r, c.gateway.options.Tokens(string(r.Arguments)))
	if c.options.Observe != nil {
		c.options.Observe(r)
	}
	return result
}

// redact strikes secrets out of all that an error repeats of others' texts.
func (g *Gateway) redact(e *Error) {
	text := func(s string) string {
		s, _ = g.redactor.Text(s)
		return s
	}
	e.Message = text(e.Message)
	e.Candidates, e.Violations = slices.Clone(e.Candidates), slices.Clone(e.Violations)
	for i := range e.Candidates {
		e.Candidates[i].Description = text(e.Candidates[i].Description)
	}
	for i := range e.Violations {
		v := &e.Violations[i]
		v.Detail, v.Location = text(v.Detail), slices.Clone(v.Location)
		for j := range v.Location {
			v.Location[j] = text(v.Location[j])
		}
	}
}

// redacted are the arguments as they may be written down.
func (c *call) redacted() json.RawMessage {
	if n := len(c.in.Arguments); n > argumentsMax {
		return fmt.Appendf(nil, `"%d bytes, left out"`, n)
	}
	if !c.valid && !json.Valid(c.in.Arguments) {
		text, _ := c.gateway.redactor.Text(string(c.in.Arguments))
		quoted, err := json.Marshal(text)
		if err != nil {
			return json.RawMessage(`""`)
		}
		return quoted
	}
	arguments, _ := c.gateway.redactor.JSON(c.in.Arguments)
	return arguments
}

// waitedTooLong turns a limit's refusal into the call's error.
func waitedTooLong(err error, t *tool) *Error {
	var wait *limit.WouldWait
	if errors.As(err, &wait) {
		return &Error{
			Code: RateLimited, Phase: PhaseQueue, Message: t.Name + " is called too often", Retryable: true, RetryAfter: wait.RetryAfter,
			SuggestedAction: fmt.Sprintf("Wait %s, or work with the results that you have.", wait.RetryAfter.Round(100*time.Millisecond)),
		}
	}
	var full *limit.Full
	if errors.As(err, &full) {
		return &Error{Code: RateLimited, Phase: PhaseQueue, Message: "too many calls are waiting", SuggestedAction: "Make fewer calls at once.", Retryable: true}
	}
	return cancelled(PhaseQueue)
}
