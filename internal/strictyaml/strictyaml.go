// Package strictyaml reads configuration files as they must be read where a slip may
// cost something: a field that nobody knows, a word that means nothing, a value of
// another kind is a fault, with its file, its line and what to do about it.
//
// A Reader goes on after a fault with a zero value, so that one reading finds all
// faults of a file.
package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// Limits on a file.
const (
	BytesMax  = 1 << 20
	depthMax  = 64      // levels of YAML, aliases written out
	meantMax  = 4 << 20 // bytes that a file means, aliases written out
	faultsMax = 50      // that an error tells of
	hintsMax  = 1 << 10 // faults after which nobody looks for the name that was meant
)

// Fault is one thing that is wrong with a file.
type Fault struct {
	File string
	Line int // 0 if it is about the whole file
	Text string
	Hint string
}

func (f Fault) Error() string {
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return place + ": " + f.Text + "\nhint: " + f.Hint
}

// Faults are all that is wrong with a file, by line.
type Faults []Fault

func (f Faults) Error() string {
	var lines []string
	for i, fault := range f {
		if i == faultsMax {
			lines = append(lines, fmt.Sprintf("and %d more", len(f)-i))
			break
		}
		lines = append(lines, fault.Error())
	}
	return strings.Join(lines, "\n")
}

// ReadFile reads a file that is no larger than BytesMax.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil || info.IsDir(): // reading it says what is wrong
	case !info.Mode().IsRegular(): // opening a pipe that nobody writes to never ends
		return nil, Fault{File: path, Text: "not a regular file", Hint: "write what it gives to a file first"}
	case info.Size() > BytesMax:
		return nil, Fault{File: path, Text: fmt.Sprintf("%d bytes", info.Size()), Hint: fmt.Sprintf("such a file has at most %d", BytesMax)}
	}
	data, err := os.ReadFile(path)
	var fault *fs.PathError
	if errors.As(err, &fault) {
		return nil, fmt.Errorf("cannot read %s: %w\nhint: name a YAML file", path, fault.Err)
	}
	return data, err
}

// Reader reads one file.
type Reader struct {
	file   string
	faults Faults
}

// NewReader takes the text of a file apart, and returns its one document's value: nil
// where there is none, which is a fault.
func NewReader(file string, data []byte) (*Reader, *yaml.Node) {
	r := &Reader{file: file}
	whole := func(hint, format string, args ...any) {
		r.faults = append(r.faults, Fault{file, 0, fmt.Sprintf(format, args...), hint})
	}
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		whole("docs/format.md says what it holds", "the file is empty")
		return r, nil
	case len(data) > BytesMax:
		whole(fmt.Sprintf("such a file has at most %d", BytesMax), "%d bytes", len(data))
		return r, nil
	case !utf8.Valid(data):
		whole("save it as UTF-8", "the file is not UTF-8")
		return r, nil
	}
	var document yaml.Node
	err := yaml.Load(data, &document, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(depthMax))))
	var fault *yaml.LoadError
	switch {
	case errors.As(err, &fault) && fault.Mark.Line > 0:
		r.faults = append(r.faults, Fault{file, fault.Mark.Line, "invalid YAML: " + strings.TrimPrefix(fault.Message, "yaml: "), "check quotes, brackets and indentation around this line"})
		return r, nil
	case err != nil || document.Kind != yaml.DocumentNode || len(document.Content) != 1:
		whole("a file holds one document", "not one YAML document")
		return r, nil
	}
	m := measure{r: r, known: make(map[*yaml.Node]extent)}
	if m.of(document.Content[0]); len(r.faults) > 0 {
		return r, nil
	}
	return r, document.Content[0]
}

// extent is how much a value means with its aliases written out.
type extent struct {
	bytes, levels int
	open          bool // it is being measured: an alias to it never ends
}

// measure finds out how much the values of a file mean, each once: a few lines of aliases
// to aliases can mean more than any machine holds.
type measure struct {
	r     *Reader
	known map[*yaml.Node]extent
}

func (m *measure) of(n *yaml.Node) extent {
	if e, ok := m.known[n]; ok {
		return e
	}
	m.known[n] = extent{open: true}
	e := extent{bytes: len(n.Value) + 1}
	parts := n.Content
	if n.Kind == yaml.AliasNode {
		e.bytes, parts = 0, []*yaml.Node{n.Alias}
	}
	for _, part := range parts {
		inner := m.of(part)
		if len(m.r.faults) > 0 {
			return e
		}
		e.bytes, e.levels = e.bytes+inner.bytes, max(e.levels, inner.levels+1)
		switch {
		case inner.open:
			m.r.Fail(n, "write the value out", "an alias to what holds it")
		case e.bytes > meantMax || e.levels > depthMax:
			m.r.Fail(n, fmt.Sprintf("use fewer aliases: a file may mean %d bytes, %d levels deep", meantMax, depthMax), "nested too deeply, or too large with its aliases written out")
		default:
			continue
		}
		return e
	}
	m.known[n] = e
	return e
}

