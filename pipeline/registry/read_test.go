package registry_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

func TestDefinitions(t *testing.T) {
	down := &registry.Check{Name: "down", Probe: func() (bool, error) { return false, nil }}
	b := newBench()
	broken := tool(t, "web", "web_extract")
	broken.Check = down
	mustRegister(t, b.Registry, tool(t, "web", "web_search"), broken, tool(t, "files", "read_file"))
	for _, row := range []struct {
		name string
		ask  []string
		want string
	}{
		{"sorted by name", []string{"web_search", "read_file"}, "read_file web_search"},
		{"unknown names are skipped", []string{"nobody", "read_file", ""}, "read_file"},
		{"asked twice, listed once", []string{"read_file", "read_file"}, "read_file"},
		{"a failing probe hides its tool", []string{"web_extract", "web_search"}, "web_search"},
		{"nothing asked", nil, ""},
	} {
		ask := append([]string(nil), row.ask...)
		if got := names(b.Definitions(ask).Definitions); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if strings.Join(ask, " ") != strings.Join(row.ask, " ") {
			t.Errorf("%s: the caller's list was changed to %q", row.name, ask)
		}
	}
}

// TestDefinitionsHaveTheAPIShape: what a model request carries.
func TestDefinitionsHaveTheAPIShape(t *testing.T) {
	r := registry.New(registry.Options{})
	for _, name := range []string{"beta", "alpha"} {
		d, err := registry.Define(name, "Says <"+name+">.", json.RawMessage(`{"type": "object", "properties": {"q": {}}}`))
		if err != nil {
			t.Fatal(err)
		}
		mustRegister(t, r, registry.Registration{Toolset: "set", Definition: d})
	}
	got := r.Definitions(r.Names()).Definitions
	for i, want := range []string{
		`{"type":"function","function":{"name":"alpha","description":"Says <alpha>.","parameters":{"type":"object","properties":{"q":{}}}}}`,
		`{"type":"function","function":{"name":"beta","description":"Says <beta>.","parameters":{"type":"object","properties":{"q":{}}}}}`,
	} {
		if got[i].JSON != want {
			t.Errorf("definition %d is %s, want %s", i, got[i].JSON, want)
		}
	}
}

func TestOverrides(t *testing.T) {
	for _, row := range []struct {
		name      string
		overrides func() ([]rawjson.Field, error)
		want      string
		warned    bool
	}{
		{
			"fields replace where they stand, new ones follow",
			func() ([]rawjson.Field, error) {
				return []rawjson.Field{{Key: "description", Value: rawjson.String("New.")}, {Key: "strict", Value: json.RawMessage("true")}}, nil
			},
			`{"name":"delegate","description":"New.","parameters":{"type":"object","properties":{}},"strict":true}`, false,
		},
		{
			"even the name",
			func() ([]rawjson.Field, error) {
				return []rawjson.Field{{Key: "name", Value: rawjson.String("delegate_now")}}, nil
			},
			`{"name":"delegate_now","description":"Does what delegate says.","parameters":{"type":"object","properties":{}}}`, false,
		},
		{"none", func() ([]rawjson.Field, error) { return nil, nil }, "", false},
		{"an error keeps the definition", func() ([]rawjson.Field, error) { return nil, errors.New("no limits known") }, "", true},
		{"a panic too", func() ([]rawjson.Field, error) { panic("boom") }, "", true},
		{
			"and fields that make no definition",
			func() ([]rawjson.Field, error) {
				return []rawjson.Field{{Key: "parameters", Value: json.RawMessage("[]")}}, nil
			}, "", true,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench()
			reg := tool(t, "delegation", "delegate")
			reg.Overrides = row.overrides
			mustRegister(t, b.Registry, reg, tool(t, "delegation", "zeta"))
			reading := b.Definitions([]string{"zeta", "delegate"})
			d := reading.Definitions[0]
			if row.want == "" {
				if d != reg.Definition || len(reading.Overridden) != 0 {
					t.Errorf("the definition does not stand: %s, overridden %v", d.JSON, reading.Overridden)
				}
			} else if want := `{"type":"function","function":` + row.want + `}`; d.JSON != want {
				t.Errorf("got  %s\nwant %s", d.JSON, want)
			} else if len(reading.Overridden) != 1 || reading.Overridden[0] != 0 {
				t.Errorf("overridden %v, want position 0", reading.Overridden)
			}
			if b.logged("WARN", "delegate") != row.warned {
				t.Errorf("warned is not %t", row.warned)
			}
		})
	}
}

// TestOverridesAreReadEachTime: a limit that changes shows at the next read.
func TestOverridesAreReadEachTime(t *testing.T) {
	r := registry.New(registry.Options{})
	reads := 0
	reg := tool(t, "delegation", "delegate")
	reg.Overrides = func() ([]rawjson.Field, error) {
		reads++
		return []rawjson.Field{{Key: "description", Value: rawjson.String(strings.Repeat("x", reads))}}, nil
	}
	mustRegister(t, r, reg)
	for want := 1; want <= 2; want++ {
		if got := len(r.Definitions([]string{"delegate"}).Definitions[0].Description); got != want {
			t.Errorf("description of %d characters, want %d", got, want)
		}
	}
}
