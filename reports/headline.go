package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
)

// smallRun is the number of sessions under which the headline says how few they were.
const smallRun = 30

// headline says in a few sentences what the best arm saves against eager, and at what cost.
func headline(s Summary, figures figureIndex) string {
	arm := bestArm(s, figures)
	if arm == "" {
		return "No arm defers tools, so there is nothing to set against sending every schema."
	}
	if bridge, surface := figures.get("bridge_tokens", arm), figures.get("surface_tokens", arm); bridge != nil && surface != nil && bridge.Value == 0 {
		return fmt.Sprintf("These sessions have no tool that can be deferred: every arm sends the same %s tokens of tool schemas with each request.",
			numerals.Number(surface.Value, 0))
	}
	sentences := []string{schemaSentence(arm, figures), sessionSentence(s, arm, figures), callSentence(arm, figures)}
	if sentence := bareSentence(s, arm, figures); sentence != "" {
		sentences = append(sentences, sentence)
	}
	if over := figures.get(measureOverContext, metrics.EagerArm); over != nil && over.Value > 0 {
		sentences = append(sentences, fmt.Sprintf("In %s%% of the sessions %s's tools alone are larger than the context, and could not be sent at all.",
			numerals.Number(100*over.Value, 1), metrics.EagerArm))
	}
	if s.Sessions < smallRun {
		sentences = append(sentences, fmt.Sprintf("This rests on %s only.", numerals.Of(s.Sessions, "session")))
	}
	return strings.Join(sentences, " ")
}

// bestArm is the arm that saves most: among comparable ones with a listing if there are any, else among all that defer tools, and of
// these among the ones that lose hardly more tools than the one that loses least; in effective tokens of whole sessions if
// those are known, else in schema tokens. Empty if no arm defers.
func bestArm(s Summary, figures figureIndex) string {
	var candidates []string
	listed, least := false, math.Inf(1)
	lost := func(arm string) float64 {
		if f := figures.get(metrics.MeasureLostRate, arm); f != nil {
			return f.Value
		}
		return 0
	}
	for _, arm := range comparableArms(s, figures) {
		listing := figures.get("listing_tokens", arm.Name)
		if listing == nil || listed && listing.Value == 0 {
			continue
		}
		if listing.Value > 0 && !listed {
			candidates, listed, least = nil, true, math.Inf(1)
		}
		candidates, least = append(candidates, arm.Name), min(least, lost(arm.Name))
	}
	best, most := "", math.Inf(-1)
	for _, arm := range candidates {
		saved := figures.get(metrics.MeasureNetSaved, arm)
		if saved == nil {
			saved = figures.get("saved_tokens", arm)
		}
		if saved != nil && saved.Value > most && lost(arm) <= least+lostTolerance {
			best, most = arm, saved.Value
		}
	}
	return best
}

// comparableArms are the arms that defer tools: those whose tokens are counted as eager's are, if there are any.
func comparableArms(s Summary, figures figureIndex) []Arm {
	var all, alike []Arm
	for _, arm := range s.Assumptions {
		if arm.Name == metrics.EagerArm || !arm.Bridge {
			continue
		}
		all = append(all, arm)
		if saved := figures.get(metrics.MeasureNetSaved, arm.Name); saved == nil || !slices.Contains(saved.Warnings, metrics.WarnCountedOtherwise) {
			alike = append(alike, arm)
		}
	}
	if len(alike) > 0 {
		return alike
	}
	return all
}

// lostTolerance is the share of tools that the best arm may lose beyond the arm that loses least.
const lostTolerance = 0.01

func schemaSentence(arm string, figures figureIndex) string {
	surface, eager := figures.get("surface_tokens", arm), figures.get("eager_tokens", arm)
	if surface == nil || eager == nil {
		return fmt.Sprintf("Nothing is known of the schemas that %s sends.", arm)
	}
	sentence := fmt.Sprintf("With %s the tool schemas of a session's first request take %s tokens instead of %s",
		arm, numerals.Number(surface.Value, 0), numerals.Number(eager.Value, 0))
	if percent := figures.get("saved_pct", arm); percent != nil {
		than := "less"
		if percent.Value < 0 {
			than = "more"
		}
		sentence += fmt.Sprintf(", %s%% %s per session on average", numerals.Number(math.Abs(percent.Value), 1), than)
	}
	if surface.Value > eager.Value {
		sentence += ": the bridge costs more than it saves"
	}
	return sentence + "."
}

