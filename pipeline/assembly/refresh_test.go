package assembly_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// TestRefresh: a session that is assembled again sees what has changed, within
// what it was given.
func TestRefresh(t *testing.T) {
	s := newStage(t)
	s.define(t, "mcp-docs", "get_document", "", ``)
	s.guarded(t, "guarded", "docker")
	s.probe("docker").up = false
	a := s.assembler(t, nil)
	r := request("mcp-docs", "mcp-late", "mcp-unwanted", "set")
	r.Disabled = []string{"mcp-unwanted"}
	see := func(want string) {
		t.Helper()
		if got := namesOf(a.Assemble(r).Usable); got != want {
			t.Errorf("usable %q, want %q", got, want)
		}
	}
	see("get_document")
	s.define(t, "mcp-late", "late_tool", "", ``) // a server that connects late
	see("get_document late_tool")
	s.define(t, "mcp-unwanted", "unwanted_tool", "", ``) // disabled stays disabled
	see("get_document late_tool")
	s.probe("docker").up = true
	see("get_document late_tool") // the probe's verdict still stands
	s.clock.Advance(30 * time.Second)
	see("get_document guarded late_tool")
	if err := s.registry.Deregister("get_document", ""); err != nil {
		t.Fatal(err)
	}
	see("guarded late_tool")
}

// TestConcurrentRefreshes: four sessions refresh fifty times each while a
// server's tools come and go; each surface is one that fits some moment.
func TestConcurrentRefreshes(t *testing.T) {
	tools := registry.New(registry.Options{Clock: clock.Wall{}})
	register := func(toolset, name string) {
		d, err := registry.Define(name, "Does one of many things.", nil)
		if err != nil {
			t.Error(err)
			return
		}
		if err := tools.Register(registry.Registration{Toolset: toolset, Definition: d}); err != nil {
			t.Error(err)
		}
	}
	register("mcp-stable", "stable_tool")
	s := newStage(t)
	resolver := toolset.NewResolver(embedded(t).Toolsets, tools)

	var sessions, server sync.WaitGroup
	stop := make(chan struct{})
	server.Go(func() {
		for round := 0; ; round++ {
			select {
			case <-stop:
				return
			default:
			}
			name := fmt.Sprintf("flapping_%d", round%3)
			register("mcp-flapping", name)
			if err := tools.Deregister(name, ""); err != nil {
				t.Error(err)
			}
		}
	})
	for range 4 {
		// An assembler and its bridge belong to one goroutine.
		a := s.assembler(t, func(o *assembly.Options) {
			o.Registry, o.Resolver, o.Log = tools, resolver, nil
			o.Bridge = newBridge(t, resolver, tools)
		})
		sessions.Go(func() {
			for range 50 {
				checkRefresh(t, a.Assemble(request("mcp-stable", "mcp-flapping")))
			}
		})
	}
	sessions.Wait()
	close(stop)
	server.Wait()
}

func checkRefresh(t *testing.T, got *assembly.Assembled) {
	names := strings.Fields(namesOf(got.Usable))
	if len(names) < 1 || len(names) > 2 || names[len(names)-1] != "stable_tool" {
		t.Errorf("usable %q", names)
		return
	}
	if !got.Activated {
		t.Errorf("no bridge over %q", names)
		return
	}
	for _, tool := range got.Deferred {
		if !strings.Contains(got.Listing.Text, "- "+tool.Name) {
			t.Errorf("%s is deferred but not listed:\n%s", tool.Name, got.Listing.Text)
		}
	}
	if form := got.Listing.Form; form != bridge.FormFull {
		t.Errorf("form %s", form)
	}
}
