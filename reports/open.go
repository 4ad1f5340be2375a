package reports

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"

	"github.com/toolgauge/toolgauge/internal/provenance"
	"github.com/toolgauge/toolgauge/metrics"
)

// Run is a run folder that was finished and whose files are those that it finished with.
type Run struct {
	Dir      string
	Manifest Manifest
	Summary  Summary
}

// Open reads a run folder and verifies its files. It fails where the run never finished, and where a file is missing or
// has changed since.
func Open(runDir string) (*Run, error) {
	m, err := ReadManifest(runDir)
	if err != nil {
		return nil, err
	}
	switch m.Status {
	case StatusSuccess, StatusError, StatusInterrupted:
	case StatusRunning:
		return nil, fmt.Errorf("run %s is not finished\nhint: wait for it; if its program was killed, remove the folder and run again", runDir)
	default:
		return nil, damaged(filepath.Join(runDir, ManifestFile), fmt.Errorf("status %q is none", m.Status))
	}
	r := &Run{Dir: runDir, Manifest: m}
	if err := r.VerifyFiles(); err != nil {
		return nil, err
	}
	if err := readJSON(filepath.Join(runDir, SummaryFile), &r.Summary); err != nil {
		return nil, err
	}
	r.Summary.Counts = m.Counts
	return r, nil
}

// VerifyManifest fails where what the manifest says cannot be true. No hash covers it, but its configuration has one, and
// what the figures are of stands in the summary too. Nothing vouches for run id, build, arguments, times, and the sizes of
// files.
func (r *Run) VerifyManifest() error {
	if err := r.manifestFault(); err != nil {
		return damaged(filepath.Join(r.Dir, ManifestFile), err)
	}
	return nil
}

func (r *Run) manifestFault() error {
	m, s := r.Manifest, r.Summary
	differs := func(what string) error { return fmt.Errorf("it has another %s than %s", what, SummaryFile) }
	hash, err := provenance.ConfigSHA256(m.Config)
	switch {
	case err != nil || hash != m.ConfigSHA256:
		return fmt.Errorf("the configuration has not the sha256 %s", m.ConfigSHA256)
	case s.ConfigSHA256 != m.ConfigSHA256:
		return differs("configuration")
	case s.Corpus != m.Corpus:
		return differs("corpus")
	case s.SessionsSHA256 != m.SessionsSHA256:
		return differs("file of sessions")
	case s.Seed != m.Seed:
		return differs("seed")
	case (s.Shard == nil) != (m.Shard == nil) || s.Shard != nil && *s.Shard != *m.Shard:
		return differs("shard")
	case s.Sessions != m.Counts.Done:
		return differs("number of sessions")
	}
	return nil
}

// VerifyFiles compares every file that the manifest lists with the hash that it has of it. The error names the first that
// is missing, unreadable or different.
func (r *Run) VerifyFiles() error {
	for _, name := range []string{SessionArmsFile, CallsFile, SearchesFile, SurfacesFile, SummaryFile, BenchFile} {
		if !slices.ContainsFunc(r.Manifest.Files, func(f File) bool { return f.Name == name }) {
			return damaged(filepath.Join(r.Dir, ManifestFile), fmt.Errorf("%s is not among its files", name))
		}
	}
	for _, file := range r.Manifest.Files {
		if file.Name != filepath.Base(file.Name) {
			return damaged(filepath.Join(r.Dir, ManifestFile), fmt.Errorf("file %q is not in the folder", file.Name))
		}
		path := filepath.Join(r.Dir, file.Name)
		if err := checkRegular(path); err != nil {
			return err
		}
		sum, err := provenance.FileSHA256(path)
		if err != nil {
			return damaged(path, cause(err))
		}
		if sum != file.SHA256 {
			return damaged(path, fmt.Errorf("its sha256 is %s, the manifest says %s", sum, file.SHA256))
		}
	}
	return nil
}

// SessionArms iterates over the sessions played, each under every arm, in the order in which they were added. As with
// the other tables, an error names the file and is the last thing that comes.
func (r *Run) SessionArms() iter.Seq2[metrics.SessionArm, error] {
	return observations(r, SessionArmsFile, sessionArmRow.observation)
}

// Calls iterates over the gold calls, in order.
func (r *Run) Calls() iter.Seq2[metrics.Call, error] {
	return observations(r, CallsFile, callRow.observation)
}

// Searches iterates over the searches, in order. [metrics.Evaluate] gives their measures again.
func (r *Run) Searches() iter.Seq2[metrics.Search, error] {
	return observations(r, SearchesFile, searchRow.observation)
}

// Surfaces iterates over the distinct surfaces, in order of first appearance.
func (r *Run) Surfaces() iter.Seq2[metrics.Surface, error] {
	return observations(r, SurfacesFile, surfaceRow.observation)
}

// observations iterates over a table in the words of metrics.
func observations[Row, Observation any](r *Run, name string, of func(Row) Observation) iter.Seq2[Observation, error] {
	return func(yield func(Observation, error) bool) {
		for row, err := range readTable[Row](filepath.Join(r.Dir, name)) {
			if !yield(of(row), err) {
				return
			}
		}
	}
}

// ReadSummary reads the summary of a run from a file: summary.json, or one with some of its figures.
func ReadSummary(path string) (Summary, error) {
	var s Summary
	err := readJSON(path, &s)
	return s, err
}
