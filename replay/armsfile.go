package replay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
)

// Limits on a file of arms.
const (
	armsFileMax  = 1 << 20 // bytes
	armsMax      = 256
	armsDepthMax = 16 // levels of YAML
)

// LoadArms reads a file that describes arms: a YAML list, in which each arm has a
// name and whatever differs from the defaults of its variant. Unknown fields and
// unknown words are errors with file and line. The settings under tool_search are
// those of the pipeline under test: they are never refused, but brought into
// range as the pipeline would, and each note says what was not taken as written.
func LoadArms(path string) (arms []Arm, notes []string, err error) { return LoadArmsBehind(path, nil) }

// LoadArmsBehind is LoadArms with a gateway for the arms that say nothing of one; nil
// means none.
func LoadArmsBehind(path string, gateway *Gateway) (arms []Arm, notes []string, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil || info.IsDir(): // reading it says what is wrong
	case !info.Mode().IsRegular(): // opening a pipe that nobody writes to never ends
		return nil, nil, fmt.Errorf("%s: not a regular file\nhint: write what it gives to a file first", path)
	case info.Size() > armsFileMax:
		return nil, nil, fmt.Errorf("%s: %d bytes\nhint: a file of arms has at most %d", path, info.Size(), armsFileMax)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		var fault *fs.PathError
		if errors.As(err, &fault) {
			err = fault.Err
		}
		return nil, nil, fmt.Errorf("cannot read %s: %w\nhint: name a YAML file that lists arms", path, err)
	}
	return (&armsParser{file: path, gateway: gateway}).parse(data)
}

// parseArms reads the text of a file of arms.
func parseArms(file string, data []byte) ([]Arm, []string, error) {
	return (&armsParser{file: file}).parse(data)
}

func (p *armsParser) parse(data []byte) ([]Arm, []string, error) {
	root, err := p.root(data)
	if err != nil {
		return nil, nil, err
	}
	if root.Kind != yaml.SequenceNode || len(root.Content) == 0 || len(root.Content) > armsMax {
		return nil, nil, p.fault(root, "begin each arm with \"- name:\"", "not a list of 1 to %d arms", armsMax)
	}
	var arms []Arm
	for _, n := range root.Content {
		a, err := p.arm(n)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(arms, func(other Arm) bool { return other.Name == a.Name }) {
			return nil, nil, p.fault(n, "give every arm a name of its own", "arm %q is there twice", a.Name)
		}
		arms = append(arms, a)
	}
	return arms, p.notes, nil
}

// armsParser turns YAML nodes, which know their lines, into arms.
type armsParser struct {
	file    string
	gateway *Gateway            // of arms that say nothing; nil for none
	loaded  map[string]*Gateway // by path
	notes   []string
}

func (p *armsParser) fault(n *yaml.Node, hint, format string, values ...any) error {
	return fmt.Errorf("%s:%d: %s\nhint: %s", p.file, n.Line, fmt.Sprintf(format, values...), hint)
}

func (p *armsParser) root(data []byte) (*yaml.Node, error) {
	var document yaml.Node
	err := yaml.Load(data, &document, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(armsDepthMax))))
	var fault *yaml.LoadError
	switch {
	case errors.As(err, &fault) && fault.Mark.Line > 0:
		return nil, fmt.Errorf("%s:%d: invalid YAML: %s\nhint: check quotes, brackets and indentation around this line",
			p.file, fault.Mark.Line, strings.TrimPrefix(fault.Message, "yaml: "))
	case err != nil || document.Kind != yaml.DocumentNode || len(document.Content) != 1:
		return nil, fmt.Errorf("%s: not one YAML document\nhint: begin each arm with \"- name:\"", p.file)
	}
	return document.Content[0], nil
}

// armFields are the fields of an arm, in the order of docs/format.md.
var armFields = []string{"name", "variant", "tool_search", "bridge", "retriever", "memo", "gateway", "agent", "writer", "max_searches", "tokenizer", "cache"}

// fields takes an arm's mapping apart.
func (p *armsParser) fields(n *yaml.Node) (map[string]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, p.fault(n, "begin each arm with \"- name:\"", "an arm is not a mapping of fields")
	}
	fields := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !slices.Contains(armFields, key.Value) {
			return nil, p.fault(key, nearest.Hint(key.Value, armFields), "unknown field %q", key.Value)
		}
		if fields[key.Value] != nil {
			return nil, p.fault(key, "keep one of the two", "field %q is there twice", key.Value)
		}
		fields[key.Value] = value
	}
	if fields["name"] == nil {
		return nil, p.fault(n, "begin each arm with \"- name:\"", "an arm has no name")
	}
	return fields, nil
}

