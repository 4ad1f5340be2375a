// Package corpus holds what everything is measured on: tools, the toolsets that
// group them, the distributions that combine toolsets, and intents, the things
// that users want, labelled with the tools that do them.
//
// A corpus comes from a folder in the project's own format, from a file or
// folder that other programs wrote (an OpenAI tools array, an MCP tools/list
// result, JSON Lines of either), or from the embedded default. Imported tools
// keep their schema's bytes, since token counts depend on them. Reading is
// strict: an unknown field, a repeated name or a wrong type is an error that
// names the place, and nothing is half-loaded.
package corpus

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolgauge/toolgauge/distributions"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/assembly"
	"github.com/toolgauge/toolgauge/pipeline/registry"
	"github.com/toolgauge/toolgauge/pipeline/toolset"
)

// SchemaVersion is the version of the corpus format that this package reads:
// the schema_version of corpus.yaml, toolsets.yaml and distributions.yaml.
const SchemaVersion = 1

// Corpus is a set of tools and what is known about them. It is immutable once
// loaded.
type Corpus struct {
	Name    string
	Version string
	Licence string
	Sources []string
	// Tools in a fixed order: built-in tools first, then by toolset and ID.
	Tools []*Tool
	// Toolsets is the table of fixed toolsets.
	Toolsets *toolset.Table
	// Distributions holds the presets and the corpus's own.
	Distributions *distributions.Set
	// Intents by ID.
	Intents []*Intent
	// Synthetic marks a corpus that Scale made: nobody wrote its tools.
	Synthetic bool
	// Notes tell what loading decided on its own, one sentence each: exact
	// duplicates merged, names changed.
	Notes []string
	// SHA256 is the hex digest of what figures depend on: tools, toolsets,
	// distributions and intents. Neither the corpus's name nor how it is spread
	// over files enters it.
	SHA256 string

	byID map[string]*Tool
	// sources are what SourceNames returns; isSource tells whether a name is one.
	sources  []string
	isSource map[string]bool
	// lent holds the IDs of the built-in tools that the embedded corpus lends.
	lent map[string]bool
}

// Tool is one tool and who owns it.
type Tool struct {
	// ID is unique in the corpus: "server/name" for a tool of an MCP server,
	// the bare name for any other; "~" and a hash of the content behind it where
	// several tools would share it.
	ID string
	// Server is the MCP server's label; empty for built-in and plugin tools.
	Server string
	// Name is the tool's name as its owner calls it.
	Name string
	// Toolset is where it registers: "mcp-SERVER", or a toolset's name.
	Toolset string
	// Builtin marks the tools of the agent itself. What is neither built in nor a
	// server's belongs to a plugin.
	Builtin bool
	// Raw is the tool as it was imported, byte for byte; of a YAML card, the JSON
	// that it means.
	Raw json.RawMessage
	// Definition is what a model sees, under the model-visible name.
	Definition *registry.Definition

	RequiresEnv   []string
	Check         string // name of its availability probe; empty: always usable
	MaxResultSize int    // characters; 0: no cap of its own
	Async         bool
	ReadOnly      bool
	Mentions      []Mention

	// File is where the tool stands, as errors call it; Line and Column, in code
	// points, are the place there, from 1. A tool that was made and not read has none.
	File         string
	Line, Column int

	// listed: Raw is what a server answered, and no card of the project's own.
	listed bool
}

// Mention is a part of a tool's description that speaks of other tools and is
// shown only while one of them is available.
type Mention struct {
	Text  string   `json:"text"`  // stands once in the description
	Tools []string `json:"tools"` // model-visible names
}

// Rewrites returns, by tool name, the rules that leave out mentions of tools
// that are not there.
func (c *Corpus) Rewrites() map[string]assembly.Rewrite {
	rules := make(map[string]assembly.Rewrite)
	for _, t := range c.Tools {
		if len(t.Mentions) > 0 {
			rules[t.Definition.Name] = t.rewrite
		}
	}
	return rules
}

func (t *Tool) rewrite(d *registry.Definition, available func(string) bool) (*registry.Definition, error) {
	description := d.Description
	for _, m := range t.Mentions {
		if !slices.ContainsFunc(m.Tools, available) {
			description = strings.Replace(description, m.Text, "", 1)
		}
	}
	if description == d.Description {
		return d, nil
	}
	return d.With(rawjson.Field{Key: "description", Value: rawjson.String(description)})
}

// Intent is one thing that a user wants.
type Intent struct {
	ID        string `json:"id"`
	Utterance string `json:"utterance"`
	Language  string `json:"language"` // BCP 47
	Class     Class  `json:"class"`
	Gold      []Gold `json:"gold"`
}

// Gold is a tool that serves an intent, and how it is to be called.
type Gold struct {
	Tool      string     `json:"tool"` // Tool.ID
	Arguments []Argument `json:"arguments,omitempty"`
	// DependsOn are the positions, from 0, of the golds of this intent whose
	// results the call needs.
	DependsOn []int `json:"depends_on,omitempty"`
}

