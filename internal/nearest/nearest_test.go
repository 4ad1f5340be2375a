package nearest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestName(t *testing.T) {
	known := []string{"terminal", "file", "web", "web_search", "mcp-github"}
	for _, row := range []struct {
		name, in, want string
	}{
		{"itself", "file", "file"},
		{"one letter left out", "termnal", "terminal"},
		{"two letters swapped", "wbe", "web"},
		{"letter case put aside", "FILE", "file"},
		{"hyphen for underscore", "web-search", "web_search"},
		{"underscore for hyphen", "mcp_github", "mcp-github"},
		{"nothing typed: the shortest is least away", "", "web"},
		{"first of equals", "xxxx", "file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Name(row.in, known); got != row.want {
				t.Errorf("Name(%q) = %q, want %q", row.in, got, row.want)
			}
		})
	}
	if got := Name("x", nil); got != "" {
		t.Errorf("Name with nothing known = %q, want none", got)
	}
}

func TestHint(t *testing.T) {
	if got, want := Hint("fiel", []string{"web", "file"}), `did you mean "file"?`; got != want {
		t.Errorf("Hint = %q, want %q", got, want)
	}
	if got, want := Hint("fiel", nil), "there are none to choose from"; got != want {
		t.Errorf("Hint = %q, want %q", got, want)
	}
}

func TestDistanceByHand(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"kitten", "sitting", 3},
		{"flaw", "lawn", 2},
		{"größe", "grosse", 3},
		{"same", "same", 0},
	} {
		if got := distance([]rune(row.a), []rune(row.b)); got != row.want {
			t.Errorf("distance(%q, %q) = %d, want %d", row.a, row.b, got, row.want)
		}
	}
}

// TestDistanceIsAMetric checks what a metric must hold, and that a known name
// is its own nearest.
func TestDistanceIsAMetric(t *testing.T) {
	word := rapid.SliceOfN(rapid.SampledFrom([]rune("abcé_")), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		ab := distance(a, b)
		if ab != distance(b, a) {
			t.Fatalf("not symmetric: %q, %q", string(a), string(b))
		}
		if (ab == 0) != (string(a) == string(b)) {
			t.Fatalf("distance(%q, %q) = %d", string(a), string(b), ab)
		}
		if ac, cb := distance(a, c), distance(c, b); ab > ac+cb {
			t.Fatalf("triangle: %d > %d + %d", ab, ac, cb)
		}
		if name := string(a); Name(name, []string{string(b), name}) != name && string(fold(name)) != string(fold(string(b))) {
			t.Fatalf("%q is not its own nearest", name)
		}
	})
}

// TestAbsurdlyLongNames: a mistyped name may be a whole file; the hint must not
// take longer than the error is worth.
func TestAbsurdlyLongNames(t *testing.T) {
	known := make([]string, 20_000)
	for i := range known {
		known[i] = "server/some_tool_name"
	}
	if got := Name(strings.Repeat("x", 1<<20), known); got != known[0] {
		t.Errorf("Name = %q", got)
	}
}
