package reports

import (
	"strings"

	"github.com/toolgauge/toolgauge/metrics"
)

// theme is a group of measures that are read together: a table on the terminal, a benchmark in bench.txt.
type theme struct {
	title     string
	about     string
	benchmark string
	// measures are names in the order of the table; one that ends with * stands for all that start so.
	measures []string
	// hidden of them are left out of the table: they stand in summary.json and bench.txt, and say little more.
	hidden []string
	// byClass is the one measure that a further table shows for each class of intent; empty if there is none.
	byClass string
	// dense tables leave out the rows in which every arm has 0, but for those that must have it.
	dense bool
	must  []string
}

// measureOverContext is the measure that the headline warns with.
const measureOverContext = "over_context"

// gatewayBenchmark is the benchmark of the theme that calls are in.
const gatewayBenchmark = "Gateway"

// themes are all tables, in the order in which they are printed.
func themes() []theme {
	return []theme{
		{
			title: "Schema tokens", about: "the tools array of a session's first request", benchmark: "Surface",
			measures: []string{"surface_tokens", "visible_tokens", "bridge_tokens", "listing_tokens", "eager_tokens", "saved_tokens", "saved_pct", measureOverContext},
		},
		{
			title: "Session tokens", about: "all requests of a session, with history", benchmark: "Session",
			measures: []string{"requests", "prompt_tokens", "described_tokens", "output_tokens", metrics.MeasureEffectiveTokens,
				metrics.MeasureNetSaved, "net_saved_prompt_tokens", metrics.MeasureBreakEvenTurns, metrics.MeasureBreakEvenTokens},
		},
		{
			title: "Prompt cache", about: "what a provider's cache holds of the prompts, and what it loses when tools change", benchmark: "Cache",
			measures: []string{"cached_tokens", "invalidations", "cache_lost_tokens", "cached_share"},
		},
		{
			title: "Cold calls", about: "how deferred tools are reached, and what the way costs", benchmark: "Calls",
			measures: []string{"searches", "wrong_calls", metrics.MeasureExtraRequests, metrics.MeasureLostRate, "cold_calls", "path_*"},
			byClass:  metrics.MeasureLostRate,
			dense:    true,
		},
		{
			title: "Calls through the gateway", about: "how calls are carried out, in the virtual time of their sessions", benchmark: gatewayBenchmark,
			measures: []string{"call_latency_*", "dispatched_calls", "call_attempts", "call_retries", "call_timeouts", "breaker_openings", "throttled_calls",
				"call_cache_hits", "truncated_tokens", "denied_*", "calls_taken_ms", metrics.MeasureDuplicatedSideEffects, metrics.MeasureLeakedSecrets,
				"parallel_speedup"},
			dense: true,
			must:  []string{metrics.MeasureDuplicatedSideEffects, metrics.MeasureLeakedSecrets},
		},
		{
			title: "Retrieval", about: "the first query of each intent against the deferred tools; more of it is in " + SummaryFile, benchmark: "Retrieval",
			measures: []string{"recall@*", "precision@*", "success@*", "completeness@*", "ndcg@*", "mrr", "map", "no_match_accuracy"},
			hidden: []string{"precision@*", "success@*", "completeness@1", "completeness@3", "completeness@5", "completeness@10",
				"ndcg@1", "ndcg@3", "ndcg@5", "ndcg@limit"},
			byClass: "recall@limit",
		},
		{
			title: "Stability", about: "what of the surface stays the same when it is assembled again, or when one thing changes", benchmark: "Stability",
			measures: []string{metrics.MeasureByteIdentical, "prefix_retained_*"},
		},
	}
}

// themeOf returns the theme of a measure; the zero theme if none has it.
func themeOf(measure string) theme {
	for _, t := range themes() {
		for _, pattern := range t.measures {
			if matches(pattern, measure) {
				return t
			}
		}
	}
	return theme{}
}

// shown are the measures of a theme's table, in its order.
func (t theme) shown() []metrics.Measure {
	var list []metrics.Measure
	for _, pattern := range t.measures {
		for _, m := range metrics.Measures() {
			if matches(pattern, m.Name) && !t.hides(m.Name) {
				list = append(list, m)
			}
		}
	}
	return list
}

func (t theme) hides(measure string) bool {
	for _, pattern := range t.hidden {
		if matches(pattern, measure) {
			return true
		}
	}
	return false
}

// Shown reports whether printed tables have a measure; those that they leave out stand in summary.json.
func Shown(measure string) bool { return !themeOf(measure).hides(measure) }

func matches(pattern, name string) bool {
	if prefix, wild := strings.CutSuffix(pattern, "*"); wild {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
