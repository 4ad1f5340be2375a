package metrics_test

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/toolgauge/toolgauge/metrics"
	"pgregory.net/rapid"
)

func kept(x float64) *float64 { return &x }

// hits ranks tools, best first.
func hits(tools ...string) []metrics.Hit {
	var list []metrics.Hit
	for i, tool := range tools {
		list = append(list, metrics.Hit{Tool: tool, Rank: i + 1})
	}
	return list
}

// twoSessions are two sessions under two arms. The first has a large catalog, a lost call and an absent intent; the second
// a small one, for which the bridge costs more than it saves.
func twoSessions() []metrics.Observations {
	bridged := metrics.Assumptions{Bridge: true, Agent: "aware"}
	large := metrics.Observations{
		Arms: []metrics.SessionArm{
			{SessionID: "large", Arm: "eager", EagerTokens: 10_000, SurfaceTokens: 10_000, VisibleTokens: 10_000, Requests: 7,
				PromptTokens: 70_000, CachedTokens: 35_000, OutputTokens: 100, EffectiveTokens: 38_900, PromptByTurn: []int64{20_000, 50_000, 70_000},
				EffectiveByTurn: []float64{11_000, 27_500, 38_900}, Invalidations: 1, CacheLostTokens: 8_000, ByteIdentical: true},
			{SessionID: "large", Arm: "listing", Assumptions: bridged, EagerTokens: 10_000, SurfaceTokens: 2_500, VisibleTokens: 1_000,
				BridgeTokens: 500, ListingTokens: 1_000, DeferredSchemaTokens: 9_000, Requests: 14, PromptTokens: 40_000, CachedTokens: 10_000,
				OutputTokens: 180, EffectiveTokens: 31_720, PromptByTurn: []int64{21_000, 30_000, 40_000}, EffectiveByTurn: []float64{12_000, 24_500, 31_720},
				DescribedTokens: 300, Invalidations: 3, CacheLostTokens: 2_500, WrongCalls: 1, ByteIdentical: true,
				Retained: metrics.Retained{ToolAdded: kept(.5), ServerConnected: kept(.25)}},
		},
		Calls: []metrics.Call{
			{SessionID: "large", Arm: "eager", Class: "obvious", Tool: "a", Path: metrics.PathDirect},
			{SessionID: "large", Arm: "listing", Class: "obvious", Tool: "a", Deferred: true, Cold: true, Path: metrics.PathSearched,
				ExtraRequests: 2, Searches: 1},
			{SessionID: "large", Arm: "listing", Turn: 1, Class: "multi_tool", Tool: "a", Deferred: true, Path: metrics.PathWarm},
			{SessionID: "large", Arm: "listing", Turn: 1, Class: "multi_tool", Gold: 1, Tool: "b", Deferred: true, Cold: true, Path: metrics.PathLost, ExtraRequests: 3},
			{SessionID: "large", Arm: "listing", Turn: 2, Class: "absent", Path: metrics.PathDeclined, ExtraRequests: 2},
		},
		Searches: []metrics.Search{
			{SessionID: "large", Arm: "listing", Class: "obvious", Issued: true, PoolSize: 100, Limit: 5, Gold: []string{"a"}, Hits: hits("c", "a")},
			{SessionID: "large", Arm: "listing", Class: "obvious", Step: 1, PoolSize: 100, Limit: 5, Gold: []string{"a"}, Hits: hits("a")},
			{SessionID: "large", Arm: "listing", Turn: 1, Class: "multi_tool", Issued: true, PoolSize: 127, Limit: 5, Gold: []string{"a", "b"}, Hits: hits("a", "x")},
			{SessionID: "large", Arm: "listing", Turn: 1, Class: "multi_tool", Step: 1, Issued: true, PoolSize: 127, Limit: 5, Gold: []string{"a", "b"}},
			{SessionID: "large", Arm: "listing", Turn: 2, Class: "absent", Issued: true, PoolSize: 128, Limit: 5},
		},
	}
	small := metrics.Observations{
		Arms: []metrics.SessionArm{
			{SessionID: "small", Arm: "eager", EagerTokens: 1_000, SurfaceTokens: 1_000, Requests: 4, PromptTokens: 5_000,
				EffectiveTokens: 5_000, PromptByTurn: []int64{2_000, 5_000}, EffectiveByTurn: []float64{2_000, 5_000}, ByteIdentical: true},
			{SessionID: "small", Arm: "listing", Assumptions: bridged, EagerTokens: 1_000, SurfaceTokens: 1_500, DeferredSchemaTokens: 100, Requests: 6, PromptTokens: 9_000,
				CachedTokens: 1_800, EffectiveTokens: 7_380, PromptByTurn: []int64{3_000, 9_000}, EffectiveByTurn: []float64{3_000, 7_380}, Retained: metrics.Retained{ToolAdded: kept(1)}},
		},
		Calls: []metrics.Call{
			{SessionID: "small", Arm: "listing", Class: "derived", Tool: "a", Deferred: true, Cold: true, Path: metrics.PathDescribed, ExtraRequests: 1},
			{SessionID: "small", Arm: "listing", Turn: 1, Class: "derived", Tool: "b", Path: metrics.PathUnavailable},
		},
		Searches: []metrics.Search{
			{SessionID: "small", Arm: "listing", Class: "derived", PoolSize: 3, Limit: 1, Gold: []string{"a"}, Hits: hits("a", "b")},
			{SessionID: "small", Arm: "listing", Turn: 1, Class: "derived", PoolSize: 3, Limit: 1, Hits: hits("a")},
		},
	}
	return []metrics.Observations{large, small}
}

