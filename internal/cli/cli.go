// Package cli is the plumbing that both commands share: where arguments and
// streams come from, what help looks like, how an error reaches its reader, and
// what the exit status means. A command is a function of an Env, so that tests
// run it in process.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/toolgauge/toolgauge/internal/provenance"
)

// Exit statuses, the same for every command.
const (
	ExitOK            = 0
	ExitFailed        = 1   // a gate failed, or vectors differ
	ExitUsage         = 2   // usage or configuration
	ExitInput         = 3   // incomplete, unreadable or empty input; output that cannot be written
	ExitNotComparable = 4   // runs that cannot be compared
	ExitInterrupted   = 130 // stopped by a signal; what is finished is kept
)

// Env is what a command sees of the world.
type Env struct {
	Args     []string // without the program's name
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Now      func() time.Time
	Terminal bool // Stderr is a terminal: show progress
}

// Main runs a command with the process's own environment and exits with its
// status. The first interrupt cancels the context, so that work in hand can be
// kept; a second one ends the process at once.
func Main(run func(ctx context.Context, env Env) int) {
	SettleGC()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Now: time.Now, Terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}))
}

// memoryGoal is what the garbage collector keeps the process below while it can.
const memoryGoal = 768 << 20

// SettleGC trades memory for speed: a run makes garbage around a live heap of some
// 50 MB that hardly changes, and marking that heap again and again costs more
// than anything else. GOGC and GOMEMLIMIT, where set, are left alone.
func SettleGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryGoal)
	}
}

// statusError is an error that knows its exit status.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// Status gives an error an exit status; the innermost one given stays.
func Status(status int, err error) error {
	var known *statusError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &statusError{status, err}
}

// Usage marks an error of usage or configuration.
func Usage(err error) error { return Status(ExitUsage, err) }

// Input marks an error of the input, or of a file that cannot be written.
func Input(err error) error { return Status(ExitInput, err) }

// Silent is an error for which everything has been said already.
func Silent(status int) error { return &statusError{status, errSilent} }

var errSilent = errors.New("")

// Execute runs a command tree and returns its exit status. An error is printed
// once, on stderr, as "program: error" with its hint on a line of its own. What
// has no status of its own is a mistake in how the command was called.
func Execute(ctx context.Context, env Env, root *cobra.Command) int {
	root.Version = provenance.Current().ToolVersion
	root.InitDefaultVersionFlag()
	root.SetArgs(env.Args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetUsageFunc(usage)
	root.SetHelpCommand(helpCommand())
	root.SetFlagErrorFunc(flagError)
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	status, text := ExitUsage, err.Error()
	var known *statusError
	if errors.As(err, &known) {
		status = known.status
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		status, text = ExitInterrupted, "interrupted; no file was written"
	}
	if !errors.Is(err, errSilent) {
		if status == ExitUsage && !strings.Contains(text, hintMark) {
			text += hintMark + seeHelp(c)
		}
		fmt.Fprintf(env.Stderr, "%s: %s\n", root.Name(), text)
	}
	return status
}

// hintMark parts an error from its hint.
const hintMark = "\nhint: "
