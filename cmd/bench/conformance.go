package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/conformance"
	"github.com/toolgauge/toolgauge/internal/cli"
)

func conformanceCommand(env cli.Env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "conformance FILE...",
		Short: "Replay recorded decisions and say where the pipeline differs",
		Long: "Replay vectors (recorded inputs with the decisions that the contract fixes for them) through the\n" +
			"real pipeline: a line for each kind of decision, the first differences in full. Exit status 1 if\n" +
			"any differs.",
		Example: "  bench conformance vectors/bridge-july.jsonl vectors/toolsets.json",
		Args:    cli.SomeArguments("FILE"),
		RunE: func(_ *cobra.Command, files []string) error {
			report, err := conformance.Run(conformance.Options{}, files...)
			if report != nil && len(report.Files) > 0 {
				if printErr := printReport(env, report, asJSON); printErr != nil {
					return printErr
				}
			}
			switch {
			case errors.Is(err, conformance.ErrInput):
				return cli.Input(err)
			case err != nil:
				return cli.Usage(err)
			case report.Failed > 0:
				return cli.Silent(cli.ExitFailed)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

func printReport(env cli.Env, report *conformance.Report, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(env, report)
	}
	return cli.Output(report.WriteText(env.Stdout))
}
