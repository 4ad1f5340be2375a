package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// searchFlags are the flags of bench search, as given.
type searchFlags struct {
	corpus     string
	retrievers []string
	servers    []string
	limit      int
	json       bool
}

func searchCommand(env cli.Env) *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search QUERY",
		Short: "Say what a query finds among the deferred tools, and why",
		Long: "Search the tools that can be deferred, as tool_search would for a session that has all of them: what\n" +
			"each retriever reads in the query, what it finds and turns away, and what each word adds to a score.\n" +
			"Several retrievers are compared side by side.\n\n" +
			"Retrievers: bm25; bm25-gated (stems words, and rather finds nothing than something unlikely);\n" +
			"substring; regex (the query is a pattern of at most 200 characters, RE2 syntax).",
		Example: "  bench search \"create a github issue\"\n" +
			"  bench search \"create a github issue\" --retriever bm25,bm25-gated --limit 10\n" +
			"  bench search \"send a message\" --corpus tools-list.json --server slack,gmail --json",
		Args: cli.OneArgument("QUERY"),
		RunE: func(_ *cobra.Command, words []string) error {
			found, err := searchCorpus(env, f, words[0])
			if err != nil {
				return err
			}
			if f.json {
				return cli.PrintJSON(env, found)
			}
			return cli.Output(found.writeText(env.Stdout))
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.corpus, "corpus", "", "tools from `PATH`: a corpus folder, exported tools, or synthetic:N (default: the embedded corpus)")
	flags.StringSliceVar(&f.retrievers, "retriever", []string{"bm25"}, "search with the retrievers `NAME,...`")
	flags.StringSliceVar(&f.servers, "server", nil, "search the tools of the servers or plugins `NAME,...` (default: all)")
	flags.IntVar(&f.limit, "limit", 5, "show at most `N` hits, and as many tools that were turned away")
	flags.BoolVar(&f.json, "json", false, "print the explanations as JSON")
	return c
}

// searchCorpus asks every retriever.
func searchCorpus(env cli.Env, f searchFlags, query string) (*searched, error) {
	query = strings.TrimSpace(query) // as the bridge does
	switch {
	case query == "":
		return nil, cli.Usage(errors.New("QUERY: nothing to search for\nhint: say what the tool should do, for example \"create a github issue\""))
	case f.limit < 1:
		return nil, cli.Usage(fmt.Errorf("--limit %d: not a number of hits\nhint: give 1 or more", f.limit))
	case len(f.retrievers) == 0:
		return nil, cli.Usage(fmt.Errorf("--retriever: no retrievers\nhint: name some of %s", strings.Join(search.Names(), ", ")))
	}
	var retrievers []search.Retriever
	for i, name := range f.retrievers {
		if slices.Contains(f.retrievers[:i], name) {
			return nil, cli.Usage(fmt.Errorf("--retriever: %q is named twice\nhint: name each retriever once", name))
		}
		r, err := search.New(name)
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("--retriever: %w", err))
		}
		retrievers = append(retrievers, r)
	}
	c, err := loadCorpus(f.corpus, "")
	if err != nil {
		return nil, err
	}
	tools, sources, err := searchPool(c, f.servers)
	if err != nil {
		return nil, err
	}
	cli.NewNotes(env, "bench").Print(c.Notes)
	found := &searched{Query: query, Corpus: c.Name, PoolTools: len(tools), PoolSources: len(sources), Limit: f.limit}
	for _, r := range retrievers {
		b := bridge.New(bridge.Options{Core: c.Toolsets.IsCore, Catalog: sources.catalog(), Retriever: r})
		scope := b.Scope(tools, bridge.DefaultConfig())
		found.add(r.Name(), scope.Tools(), scope.Index().Explain(query, f.limit))
	}
	return found, nil
}

// pool has the tools by their source.
type pool map[string][]*corpus.Tool

// catalog knows where the tools register.
func (p pool) catalog() catalog {
	c := make(catalog)
	for source, tools := range p {
		for _, t := range tools {
			c[t.Definition.Name] = source
		}
	}
	return c
}

// catalog is the toolset of each tool, by model-visible name.
type catalog map[string]string

// Toolset returns where a tool registers.
func (c catalog) Toolset(name string) (string, bool) {
	toolset, ok := c[name]
	return toolset, ok
}

// searchPool returns the tools to search, in the order in which a session has them, which is by name.
func searchPool(c *corpus.Corpus, servers []string) ([]*registry.Definition, pool, error) {
	all, picked := make(pool), make(pool)
	for _, t := range c.Deferrable() {
		all[t.Toolset] = append(all[t.Toolset], t)
	}
	if len(all) == 0 {
		return nil, nil, cli.Input(fmt.Errorf("corpus %s: no tool that can be deferred\nhint: give --corpus the tools of a server", c.Name))
	}
	if len(servers) == 0 {
		picked = all
	}
	for _, name := range servers {
		tools, toolset := all["mcp-"+name], "mcp-"+name
		if tools == nil {
			tools, toolset = all[name], name
		}
		if tools == nil {
			return nil, nil, cli.Usage(fmt.Errorf("--server: no tools of %q\nhint: %s", name, nearest.Hint(name, all.labels())))
		}
		picked[toolset] = tools
	}
	var definitions []*registry.Definition
	for _, tools := range picked {
		for _, t := range tools {
			definitions = append(definitions, t.Definition)
		}
	}
	slices.SortFunc(definitions, func(a, b *registry.Definition) int { return cmp.Compare(a.Name, b.Name) })
	return definitions, picked, nil
}

// labels are the names that people know the sources by, sorted.
func (p pool) labels() (names []string) {
	for source := range p {
		names = append(names, strings.TrimPrefix(source, "mcp-"))
	}
	slices.Sort(names)
	return names
}
