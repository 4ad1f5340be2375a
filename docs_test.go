package toolgauge_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/corpus/lint"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge/judge"
	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

var update = flag.Bool("update", false, "rewrite generated parts of the documents")

// checkGenerated holds the part of a document between "<!-- generated: NAME -->" and
// the next "<!-- end -->" to what it should be, or rewrites it.
func checkGenerated(t *testing.T, file, name, want string) {
	t.Helper()
	begin, end := "<!-- generated: "+name+" -->\n", "<!-- end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	shown, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no generated part %q", file, name)
	}
	if shown == want {
		return
	}
	if !*update {
		t.Fatalf("the part %q of %s is not what it should be (-document +should be):\n%s\nhint: go test . -run %s -update",
			name, file, cmp.Diff(strings.Split(shown, "\n"), strings.Split(want, "\n")), t.Name())
	}
	if err := os.WriteFile(file, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestMeasuresTable holds the table of docs/measures.md to the code's own.
func TestMeasuresTable(t *testing.T) {
	var table strings.Builder
	table.WriteString("| measure | unit | better | range | population | definition |\n|---|---|---|---|---|---|\n")
	for _, m := range metrics.Measures() {
		better := string(m.Better)
		if better == "" {
			better = "–"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s | %s |\n", m.Name, m.Unit, better, m.Range, m.Population, m.Definition)
	}
	checkGenerated(t, "docs/measures.md", "measures", table.String())
}

// TestLintRules holds the table of docs/format.md to the rules.
func TestLintRules(t *testing.T) {
	var table strings.Builder
	table.WriteString("| rule | severity | meaning | what to do |\n|---|---|---|---|\n")
	for _, r := range lint.Rules() {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", r.ID, r.Severity, r.Meaning, r.Advice)
	}
	checkGenerated(t, "docs/format.md", "lint rules", table.String())
}

// firstCells are the words in code style in the first column of the table rows of a
// section, which begins with its heading and ends with the next.
func firstCells(t *testing.T, file, heading string) (words []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", file, heading)
	}
	section, _, _ = strings.Cut(section, "\n#")
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") {
			for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
				words = append(words, word[1])
			}
		}
	}
	return words
}

// keysOf are the members of a JSON object, in their order.
func keysOf(t *testing.T, object []byte) (keys []string) {
	t.Helper()
	fields, err := rawjson.Object(object)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		keys = append(keys, f.Key)
	}
	return keys
}

// TestGatewayFormats holds what docs/format.md says of a gateway's records, errors and
// simulations to what the gateway writes and reads.
func TestGatewayFormats(t *testing.T) {
	record := audit.Record{ // with all that may be left out
		Tool: "hermes://mcp/a/b", Code: "denied", Rule: "scope", Confirmed: "asked", TruncatedTokens: 1, Steps: audit.Steps{Cap: time.Second},
	}
	want := keysOf(t, record.AppendJSON(nil))
	got := firstCells(t, "docs/format.md", "### Gateway audit")
	for _, list := range [][]string{got, want} {
		slices.Sort(list) // the table puts members side by side that belong together
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("members of an audit record (-document +record):\n%s", diff)
	}

	failure := gateway.Error{
		Code: gateway.Denied, Rule: "scope", RetryAfter: time.Second,
		Violations: []judge.Violation{{Keyword: "type"}}, Candidates: []gateway.Candidate{{Tool: "a"}},
	}
	var result struct{ Error json.RawMessage }
	if err := json.Unmarshal([]byte(failure.Result().Text), &result); err != nil {
		t.Fatal(err)
	}
	want = keysOf(t, result.Error)
	for _, code := range gateway.Codes() {
		want = append(want, string(code))
	}
	if diff := cmp.Diff(firstCells(t, "docs/format.md", "### Gateway errors"), want); diff != "" {
		t.Errorf("members and codes of errors (-document +error):\n%s", diff)
	}

	kinds := firstCells(t, "docs/format.md", "### Simulations")
	if at := slices.Index(kinds, card.FailureKinds()[0]); at < 0 || !slices.Equal(kinds[at:], card.FailureKinds()) {
		t.Errorf("kinds of failures %v, want them to end with %v", kinds, card.FailureKinds())
	}
}
