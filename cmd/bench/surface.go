package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/replay"
	"github.com/toolgauge/toolgauge/sessions"
)

// surfaceFlags are the flags of bench surface, as given.
type surfaceFlags struct {
	sessions      string
	row           int64
	rowGiven      bool
	turn          int
	seed          uint64
	seedGiven     bool
	distribution  string
	events        string
	eventsGiven   bool
	toolsets      []string
	context       int
	arms          []string
	corpus        string
	distributions string
	disable       []string
	down          []string
	withoutEnv    []string
	raw, json     bool
}

func surfaceCommand(env cli.Env) *cobra.Command {
	var f surfaceFlags
	c := &cobra.Command{
		Use:   "surface [TOOL...]",
		Short: "Show what the model would see, and why a tool is there or not",
		Long: "Take the tools array of one request apart: its tokens by part, its listing and where the budget comes\n" +
			"from, and then: which tools are seen and which of them the session uses; which are always on, and by\n" +
			"which rule; which exist but are unavailable, and why; which are hidden, and whether the model can\n" +
			"know of them. Warnings name the pitfalls that the configuration runs into. With TOOLs, only where\n" +
			"these stand, and why.\n\n" +
			"The request is that of a session's turn, as bench run plays it, or one with the toolsets named.",
		Example: "  bench surface --sessions 7-7\n" +
			"  bench surface --sessions sessions.parquet --row 3 --turn 2 --arms july-bare\n" +
			"  bench surface --toolsets hermes-cli,github --context 32000 --disable terminal\n" +
			"  bench surface terminal mcp__github__list_issues --toolsets file,github --down github\n" +
			"  bench surface --raw | sha256sum",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, words []string) error {
			if err := checkSource(c.Flags()); err != nil {
				return err
			}
			f.rowGiven, f.seedGiven, f.eventsGiven = c.Flags().Changed("row"), c.Flags().Changed("seed"), c.Flags().Changed("events")
			return showSurface(c.Context(), env, f, words)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.sessions, "sessions", "1", "take session `A-A` of the draw, or one of a file of sessions")
	flags.Int64Var(&f.row, "row", 0, "take session `N` of those, counted from 0")
	flags.IntVar(&f.turn, "turn", 0, "show the first request of turn `N`, counted from 0, after all that happened before")
	flags.StringSliceVar(&f.toolsets, "toolsets", nil, "take the toolsets and servers `NAME,...` in place of a session; all for every one")
	flags.IntVar(&f.context, "context", 200_000, "with --toolsets: the model's context is `N` tokens; 0: not known")
	flags.StringSliceVar(&f.disable, "disable", nil, "take the tools of the toolsets and servers `NAME,...` away at last")
	flags.StringSliceVar(&f.down, "down", nil, "the servers or probes `NAME,...` do not answer")
	flags.StringSliceVar(&f.withoutEnv, "without-env", nil, "the environment variables `NAME,...` are not set; all others are")
	flags.StringSliceVar(&f.arms, "arms", []string{"july-listing"}, "under the default arm `NAME`, the one of a YAML file, or one of several as FILE,NAME")
	flags.StringVar(&f.corpus, "corpus", "", "tools from `PATH`: a corpus folder, exported tools, or synthetic:N (default: the embedded corpus)")
	flags.StringVar(&f.distribution, "distribution", "", "draw from `NAME`, or from several as NAME=WEIGHT,... (default few=40,ten=40,forty=20)")
	flags.StringVar(&f.distributions, "distributions", "", "add the distributions of a YAML `FILE`")
	flags.StringVar(&f.events, "events", defaultEvents, "draw `SHARE` events a turn on average, 0 to 1")
	flags.Uint64Var(&f.seed, "seed", 1, "seed `N` of the draw")
	flags.BoolVar(&f.raw, "raw", false, "print the tools array and nothing else, byte for byte as the request carries it")
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	c.MarkFlagsMutuallyExclusive("raw", "json")
	return c
}

// checkSource refuses flags of sessions beside --toolsets, and the other way round.
func checkSource(given *pflag.FlagSet) error {
	if !given.Changed("toolsets") {
		if given.Changed("context") {
			return cli.Usage(errors.New("--context: a session has a context of its own\nhint: leave it out, or name toolsets with --toolsets"))
		}
		return nil
	}
	if names, err := given.GetStringSlice("toolsets"); err == nil && len(names) == 0 {
		return cli.Usage(errors.New("--toolsets: no toolset named\nhint: name some, for example hermes-cli,github, or all"))
	}
	for _, name := range []string{"sessions", "row", "turn", "seed", "distribution", "events"} {
		if given.Changed(name) {
			return cli.Usage(fmt.Errorf("--%s: toolsets by name are no session\nhint: leave out --%s or --toolsets", name, name))
		}
	}
	return nil
}

