package lint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/corpus/survey"
	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// alone judges a tool by itself.
func (k *checker) alone(t *corpus.Tool) {
	description := strings.TrimSpace(t.Definition.Description)
	switch n := length(description); {
	case n == 0:
		k.add(t, emptyRule, "it has no description")
	case n < shortMax:
		k.add(t, shortRule, "the description %q has %d code points, want %d or more", description, n, shortMax)
	case n >= longMin:
		k.add(t, longRule, "the description has %d code points, want %d or fewer", n, longMin-1)
	}
	if missing := undocumented(t); len(missing) > 0 {
		k.add(t, parameterRule, "%s no description", listed(missing, "parameter", "has", "have"))
	}
	if description == "" || !isLatin(description) {
		return
	}
	words := wordsOf(description)
	if !hasWord(words, whenWords) {
		k.add(t, whenRule, "the description does not say when to use it")
	}
	if !hasWord(words, failureWords) && !strings.Contains(strings.ToLower(description), "not found") {
		k.add(t, failureRule, "the description does not say how a call fails")
	}
}

// undocumented lists the top-level parameters without a description, in their
// order. One that refers to a definition of the schema may be described there.
func undocumented(t *corpus.Tool) (names []string) {
	schema, err := rawjson.Object(t.Definition.Parameters)
	if err != nil {
		return nil // no schema
	}
	raw, _ := rawjson.Get(schema, "properties")
	properties, err := rawjson.Object(raw)
	if err != nil {
		return nil
	}
	for _, p := range properties {
		if !described(p.Value) && !described(referred(schema, p.Value)) && !slices.Contains(names, p.Key) {
			names = append(names, p.Key)
		}
	}
	return names
}

func described(property json.RawMessage) bool {
	fields, err := rawjson.Object(property)
	if err != nil {
		return false
	}
	raw, _ := rawjson.Get(fields, "description")
	text, ok := rawjson.Text(raw)
	return ok && strings.TrimSpace(text) != ""
}

// referred is the definition of a schema that a property's $ref names, if it is
// one of the top level; else nil.
func referred(schema []rawjson.Field, property json.RawMessage) json.RawMessage {
	fields, err := rawjson.Object(property)
	if err != nil {
		return nil
	}
	raw, _ := rawjson.Get(fields, "$ref")
	ref, _ := rawjson.Text(raw)
	for _, place := range []string{"$defs", "definitions"} {
		name, ok := strings.CutPrefix(ref, "#/"+place+"/")
		if !ok {
			continue
		}
		raw, _ := rawjson.Get(schema, place)
		if definitions, err := rawjson.Object(raw); err == nil {
			definition, _ := rawjson.Get(definitions, name)
			return definition
		}
	}
	return nil
}

// listedMax bounds the names that a message lists.
const listedMax = 5

// listed words a list: parameter a has; parameters a, b and 3 more have.
func listed(names []string, what, one, several string) string {
	if len(names) == 1 {
		return fmt.Sprintf("%s %s %s", what, names[0], one)
	}
	few := names[:min(len(names), listedMax)]
	text := fmt.Sprintf("%ss %s", what, strings.Join(few, ", "))
	if rest := len(names) - len(few); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text + " " + several
}

// searched judges tools by a search for each with its description's first
// sentence, and by one with its derived intent, which lacks the words of the name.
func (k *checker) searched(r *survey.Retrieval, own []*corpus.Tool, most int) {
	var tools []*corpus.Tool
	for _, t := range own {
		if !t.Builtin && r.Has(t) && t.FirstSentence() != "" {
			tools = append(tools, t)
		}
	}
	if most > 0 {
		tools = survey.EvenlySpread(tools, most)
	}
	k.report.Asked = len(tools)
	for _, t := range tools {
		hits := r.Search(t.FirstSentence(), survey.Top)
		rank := survey.Rank(t.ID, hits)
		if rank == 0 {
			if !k.repeats[t.ID] {
				k.add(t, unretrievableRule, "a search for %q %s", t.FirstSentence(), finds(r, hits))
			}
			continue
		}
		k.neighbours(t, hits, hits[rank-1].Score)
		switch hits, asked := r.Ask(t, survey.Top); {
		case !asked:
			k.add(t, nameOnlyRule, "the first sentence of the description says nothing but the name")
		case survey.Rank(t.ID, hits) == 0:
			in, _ := t.DerivedIntent()
			k.add(t, nameOnlyRule, "without the words of its name, a search for %q %s", in.Utterance, finds(r, hits))
		}
	}
}

// finds words what a search finds that does not find what it is for.
func finds(r *survey.Retrieval, hits []survey.Hit) string {
	if len(hits) == 0 {
		return fmt.Sprintf("finds none of %d tools", r.Len())
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return fmt.Sprintf("finds, of %d tools, first %s", r.Len(), strings.Join(ids, ", "))
}

// neighbours judges whether a description tells its tool from those that a search
// for it finds as well.
func (k *checker) neighbours(t *corpus.Tool, hits []survey.Hit, score float64) {
	description := t.Definition.Description
	if !isLatin(description) || hasWord(wordsOf(description), contrastWords) {
		return
	}
	var close []string
	for _, h := range hits {
		if h.ID == t.ID || h.Score < float64(score*closeScore) {
			continue
		}
		if other, ok := k.corpus.Tool(h.ID); ok && names(description, other.Name) {
			return
		}
		close = append(close, h.ID)
	}
	if len(close) > 0 {
		k.add(t, neighbourRule, "a search for it finds %s as well, and the description does not tell them apart", strings.Join(close, ", "))
	}
}

// names reports whether a text has a name in it that is no part of a longer one.
func names(text, name string) bool {
	inName := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 || name == "" {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		if !inName(before) && !inName(after) {
			return true
		}
		from = i + len(name)
	}
}
