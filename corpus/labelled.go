package corpus

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

// Labelled is a labelled set as another project publishes it: tools, and queries with the tools that people judged to serve
// them.
type Labelled struct {
	Name   string // of its folder, or of its file
	Format string // one of the Format constants
	// Tools are in the order of the names that retrievers read.
	Tools []LabelledTool
	// Queries stand in the order of their file.
	Queries []Query
	// Notes tell what reading decided on its own, one sentence each.
	Notes []string
}

// The formats of labelled sets.
const (
	FormatMCPProxy  = "mcpproxy"
	FormatIronclaw  = "ironclaw"
	FormatAzureMCP  = "azure-mcp"
	FormatSealTools = "seal-tools"
	FormatBEIR      = "beir"
)

// LabelledTool is a tool of a labelled set.
type LabelledTool struct {
	ID          string // unique in its set: what judgements name
	Source      string // who or what it belongs to, in the set's own words; may be empty
	Name        string // as its source calls it
	Visible     string // what retrievers read for its name
	Description string
	Parameters  []string // top-level ones

	at     node
	owner  string          // the server among its sources; empty if the set names none
	schema json.RawMessage // of the parameters; nil if the set has none
}

// Query is one query and its judgements.
type Query struct {
	ID    string // unique in its set
	Text  string
	Class string // what makes it easy or hard, in the set's own words; may be empty
	// Grades holds the judged tools by ID. A grade of 1 or more is relevant, the higher the better.
	Grades map[string]int

	at node
}

// Absent tells whether no tool serves the query: then it is right to find nothing.
func (q *Query) Absent() bool {
	for _, grade := range q.Grades {
		if grade > 0 {
			return false
		}
	}
	return true
}

