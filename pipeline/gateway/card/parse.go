package card

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/toolgauge/toolgauge/internal/mcpserver"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/strictyaml"
)

// Bounds of settings.
const (
	callsMax    = 1 << 20
	durationMax = 24 * time.Hour
	bytesMax    = 1 << 30
)

// Default returns the configuration of an empty file: no tools, and every setting at
// its default.
func Default() *Config {
	return &Config{
		Defaults: Defaults{Timeout: DefaultTimeout, CacheTTL: DefaultCacheTTL},
		Session:  Session{Principal: "local", Role: RoleOrdinary},
		Confirm:  Confirm{Unattended: UnattendedAudit},
		Limits:   Limits{Concurrent: 64, Queue: 1024, EndpointConcurrent: 8, MaxResultBytes: 10 << 20},
		Breaker:  Breaker{Failures: 5, Open: 30 * time.Second},
		Memory:   FailureMemory{Failures: 3, Window: time.Minute, Probe: 30 * time.Second},
	}
}

// Load reads the configuration of a file. The error names every fault with its line.
func Load(file string) (*Config, error) {
	data, err := strictyaml.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

// fileFields are the fields of a gateway.yaml, in the order of docs/format.md.
var fileFields = []string{
	"schema_version", "session", "confirm", "limits", "breaker", "failure_memory", "audit", "redact", "model", "embed",
	"folders", "mcp_servers", "mcpServers", "defaults", "tools", "rules", "simulations",
}

// parser reads one file.
type parser struct {
	config *Config
	folder string // of the file, for paths that are relative
}

// Parse reads the text of a configuration; file is its name, for faults and for paths
// that are relative. The error names every fault with its line.
func Parse(file string, data []byte) (*Config, error) {
	r, root := strictyaml.NewReader(file, data)
	if root == nil {
		return nil, r.Err()
	}
	p := &parser{config: Default(), folder: filepath.Dir(file)}
	p.config.File = file
	o := r.Object(root, "", fileFields...)
	if v := o.Int("schema_version", 1, 1, 0); v == 0 && !o.Has("schema_version") {
		o.FailAt(0, "begin the file with schema_version: 1", "no schema_version")
	}
	p.settings(o)
	p.servers(o)
	p.simulations(o)
	p.tools(o)
	p.rules(o)
	if err := r.Err(); err != nil {
		return nil, err
	}
	if _, err := p.config.Complete(); err != nil {
		return nil, err
	}
	return p.config, nil
}

// settings reads all that is not about tools.
func (p *parser) settings(o *strictyaml.Object) {
	c := p.config
	s := o.Object(o.Field("session"), "session", "principal", "role", "teams", "scopes", "surfaces", "confirm")
	if s.Has("principal") {
		c.Session.Principal = s.Text("principal")
	}
	if role := s.Word("role", RoleOrdinary, RoleAdmin); role != "" {
		c.Session.Role = role
	}
	c.Session.Teams, c.Session.Scopes, c.Session.Surfaces = s.Texts("teams"), s.Texts("scopes"), s.Texts("surfaces")
	c.Session.Confirm = s.Bool("confirm", false)

	s = o.Object(o.Field("confirm"), "confirm", "unattended")
	if word := s.Word("unattended", UnattendedAudit, UnattendedDeny); word != "" {
		c.Confirm.Unattended = word
	}
	s = o.Object(o.Field("limits"), "limits", "concurrent", "queue", "calls_per_second", "endpoint_concurrent", "max_result_bytes")
	l := &c.Limits
	l.Concurrent = s.Int("concurrent", 1, callsMax, l.Concurrent)
	l.Queue = s.Int("queue", 0, callsMax, l.Queue)
	l.CallsPerSecond = s.Float("calls_per_second", 0, 1e6, l.CallsPerSecond)
	l.EndpointConcurrent = s.Int("endpoint_concurrent", 1, callsMax, l.EndpointConcurrent)
	l.MaxResultBytes = int64(s.Int("max_result_bytes", 1, bytesMax, int(l.MaxResultBytes)))

	s = o.Object(o.Field("breaker"), "breaker", "failures", "open")
	c.Breaker.Failures = s.Int("failures", 0, callsMax, c.Breaker.Failures)
	c.Breaker.Open = s.Duration("open", 0, durationMax, c.Breaker.Open)
	s = o.Object(o.Field("failure_memory"), "failure_memory", "failures", "window", "probe")
	c.Memory.Failures = s.Int("failures", 0, callsMax, c.Memory.Failures)
	c.Memory.Window = s.Duration("window", 0, durationMax, c.Memory.Window)
	c.Memory.Probe = s.Duration("probe", 0, durationMax, c.Memory.Probe)

	s = o.Object(o.Field("audit"), "audit", "path", "fsync")
	if path := s.Text("path"); path != "" {
		c.Audit.Path = p.path(path)
	}
	c.Audit.Fsync = s.Bool("fsync", false)
	s = o.Object(o.Field("redact"), "redact", "enabled", "keys", "values", "values_from_env")
	c.Redact = Redact{Off: !s.Bool("enabled", true), Keys: s.Texts("keys"), Values: s.Texts("values")}
	for _, name := range s.Texts("values_from_env") {
		if value := os.Getenv(name); value != "" {
			c.Redact.Values = append(c.Redact.Values, value)
		}
	}
	c.Model, c.Embed = p.model(o, "model"), p.model(o, "embed")
	for _, folder := range o.Texts("folders") {
		c.Folders = append(c.Folders, p.path(folder))
	}
	s = o.Object(o.Field("defaults"), "defaults", "timeout", "cache_ttl", "max_result_tokens", "rate_limit")
	d := &c.Defaults
	d.Timeout = s.Duration("timeout", time.Millisecond, durationMax, d.Timeout)
	d.CacheTTL = s.Duration("cache_ttl", 0, durationMax, d.CacheTTL)
	d.MaxResultTokens = s.Int("max_result_tokens", 1, bytesMax, 0)
	d.RateLimit = rateLimit(s)
}

// path makes a path of the file absolute: it is relative to the file.
func (p *parser) path(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.folder, path)
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// model reads a model endpoint. Its key may be named as ${NAME} of the environment.
func (p *parser) model(o *strictyaml.Object, field string) *Model {
	if !o.Has(field) {
		return nil
	}
	s := o.Object(o.Field(field), field, "type", "base_url", "api_key", "model_name", "tool_call", "timeout")
	s.Require("docs/format.md has an example", "type", "base_url", "model_name")
	s.Word("type", "openai_compatible")
	m := &Model{Type: "openai_compatible", BaseURL: s.Text("base_url"), Name: s.Text("model_name"), ToolCall: s.Bool("tool_call", true)}
	m.Timeout = s.Duration("timeout", time.Millisecond, durationMax, time.Minute)
	if m.BaseURL != "" && !strings.HasPrefix(m.BaseURL, "http://") && !strings.HasPrefix(m.BaseURL, "https://") {
		s.Fail(s.Field("base_url"), "write it as https://HOST/v1", "%s: base_url is no address", field)
	}
	key := s.Text("api_key")
	if name, ok := strings.CutPrefix(key, "${"); ok && strings.HasSuffix(name, "}") {
		key = os.Getenv(strings.TrimSuffix(name, "}"))
	}
	m.APIKey = key
	if key != "" {
		p.config.Redact.Values = append(p.config.Redact.Values, key)
	}
	return m
}

// servers takes the MCP servers of either form, as an mcp.json has them.
func (p *parser) servers(o *strictyaml.Object) {
	for _, field := range []string{"mcp_servers", "mcpServers"} {
		text := o.JSON(field)
		switch {
		case text == nil:
			continue
		case p.config.Servers != nil:
			o.Fail(o.Field(field), "keep one of the two", "mcp_servers and mcpServers are both given")
			continue
		}
		config, err := mcpserver.ParseConfig(p.config.File, rawjson.AppendObject(nil, []rawjson.Field{{Key: field, Value: text}}), os.LookupEnv)
		if err != nil {
			text, hint, _ := strings.Cut(strings.TrimPrefix(err.Error(), p.config.File+": "), "\nhint: ")
			o.Fail(o.Field(field), hint, "%s", text)
			continue
		}
		p.config.Servers = config.Servers
		for i := range config.Servers {
			if dir := config.Servers[i].Dir; dir != "" {
				config.Servers[i].Dir = p.path(dir)
			} else {
				config.Servers[i].Dir = p.path(".")
			}
		}
	}
}

// simulations reads the models of endpoints that are not there.
func (p *parser) simulations(o *strictyaml.Object) {
	names, values := o.Pairs("simulations")
	if len(names) > 0 {
		p.config.Simulated = make(map[string]*Simulation, len(names))
	}
	for i, name := range names {
		what := fmt.Sprintf("simulation %q", name)
		s := o.Object(values[i], what, "latency", "failures", "result", "commits", "loses_reply", "deduplicates", "reloads")
		m := &Simulation{
			Commits: s.Bool("commits", false), LosesReply: s.Float("loses_reply", 0, 1, 0),
			Deduplicates: s.Bool("deduplicates", false), Reloads: s.Bool("reloads", false),
		}
		l := s.Object(s.Field("latency"), what+": latency", "base", "spread", "slow", "slow_by")
		m.Latency = Latency{
			Base: l.Duration("base", 0, durationMax, 0), Spread: l.Duration("spread", 0, durationMax, 0),
			Slow: l.Float("slow", 0, 1, 0), SlowBy: l.Duration("slow_by", 0, durationMax, 0),
		}
		for _, n := range s.List("failures") {
			f := s.Object(n, what+": a failure", "kind", "share", "from", "for", "every")
			f.Require("say how the call fails", "kind")
			m.Failures = append(m.Failures, Failure{
				Kind: f.Word("kind", FailureKinds()...), Share: f.Float("share", 0, 1, 1),
				From: f.Duration("from", 0, durationMax, 0), For: f.Duration("for", 0, durationMax, 0), Every: f.Duration("every", 0, durationMax, 0),
			})
		}
		r := s.Object(s.Field("result"), what+": result", "bytes", "form", "encoding", "broken", "secrets")
		m.Result = Result{
			Bytes: r.Int("bytes", 0, 64<<20, 0), Form: r.Word("form", "json", "text"), Encoding: r.Text("encoding"),
			Broken: r.Int("broken", 0, 1000, 0), Secrets: r.Int("secrets", 0, 1000, 0),
		}
		p.config.Simulated[name] = m
	}
}

// tools reads the cards.
func (p *parser) tools(o *strictyaml.Object) {
	for _, n := range o.List("tools") {
		if c := p.card(o, n); c != nil {
			p.config.Tools = append(p.config.Tools, c)
		}
	}
}

// rules reads what changes cards of other sources.
func (p *parser) rules(o *strictyaml.Object) {
	for _, n := range o.List("rules") {
		r := o.Object(n, "a rule", append([]string{"match"}, policyFields...)...)
		r.Require("say which tools it is about, such as match: \"mcp__github__*\"", "match")
		rule := Rule{Line: n.Line, Match: r.Text("match")}
		rule.set = policy(r)
		p.config.Rules = append(p.config.Rules, rule)
	}
}

// rateLimit reads a token bucket.
func rateLimit(o *strictyaml.Object) RateLimit {
	if !o.Has("rate_limit") {
		return RateLimit{}
	}
	r := o.Object(o.Field("rate_limit"), "rate_limit", "bucket_capacity", "refill_rate")
	r.Require("write rate_limit: {bucket_capacity: 10, refill_rate: 2}", "bucket_capacity", "refill_rate")
	return RateLimit{BucketCapacity: r.Int("bucket_capacity", 1, callsMax, 1), RefillRate: r.Float("refill_rate", 1e-6, 1e6, 1)}
}

// sameValue reports whether two nodes say the same.
func sameValue(a, b *yaml.Node) bool {
	x, errX := yaml.Marshal(a)
	y, errY := yaml.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
