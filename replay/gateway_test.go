package replay

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// depotIsSlow is a world in which one server takes a quarter of a second.
const depotIsSlow = `schema_version: 1
simulations:
  slow: {latency: {base: 250ms}}
rules:
  - {match: "mcp__depot__*", endpoint: {target: "sim://slow"}}
`

func parseWorld(t testing.TB, text string) *card.Config {
	t.Helper()
	c, err := card.Parse("world.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// done is what test simulations did.
type done struct {
	served  []string // tool and call
	secrets []string
	doubles int
}

func (d *done) Duplicates() int   { return d.doubles }
func (d *done) Secrets() []string { return d.secrets }

// slowly answers after the base of a model's latency, with a secret where it has one.
func slowly(d *done) func(*card.Simulation, *corpus.Tool, *lane) (registry.Handler, error) {
	return func(m *card.Simulation, t *corpus.Tool, l *lane) (registry.Handler, error) {
		l.effects = d
		return func(ctx context.Context, _ json.RawMessage) (any, error) {
			in, _ := endpoint.RequestOf(ctx)
			d.served = append(d.served, in.Tool+" "+in.CallID+" of "+in.SessionID)
			if err := clock.Sleep(ctx, l.clock, m.Latency.Base); err != nil {
				return nil, err
			}
			return "after a while" + strings.Join(d.secrets, " "), nil
		}, nil
	}
}

// sideBySide is a gateway that lets the calls of a batch run together, 10 ms after they
// came, and denies letters.
type sideBySide struct {
	lane    *lane
	observe func(*audit.Record)
}

func (g sideBySide) DispatchAll(ctx context.Context, calls []registry.Call) []registry.Result {
	results, events := make([]registry.Result, len(calls)), make([]clock.Event, len(calls))
	for i, c := range calls {
		g.lane.clock.Go(func() {
			r := &audit.Record{CallID: c.ID, Outcome: "ok", Attempts: 2, TimedOut: 1, Queued: 10 * time.Millisecond, Throttled: true, TruncatedTokens: 3}
			if c.Name == sendLetter {
				*r = audit.Record{CallID: c.ID, Outcome: "denied", Rule: "scope", Code: "denied"}
				results[i] = registry.ErrorResult("no")
			} else {
				_ = clock.Sleep(ctx, g.lane.clock, r.Queued)
				before := g.lane.clock.Now()
				in := endpoint.WithRequest(ctx, endpoint.Request{Tool: c.Name, CallID: c.ID, SessionID: "behind"})
				results[i] = g.lane.registry.Dispatch(in, c.Name, c.Arguments)
				r.Executing = g.lane.clock.Now().Sub(before)
			}
			results[i].Took = r.Queued + r.Executing
			g.observe(r)
			events[i].Happen()
		})
	}
	for i := range events {
		g.lane.clock.Wait(ctx, &events[i], clock.Forever)
	}
	return results
}

// behindSideBySide makes a player in whose arms with a gateway that one stands.
func behindSideBySide(t testing.TB, o Options, d *done) *Player {
	t.Helper()
	o.World = parseWorld(t, depotIsSlow)
	p := newPlayer(t, o)
	p.wiring = wiring{
		simulate: slowly(d),
		gateway: func(_ *armState, l *lane, _ string, observe func(*audit.Record)) (Dispatcher, error) {
			return sideBySide{l, observe}, nil
		},
	}
	return p
}

// gatedArms are eager and september, each without a gateway and with one.
func gatedArms() []Arm {
	var arms []Arm
	for _, gated := range []bool{false, true} {
		eager, deferring := NewArm(Eager, bridge.July), NewArm("september", bridge.September)
		eager.Bridge = false
		if gated {
			eager.Name, deferring.Name = "eager-gated", "september-gated"
			g := &Gateway{Name: "gateway.yaml@00000000", SHA256: "00000000", Config: card.Default()}
			eager.Behind(g)
			deferring.Behind(g)
		}
		arms = append(arms, eager, deferring)
	}
	return arms
}

// TestTimePassesInCalls: two slow calls of one request take their time one after
// another without a gateway, and side by side with one that lets them; a tool that is
// not simulated takes none.
func TestTimePassesInCalls(t *testing.T) {
	c := loadCorpus(t, tinyFiles)
	s := tinySession(c,
		asks("i1", "Look up spare part 7 and count the pieces", gold(findPart, "label", "7"), gold(countStock, "bin", "1")),
		asks("i2", "Open the note", gold(readNote, "title", "x")),
		asks("i3", "Mail a letter", gold(sendLetter, "address", "a", "body", "b")),
	)
	d := &done{secrets: []string{"sk-live-1"}, doubles: 2}
	o, err := behindSideBySide(t, Options{Corpus: c, Arms: gatedArms(), Repeats: 1}, d).Play(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	free := metrics.Traffic{Dispatched: 4, Attempts: 4, SerialMS: 500, TakenMS: 500, DuplicatedSideEffects: 2, LeakedSecrets: 1}
	gated := metrics.Traffic{
		Dispatched: 4, Attempts: 6, Retries: 3, Timeouts: 3, Throttled: 3, TruncatedTokens: 9, Denied: metrics.Denied{Scope: 1},
		SerialMS: 500, TakenMS: 270, DuplicatedSideEffects: 2, LeakedSecrets: 1,
	}
	for arm, want := range map[string]metrics.Traffic{Eager: free, "september": free, "eager-gated": gated, "september-gated": gated} {
		if diff := cmp.Diff(want, armRow(t, o, arm).Traffic); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arm, diff)
		}
	}
	slow := metrics.Dispatch{Outcome: metrics.OutcomeOK, Attempts: 1, LatencyMS: 250, ExecutingMS: 250}
	quick := metrics.Dispatch{Outcome: metrics.OutcomeOK, Attempts: 1}
	tried := func(ms float64) metrics.Dispatch {
		return metrics.Dispatch{Outcome: metrics.OutcomeOK, Attempts: 2, TimedOut: 1, Throttled: true, TruncatedTokens: 3, LatencyMS: 10 + ms, QueuedMS: 10, ExecutingMS: ms}
	}
	for arm, want := range map[string][]metrics.Dispatch{
		Eager:             {slow, slow, quick, quick},
		"september-gated": {tried(250), tried(250), tried(0), {Outcome: metrics.OutcomeDenied, Rule: "scope", Code: "denied"}},
	} {
		for i, call := range armCalls(o, arm) {
			if diff := cmp.Diff(want[i], call.Dispatch); diff != "" {
				t.Errorf("%s call %d (-want +got):\n%s", arm, i, diff)
			}
		}
	}
	if calls := armCalls(o, "eager-gated"); !calls[3].Failed || calls[3].Path != metrics.PathDirect {
		t.Errorf("a denied call is %+v", calls[3])
	}
	for _, served := range d.served {
		if !strings.HasPrefix(served, "mcp__depot__") || !strings.Contains(served, " call_") || strings.HasSuffix(served, "of ") {
			t.Errorf("a simulation served %q, want tool, call and session", served)
		}
	}
}

// TestArmsInTimeKeepToThemselves: what an arm observes does not depend on which others
// are played, nor on being one of a company.
func TestArmsInTimeKeepToThemselves(t *testing.T) {
	c := loadCorpus(t, tinyFiles)
	s := tinySession(c,
		asks("i1", "Look up spare part 7", gold(findPart, "label", "7")),
		asks("i2", "Count the pieces", gold(countStock, "bin", "1")), asks("i3", "Where is the moon"),
	)
	whole, err := behindSideBySide(t, Options{Corpus: c, Arms: gatedArms(), Repeats: 1}, &done{}).Play(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	alike, err := behindSideBySide(t, Options{Corpus: c, Arms: gatedArms(), Repeats: 1}, &done{}).PlayAlike(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(alike) != 4 {
		t.Errorf("%d parties of 4 arms in time", len(alike))
	}
	for i, arm := range gatedArms() {
		alone, err := behindSideBySide(t, Options{Corpus: c, Arms: []Arm{arm}, Repeats: 1}, &done{}).Play(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		row := armRow(t, whole, arm.Name)
		if diff := cmp.Diff(alone.Arms[0], row); diff != "" {
			t.Errorf("%s alone and with others (-alone +with):\n%s", arm.Name, diff)
		}
		if diff := cmp.Diff(row.Traffic, alike[i].Row.Traffic); diff != "" {
			t.Errorf("%s in a company (-alone +in):\n%s", arm.Name, diff)
		}
	}
}

// TestNothingStaysUnderWay: what a gateway left behind ends with the session.
func TestNothingStaysUnderWay(t *testing.T) {
	c := loadCorpus(t, tinyFiles)
	p := behindSideBySide(t, Options{Corpus: c, Arms: gatedArms()[2:], Repeats: 1}, &done{})
	ended := 0
	p.wiring.gateway = func(_ *armState, l *lane, _ string, observe func(*audit.Record)) (Dispatcher, error) {
		l.clock.Go(func() {
			_ = clock.Sleep(context.Background(), l.clock, time.Hour)
			ended++
		})
		return sideBySide{l, observe}, nil
	}
	if _, err := p.Play(context.Background(), tinySession(c, asks("i1", "Open the note", gold(readNote, "title", "x")))); err != nil {
		t.Fatal(err)
	}
	if ended != 2 {
		t.Errorf("%d of 2 tasks ended with the session", ended)
	}
}

func TestWorldsAreChecked(t *testing.T) {
	c := loadCorpus(t, tinyFiles)
	world := parseWorld(t, depotIsSlow)
	world.Simulated = nil
	_, err := NewPlayer(Options{Corpus: c, Arms: julyArms(), World: world})
	if err == nil || !strings.Contains(err.Error(), `no simulation "slow"`) || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("error %v", err)
	}
}

// writeGateway writes a gateway.yaml and returns its path.
func writeGateway(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestArmsNameGateways: a file is found beside that of the arms; arms that say nothing
// take the one given; equal arms stay equal, and their digest tells files apart.
func TestArmsNameGateways(t *testing.T) {
	own := writeGateway(t, "schema_version: 1\n")
	given, err := LoadGateway(writeGateway(t, "schema_version: 1\nlimits: {concurrent: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(own), "arms.yaml")
	text := "- {name: silent}\n- {name: bare, gateway: off}\n- {name: own, gateway: gateway.yaml}\n- {name: same, gateway: " + own + "}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	arms, _, err := LoadArmsBehind(file, given)
	if err != nil {
		t.Fatal(err)
	}
	if arms[0].GatewayConfig != given.Config || arms[0].Gateway != given.Name || arms[0].GatewaySHA256 != given.SHA256 {
		t.Errorf("an arm that says nothing has %+v", arms[0])
	}
	if arms[1] != NewArm("bare", bridge.July) {
		t.Errorf("an arm without a gateway has %+v", arms[1])
	}
	arms[3].Name = "own"
	if arms[2] != arms[3] || arms[2].GatewayConfig == nil || arms[2].GatewaySHA256 == given.SHA256 || !strings.HasPrefix(arms[2].Gateway, "gateway.yaml@") {
		t.Errorf("one file in two arms: %+v and %+v", arms[2], arms[3])
	}
	if len(given.Name) != len("gateway.yaml@")+gatewayDigits || !strings.HasSuffix(given.Name, "@"+given.SHA256[:gatewayDigits]) {
		t.Errorf("named %q with digest %s", given.Name, given.SHA256)
	}
	if arms, _, err = LoadArms(file); err != nil || arms[0] != NewArm("silent", bridge.July) {
		t.Errorf("without a gateway an arm has %+v, %v", arms[0], err)
	}
}

func TestArmsWithBadGateways(t *testing.T) {
	broken := writeGateway(t, "schema_version: 1\nlimit: {}\n")
	for text, want := range map[string]string{
		"- {name: a, gateway: " + broken + "}": "arms.yaml:1: gateway: " + broken + ":2:",
		"- name: a\n  gateway: nowhere.yaml":   "arms.yaml:2: gateway: ",
		"- {name: a, gateway: [off]}":          "arms.yaml:1: gateway: not a text",
	} {
		if _, _, err := parseArms("arms.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

// TestThePipelinesOwnGateway: with the pipeline's gateway and simulations, one run after
// another gives the same; independent golds run together behind the gateway alone; what
// fails once is tried again; and what a rule forbids is not done.
func TestThePipelinesOwnGateway(t *testing.T) {
	const text = depotIsSlow + `  - {match: "mcp__post__send*", scope: "letters:send"}
  - {match: "mcp__post__track*", endpoint: {target: "sim://flaky"}, idempotent: true, retry: {max_attempts: 2, backoff: 1s}}
`
	world := parseWorld(t, strings.Replace(text, "rules:", "  flaky: {failures: [{kind: transport, share: 1, for: 500ms}]}\nrules:", 1))
	c := loadCorpus(t, tinyFiles)
	s := tinySession(c,
		asks("i1", "Where is the parcel", gold(trackParcel, "code", "x")),
		asks("i2", "Look up spare part 7 and count the pieces", gold(findPart, "label", "7"), gold(countStock)),
		asks("i3", "Mail a letter", gold(sendLetter, "address", "a", "body", "b")),
	)
	arms := gatedArms()
	for i := range arms {
		if arms[i].GatewayConfig != nil {
			arms[i].GatewayConfig = world
		}
	}
	play := func() metrics.Observations {
		o, err := newPlayer(t, Options{Corpus: c, Arms: arms, Repeats: 1, World: world}).Play(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := play()
	if diff := cmp.Diff(o, play()); diff != "" {
		t.Errorf("another time it is otherwise (-one +other):\n%s", diff)
	}
	outcomes := func(arm string) string {
		var list []string
		for _, call := range armCalls(o, arm) {
			list = append(list, string(call.Outcome)+call.Rule)
		}
		return strings.Join(list, " ")
	}
	for arm, want := range map[string]string{
		Eager: "error ok ok ok", "september": "error ok ok ok", "eager-gated": "ok ok ok deniedscope", "september-gated": "ok ok ok deniedscope",
	} {
		if got := outcomes(arm); got != want {
			t.Errorf("%s: %q, want %q", arm, got, want)
		}
	}
	if row := armRow(t, o, Eager); row.SerialMS != 500 || row.TakenMS != 500 || row.Retries != 0 {
		t.Errorf("without a gateway %+v", row.Traffic)
	}
	row := armRow(t, o, "eager-gated")
	tracking := armCalls(o, "eager-gated")[0]
	if row.SerialMS != 500 || row.TakenMS != 250+tracking.LatencyMS || row.Retries != 1 || row.Denied.Scope != 1 || tracking.Attempts != 2 || tracking.QueuedMS < 500 {
		t.Errorf("with a gateway %+v, the parcel %+v", row.Traffic, tracking.Dispatch)
	}
}

// TestGatewayArms: two pairs that differ in their gateway alone.
func TestGatewayArms(t *testing.T) {
	config := parseWorld(t, depotIsSlow)
	g := NewGateway([]byte(depotIsSlow), config)
	if other := NewGateway([]byte(depotIsSlow+"\n"), config); len(g.SHA256) != 64 || g.SHA256 == other.SHA256 || g.Name != "world.yaml@"+g.SHA256[:8] {
		t.Errorf("gateways %q of %s and %s", g.Name, g.SHA256, other.SHA256)
	}
	arms := GatewayArms(g)
	if err := (Options{Corpus: loadCorpus(t, tinyFiles), Arms: arms, World: config}).check(); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(arms); i += 2 {
		off, on := arms[i], arms[i+1]
		if off.GatewayConfig != nil || on.GatewayConfig != config || on.Gateway != g.Name {
			t.Errorf("%s has gateway %q, %s %q", off.Name, off.Gateway, on.Name, on.Gateway)
		}
		on.Name, on.Gateway, on.GatewaySHA256, on.GatewayConfig = off.Name, off.Gateway, off.GatewaySHA256, nil
		if diff := cmp.Diff(off, on); diff != "" {
			t.Errorf("%s and its pair differ in more than the gateway:\n%s", off.Name, diff)
		}
	}
}
