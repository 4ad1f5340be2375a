package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolgauge/toolgauge/internal/provenance"
	"github.com/toolgauge/toolgauge/metrics"
)

// Writer writes one run folder. It belongs to one goroutine.
//
// It holds no observation longer than a batch of rows takes to fill; what grows with the run is the set of surfaces seen,
// 32 bytes each. A fault while writing removes the whole folder, and every later call returns the same error.
type Writer struct {
	dir       string // the run folder
	root      string // the folder that Create made for runs; empty where it was there
	create    func(path string) (output, error)
	manifest  Manifest
	begun     time.Time // with the monotonic clock
	sessions  int64
	arms      []Arm
	files     []*runFile // tables, then summary and bench
	committed []string   // paths under final names
	surfaces  map[[sha256.Size]byte]struct{}
	err       error
	done      bool

	sessionArmTable *tableWriter[sessionArmRow]
	callTable       *tableWriter[callRow]
	searchTable     *tableWriter[searchRow]
	surfaceTable    *tableWriter[surfaceRow]
}

// Result is a run folder that was written.
type Result struct {
	RunID    string
	Dir      string
	Manifest Manifest
	Summary  Summary // completed
}

// Create makes the folder of a new run in dir, which it makes too if it is not there, and writes a manifest of status
// running. The run's id is the UTC time and the short hash of its configuration, as in 20261130T153000Z-1a2b3c4d; a folder
// of that name that is there already gets company of the name -2.
//
// The usual form is:
//
//	w, err := reports.Create("runs", manifest)
//	if err != nil { … }
//	defer w.Abort() // does nothing after Finish
//	… w.Add(observations) …
//	result, err := w.Finish(reports.StatusSuccess, summary)
func Create(dir string, m Manifest) (*Writer, error) { return create(dir, m, createOutput) }

func create(dir string, m Manifest, output func(string) (output, error)) (*Writer, error) {
	m, err := begin(m)
	if err != nil {
		return nil, err
	}
	w := &Writer{create: output, manifest: m, begun: time.Now(), surfaces: make(map[[sha256.Size]byte]struct{})}
	if err := w.makeFolder(dir); err != nil {
		return nil, err
	}
	if err := w.start(); err != nil {
		return nil, w.fail(err)
	}
	return w, nil
}

// begin completes the manifest of a run that starts now.
func begin(m Manifest) (Manifest, error) {
	hash, err := provenance.ConfigSHA256(m.Config)
	if err != nil {
		return m, err
	}
	m.SchemaVersion, m.Status, m.ConfigSHA256 = SchemaVersion, StatusRunning, hash
	m.Counts, m.Files = Counts{}, []File{}
	if m.Build == (provenance.Build{}) {
		m.Build = provenance.Current()
	}
	if m.Args.Given == nil {
		m.Args.Given = []string{}
	}
	if m.StartedAt.IsZero() {
		m.StartedAt = time.Now()
	}
	m.StartedAt, m.FinishedAt, m.DurationMS = m.StartedAt.UTC().Truncate(time.Millisecond), time.Time{}, 0
	return m, nil
}

// shortHash is how much of the configuration's hash stands in a run's id.
const shortHash = 8

// makeFolder makes a folder that no other run has.
func (w *Writer) makeFolder(root string) error {
	refused := func(path string, err error) error {
		return fmt.Errorf("cannot create the folder %s: %w\nhint: name a folder that you may write to", path, cause(err))
	}
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		w.root = root
	}
	if err := os.MkdirAll(root, 0o777); err != nil {
		return refused(root, err)
	}
	id := w.manifest.StartedAt.Format("20060102T150405Z") + "-" + w.manifest.ConfigSHA256[:shortHash]
	for n := 1; ; n++ {
		w.manifest.RunID = id
		if n > 1 {
			w.manifest.RunID = fmt.Sprintf("%s-%d", id, n)
		}
		w.dir = filepath.Join(root, w.manifest.RunID)
		err := os.Mkdir(w.dir, 0o777)
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			if w.root != "" {
				_ = os.Remove(w.root)
			}
			return refused(w.dir, err)
		}
	}
}

// start writes the first manifest and opens the tables.
func (w *Writer) start() error {
	if err := w.writeManifest(); err != nil {
		return err
	}
	var tables [4]*runFile
	for i, name := range []string{SessionArmsFile, CallsFile, SearchesFile, SurfacesFile} {
		file, err := w.open(name)
		if err != nil {
			return err
		}
		tables[i] = file
	}
	in := inputs{w.manifest.Corpus.SHA256, w.manifest.SessionsSHA256, w.manifest.ConfigSHA256, w.manifest.Corpus.Synthetic}
	w.sessionArmTable = newTableWriter[sessionArmRow](tables[0], in)
	w.callTable = newTableWriter[callRow](tables[1], in)
	w.searchTable = newTableWriter[searchRow](tables[2], in)
	w.surfaceTable = newTableWriter[surfaceRow](tables[3], in)
	return nil
}

