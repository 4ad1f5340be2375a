//go:build unix

package conformance

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadFileDoesNotWaitOnAPipe would never end if the pipe were opened.
func TestReadFileDoesNotWaitOnAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "vectors.json")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip("no pipes here:", err)
	}
	if _, err := readFile(pipe, 1); err == nil || !strings.HasPrefix(err.Error(), pipe+": not a regular file\nhint: ") {
		t.Errorf("error %v", err)
	}
}
