package toolgauge_test

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/sessions"
)

const (
	resultsFile = "docs/results.md"
	toucanFile  = "../shared/data/public/toucan/tools.jsonl"

	cutsPerSize = 20
	tasksPerCut = 6 // of 2 and 3 calls in turn
)

// publishedRun is what was published of the reference at one size of catalog:
// prompt tokens of a task in thousands, mean over its tasks, by arm.
type publishedRun struct {
	deferred int
	tokens   map[string]float64
}

func publishedRuns() []publishedRun {
	return []publishedRun{
		{62, map[string]float64{replay.Eager: 117, "july-bare": 147, "july-listing": 164}},
		{830, map[string]float64{replay.Eager: 811, "july-bare": 161, "july-listing": 257}},
	}
}

// conditions are the choices that the published figures leave open.
type conditions struct {
	name         string
	toolset      string
	systemTokens int // 0: the default prompt
	context      int // tokens
	writer       string
	agents       []string // that play the arms with a bridge
	atOnce       bool     // the calls of a task do not wait for one another
	heavy        bool     // cuts from the half of the servers with the larger definitions
}

func baseConditions() conditions {
	return conditions{
		name: "as in the first table", toolset: "hermes-cli", context: 1_000_000,
		writer: replay.WriterRecorded, agents: []string{replay.AgentAware},
	}
}

// bothAgents are the base conditions with the agent that knows the right tool by
// its name and the one that does not.
func bothAgents() conditions {
	c := baseConditions()
	c.agents = append(c.agents, replay.AgentHasty)
	return c
}

// variants are the base conditions, and then those with one choice changed.
func variants() []conditions {
	change := func(name string, apply func(*conditions)) conditions {
		c := baseConditions()
		c.name = name
		apply(&c)
		return c
	}
	return []conditions{
		baseConditions(),
		change("system prompt of 5,000 tokens", func(c *conditions) { c.systemTokens = 5000 }),
		change("toolset `coding`: 32 core tools, not 54", func(c *conditions) { c.toolset = "coding" }),
		change("the calls of a task at once", func(c *conditions) { c.atOnce = true }),
		change("writer `utterance`", func(c *conditions) { c.writer = replay.WriterUtterance }),
		change("context of 200,000 tokens", func(c *conditions) { c.context = 200_000 }),
		change("the heavier half of the servers", func(c *conditions) { c.heavy = true }),
	}
}

// catalog is a corpus to cut from.
type catalog struct {
	corpus *corpus.Corpus
	// intents by the tool that serves them.
	intents  map[string]*corpus.Intent
	bySource map[string][]*corpus.Tool
	// sources are those that give the schema of each of their tools, by name; heavy
	// is the half of them with the larger definitions, by name.
	sources, heavy []string
}

func loadCatalog(t *testing.T) *catalog {
	t.Helper()
	loaded, err := corpus.Load(toucanFile)
	if err != nil {
		t.Fatal(err)
	}
	c := &catalog{corpus: loaded.WithDerived(), intents: make(map[string]*corpus.Intent), bySource: make(map[string][]*corpus.Tool)}
	for _, in := range c.corpus.Intents {
		c.intents[in.Gold[0].Tool] = in
	}
	for _, tool := range c.corpus.Tools {
		if !tool.Builtin {
			c.bySource[tool.Toolset] = append(c.bySource[tool.Toolset], tool)
		}
	}
	unknown := func(tool *corpus.Tool) bool { return !bytes.Contains(tool.Raw, []byte(`"inputSchema"`)) }
	for _, source := range c.corpus.SourceNames() {
		if !slices.ContainsFunc(c.bySource[source], unknown) {
			c.sources = append(c.sources, source)
		}
	}
	byWeight := slices.Clone(c.sources)
	slices.SortStableFunc(byWeight, func(a, b string) int { return cmp.Compare(c.weight(b), c.weight(a)) })
	c.heavy = byWeight[:len(byWeight)/2]
	slices.Sort(c.heavy)
	return c
}

// weight is the mean length of a source's definitions, in bytes.
func (c *catalog) weight(source string) int {
	sum := 0
	for _, tool := range c.bySource[source] {
		sum += len(tool.Definition.JSON)
	}
	return sum / len(c.bySource[source])
}

