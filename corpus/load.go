package corpus

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

//go:embed embedded
var embeddedFiles embed.FS

// loader collects a corpus while it is read.
type loader struct {
	corpus  *Corpus
	tools   map[string]known
	merged  int
	renamed int
}

// known remembers where a tool was first seen.
type known struct {
	at  place
	raw []byte
}

func newLoader(name string) *loader {
	return &loader{
		corpus: &Corpus{Name: name, Distributions: distributions.NewSet()},
		tools:  make(map[string]known),
	}
}

func nearestHint(name string, known []string) string { return nearest.Hint(name, known) }

// embedded keeps the default corpus once it is read: every run needs it, and it
// never changes.
var embedded struct {
	once   sync.Once
	corpus *Corpus
	err    error
}

// Embedded returns the default corpus: the built-in tools with their toolsets,
// MCP servers, and labelled intents.
func Embedded() (*Corpus, error) {
	embedded.once.Do(func() {
		files, err := fs.Sub(embeddedFiles, "embedded")
		if err != nil {
			embedded.err = err
			return
		}
		embedded.corpus, embedded.err = loadFolder("embedded", files)
	})
	return embedded.corpus, embedded.err
}

// Load reads a corpus from a path: a folder with corpus.yaml is read as a
// corpus; any other folder, and any file, is imported by content. A corpus
// without toolsets of its own gets the built-in tools, toolsets and presets of
// the embedded one, because an agent has those whatever servers it is given.
func Load(path string) (*Corpus, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w\nhint: give a corpus folder, an exported tools file, or leave --corpus out for the embedded corpus", path, cause(err))
	}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(path, manifestFile)); err == nil {
			return loadFolder(path, os.DirFS(path))
		}
	}
	l := newLoader(sourceName(path))
	if err := l.importPath(path, info.IsDir()); err != nil {
		return nil, err
	}
	if len(l.corpus.Tools) == 0 {
		return nil, fmt.Errorf("%s: no tools found\nhint: %s", path, importHint)
	}
	return l.finishImport()
}

// cause drops the operation and path that os errors repeat.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// importPath imports a file, or every file below a folder in name order. Files
// of a folder that hold single tools belong to one source, the folder's.
func (l *loader) importPath(root string, folder bool) error {
	if !folder {
		data, err := os.ReadFile(root)
		if err != nil {
			return fmt.Errorf("%s: %w\nhint: check the path and its permissions", root, cause(err))
		}
		return l.importFile(root, data)
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w\nhint: check the path and its permissions", path, cause(err))
		}
		if d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w\nhint: check the path and its permissions", path, cause(err))
		}
		if first := bytes.TrimSpace(data); len(first) > 0 && first[0] != '{' && first[0] != '[' {
			l.corpus.Notes = append(l.corpus.Notes, path+": not JSON, left out")
			return nil
		}
		return l.importFileOf(root, path, data)
	})
}

// importFileOf imports one file of a folder. A file that is one bare tool takes
// the folder's name as its source.
func (l *loader) importFileOf(root, path string, data []byte) error {
	if err := checkUTF8(path, data); err != nil {
		return err
	}
	fields, err := rawjson.Object(data)
	if _, named := rawjson.Get(fields, "name"); err == nil && named {
		line, _ := rawjson.Position(data, int64(len(data)-len(bytes.TrimLeft(data, " \t\r\n"))))
		return l.importObject(value{file: path, whole: data, line: line, raw: bytes.TrimSpace(data)}, sourceName(root))
	}
	return l.importFile(path, data)
}

// finishImport lays the imported tools over the embedded built-ins.
func (l *loader) finishImport() (*Corpus, error) {
	base, err := Embedded()
	if err != nil {
		return nil, err
	}
	for _, t := range base.Tools {
		if !t.Builtin {
			continue
		}
		if other, ok := l.tools[t.ID]; ok {
			return nil, other.at.errorAt("rename it: a plugin may not shadow a built-in tool", "tool %q has the name of a built-in tool", t.ID)
		}
		l.corpus.Tools = append(l.corpus.Tools, t)
	}
	l.corpus.Toolsets, l.corpus.Distributions = base.Toolsets, base.Distributions
	return l.done()
}

func (l *loader) done() (*Corpus, error) {
	if l.merged > 0 {
		l.corpus.Notes = append(l.corpus.Notes, fmt.Sprintf("%d exact repeats of a tool were merged", l.merged))
	}
	if l.renamed > 0 {
		l.corpus.Notes = append(l.corpus.Notes, fmt.Sprintf("%d tools share a name with another of their server but differ in content; they are kept under a name with a suffix", l.renamed))
	}
	if err := l.corpus.finish(); err != nil {
		return nil, err
	}
	return l.corpus, nil
}

// The files of a corpus folder.
const (
	manifestFile      = "corpus.yaml"
	toolsetsFile      = "toolsets.yaml"
	distributionsFile = "distributions.yaml"
)

// manifest is corpus.yaml.
type manifest struct {
	SchemaVersion int      `yaml:"schema_version"`
	Name          string   `yaml:"name"`
	Version       string   `yaml:"version"`
	Licence       string   `yaml:"licence"`
	Sources       []string `yaml:"sources"`
}

// toolsetList is toolsets.yaml.
type toolsetList struct {
	SchemaVersion int           `yaml:"schema_version"`
	Core          []string      `yaml:"core"`
	WebhookSafe   []string      `yaml:"webhook_safe"`
	Toolsets      []toolsetItem `yaml:"toolsets"`
}

