package gateway

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// route is where a call goes.
type route struct {
	tool *tool
	err  *Error // where there is none
}

// candidatesMax bounds the tools that an error proposes.
const candidatesMax = 3

// route finds the tool of a call: by id or model-visible name, and among those of its
// group the best that is available. A name that nobody has is answered with the tools
// that come nearest; none of them is called on its own.
func (s *Session) route(ctx context.Context, snap *snapshot, c registry.Call) route {
	if bridge.IsBridgeTool(c.Name) {
		return route{err: &Error{
			Code: UnknownTool, Phase: PhaseRoute, Message: c.Name + " is answered before the gateway; it carries out real tools only",
			SuggestedAction: "Call the tool under its own name.",
		}}
	}
	if t := s.gateway.find(snap, c.Name); t != nil {
		if t.Group != "" {
			t = s.best(snap, t, c)
		}
		return route{tool: t}
	}
	name, _ := s.gateway.redactor.Text(c.Name) // whole: half a secret is not known for one
	name = shortened(name)
	e := &Error{
		Code: UnknownTool, Phase: PhaseRoute, Message: fmt.Sprintf("there is no tool %q", name),
		SuggestedAction: "Use a tool that is listed.",
		Candidates:      s.candidates(ctx, snap, name),
	}
	if len(e.Candidates) > 0 {
		e.SuggestedAction = "Use one of the candidates if it fits; see its schema first."
	}
	return route{err: e}
}

// nameShownMax bounds what an error repeats of a name that does not exist.
const nameShownMax = 80

func shortened(name string) string {
	if runes := []rune(name); len(runes) > nameShownMax {
		return string(runes[:nameShownMax]) + "…"
	}
	return name
}

// best returns the tool of a group that shall answer: of those that the session may
// use, whose endpoint can be reached, whose schema fits the arguments and that are not
// degraded, the one of highest priority; where there is none, the tool asked for.
func (s *Session) best(snap *snapshot, asked *tool, c registry.Call) *tool {
	group := slices.DeleteFunc(s.gateway.all(snap), func(t *tool) bool { return t.Group != asked.Group })
	slices.SortStableFunc(group, func(a, b *tool) int {
		if a.Priority == b.Priority && a == asked {
			return -1
		}
		return cmp.Compare(b.Priority, a.Priority)
	})
	for _, t := range group {
		fits := t == asked || len(t.judge().Violations(c.Arguments)) == 0
		// Whether it is degraded is asked last: the answer may spend its probe.
		if fits && authorise(&s.options.Who, t.Card) == nil && t.available() && !s.gateway.breakers.IsOpen(t.behind) && !s.gateway.memory.Degraded(t.ID) {
			return t
		}
	}
	return asked
}

// available reports whether a tool's endpoint can be reached, as far as it knows.
func (t *tool) available() bool {
	a, ok := t.endpoint.(interface{ Available() bool })
	return !ok || a.Available()
}

// catalog is what candidates are found in.
type catalog struct {
	generation uint64 // of the registry
	tools      []*tool
	index      search.Index
	vectors    [][]float32 // by tool; nil where no model gave any
}

// catalogOf returns a snapshot's catalog, made anew where the registry has changed.
func (g *Gateway) catalogOf(ctx context.Context, s *snapshot) *catalog {
	var generation uint64
	if g.options.Registry != nil {
		generation = g.options.Registry.Generation()
	}
	s.mu.Lock()
	kept := s.catalog
	s.mu.Unlock()
	if kept != nil && kept.generation == generation {
		return kept
	}
	made := &catalog{generation: generation, tools: g.all(s)}
	retriever, err := search.New("vector")
	if err != nil {
		panic(err) // it is among search.Names
	}
	terms := make([]*search.Terms, len(made.tools))
	texts := make([]string, len(made.tools))
	for i, t := range made.tools {
		terms[i] = retriever.Analyze(&search.Doc{Name: t.Name, Description: t.Description, Parameters: properties(t.schema), Source: t.Toolset})
		texts[i] = t.Name + ": " + t.Description
	}
	made.index = retriever.Index(terms)
	if g.options.Embed != nil {
		if vectors, err := g.options.Embed(ctx, texts); err == nil && len(vectors) == len(texts) {
			made.vectors = vectors
		}
	}
	s.mu.Lock()
	s.catalog = made
	s.mu.Unlock()
	return made
}

// properties are the parameter names of a schema.
func properties(schema string) (names []string) {
	fields, err := rawjson.Object([]byte(schema))
	if err != nil {
		return nil
	}
	raw, _ := rawjson.Get(fields, "properties")
	members, err := rawjson.Object(raw)
	if err != nil {
		return nil
	}
	for _, m := range members {
		names = append(names, m.Key)
	}
	return names
}

// candidates are the tools nearest to a name that nobody has: only those that the
// session may use, and no degraded ones.
func (s *Session) candidates(ctx context.Context, snap *snapshot, name string) []Candidate {
	k := s.gateway.catalogOf(ctx, snap)
	var found []Candidate
	for _, i := range k.nearest(ctx, spaced(name), s.gateway.options.Embed) {
		t := k.tools[i]
		if len(found) == candidatesMax {
			break
		}
		if authorise(&s.options.Who, t.Card) == nil && !s.gateway.memory.Degraded(t.ID) {
			description, _ := s.gateway.redactor.Text(t.Description)
			found = append(found, Candidate{Tool: t.Name, Description: beginning(description)})
		}
	}
	return found
}

// spaced parts the words of a name.
func spaced(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case strings.ContainsRune("_-./:", r):
			r = ' '
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

// searchedMax is how many tools are looked at for candidates.
const searchedMax = 50

// nearest ranks the catalog's tools for a query: by the vectors of a model where
// there are some, else by the retriever.
func (k *catalog) nearest(ctx context.Context, query string, embed func(context.Context, []string) ([][]float32, error)) []int {
	var order []int
	if k.vectors != nil {
		if of, err := embed(ctx, []string{query}); err == nil && len(of) == 1 {
			scores := make([]float64, len(k.vectors))
			for i, v := range k.vectors {
				scores[i] = cosine(of[0], v)
				order = append(order, i)
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
			return order[:min(len(order), searchedMax)]
		}
	}
	for _, hit := range k.index.Search(nil, query, searchedMax) {
		order = append(order, hit.Doc)
	}
	return order
}

// cosine is the cosine of two vectors; 0 where they do not compare.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += float64(x * y)
		aa += float64(x * x)
		bb += float64(y * y)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(float64(aa*bb))
}

// candidateTextMax is how much of a candidate's description an error shows, in code
// points.
const candidateTextMax = 120

func beginning(description string) string {
	if runes := []rune(description); len(runes) > candidateTextMax {
		return string(runes[:candidateTextMax]) + "…"
	}
	return description
}
