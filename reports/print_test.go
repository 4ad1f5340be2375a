package reports

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
)

// summary is that of a played scene, without a run folder.
func (sc scene) summary(t testing.TB) Summary {
	t.Helper()
	w := &Writer{manifest: sampleManifest(), begun: time.Now(), surfaces: nil}
	accumulator := metrics.NewAccumulator()
	for i := range sc.sessions {
		o := sc.play(i)
		if err := w.check(o); err != nil {
			t.Fatal(err)
		}
		if err := accumulator.Add(o); err != nil {
			t.Fatal(err)
		}
		w.sessions++
	}
	return w.complete(Summary{Figures: accumulator.Figures(), BreakEvens: accumulator.BreakEvens()})
}

func printed(t testing.TB, s Summary, options PrintOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := Print(&out, s, options); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func widest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, width(strings.TrimSuffix(line, "\n")))
	}
	return most
}

func TestPrint(t *testing.T) {
	for _, c := range []struct {
		golden  string
		scene   scene
		options PrintOptions
		width   int
	}{
		{"three-arms.txt", scene{threeArms, 200, 300, mixedClasses}, PrintOptions{}, 100},
		{"five-arms.txt", scene{fiveArms, 60, 300, mixedClasses}, PrintOptions{Brief: true}, 100},
		{"small-catalog.txt", scene{threeArms, 12, 3, derivedClass}, PrintOptions{Brief: true}, 100},
		{"without-eager.txt", scene{threeArms[1:2], 40, 300, mixedClasses}, PrintOptions{Brief: true}, 100},
		{"eager-only.txt", scene{threeArms[:1], 40, 300, mixedClasses}, PrintOptions{Brief: true}, 100},
		{"seven-arms.txt", scene{append(slices.Clone(fiveArms), "a-name-that-nobody-would-type", "b"), 40, 50, mixedClasses}, PrintOptions{Brief: true}, 100},
		{"gated.txt", scene{[]string{"eager", "july-gated"}, 40, 50, mixedClasses}, PrintOptions{}, 100},
		{"five-arms-few-sessions.txt", scene{fiveArms, 12, 300, derivedClass}, PrintOptions{Brief: true}, 100},
	} {
		t.Run(c.golden, func(t *testing.T) {
			text := printed(t, c.scene.summary(t), c.options)
			golden(t, c.golden, text)
			if w := widest(text); w > c.width {
				t.Errorf("%d columns, want at most %d", w, c.width)
			}
			if strings.Contains(text, " \n") {
				t.Error("spaces at the end of a line")
			}
			if again := printed(t, c.scene.summary(t), c.options); again != text {
				t.Error("the same summary is printed in another way")
			}
		})
	}
}

