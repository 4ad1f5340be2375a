package replay

import (
	"fmt"
	"slices"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/sessions"
)

func (p *Player) unknownServer(name string) error {
	return fmt.Errorf("unknown server %q\nhint: replay sessions with the corpus that they were drawn from", name)
}

func (p *Player) checkToolset(name string) error {
	if _, fixed := p.options.Corpus.Toolsets.Static(name); !fixed {
		return fmt.Errorf("unknown toolset %q\nhint: toolsets are fixed ones; sources of tools stand under servers", name)
	}
	return nil
}

// checkEvent refuses events about things that the corpus does not have.
func (p *Player) checkEvent(e *sessions.Event) error {
	if !slices.Contains(sessions.Kinds(), e.Kind) || e.Kind == sessions.KindTurn && e.Turn == nil ||
		e.Kind == sessions.KindToolsChanged && e.Tools == nil || e.Kind == sessions.KindConfig && e.Config == nil {
		return fmt.Errorf("event of kind %q cannot be played\nhint: docs/format.md says what each kind of event carries", e.Kind)
	}
	if e.Server != "" && p.bySource[e.Server] == nil {
		return p.unknownServer(e.Server)
	}
	if e.Probe != "" && !p.probes[e.Probe] {
		return fmt.Errorf("unknown probe %q\nhint: a probe is a server, or a check that a tool of the corpus names", e.Probe)
	}
	if e.Tools != nil {
		for _, id := range e.Tools.IDs() {
			t, ok := p.options.Corpus.Tool(id)
			if !ok || t.Toolset != e.Server {
				return fmt.Errorf("server %q has no tool %q\nhint: name tools by id, as the corpus does", e.Server, id)
			}
		}
	}
	if e.Config != nil {
		for _, name := range slices.Concat(e.Config.Enable, e.Config.Disable) {
			if err := p.checkToolset(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply lets an event happen, in every lane.
func (p *Player) apply(st *stage, e *sessions.Event) error {
	switch e.Kind {
	case sessions.KindConfig:
		kept := slices.DeleteFunc(slices.Clone(st.enabled), func(name string) bool { return slices.Contains(e.Config.Disable, name) })
		st.enable(withNames(kept, e.Config.Enable...))
		return nil
	case sessions.KindServerUp:
		st.enable(withNames(slices.Clone(st.enabled), e.Server))
	}
	for _, l := range st.lanes {
		if err := p.applyTo(l, e); err != nil {
			return fmt.Errorf("%s: %w", e.Kind, err)
		}
	}
	return nil
}

// withNames appends those names that a list lacks.
func withNames(list []string, names ...string) []string {
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func (p *Player) applyTo(l *lane, e *sessions.Event) error {
	switch e.Kind {
	case sessions.KindServerUp:
		return p.register(l, p.bySource[e.Server]...)
	case sessions.KindServerDown:
		return deregister(l, p.bySource[e.Server]...)
	case sessions.KindProbeFail, sessions.KindProbeOK:
		l.failing[e.Probe] = e.Kind == sessions.KindProbeFail
		return nil
	case sessions.KindToolsChanged:
		return p.changeTools(l, e.Tools)
	default:
		return nil // config is the request's
	}
}

func (p *Player) changeTools(l *lane, changes *sessions.ToolChanges) error {
	for _, id := range changes.Removed {
		if err := deregister(l, p.tool(id)); err != nil {
			return err
		}
	}
	for _, id := range changes.Added {
		if err := p.register(l, p.tool(id)); err != nil {
			return err
		}
	}
	for _, e := range changes.Edited {
		t := p.tool(e.Tool)
		edited, err := p.edit(t, e.Description)
		if err != nil {
			return err
		}
		if err := l.register(p, t, edited); err != nil {
			return err
		}
	}
	return nil
}

// tool is one that checkEvent has found.
func (p *Player) tool(id string) *corpus.Tool {
	t, _ := p.options.Corpus.Tool(id)
	return t
}

func (p *Player) register(l *lane, tools ...*corpus.Tool) error {
	for _, t := range tools {
		if err := l.register(p, t, t.Definition); err != nil {
			return err
		}
	}
	return nil
}

func deregister(l *lane, tools ...*corpus.Tool) error {
	for _, t := range tools {
		if err := l.registry.Deregister(t.Definition.Name, ""); err != nil {
			return err
		}
	}
	return nil
}

// editKey is a tool with another description.
type editKey struct {
	tool        *corpus.Tool
	description string
}

// edit returns the definition of a tool with another description, the same one
// each time: the memos know definitions by pointer and would otherwise grow with
// every session.
func (p *Player) edit(t *corpus.Tool, description string) (*registry.Definition, error) {
	key := editKey{t, description}
	if d, ok := p.edited[key]; ok {
		return d, nil
	}
	d, err := t.Definition.With(rawjson.Field{Key: "description", Value: rawjson.String(description)})
	if err != nil {
		return nil, err
	}
	if len(p.edited) >= editsMax {
		clear(p.edited)
	}
	p.edited[key] = d
	return d, nil
}

// editsMax bounds the edited definitions that a player keeps.
const editsMax = 1 << 16

// down reports whether a tool cannot be used now, whatever a model is shown: it
// is not registered, not enabled, or out of reach.
func (p *play) down(t *corpus.Tool, usable bool) bool {
	l := p.view.lane
	if l.failing[probeOf(t)] {
		return true
	}
	if usable {
		return false
	}
	if _, registered := l.registry.Toolset(t.Definition.Name); !registered {
		return true
	}
	return !slices.Contains(p.view.session.Assembler.Names(p.view.session.Request), t.Definition.Name)
}
