package registry_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// TestWritersDoNotWaitForProbes: a probe that hangs holds up its reader only.
func TestWritersDoNotWaitForProbes(t *testing.T) {
	r := registry.New(registry.Options{})
	entered, release := make(chan struct{}), make(chan struct{})
	slow := tool(t, "web", "web_search")
	slow.Check = &registry.Check{Name: "slow", Probe: func() (bool, error) {
		close(entered)
		<-release
		return true, nil
	}}
	mustRegister(t, r, slow, tool(t, "web", "web_extract"))

	read := make(chan string)
	go func() { read <- usable(r) }()
	<-entered
	mustRegister(t, r, tool(t, "files", "read_file")) // would deadlock if the reader held the lock
	if err := r.Deregister("web_extract", ""); err != nil {
		t.Fatal(err)
	}
	close(release)
	if got := <-read; got != "web_extract web_search" {
		t.Errorf("the reader saw %q, want the tools of the moment when it began", got)
	}
	if got := usable(r); got != "read_file web_search" {
		t.Errorf("usable %q after the writes", got)
	}
}

// TestSnapshotsAreCoherent: while two writers move the tools of a toolset in
// and out as one would at a server's reconnect, every answer a reader gets is
// one that the registry once was in.
func TestSnapshotsAreCoherent(t *testing.T) {
	r := registry.New(registry.Options{})
	check := &registry.Check{Name: "up", Probe: func() (bool, error) { return true, nil }}
	toolAt := func(i int) registry.Registration {
		reg := tool(t, "mcp-flapping", fmt.Sprintf("tool_%02d", i))
		reg.Check = check
		return reg
	}
	mustRegister(t, r, tool(t, "stable", "stable_tool"))
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for w := range 2 {
		writers.Go(func() {
			for round := range 200 {
				i := w*8 + round%8
				if err := r.Register(toolAt(i)); err != nil {
					t.Error(err)
				}
				r.RegisterAlias("flapping", "mcp-flapping")
				if err := r.Deregister(fmt.Sprintf("tool_%02d", i), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for last := uint64(0); ; {
				select {
				case <-done:
					return
				default:
				}
				checkSnapshot(t, r)
				if g := r.Generation(); g < last {
					t.Errorf("the generation went from %d to %d", last, g)
				} else {
					last = g
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if got := r.Names(); len(got) != 1 || got[0] != "stable_tool" {
		t.Errorf("left over: %q", got)
	}
	if want := uint64(1 + 2*200*3); r.Generation() != want {
		t.Errorf("generation %d, want %d", r.Generation(), want)
	}
}

func checkSnapshot(t *testing.T, r *registry.Registry) {
	all := r.Names()
	if !slices.IsSorted(all) || !slices.Contains(all, "stable_tool") {
		t.Errorf("names %q", all)
	}
	if in := r.ToolsIn("mcp-flapping"); !slices.IsSorted(in) || len(in) > 2 {
		t.Errorf("%q in the toolset, want two at most, sorted", in)
	}
	for _, d := range r.Definitions(all).Definitions {
		if d == nil || d.JSON == "" {
			t.Error("a half-made definition")
		}
	}
	r.ToolsetAvailable("mcp-flapping")
	r.RequiredEnv()
	r.InvalidateProbes()
}
