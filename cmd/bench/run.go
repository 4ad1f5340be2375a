package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/reports"
)

// runFlags are the flags of bench run, as given.
type runFlags struct {
	sessions      string
	arms          []string
	gateway       string
	suite         string
	weights       string
	systemPrompt  string
	corpus        string
	distribution  string
	distributions string
	events        string
	seed          uint64
	seedGiven     bool
	eventsGiven   bool
	armsGiven     bool
	suiteGiven    bool
	workers       int
	out           string
	json          bool
	shard         string
	merge         bool
	resume        bool
	harvest       harvestFlags
}

// defaultEvents is the share of events that a session is drawn with unless --events says another.
const defaultEvents = "0.25"

func runCommand(env cli.Env) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Replay sessions under every arm and write a run folder",
		Long: "Draw sessions (or read them from a file), replay each under every arm through the whole pipeline,\n" +
			"print what it saves and costs, and write a folder with Parquet tables, a summary and a manifest.",
		Example: "  bench run\n" +
			"  bench run --mcp mcp.json\n" +
			"  bench run --corpus tools-list.json --sessions 2000\n" +
			"  bench run --sessions sessions.parquet --arms eager,july-listing --json\n" +
			"  bench run --gateway examples/gateway.yaml\n" +
			"  bench run --suite gateway\n" +
			"  bench run --sessions 100000 --resume\n" +
			"  bench run --sessions 100000 --shard 2/4\n" +
			"  bench run --merge shards/*",
		Args: func(c *cobra.Command, words []string) error {
			if f.merge {
				return nil
			}
			return cli.NoArguments(c, words)
		},
		RunE: func(c *cobra.Command, words []string) error {
			if f.merge {
				return mergeRuns(c.Context(), env, f, c.Flags(), words)
			}
			f.seedGiven, f.eventsGiven = c.Flags().Changed("seed"), c.Flags().Changed("events")
			f.armsGiven, f.suiteGiven = c.Flags().Changed("arms"), c.Flags().Changed("suite")
			if err := f.checkHarvest(c.Flags()); err != nil {
				return err
			}
			return runBench(c.Context(), env, f)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.sessions, "sessions", "1000", "draw `N` sessions, or rows A-B of the draw, or read a file of sessions")
	flags.StringSliceVar(&f.arms, "arms", armNames(), "play the default arms `NAME,...`, or those of a YAML file")
	flags.StringVar(&f.gateway, "gateway", "", "carry calls through the gateway of a YAML `FILE`, in arms that say nothing of one")
	flags.StringVar(&f.suite, "suite", "", "play the scenarios of suite `NAME` (gateway) without a gateway and with its own, or that of --gateway")
	flags.StringVar(&f.weights, "weights", "fresh=1,cached=0.1,write=0,output=4", "weigh tokens by `KIND=W,...` in effective tokens")
	flags.StringVar(&f.systemPrompt, "system-prompt", "", "open every session with the text of `FILE` (default: a short one)")
	flags.StringVar(&f.corpus, "corpus", "", "tools from `PATH`: a corpus folder, exported tools, or synthetic:N (default: the embedded corpus)")
	f.harvest.add(flags)
	flags.StringVar(&f.distribution, "distribution", "", "draw from `NAME`, or from several as NAME=WEIGHT,... (default few=40,ten=40,forty=20; with --mcp all servers)")
	flags.StringVar(&f.distributions, "distributions", "", "add the distributions of a YAML `FILE`")
	flags.StringVar(&f.events, "events", defaultEvents, "draw `SHARE` events a turn on average, 0 to 1")
	flags.Uint64Var(&f.seed, "seed", 1, "seed `N` of every draw")
	flags.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "replay `N` sessions at once; changes no result")
	flags.Lookup("workers").DefValue = "one per CPU"
	flags.StringVarP(&f.out, "out", "o", "runs", "make the run folder in `FOLDER`")
	flags.BoolVar(&f.json, "json", false, "print the summary as JSON")
	flags.BoolVar(&f.resume, "resume", false, "go on from the interrupted run of this input in --out; if there is none, begin")
	flags.StringVar(&f.shard, "shard", "", "play only the shard `i/N` of the sessions, i from 1; --merge joins all N")
	flags.BoolVar(&f.merge, "merge", false, "make one run of the shards in the folders given as arguments")
	return c
}

