package reports

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/metrics"
)

// smallRunFolder is a run folder with a few rows in every table.
func smallRunFolder(t testing.TB) *Result {
	return scene{threeArms, 3, 20, mixedClasses}.write(t, t.TempDir(), sampleManifest())
}

func TestOpenRefuses(t *testing.T) {
	edit := func(name string, change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	replace := func(old, new string) func([]byte) []byte {
		return func(data []byte) []byte { return bytes.Replace(data, []byte(old), []byte(new), 1) }
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole := smallRunFolder(t).Dir
	for _, c := range []struct {
		name   string
		damage func(*testing.T, string)
		want   []string
	}{
		{"no manifest", remove(ManifestFile), []string{ManifestFile, "name a run folder"}},
		{"no table", remove(CallsFile), []string{CallsFile, "no such file"}},
		{"no summary", remove(SummaryFile), []string{SummaryFile}},
		{"a truncated table", edit(SearchesFile, func(b []byte) []byte { return b[:len(b)-1] }), []string{SearchesFile, "sha256"}},
		{"a flipped bit", edit(SessionArmsFile, func(b []byte) []byte { b[len(b)/2] ^= 4; return b }), []string{SessionArmsFile, "sha256"}},
		{"an edited summary", edit(SummaryFile, replace("42", "43")), []string{SummaryFile, "sha256"}},
		{"an edited bench.txt", edit(BenchFile, replace("42", "43")), []string{BenchFile, "sha256"}},
		{"an empty manifest", edit(ManifestFile, func([]byte) []byte { return nil }), []string{ManifestFile}},
		{"half a manifest", edit(ManifestFile, func(b []byte) []byte { return b[:len(b)/2] }), []string{ManifestFile}},
		{"two manifests", edit(ManifestFile, func(b []byte) []byte { return append(b, b...) }), []string{ManifestFile}},
		{"a manifest and a word", edit(ManifestFile, func(b []byte) []byte { return append(b, '1') }), []string{ManifestFile}},
		{"a list", edit(ManifestFile, func([]byte) []byte { return []byte("[]") }), []string{ManifestFile}},
		{"null", edit(ManifestFile, func([]byte) []byte { return []byte("null") }), []string{ManifestFile, "schema_version"}},
		{"no version", edit(ManifestFile, replace(`"schema_version": 1,`, "")), []string{ManifestFile, "schema_version is missing"}},
		{"another version", edit(ManifestFile, replace(`"schema_version": 1,`, `"schema_version": 2, "novel": true,`)), []string{ManifestFile, "schema_version is 2"}},
		{"an unknown field", edit(ManifestFile, replace(`"run_id"`, `"runid"`)), []string{ManifestFile, `"runid"`}},
		{"a wrong type", edit(ManifestFile, replace(`"status": "success"`, `"status": 5`)), []string{ManifestFile, "status"}},
		{"a status that there is not", edit(ManifestFile, replace(`"success"`, `"sucess"`)), []string{ManifestFile, `status "sucess"`}},
		{"running", edit(ManifestFile, replace(`"success"`, `"running"`)), []string{"not finished"}},
		{"a file not listed", edit(ManifestFile, replace(CallsFile, "other.parquet")), []string{ManifestFile, CallsFile}},
		{"a file elsewhere", edit(ManifestFile, replace(`"files": [`, `"files": [{"name": "../x", "bytes": 0, "sha256": ""},`)), []string{ManifestFile, "../x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			c.damage(t, dir)
			_, err := Open(dir)
			wantError(t, err, append(c.want, dir)...)
		})
	}
	_, err := Open(filepath.Join(t.TempDir(), "absent"))
	wantError(t, err, "absent", "no such file")
}

// TestVerifyManifest edits what no hash covers.
func TestVerifyManifest(t *testing.T) {
	whole := smallRunFolder(t).Dir
	text, err := os.ReadFile(filepath.Join(whole, ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing", "", "", ""},
		{"another seed", "\"seed\": 42,\n  \"corpus\"", "\"seed\": 43,\n  \"corpus\"", "seed"},
		{"another corpus", `"sha256": "`, `"sha256": "0`, "corpus"},
		{"an edited configuration", `"config": {`, `"config": {"novel": 1,`, "configuration"},
		{"another configuration's hash", `"config_sha256": "`, `"config_sha256": "0`, "configuration"},
		{"a part of a run", `"counts"`, `"shard": {"index": 1, "count": 2}, "counts"`, "shard"},
		{"another number of sessions", `"done": `, `"done": 1`, "sessions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, ManifestFile), bytes.Replace(text, []byte(c.old), []byte(c.new), 1), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.VerifyManifest(); c.want != "" {
				wantError(t, err, filepath.Join(dir, ManifestFile), c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// readAll reads a damaged table to its end or to an error, which must name the file.
func readAll(t *testing.T, path string) (rows int, failed bool) {
	t.Helper()
	r := &Run{Dir: filepath.Dir(path)}
	check := func(err error) {
		if err != nil {
			failed = true
			wantError(t, err, path)
		} else {
			rows++
		}
	}
	switch filepath.Base(path) {
	case SessionArmsFile:
		for _, err := range r.SessionArms() {
			check(err)
		}
	case CallsFile:
		for _, err := range r.Calls() {
			check(err)
		}
	case SearchesFile:
		for _, err := range r.Searches() {
			check(err)
		}
	case SurfacesFile:
		for _, err := range r.Surfaces() {
			check(err)
		}
	}
	return rows, failed
}

// TestDamagedTables reads tables whose hashes nobody checked: at worst a row is wrong, never does the program fall over.
func TestDamagedTables(t *testing.T) {
	result := smallRunFolder(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{SessionArmsFile, CallsFile, SearchesFile, SurfacesFile} {
		path := filepath.Join(result.Dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rows, failed := readAll(t, path)
		if rows == 0 || failed {
			t.Fatalf("%s: %d rows", name, rows)
		}
		damaged := func(data []byte) (int, bool) {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return readAll(t, path)
		}
		for _, length := range []int{0, 1, 3, 4, 8, 11, len(whole) / 4, len(whole) / 2, len(whole) - 9, len(whole) - 8, len(whole) - 4, len(whole) - 1} {
			if n, failed := damaged(whole[:length]); !failed {
				t.Errorf("%s: the first %d of %d bytes are read as %d rows", name, length, len(whole), n)
			}
		}
		if raceEnabled {
			continue // pointer checks, which come with -race, end the program where the library reads past a damaged text
		}
		noticed := 0
		const flips = 150
		for range flips {
			data := bytes.Clone(whole)
			data[random.IntN(len(data))] ^= 1 << random.IntN(8)
			if _, failed := damaged(data); failed {
				noticed++
			}
		}
		if noticed < flips/2 {
			t.Errorf("%s: %d of %d flipped bits noticed", name, noticed, flips)
		}
	}
}

// TestOtherColumns: a Parquet file with other columns is refused, not read with gaps.
func TestOtherColumns(t *testing.T) {
	dir := smallRunFolder(t).Dir
	if err := os.Rename(filepath.Join(dir, CallsFile), filepath.Join(dir, SurfacesFile)); err != nil {
		t.Fatal(err)
	}
	if n, failed := readAll(t, filepath.Join(dir, SurfacesFile)); n > 0 || !failed {
		t.Errorf("calls are read as %d surfaces", n)
	}
}

// TestReadingMayStop: who breaks off an iteration gets nothing more.
func TestReadingMayStop(t *testing.T) {
	run, err := Open(smallRunFolder(t).Dir)
	if err != nil {
		t.Fatal(err)
	}
	var first metrics.SessionArm
	for s, err := range run.SessionArms() {
		if err != nil {
			t.Fatal(err)
		}
		first = s
		break
	}
	if first.Arm != "eager" || !strings.HasSuffix(first.SessionID, "1") {
		t.Errorf("got %+v", first)
	}
}
