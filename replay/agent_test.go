package replay

import (
	"testing"

	"github.com/toolgauge/toolgauge/sessions"
)

// agentCase is a session of the tiny corpus under one arm, with what the rules
// of the agent make of it.
type agentCase struct {
	name  string
	arm   func(*Arm)              // july-bare, changed
	setup func(*sessions.Session) // everything enabled, changed
	turns []sessions.Turn

	requests [][]scriptRequest // by turn
	calls    []string
	tools    func(t testing.TB) string // july-bare's, if nil
}

const (
	saysLost = "the gift is for a splendid birthday party with friends"
	// Its keywords are "gift splendid birthday party friends". Of these,
	// splendid, birthday and friends are the longest.
	keysLost    = "gift splendid birthday party friends"
	longestLost = "splendid birthday friends"
)

// lostSearches are those for saysLost: "a" stands in the text of send_letter.
func lostSearches() []scriptRequest {
	return []scriptRequest{{searches(saysLost, 4, sendLetter)}, {searches(keysLost, 4)}, {searches(longestLost, 4)}}
}

func (c agentCase) check(t *testing.T) {
	corpus := loadCorpus(t, tinyFiles)
	arm := julyArms()[1]
	if c.arm != nil {
		c.arm(&arm)
	}
	s := tinySession(corpus, c.turns...)
	if c.setup != nil {
		c.setup(s)
	}
	tools := toolsArray(t, 4, "", readNote)
	if c.tools != nil {
		tools = c.tools(t)
	}
	var told script
	for i, turn := range c.turns {
		told = append(told, scriptTurn{says: turn.Utterance, requests: c.requests[i]})
	}
	o := playOne(t, corpus, []Arm{arm}, s)
	told.check(t, o.Arms[0], tools)
	checkCalls(t, arm.Name, o.Calls, c.calls...)
}

func TestAgentSearches(t *testing.T) {
	lost := []sessions.Turn{asks("x", saysLost, gold(trackParcel, "code", "9"))}
	for _, c := range []agentCase{
		{
			// With one hit a search, the first query finds count_stock for its
			// three "on"; the keywords are "letter" alone.
			name: "a gold found by the second search is retried",
			arm:  func(a *Arm) { a.ToolSearch.SearchDefaultLimit = 1 },
			turns: []sessions.Turn{
				asks("x", "on and on and on, letter", gold(sendLetter, "address", "Bo", "body", "Hi")),
			},
			requests: [][]scriptRequest{{
				{searches("on and on and on, letter", 4, countStock)}, {searches("letter", 4, sendLetter)},
				{describe(sendLetter)}, {through(sendLetter, `{"address":"Bo","body":"Hi"}`)},
			}},
			calls: []string{"turn 0 gold 0 post/send_letter retried extra 3 searches 2 deferred cold"},
		},
		{
			name:     "one search at most",
			arm:      func(a *Arm) { a.MaxSearches = 1 },
			turns:    lost,
			requests: [][]scriptRequest{lostSearches()[:1]},
			calls:    []string{"turn 0 gold 0 post/track_parcel lost extra 1 searches 1 deferred cold"},
		},
		{
			name:     "two searches at most",
			arm:      func(a *Arm) { a.MaxSearches = 2 },
			turns:    lost,
			requests: [][]scriptRequest{lostSearches()[:2]},
			calls:    []string{"turn 0 gold 0 post/track_parcel lost extra 2 searches 2 deferred cold"},
		},
		{
			name:     "no more searches than the writer has queries",
			arm:      func(a *Arm) { a.MaxSearches = 9 },
			turns:    lost,
			requests: [][]scriptRequest{lostSearches()},
			calls:    []string{"turn 0 gold 0 post/track_parcel lost extra 3 searches 3 deferred cold"},
		},
		{
			// As if it were the first time: what was lost was not used.
			name:     "a tool that was lost is cold again",
			turns:    []sessions.Turn{lost[0], lost[0]},
			requests: [][]scriptRequest{lostSearches(), lostSearches()},
			calls: []string{
				"turn 0 gold 0 post/track_parcel lost extra 3 searches 3 deferred cold",
				"turn 1 gold 0 post/track_parcel lost extra 3 searches 3 deferred cold",
			},
		},
		{
			name:     "an absent intent takes as many searches as the arm allows",
			arm:      func(a *Arm) { a.MaxSearches = 2 },
			turns:    []sessions.Turn{asks("x", saysLost)},
			requests: [][]scriptRequest{lostSearches()[:2]},
			calls:    []string{"turn 0 gold 0  declined extra 2 searches 2"},
		},
		{
			name: "another language is searched as said, once",
			turns: []sessions.Turn{func() sessions.Turn {
				turn := asks("x", "reserviere mir morgen einen Tisch, bitte")
				turn.Language = "de"
				return turn
			}()},
			requests: [][]scriptRequest{{{searches("reserviere mir morgen einen Tisch, bitte", 4)}}},
			calls:    []string{"turn 0 gold 0  declined extra 1 searches 1"},
		},
	} {
		t.Run(c.name, c.check)
	}
}