// cut draws whole servers until they have exactly size tools, and passes over
// those that would have too many.
func (c *catalog) cut(s *distributions.Stream, from []string, size int) (servers []string, asked []*corpus.Intent) {
	for _, i := range s.Perm(len(from)) {
		tools := c.bySource[from[i]]
		if len(tools) > size {
			continue
		}
		size -= len(tools)
		servers = append(servers, from[i])
		for _, tool := range tools {
			if in := c.intents[tool.ID]; in != nil {
				asked = append(asked, in)
			}
		}
	}
	return servers, asked
}

// task asks for several tools in one turn: what is said joins their intents, and
// what is searched for is one intent after the other.
func task(intents []*corpus.Intent, atOnce bool) *sessions.Turn {
	turn := &sessions.Turn{IntentID: "task", Language: "en", Class: corpus.Derived}
	for i, in := range intents {
		gold := in.Gold[0]
		if i > 0 && !atOnce {
			gold.DependsOn = []int{i - 1}
		}
		turn.Gold = append(turn.Gold, gold)
		turn.Queries = append(turn.Queries, in.Utterance)
	}
	turn.Utterance = strings.Join(turn.Queries, ". Then: ")
	return turn
}

// sessions are the tasks of all cuts of a size, a session each.
func (c *catalog) sessions(of conditions, size int) []*sessions.Session {
	from := c.sources
	if of.heavy {
		from = c.heavy
	}
	var all []*sessions.Session
	for cut := range cutsPerSize {
		stream := distributions.NewStream(1, fmt.Sprintf("results-%d", size), uint64(cut))
		servers, asked := c.cut(stream, from, size)
		for i := range tasksPerCut {
			var intents []*corpus.Intent
			for _, at := range stream.SampleK(len(asked), 2+i%2) {
				intents = append(intents, asked[at])
			}
			all = append(all, &sessions.Session{
				SessionID: fmt.Sprintf("cut-%d-task-%d", cut, i), RowIndex: int64(len(all)), Seed: 1,
				Toolsets: []string{of.toolset}, Servers: servers, ContextLength: of.context, CorpusSHA256: c.corpus.SHA256,
				Events: []sessions.Event{{Kind: sessions.KindTurn, Turn: task(intents, of.atOnce)}},
			})
		}
	}
	return all
}

