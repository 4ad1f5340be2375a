package reports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/internal/provenance"
	"github.com/toolgauge/toolgauge/metrics"
)

// IncomparableError is about runs that are whole, each of them, and do not belong together.
type IncomparableError struct{ Err error }

func (e *IncomparableError) Error() string { return e.Err.Error() }
func (e *IncomparableError) Unwrap() error { return e.Err }

func incomparable(format string, values ...any) error {
	return &IncomparableError{fmt.Errorf(format, values...)}
}

// OpenShards opens run folders, verifies their files and puts them in order: they must be the shards of one run, every one
// of them once. Folders that are whole and do not belong together are an [IncomparableError]; what is unfinished,
// interrupted, damaged or missing is another one. Errors name the folder.
func OpenShards(dirs []string) ([]*Run, error) {
	if len(dirs) == 0 {
		return nil, errors.New("no shards\nhint: name the run folder of each")
	}
	shards := make([]*Run, len(dirs))
	for i, dir := range dirs {
		run, err := Open(dir)
		if err != nil {
			return nil, err
		}
		if err := checkShard(run); err != nil {
			return nil, err
		}
		shards[i] = run
		if d := difference(shards[0].Manifest, run.Manifest); d != "" {
			return nil, incomparable("%s and %s are not of one run: %s\nhint: merge what one command wrote, run with each --shard", dirs[0], dir, d)
		}
	}
	slices.SortStableFunc(shards, func(a, b *Run) int { return cmp.Compare(a.Manifest.Shard.Index, b.Manifest.Shard.Index) })
	return shards, checkComplete(shards)
}

// checkShard checks that a run is a shard that came to its end.
func checkShard(r *Run) error {
	m := r.Manifest
	switch {
	case m.Shard == nil:
		return incomparable("%s is no shard, but a run of its own\nhint: run with --shard 1/N to N/N, and merge those", r.Dir)
	case m.Status != StatusSuccess:
		return fmt.Errorf("%s: shard %s ended with status %s, %s of %s done\nhint: run the shard again, with --resume", r.Dir, *m.Shard, m.Status,
			numerals.Count(m.Counts.Done), numerals.Of(m.Counts.Attempted, "session"))
	case m.Counts.Done != m.Shard.Rows || m.Shard.Index < 1 || m.Shard.Index > m.Shard.Count:
		return damaged(filepath.Join(r.Dir, ManifestFile), fmt.Errorf("shard %s of %s has %s", *m.Shard, numerals.Of(m.Shard.Rows, "session"), numerals.Count(m.Counts.Done)))
	}
	return nil
}

// checkComplete checks that shards, ordered by index, are all that their run has, and each there once.
func checkComplete(shards []*Run) error {
	var missing []string
	var rows int64
	next, total := int64(1), shards[0].Manifest.Shard.Count
	for i, r := range shards {
		shard := *r.Manifest.Shard
		if i > 0 && shard.Index == shards[i-1].Manifest.Shard.Index {
			return incomparable("%s and %s are both shard %s\nhint: leave one of them out", shards[i-1].Dir, r.Dir, shard)
		}
		missing = append(missing, between(next, shard.Index, total)...)
		next = shard.Index + 1
		rows += shard.Rows
	}
	if missing = append(missing, between(next, total+1, total)...); len(missing) > 0 {
		return fmt.Errorf("beside %s: shard %s is missing\nhint: run it with --shard, or name its folder too", shards[0].Dir, strings.Join(missing, ", "))
	}
	for _, r := range shards {
		shard := *r.Manifest.Shard
		if want, err := NewShard(rows, shard.Index, total); err != nil || want != shard {
			return damaged(filepath.Join(r.Dir, ManifestFile), fmt.Errorf("shard %s of %s has %d from session %d on, not %d from %d on",
				shard, numerals.Of(rows, "session"), shard.Rows, shard.First, want.Rows, want.First))
		}
	}
	return nil
}

// missingNamed is how many missing shards an error names.
const missingNamed = 8

// between names the shards from..to-1 of count.
func between(from, to, count int64) (names []string) {
	for i := from; i < to; i++ {
		if len(names) == missingNamed {
			return append(names, "…")
		}
		names = append(names, Shard{Index: i, Count: count}.String())
	}
	return names
}

