package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
)

// goldenDir holds the vectors that were recorded from the reference system; a clone does not have them.
const goldenDir = "../../shared/golden"

func golden(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(goldenDir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("recorded vectors are not here: %v", err)
	}
	return path
}

func mustRun(t *testing.T, o Options, files ...string) *Report {
	t.Helper()
	report, err := Run(o, files...)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func text(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// smallCorpus is a corpus that whole-file vectors can be written by hand for.
func smallCorpus(t *testing.T) *corpus.Corpus {
	t.Helper()
	c, err := corpus.Load("testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// counts is what a file must lead to; kinds maps a kind to its decisions, passed and departed together.
type counts struct {
	format     string
	vectors    int
	departures int
	kinds      map[string]int
}

func (want counts) check(t *testing.T, r *Report) {
	t.Helper()
	if r.Failed != 0 || len(r.Files) != 1 {
		t.Fatalf("failed %d in %d files\n%s", r.Failed, len(r.Files), text(t, r))
	}
	f := r.Files[0]
	if f.Format != want.format || f.Vectors != want.vectors || r.Departures != want.departures {
		t.Errorf("format %s, %d vectors, %d departures; want %s, %d, %d", f.Format, f.Vectors, r.Departures, want.format, want.vectors, want.departures)
	}
	total := 0
	for _, k := range f.Kinds {
		if got := k.Passed + k.Departures; got != want.kinds[k.Kind] {
			t.Errorf("kind %s: %d decisions, want %d", k.Kind, got, want.kinds[k.Kind])
		}
		total += k.Passed
	}
	if len(f.Kinds) != len(want.kinds) || r.Passed != total {
		t.Errorf("%d kinds, %d passed; want %d, %d", len(f.Kinds), r.Passed, len(want.kinds), total)
	}
}

func TestRecordedVectors(t *testing.T) {
	for name, want := range map[string]counts{
		"bridge-july.jsonl": {"bridge", 60, 29, map[string]int{"config": 60, "visible": 60, "deferrable": 60, "assembly": 60, "listing": 60,
			"listings": 360, "search": 540, "bm25": 540, "describe": 240, "calls": 300, "short_desc": 180, "tokenize": 60}},
		"bridge-september.jsonl": {"bridge", 60, 0, map[string]int{"config": 60, "visible": 60, "deferrable": 60, "assembly": 60, "listing": 60,
			"listings": 360, "search": 540, "bm25": 540, "describe": 240, "calls": 300, "short_desc": 180, "tokenize": 60}},
		"toolsets.json": {"toolsets", 1, 0, map[string]int{"core": 1, "webhook_safe": 1, "names": 2, "toolsets": 57, "non_core": 57}},
		"builtin-tools.json": {"builtin_tools", 81, 0, map[string]int{"names": 1, "toolset": 81, "core": 81, "async": 81, "max_result_size_chars": 81,
			"requires_env": 81, "params": 81, "required": 81, "has_check": 81, "core_size": 1}},
		"distributions.jsonl": {"distributions", 17, 0, map[string]int{"name": 17, "toolsets": 17, "sum": 17, "p_fallback": 17, "expected_size": 17}},
		"sampling.jsonl":      {"sampling", 204, 0, map[string]int{"distribution": 204, "sample": 204}},
	} {
		t.Run(name, func(t *testing.T) { want.check(t, mustRun(t, Options{}, golden(t, name))) })
	}
}

func TestOwnVectors(t *testing.T) {
	for name, want := range map[string]counts{
		"bridge.jsonl": {"bridge", 23, 3, map[string]int{"config": 23, "visible": 23, "deferrable": 23, "assembly": 23, "listing": 23,
			"listings": 53, "search": 46, "bm25": 41, "describe": 19, "calls": 40, "short_desc": 15, "tokenize": 7}},
		"distributions.jsonl": {"distributions", 3, 0, map[string]int{"name": 3, "toolsets": 3, "sum": 3, "p_fallback": 3, "expected_size": 3}},
		"sampling.jsonl":      {"sampling", 3, 0, map[string]int{"distribution": 3, "sample": 3}},
	} {
		t.Run(name, func(t *testing.T) { want.check(t, mustRun(t, Options{}, "testdata/"+name)) })
	}
	small := Options{Corpus: smallCorpus(t)}
	for name, want := range map[string]counts{
		"toolsets.json": {"toolsets", 1, 0, map[string]int{"core": 1, "webhook_safe": 1, "names": 2, "toolsets": 4, "non_core": 4}},
		"builtin-tools.jsonl": {"builtin_tools", 3, 0, map[string]int{"names": 1, "toolset": 3, "core": 3, "async": 3, "max_result_size_chars": 3,
			"requires_env": 3, "params": 3, "required": 3, "has_check": 3, "core_size": 1}},
	} {
		t.Run(name, func(t *testing.T) { want.check(t, mustRun(t, small, "testdata/"+name)) })
	}
}

// A variant that the pipeline lacks must fail every vector, and pass none.
func TestUnknownVariantFails(t *testing.T) {
	data := replaced(t, "testdata/bridge.jsonl", `"variant": "july"`, `"variant": "june"`)
	f := replayed(t, Options{}, data)
	k := f.Kinds[0]
	if k.Kind != vectorKind || k.Failed != 1 {
		t.Fatalf("first kind %s with %d failed", k.Kind, k.Failed)
	}
	d := k.Differences[0]
	for _, part := range []string{`"june"`, "july, september"} {
		if !strings.Contains(d.Fault, part) {
			t.Errorf("fault %q does not name %s", d.Fault, part)
		}
	}
	if d.Vector != "four-tools" || d.Line != 1 || d.Path != "variant" {
		t.Errorf("difference at %q, line %d, %q", d.Vector, d.Line, d.Path)
	}
}

// replaced reads a file and replaces the first occurrence of old, which must exist.
func replaced(t *testing.T, file, old, new string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s does not contain %s", file, old)
	}
	return bytes.Replace(data, []byte(old), []byte(new), 1)
}

func replayed(t *testing.T, o Options, data []byte) FileResult {
	t.Helper()
	r, err := newRunner(o)
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.replay("vectors", data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// One wrong value of each kind must fail that kind, be counted once, and be shown with its place.
func TestEachKindCanFail(t *testing.T) {
	small := Options{Corpus: smallCorpus(t)}
	for _, c := range []struct {
		file, old, new string
		kind, path     string
	}{
		{"bridge.jsonl", `"threshold_pct": 5.0`, `"threshold_pct": 5.5`, "config", "want.config.threshold_pct"},
		{"bridge.jsonl", `"visible": ["terminal"]`, `"visible": []`, "visible", "want.visible"},
		{"bridge.jsonl", `"deferrable": ["github_create_issue", "github_search_repos"`, `"deferrable": ["github_search_repos", "github_create_issue"`, "deferrable", "want.deferrable"},
		{"bridge.jsonl", `"tier": 1`, `"tier": 2`, "assembly", "want.assembly.tier"},
		{"bridge.jsonl", `"listing": {"budget": 10000`, `"listing": {"budget": 10001`, "listing", "want.listing.budget"},
		{"bridge.jsonl", `"form": "names", "chars": 2`, `"form": "full", "chars": 2`, "listings", "want.listings[1].form"},
		{"bridge.jsonl", `"total_available": 4`, `"total_available": 5`, "search", "want.search[0].total_available"},
		{"bridge.jsonl", `{"request": {"query": "calendar"}, `, `{"request": {"query": "calendar"}, "error": true, `, "search", "want.search[1].error"},
		{"bridge.jsonl", `{"request": {}, "error": true}`, `{"request": {}, "error": true, "matches": ["x"]}`, "search", "want.search[0].matches"},
		{"bridge.jsonl", `{"request": {}, "error": true}`, `{"request": {}, "error": true, "sources": [["mcp", "x"]]}`, "search", "want.search[0].sources"},
		{"bridge.jsonl", `{"request": {}, "error": true}`, `{"request": {}, "error": true, "total_available": 2}`, "search", "want.search[0].total_available"},
		{"bridge.jsonl", `{"request": {}, "error": true}`, `{"request": {}, "error": true, "bm25": {"x": 1}}`, "bm25", "want.search[0].bm25.x"},
		{"bridge.jsonl", `["plugin", "planner"]`, `["mcp", "planner"]`, "search", "want.search[0].sources"},
		{"bridge.jsonl", `"bm25": {"github_create_issue": 3.`, `"bm25": {"github_create_issue": 4.`, "bm25", "want.search[0].bm25.github_create_issue"},
		{"bridge.jsonl", `"bm25": {"calendar_create_event": 1.5535132959044338}`, `"bm25": {}`, "bm25", "want.search[1].bm25.calendar_create_event"},
		{"bridge.jsonl", `"bm25": {}`, `"bm25": {"terminal": 0.5}`, "bm25", "want.search[3].bm25.terminal"},
		{"bridge.jsonl", `{"name": "terminal", "ok": false}`, `{"name": "terminal", "ok": true}`, "describe", "want.describe[1].ok"},
		{"bridge.jsonl", `"error_class": "bridge_recursion"`, `"error_class": "name_missing"`, "calls", "want.calls[14].error_class"},
		{"bridge.jsonl", `"blocked_by_required_probe": false`, `"blocked_by_required_probe": true`, "calls", "want.calls[0].blocked_by_required_probe"},
		{"bridge.jsonl", `"arguments": "{bad"`, `"arguments": "{}"`, "calls", "want.calls[9].resolved"},
		{"bridge.jsonl", `"deep": "Ünï"`, `"deep": "Uni"`, "calls", "want.calls[18].arguments"},
		{"bridge.jsonl", `[1.5, {"deep"`, `[1.25, {"deep"`, "calls", "want.calls[18].arguments"},
		{"bridge.jsonl", `"out": "One sentence."`, `"out": "One sentence"`, "short_desc", "want.short_desc[0].out"},
		{"bridge.jsonl", `"out": ["n", "code"`, `"out": ["code"`, "tokenize", "want.tokenize[0].out"},
		{"bridge.jsonl", `"defer_tools": ["memory", "todo"]`, `"defer_tools": ["todo"]`, "config", "want.config.defer_tools"},
		{"bridge.jsonl", `"tokens": ["lane"]`, `"tokens": ["lanes"]`, "search", "want.search[0].tokens"},
		{"bridge.jsonl", `"gate": "lane"`, `"gate": "card"`, "search", "want.search[0].gate"},
		{"bridge.jsonl", `"answerable": ["a", "lane"]`, `"answerable": ["lane"]`, "search", "want.search[1].answerable"},
		{"bridge.jsonl", `"required_terms": 2`, `"required_terms": 1`, "search", "want.search[2].required_terms"},
		{"bridge.jsonl", `{"name": "memory", "ok": false}`, `{"name": "memory", "ok": true}`, "describe", "want.describe[2].ok"},
		{"bridge.jsonl", `"queries": "gmail card"}, "total_available": 3`, `"queries": "gmail card"}, "total_available": 4`, "search", "want.search[4].total_available"},
		{"bridge.jsonl", `{"in": "Is it so? Yes.", "out": "Is it so?"}`, `{"in": "Is it so? Yes.", "out": "Is it so"}`, "short_desc", "want.short_desc[0].out"},
		{"distributions.jsonl", `"name": "minimal"`, `"name": "minimum"`, "name", "name"},
		{"distributions.jsonl", `{"web": 90, "file": 60`, `{"file": 60, "web": 90`, "toolsets", "toolsets"},
		{"distributions.jsonl", `"sum": 170`, `"sum": 171`, "sum", "sum"},
		{"distributions.jsonl", `"p_fallback": 0.032`, `"p_fallback": 0.0320001`, "p_fallback", "p_fallback"},
		{"distributions.jsonl", `"expected_size": 1.732`, `"expected_size": 1.7320001`, "expected_size", "expected_size"},
		{"sampling.jsonl", `"distribution": "reasoning"`, `"distribution": "season"`, "distribution", "distribution"},
		{"sampling.jsonl", `["file", "web"]`, `["file"]`, "sample", "sample"},
		{"sampling.jsonl", `"unused": 1`, `"unused": 0`, "sample", "unused"},
		{"toolsets.json", `"core": ["note_write", "note_read"]`, `"core": ["note_read", "note_write"]`, "core", "core"},
		{"toolsets.json", `"webhook_safe": ["note_read"]`, `"webhook_safe": []`, "webhook_safe", "webhook_safe"},
		{"toolsets.json", `"tools": ["lamp"]`, `"tools": []`, "toolsets", "toolsets.home.tools"},
		{"toolsets.json", `["notes", "home"]`, `["home", "notes"]`, "toolsets", "toolsets.hermes-desk.includes"},
		{"toolsets.json", `"resolved": ["lamp"]`, `"resolved": []`, "toolsets", "toolsets.home.resolved"},
		{"toolsets.json", `"posture": true`, `"posture": false`, "toolsets", "toolsets.reading.posture"},
		{"toolsets.json", `"home": ["lamp"]`, `"home": []`, "non_core", "non_core.home"},
		{"toolsets.json", `"non_core": {"notes": [], `, `"non_core": {`, "names", "non_core"},
		{"builtin-tools.jsonl", `"toolset": "home"`, `"toolset": "house"`, "toolset", "toolset"},
		{"builtin-tools.jsonl", `"core": false`, `"core": true`, "core", "core"},
		{"builtin-tools.jsonl", `"async": true`, `"async": false`, "async", "async"},
		{"builtin-tools.jsonl", `"max_result_size_chars": 5000`, `"max_result_size_chars": null`, "max_result_size_chars", "max_result_size_chars"},
		{"builtin-tools.jsonl", `"LAMP_HOST", "LAMP_KEY"`, `"LAMP_KEY", "LAMP_HOST"`, "requires_env", "requires_env"},
		{"builtin-tools.jsonl", `"type": "?"`, `"type": "string"`, "params", "params"},
		{"builtin-tools.jsonl", `"required": ["title"]`, `"required": []`, "required", "required"},
		{"builtin-tools.jsonl", `"has_check": true`, `"has_check": false`, "has_check", "has_check"},
		{"builtin-tools.jsonl", `"schema_chars": 240`, `"schema_chars": 300`, "core_size", "schema_chars"},
	} {
		t.Run(c.file+"/"+c.kind+"/"+c.path, func(t *testing.T) {
			o := Options{}
			if c.file == "toolsets.json" || c.file == "builtin-tools.jsonl" {
				o = small
			}
			f := replayed(t, o, replaced(t, "testdata/"+c.file, c.old, c.new))
			i := slices.IndexFunc(f.Kinds, func(k KindResult) bool { return k.Kind == c.kind })
			k := f.Kinds[i]
			if k.Failed != 1 || k.Differences[0].Path != c.path {
				t.Errorf("%s: %d failed, differences %+v; want one, at %s", c.kind, k.Failed, k.Differences, c.path)
			}
		})
	}
}

// A built-in tool that the file leaves out, or that only the file has, must not go unnoticed.
func TestBuiltinNamesAreCompared(t *testing.T) {
	small := Options{Corpus: smallCorpus(t)}
	data, err := os.ReadFile("testdata/builtin-tools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(data), []byte("\n"))
	for name, data := range map[string][]byte{
		"left out": bytes.Join(lines[:2], nil),
		"twice":    bytes.Join([][]byte{lines[0], lines[1], lines[1], lines[2]}, nil),
		"unknown":  bytes.Replace(data, []byte(`"name": "lamp"`), []byte(`"name": "lump"`), 1),
	} {
		t.Run(name, func(t *testing.T) {
			f := replayed(t, small, data)
			if k := f.Kinds[0]; k.Kind != "names" || k.Failed != 1 {
				t.Errorf("%s: %d failed", k.Kind, k.Failed)
			}
		})
	}
}

// A vector that panics in the pipeline must fail alone.
func TestPanicFailsItsVector(t *testing.T) {
	tally := newTally([]string{"decision"}, 1)
	tally.vector(vector{}, panicking{})
	tally.decide("decision", nil)
	got := tally.results()
	if got[0].Kind != vectorKind || got[0].Failed != 1 || !strings.Contains(got[0].Differences[0].Fault, "off the rails") || got[1].Passed != 1 {
		t.Errorf("results %+v", got)
	}
}

type panicking struct{}

func (panicking) check(vector) { panic("off the rails") }
func (panicking) finish()      {}

func TestRunReportsGoodFilesBesideBadOnes(t *testing.T) {
	r, err := Run(Options{}, "testdata/absent.jsonl", "testdata/sampling.jsonl", "testdata")
	if !errors.Is(err, ErrInput) {
		t.Fatalf("error %v is not ErrInput", err)
	}
	for _, part := range []string{"testdata/absent.jsonl: no such file", "testdata: is a directory", "hint: "} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error does not say %q:\n%v", part, err)
		}
	}
	if len(r.Files) != 1 || r.Passed != 6 {
		t.Errorf("%d files, %d passed", len(r.Files), r.Passed)
	}
	if _, err := Run(Options{}); !errors.Is(err, ErrInput) {
		t.Errorf("no files: %v", err)
	}
}

func TestShownBoundsDifferences(t *testing.T) {
	data, err := os.ReadFile("testdata/bridge.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.ReplaceAll(data, []byte(`"max_search_limit": 20`), []byte(`"max_search_limit": 19`))
	for shown, want := range map[int]int{0: 5, 2: 2, -1: 16} {
		k := replayed(t, Options{Shown: shown}, data).Kinds[0]
		if k.Kind != "config" || k.Failed != 16 || len(k.Differences) != want {
			t.Errorf("shown %d: %s, %d failed, %d differences; want 16 and %d", shown, k.Kind, k.Failed, len(k.Differences), want)
		}
	}
}

func TestReportJSON(t *testing.T) {
	r := mustRun(t, Options{}, "testdata/sampling.jsonl")
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema_version":1,"passed":6,"failed":0,"departures":0,"files":[{"file":"testdata/sampling.jsonl","format":"sampling","vectors":3,` +
		`"kinds":[{"kind":"distribution","passed":3,"failed":0,"departures":0,"differences":[]},{"kind":"sample","passed":3,"failed":0,"departures":0,"differences":[]}]}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestReportText(t *testing.T) {
	r := &Report{SchemaVersion: schemaVersion}
	r.add(FileResult{
		File: "a\x1b.jsonl", Format: "bridge", Vectors: 2,
		Kinds: []KindResult{
			{Kind: "search", Passed: 1200, Differences: []Difference{}},
			{Kind: "calls", Passed: 1, Failed: 2, Departures: 3, Differences: []Difference{
				{Vector: "one", Line: 7, Path: "want.calls[0].resolved", Want: json.RawMessage(`"é 😀"`), Got: json.RawMessage("\"\u202e\U000e0001\u00a0<b>\"")},
				{Line: 8, Path: "want.x", Fault: "missing"},
			}},
		},
		Ignored: []Ignored{{"colour", "nobody sees it"}},
	})
	want := `file          format  kind    passed  failed  departures
"a\x1b.jsonl"  bridge  search    1200       0           0
                       calls        1       2           3

1201 passed, 2 failed, 3 departures
departures: ` + departureNote + `
not compared in "a\x1b.jsonl": colour: nobody sees it

"a\x1b.jsonl": calls: 2 failed
  one (line 7) want.calls[0].resolved
    want "é 😀"
    got  "\u202e\udb40\udc01\u00a0<b>"
  (line 8) want.x: missing
`
	want = strings.Replace(want, "file          format  kind", "file           format  kind", 1)
	if got := text(t, r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReportTextSaysThatTheWriterFailed(t *testing.T) {
	if err := (&Report{}).WriteText(full{}); err == nil {
		t.Error("no error")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }
