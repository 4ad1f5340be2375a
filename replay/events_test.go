package replay

import (
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/sessions"
)

// happening is a session of the tiny corpus in which things happen, under one arm.
type happening struct {
	name   string
	arm    func(*Arm) // july-listing, changed
	events []sessions.Event
	told   script // by turn, with the tools array where it changes
	tools  func(t testing.TB) string
	calls  []string
}

func (h happening) check(t *testing.T) {
	corpus := loadCorpus(t, tinyFiles)
	arm := julyArms()[2]
	if h.arm != nil {
		h.arm(&arm)
	}
	s := tinySession(corpus)
	s.Events = h.events
	turn := 0
	for _, e := range h.events {
		if e.Turn != nil {
			h.told[turn].says = e.Turn.Utterance
			turn++
		}
	}
	tools := withListing(t)
	if h.tools != nil {
		tools = h.tools(t)
	}
	// A long prompt, so that there is something to cache.
	p := newPlayer(t, Options{Corpus: corpus, Arms: []Arm{arm}, SystemPrompt: longPrompt})
	o, err := p.Play(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	h.told.checkWith(t, o.Arms[0], longPrompt, tools)
	checkCalls(t, arm.Name, o.Calls, h.calls...)
	if len(o.Surfaces) != o.Arms[0].Invalidations+1 {
		t.Errorf("%d surfaces, %d invalidations", len(o.Surfaces), o.Arms[0].Invalidations)
	}
}

var longPrompt = func() (text string) {
	for range 300 {
		text += "Mind the tools. "
	}
	return text
}()

func at(ms int64, e sessions.Event) sessions.Event {
	e.AtMS = ms
	return e
}

func turnAt(ms int64, turn sessions.Turn) sessions.Event {
	return sessions.Event{AtMS: ms, Kind: sessions.KindTurn, Turn: &turn}
}

const (
	depotListing = "Deferred tools by source. Load a schema with `tool_describe`, run a tool with `tool_call`:\n" +
		"depot tools (2):\n" +
		"- mcp__depot__count_stock: Counts pieces on hand.\n" +
		"- mcp__depot__find_part: Looks up spare parts by number."
	saysStamp = "letter"
	down      = "[TOOL_ERROR] Tool execution failed: ConnectionError: mcp-post does not answer"
)

func eagerArm(a *Arm) { *a = julyArms()[0] }

func TestEvents(t *testing.T) {
	post := func(kind sessions.Kind) sessions.Event { return sessions.Event{Kind: kind, Server: "mcp-post"} }
	probe := func(kind sessions.Kind) sessions.Event { return sessions.Event{Kind: kind, Probe: "mcp-post"} }
	changed := func(c sessions.ToolChanges) sessions.Event {
		return sessions.Event{Kind: sessions.KindToolsChanged, Server: "mcp-post", Tools: &c}
	}
	ask := asks("x", saysStamp, letter())
	described := scriptTurn{requests: []scriptRequest{{describe(sendLetter)}, {through(sendLetter, argsBo)}}}
	again := scriptTurn{requests: []scriptRequest{{through(sendLetter, argsBo)}}}
	with := func(turn scriptTurn, tools string) scriptTurn { turn.tools = tools; return turn }
	gone := toolsArray(t, 2, depotListing, readNote)
	failing := scriptTurn{requests: []scriptRequest{{refused(sendLetter, argsBo, down)}}}
	notThere := scriptTurn{requests: []scriptRequest{{refused(sendLetter, argsBo, "'mcp__post__send_letter' is not currently available: it is not available in this session")}}}
	flap := []sessions.Event{
		turnAt(0, ask), at(1_000, probe(sessions.KindProbeFail)),
		turnAt(2_000, ask),  // the verdict of 0 s is in use
		turnAt(40_000, ask), // the last success is not 60 s old
		turnAt(70_000, ask), // the failure counts
		at(80_000, probe(sessions.KindProbeOK)),
		turnAt(85_000, ask),  // the verdict of 70 s is in use
		turnAt(101_000, ask), // it ran out
	}
	for _, c := range []happening{
		{
			name:   "a server leaves and comes back",
			events: []sessions.Event{at(0, post(sessions.KindServerDown)), turnAt(1, ask), at(2, post(sessions.KindServerUp)), turnAt(3, ask)},
			told: script{
				{requests: []scriptRequest{{searches(saysStamp, 2)}}, tools: gone},
				with(described, withListing(t)),
			},
			calls: []string{
				"turn 0 gold 0 post/send_letter unavailable extra 1 searches 1 deferred",
				"turn 1 gold 0 post/send_letter described extra 1 searches 0 deferred cold",
			},
		},
		{
			name:   "a tool that was described and is gone",
			events: []sessions.Event{turnAt(0, ask), at(1, changed(sessions.ToolChanges{Removed: []string{"post/send_letter"}})), turnAt(1, ask), at(2, changed(sessions.ToolChanges{Added: []string{"post/send_letter"}})), turnAt(3, ask)},
			told: script{
				described,
				{requests: []scriptRequest{{refused(sendLetter, argsBo, "'mcp__post__send_letter' is not a tool that is loaded on demand: call it directly if you can see it, or look for another with tool_search")}},
					tools: toolsArray(t, 3, depotListing+"\npost tools (1):\n- mcp__post__track_parcel: Tells where parcels are.", readNote)},
				with(again, withListing(t)),
			},
			calls: []string{
				"turn 0 gold 0 post/send_letter described extra 1 searches 0 deferred cold",
				"turn 1 gold 0 post/send_letter unavailable extra 1 searches 0 deferred",
				"turn 2 gold 0 post/send_letter warm extra 0 searches 0 deferred",
			},
		},
		{
			name: "a description is edited",
			events: []sessions.Event{turnAt(0, ask), at(1, changed(sessions.ToolChanges{Edited: []sessions.Description{
				{Tool: "post/track_parcel", Description: "Follows parcels. And more."}}})), turnAt(1, ask)},
			told: script{described, with(again, toolsArray(t, 4, tinyListing[:len(tinyListing)-len("Tells where parcels are.")]+"Follows parcels.", readNote))},
			calls: []string{
				"turn 0 gold 0 post/send_letter described extra 1 searches 0 deferred cold",
				"turn 1 gold 0 post/send_letter warm extra 0 searches 0 deferred",
			},
		},
		{
			name: "a probe flaps, and the tools follow late", events: flap,
			told: script{described, failing, failing, with(notThere, gone), notThere, with(again, withListing(t))},
			calls: []string{
				"turn 0 gold 0 post/send_letter described extra 1 searches 0 deferred cold",
				"turn 1 gold 0 post/send_letter unavailable extra 0 searches 0 deferred failed",
				"turn 2 gold 0 post/send_letter unavailable extra 0 searches 0 deferred failed",
				"turn 3 gold 0 post/send_letter unavailable extra 1 searches 0 deferred",
				"turn 4 gold 0 post/send_letter lost extra 1 searches 0 deferred",
				"turn 5 gold 0 post/send_letter warm extra 0 searches 0 deferred",
			},
		},
		{
			name: "the reference's memo never learns of it", events: flap,
			arm:  func(a *Arm) { a.Memo = MemoReference },
			told: script{described, failing, failing, failing, again, again},
			calls: []string{
				"turn 0 gold 0 post/send_letter described extra 1 searches 0 deferred cold",
				"turn 1 gold 0 post/send_letter unavailable extra 0 searches 0 deferred failed",
				"turn 2 gold 0 post/send_letter unavailable extra 0 searches 0 deferred failed",
				"turn 3 gold 0 post/send_letter unavailable extra 0 searches 0 deferred failed",
				"turn 4 gold 0 post/send_letter warm extra 0 searches 0 deferred",
				"turn 5 gold 0 post/send_letter warm extra 0 searches 0 deferred",
			},
		},
		{
			name: "a toolset is switched off and on", arm: eagerArm,
			events: []sessions.Event{
				at(0, sessions.Event{Kind: sessions.KindConfig, Config: &sessions.ConfigChange{Disable: []string{"desk"}}}),
				turnAt(1, asks("x", saysNote, gold(readNote, "title", "rent"))),
				at(2, sessions.Event{Kind: sessions.KindConfig, Config: &sessions.ConfigChange{Enable: []string{"desk"}}}),
				turnAt(3, asks("x", saysNote, gold(readNote, "title", "rent"))),
			},
			tools: func(t testing.TB) string {
				return toolsArray(t, 0, "", countStock, findPart, sendLetter, trackParcel, readNote)
			},
			told: script{
				{tools: toolsArray(t, 0, "", countStock, findPart, sendLetter, trackParcel)},
				{requests: []scriptRequest{{direct(readNote, argsNote)}}, tools: toolsArray(t, 0, "", countStock, findPart, sendLetter, trackParcel, readNote)},
			},
			calls: []string{
				"turn 0 gold 0 read_note unavailable extra 0 searches 0",
				"turn 1 gold 0 read_note direct extra 0 searches 0",
			},
		},
		{
			name: "a call of a tool that is on the surface and out of reach", arm: eagerArm,
			events: []sessions.Event{turnAt(0, ask), at(1, probe(sessions.KindProbeFail)), turnAt(2, ask)},
			tools: func(t testing.TB) string {
				return toolsArray(t, 0, "", countStock, findPart, sendLetter, trackParcel, readNote)
			},
			told: script{
				{requests: []scriptRequest{{direct(sendLetter, argsBo)}}},
				{requests: []scriptRequest{{{name: sendLetter, arguments: argsBo, result: `{"error":"` + down + `"}`}}}},
			},
			calls: []string{
				"turn 0 gold 0 post/send_letter direct extra 0 searches 0",
				"turn 1 gold 0 post/send_letter unavailable extra 0 searches 0 failed",
			},
		},
	} {
		t.Run(c.name, c.check)
	}
}

// A search for a tool that is gone is one that the agent makes, and has a row, though there is no gold to judge it by.
// What the agent did not search for has none.
func TestSearchesForWhatIsGone(t *testing.T) {
	c := loadCorpus(t, tinyFiles)
	s := tinySession(c)
	s.Events = []sessions.Event{at(0, sessions.Event{Kind: sessions.KindServerDown, Server: "mcp-post"}),
		turnAt(1, asks("x", saysStamp, letter())), turnAt(2, asks("y", saysNote, gold(readNote, "title", "rent")))}
	searching, resigned := NewArm("aware", bridge.July), NewArm("unaware", bridge.July)
	resigned.Agent = AgentUnaware
	o := playOne(t, c, []Arm{searching, resigned}, s)
	if len(o.Searches) != 1 {
		t.Fatalf("%d searches, want one: %+v", len(o.Searches), o.Searches)
	}
	if got := o.Searches[0]; got.Arm != "aware" || got.Turn != 0 || got.Query != saysStamp || !got.Issued || len(got.Gold) > 0 || got.PoolSize != 2 {
		t.Errorf("%+v is not the search for what is gone", got)
	}
}

// Arms of another memo have probes of their own: what one arm asks changes nothing
// for another.
func TestArmsDoNotMeet(t *testing.T) {
	corpus := loadCorpus(t, tinyFiles)
	s := tinySession(corpus)
	ask := asks("x", saysStamp, letter())
	s.Events = []sessions.Event{turnAt(0, ask)}
	for ms := int64(7_000); ms < 300_000; ms += 9_000 {
		kind := sessions.KindProbeFail
		if ms/90_000%2 == 1 {
			kind = sessions.KindProbeOK
		}
		s.Events = append(s.Events, sessions.Event{AtMS: ms, Kind: kind, Probe: "mcp-post"}, turnAt(ms+1_000, ask))
	}
	var arms []Arm
	for _, memo := range []string{MemoReference, MemoTTL, MemoOff} {
		arm := NewArm(memo, bridge.July)
		arm.Memo = memo
		arms = append(arms, arm)
	}
	together := playOne(t, corpus, arms, s)
	for _, arm := range arms {
		alone := playOne(t, corpus, []Arm{arm}, s)
		got, want := armRow(t, together, arm.Name), armRow(t, alone, arm.Name)
		if got.PromptTokens != want.PromptTokens || got.Invalidations != want.Invalidations || got.EffectiveTokens != want.EffectiveTokens {
			t.Errorf("%s: beside others %+v, alone %+v", arm.Name, got, want)
		}
	}
	ttl, off := armRow(t, together, MemoTTL), armRow(t, together, MemoOff)
	if ttl.PromptTokens != off.PromptTokens || ttl.Invalidations == 0 {
		t.Errorf("a memo that runs out with its probes changes the figures: %d and %d prompt tokens, %d invalidations", ttl.PromptTokens, off.PromptTokens, ttl.Invalidations)
	}
}
