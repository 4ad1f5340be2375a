package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

type registryResult = registry.Result

func one(name string) []registry.Call {
	return []registry.Call{{ID: "call", Name: name, Arguments: json.RawMessage("{}")}}
}

// session2 is who the desk's session is.
func (d *desk) session2() card.Session {
	return card.Session{Principal: "somebody", Role: card.RoleOrdinary}
}

// logged lets an endpoint note when it starts and ends.
func logged(log *[]string, took time.Duration) end {
	return func(_ context.Context, d *desk, r endpoint.Request) (endpoint.Answer, error) {
		*log = append(*log, fmt.Sprintf("%s+%v", r.Tool, d.elapsed()))
		d.clock.Wait(context.Background(), nil, took)
		return endpoint.Answer{Body: []byte(r.Tool)}, nil
	}
}

func TestIndependentCallsTakeOneLatency(t *testing.T) {
	read := "\nread_only: true"
	d := newDesk(t, tools("a"+read, "b"+read, "c"+read, "d"+read),
		map[string]end{"a": after(time.Second, "a"), "b": after(time.Second, "b"), "c": after(time.Second, "c"), "d": after(time.Second, "d")})
	results := d.calls("d {}", "a {}", "c {}", "b {}")
	var texts []string
	for _, r := range results {
		texts = append(texts, r.Text)
	}
	if d.elapsed() != time.Second || strings.Join(texts, " ") != "d a c b" {
		t.Errorf("four calls of a second took %v and gave %v", d.elapsed(), texts)
	}
}

func TestBatchOrder(t *testing.T) {
	read := "\nread_only: true\ncache_ttl: 0s"
	yaml := tools("r1"+read, "r2"+read, "w1", "w2", "ship\ndepends_on: [order]", "order")
	for _, c := range []struct{ calls, want string }{
		{"r1 r2", "r1+0s r2+0s"},
		{"w1 w2", "w1+0s w2+1s"},
		{"r1 w1 r2", "r1+0s w1+1s r2+2s"},
		{"r1 r2 w1 w2 r1 r2", "r1+0s r2+0s w1+1s w2+2s r1+3s r2+3s"},
		{"order ship", "order+0s ship+1s"},
		{"ship order", "order+0s ship+1s"}, // its card says that the order goes first
	} {
		var log []string
		d := newDesk(t, yaml, map[string]end{
			"r1": logged(&log, time.Second), "r2": logged(&log, time.Second), "w1": logged(&log, time.Second), "w2": logged(&log, time.Second),
			"ship": logged(&log, time.Second), "order": logged(&log, time.Second),
		})
		var list []string
		for name := range strings.FieldsSeq(c.calls) {
			list = append(list, name+" {}")
		}
		results := d.calls(list...)
		if got := strings.Join(log, " "); got != c.want {
			t.Errorf("%s: ran %s, want %s", c.calls, got, c.want)
		}
		for i, name := range strings.Fields(c.calls) {
			if results[i].Text != name {
				t.Errorf("%s: result %d is that of %s", c.calls, i, results[i].Text)
			}
		}
	}
}

func TestDeclaredDependencies(t *testing.T) {
	var log []string
	ends := map[string]end{"a": logged(&log, time.Second), "b": logged(&log, time.Second), "c": logged(&log, time.Second)}
	d := newDesk(t, tools("a", "b", "c"), ends)
	call := func(id string, on []int) registry.Call {
		return registry.Call{ID: id, Name: id, Arguments: json.RawMessage("{}"), DependsOn: on}
	}
	d.session.DispatchAll(context.Background(), []registry.Call{call("a", []int{}), call("b", []int{}), call("c", []int{0})})
	if got := strings.Join(log, " "); got != "a+0s b+0s c+1s" {
		t.Errorf("ran %s", got)
	}
	// What depends on a failed call is not made.
	d.ends["a"] = fails("", endpoint.Transport)
	d = newDesk(t, tools("a", "b", "c"), d.ends)
	results := d.session.DispatchAll(context.Background(), []registry.Call{call("a", nil), call("b", []int{0}), call("c", nil)})
	if got := codes(t, results); got != "unavailable cancelled ok" {
		t.Errorf("after a failure: %s", got)
	}
	results = d.session.DispatchAll(context.Background(), []registry.Call{call("a", []int{1}), call("b", []int{0}), call("c", []int{})})
	if got := codes(t, results); got != "invalid_arguments invalid_arguments ok" {
		t.Errorf("a circle: %s", got)
	}
}

