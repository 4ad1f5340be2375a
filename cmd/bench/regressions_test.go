package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/reports/gate"
	"github.com/toolgauge/toolgauge/sessions"
)

// TestSeededRegressions breaks the program in ways that people break it, and demands that a gate by the rules of
// examples/gate.yaml tells, and says which rule and which intents. Each change is a text of testdata/regressions, laid over
// the source while building; it fails loudly if the text that it replaces is gone.
func TestSeededRegressions(t *testing.T) {
	if os.Getenv("TOOLGAUGE_REGRESSIONS") == "" {
		t.Skip("builds six programs and plays thousands of sessions; TOOLGAUGE_REGRESSIONS=1 runs it")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := seeder{t: t, root: root, dir: t.TempDir()}
	sound := s.build("")
	s.recorded("recorded.jsonl", 150)
	s.write("recorded.yaml", "- {name: eager, bridge: off}\n- {name: september-bare, variant: september, writer: recorded, tool_search: {listing: off}}\n"+
		"- {name: july-bare, tool_search: {listing: off}}\n- {name: july-listing}\n- {name: september-listing, variant: september}\n")
	s.write("halved.yaml", "- {name: eager, bridge: off}\n- {name: july-bare, tool_search: {listing: off}}\n"+
		"- {name: july-listing, tool_search: {threshold_pct: 2.5}}\n"+
		"- {name: september-bare, variant: september, tool_search: {listing: off}}\n- {name: september-listing, variant: september}\n")
	drawn := []string{"--sessions", "600"}
	recorded := []string{"--sessions", "recorded.jsonl", "--arms", "recorded.yaml"}
	baselines := map[string]string{drawn[1]: s.run(sound, drawn), recorded[1]: s.run(sound, recorded)}

	for _, c := range []struct {
		name    string
		patch   string // empty: the sound program
		play    []string
		against string
		gate    []string
		rule    string // that has to fail; empty: the gate passes and nothing at all differs
		intents bool   // intents flip
	}{
		{"an empty description", "empty-description", drawn, drawn[1], []string{"--allow-mismatch"}, "plain requests still found", true},
		{"no stems", "no-stems", recorded, recorded[1], nil, "retrieval no worse", true},
		{"the order of a map", "map-order", drawn, drawn[1], nil, "surfaces are deterministic", false},
		{"longer schemas", "longer-schemas", drawn, drawn[1], nil, "the bridge's own schemas no larger", false},
		{"half the threshold", "", append(slices.Clone(drawn), "--arms", "halved.yaml"), drawn[1], nil, "no more tools lost", true},
		{"the same again", "", drawn, drawn[1], nil, "", false},
		{"another order of registration", "registered-backwards", drawn, drawn[1], nil, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s
			s.t = t
			program := sound
			if c.patch != "" {
				program = s.build(c.patch)
			}
			run := s.run(program, c.play)
			judge := append([]string{"gate", run, "--baseline", baselines[c.against], "--rules", filepath.Join(root, "examples", "gate.yaml")}, c.gate...)
			if c.rule == "" {
				s.output(sound, 0, judge...)
				if text := s.output(sound, 0, "compare", baselines[c.against], run); !strings.Contains(text, "\nNo difference: ") {
					t.Errorf("something differs:\n%s", text)
				}
				return
			}
			text := s.output(sound, 1, judge...)
			var report gate.Report
			if err := json.Unmarshal([]byte(s.output(sound, 1, append(judge, "--json")...)), &report); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, "\nFAILED  "+c.rule+", ") {
				t.Errorf("the rule %q is not named:\n%s", c.rule, text)
			}
			if c.intents != (len(report.Flips) > 0) || c.intents && !strings.Contains(text, report.Flips[0].String()) {
				t.Errorf("%d flips:\n%s", len(report.Flips), text)
			}
			t.Logf("%s\n%d flips", strings.Join(strings.SplitN(text, "\npassed ", 2)[:1], ""), len(report.Flips))
		})
	}
}

