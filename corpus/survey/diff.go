package survey

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/internal/numerals"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/tokens"
)

// rankMax is the last rank that Compare tells; of tools behind it, it tells that
// they are.
const rankMax = 100

// Diff is what changed from a corpus to another. Tools are the same if they have
// the same ID.
type Diff struct {
	SchemaVersion int  `json:"schema_version"`
	Before        Side `json:"before"`
	After         Side `json:"after"`
	// All lists are in the order of IDs.
	Added   []Changed `json:"added"`
	Removed []Changed `json:"removed"`
	Edited  []Changed `json:"edited"`
	// Gained and Lost are the tools of both corpora that their derived intents now
	// find within the first five, and no longer do.
	Gained    []Changed `json:"gained"`
	Lost      []Changed `json:"lost"`
	Tokenizer string    `json:"tokenizer"`
	Retriever string    `json:"retriever"`
}

// Side is one of the two corpora.
type Side struct {
	Corpus    string `json:"corpus"`
	SHA256    string `json:"corpus_sha256"`
	Synthetic bool   `json:"synthetic"`
	Tools     int    `json:"tools"`
	// Tokens are those of the tools array of all tools that can be deferred.
	Tokens int `json:"tokens"`
}

// Changed is a tool before and after. The ranks are from 1; 0 where the tool is
// not within the first 100, not there, or not asked for.
type Changed struct {
	Tool string `json:"tool"`
	// Was is, of an added tool, the removed one of the same description and schema.
	Was          string `json:"was,omitempty"`
	Parts        []Part `json:"parts,omitempty"` // of an edited tool
	TokensBefore int    `json:"tokens_before"`
	TokensAfter  int    `json:"tokens_after"`
	RankBefore   int    `json:"rank_before"`
	RankAfter    int    `json:"rank_after"`
}

// Part is a part of a tool that an edit changes.
type Part string

// The parts.
const (
	Name        Part = "name" // the model-visible one
	Description Part = "description"
	Schema      Part = "schema"
	Function    Part = "function" // other fields of the function object, or their order
	Card        Part = "card"     // what a model does not see: toolset, probe, cap, …
)

// Compare says what changed from a to b. retriever is one of search.Names.
func Compare(a, b *corpus.Corpus, retriever string) (*Diff, error) {
	counter, err := tokens.New(Tokenizer)
	if err != nil {
		return nil, err
	}
	before, err := newSide(a, counter, retriever)
	if err != nil {
		return nil, err
	}
	after, err := newSide(b, counter, retriever)
	if err != nil {
		return nil, err
	}
	d := &Diff{
		SchemaVersion: SchemaVersion, Before: before.Side, After: after.Side, Tokenizer: Tokenizer, Retriever: retriever,
		Added: []Changed{}, Removed: []Changed{}, Edited: []Changed{}, Gained: []Changed{}, Lost: []Changed{},
	}
	for _, id := range allIDs(a, b) {
		old, was := a.Tool(id)
		now, is := b.Tool(id)
		c := Changed{Tool: id}
		if was {
			c.TokensBefore, c.RankBefore = toolTokens(counter, old), before.rank(old)
		}
		if is {
			c.TokensAfter, c.RankAfter = toolTokens(counter, now), after.rank(now)
		}
		switch {
		case !was:
			d.Added = append(d.Added, c)
		case !is:
			d.Removed = append(d.Removed, c)
		default:
			d.compare(c, old, now)
		}
	}
	d.findRenamed(a, b)
	return d, nil
}

// findRenamed pairs added tools with removed ones.
func (d *Diff) findRenamed(a, b *corpus.Corpus) {
	content := func(c *corpus.Corpus, id string) string {
		t, _ := c.Tool(id)
		return literal(t.Definition.Description) + string(t.Definition.Parameters)
	}
	gone := make(map[string][]string)
	for _, c := range d.Removed {
		key := content(a, c.Tool)
		gone[key] = append(gone[key], c.Tool)
	}
	for i, c := range d.Added {
		if key := content(b, c.Tool); len(gone[key]) > 0 {
			d.Added[i].Was, gone[key] = gone[key][0], gone[key][1:]
		}
	}
}

// same reports whether no tool differs.
func (d *Diff) same() bool {
	return len(d.Added)+len(d.Removed)+len(d.Edited)+len(d.Gained)+len(d.Lost) == 0
}

// compare takes a tool that both corpora have.
func (d *Diff) compare(c Changed, old, now *corpus.Tool) {
	if c.Parts = changedParts(old, now); len(c.Parts) > 0 {
		d.Edited = append(d.Edited, c)
	}
	found := func(rank int) bool { return rank > 0 && rank <= Top }
	switch {
	case found(c.RankAfter) && !found(c.RankBefore):
		d.Gained = append(d.Gained, c)
	case found(c.RankBefore) && !found(c.RankAfter):
		d.Lost = append(d.Lost, c)
	}
}

// side is a corpus that is searched.
type side struct {
	Side
	retrieval *Retrieval
}

