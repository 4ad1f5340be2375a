// Package web carries calls to HTTP services: the arguments are posted as JSON, and
// what comes back is the tool's answer.
//
// A status from 200 to 299 is an answer, one from 400 to 499 the tool's own error;
// 429, 500 and above, redirects, and whatever breaks on the way are faults. One call is
// one request: nothing is sent twice unless the connection was gone before its first
// byte was written. No proxy, cookie or redirect of the environment has a say.
//
// Errors name an address without its user information and its query, where people
// put their secrets.
package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// Bounds of a connection.
const (
	dialMax       = 10 * time.Second
	idleMax       = 90 * time.Second
	idlePerHost   = 16
	headerMax     = 1 << 20        // bytes
	retryAfterMax = 24 * time.Hour // of what a service asks for
	bodyMax       = 64 << 20       // bytes that are read where nobody sets a bound
)

// userAgent is what services are told of who calls.
const userAgent = "toolgauge"

// Options sets up a Client.
type Options struct {
	// Clock is the time against which the dates of Retry-After are held; nil means
	// the machine's.
	Clock clock.Clock
	// Transport sends the requests; nil means one of the client's own.
	Transport http.RoundTripper
}

// Client sends requests. It is safe for concurrent use.
type Client struct {
	clock     clock.Clock
	transport http.RoundTripper
}

// NewClient returns a client, to be closed.
func NewClient(o Options) *Client {
	c := &Client{clock: o.Clock, transport: o.Transport}
	if c.clock == nil {
		c.clock = clock.Wall{}
	}
	if c.transport == nil {
		c.transport = &http.Transport{
			DialContext:            (&net.Dialer{Timeout: dialMax}).DialContext,
			TLSHandshakeTimeout:    dialMax,
			IdleConnTimeout:        idleMax,
			MaxIdleConnsPerHost:    idlePerHost,
			MaxResponseHeaderBytes: headerMax,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // so that lengths are those of the answer
		}
	}
	return c
}

// Close closes the connections that no call uses.
func (c *Client) Close() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Open returns the endpoint of a target, an http or https URL. Its user information
// is sent as basic authentication.
func (c *Client) Open(target string) (endpoint.Endpoint, error) {
	u, err := Parse(target)
	if err != nil {
		return nil, err
	}
	return &service{client: c, url: u}, nil
}

// Parse reads an http or https URL. Its error does not repeat the URL.
func Parse(target string) (*url.URL, error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("the address is no http or https URL with a host\nhint: write it like https://example.org/tools/search; special characters in a password must be percent-encoded")
	}
	return u, nil
}

// Redacted is a URL without its user information, and with … for a query.
func Redacted(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if u.RawQuery == "" {
		return shown.String()
	}
	return shown.String() + "?…"
}

// service is the endpoint of one URL.
type service struct {
	client *Client
	url    *url.URL
}

// Call posts the arguments.
func (s *service) Call(ctx context.Context, r endpoint.Request) (endpoint.Answer, error) {
	header := make(http.Header)
	if len(r.TraceID) == 32 {
		header.Set("Traceparent", r.TraceParent())
	}
	if r.CallID != "" {
		// Models number their calls anew in each output, so the call alone is no key.
		// The spelling keeps net/http from sending the call twice by itself, which it
		// does where it finds the canonical one: that is the gateway's decision.
		header["idempotency-key"] = []string{url.PathEscape(r.TraceID + "-" + r.CallID)}
	}
	body := []byte(r.Arguments)
	if len(body) == 0 {
		body = []byte("{}")
	}
	got, err := s.client.Post(ctx, s.url, header, body, r.BytesMax)
	if err != nil {
		return endpoint.Answer{}, err
	}
	a := endpoint.Answer{Body: got.Body, Bytes: got.Bytes, IsError: got.Status >= 400}
	if _, parameters, err := mime.ParseMediaType(got.Header.Get("Content-Type")); err == nil {
		a.Encoding = parameters["charset"]
	}
	return a, nil
}

