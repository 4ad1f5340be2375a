package gateway_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

func TestBucketOfTenAtTwoASecond(t *testing.T) {
	d := newDesk(t, tools("poll\nrate_limit: {bucket_capacity: 10, refill_rate: 2}"), map[string]end{"poll": text("ok")})
	for i := range 10 {
		d.call("poll", "{}")
		if d.elapsed() != 0 {
			t.Fatalf("call %d of the burst waited %v", i+1, d.elapsed())
		}
	}
	for i := range 4 {
		d.call("poll", "{}")
		if got, want := d.elapsed(), time.Duration(i+1)*500*time.Millisecond; got != want {
			t.Fatalf("call %d came back at %v, want %v", 11+i, got, want)
		}
		if r := d.last(); r.Queued != 500*time.Millisecond || !r.Throttled {
			t.Errorf("call %d: queued %v, throttled %v", 11+i, r.Queued, r.Throttled)
		}
	}
	other := d.begin("s2", d.session2())
	if r := other.DispatchAll(context.Background(), one("poll")); r[0].Took != 0 {
		t.Errorf("another session waited %v", r[0].Took)
	}
}

func TestTooManyCallsAreTurnedAway(t *testing.T) {
	d := newDesk(t, tools("poll\nrate_limit: {bucket_capacity: 2, refill_rate: 0.1}"), map[string]end{"poll": text("ok")})
	results := d.calls("poll {}", "poll {}", "poll {}")
	if got := codes(t, results); got != "ok ok rate_limited" {
		t.Fatalf("got %s", got)
	}
	if e := failure(t, results[2]); !e.Retryable || e.RetryAfterMS != 10_000 {
		t.Errorf("the error says retryable %v after %d ms, want true after 10000", e.Retryable, e.RetryAfterMS)
	}
	if d.elapsed() != 0 || d.last().Attempts != 0 {
		t.Errorf("the refused call took %v and %d attempts", d.elapsed(), d.last().Attempts)
	}
}

func TestTimeoutHoldsAgainstAHandlerThatDoesNotListen(t *testing.T) {
	d := newDesk(t, tools("hang"), map[string]end{"hang": after(time.Hour, "late")})
	r := d.call("hang", "{}")
	if e := failure(t, r); e.Code != "timeout" || e.Retryable || d.elapsed() != 8*time.Second || r.Took != 8*time.Second {
		t.Fatalf("%s after %v (took %v)", e.Code, d.elapsed(), r.Took)
	}
	if rec := d.last(); rec.Attempts != 1 || rec.TimedOut != 1 || rec.Executing != 8*time.Second {
		t.Errorf("attempts %d, timed out %d, executing %v", rec.Attempts, rec.TimedOut, rec.Executing)
	}
	d.clock.Settle()
	if len(d.records) != 1 {
		t.Errorf("the late answer made %d records", len(d.records))
	}
}

func TestWithoutRetriesNothingIsTriedAgain(t *testing.T) {
	for _, kind := range []endpoint.Kind{endpoint.Transport, endpoint.Timeout, endpoint.ServerError, endpoint.Throttled, endpoint.Protocol} {
		d := newDesk(t, tools("order\nretry: {max_attempts: 0}", "mail\nidempotent: true"),
			map[string]end{"order": fails("ok", kind), "mail": fails("ok", kind)})
		for _, name := range []string{"order", "mail"} {
			if r := d.call(name, "{}"); !r.Failed || d.last().Attempts != 1 {
				t.Errorf("%s after a fault of kind %s: %d attempts, failed %v", name, kind, d.last().Attempts, r.Failed)
			}
		}
	}
}

