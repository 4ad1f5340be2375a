package toolname

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, row := range []struct{ server, tool, want string }{
		{"github", "create_issue", "mcp__github__create_issue"},
		{"a-b", "C_9", "mcp__a-b__C_9"},
		{"_a", "b", "mcp___a__b"},
		{"a", strings.Repeat("t", 56), "mcp__a__" + strings.Repeat("t", 56)}, // 64 long
		{"a", strings.Repeat("t", 57), "mcp__a__" + strings.Repeat("t", 47) + "_08a56054"},
		{long, "b", "mcp__" + long[:50] + "_b52378fa"},
		{"Exa Search", "find", "mcp__Exa_Search__find_e9312f6d"},
		{"größe", "é/日", "mcp__gr__e______1865d6da"},
		{"a__b", "c", "mcp__a__b__c_a92700ce"},
		{"a", "b__c", "mcp__a__b__c"},
		{"a_", "b", "mcp__a___b_a00766a3"},
		{"a", "_b", "mcp__a___b_ee647d3b"},
		{"a", "b_0123abcd", "mcp__a__b_0123abcd_c9f44c81"},
		{"a", "b_0123abcz", "mcp__a__b_0123abcz"},
	} {
		if got := Visible(row.server, row.tool); got != row.want {
			t.Errorf("Visible(%q, %q) = %q, want %q", row.server, row.tool, got, row.want)
		}
	}
}

// TestVisibleNeverMeets draws names from few letters, and names made to meet
// others: parts of visible names, and names that differ in one character.
func TestVisibleNeverMeets(t *testing.T) {
	part := rapid.OneOf(
		rapid.StringMatching(`[ab_ /]{1,6}`),
		rapid.StringMatching(`[ab_]{50,70}`),
		rapid.StringMatching(`[ab_]{1,3}_[0-9a-f]{8}`),
		rapid.StringMatching(`.{1,8}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		type pair struct{ server, tool string }
		owners := make(map[string]pair)
		claim := func(p pair) string {
			name := Visible(p.server, p.tool)
			if len(name) > Max || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
				t.Fatalf("%q is no name for a model", name)
			}
			if owner, taken := owners[name]; taken && owner != p {
				t.Fatalf("%q and %q are both %q", owner, p, name)
			}
			owners[name] = p
			return name
		}
		for range 8 {
			p := pair{part.Draw(t, "server"), part.Draw(t, "tool")}
			inner := strings.TrimPrefix(claim(p), "mcp__")
			for i := range inner { // every way to split the visible name again
				if strings.HasPrefix(inner[i:], "__") && i > 0 && i+2 < len(inner) {
					claim(pair{inner[:i], inner[i+2:]})
				}
			}
			claim(pair{p.server + "_", p.tool})
			claim(pair{p.server, "_" + p.tool})
			claim(pair{p.server + "__" + p.tool, p.tool})
		}
	})
}
