package card

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/strictyaml"
	"github.com/toolgauge/toolgauge/internal/toolname"
	"github.com/toolgauge/toolgauge/pipeline/bridge/judge"
)

// Complete returns the cards of the file and of other sources, by id, with defaults and
// rules applied. It is all or nothing: the error names every fault of the whole batch,
// such as ids and names that two have, tools that do not exist but are referred to, and
// tools whose source is gone. The cards given are not changed.
func (c *Config) Complete(others ...*Card) ([]*Card, error) {
	var all []*Card
	for _, one := range slices.Concat(c.Tools, others) {
		all = append(all, c.Derive(*one))
	}
	cuts := func(one *Card) bool { return one.MaxResultTokens > 0 || one.Lazy }
	// What a file says of no tool in particular is said of those of other sources too.
	if slices.ContainsFunc(all, cuts) || c.Defaults.MaxResultTokens > 0 || slices.ContainsFunc(c.Rules, func(r Rule) bool {
		probe := &Card{}
		r.set(probe)
		return cuts(probe)
	}) {
		all = append(all, resultRead())
	}
	slices.SortStableFunc(all, func(a, b *Card) int { return cmp.Compare(a.ID, b.ID) })
	b := batch{config: c, cards: all, byID: make(map[string]*Card, len(all)), byName: make(map[string]*Card, len(all))}
	b.check()
	if len(b.faults) > 0 {
		slices.SortStableFunc(b.faults, func(x, y strictyaml.Fault) int { return cmp.Compare(x.Line, y.Line) })
		return nil, b.faults
	}
	return all, nil
}

// Derive returns a card of another source as it is here: with the defaults where it says
// nothing, and changed by the rules that match it. It is not checked.
func (c *Config) Derive(card Card) *Card {
	plain := c.plain(card.ID)
	card.Name = cmp.Or(card.Name, plain.Name)
	if card.InputSchema == nil {
		card.InputSchema = plain.InputSchema
	}
	if card.Timeout == 0 { // a card that nobody has completed
		card.Timeout, card.CacheTTL = plain.Timeout, plain.CacheTTL
		card.MaxResultTokens, card.RateLimit = plain.MaxResultTokens, plain.RateLimit
	}
	for _, r := range c.Rules {
		if r.matches(&card) {
			r.set(&card)
		}
	}
	if card.Auth == "" {
		card.Auth = AuthSession
		if slices.ContainsFunc(SystemTools(), func(tool string) bool { return card.Name == tool || strings.HasSuffix(card.Name, "__"+tool) }) {
			card.Auth = AuthSystem
		}
	}
	return &card
}

// Visible reports whether a session of some teams sees a tool. It is the one rule of
// what is listed and what may be called.
func (card *Card) Visible(teams []string) bool {
	return len(card.Visibility) == 0 || slices.ContainsFunc(teams, func(team string) bool { return slices.Contains(card.Visibility, team) })
}

// Filters reports whether there is a tool that some session may not see.
func (c *Config) Filters() bool {
	changes := func(r Rule) bool {
		probe := Card{}
		r.set(&probe)
		return len(probe.Visibility) > 0
	}
	return slices.ContainsFunc(c.Tools, func(t *Card) bool { return len(t.Visibility) > 0 }) || slices.ContainsFunc(c.Rules, changes)
}

// Hides reports whether the configuration's session does not see a tool of another
// source.
func (c *Config) Hides(id, name string) bool {
	return !c.Derive(Card{ID: id, Name: name}).Visible(c.Session.Teams)
}

func (r *Rule) matches(c *Card) bool { return matches(r.Match, c.ID) || matches(r.Match, c.Name) }

// matches compares a text with a pattern in which * stands for any run of characters.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, last)
}

// resultRead is the card of the tool that reads on in a result that was cut. It has no
// bound of tokens of its own, or its results would be cut again: its length bounds them.
func resultRead() *Card {
	return &Card{
		ID: "result_read", Name: "result_read", Toolset: "gateway", Target: ResultReadTarget,
		Description: "Read on in an earlier result that was truncated, summarised or replaced by a handle. Give the handle, and either a " +
			"range in code points (offset, length) or a JSON pointer to one value of the result. It does not call the tool again, and reads " +
			"no files; it fails if the handle is not of this session or is older than an hour.",
		InputSchema: []byte(`{"type":"object","properties":{` +
			`"handle":{"type":"string","description":"As the truncated result names it, such as r0123456789ab."},` +
			`"offset":{"type":"integer","minimum":0,"description":"First code point to return, from 0; of the value, if there is a pointer."},` +
			`"length":{"type":"integer","minimum":1,"maximum":100000,"description":"Code points to return; 4000 if left out."},` +
			`"pointer":{"type":"string","description":"JSON pointer (RFC 6901) of the value to return, such as /items/12. Only for results that are JSON."}` +
			`},"required":["handle"],"additionalProperties":false}`),
		Auth: AuthNone, ReadOnly: true, Idempotent: true, Timeout: DefaultTimeout,
	}
}

