package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

// The files of a corpus folder, and its folders.
const (
	manifestFile      = "corpus.yaml"
	toolsetsFile      = "toolsets.yaml"
	distributionsFile = "distributions.yaml"
	toolsFolder       = "tools"
	intentsFolder     = "intents"
)

// folder is a corpus folder that is read.
type folder struct {
	root  string // names it in errors
	files fs.FS
}

// loadFolder reads a corpus folder. root names it in errors; base gives the
// corpus that completes one without toolsets.
func loadFolder(root string, files fs.FS, base func() (*Corpus, error)) (*Corpus, error) {
	f := folder{root, files}
	l := newLoader(root)
	manifest, err := f.yaml(manifestFile)
	if err != nil {
		return nil, err
	}
	if err := l.manifest(manifest); err != nil {
		return nil, err
	}
	if err := f.each(toolsFolder, l.toolFile); err != nil {
		return nil, err
	}
	if len(l.claims) == 0 {
		return nil, fmt.Errorf("%s: no tools found\nhint: put tool cards into its folder %s", root, toolsFolder)
	}
	if err := f.each(intentsFolder, l.intentFile); err != nil {
		return nil, err
	}
	if err := f.distributions(l.corpus.Distributions); err != nil {
		return nil, err
	}
	own, err := f.yaml(toolsetsFile)
	if errors.Is(err, fs.ErrNotExist) && base != nil {
		builtin, err := base()
		if err != nil {
			return nil, err
		}
		return l.finishOver(builtin)
	}
	if err != nil {
		return nil, err
	}
	for _, claims := range l.claims {
		claims[0].tool.Builtin = claims[0].tool.Server == ""
	}
	if err := l.toolsets(own); err != nil {
		return nil, err
	}
	return l.finish()
}

// yaml reads a YAML file of the folder.
func (f folder) yaml(name string) (node, error) {
	shown := path.Join(f.root, name)
	data, err := textfile.Read(f.files, name, shown, yamlMax)
	if err != nil {
		return node{}, err
	}
	return readYAML(shown, data)
}

func (f folder) distributions(set *distributions.Set) error {
	shown := path.Join(f.root, distributionsFile)
	data, err := textfile.Read(f.files, distributionsFile, shown, yamlMax)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return set.Add(shown, data)
}

// each reads the files of a sub-folder in name order; a missing sub-folder is an
// empty one, and hidden files are passed over.
func (f folder) each(sub string, read func(d *document) error) error {
	entries, err := fs.ReadDir(f.files, sub)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return textfile.Unreadable(path.Join(f.root, sub), err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		shown := path.Join(f.root, sub, e.Name())
		data, err := textfile.Read(f.files, path.Join(sub, e.Name()), shown, textfile.Max)
		if err != nil {
			return err
		}
		if err := read(&document{file: shown, data: data}); err != nil {
			return err
		}
	}
	return nil
}

// toolFile reads a file of the tools folder: cards in JSON or YAML.
func (l *loader) toolFile(d *document) error {
	switch path.Ext(d.file) {
	case ".json":
		if len(bytes.Trim(d.data, jsonSpace)) == 0 {
			return fmt.Errorf("%s: the file is empty\nhint: write {\"server\": …, \"tools\": […]}, or remove it", d.file)
		}
		n, err := d.value(0, len(d.data))
		if err != nil {
			return err
		}
		return l.cards(n)
	case ".yaml", ".yml":
		if len(d.data) > yamlMax {
			return fmt.Errorf("%s: larger than %d bytes\nhint: split it over several files, or write it as JSON", d.file, yamlMax)
		}
		n, err := readYAML(d.file, d.data)
		if err != nil {
			return err
		}
		return l.cards(n)
	default:
		return fmt.Errorf("%s: not a tool card file\nhint: tool cards end in .json, .yaml or .yml", d.file)
	}
}

// intentFile reads a file of the intents folder.
func (l *loader) intentFile(d *document) error {
	if path.Ext(d.file) != ".jsonl" {
		return fmt.Errorf("%s: not a file of intents\nhint: intents are JSON Lines and end in .jsonl", d.file)
	}
	return l.intents(d)
}

// manifest reads corpus.yaml.
func (l *loader) manifest(n node) error {
	o := readObject(n, manifestFile, "schema_version", "name", "version", "licence", "sources")
	if o.err != nil {
		return o.err
	}
	if err := n.once(); err != nil {
		return err
	}
	o.require("schema_version", "name")
	o.version()
	c := l.corpus
	c.Name, c.Version, c.Licence, c.Sources = o.text("name"), o.text("version"), o.text("licence"), o.texts("sources")
	if o.err == nil && c.Name == "" {
		o.fail(o.fields["name"], "name the corpus", "name is empty")
	}
	return o.err
}
