package gate_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/reports/gate"
	"github.com/toolgauge/toolgauge/reports/reportstest"
)

var today = time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC)

// runOf plays n sessions of which the first lost ones lose their tool.
func runOf(t testing.TB, n, lost, tokens int) *reports.Run {
	var sessions []metrics.Observations
	for i := range n {
		if i < lost {
			sessions = append(sessions, reportstest.Session(i, metrics.PathLost, 0, tokens))
		} else {
			sessions = append(sessions, reportstest.Session(i, metrics.PathSearched, 1, tokens))
		}
	}
	return reportstest.Write(t, reportstest.Manifest(n), sessions...)
}

func parse(t testing.TB, rule string) []gate.Rule {
	t.Helper()
	rules, err := gate.ParseRules("gate.yaml", []byte("schema_version: 1\nrules:\n  - "+rule+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// judge holds a run to one rule.
func judge(t testing.TB, run *reports.Run, b *gate.Baseline, rule string) *gate.Report {
	t.Helper()
	r, err := gate.Judge(t.Context(), gate.Options{RulesFile: "gate.yaml", Rules: parse(t, rule), Run: run, Baseline: b, Now: today})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestJudge(t *testing.T) {
	// 40 sessions of which 2 lose their tool before, 10 after; the surface grows from 500 to 520 tokens.
	before, after := runOf(t, 40, 2, 500), runOf(t, 40, 10, 520)
	run := &gate.Baseline{Path: "before", Summary: before.Summary, Run: before}
	summary := &gate.Baseline{Path: "before.json", Summary: before.Summary}
	for _, c := range []struct {
		name, rule string
		baseline   *gate.Baseline
		status     gate.Status
		said       string // among the reasons or notes
	}{
		{"ceiling holds", "{measure: lost_rate, arm: listing, ceiling: 0.25}", nil, gate.Passed, ""},
		{"ceiling broken", "{measure: lost_rate, arm: listing, ceiling: 0.2}", nil, gate.Failed, "0.2500 is above the ceiling 0.2000"},
		{"floor holds", "{measure: byte_identical, arm: '*', floor: 1}", nil, gate.Passed, ""},
		{"floor broken", "{measure: recall@1, arm: listing, floor: 0.9}", nil, gate.Failed, "0.7500 is below the floor 0.9000"},
		{"drop allowed", "{measure: lost_rate, arm: listing, largest_drop: 0.2}", run, gate.Passed, ""},
		{"drop too large", "{measure: lost_rate, arm: listing, largest_drop: 0.1}", run, gate.Failed, "worse by 0.2000 than the baseline's 0.0500, and 0.1000 is allowed"},
		// 8 of 40 pairs differ, all one way: 2/2^8.
		{"drop and test", "{measure: lost_rate, arm: listing, largest_drop: 0.1, alpha: 0.05}", run, gate.Failed, "adjusted p 0.008, below alpha 0.05"},
		{"drop, but by chance", "{measure: lost_rate, arm: listing, largest_drop: 0.1, alpha: 0.001}", run, gate.Passed, "but adjusted p 0.008 is not below alpha 0.001"},
		{"drop of a summary", "{measure: lost_rate, arm: listing, largest_drop: 0.1, alpha: 0.001}", summary, gate.Failed, "no test: the baseline is a summary"},
		{"a class", "{measure: lost_rate, arm: listing, class: obvious, largest_drop: 0.1}", run, gate.Failed, "worse by 0.2000"},
		{"percent", "{measure: surface_tokens, arm: listing, largest_drop: 4%}", run, gate.Passed, ""},
		{"percent too large", "{measure: surface_tokens, arm: listing, largest_drop: 3.9%}", run, gate.Failed, "worse by 20.0 than the baseline's 500.0, and 19.5 is allowed"},
		{"better higher", "{measure: saved_tokens, arm: listing, largest_drop: 10}", run, gate.Failed, "worse by 20.0 than the baseline's 500.0"},
		{"a direction given", "{measure: path_searched, arm: listing, better: higher, largest_drop: 0}", run, gate.Failed, "worse by 0.2000 than the baseline's 0.9500"},
		{"pairs only", "{measure: extra_requests, arm: listing, largest_drop: 0}", run, gate.Passed, "the drop is over 30 pairs; 8 more are in the baseline alone and 0 in the run alone"},
		{"no such arm", "{measure: lost_rate, arm: lsting, ceiling: 1}", nil, gate.Failed, `matches nothing: the run has no arm "lsting"`},
		{"no such class", "{measure: lost_rate, arm: listing, class: obvoius, ceiling: 1}", nil, gate.Failed, `matches nothing: the run has no figure of class "obvoius" under listing`},
		{"empty population", "{measure: no_match_accuracy, arm: listing, floor: 0}", nil, gate.Failed, "empty population: the run has no absent intents under listing"},
		{"small population", "{measure: lost_rate, arm: listing, ceiling: 1, smallest_population: 41}", nil, gate.Failed, "population of 40 (golds within reach), and the rule asks for 41"},
		{"break-even holds", "{measure: break_even_turns, arm: listing, ceiling: 1, largest_drop: 0}", run, gate.Passed, ""},
		{"waived", "{measure: lost_rate, arm: listing, ceiling: 0.2, waiver: {reason: r, issue: i, expires: 2026-11-30}}", nil, gate.Waived, "above the ceiling"},
		{"waiver expired", "{measure: lost_rate, arm: listing, ceiling: 0.2, waiver: {reason: r, issue: i, expires: 2026-11-29}}", nil, gate.Failed, "the waiver expired on 2026-11-29 (i, r)"},
		{"expired and not needed", "{measure: lost_rate, arm: listing, ceiling: 1, waiver: {reason: r, issue: i, expires: 2026-11-29}}", nil, gate.Failed, "the waiver expired"},
		{"waiver not needed", "{measure: lost_rate, arm: listing, ceiling: 1, waiver: {reason: r, issue: i, expires: 2026-12-01}}", nil, gate.Passed, "passes without its waiver"},
		{"nothing is waived unmeasured", "{measure: lost_rate, arm: x, ceiling: 1, waiver: {reason: r, issue: i, expires: 2026-12-01}}", nil, gate.Failed, "matches nothing"},
	} {
		r := judge(t, after, c.baseline, c.rule)
		check := r.Checks[0]
		said := strings.Join(append(check.Reasons, check.Notes...), "\n")
		if check.Status != c.status || !strings.Contains(said, c.said) || (c.status == gate.Passed) != (len(check.Reasons) == 0) {
			t.Errorf("%s: %s, says %q; want %s and %q", c.name, check.Status, said, c.status, c.said)
		}
		if (r.Status == gate.Failed) != (c.status == gate.Failed) {
			t.Errorf("%s: the report %s", c.name, r.Status)
		}
	}
}

// TestHolmOverAllChecks: three tests of p 2/2^8 each, so every adjusted p is three times that.
func TestHolmOverAllChecks(t *testing.T) {
	before, after := runOf(t, 40, 2, 500), runOf(t, 40, 10, 500)
	rules, err := gate.ParseRules("gate.yaml", []byte(`schema_version: 1
rules:
  - {measure: lost_rate, arm: listing, largest_drop: 0, alpha: 0.02}
  - {measure: recall@1, arm: listing, largest_drop: 0, alpha: 0.05}
  - {measure: mrr, arm: listing, largest_drop: 0, alpha: 0.05}
  - {measure: ndcg@1, arm: listing, largest_drop: 0}
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gate.Judge(t.Context(), gate.Options{Rules: rules, Run: after, Baseline: &gate.Baseline{Summary: before.Summary, Run: before}, Now: today})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []gate.Status{gate.Passed, gate.Failed, gate.Failed, gate.Failed} {
		c := r.Checks[i]
		if c.Status != want || *c.P != 2./256 || (i < 3) != (c.PHolm != nil) || c.PHolm != nil && *c.PHolm != 6./256 {
			t.Errorf("%s: %s, p %v, adjusted %v", c.Rule, c.Status, *c.P, c.PHolm)
		}
	}
}

// TestLostBreakEven: an arm that pays from turn 1 on, and one that never does.
func TestLostBreakEven(t *testing.T) {
	before, after := runOf(t, 40, 0, 500), runOf(t, 40, 0, 1200)
	b := &gate.Baseline{Path: "b", Summary: before.Summary, Run: before}
	r := judge(t, after, b, "{measure: break_even_turns, arm: listing, ceiling: 3, largest_drop: 5}")
	if c := r.Checks[0]; c.Status != gate.Failed || c.Value != nil || strings.Join(c.Reasons, "; ") != "none is above the ceiling 3; there is none any more, and the baseline has one at 1" {
		t.Errorf("%+v", c)
	}
	r = judge(t, before, &gate.Baseline{Path: "a", Summary: after.Summary, Run: after}, "{measure: break_even_turns, arm: listing, largest_drop: 5%}")
	if c := r.Checks[0]; c.Status != gate.Passed {
		t.Errorf("found again: %+v", c)
	}
}

// TestNoBreakEvenOnEitherSide: a percentage of a break-even that there is none of is not a number, and JSON cannot hold it.
func TestNoBreakEvenOnEitherSide(t *testing.T) {
	none, some := runOf(t, 4, 0, 1200), runOf(t, 4, 0, 500)
	b := &gate.Baseline{Path: "b", Summary: none.Summary, Run: none}
	for _, drop := range []string{"0%", "0", "5%", "5"} {
		for _, run := range []*reports.Run{none, some} {
			r := judge(t, run, b, "{measure: break_even_turns, arm: listing, largest_drop: "+drop+"}")
			if _, err := json.Marshal(r); err != nil || r.Status != gate.Passed {
				t.Errorf("%s: %s, %v", drop, r.Status, err)
			}
		}
	}
}

func TestArmsThatCameAndWent(t *testing.T) {
	before := runOf(t, 3, 0, 500)
	var sessions []metrics.Observations
	for i := range 3 {
		o := reportstest.Session(i, metrics.PathSearched, 1, 500)
		o.Arms, o.Calls, o.Searches = o.Arms[:1], o.Calls[:1], nil
		sessions = append(sessions, o)
	}
	after := reportstest.Write(t, reportstest.Manifest(3), sessions...)
	r := judge(t, after, &gate.Baseline{Path: "b", Summary: before.Summary, Run: before}, "{measure: surface_tokens, arm: '*', largest_drop: 0}")
	if r.Passed != 1 || r.Failed != 1 || !strings.Contains(r.Checks[1].Reasons[0], `the run has no arm "listing"`) {
		t.Errorf("an arm that went: %+v", r.Checks)
	}
	r = judge(t, before, &gate.Baseline{Path: "a", Summary: after.Summary, Run: after}, "{measure: surface_tokens, arm: '*', largest_drop: 0}")
	if r.Passed != 1 || r.Failed != 1 || !strings.Contains(r.Checks[1].Reasons[0], `the baseline has no arm "listing"`) {
		t.Errorf("an arm that came: %+v", r.Checks)
	}
}

func TestOtherSessionsAreRefused(t *testing.T) {
	before, after := runOf(t, 4, 0, 500), runOf(t, 3, 0, 500)
	for _, b := range []*gate.Baseline{{Path: "b", Summary: before.Summary, Run: before}, {Path: "b", Summary: before.Summary}} {
		o := gate.Options{Rules: parse(t, "{measure: surface_tokens, arm: listing, largest_drop: 0}"), Run: after, Baseline: b, Now: today}
		if _, err := gate.Judge(t.Context(), o); !errors.As(err, new(*reports.IncomparableError)) {
			t.Errorf("error %v", err)
		}
		o.AllowMismatch = true
		if r, err := gate.Judge(t.Context(), o); err != nil || r.Status != gate.Passed || len(r.Mismatches) == 0 {
			t.Errorf("allowed: %v %+v", err, r)
		}
	}
}

// TestExtractedBaseline: what is left of a summary judges as the whole does.
func TestExtractedBaseline(t *testing.T) {
	before, after := runOf(t, 40, 2, 500), runOf(t, 40, 10, 520)
	rules, err := gate.LoadRules("../../examples/gate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i := range rules {
		rules[i].Arms = []string{"listing"}
	}
	extract := gate.Extract(before.Summary, rules)
	if i := slices.IndexFunc(extract.Figures, func(f metrics.Figure) bool { return f.PoolBin != "" || f.Arm != "listing" }); i >= 0 {
		t.Errorf("no rule asks for %+v", extract.Figures[i])
	}
	text, err := reports.EncodeSummary(extract)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "baseline.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	small, err := gate.OpenBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	var texts [2]bytes.Buffer
	for i, b := range []*gate.Baseline{small, {Path: path, Summary: before.Summary}} {
		r, err := gate.Judge(t.Context(), gate.Options{Rules: rules, Run: after, Baseline: b, Now: today})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.WriteText(&texts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0].String() != texts[1].String() || !strings.Contains(texts[0].String(), "Gate FAILED") {
		t.Errorf("extracted:\n%s\nwhole:\n%s", texts[0].String(), texts[1].String())
	}
	if len(text) > 8<<10 {
		t.Errorf("%d bytes", len(text))
	}
}

// TestExtractedForOtherRules: what a file of figures does not have was not asked for when it was written. That is not an
// empty population.
func TestExtractedForOtherRules(t *testing.T) {
	run := runOf(t, 4, 0, 500)
	extract := gate.Extract(run.Summary, parse(t, "{measure: lost_rate, arm: listing, largest_drop: 0}"))
	for _, rule := range []string{
		"{measure: surface_tokens, arm: listing, largest_drop: 0}",
		"{measure: lost_rate, class: obvious, arm: listing, largest_drop: 0}",
		"{measure: lost_rate, arm: eager, largest_drop: 0}",
	} {
		r := judge(t, run, &gate.Baseline{Path: "b.json", Summary: extract}, rule)
		if c := r.Checks[0]; c.Status != gate.Failed || !strings.Contains(c.Reasons[0], " under "+c.Arm+": its population was empty, or it was written for other rules; then write it again with these") {
			t.Errorf("%s: %v", rule, c.Reasons)
		}
	}
}

func TestNoSummaryIsNoBaseline(t *testing.T) {
	for _, text := range []string{`{"schema_version":1}`, `{"schema_version":1,"sessions":5,"assumptions":[]}`, `{"schema_version":1,"sessions":0,"assumptions":[{"arm":"a"}]}`} {
		path := filepath.Join(t.TempDir(), "b.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := gate.OpenBaseline(path); err == nil || !strings.HasPrefix(err.Error(), path+": not the summary of a run\nhint: ") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// TestTestThatCannotFail: 10,000 sign flips give no p below 1/10,001, whatever happened. An alpha that no such test gets below
// excuses nothing.
func TestTestThatCannotFail(t *testing.T) {
	before, after := runOf(t, 40, 0, 500), runOf(t, 40, 40, 500)
	b := &gate.Baseline{Path: "b", Summary: before.Summary, Run: before}
	for _, alpha := range []string{"0.0002", "0.0001", "0.00009", "0.000001"} {
		r := judge(t, after, b, "{measure: lost_rate, arm: listing, largest_drop: 0.5, alpha: "+alpha+"}")
		if r.Status != gate.Failed {
			t.Errorf("alpha %s, and every tool is lost: %s, %v", alpha, r.Status, r.Checks[0].Notes)
		}
	}
}

// TestJUnit demands what both common schemas do: the root, the order of elements, and every required attribute.
func TestJUnit(t *testing.T) {
	before, after := runOf(t, 40, 2, 500), runOf(t, 40, 10, 520)
	rules, err := gate.ParseRules("gate.yaml", []byte(`schema_version: 1
rules:
  - {name: "a < b & \"c\"", measure: lost_rate, arm: listing, largest_drop: 0, alpha: 0.05}
  - {measure: surface_tokens, arm: listing, largest_drop: 0, waiver: {reason: known, issue: "#7", expires: 2027-01-01}}
  - {measure: surface_tokens, name: eager, arm: eager, largest_drop: 0}
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gate.Judge(t.Context(), gate.Options{RulesFile: "gate.yaml", Rules: rules, Run: after, Baseline: &gate.Baseline{Path: "b", Summary: before.Summary, Run: before}, Now: today})
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.JUnit(today)
	if err != nil {
		t.Fatal(err)
	}
	var path, seen []string
	attributes := map[string]map[string]string{}
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if token == nil {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			path = append(path, e.Name.Local)
			seen = append(seen, strings.Join(path, "/"))
			attributes[strings.Join(path, "/")] = map[string]string{}
			for _, a := range e.Attr {
				attributes[strings.Join(path, "/")][a.Name.Local] = a.Value
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		}
	}
	const suite = "testsuites/testsuite"
	want := []string{"testsuites", suite, suite + "/properties", suite + "/properties/property", suite + "/properties/property", suite + "/properties/property",
		suite + "/testcase", suite + "/testcase/failure", suite + "/testcase", suite + "/testcase/skipped", suite + "/testcase", suite + "/system-out", suite + "/system-err"}
	if strings.Join(seen, "\n") != strings.Join(want, "\n") {
		t.Errorf("elements:\n%s\nwant:\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
	for name, value := range map[string]string{"id": "0", "package": "bench.gate", "name": "bench gate", "timestamp": "2026-11-30T23:59:00", "hostname": "localhost",
		"tests": "3", "failures": "1", "errors": "0", "skipped": "1", "time": "0"} {
		if attributes[suite][name] != value {
			t.Errorf("testsuite %s=%q, want %q", name, attributes[suite][name], value)
		}
	}
	if a := attributes[suite+"/testcase/failure"]; !strings.Contains(a["message"], "worse by 0.2000") || a["type"] != "gate" {
		t.Errorf("failure: %v", a)
	}
	if a := attributes[suite+"/testcase/skipped"]; !strings.HasPrefix(a["message"], "waived until 2027-01-01: known (#7)") {
		t.Errorf("skipped: %v", a)
	}
	for _, name := range []string{"name", "classname", "time"} {
		if attributes[suite+"/testcase"][name] == "" {
			t.Errorf("testcase without %s", name)
		}
	}
}

// TestHostileNames: no name of a rule or of an intent leaves its line or steers a terminal.
func TestHostileNames(t *testing.T) {
	run := func(path metrics.Path) *reports.Run {
		o := reportstest.Session(0, path, 1, 500)
		for i := range o.Calls {
			o.Calls[i].IntentID = "i\nFAKE\x1b[31m\u202e"
		}
		return reportstest.Write(t, reportstest.Manifest(1), o)
	}
	before, after := run(metrics.PathSearched), run(metrics.PathLost)
	r := judge(t, after, &gate.Baseline{Path: "b", Summary: before.Summary, Run: before},
		`{name: "a\nFAKE\e[31m", measure: lost_rate, arm: listing, largest_drop: 0, waiver: {reason: "r\nFAKE\r", issue: "\u202e", expires: 2027-01-01}}`)
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{text.String(), string(r.Markdown())} {
		if strings.ContainsAny(text, "\x1b\r\u202e") || strings.Contains(text, "\nFAKE") || strings.Count(text, "FAKE") < 3 {
			t.Errorf("%q", text)
		}
	}
}

func TestMarkdown(t *testing.T) {
	before, after := runOf(t, 40, 2, 500), runOf(t, 40, 10, 520)
	r := judge(t, after, &gate.Baseline{Path: "b", Summary: before.Summary, Run: before}, `{name: "a | b <c> @d \\| e\rf", measure: lost_rate, arm: listing, largest_drop: 0}`)
	text := string(r.Markdown())
	for _, want := range []string{
		"### Gate FAILED: 0 of 1 checks passed, 1 failed\n",
		"| ❌ | a \\| b &lt;c&gt; &#64;d \\\\\\| e f, listing | 0.2500 share | 40 | worse by at most 0 | worse by 0.2000 than the baseline's 0.0500, and 0.0000 is allowed |\n",
		"<details><summary>Flipped intents: 7 intents, worse 16 times</summary>",
		"  `bench run --sessions 2-2 --seed 1 --events 0.25 --arms listing`\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
