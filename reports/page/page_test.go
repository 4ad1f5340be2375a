package page_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/reports/page"
)

// write writes the report of runs and returns both files.
func write(t *testing.T, runs ...*reports.Run) (html, markdown string) {
	t.Helper()
	r, err := page.New(runs)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "made", "here")
	paths, err := r.Write(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) != 2 || paths[0] != filepath.Join(dir, page.HTMLFile) || paths[1] != filepath.Join(dir, page.MarkdownFile) {
		t.Errorf("paths %v", paths)
	}
	var texts [2]string
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return texts[0], texts[1]
}

// plain is the text of a page, without markup and with single blanks.
func plain(page string) string {
	_, body, _ := strings.Cut(page, "<body>")
	return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, " "))), " ")
}

func TestReportSaysWhatTheTerminalSays(t *testing.T) {
	t.Parallel() // a run folder is flushed to the disk, which takes longer than all else
	run := scene{sessions: 60, intents: 12, corpus: "made-up", name: plainName}.run(t)
	written, markdown := write(t, run)
	text := plain(written)
	var printed bytes.Buffer
	if err := reports.Print(&printed, run.Summary, reports.PrintOptions{}); err != nil {
		t.Fatal(err)
	}
	headline, _, _ := strings.Cut(printed.String(), "\n\n")
	headline = strings.Join(strings.Fields(headline), " ")
	for _, want := range []string{headline, "corpus made-up 1, 60 sessions, seed 0", "agent aware", reports.Reading} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if !strings.Contains(markdown, headline) {
		t.Errorf("the Markdown lacks the headline; it begins %q", markdown[:200])
	}
	outline := reports.NewOutline(run.Summary)
	for _, table := range outline.Tables {
		for _, row := range table.Rows {
			if row.Sizes || table.ByClass {
				continue
			}
			cells := []string{row.Label}
			for _, c := range row.Cells {
				cells = append(cells, c.Text)
			}
			if len(row.Cells[2].Marks)+len(row.Cells[1].Marks)+len(row.Cells[0].Marks) > 0 {
				continue
			}
			if want := strings.Join(cells, " "); !strings.Contains(text, want) {
				t.Errorf("the page lacks the row %q", want)
			}
			if want := "| " + strings.Join(cells, " | ") + " |"; !strings.Contains(markdown, want) {
				t.Errorf("the Markdown lacks the row %q", want)
			}
		}
		for _, d := range table.Definitions {
			if !strings.Contains(text, strings.Join(strings.Fields(d), " ")) {
				t.Errorf("the page lacks the definition %q", d)
			}
		}
	}
}

func TestEveryFigureHasItsData(t *testing.T) {
	t.Parallel()
	written, _ := write(t, scene{sessions: 60, intents: 12, corpus: "made-up", name: plainName}.run(t))
	for _, id := range []string{"tokens", "turns", "paths", "pareto", "pools", "classes", "forms"} {
		_, figure, ok := strings.Cut(written, `<figure id="plot-`+id+`">`)
		if !ok {
			t.Errorf("figure %s is missing", id)
			continue
		}
		figure, _, _ = strings.Cut(figure, "</figure>")
		for _, want := range []string{"<title id=", "<desc id=", "<path d=", "<text x=", "<tbody>\n<tr>"} {
			if !strings.Contains(figure, want) {
				t.Errorf("figure %s lacks %s", id, want)
			}
		}
		for _, text := range regexp.MustCompile(`<text x="([^"]*)" y="[^"]*" textLength="([^"]*)"`).FindAllStringSubmatch(figure, -1) {
			x, err := strconv.ParseFloat(text[1], 64)
			room, err2 := strconv.ParseFloat(text[2], 64)
			if err != nil || err2 != nil || x < 0 || x+room > 400 {
				t.Errorf("figure %s: a text is cut: %s", id, text[0])
			}
		}
		if strings.Contains(figure, "NaN") || strings.Contains(figure, "ZgotmplZ") || strings.Contains(figure, "></desc>") {
			t.Errorf("figure %s: %s", id, figure)
		}
	}
}

