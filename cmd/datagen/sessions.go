package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/sessions"
)

// sessionsFlags are the flags of datagen sessions, as given.
type sessionsFlags struct {
	from         corpusFlags
	rows         string
	out          string
	distribution string
	events       string
	seed         uint64
	json         bool
}

// written is what datagen sessions prints as JSON.
type written struct {
	File     string           `json:"file"`
	Sessions int64            `json:"sessions"`
	Corpus   string           `json:"corpus_sha256"`
	Options  sessions.Options `json:"options"`
}

func sessionsCommand(env cli.Env) *cobra.Command {
	var f sessionsFlags
	c := &cobra.Command{
		Use:   "sessions",
		Short: "Draw sessions and write them to a file",
		Long: "Draw sessions: a distribution, the toolsets and servers that it gives, a context length, turns with\n" +
			"their labelled tools, and events: servers come and go, probes fail, tools and settings change. A\n" +
			"session depends on the corpus, the seed and its row alone, so any rows can be drawn by themselves.",
		Example: "  datagen sessions --rows 10000 -o sessions.parquet\n" +
			"  datagen sessions --rows 500-599 --distribution few=1,ten=1 -o part.jsonl",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return drawSessions(c.Context(), env, f)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.rows, "rows", "n", "1000", "draw `N` sessions, or rows A-B of the draw")
	flags.StringVarP(&f.out, "out", "o", "sessions.parquet", "write `FILE`, .parquet or .jsonl")
	flags.StringVar(&f.distribution, "distribution", "", "draw from `NAME`, or from several as NAME=WEIGHT,... (default few=40,ten=40,forty=20)")
	flags.StringVar(&f.events, "events", "0.25", "draw `SHARE` events a turn on average, 0 to 1")
	flags.Uint64Var(&f.seed, "seed", 1, "seed `N` of every draw")
	f.from.add(c)
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	return c
}

func drawSessions(ctx context.Context, env cli.Env, f sessionsFlags) error {
	span, err := sessions.ParseRange("--rows", f.rows)
	if err != nil {
		return cli.Usage(err)
	}
	if f.out == "" {
		return cli.Usage(errors.New("--out: no file named\nhint: name one that ends in .parquet or .jsonl"))
	}
	if _, err := sessions.FormatOf(f.out); err != nil {
		return cli.Usage(fmt.Errorf("--out %w", err))
	}
	options := sessions.Options{Seed: f.seed}
	if f.distribution != "" {
		if options.Mix, err = sessions.ParseMix("--distribution", f.distribution); err != nil {
			return cli.Usage(err)
		}
	}
	if options.EventShare, err = sessions.ParseEventShare("--events", f.events); err != nil {
		return cli.Usage(err)
	}
	c, err := f.from.load()
	if err != nil {
		return err
	}
	c = c.WithDerived()
	drawer, err := sessions.NewDrawer(c, options)
	if err != nil {
		return cli.Usage(err)
	}
	notes := cli.NewNotes(env, "datagen")
	notes.Print(c.Notes)
	notes.Print(drawer.Notes())
	bar := cli.NewProgress(env, span.Count, "sessions")
	n, err := sessions.WriteFile(f.out, untilDone(ctx, drawer.Sessions(span), bar.Step))
	bar.Done()
	if err != nil {
		return writeError(err)
	}
	if f.json {
		return cli.PrintJSON(env, written{File: f.out, Sessions: n, Corpus: c.SHA256, Options: drawer.Options()})
	}
	_, err = fmt.Fprintf(env.Stdout, "%s: %d sessions, corpus %s, seed %d\n", f.out, n, c.Name, f.seed)
	return cli.Output(err)
}

// untilDone ends a sequence with the context's error once that is cancelled, and
// counts what passes.
func untilDone(ctx context.Context, all iter.Seq2[*sessions.Session, error], step func()) iter.Seq2[*sessions.Session, error] {
	return func(yield func(*sessions.Session, error) bool) {
		for s, err := range all {
			if done := ctx.Err(); done != nil {
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
