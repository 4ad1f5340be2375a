package card_test

import (
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolgauge/toolgauge/internal/strictyaml"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// tool is a card of another source.
func tool(id string) *card.Card { return &card.Card{ID: id, Toolset: "other"} }

// one completes a configuration with cards of other sources, and returns that of an id.
func one(t *testing.T, c *card.Config, id string, others ...*card.Card) *card.Card {
	t.Helper()
	cards, err := c.Complete(others...)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range cards {
		if got.ID == id {
			return got
		}
	}
	t.Fatalf("no card %s", id)
	return nil
}

// TestRules: rules apply in their order, to cards of the file and of others, by id and by
// model-visible name, and what a rule does not name stays.
func TestRules(t *testing.T) {
	c := mustParse(t, `
defaults: {timeout: 3s}
tools:
- {id: own, confirm: true, endpoint: {target: "internal://builtin/echo"}}
rules:
- {match: "*", scope: "any:use", max_result_tokens: 10}
- {match: "mcp__shop__*", confirm: true, timeout: 1s, scope: "shop:use", endpoint: {target: "sim://s", retry: {max_attempts: 2}}, idempotent: true}
- {match: "hermes://mcp/shop/pay", auth: admin, visibility: [a], confirm: false}
simulations: {s: {}}
`)
	pay := &card.Card{ID: card.MCPID("shop", "pay"), Name: card.MCPName("shop", "pay"), Toolset: "mcp-shop", Description: "Pays."}
	before := *pay
	got := one(t, c, pay.ID, pay)
	want := card.Card{
		ID: pay.ID, Name: "mcp__shop__pay", Toolset: "mcp-shop", Description: "Pays.", InputSchema: []byte(`{"type":"object"}`),
		Target: "sim://s", Auth: card.AuthAdmin, Visibility: []string{"a"}, Scope: "shop:use", Idempotent: true,
		Retry: card.Retry{MaxAttempts: 2, Backoff: time.Second}, Timeout: time.Second, CacheTTL: 30 * time.Second, MaxResultTokens: 10,
	}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	if !reflect.DeepEqual(*pay, before) {
		t.Errorf("the card that was given has changed: %+v", pay)
	}
	if !reflect.DeepEqual(c.Derive(before), got) {
		t.Error("Derive gives another card than Complete")
	}
	if own := one(t, c, "own", pay); !own.Confirm || own.Scope != "any:use" || own.Timeout != 3*time.Second {
		t.Errorf("own is %+v", own)
	}
	if other := one(t, c, "elsewhere", tool("elsewhere")); other.Timeout != 3*time.Second || other.Confirm || other.Target != "" || other.Auth != card.AuthSession {
		t.Errorf("elsewhere is %+v", other)
	}
}

// TestTogether: all faults of a batch are told of, and none of its cards is given.
func TestTogether(t *testing.T) {
	c := mustParse(t, "mcpServers: {here: {command: x}}\ntools:\n- {id: own, endpoint: {target: \"internal://builtin/echo\"}}")
	zombie, alive := tool("z"), tool("l")
	zombie.Target, alive.Target = card.MCPTarget("gone", "tool"), card.MCPTarget("here", "tool")
	clash := tool("clash")
	clash.Name = "own"
	cards, err := c.Complete(zombie, alive, tool("own"), clash, tool("twice"), tool("twice"))
	var faults strictyaml.Faults
	if !errors.As(err, &faults) || cards != nil {
		t.Fatalf("%v, %v", cards, err)
	}
	for _, want := range []string{`tool "z": its source is gone: there is no MCP server "gone"`, `tool "own": another tool has this id`, `has the name "own" too`, `tool "twice": another tool has this id`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no fault %s in\n%v", want, err)
		}
	}
	if len(faults) != 4 {
		t.Errorf("%d faults, want 4:\n%v", len(faults), err)
	}
	if got := one(t, c, "l", alive); got.Target != alive.Target {
		t.Errorf("%+v", got)
	}
}

