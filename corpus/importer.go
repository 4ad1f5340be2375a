package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

const importHint = "expected an OpenAI tools array, an MCP tools/list result, or JSON Lines of either"

// wrapMax bounds how deep tools may lie in lists and objects around them; the
// shapes below need four levels.
const wrapMax = 8

// labels name the owner of tools that do not say whose they are: single for a
// file that is one tool, list for tools in lists and lines.
type labels struct{ single, list string }

// importText reads JSON by its content: JSON Lines if the first line that is not
// blank is a value of its own and others follow, else one value.
func (l *loader) importText(d *document, from labels) error {
	text := bytes.TrimLeft(d.data, jsonSpace)
	if len(text) == 0 {
		return fmt.Errorf("%s: the file is empty\nhint: export it again; it holds no tools", d.file)
	}
	if text[0] != '{' && text[0] != '[' {
		return d.errorAt(len(d.data)-len(text), importHint, "no JSON object or array")
	}
	line, rest, _ := bytes.Cut(text, []byte{'\n'})
	if len(bytes.Trim(rest, jsonSpace)) > 0 && json.Valid(line) {
		return d.lines(func(n node) error { return l.importValue(n, labels{from.list, from.list}, 0) })
	}
	n, err := d.value(0, len(d.data))
	if err != nil {
		return err
	}
	return l.gatherValue(n, from)
}

// importValue takes one of the shapes that tools come in:
//
//	[tool, …]                        a list of tools, or of objects as below
//	{"tools": [tool, …]}             an MCP tools/list result
//	{"result": {"tools": …}}         the JSON-RPC answer that holds one
//	{"server": "x", "tools": […]}    one server's; a tool may have "server" too
//	{"servers": {"x": …}}, {"x": …}  several servers, each a list or a result
//	tool                             one tool of any kind
func (l *loader) importValue(n node, from labels, depth int) error {
	if depth > wrapMax {
		return n.errorAt(importHint, "nested too deeply to hold tools")
	}
	switch n.kind() {
	case "array":
		for _, e := range n.elements() {
			if err := l.importValue(e, labels{from.list, from.list}, depth+1); err != nil {
				return err
			}
		}
		return nil
	case "object":
		return l.importObject(n, from, depth)
	default:
		return n.errorAt(importHint, "a JSON %s holds no tools", n.kind())
	}
}

func (l *loader) importObject(n node, from labels, depth int) error {
	f, err := readForeign(n)
	if err != nil {
		return err
	}
	if at, ok := f.get("server", "string"); ok {
		if at.text() == "" {
			return at.errorAt("name the server, or leave the field out", "server is empty")
		}
		from = labels{at.text(), at.text()}
	}
	if at, ok := f.get("nextCursor", "string"); ok && at.text() != "" {
		l.paged.add(n.doc.file)
	}
	if at, ok := f.has("function"); ok {
		return l.importFunction(n, at, from.single)
	}
	if at, ok := f.has("tools"); ok {
		if kind := at.kind(); kind != "array" && kind != "object" {
			return at.errorAt(importHint, "tools is %s, want array", kind)
		}
		return l.importValue(at, labels{from.list, from.list}, depth+1)
	}
	for _, key := range []string{"mcpServers", "mcp_servers"} {
		if at, ok := f.has(key); ok {
			return at.errorAt("ask the servers with bench corpus harvest --mcp, or measure them with bench run --mcp", "a client's configuration names servers and holds no tools")
		}
	}
	for _, wrapper := range []string{"result", "servers"} {
		if at, ok := f.container(wrapper); ok {
			return l.importValue(at, labels{from.list, from.list}, depth+1)
		}
	}
	_, named := f.has("name")
	if _, server := f.container("name"); named && !server {
		return l.importTool(n, f, from.single)
	}
	return l.importServers(n, f, depth)
}

