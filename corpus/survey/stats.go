package survey

import (
	"cmp"
	"maps"
	"slices"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/tokens"
)

const (
	// largestMax is how many of the largest tools Stats lists.
	largestMax = 10
	// askedMax bounds the tools that Measure asks for.
	askedMax = 1000
)

// Stats say what a corpus is made of.
type Stats struct {
	SchemaVersion int    `json:"schema_version"`
	Corpus        string `json:"corpus"`
	Version       string `json:"version"`
	SHA256        string `json:"corpus_sha256"`
	// Synthetic marks a corpus that was made by rule.
	Synthetic bool `json:"synthetic"`
	// Servers and Plugins are those that own tools.
	Servers int `json:"servers"`
	Plugins int `json:"plugins"`
	// Tools are all; BuiltinTools those of the agent itself, lent ones included;
	// DeferrableTools those that are not on the core list.
	Tools           int `json:"tools"`
	BuiltinTools    int `json:"builtin_tools"`
	DeferrableTools int `json:"deferrable_tools"`
	// Intents are the corpus's own; DerivedIntents those that take their place
	// where there are none.
	Intents        int `json:"intents"`
	DerivedIntents int `json:"derived_intents"`
	// ServerTools is the spread of the number of tools of a server or plugin.
	ServerTools Spread `json:"server_tools"`
	Tokenizer   string `json:"tokenizer"`
	Tokens      Tokens `json:"tokens"`
	// Largest are the tools of the most tokens, the largest first.
	Largest []Sized `json:"largest"`
	// Collisions are the names that several owners' tools have, sorted.
	Collisions []Collision `json:"collisions"`
	Classes    []Count     `json:"classes"`
	Languages  []Count     `json:"languages"`
	Retrieval  Retrieved   `json:"retrieval"`
}

// Tokens are those of the tools that can be deferred and that the corpus brings
// itself. Array is their tools array as a whole, of which Tool is one entry's part;
// name, description and schema are counted as JSON values on their own, so that
// their sum is a little off.
type Tokens struct {
	Tools       int    `json:"tools"`
	Array       int    `json:"array"`
	Tool        Spread `json:"tool"`
	Name        Spread `json:"name"`
	Description Spread `json:"description"`
	Schema      Spread `json:"schema"`
}

// Spread is how numbers are spread. A quantile is the smallest of them that at
// least that share of them does not exceed. All are 0 of no numbers.
type Spread struct {
	Sum int `json:"sum"`
	Min int `json:"min"`
	P25 int `json:"p25"`
	P50 int `json:"p50"`
	P75 int `json:"p75"`
	P90 int `json:"p90"`
	P99 int `json:"p99"`
	Max int `json:"max"`
}

// Sized is a tool and its tokens.
type Sized struct {
	Tool        string `json:"tool"` // its ID
	Tokens      int    `json:"tokens"`
	Description int    `json:"description"`
	Schema      int    `json:"schema"`
}

// Collision is a name that tools of several owners have.
type Collision struct {
	Name  string   `json:"name"`
	Tools []string `json:"tools"` // IDs
}

// Count is how many intents are of a class or in a language.
type Count struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Retrieved is how well tools are found by their derived intents.
type Retrieved struct {
	Retriever string `json:"retriever"`
	// Asked tools, at most 1,000 evenly spread, were searched for among Pool.
	Asked int `json:"asked"`
	Pool  int `json:"pool"`
	// First and Top5 are how many stood first and among the first five.
	First int `json:"first"`
	Top5  int `json:"top_5"`
}

// Measure takes the stats of a corpus that has its own intents, or none.
// retriever is one of search.Names.
func Measure(c *corpus.Corpus, retriever string) (*Stats, error) {
	counter, err := tokens.New(Tokenizer)
	if err != nil {
		return nil, err
	}
	r, err := NewRetrieval(c, retriever)
	if err != nil {
		return nil, err
	}
	s := &Stats{
		SchemaVersion: SchemaVersion, Corpus: c.Name, Version: c.Version, SHA256: c.SHA256, Synthetic: c.Synthetic,
		Tools: len(c.Tools), Intents: len(c.Intents), Tokenizer: Tokenizer, Collisions: collisions(c),
	}
	s.countTools(c)
	s.DeferrableTools = r.Len()
	s.countTokens(counter, slices.DeleteFunc(c.Own(), func(t *corpus.Tool) bool { return c.Toolsets.IsCore(t.Definition.Name) }))
	intents := c.WithDerived().Intents
	s.DerivedIntents = len(intents) - len(c.Intents)
	s.countIntents(intents)
	s.Retrieval = retrieved(c, r, retriever)
	return s, nil
}

