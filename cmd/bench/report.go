package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/reports/page"
)

// severalRuns is where the report of several runs goes, unless -o says.
const severalRuns = "report"

func reportCommand(env cli.Env) *cobra.Command {
	var out, export string
	c := &cobra.Command{
		Use:   "report RUN...",
		Short: "Make a report of run folders, as HTML and Markdown",
		Long: "Write report.html, a page in one file that needs no network, and report.md: the headline, every\n" +
			"table, plots with their data, and the intents that lose most tools with what their searches found.\n" +
			"Several runs stand side by side. With --export, print the figures of one run as another program's\n" +
			"JSON instead: github-smaller and github-bigger are the arrays that github-action-benchmark reads as\n" +
			"customSmallerIsBetter and customBiggerIsBetter, bencher is the Bencher Metric Format.",
		Example: "  bench report runs/20261130T153000Z-1a2b3c4d\n" +
			"  bench report runs/* -o report\n" +
			"  bench report runs/20261130T153000Z-1a2b3c4d --export github-smaller > smaller.json",
		Args: cli.SomeArguments("RUN"),
		RunE: func(c *cobra.Command, dirs []string) error {
			if export != "" {
				return exportRun(env, dirs, export, out)
			}
			return reportRuns(c.Context(), env, dirs, out)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVarP(&out, "out", "o", "", "write the report to `FOLDER` (default: the run folder, of several runs \""+severalRuns+"\")")
	flags.StringVar(&export, "export", "", "print figures as `FORMAT`: github-smaller, github-bigger or bencher")
	return c
}

// reportRuns writes the report of runs. One of an incomplete run is written too, and says so; the exit status says it to
// programs.
func reportRuns(ctx context.Context, env cli.Env, dirs []string, out string) error {
	runs, err := openRuns(dirs)
	if err != nil {
		return err
	}
	report, err := page.New(runs)
	if err != nil {
		return cli.Usage(err)
	}
	if out == "" {
		out = severalRuns
		if len(runs) == 1 {
			out = runs[0].Dir
		}
	}
	paths, err := report.Write(ctx, out)
	if err != nil {
		return cli.Input(err)
	}
	for _, path := range paths {
		if _, err := fmt.Fprintln(env.Stdout, filepath.ToSlash(path)); err != nil {
			return cli.Output(err)
		}
	}
	return incomplete(runs)
}

func openRuns(dirs []string) (runs []*reports.Run, err error) {
	for _, dir := range dirs {
		run, err := reports.Open(dir)
		if err == nil {
			err = run.VerifyManifest()
		}
		if err != nil {
			return nil, cli.Input(err)
		}
		if run.Summary.Sessions == 0 {
			return nil, cli.Input(fmt.Errorf("run %s has no session\nhint: run it again", dir))
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// incomplete is an error that names the first run that did not play all its sessions.
func incomplete(runs []*reports.Run) error {
	for _, run := range runs {
		if run.Manifest.Status != reports.StatusSuccess {
			return cli.Input(fmt.Errorf("run %s is incomplete (status %s): %s\nhint: what was written is of these; repeat the run for all of them",
				run.Dir, run.Manifest.Status, sessionsDone(run.Manifest.Counts)))
		}
	}
	return nil
}

// exportRun prints the figures of one run in another program's format.
func exportRun(env cli.Env, dirs []string, format, out string) error {
	switch {
	case len(dirs) > 1:
		return cli.Usage(fmt.Errorf("--export: %d runs\nhint: export one run at a time", len(dirs)))
	case out != "":
		return cli.Usage(errors.New("--export: it prints to standard output, and -o names a folder\nhint: leave one of them out"))
	}
	write, err := reports.Exporter(format)
	if err != nil {
		return cli.Usage(fmt.Errorf("--export: %w", err))
	}
	runs, err := openRuns(dirs)
	if err != nil {
		return err
	}
	if err := write(env.Stdout, runs[0].Summary); err != nil {
		return cli.Output(err)
	}
	return incomplete(runs)
}
