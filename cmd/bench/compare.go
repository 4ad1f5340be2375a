package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/reports/compare"
	"github.com/toolgauge/toolgauge/sessions"
)

// compareFlags are the flags of bench compare, as given.
type compareFlags struct {
	allowMismatch bool
	json          bool
}

func compareCommand(env cli.Env) *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Say what changed from a run to another",
		Long: "Compare two run folders, A before and B after, session by session and intent by intent: every measure\n" +
			"that differs, with its exact difference, the 95 % interval and the p of a paired randomisation test;\n" +
			"which intents flipped, each with a command that plays its session alone; and how the surfaces changed.\n\n" +
			"Runs of different corpora or sessions are refused with exit status 4, unless --allow-mismatch says to\n" +
			"compare what they have in common.",
		Example: "  bench compare runs/20261130T120000Z-1a2b3c4d runs/20261130T130000Z-5e6f7a8b\n" +
			"  bench compare before after --json",
		Args: func(c *cobra.Command, words []string) error {
			if len(words) != 2 {
				return cli.Usage(fmt.Errorf("%s takes two run folders, got %d\nhint: for example: bench compare runs/BEFORE runs/AFTER", c.CommandPath(), len(words)))
			}
			return nil
		},
		RunE: func(c *cobra.Command, dirs []string) error { return compareRuns(c.Context(), env, f, dirs[0], dirs[1]) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	allowMismatchFlag(flags, &f.allowMismatch)
	flags.BoolVar(&f.json, "json", false, "print the comparison as JSON")
	return c
}

func allowMismatchFlag(flags *pflag.FlagSet, allow *bool) {
	flags.BoolVar(allow, "allow-mismatch", false, "compare what runs of different corpora or sessions have in common")
}

func compareRuns(ctx context.Context, env cli.Env, f compareFlags, before, after string) error {
	a, err := compare.Open(before)
	if err != nil {
		return cli.Input(err)
	}
	b, err := compare.Open(after)
	if err != nil {
		return cli.Input(err)
	}
	c, err := compare.Compare(ctx, a, b, compare.Options{AllowMismatch: f.allowMismatch, Surface: deriver{}.surface, Count: countTokens})
	if err != nil {
		return comparisonFault(err)
	}
	if f.json {
		return cli.PrintJSON(env, c)
	}
	return cli.Output(c.WriteText(env.Stdout))
}

// comparisonFault gives an error of a comparison its exit status.
func comparisonFault(err error) error {
	if errors.As(err, new(*reports.IncomparableError)) {
		return cli.Status(cli.ExitNotComparable, err)
	}
	return cli.Input(err)
}

func countTokens(tokenizer, text string) (int, error) {
	c, err := tokens.New(tokenizer)
	if err != nil {
		return 0, err
	}
	return c.Count(text), nil
}

// deriver keeps corpora, by path and distributions: a large one takes seconds to load.
type deriver map[[2]string]*corpus.Corpus

func (d deriver) corpus(f compare.Flags) (*corpus.Corpus, error) {
	key := [2]string{f.Corpus, f.Distributions}
	if d[key] == nil {
		c, err := loadCorpus(f.Corpus, f.Distributions)
		if err != nil {
			return nil, err
		}
		d[key] = c
	}
	return d[key], nil
}

// surface assembles the surface of a session's turn again, from what the run's manifest says of its input.
func (d deriver) surface(ctx context.Context, r *reports.Run, arm string, at compare.Location) (string, error) {
	f, ok := compare.FlagsOf(r)
	if !ok {
		return "", errors.New("its manifest does not say with which flags it was played")
	}
	c, err := d.corpus(f)
	if err != nil {
		return "", err
	}
	played, err := armOf(r, arm)
	if err != nil {
		return "", err
	}
	session, err := sessionAt(c, r, f, at)
	if err != nil {
		return "", err
	}
	seen, err := replay.Inspect(ctx, replay.InspectOptions{Corpus: c, Session: session, Arm: played, Turn: at.Turn})
	if err != nil {
		return "", err
	}
	return seen.Array, nil
}

// sessionAt draws or reads the session of a location again.
func sessionAt(c *corpus.Corpus, r *reports.Run, f compare.Flags, at compare.Location) (*sessions.Session, error) {
	p := &plan{corpus: c}
	var err error
	if compare.Drawn(r) {
		err = p.drawn(runFlags{
			sessions: fmt.Sprintf("%d-%d", at.RowIndex, at.RowIndex), seed: r.Manifest.Seed,
			corpus: f.Corpus, distribution: f.Distribution, events: f.Events,
		})
	} else {
		err = p.read(runFlags{sessions: f.Sessions})
	}
	if err != nil {
		return nil, err
	}
	for s, err := range p.sessions {
		if err != nil || compare.Drawn(r) || s.SessionID == at.SessionID {
			return s, err
		}
	}
	return nil, fmt.Errorf("%s has no session %s", f.Sessions, at.SessionID)
}

// armOf is an arm as a run's configuration has it.
func armOf(r *reports.Run, name string) (replay.Arm, error) {
	var config struct {
		Arms []replay.Arm `json:"arms"`
	}
	text, err := json.Marshal(r.Manifest.Config)
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	if err != nil {
		return replay.Arm{}, fmt.Errorf("its configuration cannot be read: %w", err)
	}
	arms, err := replay.SelectArms(config.Arms, []string{name})
	if err != nil {
		return replay.Arm{}, err
	}
	return arms[0], nil
}
