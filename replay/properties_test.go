package replay

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/sessions"
)

// world is what the properties are checked on: the embedded corpus, its
// sessions, and what each of these may reach.
type world struct {
	corpus *corpus.Corpus
	drawer *sessions.Drawer
}

// draw gives a session in which some turns ask for tools of other intents, which
// are often out of its reach, and some ask again what was asked before.
func (w world) draw(rt *rapid.T) *sessions.Session {
	s, err := w.drawer.Draw(rapid.Int64Range(0, 500).Draw(rt, "session"))
	if err != nil {
		rt.Fatal(err)
	}
	if rapid.IntRange(0, 4).Draw(rt, "cut") == 0 {
		s.Servers = s.Servers[:rapid.IntRange(0, len(s.Servers)).Draw(rt, "servers")]
	}
	for i := range s.Events {
		switch rapid.IntRange(0, 5).Draw(rt, "turn") {
		case 0:
			in := w.corpus.Intents[rapid.IntRange(0, len(w.corpus.Intents)-1).Draw(rt, "intent")]
			s.Events[i].Turn = &sessions.Turn{IntentID: in.ID, Utterance: in.Utterance, Language: in.Language, Class: in.Class, Gold: in.Gold}
		case 1:
			s.Events[i].Turn = s.Events[rapid.IntRange(0, i).Draw(rt, "again")].Turn
		}
	}
	return s
}

// scope holds, by id, the tools that a session may use, and whether each can be
// deferred.
func (w world) scope(s *sessions.Session) map[string]bool {
	enabled := slices.Concat(s.Toolsets, s.Servers)
	scope := make(map[string]bool)
	for _, tool := range w.corpus.Tools {
		named := slices.Contains(enabled, tool.Toolset)
		for _, name := range s.Toolsets {
			fixed, _ := w.corpus.Toolsets.Static(name)
			named = named || slices.Contains(fixed.Tools, tool.Definition.Name)
		}
		if named {
			scope[tool.ID] = !w.corpus.Toolsets.IsCore(tool.Definition.Name)
		}
	}
	return scope
}

func drawArm(rt *rapid.T, name string) Arm {
	arm := NewArm(name, bridge.July)
	arm.Tokenizer = "chars4"
	arm.MaxSearches = rapid.IntRange(1, 4).Draw(rt, name+" max searches")
	arm.ToolSearch.SearchDefaultLimit = rapid.IntRange(1, 14).Draw(rt, name+" limit")
	arm.ToolSearch.Listing = rapid.SampledFrom([]bridge.Switch{bridge.Auto, bridge.Off}).Draw(rt, name+" listing")
	arm.ToolSearch.ThresholdPct = rapid.SampledFrom([]float64{0, 0.1, 0.5, 5}).Draw(rt, name+" threshold")
	return arm
}

func (w world) arms(rt *rapid.T) []Arm {
	eager := julyArms()[0]
	eager.Tokenizer = "chars4"
	return []Arm{eager, drawArm(rt, "a"), drawArm(rt, "b")}
}

// levels is how many requests eager needs ahead of each gold's.
func levels(golds []corpus.Gold) []int {
	levels := make([]int, len(golds))
	for i, g := range golds {
		for _, on := range g.DependsOn {
			levels[i] = max(levels[i], levels[on]+1)
		}
	}
	return levels
}

// Whatever is asked, in whatever session, under whatever arm: the rules of the
// agent hold in what is observed.
func TestObservationsHoldTheirRules(t *testing.T) {
	c, d := embeddedDrawer(t, sessions.Options{Seed: 17, ContextLengths: []int{16_000, 200_000}, TurnsMin: 2, TurnsMax: 5, EventShare: sessions.NoEvents})
	w := world{c, d}
	// Which tools were run, by the endpoints themselves.
	p := newPlayer(t, Options{Corpus: c, Arms: cheapArms(), Repeats: 1})
	ran := recorded(p)
	rapid.Check(t, func(rt *rapid.T) {
		s, arms := w.draw(rt), w.arms(rt)
		p.arms = nil
		for _, a := range arms {
			state, err := p.rig.arm(a, c)
			if err != nil {
				rt.Fatal(err)
			}
			p.arms = append(p.arms, state)
		}
		*ran = nil
		o, err := p.Play(t.Context(), s)
		if err != nil {
			rt.Fatal(err)
		}
		scope := w.scope(s)
		for _, id := range *ran {
			if _, in := scope[id]; !in {
				rt.Fatalf("%s was run, though the session cannot use it", id)
			}
		}
		reached := 0
		for _, call := range o.Calls {
			if call.Path.Reached() && !call.Failed {
				reached++
			}
		}
		if reached != len(*ran) {
			rt.Fatalf("%d calls reached, %d run", reached, len(*ran))
		}
		for i, arm := range arms {
			a := observedArm{rt: rt, arm: arm, session: s, scope: scope, row: o.Arms[i], calls: armCalls(o, arm.Name), searches: armSearches(o, arm.Name)}
			a.checkRow(o.Arms[0])
			a.checkCalls()
			a.checkSearches()
		}
	})
}

