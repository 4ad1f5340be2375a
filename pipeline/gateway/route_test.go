package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

const travelTools = `
tools:
  - {id: "weather/today", name: weather_today, description: "Tells the weather of a city for today.", read_only: true, input_schema: {type: object, properties: {city: {type: string}}}, endpoint: {target: "https://w.test.invalid/a"}}
  - {id: book_train, description: "Books a seat in a train between two stations.", input_schema: {type: object, properties: {from: {type: string}, to: {type: string}}}, endpoint: {target: "https://t.test.invalid/b"}}
  - {id: train_times, description: "Lists when trains leave a station.", read_only: true, input_schema: {type: object, properties: {station: {type: string}}}, endpoint: {target: "https://t.test.invalid/c"}}
  - {id: secret_trains, description: "Lists trains that carry secret goods.", auth: admin, input_schema: {type: object}, endpoint: {target: "https://t.test.invalid/d"}}
`

func travelDesk(t *testing.T) *desk {
	return newDesk(t, travelTools, map[string]end{"a": text("a"), "b": text("b"), "c": text("c"), "d": text("d")})
}

func TestExactNames(t *testing.T) {
	d := travelDesk(t)
	for _, name := range []string{"weather_today", "weather/today"} {
		if r := d.call(name, "{}"); r.Text != "a" || d.last().Tool != "weather/today" {
			t.Errorf("%s gave %q of %s", name, r.Text, d.last().Tool)
		}
	}
}

func TestAHallucinatedNameGetsCandidates(t *testing.T) {
	d := travelDesk(t)
	for _, c := range []struct{ name, first string }{
		{"bookTrainTicket", "book_train"}, {"get_weather", "weather_today"}, {"list_departing_trains", "train_times"}, {"WEATHER_TODAY", "weather_today"},
	} {
		e := failure(t, d.call(c.name, `{"city":"Bern"}`))
		if e.Code != "unknown_tool" || e.Phase != gateway.PhaseRoute || len(e.Candidates) == 0 || e.Candidates[0].Tool != c.first || e.Candidates[0].Description == "" {
			t.Errorf("%s: %+v", c.name, e)
		}
		for _, candidate := range e.Candidates {
			if candidate.Tool == "secret_trains" {
				t.Errorf("%s proposes a tool that the session may not use", c.name)
			}
		}
	}
	for _, odd := range []string{"", "\x00\xff", strings.Repeat("z", 1<<16), "tool_call", "{}", "日本語"} {
		if e := failure(t, d.call2(odd, `{}`)); e.Code != "unknown_tool" || len(e.Message) > 1000 {
			t.Errorf("%.20q: %+v", odd, e)
		}
	}
	if len(d.seen) != 0 {
		t.Errorf("%d calls of names that do not exist were carried out", len(d.seen))
	}
}

// call2 makes a call whose name may hold anything.
func (d *desk) call2(name, arguments string) registryResult {
	calls := one(name)
	calls[0].Arguments = json.RawMessage(arguments)
	return d.session.DispatchAll(context.Background(), calls)[0]
}

func TestCandidatesByEmbedding(t *testing.T) {
	vectors := func(_ context.Context, texts []string) (list [][]float32, err error) {
		for _, s := range texts {
			if strings.Contains(s, "train_times") || strings.Contains(s, "zug") {
				list = append(list, []float32{1, 0})
			} else {
				list = append(list, []float32{0, 1})
			}
		}
		return list, nil
	}
	d := travelDesk(t)
	var err error
	if d.gateway, err = gateway.New(gateway.Options{Config: parsed(t, travelTools), Timeline: d.clock, Open: d.open, Embed: vectors}); err != nil {
		t.Fatal(err)
	}
	d.session = d.begin("e", d.session2())
	if e := failure(t, d.call("zug", "{}")); len(e.Candidates) == 0 || e.Candidates[0].Tool != "train_times" {
		t.Errorf("%+v", e)
	}
}

