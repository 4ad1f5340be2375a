// Package clitest holds what the test scripts of both commands can do beside
// testscript's own commands: demand an exit status, read JSON, spoil files.
package clitest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolgauge/toolgauge/internal/cli"
)

// Commands returns the commands for testscript.Params.Cmds:
//
//	fails STATUS PROGRAM [ARG...]  runs a command that ends with STATUS and says why, with a hint
//	json [FILE]                    what the last command printed, or a file, is one JSON value
//	write FILE TEXT                writes a file; TEXT is a Go string without its quotes
//	shorten FILE N                 takes the last N bytes off a file
//	flip FILE N                    turns the lowest bit of byte N around; a negative N counts from the end
//	empty FOLDER                   nothing at all is in the folder, or there is none
func Commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	commands := map[string]func(*testscript.TestScript, []string){
		"fails": fails, "json": validJSON, "write": write, "shorten": shorten, "flip": flip, "empty": empty,
	}
	wrapped := make(map[string]func(*testscript.TestScript, bool, []string))
	for name, run := range commands {
		wrapped[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s cannot be negated", name)
			}
			run(ts, args)
		}
	}
	return wrapped
}

// fails demands an exit status; of an error also its form.
func fails(ts *testscript.TestScript, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case !errors.As(err, &exit):
		ts.Fatalf("%s ends with %v, want exit status %d", args[1], err, want)
	case exit.ExitCode() != want:
		ts.Fatalf("%s ends with exit status %d, want %d", args[1], exit.ExitCode(), want)
	}
	if want == cli.ExitFailed {
		return // its report has said all
	}
	said := ts.ReadFile("stderr")
	if strings.Contains(said, "panic:") || strings.Contains(said, "goroutine ") {
		ts.Fatalf("%s panics", args[1])
	}
	var errorLines, hints int
	for line := range strings.Lines(said) {
		switch {
		case strings.HasPrefix(line, args[1]+": note: "):
		case strings.HasPrefix(line, args[1]+": "):
			errorLines++
		case strings.HasPrefix(line, "hint: "):
			hints++
		}
	}
	if errorLines != 1 {
		ts.Fatalf("%s names itself in %d error lines, want 1", args[1], errorLines)
	}
	if hints != 1 && want != cli.ExitInterrupted {
		ts.Fatalf("%s gives %d hints, want 1", args[1], hints)
	}
}

func validJSON(ts *testscript.TestScript, args []string) {
	file := "stdout"
	if len(args) > 0 {
		file = args[0]
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	var value any
	if err := d.Decode(&value); err != nil {
		ts.Fatalf("%s is no JSON: %v", file, err)
	}
	if d.More() {
		ts.Fatalf("%s holds more than one JSON value", file)
	}
}

func write(ts *testscript.TestScript, args []string) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

func shorten(ts *testscript.TestScript, args []string) {
	spoil(ts, args, func(data []byte, n int) []byte { return data[:len(data)-n] })
}

func flip(ts *testscript.TestScript, args []string) {
	spoil(ts, args, func(data []byte, n int) []byte {
		if n < 0 {
			n += len(data)
		}
		data[n] ^= 1
		return data
	})
}

func spoil(ts *testscript.TestScript, args []string, change func(data []byte, n int) []byte) {
	path := ts.MkAbs(args[0])
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	data, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(path, change(data, n), 0o666))
}

func empty(ts *testscript.TestScript, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		ts.Fatalf("%v", err)
	}
	if len(entries) > 0 {
		ts.Fatalf("%s holds %d files, the first is %s", args[0], len(entries), entries[0].Name())
	}
}
