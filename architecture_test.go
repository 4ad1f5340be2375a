// Package toolgauge_test holds what is true of the whole house.
package toolgauge_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/toolgauge/toolgauge"

// pipelineOrder lists the rooms of the pipeline: each may import those before
// it and none behind it.
var pipelineOrder = []string{"registry", "discovery", "toolset", "search", "bridge", "assembly", "gateway"}

// mayImport says which of our rooms a room may import, internal/ aside. A room
// that is not named here may import everything but the commands.
var mayImport = map[string][]string{
	"distributions": {},
	"metrics":       {},
	"corpus":        {"distributions", "pipeline"},
	"sessions":      {"corpus", "distributions", "pipeline"},
	"replay":        {"corpus", "distributions", "metrics", "pipeline", "sessions"},
	"reports":       {"metrics"},
	"sweep":         {"corpus", "metrics", "pipeline", "replay", "sessions"},
	"eval":          {"corpus", "distributions", "metrics", "pipeline"},
	"suite":         {"corpus", "pipeline"},
	"conformance":   {"corpus", "distributions", "pipeline"},
}

// listedPackage is what `go list` tells of a package.
type listedPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listedPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// TestImportsFollowTheHouse holds every package to the rules of docs/design.md.
func TestImportsFollowTheHouse(t *testing.T) {
	for _, p := range listPackages(t) {
		room, ok := strings.CutPrefix(p.ImportPath, module+"/")
		if !ok {
			continue
		}
		for _, i := range p.Imports {
			for _, fault := range importFaults(room, i) {
				t.Errorf("%s imports %s: %s", room, i, fault)
			}
		}
	}
}

// importFaults says what is wrong with a room importing path.
func importFaults(room, path string) (faults []string) {
	if path == "golang.org/x/exp/rand" && room != "distributions" {
		faults = append(faults, "only distributions may import it")
	}
	top, _, _ := strings.Cut(room, "/")
	imported, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		if top == "metrics" && strings.Contains(path, ".") && !strings.HasPrefix(path, "gonum.org/v1/gonum/") {
			faults = append(faults, "metrics imports the standard library and gonum only")
		}
		return faults
	}
	target, _, _ := strings.Cut(imported, "/")
	if target == "cmd" {
		faults = append(faults, "nobody imports a command")
	}
	switch {
	case top == "internal":
		if target != "internal" {
			faults = append(faults, "internal is plumbing without domain meaning")
		}
	case target == "internal":
		if top == "distributions" || top == "metrics" {
			faults = append(faults, top+" imports nothing of ours")
		}
	case top == "pipeline":
		faults = append(faults, pipelineFaults(room, imported)...)
	case mayImport[top] != nil && target != top && !slices.Contains(mayImport[top], target):
		faults = append(faults, "not among the rooms that "+top+" may import")
	}
	return faults
}

func pipelineFaults(room, imported string) []string {
	if !strings.HasPrefix(imported, "pipeline/") {
		return []string{"the pipeline imports only itself and internal"}
	}
	from := slices.Index(pipelineOrder, strings.Split(room, "/")[1])
	to := slices.Index(pipelineOrder, strings.Split(imported, "/")[1])
	if from < 0 || to < 0 || to > from {
		return []string{"a room of the pipeline imports only the rooms before it"}
	}
	return nil
}

// TestImportRulesCanFail shows that the rules above refuse what they should.
func TestImportRulesCanFail(t *testing.T) {
	for _, c := range []struct{ room, path string }{
		{"pipeline/registry", module + "/pipeline/bridge"},
		{"pipeline/bridge", module + "/replay"},
		{"pipeline/assembly", module + "/corpus"},
		{"metrics", module + "/internal/tokens"},
		{"metrics", "github.com/parquet-go/parquet-go"},
		{"distributions", module + "/corpus"},
		{"reports", module + "/replay"},
		{"internal/cli", module + "/metrics"},
		{"suite", module + "/replay"},
		{"sessions", "golang.org/x/exp/rand"},
		{"replay", module + "/cmd/bench"},
	} {
		if len(importFaults(c.room, c.path)) == 0 {
			t.Errorf("%s may import %s", c.room, c.path)
		}
	}
	for _, c := range []struct{ room, path string }{
		{"pipeline/assembly", module + "/pipeline/bridge"},
		{"replay", module + "/metrics"},
		{"cmd/bench", module + "/replay"},
		{"metrics", "gonum.org/v1/gonum/stat"},
	} {
		if faults := importFaults(c.room, c.path); len(faults) > 0 {
			t.Errorf("%s may not import %s: %v", c.room, c.path, faults)
		}
	}
}
