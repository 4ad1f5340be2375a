package replay

import (
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/sessions"
)

// listed gives an arm a listing and an agent.
func listed(agent string) func(*Arm) {
	return func(a *Arm) { a.ToolSearch.Listing, a.Agent = bridge.Auto, agent }
}

func agent(name string) func(*Arm) { return func(a *Arm) { a.Agent = name } }

func withListing(t testing.TB) string { return toolsArray(t, 4, tinyListing, readNote) }

// unstated marks an argument as one that the utterance does not state.
func unstated(g corpus.Gold, name string) corpus.Gold {
	for i := range g.Arguments {
		if g.Arguments[i].Name == name {
			g.Arguments[i].Stated = false
		}
	}
	return g
}

// The letter that the tests of this file ask for.
func letter() corpus.Gold { return gold(sendLetter, "address", "Bo", "body", "Hi") }

const argsBo = `{"address":"Bo","body":"Hi"}`

func TestUnaware(t *testing.T) {
	for _, c := range []agentCase{
		{
			name: "what the listing names is described and called", arm: listed(AgentUnaware), tools: withListing,
			turns:    []sessions.Turn{asks("x", saysLetter, letter()), asks("y", saysTable)},
			requests: [][]scriptRequest{{{describe(sendLetter)}, {through(sendLetter, argsBo)}}, nil},
			calls: []string{
				"turn 0 gold 0 post/send_letter described extra 1 searches 0 deferred cold",
				"turn 1 gold 0  declined extra 0 searches 0",
			},
		},
		{
			name: "what nothing names is lost at once, and so is what waits for it", arm: agent(AgentUnaware),
			turns:    []sessions.Turn{asks("x", saysLetter, gold(readNote, "title", "rent"), letter(), after(gold(readNote, "title", "rent"), 1))},
			requests: [][]scriptRequest{{{direct(readNote, argsNote)}}},
			calls: []string{
				"turn 0 gold 0 read_note direct extra 0 searches 0",
				"turn 0 gold 1 post/send_letter lost extra 0 searches 0 deferred cold",
				"turn 0 gold 2 read_note lost extra 0 searches 0",
			},
		},
	} {
		t.Run(c.name, c.check)
	}
}

func TestBlind(t *testing.T) {
	for _, c := range []agentCase{
		{
			name: "a call whose arguments are all stated goes through", arm: listed(AgentBlind), tools: withListing,
			turns:    []sessions.Turn{asks("x", saysLetter, letter()), asks("y", saysLetter, letter()), asks("z", saysTable)},
			requests: [][]scriptRequest{{{through(sendLetter, argsBo)}}, {{through(sendLetter, argsBo)}}, nil},
			calls: []string{
				"turn 0 gold 0 post/send_letter blind extra 0 searches 0 deferred cold",
				"turn 1 gold 0 post/send_letter warm extra 0 searches 0 deferred",
				"turn 2 gold 0  declined extra 0 searches 0",
			},
		},
		{
			name: "one that lacks some comes back with the schema, which stays", arm: listed(AgentBlind), tools: withListing,
			turns: []sessions.Turn{asks("x", saysLetter, unstated(letter(), "body")), asks("y", saysLetter, unstated(letter(), "body"))},
			requests: [][]scriptRequest{
				{{sentBack(sendLetter, `{"address":"Bo"}`, "body")}, {through(sendLetter, argsBo)}},
				{{through(sendLetter, argsBo)}},
			},
			calls: []string{
				"turn 0 gold 0 post/send_letter repaired extra 1 searches 0 deferred cold",
				"turn 1 gold 0 post/send_letter warm extra 0 searches 0 deferred",
			},
		},
		{
			name: "an argument that is not required is given though nobody stated it", arm: listed(AgentBlind), tools: withListing,
			turns:    []sessions.Turn{asks("x", saysPart, unstated(gold(trackParcel, "code", "9"), "code"))},
			requests: [][]scriptRequest{{{through(trackParcel, `{"code":"9"}`)}}},
			calls:    []string{"turn 0 gold 0 post/track_parcel blind extra 0 searches 0 deferred cold"},
		},
		{
			name: "what nothing names is lost at once", arm: agent(AgentBlind),
			turns:    []sessions.Turn{asks("x", saysLetter, letter())},
			requests: [][]scriptRequest{nil},
			calls:    []string{"turn 0 gold 0 post/send_letter lost extra 0 searches 0 deferred cold"},
		},
	} {
		t.Run(c.name, c.check)
	}
}

// What hasty calls a wrong tool with is made up from its schema.
const (
	madeUpPart   = `{"label":"x"}`
	madeUpLetter = `{"address":"x","body":"x"}`
)

