package registry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// definition makes a definition with an object schema of the given properties.
func definition(t testing.TB, name string, properties ...string) *registry.Definition {
	t.Helper()
	schema := `{"type":"object","properties":{`
	for i, p := range properties {
		if i > 0 {
			schema += ","
		}
		schema += `"` + p + `":{"type":"string"}`
	}
	d, err := registry.Define(name, "Does what "+name+" says.", json.RawMessage(schema+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// tool is a registration that answers every call with its own name.
func tool(t testing.TB, toolset, name string) registry.Registration {
	t.Helper()
	return registry.Registration{
		Toolset:    toolset,
		Definition: definition(t, name),
		Handler:    func(context.Context, json.RawMessage) (any, error) { return name, nil },
	}
}

func mustRegister(t testing.TB, r *registry.Registry, tools ...registry.Registration) {
	t.Helper()
	for _, reg := range tools {
		if err := r.Register(reg); err != nil {
			t.Fatal(err)
		}
	}
}

func names(definitions []*registry.Definition) string {
	list := make([]string, len(definitions))
	for i, d := range definitions {
		list[i] = d.Name
	}
	return strings.Join(list, " ")
}

// usable lists what a registry offers of all its tools now.
func usable(r *registry.Registry) string { return names(r.Definitions(r.Names()).Definitions) }

// script is a probe that answers from a list, its last answer for ever, and
// counts how often it was asked.
type script struct {
	answers []bool
	asked   int
}

func (s *script) probe() (bool, error) {
	s.asked++
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return answer, nil
}

// bench is a registry under a clock that the test moves, with its log.
type bench struct {
	*registry.Registry
	clock *clock.Virtual
	log   *bytes.Buffer
}

func newBench(permitted ...string) *bench {
	b := &bench{clock: &clock.Virtual{}, log: &bytes.Buffer{}}
	allow := make(map[string]bool)
	for _, plugin := range permitted {
		allow[plugin] = true
	}
	b.Registry = registry.New(registry.Options{
		Clock: b.clock, AllowToolOverride: allow, Log: slog.New(slog.NewTextHandler(b.log, nil)),
	})
	return b
}

// logged tells whether a line of that level mentions all words, and forgets the
// log so far.
func (b *bench) logged(level string, words ...string) bool {
	defer b.log.Reset()
lines:
	for line := range strings.Lines(b.log.String()) {
		if !strings.Contains(line, "level="+level) {
			continue
		}
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue lines
			}
		}
		return true
	}
	return false
}