// TestPrintWhatWasRead: a summary read from its file is printed as the one that was written.
func TestPrintWhatWasRead(t *testing.T) {
	result := scene{threeArms, 30, 60, mixedClasses}.write(t, t.TempDir(), sampleManifest())
	run, err := Open(result.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := printed(t, result.Summary, PrintOptions{}), printed(t, run.Summary, PrintOptions{}); got != want {
		t.Errorf("written:\n%s\nread:\n%s", want, got)
	}
	written, err := encodeJSON(result.Summary)
	if err != nil {
		t.Fatal(err)
	}
	read, err := encodeJSON(run.Summary)
	if err != nil || !bytes.Equal(written, read) {
		t.Errorf("written:\n%s\nread:\n%s\n%v", written, read, err)
	}
}

func TestPrintIncomplete(t *testing.T) {
	s := scene{threeArms, 30, 60, mixedClasses}.summary(t)
	s.Counts = Counts{Attempted: 1000, Done: 30, Failed: 2, Skipped: 7}
	const want = "\nIncomplete: 30 of 1,000 sessions done, 2 failed; figures are of those done\n"
	if text := printed(t, s, PrintOptions{}); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

func TestPrintFault(t *testing.T) {
	s := scene{threeArms, 30, 60, mixedClasses}.summary(t)
	for i, f := range s.Figures {
		if f.Measure == metrics.MeasureByteIdentical && f.Arm == "july-bare" {
			s.Figures[i].Value = .9
		}
	}
	const want = "\nFault: under july-bare the same definitions gave different bytes in 10.00% of sessions\n"
	if text := printed(t, s, PrintOptions{}); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// TestPrintNothing: a summary without figures is words, not a crash.
func TestPrintNothing(t *testing.T) {
	if text := printed(t, Summary{}, PrintOptions{Brief: true}); !strings.HasPrefix(text, "No arm defers tools") {
		t.Errorf("got %q", text)
	}
	text := printed(t, Summary{Assumptions: []Arm{{"a", Assumptions{Bridge: true}}, {"eager", Assumptions{}}}}, PrintOptions{Brief: true})
	if !strings.HasPrefix(text, "No arm defers tools") || !strings.Contains(text, "  a      tools deferred\n") {
		t.Errorf("got %q", text)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestPrintError(t *testing.T) {
	if err := Print(brokenPipe{}, Summary{}, PrintOptions{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestEveryMeasureHasATheme: a new measure must be given a place.
func TestEveryMeasureHasATheme(t *testing.T) {
	for _, m := range metrics.Measures() {
		n := 0
		for _, theme := range themes() {
			if slices.ContainsFunc(theme.measures, func(pattern string) bool { return matches(pattern, m.Name) }) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("measure %s is in %d themes", m.Name, n)
		}
	}
	for _, theme := range themes() {
		for _, pattern := range slices.Concat(theme.measures, theme.hidden) {
			if !slices.ContainsFunc(metrics.Measures(), func(m metrics.Measure) bool { return matches(pattern, m.Name) }) {
				t.Errorf("theme %s: no measure is a %s", theme.title, pattern)
			}
		}
		if theme.byClass != "" {
			if _, ok := metrics.FindMeasure(theme.byClass); !ok {
				t.Errorf("theme %s: no measure %s", theme.title, theme.byClass)
			}
		}
	}
}

func TestHeadline(t *testing.T) {
	type values map[string]float64
	summary := func(arms map[string]values) Summary {
		s := Summary{Sessions: 100}
		for _, name := range []string{"eager", "bare", "bare-2", "listing", "listing-2"} {
			figures, there := arms[name]
			if !there {
				continue
			}
			s.Assumptions = append(s.Assumptions, Arm{name, Assumptions{Bridge: name != "eager"}})
			for measure, x := range figures {
				if strings.HasPrefix(measure, "break_even_") {
					s.BreakEvens = append(s.BreakEvens, metrics.BreakEven{Measure: measure, Arm: name, At: int64(x), Sessions: 100})
				} else {
					s.Figures = append(s.Figures, metrics.Figure{Measure: measure, Arm: name, Value: x, N: 100})
				}
			}
		}
		return s
	}
	saves := values{"listing_tokens": 10, "surface_tokens": 300, "eager_tokens": 1000, "saved_tokens": 700, "saved_pct": 65.25, "effective_tokens": 4000,
		"net_saved": 6000, "cold_calls": 5, "extra_requests": 1.25, "lost_rate": .0125, "break_even_turns": 2, "break_even_tokens": 4096}
	but := func(changes values) values {
		changed := values{}
		for _, m := range []values{saves, changes} {
			for measure, x := range m {
				changed[measure] = x
			}
		}
		for measure, x := range changed {
			if math.IsNaN(x) {
				delete(changed, measure)
			}
		}
		return changed
	}
	none := math.NaN()
	bare := but(values{"listing_tokens": 0, "net_saved": 5, "extra_requests": 2.5, "lost_rate": .25})
	for _, c := range []struct {
		name string
		arms map[string]values
		want []string
	}{
		{"saves", map[string]values{"eager": {}, "listing": saves}, []string{
			"With listing the tool schemas of a session's first request take 300 tokens instead of 1,000, 65.2% less per session on average.",
			"Over a whole session it saves 6,000 of 10,000 effective tokens, from turn 2 on, and where it defers 4,096 tokens of schemas or more.",
			"costs 1.25 extra requests on average, and 1.2% of the tools needed are never reached."}},
		{"not with the largest catalogs", map[string]values{"listing": but(values{"break_even_tokens": 0})}, []string{
			"saves 6,000 of 10,000 effective tokens, from turn 2 on, but not in the sessions that defer most."}},
		{"not in the longest sessions", map[string]values{"listing": but(values{"break_even_turns": 0})}, []string{
			"saves 6,000 of 10,000 effective tokens, where it defers 4,096 tokens of schemas or more, but not in the longest sessions."}},
		{"never for good", map[string]values{"listing": but(values{"break_even_turns": 0, "break_even_tokens": 0})}, []string{
			"saves 6,000 of 10,000 effective tokens, but neither in the longest sessions nor in those that defer most."}},
		{"schemas cost more", map[string]values{"listing": but(values{"surface_tokens": 1200, "saved_pct": -20})}, []string{"take 1,200 tokens instead of 1,000, 20.0% more per session on average: the bridge costs more than it saves."}},
		{"sessions cost more", map[string]values{"listing": but(values{"net_saved": -500, "break_even_tokens": 0})}, []string{
			"65.2% less", "it costs 4,000 effective tokens where eager costs 3,500: it does not pay. A cold"}},
		{"sessions cost more, not all", map[string]values{"listing": but(values{"net_saved": -500})}, []string{
			"it costs 4,000 effective tokens where eager costs 3,500: it does not pay, except where it defers 4,096 tokens of schemas or more. A cold"}},
		{"sessions cost the same", map[string]values{"listing": but(values{"net_saved": 0, "break_even_tokens": 0})}, []string{"it does not pay."}},
		{"eager not played", map[string]values{"listing": but(values{"net_saved": none})}, []string{"The arm eager was not played"}},
		{"nothing weighed", map[string]values{"listing": but(values{"effective_tokens": none, "net_saved": none})}, []string{"Whole sessions were not weighed"}},
		{"nothing lost", map[string]values{"listing": but(values{"lost_rate": 0})}, []string{"on average, and no tool that was needed is lost."}},
		{"nothing reached", map[string]values{"listing": but(values{"extra_requests": none, "lost_rate": 1})}, []string{"No cold call, the first use of a deferred tool, was reached: 100.0% of"}},
		{"nothing called", map[string]values{"listing": but(values{"cold_calls": 0})}, []string{"No deferred tool was needed"}},
		{"a listing before none", map[string]values{"bare": but(values{"listing_tokens": 0, "net_saved": 9000}), "listing": saves}, []string{"With listing "}},
		{"the best listing", map[string]values{"listing": saves, "listing-2": but(values{"net_saved": 6001})}, []string{"With listing-2 "}},
		{"the best listing that loses little", map[string]values{"listing": saves, "listing-2": but(values{"net_saved": 9000, "lost_rate": .05})}, []string{"With listing "}},
		{"the best listing that loses hardly more", map[string]values{"listing": saves, "listing-2": but(values{"net_saved": 9000, "lost_rate": .02})}, []string{"With listing-2 "}},
		{"the first of equals", map[string]values{"listing": saves, "listing-2": saves}, []string{"With listing "}},
		{"no listing", map[string]values{"bare": but(values{"listing_tokens": 0}), "bare-2": but(values{"listing_tokens": 0, "net_saved": 1})}, []string{"With bare "}},
		{"what the listing is worth", map[string]values{"eager": {"listing_tokens": 0}, "bare": bare, "listing": saves}, []string{
			"Without the listing, under bare, it costs 2.50, and 25.0% of the tools needed are never reached."}},
	} {
		s := summary(c.arms)
		got := headline(s, indexFigures(s))
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q lacks %q", c.name, got, part)
			}
		}
	}
	s := summary(map[string]values{"listing": saves})
	for i, b := range s.BreakEvens {
		s.BreakEvens[i].Curve = []metrics.SavedAt{{At: b.At, Sessions: 100, SavedTokens: 1}}
	}
	if got := headline(s, indexFigures(s)); !strings.Contains(got, "from turn 2 on, and wherever it defers tools (here 4,096 tokens of schemas or more).") {
		t.Errorf("got %q", got)
	}
	s.Sessions = 1
	if got := headline(s, indexFigures(s)); !strings.HasSuffix(got, "This rests on 1 session only.") {
		t.Errorf("got %q", got)
	}
	// An arm that differs in more than the listing says nothing of it.
	s = summary(map[string]values{"bare": bare, "listing": saves})
	s.Assumptions[0].Variant = "september"
	if got := headline(s, indexFigures(s)); strings.Contains(got, "Without") {
		t.Errorf("got %q", got)
	}
}

func TestAssumptionsInWords(t *testing.T) {
	weighed := Assumptions{Agent: "aware", Writer: "utterance", Variant: "july", Memo: "ttl", Cache: "prefix", WeightFresh: 1, WeightCached: .1, WeightOutput: 4}
	hasty, unnamed := weighed, weighed
	hasty.Agent, hasty.WeightWrite = "hasty", .25
	unnamed.Memo = ""
	arms := []Arm{{"a", weighed}, {"b", hasty}, {"c", unnamed}}
	if got, want := strings.Join(shared(arms), "; "), "variant july; writer utterance; cache prefix"; got != want {
		t.Errorf("shared: %q, want %q", got, want)
	}
	const weights = "token weights fresh input 1 / cached input 0.1 / "
	for i, want := range []string{
		"agent aware; memo ttl; " + weights + "output 4",
		"agent hasty; memo ttl; " + weights + "cache write 0.25 / output 4",
		"agent aware; " + weights + "output 4",
	} {
		if got := strings.Join(differing(arms[i], arms), "; "); got != want {
			t.Errorf("arm %d: %q, want %q", i, got, want)
		}
	}
	if got := shared(nil); got != nil {
		t.Errorf("without arms: %q", got)
	}
	if got := strings.Join(shared(arms[:1]), "; "); !strings.HasSuffix(got, weights+"output 4") {
		t.Errorf("of one arm: %q", got)
	}
	if got := append(shared([]Arm{{}, {}}), differing(Arm{}, []Arm{{}, {}})...); got != nil {
		t.Errorf("nothing assumed: %q", got)
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		x        float64
		decimals int
		want     string
	}{
		{0, 0, "0"}, {math.Copysign(0, -1), 1, "0.0"}, {-.04, 1, "0.0"}, {-.06, 1, "-0.1"}, {999, 0, "999"}, {999.5, 0, "1,000"}, {1000, 0, "1,000"},
		{-123456, 0, "-123,456"}, {1234567.891, 2, "1,234,567.89"}, {-1000.5, 1, "-1,000.5"}, {12, 3, "12.000"},
	} {
		if got := numerals.Number(c.x, c.decimals); got != c.want {
			t.Errorf("numerals.Number(%v, %d) = %q, want %q", c.x, c.decimals, got, c.want)
		}
	}
}

func TestBreakName(t *testing.T) {
	for name, want := range map[string][]string{
		"":                         {""},
		"eager":                    {"eager"},
		"july-listing":             {"july-", "listing"},
		"september-listing":        {"september-", "listing"},
		"a-b-c-d-e-f-g-h":          {"a-b-c-d-e-", "f-g-h"},
		"withoutanyplacetobreakit": {"withoutanyplacetobreakit"},
		"long_and/with.many-parts": {"long_and/", "with.many-", "parts"},
	} {
		if got := breakName(name); !slices.Equal(got, want) {
			t.Errorf("breakName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestAlternatives(t *testing.T) {
	for _, c := range []struct {
		sentences []string
		want      string
	}{
		{[]string{"golds among the first 1 hits, mean", "golds among the first 3 hits, mean"}, "golds among the first 1 | 3 hits, mean"},
		{[]string{"after one is added, mean", "after one is gone, mean"}, "after one is added | gone, mean"},
		{[]string{"path: direct", "path: lost at last"}, "path: direct | lost at last"},
		{[]string{"a b", "a b"}, "a b | "},
		{[]string{"a", "a a"}, "a | a"},
		{[]string{"x y", "z"}, "x y | z"},
	} {
		if got := alternatives(c.sentences); got != strings.TrimSpace(c.want) {
			t.Errorf("alternatives(%q) = %q, want %q", c.sentences, got, c.want)
		}
	}
}

func TestSuperscript(t *testing.T) {
	if got := superscript(1) + superscript(2) + superscript(30); got != "¹²³⁰" {
		t.Errorf("got %q", got)
	}
}

func ExamplePrint() {
	s := Summary{
		Corpus: Corpus{Name: "embedded", Version: "1.0"}, Seed: 42, Sessions: 100,
		Assumptions: []Arm{
			{Name: "eager", Assumptions: Assumptions{Agent: "aware", Tokenizer: "o200k_base"}},
			{Name: "july-listing", Assumptions: Assumptions{Agent: "aware", Tokenizer: "o200k_base", Bridge: true}},
		},
	}
	add := func(measure string, eager, listing float64) {
		s.Figures = append(s.Figures,
			metrics.Figure{Measure: measure, Arm: "eager", Value: eager, N: 100},
			metrics.Figure{Measure: measure, Arm: "july-listing", Value: listing, N: 100})
	}
	s.BreakEvens = []metrics.BreakEven{
		{Measure: metrics.MeasureBreakEvenTurns, Arm: "july-listing", At: 1, Sessions: 100},
		{Measure: metrics.MeasureBreakEvenTokens, Arm: "july-listing", At: 2048, Sessions: 100},
	}
	add("surface_tokens", 31_000, 8_400)
	add("listing_tokens", 0, 4_700)
	add("eager_tokens", 31_000, 31_000)
	add("saved_pct", 0, 72.4)
	add("effective_tokens", 92_000, 51_000)
	add("net_saved", 0, 41_000)
	add("cold_calls", 0, 520)
	add("extra_requests", 0, 1.07)
	add("lost_rate", 0, 0.004)
	var out bytes.Buffer
	if err := Print(&out, s, PrintOptions{Brief: true}); err != nil {
		fmt.Println(err)
	}
	head, _, _ := strings.Cut(out.String(), "\n\nSESSION TOKENS")
	fmt.Print(head)
	// Output:
	// With july-listing the tool schemas of a session's first request take 8,400 tokens instead of 31,000,
	// 72.4% less per session on average. Over a whole session it saves 41,000 of 92,000 effective tokens,
	// from turn 1 on, and where it defers 2,048 tokens of schemas or more. A cold call, the first use of a
	// deferred tool, costs 1.07 extra requests on average, and 0.4% of the tools needed are never reached.
	//
	// Measured on: corpus embedded 1.0, 100 sessions, seed 42
	// Arms:
	//   eager         every schema sent
	//   july-listing  tools deferred and listed
	// Assuming: agent aware, tokenizer o200k_base
	// Reading: ↓ lower is better, ↑ higher is better, - nothing to measure, ≤ that or less
	//
	// SCHEMA TOKENS: the tools array of a session's first request
	//                                      july-
	//                             eager  listing
	//   surface_tokens           31,000    8,400  tokens ↓
	//   listing_tokens                0    4,700  tokens ↓
	//   eager_tokens             31,000   31,000  tokens
	//   n: sessions                 100      100
	//   saved_pct                   0.0     72.4  % ↑
	//   n: sessions with tools      100      100
}
