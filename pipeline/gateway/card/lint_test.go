package card_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
)

// rulesOf are the rules of findings, with line and severity.
func rulesOf(found []card.Finding) (rules []string) {
	for _, f := range found {
		rules = append(rules, string(f.Severity)+" "+f.Rule)
	}
	return rules
}

// TestLint: each finding has a card or setting that just earns it, and one that just
// does not.
func TestLint(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	policies := func(policy string) []string {
		return []string{"tools:\n- {id: a, endpoint: {target: \"internal://builtin/echo\"}, " + policy + "}", "rules:\n- {match: a, " + policy + "}"}
	}
	for _, c := range []struct {
		texts []string
		want  string // empty: nothing
	}{
		{[]string{"", "tools: [{id: a, endpoint: {target: \"internal://builtin/echo\"}}]"}, ""},
		{policies("rate_limit: {bucket_capacity: 101, refill_rate: 1}"), "warning large_bucket"},
		{policies("rate_limit: {bucket_capacity: 1, refill_rate: 50.5}"), "warning large_bucket"},
		{policies("rate_limit: {bucket_capacity: 100, refill_rate: 50}"), ""},
		{policies("idempotent: true, retry: {max_attempts: 4}"), "warning many_retries"},
		{policies("idempotent: true, retry: {max_attempts: 3}"), ""},
		{policies("read_only: true, retry: {max_attempts: 1}")[:1], ""},
		{policies("timeout: 61s"), "warning long_timeout"},
		{policies("timeout: 60s"), ""},
		{policies("max_result_tokens: 10001"), "warning large_result"},
		{policies("max_result_tokens: 10000"), ""},
		{policies("read_only: true, confirm: true")[:1], "warning confirms_reading"},
		{policies("auth: none")[:1], "warning open_to_all"},
		{policies("auth: none, read_only: true")[:1], ""},
		{policies("lazy: true, summary: rules, max_result_tokens: 9")[:1], "warning lazy_summary"},
		{policies("summary: rules")[:1], "warning summary_without_bound"},
		{policies("summary: rules, max_result_tokens: 9")[:1], ""},
		{policies("summary: model, max_result_tokens: 9")[:1], "warning no_model"},
		{policies("name: delete_file")[:1], "warning unconfirmed"},
		{policies("name: Refund-now")[:1], "warning unconfirmed"},
		{policies("name: undeleted_files")[:1], ""},
		{policies("name: delete_file, confirm: true")[:1], ""},
		{policies("name: delete_file, read_only: true")[:1], ""},
		{[]string{"folders: [/]", "folders: [/home]", "folders: [\"" + home + "\"]", "folders: [\"" + filepath.Dir(home) + "\"]", "folders: [/home/ann]"}, "error risky_folder"},
		{[]string{"folders: [data, /srv/data]", "folders: [\"" + filepath.Join(home, "data") + "\"]"}, ""},
		{[]string{"mcpServers: {s: {command: c, allowed_directories: [/]}}", "mcpServers: {s: {command: c, args: [-y, server, \"~\"]}}"}, "error risky_folder"},
		{[]string{"mcp_servers: [{name: s, command: c, allowed_directories: [/srv, /], args: [x]}]"}, "error risky_folder"},
		{[]string{"mcpServers: {s: {command: /bin/c, args: [-y, /srv/data], allowed_directories: [data]}}"}, ""},
	} {
		for _, text := range c.texts {
			found := mustParse(t, text).Lint()
			if got := strings.Join(rulesOf(found), ", "); got != c.want {
				t.Errorf("%s\ngives %q, want %q: %+v", text, got, c.want, found)
			}
			for _, f := range found {
				if f.File != "/etc/gw/gateway.yaml" || f.Text == "" || f.Hint == "" {
					t.Errorf("%s\ngives a finding without place, text or hint: %+v", text, f)
				}
			}
		}
	}
}

// TestLintPlaces: findings come by line, those of settings first, and name their tools.
func TestLintPlaces(t *testing.T) {
	found := mustParse(t, `
folders: [/]
tools:
- {id: z.slow, timeout: 5m, endpoint: {target: "internal://builtin/echo"}}
- {id: a, name: send_mail, endpoint: {target: "internal://builtin/echo"}}
rules:
- {match: none, timeout: 2m}
`).Lint()
	type place struct {
		line int
		tool string
	}
	var got []place
	for _, f := range found {
		got = append(got, place{f.Line, f.Tool})
	}
	if last := found[len(found)-1].Text; last != `rule "none": it may take 2m0s` {
		t.Errorf("the rule's finding says %s", last)
	}
	if want := []place{{0, ""}, {5, "z.slow"}, {6, "a"}, {8, ""}}; !slices.Equal(got, want) {
		t.Errorf("findings at %v, want %v", got, want)
	}
}
