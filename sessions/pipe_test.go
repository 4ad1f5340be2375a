//go:build unix

package sessions

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadDoesNotWaitOnAPipe would never end if the pipe were opened.
func TestReadDoesNotWaitOnAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip("no pipes here:", err)
	}
	_, err := ReadFile(pipe)
	wantError(t, err, pipe, "not a regular file")
}
