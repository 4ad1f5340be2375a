package replay

import (
	"strconv"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/internal/tokens"
)

// history is the messages of a session as OpenAI chat messages, counted as they
// come. The count of the whole array is the sum over its messages, because each
// cut lies between `{"` and `role`, where no token crosses.
type history struct {
	memo *tokens.Memo
	// before is the measure of all messages but the last, each followed by a
	// comma; lastMid that of the last one followed by a comma, and lastEnd by the
	// bracket.
	before  int
	lastMid int
	lastEnd int
	// lastHead is the measure of the last message up to lastTail, its end behind
	// the last cut.
	lastHead int
	lastTail string
	callIDs  int
	buffer   []byte
}

const messagesHead = `[{"`

func newHistory(memo *tokens.Memo, systemPrompt string) *history {
	h := &history{memo: memo, before: memo.Measure(messagesHead)}
	h.add(`role":"system","content`, `":`, rawjson.String(systemPrompt))
	return h
}

// measure is that of the messages array so far.
func (h *history) measure() int { return h.before + h.lastEnd }

// add appends one message: {" + head + middle + value + }. The cut behind head
// must be exact; what follows is memoised apart, since the same result comes
// back under many call ids, and search results share the matches between them,
// so they are cut at each.
func (h *history) add(head, middle string, value []byte) {
	h.before += h.lastMid
	h.buffer = append(append(append(h.buffer[:0], middle...), value...), '}')
	body, end := cutEnd(string(h.buffer))
	h.lastHead, h.lastTail = h.memo.Measure(head)+h.memo.MeasureCut(body, matchSeam, matchSeamAt), end
	h.lastMid = h.lastHead + h.memo.Measure(end+between)
	h.lastEnd = h.lastHead + h.memo.Measure(end+arrayTail)
}

// prefix is the measure of what these messages will have in common with the same
// and further ones, cut back to a pre-token boundary: all but the bracket, and the
// marks in front of it that a comma would be joined to.
func (h *history) prefix() int {
	rest, _ := h.memo.Counter().Prefix(h.lastTail+between, len(h.lastTail))
	return h.before + h.lastHead + rest
}

// A match of a search result starts with {"name", escaped as part of a text.
const (
	matchSeam   = `{\"name`
	matchSeamAt = len(`{\"`)
)

func (h *history) user(utterance string) {
	h.add(`role":"user","content`, `":`, rawjson.String(utterance))
}

// toolCalls appends the assistant's message and returns the compact JSON of its
// tool_calls, which is what the model put out.
func (h *history) toolCalls(calls []modelCall) string {
	text := []byte{'['}
	for i := range calls {
		h.callIDs++
		calls[i].id = "call_" + strconv.Itoa(h.callIDs)
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, `{"id":"`...), calls[i].id...), `","type":"function","function":{"name":`...)
		text = rawjson.AppendString(text, calls[i].name)
		text = append(text, `,"arguments":`...)
		text = rawjson.AppendString(text, string(calls[i].arguments))
		text = append(text, "}}"...)
	}
	text = append(text, ']')
	h.add(`role":"assistant","content":null,"tool_calls`, `":`, text)
	return string(text)
}

func (h *history) result(callID, text string) {
	h.add(`role":"tool","tool_call_id":"`+callID+`","content`, `":`, rawjson.String(text))
}
