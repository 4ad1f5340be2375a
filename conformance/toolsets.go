package conformance

import (
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// toolsetsVector is the whole table of fixed toolsets, without what a registry adds.
type toolsetsVector struct {
	Core        []string        `json:"core"`
	WebhookSafe []string        `json:"webhook_safe"`
	Toolsets    []rawjson.Field `json:"toolsets"` // of toolsetWant, by name
	NonCore     []rawjson.Field `json:"non_core"` // of names: what a toolset adds to the core, by toolset
}

type toolsetWant struct {
	Tools    []string `json:"tools"`
	Includes []string `json:"includes"`
	Posture  bool     `json:"posture"`
	Resolved []string `json:"resolved"`
}

func toolsetsFormat() format {
	return format{
		name:   "toolsets",
		fields: fieldsOf[toolsetsVector](),
		kinds:  []string{"core", "webhook_safe", "names", "toolsets", "non_core"},
		begin: func(r *runner, t *tally) checker {
			return &toolsetsChecker{toolset.NewResolver(r.corpus.Toolsets, nil), t}
		},
	}
}

type toolsetsChecker struct {
	resolver *toolset.Resolver
	tally    *tally
}

func (x *toolsetsChecker) finish() {}

func (x *toolsetsChecker) check(vector) {
	var v toolsetsVector
	if !x.tally.read(&v, func() string { return "" }) {
		return
	}
	var s strict
	sets := make([]toolsetWant, len(v.Toolsets))
	for i, f := range v.Toolsets {
		s.decode(join("toolsets", f.Key), f.Value, &sets[i])
	}
	nonCore := make([][]string, len(v.NonCore))
	for i, f := range v.NonCore {
		s.decode(join("non_core", f.Key), f.Value, &nonCore[i])
	}
	if !x.tally.readable(s.faults) {
		return
	}

	table := x.resolver.Table()
	x.names("core", "core", v.Core, table.Core())
	x.names("webhook_safe", "webhook_safe", v.WebhookSafe, table.WebhookSafe())
	x.names("names", "toolsets", sortedNames(keys(v.Toolsets)), sortedNames(table.Names()))
	x.names("names", "non_core", sortedNames(keys(v.NonCore)), sortedNames(table.Names()))
	for i, f := range v.Toolsets {
		x.compareSet(f.Key, sets[i])
	}
	for i, f := range v.NonCore {
		x.names("non_core", join("non_core", f.Key), nonCore[i], x.resolver.NonCore(f.Key))
	}
}

func (x *toolsetsChecker) names(kind, path string, want, got []string) {
	var c comparison
	c.names(path, want, got)
	x.tally.decide(kind, c)
}

func (x *toolsetsChecker) compareSet(name string, want toolsetWant) {
	path := join("toolsets", name)
	var c comparison
	set, ok := x.resolver.Table().Static(name)
	if !ok {
		c.fault(path, "there is no such toolset")
		x.tally.decide("toolsets", c)
		return
	}
	c.names(path+".tools", want.Tools, set.Tools)
	c.names(path+".includes", want.Includes, set.Includes)
	c.equal(path+".posture", want.Posture, set.Posture)
	c.names(path+".resolved", want.Resolved, x.resolver.Resolve(name))
	x.tally.decide("toolsets", c)
}

func keys(fields []rawjson.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Key
	}
	return names
}
