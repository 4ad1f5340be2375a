// Command bench measures what it costs, and what it saves, to keep an agent's
// tools out of its requests until it asks for them.
//
// Without a verb it is bench run: sessions are drawn from the embedded corpus,
// replayed under every default arm, written to a run folder, and summed up on
// the terminal. See bench --help and the verbs' own help.
package main

import (
	"context"

	"github.com/toolgauge/toolgauge/internal/cli"
)

func main() { cli.Main(run) }

// run is the command as a function of its environment.
func run(ctx context.Context, env cli.Env) int {
	root := runCommand(env)
	root.Use = "bench"
	root.Short = "Measure tool containment: tokens saved, round trips, retrieval, stability"
	root.Long = "Measure what it costs, and what it saves, to keep an agent's tools out of its requests until it\n" +
		"asks for them. Without a verb, bench is bench run.\n\n" +
		"Exit status: 0 success; 1 a gate fails, vectors differ, or lint fails; 2 usage or configuration;\n" +
		"3 input that is incomplete, unreadable or empty, or output that cannot be written; 4 runs that are\n" +
		"not comparable; 130 interrupted (what is finished is kept)."
	root.Example = "  bench\n  bench --corpus tools-list.json --sessions 2000\n  bench search \"open a pull request\"\n  bench sweep --corpus tools-list.json\n  bench compare runs/BEFORE runs/AFTER\n  bench surface --toolsets hermes-cli,github\n  bench discover tools\n  bench corpus lint --corpus tools-list.json"
	root.AddCommand(runCommand(env), compareCommand(env), gateCommand(env), searchCommand(env), surfaceCommand(env), discoverCommand(env), corpusCommand(env), sweepCommand(env), evalCommand(env), reportCommand(env), gatewayCommand(env), conformanceCommand(env))
	return cli.Execute(ctx, env, root)
}
