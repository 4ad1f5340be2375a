package corpus

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/toolname"
)

func embeddedCorpus(t testing.TB) *Corpus {
	t.Helper()
	c, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEmbeddedCounts holds the embedded corpus to the size that figures are
// published for.
func TestEmbeddedCounts(t *testing.T) {
	c := embeddedCorpus(t)
	builtin, served, servers := 0, 0, make(map[string]int)
	for _, tool := range c.Tools {
		if tool.Builtin {
			builtin++
			continue
		}
		served++
		servers[tool.Server]++
	}
	if builtin != 81 {
		t.Errorf("%d built-in tools, want 81", builtin)
	}
	if n := len(c.Toolsets.Names()); n != 57 {
		t.Errorf("%d toolsets, want 57", n)
	}
	if len(servers) < 40 || served < 650 || len(c.SourceNames()) != len(servers) {
		t.Errorf("%d tools of %d servers (%d sources), want 650 of 40", served, len(servers), len(c.SourceNames()))
	}
	if len(c.Intents) < 1500 || len(c.Notes) > 0 || c.Name == "" || c.Version == "" || c.Licence == "" {
		t.Errorf("%d intents, notes %q, %q version %q licence %q", len(c.Intents), c.Notes, c.Name, c.Version, c.Licence)
	}
	if again := embeddedCorpus(t); again != c {
		t.Error("the embedded corpus is read twice")
	}
}

// TestEmbeddedCoreSize holds the core tools to the size of the system that they
// stand for, so that nobody saves tokens by writing tersely.
func TestEmbeddedCoreSize(t *testing.T) {
	const reference = 95_047 // code points of compact JSON
	c := embeddedCorpus(t)
	size := 0
	for _, tool := range c.Tools {
		if c.Toolsets.IsCore(tool.Definition.Name) {
			size += tool.Definition.Runes
		}
	}
	if off := float64(size)/reference - 1; math.Abs(off) > 0.15 {
		t.Errorf("the core tools are %d code points, %+.1f %% off %d", size, 100*off, reference)
	}
}

// TestEmbeddedTools holds every tool to what every server lists, good or poor.
func TestEmbeddedTools(t *testing.T) {
	for _, tool := range embeddedCorpus(t).Tools {
		d := tool.Definition
		if len(words(d.Description)) < 3 {
			t.Errorf("%s: description %q", tool.ID, d.Description)
		}
		if tool.Server != "" && strings.Trim(tool.Server, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			t.Errorf("%s: the server's label is not of [a-z0-9_-]", tool.ID)
		}
		if tool.Server != "" && toolname.EndsInHash(d.Name) {
			t.Errorf("%s: the name had to be changed to %s", tool.ID, d.Name)
		}
		if len(d.Name) > toolname.Max {
			t.Errorf("%s: the visible name %s is too long", tool.ID, d.Name)
		}
		for _, required := range d.Required {
			if !slices.Contains(d.Properties, required) {
				t.Errorf("%s: required parameter %q is not declared", tool.ID, required)
			}
		}
	}
}

// TestEmbeddedIntents holds every intent to the definition of its class, and
// all of them to being spread over classes and languages.
func TestEmbeddedIntents(t *testing.T) {
	c := embeddedCorpus(t)
	for _, in := range c.Intents {
		for _, fault := range intentFaults(c, in) {
			t.Errorf("%s (%s) %q: %s", in.ID, in.Class, in.Utterance, fault)
		}
	}
	for _, fault := range spreadFaults(c.Intents) {
		t.Error(fault)
	}
}

// spreadFaults says where intents, taken together, are too few of their kind or
// say the same.
func spreadFaults(intents []*Intent) (faults []string) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	classes, languages := make(map[Class]int), make(map[string]int)
	utterances := make(map[string]string)
	dependent := 0
	for _, in := range intents {
		classes[in.Class]++
		if in.Language != "en" {
			languages[in.Language]++
		}
		needs := func(g Gold) bool { return len(g.DependsOn) > 0 }
		if in.Class == MultiTool && slices.ContainsFunc(in.Gold, needs) {
			dependent++
		}
		if first, again := utterances[in.Utterance]; again {
			add("%s and %s say the same", first, in.ID)
		}
		utterances[in.Utterance] = in.ID
	}
	for _, class := range Classes() {
		if class != Derived && classes[class] < 100 {
			add("class %s has %d intents, want 100", class, classes[class])
		}
	}
	if 3*dependent < classes[MultiTool] {
		add("%d of %d intents of several tools have a call that needs another's result, want a third", dependent, classes[MultiTool])
	}
	if len(languages) < 5 {
		add("%d languages besides English, want 5", len(languages))
	}
	for _, language := range []string{"ja", "zh"} {
		if languages[language] < 10 {
			add("%d intents in %s, want 10", languages[language], language)
		}
	}
	return faults
}

