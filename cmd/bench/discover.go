package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/pipeline/discovery"
)

// discoverFlags are the flags of bench discover, as given.
type discoverFlags struct {
	out       string
	cache     string
	noCache   bool
	september bool
	json      bool
}

func discoverCommand(env cli.Env) *cobra.Command {
	var f discoverFlags
	c := &cobra.Command{
		Use:   "discover FOLDER",
		Short: "Say which tool files of a folder register, and why the others do not",
		Long: "Say of every file at the top of a folder whether it brings tools: Python modules in which\n" +
			"registry.register(…) is a statement of the module, and YAML or JSON files of tool cards. No file\n" +
			"is run. Verdicts are kept by time of change and size. With --out, the tool cards become a corpus\n" +
			"folder for bench run --corpus.",
		Example: "  bench discover tools\n" +
			"  bench discover tools --out my-corpus\n" +
			"  bench discover tools --no-cache --json",
		Args: cli.OneArgument("FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error { return discover(env, args[0], f) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.out, "out", "o", "", "write the tool cards found as a corpus to `FOLDER`, which must not exist")
	flags.BoolVar(&f.september, "september", false, "also take what the variant september takes: for bodies, PACKAGE/tool.py, a byte order mark")
	flags.StringVar(&f.cache, "cache", "", "keep verdicts in `FILE` (default: toolgauge/discovery.json in the user's cache folder)")
	flags.BoolVar(&f.noCache, "no-cache", false, "read every file, and keep no verdicts")
	flags.BoolVar(&f.json, "json", false, "print the verdicts as JSON")
	c.MarkFlagsMutuallyExclusive("cache", "no-cache")
	return c
}

func discover(env cli.Env, folder string, f discoverFlags) error {
	notes := cli.NewNotes(env, "bench")
	options := discovery.Options{September: f.september, Cards: corpus.CountCards, CacheFile: f.cache}
	if f.cache == "" && !f.noCache {
		if user, err := os.UserCacheDir(); err == nil {
			options.CacheFile = filepath.Join(user, "toolgauge", "discovery.json")
		} else {
			notes.Print([]string{"verdicts are not kept for the next scan: " + err.Error()})
		}
	}
	report, err := discovery.Scan(folder, options)
	if err != nil {
		return cli.Input(err)
	}
	notes.Print(report.Notes)
	if f.out != "" {
		if err := writeCards(notes, folder, report, f.out); err != nil {
			return cli.Input(err)
		}
	}
	if f.json {
		return cli.PrintJSON(env, report)
	}
	if err := report.WriteText(env.Stdout); err != nil {
		return cli.Output(err)
	}
	if f.out != "" {
		_, err = fmt.Fprintf(env.Stdout, "Corpus: %s\n", f.out)
	}
	return cli.Output(err)
}

// writeCards makes a corpus folder of the files that hold tool cards.
func writeCards(notes *cli.Notes, folder string, report *discovery.Report, out string) error {
	var files []string
	modules := 0
	for _, v := range report.Files {
		switch {
		case v.Kind == discovery.Cards && v.Registers:
			files = append(files, filepath.Join(folder, filepath.FromSlash(v.File)))
		case v.Registers:
			modules++
		}
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: no tool cards to make a corpus of\nhint: tool cards are YAML or JSON files; bench discover %s says what stands in the way", folder, folder)
	}
	name := filepath.Base(folder)
	if absolute, err := filepath.Abs(folder); err == nil {
		name = filepath.Base(absolute)
	}
	c, err := corpus.GatherCards(name, files)
	if err != nil {
		return err
	}
	written, err := c.WriteFolder(out)
	if err != nil {
		return err
	}
	notes.Print(c.Notes)
	notes.Print(written)
	if modules > 0 {
		notes.Print([]string{fmt.Sprintf("Python modules that register are not in the corpus, since only Python can tell their schemas: %d", modules)})
	}
	return nil
}