func TestHasty(t *testing.T) {
	for _, c := range []agentCase{
		{
			name: "the line that ranks first", arm: listed(AgentHasty), tools: withListing,
			turns:    []sessions.Turn{asks("x", "pieces on hand", gold(countStock))},
			requests: [][]scriptRequest{{{describe(countStock)}, {through(countStock, `{}`)}}},
			calls:    []string{"turn 0 gold 0 depot/count_stock described extra 1 searches 0 deferred cold"},
		},
		{
			// "letter" stands in one line alone. Its keywords are the utterance.
			name: "a wrong line, then a search that shows nothing new", arm: listed(AgentHasty), tools: withListing,
			turns: []sessions.Turn{asks("x", "letter", gold(trackParcel, "code", "9"))},
			requests: [][]scriptRequest{{
				{describe(sendLetter)}, {through(sendLetter, madeUpLetter)}, {searches("letter", 4, sendLetter)},
			}},
			calls: []string{"turn 0 gold 0 post/track_parcel lost extra 3 searches 1 wrong 1 deferred cold"},
		},
		{
			name: "a wrong hit, then the next", arm: agent(AgentHasty),
			turns: []sessions.Turn{asks("x", "spare stamp", letter())},
			requests: [][]scriptRequest{{
				{searches("spare stamp", 4, findPart, sendLetter)}, {describe(findPart)}, {through(findPart, madeUpPart)},
				{describe(sendLetter)}, {through(sendLetter, argsBo)},
			}},
			calls: []string{"turn 0 gold 0 post/send_letter searched extra 4 searches 1 wrong 1 deferred cold"},
		},
		{
			name: "an absent intent is served with what there is", arm: agent(AgentHasty),
			turns: []sessions.Turn{asks("x", "spare stamp"), asks("y", "spare stamp")},
			requests: [][]scriptRequest{
				{
					{searches("spare stamp", 4, findPart, sendLetter)}, {describe(findPart)}, {through(findPart, madeUpPart)},
					{describe(sendLetter)}, {through(sendLetter, madeUpLetter)},
				},
				// The schemas are in the history.
				{{searches("spare stamp", 4, findPart, sendLetter)}, {through(findPart, madeUpPart)}, {through(sendLetter, madeUpLetter)}},
			},
			calls: []string{
				"turn 0 gold 0  declined extra 5 searches 1 wrong 2",
				"turn 1 gold 0  declined extra 3 searches 1 wrong 2",
			},
		},
		{
			// "mcp" stands in every name; of equal scores the shorter text is first.
			name: "three wrong ones at most", arm: agent(AgentHasty),
			turns: []sessions.Turn{asks("x", "mcp", letter())},
			requests: [][]scriptRequest{{
				{searches("mcp", 4, countStock, trackParcel, findPart, sendLetter)},
				{describe(countStock)}, {through(countStock, `{}`)},
				{describe(trackParcel)}, {through(trackParcel, `{}`)},
				{describe(findPart)}, {through(findPart, madeUpPart)},
			}},
			calls: []string{"turn 0 gold 0 post/send_letter lost extra 7 searches 1 wrong 3 deferred cold"},
		},
		{
			name: "a gold that was tried before its turn, and one on the surface", arm: agent(AgentHasty),
			turns: []sessions.Turn{asks("x", "spare stamp", gold(readNote, "title", "rent"), letter(), after(gold(findPart, "label", "7"), 1))},
			requests: [][]scriptRequest{{
				{direct(readNote, argsNote), searches("spare stamp", 4, findPart, sendLetter)},
				{describe(findPart)}, {through(findPart, madeUpPart)}, {describe(sendLetter)}, {through(sendLetter, argsBo)},
				{through(findPart, `{"label":"7"}`)},
			}},
			calls: []string{
				"turn 0 gold 0 read_note direct extra 0 searches 0",
				"turn 0 gold 1 post/send_letter searched extra 4 searches 1 wrong 1 deferred cold",
				"turn 0 gold 2 depot/find_part searched extra 4 searches 1 deferred cold",
			},
		},
		{
			name: "with nothing deferred there is nothing to try", arm: agent(AgentHasty),
			setup:    func(s *sessions.Session) { s.Servers = nil },
			tools:    func(t testing.TB) string { return toolsArray(t, 0, "", readNote) },
			turns:    []sessions.Turn{asks("x", "letter"), asks("y", "letter", letter())},
			requests: [][]scriptRequest{nil, nil},
			calls: []string{
				"turn 0 gold 0  declined extra 0 searches 0",
				"turn 1 gold 0 post/send_letter unavailable extra 0 searches 0",
			},
		},
	} {
		t.Run(c.name, c.check)
	}
}