// nearest words the hint for a name that is not known.
func (r *Reader) nearest(name string, known []string) string {
	if len(r.faults) > hintsMax {
		return "docs/format.md has every field"
	}
	return nearest.Hint(name, known)
}

// Fail notes a fault at a node.
func (r *Reader) Fail(n *yaml.Node, hint, format string, args ...any) {
	r.FailAt(n.Line, hint, format, args...)
}

// FailAt notes a fault at a line.
func (r *Reader) FailAt(line int, hint, format string, args ...any) {
	r.faults = append(r.faults, Fault{r.file, line, fmt.Sprintf(format, args...), hint})
}

// Err returns all faults so far, by line, or nil.
func (r *Reader) Err() error {
	if len(r.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(r.faults, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	return r.faults
}

// resolved follows an alias.
func resolved(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// Object is a mapping whose fields are read by name.
type Object struct {
	*Reader
	Node   *yaml.Node
	what   string
	fields map[string]*yaml.Node
}

// Object takes a mapping apart: fields that are not known, and repeats, are faults. what
// names it in faults; empty, it is the file. A nil node is a mapping without fields.
func (r *Reader) Object(n *yaml.Node, what string, known ...string) *Object {
	o := &Object{Reader: r, Node: n, what: what, fields: make(map[string]*yaml.Node)}
	if n = resolved(n); n == nil {
		o.Node = &yaml.Node{}
		return o
	}
	if n.Kind != yaml.MappingNode {
		r.Fail(o.Node, "write FIELD: VALUE, with fields among "+strings.Join(known, ", "), "%s is not a mapping of fields", cmp.Or(what, "the file"))
		return o
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case !slices.Contains(known, key.Value):
			r.Fail(key, r.nearest(key.Value, known), "%s", o.path(fmt.Sprintf("unknown field %q", shown(key.Value))))
		case o.fields[key.Value] != nil:
			r.Fail(key, "keep one of the two", "%s", o.path(fmt.Sprintf("field %q is there twice", key.Value)))
		default:
			o.fields[key.Value] = value
		}
	}
	return o
}

func shown(text string) string { return fmt.Sprintf("%.60s", text) }

// Field returns a field's node, or nil.
func (o *Object) Field(name string) *yaml.Node { return o.fields[name] }

// Has reports whether a field is given.
func (o *Object) Has(name string) bool { return o.fields[name] != nil }

// Require notes a fault for each field that is missing.
func (o *Object) Require(hint string, names ...string) {
	for _, name := range names {
		if o.fields[name] == nil && o.Node.Line > 0 {
			o.Fail(o.Node, hint, "%s has no %s", cmp.Or(o.what, "the file"), name)
		}
	}
}

// path names something of a mapping in a fault.
func (o *Object) path(field string) string {
	if o.what == "" {
		return field
	}
	return o.what + ": " + field
}

// Text reads a text that is not blank.
func (o *Object) Text(field string) string {
	n := resolved(o.fields[field])
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "" || n.ShortTag() == "!!null" {
		o.Fail(o.fields[field], "write a text", "%s is not a text", o.path(field))
		return ""
	}
	return n.Value
}

// Word reads a text that is one of some.
func (o *Object) Word(field string, known ...string) string {
	word := o.Text(field)
	if word != "" && !slices.Contains(known, word) {
		o.Fail(o.fields[field], o.nearest(word, known), "%s: unknown word %q", o.path(field), shown(word))
		return ""
	}
	return word
}

// Texts reads a list of texts.
func (o *Object) Texts(field string) (list []string) {
	for _, n := range o.List(field) {
		v := resolved(n)
		if v.Kind != yaml.ScalarNode || strings.TrimSpace(v.Value) == "" || v.ShortTag() == "!!null" {
			o.Fail(n, "write a list of texts, such as [a, b]", "%s has something that is no text", o.path(field))
			continue
		}
		list = append(list, v.Value)
	}
	return list
}

// List reads a list.
func (o *Object) List(field string) []*yaml.Node {
	n := resolved(o.fields[field])
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		o.Fail(o.fields[field], "write a list, such as [a, b]", "%s is not a list", o.path(field))
		return nil
	}
	return n.Content
}

// Pairs reads a mapping whose keys may be any, each once.
func (o *Object) Pairs(field string) (keys []string, values []*yaml.Node) {
	n := resolved(o.fields[field])
	if n == nil {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		o.Fail(o.fields[field], "write NAME: VALUE", "%s is not a mapping", o.path(field))
		return nil, nil
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if seen[key] {
			o.Fail(n.Content[i], "keep one of the two", "%s: %q is there twice", o.path(field), shown(key))
			continue
		}
		seen[key] = true
		keys, values = append(keys, key), append(values, n.Content[i+1])
	}
	return keys, values
}

// Bool reads true or false; otherwise is the value where the field is not given.
func (o *Object) Bool(field string, otherwise bool) bool {
	n := resolved(o.fields[field])
	if n == nil {
		return otherwise
	}
	value, err := strconv.ParseBool(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || err != nil {
		o.Fail(o.fields[field], "write true or false", "%s: %q is neither true nor false", o.path(field), shown(n.Value))
		return otherwise
	}
	return value
}

// Int reads a whole number between two bounds.
func (o *Object) Int(field string, least, most, otherwise int) int {
	n := resolved(o.fields[field])
	if n == nil {
		return otherwise
	}
	value, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || value < least || value > most {
		o.Fail(o.fields[field], fmt.Sprintf("write a whole number from %d to %d", least, most), "%s: %q is no such number", o.path(field), shown(n.Value))
		return otherwise
	}
	return value
}

// Float reads a number between two bounds.
func (o *Object) Float(field string, least, most, otherwise float64) float64 {
	n := resolved(o.fields[field])
	if n == nil {
		return otherwise
	}
	value, err := strconv.ParseFloat(n.Value, 64)
	number := n.ShortTag() == "!!int" || n.ShortTag() == "!!float"
	if n.Kind != yaml.ScalarNode || !number || err != nil || math.IsNaN(value) || value < least || value > most {
		o.Fail(o.fields[field], fmt.Sprintf("write a number from %g to %g", least, most), "%s: %q is no such number", o.path(field), shown(n.Value))
		return otherwise
	}
	return value
}

// Duration reads a time with its unit, such as 8s or 250ms, between two bounds.
func (o *Object) Duration(field string, least, most, otherwise time.Duration) time.Duration {
	n := resolved(o.fields[field])
	if n == nil {
		return otherwise
	}
	value, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || value < least || value > most {
		o.Fail(o.fields[field], fmt.Sprintf("write a time with its unit from %s to %s, such as 8s", least, most), "%s: %q is no such time", o.path(field), shown(n.Value))
		return otherwise
	}
	return value
}

// JSON reads a value as the JSON that it means, keys in their order; nil where the
// field is not given or means none.
func (o *Object) JSON(field string) []byte {
	n := o.fields[field]
	if n == nil {
		return nil
	}
	data, err := appendJSON(nil, n)
	if err != nil {
		o.Fail(n, "write a value that JSON has too", "%s: %s", o.path(field), err)
		return nil
	}
	return data
}

func appendJSON(dst []byte, n *yaml.Node) ([]byte, error) {
	var err error
	switch n.Kind {
	case yaml.AliasNode:
		return appendJSON(dst, n.Alias)
	case yaml.MappingNode:
		dst = append(dst, '{')
		seen := make(map[string]bool)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || seen[key.Value] {
				return nil, fmt.Errorf("the key %q is no text, or is there twice", shown(key.Value))
			}
			seen[key.Value] = true
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.AppendString(dst, key.Value), ':')
			if dst, err = appendJSON(dst, n.Content[i+1]); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, item := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendJSON(dst, item); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	default:
		return appendScalar(dst, n)
	}
}

func appendScalar(dst []byte, n *yaml.Node) ([]byte, error) {
	switch n.ShortTag() {
	case "!!null":
		return append(dst, "null"...), nil
	case "!!bool":
		value, err := strconv.ParseBool(n.Value)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", shown(n.Value))
		}
		return strconv.AppendBool(dst, value), nil
	case "!!int", "!!float":
		if compact, err := rawjson.Compact([]byte(n.Value)); err == nil && rawjson.Kind(compact) == "number" {
			return append(dst, compact...), nil
		}
		var value float64
		if err := n.Decode(&value); err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, fmt.Errorf("%q is no number of JSON", shown(n.Value))
		}
		return strconv.AppendFloat(dst, value, 'g', -1, 64), nil
	default:
		return rawjson.AppendString(dst, n.Value), nil
	}
}
