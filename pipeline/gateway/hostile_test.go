package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func TestACancelledProbeTellsNothing(t *testing.T) {
	var cancel context.CancelFunc
	d := newDesk(t, "breaker: {failures: 2, open: 30s}\n"+tools("a"), map[string]end{
		"a": func(ctx context.Context, d *desk, _ endpoint.Request) (endpoint.Answer, error) {
			if cancel != nil {
				cancel()
				return endpoint.Answer{}, ctx.Err()
			}
			return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.ServerError, Err: errors.New("down")}
		},
	})
	d.calls("a {}")
	abandon := func() {
		var ctx context.Context
		ctx, cancel = context.WithCancel(context.Background())
		if got := codes(t, d.session.DispatchAll(ctx, one("a"))); got != "cancelled" {
			t.Errorf("a call that was given up: %s", got)
		}
		cancel = nil
	}
	abandon() // between two failures in a row
	d.calls("a {}")
	if !d.last().Opened {
		t.Error("a cancelled call counts as a success")
	}
	d.clock.Advance(30 * time.Second)
	abandon() // the probe
	d.calls("a {}")
	if r := d.last(); !r.Opened || r.Attempts != 1 {
		t.Errorf("after a cancelled probe: opened %v, %d attempts; want another probe", r.Opened, r.Attempts)
	}
}

func TestACallCancelledUnderWayMayHaveTakenEffect(t *testing.T) {
	for _, c := range []struct {
		card      string
		retryable bool
	}{{"order", false}, {"order\nidempotent: true", true}} {
		ctx, cancel := context.WithCancel(context.Background())
		d := newDesk(t, tools(c.card), map[string]end{"order": func(ctx context.Context, _ *desk, _ endpoint.Request) (endpoint.Answer, error) {
			cancel()
			return endpoint.Answer{}, ctx.Err()
		}})
		e := failure(t, d.session.DispatchAll(ctx, one("order"))[0])
		if e.Code != "cancelled" || e.Retryable != c.retryable || strings.Contains(e.SuggestedAction, "effect") == c.retryable {
			t.Errorf("%q: %+v", c.card, e)
		}
	}
}

func TestAFailureThatIsSharedIsNotWrittenToByTwo(t *testing.T) {
	config := parsed(t, tools("read\nread_only: true"))
	entered := make(chan struct{})
	open := func(*card.Card) (endpoint.Endpoint, error) {
		return scripted{&desk{}, func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
			close(entered)
			time.Sleep(20 * time.Millisecond)
			return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.ServerError, Err: errors.New("down")}
		}}, nil
	}
	g, err := gateway.New(gateway.Options{Config: config, Open: open})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	traces := make([]string, 8)
	for i := range traces {
		all.Go(func() {
			if i > 0 {
				<-entered
			}
			s := g.Session(gateway.SessionOptions{ID: fmt.Sprint(i), Who: config.Session})
			traces[i] = failure(t, s.DispatchAll(context.Background(), one("read"))[0]).TraceID
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, id := range traces {
		seen[id] = true
	}
	if len(seen) != len(traces) {
		t.Errorf("%d sessions got errors of %d traces", len(traces), len(seen))
	}
}

func TestACompositeActionThatCannotBeRecordedSaysThatItWasCarriedOut(t *testing.T) {
	yaml := tools("press") + "  - {id: twice, description: Presses twice., steps: [{tool: press}, {tool: press}]}\n"
	presses := 0
	d := newDesk(t, yaml, pressing(func(_ context.Context, d *desk, _ endpoint.Request) (endpoint.Answer, error) {
		presses++
		return endpoint.Answer{Body: []byte("pressed")}, nil
	}))
	written := 0
	d.log.fails = func() bool { written++; return written > 2 }
	e := failure(t, d.call("twice", "{}"))
	if presses != 2 || e.Retryable || !strings.Contains(e.Message, "carried out") || strings.Contains(e.Message, "none is") {
		t.Errorf("after %d presses: %+v", presses, e)
	}
	d.log.fails = nil
	d.call("press", "{}")
	if got := d.log.kept[len(d.log.kept)-2].Tool; got != "twice" {
		t.Errorf("the action is not on record when the log can be written again; %s is", got)
	}
}

func pressing(press end) map[string]end { return map[string]end{"press": press} }

func TestNobodyWaitsADayForAService(t *testing.T) {
	d := newDesk(t, tools("fetch\nidempotent: true\nretry: {max_attempts: 2, backoff: 1s}"), map[string]end{
		"fetch": func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
			return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.Throttled, RetryAfter: 24 * time.Hour, Err: errors.New("come back tomorrow")}
		},
	})
	e := failure(t, d.call("fetch", "{}"))
	if e.Code != "rate_limited" || e.RetryAfterMS != 24*3600*1000 || d.elapsed() != 0 || d.last().Attempts != 1 {
		t.Errorf("%+v after %v and %d attempts", e, d.elapsed(), d.last().Attempts)
	}
}

