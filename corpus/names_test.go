package corpus

import "testing"

// TestHashCollision refuses two tools whose names meet all the same: one must
// not hide the other.
func TestHashCollision(t *testing.T) {
	l := newLoader("x")
	at := node{doc: &document{file: "f", data: []byte("{}")}, end: 2}
	for _, server := range []string{"a", "b"} {
		tool := &Tool{Server: server, Name: "t"}
		if err := l.add(at, tool, nil, keepRepeats); err != nil {
			t.Fatal(err)
		}
		tool.Definition = l.claims["a/t"][0].tool.Definition
	}
	wantError(t, l.settle(), "f:1:1: tools \"a/t\" and \"b/t\" share the model-visible name \"mcp__a__t\"; the first is at f:1:1\nhint: rename one of them")
}
