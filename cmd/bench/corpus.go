package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
)

// corpusCommand groups the verbs that make and examine corpora.
func corpusCommand(env cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:     "corpus",
		Short:   "Harvest, import, count, check and compare tools",
		Long:    "Make a corpus of MCP servers or of exported tools, say what a corpus is made of, which of its tools will be hard to find\nor to call, and what changed between two.",
		Example: "  bench corpus harvest --mcp mcp.json -o mine\n  bench corpus stats --corpus tools-list.json\n  bench corpus lint --corpus tools-list.json",
		Args:    cli.NoArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(harvestCommand(env), corpusImportCommand(env), corpusStatsCommand(env), corpusLintCommand(env), corpusDiffCommand(env))
	return c
}

// corpusFlag adds the flag that says where tools come from.
func corpusFlag(flags *pflag.FlagSet, path *string) {
	flags.StringVar(path, "corpus", "", "tools from `PATH`: a corpus folder, exported tools, or synthetic:N (default: the embedded corpus)")
}

// retrieverFlag adds the flag that says how tools are searched for.
func retrieverFlag(flags *pflag.FlagSet, name *string) {
	flags.StringVar(name, "retriever", "bm25", "search for tools with the retriever `NAME`")
}

// readCorpus reads a corpus as it is, without intents derived for it.
func readCorpus(path string) (*corpus.Corpus, error) {
	c, err := corpus.Embedded()
	if path != "" {
		c, err = corpus.Load(path)
	}
	return c, cli.Input(err)
}
