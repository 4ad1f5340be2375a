package card_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/strictyaml"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// parse reads a file of version 1; its text begins at line 2.
func parse(text string) (*card.Config, error) {
	return card.Parse("/etc/gw/gateway.yaml", []byte("schema_version: 1\n"+text))
}

func mustParse(t *testing.T, text string) *card.Config {
	t.Helper()
	c, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := mustParse(t, "")
	want := card.Default()
	want.File = "/etc/gw/gateway.yaml"
	if !reflect.DeepEqual(c, want) {
		t.Errorf("an empty configuration is\n%+v, want\n%+v", c, want)
	}
	if l := c.Limits; l.Concurrent != 64 || l.Queue != 1024 || l.EndpointConcurrent != 8 || l.MaxResultBytes != 10<<20 || l.CallsPerSecond != 0 {
		t.Errorf("limits %+v", l)
	}
	if c.Breaker != (card.Breaker{Failures: 5, Open: 30 * time.Second}) || c.Memory != (card.FailureMemory{Failures: 3, Window: time.Minute, Probe: 30 * time.Second}) {
		t.Errorf("breaker %+v, memory %+v", c.Breaker, c.Memory)
	}
	if c.Confirm.Unattended != card.UnattendedAudit || c.Session.Role != card.RoleOrdinary || c.Defaults.Timeout != 8*time.Second || c.Defaults.CacheTTL != 30*time.Second {
		t.Errorf("confirm %+v, session %+v, defaults %+v", c.Confirm, c.Session, c.Defaults)
	}
}

func TestSettings(t *testing.T) {
	t.Setenv("TG_TEST_KEY", "k-123")
	t.Setenv("TG_TEST_SECRET", "s-456")
	c := mustParse(t, `
session: {principal: ann, role: admin, teams: [a, b], scopes: ["x:read"], surfaces: [browser], confirm: true}
confirm: {unattended: deny}
limits: {concurrent: 2, queue: 0, calls_per_second: 1.5, endpoint_concurrent: 3, max_result_bytes: 1000}
breaker: {failures: 0, open: 1s}
failure_memory: {failures: 1, window: 2s, probe: 3s}
audit: {path: log/calls.jsonl, fsync: true}
redact: {enabled: false, keys: [pin], values: [v], values_from_env: [TG_TEST_SECRET, TG_TEST_NONE]}
model: {type: openai_compatible, base_url: "http://h/v1", api_key: "${TG_TEST_KEY}", model_name: m, tool_call: false, timeout: 9s}
folders: [data, /srv/data]
`)
	for name, pair := range map[string][2]any{
		"session": {c.Session, card.Session{Principal: "ann", Role: "admin", Teams: []string{"a", "b"}, Scopes: []string{"x:read"}, Surfaces: []string{"browser"}, Confirm: true}},
		"confirm": {c.Confirm.Unattended, "deny"},
		"limits":  {c.Limits, card.Limits{Concurrent: 2, CallsPerSecond: 1.5, EndpointConcurrent: 3, MaxResultBytes: 1000}},
		"breaker": {c.Breaker, card.Breaker{Open: time.Second}},
		"memory":  {c.Memory, card.FailureMemory{Failures: 1, Window: 2 * time.Second, Probe: 3 * time.Second}},
		"audit":   {c.Audit, card.Audit{Path: filepath.FromSlash("/etc/gw/log/calls.jsonl"), Fsync: true}},
		"redact":  {c.Redact, card.Redact{Off: true, Keys: []string{"pin"}, Values: []string{"v", "s-456", "k-123"}}},
		"model":   {*c.Model, card.Model{Type: "openai_compatible", BaseURL: "http://h/v1", APIKey: "k-123", Name: "m", Timeout: 9 * time.Second}},
		"folders": {c.Folders, []string{"/etc/gw/data", "/srv/data"}},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s is %+v, want %+v", name, pair[0], pair[1])
		}
	}
}

