package compare

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/reports"
)

// SchemaVersion is the version of a comparison's JSON.
const SchemaVersion = 1

// Options say what is compared.
type Options struct {
	// AllowMismatch compares what runs of different corpora or sessions have in common, instead of refusing them.
	AllowMismatch bool
	// Columns are the differences to take; nil for every measure of every arm, over all classes.
	Columns []Column
	// Surface derives the text of a session's first surface again; nil if nobody can.
	Surface func(ctx context.Context, r *reports.Run, arm string, at Location) (string, error)
	// Count is the number of tokens of a text in a tokenizer, for the diff of surfaces; needed with Surface.
	Count func(tokenizer, text string) (int, error)
}

// Comparison is what tells two runs apart.
type Comparison struct {
	SchemaVersion int  `json:"schema_version"`
	Before        Side `json:"before"`
	After         Side `json:"after"`
	// Mismatches say why the runs are not comparable; only with Options.AllowMismatch.
	Mismatches []string `json:"mismatches"`
	// PairedBy is session_id, or row_index where the runs have no session id in common.
	PairedBy   string `json:"paired_by"`
	Sessions   int64  `json:"sessions"` // in both
	OnlyBefore int64  `json:"sessions_only_before"`
	OnlyAfter  int64  `json:"sessions_only_after"`

	Arms           []string `json:"arms"` // in both, in the order of the run after
	ArmsOnlyBefore []string `json:"arms_only_before"`
	ArmsOnlyAfter  []string `json:"arms_only_after"`
	// Assumptions are those that an arm of both does not share.
	Assumptions []Assumption `json:"assumptions"`

	Measures   []Difference      `json:"measures"`
	BreakEvens []BreakEvenChange `json:"break_evens"` // those that moved, where both runs have all sessions
	Flips      []Flip            `json:"flips"`       // worse ones first
	Surfaces   []SurfaceChange   `json:"surfaces"`    // an element for each arm with changed ones
}

// Side is one of the two runs.
type Side struct {
	Run         string         `json:"run"` // as it was named
	RunID       string         `json:"run_id"`
	ToolVersion string         `json:"tool_version"`
	Commit      string         `json:"commit,omitempty"`
	Corpus      reports.Corpus `json:"corpus"`
	Seed        uint64         `json:"seed"`
	Sessions    int64          `json:"sessions"`
}

