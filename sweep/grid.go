package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/nearest"
	"github.com/toolgauge/toolgauge/metrics"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/search"
	"github.com/toolgauge/toolgauge/replay"
)

// DefaultSetting is the name of the setting in which nothing is set.
const DefaultSetting = "default"

// Setting is one way to set the pipeline up: what people can choose.
type Setting struct {
	Name string
	// Arm is the setting under the default agent model.
	Arm    replay.Arm
	values []string // of the grid's keys; none for eager
}

// Model is what is assumed of the language model and of who serves it: what people
// cannot choose.
type Model struct {
	Agent       string `json:"agent"`
	Writer      string `json:"writer"`
	MaxSearches int    `json:"max_searches"`
	Tokenizer   string `json:"tokenizer"`
	Cache       string `json:"cache"`
	Gateway     string `json:"gateway"`
	// GatewaySHA256 and GatewayConfig are those of the arm.
	GatewaySHA256 string       `json:"gateway_sha256,omitempty"`
	GatewayConfig *card.Config `json:"-"`
}

// Grid is what a sweep plays: settings, the models that each is played with, and
// the context lengths, if not the sessions' own.
type Grid struct {
	keys     []gridKey
	settings []Setting
	models   []Model
	points   []point
	contexts []int
}

// point is a setting under a model, both by position.
type point struct{ setting, model int }

// gridKey is a key with the values to be tried, as people write them.
type gridKey struct {
	*key
	values []string
}

// key is something that a grid can vary.
type key struct {
	name string
	// words are what it can be; empty for a number.
	words []string
	whole bool // a whole number
	// of reads the value off an arm; nil for what is no setting.
	of func(replay.Arm) string
}

// The keys that are no settings.
const (
	keyAgent         = "agent"
	keyContextLength = "context_length"
)

// keys are all of them, in the order in which they are explained.
func keys() []*key {
	var variants []string
	for _, v := range bridge.Variants() {
		variants = append(variants, string(v))
	}
	return []*key{
		{name: "threshold_pct", of: func(a replay.Arm) string { return strconv.FormatFloat(a.ToolSearch.ThresholdPct, 'g', -1, 64) }},
		{name: "listing", words: []string{"auto", "on", "off"}, of: func(a replay.Arm) string { return string(a.ToolSearch.Listing) }},
		{name: "listing_max_tokens", whole: true, of: func(a replay.Arm) string { return strconv.Itoa(a.ToolSearch.ListingMaxTokens) }},
		{name: "search_default_limit", whole: true, of: func(a replay.Arm) string { return strconv.Itoa(a.ToolSearch.SearchDefaultLimit) }},
		{name: "retriever", words: search.Names(), of: func(a replay.Arm) string { return a.Retriever }},
		{name: "variant", words: variants, of: func(a replay.Arm) string { return string(a.Variant) }},
		{name: keyAgent, words: []string{replay.AgentAware, replay.AgentHasty, replay.AgentUnaware, replay.AgentBlind}},
		{name: keyContextLength, whole: true},
	}
}

// DefaultWords is the grid that a sweep plays if it is told nothing.
func DefaultWords() []string {
	return []string{"threshold_pct=0.5,1,2,5,10,20,50", "listing=auto,off", "retriever=bm25,hybrid", "agent=aware,hasty"}
}

// WithDefaults returns words that try settings: those given, if one of them does,
// else with the default ones of the keys that they do not have.
func WithDefaults(words []string) []string {
	given := make(map[string]bool)
	for _, word := range words {
		name, _, _ := strings.Cut(word, "=")
		if name != keyAgent && name != keyContextLength {
			return words
		}
		given[name] = true
	}
	all := slices.Clone(words)
	for _, word := range DefaultWords() {
		if name, _, _ := strings.Cut(word, "="); !given[name] {
			all = append(all, word)
		}
	}
	return all
}

// ParseGrid reads a grid as a command line gives it: words such as
// threshold_pct=2,5. Every combination of the values is a setting; eager and the
// default settings are added where they are not among them.
func ParseGrid(words []string) (*Grid, error) {
	g := &Grid{}
	for _, word := range words {
		k, err := parseKey(word)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(g.keys, func(other gridKey) bool { return other.name == k.name }) {
			return nil, fmt.Errorf("%s is given twice\nhint: give its values once, with commas between", k.name)
		}
		g.keys = append(g.keys, k)
	}
	points := 1
	for _, k := range g.keys {
		if k.name != keyContextLength {
			points *= len(k.values)
		}
		if points > PointsMax {
			return nil, fmt.Errorf("more than %d points\nhint: give fewer values; the points are all their combinations", PointsMax)
		}
	}
	return g, g.product()
}

