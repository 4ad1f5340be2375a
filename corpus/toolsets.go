package corpus

import (
	"slices"

	"github.com/toolgauge/toolgauge/internal/textfile"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// The fields of toolsets.yaml and of one toolset in it.
var (
	toolsetFileFields = []string{"schema_version", "core", "webhook_safe", "defer", "toolsets"}
	toolsetFields     = []string{"name", "description", "core", "tools", "includes", "posture"}
)

// toolsets reads toolsets.yaml. Tools named are checked when all are known.
func (l *loader) toolsets(n node) error {
	o := readObject(n, "toolsets.yaml", toolsetFileFields...)
	if o.err != nil {
		return o.err
	}
	if err := n.once(); err != nil {
		return err
	}
	o.require("schema_version", "toolsets")
	o.version()
	lists := toolset.Lists{
		Core:        l.toolNames(o, "core", "core"),
		WebhookSafe: l.toolNames(o, "webhook_safe", "webhook_safe"),
		Defer:       l.toolNames(o, "defer", "defer"),
	}
	declared := make(map[string]node)
	var sets []toolset.Toolset
	var names []string
	for _, item := range o.list("toolsets") {
		set, err := l.toolset(item, lists.Core, declared)
		if err != nil {
			return err
		}
		sets, names = append(sets, set), append(names, set.Name)
	}
	if o.err != nil {
		return o.err
	}
	err := checkReferences("toolset", l.included, names)
	if err != nil {
		return err
	}
	if l.corpus.Toolsets, err = toolset.NewTable(lists, sets); err != nil {
		return n.errorAt("correct the toolset", "%w", err)
	}
	return nil
}

// toolset reads one toolset and declares its name.
func (l *loader) toolset(n node, core []string, declared map[string]node) (toolset.Toolset, error) {
	o := readObject(n, "a toolset", toolsetFields...)
	set := toolset.Toolset{
		Name: o.text("name"), Description: o.text("description"), Includes: o.texts("includes"), Posture: o.flag("posture"),
	}
	if o.flag("core") {
		set.Tools = slices.Clone(core)
	}
	what := "toolset " + textfile.Shown(set.Name)
	set.Tools = append(set.Tools, l.toolNames(o, "tools", what)...)
	if o.err == nil {
		for _, include := range o.list("includes") {
			l.included = append(l.included, reference{at: include, what: what, name: include.text()})
		}
	}
	first, again := declared[set.Name]
	switch {
	case set.Name == "":
		o.fail(n, "give every toolset a name", "toolset without a name")
	case again:
		o.fail(o.fields["name"], "keep one of the two", "toolset %s is declared again; first at %s", textfile.Shown(set.Name), first.place())
	case reservedToolset(set.Name):
		o.fail(o.fields["name"], "choose another name", "toolset %s is reserved", textfile.Shown(set.Name))
	default:
		declared[set.Name] = o.fields["name"]
	}
	return set, o.err
}

// toolNames reads a list of tools and notes the references.
func (l *loader) toolNames(o *object, field, what string) []string {
	names := o.texts(field)
	if o.err == nil {
		for _, n := range o.list(field) {
			l.named = append(l.named, reference{at: n, what: what, name: n.text()})
		}
	}
	return names
}