func TestSimulations(t *testing.T) {
	c := mustParse(t, `
simulations:
  s:
    latency: {base: 1ms, spread: 2ms, slow: 0.5, slow_by: 3s}
    failures: [{kind: hang, from: 1s, for: 2s, every: 9s}, {kind: status_500, share: 0.2}]
    result: {bytes: 10, form: json, encoding: gbk, broken: 1, secrets: 2}
    commits: true
    loses_reply: 0.25
    reloads: true
`)
	want := card.Simulation{
		Latency:  card.Latency{Base: time.Millisecond, Spread: 2 * time.Millisecond, Slow: 0.5, SlowBy: 3 * time.Second},
		Failures: []card.Failure{{Kind: "hang", Share: 1, From: time.Second, For: 2 * time.Second, Every: 9 * time.Second}, {Kind: "status_500", Share: 0.2}},
		Result:   card.Result{Bytes: 10, Form: "json", Encoding: "gbk", Broken: 1, Secrets: 2},
		Commits:  true, LosesReply: 0.25, Reloads: true,
	}
	if got := *c.Simulated["s"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestCard(t *testing.T) {
	c := mustParse(t, `
defaults: {timeout: 3s, cache_ttl: 4s, max_result_tokens: 50, rate_limit: {bucket_capacity: 1, refill_rate: 0.5}}
tools:
- id: orders.create
  title: Create
  description: Creates.
  inputSchema: {type: object, properties: {z: {type: integer}, a: {}}}
  annotations: {idempotentHint: true, destructiveHint: true}
  visibility: [ops]
  scope: "orders:write"
  surface: browser
  confirm: true
  depends_on: [other]
  group: g
  priority: -2
  endpoint: {target: "internal://builtin/echo", retry: {max_attempts: 2}, timeout: 9s, auth: admin}
  summary: rules
  encoding: gbk
- {id: other, name: second, read_only: true, cache_ttl: 0s, max_result_tokens: 7, lazy: true, endpoint: {target: "internal://builtin/echo"}}
- {name: click, endpoint: {target: "internal://builtin/echo"}}
`)
	cards, err := c.Complete()
	if err != nil {
		t.Fatal(err)
	}
	byID := make(map[string]*card.Card)
	var ids []string
	for _, one := range cards {
		byID[one.ID], ids = one, append(ids, one.ID)
	}
	if want := []string{"click", "orders.create", "other", "result_read"}; !reflect.DeepEqual(ids, want) {
		t.Fatalf("cards %v, want %v", ids, want)
	}
	one := byID["orders.create"]
	if one.Line() != 5 || string(one.InputSchema) != `{"type":"object","properties":{"z":{"type":"integer"},"a":{}}}` {
		t.Errorf("line %d, schema %s", one.Line(), one.InputSchema)
	}
	type policy struct {
		Name, Description, Target, Scope, Surface, Group, Encoding string
		Auth                                                       card.Auth
		Visibility, DependsOn                                      []string
		Confirm, ReadOnly, Idempotent, Lazy                        bool
		Priority, MaxResultTokens                                  int
		RateLimit                                                  card.RateLimit
		Retry                                                      card.Retry
		Timeout, CacheTTL                                          time.Duration
		Summary                                                    card.Summary
	}
	of := func(c *card.Card) policy {
		return policy{c.Name, c.Description, c.Target, c.Scope, c.Surface, c.Group, c.Encoding, c.Auth, c.Visibility, c.DependsOn,
			c.Confirm, c.ReadOnly, c.Idempotent, c.Lazy, c.Priority, c.MaxResultTokens, c.RateLimit, c.Retry, c.Timeout, c.CacheTTL, c.Summary}
	}
	const echo = "internal://builtin/echo"
	bucket := card.RateLimit{BucketCapacity: 1, RefillRate: 0.5}
	for id, want := range map[string]policy{
		"orders.create": {Name: "orders_create", Description: "Creates.", Target: echo, Scope: "orders:write", Surface: "browser", Group: "g", Encoding: "gbk",
			Auth: card.AuthAdmin, Visibility: []string{"ops"}, DependsOn: []string{"other"}, Confirm: true, Idempotent: true, Priority: -2, MaxResultTokens: 50,
			RateLimit: bucket, Retry: card.Retry{MaxAttempts: 2, Backoff: time.Second}, Timeout: 9 * time.Second, CacheTTL: 4 * time.Second, Summary: card.SummaryRules},
		"other": {Name: "second", Target: echo, Auth: card.AuthSession, ReadOnly: true, Lazy: true, MaxResultTokens: 7, RateLimit: bucket, Timeout: 3 * time.Second},
		"click": {Name: "click", Target: echo, Auth: card.AuthSystem, MaxResultTokens: 50, RateLimit: bucket, Timeout: 3 * time.Second, CacheTTL: 4 * time.Second},
	} {
		if got := of(byID[id]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is\n%+v, want\n%+v", id, got, want)
		}
	}
}

// TestFaults: each slip has its line, and a hint; the text begins at line 2.
func TestFaults(t *testing.T) {
	const echo = `endpoint: {target: "internal://builtin/echo"}`
	for _, c := range []struct {
		text, want string
		line       int
	}{
		{"tolls: []", `unknown field "tolls"`, 2},
		{"schema_version: 1", `field "schema_version" is there twice`, 2},
		{"session: {role: king}", `session: role: unknown word "king"`, 2},
		{"limits:\n  concurrent: 0", `limits: concurrent: "0" is no such number`, 3},
		{"breaker: {open: 30}", `breaker: open: "30" is no such time`, 2},
		{"model: {type: openai_compatible, base_url: \"http://h\"}", "model has no model_name", 2},
		{"model: {type: grpc, base_url: \"http://h\", model_name: m}", `unknown word "grpc"`, 2},
		{"embed: {type: openai_compatible, base_url: h, model_name: m}", "embed: base_url is no address", 2},
		{"mcp_servers: [{name: a, command: b}]\nmcpServers: {c: {command: d}}", "mcp_servers and mcpServers are both given", 3},
		{"\nmcpServers: {a: {comand: b}}", "comand", 3},
		{"defaults: {rate_limit: {bucket_capacity: 1}}", "rate_limit has no refill_rate", 2},
		{"simulations:\n  s:\n    latency: {slow: 2}", `latency: slow: "2" is no such number`, 4},
		{"simulations: {s: {failures: [{share: 1}]}}", "a failure has no kind", 2},
		{"simulations: {s: {failures: [{kind: fire}]}}", `unknown word "fire"`, 2},
		{"tools:\n- description: x", "a tool has no id", 3},
		{"tools:\n- id: a\n  " + echo + "\n  colour: red", `a tool: unknown field "colour"`, 5},
		{"tools:\n- id: a", "it has neither endpoint.target nor steps", 3},
		{"tools:\n- {id: a, endpoint: {target: \"gopher://h/x\"}}", `nobody knows the scheme "gopher"`, 3},
		{"tools:\n- {id: a, endpoint: {target: echo}}", "its target is no address", 3},
		{"tools:\n- {id: a, endpoint: {target: \"internal://builtin/ecko\"}}", "nothing inside the program is called", 3},
		{"tools:\n- {id: a, endpoint: {target: \"sim://s\"}}", `names the simulation "s", which does not exist`, 3},
		{"tools:\n- {id: a, endpoint: {target: \"mcp://github/x\"}}", `there is no MCP server "github"`, 3},
		{"tools:\n- {id: a, " + echo + "}\n- {id: a, " + echo + "}", "another tool has this id", 4},
		{"tools:\n- {id: a.b, " + echo + "}\n- {id: a_b, " + echo + "}", `tool "a.b" has the name "a_b" too`, 4},
		{"tools:\n- {id: a, name: \"x y\", " + echo + "}", `"x y" cannot be a model-visible name`, 3},
		{"tools:\n- {id: " + strings.Repeat("a", 65) + ", " + echo + "}", "cannot be a model-visible name", 3},
		{"tools:\n- {id: " + strings.Repeat("a", 201) + ", " + echo + "}", "an id is too long", 3},
		{"tools:\n- id: a\n  " + echo + "\n  input_schema: []", "input_schema is not a mapping", 5},
		{"tools:\n- id: a\n  " + echo + "\n  input_schema: {}\n  parameters: {}", "has input_schema and parameters, which mean the same", 6},
		{"tools:\n- {id: a, " + echo + ", input_schema: {type: objekt}}", "its input schema is no JSON Schema", 3},
		{"tools:\n- id: a\n  timeout: 1s\n  endpoint: {target: \"internal://builtin/echo\", timeout: 2s}", "timeout is given on the card and under endpoint, and differs", 5},
		{"tools:\n- {id: a, " + echo + ", retry: {max_attempts: 1}}", "nobody says that it is idempotent", 3},
		{"tools:\n- {id: a, " + echo + ", retry: {max_attempts: 11}}", "is no such number", 3},
		{"tools:\n- {id: a, " + echo + ", scope: write}", `scope "write" is no scope`, 3},
		{"tools:\n- {id: a, " + echo + ", encoding: klingon}", `encoding "klingon" is not known`, 3},
		{"tools:\n- {id: a, " + echo + ", summary: short}", `unknown word "short"`, 3},
		{"tools:\n- {id: a, " + echo + ", auth: root}", `unknown word "root"`, 3},
		{"tools:\n- {id: a, " + echo + ", depends_on: [b]}", `it depends on "b", which does not exist`, 3},
		{"tools:\n- {id: a, " + echo + ", depends_on: [a]}", "it depends on itself", 3},
		{"tools:\n- {id: b, " + echo + ", depends_on: [c]}\n- {id: c, " + echo + ", depends_on: [b]}", "depend on one another: b, c", 3},
		{"tools:\n- {id: a, steps: [{tool: b}]}", `a step calls "b", which does not exist`, 3},
		{"tools:\n- {id: e, " + echo + "}\n- {id: a, " + echo + ", steps: [{tool: e}]}", "a composite action with a target", 4},
		{"tools:\n- {id: e, " + echo + "}\n- {id: a, steps: [{tool: e}]}\n- {id: b, steps: [{tool: a}]}", "which is a composite action itself", 5},
		{"tools:\n- {id: a, steps: [{tool: a}]}", "which is a composite action itself", 3},
		{"tools:\n- {id: e, " + echo + "}\n- {id: a, steps: [{tool: e, arguments: {x: \"${url}\"}}]}", "a step uses ${url}, which is no parameter", 4},
		{"tools:\n- {id: e, " + echo + "}\n- {id: a, steps: [{tool: e, arguments: [1]}]}", "the arguments of a step are no mapping", 4},
		{"rules:\n- {confirm: true}", "a rule has no match", 3},
		{"rules:\n- {match: \"*\", description: x}", `a rule: unknown field "description"`, 3},
		{"rules:\n- {match: a, priority: 1001}", "is no such number", 3},
	} {
		config, err := parse(c.text)
		var faults strictyaml.Faults
		if !errors.As(err, &faults) || config != nil {
			t.Errorf("%s\ngives %v and %v", c.text, config, err)
			continue
		}
		if len(faults) != 1 || faults[0].Line != c.line || !strings.Contains(faults[0].Text, c.want) || faults[0].Hint == "" {
			t.Errorf("%s\ngives %+v\nwant line %d: %s", c.text, faults, c.line, c.want)
		}
	}
	if _, err := card.Parse("g.yaml", []byte("tools: []")); err == nil || !strings.Contains(err.Error(), "g.yaml: no schema_version") {
		t.Errorf("without a version: %v", err)
	}
	if _, err := card.Parse("g.yaml", []byte("schema_version: 2")); err == nil || !strings.Contains(err.Error(), "g.yaml:1: schema_version") {
		t.Errorf("another version: %v", err)
	}
}

// TestAllFaults: a file with many faults tells of all, by line, and gives nothing.
func TestAllFaults(t *testing.T) {
	var text strings.Builder
	text.WriteString("limits: {queue: -1}\ntools:\n")
	for i := range 3 {
		fmt.Fprintf(&text, "- {id: t%d, timeout: 0s}\n", i)
	}
	text.WriteString("rules:\n- {match: a, auth: none, auth: admin}\n")
	config, err := parse(text.String())
	var faults strictyaml.Faults
	if !errors.As(err, &faults) || config != nil {
		t.Fatalf("%v, %v", config, err)
	}
	var lines []int
	for _, f := range faults {
		lines = append(lines, f.Line)
	}
	if want := []int{2, 4, 5, 6, 8}; !reflect.DeepEqual(lines, want) {
		t.Errorf("faults at %v, want %v:\n%v", lines, want, err)
	}
}

// FuzzParse: any text is refused with hints, or is a configuration that is complete, and
// twice the same.
func FuzzParse(f *testing.F) {
	f.Add("tools:\n- {id: a, endpoint: {target: \"internal://builtin/echo\"}, depends_on: [a]}")
	f.Add("simulations: {s: {latency: {base: 1ms}}}\ntools: [{id: x, endpoint: {target: \"sim://s\"}, max_result_tokens: 5}]\nrules: [{match: \"*\", confirm: true}]")
	f.Add("tools: &t\n- {id: a, steps: [{tool: b, arguments: {x: \"${y}\"}}]}\n- {id: b, read_only: true, endpoint: {target: \"https://h/p\"}}")
	f.Add("mcpServers: {a: {command: b}}\ntools: [{id: c, endpoint: {target: \"mcp://a/b\"}}]")
	f.Fuzz(func(t *testing.T, text string) {
		config, err := parse(text)
		if err != nil {
			if config != nil || !strings.Contains(err.Error(), "\nhint: ") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		cards, err := config.Complete()
		again, errAgain := config.Complete()
		if err != nil || errAgain != nil || !reflect.DeepEqual(cards, again) {
			t.Fatalf("%q: %v, %v", text, err, errAgain)
		}
		for _, c := range cards {
			if c.Timeout <= 0 || c.Auth == "" || c.Name == "" {
				t.Fatalf("%q: incomplete card %+v", text, c)
			}
		}
	})
}