// TestRegressionsFitTheSource: each change of testdata/regressions finds the text that it replaces.
func TestRegressionsFitTheSource(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	patches, err := filepath.Glob("testdata/regressions/*.txtar")
	if err != nil || len(patches) != 5 {
		t.Fatalf("%d patches, want 5: %v", len(patches), err)
	}
	s := seeder{t: t, root: root, dir: t.TempDir()}
	for _, path := range patches {
		s.overlay(strings.TrimSuffix(filepath.Base(path), ".txtar"))
	}
}

// seeder builds programs and plays runs in a folder of its own.
type seeder struct {
	t         *testing.T
	root, dir string
}

// build builds bench, with a patch laid over the source if one is named.
func (s seeder) build(patch string) string {
	s.t.Helper()
	out := filepath.Join(s.dir, "bench-"+patch)
	args := []string{"build", "-o", out}
	if patch != "" {
		args = append(args, "-overlay", s.overlay(patch))
	}
	c := exec.Command("go", append(args, "./cmd/bench")...)
	c.Dir = s.root
	if text, err := c.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", strings.Join(c.Args, " "), err, text)
	}
	return out
}

// overlay applies a patch and writes the file that go build -overlay takes.
func (s seeder) overlay(patch string) string {
	s.t.Helper()
	path := filepath.Join("testdata", "regressions", patch+".txtar")
	archive, err := txtar.ParseFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	parts := make(map[string]string)
	for _, f := range archive.Files {
		parts[f.Name] = string(f.Data)
	}
	source := filepath.Join(s.root, strings.TrimSpace(parts["file"]))
	text, err := os.ReadFile(source)
	if err != nil {
		s.t.Fatal(err)
	}
	if n := strings.Count(string(text), parts["old"]); n != 1 || parts["old"] == "" {
		s.t.Fatalf("%s: the text to replace is %d times in %s, want once: write the patch anew", path, n, source)
	}
	s.write(patch+".patched", strings.Replace(string(text), parts["old"], parts["new"], 1))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{source: filepath.Join(s.dir, patch+".patched")}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(patch+".json", string(overlay))
	return filepath.Join(s.dir, patch+".json")
}

func (s seeder) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// recorded writes sessions whose queries are the words of the gold tools' names, each in another form than it has there.
func (s seeder) recorded(name string, rows int64) {
	s.t.Helper()
	c, err := corpus.Embedded()
	if err != nil {
		s.t.Fatal(err)
	}
	drawer, err := sessions.NewDrawer(c, sessions.Options{Seed: 1})
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = sessions.WriteFile(filepath.Join(s.dir, name), func(yield func(*sessions.Session, error) bool) {
		for session, err := range drawer.Sessions(sessions.Range{Count: rows}) {
			for i := range session.Events {
				if turn := session.Events[i].Turn; turn != nil {
					asked := *turn
					asked.Queries = []string{inflected(asked)}
					session.Events[i].Turn = &asked
				}
			}
			if !yield(session, err) {
				return
			}
		}
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// inflected are the words of the first gold's name, with an s behind each; of an absent intent, the utterance.
func inflected(t sessions.Turn) string {
	if len(t.Gold) == 0 {
		return t.Utterance
	}
	_, name, _ := strings.Cut("/"+t.Gold[0].Tool, "/")
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("/_-~", r) })
	return strings.Join(words[max(0, len(words)-2):], "s ") + "s"
}

// run plays a run and returns its folder.
func (s seeder) run(program string, play []string) string {
	s.t.Helper()
	out, err := os.MkdirTemp(s.dir, "run")
	if err != nil {
		s.t.Fatal(err)
	}
	s.output(program, 0, append([]string{"run", "-o", out}, play...)...)
	runs, err := filepath.Glob(filepath.Join(out, "*", "manifest.json"))
	if err != nil || len(runs) != 1 {
		s.t.Fatalf("%d runs in %s: %v", len(runs), out, err)
	}
	return filepath.Dir(runs[0])
}

// output is what a program prints, which has to end with a status.
func (s seeder) output(program string, status int, args ...string) string {
	s.t.Helper()
	c := exec.Command(program, args...)
	c.Dir = s.dir
	var stderr strings.Builder
	c.Stderr = &stderr
	text, err := c.Output()
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		s.t.Fatal(err)
	}
	if got != status {
		s.t.Fatalf("%s ends with %d, want %d\n%s%s", strings.Join(c.Args, " "), got, status, text, stderr.String())
	}
	return string(text)
}
