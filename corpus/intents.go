package corpus

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/textfile"
)

// The fields of an intent, of one of its golds and of an argument; all are
// required but arguments and depends_on.
var (
	intentFields   = []string{"id", "utterance", "language", "class", "gold"}
	goldFields     = []string{"tool", "arguments", "depends_on"}
	argumentFields = []string{"name", "value", "stated"}
)

// languageTag is the shape of the BCP 47 tags that people write.
var languageTag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// intents reads labelled intents, one JSON object a line; blank lines are
// passed over.
func (l *loader) intents(d *document) error {
	return d.lines(func(n node) error {
		in, err := l.intent(n)
		if err != nil {
			return err
		}
		if first, again := l.intentAt[in.ID]; again {
			return n.errorAt("give every intent an id of its own", "intent %s is declared again; first at %s", textfile.Shown(in.ID), first.place())
		}
		l.intentAt[in.ID] = n
		l.corpus.Intents = append(l.corpus.Intents, in)
		return nil
	})
}

// lines calls read with the value of each line that is not blank.
func (d *document) lines(read func(node) error) error {
	file := textfile.File{Name: d.file, Data: d.data}
	return file.Lines(func(start, end int) error {
		n, err := d.value(start, end)
		if err != nil {
			return err
		}
		return read(n)
	})
}

func (l *loader) intent(n node) (*Intent, error) {
	o := readObject(n, "an intent", intentFields...)
	if o.err != nil {
		return nil, o.err
	}
	if err := n.once(); err != nil {
		return nil, err
	}
	o.require(intentFields...)
	in := &Intent{ID: o.text("id"), Utterance: o.text("utterance"), Language: o.text("language"), Class: Class(o.text("class"))}
	golds := o.list("gold")
	switch {
	case o.err != nil:
	case in.ID == "":
		o.fail(o.fields["id"], "give every intent an id of its own", "intent without an id")
	case strings.TrimSpace(in.Utterance) == "":
		o.fail(o.fields["utterance"], "write what the user says", "intent %s: empty utterance", textfile.Shown(in.ID))
	case !languageTag.MatchString(in.Language):
		o.fail(o.fields["language"], "write a BCP 47 tag such as en or zh-Hant", "intent %s: language is %s", textfile.Shown(in.ID), textfile.Shown(in.Language))
	case !slices.Contains(Classes(), in.Class):
		o.fail(o.fields["class"], nearestHint(string(in.Class), classNames()), "intent %s: unknown class %s", textfile.Shown(in.ID), textfile.Shown(string(in.Class)))
	case in.Class == Absent && len(golds) > 0:
		o.fail(o.fields["gold"], "leave gold empty, or give the intent another class", "intent %s: an absent intent has no gold", textfile.Shown(in.ID))
	case in.Class != Absent && len(golds) == 0:
		o.fail(o.fields["gold"], "name the tools that serve the intent, or set class to absent", "intent %s: gold is empty but the class is %s", textfile.Shown(in.ID), in.Class)
	}
	if o.err != nil {
		return nil, o.err
	}
	for i, g := range golds {
		gold, err := l.gold(g, in.ID, i)
		if err != nil {
			return nil, err
		}
		in.Gold = append(in.Gold, gold)
	}
	return in, nil
}

// gold reads the gold at position i of an intent. That its tool exists is
// checked when all tools are known.
func (l *loader) gold(n node, intent string, i int) (Gold, error) {
	o := readObject(n, "a gold", goldFields...)
	o.require("tool")
	gold := Gold{Tool: o.text("tool")}
	if o.err == nil {
		l.golds = append(l.golds, reference{at: o.fields["tool"], what: "gold of intent " + textfile.Shown(intent), name: gold.Tool})
	}
	given := make(map[string]node)
	for _, a := range o.list("arguments") {
		argument, err := readArgument(a)
		if err != nil {
			return gold, err
		}
		if first, again := given[argument.Name]; again {
			return gold, a.errorAt("keep one of the two", "intent %s: argument %s is given again; first at %s", textfile.Shown(intent), textfile.Shown(argument.Name), first.place())
		}
		given[argument.Name] = a
		gold.Arguments = append(gold.Arguments, argument)
	}
	for _, on := range o.list("depends_on") {
		earlier, err := strconv.Atoi(string(on.raw()))
		if err != nil || earlier < 0 || earlier >= i {
			o.fail(on, "name golds ahead of this one, counted from 0", "intent %s: gold %d depends on %.80s, which is not an earlier gold", textfile.Shown(intent), i, on.raw())
		}
		gold.DependsOn = append(gold.DependsOn, earlier)
	}
	return gold, o.err
}

func readArgument(n node) (Argument, error) {
	o := readObject(n, "an argument", argumentFields...)
	o.require(argumentFields...)
	a := Argument{Name: o.text("name"), Stated: o.flag("stated")}
	if o.err == nil && a.Name == "" {
		o.fail(o.fields["name"], "name the parameter", "argument without a name")
	}
	if o.err != nil {
		return a, o.err
	}
	var err error
	if a.Value, err = rawjson.Compact(o.fields["value"].raw()); err != nil {
		return a, n.errorAt("correct the value", "%w", err)
	}
	return a, nil
}

func classNames() []string {
	var names []string
	for _, c := range Classes() {
		names = append(names, string(c))
	}
	return names
}
