package corpus

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

//go:embed embedded
var embeddedFiles embed.FS

// loader collects a corpus while it is read.
type loader struct {
	corpus *Corpus
	// claims holds the tools by ID, ids the IDs in the order first seen; visible
	// holds the tools kept by the name that a model sees.
	claims   map[string][]claim
	ids      []string
	visible  map[string]claim
	intentAt map[string]node
	// References that are checked once all is read: from toolsets to tools and
	// toolsets, from mentions to visible names, from golds to tools.
	named, included, mentioned, golds []reference

	merged, renamed int
	leftOut, paged  occasions
}

// reference is a name of something that may stand elsewhere.
type reference struct {
	at   node
	what string // who refers to it
	name string
}

// occasions counts files and remembers the first.
type occasions struct {
	count int
	first string
}

func (o *occasions) add(file string) {
	if o.count++; o.count == 1 {
		o.first = file
	}
}

func newLoader(name string) *loader {
	return &loader{
		corpus:   &Corpus{Name: name, Distributions: distributions.NewSet()},
		claims:   make(map[string][]claim),
		visible:  make(map[string]claim),
		intentAt: make(map[string]node),
	}
}

func nearestHint(name string, known []string) string { return nearest.Hint(name, known) }

// embedded reads the default corpus once: every run needs it, and it never
// changes.
var embedded = sync.OnceValues(func() (*Corpus, error) {
	files, err := fs.Sub(embeddedFiles, "embedded")
	if err != nil {
		return nil, err
	}
	return loadFolder("embedded", files, nil)
})

// Embedded returns the default corpus: the built-in tools with their toolsets,
// MCP servers, and labelled intents. Every call returns the same one.
func Embedded() (*Corpus, error) { return embedded() }

// Load reads a corpus from a path: a folder with corpus.yaml is read as a
// corpus; any other folder, and any file, is imported by content, a labelled set
// with its queries as intents. A corpus without toolsets of its own gets the built-in tools, toolsets and presets of
// the embedded one, because an agent has those whatever servers it is given.
// The path "synthetic:N" is that of no file, but of Scale(N).
//
// An error names the file, within a text the place, and ends in a hint.
func Load(path string) (*Corpus, error) { return load(path, "") }

// LoadFS reads a corpus folder of a file system, such as one that is embedded; name
// stands for it in errors.
func LoadFS(name string, files fs.FS) (*Corpus, error) { return loadFolder(name, files, Embedded) }

// LoadLike reads a corpus as Load does, to lay it beside that of another path:
// tools that do not say whose they are belong to the source that the other path
// names, unless that is a corpus folder's or synthetic.
func LoadLike(path, other string) (*Corpus, error) {
	info, err := os.Stat(other)
	if err != nil {
		return Load(path)
	}
	if _, err := os.Stat(filepath.Join(other, manifestFile)); err == nil {
		return Load(path)
	}
	return load(path, sourceName(other, info.IsDir()))
}

// load reads a corpus. Tools that do not say whose they are belong to the source,
// or if that is empty to the one that the path names.
func load(path, source string) (*Corpus, error) {
	if size, ok := strings.CutPrefix(path, syntheticPrefix); ok {
		n, err := strconv.Atoi(size)
		if err != nil {
			return nil, fmt.Errorf("corpus %s: %s is no number of tools\nhint: %s", path, textfile.Shown(size), scaleHint)
		}
		return Scale(n)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w\nhint: give a corpus folder, an exported tools file, or leave --corpus out for the embedded corpus", path, textfile.Cause(err))
	}
	files := os.DirFS(path)
	if info.IsDir() {
		if _, err := fs.Stat(files, manifestFile); !errors.Is(err, fs.ErrNotExist) {
			return loadFolder(path, files, Embedded)
		}
	}
	l := newLoader(sourceName(path, info.IsDir()))
	switch found, err := l.importLabelled(path); {
	case err != nil:
		return nil, err
	case found:
		return l.finishImport(path, Embedded)
	case info.IsDir():
		return importFolder(path, files, source)
	}
	return importFile(path, os.DirFS(filepath.Dir(path)), filepath.Base(path), source)
}

// importFile imports one file; shown names it in errors.
func importFile(shown string, files fs.FS, name, source string) (*Corpus, error) {
	data, err := textfile.Read(files, name, shown, textfile.Max)
	if err != nil {
		return nil, err
	}
	l := newLoader(sourceName(shown, false))
	source = cmp.Or(source, l.corpus.Name)
	if err := l.gatherText(&document{file: shown, data: data}, labels{source, source}); err != nil {
		return nil, err
	}
	return l.finishImport(shown, Embedded)
}

// importFolder imports every file below a folder in name order. Hidden files
// and folders are passed over, files that are not JSON are left out with a
// note. A file that is one tool belongs to the source that its folder names.
func importFolder(root string, files fs.FS, source string) (*Corpus, error) {
	l := newLoader(sourceName(root, true))
	if err := l.walk(root, files, source); err != nil {
		return nil, err
	}
	return l.finishImport(root, Embedded)
}

// walk imports every file below a folder. A source, if given, takes the place of
// the one that the folder itself names.
func (l *loader) walk(root string, files fs.FS, source string) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		shown := filepath.Join(root, filepath.FromSlash(name))
		if err != nil {
			return textfile.Unreadable(shown, err)
		}
		if strings.HasPrefix(entry.Name(), ".") && name != "." {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		data, err := textfile.Bytes(files, name, shown, textfile.Max)
		if err != nil {
			return err
		}
		if text := bytes.TrimLeft(data, jsonSpace); len(text) > 0 && text[0] != '{' && text[0] != '[' {
			l.leftOut.add(shown)
			return nil
		}
		if err := textfile.CheckUTF8(shown, data); err != nil {
			return err
		}
		single := sourceName(filepath.Dir(shown), true)
		if path.Dir(name) == "." {
			single = cmp.Or(source, single)
		}
		from := labels{single: single, list: sourceName(shown, false)}
		return l.importText(&document{file: shown, data: data}, from)
	})
}

