package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// meeting is an endpoint at which calls wait until all of them are there; each is
// answered with its own id.
type meeting struct{ awaited *sync.WaitGroup }

func (m meeting) Call(_ context.Context, r endpoint.Request) (endpoint.Answer, error) {
	m.awaited.Done()
	m.awaited.Wait()
	return endpoint.Answer{Body: []byte("answer to " + r.CallID)}, nil
}

// digest is that of a result, as records have it.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// recordsOf reads a log whose every line must be whole.
func recordsOf(t testing.TB, path string) (all []*audit.Record) {
	t.Helper()
	for r, err := range audit.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// TestTenThousandCallsAtOnce has 10,000 calls at their endpoint at the same time: each
// gets its own result, and a whole line in the log that tells of that result.
func TestTenThousandCallsAtOnce(t *testing.T) {
	const n = 10_000
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var awaited sync.WaitGroup
	awaited.Add(n)
	config := parsed(t, fmt.Sprintf("session: {principal: ann}\nlimits: {concurrent: %d, endpoint_concurrent: %d}\n", n, n)+tools("a\ntimeout: 1m"))
	g, err := gateway.New(gateway.Options{Config: config, Audit: log, Open: func(*card.Card) (endpoint.Endpoint, error) { return meeting{&awaited}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	results := make([]registry.Result, n)
	var callers sync.WaitGroup
	for i := range n {
		callers.Go(func() {
			s := g.Session(gateway.SessionOptions{ID: fmt.Sprintf("session-%d", i%100), Who: config.Session})
			results[i] = s.DispatchAll(context.Background(), []registry.Call{{ID: fmt.Sprint(i), Name: "a", Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))}})[0]
		})
	}
	callers.Wait()
	kept := make(map[string]*audit.Record, n)
	for _, r := range recordsOf(t, path) {
		if kept[r.CallID] != nil {
			t.Fatalf("call %s is recorded twice", r.CallID)
		}
		kept[r.CallID] = r
	}
	if len(kept) != n {
		t.Fatalf("%d records, want %d", len(kept), n)
	}
	for i, result := range results {
		id := fmt.Sprint(i)
		r := kept[id]
		if r == nil || result.Text != "answer to "+id || r.ResultSHA256 != digest(result.Text) || string(r.Arguments) != `{"n":`+id+`}` || r.SessionID != fmt.Sprintf("session-%d", i%100) {
			t.Fatalf("call %s came back with %q and the record %+v", id, result.Text, r)
		}
	}
}

// TestNoCallIsCarriedOutUnrecorded lets the log fail while a call is under way: its
// result is withheld, the calls behind it do not reach their endpoints, and when the
// log can be written again every call that reached one is in it.
func TestNoCallIsCarriedOutUnrecorded(t *testing.T) {
	var d *desk
	full := func(context.Context, *desk, endpoint.Request) (endpoint.Answer, error) {
		d.log.mu.Lock()
		defer d.log.mu.Unlock()
		d.log.broken = true
		return endpoint.Answer{Body: []byte("paid")}, nil
	}
	d = newDesk(t, tools("pay", "look\nread_only: true", "both\nread_only: true")+
		"  - {id: twice, description: Looks twice., input_schema: {type: object}, steps: [{tool: look}, {tool: both}]}\n",
		map[string]end{"pay": full, "look": text("seen"), "both": text("seen")})
	d.call("look", `{"n":1}`)
	results := d.calls(`pay {}`, `look {}`)
	if e := failure(t, results[0]); e.Code != "unavailable" || e.Phase != gateway.PhaseAudit || e.Retryable || strings.Contains(results[0].Text, "paid") {
		t.Errorf("the call under way: %s", results[0].Text)
	}
	if e := failure(t, results[1]); e.Code != "unavailable" || e.Phase != gateway.PhaseAudit || !e.Retryable {
		t.Errorf("the call behind it: %s", results[1].Text)
	}
	for _, call := range []string{`look {"n":1}`, "pay {}", "twice {}"} { // the first is in the cache
		if e := failure(t, d.calls(call)[0]); e.Phase != gateway.PhaseAudit {
			t.Errorf("%s: %+v", call, e)
		}
	}
	// What was refused for another reason stays refused for it, or for the log's.
	if !d.call("nobody", "{}").Failed {
		t.Error("a tool that does not exist answered")
	}
	if len(d.seen) != 2 || len(d.log.kept) != 1 {
		t.Fatalf("%d calls reached an endpoint, %d records were kept", len(d.seen), len(d.log.kept))
	}
	d.log.broken = false
	if r := d.call("both", "{}"); r.Failed {
		t.Errorf("when the log was whole again: %s", r.Text)
	}
	recorded := map[string]*audit.Record{}
	for _, r := range d.log.kept {
		recorded[r.CallID] = r
	}
	for _, s := range d.seen {
		if r := recorded[s.CallID]; r == nil || r.Tool != s.Tool || r.Attempts != 1 || r.Outcome != "ok" {
			t.Errorf("%s of %s reached its endpoint, and the record says %+v", s.CallID, s.Tool, r)
		}
	}
}
