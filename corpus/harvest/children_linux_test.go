package harvest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// children lists the processes that run this test's binary as a server, zombies
// among them.
func children(t *testing.T) (list []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		dir := filepath.Dir(stat)
		pid, _ := strconv.Atoi(filepath.Base(dir))
		data, err := os.ReadFile(stat)
		if err != nil || pid == os.Getpid() {
			continue
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if target, err := os.Readlink(filepath.Join(dir, "exe")); err == nil && target == self || len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			list = append(list, string(data[:strings.LastIndexByte(string(data), ')')+1]))
		}
	}
	return list
}
