package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/pipeline/gateway"
	"github.com/toolgauge/toolgauge/pipeline/gateway/audit"
	"github.com/toolgauge/toolgauge/pipeline/gateway/connect"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// callFlags are the flags of bench gateway call, as given.
type callFlags struct {
	json bool
	ask  bool
}

func gatewayCallCommand(env cli.Env) *cobra.Command {
	var f callFlags
	c := &cobra.Command{
		Use:   "call FILE TOOL [ARGUMENTS]",
		Short: "Make one call through a gateway, and print what became of it",
		Long: "Open the gateway that FILE describes, its MCP servers included, make one call of TOOL (an id or a\n" +
			"model-visible name) as the session of the file, and print the result as a model would read it, the\n" +
			"time that each phase took, and the audit record. The call is real: what TOOL does is done. With\n" +
			"audit.path in FILE the record is appended there too. ARGUMENTS is a JSON object, {} if left out,\n" +
			"or - for standard input.\n\n" +
			"Exit status: 0 the tool answered; 1 the call failed or was denied; 2 a faulty FILE or ARGUMENTS;\n" +
			"3 FILE cannot be read, or the audit log not written.",
		Example: "  bench gateway call examples/gateway.yaml get_system_time\n" +
			"  bench gateway call examples/gateway.yaml list_files '{\"path\":\".\"}' --json\n" +
			"  bench gateway call examples/gateway.yaml create_order - --ask < order.json",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 || len(args) > 3 {
				return cli.Usage(fmt.Errorf("%d arguments given, want FILE TOOL [ARGUMENTS]\nhint: quote the JSON: '{\"path\":\".\"}'", len(args)))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return gatewayCall(c.Context(), env, args, f) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.ask, "ask", false, "ask on the terminal before calls that need somebody's agreement")
	flags.BoolVar(&f.json, "json", false, "print result, phases and audit record as JSON")
	return c
}

// argumentsMax bounds the arguments that are read from standard input, in bytes.
const argumentsMax = 16 << 20

func readArguments(env cli.Env, args []string) (json.RawMessage, error) {
	if len(args) < 3 {
		return json.RawMessage("{}"), nil
	}
	text := []byte(args[2])
	if args[2] == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(env.Stdin, argumentsMax)); err != nil {
			return nil, cli.Input(fmt.Errorf("standard input: %w", err))
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return nil, cli.Usage(fmt.Errorf("ARGUMENTS is not a JSON object: %.80q\nhint: write it as '{\"path\":\".\"}'", text))
	}
	return text, nil
}

// called is what a call came to, as --json prints it.
type called struct {
	SchemaVersion int             `json:"schema_version"`
	Result        json.RawMessage `json:"result"`
	Failed        bool            `json:"failed"`
	Phases        []phase         `json:"phases"`
	Audit         json.RawMessage `json:"audit"`
}

// phase is how long a call was in one phase.
type phase struct {
	Phase string  `json:"phase"`
	MS    float64 `json:"ms"`
}

func gatewayCall(ctx context.Context, env cli.Env, args []string, f callFlags) (err error) {
	arguments, err := readArguments(env, args)
	if err != nil {
		return err
	}
	config, err := loadGateway(args[0])
	if err != nil {
		return err
	}
	open, err := connect.Open(ctx, config, nil)
	if err != nil {
		if errors.As(err, new(*atomicfile.Error)) { // the audit log
			return cli.Input(err)
		}
		return cli.Usage(err)
	}
	defer func() { err = errors.Join(err, cli.Input(open.Close())) }()
	cli.NewNotes(env, "bench").Print(open.Notes())
	var record *audit.Record
	options := gateway.SessionOptions{ID: connect.NewID(), Who: config.Session, Observe: func(r *audit.Record) { record = r }}
	if f.ask {
		options.Ask = func(_ context.Context, q gateway.Question) (bool, error) { return askOnTerminal(env, q) }
	}
	result := open.Session(options).DispatchAll(ctx, []registry.Call{{ID: "call_1", Name: args[1], Arguments: arguments}})[0]
	if err := printCall(env, f, result, record); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if result.Failed {
		return cli.Silent(cli.ExitFailed)
	}
	return nil
}

// askOnTerminal asks whoever sits at the terminal. Anything but y is a no.
func askOnTerminal(env cli.Env, q gateway.Question) (bool, error) {
	fmt.Fprintf(env.Stderr, "%s %s\n%s\nCall it? [y/N] ", q.Tool, q.Arguments, q.Description)
	answer, err := bufio.NewReader(env.Stdin).ReadString('\n')
	if err != nil && answer == "" {
		return false, errors.New("nobody answers")
	}
	return strings.EqualFold(strings.TrimSpace(answer), "y"), nil
}

func printCall(env cli.Env, f callFlags, result registry.Result, r *audit.Record) error {
	text := json.RawMessage(result.Text)
	if result.Content != nil {
		text = result.Content
	}
	if r == nil { // the call could not be recorded
		r = &audit.Record{}
	}
	phases := []phase{{"waiting", ms(r.Waiting)}, {"queued", ms(r.Queued)}, {"executing", ms(r.Executing)}, {"shaping", ms(r.Shaping)}}
	record := json.RawMessage(r.AppendJSON(nil))
	if f.json {
		if !json.Valid(text) {
			quoted, err := json.Marshal(string(text))
			if err != nil {
				return err
			}
			text = quoted
		}
		return cli.PrintJSON(env, called{1, text, result.Failed, phases, record})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", strings.TrimRight(string(text), "\n"))
	for _, p := range phases {
		fmt.Fprintf(&b, "%-9s %10.3f ms\n", p.Phase, p.MS)
	}
	fmt.Fprintf(&b, "attempts  %10d\n\nAudit record: %s\n", r.Attempts, strings.TrimSpace(string(record)))
	_, err := io.WriteString(env.Stdout, b.String())
	return cli.Output(err)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
