package suite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/bridge/judge"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/sessions"
	"github.com/toolgauge/toolgauge/suite"
)

// servers are those of the scenarios.
var servers = map[string]string{
	"slow_tail": "routes", "error_burst": "parcels", "outage": "billing", "flapping": "meters", "lost_reply": "orders",
	"oversized": "archive", "misencoded": "ledgers", "poisoned": "deploys", "runaway": "stock", "reload": "rooms",
	"parallel": "quotes", "denied": "accounts", "computer_use": "desktop",
}

func load(t testing.TB) (*corpus.Corpus, *card.Config, []string) {
	t.Helper()
	c, config, scenarios, err := suite.Load("gateway")
	if err != nil {
		t.Fatal(err)
	}
	return c, config, scenarios
}

// derived is a tool of the corpus as the suite's gateway has it.
func derived(config *card.Config, tool *corpus.Tool) *card.Card {
	return config.Derive(card.Card{ID: card.MCPID(tool.Server, tool.Name), Name: tool.Definition.Name, ReadOnly: tool.ReadOnly})
}

func TestScenariosHaveServersOfTheirOwn(t *testing.T) {
	c, _, scenarios := load(t)
	if len(scenarios) != len(servers) {
		t.Errorf("scenarios %v", scenarios)
	}
	for _, name := range scenarios {
		d, err := c.Distributions.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Entries) != 1 || d.Entries[0].Toolset != "mcp-"+servers[name] || d.Entries[0].Percent != 100 || d.Servers != 0 {
			t.Errorf("scenario %s enables %+v and %d servers", name, d.Entries, d.Servers)
		}
	}
	if len(c.Notes) > 0 {
		t.Errorf("notes %q", c.Notes)
	}
}

// TestEveryToolIsSimulated holds the rules to the corpus: a rule that matches no tool,
// or a tool that no rule reaches, is a slip.
func TestEveryToolIsSimulated(t *testing.T) {
	c, config, _ := load(t)
	used := make(map[string]bool)
	for _, tool := range c.Tools {
		if tool.Server == "" {
			continue
		}
		target := derived(config, tool).Target
		name, ok := strings.CutPrefix(target, "sim://")
		if composite := tool.ID == "desktop/open_address"; ok == composite {
			t.Errorf("%s goes to %q", tool.ID, target)
		}
		if ok && config.Simulated[name] == nil {
			t.Errorf("%s goes to %q, which is not described", tool.ID, target)
		}
		used[name] = true
	}
	for name := range config.Simulated {
		if !used[name] {
			t.Errorf("nothing goes to the simulation %q", name)
		}
	}
}

func TestWhoMayCall(t *testing.T) {
	c, config, _ := load(t)
	got := make(map[string]string)
	who := config.Session
	for _, tool := range c.Tools {
		switch one := derived(config, tool); {
		case !one.Visible(who.Teams):
			got[tool.ID] = "visibility"
		case tool.Server == "":
		case !slices.Contains(who.Surfaces, one.Surface):
			got[tool.ID] = "surface " + one.Surface
		case one.Auth == card.AuthAdmin:
			got[tool.ID] = "admin"
		case one.Scope != "" && !slices.Contains(who.Scopes, one.Scope):
			got[tool.ID] = "scope " + one.Scope
		case one.Confirm:
			got[tool.ID] = "confirm"
		}
	}
	want := map[string]string{
		"accounts/reset_all_sessions": "admin", "accounts/change_plan": "scope plans:write", "accounts/issue_refund": "visibility",
		"accounts/close_account": "confirm", "accounts/run_support_script": "surface shell", "desktop/shell_command": "surface shell",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("denied (-want +got):\n%s", diff)
	}
	if config.Confirm.Unattended != card.UnattendedDeny {
		t.Errorf("unattended: %s", config.Confirm.Unattended)
	}
}