// batch is cards that are checked together.
type batch struct {
	config *Config
	cards  []*Card
	byID   map[string]*Card
	byName map[string]*Card
	faults strictyaml.Faults
}

func (b *batch) fail(c *Card, hint, format string, args ...any) {
	b.faults = append(b.faults, strictyaml.Fault{
		File: cmp.Or(b.config.File, "gateway"), Line: c.line, Text: fmt.Sprintf("tool %q: ", c.ID) + fmt.Sprintf(format, args...), Hint: hint,
	})
}

// visibleName is what a model may be shown as a name.
var visibleName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (b *batch) check() {
	for _, c := range b.cards {
		switch {
		case b.byID[c.ID] != nil:
			b.fail(c, "give every tool an id of its own", "another tool has this id")
		case b.byName[c.Name] != nil:
			b.fail(c, "give one of them another name", "tool %q has the name %q too", b.byName[c.Name].ID, c.Name)
		}
		if other := b.ofID(c.Name); other != nil && other.Name != c.Name { // else they clash already
			b.fail(c, "give one of them another name", "its name %q is the id of another tool", c.Name)
		}
		if !visibleName.MatchString(c.Name) {
			b.fail(c, "give it a name of 1 to 64 of A-Z a-z 0-9 _ -", "%q cannot be a model-visible name", c.Name)
		}
		b.byID[c.ID], b.byName[c.Name] = c, c
	}
	for _, c := range b.cards {
		b.checkTarget(c)
		if c.Retry.MaxAttempts > 0 && !c.Idempotent && !c.ReadOnly {
			b.fail(c, "say idempotent: true if a second call does no harm, or max_attempts: 0", "it is tried again although nobody says that it is idempotent")
		}
		if c.line > 0 && judge.New(c.InputSchema) == nil { // a stranger's bad schema must not keep the others out
			b.fail(c, "correct the schema; references to other documents are not followed", "its input schema is no JSON Schema")
		}
		b.checkReferences(c)
	}
	b.checkCycles()
}

// ofID returns the card of an id, in a batch that is sorted by id, or nil.
func (b *batch) ofID(id string) *Card {
	i, found := slices.BinarySearchFunc(b.cards, id, func(c *Card, id string) int { return cmp.Compare(c.ID, id) })
	if !found {
		return nil
	}
	return b.cards[i]
}

// builtins are the tools inside the program.
var builtins = []string{"echo", "get_system_time", "list_files", "result_read"}

// checkTarget checks where a card's calls go.
func (b *batch) checkTarget(c *Card) {
	const hint = "a target is internal://builtin/NAME, mcp://SERVER/TOOL, https://HOST/PATH or sim://NAME"
	if len(c.Steps) > 0 {
		if c.Target != "" {
			b.fail(c, "leave endpoint out: its steps have their own", "a composite action with a target")
		}
		return
	}
	if c.Target == "" {
		if c.line > 0 {
			b.fail(c, hint, "it has neither endpoint.target nor steps")
		}
		return
	}
	if server, ok := MCPServer(c.Target); ok { // a server may have any name, a host may not
		if !slices.ContainsFunc(b.config.Servers, func(s mcpserver.Server) bool { return s.Label == server }) {
			b.fail(c, "add the server under mcpServers, or take the tool out", "its source is gone: there is no MCP server %q", server)
		}
		return
	}
	u, err := url.Parse(c.Target)
	if err != nil || u.Host == "" {
		b.fail(c, hint, "its target is no address")
		return
	}
	switch u.Scheme {
	case "internal":
		if name := strings.TrimPrefix(u.Path, "/"); u.Host != "builtin" || !slices.Contains(builtins, name) {
			b.fail(c, nearest.Hint(name, builtins), "nothing inside the program is called %q", c.Target)
		}
	case "sim":
		if b.config.Simulated[u.Host] == nil {
			b.fail(c, "describe it under simulations", "its target names the simulation %q, which does not exist", u.Host)
		}
	case "mcp", "hermes":
		b.fail(c, hint, "its target names no tool of an MCP server")
	case "http", "https":
	default:
		b.fail(c, hint, "nobody knows the scheme %q of its target", u.Scheme)
	}
}