func TestAToolsErrorThatIsTooLargeSaysSo(t *testing.T) {
	d := newDesk(t, "limits: {max_result_bytes: 100}\n"+tools("a"), map[string]end{"a": func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
		return endpoint.Answer{IsError: true, Content: json.RawMessage(`[{"type":"text","text":"` + strings.Repeat("x", 100) + `"}]`)}, nil
	}})
	if e := failure(t, d.call("a", "{}")); e.Code != "result_too_large" {
		t.Errorf("%+v", e)
	}
}

func TestWhatAnErrorRepeatsIsRedacted(t *testing.T) {
	yaml := "redact: {values: [correct-horse-battery]}\ntools:\n  - id: read_mail\n    description: Reads the mail of correct-horse-battery.\n" +
		"    input_schema: {type: object, properties: {n: {type: integer}}, additionalProperties: false}\n    endpoint: {target: \"https://m.test.invalid/read_mail\"}\n"
	d := newDesk(t, yaml, map[string]end{"read_mail": text("ok")})
	for _, r := range []registry.Result{
		d.call("read_mails", "{}"), d.call("read_mail", `{"correct-horse-battery":1}`), d.call("read_mail", `{"n":"correct-horse-battery"}`),
		d.call("correct-horse-battery", "{}"),
	} {
		if strings.Contains(r.Text, "horse") {
			t.Errorf("got %s", r.Text)
		}
		if e := failure(t, r); len(e.Candidates)+len(e.Violations) == 0 {
			t.Errorf("nothing was repeated: %s", r.Text)
		}
	}
}