// parseKey reads one word of a grid.
func parseKey(word string) (gridKey, error) {
	name, list, ok := strings.Cut(word, "=")
	var names []string
	for _, k := range keys() {
		names = append(names, k.name)
		if k.name != name {
			continue
		}
		g := gridKey{key: k}
		for _, text := range strings.Split(list, ",") {
			value, err := k.parse(text)
			if err != nil {
				return g, err
			}
			if slices.Contains(g.values, value) {
				return g, fmt.Errorf("%s: %s is there twice\nhint: give each value once", name, value)
			}
			g.values = append(g.values, value)
		}
		return g, nil
	}
	if !ok {
		return gridKey{}, fmt.Errorf("%q: not KEY=VALUE,...\nhint: write for example threshold_pct=2,5,10", word)
	}
	return gridKey{}, fmt.Errorf("unknown key %q\nhint: %s", name, nearest.Hint(name, names))
}

// contextMax bounds a context length, in tokens.
const contextMax = 1_000_000_000

// parse checks one value and writes it in one way. Whether a number is in range is
// for the variant to say.
func (k *key) parse(text string) (string, error) {
	switch {
	case len(k.words) > 0:
		if !slices.Contains(k.words, text) {
			return "", fmt.Errorf("%s: unknown value %q\nhint: %s", k.name, text, nearest.Hint(text, k.words))
		}
		return text, nil
	case k.whole:
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > contextMax {
			return "", fmt.Errorf("%s: %q is no whole number from 1 up\nhint: give numbers with commas between, as in %s=%s", k.name, text, k.name, k.example())
		}
		return strconv.Itoa(n), nil
	default:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return "", fmt.Errorf("%s: %q is no number\nhint: give numbers with commas between, as in %s=%s", k.name, text, k.name, k.example())
		}
		return strconv.FormatFloat(f+0, 'g', -1, 64), nil // -0 is 0
	}
}

func (k *key) example() string {
	switch k.name {
	case keyContextLength:
		return "32000,200000"
	case "listing_max_tokens":
		return "2000,20000"
	default:
		return "2,5,10"
	}
}

