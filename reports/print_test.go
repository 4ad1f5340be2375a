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

	"github.com/toolgauge/toolgauge/metrics"
)

// summary is that of a played scene, without a run folder.
func (sc scene) summary(t testing.TB) Summary {
	t.Helper()
	w := &Writer{manifest: sampleManifest(), begun: time.Now(), surfaces: nil}
	accumulator := metrics.NewAccumulator()
	for i := range sc.sessions {
		o := sc.play(i)
		if _, err := w.check(o); err != nil {
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
		{"five-arms.txt", scene{fiveArms, 60, 300, mixedClasses}, PrintOptions{Brief: true}, 130},
		{"small-catalog.txt", scene{threeArms, 12, 3, derivedClass}, PrintOptions{Brief: true}, 100},
		{"without-eager.txt", scene{threeArms[1:2], 40, 300, mixedClasses}, PrintOptions{Brief: true}, 100},
		{"eager-only.txt", scene{threeArms[:1], 40, 300, mixedClasses}, PrintOptions{Brief: true}, 100},
		{"seven-arms.txt", scene{append(slices.Clone(fiveArms), "a-name-that-nobody-would-type", "b"), 40, 50, mixedClasses}, PrintOptions{Brief: true}, 130},
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
	const want = "\nIncomplete: 30 of 1,000 sessions done, 2 failed, 7 skipped; figures are of those done\n"
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
	if !strings.HasPrefix(text, "No arm defers tools") || !strings.Contains(text, "a (tools deferred)") {
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
	summary := func(breakEven int, arms map[string]values) Summary {
		s := Summary{Sessions: 100}
		for _, name := range []string{"eager", "bare", "bare-2", "listing", "listing-2"} {
			figures, there := arms[name]
			if !there {
				continue
			}
			s.Assumptions = append(s.Assumptions, Arm{name, Assumptions{Bridge: name != "eager"}})
			for measure, x := range figures {
				s.Figures = append(s.Figures, metrics.Figure{Measure: measure, Arm: name, Value: x, N: 100})
			}
			s.BreakEvens = append(s.BreakEvens, metrics.BreakEven{Arm: name, Turn: breakEven})
		}
		return s
	}
	saves := values{"listing_tokens": 10, "surface_tokens": 300, "eager_tokens": 1000, "saved_tokens": 700, "saved_pct": 65.25, "prompt_tokens": 4000,
		"net_saved_prompt_tokens": 6000, "cold_calls": 5, "extra_requests": 1.25, "lost_rate": .0125}
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
	for _, c := range []struct {
		name      string
		breakEven int
		arms      map[string]values
		want      []string
	}{
		{"saves", 2, map[string]values{"eager": {}, "listing": saves}, []string{
			"With listing the tool schemas of a session's first request take 300 tokens instead of 1,000, 65.2% less in the mean session.",
			"Over a whole session it saves 6,000 of 10,000 prompt tokens, from turn 2 on.",
			"costs 1.25 extra requests on average, and 1.2% of the tools needed are never reached."}},
		{"never breaks even for good", 0, map[string]values{"listing": saves}, []string{"saves 6,000 of 10,000 prompt tokens, but not in sessions of every length."}},
		{"schemas cost more", 0, map[string]values{"listing": but(values{"surface_tokens": 1200, "saved_pct": -20})}, []string{"take 1,200 tokens instead of 1,000, 20.0% more in the mean session: the bridge costs more than it saves."}},
		{"sessions cost more", 0, map[string]values{"listing": but(values{"net_saved_prompt_tokens": -500})}, []string{
			"65.2% less", "it sends 4,000 prompt tokens where eager sends 3,500: it does not pay."}},
		{"eager not played", 0, map[string]values{"listing": but(values{"net_saved_prompt_tokens": none})}, []string{"The arm eager was not played"}},
		{"nothing lost", 1, map[string]values{"listing": but(values{"lost_rate": 0})}, []string{"on average, and no tool that was needed is lost."}},
		{"nothing reached", 1, map[string]values{"listing": but(values{"extra_requests": none, "lost_rate": 1})}, []string{"No cold call, the first use of a deferred tool, was reached: 100.0% of"}},
		{"nothing called", 1, map[string]values{"listing": but(values{"cold_calls": 0})}, []string{"No deferred tool was needed"}},
		{"a listing before none", 1, map[string]values{"bare": but(values{"listing_tokens": 0, "net_saved_prompt_tokens": 9000}), "listing": saves}, []string{"With listing "}},
		{"the best listing", 1, map[string]values{"listing": saves, "listing-2": but(values{"net_saved_prompt_tokens": 6001})}, []string{"With listing-2 "}},
		{"the first of equals", 1, map[string]values{"listing": saves, "listing-2": saves}, []string{"With listing "}},
		{"no listing", 1, map[string]values{"bare": but(values{"listing_tokens": 0}), "bare-2": but(values{"listing_tokens": 0, "net_saved_prompt_tokens": 1})}, []string{"With bare "}},
	} {
		s := summary(c.breakEven, c.arms)
		got := headline(s, indexFigures(s.Figures))
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q lacks %q", c.name, got, part)
			}
		}
	}
	s := summary(1, map[string]values{"listing": saves})
	s.Sessions = 1
	if got := headline(s, indexFigures(s.Figures)); !strings.HasSuffix(got, "This rests on 1 session only.") {
		t.Errorf("got %q", got)
	}
}

func TestAssumed(t *testing.T) {
	got := strings.Join(assumed([]Arm{
		{"a", Assumptions{Agent: "aware", Writer: "utterance", Retriever: "", Variant: "july"}},
		{"b", Assumptions{Agent: "hasty", Writer: "utterance", Retriever: "bm25", Variant: "july"}},
		{"c", Assumptions{Agent: "aware", Writer: "utterance", Retriever: "bm25", Variant: "july"}},
	}), "; ")
	if want := "agent aware (a, c); agent hasty (b); writer utterance; retriever bm25; variant july"; got != want {
		t.Errorf("got %q", got)
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
		if got := number(c.x, c.decimals); got != c.want {
			t.Errorf("number(%v, %d) = %q, want %q", c.x, c.decimals, got, c.want)
		}
	}
}

func TestBreakName(t *testing.T) {
	for name, want := range map[string][]string{
		"":                         {""},
		"eager":                    {"eager"},
		"july-listing":             {"july-listing"},
		"september-listing":        {"september-", "listing"},
		"a-b-c-d-e-f-g-h":          {"a-b-c-d-e-f-", "g-h"},
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
	s.BreakEvens = []metrics.BreakEven{{Arm: "july-listing", Turn: 1, Curve: []metrics.TurnSaved{{Turn: 1, Sessions: 100, SavedTokens: 20_000}}}}
	add("surface_tokens", 31_000, 8_400)
	add("listing_tokens", 0, 4_700)
	add("eager_tokens", 31_000, 31_000)
	add("saved_pct", 0, 72.4)
	add("prompt_tokens", 361_000, 162_000)
	add("net_saved_prompt_tokens", 0, 199_000)
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
	// 72.4% less in the mean session. Over a whole session it saves 199,000 of 361,000 prompt tokens, from
	// turn 1 on. A cold call, the first use of a deferred tool, costs 1.07 extra requests on average, and
	// 0.4% of the tools needed are never reached.
	//
	// Measured on: corpus embedded 1.0, 100 sessions, seed 42
	// Arms: eager (every schema sent); july-listing (tools deferred and listed)
	// Assuming: agent aware, tokenizer o200k_base
	//
	// SCHEMA TOKENS: the tools array of a session's first request
	//                             eager  july-listing
	//   surface_tokens           31,000         8,400  tokens, lower is better
	//   listing_tokens                0         4,700  tokens, lower is better
	//   eager_tokens             31,000        31,000  tokens
	//   n: sessions                 100           100
	//   saved_pct                   0.0          72.4  %, higher is better
	//   n: sessions with tools      100           100
}
