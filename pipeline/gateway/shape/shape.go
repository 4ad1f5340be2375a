// Package shape makes what came back from a tool fit for a model: it caps its size,
// decodes it to UTF-8, takes secrets out, and shortens what is too long, in this order.
//
// What it leaves out can be had: a result that was cut carries a handle, by which the
// rest is read piece by piece.
package shape

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/toolgauge/toolgauge/internal/clock"
	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/redact"
)

// Input is a result as it came, and how it shall be.
type Input struct {
	Card     *card.Card      // max_result_tokens, summary, lazy, encoding
	Body     []byte          // as the endpoint sent it
	Content  json.RawMessage // of a multimodal result, in place of Body: a JSON array of parts
	Encoding string          // label of Body's encoding, where the endpoint says it
	Bytes    int64           // of the whole, where more came than was read; else 0
	BytesMax int64           // that are kept

	Tokens    func(string) int
	Summarise func(ctx context.Context, text string, maxTokens int) (string, error) // nil: there is no model
	Redactor  *redact.Redactor
	Clock     clock.Clock
	Store     *Store // nil: what is left out cannot be had
	Owner     string // whose result it is
	Handle    string // tells it from all others of the owner
}

// Output is a result as a model reads it.
type Output struct {
	Text     string
	Content  json.RawMessage // in place of Text
	TooLarge bool            // a multimodal result that is larger than BytesMax, and cannot be cut

	Tokens          int // of what is left
	TruncatedTokens int // left out, about
	Undecodable     int // pieces of Body that are not of its encoding
	Redactions      int
	Handle          string // of the whole; empty if nothing was left out
	Took            [Steps]time.Duration
}

// The steps, as places in Output.Took.
const (
	StepCap = iota
	StepDecode
	StepRedact
	StepShorten
	Steps
)

// Result brings a result into shape.
func Result(ctx context.Context, in Input) Output {
	var out Output
	at := in.Clock.Now()
	lap := func(step int) {
		now := in.Clock.Now()
		out.Took[step] = now.Sub(at)
		at = now
	}
	if in.Content != nil {
		in.multimodal(&out, lap)
		return out
	}
	body, whole := in.Body, max(in.Bytes, int64(len(in.Body)))
	if in.BytesMax > 0 && int64(len(body)) > in.BytesMax {
		body = body[:in.BytesMax]
	}
	lap(StepCap)
	label := in.Card.Encoding
	if label == "" {
		label = in.Encoding
	}
	text, undecodable := decode(body, label)
	if dropped := whole > int64(len(body)); dropped && undecodable > 0 && strings.HasSuffix(text, "\ufffd") {
		text, undecodable = strings.TrimSuffix(text, "\ufffd"), undecodable-1 // cut through a character by the cap
	}
	out.Undecodable = undecodable
	lap(StepDecode)
	text, out.Redactions = in.Redactor.Text(text)
	lap(StepRedact)
	in.shorten(ctx, &out, text, whole, whole > int64(len(body)))
	out.Tokens = in.Tokens(out.Text)
	lap(StepShorten)
	return out
}

// decode turns bytes into UTF-8, and counts what could not be.
func decode(body []byte, label string) (text string, undecodable int) {
	encoding, err := htmlindex.Get(label)
	name := ""
	if err == nil {
		name, _ = htmlindex.Name(encoding)
	}
	if err != nil || name == "utf-8" {
		body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
		if utf8.Valid(body) {
			return string(body), 0
		}
		return replaceInvalid(body)
	}
	decoded, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return replaceInvalid(body)
	}
	text = strings.TrimPrefix(string(decoded), "\ufeff")
	return text, strings.Count(text, "\ufffd")
}

