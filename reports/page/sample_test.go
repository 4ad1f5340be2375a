package page_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/provenance"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// scene is a made-up run under three arms: eager, one that loses every third gold, and one with a listing.
type scene struct {
	sessions, intents int
	seed              uint64
	corpus            string
	name              func(i int) string // of a tool, and what is asked of it
	status            reports.Status
}

func plainName(i int) string { return fmt.Sprintf("server/tool_%d", i) }

// play makes the observations of one session, of one turn.
func (sc scene) play(index int) metrics.Observations {
	var o metrics.Observations
	id := fmt.Sprintf("%016x", index+1)
	intent := index % sc.intents
	tool := sc.name(intent)
	class := []string{"obvious", "paraphrase"}[intent%2]
	for k, arm := range []string{metrics.EagerArm, "bare", "listing"} {
		deferred := k > 0
		s := metrics.SessionArm{
			SessionID: id, RowIndex: int64(index), Arm: arm, Turns: 2, ContextLength: 128_000, Activated: deferred, Form: []string{"none", "none", "full"}[k], BudgetTokens: 1600 + 100*(index%3),
			Assumptions:     metrics.Assumptions{Variant: "july", Bridge: deferred, Retriever: "bm25", Agent: "aware", Writer: "utterance", Tokenizer: "o200k_base", Gateway: "off", WeightFresh: 1, WeightOutput: 4},
			EagerTokens:     30_000,
			SurfaceTokens:   []int{30_000, 4_000, 6_000}[k],
			VisibleTokens:   []int{30_000, 3_700, 3_700}[k],
			BridgeTokens:    []int{0, 300, 300}[k],
			ListingTokens:   []int{0, 0, 2_000}[k],
			Requests:        2,
			PromptTokens:    int64([]int{70_000, 20_000, 24_000}[k]),
			EffectiveTokens: []float64{70_000, 20_000, 24_000}[k],
			PromptByTurn:    []int64{12_000, int64([]int{70_000, 20_000, 24_000}[k])},
			EffectiveByTurn: []float64{12_000, []float64{70_000, 20_000, 24_000}[k]},
			ByteIdentical:   true,
			SurfaceSHA256:   fmt.Sprintf("%064x", k),
		}
		if deferred {
			s.DeferredSchemaTokens, s.DeferredTools = 26_000, 200
		}
		o.Arms = append(o.Arms, s)
		o.Surfaces = append(o.Surfaces, metrics.Surface{SHA256: s.SurfaceSHA256})
		call := metrics.Call{SessionID: id, RowIndex: int64(index), Arm: arm, IntentID: fmt.Sprint("intent-", intent), Class: class, Tool: tool, Path: metrics.PathDirect}
		if deferred {
			call.Deferred, call.Cold, call.Path, call.ExtraRequests = true, true, metrics.PathDescribed, 1
			if arm == "bare" {
				call.Path, call.ExtraRequests = metrics.PathSearched, 2
				if intent%3 == 0 {
					call.Path = metrics.PathLost
				}
			}
			o.Searches = append(o.Searches, sc.search(call, tool, intent))
		}
		o.Calls = append(o.Calls, call)
	}
	return o
}

// search finds the gold unless the intent is a third one.
func (sc scene) search(call metrics.Call, tool string, intent int) metrics.Search {
	s := metrics.Search{SessionID: call.SessionID, RowIndex: call.RowIndex, Arm: call.Arm, IntentID: call.IntentID, Class: call.Class,
		Query: "please use " + tool, Retriever: "bm25", Issued: call.Arm == "bare", PoolSize: 200, Limit: 5, Gold: []string{tool}}
	for rank := 1; rank <= 10; rank++ {
		hit := sc.name(1000 + intent + rank)
		if rank == 2 && intent%3 > 0 {
			hit = tool
		}
		s.Hits = append(s.Hits, metrics.Hit{Tool: hit, Rank: rank, Score: 12.5 / float64(rank)})
	}
	return s
}

// run plays a scene into a run folder and opens it.
func (sc scene) run(t testing.TB) *reports.Run {
	t.Helper()
	if sc.status == "" {
		sc.status = reports.StatusSuccess
	}
	w, err := reports.Create(t.TempDir(), reports.Manifest{
		Seed: sc.seed, Config: map[string]any{"seed": sc.seed}, Corpus: reports.Corpus{Name: sc.corpus, Version: "1", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(sc.corpus)))},
		Build: provenance.Build{ToolVersion: "v1.2.3", OS: "some-os", Arch: "some-arch", CPU: "some-cpu"}, StartedAt: time.Date(2031, 4, 5, 6, 7, 8, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	figures := metrics.NewAccumulator()
	for i := range sc.sessions {
		o := sc.play(i)
		if err := w.Add(o); err != nil {
			t.Fatal(err)
		}
		if err := figures.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	result, err := w.Finish(sc.status, reports.Summary{Figures: figures.Figures(), BreakEvens: figures.BreakEvens()})
	if err != nil {
		t.Fatal(err)
	}
	run, err := reports.Open(result.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}
