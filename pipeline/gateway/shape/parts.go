package shape

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// part is a part of a multimodal answer.
type part struct {
	raw  json.RawMessage
	text *string // of a part that is text
}

// partsOf splits a multimodal answer; ok is false for what is none.
func partsOf(content json.RawMessage) (parts []part, ok bool) {
	elements, err := rawjson.Array(content)
	if err != nil {
		return nil, false
	}
	for _, raw := range elements {
		parts = append(parts, partOf(raw))
	}
	return parts, true
}

func partOf(raw json.RawMessage) part {
	p := part{raw: raw}
	fields, err := rawjson.Object(raw)
	if err != nil {
		return p
	}
	kind, _ := rawjson.Get(fields, "type")
	value, _ := rawjson.Get(fields, "text")
	if name, _ := rawjson.Text(kind); name == "text" {
		if text, isText := rawjson.Text(value); isText {
			p.text = &text
		}
	}
	return p
}

// parts takes a multimodal answer through the steps. Its texts share the tokens of
// the card, in their order.
func (s *shaper) parts(ctx context.Context, parts []part) Output {
	total := len(parts)
	bytes := max(s.in.Bytes, int64(len(s.in.Content)))
	s.step(StepCap, func() { parts = s.capParts(parts) })
	s.step(StepDecode, func() {}) // JSON is UTF-8
	s.step(StepRedact, func() {
		for i := range parts {
			parts[i] = s.redactPart(parts[i])
		}
	})
	s.step(StepFit, func() {
		bound := s.max
		for i, p := range parts {
			if p.text != nil {
				parts[i] = s.fitPart(ctx, p, bound, fmt.Sprintf("%s#%d", s.in.Handle, i))
			}
		}
		if len(parts) < total {
			parts = s.noteMissing(parts, bound, total, bytes)
		}
	})
	s.out.Content = join(parts)
	return s.out
}

// capParts leaves out the parts from the first on that does not fit.
func (s *shaper) capParts(parts []part) []part {
	size := int64(len("[]"))
	for i, p := range parts {
		size += int64(len(p.raw) + len(","))
		if s.in.BytesMax > 0 && size > s.in.BytesMax {
			return parts[:i]
		}
	}
	return parts
}

func (s *shaper) redactPart(p part) part {
	if s.in.Redactor == nil {
		return p
	}
	raw, n := s.in.Redactor.JSON(p.raw)
	s.out.Redactions += n
	if n == 0 {
		return p
	}
	return partOf(raw)
}

// fitPart fits a part that is text into what is left of the bound.
func (s *shaper) fitPart(ctx context.Context, p part, bound int, id string) part {
	text := *p.text
	if left := bound - s.out.Tokens; bound > 0 && left <= 0 {
		s.out.TruncatedTokens += s.tokens(text)
		text = ""
	} else {
		s.max = left
		if bound == 0 {
			s.max = 0
		}
		size := int64(len(text))
		text = s.fit(ctx, whole{text: text, bytes: size, read: size, note: truncated}, id)
	}
	s.out.Tokens += s.tokens(text)
	return part{raw: withText(p.raw, text), text: &text}
}

// withText is a part with another text.
func withText(raw json.RawMessage, text string) json.RawMessage {
	fields, err := rawjson.Object(raw)
	if err != nil {
		return raw
	}
	return rawjson.AppendObject(nil, rawjson.Set(fields, "text", rawjson.String(text)))
}

// noteMissing says that parts were left out, where there is room for it.
func (s *shaper) noteMissing(parts []part, bound, total int, bytes int64) []part {
	note := fmt.Sprintf("[truncated: %d of %d parts kept; in all %d bytes]", len(parts), total, bytes)
	tokens := s.tokens(note)
	if bound > 0 && s.out.Tokens+tokens > bound {
		return parts
	}
	s.out.Tokens += tokens
	return append(parts, part{raw: withText(json.RawMessage(`{"type":"text"}`), note)})
}

func join(parts []part) json.RawMessage {
	out := []byte{'['}
	for i, p := range parts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, p.raw...)
	}
	return append(out, ']')
}