// Golds of one turn: they share requests and searches, and wait for those that
// they depend on.
func TestAgentSeveralGolds(t *testing.T) {
	spare := "spare number, parcels" // find_part has two of the words, track_parcel one
	pieces := "pieces of the note"   // count_stock has one of the words
	note := func(title string) (string, []string) { return `{"title":"` + title + `"}`, []string{"title", title} }
	noteA, titleA := note("A")
	noteB, titleB := note("B")
	for _, c := range []agentCase{
		{
			name:  "two golds share one search",
			turns: []sessions.Turn{asks("x", spare, gold(findPart, "label", "7"), gold(trackParcel, "code", "9"))},
			requests: [][]scriptRequest{{
				{searches(spare, 4, findPart, trackParcel)},
				{describe(findPart), describe(trackParcel)},
				{through(findPart, `{"label":"7"}`), through(trackParcel, `{"code":"9"}`)},
			}},
			calls: []string{
				"turn 0 gold 0 depot/find_part searched extra 2 searches 1 deferred cold",
				"turn 0 gold 1 post/track_parcel searched extra 2 searches 1 deferred cold",
			},
		},
		{
			name:  "a gold that waits takes what the earlier search found",
			turns: []sessions.Turn{asks("x", spare, gold(findPart, "label", "7"), after(gold(trackParcel, "code", "9"), 0))},
			requests: [][]scriptRequest{{
				{searches(spare, 4, findPart, trackParcel)},
				{describe(findPart)}, {through(findPart, `{"label":"7"}`)},
				{describe(trackParcel)}, {through(trackParcel, `{"code":"9"}`)},
			}},
			calls: []string{
				"turn 0 gold 0 depot/find_part searched extra 2 searches 1 deferred cold",
				"turn 0 gold 1 post/track_parcel searched extra 3 searches 1 deferred cold",
			},
		},
		{
			name:  "a visible gold is called beside the search for another",
			turns: []sessions.Turn{asks("x", pieces, gold(countStock), gold(readNote, titleA...))},
			requests: [][]scriptRequest{{
				{direct(readNote, noteA), searches(pieces, 4, countStock)},
				{describe(countStock)}, {through(countStock, `{}`)},
			}},
			calls: []string{
				"turn 0 gold 0 depot/count_stock searched extra 2 searches 1 deferred cold",
				"turn 0 gold 1 read_note direct extra 0 searches 0",
			},
		},
		{
			// The third waits for the first and not for the second.
			name:  "a gold waits for those alone that it depends on",
			turns: []sessions.Turn{asks("x", pieces, gold(readNote, titleA...), gold(countStock), after(gold(readNote, titleB...), 0))},
			requests: [][]scriptRequest{{
				{direct(readNote, noteA), searches(pieces, 4, countStock)},
				{describe(countStock), direct(readNote, noteB)},
				{through(countStock, `{}`)},
			}},
			calls: []string{
				"turn 0 gold 0 read_note direct extra 0 searches 0",
				"turn 0 gold 1 depot/count_stock searched extra 2 searches 1 deferred cold",
				"turn 0 gold 2 read_note direct extra 0 searches 0",
			},
		},
		{
			name:  "the same tool twice is described once, and cold once",
			turns: []sessions.Turn{asks("x", "spare 7, spare 8", gold(findPart, "label", "7"), gold(findPart, "label", "8"))},
			requests: [][]scriptRequest{{
				{searches("spare 7, spare 8", 4, findPart)}, {describe(findPart)},
				{through(findPart, `{"label":"7"}`), through(findPart, `{"label":"8"}`)},
			}},
			calls: []string{
				"turn 0 gold 0 depot/find_part searched extra 2 searches 1 deferred cold",
				"turn 0 gold 1 depot/find_part warm extra 2 searches 1 deferred",
			},
		},
		{
			name:  "a schema in the history is reused",
			turns: []sessions.Turn{asks("x", "spare 7", gold(findPart, "label", "7")), asks("y", "spare 8", gold(findPart, "label", "8"))},
			requests: [][]scriptRequest{
				{{searches("spare 7", 4, findPart)}, {describe(findPart)}, {through(findPart, `{"label":"7"}`)}},
				{{through(findPart, `{"label":"8"}`)}},
			},
			calls: []string{
				"turn 0 gold 0 depot/find_part searched extra 2 searches 1 deferred cold",
				"turn 1 gold 0 depot/find_part warm extra 0 searches 0 deferred",
			},
		},
		{
			name:     "a gold that depends on a lost one is lost, though it is in sight",
			turns:    []sessions.Turn{asks("x", saysLost, gold(trackParcel, "code", "9"), after(gold(readNote, titleA...), 0), after(gold(readNote, titleB...), 1))},
			requests: [][]scriptRequest{lostSearches()},
			calls: []string{
				"turn 0 gold 0 post/track_parcel lost extra 3 searches 3 deferred cold",
				"turn 0 gold 1 read_note lost extra 2 searches 0",
				"turn 0 gold 2 read_note lost extra 1 searches 0",
			},
		},
		{
			name: "a tool called before is not cold where it is lost",
			turns: []sessions.Turn{
				asks("x", "spare 7", gold(findPart, "label", "7")),
				asks("y", saysLost, gold(trackParcel, "code", "9"), after(gold(findPart, "label", "8"), 0)),
			},
			requests: [][]scriptRequest{
				{{searches("spare 7", 4, findPart)}, {describe(findPart)}, {through(findPart, `{"label":"7"}`)}},
				lostSearches(),
			},
			calls: []string{
				"turn 0 gold 0 depot/find_part searched extra 2 searches 1 deferred cold",
				"turn 1 gold 0 post/track_parcel lost extra 3 searches 3 deferred cold",
				"turn 1 gold 1 depot/find_part lost extra 2 searches 0 deferred",
			},
		},
	} {
		t.Run(c.name, c.check)
	}
}