// sessionSentence says whether the arm pays, and from where on.
func sessionSentence(s Summary, arm string, figures figureIndex) string {
	net, tokens := figures.get(metrics.MeasureNetSaved, arm), figures.get(metrics.MeasureEffectiveTokens, arm)
	switch {
	case tokens == nil:
		return "Whole sessions were not weighed, so nothing is known of their effective tokens."
	case net == nil:
		return fmt.Sprintf("The arm %s was not played, so nothing is known of whole sessions.", metrics.EagerArm)
	}
	eager := numerals.Number(tokens.Value+net.Value, 0)
	turn, schemas := figures.get(metrics.MeasureBreakEvenTurns, arm), figures.get(metrics.MeasureBreakEvenTokens, arm)
	pays := func(b *metrics.Figure) bool { return b != nil && b.Value > 0 }
	catalogs := ""
	if pays(schemas) {
		catalogs = fmt.Sprintf("where it defers %s tokens of schemas or more", numerals.Number(schemas.Value, 0))
	}
	if net.Value <= 0 {
		sentence := fmt.Sprintf("Over a whole session it costs %s effective tokens where %s costs %s: it does not pay", numerals.Number(tokens.Value, 0), metrics.EagerArm, eager)
		if pays(schemas) {
			sentence += ", except " + catalogs
		}
		return sentence + "."
	}
	if paysAtEverySize(s, arm) {
		catalogs = fmt.Sprintf("wherever it defers tools (here %s tokens of schemas or more)", numerals.Number(schemas.Value, 0))
	}
	sentence := fmt.Sprintf("Over a whole session it saves %s of %s effective tokens", numerals.Number(net.Value, 0), eager)
	switch {
	case pays(turn) && pays(schemas):
		return sentence + fmt.Sprintf(", from turn %s on, and %s.", numerals.Number(turn.Value, 0), catalogs)
	case pays(turn):
		return sentence + fmt.Sprintf(", from turn %s on, but not in the sessions that defer most.", numerals.Number(turn.Value, 0))
	case pays(schemas):
		return sentence + fmt.Sprintf(", %s, but not in the longest sessions.", catalogs)
	default:
		return sentence + ", but neither in the longest sessions nor in those that defer most."
	}
}

// paysAtEverySize reports whether the arm saves in the smallest bin of deferred schemas already: where it would begin to
// pay, the run does not show.
func paysAtEverySize(s Summary, arm string) bool {
	return slices.ContainsFunc(s.BreakEvens, func(b metrics.BreakEven) bool {
		return b.Arm == arm && b.Measure == metrics.MeasureBreakEvenTokens && len(b.Curve) > 0 && b.At == b.Curve[0].At
	})
}

func callSentence(arm string, figures figureIndex) string {
	if cold := figures.get("cold_calls", arm); cold == nil || cold.Value == 0 {
		return "No deferred tool was needed, so nothing is known of the extra requests that one costs."
	}
	never := "no tool that was needed is lost."
	if lost := figures.get(metrics.MeasureLostRate, arm); lost != nil && lost.Value > 0 {
		never = fmt.Sprintf("%s%% of the tools needed are never reached.", numerals.Number(100*lost.Value, 1))
	}
	extra := figures.get(metrics.MeasureExtraRequests, arm)
	if extra == nil {
		return "No cold call, the first use of a deferred tool, was reached: " + never
	}
	return fmt.Sprintf("A cold call, the first use of a deferred tool, costs %s extra requests on average, and %s", numerals.Number(extra.Value, 2), never)
}

// bareSentence says what the arm's listing is worth: how an arm with the same assumptions and no listing does. Empty if
// there is none, or if the arm has no listing either.
func bareSentence(s Summary, arm string, figures figureIndex) string {
	listing, this := figures.get("listing_tokens", arm), findArm(s.Assumptions, arm)
	if listing == nil || listing.Value == 0 || this == nil {
		return ""
	}
	for _, other := range s.Assumptions {
		none, extra := figures.get("listing_tokens", other.Name), figures.get(metrics.MeasureExtraRequests, other.Name)
		if withoutListing(other.Assumptions) != withoutListing(this.Assumptions) || none == nil || none.Value > 0 || extra == nil {
			continue
		}
		sentence := fmt.Sprintf("Without the listing, under %s, it costs %s", other.Name, numerals.Number(extra.Value, 2))
		if lost := figures.get(metrics.MeasureLostRate, other.Name); lost != nil && lost.Value > 0 {
			sentence += fmt.Sprintf(", and %s%% of the tools needed are never reached", numerals.Number(100*lost.Value, 1))
		}
		return sentence + "."
	}
	return ""
}

// withoutListing are the assumptions without what the arm's settings say of the listing.
func withoutListing(a Assumptions) Assumptions {
	a.Settings = strings.Join(slices.DeleteFunc(strings.Fields(a.Settings), func(setting string) bool {
		return strings.HasPrefix(setting, "listing=")
	}), " ")
	return a
}
