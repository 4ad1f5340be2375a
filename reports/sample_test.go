package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
	"github.com/toolgauge/toolgauge/internal/provenance"
	"github.com/toolgauge/toolgauge/metrics"
)

// scene is a made-up run: what its arms do and how large its catalogs are.
type scene struct {
	arms     []string
	sessions int
	tools    int // of a session, at most
	class    func(n int) string
}

func mixedClasses(n int) string {
	return []string{"obvious", "paraphrase", "exact name", "multi-tool", "zero overlap", "absent", "confusable"}[n%7]
}

func derivedClass(int) string { return metrics.ClassDerived }

// play draws the observations of one session.
func (sc scene) play(index int) metrics.Observations {
	random := rand.New(rand.NewPCG(7, uint64(index)))
	tools := 1 + sc.tools/4 + random.IntN(max(1, sc.tools))
	id := fmt.Sprintf("%016x", index+1)
	turns := 4 + random.IntN(5)
	var o metrics.Observations
	for _, arm := range sc.arms {
		p := behaviourOf(arm, tools)
		s := playing{metrics.SessionArm{
			SessionID: id, RowIndex: int64(index), Arm: arm, Distribution: "ten", ContextLength: 128_000, Servers: 10, Turns: turns,
			Assumptions: metrics.Assumptions{Variant: p.variant, Bridge: p.bridge, Retriever: "bm25", Agent: "aware", Writer: "utterance", Tokenizer: "o200k_base", Gateway: "off", Memo: "ttl", Cache: "prefix", WeightFresh: 1, WeightCached: .1, WeightOutput: 4},
			Activated:   p.bridge, Tier: p.tier, Form: p.form, BudgetTokens: 6400, VisibleTools: tools - p.deferred, DeferredTools: p.deferred,
			EagerTokens: 250 + 140*tools, VisibleTokens: 250 + 140*(tools-p.deferred), BridgeTokens: p.bridgeTokens, ListingTokens: p.listingTokens,
			DeferredSchemaTokens: 140 * p.deferred,
			ByteIdentical:        true,
			Retained:             metrics.Retained{ToolAdded: new(p.kept), ToolRemoved: new(p.kept - .01), DescriptionEdited: new(p.kept - .02), ServerConnected: new(p.kept * .9)},
		}}
		if index%2 == 0 {
			s.Retained.ServerDisconnected = new(p.kept * .8)
		}
		s.SurfaceTokens = s.VisibleTokens + s.BridgeTokens + s.ListingTokens
		sum := sha256.Sum256(fmt.Append(nil, arm, tools))
		s.SurfaceSHA256 = hex.EncodeToString(sum[:])
		for turn := range turns {
			calls, searches, requests := p.turn(random, sc, s.SessionArm, turn)
			o.Calls = append(o.Calls, calls...)
			o.Searches = append(o.Searches, searches...)
			s.count(turn, requests)
			for _, c := range calls {
				s.WrongCalls += c.WrongCalls
				if c.Cold && c.Path.Reached() {
					s.DescribedTokens += 140
				}
			}
		}
		if strings.HasSuffix(arm, "-gated") {
			s.gate(o.Calls[len(o.Calls)-turns:])
		}
		o.Arms = append(o.Arms, s.SessionArm)
		o.Surfaces = append(o.Surfaces, metrics.Surface{
			SHA256: s.SurfaceSHA256, Activated: s.Activated, Tier: s.Tier, Form: s.Form, BudgetTokens: s.BudgetTokens,
			VisibleTools: s.VisibleTools, DeferredTools: s.DeferredTools, Bytes: 4 * s.SurfaceTokens, Tokenizer: "o200k_base",
			SurfaceTokens: s.SurfaceTokens, VisibleTokens: s.VisibleTokens, BridgeTokens: s.BridgeTokens, ListingTokens: s.ListingTokens,
		})
	}
	return o
}

// playing is a session under an arm whose tokens are being counted.
type playing struct{ metrics.SessionArm }

// count adds the requests of a turn: nine tenths of each prompt are cached, but for the first of the session, and in one
// session of four for the first of its third turn, when a tool has changed.
func (s *playing) count(turn, requests int) {
	for request := range requests {
		prompt := int64(s.SurfaceTokens + 400*(turn+1))
		cached := prompt * 9 / 10
		if turn == 2 && request == 0 && s.RowIndex%4 == 1 {
			s.Invalidations++
			s.CacheLostTokens += cached
			cached = 0
		}
		if s.Requests == 0 {
			cached = 0
		}
		s.Requests++
		s.PromptTokens += prompt
		s.CachedTokens += cached
		s.OutputTokens += 60
	}
	s.EffectiveTokens = float64(s.PromptTokens-s.CachedTokens) + float64(.1*float64(s.CachedTokens)) + float64(4*s.OutputTokens)
	s.PromptByTurn, s.EffectiveByTurn = append(s.PromptByTurn, s.PromptTokens), append(s.EffectiveByTurn, s.EffectiveTokens)
}

// gate puts a gateway in front of a session's calls.
func (s *playing) gate(calls []metrics.Call) {
	s.Assumptions.Gateway = "gateway.yaml@1a2b3c4d"
	for i := range calls {
		c := &calls[i]
		if !c.Path.Reached() {
			continue
		}
		c.Dispatch = metrics.Dispatch{Outcome: metrics.OutcomeOK, Attempts: 1 + i%2, ExecutingMS: float64(40 + (int(c.RowIndex)*7+i*13)%60), Throttled: i == 3}
		if i%2 == 1 {
			c.QueuedMS = 1000
		}
		c.LatencyMS = c.QueuedMS + c.ExecutingMS
		s.Dispatched++
		s.Attempts += c.Attempts
		s.Retries += c.Attempts - 1
		s.SerialMS += c.ExecutingMS
		s.TakenMS += c.LatencyMS
	}
	s.Denied.Scope = int(s.RowIndex) % 3
	s.LeakedSecrets = int(s.RowIndex) / 30
}

