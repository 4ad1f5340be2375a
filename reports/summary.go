package reports

import "github.com/toolgauge/toolgauge/metrics"

// Summary is what a run's figures are, with everything that they rest on.
//
// The caller of [Writer.Finish] sets Figures, BreakEvens, Distributions and Counts; the writer completes the rest from the manifest and
// from what was added.
type Summary struct {
	SchemaVersion  int    `json:"schema_version"`
	Corpus         Corpus `json:"corpus"`
	Seed           uint64 `json:"seed"`
	Sessions       int64  `json:"sessions"`        // whose observations the figures are of
	Shard          *Shard `json:"shard,omitempty"` // nil for a whole run
	SessionsSHA256 string `json:"sessions_sha256"`
	ConfigSHA256   string `json:"config_sha256"`
	// Assumptions are those of each arm, in the order in which the arms first came.
	Assumptions []Arm               `json:"assumptions"`
	Config      any                 `json:"config"`
	Figures     []metrics.Figure    `json:"figures"`
	BreakEvens  []metrics.BreakEven `json:"break_evens"`
	// Distributions are of arms whose calls go through a gateway or take time; nil if there is none.
	Distributions []metrics.DistributionCalls `json:"distributions,omitempty"`
	// Counts stand in manifest.json: how often a run was interrupted is no property of its figures.
	Counts Counts `json:"-"`
}

// Arm is an arm and what its figures assume.
type Arm struct {
	Name string `json:"arm"`
	Assumptions
}

// EncodeSummary is a summary as summary.json has it.
func EncodeSummary(s Summary) ([]byte, error) { return encodeJSON(s) }
