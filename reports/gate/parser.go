package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/metrics"
)

// parser turns YAML nodes, which know their lines, into rules.
type parser struct{ file string }

func (p *parser) fault(n *yaml.Node, hint, format string, values ...any) error {
	return fmt.Errorf("%s:%d: %s\nhint: %s", p.file, n.Line, fmt.Sprintf(format, values...), hint)
}

// fields takes a mapping apart.
func (p *parser) fields(n *yaml.Node, known []string) (map[string]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, p.fault(n, "write FIELD: VALUE, with fields among "+strings.Join(known, ", "), "not a mapping of fields")
	}
	fields := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !slices.Contains(known, key.Value) {
			return nil, p.fault(key, nearest.Hint(key.Value, known), "unknown field %q", key.Value)
		}
		if fields[key.Value] != nil {
			return nil, p.fault(key, "keep one of the two", "field %q is there twice", key.Value)
		}
		fields[key.Value] = value
	}
	return fields, nil
}

// ruleFields are the fields of a rule, in the order of docs/format.md.
var ruleFields = []string{"name", "measure", "arm", "class", "better", "floor", "ceiling", "largest_drop", "alpha", "smallest_population", "waiver"}

// rule reads one rule.
func (p *parser) rule(n *yaml.Node) (r Rule, err error) {
	fields, err := p.fields(n, ruleFields)
	if err != nil {
		return r, err
	}
	r.Line, r.SmallestPopulation = n.Line, 1
	for _, required := range []string{"measure", "arm"} {
		if fields[required] == nil {
			return r, p.fault(n, "say which "+required+" the rule is about", "a rule without %s", required)
		}
	}
	if err := p.subject(&r, fields); err != nil {
		return r, err
	}
	if r.Floor, err = p.bound(fields["floor"], "floor", r.Measure); err != nil {
		return r, err
	}
	if r.Ceiling, err = p.bound(fields["ceiling"], "ceiling", r.Measure); err != nil {
		return r, err
	}
	if r.LargestDrop, err = p.drop(fields["largest_drop"]); err != nil {
		return r, err
	}
	if node := fields["alpha"]; node != nil {
		if r.Alpha, err = p.number(node, "alpha"); err != nil {
			return r, err
		}
		if r.Alpha <= 0 || r.Alpha >= 1 {
			return r, p.fault(node, "give a number between 0 and 1, such as 0.05", "alpha: %s is no level of a test", node.Value)
		}
	}
	if node := fields["smallest_population"]; node != nil {
		if err := node.Decode(&r.SmallestPopulation); err != nil || node.ShortTag() == "!!null" || r.SmallestPopulation < 1 {
			return r, p.fault(node, "give a whole number from 1", "smallest_population: %q is not the size of a population", node.Value)
		}
	}
	if node := fields["waiver"]; node != nil {
		if r.Waiver, err = p.waiver(node); err != nil {
			return r, err
		}
	}
	return r, p.agree(r, n)
}

// subject reads what a rule is about, and its name.
func (p *parser) subject(r *Rule, fields map[string]*yaml.Node) (err error) {
	measure, err := p.text(fields["measure"], "measure")
	if err != nil {
		return err
	}
	var known []string
	for _, m := range metrics.Measures() {
		known = append(known, m.Name)
	}
	var ok bool
	if r.Measure, ok = metrics.FindMeasure(measure); !ok {
		return p.fault(fields["measure"], nearest.Hint(measure, known), "unknown measure %q", measure)
	}
	if r.Arms, err = p.arms(fields["arm"]); err != nil {
		return err
	}
	if node := fields["class"]; node != nil {
		if r.Class, err = p.text(node, "class"); err != nil {
			return err
		}
	}
	r.Better = r.Measure.Better
	if node := fields["better"]; node != nil {
		word, err := p.text(node, "better")
		if err != nil {
			return err
		}
		if word != string(metrics.Lower) && word != string(metrics.Higher) {
			return p.fault(node, "write lower or higher", "better: %q is no direction", word)
		}
		if r.Better != metrics.Neither && word != string(r.Better) {
			return p.fault(node, "leave it out", "better: %s, but of %s %s is better", word, measure, r.Better)
		}
		r.Better = metrics.Direction(word)
	}
	r.Name = strings.TrimSpace(measure + " " + r.Class)
	if node := fields["name"]; node != nil {
		r.Name, err = p.text(node, "name")
	}
	return err
}

