package metrics

import (
	"fmt"
	"math"
	"slices"
)

// Accumulator turns observations into figures, one session at a time. Make one with [NewAccumulator].
//
// It keeps no observation but the latencies of calls in which time passed, 8 bytes each. The order of Add calls is the order of summation, so that sessions must be added in theirs,
// whichever worker finished first.
type Accumulator struct {
	rules []rule
	// percentiles are among the rules.
	percentiles bool
	// complete: all measures are asked for, and distributions with them.
	complete bool
	order    []string // arms, as they first came
	arms     map[string]*armTotals
}

// NewAccumulator returns an accumulator that holds no session yet. It gives the figures of the measures named, of all if none
// is. That calls were lost is known, and warned of, only with [MeasureLostRate] among them.
func NewAccumulator(only ...string) *Accumulator {
	kept := rules()
	if len(only) > 0 {
		kept = slices.DeleteFunc(kept, func(r rule) bool { return !slices.Contains(only, r.Name) })
	}
	percentiles := slices.ContainsFunc(kept, func(r rule) bool { return r.percent > 0 })
	return &Accumulator{rules: kept, percentiles: percentiles, complete: len(only) == 0, arms: make(map[string]*armTotals)}
}

// Add adds what one session gave, under all its arms. Observations that contradict each other or themselves are an error
// and leave the accumulator as it was: rows of several sessions, an arm twice, a row of an arm that the session has no
// SessionArm of, an unknown path, a value outside its range, an intent's first query twice, hits out of order, an arm whose
// assumptions are no longer those that it came with, a number of turns that is not that of [EagerArm], tokens by turn that
// fall or are not as many as the turns (effective ones may be missing altogether, where nothing was weighed).
func (a *Accumulator) Add(o Observations) error {
	if err := a.check(o); err != nil {
		return err
	}
	var eager *SessionArm
	for i := range o.Arms {
		if o.Arms[i].Arm == EagerArm {
			eager = &o.Arms[i]
		}
	}
	for _, s := range o.Arms {
		totals := a.arm(s)
		p := played{SessionArm: s, issued: issued(o.Searches, s.Arm)}
		if s.Arm != EagerArm && eager != nil {
			p.eager = eager
			totals.addSaved(*eager, s)
		}
		totals.latencies.watched = totals.latencies.watched || s.watched()
		a.addSession(totals, p)
	}
	for _, c := range o.Calls {
		a.addCall(a.arms[c.Arm], c)
	}
	if a.complete {
		a.addDistributions(o)
	}
	for _, s := range o.Searches {
		if s.Step == 0 {
			a.addSearch(a.arms[s.Arm], s)
		}
	}
	return nil
}

// arm returns the totals of a session's arm, which it starts if they are not there.
func (a *Accumulator) arm(s SessionArm) *armTotals {
	totals := a.arms[s.Arm]
	if totals == nil {
		totals = &armTotals{
			assumptions: s.Assumptions,
			all:         make([]tally, len(a.rules)),
			classes:     make(map[string][]tally),
			bins:        make(map[int][]tally),
			byTurn:      make(map[int64]saving),
			byDeferred:  make(map[int64]saving),

			distributions: make(map[string]*distributionTotals),
		}
		a.arms[s.Arm] = totals
		a.order = append(a.order, s.Arm)
	}
	return totals
}

// issued counts the searches that the agent made under an arm.
func issued(searches []Search, arm string) int {
	n := 0
	for i := range searches {
		if searches[i].Issued && searches[i].Arm == arm {
			n++
		}
	}
	return n
}

func (a *Accumulator) addSession(totals *armTotals, p played) {
	for i := range a.rules {
		value := a.rules[i].ofSession
		if value == nil {
			continue
		}
		if x, ok := value(p); ok {
			totals.all[i].add(x, "")
		}
	}
}

func (a *Accumulator) addCall(totals *armTotals, c Call) {
	if c.Outcome != OutcomeNone && a.percentiles {
		totals.latencies.add(&c)
	}
	class := sliceOf(totals.classes, c.Class, len(a.rules))
	for i := range a.rules {
		value := a.rules[i].ofCall
		if value == nil {
			continue
		}
		if x, ok := value(c); ok {
			totals.all[i].add(x, c.Class)
			class[i].add(x, c.Class)
		}
	}
}

func (a *Accumulator) addSearch(totals *armTotals, s Search) {
	j := judgedOf(s)
	if !j.hasGold && !j.absent {
		return
	}
	class := sliceOf(totals.classes, s.Class, len(a.rules))
	bin := sliceOf(totals.bins, sizeBits(s.PoolSize), len(a.rules))
	for i := range a.rules {
		value := a.rules[i].ofSearch
		if value == nil {
			continue
		}
		if x, ok := value(j); ok {
			totals.all[i].add(x, s.Class)
			class[i].add(x, s.Class)
			bin[i].add(x, s.Class)
		}
	}
}

// sliceOf returns the tallies of one class or bin, n of them, which it starts if they are not there.
func sliceOf[K comparable](slices map[K][]tally, key K, n int) []tally {
	tallies := slices[key]
	if tallies == nil {
		tallies = make([]tally, n)
		slices[key] = tallies
	}
	return tallies
}

