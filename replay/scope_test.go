package replay

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/search"
	"github.com/toolgauge/toolgauge/sessions"
)

// allowed are the tools that a session may use at a moment, by id: those whose
// toolset or server is enabled and there. Whether a probe is known to fail is
// another matter.
type allowed struct {
	corpus   *corpus.Corpus
	toolsets map[string]bool
	servers  map[string]bool
	removed  map[string]bool
	failing  map[string]bool
}

func (w world) allowed(s *sessions.Session) *allowed {
	a := &allowed{w.corpus, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, name := range s.Toolsets {
		a.toolsets[name] = true
	}
	for _, name := range s.Servers {
		a.servers[name] = true
	}
	return a
}

func (a *allowed) happen(e sessions.Event) {
	switch e.Kind {
	case sessions.KindServerUp:
		a.servers[e.Server] = true
		maps.DeleteFunc(a.removed, func(id string, _ bool) bool {
			t, _ := a.corpus.Tool(id)
			return t.Toolset == e.Server
		})
	case sessions.KindServerDown:
		delete(a.servers, e.Server)
	case sessions.KindProbeFail, sessions.KindProbeOK:
		a.failing[e.Probe] = e.Kind == sessions.KindProbeFail
	case sessions.KindToolsChanged:
		for _, id := range e.Tools.Removed {
			a.removed[id] = true
		}
		for _, id := range e.Tools.Added {
			delete(a.removed, id)
		}
	case sessions.KindConfig:
		for _, name := range e.Config.Disable {
			delete(a.toolsets, name)
		}
		for _, name := range e.Config.Enable {
			a.toolsets[name] = true
		}
	}
}

func (a *allowed) has(id string) bool {
	t, ok := a.corpus.Tool(id)
	if !ok || a.removed[id] {
		return false
	}
	if !t.Builtin {
		return a.servers[t.Toolset]
	}
	if a.toolsets[t.Toolset] {
		return true
	}
	for name := range a.toolsets {
		if fixed, _ := a.corpus.Toolsets.Static(name); slices.Contains(fixed.Tools, t.Definition.Name) {
			return true
		}
	}
	return false
}

func anyArm(rt *rapid.T, name string, variant bridge.Variant) Arm {
	arm := NewArm(name, variant)
	arm.Tokenizer = "chars4"
	draw := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, name+" "+what) }
	arm.Agent = draw("agent", AgentAware, AgentHasty, AgentUnaware, AgentBlind)
	arm.Writer = draw("writer", WriterUtterance, WriterKeywords, WriterRecorded)
	arm.Memo = draw("memo", MemoTTL, MemoReference, MemoOff)
	arm.Retriever = draw("retriever", search.Names()...)
	arm.ToolSearch.Listing = bridge.Switch(draw("listing", "auto", "off"))
	arm.ToolSearch.ThresholdPct = rapid.SampledFrom([]float64{0, 0.3, 5}).Draw(rt, name+" threshold")
	arm.ToolSearch.Defer = bridge.DeferList(draw("defer", "", string(bridge.NewDeferList(nil)), string(bridge.NewDeferList([]string{"terminal", "todo"}))))
	return arm
}

// A tool outside the scope of the moment is never found, and never run, under any
// variant, agent, writer, memo and retriever.
func TestNothingOutOfScope(t *testing.T) {
	c, d := embeddedDrawer(t, sessions.Options{Seed: 5, ContextLengths: []int{16_000, 200_000}, TurnsMin: 3, TurnsMax: 6, EventShare: 1})
	w := world{c, d}
	rapid.Check(t, func(rt *rapid.T) {
		arm := anyArm(rt, "any", rapid.SampledFrom(bridge.Variants()).Draw(rt, "variant"))
		s, err := d.Draw(rapid.Int64Range(0, 400).Draw(rt, "session"))
		if err != nil {
			rt.Fatal(err)
		}
		p, err := NewPlayer(Options{Corpus: c, Arms: []Arm{arm}, Repeats: 1})
		if err != nil {
			rt.Fatal(err)
		}
		ran := recorded(p)
		now, turn, before := w.allowed(s), 0, 0
		for i, e := range s.Events {
			if e.Turn == nil {
				now.happen(e)
				continue
			}
			cut := *s
			cut.Events = s.Events[:i+1]
			*ran = nil
			o, err := p.Play(t.Context(), &cut)
			if err != nil {
				rt.Fatal(err)
			}
			for _, id := range (*ran)[before:] {
				if tool, _ := c.Tool(id); !now.has(id) || now.failing[probeOf(tool)] {
					rt.Fatalf("turn %d ran %s, which the session cannot use", turn, id)
				}
			}
			before = len(*ran)
			for _, call := range o.Calls {
				if call.Turn == turn && call.Path.Reached() && !now.has(call.Tool) {
					rt.Fatalf("%s, which the session cannot use", callLine(call))
				}
			}
			for _, query := range o.Searches {
				if query.Turn != turn {
					continue
				}
				for _, hit := range query.Hits {
					if !now.has(hit.Tool) {
						rt.Fatalf("turn %d: %q hits %s, which the session cannot use", turn, query.Query, hit.Tool)
					}
				}
			}
			turn++
		}
	})
}
