package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func TestWhoMay(t *testing.T) {
	yaml := tools(
		"open\nauth: none", "usual", "admin_only\nauth: admin", "scoped\nscope: orders:write", "team\nvisibility: [sales, support]",
		"click\nsurface: browser", "run_shell\nauth: system\nsurface: shell", "screenshot", "note\nsurface: browser")
	ends := map[string]end{}
	for name := range strings.FieldsSeq("open usual admin_only scoped team click run_shell screenshot note") {
		ends[name] = text("ok")
	}
	d := newDesk(t, yaml, ends)
	ordinary := card.Session{Principal: "ann", Role: card.RoleOrdinary}
	with := func(set func(*card.Session)) card.Session {
		who := ordinary
		set(&who)
		return who
	}
	browser := with(func(s *card.Session) { s.Surfaces = []string{"browser"} })
	for _, c := range []struct {
		who  card.Session
		tool string
		rule string // "" lets it pass
	}{
		{card.Session{}, "open", ""},
		{card.Session{}, "usual", gateway.RuleSession},
		{ordinary, "usual", ""},
		{ordinary, "admin_only", gateway.RuleAdmin},
		{with(func(s *card.Session) { s.Role = card.RoleAdmin }), "admin_only", ""},
		{ordinary, "scoped", gateway.RuleScope},
		{with(func(s *card.Session) { s.Scopes = []string{"orders:read"} }), "scoped", gateway.RuleScope},
		{with(func(s *card.Session) { s.Scopes = []string{"orders:read", "orders:write"} }), "scoped", ""},
		{ordinary, "team", gateway.RuleVisibility},
		{with(func(s *card.Session) { s.Teams = []string{"support"} }), "team", ""},
		{ordinary, "screenshot", gateway.RuleSystem}, // by its name: no card says otherwise
		{ordinary, "click", gateway.RuleSystem},
		{ordinary, "note", ""},
		{browser, "click", ""},
		{browser, "note", ""},
		{browser, "run_shell", gateway.RuleSurface},
		{browser, "usual", gateway.RuleSurface},
		{browser, "screenshot", gateway.RuleSurface},
	} {
		before := len(d.seen)
		r := d.begin("s", c.who).DispatchAll(context.Background(), one(c.tool))[0]
		switch {
		case c.rule == "" && r.Failed:
			t.Errorf("%+v may not use %s: %s", c.who, c.tool, r.Text)
		case c.rule != "":
			e := failure(t, r)
			if e.Code != "denied" || e.Rule != c.rule || e.Phase != gateway.PhaseAuthorise {
				t.Errorf("%+v using %s: %+v, want the rule %s", c.who, c.tool, e, c.rule)
			}
			if len(d.seen) != before {
				t.Errorf("%+v reached %s", c.who, c.tool)
			}
			if rec := d.last(); rec.Outcome != "denied" || rec.Rule != c.rule {
				t.Errorf("the record of %s says %s by %q", c.tool, rec.Outcome, rec.Rule)
			}
		}
	}
	shell := failure(t, d.begin("s", browser).DispatchAll(context.Background(), one("run_shell"))[0])
	if !strings.Contains(shell.Message, "browser") || !strings.Contains(shell.Message, "shell") || !strings.Contains(shell.SuggestedAction, "browser") {
		t.Errorf("a model cannot correct itself by: %s %s", shell.Message, shell.SuggestedAction)
	}
}

// TestASurfaceMayReadOn: what a session of one surface was given cut, it may read on.
func TestASurfaceMayReadOn(t *testing.T) {
	d := newDesk(t, "limits: {max_result_bytes: 100000}\n"+tools("look\nsurface: browser\nmax_result_tokens: 60"), map[string]end{"look": text(strings.Repeat("a line of the page\n", 200))})
	who := d.session2()
	who.Surfaces = []string{"browser"}
	d.session = d.begin("b", who)
	cut := d.call("look", "{}").Text
	i := strings.Index(cut, "handle ")
	if i < 0 {
		t.Fatalf("no handle in %s", cut)
	}
	handle := strings.FieldsFunc(cut[i+len("handle "):], func(r rune) bool { return strings.ContainsRune(" ,;\"]", r) })[0]
	if r := d.call("result_read", `{"handle":"`+handle+`","offset":100,"length":50}`); r.Failed || !strings.Contains(r.Text, "of the page") {
		t.Errorf("got %s", r.Text)
	}
}

