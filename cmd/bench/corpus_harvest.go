package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/corpus/harvest"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/internal/mcpserver"
	"github.com/toolgauge/toolgauge/internal/tokens"
	"github.com/toolgauge/toolgauge/reports"
)

// harvestFlags are the flags that say which servers are asked and how.
type harvestFlags struct {
	mcp      string
	timeout  time.Duration
	parallel int
}

func (f *harvestFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.mcp, "mcp", "", "ask the MCP servers of `FILE`, the mcp.json of a client, for their tools")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Minute, "give up on a server after `TIME`, which includes fetching its package")
	flags.Lookup("timeout").DefValue = "2m"
	flags.IntVar(&f.parallel, "parallel", 4, "ask `N` servers at once; changes no result")
}

// parallelMax bounds how many servers run at once.
const parallelMax = 64

// check refuses values that cannot be meant.
func (f *harvestFlags) check() error {
	switch {
	case f.mcp == "":
		return cli.Usage(errors.New("--mcp: no file named\nhint: name the mcp.json of your client"))
	case f.timeout <= 0:
		return cli.Usage(fmt.Errorf("--timeout %s: not a time to wait\nhint: give one such as 90s or 2m", f.timeout))
	case f.parallel < 1 || f.parallel > parallelMax:
		return cli.Usage(fmt.Errorf("--parallel %d: not a number of servers\nhint: give 1 to %d", f.parallel, parallelMax))
	}
	return nil
}

// allServers is the distribution whose sessions have every server that was asked: an
// agent is connected to all that its configuration names. allServersMax is how many
// it has room for.
const (
	allServers    = "forty"
	allServersMax = 40
)

// noteAllServers says so where nobody named a distribution.
func (h *harvested) noteAllServers() string {
	n := 0
	for _, a := range h.answers {
		if len(a.Tools) > 0 {
			n++
		}
	}
	if n > allServersMax {
		return fmt.Sprintf("each session has %d of the %d servers; --distribution draws others", allServersMax, n)
	}
	return "each session has all the servers that answered; --distribution draws fewer"
}

// harvestedFolder is the folder, within a run's, of the corpus that was asked for
// the run.
const harvestedFolder = "corpus"

// checkHarvest refuses flags that do not go with the servers of --mcp, or are
// nothing without them.
func (f *runFlags) checkHarvest(flags *pflag.FlagSet) error {
	if flags.Changed("mcp") {
		if f.corpus != "" {
			return cli.Usage(errors.New("--mcp and --corpus: the tools come from one of the two\nhint: leave one out"))
		}
		return f.harvest.check()
	}
	for _, name := range []string{"timeout", "parallel"} {
		if flags.Changed(name) {
			return cli.Usage(fmt.Errorf("--%s is for servers that are asked\nhint: name them with --mcp, or leave it out", name))
		}
	}
	return nil
}

// harvested is what a harvest brought.
type harvested struct {
	name    string
	answers []harvest.Answer
	at      time.Time
}

// write makes a corpus folder of it.
func (h *harvested) write(out string) (*corpus.Corpus, error) {
	return harvest.Write(out, h.name, h.answers, h.at)
}

// run asks the servers. What went wrong with each is noted.
func (f *harvestFlags) run(ctx context.Context, env cli.Env, notes *cli.Notes) (*harvested, error) {
	config, err := mcpserver.ReadConfig(f.mcp, os.LookupEnv)
	if err != nil {
		return nil, cli.Usage(err)
	}
	notes.Print(config.Notes)
	bar := cli.NewProgress(env, int64(len(config.Servers)), "servers")
	answers, err := harvest.Run(ctx, config.Servers, harvest.Options{Timeout: f.timeout, Parallel: f.parallel, Done: bar.Step})
	bar.Done()
	if err != nil {
		return nil, cli.Input(err)
	}
	for _, a := range answers {
		if note := a.Note(); note != "" {
			notes.Print([]string{note})
		}
	}
	return &harvested{config.Name, answers, env.Now()}, nil
}