// arms reads an arm's name, several, or AllArms.
func (p *parser) arms(n *yaml.Node) (arms []string, err error) {
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
	}
	if len(nodes) == 0 {
		return nil, p.fault(n, "name an arm, or write \"*\" for all", "arm: no arm")
	}
	for _, node := range nodes {
		name, err := p.text(node, "arm")
		if err != nil {
			return nil, err
		}
		if slices.Contains(arms, name) {
			return nil, p.fault(node, "name it once", "arm: %q is named twice", name)
		}
		arms = append(arms, name)
	}
	if len(arms) > 1 && slices.Contains(arms, AllArms) {
		return nil, p.fault(n, "write \"*\" alone", "arm: %q beside names", AllArms)
	}
	return arms, nil
}

// bound reads a floor or ceiling, which must lie where the measure's values do.
func (p *parser) bound(n *yaml.Node, field string, m metrics.Measure) (*float64, error) {
	if n == nil {
		return nil, nil
	}
	x, err := p.number(n, field)
	if err != nil {
		return nil, err
	}
	if !m.Range.Contains(x) {
		return nil, p.fault(n, fmt.Sprintf("give a number in %s (unit: %s)", m.Range, m.Unit), "%s: %s is outside the range of %s", field, n.Value, m.Name)
	}
	return &x, nil
}

// drop reads a number, or a percentage such as 2%.
func (p *parser) drop(n *yaml.Node) (*Drop, error) {
	if n == nil {
		return nil, nil
	}
	const hint = "give 0 or more, in the measure's unit, or in percent of the baseline, such as 2%"
	var d Drop
	text, percent := strings.CutSuffix(n.Value, "%")
	if n.Kind == yaml.ScalarNode && percent {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, p.fault(n, hint, "largest_drop: %q is no percentage", n.Value)
		}
		d = Drop{x, true}
	} else {
		x, err := p.number(n, "largest_drop")
		if err != nil {
			return nil, err
		}
		d = Drop{Value: x}
	}
	if d.Value < 0 {
		return nil, p.fault(n, hint, "largest_drop: %s is below 0", n.Value)
	}
	return &d, nil
}

// waiver reads a waiver, every field of which is required: one without an end is a rule less.
func (p *parser) waiver(n *yaml.Node) (*Waiver, error) {
	known := []string{"reason", "issue", "expires"}
	fields, err := p.fields(n, known)
	if err != nil {
		return nil, err
	}
	values := make(map[string]string)
	for _, name := range known {
		if fields[name] == nil {
			return nil, p.fault(n, "say why, under which issue, and until which day: reason, issue, expires", "a waiver without %s", name)
		}
		if values[name], err = p.text(fields[name], name); err != nil {
			return nil, err
		}
	}
	day, err := time.Parse(time.DateOnly, values["expires"])
	if err != nil {
		return nil, p.fault(fields["expires"], "write it as 2026-12-31", "expires: %q is no day", values["expires"])
	}
	return &Waiver{Reason: values["reason"], Issue: values["issue"], Expires: Day{day}}, nil
}

// agree checks that the fields of a rule make sense together.
func (p *parser) agree(r Rule, n *yaml.Node) error {
	switch {
	case r.Floor == nil && r.Ceiling == nil && r.LargestDrop == nil:
		return p.fault(n, "give a floor, a ceiling or a largest_drop", "rule %q demands nothing", r.Name)
	case r.Floor != nil && r.Ceiling != nil && *r.Floor > *r.Ceiling:
		return p.fault(n, "exchange the two", "rule %q: the floor is above the ceiling", r.Name)
	case r.LargestDrop != nil && r.Better == metrics.Neither:
		return p.fault(n, "add \"better: lower\" or \"better: higher\"", "rule %q: %s is neither better lower nor higher, so nothing is a drop", r.Name, r.Measure.Name)
	case r.Alpha != 0 && r.LargestDrop == nil:
		return p.fault(n, "add a largest_drop, or leave alpha out: a floor or ceiling judges the figure as it is", "rule %q: alpha without largest_drop", r.Name)
	case !metrics.HasItems(r.Measure.Name) && (r.Alpha != 0 || r.Class != ""):
		return p.fault(n, "leave alpha and class out", "rule %q: %s is one figure of the whole run", r.Name, r.Measure.Name)
	}
	return nil
}

// number reads a finite number.
func (p *parser) number(n *yaml.Node, field string) (float64, error) {
	var x float64
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" && n.ShortTag() != "!!float" || n.Decode(&x) != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, p.fault(n, "give a number, without quotes", "%s: %.60q is not a number", field, n.Value)
	}
	return x, nil
}

func (p *parser) text(n *yaml.Node, field string) (string, error) {
	if n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "" || n.ShortTag() == "!!null" {
		return "", p.fault(n, "write a text", "%s: not a text", field)
	}
	return n.Value, nil
}
