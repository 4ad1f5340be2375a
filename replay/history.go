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
	h.addText(`role":"system","content`, systemPrompt)
	return h
}

// measure is that of the messages array so far.
func (h *history) measure() int { return h.before + h.lastEnd }

// contentHead comes between the head of a message and its content, which the
// buffer holds behind it.
const contentHead = `":`

// addText appends a message whose content is a text.
func (h *history) addText(head, text string) {
	h.buffer = rawjson.AppendString(append(h.buffer[:0], contentHead...), text)
	h.add(head)
}

// add appends one message: {" + head + buffer + }, and returns what follows the
// head. The cut behind head must be exact; what follows is memoised apart, since
// the same result comes back under many call ids, and search results share the
// matches between them, so they are cut at each.
func (h *history) add(head string) string {
	h.before += h.lastMid
	h.buffer = append(h.buffer, '}')
	text := string(h.buffer)
	body, end := cutEnd(text)
	h.lastHead, h.lastTail = h.memo.Measure(head)+h.memo.MeasureCut(body, matchSeam, matchSeamAt), end
	h.lastMid = h.lastHead + h.memo.Measure(end+between)
	h.lastEnd = h.lastHead + h.memo.Measure(end+arrayTail)
	return text
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
	h.addText(`role":"user","content`, utterance)
}

// toolCalls appends the assistant's message and returns the compact JSON of its
// tool_calls, which is what the model put out.
func (h *history) toolCalls(calls []modelCall) string {
	text := append(append(h.buffer[:0], contentHead...), '[')
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
	h.buffer = append(text, ']')
	whole := h.add(`role":"assistant","content":null,"tool_calls`)
	return whole[len(contentHead) : len(whole)-len("}")]
}

func (h *history) result(callID, text string) {
	h.addText(`role":"tool","tool_call_id":"`+callID+`","content`, text)
}
