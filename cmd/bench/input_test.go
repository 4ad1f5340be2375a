package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLongDescription plays a tool whose description is one word of 100,000
// equal letters, the worst that a tokenizer can be given. It must take seconds.
func TestLongDescription(t *testing.T) {
	if testing.Short() {
		t.Skip("has a deadline that a race detector may need")
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "long.json")
	text := fmt.Sprintf(`{"tools":[{"name":"long","description":"%s"},{"name":"short","description":"Read the weather."}]}`, strings.Repeat("a", 100_000))
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // seconds, on a busy machine and under the race detector
	defer cancel()
	out, err := exec.CommandContext(ctx, "bench", "run", "--corpus", path, "--sessions", "10", "-o", t.TempDir()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v (%v)\n%s", err, ctx.Err(), out)
	}
	if !strings.Contains(string(out), "10 sessions") {
		t.Errorf("it prints %s", out)
	}
}