// check returns what contradicts itself in a session's observations.
func (a *Accumulator) check(o Observations) error {
	if len(o.Arms) == 0 {
		return fmt.Errorf("observations without a session arm\nhint: leave a session that was played under no arm out")
	}
	session := o.Arms[0].SessionID
	wrong := func(format string, values ...any) error {
		return fmt.Errorf("session %q: %w\nhint: the observations are faulty, or their file is: replay the session again",
			session, fmt.Errorf(format, values...))
	}
	turns, err := a.checkArms(o.Arms)
	if err != nil {
		return wrong("%w", err)
	}
	for i, c := range o.Calls {
		if err := checkRow(c.SessionID, session, c.Arm, turns); err != nil {
			return wrong("call %d: %w", i, err)
		}
		if !c.Path.known() {
			return wrong("call %d: path %q is unknown", i, c.Path)
		}
		if c.Path == PathDeclined && c.Tool != "" {
			return wrong("call %d: path %s with tool %q: an absent intent has none", i, c.Path, c.Tool)
		}
		if err := c.Dispatch.check(); err != nil {
			return wrong("call %d: %w", i, err)
		}
	}
	if err := checkSearches(o.Searches, session, turns); err != nil {
		return wrong("%w", err)
	}
	return nil
}

// checkArms checks the arms of one session; it returns the length of PromptByTurn of each.
func (a *Accumulator) checkArms(arms []SessionArm) (map[string]int, error) {
	turns := make(map[string]int, len(arms))
	for _, s := range arms {
		if s.SessionID != arms[0].SessionID {
			return nil, fmt.Errorf("arm %q: belongs to session %q", s.Arm, s.SessionID)
		}
		if _, twice := turns[s.Arm]; twice {
			return nil, fmt.Errorf("arm %q: there twice", s.Arm)
		}
		turns[s.Arm] = len(s.PromptByTurn)
		if known := a.arms[s.Arm]; known != nil && known.assumptions != s.Assumptions {
			return nil, fmt.Errorf("arm %q: assumptions %+v, in earlier sessions %+v", s.Arm, s.Assumptions, known.assumptions)
		}
		if err := checkTokens(s); err != nil {
			return nil, fmt.Errorf("arm %q: %w", s.Arm, err)
		}
		for _, change := range changes() {
			if kept := change.of(s.Retained); kept != nil && !share().Contains(*kept) {
				return nil, fmt.Errorf("arm %q: share retained when %s is %v, not 0 to 1", s.Arm, change.definition, *kept)
			}
		}
	}
	if eager, there := turns[EagerArm]; there {
		for _, s := range arms {
			if turns[s.Arm] != eager {
				return nil, fmt.Errorf("arm %q: %d turns, arm %q %d", s.Arm, turns[s.Arm], EagerArm, eager)
			}
		}
	}
	return turns, nil
}

// checkTokens checks the token counts of one session under one arm.
func checkTokens(s SessionArm) error {
	for _, count := range []struct {
		name  string
		value int64
	}{
		{"deferred schema tokens", int64(s.DeferredSchemaTokens)},
		{"cached tokens", s.CachedTokens},
		{"described tokens", s.DescribedTokens},
		{"invalidations", int64(s.Invalidations)},
		{"tokens lost from the cache", s.CacheLostTokens},
		{"wrong calls", int64(s.WrongCalls)},
	} {
		if count.value < 0 {
			return fmt.Errorf("%s: %d, below 0", count.name, count.value)
		}
	}
	if err := s.Traffic.check(); err != nil {
		return err
	}
	if s.CachedTokens > s.PromptTokens {
		return fmt.Errorf("%d cached tokens of %d prompt tokens", s.CachedTokens, s.PromptTokens)
	}
	if n := len(s.EffectiveByTurn); n > 0 && n != len(s.PromptByTurn) {
		return fmt.Errorf("effective tokens of %d turns, prompt tokens of %d", n, len(s.PromptByTurn))
	}
	if err := checkRising("prompt tokens", s.PromptByTurn); err != nil {
		return err
	}
	if err := checkRising("effective tokens", s.EffectiveByTurn); err != nil {
		return err
	}
	if !counted().Contains(s.EffectiveTokens) || math.IsInf(s.EffectiveTokens, 1) {
		return fmt.Errorf("effective tokens are %v", s.EffectiveTokens)
	}
	return nil
}

// checkRising checks cumulative tokens: finite, not below 0, never less than before.
func checkRising[T int64 | float64](name string, byTurn []T) error {
	var before T
	for i, tokens := range byTurn {
		if !(tokens >= before) || math.IsInf(float64(tokens), 1) {
			return fmt.Errorf("%s: %v after %d turns, %v before", name, tokens, i+1, before)
		}
		before = tokens
	}
	return nil
}

// checkRow checks that a row belongs to the session and to an arm of it.
func checkRow(rowSession, session, arm string, turns map[string]int) error {
	if rowSession != session {
		return fmt.Errorf("belongs to session %q", rowSession)
	}
	if _, there := turns[arm]; !there {
		return fmt.Errorf("the session was not played under its arm %q", arm)
	}
	return nil
}

func checkSearches(searches []Search, session string, turns map[string]int) error {
	type query struct {
		arm    string
		turn   int
		intent string
	}
	first := make(map[query]bool)
	for i, s := range searches {
		if err := checkRow(s.SessionID, session, s.Arm, turns); err != nil {
			return fmt.Errorf("search %d: %w", i, err)
		}
		if s.Class == ClassAbsent && len(s.Gold) > 0 {
			return fmt.Errorf("search %d: an absent intent has gold %q", i, s.Gold[0])
		}
		if s.Step == 0 {
			q := query{s.Arm, s.Turn, s.IntentID}
			if first[q] {
				return fmt.Errorf("search %d: the first query of intent %q, turn %d, arm %q is there twice", i, q.intent, q.turn, q.arm)
			}
			first[q] = true
		}
		for j, hit := range s.Hits {
			if hit.Rank != j+1 {
				return fmt.Errorf("search %d: hit %d has rank %d", i, j+1, hit.Rank)
			}
		}
	}
	return nil
}

// known reports whether p is one of the paths.
func (p Path) known() bool {
	for _, d := range paths() {
		if d.path == p {
			return true
		}
	}
	return false
}
