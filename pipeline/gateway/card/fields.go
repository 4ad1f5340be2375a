package card

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/strictyaml"
)

// policyFields are the fields that say how calls are carried out. A card has them, and
// a rule.
var policyFields = []string{
	"endpoint", "auth", "visibility", "scope", "surface", "confirm", "read_only", "idempotent", "depends_on", "group", "priority",
	"rate_limit", "retry", "timeout", "cache_ttl", "max_result_tokens", "summary", "lazy", "encoding",
}

// cardFields are the fields of a card that say what the tool is.
var cardFields = []string{"id", "name", "title", "description", "input_schema", "inputSchema", "parameters", "toolset", "annotations", "steps"}

// endpointFields are those of endpoint. Some may stand on the card as well.
var endpointFields = []string{"target", "auth", "retry", "rate_limit", "timeout"}

const (
	idMax          = 200
	descriptionMax = 100_000
)

// card reads one card; nil if it cannot be one at all.
func (p *parser) card(o *strictyaml.Object, n *yaml.Node) *Card {
	named := o.Object(n, "a tool", append(slices.Clone(cardFields), policyFields...)...)
	id := named.Text("id")
	if id == "" {
		id = named.Text("name") // as MCP definitions have it
	}
	if id == "" {
		named.Require("give every tool an id of its own", "id")
		return nil
	}
	if len(id) > idMax {
		named.Fail(n, fmt.Sprintf("at most %d bytes", idMax), "an id is too long")
		return nil
	}
	c := p.config.plain(id)
	c.line = n.Line
	if name := named.Text("name"); name != "" {
		c.Name = name
	}
	c.Description, c.Toolset = named.Text("description"), "gateway"
	if len(c.Description) > descriptionMax {
		named.Fail(named.Field("description"), fmt.Sprintf("at most %d bytes", descriptionMax), "tool %q: its description is too long", id)
	}
	if toolset := named.Text("toolset"); toolset != "" {
		c.Toolset = toolset
	}
	p.schema(named, c)
	annotations(named, c)
	policy(named)(c)
	for _, step := range named.List("steps") {
		s := named.Object(step, fmt.Sprintf("tool %q: a step", id), "tool", "arguments")
		s.Require("name the tool that the step calls", "tool")
		arguments := s.JSON("arguments")
		if arguments == nil {
			arguments = []byte("{}")
		}
		if rawjson.Kind(arguments) != "object" {
			s.Fail(step, "write arguments: {NAME: VALUE}", "tool %q: the arguments of a step are no mapping", id)
		}
		c.Steps = append(c.Steps, Step{Tool: s.Text("tool"), Arguments: arguments})
	}
	return c
}

// schema reads the input schema, under any of the names that others give it.
func (p *parser) schema(o *strictyaml.Object, c *Card) {
	given := ""
	for _, field := range []string{"input_schema", "inputSchema", "parameters"} {
		if !o.Has(field) {
			continue
		}
		if given != "" {
			o.Fail(o.Field(field), "keep one of the two", "tool %q has %s and %s, which mean the same", c.ID, given, field)
			return
		}
		given = field
	}
	if given == "" {
		return
	}
	c.InputSchema = o.JSON(given)
	if c.InputSchema != nil && rawjson.Kind(c.InputSchema) != "object" {
		o.Fail(o.Field(given), "a schema is a mapping such as {type: object, properties: {}}", "tool %q: %s is not a mapping", c.ID, given)
		c.InputSchema = nil
	}
}

