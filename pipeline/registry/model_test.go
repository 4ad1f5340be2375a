package registry_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// TestAgainstAModel drives the registry with random registrations, removals and
// aliases, and holds it against the rules written down over plain maps.
func TestAgainstAModel(t *testing.T) {
	type held struct {
		toolset string
		owner   registry.Owner
	}
	pick := func(t *rapid.T, what string, from ...string) string { return rapid.SampledFrom(from).Draw(t, what) }
	rapid.Check(t, func(rt *rapid.T) {
		allowed := rapid.Bool().Draw(rt, "allowed")
		r := registry.New(registry.Options{AllowToolOverride: map[string]bool{"p": allowed}})
		model, aliases, generation := map[string]held{}, map[string]string{}, uint64(0)

		register := func(rt *rapid.T) {
			name, set := pick(rt, "name", "a", "b", "c"), pick(rt, "set", "s1", "s2", "mcp-m")
			owner, override := registry.Owner(pick(rt, "owner", "", "p", "p.x", "q")), rapid.Bool().Draw(rt, "override")
			reg := tool(t, set, name)
			reg.Owner, reg.Override = owner, override
			old, taken := model[name]
			root, _, _ := strings.Cut(string(owner), ".")
			ok := !taken || old.toolset == set || override && (owner == "" || root == "p" && allowed)
			if err := r.Register(reg); (err == nil) != ok {
				rt.Fatalf("Register(%s in %s by %q, override %t) = %v over %+v", name, set, owner, override, err, old)
			}
			if ok {
				model[name] = held{set, owner}
				generation++
			}
		}
		remove := func(rt *rapid.T) {
			name, caller := pick(rt, "name", "a", "b", "c"), registry.Owner(pick(rt, "caller", "", "p", "p.y", "q"))
			old, there := model[name]
			callerRoot, _, _ := strings.Cut(string(caller), ".")
			ownerRoot, _, _ := strings.Cut(string(old.owner), ".")
			ok := !there || caller == "" || strings.HasPrefix(old.toolset, "mcp-") || callerRoot == ownerRoot || callerRoot == "p" && allowed
			if err := r.Deregister(name, caller); (err == nil) != ok {
				rt.Fatalf("Deregister(%s by %q) = %v over %+v", name, caller, err, old)
			}
			if !there || !ok {
				return
			}
			delete(model, name)
			generation++
			if !slices.ContainsFunc(slices.Collect(maps.Values(model)), func(h held) bool { return h.toolset == old.toolset }) {
				maps.DeleteFunc(aliases, func(_, target string) bool { return target == old.toolset })
			}
		}
		alias := func(rt *rapid.T) {
			name, set := pick(rt, "alias", "x", "y"), pick(rt, "set", "s1", "s2", "mcp-m")
			r.RegisterAlias(name, set)
			aliases[name] = set
			generation++
		}
		check := func(rt *rapid.T) {
			if got, want := r.Names(), slices.Sorted(maps.Keys(model)); !slices.Equal(got, want) {
				rt.Fatalf("names %q, want %q", got, want)
			}
			if r.Generation() != generation {
				rt.Fatalf("generation %d, want %d", r.Generation(), generation)
			}
			members := map[string][]string{}
			for _, name := range slices.Sorted(maps.Keys(model)) {
				members[model[name].toolset] = append(members[model[name].toolset], name)
			}
			if got, want := r.Toolsets(), slices.Sorted(maps.Keys(members)); !slices.Equal(got, want) {
				rt.Fatalf("toolsets %q, want %q", got, want)
			}
			for _, set := range []string{"s1", "s2", "mcp-m"} {
				if got := r.ToolsIn(set); !slices.Equal(got, members[set]) {
					rt.Fatalf("%s holds %q, want %q", set, got, members[set])
				}
			}
			for _, a := range []string{"x", "y"} {
				got, ok := r.Alias(a)
				want, known := aliases[a]
				if got != want || ok != known {
					rt.Fatalf("alias %s is %q, %t; want %q, %t", a, got, ok, want, known)
				}
			}
		}
		rt.Repeat(map[string]func(*rapid.T){"register": register, "remove": remove, "alias": alias, "": check})
	})
}
