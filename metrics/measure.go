package metrics

import (
	"fmt"
	"math"
	"strconv"
)

// Direction says which way a measure improves.
type Direction string

// The directions. A measure without one describes the sessions or the arm and is neither good nor bad.
const (
	Neither Direction = ""
	Lower   Direction = "lower"
	Higher  Direction = "higher"
)

// Range holds the least and the greatest value of a measure; an infinity where there is none.
type Range struct{ Min, Max float64 }

// Contains reports whether x lies in the range, its ends included.
func (r Range) Contains(x float64) bool { return x >= r.Min && x <= r.Max }

// String is the range as documents print it: "0..1", "0.." without an upper end, "any" without ends.
func (r Range) String() string {
	low, high := "", ""
	if !math.IsInf(r.Min, -1) {
		low = strconv.FormatFloat(r.Min, 'g', -1, 64)
	}
	if !math.IsInf(r.Max, 1) {
		high = strconv.FormatFloat(r.Max, 'g', -1, 64)
	}
	if low == "" && high == "" {
		return "any"
	}
	return low + ".." + high
}

// MarshalText is String: JSON has no infinity.
func (r Range) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Measure explains a measure: what stands under every table that prints it.
type Measure struct {
	Name       string    `json:"measure"`
	Unit       string    `json:"unit"`
	Better     Direction `json:"better"`
	Range      Range     `json:"range"`
	Population string    `json:"population"` // what Figure.N counts
	Definition string    `json:"definition"` // one line, without a full stop
}

// The populations.
const (
	perSession  = "sessions"
	perPair     = "pairs with " + EagerArm // sessions played under the arm and under EagerArm
	perDeferral = "pairs with deferred tools"
	perRequest  = "sessions with requests"
	perCall     = "golds and absent intents"
	perCold     = "reached cold calls"
	perInScope  = "golds within reach" // in scope and available when asked
	perJudged   = "judged intents"     // in each session; those with a gold in the deferred catalog
	perAbsent   = "absent intents"
	perChange   = "sessions that can change so"
	perNonEmpty = "sessions with tools"
	perContext  = "sessions of known context"

	perDispatched = "dispatched golds"
	perWatched    = "gated or timed sessions" // with a gateway, or whose calls take time
	perTimed      = "timed sessions"
)

// Measures returns every measure of the package, in the order in which figures are given.
func Measures() []Measure {
	rules := rules()
	measures := make([]Measure, len(rules))
	for i := range rules {
		measures[i] = rules[i].Measure
	}
	return measures
}

// FindMeasure returns the measure of a name, and whether there is one. Who needs many of them asks [Measures] once.
func FindMeasure(name string) (Measure, bool) {
	for _, m := range Measures() {
		if m.Name == name {
			return m, true
		}
	}
	return Measure{}, false
}

// rule is a measure and how one observation contributes to it. At most one of the functions is set; it returns the
// observation's value, and whether the observation belongs to the population.
type rule struct {
	Measure
	ofSession func(played) (float64, bool)
	ofCall    func(Call) (float64, bool)
	ofSearch  func(judged) (float64, bool)
	// total: the figure is the sum of the values, not their mean.
	total bool
	// percent, if not 0, makes the figure a percentile of the arm's latencies.
	percent int
}

// played is one session under one arm, with what its figures are set against.
type played struct {
	SessionArm
	eager  *SessionArm // the same session under EagerArm; nil if that was not played, or is this one
	issued int         // searches that the agent made
}

// judged is the first query of an intent.
type judged struct {
	Retrieval
	hasGold bool // Retrieval has values
	absent  bool
	hits    int
}

func judgedOf(s Search) judged {
	j := judged{absent: s.Class == ClassAbsent, hits: len(s.Hits)}
	j.Retrieval, j.hasGold = Evaluate(s)
	return j
}

func share() Range   { return Range{0, 1} }
func counted() Range { return Range{0, math.Inf(1)} }
func signed() Range  { return Range{math.Inf(-1), math.Inf(1)} }

// rules are all measures, in the order of docs and tables.
func rules() []rule {
	var all []rule
	all = append(all, surfaceRules()...)
	all = append(all, sessionRules()...)
	all = append(all, breakEvenRules()...)
	all = append(all, cacheRules()...)
	all = append(all, callRules()...)
	all = append(all, trafficRules()...)
	all = append(all, retrievalRules()...)
	return append(all, stabilityRules()...)
}

