package assembly_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// benchAssembler registers the built-in tools and enough of the corpus's server
// tools to reach n definitions.
func benchAssembler(b *testing.B, n int, memo assembly.MemoMode) (*assembly.Assembler, *bridge.Memo, assembly.Request) {
	b.Helper()
	c, err := corpus.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	reg := registry.New(registry.Options{})
	handler := registry.Handler(nil)
	register := func(ts string, d *registry.Definition) {
		if err := reg.Register(registry.Registration{Toolset: ts, Definition: d, Handler: handler}); err != nil {
			b.Fatal(err)
		}
	}
	for _, t := range c.Tools[:min(n, len(c.Tools))] {
		register(t.Toolset, t.Definition)
	}
	for i := len(c.Tools); i < n; i++ {
		d, err := registry.Define(fmt.Sprintf("mcp__extra__tool_%03d", i), "Does one more thing. In detail.", json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`))
		if err != nil {
			b.Fatal(err)
		}
		register("mcp-extra", d)
	}
	retriever, err := search.New("bm25")
	if err != nil {
		b.Fatal(err)
	}
	known := bridge.NewMemo()
	a := assembly.New(assembly.Options{
		Registry: reg, Resolver: toolset.NewResolver(c.Toolsets, reg), Rewrites: c.Rewrites(), Memo: memo,
		Bridge: bridge.New(bridge.Options{Core: c.Toolsets.IsCore, Catalog: reg, Retriever: retriever, Memo: known}),
	})
	return a, known, assembly.Request{Config: bridge.DefaultConfig(), ContextLength: 1_000_000}
}

// BenchmarkAssemble assembles 300 tools with per-tool work memoised, nothing kept
// of the whole set, and the outer memo off: resolve, read, rewrite, classify, group,
// list, define.
func BenchmarkAssemble(b *testing.B) {
	a, known, r := benchAssembler(b, 300, assembly.MemoOff)
	if n := len(a.Assemble(r).Usable); n != 300 {
		b.Fatalf("%d usable tools, want 300", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		known.Forget()
		a.Assemble(r)
	}
}

// BenchmarkAssembleMemo is the same through the outer memo.
func BenchmarkAssembleMemo(b *testing.B) {
	a, _, r := benchAssembler(b, 300, assembly.MemoTTL)
	b.ReportAllocs()
	for b.Loop() {
		a.Assemble(r)
	}
}
