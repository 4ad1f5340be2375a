package assembly_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// player carries out the commands of a script:
//
//	builtin                        register the built-in tools
//	toolsets                       replace the built-in toolsets; input: "core: TOOL…", "NAME: TOOL… + INCLUDED…"
//	define TOOLSET [KEY=VALUE…]    register tools; input: "NAME(PARAMETER…) DESCRIPTION"; keys: probe, owner, override=yes
//	remove NAME [owner=PLUGIN]     deregister a tool
//	alias ALIAS TOOLSET            let a name stand for a toolset
//	probe NAME up|down             set what a probe will say
//	advance DURATION               move the clock
//	resolve TOOLSET…               the tools of toolsets
//	assemble [KEY=VALUE…]          a session's surface; keys: toolsets, disabled (comma between names; - for none),
//	                               context, worker=yes, memo, and the settings of tool_search
//	search [limit=N] WORD…         ask the session's tool_search
//	describe NAME                  ask its tool_describe
//	call NAME ARGUMENTS            make any call
//
// A parameter is text and optional; "p*" is required, "p:integer" is of that
// type, a ~ in a name stands for a space. search, describe and call speak for the session of the last assemble.
type player struct {
	t *testing.T
	*stage
	session *assembly.Session
	command string // as it stands in the script
}

func newPlayer(t *testing.T) *player {
	p := &player{t: t, stage: newStage(t)}
	p.registry = registry.New(registry.Options{Clock: p.clock, AllowToolOverride: map[string]bool{"trusted": true}})
	p.resolver = toolset.NewResolver(embedded(t).Toolsets, p.registry)
	return p
}

// run carries out one command and returns its answer, whole lines.
func (p *player) run(command string, input []string) (string, error) {
	p.command = command
	words := strings.Fields(command)
	commands := map[string]func(args, input []string) (string, error){
		"builtin": p.builtin, "toolsets": p.toolsets, "define": p.define, "remove": p.remove, "alias": p.alias, "probe": p.setProbe,
		"advance": p.advance, "resolve": p.resolve, "assemble": p.assemble, "search": p.search, "describe": p.describe, "call": p.call,
	}
	run := commands[words[0]]
	if run == nil {
		return "", fmt.Errorf("unknown command %q", words[0])
	}
	answer, err := run(words[1:], input)
	if err == nil && !strings.HasSuffix(answer, "\n") {
		answer += "\n"
	}
	return answer, err
}

// options takes the KEY=VALUE words out of a command's arguments.
func options(args []string) (plain []string, keyed map[string]string) {
	keyed = make(map[string]string)
	for _, a := range args {
		if key, value, ok := strings.Cut(a, "="); ok {
			keyed[key] = value
		} else {
			plain = append(plain, a)
		}
	}
	return plain, keyed
}

func (p *player) builtin([]string, []string) (string, error) {
	p.builtins(p.t)
	return fmt.Sprintf("%d tools, %d toolsets", len(p.registry.Names()), len(p.resolver.Table().Names())), nil
}

func (p *player) toolsets(_, input []string) (string, error) {
	var core []string
	var sets []toolset.Toolset
	for _, line := range input {
		name, members, _ := strings.Cut(line, ":")
		tools, includes, _ := strings.Cut(members, "+")
		if name == "core" {
			core = strings.Fields(tools)
			continue
		}
		sets = append(sets, toolset.Toolset{Name: name, Tools: strings.Fields(tools), Includes: strings.Fields(includes)})
	}
	table, err := toolset.NewTable(toolset.Lists{Core: core}, sets)
	if err != nil {
		return fault(err), nil
	}
	p.resolver, p.session = toolset.NewResolver(table, p.registry), nil
	return "ok", nil
}

// fault is an error as a script shows it: on lines that start alike.
func fault(err error) string {
	return "error: " + strings.ReplaceAll(err.Error(), "\n", "\n       ")
}

