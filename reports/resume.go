package reports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/metrics"
)

// Find looks in a folder of runs for the one of the given input that came furthest, opens it and verifies its files. It is
// one of status success, which is complete, or one that ended before its time and whose sessions are the first of the
// run: what [Writer.AddRun] takes over need not be played again. Of m it reads what [Create] does. Equal input means equal
// configuration, corpus, sessions, seed and shard, under the same version of the program; the folder has the name that
// Create gave it.
//
// Run is nil if there is none. Then passed may say of a folder why its run cannot be continued: it is still running or
// was killed, or its input differs. A folder whose manifest or files are damaged is an error that names the file.
func Find(dir string, m Manifest) (run *Run, passed string, err error) {
	if m, err = begin(m); err != nil {
		return nil, "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("cannot read the folder %s: %w\nhint: name the folder that runs are in", dir, cause(err))
	}
	var furthest string
	var found Manifest
	for _, entry := range entries {
		if configurationOf(entry.Name()) != m.ConfigSHA256[:shortHash] {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		other, err := ReadManifest(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // its program was killed before it wrote one
			continue
		case err != nil:
			return nil, "", err
		case other.ConfigSHA256 != m.ConfigSHA256 || !sameShard(other.Shard, m.Shard):
			continue
		}
		d := difference(other, m)
		switch {
		case d != "":
			passed = fmt.Sprintf("%s is not continued: %s", path, d)
		case other.Status == StatusRunning:
			passed = fmt.Sprintf("%s is not continued: it is still running, or was killed", path)
		case furthest == "" || further(other, found):
			furthest, found = path, other
		}
	}
	if furthest == "" {
		return nil, passed, nil
	}
	run, err = Open(furthest)
	return run, "", err
}

// configurationOf is the short hash of the configuration in a run's id.
func configurationOf(id string) string {
	_, rest, _ := strings.Cut(id, "-")
	hash, _, _ := strings.Cut(rest, "-")
	return hash
}

func sameShard(a, b *Shard) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// further reports whether a run came at least as far as another one.
func further(m, other Manifest) bool {
	if complete := m.Status == StatusSuccess; complete != (other.Status == StatusSuccess) {
		return complete
	}
	return m.Counts.Done >= other.Counts.Done
}

// AddRun adds what another run observed, in its order, and counts it among the figures. The other run's sessions must be
// those that come next in this one. Step is called after each; a cancelled ctx is an error.
func (w *Writer) AddRun(ctx context.Context, r *Run, figures *metrics.Accumulator, step func()) error {
	sessions := int64(0)
	for o, err := range r.Observations() {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := figures.Add(o); err != nil {
			return fmt.Errorf("%s: %w", r.Dir, err)
		}
		if err := w.Add(o); err != nil {
			return err
		}
		sessions++
		step()
	}
	if done := r.Manifest.Counts.Done; sessions != done {
		return damaged(filepath.Join(r.Dir, ManifestFile), fmt.Errorf("%s done, %s has %d", numerals.Of(done, "session"), SessionArmsFile, sessions))
	}
	for s, err := range r.Surfaces() {
		if err != nil {
			return err
		}
		if err := w.addSurface(s); err != nil {
			return err
		}
	}
	return nil
}

// Discard removes the folder of a run whose sessions another one has taken over. A folder that holds more than the run
// wrote stays as it is, and removed is false.
func (r *Run) Discard() (removed bool, err error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return false, fmt.Errorf("cannot read the folder %s: %w\nhint: remove it, its sessions are in the other run", r.Dir, cause(err))
	}
	// Without its manifest a folder is no run, should this be cut short.
	names := []string{ManifestFile}
	for _, file := range r.Manifest.Files {
		names = append(names, file.Name)
	}
	for _, entry := range entries {
		if !slices.Contains(names, entry.Name()) {
			return false, nil
		}
	}
	for _, name := range append(names, ".") {
		if err := os.Remove(filepath.Join(r.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("cannot remove %s: %w\nhint: remove it, its sessions are in the other run", r.Dir, cause(err))
		}
	}
	return true, nil
}
