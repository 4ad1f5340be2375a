package reports

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgauge/toolgauge/internal/provenance"
	"github.com/toolgauge/toolgauge/metrics"
)

// ordered is a configuration whose fields are not in the order of their names.
type ordered struct {
	Name  string  `json:"name"`
	Agent string  `json:"agent"`
	Share float64 `json:"share"`
	Text  string  `json:"text"`
}

func shardManifest() Manifest {
	m := sampleManifest()
	m.Config = map[string]any{"seed": uint64(1<<63 + 1), "arms": []ordered{{"eager", "aware", .1, "a < b & \u2028"}}, "draw": nil}
	m.Seed = 1<<63 + 1
	m.SessionsSHA256 = "5e5510"
	return m
}

// writeShards plays a scene in so many parts, each into a folder of its own, and returns the folders.
func (sc scene) writeShards(t testing.TB, root string, count int) (dirs []string) {
	t.Helper()
	for i := range count {
		m := shardManifest()
		shard, err := NewShard(int64(sc.sessions), int64(i+1), int64(count))
		if err != nil {
			t.Fatal(err)
		}
		m.Shard = &shard
		dirs = append(dirs, sc.write(t, root, m).Dir)
	}
	return dirs
}

func mergeDirs(t testing.TB, root string, dirs []string) *Result {
	t.Helper()
	shards, err := OpenShards(dirs)
	if err != nil {
		t.Fatal(err)
	}
	m := sampleManifest()
	m.Config, m.Seed, m.Corpus = nil, 0, Corpus{}
	result, err := Merge(context.Background(), root, m, shards, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestMergedShardsAreTheRun compares every file with those of a run in one piece. A run of 121 sessions has more rows than
// a batch.
func TestMergedShardsAreTheRun(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine reads and writes: there is nothing to race, and compression is slow under -race")
	}
	for _, c := range []struct {
		scene  scene
		shards int
	}{
		{scene{threeArms, 1, 20, mixedClasses}, 1},
		{scene{threeArms, 4, 20, mixedClasses}, 4},
		{scene{threeArms[:1], 7, 20, mixedClasses}, 3},
		{scene{threeArms, 121, 30, mixedClasses}, 4},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.shards, c.scene.sessions), func(t *testing.T) {
			root := t.TempDir()
			whole := c.scene.write(t, root, shardManifest())
			dirs := c.scene.writeShards(t, root, c.shards)
			slices.Reverse(dirs) // the order in which they are named is no matter
			merged := mergeDirs(t, root, dirs)
			sameButSpeed(t, merged.Dir, whole.Dir)
			checkMerged(t, merged, whole, c.shards)
		})
	}
}