func TestCallsOfOneIDAreTwoCalls(t *testing.T) {
	d := newDesk(t, tools("order", "show\nread_only: true\nlazy: true"), map[string]end{
		"order": text("ordered"),
		"show": func(_ context.Context, _ *desk, r endpoint.Request) (endpoint.Answer, error) {
			return endpoint.Answer{Body: []byte("shown " + string(r.Arguments))}, nil
		},
	})
	for _, id := range []string{"call", ""} {
		d.seen = nil
		call := func(name, arguments string) registry.Call {
			return registry.Call{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
		}
		results := d.session.DispatchAll(context.Background(), []registry.Call{
			call("order", `{"n":1}`), call("order", `{"n":2}`), call("show", `{"n":1}`), call("show", `{"n":2}`),
		})
		if d.seen[0].CallID == d.seen[1].CallID {
			t.Errorf("two orders under the id %q are one to who keeps ids", id)
		}
		if handleOf(t, results[2].Text) == handleOf(t, results[3].Text) {
			t.Errorf("two results under the id %q have one handle", id)
		}
		if r := d.last(); r.CallID != id {
			t.Errorf("the record is of the call %q, not %q", r.CallID, id)
		}
	}
}

func TestArgumentsThatCannotBeRecordedBlockNobody(t *testing.T) {
	d := newDesk(t, tools("a"), map[string]end{"a": text("ok")})
	e := failure(t, d.call("a", `{"x":"`+strings.Repeat("x", 17<<20)+`"}`))
	if e.Code != "invalid_arguments" || len(d.seen) != 0 {
		t.Errorf("%+v after %d calls", e, len(d.seen))
	}
	if n := len(d.log.kept[0].Arguments); n > 1000 {
		t.Errorf("the record has %d bytes of arguments", n)
	}
}

func TestACompositeActionHasABucketOfItsOwn(t *testing.T) {
	yaml := tools("press") + "  - {id: twice, description: Presses twice., rate_limit: {bucket_capacity: 1, refill_rate: 0.01}, steps: [{tool: press}, {tool: press}]}\n"
	d := newDesk(t, yaml, pressing(text("pressed")))
	if got := codes(t, []registry.Result{d.call("twice", "{}"), d.call("twice", "{}")}); got != "ok rate_limited" {
		t.Errorf("got %s", got)
	}
}

func TestSessionsWithoutAPrincipalAreNotOne(t *testing.T) {
	d := newDesk(t, tools("show\nread_only: true\nlazy: true\nauth: none"), map[string]end{"show": text("a long result")})
	handle := handleOf(t, d.begin("a", card.Session{}).DispatchAll(context.Background(), one("show"))[0].Text)
	read := []registry.Call{{ID: "r", Name: "result_read", Arguments: json.RawMessage(`{"handle":"` + handle + `"}`)}}
	if r := d.begin("b", card.Session{}).DispatchAll(context.Background(), read)[0]; !r.Failed {
		t.Errorf("another session without a principal reads %s", r.Text)
	}
	if r := d.begin("a", card.Session{}).DispatchAll(context.Background(), read)[0]; r.Failed {
		t.Errorf("the session itself: %s", r.Text)
	}
}

func handleOf(t *testing.T, text string) string {
	t.Helper()
	i := strings.Index(text, "result://r")
	if i < 0 {
		t.Fatalf("no handle in %q", text)
	}
	return text[i : i+len("result://r")+12]
}

func TestAnIDIsNobodyElsesName(t *testing.T) {
	_, err := card.Parse("gateway.yaml", []byte("schema_version: 1\n"+tools("y\nname: z")+
		"  - {id: x, name: y, description: Calls itself if names go first., steps: [{tool: y}]}\n"))
	if err == nil || !strings.Contains(err.Error(), `"y"`) {
		t.Errorf("an id that is another tool's name: %v", err)
	}
}

func TestAToolIsNotLessGuardedWhileItIsPublished(t *testing.T) {
	r := registry.New(registry.Options{})
	config := parsed(t, tools("a"))
	open := func(c *card.Card) (endpoint.Endpoint, error) { return scripted{&desk{}, text(c.ID)}, nil }
	g, err := gateway.New(gateway.Options{Config: config, Registry: r, Publish: true, Open: open})
	if err != nil {
		t.Fatal(err)
	}
	old := g.Session(gateway.SessionOptions{ID: "s", Who: config.Session, Ask: func(context.Context, gateway.Question) (bool, error) { return true, nil }})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := range 100 {
			next := parsed(t, tools("a"))
			if i%2 == 0 {
				next = parsed(t, tools("a", "secret\nauth: admin"))
			}
			if err := g.Reload(next, nil); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		if r := old.DispatchAll(context.Background(), one("secret"))[0]; !r.Failed || !strings.Contains(r.Text, "denied") && !strings.Contains(r.Text, "unknown_tool") {
			t.Fatalf("an ordinary session got %s", r.Text)
		}
		select {
		case <-ended:
			return
		default:
		}
	}
}

func TestASystemToolStaysOneWhateverItsServerIsCalled(t *testing.T) {
	for _, name := range []string{"click", "mcp__desk__click", "mcp__my__desk__click"} {
		if c := card.Default().Derive(card.Card{ID: "hermes://mcp/desk/click", Name: name}); c.Auth != card.AuthSystem {
			t.Errorf("%s has the auth %s", name, c.Auth)
		}
	}
}

func TestWhatRulesAndDefaultsCutCanBeReadOn(t *testing.T) {
	for _, yaml := range []string{"defaults: {max_result_tokens: 2000}\n", "rules: [{match: \"*\", lazy: true}]\n"} {
		cards, err := parsed(t, yaml).Complete()
		if err != nil || len(cards) != 1 || cards[0].ID != "result_read" {
			t.Errorf("%s: %d tools, %v", yaml, len(cards), err)
		}
	}
}
