package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// setHint says what Read reads.
const setHint = "give a labelled set as docs/format.md lists them, a corpus folder, exported tools, or " + EmbeddedName

// Read reads a labelled set by its content: a folder or a file of one of the formats, or anything else that holds tools,
// which is asked derived queries. "embedded" is the embedded corpus. The set bears the name of its folder, or of its file.
//
// An error names the file, within it the place, and ends in a hint.
func Read(path string) (*Set, error) {
	if path == EmbeddedName {
		c, err := corpus.Embedded()
		if err != nil {
			return nil, err
		}
		return FromCorpus(EmbeddedName, c), nil
	}
	s, err := readLabelled(path)
	if errors.Is(err, errNoSet) {
		s, err = readCorpus(path)
	}
	if err != nil {
		return nil, err
	}
	if s.Judged() == 0 && s.AbsentQueries() == 0 {
		return nil, fmt.Errorf("%s: no query can be judged\nhint: %s", path, setHint)
	}
	return s, nil
}

// nameOf is the name of a set or a ranking: that of its folder, or of its file without the extension.
func nameOf(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	name := filepath.Base(path)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name
}

// errNoSet tells that nothing at a path is part of a labelled set.
var errNoSet = errors.New("no labelled set")

func readCorpus(path string) (*Set, error) {
	c, err := corpus.Load(path)
	if err != nil {
		return nil, fmt.Errorf("no labelled set, and no corpus: %w", err)
	}
	s := FromCorpus(nameOf(path), c)
	s.Notes = slices.Concat(c.Notes, s.Notes)
	return s, nil
}

func readLabelled(path string) (*Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.IsDir() {
		return readFiles(path, []string{path})
	}
	if _, err := os.Stat(filepath.Join(path, "corpus.yaml")); err == nil {
		return nil, errNoSet
	}
	if _, err := os.Stat(filepath.Join(path, beirQrels)); !errors.Is(err, fs.ErrNotExist) {
		return readBEIR(path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	var files []string
	for _, e := range entries {
		if extension := filepath.Ext(e.Name()); !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && (extension == ".json" || extension == ".jsonl") {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return readFiles(path, files)
}

// readFiles joins the parts that files hold of one labelled set.
func readFiles(path string, files []string) (*Set, error) {
	s := &Set{Name: nameOf(path)}
	var tools, queries, others string // files
	for _, file := range files {
		t, err := open(file)
		if err != nil {
			return nil, err
		}
		p, err := t.part()
		if errors.Is(err, errNoSet) {
			others = file
			continue
		}
		if err != nil {
			return nil, err
		}
		switch {
		case s.Format != "" && p.format != s.Format:
			return nil, fmt.Errorf("%s: holds a set of the format %s, beside one of the format %s in the same folder\nhint: give each set a folder", file, p.format, s.Format)
		case p.tools != nil && tools != "":
			return nil, fmt.Errorf("%s: more tools, beside those of %s\nhint: keep one file of tools", file, tools)
		case p.queries != nil && queries != "":
			return nil, fmt.Errorf("%s: more queries, beside those of %s\nhint: keep one file of queries", file, queries)
		}
		s.Format = p.format
		if p.tools != nil {
			s.Tools, tools = p.tools, file
		}
		if p.queries != nil {
			s.Queries, queries = p.queries, file
		}
	}
	switch {
	case s.Format == "":
		return nil, errNoSet
	case s.Format == FormatQrels:
		return s, nil
	case tools == "":
		return nil, fmt.Errorf("%s: queries of the format %s, but no tools\nhint: put the file of tools beside it, and name the folder", path, s.Format)
	case queries == "":
		return nil, fmt.Errorf("%s: tools of the format %s, but no queries\nhint: put the file of queries beside it, and name the folder", path, s.Format)
	}
	if others != "" {
		s.note("files beside the set that hold no part of it are passed over, such as %s", others)
	}
	s.settle("not among its tools")
	return s, nil
}

// part is what one file holds of a set.
type part struct {
	format  string
	tools   []Tool
	queries []Query
}

// part reads a file by its content; errNoSet means that it holds no part of a labelled set.
func (t *text) part() (*part, error) {
	body := strings.TrimLeft(string(t.data[:min(len(t.data), 4096)]), jsonSpace)
	if body == "" {
		return nil, fmt.Errorf("%s: the file is empty\nhint: copy it again", t.file)
	}
	if body[0] != '{' {
		return t.qrelsPart()
	}
	values, lines, err := t.values()
	if err != nil {
		return nil, err
	}
	if lines {
		return linesPart(values)
	}
	return valuePart(values[0])
}

// linesPart reads the lines of Seal-Tools.
func linesPart(lines []value) (*part, error) {
	if !slices.ContainsFunc(lines, func(v value) bool { return v.object("").has("api_name") || v.object("").has("calling") }) {
		return nil, errNoSet
	}
	return sealPart(lines)
}

// valuePart reads the formats that are one JSON object. Which of them it is, the names of its fields tell.
func valuePart(v value) (*part, error) {
	o := v.object("the file")
	if o.err != nil {
		return nil, o.err
	}
	within := func(list, field string) bool {
		return slices.ContainsFunc(o.fields[list].elements(), func(e value) bool { return e.object("").has(field) })
	}
	switch {
	case o.has("tools", "intents"):
		return ironclawPart(o)
	case within("tools", "tool_id"):
		return mcpproxyTools(o)
	case within("queries", "labels"):
		return mcpproxyQueries(o)
	case within("results", "command"):
		return azureTools(o)
	case o.has("api_name"), o.has("calling"):
		return sealPart([]value{v}) // a single line
	case len(o.keys) > 0 && azurePrompt(o.fields[o.keys[0]]):
		return azureQueries(o)
	}
	return nil, errNoSet
}

// claims refuses an ID that comes twice.
type claims map[string]value

func (c claims) take(o *object, what, id string) {
	if first, again := c[id]; again {
		line, _ := rawjson.Position(first.text.data, int64(first.at))
		o.fail(o.value, "give each an ID of its own", "%s %s is there twice; first in line %d", what, shown(id), line)
	}
	c[id] = o.value
}