// TestOnlySafeToolsAreTriedAgain holds the suite to its point: an order whose reply is
// lost must not be placed twice.
func TestOnlySafeToolsAreTriedAgain(t *testing.T) {
	c, config, _ := load(t)
	for _, tool := range c.Tools {
		one := derived(config, tool)
		if one.Retry.MaxAttempts > 0 && !one.ReadOnly && !one.Idempotent {
			t.Errorf("%s is tried again", tool.ID)
		}
		name := strings.TrimPrefix(one.Target, "sim://")
		if m := config.Simulated[name]; m != nil && one.Idempotent && m.Commits && !m.Deduplicates {
			t.Errorf("%s is idempotent by its card and not behind it", tool.ID)
		}
	}
}

func TestIntents(t *testing.T) {
	c, _, _ := load(t)
	count := make(map[string]int)
	longest := 0
	for _, in := range c.Intents {
		server, _, _ := strings.Cut(in.ID, "-")
		count[server]++
		longest = max(longest, len(in.Gold))
		if n := len(in.Gold); (in.Class == corpus.MultiTool && (n < 2 || n > 5)) || (in.Class == corpus.Absent) != (n == 0) {
			t.Errorf("%s: %d golds of class %s", in.ID, n, in.Class)
		}
		for i, g := range in.Gold {
			tool, ok := c.Tool(g.Tool)
			if !ok || tool.Server != server {
				t.Fatalf("%s: gold %d is %s", in.ID, i, g.Tool)
			}
			if faults := judge.New(tool.Definition.Parameters).Violations(g.JSONArguments()); len(faults) > 0 {
				t.Errorf("%s: %s of %s: %v", in.ID, g.JSONArguments(), g.Tool, faults)
			}
			for _, a := range g.Arguments {
				value := strings.ToLower(strings.Trim(string(a.Value), `"`))
				if said := strings.Contains(strings.ToLower(in.Utterance), value); said && !a.Stated && value != "true" {
					t.Errorf("%s: the utterance says %s", in.ID, a.Value)
				} else if a.Stated && !said {
					t.Errorf("%s: the utterance does not say %s", in.ID, a.Value)
				}
			}
		}
	}
	for scenario, server := range servers {
		if n := count[server]; n < 6 || n > 12 {
			t.Errorf("scenario %s has %d intents", scenario, n)
		}
	}
	if longest != 1000 {
		t.Errorf("the longest turn has %d calls", longest)
	}
}

func TestSessionsOfEveryScenario(t *testing.T) {
	c, _, scenarios := load(t)
	var mix []sessions.Share
	for _, s := range scenarios {
		mix = append(mix, sessions.Share{Distribution: s, Weight: 1})
	}
	d, err := sessions.NewDrawer(c, sessions.Options{Mix: mix, EventShare: sessions.NoEvents})
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000
	drawn := make(map[string]int)
	runaways, stock := 0, 0
	for s, err := range d.Sessions(sessions.Range{Count: n}) {
		if err != nil {
			t.Fatal(err)
		}
		drawn[s.Distribution]++
		for _, e := range s.Events {
			if e.Kind != sessions.KindTurn {
				continue
			}
			if len(e.Turn.Gold) == 1000 {
				runaways++
			}
			for _, g := range e.Turn.Gold {
				if server, _, _ := strings.Cut(g.Tool, "/"); server != servers[s.Distribution] {
					t.Fatalf("a session of %s asks for %s", s.Distribution, g.Tool)
				}
			}
		}
		if s.Distribution == "runaway" {
			stock++
		}
	}
	for _, s := range scenarios {
		if k := drawn[s]; k < 40 || k > 115 { // 77 ± 4.5 σ
			t.Errorf("%d of %d sessions play %s", k, n, s)
		}
	}
	if runaways == 0 || runaways > 2*stock {
		t.Errorf("%d runaway turns in %d sessions of that scenario", runaways, stock)
	}
	t.Logf("sessions %v; %d turns of 1,000 calls in %d sessions", drawn, runaways, stock)
}

func TestUnknownSuite(t *testing.T) {
	for _, name := range []string{"", "gatewy", "..", "gateway/tools", "."} {
		_, _, _, err := suite.Load(name)
		if err == nil || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("suite %q: %v", name, err)
		}
	}
}
