package distributions

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// schemaVersion is the version of the YAML form that parse reads.
const schemaVersion = "1"

// Limits on names. Sixty-four characters fit a table; a toolset may carry a long server name.
const (
	maxNameBytes    = 64
	maxToolsetBytes = 256
)

// parser turns YAML nodes into distributions. It walks the nodes itself, since decoding into a map would lose the order
// of toolsets, and since nodes know their lines.
type parser struct {
	file string
}

// parse reads one distributions file. Names are unique within the result; whether they clash with others is for the
// set to say.
func parse(file string, data []byte) ([]member, error) {
	p := parser{file: file}
	root, err := p.document(data)
	if err != nil {
		return nil, err
	}
	fields, err := p.fields(root, "the file", "schema_version", "distributions")
	if err != nil {
		return nil, err
	}
	if err := p.version(root, fields["schema_version"]); err != nil {
		return nil, err
	}
	list := fields["distributions"]
	if list == nil {
		return nil, p.fault(root, "list them under distributions:", "the file lacks distributions")
	}
	if list.Kind != yaml.SequenceNode {
		return nil, p.fault(list, "begin each distribution with \"- name:\"", "distributions is %s, not a list", kind(list))
	}
	members := make([]member, 0, len(list.Content))
	lines := map[string]int{}
	for _, n := range list.Content {
		d, err := p.distribution(n)
		if err != nil {
			return nil, err
		}
		if first, twice := lines[d.Name]; twice {
			return nil, p.fault(n, "remove or rename one of the two", "distribution %q is already defined at %s:%d", d.Name, file, first)
		}
		lines[d.Name] = n.Line
		members = append(members, member{Distribution: d, file: file, line: n.Line})
	}
	return members, nil
}

// document returns the root node of the file's only document.
func (p parser) document(data []byte) (*yaml.Node, error) {
	const begin = "begin the file with \"schema_version: 1\" and list distributions below"
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s: not valid UTF-8\nhint: save the file as UTF-8 text", p.file)
	}
	var document yaml.Node
	if err := yaml.Load(data, &document); err != nil {
		var fault *yaml.LoadError
		if errors.As(err, &fault) && fault.Mark.Line > 0 {
			return nil, fmt.Errorf("%s:%d: not valid YAML: %s\nhint: check quotes, brackets and indentation around this line",
				p.file, fault.Mark.Line, fault.Message)
		}
		return nil, fmt.Errorf("%s: empty, or more than one YAML document\nhint: %s", p.file, begin)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, fmt.Errorf("%s: empty, or more than one YAML document\nhint: %s", p.file, begin)
	}
	return document.Content[0], nil
}

func (p parser) version(root, n *yaml.Node) error {
	const hint = "write \"schema_version: 1\""
	if n == nil {
		return p.fault(root, hint, "the file lacks schema_version")
	}
	if n.ShortTag() != "!!int" || n.Value != schemaVersion {
		return p.fault(n, hint, "schema_version is %s, and only %s can be read", show(n), schemaVersion)
	}
	return nil
}

func (p parser) distribution(n *yaml.Node) (Distribution, error) {
	var d Distribution
	fields, err := p.fields(n, "a distribution", "name", "description", "toolsets", "servers")
	if err != nil {
		return d, err
	}
	for _, required := range []string{"name", "description"} {
		if fields[required] == nil {
			return d, p.fault(n, "add \""+required+": …\"", "the distribution lacks a %s", required)
		}
	}
	if d.Name, err = p.name(fields["name"]); err != nil {
		return d, err
	}
	if d.Description, err = p.description(d.Name, fields["description"]); err != nil {
		return d, err
	}
	if toolsets := fields["toolsets"]; toolsets != nil {
		if d.Entries, err = p.entries(d.Name, toolsets); err != nil {
			return d, err
		}
	}
	if servers := fields["servers"]; servers != nil {
		if d.Servers, err = p.servers(d.Name, servers); err != nil {
			return d, err
		}
	}
	if len(d.Entries) == 0 && d.Servers == 0 {
		return d, p.fault(n, "add toolsets, such as \"toolsets: {web: 100}\", or servers of 1 or more",
			"distribution %q draws nothing", d.Name)
	}
	return d, nil
}

func (p parser) name(n *yaml.Node) (string, error) {
	const hint = "use letters, digits, \"_\", \"-\" and \".\", beginning with a letter or digit, at most 64 characters; quote a number"
	allowed := func(i int, r rune) bool {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return true
		default:
			return i > 0 && strings.ContainsRune("_-.", r)
		}
	}
	ok := isText(n) && n.Value != "" && len(n.Value) <= maxNameBytes
	if ok {
		for i, r := range n.Value {
			ok = ok && allowed(i, r)
		}
	}
	if !ok {
		return "", p.fault(n, hint, "name is %s, which cannot name a distribution", show(n))
	}
	return n.Value, nil
}

