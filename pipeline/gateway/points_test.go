package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// TestABatchIsAllOrNothing: of a batch with a fault not even the tools without one are
// there.
func TestABatchIsAllOrNothing(t *testing.T) {
	d := newDesk(t, tools("a"), map[string]end{"a": text("a"), "good": text("good")})
	if err := d.gateway.Reload(parsed(t, tools("a", "good", "bad")), nil); err == nil {
		t.Fatal("a tool without an endpoint was taken")
	}
	if got := codes(t, []registry.Result{d.call("good", "{}"), d.call("a", "{}")}); got != "unknown_tool ok" || len(d.gateway.Cards(nil)) != 1 {
		t.Errorf("after a bad batch: %s, %d cards", got, len(d.gateway.Cards(nil)))
	}
}

// visited is an endpoint whose server comes and goes.
type visited struct {
	scripted
	up *bool
}

func (v visited) Available() bool { return *v.up }

func TestGroupsAvoidServersThatAreDown(t *testing.T) {
	up := false
	yaml := tools("best\ngroup: g\npriority: 9", "second\ngroup: g\npriority: 5")
	d := newDesk(t, yaml, map[string]end{"best": text("best"), "second": text("second")})
	g, err := gateway.New(gateway.Options{Config: parsed(t, yaml), Timeline: d.clock, Open: func(c *card.Card) (endpoint.Endpoint, error) {
		if c.ID == "best" {
			return visited{scripted{d, d.ends["best"]}, &up}, nil
		}
		return d.open(c)
	}})
	if err != nil {
		t.Fatal(err)
	}
	d.gateway, d.session = g, g.Session(gateway.SessionOptions{ID: "s", Who: d.session2()})
	if r := d.call("best", "{}"); r.Text != "second" {
		t.Errorf("while its server is down: %s", r.Text)
	}
	up = true
	if r := d.call("second", "{}"); r.Text != "best" {
		t.Errorf("when it is up: %s", r.Text)
	}
}

// TestEndpointsHoldUpNobodyElse: a full endpoint makes its own callers wait, and those of
// others only where all places of the gateway are taken. Who waits longer than the
// timeout of eight seconds is turned away.
func TestEndpointsHoldUpNobodyElse(t *testing.T) {
	read := "\nread_only: true\ncache_ttl: 0s"
	yaml := tools("slow"+read, "quick"+read)
	for _, c := range []struct {
		limits string
		want   string // when each call ends, in seconds
	}{
		{"limits: {concurrent: 10, endpoint_concurrent: 2}\n", "quick+1s quick+1s slow+5s slow+5s slow+10s"},
		{"limits: {concurrent: 10, endpoint_concurrent: 1, queue: 9}\n", "quick+1s quick+2s slow+5s rate_limited slow+10s"},
		{"limits: {concurrent: 1, endpoint_concurrent: 9}\n", "slow+5s rate_limited rate_limited rate_limited slow+10s"},
	} {
		d := newDesk(t, c.limits+yaml, map[string]end{"slow": after(5*time.Second, "slow"), "quick": after(time.Second, "quick")})
		d.session = d.gateway.Session(gateway.SessionOptions{ID: "s", Who: d.session2(), Observe: func(r *audit.Record) {
			if r.Code != "" {
				d.records = append(d.records, &audit.Record{Name: r.Code})
				return
			}
			d.records = append(d.records, &audit.Record{Name: fmt.Sprintf("%s+%v", r.Name, d.elapsed())})
		}})
		d.calls("slow {}", "slow {}", "slow {}", "quick {}", "quick {}")
		var got []string
		for _, r := range d.records {
			got = append(got, r.Name)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", strings.TrimSpace(c.limits), text, c.want)
		}
	}
}

// TestPausesDouble: each is drawn from the upper half of twice the one before, up to a
// minute.
func TestPausesDouble(t *testing.T) {
	var at []time.Duration
	d := newDesk(t, tools("fetch\nidempotent: true\nretry: {max_attempts: 10, backoff: 4s}"), map[string]end{
		"fetch": func(_ context.Context, d *desk, _ endpoint.Request) (endpoint.Answer, error) {
			at = append(at, d.elapsed())
			return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.Throttled, Err: context.DeadlineExceeded}
		},
	})
	d.call("fetch", "{}")
	if len(at) != 11 {
		t.Fatalf("%d attempts, want 11", len(at))
	}
	for i, most := 1, 4*time.Second; i < len(at); i, most = i+1, min(2*most, time.Minute) {
		if pause := at[i] - at[i-1]; pause < most/2 || pause > most {
			t.Errorf("pause %d is %v, want %v to %v", i, pause, most/2, most)
		}
	}
}

func TestTimeoutsOpenTheBreaker(t *testing.T) {
	d := newDesk(t, "breaker: {failures: 2, open: 30s}\n"+tools("hang"), map[string]end{"hang": after(time.Hour, "late")})
	d.call("hang", "{}")
	if d.call("hang", "{}"); !d.last().Opened {
		t.Error("two timeouts did not open the breaker")
	}
}

