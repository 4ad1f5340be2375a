package lint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
)

// The parts of SARIF 2.1.0 that a report has. Names and meanings are those of the
// OASIS standard "Static Analysis Results Interchange Format".
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool      `json:"tool"`
		ColumnKind string         `json:"columnKind"`
		Results    []sarifResult  `json:"results"`
		Properties map[string]any `json:"properties"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID            string      `json:"id"`
		Short         sarifText   `json:"shortDescription"`
		Full          sarifText   `json:"fullDescription"`
		Help          sarifText   `json:"help"`
		Configuration sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level Severity `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     Severity        `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		// PartialFingerprints let a reader know a finding again when lines move.
		PartialFingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

// sourceRoot is the name by which code review calls the top of the repository.
const sourceRoot = "%SRCROOT%"

// WriteSARIF writes the report as a SARIF 2.1.0 log of one run. version is the
// program's, or empty. root is the working folder: files below it are named
// relative to it, and code review takes it for the top of the repository.
func (r *Report) WriteSARIF(w io.Writer, version, root string) error {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "toolgauge", Version: version, InformationURI: "https://github.com/toolgauge/toolgauge"}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
		Properties: map[string]any{"corpus": r.Corpus, "corpus_sha256": r.SHA256, "synthetic": r.Synthetic},
	}
	index := make(map[string]int)
	for i, rule := range Rules() {
		index[rule.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules,
			sarifRule{rule.ID, sarifText{rule.Title}, sarifText{rule.Meaning}, sarifText{"What to do: " + rule.Advice + "."}, sarifConfig{rule.Severity}})
	}
	for _, f := range r.Findings {
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Rule, RuleIndex: index[f.Rule], Level: f.Severity, Message: sarifText{f.Tool + ": " + f.Message + ". Advice: " + f.Advice + "."},
			Locations:           []sarifLocation{f.location(root)},
			PartialFingerprints: map[string]string{"primaryLocationLineHash": f.fingerprint()},
		})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// fingerprint is the same for a rule and a tool wherever the tool stands. Without
// it, code review would make one of the line, which tools may share. The key is
// the one that GitHub reads.
func (f Finding) fingerprint() string {
	sum := sha256.Sum256([]byte(f.Rule + "\x00" + f.Tool))
	return hex.EncodeToString(sum[:16])
}

func (f Finding) location(root string) sarifLocation {
	at := sarifLocation{Logical: []sarifLogical{{f.Tool, "function"}}}
	if f.File == "" {
		return at
	}
	file := f.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	artifact := sarifArtifact{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()}
	if relative, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(relative) {
		artifact = sarifArtifact{(&url.URL{Path: filepath.ToSlash(relative)}).String(), sourceRoot}
	}
	at.Physical = &sarifPhysical{artifact, sarifRegion{f.Line, f.Column}}
	return at
}
