package distributions

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// Set is the distributions that can be asked for by name: the presets, then custom ones in the order added.
// Once filled, it may be read from many goroutines.
type Set struct {
	members []member
	index   map[string]int
}

// member is a distribution and the place that defines it; a preset has no file.
type member struct {
	Distribution
	file string
	line int
}

// maxFileBytes bounds a distributions file. Two thousand distributions fit, while the worst text of this size, one endless
// line of commas on which the YAML scanner is quadratic, is still refused within seconds.
const maxFileBytes = 256 << 10

// NewSet returns a set of the presets.
func NewSet() *Set {
	s := &Set{index: map[string]int{}}
	for _, d := range Presets() {
		s.put(member{Distribution: d})
	}
	return s
}

func (s *Set) put(m member) {
	s.index[m.Name] = len(s.members)
	s.members = append(s.members, m)
}

// Add reads custom distributions from YAML; file names the text in errors. The whole text is taken, or nothing of it.
// An error names file and line, and says in a hint what to write instead. A name that a preset or an earlier
// distribution bears is refused, because a session file that names it would change its meaning.
//
// The form, in which every field but servers and toolsets is required, and at least one of those two:
//
//	schema_version: 1
//	distributions:
//	  - name: my_servers
//	    description: What our team has open on a normal day.
//	    toolsets: {web: 100, terminal: 80, mcp-github: 60} # percentages; declaration order matters
//	    servers: 2                                         # MCP servers drawn besides, default 0
func (s *Set) Add(file string, data []byte) error {
	if len(data) > maxFileBytes {
		return fmt.Errorf("%s: larger than %d bytes\nhint: split the distributions over several files", file, maxFileBytes)
	}
	custom, err := parse(file, data)
	if err != nil {
		return err
	}
	for _, m := range custom {
		i, taken := s.index[m.Name]
		switch {
		case taken && s.members[i].file == "":
			return fmt.Errorf("%s:%d: distribution %q is a preset and cannot be redefined\nhint: choose another name, for example %q",
				m.file, m.line, m.Name, "my_"+m.Name)
		case taken:
			first := s.members[i]
			return fmt.Errorf("%s:%d: distribution %q is already defined at %s:%d\nhint: remove or rename one of the two",
				m.file, m.line, m.Name, first.file, first.line)
		}
	}
	for _, m := range custom {
		s.put(m)
	}
	return nil
}

// AddFile is Add for a file on disk. An unreadable file's error wraps the operating system's.
func (s *Set) AddFile(path string) error {
	// Looked at before it is opened: opening a pipe that nobody writes to never ends.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("%s: not a regular file\nhint: write what it gives to a file first", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read distributions: %w\nhint: check the path and its permissions", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return fmt.Errorf("cannot read distributions: %w\nhint: name a YAML file", err)
	}
	return s.Add(path, data)
}

// Clone returns a set that can be added to without changing s.
func (s *Set) Clone() *Set { return &Set{members: slices.Clone(s.members), index: maps.Clone(s.index)} }

// CheckToolsets holds the custom distributions against the toolsets that there are. The error names file, line and the
// toolset that was perhaps meant. Presets are left alone: they skip what a corpus lacks.
func (s *Set) CheckToolsets(known []string) error {
	for _, m := range s.members {
		for _, e := range m.Entries {
			if m.file == "" || slices.Contains(known, e.Toolset) {
				continue
			}
			hint := "name a toolset or a server of the corpus, such as web or mcp-github"
			if near := nearest(e.Toolset, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return fmt.Errorf("%s:%d: distribution %q names unknown toolset %q\nhint: %s", m.file, m.line, m.Name, e.Toolset, hint)
		}
	}
	return nil
}

// UnknownError says that no distribution has the name asked for.
type UnknownError struct {
	// Name is the name asked for; Nearest is one that was perhaps meant, or empty.
	Name, Nearest string
}

func (e *UnknownError) Error() string {
	const all = "datagen list shows every distribution"
	if e.Nearest == "" {
		return fmt.Sprintf("unknown distribution %q\nhint: %s", e.Name, all)
	}
	return fmt.Sprintf("unknown distribution %q\nhint: did you mean %q? %s", e.Name, e.Nearest, all)
}

// Get returns a fresh copy of the distribution of that exact name, or an [*UnknownError].
func (s *Set) Get(name string) (Distribution, error) {
	i, ok := s.index[name]
	if !ok {
		return Distribution{}, &UnknownError{Name: name, Nearest: nearest(name, s.Names())}
	}
	return s.members[i].clone(), nil
}

// Validate says whether the set has a distribution of that name.
func (s *Set) Validate(name string) bool {
	_, ok := s.index[name]
	return ok
}

// Names returns every name, presets first.
func (s *Set) Names() []string {
	names := make([]string, len(s.members))
	for i, m := range s.members {
		names[i] = m.Name
	}
	return names
}

// All returns fresh copies of every distribution, in the order of Names.
func (s *Set) All() []Distribution {
	all := make([]Distribution, len(s.members))
	for i, m := range s.members {
		all[i] = m.clone()
	}
	return all
}

// Summaries describes every distribution for a listing, in the order of Names. exists is that of
// [Distribution.Sample].
func (s *Set) Summaries(exists func(string) bool) []Summary {
	all := make([]Summary, len(s.members))
	for i, m := range s.members {
		all[i] = m.Summarise(exists)
		all[i].Preset = m.file == ""
	}
	return all
}
