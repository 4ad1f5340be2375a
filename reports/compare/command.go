package compare

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// Flags are those flags of bench run that say what a run played.
type Flags struct {
	Sessions      string          `json:"sessions"`
	ArmsFile      string          `json:"arms_file"` // empty for default arms
	Corpus        string          `json:"corpus"`
	MCP           string          `json:"mcp"`
	Distribution  string          `json:"distribution"`
	Distributions string          `json:"distributions"`
	Events        string          `json:"events"`
	SystemPrompt  string          `json:"system_prompt"`
	Weights       metrics.Weights `json:"weights"`
	Shard         string          `json:"shard"`
}

// FlagsOf returns the flags of a run, and whether its manifest has them: that of a merged run has not.
func FlagsOf(r *reports.Run) (f Flags, ok bool) {
	text, err := json.Marshal(r.Manifest.Args.Resolved)
	if err != nil || json.Unmarshal(text, &f) != nil || f.Sessions == "" {
		return Flags{}, false
	}
	if f.MCP != "" { // the tools that were harvested lie beside the figures
		f.Corpus = filepath.Join(r.Dir, "corpus")
	}
	return f, true
}

// Drawn reports whether the run drew its sessions, rather than reading them from a file.
func Drawn(r *reports.Run) bool { return r.Manifest.SessionsSHA256 == "" }

// RunCommand is the command line that plays the session of a location alone under an arm, as the run did. It is empty where
// the run's manifest does not tell, or where no flag picks the session: of a merged run, and of a part of a file.
func RunCommand(r *reports.Run, arm string, at Location) string {
	f, ok := FlagsOf(r)
	if !ok || !Drawn(r) && f.Shard != "" {
		return ""
	}
	words := []string{"bench", "run"}
	if Drawn(r) {
		words = append(words, f.drawn(r, at)...)
	} else {
		words = append(words, "--sessions", f.Sessions, "--shard", fmt.Sprintf("%d/%d", at.Position+1, r.Summary.Sessions))
	}
	words = append(words, f.input()...)
	if f.ArmsFile != "" {
		words = append(words, "--arms", f.ArmsFile)
	} else {
		words = append(words, "--arms", arm)
	}
	if f.SystemPrompt != "" {
		words = append(words, "--system-prompt", f.SystemPrompt)
	}
	if w := f.Weights; w != metrics.DefaultWeights() {
		words = append(words, "--weights", fmt.Sprintf("fresh=%g,cached=%g,write=%g,output=%g", w.Fresh, w.Cached, w.Write, w.Output))
	}
	return commandLine(words)
}

// SurfaceCommand is the command line that shows the surface of a location, byte for byte; empty where the manifest does
// not tell enough.
func SurfaceCommand(r *reports.Run, arm string, at Location) string {
	f, ok := FlagsOf(r)
	if !ok || !Drawn(r) && f.Shard != "" {
		return ""
	}
	words := []string{"bench", "surface"}
	if Drawn(r) {
		words = append(words, f.drawn(r, at)...)
	} else {
		words = append(words, "--sessions", f.Sessions, "--row", fmt.Sprint(at.Position))
	}
	words = append(words, f.input()...)
	if f.ArmsFile != "" {
		arm = f.ArmsFile + "," + arm
	}
	return commandLine(append(words, "--turn", fmt.Sprint(at.Turn), "--arms", arm, "--raw"))
}

// drawn are the flags that draw one row.
func (f Flags) drawn(r *reports.Run, at Location) []string {
	words := []string{"--sessions", fmt.Sprintf("%d-%d", at.RowIndex, at.RowIndex), "--seed", fmt.Sprint(r.Manifest.Seed)}
	if f.Distribution != "" {
		words = append(words, "--distribution", f.Distribution)
	}
	if f.Events != "" {
		words = append(words, "--events", f.Events)
	}
	return words
}

func (f Flags) input() (words []string) {
	if f.Distributions != "" {
		words = append(words, "--distributions", f.Distributions)
	}
	if f.Corpus != "" {
		words = append(words, "--corpus", f.Corpus)
	}
	return words
}

// commandLine joins words so that a POSIX shell takes them apart again.
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		plain := word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,=:%+@") == ""
		quoted[i] = word
		if !plain {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
