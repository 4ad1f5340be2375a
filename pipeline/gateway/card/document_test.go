package card

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestFieldsAreDocumented looks for every field of a gateway.yaml in docs/format.md.
func TestFieldsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Gateway\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var named strings.Builder // the first cells of its tables
	for line := range strings.Lines(section) {
		if cell, _, ok := strings.Cut(line, " | "); ok && strings.HasPrefix(line, "| `") {
			named.WriteString(cell + "\n")
		}
	}
	for _, field := range slices.Concat(fileFields, cardFields, policyFields) {
		switch field {
		case "inputSchema", "parameters": // other names of input_schema
			continue
		}
		if first := named.String(); !strings.Contains(first, "`"+field+"`") && !strings.Contains(first, "`"+field+".") {
			t.Errorf("docs/format.md has no row for %s", field)
		}
	}
}
