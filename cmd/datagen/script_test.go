package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolgauge/toolgauge/internal/cli/clitest"
)

// TestMain makes datagen a command of its own, which the tests start as users
// do.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"datagen": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: clitest.Commands(), RequireExplicitExec: true, RequireUniqueNames: true})
}