// observedArm is what one arm's play of a session gave.
type observedArm struct {
	rt       *rapid.T
	arm      Arm
	session  *sessions.Session
	scope    map[string]bool
	row      metrics.SessionArm
	calls    []metrics.Call
	searches []metrics.Search
}

func (a *observedArm) checkRow(eager metrics.SessionArm) {
	row, deferred := a.row, 0
	for _, can := range a.scope {
		if can && a.arm.Bridge {
			deferred++
		}
	}
	if row.DeferredTools != deferred || row.Activated != (deferred > 0) || row.EagerTokens != eager.SurfaceTokens || row.EagerTokens != eager.EagerTokens {
		a.rt.Fatalf("%s: %d tools deferred (%v), want %d; eager tokens %d, under eager %d", a.arm.Name, row.DeferredTools, row.Activated, deferred, row.EagerTokens, eager.SurfaceTokens)
	}
	if !row.Activated && (row.SurfaceTokens != row.EagerTokens || row.BridgeTokens != 0 || row.ListingTokens != 0) {
		a.rt.Fatalf("%s: nothing is deferred, but the surface is %+v", a.arm.Name, row)
	}
	if row.Turns != len(a.session.Events) || len(row.PromptByTurn) != row.Turns || row.PromptByTurn[row.Turns-1] != row.PromptTokens {
		a.rt.Fatalf("%s: %d turns, prompt tokens %d, by turn %v", a.arm.Name, row.Turns, row.PromptTokens, row.PromptByTurn)
	}
}

func (a *observedArm) checkCalls() {
	row, cold, least := 0, make(map[string]bool), 0
	for turn, event := range a.session.Events {
		golds := event.Turn.Gold
		rows := a.calls[row : row+max(1, len(golds))]
		row += len(rows)
		needed := 0
		for i, c := range rows {
			if c.Turn != turn || c.Gold != i || c.IntentID != event.Turn.IntentID || c.Class != string(event.Turn.Class) {
				a.rt.Fatalf("row %+v stands for gold %d of turn %d", c, i, turn)
			}
			if len(golds) == 0 {
				a.checkDeclined(c)
				needed = c.ExtraRequests
				continue
			}
			if want := golds[i].Tool; c.Tool != want {
				a.rt.Fatalf("row %+v, want tool %s", c, want)
			}
			a.checkCall(c, rows, golds[i])
			if c.Cold && c.Path.Reached() {
				if cold[c.Tool] {
					a.rt.Fatalf("%s is cold twice: %s", c.Tool, callLine(c))
				}
				cold[c.Tool] = true
			}
			if c.Path.Reached() {
				needed = max(needed, c.ExtraRequests+1+levels(golds)[i])
			}
		}
		least += needed + 1
	}
	if row != len(a.calls) {
		a.rt.Fatalf("%s: %d call rows, want %d", a.arm.Name, len(a.calls), row)
	}
	if a.row.Requests < least || !a.arm.Bridge && a.row.Requests != least {
		a.rt.Fatalf("%s: %d requests, its calls need %d", a.arm.Name, a.row.Requests, least)
	}
}

func (a *observedArm) checkDeclined(c metrics.Call) {
	want := 0
	if a.row.Activated {
		want = a.tries(c.Turn)
	}
	if c.Path != metrics.PathDeclined || c.Tool != "" || c.Searches != want || c.ExtraRequests != want || c.Cold || c.Deferred {
		a.rt.Fatalf("%s: %s, want declined after %d searches", a.arm.Name, callLine(c), want)
	}
}

// tries is how often the agent may search in a turn.
func (a *observedArm) tries(turn int) int {
	t := a.session.Events[turn].Turn
	return min(a.arm.MaxSearches, len(queries(WriterUtterance, t)))
}

func (a *observedArm) checkCall(c metrics.Call, rows []metrics.Call, g corpus.Gold) {
	canDefer, in := a.scope[g.Tool]
	waits := slices.ContainsFunc(g.DependsOn, func(on int) bool { return !rows[on].Path.Reached() })
	behind := slices.ContainsFunc(g.DependsOn, func(on int) bool { return rows[on].Path == metrics.PathUnavailable })
	extra, n, tries := c.ExtraRequests, c.Searches, a.tries(c.Turn)
	deferred := in && canDefer && a.arm.Bridge
	ok := extra >= 0 && n <= tries && (!in || c.Deferred == deferred) && (c.Deferred || !in || n == 0)
	switch c.Path {
	case metrics.PathUnavailable:
		ok = ok && (!in || behind) && (waits || !a.row.Activated || n == tries && extra >= n) && !c.Cold && !c.Failed
	case metrics.PathLost:
		ok = ok && in && !behind && (waits || deferred && n == tries && c.Cold) && !c.Failed
	case metrics.PathDirect:
		ok = ok && in && !waits && !deferred && !c.Cold
	case metrics.PathWarm:
		ok = ok && in && !waits && deferred && !c.Cold
	case metrics.PathDescribed:
		ok = ok && in && !waits && deferred && c.Cold && n == 0 && extra >= 1
	case metrics.PathSearched:
		ok = ok && in && !waits && deferred && c.Cold && n == 1 && extra >= 1
	case metrics.PathRetried:
		ok = ok && in && !waits && deferred && c.Cold && n >= 2 && extra >= 1
	default:
		ok = false
	}
	// A cold call that waits for none is described, and searched for before that.
	if c.Cold && c.Path.Reached() && len(g.DependsOn) == 0 {
		ok = ok && extra >= 1+n
	}
	if !a.arm.Bridge {
		ok = ok && n == 0 && extra == 0
	}
	if !ok {
		a.rt.Fatalf("%s: %s (in scope %v, can be deferred %v, waits for an unreached one %v, %d searches allowed)", a.arm.Name, callLine(c), in, canDefer, waits, tries)
	}
}

