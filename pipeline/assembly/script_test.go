package assembly_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/pipeline")

// TestScripts plays the scripts in testdata/pipeline: conversations with a whole
// pipeline, one command after the other with the answer that it gave. After an
// intended change of behaviour, -update writes the new answers; commit them only
// if you can say why each line changed.
//
// A script is made of blocks. A block is a command line, lines of input if the
// command takes any, a line of four hyphens, and the answer up to the next blank
// line. Lines that start with # are comments. The commands are in
// script_commands_test.go.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("../../testdata/pipeline/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			played, faults := playScript(t, file, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(played), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, f := range faults {
				t.Error(f)
			}
		})
	}
}

const separator = "----"

// block is one command of a script with the answer that it is to give.
type block struct {
	line    int
	command string
	input   []string
	want    []string
}

// playScript runs a script on a fresh pipeline. It returns the script with the
// answers as they were, and where they differ.
func playScript(t *testing.T, file, text string) (played string, faults []string) {
	t.Helper()
	player := newPlayer(t)
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		if lines[i] == "" || strings.HasPrefix(lines[i], "#") {
			out.WriteString(lines[i] + "\n")
			i++
			continue
		}
		b, next, err := readBlock(lines, i)
		if err != nil {
			t.Fatalf("%s:%d: %v", file, i+1, err)
		}
		i = next
		answer, err := player.run(b.command, b.input)
		if err != nil {
			t.Fatalf("%s:%d: %v", file, b.line, err)
		}
		for _, line := range append(append([]string{b.command}, b.input...), separator) {
			out.WriteString(line + "\n")
		}
		out.WriteString(answer)
		if want := strings.Join(b.want, "\n"); strings.TrimSuffix(answer, "\n") != want {
			faults = append(faults, fmt.Sprintf("%s:%d: %s\ngot:\n%s\nwant:\n%s", file, b.line, b.command, answer, want))
		}
	}
	return out.String(), faults
}

func readBlock(lines []string, i int) (b block, next int, err error) {
	b = block{line: i + 1, command: lines[i]}
	for i++; i < len(lines) && lines[i] != separator; i++ {
		if lines[i] == "" {
			return b, i, fmt.Errorf("no %s behind %q\nhint: every command needs one, an empty answer too", separator, b.command)
		}
		b.input = append(b.input, lines[i])
	}
	if i == len(lines) {
		return b, i, fmt.Errorf("the script ends within %q", b.command)
	}
	for i++; i < len(lines) && lines[i] != ""; i++ {
		b.want = append(b.want, lines[i])
	}
	return b, i, nil
}

// TestScriptsCanFail shows that a wrong answer is noticed, and that -update
// would put the right one in its place.
func TestScriptsCanFail(t *testing.T) {
	const script = "# two steps\ndefine mcp-a\nping() Say pong.\n----\nok\n\nresolve mcp-a\n----\n"
	played, faults := playScript(t, "x.txt", script+"pong\n")
	if len(faults) != 1 || !strings.Contains(faults[0], "x.txt:7: resolve mcp-a") {
		t.Errorf("faults %q", faults)
	}
	if want := script + "1: ping\n"; played != want {
		t.Errorf("played\n%s\nwant\n%s", played, want)
	}
	if _, faults := playScript(t, "x.txt", played); len(faults) != 0 {
		t.Errorf("what was played does not hold: %q", faults)
	}
}