func each(all []*sessions.Session) iter.Seq2[*sessions.Session, error] {
	return func(yield func(*sessions.Session, error) bool) {
		for _, s := range all {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// arms are eager, and each arm with a bridge played by each agent.
func (of conditions) arms() []replay.Arm {
	var arms []replay.Arm
	for _, a := range replay.DefaultArms() {
		if publishedRuns()[0].tokens[a.Name] == 0 {
			continue
		}
		a.Writer, a.Cache = of.writer, replay.CacheNone
		for _, agent := range of.agents {
			named := a
			named.Agent = agent
			if a.Bridge {
				named.Name += " " + agent
			}
			arms = append(arms, named)
			if !a.Bridge {
				break // it has nothing to search or to describe
			}
		}
	}
	return arms
}

// played sums up what the tasks of one size took under one arm.
type played struct {
	prompts     [cutsPerSize]int64 // tokens
	requests    int
	surface     int // tokens of the first request's tools array
	golds, lost int
	forms       []string // of the listing, in the order of their coming
}

// results are what was played, by deferred tools and by arm.
type results map[int]map[string]*played

const tasks = cutsPerSize * tasksPerCut

// prompt is the mean of a task, in tokens; low and high are the least and the
// greatest mean of a cut.
func (p *played) prompt() (mean, low, high float64) {
	var sum int64
	for _, s := range p.prompts {
		sum += s
	}
	return float64(sum) / tasks, float64(slices.Min(p.prompts[:])) / tasksPerCut, float64(slices.Max(p.prompts[:])) / tasksPerCut
}

func (p *played) mean() float64 {
	mean, _, _ := p.prompt()
	return mean
}

func (p *played) requestsMean() float64 { return float64(p.requests) / tasks }

func (p *played) surfaceMean() float64 { return float64(p.surface) / tasks }

// size is that of a request, in tokens.
func (p *played) size() float64 { return p.mean() / p.requestsMean() }

func (c *catalog) play(t *testing.T, of conditions, size int) map[string]*played {
	t.Helper()
	arms, out := of.arms(), make(map[string]*played)
	for _, a := range arms {
		out[a.Name] = &played{}
	}
	options := replay.Options{Corpus: c.corpus, Arms: arms, SystemPrompt: systemPrompt(t, of.systemTokens), Repeats: 1}
	err := replay.Run(t.Context(), options, each(c.sessions(of, size)), runtime.GOMAXPROCS(0), func(o metrics.Observations) error {
		for _, row := range o.Arms {
			p := out[row.Arm]
			p.prompts[row.RowIndex/tasksPerCut] += row.PromptTokens
			p.requests += row.Requests
			p.surface += row.SurfaceTokens
			if !slices.Contains(p.forms, row.Form) {
				p.forms = append(p.forms, row.Form)
			}
			if row.DeferredTools != size && row.Arm != replay.Eager {
				t.Errorf("%s: %d deferred tools, want %d", row.SessionID, row.DeferredTools, size)
			}
		}
		for _, call := range o.Calls {
			out[call.Arm].golds++
			if !call.Path.Reached() {
				out[call.Arm].lost++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// systemPrompt is a prompt of at least so many tokens: one sentence again and
// again, which counts like any other text of its length.
func systemPrompt(t *testing.T, least int) string {
	t.Helper()
	if least == 0 {
		return ""
	}
	counter, err := tokens.New("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	const sentence = "Look at what is there before you act, and say what you did. "
	return strings.Repeat(sentence, (least+counter.Count(sentence)-1)/counter.Count(sentence))
}

// TestResults plays tasks at the sizes of the published runs, lays the figures
// beside those in the tables of docs/results.md, and holds them to the order that
// was published.
func TestResults(t *testing.T) {
	if testing.Short() {
		t.Skip("plays some thousand sessions")
	}
	if _, err := os.Stat(toucanFile); err != nil {
		t.Skipf("the catalogs that this cuts from are not here: %v", err)
	}
	c := loadCatalog(t)
	first := c.playAll(t, bothAgents())
	checkOrder(t, first)

	var tables strings.Builder
	writeResults(&tables, first)
	writeFactors(&tables, first)
	writeVariantsHead(&tables)
	for i, of := range variants() {
		out := first
		if i > 0 {
			out = c.playAll(t, of)
		}
		writeVariant(&tables, of.name, out)
	}
	fmt.Fprintf(&tables, "\nCut from %d servers with %d tools.\n", len(c.sources), c.tools(c.sources))
	holdGenerated(t, tables.String())
}

func (c *catalog) playAll(t *testing.T, of conditions) results {
	t.Helper()
	out := make(results)
	for _, run := range publishedRuns() {
		out[run.deferred] = c.play(t, of, run.deferred)
	}
	return out
}

func (c *catalog) tools(sources []string) int {
	sum := 0
	for _, source := range sources {
		sum += len(c.bySource[source])
	}
	return sum
}

// checkOrder holds the replay to what was published: a bridge costs at the small
// size and pays at the large one, most without a listing; and the requests of
// models lie between those of the two agents.
func checkOrder(t *testing.T, out results) {
	t.Helper()
	mean := func(size int, arm string) float64 { return out[size][arm].mean() }
	for _, arm := range []string{"july-bare aware", "july-listing aware"} {
		if mean(62, arm) <= mean(62, replay.Eager) {
			t.Errorf("62 tools: %s takes no more than eager", arm)
		}
		if mean(830, arm) >= mean(830, replay.Eager) {
			t.Errorf("830 tools: %s takes no less than eager", arm)
		}
	}
	if mean(830, "july-bare aware") >= mean(830, "july-listing aware") {
		t.Error("830 tools: the listing takes no more than doing without")
	}
	for _, run := range publishedRuns() {
		all := out[run.deferred]
		for _, name := range []string{"july-bare", "july-listing"} {
			published, _ := readPublished(run, name, out)
			published *= all[replay.Eager].requestsMean()
			if low, high := all[name+" aware"].requestsMean(), all[name+" hasty"].requestsMean(); published < low || published > high {
				t.Errorf("%s, %d tools: the published ratio is that of %.2f requests, not between %.2f and %.2f", name, run.deferred, published, low, high)
			}
		}
	}
}

func writeResults(w *strings.Builder, out results) {
	w.WriteString("| tools | arm, agent | published | ours (least–most of the cuts) | ours ÷ published | ÷ eager, published | ÷ eager, ours | requests | tokens a request | tools array | listing | calls lost |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, run := range publishedRuns() {
		eager := out[run.deferred][replay.Eager]
		for _, a := range bothAgents().arms() {
			name, _, _ := strings.Cut(a.Name, " ")
			p := out[run.deferred][a.Name]
			mean, low, high := p.prompt()
			published := run.tokens[name]
			fmt.Fprintf(w, "| %d | %s | %.0fk | %.1fk (%.1fk–%.1fk) | %.2f | %.2f | %.2f | %.2f | %.1fk | %.1fk | %s | %.0f %% |\n",
				run.deferred, a.Name, published, mean/1000, low/1000, high/1000, mean/1000/published,
				published/run.tokens[replay.Eager], mean/eager.mean(), p.requestsMean(), p.size()/1000,
				p.surfaceMean()/1000, strings.Join(p.forms, ", "), 100*float64(p.lost)/float64(p.golds))
		}
	}
}

// readPublished splits a published ratio to eager into that of the requests and
// that of the tokens a request. The second is worked out: a deferred tool takes
// the difference of eager's two figures over the difference in tools, without
// which the rest of eager's prompt remains; a listing makes that larger by what it
// makes the tools array larger here.
func readPublished(run publishedRun, name string, out results) (requests, size float64) {
	runs := publishedRuns()
	tool := (runs[1].tokens[replay.Eager] - runs[0].tokens[replay.Eager]) / float64(runs[1].deferred-runs[0].deferred)
	size = 1 - float64(tool*float64(run.deferred))/run.tokens[replay.Eager]
	all := out[run.deferred]
	size *= all[name+" aware"].surfaceMean() / all["july-bare aware"].surfaceMean()
	return run.tokens[name] / run.tokens[replay.Eager] / size, size
}

// writeFactors splits each ratio to eager, the published one and ours.
func writeFactors(w *strings.Builder, out results) {
	w.WriteString("\n| ratio to eager | published | = requests × tokens a request | ours, aware | = requests × tokens a request | ours, hasty | = requests × tokens a request |\n" +
		"|---|---|---|---|---|---|---|\n")
	for _, run := range publishedRuns() {
		all := out[run.deferred]
		for _, name := range []string{"july-bare", "july-listing"} {
			requests, size := readPublished(run, name, out)
			fmt.Fprintf(w, "| %s, %d tools | %.2f | %.2f × %.3f |", name, run.deferred, requests*size, requests, size)
			for _, agent := range bothAgents().agents {
				p, eager := all[name+" "+agent], all[replay.Eager]
				fmt.Fprintf(w, " %.2f | %.2f × %.3f |", p.mean()/eager.mean(), p.requestsMean()/eager.requestsMean(), p.size()/eager.size())
			}
			w.WriteString("\n")
		}
	}
}

func writeVariantsHead(w *strings.Builder) {
	w.WriteString("\n| conditions | 62: eager | bare ÷ eager | listing ÷ eager | requests | 830: eager | bare ÷ eager | listing ÷ eager | requests |\n" +
		"|---|---|---|---|---|---|---|---|---|\n" +
		"| published |")
	for _, run := range publishedRuns() {
		eager := run.tokens[replay.Eager]
		fmt.Fprintf(w, " %.0fk | %.2f | %.2f | not said |", eager, run.tokens["july-bare"]/eager, run.tokens["july-listing"]/eager)
	}
	w.WriteString("\n")
}

func writeVariant(w *strings.Builder, name string, out results) {
	fmt.Fprintf(w, "| %s |", name)
	for _, run := range publishedRuns() {
		all := out[run.deferred]
		eager, bare, listing := all[replay.Eager], all["july-bare aware"], all["july-listing aware"]
		fmt.Fprintf(w, " %.1fk | %.2f | %.2f | %.2f, %.2f, %.2f |", eager.mean()/1000, bare.mean()/eager.mean(), listing.mean()/eager.mean(),
			eager.requestsMean(), bare.requestsMean(), listing.requestsMean())
	}
	w.WriteString("\n")
}

// holdGenerated compares a table with the generated part of docs/results.md, or
// rewrites it.
func holdGenerated(t *testing.T, table string) {
	t.Helper()
	const begin, end = "<!-- generated: results -->\n", "<!-- end -->"
	text, err := os.ReadFile(resultsFile)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	shown, tail, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s has no generated part", resultsFile)
	case shown == table:
	case !*update:
		t.Fatalf("the tables of %s differ from what is played:\n%s\nhint: go test . -run TestResults -update, then read the paragraphs below them again", resultsFile, table)
	default:
		if err := os.WriteFile(resultsFile, []byte(head+begin+table+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
