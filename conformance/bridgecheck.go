package conformance

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// departureNote tells people what the contract's stated departure is.
const departureNote = "a tool_call whose `arguments` is blank text runs with {}, where the recorded system refuses it as no JSON"

func bridgeFormat() format {
	return format{
		name:   "bridge",
		fields: fieldsOf[bridgeCase](),
		kinds: []string{"config", "visible", "deferrable", "assembly", "listing", "listings", "search", "bm25",
			"describe", "calls", "short_desc", "tokenize"},
		begin: func(r *runner, t *tally) checker { return &bridgeChecker{r, t} },
	}
}

type bridgeChecker struct {
	*runner
	tally *tally
}

func (b *bridgeChecker) finish() {}

func (b *bridgeChecker) check(v vector) {
	b.tally.currentName = stringField(v, "id")
	if !b.tally.readable(variantFault(v)) {
		return
	}
	var c bridgeCase
	if !b.tally.read(&c, func() string { return c.ID }) || !b.tally.readable(c.shapeFaults()) {
		return
	}
	s, faults := b.stage(&c)
	if !b.tally.readable(faults) {
		return
	}
	s.checkSurface(b.tally)
	s.checkListings(b.tally)
	for i, w := range c.Want.Search {
		s.checkSearch(b.tally, index("want.search", i), w)
	}
	for i, w := range c.Want.Describe {
		s.checkDescribe(b.tally, index("want.describe", i), w)
	}
	for i, w := range c.Want.Calls {
		s.checkCall(b.tally, index("want.calls", i), w)
	}
	s.checkTexts(b.tally)
}

// checkSurface compares settings, classification and assembly.
func (s *stage) checkSurface(t *tally) {
	want := s.vector.Want
	var c comparison
	c.equal("want.config.enabled", want.Config.Enabled, s.config.Enabled)
	// Adding 0 makes no difference between 0 and -0.
	c.equal("want.config.threshold_pct", want.Config.ThresholdPct+0, s.config.ThresholdPct+0)
	c.equal("want.config.search_default_limit", want.Config.SearchDefaultLimit, s.config.SearchDefaultLimit)
	c.equal("want.config.max_search_limit", want.Config.MaxSearchLimit, s.config.MaxSearchLimit)
	c.equal("want.config.listing", want.Config.Listing, s.config.Listing)
	c.equal("want.config.listing_max_tokens", want.Config.ListingMaxTokens, s.config.ListingMaxTokens)
	if want.Config.DeferTools != nil {
		c.names("want.config.defer_tools", *want.Config.DeferTools, s.deferred)
	}
	t.decide("config", c)

	visible, deferrable := s.bridge.Classify(s.definitions)
	c = nil
	c.names("want.visible", want.Visible, namesOf(visible))
	t.decide("visible", c)
	c = nil
	c.names("want.deferrable", want.Deferrable, namesOf(deferrable))
	t.decide("deferrable", c)

	c = nil
	s.compareAssembly(&c, want.Assembly)
	t.decide("assembly", c)
}

func (s *stage) compareAssembly(c *comparison, want assemblyWant) {
	const path = "want.assembly"
	surface, err := s.bridge.Assemble(s.definitions, s.config, s.context)
	if err != nil {
		c.fault(path, "%s", firstLine(err))
		return
	}
	c.equal(path+".activated", want.Activated, surface.Activated)
	c.equal(path+".tier", want.Tier, surface.Tier)
	c.equal(path+".listing_form", want.ListingForm, surface.Listing.Form)
	c.equal(path+".deferred_count", want.DeferredCount, surface.DeferrableCount)
	c.equal(path+".deferred_tokens", want.DeferredTokens, surface.DeferrableTokens)
	c.equal(path+".threshold_tokens", want.ThresholdTokens, surface.BudgetTokens)
	c.names(path+".names", want.Names, namesOf(surface.Definitions))
	eager := slices.DeleteFunc(slices.Clone(s.definitions), func(d *registry.Definition) bool { return bridge.IsBridgeTool(d.Name) })
	c.equal(path+".eager_tokens", want.EagerTokens, bridge.Estimate(eager))
}

// checkListings compares the listing at the case's own budget and at the given ones, whether the settings switch the
// listing off or not: what fits a budget does not depend on that.
func (s *stage) checkListings(t *tally) {
	var c comparison
	own := s.config.Budget(s.context)
	c.equal("want.listing.budget", s.vector.Want.Listing.Budget, own)
	s.compareListing(&c, "want.listing", s.vector.Want.Listing, own)
	t.decide("listing", c)
	for i, w := range s.vector.Want.Listings {
		c = nil
		s.compareListing(&c, index("want.listings", i), w, w.Budget)
		t.decide("listings", c)
	}
}