// What is not in the session is neither searched for nor lost.
func TestAgentOutOfScope(t *testing.T) {
	depotOnly := func(s *sessions.Session) { s.Servers = []string{"mcp-depot"} }
	letter := gold(sendLetter, "address", "Bo", "body", "Hi")
	for _, c := range []agentCase{
		{
			name:     "a gold of another server is unavailable, and so is what waits for it",
			setup:    depotOnly,
			tools:    func(t testing.TB) string { return toolsArray(t, 2, "", readNote) },
			turns:    []sessions.Turn{asks("x", "send a letter", letter, after(gold(readNote, "title", "A"), 0))},
			requests: [][]scriptRequest{{{searches("send a letter", 2)}, {searches("send letter", 2)}}},
			calls: []string{
				"turn 0 gold 0 post/send_letter unavailable extra 2 searches 2 deferred",
				"turn 0 gold 1 read_note unavailable extra 1 searches 0",
			},
		},
		{
			name:     "a core tool whose toolset is not enabled is unavailable",
			setup:    func(s *sessions.Session) { s.Toolsets = nil },
			tools:    func(t testing.TB) string { return toolsArray(t, 4, "") },
			turns:    []sessions.Turn{asks("x", "open ledger", gold(readNote, "title", "rent"))},
			requests: [][]scriptRequest{{{searches("open ledger", 4)}}},
			calls:    []string{"turn 0 gold 0 read_note unavailable extra 1 searches 1"},
		},
		{
			name:     "with nothing deferred an absent intent is declined at once",
			setup:    func(s *sessions.Session) { s.Servers = nil },
			tools:    func(t testing.TB) string { return toolsArray(t, 0, "", readNote) },
			turns:    []sessions.Turn{asks("x", saysTable)},
			requests: [][]scriptRequest{nil},
			calls:    []string{"turn 0 gold 0  declined extra 0 searches 0"},
		},
		{
			// Nothing enabled is not everything.
			name:     "a session without toolsets and servers has no tools",
			setup:    func(s *sessions.Session) { s.Toolsets, s.Servers = nil, nil },
			tools:    func(testing.TB) string { return "[]" },
			turns:    []sessions.Turn{asks("x", saysNote, gold(readNote, "title", "rent"))},
			requests: [][]scriptRequest{nil},
			calls:    []string{"turn 0 gold 0 read_note unavailable extra 0 searches 0"},
		},
	} {
		t.Run(c.name, c.check)
	}
}

