//go:build unix

package builtin

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipe: a pipe is listed but not opened, which would wait for its writer.
func TestPipe(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Skip("no pipes:", err)
	}
	if got := call(t, []string{folder}, "list_files", `{"path":"pipe"}`); !got.IsError {
		t.Errorf("%s", got.Body)
	}
	want := `{"folder":"` + folder + `","entries":[{"path":"pipe","type":"other"}]}`
	if got := call(t, []string{folder}, "list_files", `{"depth":2}`); string(got.Body) != want {
		t.Errorf("%s", got.Body)
	}
}