// MCPServer is the server of a target mcp://SERVER/TOOL, or of an id
// hermes://mcp/SERVER/TOOL.
func MCPServer(target string) (server string, ok bool) {
	rest, ok := strings.CutPrefix(target, "mcp://")
	if !ok {
		if rest, ok = strings.CutPrefix(target, "hermes://mcp/"); !ok {
			return "", false
		}
	}
	server, tool, ok := strings.Cut(rest, "/")
	if unescaped, err := url.PathUnescape(server); err == nil {
		server = unescaped
	}
	return server, ok && server != "" && tool != ""
}

// MCPTool is the tool of such a target.
func MCPTool(target string) string {
	tool := path.Base(target)
	if unescaped, err := url.PathUnescape(tool); err == nil {
		return unescaped
	}
	return tool
}

// MCPTarget is the target of a server's tool, and MCPID its id.
func MCPTarget(server, tool string) string {
	return "mcp://" + url.PathEscape(server) + "/" + url.PathEscape(tool)
}

// MCPName is its model-visible name: mcp__SERVER__TOOL, or a name that ends in a hash
// where that one would be no name or be read as another server's.
func MCPName(server, tool string) string { return toolname.Visible(server, tool) }

// MCPID is the id of a server's tool.
func MCPID(server, tool string) string {
	return "hermes://mcp/" + url.PathEscape(server) + "/" + url.PathEscape(tool)
}

// checkReferences checks the tools and parameters that a card speaks of.
func (b *batch) checkReferences(c *Card) {
	for _, id := range c.DependsOn {
		if b.byID[id] == nil {
			b.fail(c, nearest.Hint(id, b.ids()), "it depends on %q, which does not exist", id)
		}
	}
	parameters := properties(c.InputSchema)
	for _, s := range c.Steps {
		step := b.byID[s.Tool]
		if step == nil {
			step = b.byName[s.Tool]
		}
		switch {
		case step == nil:
			b.fail(c, nearest.Hint(s.Tool, b.ids()), "a step calls %q, which does not exist", s.Tool)
		case len(step.Steps) > 0:
			b.fail(c, "put the steps of that action in the place of the step", "a step calls %q, which is a composite action itself", s.Tool)
		}
		for _, m := range parameterForm.FindAllStringSubmatch(string(s.Arguments), -1) {
			if !slices.Contains(parameters, m[1]) {
				b.fail(c, nearest.Hint(m[1], parameters), "a step uses ${%s}, which is no parameter of the action", m[1])
			}
		}
	}
}

var parameterForm = regexp.MustCompile(`\$\{([^}"]*)\}`)

func (b *batch) ids() (ids []string) {
	for _, c := range b.cards {
		ids = append(ids, c.ID)
	}
	return ids
}

// properties are the parameter names of a schema.
func properties(schema []byte) (names []string) {
	fields, err := rawjson.Object(schema)
	if err != nil {
		return nil
	}
	raw, _ := rawjson.Get(fields, "properties")
	members, _ := rawjson.Object(raw) // none has none
	for _, m := range members {
		names = append(names, m.Key)
	}
	return names
}

// checkCycles refuses tools that wait for one another.
func (b *batch) checkCycles() {
	g := simple.NewDirectedGraph()
	index := make(map[string]int64, len(b.cards))
	for i, c := range b.cards {
		if _, twice := index[c.ID]; !twice {
			index[c.ID] = int64(i)
			g.AddNode(simple.Node(i))
		}
	}
	for _, c := range b.cards {
		for _, on := range c.DependsOn {
			from, known := index[on]
			if on == c.ID {
				b.fail(c, "take it out of depends_on", "it depends on itself")
			} else if known {
				g.SetEdge(g.NewEdge(simple.Node(from), simple.Node(index[c.ID])))
			}
		}
	}
	for _, circle := range topo.TarjanSCC(g) {
		if len(circle) < 2 {
			continue
		}
		slices.SortFunc(circle, func(a, b graph.Node) int { return cmp.Compare(a.ID(), b.ID()) })
		var names []string
		for _, n := range circle {
			names = append(names, b.cards[n.ID()].ID)
		}
		b.fail(b.cards[circle[0].ID()], "take one of them out of depends_on", "it and others depend on one another: %s", strings.Join(names, ", "))
	}
}