// finishImport lays the imported tools over the built-in ones of a base.
func (l *loader) finishImport(shown string, base func() (*Corpus, error)) (*Corpus, error) {
	if len(l.claims) == 0 && l.leftOut.count > 0 {
		return nil, fmt.Errorf("%s: no tools found, and %d files are not JSON\nhint: %s", shown, l.leftOut.count, importHint)
	}
	if len(l.claims) == 0 {
		return nil, fmt.Errorf("%s: no tools found\nhint: %s", shown, importHint)
	}
	builtin, err := base()
	if err != nil {
		return nil, err
	}
	l.adopt(builtin)
	renamed := make(map[string]bool)
	for _, id := range l.ids {
		t := l.claims[id][0].tool
		if t.Server == "" && !t.Builtin && (reservedToolset(t.Toolset) || isFixed(builtin, t.Toolset)) {
			renamed[t.Toolset] = true
			t.Toolset = "plugin-" + t.Toolset
		}
	}
	for _, name := range slices.Sorted(maps.Keys(renamed)) {
		l.note("the toolset of the tools imported is called %q, because %q is one of the agent's own", "plugin-"+name, name)
	}
	return l.finishOver(builtin)
}

// adopt lets imported tools that bear a built-in tool's name stand in its place:
// an agent's exported array holds its own tools beside those of its servers, and
// its own definition is the one that its model sees.
func (l *loader) adopt(base *Corpus) {
	adopted := 0
	for _, id := range l.ids {
		t := l.claims[id][0].tool
		own, ok := base.Tool(id)
		if !ok || !own.Builtin || t.Server != "" {
			continue
		}
		t.Builtin, t.Toolset, t.Check = true, own.Toolset, own.Check
		t.RequiresEnv, t.MaxResultSize, t.Async = own.RequiresEnv, own.MaxResultSize, own.Async
		adopted++
	}
	if adopted > 0 {
		l.note("imported tools that stand in the place of the built-in tools of their names: %d", adopted)
	}
}

func isFixed(c *Corpus, name string) bool {
	_, ok := c.Toolsets.Static(name)
	return ok
}

// finishOver adds the built-in tools and the toolsets of base to a corpus that
// brings none.
func (l *loader) finishOver(base *Corpus) (*Corpus, error) {
	l.corpus.Toolsets = base.Toolsets
	for _, t := range base.Tools {
		if !t.Builtin {
			continue
		}
		if claims := l.claims[t.ID]; len(claims) > 0 {
			if claims[0].tool.Builtin {
				continue
			}
			return nil, claims[0].at.errorAt("rename it: a plugin may not shadow a built-in tool", "tool %s has the name of a built-in tool", textfile.Shown(t.ID))
		}
		l.corpus.lend(t)
	}
	return l.finish()
}

// lend adds a built-in tool of another corpus.
func (c *Corpus) lend(t *Tool) {
	if c.lent == nil {
		c.lent = make(map[string]bool)
	}
	c.lent[t.ID] = true
	c.Tools = append(c.Tools, t)
}

// finish settles names and checks what refers to them.
func (l *loader) finish() (*Corpus, error) {
	if err := l.settle(); err != nil {
		return nil, err
	}
	c := l.corpus
	var ids, visible []string
	for _, t := range c.Tools {
		ids, visible = append(ids, t.ID), append(visible, t.Definition.Name)
	}
	for _, id := range l.ids {
		first := l.claims[id][0]
		if t := first.tool; !t.Builtin && isFixed(c, t.Toolset) {
			return nil, first.at.errorAt("choose another name", "toolset %s of tool %s is a fixed toolset", textfile.Shown(t.Toolset), textfile.Shown(t.ID))
		}
	}
	for _, check := range []struct {
		references []reference
		known      []string
	}{{l.named, visible}, {l.mentioned, visible}, {l.golds, ids}} {
		if err := checkReferences("tool", check.references, check.known); err != nil {
			return nil, err
		}
	}
	l.takeNotes()
	c.finish()
	if err := c.checkDistributions(); err != nil {
		return nil, err
	}
	return c, nil
}

// checkReferences refuses the first name that is not known.
func checkReferences(kind string, references []reference, known []string) error {
	is := make(map[string]bool, len(known))
	for _, name := range known {
		is[name] = true
	}
	for _, r := range references {
		if !is[r.name] {
			return r.at.errorAt(nearestHint(r.name, known), "%s names unknown %s %s", r.what, kind, textfile.Shown(r.name))
		}
	}
	return nil
}

func (l *loader) note(format string, args ...any) {
	l.corpus.Notes = append(l.corpus.Notes, fmt.Sprintf(format, args...))
}

func (l *loader) takeNotes() {
	if l.leftOut.count > 0 {
		l.note("files left out because they are not JSON: %d, the first is %s", l.leftOut.count, l.leftOut.first)
	}
	if l.paged.count > 0 {
		l.note("lists of tools that go on elsewhere (they have a nextCursor): %d, the first in %s", l.paged.count, l.paged.first)
	}
	if l.merged > 0 {
		l.note("tools merged because they repeat another of their server: %d", l.merged)
	}
	if l.renamed > 0 {
		l.note("tools kept under a name with a suffix because they share it with another of their server but differ in content: %d", l.renamed)
	}
}
