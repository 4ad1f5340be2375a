package toolgauge_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/sessions"
)

// The session that docs/measures.md walks through by hand.
const (
	walkCorpus   = "examples/walk/corpus"
	walkSessions = "examples/walk/sessions.jsonl"
)

// walkArms are the arms of the tables, in order. Those of september read alike.
var walkArms = []string{"eager", "july-bare", "july-listing"}

// TestWalk works the session of examples/walk out without the replay's counting:
// the whole text of every request, counted and compared by other means. It holds
// to that what docs/measures.md says of the session, and what bench writes and
// prints of it.
func TestWalk(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a command")
	}
	c, s := loadWalk(t)
	y := newYardstick(t)
	arms := make(map[string]walked)
	for _, arm := range walkArms {
		arms[arm] = walkThrough(t, y, c, s, arm)
	}
	checkGenerated(t, "docs/measures.md", "walk", walkSection(t, arms))

	run, printed := benchWalk(t)
	for row, err := range run.SessionArms() {
		if err != nil {
			t.Fatal(err)
		}
		if w, ok := arms[row.Arm]; ok {
			w.checkRow(t, row, arms["july-bare"])
		}
	}
	checkPaths(t, arms, run.Calls())
	for _, f := range walkFigures(arms) {
		if got := printedFigures(printed, f.measure); !slices.Equal(got, f.values) {
			t.Errorf("bench run prints %s %q, the walk comes to %q", f.measure, got, f.values)
		}
	}
}

// loadWalk loads the example. The digest in the file of sessions covers the
// built-in tools and toolsets too, so that a change of these needs an -update.
func loadWalk(t *testing.T) (*corpus.Corpus, *sessions.Session) {
	t.Helper()
	c, err := corpus.Load(walkCorpus)
	if err != nil {
		t.Fatal(err)
	}
	all, err := sessions.ReadFile(walkSessions)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Fatalf("%s has %d sessions, want 1", walkSessions, len(all))
	}
	s := all[0]
	switch {
	case s.CorpusSHA256 == c.SHA256:
	case *update:
		text, err := os.ReadFile(walkSessions)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(walkSessions, []byte(strings.Replace(string(text), s.CorpusSHA256, c.SHA256, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("%s is of another corpus than %s, or than the built-in tools are now\nhint: go test . -run TestWalk -update, and read what becomes of docs/measures.md", walkSessions, walkCorpus)
	}
	return c, s
}

// benchWalk plays the session with bench, as docs/measures.md says.
func benchWalk(t *testing.T) (*reports.Run, string) {
	t.Helper()
	out := t.TempDir()
	var stderr strings.Builder
	command := exec.Command("go", "run", "./cmd/bench", "run", "--corpus", walkCorpus, "--sessions", walkSessions, "--out", out)
	command.Stderr = &stderr
	printed, err := command.Output()
	if err != nil {
		t.Fatalf("bench run: %v\n%s", err, stderr.String())
	}
	folders, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("bench run left %v (%v)", folders, err)
	}
	run, err := reports.Open(folders[0])
	if err != nil {
		t.Fatal(err)
	}
	return run, string(printed)
}

// checkRow compares a row of session_arms with the walk. The parts of a surface
// show beside the one without a listing.
func (w walked) checkRow(t *testing.T, row metrics.SessionArm, bare walked) {
	t.Helper()
	tenths := func(tokens float64) int64 { return int64(math.Round(10 * tokens)) }
	type counts struct {
		Requests, Surface, Visible, Bridge, Listing, Invalidations int
		Prompt, Cached, Lost, Output, Described, Effective         int64
		SHA256                                                     string
		PromptByTurn, EffectiveByTurn                              []int64
	}
	got := counts{
		row.Requests, row.SurfaceTokens, row.VisibleTokens, row.BridgeTokens, row.ListingTokens, row.Invalidations,
		row.PromptTokens, row.CachedTokens, row.CacheLostTokens, row.OutputTokens, row.DescribedTokens, tenths(row.EffectiveTokens),
		row.SurfaceSHA256, row.PromptByTurn, nil,
	}
	for _, tokens := range row.EffectiveByTurn {
		got.EffectiveByTurn = append(got.EffectiveByTurn, tenths(tokens))
	}
	sum := sha256.Sum256([]byte(w.surface))
	want := counts{
		w.Requests(), w.Surface, w.Visible, w.Bridge(bare), w.Listing(bare), w.Changes,
		int64(w.Prompt), int64(w.Cached), int64(w.Lost), int64(w.Output), int64(w.Described()), int64(w.Effective),
		hex.EncodeToString(sum[:]), w.promptByTurn, w.effectiveByTurn,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the row of %s differs from the walk (-walk +bench):\n%s", row.Arm, d)
	}
}

// Bridge and Listing are the parts of the surface beside the visible tools, in
// tokens.
func (w walked) Bridge(bare walked) int {
	if w.Surface == w.Visible {
		return 0
	}
	return bare.Surface - bare.Visible
}

func (w walked) Listing(bare walked) int { return w.Surface - w.Visible - w.Bridge(bare) }

// Described is the tokens of the schemas that came into the messages.
func (w walked) Described() int {
	sum := 0
	for _, s := range w.Schemas {
		sum += s.Tokens
	}
	return sum
}

// extra is the requests from a turn's first to its call, less those of eager.
func (w walked) extra(turn int, eager walked) int {
	return len(w.turns[turn].requests) - len(eager.turns[turn].requests)
}

// checkPaths compares the ways to the golds.
func checkPaths(t *testing.T, arms map[string]walked, rows iter.Seq2[metrics.Call, error]) {
	t.Helper()
	n := 0
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		w, ok := arms[row.Arm]
		if !ok {
			continue
		}
		n++
		turn := w.turns[row.Turn]
		if row.Path != turn.path || row.Cold != turn.cold {
			t.Errorf("%s, turn %d: path %s, cold %v; the walk has %s, %v", row.Arm, row.Turn+1, row.Path, row.Cold, turn.path, turn.cold)
		}
		if want := w.extra(row.Turn, arms["eager"]); row.Path.Reached() && row.ExtraRequests != want {
			t.Errorf("%s, turn %d: %d extra requests, the walk has %d", row.Arm, row.Turn+1, row.ExtraRequests, want)
		}
	}
	if want := len(walkArms) * len(arms["eager"].turns); n != want {
		t.Errorf("%d rows of calls, want %d", n, want)
	}
}

