package replay

import (
	"strings"
	"testing"

	"github.com/toolgauge/toolgauge/corpus"
	"github.com/toolgauge/toolgauge/pipeline/bridge"
)

func TestSelectArms(t *testing.T) {
	arms, err := SelectArms(DefaultArms(), []string{"july-listing", "eager"})
	if err != nil || len(arms) != 2 || arms[0].Name != "july-listing" || arms[1].Name != "eager" || arms[1].Bridge {
		t.Errorf("arms %+v, error %v", arms, err)
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"july-lising"}, `unknown arm "july-lising"`},
		{[]string{"eager", "eager"}, `arm "eager" is named twice`},
		{nil, "no arms"},
	} {
		if _, err := SelectArms(DefaultArms(), c.names); err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("arms %q: error %v, want %s and a hint", c.names, err, c.want)
		}
	}
}

func TestNewPlayerRefuses(t *testing.T) {
	tiny := loadCorpus(t, tinyFiles)
	with := func(change func(*Arm)) []Arm {
		arm := NewArm("mine", bridge.July)
		change(&arm)
		return []Arm{arm}
	}
	for _, c := range []struct {
		name    string
		options Options
		want    string
	}{
		{"no corpus", Options{Arms: julyArms()}, "no corpus given"},
		{"no arms", Options{Corpus: tiny}, "no arms given"},
		{"an arm twice", Options{Corpus: tiny, Arms: append(julyArms(), julyArms()[1])}, `arm "july-bare" is there twice`},
		{"repeats below 0", Options{Corpus: tiny, Arms: julyArms(), Repeats: -1}, "repeats -1 is negative"},
		{"a variant", Options{Corpus: tiny, Arms: with(func(a *Arm) { a.Variant = "jully" })}, `arm "mine": unknown variant "jully"`},
		{"a retriever", Options{Corpus: tiny, Arms: with(func(a *Arm) { a.Retriever = "bm26" })}, `arm "mine": unknown retriever "bm26"`},
		{"an agent", Options{Corpus: tiny, Arms: with(func(a *Arm) { a.Agent = "psychic" })}, `arm "mine": unknown agent "psychic"`},
		{"a writer", Options{Corpus: tiny, Arms: with(func(a *Arm) { a.Writer = "" })}, `arm "mine": unknown writer ""`},
		{"a tokenizer", Options{Corpus: tiny, Arms: with(func(a *Arm) { a.Tokenizer = "chars5" })}, `arm "mine": unknown tokenizer "chars5"`},
		{"a gateway", Options{Corpus: tiny, Arms: with(func(a *Arm) { a.Gateway = "on" })}, `arm "mine": unknown gateway "on"`},
		{"no searches", Options{Corpus: tiny, Arms: with(func(a *Arm) { a.MaxSearches = 0 })}, `arm "mine": max_searches 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := NewPlayer(c.options); err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), "\nhint: ") {
				t.Errorf("error %v, want %s and a hint", err, c.want)
			}
		})
	}
}

// A system prompt of one's own takes the place of the default one, and weighs
// the same in each request.
func TestSystemPrompt(t *testing.T) {
	tiny := loadCorpus(t, tinyFiles)
	counter := counterOf(t, defaultTokenizer)
	s := tinySession(tiny, asks("note", saysNote, gold(readNote, "title", "rent")))
	p := newPlayer(t, Options{Corpus: tiny, Arms: julyArms()[:1], SystemPrompt: "Be brief – “please”.\n"})
	o, err := p.Play(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	for _, messages := range (script{{says: saysNote, requests: []scriptRequest{{direct(readNote, argsNote)}}}}).play("Be brief – “please”.\n", "").prompts {
		want += int64(o.Arms[0].SurfaceTokens + counter.Count(messages))
	}
	if o.Arms[0].PromptTokens != want {
		t.Errorf("%d prompt tokens, want %d", o.Arms[0].PromptTokens, want)
	}
}

// An imported corpus has no intents of its own; sessions of derived ones are
// replayed like others.
func TestDerivedIntents(t *testing.T) {
	tiny := loadCorpus(t, tinyFiles).WithDerived()
	if len(tiny.Intents) == 0 {
		t.Fatal("no derived intents")
	}
	for _, in := range tiny.Intents {
		turn := asks(in.ID, in.Utterance, in.Gold...)
		turn.Class = corpus.Derived
		for _, c := range playOne(t, tiny, julyArms(), tinySession(tiny, turn)).Calls {
			if !c.Path.Reached() || c.Class != string(corpus.Derived) || c.Failed {
				t.Errorf("intent %s under %s: %s", in.ID, c.Arm, callLine(c))
			}
		}
	}
}

func TestSettings(t *testing.T) {
	arm := NewArm("mine", bridge.September)
	if got := arm.settings(); got != "" {
		t.Errorf("defaults: %q", got)
	}
	arm.ToolSearch.ThresholdPct, arm.ToolSearch.Listing, arm.MaxSearches = 0.5, bridge.Off, 1
	arm.ToolSearch.Defer = bridge.NewDeferList([]string{"todo", "terminal"})
	if got, want := arm.settings(), "threshold_pct=0.5 listing=off max_searches=1 defer=todo,terminal"; got != want {
		t.Errorf("settings %q, want %q", got, want)
	}
	arm.Bridge = false
	if got := arm.settings(); got != "" {
		t.Errorf("without a bridge: %q", got)
	}
}
