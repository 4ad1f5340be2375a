package main

import (
	"bufio"
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/sessions"
)

// drawsMax bounds the draws of one JSON value, which is made in memory.
const drawsMax = 1_000_000

// sampleFlags are the flags of datagen sample, as given.
type sampleFlags struct {
	from  corpusFlags
	rows  string
	seed  uint64
	draws bool
	json  bool
}

// sampled is what datagen sample prints as JSON.
type sampled struct {
	Seed  uint64              `json:"seed"`
	Rows  string              `json:"rows"`
	Fit   distributions.Fit   `json:"fit"`
	Draws []distributions.Row `json:"draws,omitempty"`
}

func sampleCommand(env cli.Env) *cobra.Command {
	var f sampleFlags
	c := &cobra.Command{
		Use:   "sample DISTRIBUTION",
		Short: "Draw from a distribution and compare what came up with what should",
		Long: "Draw toolset combinations: each toolset rolls for itself, and where none comes up the likeliest is\n" +
			"taken. The counts are compared with the exact probabilities (chi-square).",
		Example: "  datagen sample balanced --rows 10000\n  datagen sample research --rows 500-509 --draws",
		Args:    cli.OneArgument("DISTRIBUTION"),
		RunE: func(c *cobra.Command, args []string) error {
			return sample(c.Context(), env, f, args[0])
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.rows, "rows", "n", "1000", "draw `N` times, or rows A-B of the draw")
	flags.Uint64Var(&f.seed, "seed", 1, "seed `N` of every draw")
	f.from.add(c)
	flags.BoolVar(&f.draws, "draws", false, "print each draw")
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	return c
}

func sample(ctx context.Context, env cli.Env, f sampleFlags, distribution string) error {
	span, err := sessions.ParseRange("--rows", f.rows)
	if err != nil {
		return cli.Usage(err)
	}
	if f.draws && f.json && span.Count > drawsMax {
		return cli.Usage(fmt.Errorf("--draws: %d draws are too many for one JSON value\nhint: take %d rows or fewer at a time, or leave --json out", span.Count, drawsMax))
	}
	c, err := f.from.load()
	if err != nil {
		return err
	}
	d, err := c.Distributions.Get(distribution)
	if err != nil {
		return cli.Usage(err)
	}
	result := sampled{Seed: f.seed, Rows: f.rows}
	text := bufio.NewWriter(env.Stdout)
	notes := cli.NewNotes(env, "datagen")
	rows := d.Rows(f.seed, uint64(span.First), int(span.Count), c.HasToolset, c.SourceNames())
	result.Fit = d.Observed(drawsOf(ctx, rows, func(r distributions.Row) {
		notes.Print(r.Warnings)
		switch {
		case f.draws && f.json:
			result.Draws = append(result.Draws, r)
		case f.draws:
			fmt.Fprintln(text, r)
		}
	}), c.HasToolset)
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.json {
		return cli.PrintJSON(env, result)
	}
	if f.draws {
		fmt.Fprintln(text)
	}
	if err := distributions.WriteFit(text, result.Fit); err != nil {
		return cli.Output(err)
	}
	return cli.Output(text.Flush())
}

// drawsOf takes the numbers off rows, showing each row to see on the way. It ends
// early when ctx is cancelled.
func drawsOf(ctx context.Context, rows iter.Seq[distributions.Row], see func(distributions.Row)) iter.Seq[distributions.Draw] {
	return func(yield func(distributions.Draw) bool) {
		for r := range rows {
			if ctx.Err() != nil {
				return
			}
			see(r)
			if !yield(r.Draw) {
				return
			}
		}
	}
}