// load makes a corpus of it for this run alone.
func (h *harvested) load() (*corpus.Corpus, error) {
	temp, err := os.MkdirTemp("", "toolgauge-harvest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	return h.write(filepath.Join(temp, "corpus"))
}

// keepHarvested puts the corpus into the run's folder, if servers were asked for
// it and it is not there.
func (p *plan) keepHarvested(runDir string) error {
	if p.harvested == nil {
		return nil
	}
	folder := filepath.Join(runDir, harvestedFolder)
	if _, err := os.Lstat(folder); err == nil {
		return nil
	}
	_, err := p.harvested.write(folder)
	return cli.Input(err)
}

// printHarvested prints what the servers cost, if any were asked for the corpus.
func (p *plan) printHarvested(env cli.Env, summary reports.Summary) error {
	if p.harvested == nil {
		return nil
	}
	servers, err := serversOf(p.corpus)
	if err != nil {
		return err
	}
	for _, a := range p.harvested.answers {
		if a.Failure != "" {
			servers = append(servers, reports.Server{Label: a.Server.Label, Failure: a.Failure})
		}
	}
	return cli.Output(reports.PrintServers(env.Stdout, servers, summary))
}

// serversOf counts what each server's tools take, in the order of the corpus.
func serversOf(c *corpus.Corpus) ([]reports.Server, error) {
	counter, err := tokens.New("o200k_base")
	if err != nil {
		return nil, err
	}
	var servers []reports.Server
	for _, t := range c.Tools {
		if t.Server == "" {
			continue
		}
		if n := len(servers); n == 0 || servers[n-1].Label != t.Server {
			servers = append(servers, reports.Server{Label: t.Server})
		}
		s := &servers[len(servers)-1]
		s.Tools++
		s.Tokens += counter.Count(t.Definition.JSON)
	}
	return servers, nil
}

func harvestCommand(env cli.Env) *cobra.Command {
	var f harvestFlags
	var out string
	c := &cobra.Command{
		Use:   "harvest",
		Short: "Ask MCP servers for their tools and make a corpus of the answers",
		Long: "Start each MCP server of a client's mcp.json (or call its url), list its tools, end it again, and\n" +
			"write a corpus folder with the tools' own bytes and where they come from. A server that fails is\n" +
			"reported with its reason and the rest are kept. Servers get PATH, HOME and what their entry sets\n" +
			"of the environment, and nothing else.",
		Example: "  bench corpus harvest --mcp mcp.json -o mine\n" +
			"  bench run --corpus mine",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return harvestCorpus(c.Context(), env, f, out) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	f.add(flags)
	flags.StringVarP(&out, "out", "o", "", "write the corpus to `FOLDER`, which must not exist")
	return c
}

func harvestCorpus(ctx context.Context, env cli.Env, f harvestFlags, out string) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := checkOut(out); err != nil {
		return err
	}
	if _, err := os.Lstat(out); err == nil {
		return cli.Input(fmt.Errorf("cannot create the folder %s: file already exists\nhint: name a new folder", out))
	}
	notes := cli.NewNotes(env, "bench")
	h, err := f.run(ctx, env, notes)
	if err != nil {
		return err
	}
	c, err := h.write(out)
	if err != nil {
		return cli.Input(err)
	}
	notes.Print(c.Notes)
	return h.print(env, out)
}

// print lists the servers that answered, and where the corpus is.
func (h *harvested) print(env cli.Env, out string) error {
	width := len("server")
	for _, a := range h.answers {
		width = max(width, len(a.Server.Label))
	}
	servers, tools := 0, 0
	for _, a := range h.answers {
		if a.Failure != "" {
			continue
		}
		servers++
		tools += len(a.Tools)
		size := 0
		for _, t := range a.Tools {
			size += len(t)
		}
		if _, err := fmt.Fprintf(env.Stdout, "%-*s  %4d tools  %8d bytes  %s %s\n", width, a.Server.Label, len(a.Tools), size, a.Name, a.Version); err != nil {
			return cli.Output(err)
		}
	}
	_, err := fmt.Fprintf(env.Stdout, "servers: %d of %d; tools: %d\nCorpus: %s\n", servers, len(h.answers), tools, out)
	return cli.Output(err)
}
