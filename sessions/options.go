package sessions

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/distributions"
)

// Options says how sessions are drawn. The zero value is the default draw.
type Options struct {
	// Seed is the seed of every stream; 0 is a seed like any other.
	Seed uint64 `json:"seed"`
	// Mix weighs the distributions that a session may be drawn from; nil means
	// DefaultMix.
	Mix []Share `json:"mix"`
	// TurnsMin and TurnsMax bound the turns of a session, every number between
	// them being equally likely; both 0 means 4 to 8.
	TurnsMin int `json:"turns_min"`
	TurnsMax int `json:"turns_max"`
	// ContextLengths are the context lengths in tokens, each equally likely (a
	// length listed twice, twice as likely); nil means 32,000, 128,000, 200,000
	// and 1,000,000.
	ContextLengths []int `json:"context_lengths"`
	// NoAbsent draws no intents whose capability no tool has. Without it each
	// turn is such a one with a chance of AbsentShare, provided that the corpus
	// has any.
	NoAbsent bool `json:"no_absent"`
	// EventShare is the number of events a turn, on average, from above 0 to 1; 0
	// means 0.25, one event for every four turns, and NoEvents none.
	EventShare float64 `json:"event_share"`
}

// NoEvents is the EventShare of sessions in which nothing happens but turns.
const NoEvents = -1

// Share is the weight of one distribution in a mix: a finite number above 0.
type Share struct {
	Distribution string  `json:"distribution"`
	Weight       float64 `json:"weight"`
}

// AbsentShare is the chance that a turn asks for something that no tool does.
const AbsentShare = 0.1

// TurnsLimit is the most turns that a session may be drawn with.
const TurnsLimit = 10_000

// DefaultMix returns the distributions with few, ten and forty MCP servers at
// 40, 40 and 20 %, over the toolsets of the distribution default.
func DefaultMix() []Share {
	return []Share{{"few", 40}, {"ten", 40}, {"forty", 20}}
}

// WithDefaults returns the options with every default in its place, for a record
// of what was drawn.
func (o Options) WithDefaults() Options {
	if len(o.Mix) == 0 {
		o.Mix = DefaultMix()
	}
	if o.TurnsMin == 0 && o.TurnsMax == 0 {
		o.TurnsMin, o.TurnsMax = 4, 8
	}
	if len(o.ContextLengths) == 0 {
		o.ContextLengths = []int{32_000, 128_000, 200_000, 1_000_000}
	}
	if o.EventShare == 0 {
		o.EventShare = 0.25
	}
	return o
}

// check holds options with their defaults against their rules.
func (o Options) check() error {
	if o.TurnsMin < 1 || o.TurnsMax < o.TurnsMin || o.TurnsMax > TurnsLimit {
		return fmt.Errorf("turns %d to %d: not a range between 1 and %d\nhint: give the least number first", o.TurnsMin, o.TurnsMax, TurnsLimit)
	}
	for _, length := range o.ContextLengths {
		if length < 1 {
			return fmt.Errorf("context length %d is not positive\nhint: give lengths in tokens", length)
		}
	}
	if o.EventShare != NoEvents && !(o.EventShare > 0 && o.EventShare <= 1) {
		return fmt.Errorf("event share %v is not a number above 0, up to 1\nhint: give the events a turn, for example 0.25", o.EventShare)
	}
	sum := 0.0
	for i, share := range o.Mix {
		if !(share.Weight > 0) || math.IsInf(share.Weight, 0) {
			return fmt.Errorf("distribution %q: weight %v is not a number above 0\nhint: leave a distribution out to draw none from it", share.Distribution, share.Weight)
		}
		if slices.ContainsFunc(o.Mix[:i], func(s Share) bool { return s.Distribution == share.Distribution }) {
			return fmt.Errorf("distribution %q is weighted twice\nhint: keep one of the two", share.Distribution)
		}
		sum += share.Weight
	}
	if math.IsInf(sum, 0) {
		return errors.New("the weights of the distributions are too large to add up\nhint: use percentages")
	}
	return nil
}

// ParseMix reads a mix as people write it: one distribution's name, or several
// with weights, "few=40,ten=40,forty=20". A name without a weight weighs 1. flag
// names the source in errors. Whether the names exist is checked by [NewDrawer].
func ParseMix(flag, text string) ([]Share, error) {
	var mix []Share
	for part := range strings.SplitSeq(text, ",") {
		name, number, weighted := strings.Cut(strings.TrimSpace(part), "=")
		share := Share{Distribution: strings.TrimSpace(name), Weight: 1}
		if share.Distribution == "" {
			return nil, fmt.Errorf("%s %q: a distribution without a name\nhint: write NAME, or NAME=WEIGHT,NAME=WEIGHT", flag, text)
		}
		if weighted {
			weight, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil {
				return nil, fmt.Errorf("%s %q: weight %q is not a number\nhint: write NAME=WEIGHT, for example few=40", flag, text, number)
			}
			share.Weight = weight
		}
		mix = append(mix, share)
	}
	if err := (Options{Mix: mix}).WithDefaults().check(); err != nil {
		return nil, fmt.Errorf("%s %q: %w", flag, text, err)
	}
	return mix, nil
}

// ParseEventShare reads an EventShare as people write it: a number from 0, which
// is none, to 1. flag names the source in errors.
func ParseEventShare(flag, text string) (float64, error) {
	share, err := strconv.ParseFloat(text, 64)
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, fmt.Errorf("%s %q: not a number from 0 to 1\nhint: give the events a turn, for example 0.25; 0 is none", flag, text)
	}
	if share == 0 {
		return NoEvents, nil
	}
	return share, nil
}

// weighted is a mix ready to be drawn from.
type weighted struct {
	members []distributions.Distribution
	// upTo are the running sums of the weights.
	upTo []float64
}

func newWeighted(mix []Share, set *distributions.Set) (*weighted, error) {
	w := &weighted{}
	sum := 0.0
	for _, share := range mix {
		d, err := set.Get(share.Distribution)
		if err != nil {
			return nil, err
		}
		sum += share.Weight
		w.members = append(w.members, d)
		w.upTo = append(w.upTo, sum)
	}
	return w, nil
}

// pick returns the distribution at a uniform number of [0,1).
func (w *weighted) pick(uniform float64) distributions.Distribution {
	last := len(w.members) - 1
	at := uniform * w.upTo[last]
	for i := range last {
		if at < w.upTo[i] {
			return w.members[i]
		}
	}
	return w.members[last]
}