// TestBatchesEnd draws batches of any kind: every call ends once, in call order, and no
// call starts before one that it must wait for has ended.
func TestBatchesEnd(t *testing.T) {
	yaml := tools("r\nread_only: true\ncache_ttl: 0s", "w", "dep\ndepends_on: [w]", "s\nread_only: true")
	rapid.Check(t, func(rt *rapid.T) {
		var log []string
		d := newDesk(t, yaml, map[string]end{
			"r": logged(&log, 3*time.Second), "w": logged(&log, time.Second), "dep": logged(&log, 2*time.Second), "s": logged(&log, time.Second),
		})
		n := rapid.IntRange(1, 12).Draw(rt, "calls")
		calls := make([]registry.Call, n)
		for i := range calls {
			calls[i] = registry.Call{ID: fmt.Sprint(i), Name: rapid.SampledFrom([]string{"r", "w", "dep", "s", "nobody"}).Draw(rt, "name"), Arguments: json.RawMessage(`{}`)}
			if rapid.Bool().Draw(rt, "declared") {
				calls[i].DependsOn = rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(rt, "on")
			}
		}
		results := d.session.DispatchAll(context.Background(), calls)
		if len(results) != n || len(d.records) != n {
			rt.Fatalf("%d calls gave %d results and %d records", n, len(results), len(d.records))
		}
		for i, r := range results {
			if !r.Failed && r.Text != calls[i].Name {
				rt.Fatalf("call %d of %s got the result of %s", i, calls[i].Name, r.Text)
			}
		}
		ids := map[string]bool{}
		for _, r := range d.records {
			ids[r.CallID] = true
		}
		if len(ids) != n {
			rt.Fatalf("%d calls have records", len(ids))
		}
	})
}

func TestCache(t *testing.T) {
	count := 0
	counted := func(_ context.Context, d *desk, r endpoint.Request) (endpoint.Answer, error) {
		count++
		d.clock.Wait(context.Background(), nil, time.Second)
		return endpoint.Answer{Body: fmt.Appendf(nil, "%d", count)}, nil
	}
	yaml := tools("read\nread_only: true", "write", "short\nread_only: true\ncache_ttl: 2s", "bad\nread_only: true")
	d := newDesk(t, yaml, map[string]end{"read": counted, "write": counted, "short": counted, "bad": fails("x", repeat(endpoint.ServerError, 2)...)})
	steps := []struct {
		name, arguments, want string
		pause                 time.Duration
	}{
		{"read", `{"a":1,"b":[1,2]}`, "1", 0},
		{"read", `{ "b": [1,2], "a": 1.0 }`, "1", 0}, // the same in canonical form
		{"read", `{"a":2}`, "2", 0},
		{"write", `{}`, "3", 0},
		{"write", `{}`, "4", 0},
		{"read", `{"a":2}`, "2", 27 * time.Second},
		{"read", `{"a":2}`, "5", 4 * time.Second}, // thirty seconds are over
		{"short", `{}`, "6", 0},
		{"short", `{}`, "7", 3 * time.Second},
	}
	for i, s := range steps {
		d.clock.Advance(s.pause)
		if r := d.call(s.name, s.arguments); r.Text != s.want {
			t.Errorf("step %d: %s%s gave %s, want %s", i, s.name, s.arguments, r.Text, s.want)
		}
	}
	if got := codes(t, []registry.Result{d.call("bad", "{}"), d.call("bad", "{}"), d.call("bad", "{}")}); got != "unavailable unavailable ok" {
		t.Errorf("a failure was kept: %s", got)
	}
	count = 0
	for i, r := range d.calls(`read {"c":1}`, `read {"c":1}`, `read {"c":1}`) {
		if r.Text != "1" {
			t.Errorf("call %d of three alike gave %s", i, r.Text)
		}
	}
	hits := 0
	for _, r := range d.records[len(d.records)-3:] {
		if r.CacheHit {
			hits++
		}
	}
	if count != 1 || hits != 2 {
		t.Errorf("three calls alike were %d calls and %d hits", count, hits)
	}
	other := d.begin("s9", card.Session{Principal: "another"})
	if r := other.DispatchAll(context.Background(), []registry.Call{{ID: "x", Name: "read", Arguments: json.RawMessage(`{"c":1}`)}}); r[0].Text != "2" {
		t.Errorf("another principal got %s", r[0].Text)
	}
	if err := d.gateway.Reload(parsed(t, yaml), nil); err != nil {
		t.Fatal(err)
	}
	if r := d.call("read", `{"c":1}`); r.Text != "3" {
		t.Errorf("after a reload: %s", r.Text)
	}
}
