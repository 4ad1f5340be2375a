package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/eval"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// evalFlags are the flags of bench eval, as given.
type evalFlags struct {
	sets        []string
	retrievers  []string
	runs        []string
	cutoffs     []string
	distractors string
	pools       []string
	json        bool
	out         string
}

func evalCommand(env cli.Env) *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval",
		Short: "Ask retrievers the queries of labelled sets",
		Long: "Let retrievers rank the tools of labelled sets for their queries, and say how many of the right\n" +
			"tools they find: a table for each set, with 95 % intervals, and the differences to the first\n" +
			"retriever, query by query. A set is a folder or a file, recognised by its content: those of\n" +
			"mcpproxy, ironclaw, azure-mcp and Seal-Tools as they lie, BEIR folders, TREC qrels (with --run),\n" +
			"corpus folders, or exported tools. With --distractors the queries are asked again among ever\n" +
			"more tools.",
		Example: "  bench eval --retriever bm25,vector\n" +
			"  bench eval --set sets/mcpproxy,sets/ironclaw --retriever bm25,bm25-gated,hybrid -o figures\n" +
			"  bench eval --set sets/ironclaw --distractors tools.jsonl --pool 100,1000,10000\n" +
			"  bench eval --set qrels.txt --retriever '' --run theirs.run",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, env) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.sets, "set", []string{eval.EmbeddedName}, "ask the queries of the labelled sets `PATH,...`")
	flags.StringSliceVar(&f.retrievers, "retriever", []string{"bm25"}, "ask the retrievers `NAME,...`; the first is what the others are compared with")
	flags.StringSliceVar(&f.runs, "run", nil, "judge the rankings of the TREC run files `FILE,...` too")
	flags.StringSliceVarP(&f.cutoffs, "cutoffs", "k", []string{"1", "3", "5", "10"}, "judge the first `K,...` hits")
	flags.StringVar(&f.distractors, "distractors", "", "ask again with the tools of `PATH` beside those of the set")
	flags.StringSliceVar(&f.pools, "pool", []string{"100", "500", "1000", "5000", "10000"}, "fill up to pools of `N,...` tools")
	flags.BoolVar(&f.json, "json", false, "print the figures as JSON")
	flags.StringVarP(&f.out, "out", "o", "", "write figures, queries, qrels, runs and plots to `FOLDER`")
	return c
}

func (f evalFlags) run(c *cobra.Command, env cli.Env) error {
	if c.Flags().Changed("pool") && f.distractors == "" {
		return cli.Usage(errors.New("--pool: nothing to fill pools up with\nhint: name tools by --distractors, or leave --pool out"))
	}
	o, err := evalOptions(f)
	if err != nil {
		return cli.Usage(err)
	}
	notes := cli.NewNotes(env, "bench")
	if f.distractors != "" {
		var said []string
		if o.Distractors, said, err = eval.ReadDistractors(f.distractors); err != nil {
			return cli.Input(err)
		}
		notes.Print(said)
	}
	var sets []*eval.Set
	for _, path := range f.sets {
		s, err := eval.Read(path)
		if err != nil {
			return cli.Input(err)
		}
		sets = append(sets, s)
	}
	report, err := eval.Evaluate(c.Context(), sets, o)
	if err != nil {
		return cli.Input(err)
	}
	for _, s := range report.Sets {
		notes.Print(s.Notes)
	}
	if f.out != "" {
		if _, err := report.Write(f.out); err != nil {
			return cli.Input(err)
		}
	}
	if f.json {
		return cli.PrintJSON(env, report)
	}
	return cli.Output(writeEval(env.Stdout, report, f.out))
}

// evalOptions checks the flags.
func evalOptions(f evalFlags) (o eval.Options, err error) {
	for i, name := range f.retrievers {
		if slices.Contains(f.retrievers[:i], name) {
			return o, fmt.Errorf("--retriever: %q is named twice\nhint: name each retriever once", name)
		}
		if _, err := search.New(name); err != nil {
			return o, fmt.Errorf("--retriever: %w", err)
		}
	}
	if o.Cutoffs, err = wholeNumbers("-k", "hits", f.cutoffs, eval.Depth); err != nil {
		return o, err
	}
	if o.PoolSizes, err = wholeNumbers("--pool", "tools", f.pools, 1_000_000); err != nil {
		return o, err
	}
	switch {
	case len(f.sets) == 0:
		return o, fmt.Errorf("--set: no set\nhint: name folders or files, or %s", eval.EmbeddedName)
	case len(f.retrievers)+len(f.runs) == 0:
		return o, fmt.Errorf("--retriever: no retrievers\nhint: name some of %s", strings.Join(search.Names(), ", "))
	case len(f.runs) > 0 && len(f.sets) > 1:
		return o, errors.New("--run: the rankings of a run file are those of one set\nhint: give one --set")
	case f.distractors != "" && len(f.retrievers) == 0:
		return o, errors.New("--distractors: no retriever to ask among them\nhint: name some by --retriever")
	}
	o.Retrievers, o.Runs = f.retrievers, f.runs
	return o, nil
}

// wholeNumbers reads a list of numbers from 1 up, and sorts it.
func wholeNumbers(flag, what string, words []string, most int) ([]int, error) {
	var numbers []int
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > most {
			return nil, fmt.Errorf("%s %q: not a number of %s\nhint: give whole numbers from 1 to %d, with commas between", flag, word, what, most)
		}
		numbers = append(numbers, n)
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("%s: no number of %s\nhint: give whole numbers from 1 to %d, with commas between", flag, what, most)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}
