package toolgauge_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/corpus/lint"
	"github.com/toolgauge/toolgauge/metrics"
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
