package toolgauge_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

var update = flag.Bool("update", false, "rewrite generated parts of the documents")

// TestMeasuresTable holds the table of docs/measures.md to the code's own.
func TestMeasuresTable(t *testing.T) {
	const file, begin, end = "docs/measures.md", "<!-- generated: measures -->\n", "<!-- end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	shown, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no generated part", file)
	}
	var table strings.Builder
	table.WriteString("| measure | unit | better | range | population | definition |\n|---|---|---|---|---|---|\n")
	for _, m := range metrics.Measures() {
		better := string(m.Better)
		if better == "" {
			better = "–"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s | %s |\n", m.Name, m.Unit, better, m.Range, m.Population, m.Definition)
	}
	if shown == table.String() {
		return
	}
	if !*update {
		t.Fatalf("the table of %s differs from the code's measures\nhint: go test . -run TestMeasuresTable -update", file)
	}
	if err := os.WriteFile(file, []byte(head+begin+table.String()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
