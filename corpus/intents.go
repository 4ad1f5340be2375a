package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// intentFile reads labelled intents, one JSON object a line.
func (l *loader) intentFile(file string, data []byte) error {
	for n, line := range bytes.Split(data, []byte{'\n'}) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		in, err := decodeIntent(line)
		at := place{file, n + 1}
		if err != nil {
			return at.errorAt("an intent has id, utterance, language, class and gold; see docs/format.md", "%w", err)
		}
		if slices.ContainsFunc(l.corpus.Intents, func(o *Intent) bool { return o.ID == in.ID }) {
			return at.errorAt("give every intent an id of its own", "intent %q is declared again", in.ID)
		}
		l.corpus.Intents = append(l.corpus.Intents, in)
	}
	return nil
}

func decodeIntent(line []byte) (*Intent, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	in := &Intent{}
	if err := d.Decode(in); err != nil {
		return nil, fmt.Errorf("intent: %w (column %d)", err, rawjson.ErrorOffset(err, line)+1)
	}
	if rest := bytes.TrimSpace(line[d.InputOffset():]); len(rest) > 0 {
		return nil, fmt.Errorf("intent: text behind the object (column %d)", d.InputOffset()+1)
	}
	return in, in.check()
}

// check holds an intent against the rules that do not need the corpus.
func (in *Intent) check() error {
	switch {
	case in.ID == "":
		return fmt.Errorf("intent without an id")
	case strings.TrimSpace(in.Utterance) == "":
		return fmt.Errorf("intent %q: empty utterance", in.ID)
	case !slices.Contains(Classes(), in.Class):
		return fmt.Errorf("intent %q: unknown class %q (%s)", in.ID, in.Class, nearestHint(string(in.Class), classNames()))
	case in.Class == Absent && len(in.Gold) > 0:
		return fmt.Errorf("intent %q: an absent intent has no gold", in.ID)
	case in.Class != Absent && len(in.Gold) == 0:
		return fmt.Errorf("intent %q: gold is empty but the class is not absent", in.ID)
	}
	for i, g := range in.Gold {
		for _, on := range g.DependsOn {
			if on < 0 || on >= i {
				return fmt.Errorf("intent %q: gold %d depends on %d, which is not an earlier gold", in.ID, i, on)
			}
		}
		for _, a := range g.Arguments {
			if a.Name == "" || len(a.Value) == 0 {
				return fmt.Errorf("intent %q: gold %d has an argument without a name or a value", in.ID, i)
			}
		}
	}
	return nil
}

func classNames() []string {
	var names []string
	for _, c := range Classes() {
		names = append(names, string(c))
	}
	return names
}

// WithDerived returns the corpus with one intent of class derived for each tool
// that is not built in, where it has no intents of its own: the first sentence
// of the description, less the words of the tool's name. A tool whose
// description gives no word beyond its name gets none.
func (c *Corpus) WithDerived() *Corpus {
	if len(c.Intents) > 0 {
		return c
	}
	derived := *c
	for _, t := range c.Tools {
		if t.Builtin {
			continue
		}
		if utterance := probeUtterance(t); utterance != "" {
			derived.Intents = append(derived.Intents, &Intent{
				ID: "derived:" + t.ID, Utterance: utterance, Language: "en", Class: Derived,
				Gold: []Gold{{Tool: t.ID, Arguments: t.requiredArguments()}},
			})
		}
	}
	derived.SHA256 = derived.digest()
	return &derived
}

func probeUtterance(t *Tool) string {
	sentence := firstSentence(t.Definition.Description)
	inName := make(map[string]bool)
	for _, w := range words(t.Server + " " + splitCamel(t.Name)) {
		inName[w] = true
	}
	var kept []string
	for _, w := range strings.Fields(sentence) {
		folded := words(w)
		if len(folded) == 0 || !slices.ContainsFunc(folded, func(f string) bool { return inName[f] }) {
			kept = append(kept, w)
		}
	}
	text := strings.Join(kept, " ")
	if len(words(text)) == 0 {
		return ""
	}
	return text
}

// requiredArguments makes a value of the declared type for each required
// parameter, none of them stated.
func (t *Tool) requiredArguments() []Argument {
	var args []Argument
	for _, name := range t.Definition.Required {
		args = append(args, Argument{Name: name, Value: exampleValue(t.Definition.Parameters, name)})
	}
	return args
}

func exampleValue(schema json.RawMessage, property string) json.RawMessage {
	var s struct {
		Properties map[string]struct {
			Type any               `json:"type"`
			Enum []json.RawMessage `json:"enum"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s)
	p := s.Properties[property]
	if len(p.Enum) > 0 {
		return compacted(p.Enum[0])
	}
	switch p.Type {
	case "integer", "number":
		return json.RawMessage("1")
	case "boolean":
		return json.RawMessage("true")
	case "array":
		return json.RawMessage("[]")
	case "object":
		return json.RawMessage("{}")
	default:
		return rawjson.String(property)
	}
}

// firstSentence cuts a text behind the first sentence mark that white space or
// the end follows.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for i, r := range text {
		if (r == '.' || r == '!' || r == '?') && (i+1 == len(text) || text[i+1] == ' ') {
			return text[:i]
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
