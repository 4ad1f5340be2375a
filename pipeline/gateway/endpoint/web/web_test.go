package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixed is a clock that stands.
type fixed time.Time

func (f fixed) Now() time.Time { return time.Time(f) }

var noon = fixed(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))

const trace = "4bf92f3577b34da6a3ce929d0e0e4736"

var request = endpoint.Request{
	Tool: "search", Arguments: json.RawMessage(`{"q": "é"}`), CallID: "call\n1", TraceID: trace, Attempt: 2, BytesMax: 1000,
}

// open serves a handler and returns an endpoint of it, at an address with secrets.
func open(t *testing.T, handler http.HandlerFunc) endpoint.Endpoint {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return openURL(t, strings.Replace(server.URL, "http://", "http://ann:hunter2@", 1)+"/tools/search?key=hunter3")
}

func openURL(t *testing.T, target string) endpoint.Endpoint {
	t.Helper()
	client := NewClient(Options{Clock: noon})
	t.Cleanup(client.Close)
	e, err := client.Open(target)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// faultOf calls an endpoint that is at fault, and sees that it keeps its secrets.
func faultOf(ctx context.Context, t *testing.T, e endpoint.Endpoint) *endpoint.Fault {
	t.Helper()
	got, err := e.Call(ctx, request)
	var fault *endpoint.Fault
	if !errors.As(err, &fault) {
		t.Fatalf("answer %+v, error %v", got, err)
	}
	if text := err.Error(); strings.Contains(text, "hunter") || strings.Contains(text, "ann") {
		t.Errorf("the error gives secrets away: %s", text)
	}
	return fault
}

func TestRequest(t *testing.T) {
	e := open(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		for _, header := range []string{"Content-Type", "User-Agent", "Traceparent", "Idempotency-Key", "Accept-Encoding", "Cookie"} {
			fmt.Fprintf(w, "%s: %s\n", header, r.Header.Get(header))
		}
		fmt.Fprintf(w, "%s %s\n%s %s\n%s", r.Method, r.URL, user, password, body)
	})
	got, err := e.Call(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	want := "Content-Type: application/json\nUser-Agent: toolgauge\nTraceparent: " + request.TraceParent() +
		"\nIdempotency-Key: " + trace + "-call%0A1\nAccept-Encoding: \nCookie: \nPOST /tools/search?key=hunter3\nann hunter2\n{\"q\": \"é\"}"
	if string(got.Body) != want {
		t.Errorf("%s\nwant %s", got.Body, want)
	}
	if got, err := e.Call(context.Background(), endpoint.Request{}); err != nil || !strings.HasSuffix(string(got.Body), "\n{}") ||
		!strings.Contains(string(got.Body), "Traceparent: \nIdempotency-Key: \n") {
		t.Errorf("a bare request: %s, %v", got.Body, err)
	}
}

func TestAnswers(t *testing.T) {
	long := strings.Repeat("x", 1500)
	for _, c := range []struct {
		status                   int
		contentType, body        string
		flush                    bool // so that the length is not known
		encoding                 string
		isError                  bool
		bytesBack, bytesComplete int64
	}{
		{status: 200, contentType: "application/json", body: "{}", bytesBack: 2},
		{status: 201, contentType: "text/plain; charset=\"GBK\"", body: "ok", encoding: "GBK", bytesBack: 2},
		{status: 204},
		{status: 200, contentType: "text/plain; charset", body: "ok", bytesBack: 2},
		{status: 200, body: long[:1000], bytesBack: 1000},
		{status: 200, body: long, bytesBack: 1000, bytesComplete: 1500},
		{status: 200, body: long, flush: true, bytesBack: 1000, bytesComplete: 1001},
		{status: 400, contentType: "text/plain;charset=utf-8", body: "no q", encoding: "utf-8", isError: true, bytesBack: 4},
		{status: 404, isError: true},
		{status: 499, body: long, isError: true, bytesBack: 1000, bytesComplete: 1500},
	} {
		e := open(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.contentType)
			if !c.flush {
				w.Header().Set("Content-Length", fmt.Sprint(len(c.body)))
			}
			w.WriteHeader(c.status)
			if c.flush {
				w.(http.Flusher).Flush()
			}
			_, _ = io.WriteString(w, c.body)
		})
		got, err := e.Call(context.Background(), request)
		if err != nil {
			t.Errorf("%d: %v", c.status, err)
			continue
		}
		if string(got.Body) != c.body[:c.bytesBack] || got.Bytes != c.bytesComplete || got.Encoding != c.encoding || got.IsError != c.isError {
			t.Errorf("%d: %d bytes of %d, encoding %q, error %t", c.status, len(got.Body), got.Bytes, got.Encoding, got.IsError)
		}
	}
}