// difference names what tells the input of two runs, or of the runs of two shards, apart; empty if nothing does.
func difference(a, b Manifest) string {
	switch {
	case !sameBuild(a.Build, b.Build):
		return fmt.Sprintf("written by version %s and %s", version(a.Build), version(b.Build))
	case a.Corpus != b.Corpus:
		return fmt.Sprintf("corpus %s and %s", corpusWords(a.Corpus), corpusWords(b.Corpus))
	case a.SessionsSHA256 != b.SessionsSHA256:
		return fmt.Sprintf("sessions %s and %s", sessionsWords(a), sessionsWords(b))
	case a.Seed != b.Seed:
		return fmt.Sprintf("seed %d and %d", a.Seed, b.Seed)
	case a.ConfigSHA256 != b.ConfigSHA256:
		return fmt.Sprintf("another configuration (%s)", strings.Join(differingKeys(a.Config, b.Config), ", "))
	case a.Shard != nil && b.Shard != nil && a.Shard.Count != b.Shard.Count:
		return fmt.Sprintf("%d shards and %d", a.Shard.Count, b.Shard.Count)
	}
	return ""
}

func sameBuild(a, b provenance.Build) bool {
	return a.ToolVersion == b.ToolVersion && reflect.DeepEqual(a.Git, b.Git)
}

// version words which program wrote a run.
func version(b provenance.Build) string {
	if b.Git == nil {
		return b.ToolVersion
	}
	words := b.ToolVersion + " at commit " + short(b.Git.Commit)
	if b.Git.Dirty {
		words += " with changes"
	}
	return words
}

func corpusWords(c Corpus) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s (sha256 %s)", c.Name, c.Version, short(c.SHA256))), " ")
}

func sessionsWords(m Manifest) string {
	if m.SessionsSHA256 == "" {
		return "drawn"
	}
	return "of a file (sha256 " + short(m.SessionsSHA256) + ")"
}

// short is enough of a hash to tell it from others.
func short(hash string) string { return hash[:min(len(hash), 12)] }

// differingKeys are the settings, at the top of two configurations as read, that are not the same.
func differingKeys(a, b any) []string {
	first, _ := a.(map[string]any)
	other, _ := b.(map[string]any)
	all := maps.Clone(first)
	maps.Copy(all, other)
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(first[key], other[key]) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Merge writes the run that the given shards, as [OpenShards] returns them, are the parts of into a new folder in dir. All
// its tables, summary.json and what bench.txt says of figures have the bytes that the run would have given in one piece;
// nothing was timed. Of m only Args, StartedAt and Build are used, the rest comes from the shards. Shards of another
// version of the program than this one are an [IncomparableError]. Step is called after each session; an error or a
// cancelled ctx leaves nothing behind.
func Merge(ctx context.Context, dir string, m Manifest, shards []*Run, step func()) (*Result, error) {
	m, err := mergedManifest(m, shards)
	if err != nil {
		return nil, err
	}
	w, err := Create(dir, m)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	figures := metrics.NewAccumulator()
	for _, shard := range shards {
		if err := w.AddRun(ctx, shard, figures, step); err != nil {
			return nil, err
		}
	}
	return w.Finish(StatusSuccess, Summary{Figures: figures.Figures(), BreakEvens: figures.BreakEvens(), Distributions: figures.Distributions()})
}

// mergedManifest is the manifest of the whole run.
func mergedManifest(m Manifest, shards []*Run) (Manifest, error) {
	if m.Build == (provenance.Build{}) {
		m.Build = provenance.Current()
	}
	first := shards[0].Manifest
	if !sameBuild(m.Build, first.Build) {
		return m, incomparable("%s was written by version %s, this program is %s\nhint: merge with the program that wrote the shards",
			shards[0].Dir, version(first.Build), version(m.Build))
	}
	// As it was written, with its fields in their order: the summary repeats it.
	path := filepath.Join(shards[0].Dir, ManifestFile)
	var written struct {
		Config json.RawMessage `json:"config"`
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &written)
	}
	if err != nil {
		return m, damaged(path, cause(err))
	}
	hash, err := provenance.ConfigSHA256(written.Config)
	if err != nil || hash != first.ConfigSHA256 {
		return m, damaged(path, fmt.Errorf("the configuration has not the sha256 %s", first.ConfigSHA256))
	}
	m.Config, m.Seed, m.Corpus, m.SessionsSHA256 = written.Config, first.Seed, first.Corpus, first.SessionsSHA256
	m.Shard, m.Merged = nil, nil
	for _, shard := range shards {
		m.Merged = append(m.Merged, shard.Manifest.RunID)
	}
	return m, nil
}