// checkSearches holds the searches against scope, and those issued against the
// calls.
func (a *observedArm) checkSearches() {
	i := 0
	for turn, event := range a.session.Events {
		var gold []string
		for _, g := range event.Turn.Gold {
			if a.scope[g.Tool] {
				gold = append(gold, g.Tool)
			}
		}
		if a.row.DeferredTools == 0 {
			continue
		}
		most := 0
		for _, c := range a.calls {
			if c.Turn == turn {
				most = max(most, c.Searches)
			}
		}
		asked := queries(WriterUtterance, event.Turn)
		if len(gold) == 0 && event.Turn.Class != corpus.Absent {
			asked = asked[:most]
		}
		for step, query := range asked {
			if i == len(a.searches) {
				a.rt.Fatalf("%s: no search for turn %d, query %q", a.arm.Name, turn, query)
			}
			s := a.searches[i]
			i++
			if s.Turn != turn || s.Step != step || s.Query != query || !slices.Equal(s.Gold, gold) || s.Issued != (step < most) ||
				s.PoolSize != a.row.DeferredTools || s.Limit != a.arm.ToolSearch.SearchDefaultLimit || len(s.Hits) > max(10, s.Limit) {
				a.rt.Fatalf("%s: search %+v, want turn %d, step %d, query %q, gold %q, the first %d issued", a.arm.Name, s, turn, step, query, gold, most)
			}
			for rank, hit := range s.Hits {
				if !a.scope[hit.Tool] || hit.Rank != rank+1 {
					a.rt.Fatalf("%s: query %q hits %s at rank %d, which the session cannot use or is not deferred", a.arm.Name, query, hit.Tool, hit.Rank)
				}
			}
		}
	}
	if i != len(a.searches) {
		a.rt.Fatalf("%s: %d searches, want %d", a.arm.Name, len(a.searches), i)
	}
}

// What an arm gives does not depend on the arms played beside it, nor on their
// order.
func TestArmsDoNotTouchEachOther(t *testing.T) {
	c, d := embeddedDrawer(t, sessions.Options{Seed: 23, TurnsMin: 1, TurnsMax: 3, Mix: []sessions.Share{{Distribution: "ten", Weight: 1}}})
	arms := cheapArms()
	wide, narrow := NewArm("wide", bridge.July), NewArm("narrow", bridge.July)
	wide.Tokenizer, wide.ToolSearch.SearchDefaultLimit, wide.ToolSearch.MaxSearchLimit = "chars4", 30, 50
	narrow.Tokenizer, narrow.ToolSearch.SearchDefaultLimit, narrow.ToolSearch.MaxSearchLimit = "chars4", 1, 1
	arms = append(arms, wide, narrow)
	more := 0 // searches with more than ten hits
	for i := range int64(3) {
		s := drawSession(t, d, i)
		together := playOne(t, c, arms, s)
		backwards := slices.Clone(arms)
		slices.Reverse(backwards)
		reversed := playOne(t, c, backwards, s)
		for _, arm := range arms {
			alone := playOne(t, c, []Arm{arm}, s)
			for what, other := range map[string]metrics.Observations{"in reverse": reversed, "alone": alone} {
				if got, want := ofArm(t, other, arm.Name), ofArm(t, together, arm.Name); !reflect.DeepEqual(got, want) {
					t.Errorf("session %d, %s %s:\n got %.600s\nwant %.600s", i, arm.Name, what, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
				}
			}
			for _, s := range armSearches(together, arm.Name) {
				if len(s.Hits) > max(10, s.Limit) {
					t.Errorf("%s: %d hits recorded, want the first 10, or %d", arm.Name, len(s.Hits), s.Limit)
				}
				if len(s.Hits) > 10 {
					more++
				}
			}
		}
	}
	if more == 0 {
		t.Error("no search has more than ten hits under the arm that shows 30")
	}
}

func ofArm(t testing.TB, o metrics.Observations, arm string) metrics.Observations {
	return metrics.Observations{Arms: []metrics.SessionArm{armRow(t, o, arm)}, Calls: armCalls(o, arm), Searches: armSearches(o, arm)}
}
