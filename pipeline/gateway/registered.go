package gateway

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// registered is the endpoint of a tool that the registry carries out itself.
type registered struct {
	registry *registry.Registry
	name     string
}

// Call dispatches. A handler's error is a fault if it says so, or that it could not
// connect; any other is the tool's own.
func (r registered) Call(ctx context.Context, in endpoint.Request) (endpoint.Answer, error) {
	result := r.registry.Dispatch(endpoint.WithRequest(ctx, in), r.name, in.Arguments)
	if result.Cause != nil {
		var fault *endpoint.Fault
		if errors.As(result.Cause, &fault) {
			return endpoint.Answer{}, fault
		}
		var named interface{ ErrorType() string }
		if errors.As(result.Cause, &named) && named.ErrorType() == "ConnectionError" {
			return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.Transport, Err: result.Cause}
		}
	}
	return endpoint.Answer{Body: []byte(result.Text), Content: result.Content, IsError: result.Failed}, nil
}

// bare is a published tool's handler: its endpoint, without a gateway in between.
func bare(t *tool) registry.Handler {
	return func(ctx context.Context, args json.RawMessage) (any, error) {
		if t.endpoint == nil {
			return nil, errors.New("a composite action is carried out by the gateway only")
		}
		in, _ := endpoint.RequestOf(ctx)
		in.Tool, in.Arguments = t.Name, args
		answer, err := t.endpoint.Call(ctx, in)
		switch {
		case err != nil:
			return nil, err
		case answer.IsError:
			return nil, errors.New(string(answer.Body))
		case answer.Content != nil:
			return registry.Multimodal{Content: answer.Content}, nil
		}
		return string(answer.Body), nil
	}
}

// reader is the endpoint of the tool that reads on in a result that was cut.
type reader struct{ gateway *Gateway }

// Call reads. What cannot be read is the tool's own error.
func (r reader) Call(_ context.Context, in endpoint.Request) (endpoint.Answer, error) {
	text, err := r.gateway.results.Call(owner(in.Principal, in.SessionID), in.Arguments)
	if err != nil {
		return endpoint.Answer{Body: []byte(err.Error()), IsError: true}, nil
	}
	return endpoint.Answer{Body: []byte(text)}, nil
}
