//go:build unix

package gate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolgauge/toolgauge/reports/gate"
)

func TestLoadRulesRefusesWhatIsNoFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	large := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(large, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, said := range map[string]string{pipe: "not a regular file", large: "1048577 bytes", "missing.yaml": "cannot read missing.yaml: no such file", ".": "cannot read .: "} {
		if _, err := gate.LoadRules(path); err == nil || !strings.Contains(err.Error(), said) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%s: error %v, want one with %q", path, err, said)
		}
	}
	if _, err := gate.LoadRules("missing.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
}