// TestRulesDoNotMakeToolsSafe: a rule that has a registry's tools tried again does not
// say that a second call does no harm.
func TestRulesDoNotMakeToolsSafe(t *testing.T) {
	for _, c := range []struct {
		rule  string
		tries int
	}{{"endpoint: {retry: {max_attempts: 2}}", 1}, {"idempotent: true, endpoint: {retry: {max_attempts: 2}}", 3}} {
		r, tries := registry.New(registry.Options{}), 0
		definition, err := registry.Define("order", "Orders.", []byte(`{"type":"object"}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Register(registry.Registration{Toolset: "shop", Definition: definition, Handler: func(context.Context, json.RawMessage) (any, error) {
			tries++
			return nil, &endpoint.Fault{Kind: endpoint.Transport, Err: context.DeadlineExceeded}
		}}); err != nil {
			t.Fatal(err)
		}
		d := newDesk(t, tools("other"), map[string]end{"other": text("x")})
		g, err := gateway.New(gateway.Options{Config: parsed(t, "rules: [{match: order, "+c.rule+"}]\n"), Registry: r, Timeline: d.clock})
		if err != nil {
			t.Fatal(err)
		}
		d.gateway, d.session = g, g.Session(gateway.SessionOptions{ID: "s", Who: d.session2()})
		if r := d.call("order", "{}"); !r.Failed || tries != c.tries {
			t.Errorf("%s: %d tries, want %d", c.rule, tries, c.tries)
		}
	}
}

// TestRecordsTellOfTheWholeCall plays two calls of one output and compares their records
// with what happened, field by field.
func TestRecordsTellOfTheWholeCall(t *testing.T) {
	d := newDesk(t, tools("pay\nrate_limit: {bucket_capacity: 1, refill_rate: 0.5}\nmax_result_tokens: 40", "old"), map[string]end{
		"pay": after(time.Second, strings.Repeat("paid ", 100)),
		"old": func(_ context.Context, d *desk, _ endpoint.Request) (endpoint.Answer, error) {
			d.clock.Wait(context.Background(), nil, 3*time.Second)
			return endpoint.Answer{Body: []byte("\xc4\xe3\xff!"), Encoding: "gbk"}, nil
		},
	})
	d.call("pay", "{}")
	begun := d.clock.Now()
	trace := strings.Repeat("ab", 16)
	calls := one("old")
	calls = append(calls, one("pay")...)
	calls[0].ID, calls[1].ID = "first", "second"
	results := d.session.DispatchAll(gateway.WithTrace(context.Background(), trace), calls)
	if d.seen[1].TraceID != trace || d.seen[2].TraceID != trace {
		t.Errorf("the endpoints saw the traces %s and %s", d.seen[1].TraceID, d.seen[2].TraceID)
	}
	plain := audit.Record{
		Time: begun, TraceID: trace, SessionID: "s1", Principal: "local", ModelCall: "s1/2", Arguments: []byte("{}"),
		Outcome: "ok", Phase: gateway.PhaseDone, Attempts: 1,
	}
	old, pay := plain, plain
	old.Tool, old.Name, old.CallID, old.Executing = "old", "old", "first", 3*time.Second
	old.Undecodable, old.ResultSHA256, old.ResultBytes, old.ResultTokens = 1, digest("你\ufffd!"), 7, 1
	pay.Tool, pay.Name, pay.CallID, pay.Executing = "pay", "pay", "second", time.Second
	pay.Waiting = 3 * time.Second // for the other call; the bucket has filled meanwhile
	pay.ResultSHA256, pay.ResultBytes, pay.ResultTokens, pay.TruncatedTokens = digest(results[1].Text), len(results[1].Text), 40, d.records[2].TruncatedTokens
	for i, want := range []audit.Record{old, pay} {
		if got := *d.records[i+1]; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if d.log.kept[i+1] != d.records[i+1] {
			t.Errorf("the log and the observer have different records of call %d", i)
		}
	}
	if pay.TruncatedTokens < 85 || pay.TruncatedTokens > 125 { // of 125, of which less than 40 are left
		t.Errorf("%d tokens were left out", pay.TruncatedTokens)
	}
}

// TestEveryCallIsCounted: each call counts once for its tool, under its code, with the
// tokens of its arguments and its result.
func TestEveryCallIsCounted(t *testing.T) {
	d := newDesk(t, tools("a\nread_only: true", "b\nauth: admin"), map[string]end{"a": after(time.Second, "12345"), "b": text("b")})
	d.calls(`a {"note":"long"}`, `a {"note":"long"}`)
	d.calls("a []", "b {}", "nobody {}")
	var got []string
	for _, m := range d.gateway.Tally().Tools() {
		in := m.TokensIn
		if m.Tool != "a" {
			m.TokensOut = 0 // of errors
		}
		got = append(got, fmt.Sprintf("%s: %d calls %v, %d tokens in, %d tries, %d hits, %v", m.Tool, m.Calls, m.Failures, in, m.Attempts, m.CacheHits, m.Latency.Sum))
	}
	want := []string{
		": 1 calls [{unknown_tool 1}], 1 tokens in, 0 tries, 0 hits, 0s",
		"a: 3 calls [{invalid_arguments 1}], 9 tokens in, 1 tries, 1 hits, 1s",
		"b: 1 calls [{denied 1}], 1 tokens in, 0 tries, 0 hits, 0s",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestStepsOfShapingAreOnRecord has a model take a minute for a summary.
func TestStepsOfShapingAreOnRecord(t *testing.T) {
	d := newDesk(t, tools("long"), map[string]end{"long": text(strings.Repeat("word ", 100))})
	g, err := gateway.New(gateway.Options{
		Config: parsed(t, tools("long\nsummary: model\nmax_result_tokens: 50")), Timeline: d.clock, Open: d.open,
		Summarise: func(context.Context, string, int) (string, error) {
			d.clock.Wait(context.Background(), nil, time.Minute)
			return "words", nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.gateway = g
	d.session = d.begin("s", d.session2())
	r := d.call("long", "{}")
	if !strings.HasPrefix(r.Text, "words\n") || d.last().Shaping != time.Minute || d.last().Steps != (audit.Steps{Fit: time.Minute}) || d.last().Executing != 0 {
		t.Errorf("%q: shaping took %v in the steps %+v", r.Text, d.last().Shaping, d.last().Steps)
	}
}
