//go:build unix

package distributions

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAddFileDoesNotWaitOnAPipe would never end if the pipe were opened.
func TestAddFileDoesNotWaitOnAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "own.yaml")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip("no pipes here:", err)
	}
	if err := NewSet().AddFile(pipe); err == nil || !strings.HasPrefix(err.Error(), pipe+": not a regular file\nhint: ") {
		t.Errorf("error %v", err)
	}
}
