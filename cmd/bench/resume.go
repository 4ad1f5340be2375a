package main

import (
	"fmt"
	"math"

	"github.com/toolgauge/toolgauge/internal/cli"
	"github.com/toolgauge/toolgauge/reports"
)

// earlier is the run that --resume goes on from, or has nothing to add to; nil if
// all is to be played.
func (p *plan) earlier(f runFlags) (*reports.Run, error) {
	if !f.resume {
		return nil, nil
	}
	run, passed, err := reports.Find(f.out, p.manifest)
	switch {
	case err != nil:
		return nil, err
	case run == nil && passed != "":
		p.notes = append(p.notes, passed+"; a new run begins")
	case run == nil:
		p.notes = append(p.notes, fmt.Sprintf("%s has no run of this input to go on from; a new one begins", f.out))
	case run.Manifest.Status != reports.StatusSuccess:
		p.notes = append(p.notes, fmt.Sprintf("going on from %s, where %s are done", run.Dir, sessionsDone(run.Manifest.Counts)))
	}
	return run, nil
}

// skip leaves the first n sessions out.
func (p *plan) skip(n int64) {
	p.sessions = part(p.sessions, reports.Shard{First: n, Rows: math.MaxInt64 - n})
}

// printComplete prints a run that has all sessions.
func (p *plan) printComplete(env cli.Env, f runFlags, run *reports.Run) error {
	if err := p.keepHarvested(run.Dir); err != nil {
		return err
	}
	cli.NewNotes(env, "bench").Print([]string{"already complete: " + run.Dir})
	summary := run.Summary
	summary.Config = p.manifest.Config // the same, with its fields in the order in which they were written
	return p.print(env, f, &reports.Result{RunID: run.Manifest.RunID, Dir: run.Dir, Manifest: run.Manifest, Summary: summary})
}

// discard removes the run whose sessions another one has taken over, and notes if
// it stays.
func discard(run *reports.Run) []string {
	if run == nil {
		return nil
	}
	removed, err := run.Discard()
	switch {
	case err != nil:
		return []string{err.Error()}
	case !removed:
		return []string{run.Dir + " holds other files too and stays; its sessions are in the new run"}
	}
	return nil
}