func TestRetriesAfterTheFirstTry(t *testing.T) {
	d := newDesk(t, tools("fetch\nidempotent: true\nretry: {max_attempts: 2, backoff: 1s}"),
		map[string]end{"fetch": fails("at last", endpoint.Transport, endpoint.ServerError)})
	if r := d.call("fetch", "{}"); r.Failed || r.Text != "at last" || d.last().Attempts != 3 {
		t.Fatalf("%q after %d attempts", r.Text, d.last().Attempts)
	}
	// Pauses of 0.5 to 1 s, then of 1 to 2 s.
	if e := d.elapsed(); e < 1500*time.Millisecond || e > 3*time.Second || d.last().Queued != e {
		t.Errorf("took %v, of which %v queued", e, d.last().Queued)
	}
	first := d.seen[0]
	for i, r := range d.seen {
		if r.Attempt != i+1 || r.TraceID != first.TraceID || r.CallID != first.CallID {
			t.Errorf("attempt %d is %+v", i+1, r)
		}
	}
	if d.seen[0].TraceParent() == d.seen[1].TraceParent() || !strings.Contains(d.seen[1].TraceParent(), first.TraceID) {
		t.Errorf("spans %s, %s", d.seen[0].TraceParent(), d.seen[1].TraceParent())
	}
}

func TestBackoffIsTheSessionsOwn(t *testing.T) {
	yaml := tools("fetch\nidempotent: true\nretry: {max_attempts: 1, backoff: 1s}")
	took := map[time.Duration]bool{}
	for _, id := range []string{"a", "b", "c"} {
		var again time.Duration
		for range 2 {
			d := newDesk(t, yaml, map[string]end{"fetch": fails("ok", endpoint.Transport)})
			d.session = d.begin(id, d.session2())
			d.call("fetch", "{}")
			if again != 0 && again != d.elapsed() {
				t.Errorf("session %s waits %v, then %v", id, again, d.elapsed())
			}
			again = d.elapsed()
		}
		took[again] = true
	}
	if len(took) != 3 {
		t.Errorf("three sessions wait alike: %v", took)
	}
}

func TestACommittedCallWhoseReplyIsLostIsNotSentAgain(t *testing.T) {
	for _, c := range []struct {
		card    string
		effects int
	}{{"order", 1}, {"order\nidempotent: true\nretry: {max_attempts: 2, backoff: 10ms}", 3}} {
		effects := 0
		d := newDesk(t, tools(c.card), map[string]end{"order": func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
			effects++
			return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.Transport, Err: context.DeadlineExceeded}
		}})
		e := failure(t, d.call("order", "{}"))
		if effects != c.effects || e.Retryable != (c.effects > 1) {
			t.Errorf("%q: sent %d times, want %d; retryable %v", c.card, effects, c.effects, e.Retryable)
		}
	}
}

func TestBreakerOpensAndProbes(t *testing.T) {
	down := true
	flaky := func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
		if down {
			return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.ServerError, Err: context.DeadlineExceeded}
		}
		return endpoint.Answer{Body: []byte("ok")}, nil
	}
	d := newDesk(t, "breaker: {failures: 3, open: 30s}\n"+tools("a", "b"), map[string]end{"a": flaky, "b": text("ok")})
	for range 3 {
		d.call("a", "{}")
	}
	if !d.last().Opened {
		t.Error("the third failure did not open the breaker")
	}
	if e := failure(t, d.call("a", "{}")); e.Code != "unavailable" || e.RetryAfterMS != 30_000 || len(d.seen) != 3 {
		t.Errorf("an open breaker: %+v after %d calls", e, len(d.seen))
	}
	if r := d.call("b", "{}"); r.Failed {
		t.Errorf("another endpoint suffers: %s", r.Text)
	}
	d.clock.Advance(30 * time.Second)
	d.call("a", "{}") // the probe fails
	if !d.last().Opened || len(d.seen) != 5 {
		t.Errorf("a failed probe: opened %v, %d calls", d.last().Opened, len(d.seen))
	}
	d.clock.Advance(30 * time.Second)
	down = false
	if got := codes(t, []registryResult{d.call("a", "{}"), d.call("a", "{}")}); got != "ok ok" {
		t.Errorf("after recovery: %s", got)
	}
}

