package gate_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports/gate"
)

func TestParseRules(t *testing.T) {
	rules, err := gate.ParseRules("gate.yaml", []byte(`schema_version: 1
rules:
  - measure: lost_rate
    arm: [a, b]
    class: obvious
    ceiling: 0.5
    largest_drop: 2%
    alpha: 0.05
    smallest_population: 30
    waiver: {reason: known, issue: "#7", expires: 2026-12-31}
  - name: paths
    measure: path_searched
    arm: "*"
    better: lower
    largest_drop: 0.1
`))
	if err != nil {
		t.Fatal(err)
	}
	first, second := rules[0], rules[1]
	if first.Name != "lost_rate obvious" || first.Line != 3 || fmt.Sprint(first.Arms) != "[a b]" || *first.Ceiling != .5 || first.Floor != nil ||
		*first.LargestDrop != (gate.Drop{Value: 2, Percent: true}) || first.Alpha != .05 || first.SmallestPopulation != 30 ||
		first.Waiver.Expires.String() != "2026-12-31" || first.Waiver.Issue != "#7" || first.Better != metrics.Lower {
		t.Errorf("first: %+v", first)
	}
	if second.Name != "paths" || second.Arms[0] != gate.AllArms || second.Better != metrics.Lower || second.SmallestPopulation != 1 || second.Waiver != nil ||
		*second.LargestDrop != (gate.Drop{Value: .1}) {
		t.Errorf("second: %+v", second)
	}
}

