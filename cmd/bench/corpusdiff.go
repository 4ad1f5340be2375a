package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/corpus/survey"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// corpusDiffFlags are the flags of bench corpus diff, as given.
type corpusDiffFlags struct {
	retriever string
	json      bool
}

func corpusDiffCommand(env cli.Env) *cobra.Command {
	var f corpusDiffFlags
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Say what changed from a corpus to another",
		Long: "Compare the tools of two corpora by ID: added, removed, edited and in which part, what that changes in\n" +
			"tokens, and which tools a search with their own first sentence finds within the first 5 in one of the\n" +
			"two only. A and B are what --corpus takes; tools of B that do not say whose they are count as those of the\n" +
			"server that A's name is.",
		Example: "  bench corpus diff before.json after.json\n" +
			"  bench corpus diff my-corpus tools-list.json --json",
		Args: func(c *cobra.Command, words []string) error {
			if len(words) != 2 {
				return cli.Usage(fmt.Errorf("%s takes two corpora, got %d\nhint: for example: bench corpus diff before.json after.json", c.CommandPath(), len(words)))
			}
			return nil
		},
		RunE: func(c *cobra.Command, paths []string) error {
			return corpusDiff(c.Context(), env, f, paths[0], paths[1])
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	retrieverFlag(flags, &f.retriever)
	flags.BoolVar(&f.json, "json", false, "print the changes as JSON")
	return c
}

func corpusDiff(ctx context.Context, env cli.Env, f corpusDiffFlags, before, after string) error {
	if err := checkRetriever(f.retriever); err != nil {
		return err
	}
	var a, b *corpus.Corpus
	diff, err := cli.Reading(ctx, func() (_ *survey.Diff, err error) {
		if a, err = corpus.Load(before); err != nil {
			return nil, cli.Input(err)
		}
		if b, err = corpus.LoadLike(after, before); err != nil {
			return nil, cli.Input(err)
		}
		return survey.Compare(a, b, f.retriever)
	})
	if err != nil {
		return err
	}
	notes := cli.NewNotes(env, "bench")
	notes.Print(a.Notes)
	notes.Print(b.Notes)
	if f.json {
		return cli.PrintJSON(env, diff)
	}
	return cli.Output(diff.WriteText(env.Stdout))
}

// checkRetriever refuses a retriever that there is not, before anything is read.
func checkRetriever(name string) error {
	if _, err := search.New(name); err != nil {
		return cli.Usage(fmt.Errorf("--retriever: %w", err))
	}
	return nil
}