// ReadLabelled reads a labelled set by its content: a folder, whose hidden files and subfolders do not count, or a file.
// Judgements of tools that are not in the set are dropped, and queries that lose all their relevant tools are left out, with
// a note. It returns nil if nothing there is part of a labelled set.
//
// An error names the file, within it the place, and ends in a hint.
func ReadLabelled(path string) (*Labelled, error) {
	if strings.HasPrefix(path, syntheticPrefix) {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, textfile.Unreadable(path, err)
	}
	s := &Labelled{Name: sourceName(path, info.IsDir())}
	if !info.IsDir() {
		return s.join(path, []string{path})
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, textfile.Unreadable(path, err)
	}
	var files []string
	for _, e := range entries {
		switch extension := filepath.Ext(e.Name()); {
		case e.Name() == manifestFile:
			return nil, nil
		case e.IsDir() || strings.HasPrefix(e.Name(), "."):
		case extension == ".json" || extension == ".jsonl":
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	has := func(name string) bool { return slices.Contains(files, filepath.Join(path, name)) }
	if _, err := os.Stat(filepath.Join(path, beirQrels)); !errors.Is(err, fs.ErrNotExist) && (has(beirCorpus) || has(beirQueries)) {
		return s, s.readBEIR(path)
	}
	return s.join(path, files)
}

// errNoPart tells that a file is no part of a labelled set.
var errNoPart = errors.New("no part of a labelled set")

// part is what one file holds of a set.
type part struct {
	format  string
	tools   []LabelledTool
	queries []Query
}

// join joins the parts that files hold of one set.
func (s *Labelled) join(path string, files []string) (*Labelled, error) {
	var tools, queries, other string // files
	for _, file := range files {
		p, err := readPart(file)
		if errors.Is(err, errNoPart) {
			other = cmp.Or(other, file)
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
		return nil, nil
	case tools == "":
		return nil, fmt.Errorf("%s: queries of the format %s, but no tools\nhint: put the file of tools beside it, and name the folder", path, s.Format)
	case queries == "":
		return nil, fmt.Errorf("%s: tools of the format %s, but no queries\nhint: put the file of queries beside it, and name the folder", path, s.Format)
	}
	if other != "" {
		s.note("files beside the set that hold no part of it are passed over, such as %s", other)
	}
	s.settle()
	return s, nil
}

// settle sorts the tools, and drops judgements of tools that are not in the set.
func (s *Labelled) settle() {
	slices.SortFunc(s.Tools, func(a, b LabelledTool) int {
		return cmp.Or(cmp.Compare(a.Visible, b.Visible), cmp.Compare(a.ID, b.ID))
	})
	known := make(map[string]bool, len(s.Tools))
	for i := range s.Tools {
		known[s.Tools[i].ID] = true
	}
	dropped, left := 0, 0
	s.Queries = slices.DeleteFunc(s.Queries, func(q Query) bool {
		absent := q.Absent()
		for id, grade := range q.Grades {
			if !known[id] {
				delete(q.Grades, id)
				if grade > 0 {
					dropped++
				}
			}
		}
		gone := q.Absent() && !absent
		if gone {
			left++
		}
		return gone
	})
	if dropped > 0 {
		s.note("golds of %s that are not among its tools and not judged: %d; queries left out because all of theirs are: %d", s.Name, dropped, left)
	}
}

func (s *Labelled) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

func readPart(file string) (*part, error) {
	f, err := textfile.Open(file)
	if err != nil {
		return nil, err
	}
	return (&document{file: file, data: f.Data}).part()
}

// part reads a file by its content.
func (d *document) part() (*part, error) {
	body := bytes.TrimLeft(d.data, jsonSpace)
	if len(body) == 0 || body[0] != '{' {
		return nil, errNoPart
	}
	line, rest, _ := bytes.Cut(body, []byte{'\n'})
	if len(bytes.Trim(rest, jsonSpace)) == 0 || !json.Valid(line) {
		n, err := d.value(0, len(d.data))
		if err != nil {
			return nil, err
		}
		return n.part()
	}
	first, err := d.value(len(d.data)-len(body), len(d.data)-len(rest))
	if err != nil {
		return nil, err
	}
	if !hasMember(first, "api_name", "calling") {
		return nil, errNoPart
	}
	return sealPart(d.lines)
}

// part reads the formats that are one JSON object. Which of them it is, the names of its fields tell.
func (n node) part() (*part, error) {
	f, err := readForeign(n)
	if err != nil {
		return nil, err
	}
	_, tools := f.has("tools")
	_, intents := f.has("intents")
	within := func(list, field string) bool {
		at, ok := f.get(list, "array")
		return ok && slices.ContainsFunc(at.elements(), func(e node) bool { return e.kind() == "object" && hasMember(e, field) })
	}
	switch {
	case tools && intents:
		return ironclawPart(n)
	case within("tools", "tool_id"):
		return mcpproxyTools(n)
	case within("queries", "labels"):
		return mcpproxyQueries(n)
	case within("results", "command"):
		return azureTools(n)
	case hasMember(n, "api_name", "calling"):
		return sealPart(func(take func(node) error) error { return take(n) })
	case len(f.members) > 0 && isPrompts(f.members[0].value):
		return azureQueries(f)
	}
	return nil, errNoPart
}

// claimed refuses an ID that comes twice.
type claimed map[string]node

func (c claimed) take(o *object, what, id string) {
	if first, again := c[id]; again && o.err == nil {
		line, _ := first.doc.place(first.start)
		o.fail(o.node, "give each an ID of its own", "%s %s is there twice; first in line %d", what, textfile.Shown(id), line)
	}
	c[id] = o.node
}

// importLabelled takes the set that a path holds, if any, as tools of MCP servers and intents. Tools whose set names no
// owner are those of one server with the set's name.
func (l *loader) importLabelled(path string) (found bool, err error) {
	s, err := ReadLabelled(path)
	if s == nil || err != nil {
		return false, err
	}
	tools := make(map[string]*Tool, len(s.Tools)) // by the set's own IDs
	for i := range s.Tools {
		t := &s.Tools[i]
		tool := &Tool{Server: cmp.Or(t.owner, s.Name), Name: t.Name}
		description := rawjson.Field{Key: "description", Value: rawjson.String(t.Description)}
		function, listed := []rawjson.Field{description}, []rawjson.Field{{Key: "name", Value: rawjson.String(t.Name)}, description}
		if t.schema != nil {
			function = append(function, rawjson.Field{Key: "parameters", Value: t.schema})
			listed = append(listed, rawjson.Field{Key: "inputSchema", Value: t.schema})
		}
		tool.Raw = rawjson.AppendObject(nil, listed) // as its server would list it
		if err := l.add(t.at, tool, function, refuseRepeats); err != nil {
			return false, err
		}
		tools[t.ID] = tool
	}
	for i := range s.Queries {
		q := &s.Queries[i]
		in := q.intent(tools)
		if first, again := l.intentAt[in.ID]; again {
			return false, q.at.errorAt("import each labelled set by itself", "query %s has the ID of another set's; first at %s", textfile.Shown(in.ID), first.place())
		}
		l.intentAt[in.ID] = q.at
		l.corpus.Intents = append(l.corpus.Intents, in)
	}
	l.corpus.Notes = append(l.corpus.Notes, s.Notes...)
	return true, nil
}

// intent makes an intent of a query: its golds are the tools of its highest grade, since those of lesser ones stand in for
// them rather than beside them. As in a derived intent, required arguments have values of their type.
func (q *Query) intent(tools map[string]*Tool) *Intent {
	in := &Intent{ID: q.ID, Utterance: q.Text, Language: probeLanguage(q.Text), Class: Class(q.Class)}
	best := 1
	for _, grade := range q.Grades {
		best = max(best, grade)
	}
	for id, grade := range q.Grades {
		if grade == best {
			in.Gold = append(in.Gold, Gold{Tool: tools[id].ID, Arguments: tools[id].requiredArguments()})
		}
	}
	slices.SortFunc(in.Gold, func(a, b Gold) int { return cmp.Compare(a.Tool, b.Tool) })
	switch {
	case len(in.Gold) == 0:
		in.Class = Absent
	case len(in.Gold) > 1:
		in.Class = MultiTool
	case in.Class == Absent || in.Class == Derived || !slices.Contains(Classes(), in.Class):
		in.Class = Paraphrase
	}
	return in
}
