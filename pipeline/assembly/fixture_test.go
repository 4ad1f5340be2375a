package assembly_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

func embedded(t testing.TB) *corpus.Corpus {
	t.Helper()
	c, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stage is a whole pipeline over the built-in toolsets, on a clock that the
// test moves.
type stage struct {
	clock    *clock.Virtual
	registry *registry.Registry
	resolver *toolset.Resolver
	log      *bytes.Buffer
	calls    []string // what reached a handler: "NAME ARGUMENTS"
	probes   map[string]*probe
}

// probe is a switch with a counter.
type probe struct {
	check *registry.Check
	up    bool
	asked int
}

func newStage(t testing.TB) *stage {
	t.Helper()
	s := &stage{clock: &clock.Virtual{}, log: &bytes.Buffer{}, probes: make(map[string]*probe)}
	s.registry = registry.New(registry.Options{Clock: s.clock})
	s.resolver = toolset.NewResolver(embedded(t).Toolsets, s.registry)
	return s
}

// builtins registers the built-in tools, all of them usable.
func (s *stage) builtins(t testing.TB) *stage {
	t.Helper()
	for _, tool := range embedded(t).Tools {
		if tool.Builtin {
			s.register(t, registry.Registration{Toolset: tool.Toolset, Definition: tool.Definition})
		}
	}
	return s
}

// probe returns the switch of that name, made on first use: up.
func (s *stage) probe(name string) *probe {
	p := s.probes[name]
	if p == nil {
		p = &probe{up: true}
		p.check = &registry.Check{Name: name, Probe: func() (bool, error) {
			p.asked++
			return p.up, nil
		}}
		s.probes[name] = p
	}
	return p
}

// register adds a tool with a handler that notes the call and says "NAME ran".
func (s *stage) register(t testing.TB, reg registry.Registration) {
	t.Helper()
	if reg.Handler == nil {
		reg.Handler = s.handler(reg.Definition.Name)
	}
	if err := s.registry.Register(reg); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) handler(name string) registry.Handler {
	return func(_ context.Context, args json.RawMessage) (any, error) {
		s.calls = append(s.calls, name+" "+string(args))
		return name + " ran", nil
	}
}

// define registers a tool given by its schema's properties, as JSON.
func (s *stage) define(t testing.TB, toolset, name, description, properties string, required ...string) {
	t.Helper()
	list, err := json.Marshal(append([]string{}, required...))
	if err != nil {
		t.Fatal(err)
	}
	d, err := registry.Define(name, description, json.RawMessage(`{"type":"object","properties":{`+properties+`},"required":`+string(list)+`}`))
	if err != nil {
		t.Fatal(err)
	}
	s.register(t, registry.Registration{Toolset: toolset, Definition: d})
}

func newBridge(t testing.TB, r *toolset.Resolver, tools *registry.Registry) *bridge.Bridge {
	t.Helper()
	return newBridgeOf(t, bridge.July, r, tools)
}

// newBridgeOf makes a variant's bridge, with the settings that it has by itself.
func newBridgeOf(t testing.TB, variant bridge.Variant, r *toolset.Resolver, tools *registry.Registry) *bridge.Bridge {
	t.Helper()
	name := "bm25"
	if variant == bridge.September {
		name = "bm25-gated"
	}
	retriever, err := search.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return bridge.New(bridge.Options{
		Variant: variant, Defer: variant.DefaultConfig().DeferNames(r.Table().Defer()),
		Core: r.Table().IsCore, Catalog: tools, Retriever: retriever,
	})
}

// assembler makes an assembler; change may be nil.
func (s *stage) assembler(t testing.TB, change func(*assembly.Options)) *assembly.Assembler {
	t.Helper()
	o := assembly.Options{
		Registry: s.registry, Resolver: s.resolver, Log: slog.New(slog.NewTextHandler(s.log, nil)),
		Bridge: newBridge(t, s.resolver, s.registry),
	}
	if change != nil {
		change(&o)
	}
	return assembly.New(o)
}

func memoMode(m assembly.MemoMode) func(*assembly.Options) {
	return func(o *assembly.Options) { o.Memo = m }
}

// session makes a session over the stage for a request.
func (s *stage) session(t testing.TB, r assembly.Request) *assembly.Session {
	t.Helper()
	return &assembly.Session{ID: "session-1", Assembler: s.assembler(t, nil), Request: r, Dispatcher: s.registry}
}

// sessionOf makes a session whose bridge is of a variant.
func (s *stage) sessionOf(t testing.TB, variant bridge.Variant, r assembly.Request) *assembly.Session {
	t.Helper()
	r.Config = variant.DefaultConfig()
	a := s.assembler(t, func(o *assembly.Options) { o.Bridge = newBridgeOf(t, variant, s.resolver, s.registry) })
	return &assembly.Session{ID: "session-1", Assembler: a, Request: r, Dispatcher: s.registry}
}

func request(enabled ...string) assembly.Request {
	return assembly.Request{Enabled: enabled, Config: bridge.DefaultConfig(), ContextLength: 200_000}
}

// eager is a request without the bridge.
func eager(enabled ...string) assembly.Request {
	r := request(enabled...)
	r.Config.Enabled = bridge.Off
	return r
}

func namesOf(definitions []*registry.Definition) string {
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = d.Name
	}
	return strings.Join(names, " ")
}

// bytesOf is the tools array of a surface as a request carries it.
func bytesOf(s *assembly.Assembled) string {
	parts := make([]string, len(s.Definitions))
	for i, d := range s.Definitions {
		parts[i] = d.JSON
	}
	return "[" + strings.Join(parts, ",") + "]"
}
