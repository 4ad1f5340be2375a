// Package discovery tells which files of a tools folder bring tools, and why the
// others do not.
//
// The steps, for each file at the top of the folder in name order: a Python
// module brings tools if a call of registry.register stands in it as a statement
// of the module itself; a YAML or JSON file does if it holds tool cards, which a
// function that the caller gives decides; any other file does not. Verdicts are
// kept in a cache file by path, time of change and size, so that a second scan
// reads only what has changed.
//
// The package never runs a file, and no file can stop a scan: whatever is wrong
// with one becomes its verdict's reason. Where the reference lets an error through
// (text that is not UTF-8), the file is one that does not register.
package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is what a file is, by its name.
type Kind string

// The kinds.
const (
	Python Kind = "python"
	Cards  Kind = "cards"
	Other  Kind = "other"
)

// Verdict is what is decided about a file.
type Verdict struct {
	// File is the name within the folder, slashes between its parts.
	File string `json:"file"`
	Kind Kind   `json:"kind"`
	// Registers tells whether the file brings tools.
	Registers bool `json:"registers"`
	// Cards counts the tool cards of a file that holds some.
	Cards int `json:"cards"`
	// Reason says in a clause what the verdict rests on.
	Reason string `json:"reason"`
	// Cached tells whether the verdict was kept from an earlier scan.
	Cached bool `json:"cached"`
}

// Options say how a folder is scanned. The zero value scans as the variant july
// does, without tool cards and without a cache.
type Options struct {
	// September also takes calls in the body of a for statement of the module, and
	// modules PACKAGE/tool.py; a byte order mark is passed over.
	September bool
	// Cards counts the tool cards of a file; its error says why there are none.
	// Without it, files of cards do not count.
	Cards func(path string) (int, error)
	// CacheFile is where verdicts are kept; empty: nowhere. It need not exist. A
	// cache that cannot be read or written costs time and gets a note, no more.
	CacheFile string
}

// Report is what a scan finds.
type Report struct {
	SchemaVersion int    `json:"schema_version"`
	Folder        string `json:"folder"` // as given
	// Files holds the verdicts in the order of the files' names, byte by byte.
	Files []Verdict `json:"files"`
	// Notes tell what went less well than it might, one sentence each.
	Notes []string `json:"notes"`
}

// schemaVersion is the version of the report's JSON form.
const schemaVersion = 1

// passedOver are modules of a tools folder that are no tools: the package itself,
// the registry, and the client of MCP servers, which registers at run time.
var passedOver = []string{"__init__.py", "registry.py", "mcp_tool.py"}

// Scan gives a verdict on every file of a folder. Files whose names begin with a
// dot are left out unless they are modules. It fails only if the folder cannot be
// listed.
func Scan(folder string, o Options) (*Report, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w\nhint: name a folder of tool files that you may read", folder, cause(err))
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w\nhint: name the folder by its whole path", folder, err)
	}
	s := scan{options: o, folder: absolute, kept: readCache(o.CacheFile), fresh: map[string]entry{}}
	report := &Report{SchemaVersion: schemaVersion, Folder: folder, Files: []Verdict{}, Notes: []string{}}
	for _, name := range s.candidates(entries) {
		report.Files = append(report.Files, s.file(name))
	}
	slices.SortFunc(report.Files, func(a, b Verdict) int { return strings.Compare(a.File, b.File) })
	if o.CacheFile != "" {
		if err := s.kept.write(o.CacheFile, absolute, s.fresh); err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			report.Notes = append(report.Notes, "verdicts are not kept for the next scan: "+first)
		}
	}
	return report, nil
}

// scan is a scan under way.
type scan struct {
	options Options
	folder  string // absolute
	kept    *cache
	fresh   map[string]entry // the cache's entries for this folder
}

