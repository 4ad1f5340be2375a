package corpus

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

const (
	// syntheticPrefix begins the path, and the name, of a corpus that Scale makes.
	syntheticPrefix = "synthetic:"
	// scaleVersion is raised whenever Scale makes other tools than before.
	scaleVersion = "1"
	// scaleMax is the most tools that Scale makes.
	scaleMax = 100_000
	// scaleSeed and scaleLabel name the streams that servers are drawn from.
	scaleSeed  = 1
	scaleLabel = "corpus/scale"
)

var scaleHint = fmt.Sprintf("write %sN for N tools, 1 to %d", syntheticPrefix, scaleMax)

// Scale makes a corpus of n tools, 1 to 100,000, for questions of size that no
// real catalog answers. It is marked as synthetic by its name, its field
// Synthetic and a note, and has no intents: WithDerived gives it some.
//
// The tools belong to MCP servers of 1 to 256 tools; size k has a probability in
// proportion to k^-1.5. Each server has nouns of its own, drawn from a vocabulary
// of 8,000 by Zipf's law with exponent 1. Names, descriptions of one to four
// sentences and schemas of up to six parameters are put together from verbs and
// these nouns, so that tools of one server are alike and servers share frequent
// words. No two tools of a server have one name.
//
// The result depends on n alone, and server i on i alone: the tools of Scale(n)
// are those of Scale(n+1) less one.
func Scale(n int) (*Corpus, error) {
	name := fmt.Sprintf("%s%d", syntheticPrefix, n)
	if n < 1 || n > scaleMax {
		return nil, fmt.Errorf("corpus %s: %d is no number of tools that can be made\nhint: %s", name, n, scaleHint)
	}
	base, err := Embedded()
	if err != nil {
		return nil, err
	}
	c := &Corpus{
		Name: name, Version: scaleVersion, Synthetic: true, Toolsets: base.Toolsets, Distributions: distributions.NewSet(),
		Notes: []string{"the corpus is synthetic: its tools are drawn by rule, so figures tell about size and about no real server"},
	}
	for _, t := range base.Tools {
		if t.Builtin {
			c.lend(t)
		}
	}
	m := newScaler()
	for made := 0; made < n; {
		tools, err := m.server(n - made)
		if err != nil {
			return nil, err
		}
		c.Tools = append(c.Tools, tools...)
		made += len(tools)
	}
	c.finish()
	return c, nil
}

// scaler makes one server after another.
type scaler struct {
	words   []string
	zipf    weights // of words
	sizes   weights // of servers; index 0 is size 1
	servers map[string]bool
	index   uint64
}

const (
	scaleWords     = 8000
	scaleServerMax = 256
	// scaleNouns is how many nouns a server has.
	scaleNouns = 14
)

func newScaler() *scaler {
	return &scaler{
		words:   vocabulary(scaleWords),
		zipf:    newWeights(scaleWords, func(k float64) float64 { return k }),
		sizes:   newWeights(scaleServerMax, func(k float64) float64 { return k * math.Sqrt(k) }),
		servers: make(map[string]bool),
	}
}

// weights draws an index with a probability in proportion to a weight. They are
// whole numbers, of operations that every CPU rounds alike.
type weights []uint64 // running sums

// newWeights weighs index i, of n, by 1 over divisor(i+1).
func newWeights(n int, divisor func(float64) float64) weights {
	w, sum := make(weights, n), uint64(0)
	for i := range w {
		sum += uint64((1 << 40) / divisor(float64(i+1)))
		w[i] = sum
	}
	return w
}

// draws is a stream of a server's draws.
type draws struct{ stream *distributions.Stream }

// below draws a whole number from 0 to n-1.
func (d draws) below(n uint64) uint64 {
	high, _ := bits.Mul64(d.stream.Uint64(), n)
	return high
}

func (d draws) weighted(w weights) int {
	i, exact := slices.BinarySearch(w, d.below(w[len(w)-1]))
	if exact { // the sums are of what lies before, itself included
		i++
	}
	return i
}

func pick[T any](d draws, from []T) T { return from[d.below(uint64(len(from)))] }

// chance is true once in so many draws.
func (d draws) chance(oneIn uint64) bool { return d.below(oneIn) == 0 }

// scaledServer is a server while its tools are made.
type scaledServer struct {
	draws
	label string
	nouns []string
	names map[string]bool
}