// importServers takes an object whose every member is a server's tools.
func (l *loader) importServers(n node, f foreign, depth int) error {
	for _, field := range []string{"description", "inputSchema", "input_schema", "parameters"} {
		if _, ok := f.has(field); ok {
			return n.errorAt(nameHint, "tool without a name")
		}
	}
	for _, m := range f.members {
		if _, ok := f.container(m.key); !ok {
			return n.errorAt(importHint, "object with fields %s holds no tools", f.names())
		}
		if m.key == "" {
			return n.doc.errorAt(m.keyAt, "name the server", "server is empty")
		}
	}
	if len(f.members) == 0 {
		return n.errorAt(importHint, "an empty object holds no tools")
	}
	for _, m := range f.members {
		if err := l.importValue(m.value, labels{m.key, m.key}, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// importFunction takes {"type": "function", "function": {…}}. The function object
// is kept as it is, name included: the array goes to a model as it stands.
func (l *loader) importFunction(n, function node, toolset string) error {
	if function.kind() != "object" {
		return function.errorAt("function is an object with name, description and parameters", "function is %s, want object", function.kind())
	}
	f, err := readForeign(function)
	if err != nil {
		return err
	}
	return l.importPlugin(n, f, f.members, toolset)
}

// importPlugin takes a tool that belongs to no server. function are the members
// of its function object.
func (l *loader) importPlugin(n node, f foreign, function []member, toolset string) error {
	t := &Tool{Toolset: toolset, Raw: bytes.Clone(n.raw())}
	var err error
	if t.Name, err = f.name(); err != nil {
		return err
	}
	if _, err := f.description(t.Name); err != nil {
		return err
	}
	if _, err := f.schema(t.Name, "parameters"); err != nil {
		return err
	}
	fields := make([]rawjson.Field, len(function))
	for i, m := range function {
		fields[i] = rawjson.Field{Key: m.key, Value: m.value.raw()}
	}
	return l.add(n, t, fields, refuseRepeats)
}

// importTool takes one tool of a tools/list result, or a flat OpenAI function:
// {"type": "function", "name": …}. Of an MCP tool's fields a model request
// carries the description and the input schema; the rest stays in Raw.
func (l *loader) importTool(n node, f foreign, source string) error {
	if at, ok := f.get("type", "string"); ok && at.text() == "function" {
		var function []member
		for _, m := range f.members {
			if m.key != "type" && m.key != "server" {
				function = append(function, m)
			}
		}
		return l.importPlugin(n, f, function, source)
	}
	return l.importListed(n, f, source)
}

// importListed takes one tool as an MCP server lists it.
func (l *loader) importListed(n node, f foreign, server string) error {
	name, err := f.name()
	if err != nil {
		return err
	}
	description, err := f.description(name)
	if err != nil {
		return err
	}
	function := []rawjson.Field{{Key: "description", Value: rawjson.String(description)}}
	schema, err := f.schema(name, "inputSchema", "input_schema", "parameters")
	if err != nil {
		return err
	}
	if schema != nil {
		function = append(function, rawjson.Field{Key: "parameters", Value: schema})
	}
	t := &Tool{Server: server, Name: name, Raw: bytes.Clone(n.raw()), ReadOnly: f.readOnly(), listed: true}
	return l.add(n, t, function, keepRepeats)
}

// foreign is an object that another program wrote: unknown fields are its own
// business, but none that is read here may come twice.
type foreign struct {
	node    node
	members []member
	fields  map[string]member
}

func readForeign(n node) (foreign, error) {
	f := foreign{node: n, members: n.members()}
	f.fields = make(map[string]member, len(f.members))
	for _, m := range f.members {
		if first, again := f.fields[m.key]; again {
			return f, n.doc.repeated(m.key, m.keyAt, first.keyAt)
		}
		f.fields[m.key] = m
	}
	return f, nil
}

func (f foreign) has(name string) (node, bool) {
	m, ok := f.fields[name]
	return m.value, ok
}

// get returns a field of a kind; one of another kind counts as absent.
func (f foreign) get(name, kind string) (node, bool) {
	n, ok := f.has(name)
	return n, ok && n.kind() == kind
}

// container returns a field that is an object or an array.
func (f foreign) container(name string) (node, bool) {
	n, ok := f.has(name)
	return n, ok && (n.kind() == "object" || n.kind() == "array")
}

func (f foreign) name() (string, error) {
	n, ok := f.has("name")
	switch {
	case !ok:
		return "", f.node.errorAt(nameHint, "tool without a name")
	case n.kind() != "string":
		return "", n.errorAt(nameHint, "name is %s, want string", n.kind())
	case n.text() == "":
		return "", n.errorAt(nameHint, "tool without a name")
	}
	return n.text(), nil
}

func (f foreign) description(tool string) (string, error) {
	n, ok := f.has("description")
	if !ok || n.kind() == "null" {
		return "", nil
	}
	if n.kind() != "string" {
		return "", n.errorAt("write the description as text", "tool %s: description is %s, want string", textfile.Shown(tool), n.kind())
	}
	return n.text(), nil
}

// schema returns the first of the fields that is there and not null, or nil.
func (f foreign) schema(tool string, names ...string) (json.RawMessage, error) {
	for _, name := range names {
		n, ok := f.has(name)
		if !ok || n.kind() == "null" {
			continue
		}
		if n.kind() != "object" {
			return nil, n.errorAt(schemaHint, "tool %s: %s is %s, want object", textfile.Shown(tool), name, n.kind())
		}
		return n.raw(), nil
	}
	return nil, nil
}

func (f foreign) readOnly() bool {
	n, ok := f.get("annotations", "object")
	if !ok {
		return false
	}
	for _, m := range n.members() {
		if m.key == "readOnlyHint" {
			return string(m.value.raw()) == "true"
		}
	}
	return false
}

// names lists the first fields for an error.
func (f foreign) names() string {
	const most = 5
	var names []string
	for _, m := range f.members {
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, textfile.Shown(m.key))
	}
	return strings.Join(names, ", ")
}

// sourceName makes a source's label from the name of a file or folder.
func sourceName(path string, folder bool) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute // "." has no name of its own
	}
	base := filepath.Base(path)
	if !folder {
		base = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if strings.Trim(base, ".") == "" || base == string(filepath.Separator) {
		return "import"
	}
	return base
}
