// Package reportstest makes run folders for the tests of what reads them.
package reportstest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// Manifest is that of a run of drawn sessions, as bench run writes it.
func Manifest(sessions int) reports.Manifest {
	return reports.Manifest{
		Corpus: reports.Corpus{Name: "small", Version: "1", SHA256: "c0ffee"},
		Seed:   1,
		Args: reports.Args{Given: []string{"run"}, Resolved: map[string]any{
			"sessions": fmt.Sprint(sessions), "arms_file": "", "corpus": "", "distribution": "", "distributions": "", "events": "0.25",
			"mcp": "", "system_prompt": "", "shard": "", "weights": metrics.DefaultWeights(),
		}},
		Config: map[string]any{"draw": map[string]any{"options": map[string]any{"seed": 1}, "first": 0, "count": sessions}},
	}
}

// Write plays observations into a run folder and opens it.
func Write(t testing.TB, m reports.Manifest, sessions ...metrics.Observations) *reports.Run {
	t.Helper()
	w, err := reports.Create(t.TempDir(), m)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	figures := metrics.NewAccumulator()
	for _, o := range sessions {
		if err := figures.Add(o); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(reports.StatusSuccess, reports.Summary{Figures: figures.Figures(), BreakEvens: figures.BreakEvens()}); err != nil {
		t.Fatal(err)
	}
	r, err := reports.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Session is one session of one turn under the arms eager and listing: the intent's only tool, "a", is reached on a path
// under listing, and stands at a rank of its first query's hits; 0 is none of them.
func Session(index int, path metrics.Path, rank, surfaceTokens int) metrics.Observations {
	id, intent := fmt.Sprintf("s%03d", index), fmt.Sprintf("i%d", index%7)
	arm := func(name string, bridge bool, tokens int) metrics.SessionArm {
		sum := sha256.Sum256(fmt.Append(nil, name, tokens))
		return metrics.SessionArm{
			SessionID: id, RowIndex: int64(index), Arm: name, Assumptions: metrics.Assumptions{Variant: "july", Bridge: bridge, Tokenizer: "o200k_base"},
			Distribution: "few", ContextLength: 32_000, Turns: 1, EagerTokens: 1000, SurfaceTokens: tokens, VisibleTokens: tokens,
			Requests: 2, PromptTokens: int64(2 * tokens), OutputTokens: 10, EffectiveTokens: float64(2*tokens + 40),
			PromptByTurn: []int64{int64(2 * tokens)}, EffectiveByTurn: []float64{float64(2*tokens + 40)},
			ByteIdentical: true, SurfaceSHA256: hex.EncodeToString(sum[:]),
		}
	}
	search := metrics.Search{SessionID: id, RowIndex: int64(index), Arm: "listing", IntentID: intent, Class: "obvious", Query: "do a",
		Retriever: "bm25", Issued: true, PoolSize: 9, Limit: 5, Gold: []string{"a"}}
	for i := 1; i <= 10; i++ {
		hit := metrics.Hit{Tool: fmt.Sprintf("other%d", i), Rank: i, Score: float64(10 - i)}
		if i == rank {
			hit.Tool = "a"
		}
		search.Hits = append(search.Hits, hit)
	}
	call := metrics.Call{SessionID: id, RowIndex: int64(index), IntentID: intent, Class: "obvious", Tool: "a"}
	direct, bridged := call, call
	direct.Arm, direct.Path = "eager", metrics.PathDirect
	bridged.Arm, bridged.Path, bridged.Deferred, bridged.Cold, bridged.ExtraRequests, bridged.Searches = "listing", path, true, true, 2, 1
	return metrics.Observations{
		Arms:     []metrics.SessionArm{arm("eager", false, 1000), arm("listing", true, surfaceTokens)},
		Calls:    []metrics.Call{direct, bridged},
		Searches: []metrics.Search{search},
	}
}
