package provenance

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestDescribe(t *testing.T) {
	settings := func(pairs ...string) []debug.BuildSetting {
		var list []debug.BuildSetting
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	for _, c := range []struct {
		name    string
		info    debug.BuildInfo
		version string
		git     *Git
	}{
		{"a tagged module", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3", nil},
		{"a test", debug.BuildInfo{}, "(devel)", nil},
		{"a clean checkout", debug.BuildInfo{Settings: settings("vcs", "git", "vcs.revision", "ab12", "vcs.modified", "false")}, "(devel)", &Git{"ab12", false}},
		{"a changed checkout", debug.BuildInfo{Settings: settings("vcs", "git", "vcs.modified", "true", "vcs.revision", "ab12")}, "(devel)", &Git{"ab12", true}},
		{"a checkout without commits", debug.BuildInfo{Settings: settings("vcs", "git")}, "(devel)", nil},
		{"another version control", debug.BuildInfo{Settings: settings("vcs", "hg", "vcs.revision", "ab12")}, "(devel)", nil},
	} {
		b := Build{ToolVersion: develVersion}
		b.describe(&c.info)
		if b.ToolVersion != c.version || (b.Git == nil) != (c.git == nil) || b.Git != nil && *b.Git != *c.git {
			t.Errorf("%s: %+v, git %+v", c.name, b, b.Git)
		}
	}
}

func TestCurrent(t *testing.T) {
	b := Current()
	if b.ToolVersion == "" || b.Go != runtime.Version() || b.OS != runtime.GOOS || b.Arch != runtime.GOARCH {
		t.Errorf("got %+v", b)
	}
	b.Git = nil
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	if git, there := fields["git"]; !there || git != nil || len(fields) != 6 {
		t.Errorf("without git: %s", text)
	}
}

func TestCPUModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpuinfo")
	for content, want := range map[string]string{
		"processor\t: 0\nmodel\t\t: 106\nmodel name\t: Some CPU: fast @ 2 GHz \n\nprocessor\t: 1\nmodel name\t: Other\n": "Some CPU: fast @ 2 GHz",
		"processor\t: 0\nBogoMIPS\t: 50.00\n": "",
		"":                                    "",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := cpuModel(path); got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
	if got := cpuModel(filepath.Join(t.TempDir(), "absent")); got != "" {
		t.Errorf("no file: %q", got)
	}
}

func TestFileSHA256(t *testing.T) {
	path := filepath.Join(t.TempDir(), "abc")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The first example of FIPS 180-2, appendix B.
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got, err := FileSHA256(path); err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	for _, unreadable := range []string{path + "-absent", t.TempDir()} {
		if got, err := FileSHA256(unreadable); err == nil || got != "" {
			t.Errorf("%s: got %q, %v", unreadable, got, err)
		}
	}
}

func TestConfigSHA256(t *testing.T) {
	type ab struct {
		A int    `json:"a"`
		B uint64 `json:"b"`
	}
	type ba struct {
		B uint64 `json:"b"`
		A int    `json:"a"`
	}
	hash := func(config any) string {
		t.Helper()
		full, err := ConfigSHA256(config)
		if err != nil {
			t.Fatal(err)
		}
		if len(full) != 64 {
			t.Fatalf("%v: %q", config, full)
		}
		return full
	}
	// sha256 of {"a":1,"b":18446744073709551615}
	const want = "20d186157d2fe1235372f0d6423de223cb54eeadcf94c59eba0311a06fe8d565"
	seed := uint64(math.MaxUint64)
	for _, same := range []any{ab{1, seed}, ba{seed, 1}, map[string]any{"b": seed, "a": 1}, json.RawMessage(`{ "b":18446744073709551615, "a":1 }`)} {
		if got := hash(same); got != want {
			t.Errorf("%T: %s", same, got)
		}
	}
	for _, other := range []any{ab{1, seed - 1}, ab{2, seed}, map[string]any{"a": 1}, nil, "a"} {
		if hash(other) == want {
			t.Errorf("%v has the same hash", other)
		}
	}
	for _, impossible := range []any{math.NaN(), make(chan int)} {
		if _, err := ConfigSHA256(impossible); err == nil {
			t.Errorf("%T: no error", impossible)
		}
	}
}