// A probe that nobody waits for any more tells nothing: the next call is the probe.
func TestBreakerIgnoresACancelledProbe(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	answer := fails("ok", endpoint.Transport, endpoint.Transport, endpoint.Transport)
	flaky := func(inner context.Context, d *desk, r endpoint.Request) (endpoint.Answer, error) {
		if len(d.seen) == 3 { // the first probe
			cancel()
			return endpoint.Answer{}, inner.Err()
		}
		return answer(inner, d, r)
	}
	d := newDesk(t, "breaker: {failures: 2, open: 30s}\n"+tools("a"), map[string]end{"a": flaky})
	d.call("a", "{}")
	d.call("a", "{}")
	d.clock.Advance(30 * time.Second)
	if r := d.session.DispatchAll(ctx, one("a")); len(d.seen) != 3 || failure(t, r[0]).Code != "cancelled" {
		t.Fatalf("the probe: %s after %d calls", r[0].Text, len(d.seen))
	}
	if d.call("a", "{}"); !d.last().Opened {
		t.Errorf("the next probe failed after %d calls, and the breaker did not open again", len(d.seen))
	}
}

func TestBreakerIgnoresTheToolsOwnErrors(t *testing.T) {
	own := func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
		return endpoint.Answer{Body: []byte("no such file"), IsError: true}, nil
	}
	d := newDesk(t, "breaker: {failures: 2, open: 30s}\n"+tools("a", "b"), map[string]end{"a": own, "b": fails("ok", repeat(endpoint.Throttled, 20)...)})
	for range 10 {
		if e := failure(t, d.call("a", "{}")); e.Code != "endpoint_error" || e.Message != "no such file" {
			t.Fatalf("%+v", e)
		}
		if e := failure(t, d.call("b", "{}")); e.Code != "rate_limited" {
			t.Fatalf("%+v", e)
		}
	}
}

func repeat(kind endpoint.Kind, n int) (list []endpoint.Kind) {
	for range n {
		list = append(list, kind)
	}
	return list
}

func TestAPanicIsAnError(t *testing.T) {
	d := newDesk(t, tools("bad"), map[string]end{"bad": func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) { panic("oh") }})
	if e := failure(t, d.call("bad", "{}")); e.Code != "unavailable" || !strings.Contains(e.Message, "oh") {
		t.Errorf("%+v", e)
	}
}

func TestACancelledCallSaysSo(t *testing.T) {
	d := newDesk(t, tools("slow"), map[string]end{"slow": text("ok")})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := codes(t, d.session.DispatchAll(ctx, one("slow"))); got != "cancelled" || d.last().Code != "cancelled" {
		t.Errorf("got %s", got)
	}
}

func TestLimiterAndBulkhead(t *testing.T) {
	yaml := "limits: {concurrent: 3, endpoint_concurrent: 2, queue: 1}\n" + tools("a\nread_only: true\ncache_ttl: 0s", "b\nread_only: true\ncache_ttl: 0s")
	d := newDesk(t, yaml, map[string]end{"a": after(time.Second, "a"), "b": after(time.Second, "b")})
	// Two of a run, the third waits for a place at a; b is not held up by it.
	results := d.calls("a {\"n\":1}", "a {\"n\":2}", "a {\"n\":3}", "b {}")
	if got := codes(t, results); got != "ok ok ok ok" || d.elapsed() != 2*time.Second {
		t.Errorf("%s after %v", got, d.elapsed())
	}
	results = d.calls("a {\"n\":1}", "a {\"n\":2}", "a {\"n\":3}", "a {\"n\":4}", "a {\"n\":5}", "a {\"n\":6}")
	if got := codes(t, results); strings.Count(got, "rate_limited") == 0 || strings.Count(got, "ok") < 3 {
		t.Errorf("beyond the queue: %s", got)
	}
}

func TestGlobalRate(t *testing.T) {
	d := newDesk(t, "limits: {calls_per_second: 10}\n"+tools("a\nread_only: true\ncache_ttl: 0s"), map[string]end{"a": text("ok")})
	var list []string
	for range 30 {
		list = append(list, "a {}")
	}
	if got := codes(t, d.calls(list...)); strings.Contains(got, "rate") || d.elapsed() != 2*time.Second {
		t.Errorf("thirty calls at ten a second took %v: %s", d.elapsed(), got)
	}
}