func armNames() []string {
	var names []string
	for _, a := range replay.DefaultArms() {
		names = append(names, a.Name)
	}
	return names
}

func runBench(ctx context.Context, env cli.Env, f runFlags) error {
	p, err := planRun(ctx, env, f)
	if err != nil {
		return err
	}
	earlier, err := p.earlier(f)
	if err != nil {
		return cli.Input(err)
	}
	if earlier != nil && earlier.Manifest.Status == reports.StatusSuccess {
		return p.printComplete(env, f, earlier)
	}
	w, err := reports.Create(f.out, p.manifest)
	if err != nil {
		return cli.Input(err)
	}
	defer w.Abort()
	notes := cli.NewNotes(env, "bench")
	notes.Print(p.notes)

	status := reports.StatusSuccess
	summary, err := p.play(ctx, env, f, earlier, w)
	if err != nil {
		// Whoever has nothing new to keep has still what was there before.
		if !errors.Is(err, context.Canceled) || summary.Counts.Done == summary.Counts.Skipped {
			return cli.Input(err)
		}
		status = reports.StatusInterrupted
	}
	result, err := w.Finish(status, summary)
	if err != nil {
		return cli.Input(err)
	}
	if err := p.keepHarvested(result.Dir); err != nil {
		return err
	}
	notes.Print(discard(earlier))
	if err := p.print(env, f, result); err != nil {
		return err
	}
	if status == reports.StatusInterrupted {
		return cli.Status(cli.ExitInterrupted, fmt.Errorf("interrupted; %s are kept in %s\nhint: the same command with --resume goes on from there",
			sessionsDone(result.Manifest.Counts), result.Dir))
	}
	return nil
}

// play hands the observations of all sessions to the writer, those of an earlier run
// (nil: of none) and then those that it has not, and sums them up. After an error the
// summary is of what came before it.
func (p *plan) play(ctx context.Context, env cli.Env, f runFlags, earlier *reports.Run, w *reports.Writer) (reports.Summary, error) {
	figures := metrics.NewAccumulator()
	counts := reports.Counts{Attempted: p.attempted()}
	bar := cli.NewProgress(env, p.attempted(), "sessions")
	step := func() {
		counts.Done++
		bar.Step()
	}
	var err error
	if earlier != nil {
		err = w.AddRun(ctx, earlier, figures, step)
		counts.Skipped = counts.Done
		p.skip(counts.Skipped)
	}
	if err == nil {
		err = replay.Run(ctx, replay.Options{Corpus: p.corpus, Arms: p.arms, Weights: p.weights, SystemPrompt: p.systemPrompt, World: p.world()}, p.sessions, f.workers, func(o metrics.Observations) error {
			if err := figures.Add(o); err != nil {
				return err
			}
			if err := w.Add(o); err != nil {
				return err
			}
			step()
			return nil
		})
	}
	bar.Done()
	counts.Attempted = max(counts.Attempted, counts.Done)
	return reports.Summary{Figures: figures.Figures(), BreakEvens: figures.BreakEvens(), Distributions: figures.Distributions(), Counts: counts}, err
}

// sessionsDone words how many sessions an interrupted run has finished.
func sessionsDone(c reports.Counts) string {
	if c.Attempted > c.Done {
		return fmt.Sprintf("%d of %d sessions", c.Done, c.Attempted)
	}
	return fmt.Sprintf("the first %d sessions", c.Done)
}

// print prints what servers cost that were asked, and the run.
func (p *plan) print(env cli.Env, f runFlags, result *reports.Result) error {
	if !f.json {
		if err := p.printHarvested(env, result.Summary); err != nil {
			return err
		}
	}
	return printRun(env, f, result)
}

// printRun prints the summary, and where the run folder is: below the text, or
// beside the JSON.
func printRun(env cli.Env, f runFlags, result *reports.Result) error {
	if f.json {
		fmt.Fprintf(env.Stderr, "bench: run folder: %s\n", result.Dir)
		return cli.PrintJSON(env, result.Summary)
	}
	if err := reports.Print(env.Stdout, result.Summary, reports.PrintOptions{}); err != nil {
		return cli.Output(err)
	}
	_, err := fmt.Fprintf(env.Stdout, "\nRun folder: %s\n", result.Dir)
	return cli.Output(err)
}