// checkMerged compares what a merged run says of itself with the whole one.
func checkMerged(t *testing.T, merged, whole *Result, shards int) {
	t.Helper()
	run, err := Open(merged.Dir)
	if err != nil {
		t.Fatal(err)
	}
	m := run.Manifest
	if m.Shard != nil || len(m.Merged) != shards || m.Status != StatusSuccess || m.Counts != whole.Manifest.Counts || m.ConfigSHA256 != whole.Manifest.ConfigSHA256 {
		t.Errorf("manifest %+v", m)
	}
	if got, want := fmt.Sprint(metadata(t, merged.Dir)), fmt.Sprint(metadata(t, whole.Dir)); got != want || !strings.Contains(got, "sessions_sha256:5e5510") {
		t.Errorf("key-value metadata %s, want %s", got, want)
	}
	if got, want := printed(t, run.Summary, PrintOptions{}), printed(t, whole.Summary, PrintOptions{}); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func readFile(t testing.TB, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestShardSaysWhatItIs: in its manifest, in its summary and in print.
func TestShardSaysWhatItIs(t *testing.T) {
	dir := scene{threeArms, 5, 20, mixedClasses}.writeShards(t, t.TempDir(), 2)[1]
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := Shard{2, 2, 3, 2}
	if *run.Manifest.Shard != want || *run.Summary.Shard != want || run.Summary.Sessions != 2 {
		t.Errorf("manifest %+v, summary %+v of %d sessions", run.Manifest.Shard, run.Summary.Shard, run.Summary.Sessions)
	}
	if !strings.Contains(string(readFile(t, dir, ManifestFile)), `"shard": {
    "index": 2,
    "count": 2,
    "first": 3,
    "rows": 2
  },`) {
		t.Errorf("manifest %s", readFile(t, dir, ManifestFile))
	}
	if text := printed(t, run.Summary, PrintOptions{}); !strings.Contains(text, "2 sessions, seed 9223372036854775809; shard 2/2 of a run") {
		t.Errorf("prints %s", text)
	}
}

func TestObservations(t *testing.T) {
	first := metrics.Observations{
		Arms:     []metrics.SessionArm{{SessionID: "1", Arm: "a"}, {SessionID: "1", Arm: "b"}},
		Calls:    []metrics.Call{{SessionID: "1", Arm: "a"}, {SessionID: "1", Arm: "b", Turn: 1}},
		Searches: []metrics.Search{{SessionID: "1", Arm: "b", Hits: []metrics.Hit{}}},
	}
	idle := metrics.Observations{Arms: []metrics.SessionArm{{SessionID: "2", RowIndex: 1, Arm: "b"}}}
	// The same session again, in another row.
	again := metrics.Observations{Arms: []metrics.SessionArm{{SessionID: "2", RowIndex: 2, Arm: "b"}}, Calls: []metrics.Call{{SessionID: "2", RowIndex: 2, Arm: "b"}}}
	run := finished(t, t.TempDir(), first, idle, again)
	var got []metrics.Observations
	for o, err := range run.Observations() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, o)
	}
	if diff := cmp.Diff([]metrics.Observations{first, idle, again}, got, equalLists); diff != "" {
		t.Error(diff)
	}
	for o, err := range run.Observations() { // who breaks off gets nothing more
		if err != nil || o.Arms[0].SessionID != "1" {
			t.Errorf("%+v, %v", o, err)
		}
		break
	}
	stray := finished(t, t.TempDir(), first, metrics.Observations{Arms: first.Arms, Calls: []metrics.Call{{SessionID: "9", Arm: "a"}}}, again)
	var err error
	for _, err = range stray.Observations() {
	}
	wantError(t, err, stray.Dir, CallsFile, `"9"`)
	if err := os.Remove(filepath.Join(run.Dir, SearchesFile)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err = range run.Observations() {
		n++
	}
	wantError(t, err, SearchesFile)
	if n != 1 {
		t.Errorf("%d results of a damaged run", n)
	}
}

// editManifest changes fields of a folder's manifest.
func editManifest(t *testing.T, dir string, edit func(fields map[string]any)) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(readFile(t, dir, ManifestFile)))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		t.Fatal(err)
	}
	edit(fields)
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpenShardsRefuses(t *testing.T) {
	sc := scene{threeArms, 8, 20, mixedClasses}
	set := func(path string, value any) func(map[string]any) {
		return func(fields map[string]any) {
			keys := strings.Split(path, ".")
			for _, key := range keys[:len(keys)-1] {
				fields = fields[key].(map[string]any)
			}
			fields[keys[len(keys)-1]] = value
		}
	}
	root := t.TempDir()
	for i, dir := range sc.writeShards(t, t.TempDir(), 4) {
		if err := os.Rename(dir, filepath.Join(root, fmt.Sprint(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name         string
		edit         func(map[string]any) // of shard 2's manifest
		dirs         string               // space-separated; all four if empty
		incomparable bool
		want         []string
	}{
		{"another seed", set("seed", 7), "", true, []string{"/1 and ", "/2 are", "seed 9223372036854775809 and 7"}},
		{"another corpus", set("corpus.sha256", "0123456789abcdef"), "", true, []string{"/2 are", "corpus embedded 1.0 (sha256 c0ffee) and embedded 1.0 (sha256 0123456789ab)"}},
		{"another file of sessions", set("sessions_sha256", "77"), "", true, []string{"/2 are", "sessions of a file (sha256 5e5510) and of a file (sha256 77)"}},
		{"drawn sessions", set("sessions_sha256", ""), "", true, []string{"/2 are", "and drawn"}},
		{"another version", set("tool_version", "v0.2.0"), "", true, []string{"/2 are", "version v0.1.0 and v0.2.0"}},
		{"another commit", set("git", map[string]any{"commit": "0123456789abcdef", "dirty": true}), "", true, []string{"/2 are", "v0.1.0 at commit 0123456789ab with changes"}},
		{"another configuration", func(fields map[string]any) {
			set("config_sha256", "77")(fields)
			set("config.arms", "x")(fields)
			set("config.more", 1)(fields)
			delete(fields["config"].(map[string]any), "seed")
		}, "", true, []string{"/2 are", "another configuration (arms, more, seed)"}},
		{"another number of shards", set("shard.count", 5), "", true, []string{"/2 are", "4 shards and 5"}},
		{"no shard", set("shard", nil), "", true, []string{"/2 is no shard"}},
		{"twice", nil, "1 2 3 4 2", true, []string{"/2 and ", "/2 are both shard 2/4"}},
		{"one missing", nil, "1 3 4", false, []string{"/1: shard 2/4 is missing"}},
		{"some missing", nil, "3", false, []string{"/3: shard 1/4, 2/4, 4/4 is missing"}},
		{"interrupted", set("status", "interrupted"), "", false, []string{"/2: shard 2/4 ended with status interrupted, 2 of 2 sessions done"}},
		{"failed", set("status", "error"), "", false, []string{"/2: shard 2/4 ended with status error"}},
		{"running", set("status", "running"), "", false, []string{"/2 is not finished"}},
		{"not there", nil, "1 2 3 4 5", false, []string{"/5/manifest.json: no such file"}},
		{"too few sessions", set("shard.rows", 3), "", false, []string{"/2/manifest.json: shard 2/4 of 3 sessions has 2"}},
		{"index too high", set("shard.index", 5), "", false, []string{"/2/manifest.json: shard 5/4"}},
		{"elsewhere in the run", set("shard.first", 1), "", false, []string{"/2/manifest.json: shard 2/4 of 8 sessions has 2 from session 1 on, not 2 from 2 on"}},
		{"none", nil, " ", false, []string{"no shards"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.edit != nil {
				before := readFile(t, filepath.Join(root, "2"), ManifestFile)
				defer func() {
					if err := os.WriteFile(filepath.Join(root, "2", ManifestFile), before, 0o600); err != nil {
						t.Fatal(err)
					}
				}()
				editManifest(t, filepath.Join(root, "2"), c.edit)
			}
			if c.dirs == "" {
				c.dirs = "1 2 3 4"
			}
			var dirs []string
			for name := range strings.FieldsSeq(c.dirs) {
				dirs = append(dirs, filepath.Join(root, name))
			}
			_, err := OpenShards(dirs)
			wantError(t, err, c.want...)
			if got := errors.As(err, new(*IncomparableError)); got != c.incomparable {
				t.Errorf("not comparable: %v, want %v", got, c.incomparable)
			}
		})
	}
}

func TestMergeRefuses(t *testing.T) {
	root := t.TempDir()
	dirs := scene{threeArms, 4, 20, mixedClasses}.writeShards(t, root, 2)
	shards, err := OpenShards(dirs)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(root, "merged")
	other := sampleManifest()
	other.Build = provenance.Build{ToolVersion: "v0.2.0"}
	_, err = Merge(context.Background(), out, other, shards, func() {})
	wantError(t, err, dirs[0], "v0.1.0", "v0.2.0")
	if !errors.As(err, new(*IncomparableError)) {
		t.Errorf("another version is comparable: %v", err)
	}
	stopped, stop := context.WithCancel(context.Background())
	steps := 0
	_, err = Merge(stopped, out, sampleManifest(), shards, func() {
		if steps++; steps == 3 {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || steps != 3 {
		t.Errorf("stopped after %d sessions: %v", steps, err)
	}
	editManifest(t, dirs[0], func(fields map[string]any) { fields["config"] = 5 })
	_, err = Merge(context.Background(), out, sampleManifest(), shards, func() {})
	wantError(t, err, dirs[0], ManifestFile, "configuration")
	if left := listing(t, out); left != nil {
		t.Errorf("left %q", left)
	}
}