func TestVisibilityFiltersListingAndCalls(t *testing.T) {
	d := newDesk(t, tools("all", "sales\nvisibility: [sales]"), map[string]end{"all": text("ok"), "sales": text("ok")})
	for _, teams := range [][]string{nil, {"support"}, {"sales"}} {
		listed := map[string]bool{}
		for _, c := range d.gateway.Cards(teams) {
			listed[c.Name] = true
		}
		for _, name := range []string{"all", "sales"} {
			who := d.session2()
			who.Teams = teams
			r := d.begin("s", who).DispatchAll(context.Background(), one(name))[0]
			if listed[name] == r.Failed {
				t.Errorf("teams %v: %s is listed: %v, callable: %v", teams, name, listed[name], !r.Failed)
			}
		}
	}
}

func TestConfirm(t *testing.T) {
	yaml := tools("mail\nconfirm: true", "plain", "look\nread_only: true")
	ends := map[string]end{"mail": text("sent"), "plain": text("ok"), "look": text("ok")}
	d := newDesk(t, yaml, ends)
	if r := d.call("mail", `{"to":"a","password":"hunter2-hunter2"}`); r.Failed || d.last().Confirmed != "unattended" || len(d.log.kept) != 1 {
		t.Errorf("unattended: %s, confirmed %q, %d records", r.Text, d.last().Confirmed, len(d.log.kept))
	}
	d = newDesk(t, "confirm: {unattended: deny}\n"+yaml, ends)
	if e := failure(t, d.call("mail", "{}")); e.Code != "confirmation_required" || len(d.seen) != 0 {
		t.Errorf("denied when unattended: %+v", e)
	}
	if got := code(t, d.call("plain", "{}")); got != "ok" {
		t.Errorf("what needs no agreement: %s", got)
	}
	asked, answer, fault := 0, true, error(nil)
	session := func(who card.Session) *gateway.Session {
		return d.gateway.Session(gateway.SessionOptions{ID: "s", Who: who, Observe: func(r *audit.Record) { d.records = append(d.records, r) },
			Ask: func(_ context.Context, q gateway.Question) (bool, error) {
				asked++
				d.clock.Wait(context.Background(), nil, time.Minute)
				if strings.Contains(string(q.Arguments), "hunter2") {
					t.Errorf("the question shows a secret: %s", q.Arguments)
				}
				return answer, fault
			}})
	}
	s := session(d.session2())
	mail := []registry.Call{{ID: "c", Name: "mail", Arguments: json.RawMessage(`{"password":"hunter2-hunter2"}`)}}
	if r := s.DispatchAll(context.Background(), mail)[0]; r.Failed || asked != 1 || d.last().Confirmed != "asked" || d.last().Waiting != time.Minute {
		t.Errorf("agreed: %s, asked %d times, %+v", r.Text, asked, d.last())
	}
	answer = false
	if e := failure(t, s.DispatchAll(context.Background(), mail)[0]); e.Code != "denied" || e.Rule != gateway.RuleConfirm {
		t.Errorf("refused: %+v", e)
	}
	answer, fault = true, errors.New("the terminal is gone")
	if got := codes(t, s.DispatchAll(context.Background(), mail)); got != "cancelled" {
		t.Errorf("nobody could answer: %s", got)
	}
	// In confirm mode every action asks.
	fault, asked = nil, 0
	who := d.session2()
	who.Confirm = true
	s = session(who)
	s.DispatchAll(context.Background(), one("plain"))
	s.DispatchAll(context.Background(), one("look"))
	if asked != 2 {
		t.Errorf("confirm mode asked %d times of 2", asked)
	}
}