func newSide(c *corpus.Corpus, counter *tokens.Counter, retriever string) (side, error) {
	r, err := NewRetrieval(c, retriever)
	return side{Side{c.Name, c.SHA256, c.Synthetic, len(c.Tools), arrayTokens(counter, c.Deferrable())}, r}, err
}

func (s side) rank(t *corpus.Tool) int {
	hits, _ := s.retrieval.Ask(t, rankMax)
	return Rank(t.ID, hits)
}

func allIDs(corpora ...*corpus.Corpus) (ids []string) {
	for _, c := range corpora {
		for _, t := range c.Tools {
			ids = append(ids, t.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// changedParts names what differs between two tools.
func changedParts(old, now *corpus.Tool) (parts []Part) {
	a, b := old.Definition, now.Definition
	if a.JSON != b.JSON {
		if a.Name != b.Name {
			parts = append(parts, Name)
		}
		if a.Description != b.Description {
			parts = append(parts, Description)
		}
		if !bytes.Equal(a.Parameters, b.Parameters) {
			parts = append(parts, Schema)
		}
		if len(parts) == 0 {
			parts = append(parts, Function)
		}
	}
	if old.Toolset != now.Toolset || !slices.Equal(old.RequiresEnv, now.RequiresEnv) || old.Check != now.Check || old.MaxResultSize != now.MaxResultSize ||
		old.Async != now.Async || old.ReadOnly != now.ReadOnly || !slices.EqualFunc(old.Mentions, now.Mentions, sameMention) {
		parts = append(parts, Card)
	}
	return parts
}

func sameMention(a, b corpus.Mention) bool { return a.Text == b.Text && slices.Equal(a.Tools, b.Tools) }

// literal is a text as a JSON string.
func literal(text string) string { return string(rawjson.String(text)) }

// WriteText writes the diff for people.
func (d *Diff) WriteText(w io.Writer) error {
	var out bytes.Buffer
	named := func(s Side) string {
		if s.Synthetic {
			return s.Corpus + ", synthetic,"
		}
		return OneLine(s.Corpus)
	}
	fmt.Fprintf(&out, "From %s (%.12s) to %s (%.12s).\n", named(d.Before), d.Before.SHA256, named(d.After), d.After.SHA256)
	if d.same() {
		out.WriteString("No difference between their tools.\n")
		if d.Before.SHA256 != d.After.SHA256 {
			out.WriteString("Their toolsets, intents or distributions differ.\n")
		}
		_, err := out.WriteTo(w)
		return err
	}
	fmt.Fprintf(&out, "Tools: %s to %s; %s added, %s removed, %s edited.\n", numerals.Count(d.Before.Tools), numerals.Count(d.After.Tools),
		numerals.Count(len(d.Added)), numerals.Count(len(d.Removed)), numerals.Count(len(d.Edited)))
	fmt.Fprintf(&out, "Tokens of those that can be deferred: %s to %s (%s; %s).\n", numerals.Count(d.Before.Tokens), numerals.Count(d.After.Tokens),
		signed(d.After.Tokens-d.Before.Tokens), d.Tokenizer)
	fmt.Fprintf(&out, "Found within the first %d by their own first sentences, without their names' words (%s), of the tools of both: %s gained, %s lost.\n",
		Top, d.Retriever, numerals.Count(len(d.Gained)), numerals.Count(len(d.Lost)))
	for _, part := range []struct {
		title string
		tools []Changed
	}{{"ADDED", d.Added}, {"REMOVED", d.Removed}, {"EDITED", d.Edited}, {"GAINED", d.Gained}, {"LOST", d.Lost}} {
		if len(part.tools) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n%s\n", part.title)
		table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "  tokens\trank\ttool")
		for _, c := range part.tools {
			fmt.Fprintf(table, "  %s\t%s\t%s%s\n", signed(c.TokensAfter-c.TokensBefore), c.ranks(part.title), OneLine(c.Tool), c.remark())
		}
		table.Flush()
	}
	_, err := out.WriteTo(w)
	return err
}

// ranks words the rank after, or before and after.
func (c Changed) ranks(title string) string {
	rank := func(n int) string {
		if n == 0 {
			return "–"
		}
		return fmt.Sprint(n)
	}
	switch {
	case title == "ADDED":
		return rank(c.RankAfter)
	case title == "REMOVED":
		return rank(c.RankBefore)
	default:
		return rank(c.RankBefore) + " → " + rank(c.RankAfter)
	}
}

// remark words the parts that an edit changes, or the tool's earlier ID.
func (c Changed) remark() string {
	if c.Was != "" {
		return "  (was " + OneLine(c.Was) + ")"
	}
	if len(c.Parts) == 0 {
		return ""
	}
	words := make([]string, len(c.Parts))
	for i, p := range c.Parts {
		words[i] = string(p)
	}
	return "  (" + strings.Join(words, ", ") + ")"
}

func signed(n int) string {
	if n > 0 {
		return "+" + numerals.Count(n)
	}
	return numerals.Count(n)
}
