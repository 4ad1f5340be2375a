package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli/clitest"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
	"github.com/toolgauge/toolgauge/sessions"
)

// TestMain makes bench a command of its own, which the tests start as users do.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bench": main, "mcp-server": mcpServer})
}

func TestScripts(t *testing.T) {
	commands := clitest.Commands()
	commands["draw"], commands["example"], commands["interrupted"] = draw, example, interrupted
	params := testscript.Params{Dir: "testdata/script", Cmds: commands, RequireExplicitExec: true, RequireUniqueNames: true}
	if testing.Short() { // those that work on several things at once; a start is slow under the race detector
		params.Dir = ""
		for _, name := range []string{"harvest", "run", "shard", "sweep"} {
			params.Files = append(params.Files, filepath.Join("testdata", "script", name+".txtar"))
		}
	}
	testscript.Run(t, params)
}

// draw writes a file of sessions of the embedded corpus: draw FILE ROWS [SEED].
func draw(ts *testscript.TestScript, _ bool, args []string) {
	c, err := corpus.Embedded()
	ts.Check(err)
	var o sessions.Options
	if len(args) > 2 {
		_, err := fmt.Sscan(args[2], &o.Seed)
		ts.Check(err)
	}
	rows, err := sessions.ParseRange("rows", args[1])
	ts.Check(err)
	drawer, err := sessions.NewDrawer(c, o)
	ts.Check(err)
	_, err = sessions.WriteFile(ts.MkAbs(args[0]), drawer.Sessions(rows))
	ts.Check(err)
}

// example copies a file of examples: example FILE.
func example(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o666))
}

// interrupted makes, in a folder of runs, what is left of a run that was interrupted
// after the sessions of another one, its first: interrupted OUT RUN FIRST. RUN and
// FIRST are folders that hold one run folder each.
func interrupted(ts *testscript.TestScript, _ bool, args []string) {
	var runs []*reports.Run
	for _, folder := range args[1:] {
		found, err := filepath.Glob(filepath.Join(ts.MkAbs(folder), "*"))
		ts.Check(err)
		run, err := reports.Open(found[0])
		ts.Check(err)
		runs = append(runs, run)
	}
	ts.Check(leaveInterrupted(ts.MkAbs(args[0]), runs[0], runs[1]))
}

func leaveInterrupted(out string, run, first *reports.Run) error {
	w, err := reports.Create(out, run.Manifest)
	if err != nil {
		return err
	}
	defer w.Abort()
	figures := metrics.NewAccumulator()
	if err := w.AddRun(context.Background(), first, figures, func() {}); err != nil {
		return err
	}
	_, err = w.Finish(reports.StatusInterrupted, reports.Summary{
		Figures: figures.Figures(), BreakEvens: figures.BreakEvens(), Counts: reports.Counts{Attempted: run.Manifest.Counts.Attempted},
	})
	return err
}