// TestSpreadRulesCanFail takes from the embedded intents what each rule asks
// for, and nothing else.
func TestSpreadRulesCanFail(t *testing.T) {
	all := embeddedCorpus(t).Intents
	changed := func(change func(in *Intent)) []*Intent {
		intents := make([]*Intent, len(all))
		for i, in := range all {
			copied := *in
			change(&copied)
			intents[i] = &copied
		}
		return intents
	}
	for _, row := range []struct {
		intents []*Intent
		want    string
	}{
		{slices.DeleteFunc(slices.Clone(all), func(in *Intent) bool { return in.Class == Absent }), "class absent has 0 intents, want 100"},
		{append(slices.Clone(all), all[0]), all[0].ID + " and " + all[0].ID + " say the same"},
		{changed(func(in *Intent) {
			in.Gold = slices.Clone(in.Gold)
			for i := range in.Gold {
				in.Gold[i].DependsOn = nil
			}
		}), "0 of "},
		{changed(func(in *Intent) {
			if !slices.Contains([]string{"en", "ja", "zh"}, in.Language) {
				in.Language = "de"
			}
		}), "3 languages besides English, want 5"},
		{changed(func(in *Intent) {
			if in.Language == "ja" {
				in.Language = "de"
			}
		}), "0 intents in ja, want 10"},
	} {
		if faults := spreadFaults(row.intents); len(faults) != 1 || !strings.HasPrefix(faults[0], row.want) {
			t.Errorf("faults %q, want %q", faults, row.want)
		}
	}
}

// TestIntentRulesCanFail shows that the rules below refuse what they should.
func TestIntentRulesCanFail(t *testing.T) {
	c, err := Load("../examples/corpus")
	if err != nil {
		t.Fatal(err)
	}
	argument := func(name, value string) Argument { return Argument{Name: name, Value: json.RawMessage(value)} }
	vent := Gold{Tool: "greenhouse/open_vent", Arguments: []Argument{argument("vent_id", `"v"`), argument("percent", "5")}}
	with := func(arguments ...Argument) []Gold { return []Gold{{Tool: vent.Tool, Arguments: arguments}} }
	for _, row := range []struct {
		in   Intent
		want string
	}{
		{Intent{Class: ExactName, Language: "en", Utterance: "open vent", Gold: []Gold{vent}}, "does not name open_vent"},
		{Intent{Class: Paraphrase, Language: "en", Utterance: "The VENTS, please", Gold: []Gold{vent}}, `shares "vents" with`},
		{Intent{Class: Paraphrase, Language: "en", Utterance: "opening it", Gold: []Gold{vent}}, `shares "opening" with`},
		{Intent{Class: ZeroOverlap, Language: "en", Utterance: "motors", Gold: []Gold{vent}}, `shares "motors" with`},
		{Intent{Class: ZeroOverlap, Language: "en", Utterance: "what percent", Gold: []Gold{vent}}, `shares "percent" with`},
		{Intent{Class: NonEnglish, Language: "en", Utterance: "x", Gold: []Gold{vent}}, "language en"},
		{Intent{Class: Obvious, Language: "de", Utterance: "x", Gold: []Gold{vent}}, "language de"},
		{Intent{Class: MultiTool, Language: "en", Utterance: "x", Gold: []Gold{vent}}, "1 golds"},
		{Intent{Class: MultiTool, Language: "en", Utterance: "x", Gold: slices.Repeat([]Gold{vent}, 6)}, "6 golds"},
		{Intent{Class: Absent, Language: "en", Utterance: "x", Gold: []Gold{vent}}, "1 golds"},
		{Intent{Class: Obvious, Language: "en", Utterance: "x", Gold: with(argument("vent_id", `"v"`))}, "lacks the required argument percent"},
		{Intent{Class: Obvious, Language: "en", Utterance: "x", Gold: with(argument("vent_id", `5`), argument("percent", "5"))}, "5 is no string"},
		{Intent{Class: Obvious, Language: "en", Utterance: "x", Gold: with(argument("vent_id", `"v"`), argument("percent", "500"))}, "above 100"},
		{Intent{Class: Obvious, Language: "en", Utterance: "x", Gold: with(argument("vent_id", `"v"`), argument("percent", "5.5"))}, "5.5 is no integer"},
		{Intent{Class: Obvious, Language: "en", Utterance: "x", Gold: with(argument("vent_id", `"v"`), argument("percent", "5"), argument("speed", "1"))}, "no parameter speed"},
		{Intent{Class: Obvious, Language: "en", Utterance: "x", Gold: []Gold{{Tool: "greenhouse/list_sensors", Arguments: []Argument{argument("house", `"n"`), argument("kind", `"wind"`)}}}}, "not among"},
	} {
		faults := strings.Join(intentFaults(c, &row.in), "; ")
		if !strings.Contains(faults, row.want) {
			t.Errorf("%s %q: faults %q, want %q", row.in.Class, row.in.Utterance, faults, row.want)
		}
	}
}