func (p *player) define(args, input []string) (string, error) {
	plain, keyed := options(args)
	if len(plain) != 1 {
		return "", fmt.Errorf("define takes one toolset, not %q", plain)
	}
	for _, line := range input {
		d, err := parseTool(line)
		if err != nil {
			return "", err
		}
		reg := registry.Registration{Toolset: plain[0], Definition: d, Owner: registry.Owner(keyed["owner"]), Override: keyed["override"] == "yes"}
		if name := keyed["probe"]; name != "" {
			reg.Check = p.probe(name).check
		}
		reg.Handler = p.handler(d.Name + " of " + plain[0])
		if err := p.registry.Register(reg); err != nil {
			return fault(err), nil
		}
	}
	return "ok", nil
}

// parseTool reads "NAME(PARAMETER…) DESCRIPTION".
func parseTool(line string) (*registry.Definition, error) {
	name, rest, opened := strings.Cut(line, "(")
	list, description, closed := strings.Cut(rest, ")")
	if !opened || !closed {
		return nil, fmt.Errorf("no tool: %q", line)
	}
	var properties []rawjson.Field
	required := []string{}
	for _, parameter := range strings.Fields(strings.ReplaceAll(list, ",", " ")) {
		key, kind, typed := strings.Cut(strings.ReplaceAll(parameter, "~", " "), ":")
		if !typed {
			kind = "string"
		}
		if bare, star := strings.CutSuffix(key, "*"); star {
			key = bare
			required = append(required, key)
		}
		properties = append(properties, rawjson.Field{Key: key, Value: json.RawMessage(`{"type":"` + kind + `"}`)})
	}
	needs, err := json.Marshal(required)
	if err != nil {
		return nil, err
	}
	schema := rawjson.AppendObject(nil, []rawjson.Field{
		{Key: "type", Value: json.RawMessage(`"object"`)},
		{Key: "properties", Value: rawjson.AppendObject(nil, properties)},
		{Key: "required", Value: needs},
	})
	return registry.Define(name, strings.TrimSpace(description), schema)
}

func (p *player) remove(args, _ []string) (string, error) {
	plain, keyed := options(args)
	for _, name := range plain {
		if err := p.registry.Deregister(name, registry.Owner(keyed["owner"])); err != nil {
			return fault(err), nil
		}
	}
	return "ok", nil
}

func (p *player) alias(args, _ []string) (string, error) {
	if len(args) != 2 {
		return "", fmt.Errorf("alias takes two names, not %q", args)
	}
	p.registry.RegisterAlias(args[0], args[1])
	return "ok", nil
}

func (p *player) setProbe(args, _ []string) (string, error) {
	if len(args) != 2 || args[1] != "up" && args[1] != "down" {
		return "", fmt.Errorf("probe takes a name and up or down, not %q", args)
	}
	p.probe(args[0]).up = args[1] == "up"
	return "ok", nil
}

func (p *player) advance(args, _ []string) (string, error) {
	if len(args) != 1 {
		return "", fmt.Errorf("advance takes one duration, not %q", args)
	}
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return "", err
	}
	p.clock.Advance(d)
	return "at " + p.clock.Now().Sub(time.Time{}).String(), nil
}

func (p *player) resolve(args, _ []string) (string, error) {
	return list(p.resolver.Resolve(args...)), nil
}

// list writes names with their number, broken into lines of a hundred characters.
func list(names []string) string {
	text := strconv.Itoa(len(names)) + ":"
	width := len(text)
	for _, n := range names {
		if width+1+len(n) > 100 {
			text, width = text+"\n ", 1
		}
		text += " " + n
		width += 1 + len(n)
	}
	return text
}

func (p *player) assemble(args, _ []string) (string, error) {
	plain, keyed := options(args)
	if len(plain) > 0 {
		return "", fmt.Errorf("assemble takes keys with values, not %q", plain)
	}
	r := assembly.Request{}
	settings := make(map[string]any)
	memo := assembly.MemoTTL
	for key, value := range keyed {
		var err error
		switch key {
		case "toolsets":
			r.Enabled = split(value)
		case "disabled":
			r.Disabled = split(value)
		case "context":
			r.ContextLength, err = strconv.Atoi(value)
		case "worker":
			r.KanbanWorker = value == "yes"
		case "memo":
			memo = assembly.MemoMode(value)
		default:
			settings[key] = value
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", key, err)
		}
	}
	config, notes := bridge.ParseConfig(settings)
	r.Config = config
	p.useSession(r, memo)
	s := p.session.Assembler.Assemble(r)
	return describeSurface(s, notes), nil
}

