package reports

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
	"github.com/toolgauge/toolgauge/internal/provenance"
	"github.com/toolgauge/toolgauge/metrics"
)

// listing are the names in a folder, or none if there is no such folder.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range append(parts, "\nhint: ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

func TestRunFolder(t *testing.T) {
	root := filepath.Join(t.TempDir(), "deep", "runs")
	w, err := Create(root, sampleManifest())
	if err != nil {
		t.Fatal(err)
	}
	if want := "20261130T153000Z-2d410e24"; w.RunID() != want || w.Dir() != filepath.Join(root, want) {
		t.Errorf("run id %s, folder %s", w.RunID(), w.Dir())
	}
	m, err := ReadManifest(w.Dir())
	if err != nil || m.Status != StatusRunning || m.RunID != w.RunID() || !m.FinishedAt.IsZero() || len(m.Files) != 0 {
		t.Errorf("running: %+v, %v", m, err)
	}
	_, err = Open(w.Dir())
	wantError(t, err, w.Dir(), "not finished")

	sc := scene{threeArms, 3, 20, mixedClasses}
	for i := range sc.sessions {
		if err := w.Add(sc.play(i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range listing(t, w.Dir()) {
		if name != ManifestFile && !strings.HasPrefix(name, atomicfile.Prefix) {
			t.Errorf("%s is visible before the run is finished", name)
		}
	}
	result, err := w.Finish(StatusSuccess, Summary{Counts: Counts{Failed: 2, Skipped: 1}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{BenchFile, CallsFile, ManifestFile, SearchesFile, SessionArmsFile, SummaryFile, SurfacesFile}
	if got := listing(t, w.Dir()); !slices.Equal(got, want) {
		t.Errorf("the folder holds %q", got)
	}
	m, err = ReadManifest(result.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Status != StatusSuccess || m.Counts != (Counts{Attempted: 5, Done: 3, Failed: 2, Skipped: 1}) || result.Summary.Counts != m.Counts {
		t.Errorf("status %s, counts %+v", m.Status, m.Counts)
	}
	if !m.StartedAt.Equal(sampleManifest().StartedAt) || m.FinishedAt.Sub(m.StartedAt) != time.Duration(m.DurationMS)*time.Millisecond {
		t.Errorf("started %v, finished %v, %d ms", m.StartedAt, m.FinishedAt, m.DurationMS)
	}
	rows := map[string]int64{}
	for _, file := range m.Files {
		sum, err := provenance.FileSHA256(filepath.Join(result.Dir, file.Name))
		if info, statErr := os.Stat(filepath.Join(result.Dir, file.Name)); err != nil || statErr != nil || sum != file.SHA256 || info.Size() != file.Bytes {
			t.Errorf("%+v: sha256 %s, %v, %v", file, sum, err, statErr)
		}
		if file.Rows != nil {
			rows[file.Name] = *file.Rows
		}
	}
	if len(m.Files) != 6 || len(rows) != 4 || rows[SessionArmsFile] != 9 {
		t.Errorf("files %+v", m.Files)
	}
	w.Abort()
	if _, err := Open(result.Dir); err != nil {
		t.Errorf("Abort after Finish: %v", err)
	}
	wantError(t, w.Add(sc.play(0)), "finished")
	_, err = w.Finish(StatusSuccess, Summary{})
	wantError(t, err, "finished")
}

// TestManifestFields pins the names that other programs read.
func TestManifestFields(t *testing.T) {
	run := finished(t, t.TempDir())
	text, err := os.ReadFile(filepath.Join(run.Dir, ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"schema_version", "run_id", "status", "tool_version", "git", "go", "os", "arch", "cpu", "args", "config", "config_sha256",
		"seed", "corpus", "sessions_sha256", "counts", "files", "started_at", "finished_at", "duration_ms"} {
		if _, there := fields[name]; !there {
			t.Errorf("no field %s in %s", name, text)
		}
		delete(fields, name)
	}
	if len(fields) > 0 {
		t.Errorf("unexpected fields %v", fields)
	}
	if !strings.HasPrefix(string(text), "{\n  \"schema_version\": 1,\n") {
		t.Errorf("not indented: %.40q", text)
	}
}

func TestSameNameGetsCompany(t *testing.T) {
	root := t.TempDir()
	var ids []string
	for range 3 {
		ids = append(ids, filepath.Base(finished(t, root).Dir))
	}
	if want := []string{"20261130T153000Z-2d410e24", "20261130T153000Z-2d410e24-2", "20261130T153000Z-2d410e24-3"}; !slices.Equal(ids, want) {
		t.Errorf("got %q", ids)
	}
}

// TestDefaults: a manifest with nothing in it is completed with the time and the build.
func TestDefaults(t *testing.T) {
	w, err := Create(t.TempDir(), Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	m, err := ReadManifest(w.Dir())
	if err != nil || m.Go == "" || time.Since(m.StartedAt) > time.Minute || m.StartedAt.Location() != time.UTC {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestInterruptedKeepsWhatIsDone(t *testing.T) {
	for _, status := range []Status{StatusInterrupted, StatusError} {
		w, err := create(t.TempDir(), sampleManifest(), unsynced)
		if err != nil {
			t.Fatal(err)
		}
		o := scene{threeArms, 1, 20, mixedClasses}.play(0)
		if err := w.Add(o); err != nil {
			t.Fatal(err)
		}
		result, err := w.Finish(status, Summary{Counts: Counts{Attempted: 10}})
		if err != nil {
			t.Fatal(err)
		}
		run, err := Open(result.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if run.Manifest.Status != status || run.Summary.Counts != (Counts{Attempted: 10, Done: 1}) || run.Summary.Sessions != 1 {
			t.Errorf("%+v", run.Manifest)
		}
		if got := collect(t, run); len(got.Arms) != len(o.Arms) || len(got.Searches) != len(o.Searches) {
			t.Errorf("%d session arms, %d searches", len(got.Arms), len(got.Searches))
		}
	}
}

// TestSurfacesAreDistinct: a surface is a row once, in order of first appearance.
func TestSurfacesAreDistinct(t *testing.T) {
	surface := func(digit string, budget int) metrics.Surface {
		return metrics.Surface{SHA256: strings.Repeat(digit, 64), BudgetTokens: budget}
	}
	session := func(surfaces ...metrics.Surface) metrics.Observations {
		return metrics.Observations{Arms: []metrics.SessionArm{{Arm: "a"}}, Surfaces: surfaces}
	}
	run := finished(t, t.TempDir(), session(surface("b", 1), surface("a", 2), surface("b", 3)), session(surface("a", 4)), session(surface("c", 5)))
	var got []string
	for s, err := range run.Surfaces() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s.SHA256[:1]+string(rune('0'+s.BudgetTokens)))
	}
	if want := []string{"b1", "a2", "c5"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFaultyObservations(t *testing.T) {
	w, err := create(t.TempDir(), sampleManifest(), unsynced)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	arm := metrics.SessionArm{SessionID: "s7", Arm: "a", Assumptions: metrics.Assumptions{Agent: "aware"}}
	other := arm
	other.Assumptions.Agent = "hasty"
	if err := w.Add(metrics.Observations{Arms: []metrics.SessionArm{arm}}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    metrics.Observations
		want []string
	}{
		"nothing":           {metrics.Observations{}, []string{"session arm"}},
		"an arm twice":      {metrics.Observations{Arms: []metrics.SessionArm{arm, {SessionID: "s7", Arm: "b"}, {Arm: "b"}}}, []string{"s7", `"b"`, "twice"}},
		"an old arm twice":  {metrics.Observations{Arms: []metrics.SessionArm{arm, arm}}, []string{"s7", `"a"`, "twice"}},
		"other assumptions": {metrics.Observations{Arms: []metrics.SessionArm{other}}, []string{"s7", `"a"`, "aware", "hasty"}},
		"a call's arm":      {metrics.Observations{Arms: []metrics.SessionArm{arm}, Calls: []metrics.Call{{Arm: "z"}}}, []string{"s7", "call 0", `"z"`}},
		"a search's arm":    {metrics.Observations{Arms: []metrics.SessionArm{arm}, Searches: []metrics.Search{{Arm: "a"}, {}}}, []string{"s7", "search 1", `""`}},
		"a short hash":      {metrics.Observations{Arms: []metrics.SessionArm{arm}, Surfaces: []metrics.Surface{{SHA256: "ab"}}}, []string{"s7", "surface 0", `"ab"`}},
		"a long hash":       {metrics.Observations{Arms: []metrics.SessionArm{arm}, Surfaces: []metrics.Surface{{SHA256: strings.Repeat("ab", 33)}}}, []string{"s7", "surface 0"}},
		"no hash":           {metrics.Observations{Arms: []metrics.SessionArm{arm}, Surfaces: []metrics.Surface{{SHA256: strings.Repeat("x", 64)}}}, []string{"s7", "surface 0"}},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, w.Add(c.o), c.want...) })
	}
	result, err := w.Finish(StatusSuccess, Summary{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Summary.Sessions != 1 || len(result.Summary.Assumptions) != 1 || *result.Manifest.Files[0].Rows != 1 {
		t.Errorf("faulty sessions left %+v", result)
	}
}

func TestImpossibleConfigAndStatus(t *testing.T) {
	root := t.TempDir()
	m := sampleManifest()
	m.Config = math.NaN()
	_, err := Create(root, m)
	wantError(t, err, "configuration")
	m = sampleManifest()
	m.Args.Resolved = math.NaN()
	_, err = Create(root, m)
	wantError(t, err, ManifestFile)

	w, err := create(root, sampleManifest(), unsynced)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Finish(StatusRunning, Summary{})
	wantError(t, err, `"running"`)
	_, err = w.Finish(StatusSuccess, Summary{Figures: []metrics.Figure{{Value: math.Inf(1)}}})
	wantError(t, err, SummaryFile)
	if left := listing(t, root); left != nil {
		t.Errorf("left %q", left)
	}
}

// TestSameObservationsSameBytes: when a run took place shows in no table and not in the summary.
func TestSameObservationsSameBytes(t *testing.T) {
	sc := scene{threeArms, 60, 40, mixedClasses}
	first := sc.write(t, t.TempDir(), sampleManifest())
	later := sampleManifest()
	later.StartedAt = later.StartedAt.Add(1234567 * time.Second)
	later.Build = provenance.Build{ToolVersion: "v9", OS: "plan9"}
	later.Args = Args{Given: []string{"--workers", "9"}}
	second := sc.write(t, t.TempDir(), later)
	if first.RunID == second.RunID {
		t.Error("the two runs have one id")
	}
	for i, file := range first.Manifest.Files {
		other := second.Manifest.Files[i]
		if same := file.SHA256 == other.SHA256; same == (file.Name == BenchFile) {
			t.Errorf("%s: %s and %s", file.Name, file.SHA256, other.SHA256)
		}
	}
}

// TestTablesAreTheSameEverywhere compares with hashes made on another machine or by an earlier version.
func TestTablesAreTheSameEverywhere(t *testing.T) {
	result := scene{threeArms, 400, 40, mixedClasses}.write(t, t.TempDir(), sampleManifest())
	var text strings.Builder
	for _, file := range result.Manifest.Files {
		if file.Rows != nil {
			text.WriteString(file.SHA256 + "  " + file.Name + "\n")
		}
	}
	golden(t, "tables.sha256", text.String())
}

// faultyDisk makes outputs until an operation that is one too many.
type faultyDisk struct{ left int }

var errDisk = errors.New("disk on fire\nhint: extinguish it")

func (d *faultyDisk) spend() error {
	d.left--
	if d.left < 0 {
		return errDisk
	}
	return nil
}

func (d *faultyDisk) create(path string) (output, error) {
	if err := d.spend(); err != nil {
		return nil, err
	}
	out, err := unsynced(path)
	return faultyOutput{out, d}, err
}

type faultyOutput struct {
	output
	disk *faultyDisk
}

func (f faultyOutput) Write(p []byte) (int, error) {
	if err := f.disk.spend(); err != nil {
		return len(p) / 2, err
	}
	return f.output.Write(p)
}

func (f faultyOutput) Commit() error {
	if err := f.disk.spend(); err != nil {
		f.Abort()
		return err
	}
	return f.output.Commit()
}

// TestNothingIsLeftAfterAFault fails each create, write and commit of a run in turn.
func TestNothingIsLeftAfterAFault(t *testing.T) {
	parent := t.TempDir()
	root := filepath.Join(parent, "runs")
	sc := scene{threeArms, 2, 20, mixedClasses}
	run := func(operations int) error {
		w, err := create(root, sampleManifest(), (&faultyDisk{left: operations}).create)
		if err != nil {
			return err
		}
		for i := range sc.sessions {
			if err := w.Add(sc.play(i)); err != nil {
				return err
			}
		}
		_, err = w.Finish(StatusSuccess, Summary{})
		if err != nil {
			if again := w.Add(sc.play(0)); again != err {
				t.Errorf("after %v: %v", err, again)
			}
			w.Abort()
		}
		return err
	}
	operations := 0
	for ; ; operations++ {
		err := run(operations)
		if err == nil {
			break
		}
		if !errors.Is(err, errDisk) || err.Error() != errDisk.Error() {
			t.Fatalf("operation %d: %v", operations, err)
		}
		if left := listing(t, parent); left != nil {
			t.Fatalf("operation %d left %q", operations, left)
		}
	}
	if operations < 20 {
		t.Errorf("a run took %d operations: the test does not see them all", operations)
	}
}

// TestBatchFault: a disk that fills up in the middle of a run is an error of Add.
func TestBatchFault(t *testing.T) {
	root := t.TempDir()
	disk := &faultyDisk{left: 100}
	w, err := create(root, sampleManifest(), disk.create)
	if err != nil {
		t.Fatal(err)
	}
	disk.left = 0
	sc := scene{threeArms, 1, 20, mixedClasses}
	for i := range 100_000 {
		o := sc.play(i)
		if err = w.Add(o); err != nil {
			break
		}
	}
	if !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	if left := listing(t, root); left != nil {
		t.Errorf("left %q", left)
	}
}

func TestAbortRemovesTheRun(t *testing.T) {
	root := t.TempDir()
	w, err := Create(root, sampleManifest())
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	w.Abort()
	if left := listing(t, root); left != nil {
		t.Errorf("left %q", left)
	}
	wantError(t, w.Add(metrics.Observations{}), "aborted")
}

// TestAbortLeavesWhatOthersWrote: the folder of a failed run goes only if nobody else put anything into it.
func TestAbortLeavesWhatOthersWrote(t *testing.T) {
	root := t.TempDir()
	w, err := Create(root, sampleManifest())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Dir(), "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if left := listing(t, w.Dir()); !slices.Equal(left, []string{"notes"}) {
		t.Errorf("left %q", left)
	}
}

func TestUnwritableFolder(t *testing.T) {
	parent := t.TempDir()
	file := filepath.Join(parent, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{file, filepath.Join(file, "runs")} {
		_, err := Create(root, sampleManifest())
		wantError(t, err, "cannot create", file)
	}
	if left := listing(t, parent); !slices.Equal(left, []string{"file"}) {
		t.Errorf("left %q", left)
	}
	if os.Getuid() == 0 {
		t.Log("a superuser may write to any folder: no folder without permission is tried")
		return
	}
	if err := os.Chmod(parent, 0o555); err != nil {
		t.Fatal(err)
	}
	_, err := Create(filepath.Join(parent, "runs"), sampleManifest())
	wantError(t, err, "permission denied", parent)
}

func BenchmarkAdd(b *testing.B) {
	sc := scene{threeArms, 1000, 300, mixedClasses}
	played := make([]metrics.Observations, sc.sessions)
	rows := 0
	for i := range played {
		played[i] = sc.play(i)
		rows += len(played[i].Arms) + len(played[i].Calls) + len(played[i].Searches) + len(played[i].Surfaces)
	}
	w, err := create(b.TempDir(), sampleManifest(), unsynced)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Abort()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if err := w.Add(played[i%len(played)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(rows)/float64(len(played))*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