func (s *Stats) countTools(c *corpus.Corpus) {
	sizes := make(map[string]int)
	for _, t := range c.Tools {
		if t.Builtin {
			s.BuiltinTools++
			continue
		}
		if sizes[t.Toolset]++; sizes[t.Toolset] > 1 {
			continue
		}
		if t.Server == "" {
			s.Plugins++
		} else {
			s.Servers++
		}
	}
	s.ServerTools = spread(slices.Collect(maps.Values(sizes)))
}

func (s *Stats) countTokens(counter *tokens.Counter, tools []*corpus.Tool) {
	s.Tokens.Tools, s.Tokens.Array = len(tools), arrayTokens(counter, tools)
	s.Largest = make([]Sized, len(tools))
	whole, names, descriptions, schemas := make([]int, len(tools)), make([]int, len(tools)), make([]int, len(tools)), make([]int, len(tools))
	for i, t := range tools {
		d := t.Definition
		whole[i], names[i] = toolTokens(counter, t), counter.Count(literal(d.Name))
		descriptions[i], schemas[i] = counter.Count(literal(d.Description)), counter.Count(string(d.Parameters))
		s.Largest[i] = Sized{t.ID, whole[i], descriptions[i], schemas[i]}
	}
	s.Tokens.Tool, s.Tokens.Name = spread(whole), spread(names)
	s.Tokens.Description, s.Tokens.Schema = spread(descriptions), spread(schemas)
	slices.SortFunc(s.Largest, func(a, b Sized) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Tool, b.Tool))
	})
	s.Largest = slices.Clone(s.Largest[:min(len(tools), largestMax)])
}

func (s *Stats) countIntents(intents []*corpus.Intent) {
	classes, languages := make(map[corpus.Class]int), make(map[string]int)
	for _, in := range intents {
		classes[in.Class]++
		languages[in.Language]++
	}
	s.Classes, s.Languages = []Count{}, []Count{}
	for _, class := range corpus.Classes() {
		if n := classes[class]; n > 0 {
			s.Classes = append(s.Classes, Count{string(class), n})
		}
	}
	for _, language := range slices.Sorted(maps.Keys(languages)) {
		s.Languages = append(s.Languages, Count{language, languages[language]})
	}
}

// retrieved asks for tools that have derived intents.
func retrieved(c *corpus.Corpus, r *Retrieval, retriever string) Retrieved {
	found := Retrieved{Retriever: retriever, Pool: r.Len()}
	tools := slices.DeleteFunc(slices.Clone(c.Tools), func(t *corpus.Tool) bool { return t.Builtin })
	for _, t := range EvenlySpread(tools, askedMax) {
		hits, asked := r.Ask(t, Top)
		if !asked {
			continue
		}
		found.Asked++
		if rank := Rank(t.ID, hits); rank > 0 {
			found.Top5++
			if rank == 1 {
				found.First++
			}
		}
	}
	return found
}

// collisions are the names that tools of several owners have.
func collisions(c *corpus.Corpus) []Collision {
	byName := make(map[string][]string)
	owners := make(map[string]map[string]bool)
	for _, t := range c.Tools {
		byName[t.Name] = append(byName[t.Name], t.ID)
		if owners[t.Name] == nil {
			owners[t.Name] = make(map[string]bool)
		}
		owner := t.Toolset
		if t.Builtin {
			owner = "" // of the agent, whatever the toolset
		}
		owners[t.Name][owner] = true
	}
	found := []Collision{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if len(owners[name]) > 1 {
			found = append(found, Collision{name, byName[name]})
		}
	}
	return found
}

func spread(numbers []int) Spread {
	n := len(numbers)
	if n == 0 {
		return Spread{}
	}
	numbers = slices.Sorted(slices.Values(numbers))
	at := func(percent int) int { return numbers[max((percent*n+99)/100-1, 0)] }
	s := Spread{Min: numbers[0], P25: at(25), P50: at(50), P75: at(75), P90: at(90), P99: at(99), Max: numbers[n-1]}
	for _, v := range numbers {
		s.Sum += v
	}
	return s
}
