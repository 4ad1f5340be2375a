package corpus

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// WithDerived returns the corpus with the derived intent of each tool that is not
// built in and has one, if it has no intents of its own.
func (c *Corpus) WithDerived() *Corpus {
	if len(c.Intents) > 0 {
		return c
	}
	derived := *c
	for _, t := range c.Tools {
		if t.Builtin {
			continue
		}
		if in, ok := t.DerivedIntent(); ok {
			derived.Intents = append(derived.Intents, in)
		}
	}
	derived.SHA256 = derived.digest()
	return &derived
}

// DerivedIntent makes an intent of class derived from the tool's own words: the
// first sentence of the description, less the words of the tool's name and of its
// server's. A tool of whose description nothing but stop words is left has none.
// The required arguments have values of their type, none of them stated. The
// language is en, or und where most letters are not Latin.
func (t *Tool) DerivedIntent() (*Intent, bool) {
	utterance := probeUtterance(t)
	if utterance == "" {
		return nil, false
	}
	return &Intent{
		ID: "derived:" + t.ID, Utterance: utterance, Language: probeLanguage(utterance), Class: Derived,
		Gold: []Gold{{Tool: t.ID, Arguments: t.requiredArguments()}},
	}, true
}

// FirstSentence is that of the description, its white space made single.
func (t *Tool) FirstSentence() string { return firstSentence(t.Definition.Description) }

func probeUtterance(t *Tool) string {
	inName := make(map[string]bool)
	for _, w := range words(t.Server + " " + splitCamel(t.Name)) {
		inName[w] = true
	}
	var kept []string
	for _, w := range strings.Fields(t.FirstSentence()) {
		if !slices.ContainsFunc(words(w), func(f string) bool { return inName[f] }) {
			kept = append(kept, w)
		}
	}
	text := strings.Join(kept, " ")
	if !slices.ContainsFunc(words(text), func(w string) bool { return !slices.Contains(stopWords, w) }) {
		return ""
	}
	return text
}

// stopWords are Lucene's 33 English stop words.
var stopWords = strings.Fields(`a an and are as at be but by for if in into is it no not of on or such that the their
	then there these they this to was will with`)

func probeLanguage(text string) string {
	latin, letters := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(unicode.Latin, r) {
				latin++
			}
		}
	}
	if latin < letters-latin {
		return "und"
	}
	return "en"
}

// requiredArguments makes a value of the declared type for each required
// parameter.
func (t *Tool) requiredArguments() []Argument {
	if len(t.Definition.Required) == 0 {
		return nil
	}
	schema, _ := rawjson.Object(t.Definition.Parameters)
	raw, _ := rawjson.Get(schema, "properties")
	properties, _ := rawjson.Object(raw)
	var arguments []Argument
	for i, name := range t.Definition.Required {
		if slices.Contains(t.Definition.Required[:i], name) {
			continue
		}
		property, _ := rawjson.Get(properties, name)
		arguments = append(arguments, Argument{Name: name, Value: exampleValue(name, property)})
	}
	return arguments
}

// exampleValue makes a value of a property's type: the first that an enum
// allows, else the plainest of the type, else the property's name as text.
func exampleValue(name string, property json.RawMessage) json.RawMessage {
	fields, _ := rawjson.Object(property)
	if raw, ok := rawjson.Get(fields, "enum"); ok {
		if values, err := rawjson.Array(raw); err == nil && len(values) > 0 {
			return values[0]
		}
	}
	kind, _ := rawjson.Get(fields, "type")
	if kinds, err := rawjson.Array(kind); err == nil && len(kinds) > 0 {
		kind = kinds[0]
	}
	switch string(kind) {
	case `"integer"`, `"number"`:
		return json.RawMessage("1")
	case `"boolean"`:
		return json.RawMessage("true")
	case `"array"`:
		return json.RawMessage("[]")
	case `"object"`:
		return json.RawMessage("{}")
	case `"null"`:
		return json.RawMessage("null")
	default:
		return rawjson.String(name)
	}
}

// sentenceMax is the length in code points at which a text without a sentence
// mark is cut: nobody asks for a tool in more.
const sentenceMax = 300

// firstSentence cuts a text, its white space made single, at the first sentence
// mark that ends it: one of 。！？, or one of .!? with the end of the text or
// white space behind it and then no small letter (as in "e.g. this").
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > sentenceMax {
		text = string(runes[:sentenceMax])
	}
	for i, r := range text {
		switch r {
		case '。', '！', '？':
			return text[:i]
		case '.', '!', '?':
			rest, spaced := strings.CutPrefix(text[i+1:], " ")
			next, _ := utf8.DecodeRuneInString(rest)
			if rest == "" || spaced && !unicode.IsLower(next) {
				return text[:i]
			}
		}
	}
	return text
}

// words are the runs of letters and digits of a text, in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// splitCamel puts a space before each capital that follows a small letter.
func splitCamel(name string) string {
	var b strings.Builder
	var last rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}