// TestSameRunSameBytes also holds that no time, folder or machine is in a report.
func TestSameRunSameBytes(t *testing.T) {
	t.Parallel()
	sc := scene{sessions: 40, intents: 12, corpus: "made-up", name: plainName}
	one, two := sc.run(t), sc.run(t)
	html1, markdown1 := write(t, one)
	html2, markdown2 := write(t, two)
	if html1 != html2 || markdown1 != markdown2 {
		t.Error("two runs of the same give different reports")
	}
	for _, text := range []string{html1, markdown1} {
		for _, never := range []string{"2031", one.Dir, filepath.Base(one.Dir), "some-os", "some-arch", "some-cpu"} {
			if strings.Contains(text, never) {
				t.Errorf("a report holds %q", never)
			}
		}
	}
}

func TestNamesAreEscaped(t *testing.T) {
	t.Parallel()
	const payload = `</script></td><img src=x onerror=alert(1)>"'{{.}}|` + "`\n# x"
	run := scene{sessions: 40, intents: 12, corpus: payload, name: func(i int) string { return plainName(i) + payload }}.run(t)
	written, markdown := write(t, run)
	if strings.Contains(written, "<img") || strings.Count(written, "</script>") != 1 {
		t.Error("a name has become markup of the page")
	}
	if !strings.Contains(html.UnescapeString(written), payload[:40]) {
		t.Error("the name is not in the page: nothing was tried")
	}
	if strings.Contains(markdown, "<img") || strings.Contains(markdown, "\n# x") {
		t.Error("a name has become markup of the Markdown")
	}
	for _, line := range strings.Split(markdown, "\n") {
		if strings.HasPrefix(line, "| ") && strings.Count(line, " |") != 5 {
			t.Errorf("a table's line has %d cells: %s", strings.Count(line, " |"), line)
		}
	}
}

// TestPolicy holds that the page's policy allows its own style and script, and nothing else.
func TestPolicy(t *testing.T) {
	t.Parallel()
	written, _ := write(t, scene{sessions: 3, intents: 3, corpus: "made-up", name: plainName}.run(t))
	for _, part := range []string{"style", "script"} {
		_, rest, _ := strings.Cut(written, "<"+part+">")
		content, _, ok := strings.Cut(rest, "</"+part+">")
		sum := sha256.Sum256([]byte(content))
		want := part + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !ok || !strings.Contains(html.UnescapeString(written), want) {
			t.Errorf("the policy does not allow the page's own %s: no %s", part, want)
		}
	}
	if !strings.Contains(html.UnescapeString(written), "default-src 'none'") {
		t.Error("the policy allows what it does not name")
	}
	for _, never := range []string{` style="`, "http://", "https://", "src=", "@import", "url("} {
		if strings.Contains(written, never) {
			t.Errorf("the page has %q", never)
		}
	}
}

// TestReportsAreBounded: however many intents there are, the worst are shown and the page stays small.
func TestReportsAreBounded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("makes a run of 1,000 sessions")
	}
	long := strings.Repeat("long_", 20)
	run := scene{sessions: 1000, intents: 1000, corpus: "made-up", name: func(i int) string { return plainName(i) + long }}.run(t)
	written, _ := write(t, run)
	if text := plain(written); !strings.Contains(text, "The worst 200 of 1,000 intents.") {
		t.Error("the page does not say how many intents it leaves out")
	}
	if n := strings.Count(written, `<tr class="hits"`); n != page.MaxIntents {
		t.Errorf("%d intents have hits, want %d", n, page.MaxIntents)
	}
	if len(written) > 3<<20 {
		t.Errorf("the page has %d bytes", len(written))
	}
	// A third of all intents are lost by one arm of two, and they come first.
	if strings.Contains(written, "<b>wanted</b>") {
		t.Error("intents whose tool is found stand before those whose tool is lost")
	}
}