func (w *Writer) open(name string) (*runFile, error) {
	file, err := newRunFile(w.create, filepath.Join(w.dir, name))
	if err == nil {
		w.files = append(w.files, file)
	}
	return file, err
}

// Dir is the run folder.
func (w *Writer) Dir() string { return w.dir }

// RunID is the name of the run folder.
func (w *Writer) RunID() string { return w.manifest.RunID }

// Add appends what one session gave under all its arms. Sessions must be added in their order, whichever worker finished
// first: the order of rows is that of the calls. Faulty observations (rows of an arm that the session has no row of, an
// arm whose assumptions are no longer those that it came with, a surface whose hash is none) are an error and leave the
// tables as they were. Afterwards the observations belong to the writer: what they point to must not be changed.
func (w *Writer) Add(o metrics.Observations) error {
	if err := w.usable(); err != nil {
		return err
	}
	if err := w.check(o); err != nil {
		return err
	}
	if err := w.append(o); err != nil {
		return w.fail(err)
	}
	w.sessions++
	return nil
}

func (w *Writer) usable() error {
	if w.err == nil && w.done {
		return fmt.Errorf("run %s is finished\nhint: create another run", w.manifest.RunID)
	}
	return w.err
}

// check looks for faults before anything is written, and takes note of new arms.
func (w *Writer) check(o metrics.Observations) error {
	if len(o.Arms) == 0 {
		return errors.New("observations without a session arm\nhint: leave a session that was played under no arm out")
	}
	fresh, err := w.checkArms(o.Arms)
	if err != nil {
		return faulty(o, "%w", err)
	}
	for i, c := range o.Calls {
		if assumptionsOf(o.Arms, c.Arm) == nil {
			return faulty(o, "call %d: the session was not played under its arm %q", i, c.Arm)
		}
	}
	for i, s := range o.Searches {
		if assumptionsOf(o.Arms, s.Arm) == nil {
			return faulty(o, "search %d: the session was not played under its arm %q", i, s.Arm)
		}
	}
	for i, s := range o.Surfaces {
		if _, err := surfaceHash(s); err != nil {
			return faulty(o, "surface %d: %w", i, err)
		}
	}
	w.arms = append(w.arms, fresh...)
	return nil
}

// surfaceHash is a surface's hash as bytes.
func surfaceHash(s metrics.Surface) (hash [sha256.Size]byte, err error) {
	decoded, err := hex.DecodeString(s.SHA256)
	if err != nil || len(decoded) != sha256.Size {
		return hash, fmt.Errorf("%q is no SHA-256 in hex", s.SHA256)
	}
	copy(hash[:], decoded)
	return hash, nil
}

func faulty(o metrics.Observations, format string, values ...any) error {
	return fmt.Errorf("session %q: %w\nhint: the observations are faulty: replay the session again",
		o.Arms[0].SessionID, fmt.Errorf(format, values...))
}

// checkArms returns the arms that no earlier session had.
func (w *Writer) checkArms(arms []metrics.SessionArm) (fresh []Arm, err error) {
	for i, s := range arms {
		if assumptionsOf(arms[:i], s.Arm) != nil {
			return nil, fmt.Errorf("arm %q: there twice", s.Arm)
		}
		arm := Arm{s.Arm, Assumptions(s.Assumptions)}
		if known := findArm(w.arms, s.Arm); known == nil {
			fresh = append(fresh, arm)
		} else if *known != arm {
			return nil, fmt.Errorf("arm %q: assumptions %+v, in earlier sessions %+v", s.Arm, arm.Assumptions, known.Assumptions)
		}
	}
	return fresh, nil
}

func findArm(arms []Arm, name string) *Arm {
	for i := range arms {
		if arms[i].Name == name {
			return &arms[i]
		}
	}
	return nil
}

// assumptionsOf returns what a session's arm assumes, nil if the session has no such arm.
func assumptionsOf(arms []metrics.SessionArm, name string) *metrics.Assumptions {
	for i := range arms {
		if arms[i].Arm == name {
			return &arms[i].Assumptions
		}
	}
	return nil
}

// append writes observations that passed check.
func (w *Writer) append(o metrics.Observations) error {
	for _, s := range o.Arms {
		if err := w.sessionArmTable.add(sessionArmRowOf(s)); err != nil {
			return err
		}
	}
	for _, c := range o.Calls {
		if err := w.callTable.add(callRowOf(c, Assumptions(*assumptionsOf(o.Arms, c.Arm)))); err != nil {
			return err
		}
	}
	for _, s := range o.Searches {
		if err := w.searchTable.add(searchRowOf(s, Assumptions(*assumptionsOf(o.Arms, s.Arm)))); err != nil {
			return err
		}
	}
	for _, s := range o.Surfaces {
		if err := w.addSurface(s); err != nil {
			return err
		}
	}
	return nil
}