func TestRulesRefused(t *testing.T) {
	rule := func(fields string) string { return "schema_version: 1\nrules:\n  - " + fields + "\n" }
	for _, c := range []struct{ text, said string }{
		{"", "gate.yaml: not one YAML document"},
		{"rules: [", "gate.yaml:2: invalid YAML: "},
		{"- a", "gate.yaml:1: not a mapping of fields"},
		{"rules: []", "gate.yaml:1: not of schema_version 1"},
		{"schema_version: 2\nrules: []", "gate.yaml:1: not of schema_version 1"},
		{"schema_version: 1\nrules: []", "gate.yaml:1: not a list of 1 to 1000 rules"},
		{"schema_version: 1\nruls: []", "gate.yaml:2: unknown field \"ruls\"\nhint: did you mean \"rules\"?"},
		{rule("a"), "gate.yaml:3: not a mapping of fields"},
		{rule("{measure: lost_rate, arm: a}"), "rule \"lost_rate\" demands nothing"},
		{rule("{measure: lost_rate, flor: 1, arm: a}"), "gate.yaml:3: unknown field \"flor\"\nhint: did you mean \"floor\"?"},
		{rule("{measure: lost_rate, arm: a, arm: b}"), "gate.yaml:3: field \"arm\" is there twice"},
		{rule("{arm: a, floor: 1}"), "a rule without measure"},
		{rule("{measure: lost_rate, floor: 1}"), "a rule without arm"},
		{rule("{measure: lostrate, arm: a, floor: 1}"), "unknown measure \"lostrate\"\nhint: did you mean \"lost_rate\"?"},
		{rule("{measure: lost_rate, arm: [], floor: 1}"), "arm: no arm"},
		{rule("{measure: lost_rate, arm: [a, a], floor: 1}"), "arm: \"a\" is named twice"},
		{rule("{measure: lost_rate, arm: [a, '*'], floor: 1}"), "arm: \"*\" beside names"},
		{rule("{measure: lost_rate, arm: {a: b}, floor: 1}"), "arm: not a text"},
		{rule("{measure: lost_rate, arm: a, class: [x], floor: 1}"), "class: not a text"},
		{rule("{measure: lost_rate, arm: a, better: down, floor: 1}"), "better: \"down\" is no direction"},
		{rule("{measure: lost_rate, arm: a, better: higher, floor: 1}"), "better: higher, but of lost_rate lower is better"},
		{rule("{measure: path_direct, arm: a, largest_drop: 1}"), "path_direct is neither better lower nor higher"},
		{rule("{measure: lost_rate, arm: a, floor: '0.1'}"), "floor: \"0.1\" is not a number"},
		{rule("{measure: lost_rate, arm: a, ceiling: 5}"), "ceiling: 5 is outside the range of lost_rate\nhint: give a number in 0..1 (unit: share)"},
		{rule("{measure: lost_rate, arm: a, ceiling: .nan}"), "ceiling: \".nan\" is not a number"},
		{rule("{measure: lost_rate, arm: a, ceiling: .1, floor: .2}"), "the floor is above the ceiling"},
		{rule("{measure: lost_rate, arm: a, largest_drop: -1}"), "largest_drop: -1 is below 0"},
		{rule("{measure: lost_rate, arm: a, largest_drop: NaN%}"), "largest_drop: \"NaN%\" is no percentage"},
		{rule("{measure: lost_rate, arm: a, largest_drop: much%}"), "largest_drop: \"much%\" is no percentage"},
		{rule("{measure: lost_rate, arm: a, largest_drop: [1]}"), "largest_drop: \"\" is not a number"},
		{rule("{measure: lost_rate, arm: a, floor: 0, alpha: .05}"), "alpha without largest_drop"},
		{rule("{measure: lost_rate, arm: a, largest_drop: 0, alpha: 5}"), "alpha: 5 is no level of a test"},
		{rule("{measure: break_even_turns, arm: a, largest_drop: 0, alpha: .05}"), "break_even_turns is one figure of the whole run"},
		{rule("{measure: lost_rate, arm: a, floor: 0, smallest_population: 0}"), "smallest_population: \"0\" is not the size"},
		{rule("{measure: lost_rate, arm: a, floor: 0, smallest_population: many}"), "smallest_population: \"many\" is not the size"},
		{rule("{measure: lost_rate, arm: a, floor: 0, smallest_population: ~}"), "smallest_population: \"~\" is not the size"},
		{rule("{measure: lost_rate, arm: a, floor: 0, smallest_population: }"), "smallest_population: \"\" is not the size"},
		{rule("&r {measure: lost_rate, arm: a, floor: 0}\n  - *r"), "gate.yaml:4: *r is an alias\nhint: write the value out"},
		{rule("{measure: lost_rate, arm: a, floor: &x 0, ceiling: *x}"), "gate.yaml:3: *x is an alias"},
		{rule("{name: \xe9, measure: lost_rate, arm: a, floor: 0}"), "gate.yaml: invalid YAML: "},
		{rule("{name: \"a\x00b\", measure: lost_rate, arm: a, floor: 0}"), "gate.yaml: invalid YAML: "},
		{rule("{measure: lost_rate, arm: a, floor: 0}\n---\nschema_version: 1"), "gate.yaml: not one YAML document"},
		{rule("{measure: lost_rate, arm: a, floor: 0, waiver: later}"), "not a mapping of fields"},
		{rule("{measure: lost_rate, arm: a, floor: 0, waiver: {reason: x, issue: y}}"), "a waiver without expires"},
		{rule("{measure: lost_rate, arm: a, floor: 0, waiver: {reason: x, issue: y, expires: 31.12.2026}}"), "expires: \"31.12.2026\" is no day"},
		{rule("{measure: lost_rate, arm: a, floor: 0}\n  - {measure: lost_rate, arm: b, floor: 0}"), "gate.yaml:4: the rule of line 3 is called \"lost_rate\" too"},
	} {
		_, err := gate.ParseRules("gate.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.said) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%s\nerror %v\nwant one with %q", c.text, err, c.said)
		}
	}
}

// FuzzParseRules: any text gives rules or an error with a hint, and rules that were taken demand something.
func FuzzParseRules(f *testing.F) {
	text, err := os.ReadFile("../../examples/gate.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("schema_version: 1\nrules:\n  - {measure: lost_rate, arm: [a], largest_drop: 1%, waiver: {reason: x, issue: y, expires: 2026-12-31}}\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, err := gate.ParseRules("gate.yaml", text)
		if err != nil {
			if !strings.Contains(err.Error(), "\nhint: ") {
				t.Errorf("no hint: %v", err)
			}
			return
		}
		for _, r := range rules {
			if len(r.Arms) == 0 || r.Measure.Name == "" || r.Floor == nil && r.Ceiling == nil && r.LargestDrop == nil {
				t.Errorf("%+v demands nothing", r)
			}
		}
	})
}