func accumulate(t testing.TB, sessions []metrics.Observations) *metrics.Accumulator {
	t.Helper()
	a := metrics.NewAccumulator()
	for _, o := range sessions {
		if err := a.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// key names a figure: measure, arm, class, pool bin.
type key [4]string

func byKey(figures []metrics.Figure) map[key]metrics.Figure {
	m := make(map[key]metrics.Figure)
	for _, f := range figures {
		m[key{f.Measure, f.Arm, f.Class, f.PoolBin}] = f
	}
	return m
}

// TestFigures checks figures that were computed by hand from twoSessions.
func TestFigures(t *testing.T) {
	list := accumulate(t, twoSessions()).Figures()
	figures := byKey(list)
	if len(figures) != len(list) {
		t.Errorf("%d figures, %d different ones", len(list), len(figures))
	}
	ndcg := 1 / math.Log2(3)
	for _, c := range []struct {
		key
		value float64
		n     int
	}{
		{key{"surface_tokens", "listing"}, 2_000, 2},
		{key{"eager_tokens", "listing"}, 5_500, 2},
		{key{"saved_tokens", "listing"}, 3_500, 2},
		{key{"saved_pct", "listing"}, 12.5, 2}, // 75 % and -50 %; 63.6 % of the means
		{key{"saved_pct", "eager"}, 0, 2},
		{key{"visible_tokens", "listing"}, 500, 2},
		{key{"bridge_tokens", "listing"}, 250, 2},
		{key{"listing_tokens", "listing"}, 500, 2},
		{key{"requests", "listing"}, 10, 2},
		{key{"prompt_tokens", "listing"}, 24_500, 2},
		{key{"output_tokens", "listing"}, 90, 2},
		{key{"described_tokens", "listing"}, 150, 2},
		{key{"effective_tokens", "listing"}, 19_550, 2},
		{key{"net_saved", "listing"}, 2_400, 2}, // 7,180 and -2,380
		{key{"cached_tokens", "listing"}, 5_900, 2},
		{key{"cached_share", "listing"}, .225, 2}, // 1/4 and 1/5; 0.241 of the means
		{key{"invalidations", "listing"}, 1.5, 2},
		{key{"cache_lost_tokens", "listing"}, 1_250, 2},
		{key{"cache_lost_tokens", "eager"}, 4_000, 2},
		{key{"wrong_calls", "listing"}, .5, 2},
		{key{"wrong_calls", "eager"}, 0, 2},
		{key{"net_saved_prompt_tokens", "listing"}, 13_000, 2},
		{key{"searches", "listing"}, 2, 2},
		{key{"searches", "eager"}, 0, 2},
		{key{"cold_calls", "listing"}, 3, 6},
		{key{"cold_calls", "eager"}, 0, 1},
		{key{"cold_calls", "listing", "multi_tool"}, 1, 2},
		{key{"extra_requests", "listing"}, 1.5, 2},
		{key{"extra_requests", "listing", "obvious"}, 2, 1},
		{key{"lost_rate", "listing"}, .25, 4},
		{key{"lost_rate", "listing", "multi_tool"}, .5, 2},
		{key{"lost_rate", "listing", "derived"}, 0, 1},
		{key{"path_direct", "eager"}, 1, 1},
		{key{"path_direct", "listing"}, 0, 6},
		{key{"path_warm", "listing"}, 1. / 6, 6},
		{key{"path_described", "listing"}, 1. / 6, 6},
		{key{"path_searched", "listing"}, 1. / 6, 6},
		{key{"path_retried", "listing"}, 0, 6},
		{key{"path_blind", "listing"}, 0, 6},
		{key{"path_repaired", "listing"}, 0, 6},
		{key{"path_lost", "listing"}, 1. / 6, 6},
		{key{"path_unavailable", "listing"}, 1. / 6, 6},
		{key{"path_declined", "listing"}, 1. / 6, 6},
		{key{"recall@1", "listing"}, 1.5 / 3, 3}, // 0, 1/2, 1
		{key{"recall@3", "listing"}, 2.5 / 3, 3}, // 1, 1/2, 1
		{key{"recall@limit", "listing"}, 2.5 / 3, 3},
		{key{"precision@1", "listing"}, 2. / 3, 3},
		{key{"precision@5", "listing"}, .2, 3},
		{key{"precision@limit", "listing"}, 1.4 / 3, 3}, // 1/5, 1/5, 1/1
		{key{"success@1", "listing"}, 2. / 3, 3},
		{key{"completeness@3", "listing"}, 2. / 3, 3},
		{key{"ndcg@3", "listing"}, (ndcg + 1/(1+ndcg) + 1) / 3, 3},
		{key{"mrr", "listing"}, 2.5 / 3, 3},
		{key{"map", "listing"}, 2. / 3, 3}, // 1/2, 1/2, 1
		{key{"recall@1", "listing", "obvious"}, 0, 1},
		{key{"recall@1", "listing", "", "64-127"}, .25, 2},
		{key{"recall@1", "listing", "", "2-3"}, 1, 1},
		{key{"no_match_accuracy", "listing"}, 1, 1},
		{key{"no_match_accuracy", "listing", "absent"}, 1, 1},
		{key{"no_match_accuracy", "listing", "", "128-255"}, 1, 1},
		{key{"byte_identical", "eager"}, 1, 2},
		{key{"byte_identical", "listing"}, .5, 2},
		{key{"prefix_retained_tool_added", "listing"}, .75, 2},
		{key{"prefix_retained_server_connected", "listing"}, .25, 1},
	} {
		f, there := figures[c.key]
		if !there {
			t.Errorf("%v: no figure", c.key)
		} else if math.Abs(f.Value-c.value) > 1e-12*max(1, math.Abs(c.value)) || f.N != c.n {
			t.Errorf("%v: %v over %d, want %v over %d", c.key, f.Value, f.N, c.value, c.n)
		}
	}
	for _, k := range []key{
		{"net_saved_prompt_tokens", "eager"}, {"net_saved", "eager"}, {"break_even_turns", "listing"}, {"break_even_tokens", "listing"}, {"extra_requests", "eager"}, {"recall@1", "eager"}, {"no_match_accuracy", "eager"},
		{"recall@1", "listing", "absent"}, {"recall@1", "listing", "", "128-255"}, {"lost_rate", "listing", "absent"},
		{"prefix_retained_tool_removed", "listing"}, {"surface_tokens", "listing", "obvious"}, {"lost_rate", "listing", "", "2-3"},
	} {
		if f, there := figures[k]; there {
			t.Errorf("%v: %v over %d, but nothing is in that population", k, f.Value, f.N)
		}
	}
}

func TestFigureOrder(t *testing.T) {
	var slicesSeen, measuresSeen []string
	for _, f := range accumulate(t, twoSessions()).Figures() {
		name := f.Arm + "/" + f.Class + "/" + f.PoolBin
		if n := len(slicesSeen); n == 0 || slicesSeen[n-1] != name {
			slicesSeen = append(slicesSeen, name)
		}
		if name == "listing//" {
			measuresSeen = append(measuresSeen, f.Measure)
		}
	}
	want := []string{"eager//", "eager/obvious/", "listing//", "listing/absent/", "listing/derived/", "listing/multi_tool/",
		"listing/obvious/", "listing//2-3", "listing//64-127", "listing//128-255"}
	if !slices.Equal(slicesSeen, want) {
		t.Errorf("slices in order %v, want %v", slicesSeen, want)
	}
	var table []string
	for _, m := range metrics.Measures() {
		if slices.Contains(measuresSeen, m.Name) {
			table = append(table, m.Name)
		}
	}
	if !slices.Equal(measuresSeen, table) {
		t.Errorf("measures in order %v, the table's is %v", measuresSeen, table)
	}
}

// TestEagerCountedOtherwise: what an arm saved says little where eager's tokens are of another tokenizer, cache or weight.
// Some of the measures have the figures that they have among all.
func TestFiguresOfSomeMeasures(t *testing.T) {
	only := []string{"surface_tokens", metrics.MeasureExtraRequests, metrics.MeasureLostRate, "recall@1"}
	some := metrics.NewAccumulator(only...)
	for _, o := range twoSessions() {
		if err := some.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	want := slices.DeleteFunc(accumulate(t, twoSessions()).Figures(), func(f metrics.Figure) bool { return !slices.Contains(only, f.Measure) })
	if got := some.Figures(); len(got) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("figures %+v, want %+v", got, want)
	}
}

func TestEagerCountedOtherwise(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*metrics.Assumptions)
		warned bool
	}{
		"alike":             {func(*metrics.Assumptions) {}, false},
		"another retriever": {func(a *metrics.Assumptions) { a.Retriever, a.Agent, a.Memo = "substring", "hasty", "off" }, false},
		"another tokenizer": {func(a *metrics.Assumptions) { a.Tokenizer = "chars4" }, true},
		"without a cache":   {func(a *metrics.Assumptions) { a.Cache = "none" }, true},
		"output is dearer":  {func(a *metrics.Assumptions) { a.WeightOutput = 5 }, true},
	} {
		arm := weighed("s", "bare", 9, 5)
		c.change(&arm.Assumptions)
		a := accumulate(t, []metrics.Observations{{Arms: []metrics.SessionArm{weighed("s", "eager", 0, 9), arm}}})
		figures := byKey(a.Figures())
		for _, measure := range []string{"net_saved", "net_saved_prompt_tokens", "surface_tokens"} {
			want := c.warned && measure != "surface_tokens"
			if got := slices.Contains(figures[key{measure, "bare"}].Warnings, metrics.WarnCountedOtherwise); got != want {
				t.Errorf("%s: %s: %q", name, measure, figures[key{measure, "bare"}].Warnings)
			}
		}
		for _, b := range a.BreakEvens() {
			if slices.Contains(b.Warnings, metrics.WarnCountedOtherwise) != c.warned {
				t.Errorf("%s: %s: %q", name, b.Measure, b.Warnings)
			}
		}
	}
}

