// Command datagen draws toolset combinations and sessions from probability
// distributions.
//
// See datagen --help and the verbs' own help.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
)

func main() { cli.Main(run) }

// run is the command as a function of its environment.
func run(ctx context.Context, env cli.Env) int {
	root := &cobra.Command{
		Use:   "datagen",
		Short: "Draw toolset combinations and sessions from probability distributions",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownVerb(c, args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
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
	c.Flags().StringVar(&f.corpus, "corpus", "", "corpus folder, or exported tools (default: the embedded corpus)")
	c.Flags().StringVar(&f.distributions, "distributions", "", "YAML file with distributions of your own")
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
			return nil, cli.Usage(err)
		}
	}
	return c, nil
}

func listCommand(env cli.Env) *cobra.Command {
	var from corpusFlags
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the distributions with their exact figures",
		Example: "  datagen list\n  datagen list --distributions mine.yaml --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := from.load()
			if err != nil {
				return err
			}
			summaries := c.Distributions.Summaries(c.HasToolset)
			if asJSON {
				return printJSON(env, summaries)
			}
			return cli.Input(writeSummaries(env, summaries))
		},
	}
	from.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// printJSON writes one indented value.
func printJSON(env cli.Env, v any) error {
	e := json.NewEncoder(env.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return cli.Input(e.Encode(v))
}

// notes prints each distinct note once.
type notes struct {
	env  cli.Env
	seen map[string]bool
}

func newNotes(env cli.Env) *notes { return &notes{env: env, seen: make(map[string]bool)} }

func (n *notes) print(list []string) {
	for _, note := range list {
		if !n.seen[note] {
			n.seen[note] = true
			fmt.Fprintf(n.env.Stderr, "datagen: note: %s\n", note)
		}
	}
}
