//go:build unix

package replay

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLoadArmsDoesNotWaitOnAPipe would never end if the pipe were opened.
func TestLoadArmsDoesNotWaitOnAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "arms.yaml")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip("no pipes here:", err)
	}
	if _, _, err := LoadArms(pipe); err == nil || !strings.HasPrefix(err.Error(), pipe+": not a regular file\nhint: ") {
		t.Errorf("error %v", err)
	}
}