// TestResultRead: it is there if a result can be cut or held back, and out of reach of
// the rules, since a result of its own that is cut could not be read.
func TestResultRead(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                       false,
		"rules: [{match: \"*\", confirm: true}]": false,
		"rules: [{match: \"*\", lazy: true}]":    true,
		"defaults: {max_result_tokens: 9}":       true,
		"rules: [{match: other, max_result_tokens: 9}]": true, // of the registry, perhaps
		"rules: [{match: t, max_result_tokens: 9}]":     true,
		"rules: [{match: \"*\", max_result_tokens: 9, lazy: true, auth: admin, endpoint: {target: \"internal://builtin/echo\"}}]": true,
	} {
		cards, err := mustParse(t, text).Complete(tool("t"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, c := range cards {
			if c.Target == card.ResultReadTarget {
				found = true
				if c.ID != "result_read" || c.MaxResultTokens != 0 || c.Lazy || !c.ReadOnly || c.Auth != card.AuthNone {
					t.Errorf("%s: %+v", text, c)
				}
			}
		}
		if found != want {
			t.Errorf("%q: result_read is there: %v, want %v", text, found, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for _, c := range []struct {
		visibility, teams []string
		want              bool
	}{
		{nil, nil, true}, {nil, []string{"a"}, true}, {[]string{"a"}, nil, false}, {[]string{"a"}, []string{"b"}, false}, {[]string{"a", "b"}, []string{"c", "b"}, true},
	} {
		if got := (&card.Card{Visibility: c.visibility}).Visible(c.teams); got != c.want {
			t.Errorf("visible to %v, of teams %v: %v", c.visibility, c.teams, got)
		}
	}
	c := mustParse(t, "session: {teams: [a]}\nrules: [{match: \"x*\", visibility: [b]}, {match: xa, visibility: [a]}]")
	if !c.Filters() || !c.Hides("xb", "xb") || c.Hides("xa", "xa") || c.Hides("y", "y") {
		t.Error("the rules of visibility do not hide what they should")
	}
	if mustParse(t, "rules: [{match: x, confirm: true}]").Filters() {
		t.Error("a rule without visibility filters")
	}
}

// TestMatch: * stands for any run of characters, as .* does.
func TestMatch(t *testing.T) {
	pattern := rapid.StringMatching(`[ab*]{1,6}`)
	text := rapid.StringMatching(`[ab]{1,7}`)
	rapid.Check(t, func(t *rapid.T) {
		p, id := pattern.Draw(t, "pattern"), text.Draw(t, "id")
		c, err := parse("rules: [{match: \"" + p + "\", priority: 7}]")
		if err != nil {
			t.Fatal(err)
		}
		want := regexp.MustCompile("^" + strings.ReplaceAll(p, "*", ".*") + "$").MatchString(id)
		if got := c.Derive(card.Card{ID: id}).Priority == 7; got != want {
			t.Fatalf("%q matches %q: %v, want %v", p, id, got, want)
		}
	})
}

// TestMCPAddress: server and tool come back out of ids and targets, whatever their names.
func TestMCPAddress(t *testing.T) {
	name := rapid.StringMatching(`[a-z./%_ é?#-]{1,9}`)
	rapid.Check(t, func(t *rapid.T) {
		server, tool := name.Draw(t, "server"), name.Draw(t, "tool")
		for _, address := range []string{card.MCPTarget(server, tool), card.MCPID(server, tool)} {
			if got, ok := card.MCPServer(address); !ok || got != server || card.MCPTool(address) != tool {
				t.Fatalf("%q of %q and %q gives %q (%v) and %q", address, server, tool, got, ok, card.MCPTool(address))
			}
		}
	})
	for _, address := range []string{"", "mcp://", "mcp://s", "mcp:///t", "mcp://s/", "https://s/t"} {
		if server, ok := card.MCPServer(address); ok {
			t.Errorf("%q has the server %q", address, server)
		}
	}
}