// useSession keeps the assembler, and with it the memo, from one assemble to the
// next while the mode stays.
func (p *player) useSession(r assembly.Request, memo assembly.MemoMode) {
	if p.session == nil || p.session.ID != string(memo) {
		p.session = &assembly.Session{ID: string(memo), Assembler: p.assembler(p.t, memoMode(memo)), Dispatcher: p.registry}
	}
	p.session.Request = r
}

func split(value string) []string {
	if value == "-" {
		return []string{}
	}
	return strings.Split(value, ",")
}

func describeSurface(s *assembly.Assembled, notes []string) string {
	var b strings.Builder
	for _, n := range notes {
		fmt.Fprintln(&b, "note:", n)
	}
	var visible []string
	for _, d := range s.Definitions {
		visible = append(visible, d.Name)
	}
	if s.Activated {
		fmt.Fprintf(&b, "active: tier %d, form %s, %d deferred of %d tokens, budget %d\n", s.Tier, s.Listing.Form, s.DeferrableCount, s.DeferrableTokens, s.BudgetTokens)
	} else {
		fmt.Fprintf(&b, "not active: %d deferrable of %d tokens\n", s.DeferrableCount, s.DeferrableTokens)
	}
	fmt.Fprintln(&b, list(visible))
	for line := range strings.Lines(s.Listing.Text) {
		b.WriteString("| " + line)
	}
	return b.String()
}

var errNoSession = fmt.Errorf("no session\nhint: assemble first")

func (p *player) ask(tool string, fields []rawjson.Field) (assembly.Outcome, error) {
	if p.session == nil {
		return assembly.Outcome{}, errNoSession
	}
	return p.session.Call(p.t.Context(), assembly.ToolCall{ID: "call", Name: tool, Arguments: rawjson.AppendObject(nil, fields)}), nil
}

func (p *player) search(args, _ []string) (string, error) {
	words, keyed := options(args)
	fields := []rawjson.Field{{Key: "query", Value: rawjson.String(strings.Join(words, " "))}}
	if limit := keyed["limit"]; limit != "" {
		fields = append(fields, rawjson.Field{Key: "limit", Value: rawjson.String(limit)})
	}
	o, err := p.ask(bridge.SearchTool, fields)
	if err != nil || o.Result.Failed {
		return o.Result.Text, err
	}
	answer, err := rawjson.Object([]byte(o.Result.Text))
	if err != nil {
		return "", err
	}
	total, _ := rawjson.Get(answer, "total_available")
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s\n", len(o.Matches), total)
	for i, m := range o.Matches {
		toolset, _ := p.registry.Toolset(m.Tool.Name)
		fmt.Fprintf(&b, "%d. %s (%s) %.4f\n", i+1, m.Tool.Name, toolset, m.Score)
	}
	return b.String(), nil
}

func (p *player) describe(args, _ []string) (string, error) {
	o, err := p.ask(bridge.DescribeTool, []rawjson.Field{{Key: "name", Value: rawjson.String(strings.Join(args, " "))}})
	return o.Result.Text, err
}

func (p *player) call([]string, []string) (string, error) {
	if p.session == nil {
		return "", errNoSession
	}
	_, rest, _ := strings.Cut(p.command, " ")
	name, arguments, _ := strings.Cut(rest, " ") // white space in arguments counts
	p.calls = nil
	o := p.session.Call(p.t.Context(), assembly.ToolCall{ID: "call", Name: name, Arguments: json.RawMessage(arguments)})
	var b strings.Builder
	for _, c := range p.calls {
		fmt.Fprintln(&b, "ran:", c)
	}
	if o.Refusal != nil {
		fmt.Fprintln(&b, "refused:", o.Refusal.Class)
	}
	if len(p.calls) == 0 || o.Result.Failed {
		fmt.Fprintln(&b, o.Result.Text)
	}
	return b.String(), nil
}
