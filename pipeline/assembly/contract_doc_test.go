package assembly_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rooms says where the tests that docs/contract-tests.md names live.
var rooms = map[string]string{
	"registry": "../registry", "toolset": "../toolset", "search": "../search", "bridge": "../bridge",
	"assembly": ".", "distributions": "../../distributions", "discovery": "../discovery", "python": "../discovery/python",
}

// TestContractTestsExist: the table of behaviours names no test that is gone.
func TestContractTestsExist(t *testing.T) {
	document, err := os.ReadFile("../../docs/contract-tests.md")
	if err != nil {
		t.Fatal(err)
	}
	table := strings.Join(regexp.MustCompile(`(?m)^\|.*$`).FindAllString(string(document), -1), "\n")
	declared := make(map[string]string)
	for room, folder := range rooms {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no tests: %v", room, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			declared[room] += string(source)
		}
	}
	rows := 0
	for _, m := range regexp.MustCompile("`([a-z]+)\\.((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(table, -1) {
		rows++
		if !strings.Contains(declared[m[1]], "func "+m[2]+"(") {
			t.Errorf("there is no test %s.%s", m[1], m[2])
		}
	}
	for _, m := range regexp.MustCompile(`script ([a-z-]+)`).FindAllStringSubmatch(table, -1) {
		rows++
		if _, err := os.Stat("../../testdata/pipeline/" + m[1] + ".txt"); err != nil {
			t.Errorf("there is no script %s: %v", m[1], err)
		}
	}
	if rows < 100 {
		t.Errorf("%d tests and scripts are named: is the table still there?", rows)
	}
}