// showSurface prints one surface, or where some tools stand.
func showSurface(ctx context.Context, env cli.Env, f surfaceFlags, names []string) error {
	arm, notes, err := chooseArm(f.arms)
	if err != nil {
		return err
	}
	c, err := loadCorpus(f.corpus, f.distributions)
	if err != nil {
		return err
	}
	o := replay.InspectOptions{
		Corpus: c, Arm: arm, Turn: f.turn, Disabled: f.disable, Down: f.down, UnsetEnv: f.withoutEnv, Unread: corpus.Unread(f.corpus),
	}
	session, sessionNotes, err := chooseSession(c, f)
	if err != nil {
		return err
	}
	o.Session = session
	if err := o.Check(); err != nil {
		return cli.Usage(err)
	}
	tools, err := namedTools(c, names)
	if err != nil {
		return err
	}
	cli.NewNotes(env, "bench").Print(slices.Concat(notes, c.Notes, sessionNotes))
	seen, err := replay.Inspect(ctx, o)
	if err != nil {
		return cli.Input(err)
	}
	if len(tools) > 0 {
		seen.Tools = slices.DeleteFunc(seen.Tools, func(t replay.ToolState) bool { return !slices.Contains(tools, t.ID) })
	}
	switch {
	case f.raw:
		_, err = io.WriteString(env.Stdout, seen.Array)
		return cli.Output(err)
	case f.json:
		return cli.PrintJSON(env, seen)
	case len(tools) > 0:
		return cli.Output(writeTools(env.Stdout, seen.Tools))
	default:
		return cli.Output(writeSurface(env.Stdout, seen))
	}
}

// chooseArm takes a default arm by name, the only one of a file, or one of a file
// by name.
func chooseArm(words []string) (replay.Arm, []string, error) {
	all, notes, names := replay.DefaultArms(), []string(nil), words
	if len(words) > 0 && isArmsFile(words[0]) {
		var err error
		if all, notes, err = replay.LoadArms(words[0]); err != nil {
			return replay.Arm{}, nil, cli.Usage(err)
		}
		if names = words[1:]; len(names) == 0 {
			names = armsOf(all)
		}
	}
	arms, err := replay.SelectArms(all, names)
	if err != nil {
		return replay.Arm{}, nil, cli.Usage(fmt.Errorf("--arms: %w", err))
	}
	if len(arms) > 1 {
		return replay.Arm{}, nil, cli.Usage(fmt.Errorf("--arms: %d arms, but a surface is that of one\nhint: name one of %s; of a file as FILE,NAME",
			len(arms), strings.Join(armsOf(arms), ", ")))
	}
	return arms[0], notes, nil
}

// chooseSession takes a session of a draw or of a file, or makes one of toolsets.
func chooseSession(c *corpus.Corpus, f surfaceFlags) (*sessions.Session, []string, error) {
	if len(f.toolsets) > 0 {
		if f.context < 0 {
			return nil, nil, cli.Usage(fmt.Errorf("--context %d: not a number of tokens\nhint: give the model's context, or 0 if nobody knows it", f.context))
		}
		s, err := replay.NamedSession(c, f.toolsets, f.context)
		return s, nil, cli.Usage(err)
	}
	if f.row < 0 {
		return nil, nil, cli.Usage(fmt.Errorf("--row %d: no such session\nhint: count the sessions from 0", f.row))
	}
	p := &plan{corpus: c}
	given := runFlags{
		sessions: f.sessions, corpus: f.corpus, distribution: f.distribution,
		events: f.events, eventsGiven: f.eventsGiven, seed: f.seed, seedGiven: f.seedGiven,
	}
	var err error
	if isFile(f.sessions) {
		err = p.read(given)
	} else {
		err = p.drawn(given)
	}
	if err != nil {
		return nil, nil, err
	}
	if p.count > 1 && !f.rowGiven {
		row, _, _ := strings.Cut(f.sessions, "-")
		return nil, nil, cli.Usage(fmt.Errorf("--sessions %s: %d sessions, but a surface is that of one\nhint: write %s-%s for row %s of the draw, or pick one with --row",
			f.sessions, p.count, row, row, row))
	}
	row := int64(0)
	for s, err := range p.sessions {
		if err != nil {
			return nil, nil, cli.Input(err)
		}
		if row == f.row {
			return s, p.notes, nil
		}
		row++
	}
	if row == 1 {
		return nil, nil, cli.Usage(fmt.Errorf("--row %d: there is 1 session\nhint: give 0", f.row))
	}
	return nil, nil, cli.Usage(fmt.Errorf("--row %d: there are %d sessions\nhint: give 0 to %d", f.row, row, row-1))
}

// namedTools are the ids of tools, given by id or as a model sees them.
func namedTools(c *corpus.Corpus, names []string) (ids []string, err error) {
	byName := make(map[string]string, len(c.Tools))
	var known []string
	for _, t := range c.Tools {
		byName[t.Definition.Name] = t.ID
		known = append(known, t.Definition.Name)
	}
	for _, t := range c.Tools {
		byName[t.ID] = t.ID
	}
	for _, name := range names {
		id, ok := byName[name]
		if !ok {
			return nil, cli.Usage(fmt.Errorf("TOOL: the corpus has no tool %q\nhint: %s", name, nearest.Hint(name, known)))
		}
		ids = append(ids, id)
	}
	return ids, nil
}
