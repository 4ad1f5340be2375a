package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/toolgauge/toolgauge/metrics"
)

// Limits on a file of rules.
const (
	rulesFileMax  = 1 << 20 // bytes
	rulesMax      = 1000
	rulesDepthMax = 16 // levels of YAML
)

// schemaVersion is that of a file of rules and of a report.
const schemaVersion = 1

// AllArms in place of an arm's name stands for every arm of the run and of the baseline.
const AllArms = "*"

// Rule is a demand on a measure.
type Rule struct {
	Name    string
	Line    int // in the file
	Measure metrics.Measure
	Arms    []string // names, or AllArms alone
	Class   string   // of intents; empty for all
	// Better is the measure's own direction, or the rule's for a measure that has none.
	Better  metrics.Direction
	Floor   *float64 // in the measure's unit, as Ceiling
	Ceiling *float64
	// LargestDrop is how much worse than the baseline the mean may be; nil if the rule does not say.
	LargestDrop *Drop
	Alpha       float64 // 0: no test
	// SmallestPopulation is at least 1.
	SmallestPopulation int
	Waiver             *Waiver
}

// Drop is a change for the worse: in the measure's unit, or in percent of the baseline's value.
type Drop struct {
	Value   float64
	Percent bool
}

// of is the drop in the measure's unit.
func (d Drop) of(baseline float64) float64 {
	if d.Percent && d.Value > 0 { // of a break-even that there is none of, 0 % would be no number
		return float64(d.Value*max(baseline, -baseline)) / 100
	}
	return d.Value
}

// Waiver excuses a rule until the end of a day.
type Waiver struct {
	Reason  string `json:"reason"`
	Issue   string `json:"issue"`
	Expires Day    `json:"expires"`
}

// Day is a day of UTC.
type Day struct{ time.Time }

// MarshalText writes a day as 2006-01-02.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String is the day as 2006-01-02.
func (d Day) String() string { return d.Format(time.DateOnly) }

// over reports whether the day has passed.
func (d Day) over(now time.Time) bool { return !now.UTC().Before(d.AddDate(0, 0, 1)) }

// LoadRules reads a file of rules. Everything that it does not know is an error with file and line.
func LoadRules(path string) ([]Rule, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil || info.IsDir(): // reading it says what is wrong
	case !info.Mode().IsRegular(): // opening a pipe that nobody writes to never ends
		return nil, fmt.Errorf("%s: not a regular file\nhint: write what it gives to a file first", path)
	case info.Size() > rulesFileMax:
		return nil, fmt.Errorf("%s: %d bytes\nhint: a file of rules has at most %d", path, info.Size(), rulesFileMax)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		var fault *fs.PathError
		if errors.As(err, &fault) {
			err = fault.Err
		}
		return nil, fmt.Errorf("cannot read %s: %w\nhint: name a YAML file of rules, such as examples/gate.yaml", path, err)
	}
	return ParseRules(path, data)
}

// ParseRules reads the text of a file of rules; errors name it.
func ParseRules(file string, data []byte) ([]Rule, error) {
	p := &parser{file: file}
	root, err := p.root(data)
	if err != nil {
		return nil, err
	}
	fields, err := p.fields(root, []string{"schema_version", "rules"})
	if err != nil {
		return nil, err
	}
	if n := fields["schema_version"]; n == nil || n.Value != "1" {
		return nil, p.fault(root, "begin the file with \"schema_version: 1\"", "not of schema_version 1")
	}
	list := fields["rules"]
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 || len(list.Content) > rulesMax {
		return nil, p.fault(root, "write \"rules:\" and below it begin each rule with \"- measure:\"", "not a list of 1 to %d rules", rulesMax)
	}
	var rules []Rule
	for _, n := range list.Content {
		r, err := p.rule(n)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(rules, func(other Rule) bool { return other.Name == r.Name }); i >= 0 {
			return nil, p.fault(n, "give each a name of its own", "the rule of line %d is called %q too", rules[i].Line, r.Name)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// root is the document's one mapping.
func (p *parser) root(data []byte) (*yaml.Node, error) {
	var document yaml.Node
	err := yaml.Load(data, &document, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(rulesDepthMax))))
	var fault *yaml.LoadError
	switch {
	case errors.As(err, &fault) && fault.Mark.Line > 0:
		return nil, fmt.Errorf("%s:%d: invalid YAML: %s\nhint: check quotes, brackets and indentation around this line",
			p.file, fault.Mark.Line, strings.TrimPrefix(fault.Message, "yaml: "))
	case fault != nil && fault.Stage == yaml.ReaderStage: // it knows no line
		return nil, fmt.Errorf("%s: invalid YAML: %s\nhint: save it as UTF-8 text", p.file, fault.Message)
	case err != nil || document.Kind != yaml.DocumentNode || len(document.Content) != 1:
		return nil, fmt.Errorf("%s: not one YAML document\nhint: begin the file with \"schema_version: 1\"", p.file)
	}
	root := document.Content[0]
	if n := firstAlias(root); n != nil {
		return nil, p.fault(n, "write the value out", "*%s is an alias", n.Value)
	}
	return root, nil
}

// firstAlias finds a node that stands for another; nil if there is none.
func firstAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, child := range n.Content {
		if alias := firstAlias(child); alias != nil {
			return alias
		}
	}
	return nil
}
