package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/corpus/lint"
	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/internal/strictyaml"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

func gatewayCommand(env cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "gateway",
		Short: "Check a gateway's configuration, or make one call through it",
		Long: "A gateway carries tool calls out: it finds the tool, sees whether the session may use it, limits,\n" +
			"tries again, shortens and redacts results, and records every call. Its configuration is a\n" +
			"gateway.yaml: docs/format.md has every field, docs/gateway.md what they do. bench run --gateway FILE\n" +
			"plays sessions behind it, bench run --suite gateway shows what it does when tools fail.",
		Example: "  bench gateway check examples/gateway.yaml\n" +
			"  bench gateway call examples/gateway.yaml get_system_time",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(gatewayCheckCommand(env), gatewayCallCommand(env))
	return c
}

func gatewayCheckCommand(env cli.Env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Validate a gateway.yaml, and say what in it is hardly meant",
		Long: "Read FILE strictly, check everything that it says against the rest, and lint it: settings that\n" +
			"limit nothing, folders that should not be handed over, descriptions that a model cannot work with.\n" +
			"Nothing is started, and nothing is called.\n\n" +
			"Exit status: 0 nothing is wrong, whatever warnings there are; 2 a fault, or a finding that is an\n" +
			"error; 3 FILE cannot be read.",
		Example: "  bench gateway check examples/gateway.yaml\n  bench gateway check gateway.yaml --json",
		Args:    cli.OneArgument("FILE"),
		RunE:    func(_ *cobra.Command, args []string) error { return gatewayCheck(env, args[0], asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print tools and findings as JSON")
	return c
}

// loadGateway reads a gateway.yaml.
func loadGateway(path string) (*card.Config, error) {
	config, err := card.Load(path)
	if err == nil {
		return config, nil
	}
	if errors.As(err, new(strictyaml.Faults)) {
		return nil, cli.Usage(err)
	}
	return nil, cli.Input(err)
}

// checked is what a check found, as --json prints it.
type checked struct {
	SchemaVersion int            `json:"schema_version"`
	File          string         `json:"file"`
	Tools         int            `json:"tools"`
	Endpoints     map[string]int `json:"endpoints"` // tools by kind of endpoint
	Rules         int            `json:"rules"`
	Servers       []string       `json:"mcp_servers"`
	Findings      []card.Finding `json:"findings"`
}

func gatewayCheck(env cli.Env, path string, asJSON bool) error {
	config, err := loadGateway(path)
	if err != nil {
		return err
	}
	cards, err := config.Complete()
	if err != nil {
		return cli.Usage(err)
	}
	out := checked{SchemaVersion: 1, File: path, Endpoints: make(map[string]int), Rules: len(config.Rules), Servers: []string{}}
	for _, s := range config.Servers {
		out.Servers = append(out.Servers, s.Label)
	}
	for _, c := range cards {
		if c.Target == card.ResultReadTarget {
			continue
		}
		out.Tools++
		out.Endpoints[endpointKind(c)]++
	}
	described, err := lintDescriptions(path, cards)
	if err != nil {
		return err
	}
	out.Findings = append(append([]card.Finding{}, config.Lint()...), described...)
	slices.SortStableFunc(out.Findings, func(a, b card.Finding) int { return cmp.Compare(a.Line, b.Line) })
	if asJSON {
		err = cli.PrintJSON(env, out)
	} else {
		_, err = io.WriteString(env.Stdout, out.text())
		err = cli.Output(err)
	}
	if err != nil {
		return err
	}
	grave := 0
	for _, f := range out.Findings {
		if f.Severity == card.SeverityError {
			grave++
		}
	}
	if grave > 0 {
		return cli.Usage(fmt.Errorf("%s: findings that are errors: %d\nhint: correct those, warnings may stay", path, grave))
	}
	return nil
}

func endpointKind(c *card.Card) string {
	if len(c.Steps) > 0 {
		return "composite"
	}
	u, err := url.Parse(c.Target)
	if err != nil {
		return "unknown"
	}
	return u.Scheme
}

// lintDescriptions lints what a model reads of the tools, as bench corpus lint does.
func lintDescriptions(path string, cards []*card.Card) (found []card.Finding, err error) {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	byID := make(map[string]*card.Card, len(cards))
	var tools []tool
	for _, c := range cards {
		if c.Target == card.ResultReadTarget {
			continue
		}
		byID[lintedServer+"/"+c.Name] = c
		tools = append(tools, tool{c.Name, c.Description, c.InputSchema})
	}
	if len(tools) == 0 {
		return nil, nil
	}
	folder, err := os.MkdirTemp("", "toolgauge-check-")
	if err != nil {
		return nil, cli.Input(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	text, err := json.Marshal(map[string]any{"server": lintedServer, "tools": tools})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "tools.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, cli.Input(err)
	}
	c, err := corpus.GatherCards("gateway", []string{file})
	if err != nil {
		return nil, cli.Usage(err)
	}
	report, err := lint.Check(c, lint.Options{})
	if err != nil {
		return nil, err
	}
	for _, f := range report.Findings {
		about := byID[f.Tool]
		if about == nil || !f.Severity.Reaches(lint.Warning) {
			continue
		}
		found = append(found, card.Finding{
			Rule: f.Rule, Severity: card.SeverityWarning, File: path, Line: about.Line(), Tool: about.ID, Text: f.Message, Hint: f.Advice,
		})
	}
	return found, nil
}

// lintedServer is the source of a gateway's tools while their descriptions are linted.
const lintedServer = "gateway"

func (c checked) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: tools: %d", c.File, c.Tools)
	for i, kind := range slices.Sorted(maps.Keys(c.Endpoints)) {
		fmt.Fprintf(&b, "%s%d %s", map[bool]string{true: " (", false: ", "}[i == 0], c.Endpoints[kind], kind)
	}
	if c.Tools > 0 {
		b.WriteString(")")
	}
	fmt.Fprintf(&b, "; rules: %d; MCP servers: %d\n", c.Rules, len(c.Servers))
	for _, f := range c.Findings {
		place := f.File
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		about := ""
		if f.Tool != "" {
			about = fmt.Sprintf("tool %q: ", f.Tool)
		}
		fmt.Fprintf(&b, "%s: %s: %s%s [%s]\n  hint: %s\n", place, f.Severity, about, f.Text, f.Rule, f.Hint)
	}
	if len(c.Findings) == 0 {
		b.WriteString("nothing to remark\n")
	}
	return b.String()
}
