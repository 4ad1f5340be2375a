package compare

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolgauge/toolgauge/internal/provenance"
	"github.com/toolgauge/toolgauge/reports"
)

// Mismatches say in which input two runs differ that must not differ for a comparison: corpus, sessions, seed, part of a
// run. What is under test (arms, the program) may differ, and so may weights and system prompt, which are seen in the figures.
func Mismatches(before, after reports.Summary) []string {
	list := []string{}
	if a, b := before.Corpus, after.Corpus; a.SHA256 != b.SHA256 {
		list = append(list, fmt.Sprintf("corpus %s and %s", corpusWords(a), corpusWords(b)))
	}
	if a, b := before.SessionsSHA256, after.SessionsSHA256; a != b {
		list = append(list, fmt.Sprintf("sessions %s and %s", sessionWords(a), sessionWords(b)))
	}
	if before.Seed != after.Seed {
		list = append(list, fmt.Sprintf("seed %d and %d", before.Seed, after.Seed))
	}
	if a, b := drawOf(before), drawOf(after); a != b {
		list = append(list, "another draw of sessions: "+a+" and "+b)
	}
	switch a, b := before.Shard, after.Shard; {
	case a == nil && b == nil:
	case a == nil || b == nil || *a != *b:
		list = append(list, "a part of a run and another")
	}
	if before.Sessions != after.Sessions {
		list = append(list, fmt.Sprintf("%s and %s", sessions(before.Sessions), sessions(after.Sessions)))
	}
	return list
}

// Refuse is the error about two runs that cannot be compared.
func Refuse(before, after string, mismatches []string) error {
	return &reports.IncomparableError{Err: fmt.Errorf("%s and %s are not comparable: %s\n"+
		"hint: run both with the same corpus and sessions, or compare what they have in common with --allow-mismatch",
		before, after, strings.Join(mismatches, "; "))}
}

func corpusWords(c reports.Corpus) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s (sha256 %s)", c.Name, c.Version, short(c.SHA256))), " ")
}

func sessionWords(sum string) string {
	if sum == "" {
		return "drawn"
	}
	return "of a file (sha256 " + short(sum) + ")"
}

// short is enough of a hash to tell it from others.
func short(hash string) string { return hash[:min(len(hash), 12)] }

// drawOf words how a run's sessions were drawn: compact JSON, so that equal draws read the same. The seed stands apart.
func drawOf(s reports.Summary) string {
	config, _ := s.Config.(map[string]any)
	draw, _ := config["draw"].(map[string]any)
	if draw == nil {
		return "none"
	}
	options, _ := draw["options"].(map[string]any)
	rest := map[string]any{"first": draw["first"], "count": draw["count"]}
	for key, value := range options {
		if key != "seed" {
			rest[key] = value
		}
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return "none"
	}
	if len(text) > drawWordsMax {
		sum, err := provenance.ConfigSHA256(rest)
		if err == nil {
			return "sha256 " + short(sum)
		}
	}
	return string(text)
}

// drawWordsMax is the length up to which a draw is written out.
const drawWordsMax = 400