// annotations reads what an MCP definition says of itself. In a file it is the
// operator's word and counts; from a server it is a hint that anybody could give, and
// does not.
func annotations(o *strictyaml.Object, c *Card) {
	if !o.Has("annotations") {
		return
	}
	a := o.Object(o.Field("annotations"), "annotations", "title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
	c.ReadOnly, c.Idempotent = a.Bool("readOnlyHint", false), a.Bool("idempotentHint", false)
}

// scopeForm is noun:verb.
var scopeForm = regexp.MustCompile(`^[a-z0-9_.-]+:[a-z0-9_.*-]+$`)

// policy reads how calls are carried out, and returns what puts it on a card.
func policy(o *strictyaml.Object) func(*Card) {
	var set []func(*Card)
	on := func(field string, change func(*Card)) {
		if o.Has(field) {
			set = append(set, change)
		}
	}
	e := o.Object(o.Field("endpoint"), "endpoint", endpointFields...)
	if target := e.Text("target"); target != "" {
		set = append(set, func(c *Card) { c.Target = target })
	}
	for _, field := range endpointFields[1:] {
		if e.Has(field) && o.Has(field) && !sameValue(e.Field(field), o.Field(field)) {
			o.Fail(e.Field(field), "keep one of the two", "%s is given on the card and under endpoint, and differs", field)
		}
	}
	for _, at := range []*strictyaml.Object{e, o} {
		set = append(set, reach(at)...)
	}
	visibility, scope, surface := o.Texts("visibility"), o.Text("scope"), o.Text("surface")
	on("visibility", func(c *Card) { c.Visibility = visibility })
	on("scope", func(c *Card) { c.Scope = scope })
	on("surface", func(c *Card) { c.Surface = surface })
	if scope != "" && !scopeForm.MatchString(scope) {
		o.Fail(o.Field("scope"), "write noun:verb, such as orders:write", "scope %q is no scope", scope)
	}
	confirm, readOnly, idempotent, lazy := o.Bool("confirm", false), o.Bool("read_only", false), o.Bool("idempotent", false), o.Bool("lazy", false)
	on("confirm", func(c *Card) { c.Confirm = confirm })
	on("read_only", func(c *Card) { c.ReadOnly = readOnly })
	on("idempotent", func(c *Card) { c.Idempotent = idempotent })
	on("lazy", func(c *Card) { c.Lazy = lazy })
	dependsOn, group, priority := o.Texts("depends_on"), o.Text("group"), o.Int("priority", -1000, 1000, 0)
	on("depends_on", func(c *Card) { c.DependsOn = dependsOn })
	on("group", func(c *Card) { c.Group = group })
	on("priority", func(c *Card) { c.Priority = priority })
	ttl, tokens := o.Duration("cache_ttl", 0, durationMax, 0), o.Int("max_result_tokens", 1, bytesMax, 0)
	on("cache_ttl", func(c *Card) { c.CacheTTL = ttl })
	on("max_result_tokens", func(c *Card) { c.MaxResultTokens = tokens })
	summary, encoding := Summary(o.Word("summary", string(SummaryRules), string(SummaryModel))), o.Text("encoding")
	on("summary", func(c *Card) { c.Summary = summary })
	on("encoding", func(c *Card) { c.Encoding = encoding })
	if encoding != "" {
		if _, err := htmlindex.Get(encoding); err != nil {
			o.Fail(o.Field("encoding"), "write a label of the WHATWG encoding standard, such as gbk or shift_jis", "encoding %q is not known", encoding)
		}
	}
	return func(c *Card) {
		for _, change := range set {
			change(c)
		}
	}
}

// reach reads the fields that may stand on a card or under its endpoint.
func reach(o *strictyaml.Object) (set []func(*Card)) {
	if o.Has("auth") {
		auth := Auth(o.Word("auth", string(AuthNone), string(AuthSession), string(AuthAdmin), string(AuthSystem)))
		set = append(set, func(c *Card) { c.Auth = auth })
	}
	if o.Has("rate_limit") {
		limit := rateLimit(o)
		set = append(set, func(c *Card) { c.RateLimit = limit })
	}
	if o.Has("timeout") {
		timeout := o.Duration("timeout", time.Millisecond, durationMax, DefaultTimeout)
		set = append(set, func(c *Card) { c.Timeout = timeout })
	}
	if o.Has("retry") {
		r := o.Object(o.Field("retry"), "retry", "max_attempts", "backoff")
		retry := Retry{MaxAttempts: r.Int("max_attempts", 0, 10, 0), Backoff: r.Duration("backoff", 0, time.Hour, time.Second)}
		set = append(set, func(c *Card) { c.Retry = retry })
	}
	return set
}

// plain is a card with the defaults.
func (c *Config) plain(id string) *Card {
	return &Card{
		ID: id, Name: nameOf(id), InputSchema: []byte(`{"type":"object"}`), Auth: "", Timeout: c.Defaults.Timeout,
		CacheTTL: c.Defaults.CacheTTL, MaxResultTokens: c.Defaults.MaxResultTokens, RateLimit: c.Defaults.RateLimit,
	}
}

// nameOf makes a model-visible name of an id: the id itself where it can be one.
func nameOf(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}
