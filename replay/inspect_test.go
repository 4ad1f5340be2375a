package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/sessions"
)

func inspect(t testing.TB, o InspectOptions) *Inspection {
	t.Helper()
	seen, err := Inspect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// everyKind are arms that differ in all that a surface depends on.
func everyKind() []Arm {
	arms := DefaultArms()
	for _, v := range bridge.Variants() {
		for _, memo := range []string{MemoReference, MemoOff} {
			arm := NewArm(string(v)+"-"+memo, v)
			arm.Memo, arm.Tokenizer, arm.ToolSearch.ThresholdPct = memo, "chars4", 0.3
			arms = append(arms, arm)
		}
	}
	return arms
}

// What is taken apart is what a play charges for: the first turn's surface has the
// parts of the arm's row, and the surfaces of all turns are those that the play
// observes, in any variant, memo and listing, whatever happens in the session.
func TestInspectionIsWhatPlayCharges(t *testing.T) {
	c, d := embeddedDrawer(t, sessions.Options{Seed: 9, ContextLengths: []int{16_000, 200_000}, TurnsMin: 3, TurnsMax: 4, EventShare: 1})
	changes := 0
	for n, arm := range slices.Concat(everyKind(), everyKind()) {
		s := drawSession(t, d, int64(n))
		o := playOne(t, c, []Arm{arm}, s)
		row := o.Arms[0]
		var surfaces, played []string
		for turn := range row.Turns {
			seen := inspect(t, InspectOptions{Corpus: c, Session: s, Arm: arm, Turn: turn})
			if sum := sha256.Sum256([]byte(seen.Array)); hex.EncodeToString(sum[:]) != seen.SHA256 || len(seen.Array) != seen.Bytes {
				t.Fatalf("%s, turn %d: an array of %d bytes with sha256 %x, reported as %d and %s", arm.Name, turn, len(seen.Array), sum, seen.Bytes, seen.SHA256)
			}
			if turn == 0 {
				want := TokenParts{row.Assumptions.Tokenizer, row.VisibleTokens, row.BridgeTokens, row.ListingTokens, row.SurfaceTokens, row.EagerTokens}
				if seen.Tokens[0] != want || seen.SHA256 != row.SurfaceSHA256 || seen.Tier != row.Tier || seen.Form != row.Form ||
					seen.Budget.Tokens != row.BudgetTokens || seen.VisibleTools != row.VisibleTools || seen.HiddenTools != row.DeferredTools {
					t.Fatalf("%s: inspected %+v, played %+v", arm.Name, seen, row)
				}
			}
			if k := len(surfaces); k == 0 || surfaces[k-1] != seen.SHA256 {
				surfaces = append(surfaces, seen.SHA256)
			}
		}
		for _, surface := range o.Surfaces {
			played = append(played, surface.SHA256)
		}
		if !slices.Equal(surfaces, played) {
			t.Errorf("%s: surfaces %v, played %v", arm.Name, surfaces, played)
		}
		changes += len(surfaces) - 1
	}
	if changes == 0 {
		t.Error("no surface ever changed")
	}
}

// Every tool stands in one place; the places add up by source and in all; the
// visible ones are those of the array, and the listing says of the hidden ones
// what their place says.
func TestPlacesAgreeWithTheArray(t *testing.T) {
	c, d := embeddedDrawer(t, sessions.Options{Seed: 4, ContextLengths: []int{16_000, 200_000}, TurnsMin: 1, TurnsMax: 2, EventShare: 1})
	places := make(map[Place]int)
	rapid.Check(t, func(rt *rapid.T) {
		arm := anyArm(rt, "any", rapid.SampledFrom(bridge.Variants()).Draw(rt, "variant"))
		s, err := d.Draw(rapid.Int64Range(0, 200).Draw(rt, "session"))
		if err != nil {
			rt.Fatal(err)
		}
		o := InspectOptions{Corpus: c, Session: s, Arm: arm}
		o.Disabled = rapid.SliceOfN(rapid.SampledFrom(append(c.Toolsets.Names(), c.SourceNames()...)), 0, 3).Draw(rt, "disabled")
		o.Down = rapid.SliceOfN(rapid.SampledFrom(append(slices.Clone(s.Servers), "terminal", "browser")), 0, 2).Draw(rt, "down")
		seen := inspect(t, o)
		if len(seen.Tools) != len(c.Tools) {
			rt.Fatalf("%d tools stand somewhere, of %d", len(seen.Tools), len(c.Tools))
		}
		inArray, description := readArray(rt, seen.Array)
		var sum Counts
		for _, tool := range seen.Tools {
			sum.add(tool.Place)
			places[tool.Place]++
			label := strings.TrimPrefix(tool.Source, "mcp-")
			switch listed := strings.Contains(description, tool.Tool); {
			case inArray[tool.Tool] != (tool.Place == Visible):
				rt.Fatalf("%s is %s, and on the surface: %v", tool.Tool, tool.Place, inArray[tool.Tool])
			case tool.Place == Named && !listed,
				tool.Place == Counted && !strings.Contains(description, "\n"+label+" ("),
				tool.Place == Unmentioned && strings.Contains(description, label+" (") && strings.Contains(description, "names omitted"):
				rt.Fatalf("%s is %s, but the listing reads %q", tool.Tool, tool.Place, description)
			}
			if tool.Why == "" || tool.Rule == "" || (tool.SchemaTokens == 0) != (tool.Place == Unavailable) {
				rt.Fatalf("no reason or no tokens: %+v", tool)
			}
		}
		var bySource Counts
		for _, s := range seen.Sources {
			bySource.Visible += s.Visible
			bySource.Named += s.Named
			bySource.Counted += s.Counted
			bySource.Unmentioned += s.Unmentioned
			bySource.Unavailable += s.Unavailable
		}
		if sum != bySource || sum.Visible != seen.VisibleTools || sum.Named+sum.Counted+sum.Unmentioned != seen.HiddenTools ||
			len(inArray) != seen.VisibleTools+seen.BridgeTools {
			rt.Fatalf("places %+v, by source %+v, array of %d, %+v", sum, bySource, len(inArray), seen)
		}
	})
	for _, p := range []Place{Visible, Named, Counted, Unmentioned, Unavailable} {
		if places[p] == 0 && !testing.Short() { // of few draws some show little
			t.Errorf("no tool was ever %s", p)
		}
	}
}

// readArray returns the names in a tools array, and tool_search's description.
func readArray(t rapid.TB, array string) (names map[string]bool, description string) {
	var tools []struct {
		Function struct{ Name, Description string }
	}
	if err := json.Unmarshal([]byte(array), &tools); err != nil {
		t.Fatal(err)
	}
	names = make(map[string]bool)
	for _, tool := range tools {
		names[tool.Function.Name] = true
		if tool.Function.Name == bridge.SearchTool {
			description = tool.Function.Description
		}
	}
	return names, description
}

// standing is a corpus with a tool for every rule.
var standing = map[string]string{
	"corpus.yaml": "schema_version: 1\nname: standing\nversion: \"1\"\nlicence: MIT\n",
	"toolsets.yaml": "schema_version: 1\ncore: [read, write, clock]\ndefer: [clock]\ntoolsets:\n" +
		"  - {name: desk, description: Paper., tools: [read, write, clock]}\n  - {name: project, description: Projects., tools: [switch]}\n" +
		"  - {name: radio, description: Music., tools: [tune, mute]}\n  - {name: hermes-desk, description: A bundle., tools: [read, write, clock, tune]}\n" +
		"  - {name: posture, description: A posture., tools: [read], posture: true}\n",
	"tools/own.json": `{"tools":[` + strings.Join([]string{
		`{"name":"read","toolset":"desk","description":"Reads."}`,
		`{"name":"write","toolset":"desk","description":"Writes.","check":"disk","requires_env":["PEN","INK"]}`,
		`{"name":"clock","toolset":"desk","description":"Tells the time."}`,
		`{"name":"switch","toolset":"project","description":"Switches."}`,
		`{"name":"tune","toolset":"radio","description":"Tunes."}`,
		`{"name":"mute","toolset":"radio","description":"Mutes.","requires_env":["INK"]}`,
	}, ",") + `]}`,
	"tools/depot.json": `{"server":"depot","tools":[{"name":"find"},{"name":"count"},{"name":"lift"},{"name":"pack"},{"name":"sort"},{"name":"tidy"},{"name":"weigh"},{"name":"wrap"}]}`,
	"tools/post.json":  `{"server":"post","tools":[{"name":"send","description":"Sends letters."}]}`,
}

// Each rule puts its tool where it says, by hand.
func TestStanding(t *testing.T) {
	c := loadCorpus(t, standing)
	const find, send = "mcp__depot__find", "mcp__post__send"
	july, september := NewArm("july", bridge.July), NewArm("september", bridge.September)
	bare, off, tight := july, july, july
	bare.ToolSearch.Listing = bridge.Off
	off.Bridge = false
	tight.ToolSearch.ThresholdPct = 0.01 // 70 tokens of 700,000
	everything := []string{"desk", "project", "radio", "depot", "post"}
	for name, row := range map[string]struct {
		arm      Arm
		toolsets []string
		context  int
		change   func(*InspectOptions)
		tool     string
		place    Place
		rule     Rule
		why      string
	}{
		"core":              {arm: july, tool: "read", place: Visible, rule: RuleCore, why: "on the core list, which never defers"},
		"core in september": {arm: september, tool: "read", place: Visible, rule: RuleCore, why: "on the core list, which never defers"},
		"on the defer list": {arm: september, tool: "clock", place: Named, rule: RuleDeferList, why: "on the core list, but on the defer list too"},
		"no defer in july":  {arm: july, tool: "clock", place: Visible, rule: RuleCore, why: "on the core list, which never defers"},
		"kept":              {arm: september, tool: "switch", place: Visible, rule: RuleKept, why: "toolset project stays visible in september"},
		"not kept in july":  {arm: july, tool: "switch", place: Named, rule: RuleNotCore, why: "the agent's own, but not on the core list"},
		"bridge off":        {arm: off, tool: find, place: Visible, rule: RuleBridgeOff, why: "could be deferred, but the bridge is off"},
		"core, bridge off":  {arm: off, tool: "read", place: Visible, rule: RuleCore, why: "on the core list, which never defers"},
		"server":            {arm: july, tool: find, place: Named, rule: RuleServer, why: "from an MCP server"},
		"no listing":        {arm: bare, tool: find, place: Unmentioned, rule: RuleServer, why: "from an MCP server"},
		"tight budget":      {arm: tight, context: 700_000, tool: find, place: Counted, rule: RuleServer, why: "from an MCP server"},
		"not connected":     {arm: july, toolsets: []string{"desk", "depot"}, tool: send, place: Unavailable, rule: RuleNotConnected, why: "its server or plugin is not connected"},
		"not enabled":       {arm: july, toolsets: []string{"desk"}, tool: "tune", place: Unavailable, rule: RuleNotEnabled, why: "in no enabled toolset"},
		"disabled": {arm: july, change: func(o *InspectOptions) { o.Disabled = []string{"post", "radio"} },
			tool: "tune", place: Unavailable, rule: RuleDisabled, why: "taken away by disabling radio"},
		"server disabled by label": {arm: july, change: func(o *InspectOptions) { o.Disabled = []string{"post"} },
			tool: send, place: Unavailable, rule: RuleDisabled, why: "taken away by disabling mcp-post"},
		"disabled bundle leaves core": {arm: july, change: func(o *InspectOptions) { o.Disabled = []string{"hermes-desk"} },
			tool: "read", place: Visible, rule: RuleCore, why: "on the core list, which never defers"},
		"disabled bundle takes the rest": {arm: july, change: func(o *InspectOptions) { o.Disabled = []string{"hermes-desk"} },
			tool: "tune", place: Unavailable, rule: RuleDisabled, why: "taken away by disabling hermes-desk"},
		"no variable": {arm: july, change: func(o *InspectOptions) { o.UnsetEnv = []string{"INK"} },
			tool: "write", place: Unavailable, rule: RuleEnv, why: "environment variable INK is not set"},
		"variable of another": {arm: july, change: func(o *InspectOptions) { o.UnsetEnv = []string{"PEN"} },
			tool: "mute", place: Named, rule: RuleNotCore, why: "the agent's own, but not on the core list"},
		"check down": {arm: july, change: func(o *InspectOptions) { o.Down = []string{"disk"} },
			tool: "write", place: Unavailable, rule: RuleProbe, why: "probe disk fails"},
		"server down": {arm: july, change: func(o *InspectOptions) { o.Down = []string{"post"} },
			tool: send, place: Unavailable, rule: RuleProbe, why: "probe mcp-post fails"},
	} {
		t.Run(name, func(t *testing.T) {
			if row.toolsets == nil {
				row.toolsets = everything
			}
			if row.context == 0 {
				row.context = 200_000
			}
			s, err := NamedSession(c, row.toolsets, row.context)
			if err != nil {
				t.Fatal(err)
			}
			o := InspectOptions{Corpus: c, Session: s, Arm: row.arm}
			if row.change != nil {
				row.change(&o)
			}
			got := tool(t, inspect(t, o), row.tool)
			if got.Place != row.place || got.Rule != row.rule || got.Why != row.why {
				t.Errorf("%s is %s by rule %s: %s", row.tool, got.Place, got.Rule, got.Why)
			}
		})
	}
}

func tool(t testing.TB, seen *Inspection, name string) ToolState {
	t.Helper()
	n := slices.IndexFunc(seen.Tools, func(s ToolState) bool { return s.Tool == name })
	if n < 0 {
		t.Fatalf("no tool %s", name)
	}
	return seen.Tools[n]
}

// A session's events, from turn to turn: what left, what was taken away, and what
// the probes' verdicts keep or withhold.
func TestStandingInTime(t *testing.T) {
	c := loadCorpus(t, tinyFiles)
	turns := []sessions.Turn{asks("a", "one"), asks("b", "two"), asks("c", "three", gold(findPart)), asks("d", "four", gold(countStock), gold(readNote)), asks("e", "five")}
	s := tinySession(c)
	at := func(ms int64, e sessions.Event) {
		e.AtMS = ms
		s.Events = append(s.Events, e)
	}
	ask := func(ms int64, n int) { at(ms, sessions.Event{Kind: sessions.KindTurn, Turn: &turns[n]}) }
	ask(0, 0)
	at(1000, sessions.Event{Kind: sessions.KindProbeFail, Probe: "mcp-post"})
	at(1000, sessions.Event{Kind: sessions.KindToolsChanged, Server: "mcp-depot", Tools: &sessions.ToolChanges{Removed: []string{"depot/find_part"}}})
	ask(2000, 1)
	at(90_000, sessions.Event{Kind: sessions.KindServerDown, Server: "mcp-depot"})
	ask(100_000, 2)
	at(101_000, sessions.Event{Kind: sessions.KindProbeOK, Probe: "mcp-post"})
	ask(102_000, 3)
	ask(140_000, 4)
	type state struct {
		place Place
		rule  Rule
		stale bool
	}
	for turn, want := range []map[string]state{
		{sendLetter: {Named, RuleServer, false}, findPart: {Named, RuleServer, false}, countStock: {Named, RuleServer, false}},
		{sendLetter: {Named, RuleServer, true}, findPart: {Unavailable, RuleRemoved, false}, countStock: {Named, RuleServer, false}},
		{sendLetter: {Unavailable, RuleProbe, false}, findPart: {Unavailable, RuleLeft, false}, countStock: {Unavailable, RuleLeft, false}},
		{sendLetter: {Unavailable, RuleVerdict, false}},
		{sendLetter: {Named, RuleServer, false}},
	} {
		seen := inspect(t, InspectOptions{Corpus: c, Session: s, Arm: julyArms()[2], Turn: turn})
		for name, want := range want {
			if got := tool(t, seen, name); got.Place != want.place || got.Rule != want.rule || got.Stale != want.stale {
				t.Errorf("turn %d: %+v, want %+v", turn, got, want)
			}
		}
	}
	// Used are find_part, count_stock and read_note, whenever they are asked for.
	first := inspect(t, InspectOptions{Corpus: c, Session: s, Arm: julyArms()[2]})
	if want := (Used{Turns: 5, Tools: 3, Counts: Counts{Visible: 1, Named: 2}}); *first.Used != want {
		t.Errorf("used %+v, want %+v", *first.Used, want)
	}
	third := inspect(t, InspectOptions{Corpus: c, Session: s, Arm: julyArms()[2], Turn: 2})
	if want := (Used{Turns: 5, Tools: 3, Counts: Counts{Visible: 1, Unavailable: 2}}); *third.Used != want || third.AtMS != 100_000 {
		t.Errorf("used %+v, want %+v", *third.Used, want)
	}
	if !tool(t, third, findPart).Used || tool(t, third, sendLetter).Used {
		t.Error("the wrong tools are marked as used")
	}
	// Down throughout, whatever the events say of the probe.
	down := InspectOptions{Corpus: c, Session: s, Arm: julyArms()[2], Down: []string{"post"}}
	for down.Turn = range turns {
		if got := tool(t, inspect(t, down), sendLetter); got.Rule != RuleProbe {
			t.Errorf("turn %d: %s, want it down", down.Turn, got.Why)
		}
	}
}

// A session begins with an assembly, whenever its first turn comes: a probe that
// passed then has a verdict that holds.
func TestInspectionBeforeTheFirstTurn(t *testing.T) {
	c := loadCorpus(t, tinyFiles)
	s := tinySession(c, asks("a", "one"))
	s.Events[0].AtMS = 2000
	s.Events = slices.Insert(s.Events, 0, sessions.Event{AtMS: 1000, Kind: sessions.KindProbeFail, Probe: "mcp-post"})
	seen := inspect(t, InspectOptions{Corpus: c, Session: s, Arm: julyArms()[2]})
	row := armRow(t, playOne(t, c, julyArms(), s), "july-listing")
	if seen.SHA256 != row.SurfaceSHA256 || !tool(t, seen, sendLetter).Stale {
		t.Errorf("surface %s, played %s", seen.SHA256, row.SurfaceSHA256)
	}
}

// Tokens and budget of the tiny corpus, by hand: the array is counted as a whole.
func TestInspectionByHand(t *testing.T) {
	c := loadCorpus(t, tinyFiles)
	s, err := NamedSession(c, []string{"desk", "post", "depot"}, 32_000)
	if err != nil {
		t.Fatal(err)
	}
	eager, estimate := toolsArray(t, 0, "", countStock, findPart, sendLetter, trackParcel, readNote), counterOf(t, "chars4")
	arm := NewArm("cap", bridge.July)
	seen := inspect(t, InspectOptions{Corpus: c, Session: s, Arm: arm})
	for n, name := range []string{"o200k_base", "chars4"} {
		counter, got := counterOf(t, name), seen.Tokens[n]
		want := TokenParts{Tokenizer: name, Visible: counter.Count(toolsArray(t, 0, "", readNote)), Surface: counter.Count(seen.Array), Eager: counter.Count(eager)}
		want.Bridge = counter.Count(toolsArray(t, 4, "", readNote)) - want.Visible
		want.Listing = want.Surface - want.Visible - want.Bridge
		if got != want {
			t.Errorf("%s: parts %+v, want %+v", name, got, want)
		}
	}
	for _, row := range []struct {
		pct               float64
		limit, context    int
		share, cap, total int
	}{
		{5, 20_000, 200_000, 10_000, 20_000, 10_000},
		{5, 8000, 200_000, 10_000, 8000, 8000},
		{5, 20_000, 0, 10_000, 20_000, 10_000},
		{7, 20_000, 99_999, 6999, 20_000, 6999},
	} {
		arm.ToolSearch.ThresholdPct, arm.ToolSearch.ListingMaxTokens, s.ContextLength = row.pct, row.limit, row.context
		seen := inspect(t, InspectOptions{Corpus: c, Session: s, Arm: arm})
		want := Budget{row.context, row.pct, row.share, row.cap, row.total, estimate.Count(tinyListing)}
		if seen.Budget != want {
			t.Errorf("budget %+v, want %+v", seen.Budget, want)
		}
	}
}

// imported loads a corpus from files that other programs wrote.
func imported(t testing.TB, tools string) *corpus.Corpus {
	t.Helper()
	return loadCorpus(t, map[string]string{"tools.json": tools})
}

// Each pitfall is told of where a configuration runs into it, and nowhere else.
func TestWarnings(t *testing.T) {
	embedded, drawer := embeddedDrawer(t, sessions.Options{Mix: []sessions.Share{{Distribution: "ten", Weight: 1}}, EventShare: sessions.NoEvents})
	_, sure := embeddedDrawer(t, sessions.Options{Mix: []sessions.Share{{Distribution: "default", Weight: 1}}, EventShare: sessions.NoEvents})
	tiny := loadCorpus(t, tinyFiles)
	plugin := imported(t, `[{"function":{"name":"terminal","description":"Another terminal."}},{"function":{"name":"dig","description":"Digs."}}]`)
	twice := imported(t, `{"tools":[{"name":"dig","description":"Digs."},{"name":"dig","description":"Digs deep."},{"name":"fill","description":"Fills."}]}`)
	flaky := tinySession(tiny, asks("a", "one"), asks("b", "two"))
	flaky.Events = slices.Insert(flaky.Events, 1, sessions.Event{AtMS: 500, Kind: sessions.KindProbeFail, Probe: "mcp-post"})
	flaky.Distribution = ""
	july := NewArm("july", bridge.July)
	arm := func(change func(*Arm)) Arm {
		a := july
		change(&a)
		return a
	}
	named := func(c *corpus.Corpus, names ...string) InspectOptions {
		s, err := NamedSession(c, names, 200_000)
		if err != nil {
			t.Fatal(err)
		}
		return InspectOptions{Corpus: c, Session: s, Arm: july}
	}
	with := func(o InspectOptions, change func(*InspectOptions)) InspectOptions {
		change(&o)
		return o
	}
	quiet := named(embedded, "web", "github", "gitlab")
	for name, row := range map[string]struct {
		options InspectOptions
		want    map[Pitfall]string // what is said, in part
	}{
		"none":                  {quiet, nil},
		"core":                  {named(embedded, "hermes-cli", "github"), map[Pitfall]string{PitfallCore: "the 54 visible tools take "}},
		"core, bridge off":      {with(named(embedded, "hermes-cli", "github"), func(o *InspectOptions) { o.Arm.Bridge = false }), nil},
		"core alone":            {named(embedded, "web"), map[Pitfall]string{PitfallCore: "more than the 0 of all"}},
		"bundle":                {with(quiet, func(o *InspectOptions) { o.Disabled = []string{"hermes-discord"} }), map[Pitfall]string{PitfallBundle: "disabling hermes-discord takes away no more than it adds to the core (2 of its 56 tools); these stay: web_extract, web_search"}},
		"bundle, not enabled":   {with(named(embedded, "spotify", "github"), func(o *InspectOptions) { o.Disabled = []string{"hermes-cli"} }), nil},
		"posture":               {with(quiet, func(o *InspectOptions) { o.Disabled = []string{"coding"} }), map[Pitfall]string{PitfallBundle: "disabling coding takes away"}},
		"toolset":               {with(quiet, func(o *InspectOptions) { o.Disabled = []string{"search"} }), nil},
		"same name":             {named(plugin, "terminal", "tools"), map[Pitfall]string{PitfallSameName: "stand in their place here: terminal;", PitfallCore: ""}},
		"same name, elsewhere":  {named(plugin, "web"), map[Pitfall]string{PitfallCore: ""}},
		"same name in a server": {named(twice, "web", "tools"), map[Pitfall]string{PitfallSameName: "have a suffix here: mcp__tools__dig_", PitfallCore: ""}},
		"memo":                  {with(quiet, func(o *InspectOptions) { o.Arm.Memo = MemoReference }), map[Pitfall]string{PitfallCaches: "memo: reference keeps"}},
		"memo off":              {with(quiet, func(o *InspectOptions) { o.Arm.Memo = MemoOff }), nil},
		"verdict holds":         {InspectOptions{Corpus: tiny, Session: flaky, Arm: july, Turn: 1}, map[Pitfall]string{PitfallCaches: "although their probes fail: " + sendLetter + ", " + trackParcel + "; a verdict holds for 30 s, and a success for 60 s"}},
		"verdict fresh":         {InspectOptions{Corpus: tiny, Session: flaky, Arm: july}, nil},
		"unread":                {with(quiet, func(o *InspectOptions) { o.Unread = []string{"new.py"} }), map[Pitfall]string{PitfallUnread: "not read as part of the corpus: new.py"}},
		"listing off":           {with(quiet, func(o *InspectOptions) { o.Arm = arm(func(a *Arm) { a.ToolSearch.Listing = bridge.Off }) }), map[Pitfall]string{PitfallListing: "the listing is off: of 48 hidden tools"}},
		"listing cut to groups": {with(quiet, func(o *InspectOptions) { o.Arm = arm(func(a *Arm) { a.ToolSearch.ThresholdPct = 0.05 }) }), nil},
		"no budget":             {with(quiet, func(o *InspectOptions) { o.Arm = arm(func(a *Arm) { a.ToolSearch.ThresholdPct = 0 }) }), map[Pitfall]string{PitfallListing: "no listing fits a budget of 0 tokens"}},
		"drawn":                 {InspectOptions{Corpus: embedded, Session: drawSession(t, drawer, 0), Arm: july}, map[Pitfall]string{PitfallDistribution: "drawn from distribution ten"}},
		"drawn, always alike":   {InspectOptions{Corpus: embedded, Session: drawSession(t, sure, 0), Arm: july}, map[Pitfall]string{PitfallCore: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(map[Pitfall]string)
			for _, w := range inspect(t, row.options).Warnings {
				if want, ok := row.want[w.Pitfall]; !ok || got[w.Pitfall] != "" || !strings.Contains(w.What, want) || w.Do == "" || w.Names == nil {
					t.Errorf("unexpected %+v", w)
				}
				got[w.Pitfall] = w.What
			}
			if len(got) != len(row.want) {
				t.Errorf("warnings of %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(row.want)))
			}
		})
	}
}

func TestInspectRefuses(t *testing.T) {
	c := loadCorpus(t, standing)
	s, err := NamedSession(c, []string{"desk"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		change func(*InspectOptions)
		want   string
	}{
		{func(o *InspectOptions) { o.Corpus = nil }, "nothing to inspect\nhint: "},
		{func(o *InspectOptions) { o.Arm.Agent = "x" }, `arm "july": unknown agent "x"` + "\nhint: "},
		{func(o *InspectOptions) { o.Disabled = []string{"dsk"} }, `--disable: unknown toolset "dsk"` + "\nhint: did you mean \"desk\"?"},
		{func(o *InspectOptions) { o.Down = []string{"dick"} }, `--down: unknown probe "dick"` + "\nhint: did you mean \"disk\"?"},
		{func(o *InspectOptions) { o.UnsetEnv = []string{"PIN"} }, `--without-env: unknown environment variable "PIN"` + "\nhint: did you mean \"PEN\"?"},
		{func(o *InspectOptions) { o.Turn = 1 }, "--turn 1: the session has no such turn\nhint: give 0 to 0"},
		{func(o *InspectOptions) { o.Turn = -1 }, "--turn -1: the session has no such turn\nhint: "},
		{func(o *InspectOptions) { o.Session = &sessions.Session{CorpusSHA256: "another"} }, "drawn from corpus another"},
	} {
		o := InspectOptions{Corpus: c, Session: s, Arm: NewArm("july", bridge.July)}
		row.change(&o)
		if _, err := Inspect(context.Background(), o); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("error %v, want %q", err, row.want)
		}
	}
	if _, err := NamedSession(c, []string{"desk", "pst"}, 0); err == nil || err.Error() != `--toolsets: unknown toolset "pst"`+"\nhint: did you mean \"desk\"?" {
		t.Errorf("error %v", err)
	}
	if s, err := NamedSession(c, []string{"all"}, 0); err != nil || len(s.Toolsets) != 5 || len(s.Servers) != 2 {
		t.Errorf("all is %+v, error %v", s, err)
	}
}

// The same inspection twice is the same, byte for byte.
func TestInspectionIsDeterministic(t *testing.T) {
	c, d := embeddedDrawer(t, sessions.Options{Seed: 2, EventShare: 1})
	var first string
	for range 2 {
		text, err := json.Marshal(inspect(t, InspectOptions{Corpus: c, Session: drawSession(t, d, 3), Arm: NewArm("july", bridge.July), Turn: 2, Down: []string{"terminal", "web"}}))
		if err != nil {
			t.Fatal(err)
		}
		if first != "" && first != string(text) {
			t.Error("two inspections of one surface differ")
		}
		first = string(text)
	}
	if _, err := rawjson.Object([]byte(first)); err != nil {
		t.Error(fmt.Errorf("no JSON object: %w", err))
	}
}
