package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/corpus/lint"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/internal/provenance"
)

// askedMax bounds the tools that bench corpus lint searches for: a corpus of so
// many is searched in seconds, and a larger one is no session's.
const askedMax = 10_000

// listedMax bounds the findings of a rule that are listed for people.
const listedMax = 10

// corpusLintFlags are the flags of bench corpus lint, as given.
type corpusLintFlags struct {
	corpus    string
	retriever string
	level     string
	failOn    string
	all       bool
	json      bool
	sarif     bool
}

func corpusLintCommand(env cli.Env) *cobra.Command {
	var f corpusLintFlags
	c := &cobra.Command{
		Use:   "lint",
		Short: "Say which tools will be hard to find or to call, and where they stand",
		Long: "Judge the tools that a corpus brings: descriptions that are empty, very short, very long, or those of\n" +
			"another tool; parameters without a description; tools that a search with their own first sentence does\n" +
			"not find within the first 5. As notes, with --level note: tools found by the words of their names alone;\n" +
			"and, guessed from a few English words, descriptions that do not say when to use the tool, how it fails,\n" +
			"or how it differs from its neighbours.\n" +
			"docs/format.md lists the rules.",
		Example: "  bench corpus lint\n" +
			"  bench corpus lint --corpus tools-list.json --level note\n" +
			"  bench corpus lint --corpus my-corpus --sarif --fail-on warning >lint.sarif",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return corpusLint(c.Context(), env, f) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	corpusFlag(flags, &f.corpus)
	retrieverFlag(flags, &f.retriever)
	flags.StringVar(&f.level, "level", "warning", "list findings of `LEVEL` error, warning or note, and graver ones")
	flags.StringVar(&f.failOn, "fail-on", "", "end with status 1 if there are findings of `LEVEL` or graver (default: never)")
	flags.BoolVar(&f.all, "all", false, "list all findings as text, not only the first "+strconv.Itoa(listedMax)+" of each rule")
	flags.BoolVar(&f.json, "json", false, "print the report as JSON")
	flags.BoolVar(&f.sarif, "sarif", false, "print the report as SARIF 2.1.0")
	c.MarkFlagsMutuallyExclusive("json", "sarif")
	return c
}

func corpusLint(ctx context.Context, env cli.Env, f corpusLintFlags) error {
	if err := checkRetriever(f.retriever); err != nil {
		return err
	}
	level, err := severity("level", f.level)
	if err != nil {
		return err
	}
	failOn := lint.Severity("")
	if f.failOn != "" {
		if failOn, err = severity("fail-on", f.failOn); err != nil {
			return err
		}
	}
	var c *corpus.Corpus
	report, err := cli.Reading(ctx, func() (report *lint.Report, err error) {
		if c, err = readCorpus(f.corpus); err != nil {
			return nil, err
		}
		if report, err = lint.Check(c, lint.Options{Retriever: f.retriever, AskedMax: askedMax}); err != nil {
			return nil, fmt.Errorf("corpus %s: %w", c.Name, err)
		}
		return report, nil
	})
	if err != nil {
		return err
	}
	cli.NewNotes(env, "bench").Print(c.Notes)
	failed := failOn != "" && report.Reached(failOn) > 0
	report.Least(level)
	switch {
	case f.json:
		err = cli.PrintJSON(env, report)
	case f.sarif:
		err = cli.Output(writeSARIF(env, report))
	default:
		most := listedMax
		if f.all {
			most = 0
		}
		err = cli.Output(report.WriteText(env.Stdout, most))
	}
	if err == nil && failed {
		return cli.Silent(cli.ExitFailed)
	}
	return err
}

func writeSARIF(env cli.Env, report *lint.Report) error {
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("the working folder: %w", err)
	}
	return report.WriteSARIF(env.Stdout, provenance.Current().ToolVersion, root)
}

// severity reads the value of a flag.
func severity(flag, value string) (lint.Severity, error) {
	var known []string
	for _, s := range lint.Severities() {
		known = append(known, string(s))
	}
	if !slices.Contains(known, value) {
		return "", cli.Usage(fmt.Errorf("--%s %q: not one of %s\nhint: %s", flag, value, strings.Join(known, ", "), nearest.Hint(value, known)))
	}
	return lint.Severity(value), nil
}