// The agent knows the names that the listing shows, and no others. The budget of
// the listing is set by a context of as many tokens: all names take 218 code
// points, 55 tokens; depot collapsed 215, 54; post too 211, 53.
func TestAgentKnowsWhatTheListingNames(t *testing.T) {
	const (
		header   = "Deferred tools by source. Load a schema with `tool_describe`, run a tool with `tool_call`:\n"
		depot    = "depot tools (2):\nmcp__depot__count_stock, mcp__depot__find_part\n"
		post     = "post tools (2):\nmcp__post__send_letter, mcp__post__track_parcel"
		fewDepot = "depot (2 tools, names omitted: find them with `tool_search`)\n"
		fewPost  = "post (2 tools, names omitted: find them with `tool_search`)"
		says     = "spare stamp" // a word of find_part, the shorter text, and one of send_letter
	)
	part, letter := `{"label":"7"}`, `{"address":"Bo","body":"Hi"}`
	both := []scriptRequest{
		{searches(says, 4, findPart, sendLetter)}, {describe(findPart), describe(sendLetter)}, {through(findPart, part), through(sendLetter, letter)},
	}
	bothSearched := []string{
		"turn 0 gold 0 depot/find_part searched extra 2 searches 1 deferred cold",
		"turn 0 gold 1 post/send_letter searched extra 2 searches 1 deferred cold",
	}
	bothDescribed := []string{
		"turn 0 gold 0 depot/find_part described extra 1 searches 0 deferred cold",
		"turn 0 gold 1 post/send_letter described extra 1 searches 0 deferred cold",
	}
	for _, f := range []struct {
		form     string
		budget   int
		listing  string
		requests []scriptRequest
		calls    []string
	}{
		{"full", 32_000, tinyListing, both[1:], bothDescribed},
		{"names", 55, header + depot + post, both[1:], bothDescribed},
		{"mixed", 54, header + fewDepot + post, []scriptRequest{
			{describe(sendLetter), searches(says, 4, findPart, sendLetter)},
			{describe(findPart), through(sendLetter, letter)},
			{through(findPart, part)},
		}, []string{bothSearched[0], bothDescribed[1]}},
		{"groups", 53, header + fewDepot + fewPost, both, bothSearched},
		{"none", 52, "", both, bothSearched},
	} {
		t.Run(f.form, agentCase{
			arm:      func(a *Arm) { a.ToolSearch.Listing, a.ToolSearch.ThresholdPct = "auto", 100 },
			setup:    func(s *sessions.Session) { s.ContextLength = f.budget },
			tools:    func(t testing.TB) string { return toolsArray(t, 4, f.listing, readNote) },
			turns:    []sessions.Turn{asks("x", says, gold(findPart, "label", "7"), gold(sendLetter, "address", "Bo", "body", "Hi"))},
			requests: [][]scriptRequest{f.requests},
			calls:    f.calls,
		}.check)
	}
}