// always makes a rule's function of a value that every session has.
func always(value func(s SessionArm) int64) func(played) (float64, bool) {
	return func(p played) (float64, bool) { return float64(value(p.SessionArm)), true }
}

// surfaceRules are about the tools array of a session's first request.
func surfaceRules() []rule {
	tokens := func(name string, better Direction, r Range, definition string, value func(s SessionArm) int64) rule {
		return rule{Measure: Measure{name, "tokens", better, r, perSession, definition}, ofSession: always(value)}
	}
	return []rule{
		tokens("surface_tokens", Lower, counted(), "tokens of the first request's tools array as the arm sends it, mean",
			func(s SessionArm) int64 { return int64(s.SurfaceTokens) }),
		tokens("eager_tokens", Neither, counted(), "tokens of the same tools array if every definition stood in it, mean",
			func(s SessionArm) int64 { return int64(s.EagerTokens) }),
		tokens("saved_tokens", Higher, signed(), "eager_tokens less surface_tokens, mean; negative where the bridge costs more",
			func(s SessionArm) int64 { return int64(s.EagerTokens) - int64(s.SurfaceTokens) }),
		{
			Measure: Measure{"saved_pct", "%", Higher, Range{math.Inf(-1), 100}, perNonEmpty,
				"saved_tokens in percent of eager_tokens, taken per session and then averaged (not a ratio of the two means)"},
			ofSession: func(p played) (float64, bool) {
				if p.EagerTokens == 0 {
					return 0, false
				}
				return float64(100*(int64(p.EagerTokens)-int64(p.SurfaceTokens))) / float64(p.EagerTokens), true
			},
		},
		{
			Measure: Measure{"over_context", "share", Lower, share(), perContext,
				"share of sessions whose tools array alone is larger than the model's context, so that it could not be sent"},
			ofSession: func(p played) (float64, bool) {
				over := 0.0
				if p.SurfaceTokens > p.ContextLength {
					over = 1
				}
				return over, p.ContextLength > 0
			},
		},
		tokens("visible_tokens", Lower, counted(), "part of surface_tokens: tools on it with their schemas, under a bridge those that it cannot defer, mean",
			func(s SessionArm) int64 { return int64(s.VisibleTokens) }),
		tokens("bridge_tokens", Lower, counted(), "part of surface_tokens: the bridge's own schemas without the listing, mean",
			func(s SessionArm) int64 { return int64(s.BridgeTokens) }),
		tokens("listing_tokens", Lower, counted(), "part of surface_tokens: the listing of deferred tools, mean",
			func(s SessionArm) int64 { return int64(s.ListingTokens) }),
	}
}

// sessionRules are about whole sessions.
func sessionRules() []rule {
	mean := func(name, unit, definition string, value func(s SessionArm) int64) rule {
		return rule{Measure: Measure{name, unit, Lower, counted(), perSession, definition}, ofSession: always(value)}
	}
	// weighed holds a value back where nothing was weighed.
	weighed := func(x float64, arms ...SessionArm) (float64, bool) {
		for _, s := range arms {
			if len(s.EffectiveByTurn) == 0 {
				return 0, false
			}
		}
		return x, true
	}
	return []rule{
		mean("requests", "requests", "model requests of a session, mean", func(s SessionArm) int64 { return int64(s.Requests) }),
		mean("prompt_tokens", "tokens", "tokens of tools array and messages, summed over all requests of a session, mean",
			func(s SessionArm) int64 { return s.PromptTokens }),
		mean("described_tokens", "tokens", "tokens of the schemas that searches and describes bring into a session's messages, counted once, mean",
			func(s SessionArm) int64 { return s.DescribedTokens }),
		mean("output_tokens", "tokens", "tokens of the tool calls that the model writes, summed over a session, mean",
			func(s SessionArm) int64 { return s.OutputTokens }),
		{
			Measure: Measure{MeasureEffectiveTokens, "tokens", Lower, counted(), perSession,
				"fresh prompt tokens, cached ones and output tokens, each times its weight, summed over a session, mean"},
			ofSession: func(p played) (float64, bool) { return weighed(p.EffectiveTokens, p.SessionArm) },
		},
		{
			Measure: Measure{MeasureNetSaved, "tokens", Higher, signed(), perPair,
				"effective_tokens of the arm " + EagerArm + " less those of this arm in the same session, mean"},
			ofSession: func(p played) (float64, bool) {
				if p.eager == nil {
					return 0, false
				}
				return weighed(p.eager.EffectiveTokens-p.EffectiveTokens, *p.eager, p.SessionArm)
			},
		},
		{
			Measure: Measure{"net_saved_prompt_tokens", "tokens", Higher, signed(), perPair,
				"prompt_tokens of the arm " + EagerArm + " less those of this arm in the same session, mean"},
			ofSession: func(p played) (float64, bool) {
				if p.eager == nil {
					return 0, false
				}
				return float64(p.eager.PromptTokens - p.PromptTokens), true
			},
		},
	}
}

