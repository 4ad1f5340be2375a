// Package shape brings what a tool answered into the form that a model reads.
//
// The steps, in their order: cut what is longer than may be read (cap), turn its
// bytes into UTF-8 (decode), strike secrets out (redact), and make it as short as
// its card says (fit), by leaving the end out, by rules, by a model, or by handing
// out a handle in place of the result. Each step is timed, since work on a result
// may take longer than the tool took.
//
// What is left out is never lost: the whole, redacted, stands in a Store, and what
// is handed out ends with a marker that says how much there is and how to read on.
// The result never has more tokens than the card allows, its marker included. What
// is left of JSON is itself JSON.
package shape

import (
	"context"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/redact"
)

// Input is an answer, and all that decides what becomes of it.
type Input struct {
	Card *card.Card // required
	Body []byte
	// Content is set in place of Body for a multimodal answer: a JSON array of parts.
	// Parts of text are brought into shape, others are redacted and kept.
	Content json.RawMessage
	// Encoding is what the endpoint says; the card's goes before it.
	Encoding string
	Bytes    int64 // of the whole answer, where more came than was read
	BytesMax int64 // that are kept of an answer; 0: all

	// Tokens counts a text's tokens; nil means a quarter of its code points, rounded
	// up.
	Tokens func(string) int
	// Summarise asks a model for a text of at most so many tokens; nil means that
	// there is none, so that summaries go by the rules.
	Summarise func(ctx context.Context, text string, maxTokens int) (string, error)
	Redactor  *redact.Redactor // nil: nothing is redacted
	Clock     clock.Clock      // nil: the steps take no time
	// Store keeps whole results; nil means that what is left out is gone.
	Store  *Store
	Owner  string // who may read on
	Handle string // unique among the owner's calls; the handle is made from it
}

// Output is a result as it is handed out.
type Output struct {
	Text    string
	Content json.RawMessage // of a multimodal answer, in place of Text

	Tokens          int // of the text, or of the parts that are text
	TruncatedTokens int // of the whole that are not in it
	Undecodable     int // bytes, or sequences of them, that became U+FFFD
	Redactions      int
	Handle          string // under which the whole stands; empty: it was not needed
	Steps           []Step
}

// Step is a part of the work, and how long it took.
type Step struct {
	Name string
	Took time.Duration
}

// The names of steps.
const (
	StepCap    = "cap"
	StepDecode = "decode"
	StepRedact = "redact"
	StepFit    = "fit"
)

// Result brings an answer into shape.
func Result(ctx context.Context, in Input) Output {
	s := shaper{in: in, tokens: in.Tokens, max: in.Card.MaxResultTokens}
	if s.tokens == nil {
		s.tokens = quarter
	}
	if in.Content != nil {
		if parts, ok := partsOf(in.Content); ok {
			return s.parts(ctx, parts)
		}
		s.in.Body = in.Content
	}
	return s.body(ctx)
}

// quarter counts four code points as a token.
func quarter(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// shaper is one answer on its way.
type shaper struct {
	in     Input
	tokens func(string) int
	max    int // tokens; 0: no bound
	out    Output
}

// step does a part of the work and notes how long it took.
func (s *shaper) step(name string, work func()) {
	var before time.Time
	if s.in.Clock != nil {
		before = s.in.Clock.Now()
	}
	work()
	var took time.Duration
	if s.in.Clock != nil {
		took = s.in.Clock.Now().Sub(before)
	}
	s.out.Steps = append(s.out.Steps, Step{name, took})
}

// body takes an answer of bytes through the steps.
func (s *shaper) body(ctx context.Context) Output {
	w := whole{note: truncated}
	body := s.in.Body
	s.step(StepCap, func() {
		w.bytes = max(s.in.Bytes, int64(len(body)))
		if s.in.BytesMax > 0 && int64(len(body)) > s.in.BytesMax {
			body = body[:s.in.BytesMax]
		}
		w.read = int64(len(body))
	})
	s.step(StepDecode, func() {
		w.text, s.out.Undecodable = decode(body, s.label(), w.capped())
	})
	s.step(StepRedact, func() { w.text = s.redact(w.text) })
	s.step(StepFit, func() { s.out.Text = s.fit(ctx, w, s.in.Handle) })
	s.out.Tokens = s.tokens(s.out.Text)
	return s.out
}

// label is that of the encoding.
func (s *shaper) label() string {
	if s.in.Card.Encoding != "" {
		return s.in.Card.Encoding
	}
	return s.in.Encoding
}

func (s *shaper) redact(text string) string {
	if s.in.Redactor == nil {
		return text
	}
	text, n := s.in.Redactor.Text(text)
	s.out.Redactions += n
	return text
}

// whole is a text before it is shortened.
type whole struct {
	text        string
	bytes, read int64 // that came, and that were kept of them
	tokens      int
	handle      string
	note        string // what was done to it
	summary     bool   // what is handed out is not its beginning
}

// truncated is the note of a text whose end was left out.
const truncated = "truncated"

// capped reports whether a part of the answer is missing.
func (w *whole) capped() bool { return w.read < w.bytes }

// fit makes a text as short as the card says.
func (s *shaper) fit(ctx context.Context, w whole, id string) string {
	w.tokens = s.tokens(w.text)
	if s.in.Card.Lazy && s.in.Store != nil {
		if text, ok := s.lazy(&w, id); ok {
			return text
		}
	}
	over := s.max > 0 && w.tokens > s.max
	if !over && !w.capped() {
		return w.text
	}
	s.keep(&w, id)
	part := w.text
	if over {
		switch s.in.Card.Summary {
		case card.SummaryRules:
			part = s.digest(&w)
		case card.SummaryModel:
			part = s.summary(ctx, &w)
		}
	}
	text, kept := s.cut(part, &w)
	s.out.TruncatedTokens += max(0, w.tokens-kept)
	return text
}

// keep puts the whole into the store.
func (s *shaper) keep(w *whole, id string) {
	if s.in.Store == nil {
		return
	}
	w.handle = s.in.Store.Put(s.in.Owner, id, w.text)
	if s.out.Handle == "" {
		s.out.Handle = w.handle
	}
}

// summary asks the model, and goes by the rules where it does not answer.
func (s *shaper) summary(ctx context.Context, w *whole) string {
	if s.in.Summarise == nil {
		text := s.digest(w)
		w.note += ", since there is no model to ask"
		return text
	}
	text, err := s.in.Summarise(ctx, w.text, max(1, s.max-s.max/4))
	if err != nil || text == "" {
		text = s.digest(w)
		w.note += ", since the model did not answer"
		return text
	}
	w.note, w.summary = "summary by the model", true
	return s.redact(valid(text))
}
