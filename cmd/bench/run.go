package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/internal/provenance"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/sessions"
)

// runFlags are the flags of bench run, as given.
type runFlags struct {
	corpus        string
	distributions string
	arms          []string
	sessions      string
	distribution  string
	seed          uint64
	workers       int
	out           string
	json          bool
}

func runCommand(env cli.Env) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Replay sessions under every arm and write a run folder",
		Long: "Draw sessions (or read them from a file), replay each under every arm through the whole pipeline, print what\n" +
			"it saves and costs, and write a folder with Parquet tables, a summary and a manifest.",
		Example: "  bench run\n" +
			"  bench run --corpus tools-list.json --sessions 2000\n" +
			"  bench run --sessions sessions.parquet --arms eager,july-listing --json",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return runBench(c.Context(), env, f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.corpus, "corpus", "", "corpus folder, or exported tools (default: the embedded corpus)")
	flags.StringVar(&f.distributions, "distributions", "", "YAML file with distributions of your own")
	flags.StringSliceVar(&f.arms, "arms", nil, "arms to play, by name (default: all)")
	flags.StringVar(&f.sessions, "sessions", "1000", "how many sessions to draw, rows A-B of the draw, or a file of sessions")
	flags.StringVar(&f.distribution, "distribution", "", "draw from this distribution, or several as NAME=WEIGHT,... (default few=40,ten=40,forty=20)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of every draw")
	flags.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "sessions replayed at once; changes no result")
	flags.StringVarP(&f.out, "out", "o", "runs", "folder that the run folder is made in")
	flags.BoolVar(&f.json, "json", false, "print the summary as JSON")
	return c
}

// plan is what a run is going to play.
type plan struct {
	corpus   *corpus.Corpus
	arms     []replay.Arm
	sessions iter.Seq2[*sessions.Session, error]
	count    int64 // 0: not known beforehand
	manifest reports.Manifest
}

func runBench(ctx context.Context, env cli.Env, f runFlags) error {
	p, err := planRun(env, f)
	if err != nil {
		return err
	}
	for _, note := range p.corpus.Notes {
		fmt.Fprintf(env.Stderr, "bench: note: %s\n", note)
	}
	w, err := reports.Create(f.out, p.manifest)
	if err != nil {
		return cli.Usage(err)
	}
	defer w.Abort()

	figures := metrics.NewAccumulator()
	counts := reports.Counts{Attempted: p.count}
	bar := cli.NewProgress(env, p.count, "sessions")
	err = replay.Run(ctx, replay.Options{Corpus: p.corpus, Arms: p.arms}, p.sessions, f.workers, func(o metrics.Observations) error {
		if err := figures.Add(o); err != nil {
			return err
		}
		if err := w.Add(o); err != nil {
			return err
		}
		counts.Done++
		bar.Step()
		return nil
	})
	bar.Done()
	status := reports.StatusSuccess
	if err != nil {
		if !errors.Is(err, context.Canceled) || counts.Done == 0 {
			return cli.Input(err)
		}
		status = reports.StatusInterrupted
	}
	counts.Attempted = max(counts.Attempted, counts.Done)
	result, finishErr := w.Finish(status, reports.Summary{Figures: figures.Figures(), BreakEvens: figures.BreakEvens(), Counts: counts})
	if finishErr != nil {
		return cli.Input(finishErr)
	}
	if printErr := printRun(env, f, result); printErr != nil {
		return cli.Input(printErr)
	}
	if status == reports.StatusInterrupted {
		return cli.Status(cli.ExitInterrupted, fmt.Errorf("interrupted after %d sessions, which are kept in %s", counts.Done, result.Dir))
	}
	return nil
}

func printRun(env cli.Env, f runFlags, result *reports.Result) error {
	if f.json {
		e := json.NewEncoder(env.Stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(result.Summary)
	}
	if err := reports.Print(env.Stdout, result.Summary, reports.PrintOptions{}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "\nRun folder: %s\n", result.Dir)
	return err
}

// planRun reads and checks everything before the first session is played.
func planRun(env cli.Env, f runFlags) (*plan, error) {
	if f.workers < 1 {
		return nil, cli.Usage(fmt.Errorf("--workers %d: not a number of workers\nhint: give 1 or more", f.workers))
	}
	p := &plan{arms: replay.DefaultArms()}
	var err error
	if f.arms != nil {
		if p.arms, err = replay.SelectArms(f.arms); err != nil {
			return nil, cli.Usage(fmt.Errorf("--arms: %w", err))
		}
	}
	if p.corpus, err = loadCorpus(f.corpus); err != nil {
		return nil, err
	}
	if f.distributions != "" {
		if p.corpus, err = p.corpus.WithDistributions(f.distributions); err != nil {
			return nil, cli.Usage(err)
		}
	}
	p.corpus = p.corpus.WithDerived()
	options, err := p.plan(f)
	if err != nil {
		return nil, err
	}
	p.manifest.Args = reports.Args{Given: env.Args, Resolved: map[string]any{
		"corpus": f.corpus, "distributions": f.distributions, "arms": p.arms, "sessions": f.sessions, "distribution": f.distribution,
		"seed": f.seed, "workers": f.workers, "out": f.out, "json": f.json,
	}}
	p.manifest.Config = map[string]any{
		"arms": p.arms, "draw": options, "sessions": p.count, "system_prompt": replay.DefaultSystemPrompt,
	}
	p.manifest.Seed = f.seed
	p.manifest.Corpus = reports.Corpus{Name: p.corpus.Name, Version: p.corpus.Version, SHA256: p.corpus.SHA256}
	p.manifest.StartedAt = env.Now().UTC()
	return p, nil
}

// plan decides where the sessions come from: a file of that name, else a draw.
// It returns the draw's options, nil for a file.
func (p *plan) plan(f runFlags) (any, error) {
	if info, err := os.Stat(f.sessions); err == nil && !info.IsDir() {
		if f.distribution != "" {
			return nil, cli.Usage(fmt.Errorf("--distribution: sessions of a file are drawn already\nhint: leave it out, or give --sessions a number"))
		}
		digest, err := provenance.FileSHA256(f.sessions)
		if err != nil {
			return nil, cli.Input(err)
		}
		p.manifest.SessionsSHA256 = digest
		p.sessions = sessions.Read(f.sessions)
		return nil, nil
	}
	rows, err := sessions.ParseRange("--sessions", f.sessions)
	if err != nil {
		return nil, cli.Usage(err)
	}
	options := sessions.Options{Seed: f.seed}
	if f.distribution != "" {
		if options.Mix, err = sessions.ParseMix("--distribution", f.distribution); err != nil {
			return nil, cli.Usage(err)
		}
	}
	drawer, err := sessions.NewDrawer(p.corpus, options)
	if err != nil {
		return nil, cli.Usage(err)
	}
	p.corpus.Notes = append(p.corpus.Notes, drawer.Notes()...)
	p.sessions, p.count = drawer.Sessions(rows), rows.Count
	return map[string]any{"options": options.WithDefaults(), "first": rows.First, "count": rows.Count}, nil
}

func loadCorpus(path string) (*corpus.Corpus, error) {
	if path == "" {
		return corpus.Embedded()
	}
	c, err := corpus.Load(path)
	return c, cli.Input(err)
}
