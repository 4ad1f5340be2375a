package registry_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func exchanged(t *testing.T, toolset, name string) registry.Registration {
	t.Helper()
	d, err := registry.Define(name, "Does "+name+".", json.RawMessage(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	return registry.Registration{Toolset: toolset, Definition: d}
}

func TestExchangeIsAllOrNothing(t *testing.T) {
	r := registry.New(registry.Options{})
	for _, reg := range []registry.Registration{exchanged(t, "ours", "a"), exchanged(t, "ours", "b"), exchanged(t, "theirs", "c")} {
		if err := r.Register(reg); err != nil {
			t.Fatal(err)
		}
	}
	before := r.Generation()
	if err := r.Exchange([]string{"a"}, []registry.Registration{exchanged(t, "ours", "d"), exchanged(t, "ours", "c")}); err == nil {
		t.Error("a name of another toolset was taken")
	}
	if err := r.Exchange(nil, []registry.Registration{{Toolset: "ours"}}); err == nil {
		t.Error("a registration without a definition was taken")
	}
	if got := r.Names(); r.Generation() != before || !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("a refused exchange left %v", got)
	}
	if err := r.Exchange([]string{"a", "unknown"}, []registry.Registration{exchanged(t, "ours", "b"), exchanged(t, "ours", "d")}); err != nil {
		t.Fatal(err)
	}
	if got := r.ToolsIn("ours"); !slices.Equal(got, []string{"b", "d"}) || !slices.Equal(r.Names(), []string{"b", "c", "d"}) {
		t.Errorf("the toolset holds %v, the registry %v", got, r.Names())
	}
	if err := r.Exchange([]string{"b", "d"}, nil); err != nil || slices.Contains(r.Toolsets(), "ours") {
		t.Errorf("the empty toolset stays: %v %v", r.Toolsets(), err)
	}
}