func TestDrillDown(t *testing.T) {
	t.Parallel()
	written, _ := write(t, scene{sessions: 12, intents: 12, corpus: "made-up", name: plainName}.run(t))
	text := plain(written)
	for _, want := range []string{
		"The worst 12 of 12 intents.",
		// intent 0 has an even number, and is lost without a listing
		"please use server/tool_0 obvious 1 100.0% 0.0% 0.000",
		"bare: lost; listing: described bm25 among 200 deferred tools; row 0, turn 1 “please use server/tool_0” server/tool_1001 12.50 server/tool_1002 6.25",
		"Not among them: server/tool_0",
		// intent 1 is found at rank 2
		"server/tool_1002 12.50 server/tool_1 wanted 6.25",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if lost, found := strings.Index(text, "please use server/tool_0 "), strings.Index(text, "please use server/tool_1 "); lost > found {
		t.Error("the worst do not come first")
	}
}

func TestRunsSideBySide(t *testing.T) {
	t.Parallel()
	sc := scene{sessions: 40, intents: 12, corpus: "made-up", name: plainName}
	other, third := sc, sc
	other.corpus, third.seed = "another", 7
	written, markdown := write(t, sc.run(t), other.run(t), third.run(t))
	for _, text := range []string{plain(written), markdown} {
		for _, want := range []string{"run 2 has another corpus than run 1 (another 1, sha256 ", "run 3 has other sessions than run 1 (40 of seed 7, and 40 of seed 0)"} {
			if !strings.Contains(text, want) {
				t.Errorf("the report lacks %q", want)
			}
		}
	}
	if want := "| measure | eager run 1 | eager run 2 | eager run 3 | bare run 1 |"; !strings.Contains(markdown, want) {
		t.Errorf("the Markdown lacks %q", want)
	}
	if n := strings.Count(written, `<th scope="colgroup" colspan="3">bare</th>`); n == 0 {
		t.Error("arms do not head the columns of their runs")
	}
	if ids := regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(written, -1); len(ids) > 0 {
		seen := make(map[string]bool)
		for _, id := range ids {
			if seen[id[1]] {
				t.Errorf("id %s is there twice", id[1])
			}
			seen[id[1]] = true
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	run := scene{sessions: 3, intents: 3, corpus: "made-up", name: plainName}.run(t)
	for _, c := range []struct {
		name string
		runs []*reports.Run
		want string
	}{
		{"the same twice", []*reports.Run{run, run}, "are the same run\nhint: "},
		{"too many", make([]*reports.Run, page.MaxRuns+1), "9 runs are too many for one report\nhint: "},
		{"none", nil, "no run\nhint: "},
	} {
		if _, err := page.New(c.runs); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestDamagedTablesLeaveNothing: a table that changed since the run was opened is named, and no file is written.
func TestDamagedTablesLeaveNothing(t *testing.T) {
	t.Parallel()
	run := scene{sessions: 30, intents: 3, corpus: "made-up", name: plainName}.run(t)
	r, err := page.New([]*reports.Run{run})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run.Dir, reports.CallsFile), []byte("PAR1"), 0o666); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := r.Write(t.Context(), dir); err == nil || !strings.Contains(err.Error(), reports.CallsFile) {
		t.Errorf("error %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("files %v", files)
	}
}

// TestInterrupted: a report that is stopped is not written.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	r, err := page.New([]*reports.Run{scene{sessions: 3, intents: 3, corpus: "made-up", name: plainName}.run(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := r.Write(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("files %v", files)
	}
}

// TestForeignTables: tables of arms that the summary does not have are an error.
func TestForeignTables(t *testing.T) {
	t.Parallel()
	run := scene{sessions: 3, intents: 3, corpus: "made-up", name: plainName}.run(t)
	run.Summary.Assumptions = run.Summary.Assumptions[:2]
	r, err := page.New([]*reports.Run{run})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), `arm "listing" is not among those of summary.json`) {
		t.Errorf("error %v", err)
	}
}

// TestWithoutDeferredTools: a run of eager alone has a report too.
func TestWithoutDeferredTools(t *testing.T) {
	t.Parallel()
	w, err := reports.Create(t.TempDir(), reports.Manifest{Corpus: reports.Corpus{Name: "made-up"}})
	if err != nil {
		t.Fatal(err)
	}
	o := metrics.Observations{Arms: []metrics.SessionArm{{SessionID: "1", Arm: metrics.EagerArm, SurfaceSHA256: strings.Repeat("0", 64)}}}
	figures := metrics.NewAccumulator()
	for _, add := range []func(metrics.Observations) error{w.Add, figures.Add} {
		if err := add(o); err != nil {
			t.Fatal(err)
		}
	}
	result, err := w.Finish(reports.StatusInterrupted, reports.Summary{Figures: figures.Figures(), Counts: reports.Counts{Attempted: 5}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := reports.Open(result.Dir)
	if err != nil {
		t.Fatal(err)
	}
	written, markdown := write(t, run)
	for _, text := range []string{plain(written), markdown} {
		for _, want := range []string{"No arm defers tools", "1 of 5 sessions done"} {
			if !strings.Contains(text, want) {
				t.Errorf("the report lacks %q", want)
			}
		}
	}
	if !strings.Contains(written, "No deferred tool was asked for.") {
		t.Error("the page does not say that there is nothing to drill into")
	}
}
