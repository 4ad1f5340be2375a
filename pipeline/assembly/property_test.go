package assembly_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// surfacesOf fills a fresh registry with the tools in the order given and
// assembles at several budgets.
func surfacesOf(t testing.TB, tools []*corpus.Tool, configs []bridge.Config) []string {
	t.Helper()
	s := newStage(t)
	for _, tool := range tools {
		s.register(t, registry.Registration{Toolset: tool.Toolset, Definition: tool.Definition})
	}
	a := s.assembler(t, func(o *assembly.Options) { o.Rewrites = embedded(t).Rewrites() })
	var surfaces []string
	for _, c := range configs {
		surfaces = append(surfaces, bytesOf(a.Assemble(assembly.Request{Config: c, ContextLength: 200_000})))
	}
	return surfaces
}

// TestRegistrationOrderNeverShows: the surface is byte-identical whatever the
// order in which tools registered.
func TestRegistrationOrderNeverShows(t *testing.T) {
	tools := embedded(t).Tools
	var configs []bridge.Config
	for _, tokens := range []int{60_000, 2000, 1000, 200} {
		c := bridge.DefaultConfig()
		c.ThresholdPct, c.ListingMaxTokens = 100, tokens
		configs = append(configs, c)
	}
	want := surfacesOf(t, tools, configs)
	for i := 1; i < len(want); i++ {
		if want[i] == want[i-1] {
			t.Fatalf("budgets %d and %d give one surface: the test is weak", configs[i-1].ListingMaxTokens, configs[i].ListingMaxTokens)
		}
	}
	for seed := range uint64(5) {
		shuffled := append([]*corpus.Tool(nil), tools...)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for i, got := range surfacesOf(t, shuffled, configs) {
			if got != want[i] {
				t.Fatalf("seed %d, listing of %d tokens: another surface", seed, configs[i].ListingMaxTokens)
			}
		}
	}
}

// TestEverythingIsWithinReach: each tool of a session is on the surface or in
// the bridge's scope, never both and never neither; and its call arrives.
func TestEverythingIsWithinReach(t *testing.T) {
	for _, v := range bridge.Variants() {
		t.Run(string(v), func(t *testing.T) { everythingIsWithinReach(t, v) })
	}
}

func everythingIsWithinReach(t *testing.T, variant bridge.Variant) {
	all := embedded(t).Tools
	sources := append(embedded(t).SourceNames(), "web", "file", "spotify", "hermes-discord", "todo", "nobody")
	rapid.Check(t, func(rt *rapid.T) {
		s := newStage(t)
		for _, tool := range all {
			s.register(t, registry.Registration{Toolset: tool.Toolset, Definition: tool.Definition})
		}
		enabled := rapid.SliceOfNDistinct(rapid.SampledFrom(sources), 0, 6, rapid.ID).Draw(rt, "enabled")
		disabled := rapid.SliceOfNDistinct(rapid.SampledFrom(sources), 0, 2, rapid.ID).Draw(rt, "disabled")
		session := s.sessionOf(t, variant, assembly.Request{Enabled: enabled, Disabled: disabled, ContextLength: 8192})
		got := session.Assembler.Assemble(session.Request)
		visible := make(map[string]bool)
		for _, d := range got.Definitions {
			visible[d.Name] = true
		}
		scope := session.Scope()
		for _, d := range got.Usable {
			if visible[d.Name] == scope.Has(d.Name) {
				rt.Fatalf("%s: visible %t, in scope %t", d.Name, visible[d.Name], scope.Has(d.Name))
			}
		}
		if len(got.Usable) == 0 {
			return
		}
		d := rapid.SampledFrom(got.Usable).Draw(rt, "tool")
		given := variant.CallArguments(d.Name, json.RawMessage(`{}`))
		o := session.Call(t.Context(), assembly.ToolCall{Name: bridge.CallTool, Arguments: given})
		agentsOwn := d.Name == "todo" // September defers it, and only the agent can run it
		if ran := o.Tool == d.Name; ran != (scope.Has(d.Name) && len(d.Required) == 0 && !agentsOwn) {
			rt.Fatalf("%s: %s", given, o.Result.Text)
		}
	})
}