// breakEvenRules have no values of their own: theirs come from BreakEvens, not from a mean over sessions.
func breakEvenRules() []rule {
	return []rule{
		{Measure: Measure{MeasureBreakEvenTurns, "turns", Lower, Range{1, math.Inf(1)}, perPair,
			"first turn from which the mean net_saved so far stays above 0, over the sessions that reach a turn; else none"}},
		{Measure: Measure{MeasureBreakEvenTokens, "tokens", Lower, Range{1, math.Inf(1)}, perDeferral,
			"tokens of deferred schemas from which on the mean net_saved is above 0 in every bin (powers of two); else none"}},
	}
}

// cacheRules are about what a provider's prompt cache keeps of a session.
func cacheRules() []rule {
	return []rule{
		{
			Measure: Measure{"cached_tokens", "tokens", Neither, counted(), perSession,
				"part of prompt_tokens: those that the prompt cache held, mean"},
			ofSession: always(func(s SessionArm) int64 { return s.CachedTokens }),
		},
		{
			Measure: Measure{"cached_share", "share", Higher, share(), perRequest,
				"share of a session's prompt tokens that the prompt cache held, taken per session and then averaged"},
			ofSession: func(p played) (float64, bool) {
				if p.PromptTokens == 0 {
					return 0, false
				}
				return float64(p.CachedTokens) / float64(p.PromptTokens), true
			},
		},
		{
			Measure: Measure{"invalidations", "requests", Lower, counted(), perSession,
				"requests of a session whose tools array differs from that of the request before, mean"},
			ofSession: always(func(s SessionArm) int64 { return int64(s.Invalidations) }),
		},
		{
			Measure: Measure{"cache_lost_tokens", "tokens", Lower, counted(), perSession,
				"tokens that these requests would have had from the cache with the tools array of before, and had not, mean"},
			ofSession: always(func(s SessionArm) int64 { return s.CacheLostTokens }),
		},
	}
}

