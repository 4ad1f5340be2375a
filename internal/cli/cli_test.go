package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// execute runs a program of one verb, test, which does what a test wants.
func execute(ctx context.Context, test func(*cobra.Command) error, args ...string) (status int, stdout, stderr string) {
	root := &cobra.Command{Use: "program", Args: NoArguments, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	verb := &cobra.Command{
		Use: "test NAME", Short: "Test a thing", Example: "  program test a", Args: OneArgument("NAME"),
		RunE: func(c *cobra.Command, _ []string) error { return test(c) },
	}
	verb.Flags().Uint64P("seed", "s", 1, "seed `N`")
	verb.Flags().Int("workers", 1, "workers `N`")
	root.AddCommand(verb)
	var out, errs bytes.Buffer
	status = Execute(ctx, Env{Args: args, Stdout: &out, Stderr: &errs}, root)
	return status, out.String(), errs.String()
}

func TestStatusOfErrors(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	plain := errors.New("no good")
	for _, c := range []struct {
		name   string
		ctx    context.Context
		err    error
		status int
		said   string
	}{
		{"none", context.Background(), nil, ExitOK, ""},
		{"usage", context.Background(), Usage(plain), ExitUsage, "program: no good\nhint: see program test --help\n"},
		{"usage with a hint", context.Background(), Usage(errors.New("no good\nhint: be good")), ExitUsage, "program: no good\nhint: be good\n"},
		{"input", context.Background(), Input(errors.New("no good\nhint: be good")), ExitInput, "program: no good\nhint: be good\n"},
		{"wrapped", context.Background(), fmt.Errorf("file: %w", Input(plain)), ExitInput, "program: file: no good\n"},
		{"the innermost stays", context.Background(), Usage(Input(plain)), ExitInput, "program: no good\n"},
		{"of no kind", context.Background(), plain, ExitUsage, "program: no good\nhint: see program test --help\n"},
		{"not comparable", context.Background(), Status(ExitNotComparable, plain), ExitNotComparable, "program: no good\n"},
		{"all is said", context.Background(), Silent(ExitFailed), ExitFailed, ""},
		{"interrupted", cancelled, Input(context.Canceled), ExitInterrupted, "program: interrupted; no file was written\n"},
		{"interrupted, and it says so", cancelled, Status(ExitInterrupted, errors.New("kept")), ExitInterrupted, "program: kept\n"},
		{"cancelled by nobody", context.Background(), Input(context.Canceled), ExitInput, "program: context canceled\n"},
		{"another error after an interrupt", cancelled, Input(plain), ExitInput, "program: no good\n"},
	} {
		status, _, said := execute(c.ctx, func(*cobra.Command) error { return c.err }, "test", "a")
		if status != c.status || said != c.said {
			t.Errorf("%s: status %d, says %q, want %d and %q", c.name, status, said, c.status, c.said)
		}
	}
}

func TestMistakesInACall(t *testing.T) {
	for _, c := range []struct{ args, said string }{
		{"tset", "unknown verb \"tset\"\nhint: did you mean \"test\"?"},
		{"help tset", "unknown verb \"tset\"\nhint: did you mean \"test\"?"},
		{"help test a", "program test takes no arguments, got \"a\"\nhint: see program test --help"},
		{"test", "program test needs a NAME\nhint: for example: program test a"},
		{"test a b", "program test takes one NAME, got 2\nhint: for example: program test a"},
		{"test a --sed 1", "unknown flag --sed\nhint: did you mean \"--seed\"?"},
		{"test a -xs", "unknown flag -x\nhint: see program test --help"},
		{"test a --seed", "--seed needs a value\nhint: see program test --help"},
		{"test a -s", "--seed needs a value\nhint: see program test --help"},
		{"test a -s=-1", "--seed \"-1\": not a whole number from 0 to 18446744073709551615\nhint: see program test --help"},
		{"test a --workers=many", "--workers \"many\": not a whole number\nhint: see program test --help"},
		{"test a --=1", "bad flag syntax: --=1\nhint: see program test --help"},
	} {
		status, stdout, said := execute(context.Background(), func(*cobra.Command) error { return nil }, strings.Fields(c.args)...)
		if status != ExitUsage || stdout != "" || said != "program: "+c.said+"\n" {
			t.Errorf("%s: status %d, prints %q, says\n%s\nwant %d and\n%s", c.args, status, stdout, said, ExitUsage, c.said)
		}
	}
}

func TestHelp(t *testing.T) {
	const want = `Test a thing

Usage:
  program test NAME [flags]

Examples:
  program test a

Flags:
  -h, --help        help for test
  -s, --seed N      seed N (default 1)
      --workers N   workers N (default 1)
`
	for _, args := range []string{"test --help", "help test", "test a -h"} {
		status, stdout, stderr := execute(context.Background(), nil, strings.Fields(args)...)
		if status != ExitOK || stderr != "" || stdout != want {
			t.Errorf("%s: status %d, says %q, prints\n%s", args, status, stderr, stdout)
		}
	}
	const program = `Usage:
  program [flags]
  program VERB [flags]

Verbs:
  test         Test a thing

Flags:
  -h, --help      help for program
  -v, --version   version for program

program VERB --help says more about a verb.
`
	if _, stdout, _ := execute(context.Background(), nil); stdout != program {
		t.Errorf("program prints\n%s", stdout)
	}
}

// broken is a stream that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

func TestPrintJSON(t *testing.T) {
	var out bytes.Buffer
	if err := PrintJSON(Env{Stdout: &out}, map[string]string{"a": "<b>"}); err != nil || out.String() != "{\n  \"a\": \"<b>\"\n}\n" {
		t.Errorf("prints %q, error %v", out.String(), err)
	}
	err := PrintJSON(Env{Stdout: broken{}}, 1)
	if want := "cannot write to standard output: no space left on device\nhint: free some space, or send it elsewhere"; err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Error("the cause is lost")
	}
	if err := PrintJSON(Env{Stdout: &out}, math.NaN()); err == nil {
		t.Error("NaN has no JSON")
	}
}

func TestNotesAreSaidOnce(t *testing.T) {
	var errs bytes.Buffer
	n := NewNotes(Env{Stderr: &errs}, "program")
	n.Print([]string{"a", "b", "a"})
	n.Print([]string{"b", "c"})
	if want := "program: note: a\nprogram: note: b\nprogram: note: c\n"; errs.String() != want {
		t.Errorf("says %q, want %q", errs.String(), want)
	}
}

func TestProgressIsForTerminals(t *testing.T) {
	var errs bytes.Buffer
	bar := NewProgress(Env{Stderr: &errs}, 3, "sessions")
	bar.Step()
	bar.Done()
	if errs.Len() > 0 {
		t.Errorf("shown where there is no terminal: %q", errs.String())
	}
	for _, total := range []int64{3, 0} {
		errs.Reset()
		bar = NewProgress(Env{Stderr: &errs, Terminal: true}, total, "sessions")
		bar.Step()
		bar.Done()
		if !strings.Contains(errs.String(), "sessions") || !strings.HasSuffix(errs.String(), "\r") {
			t.Errorf("of %d: shows %q", total, errs.String())
		}
		shown := errs.Len()
		time.Sleep(250 * time.Millisecond) // in which a spinner turns twice
		if errs.Len() != shown {
			t.Errorf("of %d: goes on after it is done", total)
		}
	}
}
