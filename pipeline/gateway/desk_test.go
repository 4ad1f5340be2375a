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

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// desk is a gateway on virtual time, with endpoints that a test writes.
type desk struct {
	t       *testing.T
	clock   *clock.Virtual
	gateway *gateway.Gateway
	session *gateway.Session
	ends    map[string]end // by the last part of the target
	seen    []endpoint.Request
	records []*audit.Record
	log     *memory
}

// end is what a test lets an endpoint do.
type end func(ctx context.Context, d *desk, r endpoint.Request) (endpoint.Answer, error)

// memory is a recorder that can be told to fail.
type memory struct {
	mu     sync.Mutex
	kept   []*audit.Record
	broken bool
	fails  func() bool // of each write; nil: none fails for it
}

func (m *memory) Write(r *audit.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken || m.fails != nil && m.fails() {
		return errors.New("no space left on device")
	}
	m.kept = append(m.kept, r)
	return nil
}

// text answers with a text at once.
func text(s string) end {
	return func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
		return endpoint.Answer{Body: []byte(s)}, nil
	}
}

// after answers with a text when some time has passed, whatever its context says.
func after(d time.Duration, s string) end {
	return func(_ context.Context, desk *desk, _ endpoint.Request) (endpoint.Answer, error) {
		desk.clock.Wait(context.Background(), nil, d)
		return endpoint.Answer{Body: []byte(s)}, nil
	}
}

// fails answers with faults, one after another, then with a text.
func fails(s string, kinds ...endpoint.Kind) end {
	return func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
		if len(kinds) > 0 {
			kind := kinds[0]
			kinds = kinds[1:]
			return endpoint.Answer{}, &endpoint.Fault{Kind: kind, Err: fmt.Errorf("a fault of kind %s", kind)}
		}
		return endpoint.Answer{Body: []byte(s)}, nil
	}
}

// parsed reads a configuration, to which it adds the version.
func parsed(t testing.TB, yaml string) *card.Config {
	t.Helper()
	config, err := card.Parse("gateway.yaml", []byte("schema_version: 1\n"+yaml))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// newDesk opens a desk: yaml is a gateway.yaml without its version; its tools have
// targets such as https://test.invalid/NAME, which ends carries out.
func newDesk(t *testing.T, yaml string, ends map[string]end) *desk {
	t.Helper()
	d := &desk{t: t, clock: &clock.Virtual{}, ends: ends, log: &memory{}}
	config := parsed(t, yaml)
	var err error
	d.gateway, err = gateway.New(gateway.Options{Config: config, Timeline: d.clock, Open: d.open, Audit: d.log})
	if err != nil {
		t.Fatal(err)
	}
	d.session = d.begin("s1", config.Session)
	t.Cleanup(d.clock.Settle)
	return d
}

func (d *desk) begin(id string, who card.Session) *gateway.Session {
	return d.gateway.Session(gateway.SessionOptions{ID: id, Who: who, Observe: func(r *audit.Record) { d.records = append(d.records, r) }})
}

func (d *desk) open(c *card.Card) (endpoint.Endpoint, error) {
	name := c.Target[strings.LastIndexByte(c.Target, '/')+1:]
	if d.ends[name] == nil {
		return nil, fmt.Errorf("the test has no endpoint %q", name)
	}
	return scripted{d, d.ends[name]}, nil
}

type scripted struct {
	desk *desk
	end  end
}

func (s scripted) Call(ctx context.Context, r endpoint.Request) (endpoint.Answer, error) {
	s.desk.seen = append(s.desk.seen, r)
	return s.end(ctx, s.desk, r)
}

// call makes one call of the session.
func (d *desk) call(name, arguments string) registry.Result {
	return d.calls(name + " " + arguments)[0]
}

// calls makes the calls of one model output, each written as NAME ARGUMENTS.
func (d *desk) calls(list ...string) []registry.Result {
	var calls []registry.Call
	for i, one := range list {
		name, arguments, _ := strings.Cut(one, " ")
		calls = append(calls, registry.Call{ID: fmt.Sprintf("call_%d_%d", len(d.records), i), Name: name, Arguments: json.RawMessage(arguments)})
	}
	return d.session.DispatchAll(context.Background(), calls)
}

// elapsed is the time since the desk was opened.
func (d *desk) elapsed() time.Duration { return d.clock.Now().Sub(time.Time{}) }

// last is the record of the call that ended last.
func (d *desk) last() *audit.Record { return d.records[len(d.records)-1] }

// failure decodes an error result.
func failure(t testing.TB, r registry.Result) (e struct {
	Code, Message, Rule, Phase string
	SuggestedAction            string `json:"suggested_action"`
	Retryable                  bool
	RetryAfterMS               int64                                `json:"retry_after_ms"`
	TraceID                    string                               `json:"trace_id"`
	Candidates                 []struct{ Tool, Description string } `json:"candidates"`
	Violations                 []struct{ Pointer, Keyword string }  `json:"violations"`
},
) {
	t.Helper()
	if !r.Failed {
		t.Fatalf("no error but %q", r.Text)
	}
	var outer struct{ Error json.RawMessage }
	if err := json.Unmarshal([]byte(r.Text), &outer); err != nil {
		t.Fatalf("the error is no JSON: %v: %s", err, r.Text)
	}
	if err := json.Unmarshal(outer.Error, &e); err != nil {
		t.Fatalf("the error is no object: %v: %s", err, r.Text)
	}
	if e.Code == "" || e.Message == "" || e.SuggestedAction == "" || len(e.TraceID) != 32 || e.Phase == "" {
		t.Errorf("the error lacks something: %s", r.Text)
	}
	return e
}

// code is the code of a result's error; "ok" if it is none.
func code(t testing.TB, r registry.Result) string {
	t.Helper()
	if !r.Failed {
		return "ok"
	}
	return failure(t, r).Code
}

// codes are those of some results, joined by spaces.
func codes(t testing.TB, results []registry.Result) string {
	t.Helper()
	var list []string
	for _, r := range results {
		list = append(list, code(t, r))
	}
	return strings.Join(list, " ")
}

// tools writes cards of tools that take anything: each as ID, then lines of the card.
func tools(cards ...string) string {
	var b strings.Builder
	b.WriteString("tools:\n")
	for _, c := range cards {
		id, rest, _ := strings.Cut(c, "\n")
		fmt.Fprintf(&b, "  - id: %s\n    description: Test tool %s.\n    input_schema: {type: object}\n    endpoint: {target: \"https://%s.test.invalid/%s\"}\n", id, id, strings.ReplaceAll(id, "_", "-"), id)
		for line := range strings.Lines(rest) {
			b.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	return b.String()
}
