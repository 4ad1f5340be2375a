package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/toolgauge/toolgauge/internal/provenance"
)

// Status is how far a run came.
type Status string

// The statuses. A folder whose program was killed stays at StatusRunning.
const (
	StatusRunning     Status = "running"
	StatusSuccess     Status = "success"
	StatusError       Status = "error"
	StatusInterrupted Status = "interrupted"
)

// Manifest says what a run is: where it came from, how far it came, and which files belong to it.
//
// The caller of [Create] sets Args, Config, Seed, Corpus and SessionsSHA256, Shard for a part of a run, and may set
// StartedAt and Build; the rest is the writer's.
type Manifest struct {
	SchemaVersion int    `json:"schema_version"`
	RunID         string `json:"run_id"`
	Status        Status `json:"status"`
	provenance.Build
	Args Args `json:"args"`
	// Config is all that the figures depend on beside the corpus and the sessions, in a form that encodes as JSON; what
	// changes no figure (workers, folders) belongs into Args alone. Read from a file it is made of maps, slices, strings,
	// booleans and json.Number.
	Config         any    `json:"config"`
	ConfigSHA256   string `json:"config_sha256"` // of Config's canonical JSON
	Seed           uint64 `json:"seed"`
	Corpus         Corpus `json:"corpus"`
	SessionsSHA256 string `json:"sessions_sha256"` // of the sessions' file; empty where they were drawn
	Shard          *Shard `json:"shard,omitempty"` // nil for a whole run
	// Merged are the run ids of the shards that a run was merged from, in order.
	Merged []string `json:"merged,omitempty"`
	Counts Counts   `json:"counts"`
	Files  []File   `json:"files"` // every other file of the run; empty while it runs
	// StartedAt and FinishedAt are UTC, to the millisecond.
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	DurationMS int64     `json:"duration_ms"`
}

// Args are a command's arguments.
type Args struct {
	Given    []string `json:"given"`    // as typed, without the command's name
	Resolved any      `json:"resolved"` // every flag with the value that it took
}

// Corpus names what a run was measured on.
type Corpus struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	// Synthetic marks a corpus that was made by rule.
	Synthetic bool `json:"synthetic,omitempty"`
}

// Counts are numbers of sessions. A session is done when it was played under every arm.
type Counts struct {
	// Attempted sessions are all that the run set out for. An interrupted run did not come to some of them.
	Attempted int64 `json:"attempted"`
	Done      int64 `json:"done"`    // their observations are in the tables
	Failed    int64 `json:"failed"`  // gave an error, and no observation
	Skipped   int64 `json:"skipped"` // are done, but were taken over from an interrupted run
}

// File is a file of a run folder.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Rows   *int64 `json:"rows,omitempty"` // of a table
	SHA256 string `json:"sha256"`         // hex
}

// ReadManifest reads the manifest of a run folder. It may be one of a run that is still running.
func ReadManifest(runDir string) (Manifest, error) {
	var m Manifest
	if err := readJSON(filepath.Join(runDir, ManifestFile), &m); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// readJSON reads one JSON document of schema_version 1 strictly into target.
func readJSON(path string, target any) error {
	if err := checkRegular(path); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w\nhint: name a run folder, one that holds %s", path, cause(err), ManifestFile)
	}
	var version struct {
		SchemaVersion *int `json:"schema_version"`
	}
	err = json.Unmarshal(data, &version)
	switch {
	case err != nil:
		return damaged(path, err)
	case version.SchemaVersion == nil:
		return damaged(path, errors.New("schema_version is missing"))
	case *version.SchemaVersion != SchemaVersion:
		return fmt.Errorf("%s: schema_version is %d, this program reads %d\nhint: read it with the version that wrote it",
			path, *version.SchemaVersion, SchemaVersion)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(target); err != nil {
		return damaged(path, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return damaged(path, errors.New("there is more behind the document"))
	}
	return nil
}

// checkRegular refuses what is no file before it is opened: opening a pipe that nobody writes to never ends.
func checkRegular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return damaged(path, errors.New("not a regular file"))
	}
	return nil
}

func damaged(path string, err error) error {
	return fmt.Errorf("%s: %w\nhint: the file is damaged; copy it again, or repeat the run", path, err)
}

// encodeJSON is value as indented JSON that people may read: with < and > as they are.
func encodeJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return text.Bytes(), err
}
