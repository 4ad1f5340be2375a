// Command datagen draws toolset combinations and sessions from probability
// distributions.
//
// See datagen --help and the verbs' own help.
package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/cli"
)

func main() { cli.Main(run) }

// run is the command as a function of its environment.
func run(ctx context.Context, env cli.Env) int {
	root := &cobra.Command{
		Use:   "datagen",
		Short: "Draw toolset combinations and sessions from probability distributions",
		Long: "Draw toolset combinations, and sessions to replay, from probability distributions.\n\n" +
			"Exit status: 0 success; 2 usage or configuration; 3 input that is incomplete, unreadable or\n" +
			"empty, or output that cannot be written; 130 interrupted (no file is written).",
		Example:               "  datagen list\n  datagen sample balanced --rows 10000\n  datagen sessions --rows 10000 -o sessions.parquet",
		DisableFlagsInUseLine: true,
		Args:                  cli.NoArguments,
		RunE:                  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddCommand(listCommand(env), sampleCommand(env), sessionsCommand(env))
	return cli.Execute(ctx, env, root)
}

// corpusFlags say what is drawn from; every verb has them.
type corpusFlags struct {
	corpus        string
	distributions string
}

func (f *corpusFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.corpus, "corpus", "", "tools from `PATH`: a corpus folder, or exported tools (default: the embedded corpus)")
	c.Flags().StringVar(&f.distributions, "distributions", "", "add the distributions of a YAML `FILE`")
}

func (f *corpusFlags) load() (*corpus.Corpus, error) {
	c, err := corpus.Embedded()
	if f.corpus != "" {
		c, err = corpus.Load(f.corpus)
	}
	if err != nil {
		return nil, cli.Input(err)
	}
	if f.distributions != "" {
		if c, err = c.WithDistributions(f.distributions); err != nil {
			if errors.As(err, new(*fs.PathError)) {
				return nil, cli.Input(err)
			}
			return nil, cli.Usage(err)
		}
	}
	return c, nil
}

func listCommand(env cli.Env) *cobra.Command {
	var from corpusFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the distributions with their exact figures",
		Long: "List the presets, and what --distributions adds: MCP servers, toolsets with their percentages, the\n" +
			"mean number of toolsets in a draw, and the chance that none comes up.",
		Example: "  datagen list\n  datagen list --distributions mine.yaml --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			c, err := from.load()
			if err != nil {
				return err
			}
			summaries := c.Distributions.Summaries(c.HasToolset)
			if asJSON {
				return cli.PrintJSON(env, summaries)
			}
			return cli.Output(distributions.WriteSummaries(env.Stdout, summaries))
		},
	}
	c.Flags().SortFlags = false
	from.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}