// Argument is one argument of a gold call.
type Argument struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
	// Stated tells whether the utterance gives the value.
	Stated bool `json:"stated"`
}

// Class groups intents by what makes them easy or hard to serve.
type Class string

// The classes.
const (
	ExactName   Class = "exact_name"
	Obvious     Class = "obvious"
	Paraphrase  Class = "paraphrase"
	ZeroOverlap Class = "zero_overlap"
	Parameter   Class = "parameter"
	MultiTool   Class = "multi_tool"
	Confusable  Class = "confusable"
	NonEnglish  Class = "non_english"
	// Absent marks an intent that no tool serves; it has no gold.
	Absent Class = "absent"
	// Derived marks an intent made from a tool's own description, for a corpus
	// that has none. Such figures say so wherever they are printed.
	Derived Class = "derived"
)

// Classes returns all classes in the order in which tables print them.
func Classes() []Class {
	return []Class{ExactName, Obvious, Paraphrase, ZeroOverlap, Parameter, MultiTool, Confusable, NonEnglish, Absent, Derived}
}

// JSONArguments returns the gold's arguments as a JSON object in the order
// given.
func (g Gold) JSONArguments() json.RawMessage {
	out := []byte{'{'}
	for i, a := range g.Arguments {
		if i > 0 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(a.Name)
		out = append(append(append(out, key...), ':'), a.Value...)
	}
	return append(out, '}')
}

// Tool returns a tool by ID.
func (c *Corpus) Tool(id string) (*Tool, bool) {
	t, ok := c.byID[id]
	return t, ok
}

// SourceNames returns the toolsets of the tools that are not built in:
// "mcp-SERVER" for servers, the toolset's name for plugins; sorted. None of them
// is a fixed toolset. Sessions draw their servers from these.
func (c *Corpus) SourceNames() []string { return slices.Clone(c.sources) }

// HasToolset reports whether a distribution may name a toolset: a fixed one of
// the table, or the source of a tool.
func (c *Corpus) HasToolset(name string) bool {
	if c.isSource[name] {
		return true
	}
	_, fixed := c.Toolsets.Static(name)
	return fixed
}

// Deferrable returns the tools that the bridge can take off the surface: all
// that are not on the core list.
func (c *Corpus) Deferrable() []*Tool {
	var tools []*Tool
	for _, t := range c.Tools {
		if !c.Toolsets.IsCore(t.Definition.Name) {
			tools = append(tools, t)
		}
	}
	return tools
}

// Own returns the tools that the corpus brings itself: all but the built-in ones
// that the embedded corpus lends to one without toolsets.
func (c *Corpus) Own() []*Tool {
	return slices.DeleteFunc(slices.Clone(c.Tools), func(t *Tool) bool { return c.lent[t.ID] })
}

// finish sorts, indexes and takes the digest.
func (c *Corpus) finish() {
	slices.SortFunc(c.Tools, func(a, b *Tool) int {
		if a.Builtin != b.Builtin {
			if a.Builtin {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Toolset, b.Toolset), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(c.Intents, func(a, b *Intent) int { return cmp.Compare(a.ID, b.ID) })
	c.byID = make(map[string]*Tool, len(c.Tools))
	c.isSource = make(map[string]bool)
	for _, t := range c.Tools {
		c.byID[t.ID] = t
		if !t.Builtin && !c.isSource[t.Toolset] {
			c.isSource[t.Toolset] = true
			c.sources = append(c.sources, t.Toolset)
		}
	}
	slices.Sort(c.sources)
	c.SHA256 = c.digest()
}

// digest hashes a plain listing of the content.
func (c *Corpus) digest() string {
	h := sha256.New()
	put := func(kind string, value any) {
		text, _ := json.Marshal(value) // plain structs of text and numbers
		fmt.Fprintf(h, "%s %s\n", kind, text)
	}
	for _, t := range c.Tools {
		put("tool", []any{t.ID, t.Toolset, t.Definition.JSON, t.RequiresEnv, t.Check, t.MaxResultSize, t.Builtin, t.Async, t.ReadOnly, t.Mentions})
	}
	put("core", c.Toolsets.Core())
	put("webhook_safe", c.Toolsets.WebhookSafe())
	put("defer", c.Toolsets.Defer())
	for _, name := range c.Toolsets.Names() {
		s, _ := c.Toolsets.Static(name)
		put("toolset", []any{name, s.Tools, s.Includes, s.Posture})
	}
	for _, d := range c.Distributions.All() {
		put("distribution", []any{d.Name, d.Entries, d.Servers})
	}
	for _, in := range c.Intents {
		put("intent", in)
	}
	return hex.EncodeToString(h.Sum(nil))
}
