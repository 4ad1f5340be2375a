package eval

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/textfile"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// setHint says what Read reads.
const setHint = "give a labelled set as docs/format.md lists them, a corpus folder, exported tools, or " + EmbeddedName

// Read reads a labelled set by its content: a folder or a file of one of the formats, or anything else that holds tools,
// which is asked derived queries. "embedded" is the embedded corpus. The set bears the name of its folder, or of its file.
//
// An error names the file, within it the place, and ends in a hint.
func Read(path string) (*Set, error) {
	s, err := read(path)
	if err != nil {
		return nil, err
	}
	if len(s.Queries) == 0 {
		return nil, fmt.Errorf("%s: no query can be judged\nhint: %s", path, setHint)
	}
	return s, nil
}

func read(path string) (*Set, error) {
	if path == EmbeddedName {
		c, err := corpus.Embedded()
		if err != nil {
			return nil, err
		}
		return FromCorpus(EmbeddedName, c), nil
	}
	labelled, err := corpus.ReadLabelled(path)
	if err != nil {
		return nil, err
	}
	if labelled != nil {
		return fromLabelled(labelled), nil
	}
	s, err := readQrels(path)
	if errors.Is(err, errNoQrels) {
		return readCorpus(path)
	}
	return s, err
}

// fromLabelled makes a set of another project's.
func fromLabelled(labelled *corpus.Labelled) *Set {
	s := &Set{Name: labelled.Name, Format: labelled.Format, Queries: labelled.Queries, Notes: labelled.Notes}
	for _, t := range labelled.Tools {
		s.Tools = append(s.Tools, Tool{ID: t.ID, Name: t.Name, Doc: search.Doc{
			Name: t.Visible, Description: t.Description, Parameters: t.Parameters, Source: t.Source,
		}})
	}
	return s
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

func readCorpus(path string) (*Set, error) {
	c, err := corpus.Load(path)
	if err != nil {
		return nil, fmt.Errorf("no labelled set, and no corpus: %w", err)
	}
	s := FromCorpus(nameOf(path), c)
	s.Notes = slices.Concat(c.Notes, s.Notes)
	return s, nil
}

// errNoQrels tells that a path holds no TREC qrels.
var errNoQrels = errors.New("no qrels")

// readQrels reads TREC qrels.
func readQrels(path string) (*Set, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil, errNoQrels
	}
	f, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	queries, err := parseQrels(f)
	if err != nil {
		return nil, err
	}
	return &Set{Name: nameOf(path), Format: FormatQrels, Queries: queries}, nil
}