// behaviour is what an arm does in a session.
type behaviour struct {
	variant, form                               string
	bridge, listing                             bool
	tier, deferred, bridgeTokens, listingTokens int
	kept                                        float64
}

func behaviourOf(arm string, tools int) behaviour {
	b := behaviour{variant: "july", form: "none", kept: .6}
	if len(arm) > 9 && arm[:9] == "september" {
		b.variant = "september"
	}
	if arm == metrics.EagerArm {
		return b
	}
	b.bridge, b.bridgeTokens, b.deferred, b.kept = true, 301, tools*9/10, .97
	if len(arm) > 7 && arm[len(arm)-7:] == "listing" {
		b.listing, b.form, b.tier, b.listingTokens, b.kept = true, "full", 1, 52+24*b.deferred, .55
	}
	return b
}

// turn plays one intent of one gold.
func (b behaviour) turn(random *rand.Rand, sc scene, s metrics.SessionArm, turn int) ([]metrics.Call, []metrics.Search, int) {
	class := sc.class(int(s.RowIndex) + turn)
	intent := fmt.Sprintf("intent-%d", (int(s.RowIndex)*3+turn)%50)
	call := metrics.Call{SessionID: s.SessionID, RowIndex: s.RowIndex, Arm: s.Arm, Turn: turn, IntentID: intent, Class: class, Tool: "create_issue", Path: metrics.PathDirect}
	search := metrics.Search{SessionID: s.SessionID, RowIndex: s.RowIndex, Arm: s.Arm, Turn: turn, IntentID: intent, Class: class,
		Query: "open an issue about " + intent, Retriever: "bm25", PoolSize: b.deferred, Limit: 5, Gold: []string{"create_issue"}}
	rank := 1 + random.IntN(14)
	for i := 1; i <= 10; i++ {
		hit := metrics.Hit{Tool: fmt.Sprintf("tool_%d", i), Rank: i, Score: 9 / float64(i)}
		if i == rank {
			hit.Tool = "create_issue"
		}
		search.Hits = append(search.Hits, hit)
	}
	requests := 2
	if class == metrics.ClassAbsent {
		call.Tool, call.Path, search.Gold = "", metrics.PathDeclined, nil
		if random.IntN(3) == 0 {
			search.Hits = nil
		}
		requests = 1
	}
	if b.deferred == 0 {
		return []metrics.Call{call}, nil, requests
	}
	if class != metrics.ClassAbsent {
		call.Deferred, call.Cold = true, true
		switch {
		case b.listing:
			call.Path, call.ExtraRequests = metrics.PathDescribed, 1
		case rank <= 5:
			call.Path, call.ExtraRequests, call.Searches, search.Issued = metrics.PathSearched, 2, 1, true
		case rank <= 10:
			call.Path, call.ExtraRequests, call.Searches, search.Issued = metrics.PathRetried, 3, 2, true
			call.WrongCalls = rank % 2
		default:
			call.Path, call.ExtraRequests, call.Searches, search.Issued = metrics.PathLost, 3, 3, true
		}
		requests += call.ExtraRequests
	}
	return []metrics.Call{call}, []metrics.Search{search}, requests
}

func sampleManifest() Manifest {
	return Manifest{
		Build:     provenance.Build{ToolVersion: "v0.1.0", Go: "go1.26.0", OS: "linux", Arch: "amd64", CPU: "Some CPU @ 2 GHz"},
		Args:      Args{Given: []string{"--seed", "42"}, Resolved: map[string]any{"seed": 42, "workers": 2}},
		Config:    map[string]any{"seed": uint64(42), "arms": []string{"eager", "july-bare"}},
		Seed:      42,
		Corpus:    Corpus{Name: "embedded", Version: "1.0", SHA256: "c0ffee"},
		StartedAt: time.Date(2026, 11, 30, 15, 30, 0, 0, time.UTC),
	}
}

var (
	threeArms = []string{"eager", "july-bare", "july-listing"}
	fiveArms  = []string{"eager", "july-bare", "july-listing", "september-bare", "september-listing"}
)

// plainOutput is a file that is not flushed to the disk: tests write many.
type plainOutput struct {
	*os.File
	path string
}

func unsynced(path string) (output, error) {
	file, err := os.CreateTemp(filepath.Dir(path), atomicfile.Prefix)
	return &plainOutput{file, path}, err
}

func (p *plainOutput) Commit() error {
	if err := p.File.Close(); err != nil {
		return err
	}
	return os.Rename(p.File.Name(), p.path)
}

func (p *plainOutput) Abort() {
	if p.File.Close() == nil {
		_ = os.Remove(p.File.Name())
	}
}

// write plays a scene into a run folder under root: all of it, or the part that the manifest says is a shard.
func (sc scene) write(t testing.TB, root string, m Manifest) *Result {
	t.Helper()
	w, err := create(root, m, unsynced)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	part := Shard{Rows: int64(sc.sessions)}
	if m.Shard != nil {
		part = *m.Shard
	}
	accumulator := metrics.NewAccumulator()
	for i := part.First; i < part.First+part.Rows; i++ {
		o := sc.play(int(i))
		if err := w.Add(o); err != nil {
			t.Fatal(err)
		}
		if err := accumulator.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	result, err := w.Finish(StatusSuccess, Summary{Figures: accumulator.Figures(), BreakEvens: accumulator.BreakEvens()})
	if err != nil {
		t.Fatal(err)
	}
	return result
}