// candidates returns the names of the files to judge.
func (s *scan) candidates(entries []fs.DirEntry) (names []string) {
	for _, e := range entries {
		name := e.Name()
		kind := kindOf(name)
		info, err := os.Stat(filepath.Join(s.folder, name)) // what a link leads to
		isFolder := err == nil && info.IsDir()
		switch {
		case isFolder && s.options.September && !strings.HasPrefix(name, "."):
			if _, err := os.Stat(filepath.Join(s.folder, name, packageModule)); err == nil {
				names = append(names, name+"/"+packageModule)
			}
			if kind == Python {
				names = append(names, name)
			}
		case kind == Python:
			names = append(names, name)
		case !isFolder && !strings.HasPrefix(name, "."):
			names = append(names, name)
		}
	}
	return names
}

// packageModule is the module of a package that is looked at.
const packageModule = "tool.py"

func kindOf(name string) Kind {
	switch filepath.Ext(name) {
	case ".py":
		return Python
	case ".yaml", ".yml", ".json":
		return Cards
	}
	return Other
}

// file judges a file, or finds the verdict kept.
func (s *scan) file(name string) Verdict {
	v := Verdict{File: name, Kind: kindOf(name)}
	path := filepath.Join(s.folder, filepath.FromSlash(name))
	if reason := s.byName(name, v.Kind); reason != "" {
		v.Reason = reason
		return v
	}
	before, err := os.Stat(path)
	if err == nil && !before.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		v.Reason = unreadable(err)
		return v
	}
	now := entry{Modified: before.ModTime().UnixNano(), Size: before.Size(), Variant: s.variant()}
	if known, ok := s.kept.Files[path]; ok && known.Modified == now.Modified && known.Size == now.Size && known.Variant == now.Variant {
		v.Registers, v.Cards, v.Reason, v.Cached = known.Registers, known.Cards, known.Reason, true
		s.keep(path, known)
		return v
	}
	if err := s.judge(&v, path); err != nil {
		v.Reason = unreadable(err) // and not kept: permissions change without a trace
		return v
	}
	now.Registers, now.Cards, now.Reason = v.Registers, v.Cards, v.Reason
	if after, err := os.Stat(path); err == nil && after.ModTime().Equal(before.ModTime()) && after.Size() == before.Size() {
		s.keep(path, now)
	}
	return v
}

// keep notes a verdict for the cache. A path that is not UTF-8 has no JSON.
func (s *scan) keep(path string, e entry) {
	if utf8.ValidString(path) {
		s.fresh[path] = e
	}
}

// byName says why a file brings nothing whatever it holds, if that is so.
func (s *scan) byName(name string, kind Kind) (reason string) {
	switch {
	case kind == Other:
		return "neither a Python module nor a YAML or JSON file"
	case kind == Cards && s.options.Cards == nil:
		return "tool cards are not looked for"
	case slices.Contains(passedOver, name):
		return "passed over because of its name"
	}
	if folder, _, ok := strings.Cut(name, "/"); ok {
		if _, err := os.Stat(filepath.Join(s.folder, folder, "__init__.py")); err != nil {
			return "the folder has no __init__.py, so it is no package"
		}
	}
	return ""
}

func (s *scan) variant() string {
	if s.options.September {
		return "september"
	}
	return "july"
}

// judge reads a file and completes its verdict. An error says that it could not
// be read.
func (s *scan) judge(v *Verdict, path string) error {
	if v.Kind == Python {
		text, err := readModule(path)
		if err == nil {
			v.Registers, v.Reason = judgeModule(text, s.options.September)
		}
		return err
	}
	f, err := os.Open(path) // whether it may be read is not a question of cards
	if err != nil {
		return err
	}
	_ = f.Close()
	n, err := s.options.Cards(path)
	switch {
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), "\n")
		v.Reason = strings.TrimLeft(strings.TrimPrefix(strings.ReplaceAll(first, path, v.File), v.File), ": ")
	case n == 0:
		v.Reason = "holds no tool cards"
	default:
		v.Registers, v.Cards = true, n
		v.Reason = fmt.Sprintf("tool cards: %d", n)
	}
	return nil
}

func unreadable(err error) string { return "cannot be read: " + cause(err).Error() }

// cause drops the operation and the path that the system's errors repeat.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