// take removes the key of a name from the grid and returns its values.
func (g *Grid) take(name string) []string {
	i := slices.IndexFunc(g.keys, func(k gridKey) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	values := g.keys[i].values
	g.keys = slices.Delete(g.keys, i, i+1)
	return values
}

// product makes the points of the keys.
func (g *Grid) product() error {
	agents := g.take(keyAgent)
	if agents == nil {
		agents = []string{replay.AgentAware}
	}
	for _, text := range g.take(keyContextLength) {
		n, _ := strconv.Atoi(text) // parse has read it
		g.contexts = append(g.contexts, n)
	}
	if len(g.contexts) > contextsMax {
		return fmt.Errorf("context_length: more than %d lengths\nhint: give fewer", contextsMax)
	}
	variant := bridge.July
	if i := slices.IndexFunc(g.keys, func(k gridKey) bool { return k.name == "variant" }); i >= 0 {
		variant = bridge.Variant(g.keys[i].values[0])
	}
	plain := Setting{Name: DefaultSetting, Arm: replay.NewArm(DefaultSetting, variant)}
	plain.values = g.valuesOf(plain.Arm)
	choice := make([]string, len(g.keys))
	var combine func(i int) error
	combine = func(i int) error {
		if i < len(g.keys) {
			for _, choice[i] = range g.keys[i].values {
				if err := combine(i + 1); err != nil {
					return err
				}
			}
			return nil
		}
		s, err := g.setting(choice, variant)
		if err != nil {
			return err
		}
		if s.Name = g.changes(s.values, plain.values); s.Name == "" {
			s.Name = DefaultSetting
		}
		s.Arm.Name = s.Name
		g.settings = append(g.settings, s)
		return nil
	}
	if err := combine(0); err != nil {
		return err
	}
	if !slices.ContainsFunc(g.settings, func(s Setting) bool { return s.Name == DefaultSetting }) {
		g.settings = slices.Insert(g.settings, 0, plain)
	}
	eager := replay.DefaultArms()[0]
	g.settings = slices.Insert(g.settings, 0, Setting{Name: eager.Name, Arm: eager})
	for i, agent := range agents {
		m := modelOf(replay.NewArm("", variant))
		m.Agent = agent
		g.models = append(g.models, m)
		for j := range g.settings {
			g.points = append(g.points, point{j, i})
		}
	}
	return nil
}

// setting is one combination of values.
func (g *Grid) setting(choice []string, variant bridge.Variant) (Setting, error) {
	raw := make(map[string]any)
	retriever := ""
	for i, k := range g.keys {
		switch k.name {
		case "variant":
			variant = bridge.Variant(choice[i])
		case "retriever":
			retriever = choice[i]
		default:
			raw[k.name] = choice[i] // the pipeline reads numbers off texts
		}
	}
	a := replay.NewArm("", variant)
	a.ToolSearch, _ = variant.ParseConfig(raw)
	if retriever != "" {
		a.Retriever = retriever
	}
	values := g.valuesOf(a)
	for i, value := range values {
		if value != choice[i] {
			return Setting{}, fmt.Errorf("%s=%s: out of range for variant %s\nhint: the pipeline would take it as %s", g.keys[i].name, choice[i], variant, value)
		}
	}
	return Setting{Arm: a, values: values}, nil
}

func (g *Grid) valuesOf(a replay.Arm) []string {
	values := make([]string, len(g.keys))
	for i, k := range g.keys {
		values[i] = k.of(a)
	}
	return values
}

// changes writes down which values are not the default ones.
func (g *Grid) changes(values, plain []string) string {
	var list []string
	for i, k := range g.keys {
		if values[i] != plain[i] {
			list = append(list, k.name+"="+values[i])
		}
	}
	return strings.Join(list, " ")
}

// ArmsGrid makes a point of each arm. Arms that differ only in what is assumed of
// the model are one setting, of the first one's name. Eager and the default
// settings are added to every model that lacks them.
func ArmsGrid(arms []replay.Arm) (*Grid, error) {
	g := &Grid{}
	variant := bridge.July
	if i := slices.IndexFunc(arms, func(a replay.Arm) bool { return a.Bridge }); i >= 0 {
		variant = arms[i].Variant
	}
	eager := replay.DefaultArms()[0]
	if i := slices.IndexFunc(arms, func(a replay.Arm) bool { return a.Name == metrics.EagerArm }); i >= 0 {
		eager = arms[i]
	}
	g.settings = []Setting{{Name: eager.Name, Arm: unassuming(eager)}, {Name: DefaultSetting, Arm: replay.NewArm(DefaultSetting, variant)}}
	named := make(map[point]string)
	for _, a := range arms {
		p := point{g.settingOf(a), g.modelOf(a)}
		if twin, there := named[p]; there {
			return nil, fmt.Errorf("arm %q is %q once more\nhint: leave one of them out", a.Name, twin)
		}
		if a.Name == DefaultSetting && p.setting != 1 {
			return nil, fmt.Errorf("arm %q has not the default settings, which bear that name\nhint: give it another name", a.Name)
		}
		named[p] = a.Name
	}
	for model := range g.models {
		for setting := range g.settings {
			p := point{setting, model}
			if _, there := named[p]; there || setting < 2 {
				g.points = append(g.points, p)
			}
		}
	}
	if len(g.points) > PointsMax {
		return nil, fmt.Errorf("more than %d points\nhint: list fewer arms", PointsMax)
	}
	return g, nil
}

// unassuming is an arm without what it assumes of the model.
func unassuming(a replay.Arm) replay.Arm { return modelOf(replay.NewArm("", bridge.July)).under(a) }

// settingOf is the position of an arm's setting, which is added if it is new.
func (g *Grid) settingOf(a replay.Arm) int {
	bare := unassuming(a)
	for i, s := range g.settings {
		if bare.Name = s.Arm.Name; bare == s.Arm {
			return i
		}
	}
	bare.Name = a.Name
	g.settings = append(g.settings, Setting{Name: a.Name, Arm: bare})
	return len(g.settings) - 1
}

// modelOf is the position of what an arm assumes, which is added if it is new.
func (g *Grid) modelOf(a replay.Arm) int {
	m := modelOf(a)
	if i := slices.Index(g.models, m); i >= 0 {
		return i
	}
	g.models = append(g.models, m)
	return len(g.models) - 1
}

func modelOf(a replay.Arm) Model {
	return Model{
		Agent: a.Agent, Writer: a.Writer, MaxSearches: a.MaxSearches, Tokenizer: a.Tokenizer, Cache: a.Cache,
		Gateway: a.Gateway, GatewaySHA256: a.GatewaySHA256, GatewayConfig: a.GatewayConfig,
	}
}

// under is an arm with the model's assumptions in the place of its own.
func (m Model) under(a replay.Arm) replay.Arm {
	a.Agent, a.Writer, a.MaxSearches, a.Tokenizer, a.Cache = m.Agent, m.Writer, m.MaxSearches, m.Tokenizer, m.Cache
	a.Gateway, a.GatewaySHA256, a.GatewayConfig = m.Gateway, m.GatewaySHA256, m.GatewayConfig
	return a
}

// String names the model: its agent, and what else is not the default.
func (m Model) String() string {
	d := modelOf(replay.NewArm("", bridge.July))
	name := m.Agent
	for _, f := range []struct{ name, value, plain string }{
		{"writer", m.Writer, d.Writer}, {"max_searches", strconv.Itoa(m.MaxSearches), strconv.Itoa(d.MaxSearches)},
		{"tokenizer", m.Tokenizer, d.Tokenizer}, {"cache", m.Cache, d.Cache}, {"gateway", m.Gateway, d.Gateway},
	} {
		if f.value != f.plain {
			name += " " + f.name + "=" + f.value
		}
	}
	return name
}

// arms are the points as a replay takes them.
func (g *Grid) arms() []replay.Arm {
	arms := make([]replay.Arm, len(g.points))
	for i, p := range g.points {
		arms[i] = g.models[p.model].under(g.settings[p.setting].Arm)
		arms[i].Name = g.settings[p.setting].Name + ", agent " + g.models[p.model].String()
	}
	return arms
}

// Points is how many points the grid has for each session and context length.
func (g *Grid) Points() int { return len(g.points) }