// Assumption is one thing that an arm's figures rest on and that the runs do not share.
type Assumption struct {
	Arm    string `json:"arm"`
	What   string `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// BreakEvenChange is a break-even that moved. At is 0 where there is none.
type BreakEvenChange struct {
	Measure string `json:"measure"`
	Arm     string `json:"arm"`
	Before  int64  `json:"before"`
	After   int64  `json:"after"`
}

// Verdict says which way something changed.
type Verdict string

// The verdicts. What has no better direction has Changed.
const (
	Same    Verdict = "same"
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Changed Verdict = "changed"
)

// Location says where a session stands, and a turn in it.
type Location struct {
	SessionID string `json:"session_id"`
	RowIndex  int64  `json:"row_index"`
	Position  int64  `json:"position"` // of the session in its run, from 0
	Turn      int    `json:"turn"`     // from 0
}

// Open reads a run folder, verifies its files and manifest, and demands that every session which the run set out for is in it.
func Open(dir string) (*reports.Run, error) {
	r, err := reports.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := r.VerifyManifest(); err != nil {
		return nil, err
	}
	if m := r.Manifest; m.Status != reports.StatusSuccess {
		return nil, fmt.Errorf("%s: the run has status %s, with %d of %d sessions\nhint: run it again; figures of a part say nothing about the whole",
			filepath.Join(dir, reports.ManifestFile), m.Status, m.Counts.Done, m.Counts.Attempted)
	}
	return r, nil
}

// Compare sets two runs against each other. Runs of different corpora or sessions are a [*reports.IncomparableError] unless
// o.AllowMismatch, and so are two without any session in common; every other error is ctx's, or about
// a table that cannot be read.
func Compare(ctx context.Context, before, after *reports.Run, o Options) (*Comparison, error) {
	c := &Comparison{
		SchemaVersion: SchemaVersion, Before: side(before), After: side(after),
		Mismatches: Mismatches(before.Summary, after.Summary),
		Measures:   []Difference{}, BreakEvens: []BreakEvenChange{},
	}
	if len(c.Mismatches) > 0 && !o.AllowMismatch {
		return nil, Refuse(before.Dir, after.Dir, c.Mismatches)
	}
	c.compareArms(before.Summary.Assumptions, after.Summary.Assumptions)
	if a, b := systemPrompt(before.Summary), systemPrompt(after.Summary); a != b {
		for _, arm := range c.Arms {
			c.Assumptions = append(c.Assumptions, Assumption{arm, "system prompt", a, b})
		}
	}
	pairing, err := pairSessions(before, after)
	if err != nil {
		return nil, err
	}
	c.PairedBy, c.Sessions = pairing.by, int64(len(pairing.pairs))
	c.OnlyBefore, c.OnlyAfter = pairing.before-c.Sessions, pairing.after-c.Sessions
	if c.OnlyBefore+c.OnlyAfter == 0 { // they are of all sessions of a run
		c.BreakEvens = breakEvens(before.Summary, after.Summary)
	}

	columns, flips, surfaces := newColumns(o.Columns, c.Arms), newFlips(c.Arms), newSurfaces(c.Arms)
	for p, err := range pairing.walk(before, after) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		columns.add(p)
		flips.add(p)
		surfaces.add(p)
	}
	if c.Measures, err = columns.differences(ctx); err != nil {
		return nil, err
	}
	c.Flips = flips.list(after)
	c.Surfaces, err = surfaces.list(ctx, before, after, o)
	return c, err
}

// Identical reports whether nothing at all differs in what was compared.
func (c *Comparison) Identical() bool {
	return len(c.Flips)+len(c.Surfaces)+len(c.BreakEvens) == 0 &&
		!slices.ContainsFunc(c.Measures, func(d Difference) bool { return d.ItemsChanged > 0 || d.OnlyBefore+d.OnlyAfter > 0 })
}

func side(r *reports.Run) Side {
	m := r.Manifest
	s := Side{Run: r.Dir, RunID: m.RunID, ToolVersion: m.ToolVersion, Corpus: m.Corpus, Seed: m.Seed, Sessions: r.Summary.Sessions}
	if m.Git != nil {
		s.Commit = m.Git.Commit
	}
	return s
}

// compareArms finds the arms of both runs, and what they do not share.
func (c *Comparison) compareArms(before, after []reports.Arm) {
	c.Arms, c.ArmsOnlyBefore, c.ArmsOnlyAfter, c.Assumptions = []string{}, []string{}, []string{}, []Assumption{}
	named := func(name string) func(reports.Arm) bool { return func(a reports.Arm) bool { return a.Name == name } }
	for _, b := range after {
		i := slices.IndexFunc(before, named(b.Name))
		if i < 0 {
			c.ArmsOnlyAfter = append(c.ArmsOnlyAfter, b.Name)
			continue
		}
		c.Arms = append(c.Arms, b.Name)
		for _, d := range reports.DifferingAssumptions(before[i], b) {
			c.Assumptions = append(c.Assumptions, Assumption{b.Name, d[0], d[1], d[2]})
		}
	}
	for _, a := range before {
		if !slices.ContainsFunc(after, named(a.Name)) {
			c.ArmsOnlyBefore = append(c.ArmsOnlyBefore, a.Name)
		}
	}
}

// systemPrompt is what stands for the system prompt in a run's configuration: its text, or its digest.
func systemPrompt(s reports.Summary) string {
	config, _ := s.Config.(map[string]any)
	if text, ok := config["system_prompt"].(string); ok {
		return text
	}
	digest, _ := config["system_prompt"].(map[string]any)
	return strings.TrimSpace(fmt.Sprint("sha256 ", digest["sha256"]))
}

// breakEvens are those that both runs have and that moved.
func breakEvens(before, after reports.Summary) []BreakEvenChange {
	list := []BreakEvenChange{}
	for _, b := range after.BreakEvens {
		i := slices.IndexFunc(before.BreakEvens, func(a metrics.BreakEven) bool { return a.Measure == b.Measure && a.Arm == b.Arm })
		if i >= 0 && before.BreakEvens[i].At != b.At {
			list = append(list, BreakEvenChange{b.Measure, b.Arm, before.BreakEvens[i].At, b.At})
		}
	}
	return list
}