func TestGroups(t *testing.T) {
	group := func(priority string) string {
		return "\ngroup: search\nread_only: true\ncache_ttl: 0s\npriority: " + priority
	}
	down := false
	ends := map[string]end{"best": func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
		if down {
			return endpoint.Answer{}, &endpoint.Fault{Kind: endpoint.Transport, Err: context.DeadlineExceeded}
		}
		return endpoint.Answer{Body: []byte("best")}, nil
	}, "second": text("second"), "admin": text("admin")}
	d := newDesk(t, "breaker: {failures: 2, open: 30s}\n"+tools("best"+group("9"), "second"+group("5"), "admin\nauth: admin"+group("100")), ends)
	if r := d.call("second", "{}"); r.Text != "best" || d.last().Tool != "best" || d.last().Name != "second" {
		t.Errorf("got %q of %s, asked for as %s", r.Text, d.last().Tool, d.last().Name)
	}
	down = true
	if got := codes(t, []registryResult{d.call("best", "{}"), d.call("best", "{}")}); got != "unavailable unavailable" {
		t.Errorf("while it fails: %s", got)
	}
	if r := d.call("best", "{}"); r.Text != "second" {
		t.Errorf("with its breaker open: %s", r.Text)
	}
	down = false
	d.clock.Advance(30 * time.Second)
	if r := d.call("second", "{}"); r.Text != "best" {
		t.Errorf("after recovery: %s", r.Text)
	}
}

func TestEveryViolationHasItsPointer(t *testing.T) {
	d := newDesk(t, `
failure_memory: {failures: 3, window: 60s, probe: 30s}
tools:
  - {id: find, group: g, priority: 2, read_only: true, description: Finds., input_schema: {type: object, required: [q], properties: {q: {type: string}, filter: {type: object, properties: {max: {type: integer}}}}}, endpoint: {target: "https://w.test.invalid/find"}}
  - {id: seek, group: g, priority: 1, read_only: true, description: Seeks., input_schema: {type: object}, endpoint: {target: "https://w.test.invalid/seek"}}
`, map[string]end{"find": text("found"), "seek": text("sought")})
	e := failure(t, d.call("find", `{"filter":{"max":"many"}}`))
	if e.Code != "invalid_arguments" || e.Phase != gateway.PhaseValidate || len(e.Violations) != 2 ||
		e.Violations[0].Pointer != "" || e.Violations[1].Pointer != "/filter/max" || e.Violations[1].Keyword != "type" || len(d.seen) != 0 {
		t.Errorf("%+v", e)
	}
	for _, bad := range []string{`[]`, `12`, `{"q":`, ``} {
		r := d.call2("find", bad)
		if bad == `` { // no arguments at all are an empty object
			bad = `{}`
		}
		if got := code(t, r); got != "invalid_arguments" {
			t.Errorf("%s: %s", bad, got)
		}
	}
	d.call("find", `{}`)
	// The same parameter has failed three times by now: another of the group answers.
	if r := d.call("find", `{"q":"x"}`); r.Text != "sought" {
		t.Errorf("a degraded tool answered: %s", r.Text)
	}
	d.clock.Advance(31 * time.Second)
	if r := d.call("find", `{"q":"y"}`); r.Text != "found" {
		t.Errorf("the probe was not let through: %s", r.Text)
	}
	if r := d.call("find", `{"q":"z"}`); r.Text != "found" {
		t.Errorf("a success did not restore it: %s", r.Text)
	}
}

// TestAProbeIsSpentOnTheToolThatIsCalled: a degraded tool that another of its group goes
// before keeps its probe.
func TestAProbeIsSpentOnTheToolThatIsCalled(t *testing.T) {
	schema := "input_schema: {type: object, required: [q]}"
	d := newDesk(t, `
failure_memory: {failures: 1, window: 60s, probe: 30s}
breaker: {failures: 1, open: 10s}
tools:
  - {id: a_low, group: g, priority: 1, description: x, `+schema+`, endpoint: {target: "https://a.test.invalid/low"}}
  - {id: b_high, group: g, priority: 2, description: x, `+schema+`, endpoint: {target: "https://b.test.invalid/high"}}
`, map[string]end{"low": text("low"), "high": fails("high", endpoint.Transport)})
	d.call("a_low", "{}") // which b_high goes before, so that it is degraded...
	d.call("a_low", "{}") // ...and now a_low is too
	d.clock.Advance(31 * time.Second)
	if got := code(t, d.call("b_high", `{"q":1}`)); got != "unavailable" { // the probe of b_high, which opens its breaker
		t.Fatalf("got %s", got)
	}
	if r := d.call("b_high", `{"q":1}`); r.Text != "low" {
		t.Errorf("the probe of a_low was spent on another: %s", r.Text)
	}
}
