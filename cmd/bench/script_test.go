package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/cli/clitest"
	"github.com/toolgauge/toolgauge/sessions"
)

// TestMain makes bench a command of its own, which the tests start as users do.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bench": main, "mcp-server": mcpServer})
}

func TestScripts(t *testing.T) {
	commands := clitest.Commands()
	commands["draw"], commands["example"] = draw, example
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: commands, RequireExplicitExec: true, RequireUniqueNames: true})
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