// Response is what came back of a request.
type Response struct {
	Status int // 200–299, or 400–499 but 429
	Header http.Header
	Body   []byte
	// Bytes is the length of the whole body where Body is its beginning: the length
	// that the service gave, or one more than was read.
	Bytes int64
}

// Post posts JSON, once, and reads up to bytesMax bytes of what comes back; 0 means 64
// MiB. Its error is an *endpoint.Fault.
func (c *Client) Post(ctx context.Context, u *url.URL, header http.Header, body []byte, bytesMax int64) (Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(body))
	if err != nil {
		return Response{}, &endpoint.Fault{Kind: endpoint.Protocol, Err: err}
	}
	to := *u
	to.User, to.Fragment = nil, ""
	request.URL, request.Host, request.Header = &to, u.Host, header
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", userAgent)
	if password, ok := u.User.Password(); u.User != nil && (ok || u.User.Username() != "") {
		request.SetBasicAuth(u.User.Username(), password)
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return Response{}, broken(ctx, u, err)
	}
	defer response.Body.Close()
	if fault := c.statusFault(u, response); fault != nil {
		return Response{}, fault
	}
	return read(ctx, u, response, bytesMax)
}

// read reads the body of a response.
func read(ctx context.Context, u *url.URL, response *http.Response, bytesMax int64) (Response, error) {
	if coding := response.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return Response{}, &endpoint.Fault{
			Kind: endpoint.Protocol,
			Err:  fmt.Errorf("%s answered with the content encoding %.40q, which was not asked for", Redacted(u), coding),
		}
	}
	if bytesMax <= 0 {
		bytesMax = bodyMax
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, bytesMax+1))
	if err != nil && int64(len(body)) <= bytesMax {
		return Response{}, broken(ctx, u, err)
	}
	got := Response{Status: response.StatusCode, Header: response.Header, Body: body}
	if int64(len(body)) > bytesMax {
		// Waiting for the rest only to count it could take longer than the call may.
		got.Body, got.Bytes = body[:bytesMax], max(response.ContentLength, bytesMax+1)
	}
	return got, nil
}

// statusFault is the fault that a status stands for; nil for an answer.
func (c *Client) statusFault(u *url.URL, response *http.Response) *endpoint.Fault {
	fault := &endpoint.Fault{RetryAfter: RetryAfter(response.Header.Get("Retry-After"), c.clock.Now())}
	suffix := ""
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests:
		fault.Kind = endpoint.Throttled
	case status >= 500:
		fault.Kind = endpoint.ServerError
	case status >= 400, 200 <= status && status < 300:
		return nil
	default:
		fault.Kind, fault.RetryAfter = endpoint.Protocol, 0
		if status >= 300 {
			suffix = ", and redirects are not followed"
		}
	}
	name := http.StatusText(response.StatusCode)
	if name != "" {
		name = " " + name
	}
	fault.Err = fmt.Errorf("%s answered %d%s%s", Redacted(u), response.StatusCode, name, suffix)
	return fault
}

// RetryAfter reads a Retry-After, in seconds or as a date; 0 if it says nothing.
func RetryAfter(text string, now time.Time) time.Duration {
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(retryAfterMax/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), retryAfterMax)
	}
	return 0
}

// broken is the fault of a request that was not answered in full.
func broken(ctx context.Context, u *url.URL, err error) *endpoint.Fault {
	var network net.Error
	fault := &endpoint.Fault{Kind: endpoint.Transport, Err: fmt.Errorf("%s: %w", Redacted(u), err)}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		fault.Kind, fault.Err = endpoint.Timeout, fmt.Errorf("%s did not answer in time: %w", Redacted(u), ctx.Err())
	case ctx.Err() != nil:
		fault.Kind, fault.Err = endpoint.Closed, fmt.Errorf("%s: %w", Redacted(u), ctx.Err())
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		fault.Err = fmt.Errorf("%s: the connection ended before the answer did: %w", Redacted(u), err)
	case errors.As(err, &network) && network.Timeout():
		fault.Kind = endpoint.Timeout
	}
	return fault
}