const browserTools = `
tools:
  - {id: start_app, description: Starts a program., surface: browser, input_schema: {type: object, properties: {app: {type: string}}, required: [app]}, endpoint: {target: "https://x.test.invalid/start_app"}}
  - {id: send_hotkey, description: Presses keys., surface: browser, input_schema: {type: object}, endpoint: {target: "https://x.test.invalid/send_hotkey"}}
  - {id: input_text, description: Types a text., surface: browser, input_schema: {type: object, properties: {text: {type: string}}}, endpoint: {target: "https://x.test.invalid/input_text"}}
  - {id: run_shell, description: Runs a command., auth: system, surface: shell, input_schema: {type: object}, endpoint: {target: "https://x.test.invalid/run_shell"}}
  - id: open_address
    description: Opens a browser at an address.
    auth: system
    surface: browser
    input_schema: {type: object, properties: {url: {type: string}, wait_ms: {type: integer}}, required: [url]}
    steps:
      - {tool: start_app, arguments: {app: browser}}
      - {tool: send_hotkey, arguments: {keys: [ctrl, l], after: "${wait_ms}"}}
      - {tool: input_text, arguments: {text: "${url}", note: "at ${url} in ${wait_ms}"}}
`

func TestCompositeActions(t *testing.T) {
	d := newDesk(t, browserTools, map[string]end{"start_app": text("started"), "send_hotkey": text(`{"ok":true}`), "input_text": text("typed"), "run_shell": text("x")})
	who := d.session2()
	who.Surfaces = []string{"browser"}
	d.session = d.begin("b", who)
	r := d.call("open_address", `{"url":"https://a.example/\"q\"","wait_ms":5}`)
	if want := `{"steps":[{"tool":"start_app","result":"started"},{"tool":"send_hotkey","result":{"ok":true}},{"tool":"input_text","result":"typed"}]}`; r.Text != want {
		t.Errorf("got %s", r.Text)
	}
	var sent []string
	for _, s := range d.seen {
		sent = append(sent, s.Tool+string(s.Arguments))
	}
	if got, want := strings.Join(sent, " "), `start_app{"app":"browser"} send_hotkey{"keys":["ctrl","l"],"after":5} input_text{"text":"https://a.example/\"q\"","note":"at https://a.example/\"q\" in 5"}`; got != want {
		t.Errorf("sent %s", got)
	}
	if len(d.records) != 4 || d.records[0].Tool != "start_app" || d.records[3].Tool != "open_address" || d.records[0].TraceID != d.records[3].TraceID {
		t.Errorf("%d records", len(d.records))
	}
	// A parameter that was not given leaves its member out.
	d.seen = nil
	d.call("open_address", `{"url":"u"}`)
	if got := string(d.seen[1].Arguments); got != `{"keys":["ctrl","l"]}` {
		t.Errorf("sent %s", got)
	}
	// Each step is authorised: an ordinary session fails at the composite, and a step that fails ends it.
	if e := failure(t, d.begin("o", d.session2()).DispatchAll(context.Background(), one("open_address"))[0]); e.Code != "denied" {
		t.Errorf("an ordinary session: %+v", e)
	}
	if e := failure(t, d.call("open_address", `{}`)); e.Code != "invalid_arguments" || len(e.Violations) != 1 || e.Violations[0].Keyword != "required: url" {
		t.Errorf("%+v", e)
	}
	// In confirm mode the action asks, and each of its steps.
	who.Confirm = true
	asked := 0
	s := d.gateway.Session(gateway.SessionOptions{ID: "c", Who: who, Ask: func(context.Context, gateway.Question) (bool, error) {
		asked++
		return asked < 3, nil
	}})
	r = s.DispatchAll(context.Background(), []registry.Call{{ID: "c", Name: "open_address", Arguments: json.RawMessage(`{"url":"u"}`)}})[0]
	if e := failure(t, r); asked != 3 || e.Code != "endpoint_error" || !strings.Contains(e.Message, "step 2 of 3") || !strings.Contains(e.Message, "did not agree") {
		t.Errorf("asked %d times: %+v", asked, e)
	}
}
