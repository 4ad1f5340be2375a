package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/gateway/limit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/shape"
)

// ask makes the call: it waits for its turn, tries, and brings what comes back into
// shape.
func (c *call) ask(ctx context.Context, t *tool) *answer {
	if err := c.queue(ctx, t); err != nil {
		return &answer{err: err}
	}
	got, err := c.attempts(ctx, t)
	if err != nil {
		return &answer{err: err}
	}
	return c.shape(ctx, t, got)
}

// bucket waits for the tool's bucket.
func (c *call) bucket(ctx context.Context, t *tool) *Error {
	waited, err := c.gateway.buckets.Take(ctx, c.options.ID, t.ID, t.RateLimit, t.Timeout)
	c.record.Queued += waited
	c.record.Throttled = waited > 0 || err != nil
	if err != nil {
		return waitedTooLong(err, t)
	}
	return nil
}

// queue waits for the tool's bucket and the limit of all calls.
func (c *call) queue(ctx context.Context, t *tool) *Error {
	if err := c.bucket(ctx, t); err != nil {
		return err
	}
	waited, err := c.gateway.rate.Take(ctx, t.Timeout)
	c.record.Queued += waited
	if err != nil {
		return waitedTooLong(err, t)
	}
	return nil
}

// attempts tries until the tool answers or there is no reason to go on.
func (c *call) attempts(ctx context.Context, t *tool) (endpoint.Answer, *Error) {
	for attempt := 1; ; attempt++ {
		got, fault, refused := c.attempt(ctx, t, attempt)
		switch {
		case refused != nil:
			return got, refused
		case fault == nil:
			if got.IsError {
				return got, c.toolError(t, got)
			}
			c.gateway.memory.Succeed(t.ID)
			return got, nil
		}
		retry := t.safe() && attempt <= t.Retry.MaxAttempts && fault.Kind != endpoint.Protocol && fault.Kind != endpoint.Closed &&
			fault.RetryAfter <= t.Timeout // who wants to be left alone for longer is, and the model is told
		if !retry || ctx.Err() != nil {
			return got, c.faultError(ctx, t, fault, attempt)
		}
		pause := c.backoff(t, attempt, fault)
		c.record.Queued += pause
		if clock.Sleep(ctx, c.gateway.time, pause) != nil {
			return got, cancelled(PhaseQueue)
		}
	}
}

// backoffMax ends the doubling of pauses.
const backoffMax = time.Minute

// backoff is the pause before the next attempt: it doubles from one to the next, and
// is drawn from its upper half, so that those who failed together do not come back
// together. An endpoint that says when to come back is heard.
func (c *call) backoff(t *tool, attempt int, fault *endpoint.Fault) time.Duration {
	pause := t.Retry.Backoff
	for range attempt - 1 {
		pause = min(2*pause, max(backoffMax, t.Retry.Backoff))
	}
	draw := hash("jitter/"+c.options.ID, c.in.ID, uint64(attempt))
	half := pause / 2
	pause = half + time.Duration(float64(half)*(float64(draw>>11)*0x1p-53))
	return max(pause, fault.RetryAfter)
}

// attempt makes one attempt. It is refused where the endpoint may not be asked now.
func (c *call) attempt(ctx context.Context, t *tool, n int) (got endpoint.Answer, fault *endpoint.Fault, refused *Error) {
	all, own, refused := c.enter(ctx, t)
	if refused != nil {
		return got, nil, refused
	}
	defer all.Leave()
	defer own.Leave()
	permit, open := c.gateway.breakers.Allow(t.behind)
	if open != nil {
		return got, nil, &Error{
			Code: Unavailable, Phase: PhaseExecute, Retryable: true, RetryAfter: open.RetryAfter,
			Message:         fmt.Sprintf("%s has failed repeatedly and is left alone for now", t.Name),
			SuggestedAction: "Use another tool, or try again later.",
		}
	}
	before := c.gateway.time.Now()
	got, fault = c.try(ctx, t, n)
	c.record.Executing += c.gateway.time.Now().Sub(before)
	c.record.Attempts++
	if fault != nil && fault.Kind == endpoint.Timeout {
		c.record.TimedOut++
	}
	switch {
	case fault != nil && fault.Kind == endpoint.Closed:
		permit.Withdraw()
	case permit.Done(fault != nil && fault.Breaks()):
		c.record.Opened = true
	}
	return got, fault, nil
}

// enter waits for a place among all calls, and for one among those of the endpoint.
func (c *call) enter(ctx context.Context, t *tool) (all, own limit.Place, refused *Error) {
	all, waited, err := c.gateway.gate.Enter(ctx, t.Timeout)
	c.record.Queued += waited
	if err != nil {
		return all, own, waitedTooLong(err, t)
	}
	own, waited, err = c.gateway.gates.Enter(ctx, t.behind, t.Timeout-min(waited, t.Timeout))
	c.record.Queued += waited
	if err != nil {
		all.Leave()
		return all, own, waitedTooLong(err, t)
	}
	return all, own, nil
}

// flight is an attempt that may outlast the wait for it: what it brings is read only
// if it has landed.
type flight struct {
	landed clock.Event
	got    endpoint.Answer
	err    error
}