func TestWarnings(t *testing.T) {
	sessions := twoSessions()
	figures := byKey(accumulate(t, sessions).Figures())
	small := metrics.WarnSmallPopulation
	for _, c := range []struct {
		key
		want []metrics.Warning
	}{
		{key{"surface_tokens", "listing"}, []metrics.Warning{small}},
		{key{"extra_requests", "listing"}, []metrics.Warning{small, metrics.WarnLostCalls, metrics.WarnDerivedIntents}},
		{key{"extra_requests", "listing", "obvious"}, []metrics.Warning{small}},
		{key{"lost_rate", "listing", "derived"}, []metrics.Warning{small, metrics.WarnDerivedIntents}},
		{key{"recall@1", "listing"}, []metrics.Warning{small, metrics.WarnDerivedIntents}},
		{key{"recall@1", "listing", "", "64-127"}, []metrics.Warning{small}},
		{key{"byte_identical", "listing"}, []metrics.Warning{small, metrics.WarnNotByteIdentical}},
		{key{"byte_identical", "eager"}, []metrics.Warning{small}},
	} {
		if got := figures[c.key].Warnings; !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.key, got, c.want)
		}
	}
	slices.Reverse(sessions)
	reversed := byKey(accumulate(t, sessions).Figures())[key{"recall@1", "listing"}].Warnings
	if !slices.Contains(reversed, metrics.WarnDerivedIntents) {
		t.Errorf("with the derived intents first: %q", reversed)
	}
	var many []metrics.Observations
	for range 30 {
		many = append(many, sessions[1])
	}
	if f := byKey(accumulate(t, many).Figures())[key{"surface_tokens", "listing"}]; f.N != 30 || f.Warnings != nil {
		t.Errorf("over %d sessions: %q", f.N, f.Warnings)
	}
}