// intentFaults says where an intent breaks the definition of its class, or its
// arguments the schema of the tool.
func intentFaults(c *Corpus, in *Intent) (faults []string) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if (in.Class == NonEnglish) != (in.Language != "en") {
		add("language %s", in.Language)
	}
	if n := len(in.Gold); in.Class == MultiTool && (n < 2 || n > 5) || (in.Class == Absent) != (n == 0) {
		add("%d golds", n)
	}
	for _, g := range in.Gold {
		tool, ok := c.Tool(g.Tool)
		if !ok {
			add("unknown tool %s", g.Tool)
			continue
		}
		faults = append(faults, argumentFaults(tool, g)...)
		d := tool.Definition
		switch in.Class {
		case ExactName:
			if !strings.Contains(in.Utterance, tool.Name) {
				add("does not name %s", tool.Name)
			}
		case Paraphrase:
			if w := sharedWord(in.Utterance, tool.Name); w != "" {
				add("shares %q with the name %s", w, tool.Name)
			}
		case ZeroOverlap:
			if w := sharedWord(in.Utterance, tool.Name, d.Description, strings.Join(d.Properties, " ")); w != "" {
				add("shares %q with name, description or parameters of %s", w, tool.ID)
			}
		}
	}
	return faults
}

func argumentFaults(tool *Tool, g Gold) (faults []string) {
	add := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s: ", tool.ID)+fmt.Sprintf(format, args...))
	}
	given := make(map[string]bool)
	properties := schemaProperties(tool.Definition.Parameters)
	for _, a := range g.Arguments {
		given[a.Name] = true
		property, ok := properties[a.Name]
		if !ok {
			add("no parameter %s", a.Name)
			continue
		}
		var value any
		if err := json.Unmarshal(a.Value, &value); err != nil {
			add("argument %s: %v", a.Name, err)
			continue
		}
		for _, fault := range misfits(value, property) {
			add("argument %s: %s", a.Name, fault)
		}
	}
	for _, name := range tool.Definition.Required {
		if !given[name] {
			add("lacks the required argument %s", name)
		}
	}
	return faults
}

func schemaProperties(schema json.RawMessage) map[string]map[string]any {
	var s struct {
		Properties map[string]map[string]any `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s)
	return s.Properties
}

// misfits holds a value against the parts of JSON Schema that the embedded
// tools use.
func misfits(value any, schema map[string]any) (faults []string) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	kinds, _ := schema["type"].([]any)
	if kind, ok := schema["type"].(string); ok {
		kinds = []any{kind}
	}
	if len(kinds) > 0 && !slices.ContainsFunc(kinds, func(kind any) bool { return isKind(value, kind) }) {
		add("%v is no %v", value, schema["type"])
	}
	if enum, ok := schema["enum"].([]any); ok && !slices.Contains(enum, value) {
		add("%v is not among %v", value, enum)
	}
	switch v := value.(type) {
	case float64:
		if least, ok := schema["minimum"].(float64); ok && v < least {
			add("%v is below %v", v, least)
		}
		if most, ok := schema["maximum"].(float64); ok && v > most {
			add("%v is above %v", v, most)
		}
	case []any:
		if items, ok := schema["items"].(map[string]any); ok {
			for _, item := range v {
				faults = append(faults, misfits(item, items)...)
			}
		}
		if least, ok := schema["minItems"].(float64); ok && float64(len(v)) < least {
			add("%d items, want %v", len(v), least)
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for name, item := range v {
			if property, ok := properties[name].(map[string]any); ok {
				faults = append(faults, misfits(item, property)...)
			} else if len(properties) > 0 && schema["additionalProperties"] == nil {
				add("no property %s", name)
			}
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				add("lacks the property %s", name)
			}
		}
	}
	return faults
}

func isKind(value, kind any) bool {
	text, _ := json.Marshal(value)
	if kind == "integer" {
		v, ok := value.(float64)
		return ok && v == math.Trunc(v)
	}
	return rawjson.Kind(text) == kind
}

// functionWords carry no content: sharing one does not help to find a tool.
var functionWords = append(strings.Fields(`about after again all also am any been before both can could did do does doing
	don done doesn didn each every few from get gets getting give had has have her here him his how i isn just let like ll
	make many may me more most much my myself need now off once one only onto other our out over own per please re s so some
	t than thanks them through too two under up us use uses using ve very via want way we were what when where which while
	who why without would you your yours d m`), stopWords...)

// sharedWord returns a content word of an utterance whose stem is the stem of a
// word of the texts, or nothing.
func sharedWord(utterance string, texts ...string) string {
	stems := make(map[string]bool)
	for _, text := range texts {
		for _, w := range words(splitCamel(text)) {
			if !slices.Contains(functionWords, w) {
				stems[stem(w)] = true
			}
		}
	}
	for _, w := range words(utterance) {
		if !slices.Contains(functionWords, w) && stems[stem(w)] {
			return w
		}
	}
	return ""
}

// stem takes English endings off: enough to see that opening, opened and opens
// are open.
func stem(w string) string {
	if strings.ContainsFunc(w, unicode.IsDigit) {
		return w
	}
	for _, ending := range []string{"ments", "ment", "ings", "ing", "ions", "ion", "ies", "ers", "er", "ed", "es", "s", "y", "e"} {
		if rest, ok := strings.CutSuffix(w, ending); ok && len(rest) >= 3 {
			if n := len(rest); rest[n-1] == rest[n-2] && n > 3 {
				return rest[:n-1] // stopp(ing)
			}
			return rest
		}
	}
	return w
}
