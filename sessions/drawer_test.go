package sessions

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/distributions"
)

func embedded(t testing.TB) *corpus.Corpus {
	t.Helper()
	c, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// workshop is the small corpus of testdata.
func workshop(t testing.TB) *corpus.Corpus {
	t.Helper()
	c, err := corpus.Load("testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newDrawer(t testing.TB, c *corpus.Corpus, o Options) *Drawer {
	t.Helper()
	d, err := NewDrawer(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func draw(t testing.TB, d *Drawer, index int64) *Session {
	t.Helper()
	s, err := d.Draw(index)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// turnsOf are the turns of a session, without the events between them.
func turnsOf(s *Session) []Event {
	return kept(s.Events, func(e Event) bool { return e.Kind == KindTurn })
}

// only is a mix of one distribution.
func only(name string) []Share { return []Share{{name, 1}} }

// wantError checks an error's words. It must have a hint.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range append(parts, "\nhint: ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

func TestSessionsDrawnAloneEqualThoseOfTheWhole(t *testing.T) {
	o := Options{Seed: 9}
	whole := newDrawer(t, embedded(t), o)
	var all []*Session
	for s, err := range whole.Sessions(Range{Count: 700}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	part := newDrawer(t, embedded(t), o)
	next := 500
	for s, err := range part.Sessions(Range{First: 500, Count: 100}) {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all[next], s); diff != "" {
			t.Fatalf("session %d of 500-599 differs from that of the whole:\n%s", next, diff)
		}
		next++
	}
	if next != 600 {
		t.Fatalf("500-599 gave %d sessions", next-500)
	}
	for _, index := range []int64{599, 3, 0, 699} { // any order, and a drawer each
		s, err := Draw(embedded(t), o, index)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(s, all[index]) {
			t.Errorf("session %d drawn alone differs:\n%s", index, cmp.Diff(all[index], s))
		}
	}
}

func TestDrawerServesManyGoroutines(t *testing.T) {
	d := newDrawer(t, workshop(t), Options{Mix: only("wide")})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range int64(200) {
				s, err := d.Draw(i)
				if err != nil || s.RowIndex != i {
					t.Errorf("session %d: %v, %v", i, s, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestDrawIsPinned holds the rules of Draw still: a change that moves this
// session changes every file of sessions there is, and needs a new drawRule.
func TestDrawIsPinned(t *testing.T) {
	s := draw(t, newDrawer(t, workshop(t), Options{Seed: 42, Mix: only("wide"), TurnsMin: 3, TurnsMax: 5}), 7)
	var asked []string
	for _, e := range turnsOf(s) {
		asked = append(asked, fmt.Sprintf("%d %s", e.AtMS, e.Turn.IntentID))
	}
	got := fmt.Sprintln(s.Distribution, s.Toolsets, s.Servers, s.ContextLength, asked)
	const want = "wide [eyes] [mcp-power mcp-store] 128000 [0 count 89233 look 150814 drill]\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestSessionIDsTellWhatADrawDependsOn(t *testing.T) {
	c := workshop(t)
	base := Options{Seed: 1, Mix: only("lean")}
	id := func(c *corpus.Corpus, o Options, index int64) string {
		return draw(t, newDrawer(t, c, o), index).SessionID
	}
	first := id(c, base, 5)
	if len(first) != 16 || strings.Trim(first, "0123456789abcdef") != "" {
		t.Fatalf("id %q is not 16 hex digits", first)
	}
	spelt := base.WithDefaults()
	if again := id(c, spelt, 5); again != first {
		t.Errorf("defaults spelt out change the id: %s, %s", first, again)
	}
	seen := map[string]string{first: "the base"}
	for name, o := range map[string]Options{
		"seed":          {Seed: 2, Mix: only("lean")},
		"mix":           {Seed: 1, Mix: only("wide")},
		"weights":       {Seed: 1, Mix: []Share{{"lean", 2}}},
		"turns":         {Seed: 1, Mix: only("lean"), TurnsMin: 4, TurnsMax: 9},
		"contexts":      {Seed: 1, Mix: only("lean"), ContextLengths: []int{32_000}},
		"absent":        {Seed: 1, Mix: only("lean"), NoAbsent: true},
		"events":        {Seed: 1, Mix: only("lean"), EventShare: NoEvents},
		"another index": base,
	} {
		index := int64(5)
		if name == "another index" {
			index = 6
		}
		got := id(c, o, index)
		if other, taken := seen[got]; taken {
			t.Errorf("%s has the id of %s", name, other)
		}
		seen[got] = name
	}
}

// fits fails if counts are unlikely (under one in a thousand) to come from
// equal chances, or from the weights given.
func fits(t *testing.T, what string, counts []int, weights ...float64) {
	t.Helper()
	total, sum := 0, 0.0
	for i, n := range counts {
		total += n
		if len(weights) == 0 {
			sum++
		} else {
			sum += weights[i]
		}
	}
	chi2 := 0.0
	for i, n := range counts {
		want := float64(total) / sum
		if len(weights) > 0 {
			want *= weights[i]
		}
		chi2 += (float64(n) - want) * (float64(n) - want) / want
	}
	p := distuv.ChiSquared{K: float64(len(counts) - 1)}.Survival(chi2)
	if p < 0.001 || total == 0 {
		t.Errorf("%s: %v does not fit %v: chi-square %.1f, p = %.2g", what, counts, weights, chi2, p)
	}
}

func TestDefaultDrawFollowsItsRules(t *testing.T) {
	d := newDrawer(t, embedded(t), Options{Seed: 1})
	distribution, turns, context := map[string]int{}, map[int]int{}, map[int]int{}
	absent := make([]int, 2)
	breaks := make([]int, 2)
	for s, err := range d.Sessions(Range{Count: 8000}) {
		if err != nil {
			t.Fatal(err)
		}
		distribution[s.Distribution]++
		asked := turnsOf(s)
		turns[len(asked)]++
		context[s.ContextLength]++
		for i, e := range asked {
			if e.Turn.Class == corpus.Absent {
				absent[1]++
			} else {
				absent[0]++
			}
			if i == 0 {
				if e.AtMS != 0 {
					t.Fatalf("session %d starts at %d ms", s.RowIndex, e.AtMS)
				}
				continue
			}
			switch gap := e.AtMS - asked[i-1].AtMS; {
			case gap >= gapMinMS && gap <= gapMaxMS:
				breaks[0]++
			case gap >= breakMinMS && gap <= breakMaxMS:
				breaks[1]++
			default:
				t.Fatalf("session %d: a gap of %d ms", s.RowIndex, gap)
			}
		}
	}
	fits(t, "distributions", []int{distribution["few"], distribution["ten"], distribution["forty"]}, 40, 40, 20)
	fits(t, "turns", []int{turns[4], turns[5], turns[6], turns[7], turns[8]})
	fits(t, "context lengths", []int{context[32_000], context[128_000], context[200_000], context[1_000_000]})
	fits(t, "absent turns", absent, 9, 1)
	fits(t, "breaks", breaks, 9, 1)
	if len(distribution) != 3 || len(turns) != 5 || len(context) != 4 {
		t.Errorf("drew what the defaults do not hold: %v, %v, %v", distribution, turns, context)
	}
}

func TestIntentsInReachAreEquallyLikely(t *testing.T) {
	c := workshop(t)
	d := newDrawer(t, c, Options{Seed: 3, Mix: only("apart"), TurnsMin: 1, TurnsMax: 1, NoAbsent: true})
	counts := map[string]map[string]int{}
	for s, err := range d.Sessions(Range{Count: 6000}) {
		if err != nil {
			t.Fatal(err)
		}
		scope := strings.Join(s.Toolsets, "+")
		if counts[scope] == nil {
			counts[scope] = map[string]int{}
		}
		counts[scope][s.Events[0].Turn.IntentID]++
	}
	// By hand from testdata: measure is in both toolsets and counts once.
	for scope, intents := range map[string][]string{
		"eyes":       {"look", "measure"},
		"hands":      {"measure", "saw", "glue", "measure-saw"},
		"eyes+hands": {"look", "measure", "saw", "glue", "measure-saw"},
	} {
		var got []int
		for _, id := range intents {
			got = append(got, counts[scope][id])
		}
		fits(t, scope, got)
		if len(counts[scope]) != len(intents) {
			t.Errorf("%s gave %v, want %q", scope, counts[scope], intents)
		}
	}
	if len(counts) != 3 {
		t.Errorf("scopes drawn: %v", counts)
	}
}

func TestToolsetsAreThoseOfTheDistributionsRows(t *testing.T) {
	c := workshop(t)
	dist, err := c.Distributions.Get("wide")
	if err != nil {
		t.Fatal(err)
	}
	d := newDrawer(t, c, Options{Seed: 11, Mix: only("wide")})
	moved := 0
	for row := range dist.Rows(11, 0, 300, c.HasToolset, c.SourceNames()) {
		s := draw(t, d, int64(row.RowIndex))
		fixed, servers := []string{}, slices.Clone(row.Servers)
		for _, name := range row.Toolsets {
			if name != "mcp-paint" {
				fixed = append(fixed, name)
			} else if !slices.Contains(servers, name) {
				servers = append(servers, name)
				moved++
			}
		}
		slices.Sort(servers)
		if !slices.Equal(fixed, s.Toolsets) || !slices.Equal(servers, s.Servers) {
			t.Fatalf("session %d has %q %q, row %d of the distribution %q %q", s.RowIndex, s.Toolsets, s.Servers, row.RowIndex, row.Toolsets, row.Servers)
		}
	}
	if moved == 0 {
		t.Error("no session enabled a server by its toolset's name")
	}
}

func TestIntentsComeAgainOnlyWhenAllHaveCome(t *testing.T) {
	d := newDrawer(t, workshop(t), Options{Seed: 5, Mix: only("apart"), TurnsMin: 12, TurnsMax: 12})
	for s, err := range d.Sessions(Range{Count: 300}) {
		if err != nil {
			t.Fatal(err)
		}
		size := map[string]int{"eyes": 2, "hands": 4, "eyes hands": 5}[strings.Join(s.Toolsets, " ")]
		var served, absent []string
		for _, e := range turnsOf(s) {
			if e.Turn.Class == corpus.Absent {
				absent = append(absent, e.Turn.IntentID)
			} else {
				served = append(served, e.Turn.IntentID)
			}
		}
		wantRounds(t, served, size)
		wantRounds(t, absent, 2)
	}
}

// TestOneOptionDoesNotMoveWhatItIsNotAbout: options share streams only where they
// must.
func TestOneOptionDoesNotMoveWhatItIsNotAbout(t *testing.T) {
	c := workshop(t)
	base := newDrawer(t, c, Options{Seed: 8, Mix: only("wide")})
	served := newDrawer(t, c, Options{Seed: 8, Mix: only("wide"), NoAbsent: true})
	long := newDrawer(t, c, Options{Seed: 8, Mix: only("wide"), TurnsMin: 4, TurnsMax: 20})
	quiet := newDrawer(t, c, Options{Seed: 8, Mix: only("wide"), EventShare: NoEvents})
	busy := newDrawer(t, c, Options{Seed: 8, Mix: only("wide"), EventShare: 1})
	compared := 0
	for i := range int64(100) {
		s, without, more := draw(t, base, i), draw(t, served, i), draw(t, long, i)
		asked, askedWithout, askedMore := turnsOf(s), turnsOf(without), turnsOf(more)
		if !slices.Equal(s.Servers, without.Servers) || s.ContextLength != without.ContextLength || len(asked) != len(askedWithout) {
			t.Fatalf("session %d: NoAbsent changes more than turns", i)
		}
		if asked[0].Turn.Class != corpus.Absent {
			compared++
			if !reflect.DeepEqual(asked[0], askedWithout[0]) {
				t.Fatalf("session %d: NoAbsent changes a turn that was not absent", i)
			}
		}
		shared := min(len(asked), len(askedMore))
		if !slices.Equal(s.Servers, more.Servers) || !reflect.DeepEqual(asked[:shared], askedMore[:shared]) {
			t.Fatalf("session %d: more turns change those before", i)
		}
		for _, d := range []*Drawer{quiet, busy} {
			other := draw(t, d, i)
			events := turnsOf(other)
			other.Events, other.SessionID = nil, s.SessionID
			start := *s
			start.Events = nil
			if !reflect.DeepEqual(&start, other) || !reflect.DeepEqual(asked, events) {
				t.Fatalf("session %d: events change more than themselves", i)
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d sessions compared", compared)
	}
}

// wantRounds checks that each run of size ids, from the first on, repeats none.
func wantRounds(t *testing.T, ids []string, size int) {
	t.Helper()
	for round := range slices.Chunk(ids, size) {
		sorted := slices.Sorted(slices.Values(round))
		if len(slices.Compact(sorted)) != len(round) {
			t.Fatalf("%q repeats an intent before all %d have come", ids, size)
		}
	}
}

func TestTurnsCarryTheIntent(t *testing.T) {
	c := workshop(t)
	d := newDrawer(t, c, Options{Seed: 2, Mix: only("wide")})
	seen := map[string]bool{}
	for s, err := range d.Sessions(Range{Count: 400}) {
		if err != nil {
			t.Fatal(err)
		}
		if err := s.check(); err != nil {
			t.Fatalf("session %d breaks the format: %v", s.RowIndex, err)
		}
		for _, e := range turnsOf(s) {
			want := turnNamed(t, c, e.Turn.IntentID)
			if diff := cmp.Diff(&want, e.Turn); diff != "" {
				t.Fatalf("turn %s:\n%s", e.Turn.IntentID, diff)
			}
			seen[e.Turn.IntentID] = true
		}
	}
	if len(seen) != len(c.Intents) {
		t.Errorf("%d of %d intents came up: %v", len(seen), len(c.Intents), seen)
	}
	drill := turnNamed(t, c, "drill")
	if got := string(drill.Gold[0].Arguments[0].Value); got != "12.50" {
		t.Errorf("a number was rewritten: %s", got)
	}
}

// turnNamed is the turn of an intent.
func turnNamed(t *testing.T, c *corpus.Corpus, id string) Turn {
	t.Helper()
	i := slices.IndexFunc(c.Intents, func(in *corpus.Intent) bool { return in.ID == id })
	if i < 0 {
		t.Fatalf("no intent %q", id)
	}
	turn, err := turnOf(c.Intents[i])
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func TestWithoutIntentsInReach(t *testing.T) {
	d := newDrawer(t, workshop(t), Options{Mix: []Share{{"bare", 1}, {"lean", 1}}})
	absentOnly := 0
	for s, err := range d.Sessions(Range{Count: 100}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Distribution == "bare" {
			absentOnly++
			for _, e := range turnsOf(s) {
				if e.Turn.Class != corpus.Absent {
					t.Fatalf("session %d asks for %s, which nothing serves", s.RowIndex, e.Turn.IntentID)
				}
			}
		}
	}
	if absentOnly == 0 {
		t.Error("the distribution was never drawn")
	}

	d = newDrawer(t, workshop(t), Options{Mix: []Share{{"bare", 1}, {"lean", 1}}, NoAbsent: true})
	failed := 0
	for s, err := range d.Sessions(Range{Count: 100}) {
		var none *NoIntentError
		switch {
		case errors.As(err, &none):
			failed++
			wantError(t, err, fmt.Sprintf("session %d", none.RowIndex), `"attic"`)
		case err != nil:
			t.Fatal(err)
		case s.Distribution != "lean":
			t.Fatalf("session %d of %s has intents", s.RowIndex, s.Distribution)
		}
	}
	if failed != absentOnly {
		t.Errorf("%d sessions failed, want the %d that had absent intents alone", failed, absentOnly)
	}

	_, err := NewDrawer(workshop(t), Options{Mix: only("bare"), NoAbsent: true})
	wantError(t, err, "corpus workshop", "no intent can be asked for", "more toolsets or servers")
}

func TestNotesTellWhatCannotBeGiven(t *testing.T) {
	d := newDrawer(t, workshop(t), Options{Mix: []Share{{"greedy", 1}, {"minimal", 1}}})
	want := []string{
		`distribution "minimal": toolset "web" does not exist, skipped`,
		`distribution "minimal": nothing came up and the likeliest toolset "web" does not exist, no toolset drawn`,
		`the corpus has fewer MCP servers (3) than these distributions ask for, which take what there is: "greedy" (9)`,
		// saw, glue and measure-saw: no hands.
		"3 of 13 intents need a tool that no toolset or server of the distributions gives; they are never asked for",
	}
	if diff := cmp.Diff(want, d.Notes()); diff != "" {
		t.Error(diff)
	}
	s := draw(t, newDrawer(t, workshop(t), Options{Mix: only("greedy")}), 0)
	if !slices.Equal(s.Servers, []string{"mcp-paint", "mcp-power", "mcp-store"}) {
		t.Errorf("servers %q, want all three", s.Servers)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	c := workshop(t)
	nan := 0.0
	nan /= nan
	for _, bad := range []struct {
		name string
		o    Options
		want []string
	}{
		{"unknown distribution", Options{Mix: only("leen")}, []string{`unknown distribution "leen"`, `"lean"`}},
		{"weight zero", Options{Mix: []Share{{"lean", 0}}}, []string{`"lean"`, "weight 0"}},
		{"weight negative", Options{Mix: []Share{{"lean", -1}}}, []string{"weight -1"}},
		{"weight no number", Options{Mix: []Share{{"lean", nan}}}, []string{"weight NaN"}},
		{"weights overflow", Options{Mix: []Share{{"lean", 1e308}, {"wide", 1e308}}}, []string{"too large"}},
		{"twice", Options{Mix: []Share{{"lean", 1}, {"lean", 1}}}, []string{`"lean" is weighted twice`}},
		{"turns reversed", Options{TurnsMin: 5, TurnsMax: 4}, []string{"turns 5 to 4"}},
		{"turns none", Options{TurnsMax: 4}, []string{"turns 0 to 4"}},
		{"turns too many", Options{TurnsMin: 1, TurnsMax: TurnsLimit + 1}, []string{"turns 1 to 10001"}},
		{"events negative", Options{EventShare: -0.5}, []string{"event share -0.5"}},
		{"events too many", Options{EventShare: 1.5}, []string{"event share 1.5"}},
		{"events no number", Options{EventShare: nan}, []string{"event share NaN"}},
		{"context", Options{ContextLengths: []int{1000, 0}}, []string{"context length 0"}},
	} {
		t.Run(bad.name, func(t *testing.T) {
			_, err := NewDrawer(c, bad.o)
			wantError(t, err, bad.want...)
		})
	}
	_, err := newDrawer(t, c, Options{Mix: only("lean")}).Draw(-1)
	wantError(t, err, "session -1", "negative")
	_, err = Draw(nil, Options{}, 0)
	wantError(t, err, "no corpus")
}

func TestParseMix(t *testing.T) {
	for text, want := range map[string][]Share{
		"few":                     {{"few", 1}},
		"few=40,ten=40,forty=20":  {{"few", 40}, {"ten", 40}, {"forty", 20}},
		" few = 0.5 , ten = 1e1 ": {{"few", 0.5}, {"ten", 10}},
	} {
		got, err := ParseMix("--distribution", text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseMix(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":             "without a name",
		"few,,ten":     "without a name",
		"=3":           "without a name",
		"few=":         `weight "" is not a number`,
		"few=x":        `weight "x" is not a number`,
		"few=0":        "weight 0",
		"few=inf":      "weight +Inf",
		"few=nan":      "weight NaN",
		"few=1,few=2":  "weighted twice",
		"few=1e999":    "not a number",
		"few=1=2,ten=": `weight "1=2"`,
	} {
		_, err := ParseMix("--distribution", text)
		wantError(t, err, "--distribution", want)
	}
}

func TestParseEventShare(t *testing.T) {
	for text, want := range map[string]float64{"0.25": 0.25, "1": 1, "1e-3": 0.001, "0": NoEvents, "-0": NoEvents, "0.0": NoEvents} {
		if got, err := ParseEventShare("--events", text); err != nil || got != want {
			t.Errorf("ParseEventShare(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.01", "nan", "inf", "25%", " 1"} {
		_, err := ParseEventShare("--events", text)
		wantError(t, err, "--events", "not a number from 0 to 1")
	}
}

func TestSharesAreDrawnByWeight(t *testing.T) {
	set := distributions.NewSet()
	w, err := newWeighted([]Share{{"few", 1}, {"ten", 2}, {"forty", 1}}, set)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		uniform float64
		want    string
	}{{0, "few"}, {0.2499, "few"}, {0.25, "ten"}, {0.7499, "ten"}, {0.75, "forty"}, {1 - 0x1p-53, "forty"}} {
		if got := w.pick(c.uniform).Name; got != c.want {
			t.Errorf("pick(%v) = %s, want %s", c.uniform, got, c.want)
		}
	}
}
