package toolgauge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shell is one console block of the README: commands, and the output shown.
type shell struct {
	line     int
	commands []step
}

type step struct {
	command string
	shown   []string
}

// consoleBlocks reads the ```console blocks of a document. A line that starts
// with "$ " is a command, the lines below it what it prints.
func consoleBlocks(text string) []shell {
	var blocks []shell
	var open *shell
	for i, line := range strings.Split(text, "\n") {
		switch {
		case open == nil && strings.HasPrefix(line, "```console"):
			open = &shell{line: i + 1}
		case open != nil && strings.HasPrefix(line, "```"):
			blocks = append(blocks, *open)
			open = nil
		case open == nil:
		case strings.HasPrefix(line, "$ "):
			open.commands = append(open.commands, step{command: line[2:]})
		case len(open.commands) > 0:
			last := &open.commands[len(open.commands)-1]
			last.shown = append(last.shown, strings.TrimRight(line, " "))
		}
	}
	return blocks
}

// matches compares output with what a document shows: a line "…" stands for any
// number of lines, and … inside a line for any text.
func matches(shown []string, output string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for _, line := range shown {
		if line == "…" {
			pattern.WriteString(`(?s:.*?)`)
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, `.*?`) + `[ ]*\n`)
	}
	pattern.WriteString(`\z`)
	return regexp.MustCompile(pattern.String()).MatchString(output)
}

// TestREADME runs the README's console blocks with freshly built commands and
// compares what they print with what it shows.
func TestREADME(t *testing.T) {
	if testing.Short() {
		t.Skip("builds both commands")
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 200 {
		t.Errorf("README.md has %d lines, 200 at most", n)
	}
	blocks := consoleBlocks(string(text))
	if len(blocks) == 0 {
		t.Fatal("README.md has no console block")
	}
	bin, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"bench", "datagen"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, name), "./cmd/"+name).CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "examples"), filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		for _, s := range block.commands {
			command := strings.ReplaceAll(s.command, "go run ./cmd/bench", "bench")
			if strings.HasPrefix(command, "git clone") || strings.HasPrefix(command, "go install") || strings.HasPrefix(command, "cd ") {
				continue // getting it, not using it
			}
			c := exec.Command("bash", "-c", command)
			c.Dir = dir
			c.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			var stderr strings.Builder
			c.Stderr = &stderr
			out, err := c.Output()
			if err != nil {
				t.Errorf("README.md:%d: %s: %v\n%s", block.line, s.command, err, stderr.String())
				continue
			}
			if !matches(s.shown, string(out)) {
				t.Errorf("README.md:%d: %s: the output differs from what is shown; it is\n%s", block.line, s.command, out)
			}
		}
	}
}

// TestMatches shows that the comparison can tell outputs apart.
func TestMatches(t *testing.T) {
	for _, c := range []struct {
		shown  []string
		output string
		want   bool
	}{
		{[]string{"a", "b"}, "a\nb\n", true},
		{[]string{"a", "c"}, "a\nb\n", false},
		{[]string{"a"}, "a\nb\n", false},
		{[]string{"a", "…"}, "a\nb\nc\n", true},
		{[]string{"…", "c"}, "a\nb\nc\n", true},
		{[]string{"run … done"}, "run 17 done\n", true},
		{[]string{"1.5"}, "1x5\n", false},
	} {
		if got := matches(c.shown, c.output); got != c.want {
			t.Errorf("matches(%q, %q) = %v, want %v", c.shown, c.output, got, c.want)
		}
	}
}
