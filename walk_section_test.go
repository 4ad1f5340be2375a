package toolgauge_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"text/template"
)

// walkText is the section's text; the figures come from the walk.
const walkText = "testdata/walk.md"

// walkSection is what docs/measures.md has to say of the session.
func walkSection(t *testing.T, arms map[string]walked) string {
	t.Helper()
	text, err := os.ReadFile(walkText)
	if err != nil {
		t.Fatal(err)
	}
	section, err := template.New(walkText).Funcs(template.FuncMap{
		"n": thousands, "e": tenths, "rounded": roundedDown, "table": walkTable, "figures": func() string { return figuresTable(arms) },
		"add": func(a, b int) int { return a + b }, "sub": func(a, b int) int { return a - b }, "mul": func(a, b int) int { return a * b },
	}).Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = section.Execute(&out, struct{ Eager, Bare, Listing walked }{arms["eager"], arms["july-bare"], arms["july-listing"]})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// walkTable is the requests under an arm and their sums, in Markdown.
func walkTable(w walked) string {
	var out strings.Builder
	out.WriteString("| # | turn | the model | tools | messages | prompt | alike | cached | lost | output | effective so far |\n")
	out.WriteString("|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range w.Rows {
		fmt.Fprintf(&out, "| %d | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.N, r.Turn, r.Does, thousands(r.Tools), thousands(r.Messages),
			thousands(r.Prompt), thousands(r.Common), thousands(r.Cached), thousands(r.Lost), thousands(r.Output), tenths(r.Effective))
	}
	fmt.Fprintf(&out, "| | | **sum** | | | **%s** | | **%s** | **%s** | **%s** | **%s** |", thousands(w.Prompt),
		thousands(w.Cached), thousands(w.Lost), thousands(w.Output), tenths(w.Effective))
	return out.String()
}

// figuresTable is where the costs stand in the printed summary, in Markdown.
func figuresTable(arms map[string]walked) string {
	var out strings.Builder
	out.WriteString("| measure | " + strings.Join(walkArms, " | ") + " |\n|---|" + strings.Repeat("---:|", len(walkArms)))
	for _, f := range walkFigures(arms) {
		fmt.Fprintf(&out, "\n| `%s` | %s |", f.measure, strings.Join(f.values, " | "))
	}
	return out.String()
}

// roundedDown writes out how a common beginning becomes cached tokens.
func roundedDown(tokens int) string {
	if tokens < 1024 {
		return fmt.Sprintf("%s < 1,024, so 0", thousands(tokens))
	}
	return fmt.Sprintf("⌊%s / 128⌋ · 128 = %s", thousands(tokens), thousands(blocks(tokens)))
}

// thousands writes a number with commas.
func thousands(n int) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// tenths writes a number of tenths as a decimal; tokensOf rounds it to whole
// tokens, as the printed summary does.
func tenths(n int) string {
	if n < 0 {
		return "−" + tenths(-n)
	}
	return fmt.Sprintf("%s.%d", thousands(n/10), n%10)
}

func tokensOf(n int) string { return thousands(int(math.RoundToEven(float64(n) / 10))) }