// description collapses white space, so that folded YAML text stands on one line of a table.
func (p parser) description(name string, n *yaml.Node) (string, error) {
	if !isText(n) {
		return "", p.fault(n, "write a sentence that says what the distribution is for", "distribution %q: description is %s, not text", name, show(n))
	}
	text := strings.Join(strings.FieldsFunc(n.Value, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if text == "" {
		return "", p.fault(n, "write a sentence that says what the distribution is for", "distribution %q: description is empty", name)
	}
	return text, nil
}

func (p parser) entries(name string, n *yaml.Node) ([]Entry, error) {
	if n.Kind != yaml.MappingNode {
		return nil, p.fault(n, "write \"toolsets: {web: 100, terminal: 80}\"", "distribution %q: toolsets is %s, not a mapping from toolset to percent", name, kind(n))
	}
	entries := make([]Entry, 0, len(n.Content)/2)
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !isText(key) || !isToolset(key.Value) {
			return nil, p.fault(key, "name a toolset, without spaces; quote a name that looks like a number",
				"distribution %q: %s cannot name a toolset", name, show(key))
		}
		if first, twice := lines[key.Value]; twice {
			return nil, p.fault(key, "keep one of the two", "distribution %q: toolset %q is already given on line %d", name, key.Value, first)
		}
		lines[key.Value] = key.Line
		percent, err := p.percent(name, key.Value, value)
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Toolset: key.Value, Percent: percent})
	}
	return entries, nil
}

// percent reads the number as decimal, whatever YAML makes of it: a leading zero is not octal here.
func (p parser) percent(name, toolset string, n *yaml.Node) (float64, error) {
	const hint = "write the chance of the toolset as a plain number from 0 (never) to 100 (always)"
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
		return 0, p.fault(n, hint, "distribution %q: percent of toolset %q is %s, not a number", name, toolset, show(n))
	}
	percent, err := strconv.ParseFloat(n.Value, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, p.fault(n, hint, "distribution %q: percent of toolset %q is %s, not a decimal number", name, toolset, show(n))
	}
	// Written so that NaN fails too.
	if !(percent >= 0 && percent <= 100) {
		return 0, p.fault(n, hint, "distribution %q: percent of toolset %q is %s, outside 0 to 100", name, toolset, show(n))
	}
	// Adding zero turns -0 into 0, which prints better.
	return percent + 0, nil
}

func (p parser) servers(name string, n *yaml.Node) (int, error) {
	count, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || count < 0 {
		return 0, p.fault(n, "write how many MCP servers to draw, such as \"servers: 3\"",
			"distribution %q: servers is %s, not a count of 0 or more", name, show(n))
	}
	return count, nil
}

// fields returns a mapping's values by key, refusing keys that are unknown or given twice.
func (p parser) fields(n *yaml.Node, what string, known ...string) (map[string]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, p.fault(n, "its fields are "+strings.Join(known, ", "), "%s is %s, not a mapping", what, kind(n))
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !contains(known, key) {
			hint := "the fields of " + what + " are " + strings.Join(known, ", ")
			if near := nearest(key.Value, known); near != "" {
				hint = fmt.Sprintf("did you mean %q? %s", near, hint)
			}
			return nil, p.fault(key, hint, "unknown field %s", show(key))
		}
		if first := fields[key.Value]; first != nil {
			return nil, p.fault(key, "keep one of the two", "field %q is already given on line %d", key.Value, first.Line)
		}
		fields[key.Value] = value
	}
	return fields, nil
}

func contains(known []string, key *yaml.Node) bool {
	for _, k := range known {
		if isText(key) && key.Value == k {
			return true
		}
	}
	return false
}

// fault is an error at a node's line.
func (p parser) fault(n *yaml.Node, hint, format string, args ...any) error {
	if n.Kind == yaml.AliasNode {
		hint = "write the value out, since anchors and aliases are not read here"
	}
	return fmt.Errorf("%s:%d: %s\nhint: %s", p.file, n.Line, fmt.Sprintf(format, args...), hint)
}

func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" }

func isToolset(name string) bool {
	return name != "" && len(name) <= maxToolsetBytes &&
		!strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
}

// show quotes a node's value for an error, or says what it is if it has none.
func show(n *yaml.Node) string {
	const most = 80
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return kind(n)
	}
	if runes := []rune(n.Value); len(runes) > most {
		return strconv.Quote(string(runes[:most]) + "…")
	}
	return strconv.Quote(n.Value)
}

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	default:
		if n.ShortTag() == "!!null" {
			return "empty"
		}
		return "a single value"
	}
}
