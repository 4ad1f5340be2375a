package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/internal/textfile"
)

// CountCards returns how many tools a file of tool cards holds: a card file of the
// project's own, one card, or any of the shapes that Load imports, in JSON or, if
// the name ends in .yaml or .yml, in YAML. An error says why it holds none.
func CountCards(file string) (int, error) {
	l := newLoader("")
	if err := l.gather(file); err != nil {
		return 0, err
	}
	n := 0
	for _, id := range l.ids {
		n += len(l.claims[id])
	}
	return n, nil
}

// GatherCards makes a corpus of files of tool cards, each as CountCards reads it.
// Tools that do not say whose they are belong to the source that their file
// names, or their folder if they are alone in the file.
func GatherCards(name string, files []string) (*Corpus, error) {
	l := newLoader(name)
	for _, file := range files {
		if err := l.gather(file); err != nil {
			return nil, err
		}
	}
	return l.finishImport(name, Embedded)
}

// Import makes a corpus of labelled sets, of files as CountCards reads them, and of
// folders as Load imports them. Tools of one server may stand in several. A corpus folder is
// refused, since its toolsets and intents would be lost.
func Import(name string, paths []string) (*Corpus, error) {
	l := newLoader(name)
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w\nhint: give files or folders of exported tools", p, textfile.Cause(err))
		}
		if err := l.importPath(p, info.IsDir()); err != nil {
			return nil, err
		}
	}
	return l.finishImport(strings.Join(paths, ", "), Embedded)
}

func (l *loader) importPath(p string, folder bool) error {
	files := os.DirFS(p)
	if _, err := fs.Stat(files, manifestFile); folder && err == nil {
		return fmt.Errorf("%s: is a corpus folder already\nhint: give it to --corpus as it is", p)
	}
	switch found, err := l.importLabelled(p); {
	case found || err != nil:
		return err
	case folder:
		return l.walk(p, files, "")
	}
	return l.gather(p)
}

func (l *loader) gather(file string) error {
	data, err := textfile.Read(os.DirFS(filepath.Dir(file)), filepath.Base(file), file, textfile.Max)
	if err != nil {
		return err
	}
	from := labels{single: sourceName(filepath.Dir(file), true), list: sourceName(file, false)}
	return l.gatherText(&document{file: file, data: data}, from)
}

// gatherText reads a text as its file's name says.
func (l *loader) gatherText(d *document, from labels) error {
	switch path.Ext(d.file) {
	case ".yaml", ".yml":
		if len(d.data) > yamlMax {
			return textfile.TooLarge(d.file, yamlMax)
		}
		n, err := readYAML(d.file, d.data)
		if err != nil {
			return err
		}
		return l.gatherValue(n, from)
	}
	return l.importText(d, from)
}

// gatherValue reads a value as cards of the project's own if a field says that it
// is, and imports it otherwise.
func (l *loader) gatherValue(n node, from labels) error {
	switch {
	case n.kind() != "object":
	case isCardFile(n):
		return l.cards(n)
	case hasMember(n, "name") && hasMember(n, "toolset"):
		if err := n.once(); err != nil {
			return err
		}
		return l.card(n, "")
	case isOtherThing(n):
		return n.errorAt(importHint, "neither a description nor parameters: a name alone makes no tool card")
	}
	return l.importValue(n, from, 0)
}

// isCardFile reports whether an object is a card file: it gives its version, or
// the toolsets of its tools, which no other program's file does.
func isCardFile(n node) bool {
	for _, m := range n.members() {
		switch {
		case m.key == "schema_version":
			return hasMember(n, "tools", "listed")
		case m.key == "tools" && m.value.kind() == "array":
			for _, tool := range m.value.elements() {
				if tool.kind() == "object" && hasMember(tool, "toolset") {
					return true
				}
			}
		}
	}
	return false
}

// isOtherThing reports whether an object has a name and other fields, and none of
// those is a tool's: a package's description, say.
func isOtherThing(n node) bool {
	members := n.members()
	named := slices.ContainsFunc(members, func(m member) bool { return m.key == "name" && m.value.kind() == "string" })
	return named && len(members) > 1 && !hasMember(n, "description", "parameters", "inputSchema", "input_schema", "function", "tools", "title",
		"annotations", "outputSchema", "server")
}

// hasMember reports whether an object has one of the keys.
func hasMember(n node, keys ...string) bool {
	for _, m := range n.members() {
		for _, key := range keys {
			if m.key == key {
				return true
			}
		}
	}
	return false
}

// rawSchema returns the schema of a card or of an OpenAI function as its owner
// wrote it, byte for byte, or nil if it has none. One with a key twice is refused:
// no card may have it.
func (t *Tool) rawSchema() (json.RawMessage, error) {
	d := &document{file: t.ID, data: bytes.Clone(t.Raw)}
	n, err := d.value(0, len(d.data))
	if err != nil {
		return nil, err
	}
	f, err := readForeign(n)
	if err != nil {
		return nil, err
	}
	names := []string{"parameters"}
	if function, ok := f.get("function", "object"); ok {
		if f, err = readForeign(function); err != nil {
			return nil, err
		}
	} else if _, ok := f.has("type"); !ok { // a card, and no flat function
		names = append(names, "inputSchema")
	}
	schema, err := f.schema(t.Name, names...)
	if err != nil || schema == nil {
		return nil, err
	}
	if (node{&document{data: schema}, 0, len(schema)}).once() != nil {
		return nil, fmt.Errorf("%s:%d:%d: the schema of tool %s has a key twice\nhint: keep one of the two", t.File, t.Line, t.Column, textfile.Shown(t.ID))
	}
	return schema, nil
}