type toolsetItem struct {
	Name        string   `yaml:"name"`
	Description string   `yaml:"description"`
	Core        bool     `yaml:"core"` // the core list first, then tools
	Tools       []string `yaml:"tools"`
	Includes    []string `yaml:"includes"`
	Posture     bool     `yaml:"posture"`
}

// loadFolder reads a corpus folder. root names it in errors.
func loadFolder(root string, files fs.FS) (*Corpus, error) {
	l := newLoader(root)
	var m manifest
	if err := readYAML(root, files, manifestFile, &m, &m.SchemaVersion); err != nil {
		return nil, err
	}
	l.corpus.Name, l.corpus.Version, l.corpus.Licence, l.corpus.Sources = m.Name, m.Version, m.Licence, m.Sources
	if err := l.eachFile(root, files, "tools", l.toolFile); err != nil {
		return nil, err
	}
	if len(l.corpus.Tools) == 0 {
		return nil, fmt.Errorf("%s: no tools found\nhint: put tool cards into its tools folder", root)
	}
	own, err := l.toolsets(root, files)
	if err != nil {
		return nil, err
	}
	if err := l.distributions(root, files); err != nil {
		return nil, err
	}
	if err := l.eachFile(root, files, "intents", l.intentFile); err != nil {
		return nil, err
	}
	if !own {
		return l.finishOver()
	}
	return l.done()
}

// finishOver completes a folder without toolsets.yaml from the embedded corpus,
// its own distributions kept.
func (l *loader) finishOver() (*Corpus, error) {
	set := l.corpus.Distributions
	c, err := l.finishImport()
	if err != nil {
		return nil, err
	}
	c.Distributions = set
	c.SHA256 = c.digest()
	return c, nil
}

// eachFile reads the files of a sub-folder in name order; a missing sub-folder
// is an empty one.
func (l *loader) eachFile(root string, files fs.FS, folder string, read func(file string, data []byte) error) error {
	entries, err := fs.ReadDir(files, folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w\nhint: check the folder's permissions", path.Join(root, folder), cause(err))
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		file := path.Join(root, folder, e.Name())
		data, err := fs.ReadFile(files, path.Join(folder, e.Name()))
		if err != nil {
			return fmt.Errorf("%s: %w\nhint: check the file's permissions", file, cause(err))
		}
		if err := checkUTF8(file, data); err != nil {
			return err
		}
		if err := read(file, data); err != nil {
			return err
		}
	}
	return nil
}

// toolFile reads a file of the tools folder: cards in JSON or YAML.
func (l *loader) toolFile(file string, data []byte) error {
	switch path.Ext(file) {
	case ".json":
		return l.cards(file, data)
	case ".yaml", ".yml":
		return l.yamlCards(file, data)
	default:
		return fmt.Errorf("%s: not a tool card file\nhint: tool cards end in .json, .yaml or .yml", file)
	}
}

func (l *loader) toolsets(root string, files fs.FS) (own bool, err error) {
	if _, err := fs.Stat(files, toolsetsFile); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var list toolsetList
	if err := readYAML(root, files, toolsetsFile, &list, &list.SchemaVersion); err != nil {
		return false, err
	}
	file := path.Join(root, toolsetsFile)
	sets := make([]toolset.Toolset, len(list.Toolsets))
	for i, item := range list.Toolsets {
		tools := item.Tools
		if item.Core {
			tools = slices.Concat(list.Core, item.Tools)
		}
		sets[i] = toolset.Toolset{Name: item.Name, Description: item.Description, Tools: tools, Includes: item.Includes, Posture: item.Posture}
	}
	if l.corpus.Toolsets, err = toolset.NewTable(list.Core, list.WebhookSafe, sets); err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	return true, l.checkToolsetTools(file, list)
}

// checkToolsetTools refuses a toolset that names a tool which does not exist.
func (l *loader) checkToolsetTools(file string, list toolsetList) error {
	var names []string
	for _, t := range l.corpus.Tools {
		names = append(names, t.Definition.Name)
	}
	check := func(where string, tools []string) error {
		for _, tool := range tools {
			if !slices.Contains(names, tool) {
				return fmt.Errorf("%s: %s names unknown tool %q\nhint: %s", file, where, tool, nearestHint(tool, names))
			}
		}
		return nil
	}
	if err := check("core", list.Core); err != nil {
		return err
	}
	if err := check("webhook_safe", list.WebhookSafe); err != nil {
		return err
	}
	for _, s := range list.Toolsets {
		if err := check(fmt.Sprintf("toolset %q", s.Name), s.Tools); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) distributions(root string, files fs.FS) error {
	data, err := fs.ReadFile(files, distributionsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w\nhint: check the file's permissions", path.Join(root, distributionsFile), cause(err))
	}
	return l.corpus.Distributions.Add(path.Join(root, distributionsFile), data)
}

// readYAML decodes a strict YAML file and checks its schema_version.
func readYAML(root string, files fs.FS, name string, into any, version *int) error {
	file := path.Join(root, name)
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return fmt.Errorf("%s: %w\nhint: check the file and its permissions", file, cause(err))
	}
	if err := checkUTF8(file, data); err != nil {
		return err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("%s: the file is empty\nhint: see docs/format.md for its fields", file)
	}
	if err := yaml.Load(data, into, yaml.WithKnownFields()); err != nil {
		return fmt.Errorf("%s: %w\nhint: see docs/format.md for its fields", file, err)
	}
	if *version != SchemaVersion {
		return fmt.Errorf("%s: schema_version %d is not supported\nhint: this program reads schema_version: %d", file, *version, SchemaVersion)
	}
	return nil
}