func TestPoolBin(t *testing.T) {
	for size, want := range map[int]string{
		-1: "0", 0: "0", 1: "1", 2: "2-3", 3: "2-3", 4: "4-7", 63: "32-63", 64: "64-127", 127: "64-127", 128: "128-255",
		math.MaxInt: "4611686018427387904-9223372036854775807",
	} {
		if got := metrics.PoolBin(size); got != want {
			t.Errorf("bin of %d is %s, want %s", size, got, want)
		}
	}
}

// TestAddRefuses: an error names the row, and the accumulator is as it was before.
func TestAddRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(o *metrics.Observations)
	}{
		{"no arm", "without a session arm", func(o *metrics.Observations) { o.Arms = nil }},
		{"another session's arm", `arm "listing": belongs to session "x"`, func(o *metrics.Observations) { o.Arms[1].SessionID = "x" }},
		{"arm twice", `arm "eager": there twice`, func(o *metrics.Observations) { o.Arms[1].Arm = "eager" }},
		{"new assumptions", `arm "listing": assumptions`, func(o *metrics.Observations) { o.Arms[1].Assumptions.Agent = "hasty" }},
		{"share over 1", `when one tool is added is 1.5`, func(o *metrics.Observations) { o.Arms[1].Retained.ToolAdded = kept(1.5) }},
		{"share not a number", `when one server disconnects is NaN`, func(o *metrics.Observations) { o.Arms[1].Retained.ServerDisconnected = kept(math.NaN()) }},
		{"turns differ", `arm "listing": 2 turns, arm "eager" 3`, func(o *metrics.Observations) {
			o.Arms[1].PromptByTurn, o.Arms[1].EffectiveByTurn = o.Arms[1].PromptByTurn[:2], nil
		}},
		{"too many cached", `arm "listing": 40001 cached tokens of 40000 prompt tokens`, func(o *metrics.Observations) { o.Arms[1].CachedTokens = 40_001 }},
		{"negative cached", `arm "listing": cached tokens: -1, below 0`, func(o *metrics.Observations) { o.Arms[1].CachedTokens = -1 }},
		{"negative deferred", `deferred schema tokens: -1,`, func(o *metrics.Observations) { o.Arms[1].DeferredSchemaTokens = -1 }},
		{"negative described", `described tokens: -1,`, func(o *metrics.Observations) { o.Arms[1].DescribedTokens = -1 }},
		{"negative invalidations", `invalidations: -1,`, func(o *metrics.Observations) { o.Arms[1].Invalidations = -1 }},
		{"negative lost", `tokens lost from the cache: -1,`, func(o *metrics.Observations) { o.Arms[1].CacheLostTokens = -1 }},
		{"negative wrong calls", `wrong calls: -1,`, func(o *metrics.Observations) { o.Arms[1].WrongCalls = -1 }},
		{"effective turns differ", `arm "eager": effective tokens of 2 turns, prompt tokens of 3`, func(o *metrics.Observations) { o.Arms[0].EffectiveByTurn = o.Arms[0].EffectiveByTurn[:2] }},
		{"prompt falls", `arm "listing": prompt tokens: 29999 after 3 turns, 30000 before`, func(o *metrics.Observations) { o.Arms[1].PromptByTurn = []int64{1, 30_000, 29_999} }},
		{"prompt starts below 0", `prompt tokens: -1 after 1 turns, 0 before`, func(o *metrics.Observations) { o.Arms[1].PromptByTurn = []int64{-1, 0, 1} }},
		{"effective falls", `effective tokens: 1.5 after 3 turns, 2 before`, func(o *metrics.Observations) { o.Arms[1].EffectiveByTurn = []float64{1, 2, 1.5} }},
		{"effective is no number", `effective tokens: NaN after 2 turns`, func(o *metrics.Observations) { o.Arms[1].EffectiveByTurn = []float64{1, math.NaN(), 2} }},
		{"effective is infinite", `effective tokens: +Inf after 3 turns`, func(o *metrics.Observations) { o.Arms[1].EffectiveByTurn = []float64{1, 2, math.Inf(1)} }},
		{"effective total is no number", `effective tokens are NaN`, func(o *metrics.Observations) { o.Arms[1].EffectiveTokens = math.NaN() }},
		{"effective total is infinite", `effective tokens are +Inf`, func(o *metrics.Observations) { o.Arms[1].EffectiveTokens = math.Inf(1) }},
		{"effective total below 0", `effective tokens are -1`, func(o *metrics.Observations) { o.Arms[1].EffectiveTokens = -1 }},
		{"another session's call", `call 2: belongs to session "x"`, func(o *metrics.Observations) { o.Calls[2].SessionID = "x" }},
		{"call of no arm", `call 0: the session was not played under its arm "x"`, func(o *metrics.Observations) { o.Calls[0].Arm = "x" }},
		{"unknown path", `call 3: path "by_luck" is unknown`, func(o *metrics.Observations) { o.Calls[3].Path = "by_luck" }},
		{"declined with a tool", `call 4: path declined with tool "a"`, func(o *metrics.Observations) { o.Calls[4].Tool = "a" }},
		{"search of no arm", `search 1: the session was not played under its arm "x"`, func(o *metrics.Observations) { o.Searches[1].Arm = "x" }},
		{"absent with gold", `search 4: an absent intent has gold "a"`, func(o *metrics.Observations) { o.Searches[4].Gold = []string{"a"} }},
		{"first query twice", `search 1: the first query of intent "", turn 0, arm "listing" is there twice`, func(o *metrics.Observations) { o.Searches[1].Step = 0 }},
		{"ranks", `search 2: hit 2 has rank 7`, func(o *metrics.Observations) { o.Searches[2].Hits[1].Rank = 7 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := accumulate(t, twoSessions())
			before, beforeTurns := a.Figures(), a.BreakEvens()
			o := twoSessions()[0]
			c.spoil(&o)
			err := a.Add(o)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "\nhint: ") {
				t.Errorf("error is %v, want %q and a hint", err, c.want)
			}
			if !reflect.DeepEqual(a.Figures(), before) || !reflect.DeepEqual(a.BreakEvens(), beforeTurns) {
				t.Error("figures changed")
			}
		})
	}
}