// server makes the tools of the next server, at most limit.
func (m *scaler) server(limit int) ([]*Tool, error) {
	s := scaledServer{draws: draws{distributions.NewStream(scaleSeed, scaleLabel, m.index)}, names: make(map[string]bool)}
	size := 1 + s.weighted(m.sizes)
	for len(s.nouns) < scaleNouns {
		if noun := m.words[s.weighted(m.zipf)]; !slices.Contains(s.nouns, noun) {
			s.nouns = append(s.nouns, noun)
		}
	}
	s.label = pick(s.draws, s.nouns) + "_" + pick(s.draws, scaleKinds)
	if m.servers[s.label] {
		s.label += fmt.Sprintf("_%d", m.index)
	}
	m.servers[s.label] = true
	m.index++
	tools := make([]*Tool, min(size, limit))
	for i := range tools {
		var err error
		if tools[i], err = s.tool(); err != nil {
			return nil, err
		}
	}
	return tools, nil
}

// tool makes one tool.
func (s *scaledServer) tool() (*Tool, error) {
	verb, noun, name := s.name()
	description := s.description(verb, noun)
	parameters := s.parameters(noun)
	d, err := registry.Define(VisibleName(s.label, name), description, parameters)
	if err != nil {
		return nil, err
	}
	raw := rawjson.AppendObject(nil, []rawjson.Field{
		{Key: "name", Value: rawjson.String(name)}, {Key: "description", Value: rawjson.String(description)}, {Key: "inputSchema", Value: parameters},
	})
	return &Tool{
		ID: s.label + "/" + name, Server: s.label, Name: name, Toolset: serverPrefix + s.label, Raw: raw, Definition: d,
		ReadOnly: slices.Contains(scaleReaders, verb),
	}, nil
}

// name draws a name that the server does not have yet: verb_noun, and as many
// more nouns as it takes.
func (s *scaledServer) name() (verb, noun, name string) {
	verb, noun = pick(s.draws, scaleVerbs), pick(s.draws, s.nouns)
	name = verb + "_" + noun
	for s.names[name] {
		name = verb + "_" + pick(s.draws, s.nouns) + strings.TrimPrefix(name, verb)
	}
	s.names[name] = true
	return verb, noun, name
}

// description says what the tool does, and often what it returns, when to use it
// and how it fails.
func (s *scaledServer) description(verb, noun string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s %s", strings.ToUpper(verb[:1]), verb[1:], pick(s.draws, scaleScopes))
	if s.chance(2) {
		b.WriteString(" " + pick(s.draws, scaleStates))
	}
	fmt.Fprintf(&b, " %s %s the %s", noun, pick(s.draws, scaleLinks), pick(s.draws, s.nouns))
	if s.chance(2) {
		fmt.Fprintf(&b, " by %s and %s", pick(s.draws, s.nouns), pick(s.draws, s.nouns))
	}
	b.WriteByte('.')
	if !s.chance(3) {
		fmt.Fprintf(&b, " Returns the %s with its %s and %s.", noun, pick(s.draws, s.nouns), pick(s.draws, s.nouns))
	}
	if s.chance(2) {
		fmt.Fprintf(&b, " Use it when the %s is %s.", pick(s.draws, s.nouns), pick(s.draws, scaleStates))
	}
	if s.chance(3) {
		fmt.Fprintf(&b, " Fails if the %s is not %s.", noun, pick(s.draws, scaleStates))
	}
	return b.String()
}

// parameters makes a schema of up to six parameters; nine in ten are described.
func (s *scaledServer) parameters(noun string) []byte {
	var properties []rawjson.Field
	var required [][]byte
	for range s.below(7) {
		shape := pick(s.draws, scaleParameters)
		key := noun + shape.suffix
		if !shape.own {
			key = pick(s.draws, s.nouns) + shape.suffix
		}
		if _, again := rawjson.Get(properties, key); again {
			continue
		}
		property := []rawjson.Field{{Key: "type", Value: rawjson.String(shape.kind)}}
		if !s.chance(10) {
			text := fmt.Sprintf(shape.text, noun, pick(s.draws, scaleStates))
			property = append(property, rawjson.Field{Key: "description", Value: rawjson.String(text)})
		}
		if s.chance(2) {
			required = append(required, rawjson.String(key))
		}
		properties = append(properties, rawjson.Field{Key: key, Value: rawjson.AppendObject(nil, property)})
	}
	schema := []rawjson.Field{{Key: "type", Value: rawjson.String("object")}, {Key: "properties", Value: rawjson.AppendObject(nil, properties)}}
	if len(required) > 0 {
		list := []byte{'['}
		for i, key := range required {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, key...)
		}
		schema = append(schema, rawjson.Field{Key: "required", Value: append(list, ']')})
	}
	return rawjson.AppendObject(nil, schema)
}