// addSurface writes a surface that was not seen before.
func (w *Writer) addSurface(s metrics.Surface) error {
	hash, err := surfaceHash(s)
	if err != nil {
		return err
	}
	if _, seen := w.surfaces[hash]; seen {
		return nil
	}
	w.surfaces[hash] = struct{}{}
	return w.surfaceTable.add(surfaceRowOf(s))
}

// Finish puts every file in place. A run of StatusInterrupted or StatusError keeps the sessions that were added, and its
// tables are as valid as those of a success; the figures must be those of the sessions added.
func (w *Writer) Finish(status Status, s Summary) (*Result, error) {
	if err := w.usable(); err != nil {
		return nil, err
	}
	if status != StatusSuccess && status != StatusError && status != StatusInterrupted {
		return nil, fmt.Errorf("a run cannot finish with status %q\nhint: %s, %s or %s", status, StatusSuccess, StatusError, StatusInterrupted)
	}
	w.manifest.Status = status
	s = w.complete(s)
	if err := w.finish(s); err != nil {
		return nil, w.fail(err)
	}
	w.done = true
	return &Result{RunID: w.manifest.RunID, Dir: w.dir, Manifest: w.manifest, Summary: s}, nil
}

// complete takes the time and gives the summary what the writer knows.
func (w *Writer) complete(s Summary) Summary {
	m := &w.manifest
	duration := time.Since(w.begun).Truncate(time.Millisecond)
	m.FinishedAt, m.DurationMS = m.StartedAt.Add(duration), duration.Milliseconds()
	m.Counts = s.Counts
	m.Counts.Done = w.sessions
	m.Counts.Attempted = max(m.Counts.Attempted, m.Counts.Done+m.Counts.Failed)

	s.SchemaVersion, s.Corpus, s.Seed, s.Config = SchemaVersion, m.Corpus, m.Seed, m.Config
	s.Shard, s.Sessions, s.SessionsSHA256, s.ConfigSHA256, s.Counts = m.Shard, w.sessions, m.SessionsSHA256, m.ConfigSHA256, m.Counts
	s.Assumptions = append([]Arm{}, w.arms...)
	s.Figures = append([]metrics.Figure{}, s.Figures...)
	s.BreakEvens = append([]metrics.BreakEven{}, s.BreakEvens...)
	return s
}

func (w *Writer) finish(s Summary) error {
	rows := make([]*int64, 0, len(w.files))
	for _, table := range []interface {
		close() error
		rowCount() int64
	}{w.sessionArmTable, w.callTable, w.searchTable, w.surfaceTable} {
		if err := table.close(); err != nil {
			return err
		}
		rows = append(rows, new(table.rowCount()))
	}
	summary, err := encodeJSON(s)
	if err != nil {
		return fmt.Errorf("%s: %w\nhint: a figure is not a finite number", SummaryFile, err)
	}
	if err := w.write(SummaryFile, summary); err != nil {
		return err
	}
	if err := w.write(BenchFile, benchText(s, w.manifest, w.sessionArmTable.rows, time.Since(w.begun))); err != nil {
		return err
	}
	for i, file := range w.files {
		if err := file.Commit(); err != nil {
			return err
		}
		w.committed = append(w.committed, file.path)
		entry := file.entry()
		if i < len(rows) {
			entry.Rows = rows[i]
		}
		w.manifest.Files = append(w.manifest.Files, entry)
	}
	return w.writeManifest()
}

func (w *Writer) write(name string, content []byte) error {
	file, err := w.open(name)
	if err == nil {
		_, err = file.Write(content)
	}
	return err
}

func (w *Writer) writeManifest() error {
	text, err := encodeJSON(w.manifest)
	if err != nil {
		return fmt.Errorf("%s: %w\nhint: arguments must be encodable as JSON", ManifestFile, err)
	}
	path := filepath.Join(w.dir, ManifestFile)
	file, err := w.create(path)
	if err != nil {
		return err
	}
	defer file.Abort()
	if _, err := file.Write(text); err != nil {
		return err
	}
	if err := file.Commit(); err != nil {
		return err
	}
	w.committed = append(w.committed, path)
	return nil
}

// Abort gives the run up and removes its folder. It does nothing after Finish or a first Abort.
func (w *Writer) Abort() {
	if w.usable() == nil {
		_ = w.fail(fmt.Errorf("run %s was aborted\nhint: create another run", w.manifest.RunID))
	}
}

// fail removes all that the run wrote; what others put into its folder stays, and then so does the folder.
func (w *Writer) fail(err error) error {
	w.err = err
	for _, file := range w.files {
		file.Abort()
	}
	for _, path := range w.committed {
		_ = os.Remove(path)
	}
	_ = os.Remove(w.dir)
	if w.root != "" {
		_ = os.Remove(w.root)
	}
	return err
}
