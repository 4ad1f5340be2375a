package replay

import (
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// Place is where a tool stands with respect to a surface.
type Place string

// The places, from the nearest to the farthest.
const (
	// Visible: its schema is on the surface.
	Visible Place = "visible"
	// Named: it is hidden behind the bridge, and the listing has its name.
	Named Place = "named"
	// Counted: it is hidden, and the listing only counts its source's tools.
	Counted Place = "counted"
	// Unmentioned: it is hidden, and nothing tells of it but the number of all
	// hidden tools.
	Unmentioned Place = "unmentioned"
	// Unavailable: it exists, and the session cannot use it now.
	Unavailable Place = "unavailable"
)

// Rule is what put a tool in its place.
type Rule string

// The rules of visible tools, of hidden ones, and of those that are unavailable.
const (
	RuleCore      Rule = "core"       // the core list: it never defers
	RuleKept      Rule = "kept"       // its toolset stays visible in this variant
	RuleBridgeOff Rule = "bridge_off" // it could be deferred, but the bridge is off

	RuleServer    Rule = "server"     // it comes from an MCP server
	RulePlugin    Rule = "plugin"     // it comes from a plugin
	RuleNotCore   Rule = "not_core"   // it is the agent's own, but not on the core list
	RuleDeferList Rule = "defer_list" // it is on the core list, and on the defer list

	RuleNotConnected Rule = "not_connected" // its server or plugin is not part of the session
	RuleLeft         Rule = "left"          // its server or plugin left
	RuleRemoved      Rule = "removed"       // its server or plugin no longer has it
	RuleNotEnabled   Rule = "not_enabled"   // no enabled toolset has it
	RuleDisabled     Rule = "disabled"      // a disabled toolset takes it away
	RuleEnv          Rule = "env"           // an environment variable is not set
	RuleProbe        Rule = "probe"         // its probe fails
	RuleVerdict      Rule = "verdict"       // its probe passes again, but an earlier verdict holds
)

// ToolState is where one tool stands, and why.
type ToolState struct {
	Tool   string `json:"tool"` // the model-visible name
	ID     string `json:"id"`
	Source string `json:"source"` // the toolset under which it registers
	Place  Place  `json:"place"`
	Rule   Rule   `json:"rule"`
	Why    string `json:"why"` // the rule in words
	// SchemaTokens are those of its schema alone; 0 if it is unavailable.
	SchemaTokens int `json:"schema_tokens"`
	// Used: a turn of the session asks for it.
	Used bool `json:"used"`
	// Stale: its probe fails by now, and an earlier verdict keeps it there.
	Stale bool `json:"stale"`
}

// locate finds the place of every tool of the corpus.
func (i *inspector) locate() {
	view := i.play.view
	request := view.session.Request
	names := nameSetOf(view.session.Assembler.Names(request))
	request.Disabled = nil
	enabled := nameSetOf(view.session.Assembler.Names(request))
	resolver := toolset.NewResolver(i.options.Corpus.Toolsets, view.lane.registry)
	for _, t := range i.options.Corpus.Tools {
		name := t.Definition.Name
		state := ToolState{Tool: name, ID: t.ID, Source: t.Toolset}
		switch d := i.usable[name]; {
		case d != nil:
			state.Place, state.Rule, state.Why = i.usableState(t)
			state.SchemaTokens = i.play.arm.counter.tokens([]*registry.Definition{d})
			state.Stale = view.lane.failing[probeOf(t)]
		default:
			state.Place = Unavailable
			state.Rule, state.Why = i.missing(t, enabled[name], names[name], resolver)
		}
		i.out.Tools = append(i.out.Tools, state)
	}
}

func nameSetOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// usableState is the place of a tool that the session may use.
func (i *inspector) usableState(t *corpus.Tool) (Place, Rule, string) {
	name, shown, b := t.Definition.Name, i.play.shown, i.play.view.bridge
	core := i.options.Corpus.Toolsets.IsCore(name)
	switch {
	case !b.Deferrable(name) && core:
		return Visible, RuleCore, "on the core list, which never defers"
	case !b.Deferrable(name):
		return Visible, RuleKept, fmt.Sprintf("toolset %s stays visible in %s", t.Toolset, i.options.Arm.Variant)
	case !shown.Activated:
		return Visible, RuleBridgeOff, "could be deferred, but the bridge is off"
	}
	place := Counted
	switch {
	case b.Names(shown.Surface, name):
		place = Named
	case shown.Listing.Text == "":
		place = Unmentioned
	}
	switch {
	case t.Server != "":
		return place, RuleServer, "from an MCP server"
	case !t.Builtin:
		return place, RulePlugin, "from a plugin"
	case core:
		return place, RuleDeferList, "on the core list, but on the defer list too"
	default:
		return place, RuleNotCore, "the agent's own, but not on the core list"
	}
}

// missing says why a session cannot use a tool. enabled tells whether the enabled
// toolsets have it, left whether it is still there less the disabled ones.
func (i *inspector) missing(t *corpus.Tool, enabled, left bool, resolver *toolset.Resolver) (Rule, string) {
	name := t.Definition.Name
	lane := i.play.view.lane
	if _, registered := lane.registry.Toolset(name); !registered {
		switch {
		case !slices.Contains(i.stage.enabled, t.Toolset):
			return RuleNotConnected, "its server or plugin is not connected"
		case len(lane.registry.ToolsIn(t.Toolset)) == 0:
			return RuleLeft, "its server or plugin left"
		default:
			return RuleRemoved, "its server or plugin no longer has it"
		}
	}
	switch probe := probeOf(t); {
	case !enabled:
		return RuleNotEnabled, "in no enabled toolset"
	case !left:
		by := slices.IndexFunc(i.options.Disabled, func(set string) bool { return slices.Contains(resolver.Disables(set), name) })
		return RuleDisabled, fmt.Sprintf("taken away by disabling %s", i.options.Disabled[by])
	case firstAmong(t.RequiresEnv, i.options.UnsetEnv) != "":
		return RuleEnv, fmt.Sprintf("environment variable %s is not set", firstAmong(t.RequiresEnv, i.options.UnsetEnv))
	case lane.failing[probe] || slices.Contains(i.options.Down, probe):
		return RuleProbe, fmt.Sprintf("probe %s fails", probe)
	default:
		return RuleVerdict, fmt.Sprintf("probe %s passes again, but an earlier verdict still holds", probe)
	}
}
