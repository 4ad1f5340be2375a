package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint/sim"
)

func call(s *sim.Simulation, id string, attempt int) string {
	answer, err := s.Call(context.Background(), endpoint.Request{Tool: "t", SessionID: "s", CallID: id, Attempt: attempt, Arguments: json.RawMessage(`{"a":1}`)})
	var f *endpoint.Fault
	switch {
	case errors.As(err, &f):
		return string(f.Kind)
	case err != nil:
		return err.Error()
	case answer.IsError:
		return "own error"
	}
	return "ok"
}

func TestLatency(t *testing.T) {
	c := &clock.Virtual{}
	s := sim.New(&card.Simulation{Latency: card.Latency{Base: 100 * time.Millisecond, Spread: 50 * time.Millisecond, Slow: .1, SlowBy: 5 * time.Second}}, sim.Options{Timeline: c})
	slow, sum := 0, time.Duration(0)
	for i := range 2000 {
		before := c.Now()
		call(s, fmt.Sprint(i), 1)
		took := c.Now().Sub(before)
		if took < 100*time.Millisecond {
			t.Fatalf("call %d took %v", i, took)
		}
		if took > 5*time.Second {
			slow++
			took -= 5 * time.Second
		}
		sum += took
	}
	if mean := sum / 2000; slow < 150 || slow > 250 || mean < 145*time.Millisecond || mean > 155*time.Millisecond {
		t.Errorf("%d of 2000 slow, the others' mean %v", slow, sum/2000)
	}
}

func TestWhatACallMeetsIsItsOwn(t *testing.T) {
	model := &card.Simulation{Latency: card.Latency{Spread: time.Second}, Failures: []card.Failure{{Kind: "transport", Share: .5}}}
	meets := func(order []int) map[int]string {
		c := &clock.Virtual{}
		s := sim.New(model, sim.Options{Timeline: c})
		got := map[int]string{}
		for _, i := range order {
			before := c.Now()
			got[i] = call(s, fmt.Sprint(i), 1) + c.Now().Sub(before).String()
		}
		return got
	}
	forth, back := meets([]int{1, 2, 3, 4, 5}), meets([]int{5, 4, 3, 2, 1})
	distinct := map[string]bool{}
	for i, what := range forth {
		distinct[what] = true
		if back[i] != what {
			t.Errorf("call %d meets %s, and in another order %s", i, what, back[i])
		}
	}
	if len(distinct) != 5 {
		t.Errorf("five calls meet %v", forth)
	}
}

func TestFailuresByTime(t *testing.T) {
	outage := []card.Failure{{Kind: "status_500", Share: 1, From: 10 * time.Second, For: 5 * time.Second}}
	flapping := []card.Failure{{Kind: "transport", Share: 1, From: 0, For: time.Second, Every: 3 * time.Second}}
	for _, c := range []struct {
		failures []card.Failure
		at       time.Duration
		want     string
	}{
		{outage, 0, "ok"}, {outage, 9999 * time.Millisecond, "ok"}, {outage, 10 * time.Second, "server"}, {outage, 14 * time.Second, "server"}, {outage, 15 * time.Second, "ok"},
		{flapping, 0, "transport"}, {flapping, time.Second, "ok"}, {flapping, 3 * time.Second, "transport"}, {flapping, 5 * time.Second, "ok"},
		{[]card.Failure{{Kind: "status_429", Share: 1}}, 0, "throttled"}, {[]card.Failure{{Kind: "status_400", Share: 1}}, 0, "own error"},
		{[]card.Failure{{Kind: "tool_error", Share: 1}}, 0, "own error"}, {[]card.Failure{{Kind: "hang", Share: 1}}, 0, "timeout"},
	} {
		v := &clock.Virtual{}
		v.Advance(c.at)
		if got := call(sim.New(&card.Simulation{Failures: c.failures}, sim.Options{Timeline: v}), "c", 1); got != c.want {
			t.Errorf("%+v at %v: %s, want %s", c.failures, c.at, got, c.want)
		}
	}
}

func TestEffectsAndLostReplies(t *testing.T) {
	l := &sim.Ledger{}
	s := sim.New(&card.Simulation{Commits: true, LosesReply: 1}, sim.Options{Timeline: &clock.Virtual{}, Ledger: l})
	for attempt := range 3 {
		if got := call(s, "one", attempt+1); got != "transport" {
			t.Errorf("attempt %d: %s", attempt+1, got)
		}
	}
	call(s, "two", 1)
	if l.Effects() != 4 || l.Duplicates() != 2 {
		t.Errorf("%d effects, %d too many", l.Effects(), l.Duplicates())
	}
}

func TestEndpointsThatKeepCallsHaveOneEffect(t *testing.T) {
	l := &sim.Ledger{}
	s := sim.New(&card.Simulation{Commits: true, LosesReply: 1, Deduplicates: true}, sim.Options{Timeline: &clock.Virtual{}, Ledger: l})
	for attempt := range 3 {
		call(s, "one", attempt+1)
	}
	call(s, "two", 1)
	if l.Effects() != 2 || l.Duplicates() != 0 {
		t.Errorf("%d effects, %d too many", l.Effects(), l.Duplicates())
	}
}

func TestResults(t *testing.T) {
	l := &sim.Ledger{}
	result := func(m card.Result) []byte {
		answer, err := sim.New(&card.Simulation{Result: m}, sim.Options{Timeline: &clock.Virtual{}, Ledger: l}).Call(context.Background(), endpoint.Request{Tool: "t", CallID: "c", Arguments: json.RawMessage(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Body
	}
	if got := string(result(card.Result{})); got != `{"status":"ok","tool":"t","arguments":{}}` {
		t.Errorf("echo: %s", got)
	}
	large := result(card.Result{Bytes: 10_000, Secrets: 12})
	if !json.Valid(large) || len(large) < 10_000 || len(large) > 13_000 || len(l.Secrets()) != 12 {
		t.Errorf("%d bytes, valid %v, %d secrets", len(large), json.Valid(large), len(l.Secrets()))
	}
	for _, secret := range l.Secrets() {
		if !strings.Contains(string(large), secret) {
			t.Errorf("%s is not in the result", secret)
		}
	}
	gbk := result(card.Result{Form: "text", Bytes: 300, Encoding: "gbk", Broken: 2})
	decoded, err := simplifiedchinese.GBK.NewDecoder().Bytes(gbk)
	if err != nil || !strings.Contains(string(decoded), "已确认") || !strings.Contains(string(decoded), "\ufffd") {
		t.Errorf("gbk: %q %v", decoded, err)
	}
}

func TestReloadsHalfWay(t *testing.T) {
	c := &clock.Virtual{}
	var at time.Duration
	s := sim.New(&card.Simulation{Latency: card.Latency{Base: time.Second}, Reloads: true}, sim.Options{Timeline: c, Reload: func() { at = c.Now().Sub(time.Time{}) }})
	call(s, "c", 1)
	if at != 500*time.Millisecond || c.Now().Sub(time.Time{}) != time.Second {
		t.Errorf("reloaded at %v of %v", at, c.Now().Sub(time.Time{}))
	}
}
