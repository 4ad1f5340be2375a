package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/search"
)

// retrieverOf names the retriever that a variant searches with.
func retrieverOf(v bridge.Variant) string {
	if v == bridge.September {
		return "bm25-gated"
	}
	return "bm25"
}

// septemberDefer are the core tools that the recorded September system defers by itself; a corpus has a list of its own.
var septemberDefer = []string{
	"annotate_preview", "apply_layout", "close_terminal", "computer_use", "cronjob_manage", "desktop_preview",
	"desktop_project", "drive_preview", "focus_pane", "gui_tour", "image_generate", "process_manage", "read_terminal",
	"read_window_below", "session_search", "setup_mcp", "show_tip", "todo_list",
}

// bridgeCase is a catalog and the bridge's decisions about it. config, parameters, arguments and the values of requests
// are content: the pipeline is given them as they stand.
type bridgeCase struct {
	ID            string          `json:"id"`
	Variant       bridge.Variant  `json:"variant"`
	Tools         []toolVector    `json:"tools"`
	Config        json.RawMessage `json:"config"`
	ContextLength *int            `json:"context_length"` // null: unknown
	Want          bridgeWant      `json:"want"`
}

type toolVector struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Toolset is null for a tool that nobody registered, and absent for a built-in tool, which has its own.
	Toolset    json.RawMessage `json:"toolset,omitempty"`
	Parameters json.RawMessage `json:"parameters"`
}

type bridgeWant struct {
	Config     configWant     `json:"config"`
	Visible    []string       `json:"visible"`
	Deferrable []string       `json:"deferrable"`
	Assembly   assemblyWant   `json:"assembly"`
	Listing    listingWant    `json:"listing"`  // at the case's own budget
	Listings   []listingWant  `json:"listings"` // at given budgets
	ShortDesc  []shortWant    `json:"short_desc"`
	Tokenize   []tokenizeWant `json:"tokenize"`
	Search     []searchWant   `json:"search"`
	Describe   []describeWant `json:"describe"`
	Calls      []callWant     `json:"calls"`
}

type configWant struct {
	Enabled            string  `json:"enabled"`
	ThresholdPct       float64 `json:"threshold_pct"`
	SearchDefaultLimit int     `json:"search_default_limit"`
	MaxSearchLimit     int     `json:"max_search_limit"`
	Listing            string  `json:"listing"`
	ListingMaxTokens   int     `json:"listing_max_tokens"`
	// DeferTools is the effective defer list, sorted: September's alone.
	DeferTools *[]string `json:"defer_tools,omitempty"`
}

type assemblyWant struct {
	Activated       bool     `json:"activated"`
	Tier            int      `json:"tier"`
	ListingForm     string   `json:"listing_form"`
	DeferredCount   int      `json:"deferred_count"`
	DeferredTokens  int      `json:"deferred_tokens"`
	ThresholdTokens int      `json:"threshold_tokens"`
	Names           []string `json:"names"`
	EagerTokens     int      `json:"eager_tokens"`
}

type listingWant struct {
	Budget int     `json:"budget"`
	Form   string  `json:"form"`
	Chars  *int    `json:"chars,omitempty"` // code points; required in listings
	Text   *string `json:"text"`            // null: no listing
}

type shortWant struct {
	In  string `json:"in"`
	Out string `json:"out"`
}

type tokenizeWant struct {
	In  string   `json:"in"`
	Out []string `json:"out"`
}

// searchWant is one tool_search. A refused one needs nothing but its request and error; any other has all the rest that
// its variant records: the sources of the matches in July, what the retriever made of the query in September. A query
// without tokens has nothing of the latter.
type searchWant struct {
	Request        searchRequest    `json:"request"`
	Error          bool             `json:"error,omitempty"`
	TotalAvailable *int             `json:"total_available,omitempty"`
	Matches        *[]string        `json:"matches,omitempty"`
	Sources        *[][]string      `json:"sources,omitempty"`
	BM25           *[]rawjson.Field `json:"bm25,omitempty"`
	Tokens         *[]string        `json:"tokens,omitempty"`
	Gate           *string          `json:"gate,omitempty"`
	Answerable     *[]string        `json:"answerable,omitempty"` // sorted
	RequiredTerms  *int             `json:"required_terms,omitempty"`
}

