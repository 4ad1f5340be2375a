//go:build unix

package reports

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOpenDoesNotWaitOnAPipe would never end if the pipe were opened.
func TestOpenDoesNotWaitOnAPipe(t *testing.T) {
	for _, name := range []string{ManifestFile, CallsFile} {
		dir := smallRunFolder(t).Dir
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Skip("no pipes here:", err)
		}
		_, err := Open(dir)
		wantError(t, err, path, "not a regular file")
	}
}
