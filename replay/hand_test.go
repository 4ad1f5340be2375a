package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/metrics"
)

// The session of this file: a visible gold; a deferred one; two golds of which
// the second needs the first and was called before; an absent intent.
const (
	saysNote   = "open the note about rent"
	saysLetter = "send Ada a letter"
	saysPart   = "find the part 4711 and write Ada about it"
	saysTable  = "book me a table for two at eight"

	argsNote   = `{"title":"rent"}`
	argsLetter = `{"address":"Ada","body":"I miss you"}`
	argsPart   = `{"label":"4711"}`
	argsReport = `{"address":"Ada","body":"4711 <found> – “here”"}`

	tinyListing = "Deferred tools by source. Load a schema with `tool_describe`, run a tool with `tool_call`:\n" +
		"depot tools (2):\n" +
		"- mcp__depot__count_stock: Counts pieces on hand.\n" +
		"- mcp__depot__find_part: Looks up spare parts by number.\n" +
		"post tools (2):\n" +
		"- mcp__post__send_letter: Mails one letter.\n" +
		"- mcp__post__track_parcel: Tells where parcels are."
)

// absentSearches are what the agent tries for saysTable: as said, where "a"
// stands in the text of send_letter; its keywords, without "a", "for" and "at";
// the longest of these, in the order said.
func absentSearches() []scriptRequest {
	return []scriptRequest{
		{searches(saysTable, 4, sendLetter)},
		{searches("book me table two eight", 4)},
		{searches("book table eight", 4)},
	}
}

// handArm is what one default arm does with the session.
type handArm struct {
	script script
	tools  string
	calls  []string
}

func handArms(t testing.TB) map[string]handArm {
	return map[string]handArm{
		// Everything is called at once: 1+1, 1+1, 2+1 (the golds depend on one
		// another) and 0+1 requests.
		"eager": {
			script: script{
				{says: saysNote, requests: []scriptRequest{{direct(readNote, argsNote)}}},
				{says: saysLetter, requests: []scriptRequest{{direct(sendLetter, argsLetter)}}},
				{says: saysPart, requests: []scriptRequest{{direct(findPart, argsPart)}, {direct(sendLetter, argsReport)}}},
				{says: saysTable, requests: nil},
			},
			tools: toolsArray(t, 0, "", countStock, findPart, sendLetter, trackParcel, readNote),
			calls: []string{
				"turn 0 gold 0 read_note direct extra 0 searches 0",
				"turn 1 gold 0 post/send_letter direct extra 0 searches 0",
				"turn 2 gold 0 depot/find_part direct extra 0 searches 0",
				"turn 2 gold 1 post/send_letter direct extra 0 searches 0",
				"turn 3 gold 0  declined extra 0 searches 0",
			},
		},
		// Deferred tools are searched, described and called, two requests more
		// than eager. The letter's schema is in the history by turn 2: its call
		// comes in the fourth request instead of the second, since it waits for
		// find_part. The absent intent costs three searches.
		"july-bare": {
			script: script{
				{says: saysNote, requests: []scriptRequest{{direct(readNote, argsNote)}}},
				{says: saysLetter, requests: []scriptRequest{{searches(saysLetter, 4, sendLetter)}, {describe(sendLetter)}, {through(sendLetter, argsLetter)}}},
				{says: saysPart, requests: []scriptRequest{{searches(saysPart, 4, findPart)}, {describe(findPart)}, {through(findPart, argsPart)}, {through(sendLetter, argsReport)}}},
				{says: saysTable, requests: absentSearches()},
			},
			tools: toolsArray(t, 4, "", readNote),
			calls: []string{
				"turn 0 gold 0 read_note direct extra 0 searches 0",
				"turn 1 gold 0 post/send_letter searched extra 2 searches 1 deferred cold",
				"turn 2 gold 0 depot/find_part searched extra 2 searches 1 deferred cold",
				"turn 2 gold 1 post/send_letter warm extra 2 searches 0 deferred",
				"turn 3 gold 0  declined extra 3 searches 3",
			},
		},
		// The listing names every tool: no search for what there is.
		"july-listing": {
			script: script{
				{says: saysNote, requests: []scriptRequest{{direct(readNote, argsNote)}}},
				{says: saysLetter, requests: []scriptRequest{{describe(sendLetter)}, {through(sendLetter, argsLetter)}}},
				{says: saysPart, requests: []scriptRequest{{describe(findPart)}, {through(findPart, argsPart)}, {through(sendLetter, argsReport)}}},
				{says: saysTable, requests: absentSearches()},
			},
			tools: toolsArray(t, 4, tinyListing, readNote),
			calls: []string{
				"turn 0 gold 0 read_note direct extra 0 searches 0",
				"turn 1 gold 0 post/send_letter described extra 1 searches 0 deferred cold",
				"turn 2 gold 0 depot/find_part described extra 1 searches 0 deferred cold",
				"turn 2 gold 1 post/send_letter warm extra 1 searches 0 deferred",
				"turn 3 gold 0  declined extra 3 searches 3",
			},
		},
	}
}

// inEveryTokenizer gives each arm once for each tokenizer, under a name that
// says so.
func inEveryTokenizer(arms []Arm) []Arm {
	var all []Arm
	for _, name := range tokens.Names() {
		for _, arm := range arms {
			arm.Name, arm.Tokenizer = arm.Name+" "+name, name
			all = append(all, arm)
		}
	}
	return all
}

func playByHand(t testing.TB) metrics.Observations {
	c := loadCorpus(t, tinyFiles)
	s := tinySession(c,
		asks("note", saysNote, gold(readNote, "title", "rent")),
		asks("letter", saysLetter, gold(sendLetter, "address", "Ada", "body", "I miss you")),
		asks("part", saysPart, gold(findPart, "label", "4711"), after(gold(sendLetter, "address", "Ada", "body", "4711 <found> – “here”"), 0)),
		asks("table", saysTable))
	return playOne(t, c, inEveryTokenizer(julyArms()), s)
}