func (s *stage) compareListing(c *comparison, path string, want listingWant, budget int) {
	got := s.bridge.List(s.deferrable, budget)
	c.equal(path+".form", want.Form, got.Form)
	if want.Chars != nil {
		c.equal(path+".chars", *want.Chars, utf8.RuneCountInString(got.Text))
	}
	text := ""
	if want.Text != nil {
		text = *want.Text
	}
	c.equal(path+".text", text, got.Text)
}

func (s *stage) checkDescribe(t *tally, path string, want describeWant) {
	argument := "name"
	if s.vector.Variant == bridge.September {
		argument = "names"
	}
	_, described := s.scope.ToolDescribe([]rawjson.Field{{Key: argument, Value: want.Name}})
	var c comparison
	c.equal(path+".ok", want.OK, len(described) > 0)
	t.decide("describe", c)
}

// outcome is what became of a tool_call, in a vector's words.
type outcome struct {
	resolved   *string
	arguments  json.RawMessage
	errorClass *string
	inScope    *bool
	blocked    *bool
}

func (s *stage) checkCall(t *tally, path string, want callWant) {
	got := s.call(arguments(want.Request))
	c := want.compare(path, got)
	if len(c) > 0 && s.departs(want, got) {
		t.depart("calls")
		return
	}
	t.decide("calls", c)
}

func (w callWant) compare(path string, got outcome) comparison {
	var c comparison
	c.equal(path+".resolved", w.Resolved, got.resolved)
	if !sameContent(w.Arguments, got.arguments) {
		c.equal(path+".arguments", w.Arguments, got.arguments)
	}
	c.equal(path+".error_class", w.ErrorClass, got.errorClass)
	c.equal(path+".in_scope", w.InScope, got.inScope)
	c.equal(path+".blocked_by_required_probe", w.Blocked, got.blocked)
	return c
}

// call carries a tool_call as far as the dispatch of the real tool.
func (s *stage) call(args []rawjson.Field) outcome {
	call, refusal := s.scope.ToolCall(args)
	inScope, blocked := true, false
	if refusal != nil {
		switch refusal.Class {
		case bridge.ClassNotInScope, bridge.ClassMissingRequired, bridge.ClassInvalidArguments:
			// The vector has the call as resolved and the two later checks apart.
			call, _ = s.bridge.Unwrap(args)
			inScope = refusal.Class != bridge.ClassNotInScope
			entry, _ := s.registry.Entry(call.Name)
			blocked = s.bridge.CheckArguments(entry.Definition, call.Arguments) != nil
		default:
			class := string(refusal.Class)
			return outcome{arguments: json.RawMessage("null"), errorClass: &class}
		}
	}
	return outcome{resolved: &call.Name, arguments: call.Arguments, inScope: &inScope, blocked: &blocked}
}

// departs reports whether a difference is the one that the contract states: blank text for arguments counts as none, so
// the call must end exactly as one with {} does.
func (s *stage) departs(want callWant, got outcome) bool {
	if want.ErrorClass == nil || *want.ErrorClass != string(bridge.ClassArgumentsNotJSON) || !isBlank(want.Request.Arguments) {
		return false
	}
	request := want.Request
	request.Arguments = json.RawMessage("{}")
	empty := s.call(arguments(request))
	asEmpty := callWant{
		Resolved: empty.resolved, Arguments: empty.arguments, ErrorClass: empty.errorClass,
		InScope: empty.inScope, Blocked: empty.blocked,
	}
	return len(asEmpty.compare("", got)) == 0
}

// isBlank reports whether a value is text of nothing but white space, as the recorded system knows it.
func isBlank(raw json.RawMessage) bool {
	var text string
	if rawjson.Kind(raw) != "string" || json.Unmarshal(raw, &text) != nil {
		return false
	}
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }) == ""
}

// checkTexts compares what needs no catalog.
func (s *stage) checkTexts(t *tally) {
	for i, w := range s.vector.Want.ShortDesc {
		var c comparison
		c.equal(index("want.short_desc", i)+".out", w.Out, s.vector.Variant.ShortDescription(w.In))
		t.decide("short_desc", c)
	}
	empty := s.retriever.Index(nil)
	for i, w := range s.vector.Want.Tokenize {
		var c comparison
		c.names(index("want.tokenize", i)+".out", w.Out, tokens(empty.Explain(w.In, 0)))
		t.decide("tokenize", c)
	}
}

func namesOf(definitions []*registry.Definition) []string {
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = d.Name
	}
	return names
}
