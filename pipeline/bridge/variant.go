package bridge

import (
	"encoding/json"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/registry"
)

// Variant names one version of the bridge's behaviour.
type Variant string

// The variants.
const (
	// July searches, describes and calls one thing at a time, never defers a core
	// tool, and looks at a call's arguments only for missing ones.
	July Variant = "july"
	// September takes several queries or names at once, defers the core tools of
	// a list, and checks a call's arguments against the whole schema.
	September Variant = "september"
)

// Variants lists the variants, the oldest first.
func Variants() []Variant { return []Variant{July, September} }

// rules is all that tells one variant from another.
type rules struct {
	// config are the settings of an agent that configures nothing.
	config Config
	// defers: a defer list makes core tools deferrable, and the toolsets of
	// visibleToolsets stay visible unless it names their tools.
	defers          bool
	visibleToolsets []string
	// shortDescription cuts a description for the listing.
	shortDescription func(string) string
	texts            ownTexts
	search           func(*Scope, []rawjson.Field) (registry.Result, []Match)
	describe         func(*Scope, []rawjson.Field) (registry.Result, []string)
	// call finds the name and arguments of the one tool that a tool_call runs.
	call func([]rawjson.Field) ([]rawjson.Field, *CallError)
	// notDeferrable says what to do about a name that the bridge does not run.
	// The scope is nil where no surface is known.
	notDeferrable func(s *Scope, name string) *CallError
	// checkArguments finds what keeps a call of a tool from being dispatched.
	checkArguments func(*Bridge, *registry.Definition, json.RawMessage) *CallError
	// blankObjects: blank text stands for an object without required members.
	blankObjects bool
	// postsAnswers: hooks hear of searches and descriptions.
	postsAnswers bool
}

func (v Variant) rules() rules {
	if v == September {
		return rules{
			config:           septemberConfig(),
			defers:           true,
			visibleToolsets:  []string{"desktop_ui", "project", "setup"},
			shortDescription: wholeSentence,
			texts:            septemberTexts(),
			search:           (*Scope).searchSeveral,
			describe:         (*Scope).describeSeveral,
			call:             oneOfCalls,
			notDeferrable:    diagnose,
			checkArguments:   (*Bridge).checkSchema,
			blankObjects:     true,
			postsAnswers:     true,
		}
	}
	return rules{
		config:           julyConfig(),
		shortDescription: firstSentence,
		texts:            julyTexts(),
		search:           (*Scope).searchOne,
		describe:         (*Scope).describeOne,
		call:             func(args []rawjson.Field) ([]rawjson.Field, *CallError) { return args, nil },
		notDeferrable:    func(_ *Scope, name string) *CallError { return notDeferrable(name) },
		checkArguments: func(_ *Bridge, t *registry.Definition, arguments json.RawMessage) *CallError {
			return MissingRequired(t, arguments)
		},
	}
}

// ShortDescription is a description as a listing shows it: white space folded,
// cut behind its first sentence, and if still longer than 60 code points, cut
// back to a word and closed with an ellipsis, 61 code points at most.
//
// In July a sentence ends at the first full stop, exclamation mark or question
// mark, of which only a full stop is kept. In September the mark is kept, and it
// ends a sentence only before white space or at the end of the text, and not as
// the close of e.g., i.e. or etc. in small letters.
func (v Variant) ShortDescription(description string) string {
	return v.rules().shortDescription(description)
}
