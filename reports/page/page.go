// Package page makes reports of run folders that people open and pass on: report.html, one file that needs no network, and
// report.md, which says the same in Markdown.
//
// The steps, in order:
//
//  1. [New] takes the runs, one or several to stand side by side.
//  2. Gathering reads their tables: what sessions cost turn by turn, which listings fit, which intents fare worst.
//  3. Figures are drawn as shapes, and everything is laid out by a template.
//  4. [Report.Write] puts both files in place.
//
// A report says what the terminal says, in the same words: both are written from a [reports.Outline]. Every chart has its
// data in a table behind it. What a report shows of single intents is bounded, and it says how many there are.
//
// Names come from corpora, and may hold anything: the template escapes them, and the page's policy lets it load nothing
// and run no script but its own. The same runs give the same bytes: a report holds no time, no folder and no machine.
package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolgauge/toolgauge/internal/atomicfile"
	"github.com/toolgauge/toolgauge/reports"
)

// The files that a report is made of.
const (
	HTMLFile     = "report.html"
	MarkdownFile = "report.md"
)

// Bounds of a report.
const (
	// MaxRuns is how many runs one report may have.
	MaxRuns = 8
	// MaxIntents is how many intents it shows, the worst of all runs together.
	MaxIntents = 200
	// maxHits is how many hits of a search it shows.
	maxHits = 10
)

//go:embed assets
var assets embed.FS

// Report is a report of runs.
type Report struct {
	runs    []*reports.Run
	outline reports.Outline
}

// New makes a report of one or more runs, as many as [MaxRuns]. It refuses the same run twice.
func New(runs []*reports.Run) (*Report, error) {
	switch {
	case len(runs) == 0:
		return nil, errors.New("no run\nhint: name a run folder")
	case len(runs) > MaxRuns:
		return nil, fmt.Errorf("%d runs are too many for one report\nhint: name at most %d", len(runs), MaxRuns)
	}
	var summaries []reports.Summary
	for i, run := range runs {
		for _, other := range runs[:i] {
			if sameRun(run.Manifest, other.Manifest) {
				return nil, fmt.Errorf("%s and %s are the same run\nhint: name each run once", other.Dir, run.Dir)
			}
		}
		summaries = append(summaries, run.Summary)
	}
	return &Report{runs, reports.NewOutline(summaries...)}, nil
}

// sameRun reports whether two folders hold one run, the one being the other or its copy. Runs that began in one second may
// have the same id.
func sameRun(a, b reports.Manifest) bool {
	return a.RunID == b.RunID && slices.EqualFunc(a.Files, b.Files, func(x, y reports.File) bool { return x.Name == y.Name && x.SHA256 == y.SHA256 })
}

// Write reads the runs' tables and writes both files into a folder, which it makes if it is not there. It returns their
// paths. On an error neither file is new; one may be ctx's.
func (r *Report) Write(ctx context.Context, dir string) ([]string, error) {
	html, err := r.html(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		var atPath *fs.PathError
		if errors.As(err, &atPath) {
			err = atPath.Err
		}
		return nil, fmt.Errorf("cannot create the folder %s: %w\nhint: name a folder that you may write to", dir, err)
	}
	var paths []string
	var files []*atomicfile.File
	for _, f := range []struct {
		name    string
		content []byte
	}{{HTMLFile, html}, {MarkdownFile, r.markdown()}} {
		path := filepath.Join(dir, f.name)
		file, err := atomicfile.Create(path)
		if err != nil {
			return nil, err
		}
		defer file.Abort()
		if _, err := file.Write(f.content); err != nil {
			return nil, err
		}
		paths, files = append(paths, path), append(files, file)
	}
	for _, file := range files {
		if err := file.Commit(); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// html is the page.
func (r *Report) html(ctx context.Context) ([]byte, error) {
	v, err := r.view(ctx)
	if err != nil {
		return nil, err
	}
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return nil, err
	}
	script, err := assets.ReadFile("assets/script.js")
	if err != nil {
		return nil, err
	}
	// Both are ours, and the policy names their hashes: nothing else may style the page or run in it.
	v.Style, v.Script = template.CSS(style), template.JS(script)
	v.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script))
	layout, err := template.New("report.html.tmpl").Funcs(functions()).ParseFS(assets, "assets/report.html.tmpl")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := layout.Execute(&out, v); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// functions are the template's.
func functions() template.FuncMap {
	return template.FuncMap{
		"number":  func(n int) string { return whole(float64(n)) },
		"next":    func(n int) int { return n + 1 },
		"columns": func(arms int) int { return arms + 4 }, // of a table of intents: intent, class, asked, recall
	}
}

// hash is a source as a content security policy names it.
func hash(source []byte) string {
	sum := sha256.Sum256(source)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