// drawSession draws observations that Add accepts, of arms eager, a and b, some of them not played.
func drawSession(t *rapid.T) metrics.Observations {
	var o metrics.Observations
	count := rapid.IntRange(0, 1<<20)
	turns := rapid.IntRange(1, 5).Draw(t, "turns")
	classes := rapid.SampledFrom([]string{"obvious", "multi_tool", metrics.ClassDerived})
	paths := rapid.SampledFrom([]metrics.Path{metrics.PathDirect, metrics.PathWarm, metrics.PathDescribed, metrics.PathSearched,
		metrics.PathRetried, metrics.PathBlind, metrics.PathRepaired, metrics.PathLost, metrics.PathUnavailable})
	tools := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}), 0, 8, rapid.ID[string])
	for _, arm := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"eager", "a", "b"}), 1, 3, rapid.ID[string]).Draw(t, "arms") {
		s := metrics.SessionArm{Arm: arm, EagerTokens: count.Draw(t, "eager"), SurfaceTokens: count.Draw(t, "surface"),
			Requests: turns, DeferredSchemaTokens: count.Draw(t, "deferred"), DescribedTokens: int64(count.Draw(t, "described")),
			WrongCalls: count.Draw(t, "wrong"), ByteIdentical: rapid.Bool().Draw(t, "identical")}
		if rapid.Bool().Draw(t, "has tool to add") {
			s.Retained.ToolAdded = kept(rapid.Float64Range(0, 1).Draw(t, "retained"))
		}
		for turn := range turns {
			s.PromptTokens += int64(count.Draw(t, "prompt"))
			s.EffectiveTokens += rapid.Float64Range(0, 1e6).Draw(t, "effective")
			s.PromptByTurn, s.EffectiveByTurn = append(s.PromptByTurn, s.PromptTokens), append(s.EffectiveByTurn, s.EffectiveTokens)
			if rapid.Bool().Draw(t, "absent") {
				o.Calls = append(o.Calls, metrics.Call{Arm: arm, Turn: turn, Class: metrics.ClassAbsent, Path: metrics.PathDeclined})
				o.Searches = append(o.Searches, metrics.Search{Arm: arm, Turn: turn, Class: metrics.ClassAbsent, Hits: hits(tools.Draw(t, "hits")...)})
				continue
			}
			class := classes.Draw(t, "class")
			o.Calls = append(o.Calls, metrics.Call{Arm: arm, Turn: turn, Class: class, Tool: "a", Cold: rapid.Bool().Draw(t, "cold"),
				Path: paths.Draw(t, "path"), ExtraRequests: rapid.IntRange(0, 9).Draw(t, "extra")})
			o.Searches = append(o.Searches, metrics.Search{Arm: arm, Turn: turn, Class: class, Issued: rapid.Bool().Draw(t, "issued"),
				PoolSize: rapid.IntRange(0, 500).Draw(t, "pool"), Limit: rapid.IntRange(0, 12).Draw(t, "limit"),
				Gold: tools.Draw(t, "gold"), Hits: hits(tools.Draw(t, "hits")...)})
		}
		s.CachedTokens = int64(rapid.IntRange(0, int(s.PromptTokens)).Draw(t, "cached"))
		s.Invalidations, s.CacheLostTokens = count.Draw(t, "invalidations"), int64(count.Draw(t, "lost"))
		o.Arms = append(o.Arms, s)
	}
	return o
}