// callRules are about how golds are reached, and cold calls among them.
func callRules() []rule {
	all := []rule{
		{
			Measure:   Measure{"searches", "searches", Lower, counted(), perSession, "searches that the agent makes in a session, mean"},
			ofSession: func(p played) (float64, bool) { return float64(p.issued), true },
		},
		{
			Measure: Measure{"wrong_calls", "calls", Lower, counted(), perSession,
				"calls of deferred tools that the intent does not need, or not yet, in a session, mean"},
			ofSession: always(func(s SessionArm) int64 { return int64(s.WrongCalls) }),
		},
		{
			Measure: Measure{"cold_calls", "calls", Neither, counted(), perCall,
				"number of golds that are the first use of a deferred tool in their session (a total, not a mean)"},
			ofCall: func(c Call) (float64, bool) { return indicator(c.Cold), true },
			total:  true,
		},
		{
			Measure: Measure{MeasureExtraRequests, "requests", Lower, counted(), perCold,
				"requests from the intent's first to the call, less what the arm " + EagerArm + " needs, mean without lost calls"},
			ofCall: func(c Call) (float64, bool) { return float64(c.ExtraRequests), c.Cold && c.Path.Reached() },
		},
		{
			Measure: Measure{MeasureLostRate, "share", Lower, share(), perInScope,
				"share of the golds that the agent could have reached and did not"},
			ofCall: func(c Call) (float64, bool) {
				return indicator(c.Path == PathLost), c.Path != PathUnavailable && c.Path != PathDeclined
			},
		},
	}
	for _, p := range paths() {
		all = append(all, rule{
			Measure: Measure{"path_" + string(p.path), "share", p.better, share(), perCall, "share whose path is " + string(p.path) + ": " + p.definition},
			ofCall:  func(c Call) (float64, bool) { return indicator(c.Path == p.path), true },
		})
	}
	return all
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

type pathDefinition struct {
	path       Path
	better     Direction
	definition string
}

// paths are all paths; their shares add up to 1.
func paths() []pathDefinition {
	return []pathDefinition{
		{PathDirect, Neither, "the tool is on the surface"},
		{PathWarm, Neither, "a deferred tool that the session called before"},
		{PathDescribed, Neither, "named in the listing, described, called"},
		{PathSearched, Neither, "found by one search, described, called"},
		{PathRetried, Neither, "found by a later search, described, called"},
		{PathBlind, Neither, "called by its listed name without a description"},
		{PathRepaired, Neither, "a blind call sent back with the schema, then right"},
		{PathLost, Lower, "in scope and available, never reached"},
		{PathUnavailable, Neither, "its server or probe was down when it was asked for"},
		{PathDeclined, Neither, "an absent intent, for which there is no tool"},
	}
}

// retrievalRules are about the first query of each intent.
func retrievalRules() []rule {
	of := func(name, unit, definition string, value func(Retrieval) float64) rule {
		return rule{
			Measure:  Measure{name, unit, Higher, share(), perJudged, definition},
			ofSearch: func(j judged) (float64, bool) { return value(j.Retrieval), j.hasGold },
		}
	}
	var all []rule
	for _, m := range []struct {
		name, unit, definition string
		value                  func(Cut) float64
	}{
		{"recall", "share", "share of an intent's deferred golds within %s of its first query, mean",
			func(c Cut) float64 { return c.Recall }},
		{"precision", "share", "share of %s of an intent's first query that is gold; a missing hit is not; mean",
			func(c Cut) float64 { return c.Precision }},
		{"success", "share", "share of intents with a deferred gold within %s of their first query",
			func(c Cut) float64 { return c.Success }},
		{"completeness", "share", "share of intents with all their deferred golds within %s of their first query",
			func(c Cut) float64 { return c.Completeness }},
		{"ndcg", "score", "gain within %s of the first query over that of the best order; a gold gains 1/log2(rank+1); mean",
			func(c Cut) float64 { return c.NDCG }},
	} {
		for i, k := range Cutoffs() {
			hits := fmt.Sprintf("the first %d hits", k)
			if k == 1 {
				hits = "the first hit"
			}
			all = append(all, of(fmt.Sprintf("%s@%d", m.name, k), m.unit, fmt.Sprintf(m.definition, hits),
				func(r Retrieval) float64 { return m.value(r.At[i]) }))
		}
		all = append(all, of(m.name+"@limit", m.unit, fmt.Sprintf(m.definition, "the first search_default_limit hits"),
			func(r Retrieval) float64 { return m.value(r.AtLimit) }))
	}
	return append(all,
		of("mrr", "score", "1 over the rank of the first gold in the first query's hits, 0 if none of those recorded is gold, mean",
			func(r Retrieval) float64 { return r.ReciprocalRank }),
		of("map", "score", "precision at the rank of each gold in the first query's hits, 0 for one not recorded, averaged over golds, mean",
			func(r Retrieval) float64 { return r.AveragePrecision }),
		rule{
			Measure: Measure{"no_match_accuracy", "share", Higher, share(), perAbsent,
				"share of the intents that no tool serves whose first query is answered with no hits"},
			ofSearch: func(j judged) (float64, bool) { return indicator(j.hits == 0), j.absent },
		})
}

// stabilityRules are about the bytes of the surface.
func stabilityRules() []rule {
	all := []rule{{
		Measure: Measure{MeasureByteIdentical, "share", Higher, share(), perSession,
			"share of sessions whose surface has the same bytes when assembled again from shuffled registries"},
		ofSession: func(p played) (float64, bool) { return indicator(p.ByteIdentical), true },
	}}
	for _, change := range changes() {
		all = append(all, rule{
			Measure: Measure{"prefix_retained_" + change.name, "share", Higher, share(), perChange,
				"share of the surface's tokens, after " + change.definition + ", in its common prefix with the surface before, mean"},
			ofSession: func(p played) (float64, bool) {
				kept := change.of(p.Retained)
				if kept == nil {
					return 0, false
				}
				return *kept, true
			},
		})
	}
	return all
}

type change struct {
	name, definition string
	of               func(Retained) *float64
}

// changes are the kinds of change for which the kept prefix is measured.
func changes() []change {
	return []change{
		{"tool_added", "one tool is added", func(r Retained) *float64 { return r.ToolAdded }},
		{"tool_removed", "one tool is removed", func(r Retained) *float64 { return r.ToolRemoved }},
		{"description_edited", "one description is edited", func(r Retained) *float64 { return r.DescriptionEdited }},
		{"server_connected", "one server connects", func(r Retained) *float64 { return r.ServerConnected }},
		{"server_disconnected", "one server disconnects", func(r Retained) *float64 { return r.ServerDisconnected }},
	}
}