// searchRequest names the arguments that tool_search takes, so that a vector cannot rest on one that it does not: query
// in July, queries in September, which is one text here.
type searchRequest struct {
	Query   json.RawMessage `json:"query,omitempty"`
	Queries json.RawMessage `json:"queries,omitempty"`
	Limit   json.RawMessage `json:"limit,omitempty"`
}

type describeWant struct {
	Name json.RawMessage `json:"name"`
	OK   bool            `json:"ok"`
}

// callWant is one tool_call. If error_class is null all else is given; if not, resolved and arguments are null and the two
// later checks are absent.
type callWant struct {
	Request    callRequest     `json:"request"`
	Resolved   *string         `json:"resolved"`
	Arguments  json.RawMessage `json:"arguments"`
	ErrorClass *string         `json:"error_class"`
	InScope    *bool           `json:"in_scope,omitempty"`
	Blocked    *bool           `json:"blocked_by_required_probe,omitempty"`
}

type callRequest struct {
	Name      json.RawMessage `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// arguments writes a request's fields as a call's arguments; absent ones stay absent.
func arguments(request any) []rawjson.Field {
	v := reflect.ValueOf(request)
	var fields []rawjson.Field
	for i, name := range fieldNames(v.Type()) {
		if raw := v.Field(i).Bytes(); raw != nil {
			fields = append(fields, rawjson.Field{Key: name, Value: raw})
		}
	}
	return fields
}

// variantFault refuses the vectors of a variant that the pipeline does not have. Such a vector has other fields too, so
// this comes before all else.
func variantFault(v vector) []Difference {
	variant := stringField(v, "variant")
	if variant == "" { // missing or no text: the strict reader says so
		return nil
	}
	var known []string
	for _, v := range bridge.Variants() {
		if variant == string(v) {
			return nil
		}
		known = append(known, string(v))
	}
	return []Difference{{
		Path:  "variant",
		Fault: fmt.Sprintf("unknown variant %q; the known ones are: %s", variant, strings.Join(known, ", ")),
	}}
}

// shapeFaults finds what a struct alone cannot say about a case: fields that are required or forbidden by others.
func (c *bridgeCase) shapeFaults() []Difference {
	var s strict
	for i, l := range c.Want.Listings {
		if l.Chars == nil {
			s.fault(join(index("want.listings", i), "chars"), "missing")
		}
	}
	s.variantField("want.config.defer_tools", c.Variant, bridge.September, c.Want.Config.DeferTools != nil, true)
	for i, w := range c.Want.Search {
		w.shapeFaults(&s, index("want.search", i), c.Variant)
	}
	for i, w := range c.Want.Calls {
		w.shapeFaults(&s, index("want.calls", i))
	}
	return s.faults
}

// variantField refuses a field of another variant, and one that is missing where its own variant requires it.
func (s *strict) variantField(path string, variant, of bridge.Variant, present, required bool) {
	switch {
	case variant != of && present:
		s.fault(path, "is a field of the variant %s, not of %s", of, variant)
	case variant == of && !present && required:
		s.fault(path, "missing")
	}
}

func (w searchWant) shapeFaults(s *strict, path string, variant bridge.Variant) {
	if !w.Error {
		for _, f := range []struct {
			name    string
			present bool
		}{{"total_available", w.TotalAvailable != nil}, {"matches", w.Matches != nil}, {"bm25", w.BM25 != nil}} {
			if !f.present {
				s.fault(join(path, f.name), "missing")
			}
		}
	}
	s.variantField(path+".request.query", variant, bridge.July, w.Request.Query != nil, false)
	s.variantField(path+".request.queries", variant, bridge.September, w.Request.Queries != nil, false)
	s.variantField(path+".sources", variant, bridge.July, w.Sources != nil, !w.Error)
	read := w.Tokens != nil || w.Gate != nil || w.Answerable != nil || w.RequiredTerms != nil
	for _, f := range []struct {
		name    string
		present bool
	}{
		{"tokens", w.Tokens != nil}, {"gate", w.Gate != nil}, {"answerable", w.Answerable != nil}, {"required_terms", w.RequiredTerms != nil},
	} {
		s.variantField(join(path, f.name), variant, bridge.September, f.present, read)
	}
	if w.BM25 == nil {
		return
	}
	for _, score := range *w.BM25 {
		var f float64
		s.decode(join(path+".bm25", score.Key), score.Value, &f)
	}
}

func (w callWant) shapeFaults(s *strict, path string) {
	for _, f := range []struct {
		name    string
		present bool
	}{
		{"resolved", w.Resolved != nil},
		{"arguments", rawjson.Kind(w.Arguments) != "null"},
		{"in_scope", w.InScope != nil},
		{"blocked_by_required_probe", w.Blocked != nil},
	} {
		switch {
		case w.ErrorClass == nil && !f.present:
			s.fault(join(path, f.name), "missing or null without an error_class")
		case w.ErrorClass != nil && f.present:
			s.fault(join(path, f.name), "stands beside an error_class")
		}
	}
}

// stage is the pipeline set up for one case.
type stage struct {
	vector      *bridgeCase
	registry    *registry.Registry
	retriever   search.Retriever
	bridge      *bridge.Bridge
	config      bridge.Config
	deferred    []string // core tools that the settings defer
	context     int
	definitions []*registry.Definition // in the vector's order
	deferrable  []*registry.Definition
	scope       *bridge.Scope
}

// stage registers a case's tools and lays a bridge over them. A tool that cannot be defined or registered is a fault of
// the vector.
func (r *runner) stage(c *bridgeCase) (*stage, []Difference) {
	s := &stage{vector: c, registry: registry.New(registry.Options{})}
	var faults strict
	for i, t := range c.Tools {
		path := index("tools", i)
		d, err := registry.Define(t.Name, t.Description, t.Parameters)
		if err != nil {
			faults.fault(path, "%s", firstLine(err))
			continue
		}
		s.definitions = append(s.definitions, d)
		if fault := r.register(s.registry, t, d); fault != "" {
			faults.fault(join(path, "toolset"), "%s", fault)
		}
	}
	raw, err := decodeContent(c.Config)
	if err != nil {
		faults.fault("config", "%s", firstLine(err))
	}
	s.config, _ = c.Variant.ParseConfig(raw)
	if c.ContextLength != nil {
		s.context = *c.ContextLength
	}
	if s.retriever, err = r.retriever(c.Variant); err != nil {
		faults.fault("variant", "%s", firstLine(err))
		return s, faults.faults
	}
	s.deferred = s.config.DeferNames(septemberDefer)
	s.bridge = bridge.New(bridge.Options{
		Variant: c.Variant, Defer: s.deferred, Core: r.corpus.Toolsets.IsCore, Catalog: s.registry, Retriever: s.retriever,
	})
	_, s.deferrable = s.bridge.Classify(s.definitions)
	s.scope = s.bridge.Scope(s.definitions, s.config)
	return s, faults.faults
}

// register adds a tool under the toolset that the vector gives it. A name that another toolset holds is refused by the
// registry, and stays with who has it, as in a session.
func (r *runner) register(reg *registry.Registry, t toolVector, d *registry.Definition) (fault string) {
	var toolset string
	switch rawjson.Kind(t.Toolset) {
	case "null":
		return ""
	case "nothing":
		builtin, ok := r.builtin(t.Name)
		if !ok {
			return "missing, and the tool is no built-in one; write null for a tool that is not registered"
		}
		toolset = builtin.Toolset
	case "string":
		if err := json.Unmarshal(t.Toolset, &toolset); err != nil {
			return err.Error()
		}
	default:
		return "is " + rawjson.Kind(t.Toolset) + ", want string or null"
	}
	handler := func(context.Context, json.RawMessage) (any, error) { return "", nil }
	err := reg.Register(registry.Registration{Toolset: toolset, Definition: d, Handler: handler})
	if err != nil && !errors.Is(err, registry.ErrNameTaken) {
		return firstLine(err)
	}
	return ""
}

// decodeContent decodes free content with numbers as they are written.
func decodeContent(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// firstLine is an error without its hint.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