// TestFigureProperties: every figure is in the table of measures and in its measure's range, slices add up to the whole,
// and the measures stand in the order that their definitions imply.
func TestFigureProperties(t *testing.T) {
	table := make(map[string]metrics.Measure)
	for _, m := range metrics.Measures() {
		table[m.Name] = m
	}
	rapid.Check(t, func(t *rapid.T) {
		a := metrics.NewAccumulator()
		for range rapid.IntRange(1, 4).Draw(t, "sessions") {
			if err := a.Add(drawSession(t)); err != nil {
				t.Fatal(err)
			}
		}
		list := a.Figures()
		if !reflect.DeepEqual(list, a.Figures()) {
			t.Fatal("asking again gives other figures")
		}
		paths, classes, bins := map[key]float64{}, map[key]int{}, map[key]int{}
		figures := byKey(list)
		for k, f := range figures {
			m, there := table[f.Measure]
			if !there || f.Unit != m.Unit || f.Better != m.Better || f.Population != m.Population {
				t.Fatalf("%v: %+v is not the table's %+v", k, f, m)
			}
			if !m.Range.Contains(f.Value) || math.IsInf(f.Value, 0) || f.N < 1 {
				t.Fatalf("%v: %v over %d, range %v", k, f.Value, f.N, m.Range)
			}
			if strings.HasPrefix(f.Measure, "path_") {
				paths[key{"", f.Arm, f.Class}] += f.Value
			}
			if f.Class != "" {
				classes[key{f.Measure, f.Arm}] += f.N
			}
			if f.PoolBin != "" {
				bins[key{f.Measure, f.Arm}] += f.N
			}
			if k[0] == "recall@1" && (f.Value > figures[key{"recall@3", k[1], k[2], k[3]}].Value ||
				f.Value > figures[key{"success@1", k[1], k[2], k[3]}].Value || f.Value < figures[key{"completeness@1", k[1], k[2], k[3]}].Value) {
				t.Fatalf("%v: recall@1 %v is out of order", k, f.Value)
			}
		}
		for k, sum := range paths {
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("%v: path shares add up to %v", k, sum)
			}
		}
		for _, sums := range []map[key]int{classes, bins} {
			for k, n := range sums {
				if figures[k].N != n {
					t.Fatalf("%v: %d in the whole, %d in its slices", k, figures[k].N, n)
				}
			}
		}
	})
}

