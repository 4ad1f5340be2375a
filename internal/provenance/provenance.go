// Package provenance says where a result comes from: which build of the program, on which machine, from which input
// bytes and which configuration. Two results with equal hashes had equal input.
package provenance

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Build identifies the running program and the machine that it runs on.
type Build struct {
	// ToolVersion is the module's version, "(devel)" where the program was not built from a tagged one.
	ToolVersion string `json:"tool_version"`
	Git         *Git   `json:"git"` // nil where the program was built outside a git checkout
	Go          string `json:"go"`  // as in "go1.26.0"
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	CPU         string `json:"cpu"` // model name; empty where the system does not tell
}

// Git is the state of the checkout that the program was built from.
type Git struct {
	Commit string `json:"commit"` // full hash, hex
	Dirty  bool   `json:"dirty"`  // there were changes that the commit does not have
}

// develVersion is what the go command calls a main module that has no version.
const develVersion = "(devel)"

// Current describes the running program.
func Current() Build {
	b := Build{ToolVersion: develVersion, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuModel("/proc/cpuinfo")}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.describe(info)
	}
	return b
}

// describe takes over what the go command recorded of the build.
func (b *Build) describe(info *debug.BuildInfo) {
	if info.Main.Version != "" {
		b.ToolVersion = info.Main.Version
	}
	setting := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	if setting["vcs"] == "git" && setting["vcs.revision"] != "" {
		b.Git = &Git{Commit: setting["vcs.revision"], Dirty: setting["vcs.modified"] == "true"}
	}
}

// cpuModel finds the model name in a file of the form of Linux's /proc/cpuinfo. It is empty on other systems, and on
// processors that Linux has no name for.
func cpuModel(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// FileSHA256 returns the SHA-256 of a file's content, in hex.
func FileSHA256(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// ConfigSHA256 returns the SHA-256, in hex, of the canonical JSON of a configuration: compact, object keys sorted by
// bytes, numbers as encoding/json writes them. The order of a struct's fields or of a map's keys has no say in it, so
// that moving a field keeps the hash. It fails on what JSON cannot hold.
func ConfigSHA256(config any) (string, error) {
	canonical, err := canonicalJSON(config)
	if err != nil {
		return "", fmt.Errorf("configuration: %w\nhint: it must be encodable as JSON", err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

func canonicalJSON(value any) ([]byte, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	// Decoded without a Go type, every object is a map, and maps are written in the order of their keys. Numbers stay
	// text: a seed above 2^53 must not be rounded.
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}
