package replay

import (
	"fmt"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// Pitfall names one of the seven ways in which people who configure tool
// containment are let down.
type Pitfall string

// The pitfalls.
const (
	PitfallCore         Pitfall = "core"         // the bridge does not make the core smaller
	PitfallBundle       Pitfall = "bundle"       // disabling a bundle leaves the core
	PitfallSameName     Pitfall = "same_name"    // a registration under a taken name changes nothing
	PitfallCaches       Pitfall = "caches"       // two caches delay what was changed
	PitfallUnread       Pitfall = "unread"       // a new tool file is not read
	PitfallListing      Pitfall = "listing"      // a model without a listing does not know what it could ask for
	PitfallDistribution Pitfall = "distribution" // a distribution is no router
)

// Warning is a pitfall that the configuration runs into.
type Warning struct {
	Pitfall Pitfall `json:"pitfall"`
	What    string  `json:"what"`
	Do      string  `json:"do"`
	// Names are the tools, toolsets or files that it is about.
	Names []string `json:"names"`
}

// warnings looks for the pitfalls, one after the other.
func (i *inspector) warnings() []Warning {
	found := []Warning{}
	for _, look := range []func() []Warning{
		i.coreOutweighs, i.bundlesDisabled, i.sameNames, i.caches, i.unread, i.noListing, i.drawn,
	} {
		found = append(found, look()...)
	}
	return found
}

// coreOutweighs compares what no bridge takes off the surface with all that this
// one does.
func (i *inspector) coreOutweighs() []Warning {
	t := i.out.Tokens[0]
	if i.options.Arm.config().Enabled == bridge.Off || t.Visible <= t.Eager-t.Visible {
		return nil
	}
	return []Warning{{
		Pitfall: PitfallCore,
		What: fmt.Sprintf("the %d visible tools take %d tokens, more than the %d of all that the bridge can keep off",
			i.out.VisibleTools, t.Visible, t.Eager-t.Visible),
		Do:    "count the core first: no setting of the bridge makes it smaller, narrower toolsets do",
		Names: i.toolsWhere(func(t *ToolState) bool { return t.Place == Visible }),
	}}
}

// bundlesDisabled looks for disabled bundles and postures of which tools stay.
func (i *inspector) bundlesDisabled() (found []Warning) {
	resolver := toolset.NewResolver(i.options.Corpus.Toolsets, i.play.view.lane.registry)
	for _, name := range i.options.Disabled {
		gone := nameSetOf(resolver.Disables(name))
		all := nameSetOf(resolver.Resolve(name))
		if len(gone) == len(all) {
			continue
		}
		stay := i.toolsWhere(func(t *ToolState) bool { return all[t.Tool] && t.Place != Unavailable })
		if len(stay) == 0 {
			continue
		}
		found = append(found, Warning{
			Pitfall: PitfallBundle,
			What: fmt.Sprintf("disabling %s takes away no more than it adds to the core (%d of its %d tools); these stay: %s",
				name, len(gone), len(all), someOf(stay)),
			Do:    "disable the toolsets that hold them, or do not enable what brings them",
			Names: stay,
		})
	}
	return found
}

// sameNames looks for tools that share a name with another: imports that stand in
// the place of the agent's own tools, and repeats within a server.
func (i *inspector) sameNames() (found []Warning) {
	adopted := i.adopted()
	if names := i.toolsWhere(func(t *ToolState) bool { return adopted[t.ID] && t.Place != Unavailable }); len(names) > 0 {
		found = append(found, Warning{
			Pitfall: PitfallSameName,
			What: fmt.Sprintf("imported tools without a server bear the names of built-in tools, and stand in their place here: %s; "+
				"from a plugin, an agent refuses such a tool and only logs it", someOf(names)),
			Do:    "rename a plugin's tool, or say which server it is of; leave the agent's own as they are",
			Names: names,
		})
	}
	if names := i.toolsWhere(func(t *ToolState) bool { return i.repeats(t.ID) && t.Place != Unavailable }); len(names) > 0 {
		found = append(found, Warning{
			Pitfall: PitfallSameName,
			What:    fmt.Sprintf("tools share a name with another of their server, and have a suffix here: %s; an agent keeps only the last one registered", someOf(names)),
			Do:      "give each tool of the server a name of its own",
			Names:   names,
		})
	}
	return found
}

// adopted are the tools, by id, of an imported corpus that stand in the place of
// the embedded corpus's built-in ones.
func (i *inspector) adopted() map[string]bool {
	found := make(map[string]bool)
	embedded, err := corpus.Embedded()
	if err != nil || i.options.Corpus.Toolsets != embedded.Toolsets {
		return found // a corpus with toolsets of its own has built-in tools of its own
	}
	for _, t := range i.player.builtins {
		if own, ok := embedded.Tool(t.ID); ok && own != t {
			found[t.ID] = true
		}
	}
	return found
}

// repeats reports whether an id ends in the hash that tells it from another's.
func (i *inspector) repeats(id string) bool {
	n := strings.LastIndexByte(id, '~')
	if n < 0 {
		return false
	}
	_, ok := i.options.Corpus.Tool(id[:n])
	return ok
}

// caches looks for the memo that never runs out, and for tools that a cached
// verdict keeps where they should not be.
func (i *inspector) caches() (found []Warning) {
	if i.options.Arm.Memo == MemoReference {
		found = append(found, Warning{
			Pitfall: PitfallCaches,
			What:    "memo: reference keeps an assembly until toolsets, settings or the registry change; a probe that fails or recovers changes nothing",
			Do:      "take memo: ttl, which keeps it no longer than the probes' verdicts",
			Names:   []string{},
		})
	}
	const do = "wait, or clear the probe cache together with what you changed"
	if names := i.toolsWhere(func(t *ToolState) bool { return t.Stale }); len(names) > 0 {
		found = append(found, Warning{
			Pitfall: PitfallCaches,
			What: fmt.Sprintf("tools are still there although their probes fail: %s; a verdict holds for %.0f s, and a success for %.0f s",
				someOf(names), registry.ProbeTTL.Seconds(), registry.ProbeGrace.Seconds()),
			Do:    do,
			Names: names,
		})
	}
	if names := i.toolsWhere(func(t *ToolState) bool { return t.Rule == RuleVerdict }); len(names) > 0 {
		found = append(found, Warning{
			Pitfall: PitfallCaches,
			What:    fmt.Sprintf("tools are not back although their probes pass again: %s; a verdict holds for %.0f s", someOf(names), registry.ProbeTTL.Seconds()),
			Do:      do,
			Names:   names,
		})
	}
	return found
}

func (i *inspector) unread() []Warning {
	if len(i.options.Unread) == 0 {
		return nil
	}
	return []Warning{{
		Pitfall: PitfallUnread,
		What:    fmt.Sprintf("files that may hold tools were not read as part of the corpus: %s", someOf(i.options.Unread)),
		Do:      "ask bench discover FOLDER which files register and why the others do not; with -o it makes a corpus of their tool cards",
		Names:   i.options.Unread,
	}}
}

// noListing looks for hidden tools of which the model reads no more than their
// number.
func (i *inspector) noListing() []Warning {
	if !i.out.Activated || i.play.shown.Listing.Form != bridge.FormNone {
		return nil
	}
	w := Warning{
		Pitfall: PitfallListing,
		What:    fmt.Sprintf("the listing is off: of %d hidden tools the model knows the number, and takes what it does not know of for missing", i.out.HiddenTools),
		Do:      "leave it on, and cut threshold_pct or listing_max_tokens instead: its form shrinks with the budget",
		Names:   i.toolsWhere(func(t *ToolState) bool { return t.Place == Unmentioned }),
	}
	if i.options.Arm.ToolSearch.Listing != bridge.Off {
		w.What = fmt.Sprintf("no listing fits a budget of %d tokens: of %d hidden tools the model knows the number, and takes what it does not know of for missing", i.out.Budget.Tokens, i.out.HiddenTools)
		w.Do = "raise threshold_pct or listing_max_tokens until it at least counts each source's tools"
	}
	return []Warning{w}
}

// drawn tells of sessions whose toolsets another draw would not repeat.
func (i *inspector) drawn() []Warning {
	name := i.stage.session.Distribution
	if name == "" || i.certain(name) {
		return nil
	}
	return []Warning{{
		Pitfall: PitfallDistribution,
		What:    fmt.Sprintf("toolsets and servers were drawn from distribution %s: it makes varied data, and another session of it has others", name),
		Do:      "name what an entry point gets with --toolsets; route by configuration, not by a distribution",
		Names:   []string{name},
	}}
}

// certain reports whether every draw of a distribution is the same.
func (i *inspector) certain(name string) bool {
	c := i.options.Corpus
	d, err := c.Distributions.Get(name)
	if err != nil || d.Servers > 0 && d.Servers < len(c.SourceNames()) {
		return false
	}
	for _, e := range d.Entries {
		if e.Percent > 0 && e.Percent < 100 && c.HasToolset(e.Toolset) {
			return false
		}
	}
	return true
}

// toolsWhere are the names of those tools, in the corpus's order.
func (i *inspector) toolsWhere(is func(*ToolState) bool) []string {
	names := []string{}
	for n := range i.out.Tools {
		if t := &i.out.Tools[n]; is(t) {
			names = append(names, t.Tool)
		}
	}
	return names
}

// someMax is how many names a sentence can take.
const someMax = 6

// someOf lists names, the first of them if there are many.
func someOf(names []string) string {
	if len(names) <= someMax {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:someMax], ", "), len(names)-someMax)
}
