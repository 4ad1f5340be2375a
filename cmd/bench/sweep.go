package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/sweep"
)

// sweepFlags are the flags of bench sweep, as given.
type sweepFlags struct {
	run       runFlags
	arms      string
	objective string
}

func sweepCommand(env cli.Env) *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep [KEY=VALUE,...]...",
		Short: "Try many settings on the same sessions and say which to take",
		Long: "Play the same sessions under every combination of the values given, and recommend a setting for\n" +
			"each context length: by how much it is better than the next best and than the default, and what\n" +
			"becomes of it under the other agent models. Eager and the default settings are always among them.\n\n" +
			"Keys: threshold_pct, listing, listing_max_tokens, search_default_limit, retriever, variant; agent,\n" +
			"of which the first is the one that is recommended for; context_length, with which the sessions\n" +
			"are played instead of their own. Without any setting among them:\n  " + strings.Join(sweep.DefaultWords(), " ") + "\n\n" +
			"Recommended is the setting with the least effective tokens, of those whose lost_rate is at most\n" +
			"0.01 above the best listing's. --objective weighs effective_tokens, extra_requests and lost_rate\n" +
			"instead. Of equals the default is taken, then eager, then what changes least.",
		Example: "  bench sweep\n" +
			"  bench sweep context_length=32000,200000 -o tuned\n" +
			"  bench sweep threshold_pct=1,2,5 listing=auto,off --corpus tools-list.json\n" +
			"  bench sweep --objective effective_tokens=1,extra_requests=300,lost_rate=20000\n" +
			"  bench sweep --arms arms.yaml --sessions sessions.parquet --json",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, words []string) error {
			f.run.seedGiven, f.run.eventsGiven = c.Flags().Changed("seed"), c.Flags().Changed("events")
			if err := f.run.checkHarvest(c.Flags()); err != nil {
				return err
			}
			if c.Flags().Changed("arms") && f.arms == "" {
				return cli.Usage(errors.New("--arms: no file named\nhint: name a YAML file that lists arms"))
			}
			if c.Flags().Changed("out") {
				if err := checkNewFolder(f.run.out); err != nil {
					return err
				}
			}
			return runSweep(c.Context(), env, f, words)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.arms, "arms", "", "try the arms of a YAML `FILE` instead of combinations")
	flags.StringVar(&f.objective, "objective", "", "recommend what has the least sum of `MEASURE=WEIGHT,...`")
	flags.StringVar(&f.run.sessions, "sessions", "1000", "draw `N` sessions, or rows A-B of the draw, or read a file of sessions")
	flags.StringVar(&f.run.weights, "weights", "fresh=1,cached=0.1,write=0,output=4", "weigh tokens by `KIND=W,...` in effective tokens")
	flags.StringVar(&f.run.systemPrompt, "system-prompt", "", "open every session with the text of `FILE` (default: a short one)")
	flags.StringVar(&f.run.corpus, "corpus", "", "tools from `PATH`: a corpus folder, exported tools, or synthetic:N (default: the embedded corpus)")
	f.run.harvest.add(flags)
	flags.StringVar(&f.run.distribution, "distribution", "", "draw from `NAME`, or from several as NAME=WEIGHT,... (default few=40,ten=40,forty=20)")
	flags.StringVar(&f.run.distributions, "distributions", "", "add the distributions of a YAML `FILE`")
	flags.StringVar(&f.run.events, "events", defaultEvents, "draw `SHARE` events a turn on average, 0 to 1")
	flags.Uint64Var(&f.run.seed, "seed", 1, "seed `N` of every draw")
	flags.IntVar(&f.run.workers, "workers", runtime.GOMAXPROCS(0), "replay `N` sessions at once; changes no result")
	flags.Lookup("workers").DefValue = "one per CPU"
	flags.StringVarP(&f.run.out, "out", "o", "", "write sweep.json and sweep.parquet to `FOLDER`, which must not exist")
	flags.BoolVar(&f.run.json, "json", false, "print the report as JSON")
	return c
}

func checkNewFolder(out string) error {
	if err := checkOut(out); err != nil {
		return err
	}
	if _, err := os.Lstat(out); err == nil {
		return cli.Input(fmt.Errorf("cannot create the folder %s: file already exists\nhint: name a new folder", out))
	}
	return nil
}

func runSweep(ctx context.Context, env cli.Env, f sweepFlags, words []string) error {
	o, notes, err := sweepOptions(f, words)
	if err != nil {
		return cli.Usage(err)
	}
	folder := f.run.out
	f.run.arms, f.run.out = []string{metrics.EagerArm}, "." // of the plan, which is a run's
	p, err := planRun(ctx, env, f.run)
	if err != nil {
		return err
	}
	cli.NewNotes(env, "bench").Print(append(notes, p.notes...))
	bar := cli.NewProgress(env, p.count, "sessions")
	o.Corpus, o.Weights, o.SystemPrompt, o.Workers, o.Played = p.corpus, p.weights, p.systemPrompt, f.run.workers, bar.Step
	report, err := sweep.Run(ctx, o, p.sessions)
	bar.Done()
	if err != nil {
		return cli.Input(err)
	}
	m := p.manifest
	report.Source.Corpus, report.Source.CorpusVersion, report.Source.CorpusSHA256 = m.Corpus.Name, m.Corpus.Version, m.Corpus.SHA256
	report.Source.SessionsSHA256, report.Source.Seed = m.SessionsSHA256, m.Seed
	if folder != "" {
		if err := report.Write(folder); err != nil {
			return cli.Input(err)
		}
		if p.harvested != nil {
			if _, err := p.harvested.write(filepath.Join(folder, harvestedFolder)); err != nil {
				return cli.Input(err)
			}
		}
	}
	if f.run.json {
		return cli.PrintJSON(env, report)
	}
	if err := report.Print(env.Stdout); err != nil {
		return cli.Output(err)
	}
	if folder != "" {
		_, err = fmt.Fprintf(env.Stdout, "\nFolder: %s\n", folder)
	}
	return cli.Output(err)
}

// sweepOptions reads what is tried and what is wanted.
func sweepOptions(f sweepFlags, words []string) (o sweep.Options, notes []string, err error) {
	if o.Objective, err = sweep.ParseObjective(f.objective); err != nil {
		return o, nil, fmt.Errorf("--objective: %w", err)
	}
	if f.arms == "" {
		o.Grid, err = sweep.ParseGrid(sweep.WithDefaults(words))
		return o, nil, err
	}
	if len(words) > 0 {
		return o, nil, fmt.Errorf("--arms and %s: what is tried comes from one of the two\nhint: leave one out", words[0])
	}
	arms, notes, err := replay.LoadArms(f.arms)
	if err != nil {
		return o, nil, err
	}
	if o.Grid, err = sweep.ArmsGrid(arms); err != nil {
		err = fmt.Errorf("%s: %w", f.arms, err)
	}
	return o, notes, err
}