// walkFigure is a figure of the printed summary, one value for each arm.
type walkFigure struct {
	measure string
	values  []string
}

// walkFigures are those in which the costs of a bridge show, as bench prints them.
func walkFigures(arms map[string]walked) []walkFigure {
	eager, bare := arms["eager"], arms["july-bare"]
	var figures []walkFigure
	add := func(measure string, value func(w walked) string) {
		f := walkFigure{measure: measure}
		for _, arm := range walkArms {
			f.values = append(f.values, value(arms[arm]))
		}
		figures = append(figures, f)
	}
	whole := func(of func(w walked) int) func(w walked) string {
		return func(w walked) string { return thousands(of(w)) }
	}
	add("visible_tokens", whole(func(w walked) int { return w.Visible }))
	add("bridge_tokens", whole(func(w walked) int { return w.Bridge(bare) }))
	add("listing_tokens", whole(func(w walked) int { return w.Listing(bare) }))
	add("requests", func(w walked) string { return fmt.Sprintf("%.2f", float64(w.Requests())) })
	add("extra_requests", func(w walked) string { return w.meanExtra(eager) })
	for _, path := range []metrics.Path{metrics.PathSearched, metrics.PathDescribed} {
		add("path_"+string(path), func(w walked) string { return w.share(path, len(w.turns)) })
	}
	add("described_tokens", whole(walked.Described))
	add("prompt_tokens", whole(func(w walked) int { return w.Prompt }))
	add("invalidations", func(w walked) string { return fmt.Sprintf("%.2f", float64(w.Changes)) })
	add("cache_lost_tokens", whole(func(w walked) int { return w.Lost }))
	add("searches", func(w walked) string { return fmt.Sprintf("%.2f", float64(w.searches())) })
	// All golds can be reached: every turn's but that of the absent intent.
	add("lost_rate", func(w walked) string { return w.share(metrics.PathLost, len(w.turns)-1) })
	add("effective_tokens", func(w walked) string { return tokensOf(w.Effective) })
	add("net_saved", func(w walked) string {
		if w.arm == metrics.EagerArm {
			return "-"
		}
		return tokensOf(eager.Effective - w.Effective)
	})
	return figures
}

// meanExtra is the mean of extra requests over the cold calls that were reached.
func (w walked) meanExtra(eager walked) string {
	sum, n := 0, 0
	for i, turn := range w.turns {
		if turn.cold && turn.path.Reached() {
			sum, n = sum+w.extra(i, eager), n+1
		}
	}
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(sum)/float64(n))
}

// share is that of a path among a number of calls.
func (w walked) share(path metrics.Path, of int) string {
	n := 0
	for _, turn := range w.turns {
		if turn.path == path {
			n++
		}
	}
	return fmt.Sprintf("%.3f", float64(n)/float64(of))
}

func (w walked) searches() int {
	n := 0
	for _, turn := range w.turns {
		for _, r := range turn.requests {
			if r.tool == bridge.SearchTool {
				n++
			}
		}
	}
	return n
}

// printedFigures reads the values of the first arms from a line of a printed
// summary.
func printedFigures(printed, measure string) []string {
	line := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(measure) + ` .*$`).FindString(printed)
	values := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), measure))
	for i := range values {
		values[i] = strings.TrimRight(values[i], "¹²³⁴⁵")
	}
	return values[:min(len(values), len(walkArms))]
}