// arm reads one arm. The variant comes first, since the other defaults are its.
func (p *armsParser) arm(n *yaml.Node) (Arm, error) {
	fields, err := p.fields(n)
	if err != nil {
		return Arm{}, err
	}
	name, err := p.name(fields["name"])
	if err != nil {
		return Arm{}, err
	}
	variant := string(bridge.July)
	if node := fields["variant"]; node != nil {
		if variant, err = p.word(node, "variant", variantNames()); err != nil {
			return Arm{}, err
		}
	}
	a := NewArm(name, bridge.Variant(variant))
	for _, c := range a.choices() {
		if node := fields[c.field]; node != nil {
			if *c.value, err = p.word(node, c.field, c.known); err != nil {
				return Arm{}, err
			}
		}
	}
	if node := fields["bridge"]; node != nil {
		word, err := p.word(node, "bridge", []string{"on", "off"})
		if err != nil {
			return Arm{}, err
		}
		a.Bridge = word == "on"
	}
	if node := fields["max_searches"]; node != nil {
		if err := node.Decode(&a.MaxSearches); err != nil || a.MaxSearches < 1 || a.MaxSearches > maxSearchesMax {
			return Arm{}, p.fault(node, fmt.Sprintf("give a number from 1 to %d", maxSearchesMax), "max_searches: %q is not how often to search", node.Value)
		}
	}
	if err := p.gatewayOf(&a, fields["gateway"]); err != nil {
		return Arm{}, err
	}
	if a.Name == Eager && a.Bridge {
		return Arm{}, p.fault(n, "write \"bridge: off\", or give the arm another name", "arm %q has a bridge, but others are compared with it as the one without", Eager)
	}
	return a, p.settings(&a, fields["tool_search"])
}

// gatewayOf puts the gateway in front of an arm that it names by a file, which lies
// relative to that of the arms.
func (p *armsParser) gatewayOf(a *Arm, n *yaml.Node) error {
	if n == nil {
		if p.gateway != nil {
			a.Behind(p.gateway)
		}
		return nil
	}
	path, err := p.text(n, "gateway")
	if err != nil || path == GatewayOff {
		return err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(p.file), path)
	}
	g := p.loaded[path]
	if g == nil {
		if g, err = LoadGateway(path); err != nil {
			return fmt.Errorf("%s:%d: gateway: %w", p.file, n.Line, err)
		}
		if p.loaded == nil {
			p.loaded = make(map[string]*Gateway)
		}
		p.loaded[path] = g // arms of one gateway have one configuration
	}
	a.Behind(g)
	return nil
}

// armNameMax bounds an arm's name, which heads a column.
const armNameMax = 40

// name reads a name that fits a column and a list on a command line.
func (p *armsParser) name(n *yaml.Node) (string, error) {
	name, err := p.text(n, "name")
	if err != nil {
		return "", err
	}
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.%", r))
	}
	if len(name) > armNameMax || strings.ContainsFunc(name, odd) {
		return "", p.fault(n, fmt.Sprintf("use letters, digits and - _ . %%, at most %d", armNameMax), "name: %.60q is no name for an arm", name)
	}
	return name, nil
}

// settings reads tool_search as the pipeline under test reads it.
func (p *armsParser) settings(a *Arm, n *yaml.Node) error {
	if n == nil {
		return nil
	}
	var raw any
	if err := n.Decode(&raw); err != nil {
		return p.fault(n, "write the settings as a mapping", "tool_search: %v", err)
	}
	var notes []string
	a.ToolSearch, notes = a.Variant.ParseConfig(raw)
	for _, note := range notes {
		p.notes = append(p.notes, fmt.Sprintf("%s:%d: arm %q: %s", p.file, n.Line, a.Name, note))
	}
	return nil
}

func (p *armsParser) text(n *yaml.Node, field string) (string, error) {
	if n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "" || n.ShortTag() == "!!null" {
		return "", p.fault(n, "write a word", "%s: not a text", field)
	}
	return n.Value, nil
}

// word reads a text that is one of some.
func (p *armsParser) word(n *yaml.Node, field string, known []string) (string, error) {
	word, err := p.text(n, field)
	if err != nil {
		return "", err
	}
	if !slices.Contains(known, word) {
		return "", p.fault(n, nearest.Hint(word, known), "unknown %s %q", field, word)
	}
	return word, nil
}

func variantNames() []string {
	var names []string
	for _, v := range bridge.Variants() {
		names = append(names, string(v))
	}
	return names
}
