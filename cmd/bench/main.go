// Command bench measures what it costs, and what it saves, to keep an agent's
// tools out of its requests until it asks for them.
//
// Without a verb it is bench run: sessions are drawn from the embedded corpus,
// replayed under every default arm, written to a run folder, and summed up on
// the terminal. See bench --help and the verbs' own help.
package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/internal/cli"
)

func main() { cli.Main(run) }

// run is the command as a function of its environment.
func run(ctx context.Context, env cli.Env) int {
	root := runCommand(env)
	root.Use = "bench"
	root.Short = "Measure tool containment: tokens saved, round trips, retrieval, stability"
	root.Long = "Measure what it costs, and what it saves, to keep an agent's tools out of its requests until it asks\n" +
		"for them.\n\nWithout a verb, bench is bench run."
	root.AddCommand(runCommand(env), conformanceCommand(env))
	return cli.Execute(ctx, env, root)
}

// noArguments refuses words that are no verb, with the verb that was meant.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return cli.UnknownVerb(c, args[0])
}
