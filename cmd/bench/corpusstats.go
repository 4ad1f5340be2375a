package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/corpus/survey"
	"github.com/toolgauge/toolgauge/internal/cli"
)

// corpusStatsFlags are the flags of bench corpus stats, as given.
type corpusStatsFlags struct {
	corpus    string
	retriever string
	json      bool
}

func corpusStatsCommand(env cli.Env) *cobra.Command {
	var f corpusStatsFlags
	c := &cobra.Command{
		Use:   "stats",
		Short: "Say what a corpus is made of",
		Long: "Count the tools and their servers, what they take in tokens and in which part, the largest, names that\n" +
			"several servers' tools have, and intents by class and language; and search for up to 1,000 tools, among\n" +
			"all that can be deferred, with the first sentence of each one's own description.",
		Example: "  bench corpus stats\n" +
			"  bench corpus stats --corpus tools-list.json --json\n" +
			"  bench corpus stats --corpus synthetic:100000",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return corpusStats(c.Context(), env, f) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	corpusFlag(flags, &f.corpus)
	retrieverFlag(flags, &f.retriever)
	flags.BoolVar(&f.json, "json", false, "print the stats as JSON")
	return c
}

func corpusStats(ctx context.Context, env cli.Env, f corpusStatsFlags) error {
	if err := checkRetriever(f.retriever); err != nil {
		return err
	}
	var c *corpus.Corpus
	stats, err := cli.Reading(ctx, func() (stats *survey.Stats, err error) {
		if c, err = readCorpus(f.corpus); err != nil {
			return nil, err
		}
		if stats, err = survey.Measure(c, f.retriever); err != nil {
			return nil, fmt.Errorf("corpus %s: %w", c.Name, err)
		}
		return stats, nil
	})
	if err != nil {
		return err
	}
	cli.NewNotes(env, "bench").Print(c.Notes)
	if f.json {
		return cli.PrintJSON(env, stats)
	}
	return cli.Output(stats.WriteText(env.Stdout))
}
