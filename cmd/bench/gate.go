package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/reports/compare"
	"github.com/toolgauge/toolgauge/reports/gate"
)

// gateFlags are the flags of bench gate, as given.
type gateFlags struct {
	rules         string
	baseline      string
	allowMismatch bool
	junit         string
	markdown      string
	out           string
	json          bool
}

func gateCommand(env cli.Env) *cobra.Command {
	var f gateFlags
	c := &cobra.Command{
		Use:   "gate RUN",
		Short: "Hold a run to rules, and fail where it breaks one",
		Long: "Hold a run folder to the rules of a YAML file: floors and ceilings for its figures, and how much worse\n" +
			"than a baseline it may be, tested where a rule has an alpha. The exit status is 0 if every rule holds\n" +
			"or is waived, and 1 if one does not; a rule that matches nothing, an empty population and a waiver that\n" +
			"has expired do not hold.\n\n" +
			"The baseline is a run folder, or a summary of one: its summary.json, or the few KB that -o wrote. A\n" +
			"summary has no pairs of sessions: drops are taken figure by figure, and no test excuses them.",
		Example: "  bench gate runs/AFTER --rules gate.yaml --baseline runs/BEFORE\n" +
			"  bench gate runs/AFTER --rules gate.yaml --baseline baseline.json --junit gate.xml --markdown gate.md\n" +
			"  bench gate runs/FIRST --rules gate.yaml --baseline runs/FIRST -o baseline.json",
		Args: cli.OneArgument("RUN"),
		RunE: func(c *cobra.Command, words []string) error { return judgeRun(c.Context(), env, f, words[0]) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.rules, "rules", "", "the rules of the YAML `FILE`; required")
	flags.StringVar(&f.baseline, "baseline", "", "hold the run against `RUN`, a run folder or a summary; required by largest_drop")
	allowMismatchFlag(flags, &f.allowMismatch)
	flags.StringVar(&f.junit, "junit", "", "write the checks as JUnit XML to `FILE`")
	flags.StringVar(&f.markdown, "markdown", "", "write the report for a pull request to `FILE`")
	flags.StringVarP(&f.out, "out", "o", "", "write the figures that the rules ask for to `FILE`, a baseline to commit")
	flags.BoolVar(&f.json, "json", false, "print the report as JSON")
	return c
}

func judgeRun(ctx context.Context, env cli.Env, f gateFlags, dir string) error {
	o, err := gateOptions(env, f, dir)
	if err != nil {
		return err
	}
	report, err := gate.Judge(ctx, o)
	if err != nil {
		return comparisonFault(err)
	}
	if err := f.writeFiles(o, report); err != nil {
		return cli.Input(err)
	}
	if f.json {
		err = cli.PrintJSON(env, report)
	} else {
		err = cli.Output(report.WriteText(env.Stdout))
	}
	if err == nil && report.Status == gate.Failed {
		return cli.Silent(cli.ExitFailed)
	}
	return err
}

// gateOptions reads rules, run and baseline.
func gateOptions(env cli.Env, f gateFlags, dir string) (o gate.Options, err error) {
	if f.rules == "" {
		return o, cli.Usage(errors.New("--rules: no file named\nhint: name a YAML file of rules, such as examples/gate.yaml"))
	}
	o = gate.Options{RulesFile: f.rules, AllowMismatch: f.allowMismatch, Now: env.Now()}
	if o.Rules, err = gate.LoadRules(f.rules); err != nil {
		return o, cli.Usage(err)
	}
	if err := f.checkOutputs(dir); err != nil {
		return o, cli.Usage(err)
	}
	if r := gate.NeedsBaseline(o.Rules); r != nil && f.baseline == "" {
		return o, cli.Usage(fmt.Errorf("%s:%d: rule %q has a largest_drop, but there is no baseline\nhint: give --baseline a run folder or a summary", f.rules, r.Line, r.Name))
	}
	if o.Run, err = compare.Open(dir); err != nil {
		return o, cli.Input(err)
	}
	if f.baseline != "" {
		if o.Baseline, err = gate.OpenBaseline(f.baseline); err != nil {
			return o, cli.Input(err)
		}
	}
	return o, nil
}

// checkOutputs refuses files that would take the place of one another, of the rules, or of a part of a run. A baseline may
// be renewed.
func (f gateFlags) checkOutputs(run string) error {
	outputs := []struct{ flag, path string }{{"--junit", f.junit}, {"--markdown", f.markdown}, {"-o", f.out}}
	for i, o := range outputs {
		if o.path == "" {
			continue
		}
		for _, other := range outputs[:i] {
			if other.path != "" && sameFile(o.path, other.path) {
				return fmt.Errorf("%s and %s are both %s\nhint: give each a file of its own", other.flag, o.flag, o.path)
			}
		}
		if sameFile(o.path, f.rules) {
			return fmt.Errorf("%s %s would overwrite the rules\nhint: name another file", o.flag, o.path)
		}
		for _, folder := range []string{run, f.baseline} {
			if m, err := reports.ReadManifest(folder); folder != "" && err == nil && inRun(o.path, folder, m) {
				return fmt.Errorf("%s %s would overwrite a file of the run %s\nhint: name another file", o.flag, o.path, folder)
			}
		}
	}
	return nil
}

// inRun reports whether a path is one of a run's own files.
func inRun(path, folder string, m reports.Manifest) bool {
	return sameFile(path, filepath.Join(folder, reports.ManifestFile)) ||
		slices.ContainsFunc(m.Files, func(file reports.File) bool { return sameFile(path, filepath.Join(folder, file.Name)) })
}

// sameFile reports whether two paths name one file, be it there yet or not.
func sameFile(a, b string) bool {
	inA, errA := os.Stat(a)
	inB, errB := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || errA == nil && errB == nil && os.SameFile(inA, inB)
}

// writeFiles writes what was asked for beside the printed report.
func (f gateFlags) writeFiles(o gate.Options, report *gate.Report) error {
	for _, file := range []struct {
		path string
		text func() ([]byte, error)
	}{
		{f.junit, func() ([]byte, error) { return report.JUnit(o.Now) }},
		{f.markdown, func() ([]byte, error) { return report.Markdown(), nil }},
		{f.out, func() ([]byte, error) { return reports.EncodeSummary(gate.Extract(o.Run.Summary, o.Rules)) }},
	} {
		if file.path == "" {
			continue
		}
		text, err := file.text()
		if err != nil {
			return err
		}
		if err := writeWhole(file.path, text); err != nil {
			return err
		}
	}
	return nil
}

func writeWhole(path string, text []byte) error {
	out, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err := out.Write(text); err != nil {
		return err
	}
	return out.Commit()
}
