package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

// Limits on YAML. The scanner's work grows with the square of some texts (one
// line of anchors, deep nesting in front of a long list), and aliases multiply
// what a small file means. Within these limits the worst text that we know is
// read or refused in about a second.
const (
	yamlMax      = 256 << 10 // bytes of a file
	yamlDepthMax = 64        // levels
	yamlJSONMax  = 1 << 20   // bytes of the JSON that a file means
)

// readYAML reads a YAML text as the JSON that it means, keys in their order.
func readYAML(file string, data []byte) (node, error) {
	const hint = "docs/format.md says what the file holds"
	if len(bytes.TrimSpace(data)) == 0 {
		return node{}, fmt.Errorf("%s: the file is empty\nhint: %s", file, hint)
	}
	var text yaml.Node
	if err := yaml.Load(data, &text, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(yamlDepthMax)))); err != nil {
		var fault *yaml.LoadError
		if !errors.As(err, &fault) {
			return node{}, fmt.Errorf("%s: invalid YAML: %w\nhint: %s", file, err, hint)
		}
		message := strings.TrimPrefix(fault.Message, "yaml: ")
		if fault.Mark.Line == 0 {
			return node{}, fmt.Errorf("%s: invalid YAML: %s\nhint: %s", file, message, hint)
		}
		return node{}, fmt.Errorf("%s:%d:%d: invalid YAML: %s\nhint: check quotes, brackets and indentation around this line",
			file, fault.Mark.Line, fault.Mark.Column, message)
	}
	if text.Kind != yaml.DocumentNode || len(text.Content) != 1 {
		return node{}, fmt.Errorf("%s: the file holds no value\nhint: %s", file, hint)
	}
	d := &document{file: file}
	if err := d.appendYAML(text.Content[0], 0); err != nil {
		return node{}, err
	}
	return node{d, 0, len(d.data)}, nil
}

// appendYAML appends a YAML node to the document as JSON.
func (d *document) appendYAML(n *yaml.Node, depth int) error {
	d.mark(n)
	if depth > yamlDepthMax || len(d.data) > yamlJSONMax {
		return d.errorAt(len(d.data), "flatten the value, or remove the alias", "nested too deeply, or too large with its aliases written out")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return d.appendYAML(n.Alias, depth+1)
	case yaml.MappingNode:
		return d.appendMapping(n, depth)
	case yaml.SequenceNode:
		d.data = append(d.data, '[')
		for i, item := range n.Content {
			if i > 0 {
				d.data = append(d.data, ',')
			}
			if err := d.appendYAML(item, depth+1); err != nil {
				return err
			}
		}
		d.data = append(d.data, ']')
		return nil
	default:
		return d.appendScalar(n)
	}
}

func (d *document) mark(n *yaml.Node) {
	m := mark{len(d.data), n.Line, n.Column}
	if last := len(d.marks) - 1; last >= 0 && d.marks[last].offset == m.offset {
		return // the alias, which people look for, not what it stands for
	}
	d.marks = append(d.marks, m)
}

func (d *document) appendMapping(n *yaml.Node, depth int) error {
	d.data = append(d.data, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		if i > 0 {
			d.data = append(d.data, ',')
		}
		key := n.Content[i]
		d.mark(key)
		switch {
		case key.ShortTag() == "!!merge":
			return d.errorAt(len(d.data), "write the fields out", "merge keys are not read here")
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
			return d.errorAt(len(d.data), "put the key in quotes", "a key is not text")
		}
		d.data = append(rawjson.AppendString(d.data, key.Value), ':')
		if err := d.appendYAML(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	d.data = append(d.data, '}')
	return nil
}

func (d *document) appendScalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		d.data = append(d.data, "null"...)
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return d.errorAt(len(d.data), "write true or false", "%s is not a boolean", textfile.Shown(n.Value))
		}
		d.data = strconv.AppendBool(d.data, b)
	case "!!int", "!!float":
		compact, err := rawjson.Compact([]byte(n.Value))
		if err != nil || rawjson.Kind(compact) != "number" {
			return d.errorAt(len(d.data), "write the number as JSON would, or put it in quotes", "%s is not a JSON number", textfile.Shown(n.Value))
		}
		d.data = append(d.data, compact...)
	default:
		d.data = rawjson.AppendString(d.data, n.Value)
	}
	return nil
}
