package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// duplicates says what to do with a name that its owner lists twice.
type duplicates int

const (
	// refuseDuplicates: people wrote the file, and one of the two is a mistake.
	refuseDuplicates duplicates = iota
	// keepDuplicates: a program listed what it found. Exact repeats are merged;
	// the same name with other content is another tool, under an ID and a
	// visible name with a suffix made from its content.
	keepDuplicates
)

// nameMax is the longest tool name that model APIs accept.
const nameMax = 64

// add finishes a tool and keeps it. function are the members of the function
// object but the name; nil means that definition is set already.
func (l *loader) add(at place, t *Tool, function []rawjson.Field, onDuplicate duplicates) error {
	t.ID = t.Name
	visible := t.Name
	if t.Server != "" {
		t.ID = t.Server + "/" + t.Name
		t.Toolset = "mcp-" + t.Server
		visible = VisibleName(t.Server, t.Name)
	}
	if other, ok := l.tools[t.ID]; ok {
		if onDuplicate == refuseDuplicates {
			return at.errorAt("keep one of the two, or rename it", "tool %q is declared again; first at %s", t.ID, other.at)
		}
		if sameContent(other.raw, t.Raw) {
			l.merged++
			return nil
		}
		suffix := "~" + shortHash(string(compacted(t.Raw)))
		t.ID += suffix
		visible = withSuffix(visible, "_"+suffix[1:])
		if _, again := l.tools[t.ID]; again {
			l.merged++
			return nil
		}
		l.renamed++
	}
	if t.Definition == nil || t.Definition.Name != visible {
		var err error
		name := rawjson.Field{Key: "name", Value: rawjson.String(visible)}
		if t.Definition != nil {
			t.Definition, err = t.Definition.With(name)
		} else {
			t.Definition, err = registry.NewDefinition(append([]rawjson.Field{name}, function...))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	l.tools[t.ID] = known{at: at, raw: t.Raw}
	l.corpus.Tools = append(l.corpus.Tools, t)
	return nil
}

// VisibleName is the name under which a model sees a server's tool:
// mcp__SERVER__TOOL, of letters, digits, - and _ only and at most 64 long. Names
// that had to be changed end in a hash of the original, so two originals never
// meet in one name.
func VisibleName(server, tool string) string {
	plain := "mcp__" + server + "__" + tool
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, plain)
	ambiguous := strings.Contains(server, "__") || strings.HasSuffix(server, "_") || strings.HasPrefix(tool, "_")
	if clean == plain && len(clean) <= nameMax && !ambiguous {
		return clean
	}
	return withSuffix(clean, "_"+shortHash(server+"\x00"+tool))
}

func withSuffix(name, suffix string) string {
	return name[:min(len(name), nameMax-len(suffix))] + suffix
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

func compacted(raw []byte) []byte {
	compact, err := rawjson.Compact(raw)
	if err != nil {
		return raw
	}
	return compact
}

func sameContent(a, b []byte) bool { return bytes.Equal(compacted(a), compacted(b)) }

// importFile reads a file that another program wrote, by its content.
func (l *loader) importFile(file string, data []byte) error {
	if err := checkUTF8(file, data); err != nil {
		return err
	}
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 {
		return fmt.Errorf("%s: the file is empty\nhint: export it again; it holds no tools", file)
	}
	source := sourceName(file)
	d := json.NewDecoder(bytes.NewReader(data))
	var first json.RawMessage
	if err := d.Decode(&first); err != nil {
		if bytes.ContainsRune(bytes.TrimSpace(data), '\n') && trimmed[0] == '{' && looksLikeLines(data) {
			return l.importLines(file, source, data)
		}
		return syntaxError(file, data, 0, data, err)
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return l.importLines(file, source, data)
	}
	offset := d.InputOffset() - int64(len(first))
	line, _ := rawjson.Position(data, offset)
	return l.importValue(value{file: file, whole: data, offset: offset, line: line, raw: first}, source)
}

// looksLikeLines reports whether the first line is a JSON value of its own.
func looksLikeLines(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	return json.Valid(line)
}

// importLines reads JSON Lines: a value a line, blank lines allowed.
func (l *loader) importLines(file, source string, data []byte) error {
	offset := int64(0)
	for n := 1; len(data[offset:]) > 0; n++ {
		line, _, found := bytes.Cut(data[offset:], []byte{'\n'})
		if raw := bytes.TrimSpace(line); len(raw) > 0 {
			if !json.Valid(raw) {
				var v any
				return syntaxError(file, data, offset, line, json.Unmarshal(line, &v))
			}
			if err := l.importValue(value{file: file, whole: data, offset: offset, line: n, raw: raw}, source); err != nil {
				return err
			}
		}
		offset += int64(len(line))
		if found {
			offset++
		}
	}
	return nil
}

// value is a JSON value and where it stands.
type value struct {
	file   string
	whole  []byte
	offset int64
	line   int
	raw    json.RawMessage
}

func (v value) place() place { return place{v.file, v.line} }

// importValue takes one of the shapes that tools come in:
//
//	[tool, …]                                   OpenAI tools array, or bare MCP tools
//	{"tools": [tool, …]}                        MCP tools/list result
//	{"result": {"tools": …}}                    the JSON-RPC answer that holds one
//	{"server": "x", "tools": […]}               one server's
//	{"servers": {"x": {"tools": […]}}}, {"x": {"tools": …}}, {"x": [tool, …]}   several
//	tool                                        one tool, of either kind
func (l *loader) importValue(v value, source string) error {
	switch rawjson.Kind(v.raw) {
	case "array":
		return l.importTools(v, source)
	case "object":
		return l.importObject(v, source)
	default:
		return v.place().errorAt(importHint, "a JSON %s holds no tools", rawjson.Kind(v.raw))
	}
}

const importHint = "expected an OpenAI tools array, an MCP tools/list result, or JSON Lines of either"

func (l *loader) importTools(v value, source string) error {
	list, err := elements(v.file, v.whole, v.offset, v.raw)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := l.importValue(value{file: v.file, whole: v.whole, offset: v.offset, line: e.line, raw: e.raw}, source); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) importObject(v value, source string) error {
	fields, err := rawjson.Object(v.raw)
	if err != nil {
		return v.place().errorAt(importHint, "%w", err)
	}
	get := func(key string) (json.RawMessage, bool) { return rawjson.Get(fields, key) }
	if raw, ok := get("server"); ok && rawjson.Kind(raw) == "string" {
		_ = json.Unmarshal(raw, &source)
	}
	if _, ok := get("function"); ok {
		return l.importOpenAI(v, source)
	}
	if _, ok := get("tools"); ok {
		return l.importMember(v, "tools", source)
	}
	for _, wrapper := range []string{"result", "servers"} {
		if raw, ok := get(wrapper); ok && rawjson.Kind(raw) == "object" {
			return l.importMember(v, wrapper, source)
		}
	}
	if _, ok := get("name"); ok {
		return l.importMCP(v, source)
	}
	if len(fields) == 0 || !allContainers(fields) {
		if _, ok := get("inputSchema"); ok || hasAny(fields, "description", "parameters") {
			return v.place().errorAt("give every tool a non-empty name", "tool without a name")
		}
		return v.place().errorAt(importHint, "object with %s holds no tools", keysOf(fields))
	}
	for _, f := range fields {
		if err := l.importMember(v, f.Key, f.Key); err != nil {
			return err
		}
	}
	return nil
}

// importMember descends into one member, its bytes and line kept.
func (l *loader) importMember(v value, key, source string) error {
	fields, offsets, err := members(v.file, v.whole, v.offset, v.raw)
	if err != nil {
		return err
	}
	for i := len(fields) - 1; i >= 0; i-- {
		if fields[i].Key != key {
			continue
		}
		line, _ := rawjson.Position(v.whole, offsets[i])
		if kind := rawjson.Kind(fields[i].Value); kind != "array" && kind != "object" {
			return place{v.file, line}.errorAt(importHint, "%s is %s, want tools", key, kind)
		}
		return l.importValue(value{file: v.file, whole: v.whole, offset: offsets[i], line: line, raw: fields[i].Value}, source)
	}
	return nil
}

// importOpenAI takes {"type": "function", "function": {…}}. The function object
// is kept as it is, name included: the array goes to a model as it stands.
func (l *loader) importOpenAI(v value, source string) error {
	fields, _ := rawjson.Object(v.raw)
	raw, _ := rawjson.Get(fields, "function")
	function, err := rawjson.Object(raw)
	if err != nil {
		return v.place().errorAt("function is an object with name, description and parameters", "function: %w", err)
	}
	d, err := registry.NewDefinition(function)
	if err != nil {
		return fmt.Errorf("%s: %w", v.place(), err)
	}
	return l.add(v.place(), &Tool{Name: d.Name, Toolset: source, Raw: bytes.Clone(v.raw), Definition: d}, nil, refuseDuplicates)
}

// importMCP takes one tool of a tools/list result. Of its fields a model
// request carries the description and the input schema; the rest stays in Raw.
func (l *loader) importMCP(v value, source string) error {
	fields, _ := rawjson.Object(v.raw)
	var name, description string
	raw, _ := rawjson.Get(fields, "name")
	if json.Unmarshal(raw, &name) != nil || name == "" {
		return v.place().errorAt("give every tool a non-empty name", "tool without a name")
	}
	if raw, ok := rawjson.Get(fields, "description"); ok && rawjson.Kind(raw) != "null" {
		if json.Unmarshal(raw, &description) != nil {
			return v.place().errorAt("write the description as text", "tool %q: description is %s, want string", name, rawjson.Kind(raw))
		}
	}
	var schema json.RawMessage
	for _, key := range []string{"inputSchema", "input_schema", "parameters"} {
		raw, ok := rawjson.Get(fields, key)
		if !ok || rawjson.Kind(raw) == "null" {
			continue
		}
		if rawjson.Kind(raw) != "object" {
			return v.place().errorAt("a schema is an object such as {\"type\":\"object\",\"properties\":{}}", "tool %q: %s is %s, want object", name, key, rawjson.Kind(raw))
		}
		schema = raw
		break
	}
	t := &Tool{Server: source, Name: name, Raw: bytes.Clone(v.raw), ReadOnly: readOnlyHint(fields)}
	return l.add(v.place(), t, functionFields(description, schema), keepDuplicates)
}

func readOnlyHint(fields []rawjson.Field) bool {
	raw, ok := rawjson.Get(fields, "annotations")
	if !ok {
		return false
	}
	var hints struct {
		ReadOnly bool `json:"readOnlyHint"`
	}
	return json.Unmarshal(raw, &hints) == nil && hints.ReadOnly
}

// sourceName makes a source's label from a file's or folder's name.
func sourceName(path string) string {
	base := filepath.Base(filepath.Clean(path))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func allContainers(fields []rawjson.Field) bool {
	for _, f := range fields {
		if k := rawjson.Kind(f.Value); k != "object" && k != "array" {
			return false
		}
	}
	return true
}

func hasAny(fields []rawjson.Field, keys ...string) bool {
	for _, k := range keys {
		if _, ok := rawjson.Get(fields, k); ok {
			return true
		}
	}
	return false
}

func keysOf(fields []rawjson.Field) string {
	if len(fields) == 0 {
		return "no fields"
	}
	keys := make([]string, 0, 6)
	for i, f := range fields {
		if i == 5 {
			keys = append(keys, "…")
			break
		}
		keys = append(keys, f.Key)
	}
	return "fields " + strings.Join(keys, ", ")
}
