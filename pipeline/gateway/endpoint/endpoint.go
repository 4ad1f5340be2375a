// Package endpoint is where calls end: tools inside the program, MCP servers,
// HTTP services, and models of such. An endpoint makes one attempt; when to try,
// how often and how long is the gateway's business.
package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Endpoint carries a call out, once. It is safe for concurrent use, and ends soon
// after its context is done, unless what is behind it does not care.
type Endpoint interface {
	// Call returns what the tool answered, its own errors included (Answer.IsError).
	// An error is a *Fault: the tool did not answer.
	Call(ctx context.Context, r Request) (Answer, error)
}

// Request is one attempt of a call.
type Request struct {
	Tool      string          // as the endpoint knows it
	Arguments json.RawMessage // an object
	SessionID string
	Principal string // whose session it is
	CallID    string // of the model's call; all attempts share it
	TraceID   string // 32 hex digits
	Attempt   int    // from 1
	BytesMax  int64  // of an answer that are read; the rest is dropped and counted
}

// requestKey is the key of a request in a context.
type requestKey struct{}

// WithRequest puts a request into the context of what serves it by other means than
// an Endpoint.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf is the request that a context serves.
func RequestOf(ctx context.Context) (Request, bool) {
	r, ok := ctx.Value(requestKey{}).(Request)
	return r, ok
}

// TraceParent is the W3C traceparent of the attempt. Its span is made from the
// trace, the call and the attempt, so that it is the same in every replay.
func (r Request) TraceParent() string {
	return fmt.Sprintf("00-%s-%016x-01", r.TraceID, spanOf(r))
}

// Answer is what came back.
type Answer struct {
	Body     []byte
	Encoding string // label of the text encoding, where the endpoint says it
	// Content is set in place of Body for a multimodal answer: a JSON array of parts.
	Content json.RawMessage
	IsError bool  // the tool's own error: MCP's isError, an HTTP status from 400 to 499 but 429
	Bytes   int64 // of the whole answer, where more than BytesMax came
}

// Kind is what kept a tool from answering.
type Kind string

// The kinds of fault. The first three count against the endpoint's breaker.
const (
	Transport   Kind = "transport" // no connection, or it broke
	Timeout     Kind = "timeout"   // no answer in time
	ServerError Kind = "server"    // HTTP 5xx, a server's internal error
	Throttled   Kind = "throttled" // HTTP 429
	Protocol    Kind = "protocol"  // an answer that cannot be read, a request that the server does not know
	Closed      Kind = "closed"    // the endpoint was taken away
)

// Fault is why a tool did not answer.
type Fault struct {
	Kind       Kind
	RetryAfter time.Duration // where the endpoint says it; else 0
	Err        error
}

func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Breaks reports whether the fault counts against the endpoint.
func (f *Fault) Breaks() bool {
	return f.Kind == Transport || f.Kind == Timeout || f.Kind == ServerError
}

func spanOf(r Request) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a, 64 bits
	h := uint64(offset)
	for _, text := range [...]string{r.TraceID, r.CallID} {
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * prime
		}
		h = (h ^ 0xff) * prime
	}
	h = (h ^ uint64(r.Attempt)) * prime
	return max(h, 1) // a span of zeros is no span
}