// Requests, tokens and paths of a session that was worked out by hand, every
// request encoded whole.
func TestSessionByHand(t *testing.T) {
	o := playByHand(t)
	// eager 2+2+3+1, bare 2+4+5+4, listing 2+3+4+4
	requests := map[string]int{"eager": 8, "july-bare": 15, "july-listing": 13}
	for name, want := range handArms(t) {
		for _, tokenizer := range tokens.Names() {
			row := armRow(t, o, name+" "+tokenizer)
			want.script.check(t, row, want.tools)
			checkCalls(t, row.Arm, armCalls(o, row.Arm), want.calls...)
			if row.Requests != requests[name] || row.Turns != 4 {
				t.Errorf("%s: %d requests in %d turns, want %d in 4", row.Arm, row.Requests, row.Turns, requests[name])
			}
		}
	}
}

// The surface of the same session: what is on it, its parts and its digest.
func TestSurfaceByHand(t *testing.T) {
	o := playByHand(t)
	eager := handArms(t)["eager"].tools
	bare := toolsArray(t, 4, "", readNote)
	visible := toolsArray(t, 0, "", readNote)
	for _, row := range o.Arms {
		count := counterOf(t, row.Assumptions.Tokenizer).Count
		want := metrics.SessionArm{
			Activated: true, Tier: 2, Form: "none", BudgetTokens: 1600, VisibleTools: 1, DeferredTools: 4,
			EagerTokens: count(eager), VisibleTokens: count(visible), BridgeTokens: count(bare) - count(visible),
		}
		tools := bare
		switch row.Arm {
		case "eager " + row.Assumptions.Tokenizer:
			tools, want = eager, metrics.SessionArm{
				Form: "none", BudgetTokens: 1600, VisibleTools: 5, EagerTokens: count(eager), VisibleTokens: count(eager),
			}
		case "july-listing " + row.Assumptions.Tokenizer:
			tools = handArms(t)["july-listing"].tools
			want.Tier, want.Form, want.ListingTokens = 1, "full", count(tools)-count(bare)
		}
		sum := sha256.Sum256([]byte(tools))
		got := metrics.SessionArm{
			Activated: row.Activated, Tier: row.Tier, Form: row.Form, BudgetTokens: row.BudgetTokens,
			VisibleTools: row.VisibleTools, DeferredTools: row.DeferredTools, EagerTokens: row.EagerTokens,
			VisibleTokens: row.VisibleTokens, BridgeTokens: row.BridgeTokens, ListingTokens: row.ListingTokens,
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: surface\n got %+v\nwant %+v", row.Arm, got, want)
		}
		if row.SurfaceSHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: sha256 %s, want %x", row.Arm, row.SurfaceSHA256, sum)
		}
		surface := o.Surfaces[slices.IndexFunc(o.Arms, func(r metrics.SessionArm) bool { return r.Arm == row.Arm })]
		if surface.SHA256 != row.SurfaceSHA256 || surface.Bytes != len(tools) || surface.SurfaceTokens != count(tools) {
			t.Errorf("%s: surface row %+v, want %d bytes and %d tokens", row.Arm, surface, len(tools), count(tools))
		}
	}
}

// The searches of the same session: the intents with a deferred gold and the
// absent one are judged with every query, also where the agent did not search.
func TestSearchesByHand(t *testing.T) {
	o := playByHand(t)
	letter, part := "post/send_letter", "depot/find_part"
	want := []struct {
		turn, step    int
		query         string
		gold          []string
		hits          string
		bare, listing bool // issued
	}{
		{1, 0, saysLetter, []string{letter}, letter, true, false},
		{1, 1, "send Ada letter", []string{letter}, letter, false, false},
		{2, 0, saysPart, []string{part, letter}, part, true, false},
		{2, 1, "find part 4711 write Ada about", []string{part, letter}, part, false, false},
		{2, 2, "find write about", []string{part, letter}, part, false, false},
		{3, 0, saysTable, nil, letter, true, true},
		{3, 1, "book me table two eight", nil, "", true, true},
		{3, 2, "book table eight", nil, "", true, true},
	}
	for _, arm := range []string{"eager", "july-bare", "july-listing"} {
		rows := armSearches(o, arm+" o200k_base")
		if arm == "eager" {
			if len(rows) > 0 {
				t.Errorf("eager has %d searches, though it defers nothing", len(rows))
			}
			continue
		}
		if len(rows) != len(want) {
			t.Fatalf("%s: %d searches, want %d", arm, len(rows), len(want))
		}
		for i, w := range want {
			got, hits := rows[i], ""
			for _, h := range rows[i].Hits {
				hits += h.Tool
			}
			issued := w.bare
			if arm == "july-listing" {
				issued = w.listing
			}
			if got.Turn != w.turn || got.Step != w.step || got.Query != w.query || fmt.Sprint(got.Gold) != fmt.Sprint(w.gold) || hits != w.hits || got.Issued != issued {
				t.Errorf("%s: search %d\n got %+v\nwant %+v", arm, i, got, w)
			}
			if got.PoolSize != 4 || got.Limit != 5 || got.Retriever != "bm25" {
				t.Errorf("%s: search %d: pool %d, limit %d, retriever %s, want 4, 5, bm25", arm, i, got.PoolSize, got.Limit, got.Retriever)
			}
		}
	}
	if class := o.Searches[0].Class; class != string(corpus.Obvious) {
		t.Errorf("class %q, want %q", class, corpus.Obvious)
	}
}