// TestMemoryIsBounded: ten thousand sessions more take no memory more.
func TestMemoryIsBounded(t *testing.T) {
	a, sessions := metrics.NewAccumulator(), twoSessions()
	inUse := func(add int) int64 {
		for i := range add {
			if err := a.Add(sessions[i%2]); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := inUse(100)
	if grown := inUse(10_000) - before; grown > 64<<10 {
		t.Errorf("grew by %d bytes", grown)
	}
	runtime.KeepAlive(a)
}

// BenchmarkAdd times one session of two arms and five turns' worth of rows.
func BenchmarkAdd(b *testing.B) {
	a, session := metrics.NewAccumulator(), twoSessions()[0]
	b.ReportAllocs()
	for b.Loop() {
		if err := a.Add(session); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleAccumulator() {
	a := metrics.NewAccumulator()
	for _, session := range twoSessions() {
		if err := a.Add(session); err != nil {
			fmt.Println(err)
			return
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range a.Figures() {
		whole := f.Class == "" && f.PoolBin == ""
		if f.Arm != "listing" || !whole {
			continue
		}
		switch f.Measure {
		case "saved_pct", "net_saved", "net_saved_prompt_tokens", "extra_requests", "lost_rate", "recall@3":
			fmt.Fprintf(table, "%s\t%.6g\t%s\t%d %s\n", f.Measure, f.Value, f.Unit, f.N, f.Population)
		}
	}
	table.Flush()
	for _, b := range a.BreakEvens() {
		fmt.Printf("%s, %s: %s\n", b.Arm, b.Measure, b)
	}
	// Output:
	// saved_pct                12.5      %         2 sessions with tools
	// net_saved                2400      tokens    2 pairs with eager
	// net_saved_prompt_tokens  13000     tokens    2 pairs with eager
	// extra_requests           1.5       requests  2 reached cold calls
	// lost_rate                0.25      share     4 golds within reach
	// recall@3                 0.833333  share     3 judged intents
	// listing, break_even_turns: 2
	// listing, break_even_tokens: 8192
}
