package suite_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/sessions"
	"github.com/toolgauge/toolgauge/suite"
)

// game is one session of a scenario and what came of it.
type game struct {
	session *sessions.Session
	seen    metrics.Observations
}

// outcomes are games of every scenario, by its name.
type outcomes struct {
	corpus *corpus.Corpus
	config *card.Config
	games  map[string][]game
}

// TestOutcomes plays a few sessions of every scenario and holds them to what the suite is
// there to show.
func TestOutcomes(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c, config, scenarios := load(t)
	o := outcomes{c, config, make(map[string][]game)}
	for _, scenario := range scenarios {
		o.games[scenario] = games(t, c, config, scenario)
	}
	t.Run("what a gateway promises", o.promises)
	t.Run("denials", o.denials)
	t.Run("runaway", o.runaway)
	t.Run("parallel", o.parallel)
	t.Run("trouble passes", o.troublePasses)
	t.Run("without a gateway", o.withoutGateway)
}

// games plays a few sessions of a scenario under the arms that judge the suite's gateway.
func games(t *testing.T, c *corpus.Corpus, config *card.Config, scenario string) (all []game) {
	t.Helper()
	text, err := suite.GatewayText("gateway")
	if err != nil {
		t.Fatal(err)
	}
	d, err := sessions.NewDrawer(c, sessions.Options{Seed: 5, Mix: []sessions.Share{{Distribution: scenario, Weight: 1}}, EventShare: sessions.NoEvents, NoAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(replay.Options{Corpus: c, Arms: replay.GatewayArms(replay.NewGateway(text, config)), World: config, Repeats: 1})
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range d.Sessions(sessions.Range{Count: 4}) {
		if err != nil {
			t.Fatal(err)
		}
		seen, err := p.Play(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, game{s, seen})
	}
	return all
}

// under returns the calls of some arms that were dispatched.
func under(all []game, arms ...string) (calls []metrics.Call) {
	for _, g := range all {
		for _, c := range g.seen.Calls {
			if slices.Contains(arms, c.Arm) && c.Outcome != metrics.OutcomeNone {
				calls = append(calls, c)
			}
		}
	}
	return calls
}

var (
	with    = []string{"gateway-on", "bridged-on"}
	without = []string{"gateway-off", "bridged-off"}
)

// promises are kept in every scenario, behind a bridge as without one.
func (o outcomes) promises(t *testing.T) {
	for scenario, all := range o.games {
		for _, g := range all {
			for _, arm := range g.seen.Arms {
				if slices.Contains(with, arm.Arm) && (arm.DuplicatedSideEffects > 0 || arm.LeakedSecrets > 0) {
					t.Errorf("%s under %s: %d effects doubled, %d secrets leaked", scenario, arm.Arm, arm.DuplicatedSideEffects, arm.LeakedSecrets)
				}
			}
		}
		calls := under(all, with...)
		if len(calls) == 0 || len(under(all, "bridged-on")) == 0 {
			t.Errorf("%s: no call to judge", scenario)
		}
		for _, call := range calls {
			tool, ok := o.corpus.Tool(call.Tool)
			if !ok {
				t.Fatalf("unknown tool %s", call.Tool)
			}
			one := derived(o.config, tool)
			composite := one.Target == ""
			if longest := float64(one.Timeout/time.Millisecond) * float64(call.Attempts); call.ExecutingMS > longest && !composite {
				t.Errorf("%s: %s takes %v ms in %d attempts, each of which may take %v", scenario, call.Tool, call.ExecutingMS, call.Attempts, one.Timeout)
			}
			if !one.ReadOnly && !one.Idempotent && call.Attempts > 1 {
				t.Errorf("%s: %s was sent %d times", scenario, call.Tool, call.Attempts)
			}
		}
	}
}

// denials holds that what this session may not do is denied by the rule that forbids it, and
// carried out where there is no gateway.
func (o outcomes) denials(t *testing.T) {
	rules := map[string]string{
		"accounts/reset_all_sessions": "admin", "accounts/change_plan": "scope", "accounts/close_account": "confirm",
		"accounts/run_support_script": "surface", "desktop/shell_command": "surface",
	}
	met := make(map[string]bool)
	for _, scenario := range []string{"denied", "computer_use"} {
		all := o.games[scenario]
		for _, call := range under(all, with...) {
			if call.Rule != rules[call.Tool] || (call.Outcome == metrics.OutcomeDenied) != (call.Rule != "") {
				t.Errorf("%s ends with %s by the rule %q, want %q", call.Tool, call.Outcome, call.Rule, rules[call.Tool])
			}
			if call.Tool == "accounts/issue_refund" {
				t.Errorf("a tool of another team was called")
			}
			met[call.Rule] = true
		}
		for _, call := range under(all, without...) {
			if call.Outcome == metrics.OutcomeDenied {
				t.Errorf("%s is denied without a gateway", call.Tool)
			}
		}
	}
	for _, rule := range rules {
		if !met[rule] {
			t.Errorf("no call was denied by the rule %s", rule)
		}
	}
}

// runaway holds that of a thousand calls at once the bucket's ten go through, and
// those that it has tokens for while they are patient: two a second for eight seconds.
func (o outcomes) runaway(t *testing.T) {
	most := 10 + 2*8
	all := o.games["runaway"]
	turns := 0
	for _, arm := range with {
		through := make(map[[2]any]int)
		count := make(map[[2]any]int)
		for _, call := range under(all, arm) {
			key := [2]any{call.SessionID, call.Turn}
			count[key]++
			if call.Attempts > 0 {
				through[key]++
			}
		}
		for key, n := range count {
			if n < 1000 {
				continue
			}
			turns++
			if through[key] < 10 || through[key] > most {
				t.Errorf("under %s %d of %d calls went through, want 10 to %d", arm, through[key], n, most)
			}
		}
	}
	if turns == 0 {
		t.Error("no turn runs away")
	}
	for _, call := range under(all, without...) {
		if call.Throttled || call.Attempts != 1 {
			t.Errorf("without a gateway a call is held up: %+v", call.Dispatch)
		}
	}
}

// parallel holds that suppliers which take a second each take one together,
// and one after another without a gateway.
func (o outcomes) parallel(t *testing.T) {
	for _, g := range o.games["parallel"] {
		for _, arm := range g.seen.Arms {
			asked, calls := 0, 0
			for i := range g.session.Events {
				turn := g.session.Events[i].Turn
				calls += len(turn.Gold)
				if len(turn.Gold) > 0 {
					asked++
				}
			}
			want := 1000 * calls
			if slices.Contains(with, arm.Arm) {
				want = 1000 * asked
			}
			// Behind a bridge, calls of one turn may be made in several requests.
			if arm.TakenMS != float64(want) && !(arm.Arm == "bridged-on" && arm.TakenMS < float64(1000*calls)) {
				t.Errorf("%s: %d calls in %d turns take %v ms under %s, want %d", g.session.SessionID, calls, asked, arm.TakenMS, arm.Arm, want)
			}
		}
	}
}

// troublePasses holds that when an outage is over and the first call has got through, none of
// a later turn fails; what flaps answers again and again.
func (o outcomes) troublePasses(t *testing.T) {
	const over = 240_000 // ms of session time
	back := 0
	for _, g := range o.games["outage"] {
		at := make([]int64, len(g.session.Events))
		for i := range g.session.Events {
			at[i] = g.session.Events[i].AtMS
		}
		since := -1
		for _, call := range under([]game{g}, "gateway-on") {
			switch {
			case at[call.Turn] < over:
			case call.Outcome == metrics.OutcomeOK && since < 0:
				since = call.Turn
				back++
			case call.Outcome != metrics.OutcomeOK && since >= 0 && call.Turn > since:
				t.Errorf("%s: %s fails in turn %d, long after it was back", g.session.SessionID, call.Tool, call.Turn)
			}
		}
	}
	if back == 0 {
		t.Error("no session sees the end of the outage")
	}
	recovered := 0
	for _, call := range under(o.games["flapping"], "gateway-on") {
		if call.Outcome == metrics.OutcomeOK && call.Attempts > 1 {
			recovered++
		}
	}
	if recovered == 0 {
		t.Error("no call gets through what flaps by trying again")
	}
}

// withoutGateway holds that what the gateway is there for does happen without one.
func (o outcomes) withoutGateway(t *testing.T) {
	leaked := 0
	for _, g := range o.games["poisoned"] {
		for _, arm := range g.seen.Arms {
			if slices.Contains(without, arm.Arm) {
				leaked += arm.LeakedSecrets
			}
		}
	}
	if leaked == 0 {
		t.Error("no secret leaks")
	}
	hour := float64(time.Hour / time.Millisecond)
	hangs := func(arms []string) bool {
		return slices.ContainsFunc(under(o.games["outage"], arms...), func(call metrics.Call) bool { return call.LatencyMS >= hour })
	}
	if !hangs(without) || hangs(with) {
		t.Error("a call that hangs shall take an hour without a gateway, and with one never")
	}
	for _, g := range o.games["oversized"] {
		prompt := make(map[string]int64)
		for _, arm := range g.seen.Arms {
			prompt[arm.Arm] = arm.PromptTokens
		}
		if prompt["gateway-off"] < 2*prompt["gateway-on"] {
			t.Errorf("large results make prompts of %v tokens", prompt)
		}
	}
}

func TestGatewayText(t *testing.T) {
	if _, err := suite.GatewayText("gatewy"); err == nil || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("error %v", err)
	}
}
