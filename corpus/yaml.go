package corpus

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// yamlCards reads a card file in YAML: the same fields, keys kept in the order
// in which they stand.
func (l *loader) yamlCards(file string, data []byte) error {
	var document yaml.Node
	if err := yaml.Load(data, &document); err != nil {
		return fmt.Errorf("%s: %w\nhint: check the YAML there", file, err)
	}
	if len(document.Content) == 0 {
		return fmt.Errorf("%s: the file is empty\nhint: see docs/format.md for its fields", file)
	}
	json, err := appendYAML(nil, file, document.Content[0], 0)
	if err != nil {
		return err
	}
	return l.cards(file, json)
}

// yamlDepthMax bounds nesting, and with it aliases that refer to themselves.
const yamlDepthMax = 64

// appendYAML appends a YAML node as JSON, mapping keys in their order.
func appendYAML(dst []byte, file string, n *yaml.Node, depth int) ([]byte, error) {
	if depth > yamlDepthMax || len(dst) > 64<<20 {
		return nil, place{file, n.Line}.errorAt("flatten the value, or remove the alias", "nested too deeply or too large")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return appendYAML(dst, file, n.Alias, depth+1)
	case yaml.MappingNode:
		dst = append(dst, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.AppendString(dst, n.Content[i].Value), ':')
			var err error
			if dst, err = appendYAML(dst, file, n.Content[i+1], depth+1); err != nil {
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
			var err error
			if dst, err = appendYAML(dst, file, item, depth+1); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	default:
		return appendYAMLScalar(dst, file, n)
	}
}

func appendYAMLScalar(dst []byte, file string, n *yaml.Node) ([]byte, error) {
	switch n.ShortTag() {
	case "!!null":
		return append(dst, "null"...), nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, place{file, n.Line}.errorAt("write true or false", "%w", err)
		}
		return strconv.AppendBool(dst, b), nil
	case "!!int", "!!float":
		if compact, err := rawjson.Compact([]byte(n.Value)); err == nil && rawjson.Kind(compact) == "number" {
			return append(dst, compact...), nil
		}
		return nil, place{file, n.Line}.errorAt("write the number as JSON would", "%s is not a JSON number", n.Value)
	default:
		return rawjson.AppendString(dst, n.Value), nil
	}
}
