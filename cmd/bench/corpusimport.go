package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/internal/numerals"
)

func corpusImportCommand(env cli.Env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "import PATH... -o DIR",
		Short: "Make a corpus folder of exported tools",
		Long: "Read exported tools of any shape (an OpenAI tools array, an MCP tools/list result, JSON Lines of\n" +
			"either, tool cards, a folder of such files) and write them as a corpus folder, a card file for each\n" +
			"server. Schemas keep their bytes. The queries of a labelled set become intents.",
		Example: "  bench corpus import tools-list.json -o my-corpus\n" +
			"  bench corpus import github.json exports -o my-corpus",
		Args: cli.SomeArguments("PATH"),
		RunE: func(c *cobra.Command, paths []string) error { return importCorpus(c.Context(), env, paths, out) },
	}
	c.Flags().StringVarP(&out, "out", "o", "", "write the corpus to `DIR`, which must not exist (required)")
	return c
}

func importCorpus(ctx context.Context, env cli.Env, paths []string, out string) error {
	if out == "" {
		return cli.Usage(errors.New("--out: no folder named\nhint: name a new one, for example -o my-corpus"))
	}
	c, err := cli.Reading(ctx, func() (*corpus.Corpus, error) {
		return corpus.Import(filepath.Base(filepath.Clean(out)), paths)
	})
	if err != nil {
		return cli.Input(err)
	}
	written, err := c.WriteFolder(out)
	if err != nil {
		return cli.Input(err)
	}
	notes := cli.NewNotes(env, "bench")
	notes.Print(c.Notes)
	notes.Print(written)
	tools := 0
	for _, t := range c.Tools {
		if !t.Builtin {
			tools++
		}
	}
	_, err = fmt.Fprintf(env.Stdout, "Corpus: %s (%s of %s)\n", out, numerals.Of(tools, "tool"), numerals.Of(len(c.SourceNames()), "source"))
	return cli.Output(err)
}