// try sends the call and waits for its answer, but not longer than the tool's timeout,
// whether the endpoint cares or not.
func (c *call) try(ctx context.Context, t *tool, n int) (endpoint.Answer, *endpoint.Fault) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in := endpoint.Request{
		Tool: t.Name, Arguments: c.in.Arguments, SessionID: c.options.ID, Principal: c.options.Who.Principal, CallID: c.in.ID,
		TraceID: c.record.TraceID, Attempt: n, BytesMax: c.snapshot.config.Limits.MaxResultBytes,
	}
	f := &flight{}
	c.gateway.time.Go(func() {
		f.got, f.err = land(ctx, t.endpoint, in)
		f.landed.Happen()
	})
	switch c.gateway.time.Wait(ctx, &f.landed, t.Timeout) {
	case clock.Happened:
		return f.got, faultOf(ctx, f.err)
	case clock.Passed:
		return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.Timeout, Err: fmt.Errorf("no answer within %s", t.Timeout)}
	default:
		return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.Closed, Err: context.Cause(ctx)}
	}
}

// land calls an endpoint, whose panic is its fault.
func land(ctx context.Context, e endpoint.Endpoint, in endpoint.Request) (got endpoint.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &endpoint.Fault{Kind: endpoint.ServerError, Err: fmt.Errorf("panic: %v", p)}
		}
	}()
	return e.Call(ctx, in)
}

// faultOf is an endpoint's error as a fault.
func faultOf(ctx context.Context, err error) *endpoint.Fault {
	var fault *endpoint.Fault
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &endpoint.Fault{Kind: endpoint.Closed, Err: err}
	case errors.As(err, &fault):
		return fault
	default:
		return &endpoint.Fault{Kind: endpoint.Transport, Err: err}
	}
}

// faultError is what the model reads of a tool that did not answer.
func (c *call) faultError(ctx context.Context, t *tool, f *endpoint.Fault, attempts int) *Error {
	e := &Error{Code: Unavailable, Phase: PhaseExecute, Message: t.Name + ": " + f.Error(), RetryAfter: f.RetryAfter}
	switch {
	case ctx.Err() != nil && t.safe():
		return cancelled(PhaseExecute)
	case ctx.Err() != nil:
		e.Code, e.Message = Cancelled, "the call was cancelled under way"
	case f.Kind == endpoint.Timeout:
		e.Code, e.Message = Timeout, fmt.Sprintf("%s did not answer within %s", t.Name, t.Timeout)
		e.Retryable = t.safe()
	case f.Kind == endpoint.Throttled:
		e.Code, e.Retryable = RateLimited, true
	case f.Kind == endpoint.Protocol:
		e.Code = EndpointError
	default:
		e.Retryable = t.safe()
	}
	if attempts > 1 {
		e.Message += fmt.Sprintf(" (%d attempts)", attempts)
	}
	switch {
	case e.Retryable:
		e.SuggestedAction = "Try again later, or use another tool."
	case e.Code == EndpointError:
		e.SuggestedAction = "Use another tool: this one cannot be reached in this way."
	default:
		e.SuggestedAction = "It may have taken effect: see whether it has before you call it again."
	}
	return e
}

// toolError is what the model reads of a tool that answered with an error.
func (c *call) toolError(t *tool, got endpoint.Answer) *Error {
	shaped := c.shape(context.Background(), t, got)
	if shaped.err != nil {
		return shaped.err
	}
	text := shaped.text
	if shaped.content != nil {
		text = string(shaped.content)
	}
	return &Error{
		Code: EndpointError, Phase: PhaseExecute, Message: text,
		SuggestedAction: "Read the message, and change the call by what it says.",
	}
}

// shape brings an answer into shape.
func (c *call) shape(ctx context.Context, t *tool, got endpoint.Answer) *answer {
	g := c.gateway
	if most := c.snapshot.config.Limits.MaxResultBytes; int64(len(got.Content)) > most {
		return &answer{err: &Error{
			Code: ResultTooLarge, Phase: PhaseShape,
			Message:         fmt.Sprintf("the result of %s has %d bytes in parts that cannot be cut, more than the %d that are allowed", t.Name, len(got.Content), most),
			SuggestedAction: "Ask for less: a smaller picture, a part of the file.",
		}}
	}
	before := g.time.Now()
	out := shape.Result(ctx, shape.Input{
		Card: t.Card, Body: got.Body, Content: got.Content, Encoding: got.Encoding, Bytes: got.Bytes,
		BytesMax: c.snapshot.config.Limits.MaxResultBytes,
		Tokens:   g.options.Tokens, Summarise: g.options.Summarise, Redactor: g.redactor, Clock: g.time,
		Store: g.results, Owner: owner(c.options.Who.Principal, c.options.ID), Handle: c.record.TraceID + "/" + c.in.ID,
	})
	c.record.Shaping += g.time.Now().Sub(before)
	for _, step := range out.Steps {
		c.record.Steps.Add(step.Name, step.Took)
	}
	return &answer{
		text: out.Text, content: out.Content, bytes: len(out.Text) + len(out.Content),
		tokens: out.Tokens, truncated: out.TruncatedTokens, undecodable: out.Undecodable,
	}
}
