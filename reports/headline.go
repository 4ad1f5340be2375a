package reports

import (
	"fmt"
	"math"
	"strings"

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
			number(surface.Value, 0))
	}
	sentences := []string{schemaSentence(arm, figures), sessionSentence(s, arm, figures), callSentence(arm, figures)}
	if over := figures.get(measureOverContext, metrics.EagerArm); over != nil && over.Value > 0 {
		sentences = append(sentences, fmt.Sprintf("In %s%% of the sessions %s's tools alone are larger than the context, and could not be sent at all.",
			number(100*over.Value, 1), metrics.EagerArm))
	}
	if s.Sessions < smallRun {
		sentences = append(sentences, fmt.Sprintf("This rests on %s only.", counted(s.Sessions, "session")))
	}
	return strings.Join(sentences, " ")
}

// bestArm is the arm that saves most: among those with a listing if there are any, else among all that defer tools; in
// prompt tokens of whole sessions if those are known, else in schema tokens. Empty if no arm defers.
func bestArm(s Summary, figures figureIndex) string {
	best, listed := "", false
	var most float64
	for _, arm := range s.Assumptions {
		if arm.Name == metrics.EagerArm || !arm.Bridge {
			continue
		}
		listing := figures.get("listing_tokens", arm.Name)
		saved := figures.get("net_saved_prompt_tokens", arm.Name)
		if saved == nil {
			saved = figures.get("saved_tokens", arm.Name)
		}
		if listing == nil || saved == nil || listed && listing.Value == 0 {
			continue
		}
		if fresh := listing.Value > 0 && !listed; fresh || best == "" || saved.Value > most {
			best, most, listed = arm.Name, saved.Value, listing.Value > 0
		}
	}
	return best
}

func schemaSentence(arm string, figures figureIndex) string {
	surface, eager := figures.get("surface_tokens", arm), figures.get("eager_tokens", arm)
	if surface == nil || eager == nil {
		return fmt.Sprintf("Nothing is known of the schemas that %s sends.", arm)
	}
	sentence := fmt.Sprintf("With %s the tool schemas of a session's first request take %s tokens instead of %s",
		arm, number(surface.Value, 0), number(eager.Value, 0))
	if percent := figures.get("saved_pct", arm); percent != nil {
		than := "less"
		if percent.Value < 0 {
			than = "more"
		}
		sentence += fmt.Sprintf(", %s%% %s in the mean session", number(math.Abs(percent.Value), 1), than)
	}
	if surface.Value > eager.Value {
		sentence += ": the bridge costs more than it saves"
	}
	return sentence + "."
}

func sessionSentence(s Summary, arm string, figures figureIndex) string {
	net, prompt := figures.get("net_saved_prompt_tokens", arm), figures.get("prompt_tokens", arm)
	if net == nil || prompt == nil {
		return fmt.Sprintf("The arm %s was not played, so nothing is known of whole sessions.", metrics.EagerArm)
	}
	eager := number(prompt.Value+net.Value, 0)
	if net.Value <= 0 {
		return fmt.Sprintf("Over a whole session it sends %s prompt tokens where %s sends %s: it does not pay.",
			number(prompt.Value, 0), metrics.EagerArm, eager)
	}
	start := fmt.Sprintf("Over a whole session it saves %s of %s prompt tokens", number(net.Value, 0), eager)
	for _, b := range s.BreakEvens {
		if b.Arm == arm && b.Turn > 0 {
			return fmt.Sprintf("%s, from turn %d on.", start, b.Turn)
		}
	}
	return start + ", but not in sessions of every length."
}

func callSentence(arm string, figures figureIndex) string {
	if cold := figures.get("cold_calls", arm); cold == nil || cold.Value == 0 {
		return "No deferred tool was needed, so nothing is known of the extra requests that one costs."
	}
	never := "no tool that was needed is lost."
	if lost := figures.get(metrics.MeasureLostRate, arm); lost != nil && lost.Value > 0 {
		never = fmt.Sprintf("%s%% of the tools needed are never reached.", number(100*lost.Value, 1))
	}
	extra := figures.get(metrics.MeasureExtraRequests, arm)
	if extra == nil {
		return "No cold call, the first use of a deferred tool, was reached: " + never
	}
	return fmt.Sprintf("A cold call, the first use of a deferred tool, costs %s extra requests on average, and %s", number(extra.Value, 2), never)
}