// replaceInvalid puts U+FFFD in the place of each maximal run that is not UTF-8.
func replaceInvalid(body []byte) (string, int) {
	var b strings.Builder
	n := 0
	for len(body) > 0 {
		r, size := utf8.DecodeRune(body)
		if r == utf8.RuneError && size == 1 {
			n++
			b.WriteRune(utf8.RuneError)
			body = body[1:]
			continue
		}
		b.Write(body[:size])
		body = body[size:]
	}
	return b.String(), n
}

// shorten makes a text fit, and keeps the whole where something is left out.
func (in *Input) shorten(ctx context.Context, out *Output, text string, whole int64, capped bool) {
	most := in.Card.MaxResultTokens
	total := in.Tokens(text)
	if !in.Card.Lazy && !capped && (most <= 0 || total <= most) {
		out.Text = text
		return
	}
	out.Handle = in.keep(text)
	m := marker{handle: out.Handle, tokens: total, bytes: whole, capped: capped}
	switch {
	case in.Card.Lazy:
		out.Text = m.metadata(text)
	case most <= 0:
		out.Text = in.cut(text, total+markerTokensMax, m)
	case in.Card.Summary == card.SummaryModel && in.Summarise != nil:
		out.Text = in.summarise(ctx, text, most, m)
	case in.Card.Summary != card.SummaryNone:
		if in.Card.Summary == card.SummaryModel {
			m.note = "no model is there to summarise it"
		}
		out.Text = in.cut(outline(text), most, m)
	default:
		out.Text = in.cut(text, most, m)
	}
	out.TruncatedTokens = max(0, total-in.Tokens(out.Text))
}

// markerTokensMax is more than a marker ever takes.
const markerTokensMax = 200

// summarise asks the model, and falls back to the rules.
func (in *Input) summarise(ctx context.Context, text string, most int, m marker) string {
	room := most - in.Tokens(m.text(0))
	if room > 0 {
		summary, err := in.Summarise(ctx, text, room)
		if err == nil && strings.TrimSpace(summary) != "" {
			summary, _ = in.Redactor.Text(summary)
			m.note = "summarised by a model"
			return in.cutText(summary, most, m)
		}
	}
	m.note = "the model that summarises failed"
	return in.cut(outline(text), most, m)
}

// keep stores the whole of a result and returns its handle.
func (in *Input) keep(text string) string {
	if in.Store == nil {
		return ""
	}
	return in.Store.keep(in.Owner, in.Handle, text)
}

// multimodal shapes the parts that are texts; others are kept as they are.
func (in *Input) multimodal(out *Output, lap func(int)) {
	if in.BytesMax > 0 && int64(len(in.Content)) > in.BytesMax {
		out.TooLarge = true
		return
	}
	lap(StepCap)
	lap(StepDecode)
	content, n := in.Redactor.JSON(in.Content)
	out.Redactions = n
	lap(StepRedact)
	parts, err := rawjson.Array(content)
	if err != nil {
		out.Content = content
		return
	}
	left := in.Card.MaxResultTokens
	list := make([][]byte, len(parts))
	for i, part := range parts {
		list[i] = part
		fields, err := rawjson.Object(part)
		raw, _ := rawjson.Get(fields, "text")
		text, ok := rawjson.Text(raw)
		if err != nil || !ok {
			continue
		}
		tokens := in.Tokens(text)
		if in.Card.MaxResultTokens > 0 && tokens > left {
			handle := in.Store
			m := marker{tokens: tokens, bytes: int64(len(text))}
			if handle != nil {
				m.handle = in.Store.keep(in.Owner, fmt.Sprintf("%s/%d", in.Handle, i), text)
				out.Handle = m.handle
			}
			text = in.cut(text, left, m)
			out.TruncatedTokens += max(0, tokens-in.Tokens(text))
			list[i] = rawjson.AppendObject(nil, rawjson.Set(fields, "text", rawjson.String(text)))
		}
		out.Tokens += in.Tokens(text)
		left = max(0, left-in.Tokens(text))
	}
	out.Content = append(append([]byte{'['}, bytes.Join(list, []byte{','})...), ']')
	lap(StepShorten)
}