func TestStatusFaults(t *testing.T) {
	for _, c := range []struct {
		status     int
		retryAfter string
		kind       endpoint.Kind
		wait       time.Duration
	}{
		{429, "", endpoint.Throttled, 0},
		{429, "7", endpoint.Throttled, 7 * time.Second},
		{429, "Mon, 30 Nov 2026 12:01:30 GMT", endpoint.Throttled, 90 * time.Second},
		{429, "Mon, 30 Nov 2026 11:00:00 GMT", endpoint.Throttled, 0},
		{429, "18446744073709551615", endpoint.Throttled, 24 * time.Hour},
		{429, "Tue, 30 Nov 2027 12:00:00 GMT", endpoint.Throttled, 24 * time.Hour},
		{429, "-1", endpoint.Throttled, 0},
		{429, "soon", endpoint.Throttled, 0},
		{500, "", endpoint.ServerError, 0},
		{503, "2", endpoint.ServerError, 2 * time.Second},
		{599, "", endpoint.ServerError, 0},
		{301, "", endpoint.Protocol, 0},
		{304, "", endpoint.Protocol, 0},
		{307, "3", endpoint.Protocol, 0},
	} {
		var calls atomic.Int32
		e := open(t, func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			w.Header().Set("Location", r.URL.String())
			w.Header().Set("Retry-After", c.retryAfter)
			w.WriteHeader(c.status)
		})
		fault := faultOf(context.Background(), t, e)
		if fault.Kind != c.kind || fault.RetryAfter != c.wait {
			t.Errorf("%d, Retry-After %q: %s after %s", c.status, c.retryAfter, fault.Kind, fault.RetryAfter)
		}
		if !strings.Contains(fault.Error(), fmt.Sprint("/tools/search?… answered ", c.status)) {
			t.Errorf("%d: %v", c.status, fault)
		}
		if calls.Load() != 1 {
			t.Errorf("%d: %d requests", c.status, calls.Load())
		}
	}
}

func TestContentEncoding(t *testing.T) {
	e := open(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "squeezed")
	})
	if fault := faultOf(context.Background(), t, e); fault.Kind != endpoint.Protocol {
		t.Errorf("%s: %v", fault.Kind, fault)
	}
}

// hijack answers with raw bytes and ends the connection, with a reset if asked to.
func hijack(t *testing.T, w http.ResponseWriter, raw string, reset bool) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.WriteString(conn, raw)
	if reset {
		_ = conn.(*net.TCPConn).SetLinger(0)
	}
	_ = conn.Close()
}

func TestBrokenConnections(t *testing.T) {
	for name, c := range map[string]struct {
		raw   string
		reset bool
	}{
		"nothing":        {"", false},
		"reset":          {"", true},
		"half a head":    {"HTTP/1.1 200 O", false},
		"half a body":    {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", false},
		"half a chunk":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha", false},
		"no last chunk":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nha\r\n", false},
		"something else": {"220 mail.example.org ESMTP\r\n", false},
	} {
		e := open(t, func(w http.ResponseWriter, _ *http.Request) { hijack(t, w, c.raw, c.reset) })
		if fault := faultOf(context.Background(), t, e); fault.Kind != endpoint.Transport {
			t.Errorf("%s: %s: %v", name, fault.Kind, fault)
		}
	}
}

// TestNothingIsSentTwice: a connection that was used before and breaks after it took
// the request may have carried the call out.
func TestNothingIsSentTwice(t *testing.T) {
	var calls atomic.Int32
	e := open(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if calls.Add(1) > 1 {
			hijack(t, w, "", false)
		}
	})
	if _, err := e.Call(context.Background(), request); err != nil {
		t.Fatal(err)
	}
	if fault := faultOf(context.Background(), t, e); fault.Kind != endpoint.Transport {
		t.Errorf("%s: %v", fault.Kind, fault)
	}
	if calls.Load() != 2 {
		t.Errorf("%d requests for two calls", calls.Load())
	}
}

func TestRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if fault := faultOf(context.Background(), t, openURL(t, "http://ann:hunter2@"+address+"/?hunter3")); fault.Kind != endpoint.Transport {
		t.Errorf("%s: %v", fault.Kind, fault)
	}
}

func TestUnknownCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	if fault := faultOf(context.Background(), t, openURL(t, server.URL)); fault.Kind != endpoint.Transport {
		t.Errorf("%s: %v", fault.Kind, fault)
	}
}

// TestContextEnds: a service that says nothing, and one that sends its answer drop by
// drop, hold nobody up.
func TestContextEnds(t *testing.T) {
	for _, first := range []bool{false, true} {
		e := open(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			for first {
				if _, err := io.WriteString(w, "."); err != nil || r.Context().Err() != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond)
			}
			<-r.Context().Done()
		})
		in := request
		request.BytesMax = 1 << 30
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		if fault := faultOf(ctx, t, e); fault.Kind != endpoint.Timeout {
			t.Errorf("deadline: %s: %v", fault.Kind, fault)
		}
		cancel()
		ctx, cancel = context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		if fault := faultOf(ctx, t, e); fault.Kind != endpoint.Closed {
			t.Errorf("cancelled: %s: %v", fault.Kind, fault)
		}
		cancel()
		request = in
	}
}

func TestOpenRefuses(t *testing.T) {
	client := NewClient(Options{})
	defer client.Close()
	for _, target := range []string{
		"", "example.org/hunter", "ftp://hunter/", "http://", "http:///hunter", "http://ann:hun#ter@example.org", "http://[::1", "http://hunter:port/", "https://%zz",
	} {
		_, err := client.Open(target)
		if err == nil || strings.Contains(err.Error(), "hun") || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%q: %v", target, err)
		}
	}
}

// TestNoProxy: what the environment says of proxies does not matter.
func TestNoProxy(t *testing.T) {
	if NewClient(Options{}).transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy may be used")
	}
}
