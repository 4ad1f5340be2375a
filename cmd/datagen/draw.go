package main

import (
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/sessions"
)

func writeSummaries(env cli.Env, summaries []distributions.Summary) error {
	return distributions.WriteSummaries(env.Stdout, summaries)
}

// sampled is what datagen sample prints as JSON.
type sampled struct {
	Seed uint64              `json:"seed"`
	Rows string              `json:"rows"`
	Fit  distributions.Fit   `json:"fit"`
	Draw []distributions.Row `json:"draws,omitempty"`
}

func sampleCommand(env cli.Env) *cobra.Command {
	var from corpusFlags
	var rows string
	var seed uint64
	var asJSON, draws bool
	c := &cobra.Command{
		Use:   "sample DISTRIBUTION",
		Short: "Draw from a distribution and compare what came up with what should",
		Long: "Draw toolset combinations: each toolset rolls for itself, and where none comes up the likeliest is taken.\n" +
			"The counts are compared with the exact probabilities (chi-square).",
		Example: "  datagen sample balanced --rows 10000\n  datagen sample research --rows 500-509 --draws",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := from.load()
			if err != nil {
				return err
			}
			d, err := c.Distributions.Get(args[0])
			if err != nil {
				return cli.Usage(err)
			}
			span, err := sessions.ParseRange("--rows", rows)
			if err != nil {
				return cli.Usage(err)
			}
			out := sampled{Seed: seed, Rows: rows}
			notes := newNotes(env)
			all := d.Rows(seed, uint64(span.First), int(span.Count), c.HasToolset, c.SourceNames())
			out.Fit = d.Observed(plain(all, func(r distributions.Row) {
				notes.print(r.Warnings)
				if draws {
					out.Draw = append(out.Draw, r)
				}
			}), c.HasToolset)
			if asJSON {
				return printJSON(env, out)
			}
			for _, r := range out.Draw {
				fmt.Fprintln(env.Stdout, r)
			}
			if draws {
				fmt.Fprintln(env.Stdout)
			}
			return cli.Input(distributions.WriteFit(env.Stdout, out.Fit))
		},
	}
	from.add(c)
	c.Flags().StringVarP(&rows, "rows", "n", "1000", "how many draws, or rows A-B of them")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of every draw")
	c.Flags().BoolVar(&draws, "draws", false, "print each draw")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// plain takes the numbers off rows, showing each row to see on the way.
func plain(rows iter.Seq[distributions.Row], see func(distributions.Row)) iter.Seq[distributions.Draw] {
	return func(yield func(distributions.Draw) bool) {
		for r := range rows {
			see(r)
			if !yield(r.Draw) {
				return
			}
		}
	}
}

// written is what datagen sessions prints as JSON.
type written struct {
	File     string           `json:"file"`
	Sessions int64            `json:"sessions"`
	Corpus   string           `json:"corpus_sha256"`
	Options  sessions.Options `json:"options"`
}

func sessionsCommand(env cli.Env) *cobra.Command {
	var from corpusFlags
	var rows, out, mix string
	var seed uint64
	var asJSON bool
	c := &cobra.Command{
		Use:   "sessions",
		Short: "Draw sessions and write them to a file",
		Long: "Draw sessions: a distribution, the toolsets and servers that it gives, a context length, and turns with their\n" +
			"labelled tools. A session depends on the corpus, the seed and its row alone, so any rows can be drawn by themselves.",
		Example: "  datagen sessions --rows 10000 -o sessions.parquet\n" +
			"  datagen sessions --rows 500-599 --distribution few=1,ten=1 -o part.jsonl",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			corpus, err := from.load()
			if err != nil {
				return err
			}
			span, err := sessions.ParseRange("--rows", rows)
			if err != nil {
				return cli.Usage(err)
			}
			options := sessions.Options{Seed: seed}
			if mix != "" {
				if options.Mix, err = sessions.ParseMix("--distribution", mix); err != nil {
					return cli.Usage(err)
				}
			}
			if _, err := sessions.FormatOf(out); err != nil {
				return cli.Usage(fmt.Errorf("--out: %w", err))
			}
			corpus = corpus.WithDerived()
			drawer, err := sessions.NewDrawer(corpus, options)
			if err != nil {
				return cli.Usage(err)
			}
			newNotes(env).print(drawer.Notes())
			bar := cli.NewProgress(env, span.Count, "sessions")
			n, err := sessions.WriteFile(out, untilDone(c, drawer.Sessions(span), bar.Step))
			bar.Done()
			if err != nil {
				return writeError(err)
			}
			result := written{File: out, Sessions: n, Corpus: corpus.SHA256, Options: drawer.Options()}
			if asJSON {
				return printJSON(env, result)
			}
			_, err = fmt.Fprintf(env.Stdout, "%s: %d sessions, corpus %s, seed %d\n", out, n, corpus.Name, seed)
			return cli.Input(err)
		},
	}
	from.add(c)
	c.Flags().StringVarP(&rows, "rows", "n", "1000", "how many sessions, or rows A-B of the draw")
	c.Flags().StringVarP(&out, "out", "o", "sessions.parquet", "file to write, .parquet or .jsonl")
	c.Flags().StringVar(&mix, "distribution", "", "draw from this distribution, or several as NAME=WEIGHT,... (default few=40,ten=40,forty=20)")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of every draw")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// untilDone ends a sequence with the context's error once that is cancelled, and
// counts what passes.
func untilDone(c *cobra.Command, all iter.Seq2[*sessions.Session, error], step func()) iter.Seq2[*sessions.Session, error] {
	return func(yield func(*sessions.Session, error) bool) {
		for s, err := range all {
			if done := c.Context().Err(); done != nil {
				yield(nil, done)
				return
			}
			step()
			if !yield(s, err) {
				return
			}
		}
	}
}

// writeError tells a corpus that gives no session (usage) from a file that
// cannot be written.
func writeError(err error) error {
	var none *sessions.NoIntentError
	if errors.As(err, &none) {
		return cli.Usage(err)
	}
	return cli.Input(err)
}
